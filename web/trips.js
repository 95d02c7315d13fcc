// A few trips, by the points that were written, drawn whole and walked slot by slot: synthetic
// ones, and real ones beside them if the holder asked.
import {tableBehind} from "./behind.js";
import {absolute, area, around, colourOf, data, degrees, labelOf, real, synthetic} from "./data.js";
import {byId, el, fill, table} from "./dom.js";
import {clockOf, kilometres, position} from "./format.js";
import {GROUND_WORDS, groundSeries, map} from "./map.js";
import {makeView} from "./view.js";

const FRAME_MS = 50,
    MINUTE_MS = 350;

// Where a trip is after `minute` slots, between two points too; it stays at its end.
function pointAt(points, minute) {
    const at = Math.min(Math.max(0, minute), points.length - 1),
        i = Math.min(points.length - 2, Math.floor(at)),
        t = at - i;
    return points.length === 1
        ? points[0]
        : [
              points[i][0] + t * (points[i + 1][0] - points[i][0]),
              points[i][1] + t * (points[i + 1][1] - points[i][1]),
          ];
}

const walked = (points, minute) => [
    ...points.slice(0, Math.min(points.length, Math.floor(minute) + 1)),
    pointAt(points, minute),
];
const length_m = (points) =>
    points
        .slice(1)
        .reduce((total, p, i) => total + Math.hypot(p[0] - points[i][0], p[1] - points[i][1]), 0);

const drawn = (list) => list.map((trip) => ({...trip, points: absolute(trip.steps_m)}));

// [set, trips]: the real set first, if some of its trips are in the file.
const shownSets = () => [
    ...(real && data.real_trips ? [[real, drawn(data.real_trips)]] : []),
    ...synthetic.map((set) => [set, drawn(data.trips[set.number])]),
];

function tripSeries(set, trips, minute, t) {
    const colour = (k) =>
        t.sequential(t.dark ? 0.35 + (0.65 * k) / trips.length : 0.3 + (0.7 * k) / trips.length);
    const flat = (make) => trips.flatMap((trip, k) => make(trip, k));
    return [
        groundSeries(set, t),
        {
            type: "lines",
            coordinateSystem: "cartesian2d",
            polyline: true,
            silent: true,
            z: 6,
            data: trips.map((trip) => ({
                coords: trip.points,
                lineStyle: {width: 1.25, color: t.backdrop, opacity: 0.7},
            })),
        },
        {
            type: "lines",
            coordinateSystem: "cartesian2d",
            polyline: true,
            silent: true,
            z: 7,
            data: trips.map((trip, k) => ({
                coords: walked(trip.points, minute),
                lineStyle: {width: 2.25, color: colour(k), opacity: 0.95},
            })),
        },
        {
            type: "scatter",
            silent: true,
            z: 8,
            symbolSize: 4.5,
            data: flat((trip, k) =>
                walked(trip.points, minute)
                    .slice(0, -1)
                    .map((value) => ({value, itemStyle: {color: colour(k)}})),
            ),
        },
        {
            type: "scatter",
            silent: true,
            z: 9,
            symbolSize: 11,
            data: trips.map((trip, k) => ({
                value: pointAt(trip.points, minute),
                itemStyle: {color: colour(k), borderColor: t.card, borderWidth: 2},
            })),
        },
    ];
}

function tripTable(shown) {
    const several = shown.length > 1,
        place = ([x, y]) => position(...degrees(x, y));
    return table(
        "The trips on the map",
        [
            {title: several ? "Set" : "Trip"},
            {title: "Start"},
            {title: "From"},
            {title: "To"},
            {title: "Length", number: true},
            {title: "Points", number: true},
        ],
        shown.flatMap(([set, trips]) =>
            trips.map((trip, k) => [
                several ? labelOf(set) : String(k + 1),
                trip.start_s === undefined ? "no time" : clockOf(trip.start_s),
                place(trip.points[0]),
                place(trip.points.at(-1)),
                {
                    text: kilometres(length_m(trip.points)),
                    value: Number((length_m(trip.points) / 1000).toFixed(3)),
                },
                String(trip.points.length),
            ]),
        ),
    );
}

function lead() {
    const slot = area.slot_s === 60 ? "minute" : `slot of ${area.slot_s} s`,
        shown = Boolean(data.real_trips);
    return (
        "A few whole trips of each set, spread over its file, by the points that were written. Synthetic ones are drawn from the model, not from anybody's life. " +
        `Press play to follow them, one ${slot} a step; zoom in to see how they move. ${GROUND_WORDS}` +
        (real && !shown
            ? " Real trips are not in this file; dploc report --real-trips 12 draws some beside these."
            : "")
    );
}

export function showTrips() {
    const shown = shownSets(),
        all = shown.flatMap(([, trips]) => trips),
        longest = Math.max(0, ...all.map((trip) => trip.points.length - 1));
    if (longest === 0) return byId("trips").remove();
    byId("trips-lead").textContent = lead();
    const extent = around(
            all.flatMap((trip) => trip.points),
            2 * area.cell_m,
        ),
        view = makeView(extent);
    let minute = longest;
    const maps = shown.map(([set, trips]) =>
        map({
            title: labelOf(set),
            colour: () => colourOf(set),
            extent,
            view,
            label: `Map with ${trips.length} ${set.real ? "real trips" : `synthetic trips of ${set.name}`}; the table lists them.`,
            series: (t) => tripSeries(set, trips, minute, t),
        }),
    );
    const name = () =>
        `${area.slot_s === 60 ? "Minute" : "Slot"} ${Math.round(minute)} of ${longest}`;
    const output = el("output", {for: "minute"}, name());
    const slider = el("input", {
        type: "range",
        id: "minute",
        min: 0,
        max: longest,
        step: 1,
        value: longest,
        "aria-label": "Minutes since each trip began",
        "aria-valuetext": name(),
    });
    const show = (next) => {
        minute = next;
        slider.value = String(Math.round(minute));
        output.textContent = name();
        slider.setAttribute("aria-valuetext", name());
        for (const m of maps) m.chart.draw();
    };
    let playing = null;
    const stop = () => {
        clearInterval(playing);
        playing = null;
        play.textContent = "Play";
    };
    // Those who asked for less motion get whole steps, no glide.
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches,
        step = still ? 1 : FRAME_MS / MINUTE_MS;
    const play = el(
        "button",
        {
            type: "button",
            class: "play",
            onclick: () => {
                if (playing) return stop();
                play.textContent = "Stop";
                show(0);
                playing = setInterval(
                    () => (minute >= longest ? stop() : show(Math.min(longest, minute + step))),
                    still ? 2 * MINUTE_MS : FRAME_MS,
                );
            },
        },
        "Play",
    );
    slider.addEventListener("input", () => (stop(), show(Number(slider.value))));
    fill(
        "trips-body",
        el(
            "div",
            {class: "card"},
            el("div", {class: "controls"}, play, slider, output),
            el(
                "div",
                {class: "grid", style: {"--least": shown.length === 1 ? "100%" : "320px"}},
                maps.map((m) => m.element),
            ),
            tableBehind("Trips on the map", () => tripTable(shown)),
        ),
    );
}
