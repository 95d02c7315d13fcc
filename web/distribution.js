// What cards with a distribution have in common: title, hint, key figures, chart, table.
import {tableBehind} from "./behind.js";
import {colourOf, labelOf} from "./data.js";
import {el, legend, table} from "./dom.js";
import {percent} from "./format.js";

export const DASHES = [
    "solid",
    [9, 3],
    [3, 3],
    [9, 3, 3, 3],
    [12, 4],
    [2, 2],
    [6, 2],
    [14, 3, 2, 3],
];

export const seriesOf = (list, values) => () =>
    list.map((set) => ({
        name: labelOf(set),
        colour: colourOf(set),
        area: set.real,
        dash: set.real ? "solid" : DASHES[set.number],
        values: values(set),
    }));

// shareAt(set, row): what the chart shows.
export const histogramTable = (caption, rowTitle, rows, list, shareAt) =>
    table(
        caption,
        [{title: rowTitle}, ...list.map((set) => ({title: labelOf(set), number: true}))],
        rows.map((name, i) => [
            name,
            ...list.map((set) => ({text: percent(shareAt(set, i)), value: shareAt(set, i)})),
        ]),
    );

// figure(set): the set's figure in words, or null; figureName: what it is.
export function figureCard({title, hint, list, figure, figureName, draw, makeTable}) {
    const canvas = el("div", {class: "chart"}),
        figures = figure ? list.map(figure) : [];
    queueMicrotask(() => draw(canvas).draw());
    const named =
        figures.some(Boolean) && figureName
            ? el("span", {class: "figure-name"}, `${figureName}:`)
            : null;
    return el(
        "div",
        {class: "card"},
        el("h3", {}, title),
        el("p", {class: "hint"}, hint),
        el(
            "div",
            {class: "figures"},
            named,
            legend(
                list.map((set, i) => ({
                    colour: () => colourOf(set),
                    name: labelOf(set),
                    figure: figures[i],
                })),
            ),
        ),
        canvas,
        tableBehind(title, makeTable),
    );
}
