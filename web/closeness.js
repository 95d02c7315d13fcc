// The table of all measures, and the tiles at the top.
import {theme} from "./colours.js";
import {colourOf, data, real, sum, synthetic, unitWord} from "./data.js";
import {csvButton} from "./csv.js";
import {chip, el, fill, table} from "./dom.js";
import {epsilon, metres, percent, plain, power, whole} from "./format.js";
import {badness, describe, find, FIRST, GROUPS, measures, words} from "./measures.js";
import {bestGuess} from "./privacy.js";

// A dot between 1 (left: the floor) and 10 (right), by the logarithm.
function meter(m) {
    const b = badness(m);
    if (b === null) return null;
    const part = Math.min(1, Math.max(0, Math.log10(b)));
    return el(
        "span",
        {
            class: "meter",
            "aria-hidden": "true",
            title: "left: as good as real data; right: ten times the floor",
        },
        el("i", {
            style: {
                left: `${8 + 84 * part}%`,
                background: theme().sequential(
                    theme().dark ? 0.95 - 0.55 * part : 0.75 - 0.35 * part,
                ),
            },
        }),
    );
}

const scopeWord = (scope) => (scope === "pooled" ? "all trips" : "mean of hours");

function cellsFor(k, name, scope) {
    const m = find(k, name, scope),
        {format} = describe(name);
    const first = synthetic.length > 1 ? synthetic[k].name : "Value"; // labels are for narrow screens, where the head is hidden
    if (!m)
        return [
            el("td", {class: "n first", "data-label": first}, "–"),
            el("td", {class: "n"}, "–"),
            el("td", {class: "n"}, "–"),
            el("td", {}, ""),
        ];
    const exact = (value, text, label, extra = "") =>
        el(
            "td",
            {
                class: `n ${extra}`,
                "data-label": label,
                "data-value": value === null ? "null" : value,
            },
            text,
        );
    return [
        exact(m.value, format(m.value), first, "first"),
        exact(m.floor, format(m.floor), "Floor"),
        exact(m.ratio, m.ratio === null ? "–" : plain(m.ratio), "Ratio"),
        el("td", {class: "words"}, meter(m), " ", words(m)),
    ];
}

function rowFor(name, scope) {
    const {title, text} = describe(name),
        first =
            FIRST.has(name) &&
            (scope === "pooled" || !measures.some((_, k) => find(k, name, "pooled")));
    return el(
        "tr",
        {class: first ? null : "more", "data-measure": name, "data-scope": scope},
        el(
            "th",
            {scope: "row"},
            title,
            el("small", {}, scope === "pooled" ? text : "mean of the hours of the day"),
        ),
        el("td", {class: "nowrap scope"}, scopeWord(scope)),
        synthetic.map((_, k) => cellsFor(k, name, scope)),
    );
}

function groupRows([title, names]) {
    const rows = [];
    for (const name of names)
        for (const scope of ["pooled", "hours"])
            if (measures.some((_, k) => find(k, name, scope))) rows.push(rowFor(name, scope));
    if (rows.length === 0) return [];
    return [
        el(
            "tr",
            {class: rows.some((row) => !row.className) ? "group" : "group more"},
            el("th", {colspan: 2 + 4 * synthetic.length, scope: "rowgroup"}, title),
        ),
        ...rows,
    ];
}

// For the file: a row for every figure, each hour of the day included.
const plainTable = () =>
    table(
        "All measures",
        ["Set", "Measure", "Scope", "Value", "Floor", "Ratio"].map((title) => ({title})),
        measures.flatMap((list, k) =>
            list.map((m) => [
                synthetic[k].name,
                m.name,
                String(m.scope),
                ...[m.value, m.floor, m.ratio].map((value) => ({text: plain(value), value})),
            ]),
        ),
    );

export function showCloseness() {
    if (!data.evaluation) return;
    const e = data.evaluation,
        known = new Set(GROUPS.flatMap(([, names]) => names));
    const others = [...new Set(measures.flat().map((m) => m.name))].filter(
        (name) => !known.has(name),
    );
    const rows = [...GROUPS, ["Other", others]].flatMap(groupRows);
    const whole_table = el(
        "table",
        {class: "measures", id: "measures"},
        el(
            "caption",
            {},
            `${whole(e.splits)} random ${e.splits === 1 ? "halving" : "halvings"}, ${whole(e.cells)} cells with ${percent(e.cell_share)} of the real visits${e.paper_measures ? ", as the authors measured" : ""}. ` +
                "For patterns higher is better, for the rest lower.",
        ),
        el(
            "thead",
            {},
            synthetic.length > 1
                ? el(
                      "tr",
                      {},
                      el("th", {colspan: 2}),
                      synthetic.map((set) =>
                          el(
                              "th",
                              {colspan: 4, class: "first", scope: "colgroup"},
                              chip(() => colourOf(set)),
                              set.name,
                          ),
                      ),
                  )
                : null,
            el(
                "tr",
                {},
                el("th", {scope: "col"}, "Measure"),
                el("th", {scope: "col"}, "Scope"),
                synthetic.map(() => [
                    el("th", {scope: "col", class: "n first"}, "Value"),
                    el("th", {scope: "col", class: "n"}, "Floor"),
                    el("th", {scope: "col", class: "n"}, "Ratio"),
                    el("th", {scope: "col"}, "In words"),
                ]),
            ),
        ),
        el("tbody", {}, rows),
    );
    const hidden = rows.filter(
        (row) => row.classList.contains("more") && row.dataset.measure,
    ).length;
    const button = el(
        "button",
        {
            type: "button",
            "aria-expanded": "false",
            "aria-controls": "measures",
            onclick: () => {
                const all = whole_table.classList.toggle("all");
                button.setAttribute("aria-expanded", String(all));
                button.textContent = all ? "Show the main measures only" : `Show ${hidden} more`;
            },
        },
        `Show ${hidden} more`,
    );
    fill(
        "closeness-table",
        el(
            "div",
            {class: "card"},
            el(
                "div",
                {
                    class: "scroll",
                    tabindex: 0,
                    role: "region",
                    "aria-label": "Table of all measures",
                },
                whole_table,
            ),
            el("div", {class: "behind"}, button, csvButton("All measures", plainTable)),
        ),
    );
}

// ---- tiles ----

function tile(title, rowOf) {
    const rows = synthetic.map((set) => {
        const found = rowOf(set);
        return (
            found &&
            el(
                "div",
                {class: "row"},
                synthetic.length > 1
                    ? el(
                          "div",
                          {class: "who"},
                          chip(() => colourOf(set)),
                          set.name,
                      )
                    : null,
                el("div", {class: "big"}, found[0], " ", el("small", {}, found[1])),
                el("div", {class: "note"}, found[2]),
            )
        );
    });
    return rows.some(Boolean) ? el("div", {class: "tile"}, el("h3", {}, title), rows) : null;
}

const measured = (name, note) => (set) => {
    const m = find(set.number, name, "pooled") || find(set.number, name, "hours");
    return m && m.value !== null ? [metres(m.value), words(m), note(m)] : null;
};

export function showGlance() {
    const floor = (m) => `real data against itself: ${metres(m.floor)}`;
    fill(
        "glance-tiles",
        el(
            "div",
            {class: "tiles"},
            tile("Privacy", (set) => {
                const c = set.certificate;
                if (!c) return ["no ε", "", "this set came without a certificate"];
                const right = bestGuess(c.epsilon === "infinity" ? Infinity : c.epsilon, c.delta);
                return [
                    `ε = ${epsilon(c.epsilon)}`,
                    `per ${unitWord(c)}`,
                    c.private
                        ? `δ = ${power(c.delta)}; a guess is right at most ${plain(100 * right)} times in 100`
                        : "NOT PRIVATE",
                ];
            }),
            tile("Synthetic trips", (set) => [
                whole(set.trips),
                "trips",
                `${whole(set.visits)} visits${real ? `; real: ${whole(real.trips)} trips` : ""}`,
            ]),
            tile("Where they are", measured("density_emd_m", floor)),
            tile("From and to", measured("od_emd_m", floor)),
            real
                ? null
                : tile("Mean length", (set) => [
                      plain(set.visits / set.trips),
                      "visits a trip",
                      `one visit every ${whole(data.area.slot_s)} s`,
                  ]),
            real
                ? null
                : tile("Places", (set) => [
                      whole(
                          data.map.place.filter(
                              (_, i) => sum(data.map.visits[set.index].map((row) => row[i])) > 0,
                          ).length,
                      ),
                      "squares visited",
                      `of ${whole(data.map.block * data.area.cell_m)} m`,
                  ]),
        ),
    );
}
