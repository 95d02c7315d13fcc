// How trips move, by the points that were written: speed, kilometres, turns, stops; and the days
// and minutes on which they begin.
import {columns, lines} from "./chart.js";
import {area, data, labelOf, sets, sum} from "./data.js";
import {figureCard, histogramTable, seriesOf} from "./distribution.js";
import {byId, el, fill} from "./dom.js";
import {percent, percentTick, plain, short} from "./format.js";
import {find} from "./measures.js";

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

// One histogram: {list: sets that have it, share(set): by bin, width, bins}; null when no set has
// it.
function histogram(name) {
    const {width, count} = data.motion[name],
        list = sets.filter((set) => count[set.index] && sum(count[set.index]) > 0);
    if (list.length === 0) return null;
    const shares = new Map(
        list.map((set) => [set, count[set.index].map((n) => n / sum(count[set.index]))]),
    );
    return {list, width, bins: count[list[0].index].length, share: (set) => shares.get(set)};
}

// Bins up to where nearly all of every set lies; the rest is in the table.
function shown({list, share, bins}, part) {
    const end = (row) => {
        let reached = 0,
            i = 0;
        while (i < bins && reached < part) reached += row[i++];
        return i;
    };
    return Math.min(bins, 1 + Math.max(...list.map((set) => end(share(set)))));
}

// A set's figure: of a synthetic one its value, of the real one the floor, which is the real trips'
// own figure.
const measured = (name, format) => (set) => {
    const m = find(set.real ? 0 : set.number, name, "pooled"),
        value = m && (set.real ? m.floor : m.value);
    return value === null || value === undefined ? null : format(value);
};

const range = (h, unit) => (i) =>
    i === h.bins - 1
        ? `${short(i * h.width)} ${unit} and more`
        : `${short(i * h.width)} to ${short((i + 1) * h.width)} ${unit}`;

function curveCard({
    name,
    title,
    hint,
    unit,
    of,
    figure,
    figureName,
    part = 0.997,
    every,
    titleOf,
}) {
    const h = histogram(name);
    if (!h) return null;
    const x = Array.from({length: shown(h, part)}, (_, i) => i),
        titleAt = titleOf || range(h, unit);
    return figureCard({
        title,
        hint,
        list: h.list,
        figure,
        figureName,
        draw: (canvas) =>
            lines(
                canvas,
                `Histogram of ${title.toLowerCase()}: share of ${of} by ${unit}, ${h.list.map(labelOf).join(" and ")}.`,
                {
                    x,
                    xName: unit,
                    yName: `share of ${of}`,
                    format: percent,
                    tick: percentTick,
                    xLabel: (i) => short(i * h.width),
                    xTitle: titleAt,
                    integerTicks: (i) => i % every === 0,
                    step: "end",
                    series: seriesOf(h.list, (set) => x.map((i) => h.share(set)[i])),
                },
            ),
        makeTable: () =>
            histogramTable(
                `${title}: share of ${of}`,
                unit,
                Array.from({length: h.bins}, (_, i) => titleAt(i)),
                h.list,
                (set, i) => h.share(set)[i],
            ),
    });
}

// Few, named rows: bars side by side. order: bins in the order in which they are shown.
function columnCard({name, title, hint, of, names, order, figure, figureName, xName}) {
    const h = histogram(name);
    if (!h) return null;
    const rows = order || names.map((_, i) => i),
        at = (set, i) => h.share(set)[rows[i]];
    return figureCard({
        title,
        hint,
        list: h.list,
        figure,
        figureName,
        draw: (canvas) =>
            columns(
                canvas,
                `Bars: share of ${of} by ${xName}, ${h.list.map(labelOf).join(" and ")}.`,
                {
                    x: names,
                    xName,
                    yName: `share of ${of}`,
                    format: percent,
                    tick: percentTick,
                    series: seriesOf(h.list, (set) => names.map((_, i) => at(set, i))),
                },
            ),
        makeTable: () => histogramTable(`${title}: share of ${of}`, xName, names, h.list, at),
    });
}

const STOPS = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10 +"];

function stopCard() {
    const h = histogram("stops");
    if (!h) return null;
    const last = shown(h, 0.9995),
        names = STOPS.slice(0, Math.max(4, last));
    return columnCard({
        name: "stops",
        title: "Stops",
        of: "trips",
        names,
        xName: "stops in a trip",
        hint: "Two minutes or more within 100 m.",
        figureName: "stops a trip",
        figure: measured("stops_per_trip", (v) => v.toFixed(v < 0.01 ? 4 : 2)),
    });
}

export function showMotion() {
    const cards = [
        curveCard({
            name: "speed_kmh",
            title: "Speed",
            unit: "km/h",
            of: "steps",
            hint: `Between points ${area.slot_s} s apart.`,
            figureName: "median",
            figure: measured("speed_q50_kmh", (v) => `${plain(v)} km/h`),
            every: 8,
        }),
        curveCard({
            name: "path_km",
            title: "Kilometres",
            unit: "km",
            of: "trips",
            hint: "The length of a trip along its points.",
            figureName: "mean",
            figure: measured("path_km_mean", (v) => `${plain(v)} km`),
            every: 4,
        }),
        curveCard({
            name: "turn_deg",
            title: "Turns",
            unit: "degrees",
            of: "turns",
            part: 2,
            hint: "By how much a trip turns at a point, where it moves more than 30 m before and after: 0 is straight on, 180 is back.",
            figureName: "sharper than 90°",
            figure: measured("turn_sharp_share", percent),
            every: 6,
        }),
        stopCard(),
    ].filter(Boolean);
    if (cards.length === 0) return byId("motion").remove();
    fill("motion-body", el("div", {class: "grid", style: {"--least": "400px"}}, cards));
}

// The program counts from Sunday on.
export const weekdayCard = () =>
    columnCard({
        name: "weekday",
        title: "Weekday",
        of: "trips",
        names: WEEKDAYS.map((day) => day.slice(0, 3)),
        order: [1, 2, 3, 4, 5, 6, 0],
        xName: "day on which a trip begins",
        hint: "The day on which a trip begins, local time.",
    });
export const minuteCard = () =>
    curveCard({
        name: "start_minute",
        title: "Minute of the hour",
        unit: "minute",
        of: "trips",
        part: 2,
        hint: "The minute at which a trip begins.",
        every: 10,
        titleOf: (i) => `minute ${i}`,
    });
