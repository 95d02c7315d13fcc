// How well attackers guess who was in the data, against what the promise allows.
import {tableBehind} from "./behind.js";
import {csvButton} from "./csv.js";
import {axisLook, chart, tip, tooltip} from "./chart.js";
import {theme} from "./colours.js";
import {data, synthetic} from "./data.js";
import {byId, el, fill, legend, table} from "./dom.js";
import {epsilon, percent, percentTick, power, short, whole} from "./format.js";

const NAMES = {
    density_ratio: "Density ratio",
    classifier: "Classifier",
    informed: "Informed attacker",
    linkage: "Nearest trip",
    knock_knock: "Knock-Knock",
};
export const attackName = (a) => NAMES[a.name] || a.name.replaceAll("_", " ");

// A shadow model stands for every set; otherwise an attack is one on the set of that name.
export const attacksOn = (set) =>
    data.attack
        ? data.attack.attacks.filter((a) => data.attack.shadow || a.synthetic === set.name)
        : [];

const LEAST = 1e-4; // where the axes begin: false alarms below are too few to count
const limits = () => ({
    eps: data.attack.epsilon === "inf" ? Infinity : Number(data.attack.epsilon),
    delta: Number(data.attack.delta) || 0,
});
const allowed = (fpr) => Math.min(1, Math.exp(limits().eps) * fpr + limits().delta);
const steps = Array.from({length: 81}, (_, i) => 10 ** (-4 + i / 20));

function curves(list) {
    return list.map((a, k) => ({
        name: attackName(a),
        colour: () => theme().sets[k % theme().sets.length],
        points: a.roc.filter(([fpr, tpr]) => fpr >= LEAST && tpr >= LEAST),
    }));
}

// Written beside the bound, on the side that it forbids.
const beyond = (t) => ({
    show: true,
    formatter: "forbidden by the promise",
    color: t.alarm,
    fontSize: 12.5,
    position: "left",
    distance: 14,
});

function rocChart(canvas, set, list) {
    const shown = curves(list);
    return chart(
        canvas,
        `Curves of ${list.length} attacks on ${set.name}: share of members found by share of false alarms, below the bound that the promise sets.`,
        () => {
            const t = theme(),
                axis = (name) => ({
                    type: "log",
                    min: LEAST,
                    max: 1,
                    ...axisLook(t, name),
                    nameGap: 28,
                    minorSplitLine: {show: false},
                    axisLabel: {
                        ...axisLook(t).axisLabel,
                        formatter: (v) => `${Number((100 * v).toPrecision(2))} %`,
                    },
                });
            const line = (name, points, style, more = {}) => ({
                type: "line",
                name,
                data: points,
                showSymbol: false,
                symbol: "none",
                emphasis: {disabled: true},
                lineStyle: style,
                itemStyle: {color: style.color},
                ...more,
            });
            return {
                grid: {left: 60, right: 20, top: 30, bottom: 46},
                xAxis: axis("false alarms: others taken for members"),
                yAxis: {
                    ...axis("members found"),
                    nameLocation: "end",
                    nameGap: 10,
                    nameTextStyle: {
                        color: t.soft,
                        fontSize: 13,
                        align: "left",
                        padding: [0, 0, 0, -44],
                    },
                },
                tooltip: tooltip(
                    (item) =>
                        tip(item.seriesName, [
                            [
                                item.color,
                                `${percent(item.value[1])} found at ${percent(item.value[0])} false alarms`,
                            ],
                        ]),
                    {trigger: "item"},
                ),
                series: [
                    line(
                        "Beyond the promise",
                        steps.map((fpr, i) =>
                            i === 46
                                ? {value: [fpr, allowed(fpr)], label: beyond(t)}
                                : [fpr, allowed(fpr)],
                        ),
                        {color: t.alarm, width: 2, type: [6, 4]},
                        {
                            areaStyle: {color: t.alarmFill, origin: "end"},
                            z: 1,
                            silent: true,
                            showSymbol: true,
                            showAllSymbol: true,
                            symbol: "circle",
                            symbolSize: 0,
                        },
                    ),
                    line(
                        "Guessing",
                        steps.map((fpr) => [fpr, fpr]),
                        {color: t.floor, width: 1.5, type: [2, 3]},
                        {z: 2, silent: true},
                    ),
                    ...shown.map((s) =>
                        line(s.name, s.points, {color: s.colour(), width: 2.25}, {z: 3}),
                    ),
                ],
            };
        },
    );
}

function rocCard(set, list) {
    const withCurve = list.filter((a) => Array.isArray(a.roc) && a.roc.length > 1);
    if (withCurve.length === 0) return null;
    const canvas = el("div", {class: "chart roc"});
    queueMicrotask(() => rocChart(canvas, set, withCurve).draw());
    const makeTable = () =>
        table(
            "Curves of the attacks",
            [
                {title: "Attack"},
                {title: "False alarms", number: true},
                {title: "Members found", number: true},
                {title: "Allowed", number: true},
            ],
            withCurve.flatMap((a) =>
                a.roc.map(([fpr, tpr]) => [
                    attackName(a),
                    ...[fpr, tpr, allowed(fpr)].map((value) => ({text: percent(value), value})),
                ]),
            ),
        );
    return el(
        "div",
        {},
        el("h3", {}, "Members found by false alarms"),
        el(
            "p",
            {class: "hint"},
            "Both axes are logarithmic. Whatever an attacker does, the promise keeps the curve out of the shaded part.",
        ),
        legend([
            {colour: () => theme().alarm, name: "the bound", dashed: true},
            {colour: () => theme().floor, name: "guessing", dashed: true},
            ...curves(withCurve).map((s) => ({colour: s.colour, name: s.name})),
        ]),
        canvas,
        tableBehind(`ROC of attacks on ${set.name}`, makeTable),
    );
}

const judged = (a) =>
    a.sanity_only ? "a sanity check only" : a.exceeds ? "EXCEEDS THE BOUND" : "within the bound";

const auc = (value) => (value === null || value === undefined ? "–" : value.toFixed(2));

function shownTable(list) {
    const pair = (found, most) =>
        found === null || found === undefined
            ? "too few"
            : `${short(100 * found)} of ${percentTick(most)}`;
    return table(
        "Members found, of what is allowed, at 1 % and 0.1 % false alarms",
        [
            {title: "Attack"},
            {title: "AUC", number: true},
            {title: "at 1 %", number: true},
            {title: "at 0.1 %", number: true},
            {title: "AUC on a copy", number: true},
            {title: "Verdict"},
        ],
        list.map((a) => [
            attackName(a),
            auc(a.auc),
            pair(a.tpr_at_fpr_1e2, a.bound_at_1e2),
            pair(a.tpr_at_fpr_1e3, a.bound_at_1e3),
            auc(a.control_auc),
            judged(a),
        ]),
    );
}

// For the file: one figure a column.
function savedTable(list) {
    const COLUMNS = [
        "auc",
        "tpr_at_fpr_1e2",
        "bound_at_1e2",
        "tpr_at_fpr_1e3",
        "bound_at_1e3",
        "control_auc",
        "control_inf_auc",
        "members",
        "non_members",
    ];
    return table(
        "Attacks",
        ["attack", ...COLUMNS, "verdict"].map((title) => ({title})),
        list.map((a) => [
            a.name,
            ...COLUMNS.map((name) => ({text: "", value: a[name] ?? null})),
            judged(a),
        ]),
    );
}

function card(set) {
    const list = attacksOn(set);
    if (list.length === 0) return null;
    const [first] = list;
    return el(
        "div",
        {class: "card"},
        synthetic.length > 1 && !data.attack.shadow ? el("h3", {}, set.name) : null,
        data.attack.shadow
            ? el(
                  "p",
                  {class: "hint"},
                  "Tested on a shadow model that was fitted on half of the real trips with the same public options, not on this file itself.",
              )
            : null,
        el(
            "div",
            {class: "grid", style: {"--least": "430px"}},
            rocCard(set, list),
            el(
                "div",
                {},
                el("h3", {}, "Result"),
                el(
                    "p",
                    {class: "hint"},
                    `${whole(first.members)} members and ${whole(first.non_members)} others were scored. AUC 0.5 is guessing, 1 is certainty; on a copy of the members a good attack comes near 1.`,
                ),
                el(
                    "div",
                    {
                        class: "scroll",
                        tabindex: 0,
                        role: "region",
                        "aria-label": "Results of the attacks",
                    },
                    shownTable(list),
                ),
                el(
                    "div",
                    {class: "behind"},
                    csvButton(`Attacks on ${set.name}`, () => savedTable(list)),
                ),
            ),
        ),
    );
}

export function showAttacks() {
    const cards = (data.attack && data.attack.shadow ? synthetic.slice(0, 1) : synthetic)
        .map(card)
        .filter(Boolean);
    if (cards.length === 0) return byId("attacks").remove();
    byId("attacks-lead").textContent =
        `Attackers who see the synthetic trips guess who was in the data. The promise (ε = ${epsilon(data.attack.epsilon === "inf" ? "infinity" : data.attack.epsilon)}, δ = ${power(limits().delta)}) bounds what any of them can find. ` +
        "An attack that fails proves nothing; one beyond the bound shows a defect.";
    fill("attacks-body", cards);
}
