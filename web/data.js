// The island: what the program computed, read once. Everything on the page comes from here.
import {theme} from "./colours.js";
import {byId} from "./dom.js";

export const data = JSON.parse(byId("island").textContent);
export const area = data.area;

// The real set first, if there is one. Colours follow the theme, so they are asked for when needed.
export const sets = data.sets.map((set, i) => ({
    ...set,
    index: i,
    number: i - (data.sets[0].real ? 1 : 0),
}));
export const real = sets.find((set) => set.real) || null;
export const synthetic = sets.filter((set) => !set.real); // its number: among these
export const colourOf = (set) =>
    set.real ? theme().real : theme().sets[set.number % theme().sets.length];
export const labelOf = (set) =>
    set.real ? "Real" : synthetic.length === 1 ? "Synthetic" : set.name;
export const timed = area.periods > 1 && sets.some((set) => set.has_time);
export const unitWord = (certificate) =>
    certificate && certificate.unit === "user" ? "person" : "trip";

export const sum = (list) => list.reduce((a, b) => a + b, 0);

// ---- places: metres east and north of the box's south-west corner ----

// Squares of `block` cells, as blocks_write of the program numbers them.
export function squareOf({block, columns}, place) {
    const side = block * area.cell_m;
    return {x: (place % columns) * side, y: Math.floor(place / columns) * side, side};
}

export function centreOf(cell) {
    return [
        ((cell % area.columns) + 0.5) * area.cell_m,
        (Math.floor(cell / area.columns) + 0.5) * area.cell_m,
    ];
}

export function degrees(x_m, y_m) {
    return [area.box_deg[0] + y_m / area.m_per_deg_lat, area.box_deg[1] + x_m / area.m_per_deg_lon];
}

// The part of the world around some points [x, y], not too flat nor too tall, with a margin.
export function around(points, margin_m) {
    const xs = points.map((p) => p[0]),
        ys = points.map((p) => p[1]);
    const box = {
        west: Math.min(...xs) - margin_m,
        east: Math.max(...xs) + margin_m,
        south: Math.min(...ys) - margin_m,
        north: Math.max(...ys) + margin_m,
    };
    const widen = (low, high, least) => {
        const more = Math.max(0, least - (box[high] - box[low])) / 2;
        box[low] -= more;
        box[high] += more;
    };
    widen("west", "east", 0.9 * (box.north - box.south));
    widen("south", "north", 0.7 * (box.east - box.west));
    return box;
}

// All squares that anybody visits.
export const squares = data.map.place.map((place) => squareOf(data.map, place));
export const everywhere = around(
    squares.flatMap((s) => [
        [s.x, s.y],
        [s.x + s.side, s.y + s.side],
    ]),
    area.cell_m,
);

// Points given as steps, absolute again: [x, y, dx, dy, ...] to [[x, y], ...].
export function absolute(steps) {
    const points = [];
    for (let i = 0, x = 0, y = 0; i < steps.length; i += 2)
        points.push([(x += steps[i]), (y += steps[i + 1])]);
    return points;
}
export const backdrop = (data.basemap || []).map(absolute);
