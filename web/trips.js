// A few synthetic trips, drawn whole and walked minute by minute.
import {area, around, centreOf, colourOf, data, degrees, labelOf, synthetic} from "./data.js";
import {byId, el, fill, table, tableBehind} from "./dom.js";
import {clockOf, kilometres, position} from "./format.js";
import {groundSeries, map} from "./map.js";

const FRAME_MS = 50, MINUTE_MS = 350;

// Where a trip is after `minute` slots, between two visits too; it stays at its end.
function pointAt(points, minute) {
    const at = Math.min(Math.max(0, minute), points.length - 1), i = Math.min(points.length - 2, Math.floor(at)), t = at - i;
    return points.length === 1 ? points[0] : [points[i][0] + t * (points[i + 1][0] - points[i][0]), points[i][1] + t * (points[i + 1][1] - points[i][1])];
}

const walked = (points, minute) => [...points.slice(0, Math.min(points.length, Math.floor(minute) + 1)), pointAt(points, minute)];
const length_m = (points) => points.slice(1).reduce((total, p, i) => total + Math.hypot(p[0] - points[i][0], p[1] - points[i][1]), 0);

// Whole trips lie on the centres of cells: those on one street are drawn beside each other.
function shifted(points, k, n) {
    const offset = ((k + 0.5) / n - 0.5) * 0.5 * area.cell_m;
    return points.map(([x, y]) => [x + offset, y + offset]);
}

export function showTrips() {
    const shown = synthetic.map((set) => data.trips[set.number].map((trip, k, all) => ({...trip, points: shifted(trip.cells.map(centreOf), k, all.length)})));
    const longest = Math.max(0, ...shown.flat().map((trip) => trip.cells.length - 1)), slot = area.slot_s === 60 ? "minute" : `slot of ${area.slot_s} s`;
    if (longest === 0) return byId("trips").remove();
    byId("trips-lead").textContent = "Drawn from the model, not from anybody's life: a few whole trips of each synthetic set, spread over the file, through the centres of their cells. " +
        `Press play to follow them, one ${slot} a step.`;
    const extent = around(shown.flat().flatMap((trip) => trip.points), 2 * area.cell_m);
    let minute = longest;
    const maps = synthetic.map((set) => map({
        title: labelOf(set), colour: () => colourOf(set), extent, label: `Map with ${shown[set.number].length} synthetic trips of ${set.name}; the table below lists them.`,
        series: (t) => {
            const colour = (k) => t.sequential(t.dark ? 0.35 + (0.65 * k) / shown[set.number].length : 0.3 + (0.7 * k) / shown[set.number].length);
            return [
                groundSeries(set, t),
                {type: "lines", coordinateSystem: "cartesian2d", polyline: true, silent: true, z: 6, data: shown[set.number].map((trip) => ({coords: trip.points, lineStyle: {width: 1.5, color: t.backdrop, opacity: 0.55}}))},
                {type: "lines", coordinateSystem: "cartesian2d", polyline: true, silent: true, z: 7, data: shown[set.number].map((trip, k) => ({coords: walked(trip.points, minute), lineStyle: {width: 2.75, color: colour(k), opacity: 0.95}}))},
                {type: "scatter", silent: true, z: 7, symbolSize: 5, symbol: "rect", data: shown[set.number].map((trip, k) => ({value: trip.points[0], itemStyle: {color: colour(k)}}))},
                {type: "scatter", silent: true, z: 8, symbolSize: 11, data: shown[set.number].map((trip, k) => ({value: pointAt(trip.points, minute), itemStyle: {color: colour(k), borderColor: t.card, borderWidth: 2}}))},
            ];
        },
    }));
    const name = () => `${area.slot_s === 60 ? "Minute" : "Slot"} ${Math.round(minute)} of ${longest}`;
    const output = el("output", {for: "minute"}, name());
    const slider = el("input", {type: "range", id: "minute", min: 0, max: longest, step: 1, value: longest, "aria-label": "Minutes since each trip began", "aria-valuetext": name()});
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
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches, step = still ? 1 : FRAME_MS / MINUTE_MS;
    const play = el("button", {type: "button", onclick: () => {
        if (playing) return stop();
        play.textContent = "Stop";
        show(0);
        playing = setInterval(() => (minute >= longest ? stop() : show(Math.min(longest, minute + step))), still ? 2 * MINUTE_MS : FRAME_MS);
    }}, "Play");
    slider.addEventListener("input", () => (stop(), show(Number(slider.value))));
    const place = (cell) => position(...degrees(...centreOf(cell)));
    const list = () => table("The trips on the map",
        [{title: synthetic.length === 1 ? "Trip" : "Set"}, {title: "Start"}, {title: "From"}, {title: "To"}, {title: "Length", number: true}, {title: "Visits", number: true}],
        synthetic.flatMap((set) => shown[set.number].map((trip, k) => [synthetic.length === 1 ? String(k + 1) : labelOf(set), trip.start_s === undefined ? "no time" : clockOf(trip.start_s), place(trip.cells[0]), place(trip.cells.at(-1)),
            kilometres(length_m(trip.points)), String(trip.cells.length)])));
    // One map leaves room for the table beside it.
    const alone = synthetic.length === 1;
    fill("trips-body", el("div", {class: "card"}, el("div", {class: "controls"}, play, slider, output),
        el("div", {class: "grid", style: {"--least": alone ? "460px" : "320px"}}, maps.map((m) => m.element), alone ? el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "The trips on the map"}, list()) : null),
        alone ? null : tableBehind(list)));
}
