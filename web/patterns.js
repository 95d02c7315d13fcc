// The most frequent patterns: drawn on the map, and how often each set has them.
import {axisLook, chart, tip, tooltip} from "./chart.js";
import {theme} from "./colours.js";
import {area, around, centreOf, colourOf, data, degrees, labelOf, real, sets} from "./data.js";
import {tableBehind} from "./behind.js";
import {byId, el, fill, legend, table} from "./dom.js";
import {percent, percentTick, position, whole} from "./format.js";
import {GROUND_WORDS, groundSeries, map} from "./map.js";

const SHOWN = 20,
    WINDS = [
        "east",
        "north-east",
        "north",
        "north-west",
        "west",
        "south-west",
        "south",
        "south-east",
    ];
const SYMBOLS = ["circle", "diamond", "triangle", "rect", "roundRect", "pin", "arrow", "circle"];

function ways(cells) {
    const steps = cells.slice(1).map((cell, i) => {
        const [x, y] = centreOf(cell),
            [fromX, fromY] = centreOf(cells[i]);
        return WINDS[(Math.round(Math.atan2(y - fromY, x - fromX) / (Math.PI / 4)) + 8) % 8];
    });
    return steps.join(", ");
}
const patterns = data.patterns.cells.map((cells, i) => ({
    cells,
    share: sets.map((set) => data.patterns.support[set.index][i] / set.trips),
    name: `${position(...degrees(...centreOf(cells[0])))}, then ${ways(cells)}`,
}));

export function showPatterns() {
    if (patterns.length === 0) return byId("patterns").remove();
    const list = [...patterns].sort((a, b) => b.share[0] - a.share[0]).slice(0, SHOWN);
    byId("patterns-lead").textContent =
        `A pattern is a run of 2 to 5 neighbouring stops, each a cell of ${whole(area.cell_m)} m. ` +
        `Here are the ${list.length} that most ${real ? "real" : "synthetic"} trips contain, and how many trips of each set do. ${GROUND_WORDS}`;
    const onMap = map({
        extent: around(
            list.flatMap((p) => p.cells.map(centreOf)),
            2 * area.cell_m,
        ),
        title: `The ${list.length} patterns on the map`,
        label: "Map with the most frequent patterns as lines; the table below lists them.",
        tip: (item) =>
            item.seriesName === "patterns"
                ? tip(
                      `${item.dataIndex + 1}. ${list[item.dataIndex].name}`,
                      sets.map((set) => [
                          colourOf(set),
                          `${labelOf(set)}: ${percent(list[item.dataIndex].share[set.index])} of trips`,
                      ]),
                  )
                : null,
        series: (t) => [
            groundSeries(sets[0], t),
            {
                type: "lines",
                name: "patterns",
                coordinateSystem: "cartesian2d",
                polyline: true,
                z: 6,
                data: list.map((p) => ({
                    coords: p.cells.map(centreOf),
                    lineStyle: {
                        width: 4,
                        color: t.sequential(0.72),
                        opacity: 0.85,
                        cap: "round",
                        join: "round",
                    },
                })),
            },
            {
                type: "scatter",
                silent: true,
                z: 7,
                symbolSize: 6,
                itemStyle: {color: t.sequential(1)},
                data: list.map((p) => centreOf(p.cells[0])),
            },
        ],
    });
    const canvas = el("div", {class: "chart", style: {height: `${54 + 21 * list.length}px`}});
    queueMicrotask(() =>
        chart(
            canvas,
            `Dot chart: share of trips that contain each of the ${list.length} patterns, for ${sets.map(labelOf).join(" and ")}.`,
            () => {
                const t = theme();
                return {
                    grid: {left: 4, right: 18, top: 6, bottom: 34, containLabel: true},
                    xAxis: {
                        type: "value",
                        min: 0,
                        ...axisLook(t, "share of trips"),
                        nameGap: 26,
                        axisLabel: {color: t.soft, fontSize: 12, formatter: percentTick},
                        splitNumber: 4,
                    },
                    yAxis: {
                        type: "category",
                        inverse: true,
                        data: list.map((_, i) => String(i + 1)),
                        ...axisLook(t),
                        splitLine: {show: true, lineStyle: {color: t.line}},
                        axisLabel: {color: t.soft, fontSize: 12, interval: 0},
                    },
                    tooltip: tooltip(
                        (item) =>
                            tip(
                                `${item.dataIndex + 1}. ${list[item.dataIndex].name}`,
                                sets.map((set) => [
                                    colourOf(set),
                                    `${labelOf(set)}: ${percent(list[item.dataIndex].share[set.index])} of trips`,
                                ]),
                            ),
                        {trigger: "item"},
                    ),
                    series: sets.map((set) => ({
                        type: "scatter",
                        name: labelOf(set),
                        symbol: set.real ? "circle" : SYMBOLS[(set.number + 1) % SYMBOLS.length],
                        symbolSize: set.real ? 12 : 11,
                        itemStyle: {color: colourOf(set), opacity: 0.9},
                        data: list.map((p, i) => [p.share[set.index], i]),
                    })),
                };
            },
        ).draw(),
    );
    const behind = tableBehind("Most frequent patterns", () =>
        table(
            `All ${patterns.length} patterns that are among the first ${SHOWN} of any set`,
            [
                {title: "No.", number: true},
                {title: "From (centre), then"},
                ...sets.map((set) => ({title: labelOf(set), number: true})),
            ],
            [...patterns]
                .sort((a, b) => b.share[0] - a.share[0])
                .map((p, i) => [
                    String(i + 1),
                    p.name,
                    ...sets.map((set) => ({
                        text: percent(p.share[set.index]),
                        value: p.share[set.index],
                    })),
                ]),
        ),
    );
    fill(
        "patterns-body",
        el(
            "div",
            {class: "card"},
            el(
                "div",
                {class: "grid", style: {"--least": "340px"}},
                onMap.element,
                el(
                    "div",
                    {},
                    el("h3", {}, "How many trips contain each"),
                    legend(sets.map((set) => ({colour: () => colourOf(set), name: labelOf(set)}))),
                    canvas,
                ),
            ),
            behind,
        ),
    );
}
