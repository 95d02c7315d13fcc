// A map: true proportions in metres, an optional backdrop, a scale bar; what is on it comes as
// ECharts series.
import {chart, tooltip} from "./chart.js";
import {theme} from "./colours.js";
import {backdrop, data, everywhere, squares, sum} from "./data.js";
import {chip, el} from "./dom.js";
import {makeView, steer} from "./view.js";

// 1, 2 or 5 times a power of ten, about a quarter of the map's width.
function drawScale(bar, width_m) {
    const wish = width_m / 4,
        power = 10 ** Math.floor(Math.log10(wish));
    const length_m = [5, 2, 1].map((k) => k * power).find((l) => l <= wish) || power;
    bar.style.width = `${(100 * length_m) / width_m}%`;
    bar.firstChild.textContent = length_m >= 1000 ? `${length_m / 1000} km` : `${length_m} m`;
}

// So many lines would cover what lies below them.
const MANY_LINES = 1500;

// Lines in metres, below what a map is about.
export function linesSeries(lines, t) {
    if (lines.length === 0) return [];
    return [
        {
            type: "lines",
            coordinateSystem: "cartesian2d",
            polyline: true,
            silent: true,
            z: 5,
            progressive: 0,
            lineStyle:
                lines.length > MANY_LINES
                    ? {color: t.backdrop, width: 0.7, opacity: 0.5}
                    : {color: t.backdrop, width: 1, opacity: 0.9},
            data: lines.map((coords) => ({coords})),
        },
    ];
}

const axes = ({west, east, south, north}) => ({
    xAxis: {type: "value", min: west, max: east, show: false},
    yAxis: {type: "value", min: south, max: north, show: false},
});

// series(theme): ECharts series in metres; view: what part to show (view.js), shared by maps that
// move together. Returns {element, chart}.
export function map({
    title,
    colour,
    label,
    series,
    tip,
    extent = everywhere,
    view = makeView(extent),
}) {
    const canvas = el("div", {
        class: "canvas",
        style: {aspectRatio: `${extent.east - extent.west} / ${extent.north - extent.south}`},
    });
    const bar = el("div", {class: "scalebar", "aria-hidden": "true"}, el("span", {}));
    const frame = el(
        "div",
        {class: "frame"},
        canvas,
        bar,
        data.openstreetmap ? el("div", {class: "credit"}, "© OpenStreetMap contributors") : null,
    );
    const made = chart(canvas, label, () => {
        const t = theme();
        return {
            grid: {left: 0, right: 0, top: 0, bottom: 0},
            ...axes(view.box()),
            tooltip: tip ? tooltip(tip, {trigger: "item"}) : {show: false},
            series: [...linesSeries(backdrop, t), ...series(t)],
        };
    });
    const follow = () => {
        const box = view.box();
        drawScale(bar, box.east - box.west);
        frame.dataset.zoom = view.zoom().toFixed(3); // for tests
        return box;
    };
    follow();
    view.onChange(() => made.instance.setOption(axes(follow())));
    steer(frame, view, title);
    return {
        element: el(
            "div",
            {class: "map"},
            el("h3", {}, colour ? chip(colour) : null, title),
            frame,
        ),
        chart: made,
    };
}

// Where a set's visits are, faintly: the ground on which other things are drawn.
export function groundSeries(set, t) {
    const visits = squares.map((_, i) => sum(data.map.visits[set.index].map((row) => row[i]))),
        most = Math.max(1, ...visits);
    return {
        ...squaresSeries(squares, (i) =>
            visits[i] ? t.ground(Math.sqrt(visits[i] / most)) : null,
        ),
        silent: true,
        z: 1,
    };
}
export const GROUND_WORDS =
    "Grey squares: where the set's visits are, darker for more; no colour: no visits.";

// Squares coloured by value. squares: [{x, y, side}], colourAt(i): a colour, or null for nothing
// there.
export function squaresSeries(squares, colourAt) {
    return {
        type: "custom",
        coordinateSystem: "cartesian2d",
        clip: true,
        z: 3,
        progressive: 0,
        dimensions: ["x", "y"],
        encode: {x: 0, y: 1},
        data: squares.map((s) => [s.x, s.y]),
        renderItem: (params, api) => {
            const s = squares[params.dataIndex],
                colour = colourAt(params.dataIndex);
            const [left, bottom] = api.coord([s.x, s.y]),
                [right, top] = api.coord([s.x + s.side, s.y + s.side]);
            return {
                type: "rect",
                shape: {x: left, y: top, width: right - left + 0.4, height: bottom - top + 0.4},
                style: {fill: colour || "transparent"},
                emphasis: {style: {stroke: theme().ink, lineWidth: 1.5}},
            };
        },
    };
}

export function ramp(colours, ticks, title) {
    return el(
        "div",
        {class: "ramp"},
        el("div", {}, title),
        el("div", {class: "bar", style: {background: colours}, "aria-hidden": "true"}),
        el(
            "div",
            {class: "ticks"},
            ticks.map((tick) => el("span", {}, tick)),
        ),
    );
}

// What a place without colour means.
export const blank = (text) =>
    el("div", {class: "blank"}, el("span", {class: "chip", "aria-hidden": "true"}), text);
