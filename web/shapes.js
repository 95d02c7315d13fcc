// How long trips are and when they begin; and the measures hour by hour.
import {tableBehind} from "./behind.js";
import {lines} from "./chart.js";
import {theme} from "./colours.js";
import {area, colourOf, data, labelOf, sets, sum, synthetic, timed} from "./data.js";
import {DASHES, figureCard, histogramTable, seriesOf} from "./distribution.js";
import {byId, el, fill, legend, table} from "./dom.js";
import {percent, percentTick, periodName, periodStart, plain} from "./format.js";
import {minuteCard, weekdayCard} from "./motion.js";
import {describe, find, measures} from "./measures.js";

const shareOf = (counts) => counts.map((n) => n / Math.max(1, sum(counts)));
const slot = () => (area.slot_s === 60 ? "minutes" : `slots of ${area.slot_s} s`);

function lengthCard() {
    // The long tail is in the table; the picture ends where 99.7 % of every set's trips do.
    const share = sets.map((set) => shareOf(data.lengths[set.index])),
        longest = Math.max(...share.map((s) => s.length));
    const end = Math.max(
        ...share.map((s) => {
            let reached = 0,
                i = 0;
            while (i < s.length && reached < 0.997) reached += s[i++];
            return i;
        }),
    );
    const x = Array.from({length: end}, (_, i) => i + 1),
        at = (set, i) => share[set.index][i] ?? 0;
    return figureCard({
        title: "Trip length",
        list: sets,
        hint: `Visits of a trip, one every ${area.slot_s === 60 ? "minute" : `${area.slot_s} s`}: its length in ${slot()}.`,
        figureName: "mean",
        figure: (set) => plain(set.visits / set.trips),
        draw: (canvas) =>
            lines(
                canvas,
                `Line chart of trip lengths: share of trips for each number of visits, ${sets.map(labelOf).join(" and ")}.`,
                {
                    x,
                    xName: `visits (${slot()})`,
                    yName: "share of trips",
                    format: percent,
                    tick: percentTick,
                    xTitle: (v) => `${v} visits`,
                    integerTicks: Math.max(0, Math.ceil(end / 12) - 1),
                    series: seriesOf(sets, (set) => x.map((_, i) => at(set, i))),
                },
            ),
        makeTable: () =>
            histogramTable(
                "Share of trips by number of visits",
                "Visits",
                Array.from({length: longest}, (_, i) => String(i + 1)),
                sets,
                at,
            ),
    });
}

function hourCard() {
    const list = sets.filter((set) => set.has_time),
        share = (set) => shareOf(data.hours[set.index]);
    const x = Array.from({length: area.periods}, (_, p) => p);
    return figureCard({
        title: "Time of day",
        list,
        hint: `When trips happen, local time (${area.zone}).`,
        draw: (canvas) =>
            lines(canvas, "Line chart of the share of trips by hour of the day.", {
                x,
                xName: "hour of the day",
                yName: "share of trips",
                format: percent,
                tick: percentTick,
                xLabel: (p) => periodStart(p, area.periods),
                xTitle: (p) => periodName(p, area.periods),
                integerTicks: Math.max(0, Math.ceil(area.periods / 8) - 1),
                series: seriesOf(list, share),
            }),
        makeTable: () =>
            histogramTable(
                "Share of trips by hour",
                "Hour",
                x.map((p) => periodName(p, area.periods)),
                list,
                (set, p) => share(set)[p],
            ),
    });
}

export function showShapes() {
    fill(
        "shapes-body",
        el(
            "div",
            {class: "grid", style: {"--least": "400px"}},
            lengthCard(),
            timed ? hourCard() : null,
            weekdayCard(),
            minuteCard(),
        ),
    );
}

// ---- hour by hour ----

const CURVES = [
    ["density_emd_m", "metres"],
    ["od_emd_m", "metres"],
    ["length_jsd_distance", "distance, 0 to 1"],
];

function curve([name, unit]) {
    const x = Array.from({length: area.periods}, (_, p) => p),
        {title, text, format} = describe(name);
    const at = (k, what) => x.map((p) => (find(k, name, p) || {})[what] ?? null);
    const list = synthetic.filter((set) => find(set.number, name, 0)),
        canvas = el("div", {class: "chart"});
    // Sets of one size have one floor: the first one's stands for all.
    const series = () => [
        ...list.map((set) => ({
            name: labelOf(set),
            colour: colourOf(set),
            dash: DASHES[set.number],
            values: at(set.number, "value"),
        })),
        {name: "Floor", colour: theme().floor, dashed: true, values: at(list[0].number, "floor")},
    ];
    queueMicrotask(() =>
        lines(
            canvas,
            `Line chart of ${title.toLowerCase()} for each hour of the day, with its floor.`,
            {
                x,
                xName: "hour of the day",
                yName: unit,
                format,
                xLabel: (p) => periodStart(p, area.periods),
                xTitle: (p) => periodName(p, area.periods),
                integerTicks: Math.max(0, Math.ceil(area.periods / 6) - 1),
                series,
            },
        ).draw(),
    );
    const makeTable = () => {
        const made = table(
            `${title} by hour`,
            [
                {title: "Hour"},
                ...list.flatMap((set) =>
                    [labelOf(set), `Floor`, `Ratio`].map((what) => ({title: what, number: true})),
                ),
            ],
            x.map((p) => [
                periodName(p, area.periods),
                ...list.flatMap((set) =>
                    ["value", "floor", "ratio"].map((what) => {
                        const value = at(set.number, what)[p];
                        return {text: what === "ratio" ? plain(value) : format(value), value};
                    }),
                ),
            ]),
        );
        made.dataset.measure = name;
        return made;
    };
    return el(
        "div",
        {class: "card"},
        el("h3", {}, title),
        el("p", {class: "hint"}, text),
        legend([
            ...list.map((set) => ({colour: () => colourOf(set), name: labelOf(set)})),
            {colour: () => theme().floor, name: "Floor", dashed: true},
        ]),
        canvas,
        tableBehind(`${title} by hour`, makeTable),
    );
}

export function showHourly() {
    const wanted = CURVES.filter(([name]) => measures.some((_, k) => find(k, name, 0)));
    if (wanted.length === 0) return byId("hourly").remove();
    fill("hourly-body", el("div", {class: "grid"}, wanted.map(curve)));
}
