// A map: true proportions in metres, an optional backdrop, a scale bar; what is on it comes as ECharts series.
import {chart, tooltip} from "./chart.js";
import {theme} from "./colours.js";
import {backdrop, data, everywhere, squares, sum} from "./data.js";
import {chip, el} from "./dom.js";

// 1, 2 or 5 times a power of ten, about a quarter of the map's width.
function scaleBar(width_m) {
    const wish = width_m / 4, power = 10 ** Math.floor(Math.log10(wish));
    const length_m = [5, 2, 1].map((k) => k * power).find((l) => l <= wish) || power;
    return el("div", {class: "scalebar", "aria-hidden": "true", style: {width: `${(100 * length_m) / width_m}%`}},
        el("span", {}, length_m >= 1000 ? `${length_m / 1000} km` : `${length_m} m`));
}

function backdropSeries(t) {
    if (backdrop.length === 0) return [];
    return [{type: "lines", coordinateSystem: "cartesian2d", polyline: true, silent: true, z: 5, lineStyle: {color: t.backdrop, width: 1, opacity: 0.9},
        data: backdrop.map((coords) => ({coords}))}];
}

// series(theme): ECharts series in metres; extent: what part to show. Returns {element, chart}.
export function map({title, colour, label, series, tip, extent = everywhere}) {
    const width_m = extent.east - extent.west, height_m = extent.north - extent.south;
    const canvas = el("div", {class: "canvas", style: {aspectRatio: `${width_m} / ${height_m}`}});
    const heading = el("h3", {}, colour ? chip(colour) : null, title);
    const element = el("div", {class: "map"}, heading, el("div", {class: "frame"}, canvas, scaleBar(width_m)));
    const axis = (min, max) => ({type: "value", min, max, show: false});
    const made = chart(canvas, label, () => {
        const t = theme();
        return {
            grid: {left: 0, right: 0, top: 0, bottom: 0},
            xAxis: axis(extent.west, extent.east), yAxis: axis(extent.south, extent.north),
            tooltip: tip ? tooltip(tip, {trigger: "item"}) : {show: false},
            series: [...backdropSeries(t), ...series(t)],
        };
    });
    return {element, chart: made};
}

// Where a set's visits are, faintly: the ground on which other things are drawn.
export function groundSeries(set, t) {
    const visits = squares.map((_, i) => sum(data.map.visits[set.index].map((row) => row[i]))), most = Math.max(1, ...visits);
    return {...squaresSeries(squares, (i) => (visits[i] ? t.ground(Math.sqrt(visits[i] / most)) : null)), silent: true, z: 1};
}

// Squares coloured by value. squares: [{x, y, side}], colourAt(i): a colour, or null for nothing there.
export function squaresSeries(squares, colourAt) {
    return {
        type: "custom", coordinateSystem: "cartesian2d", clip: true, z: 3, progressive: 0, dimensions: ["x", "y"], encode: {x: 0, y: 1},
        data: squares.map((s) => [s.x, s.y]),
        renderItem: (params, api) => {
            const s = squares[params.dataIndex], colour = colourAt(params.dataIndex);
            const [left, bottom] = api.coord([s.x, s.y]), [right, top] = api.coord([s.x + s.side, s.y + s.side]);
            return {type: "rect", shape: {x: left, y: top, width: right - left + 0.4, height: bottom - top + 0.4},
                style: {fill: colour || "transparent"}, emphasis: {style: {stroke: theme().ink, lineWidth: 1.5}}};
        },
    };
}

export function ramp(colours, ticks, title) {
    return el("div", {class: "ramp"}, el("div", {}, title), el("div", {class: "bar", style: {background: colours}, "aria-hidden": "true"}),
        el("div", {class: "ticks"}, ticks.map((tick) => el("span", {}, tick))));
}
