// Apache ECharts, only the parts used, with the page's look: one place makes every chart.
import * as echarts from "echarts/core";
import {BarChart, CustomChart, LineChart, LinesChart, ScatterChart} from "echarts/charts";
import {GridComponent, TooltipComponent} from "echarts/components";
import {CanvasRenderer} from "echarts/renderers";
import {el} from "./dom.js";
import {onTheme, theme} from "./colours.js";

echarts.use([
    BarChart,
    CustomChart,
    LineChart,
    LinesChart,
    ScatterChart,
    GridComponent,
    TooltipComponent,
    CanvasRenderer,
]);

const charts = [];

// A chart that draws itself again when the theme or its width changes. `option()` makes ECharts'
// options from the current theme.
export function chart(container, label, option) {
    container.setAttribute("role", "img");
    container.setAttribute("aria-label", label);
    const instance = echarts.init(container, null, {renderer: "canvas"});
    const draw = () =>
        instance.setOption(
            {
                animation: false,
                textStyle: {fontFamily: getComputedStyle(document.body).fontFamily},
                ...option(),
            },
            {notMerge: true},
        );
    const made = {instance, draw, container};
    charts.push(made);
    new ResizeObserver(() => instance.resize()).observe(container);
    return made;
}

export function drawAll() {
    for (const made of charts) made.draw();
}
onTheme(() => {
    drawAll();
    for (const made of charts) made.instance.resize();
});

// Tooltips are elements, so that names in them are text.
export function tooltip(formatter, more = {}) {
    const t = theme();
    return {
        backgroundColor: t.card,
        borderColor: t.line,
        textStyle: {color: t.ink, fontSize: 13},
        confine: true,
        transitionDuration: 0,
        formatter,
        ...more,
    };
}

export const tip = (title, rows) =>
    el(
        "div",
        {class: "tip"},
        el("b", {}, title),
        rows.map(([colour, text]) =>
            el(
                "div",
                {},
                colour ? el("span", {class: "chip", style: {background: colour}}) : null,
                el("span", {}, text),
            ),
        ),
    );

const axisLook = (t, name) => ({
    name,
    nameLocation: "middle",
    nameTextStyle: {color: t.soft, fontSize: 13},
    axisLine: {lineStyle: {color: t.line}},
    axisTick: {show: false},
    axisLabel: {color: t.soft, fontSize: 12, hideOverlap: true},
    splitLine: {lineStyle: {color: t.line}},
});

// Where each line stands out most above the others: there its name is written. Names of many lines
// would cover each other.
function labelPlaces(list) {
    if (list.length < 2 || list.length > 3) return [];
    const most = Math.max(...list.flatMap((s) => s.values.map((v) => v ?? 0)));
    return list.map((s, k) => {
        const others = list.filter((_, o) => o !== k),
            lead = s.values.map(
                (v, i) => (v ?? 0) - Math.max(...others.map((o) => o.values[i] ?? 0)),
            );
        return Math.max(...lead) < most / 16 ? -1 : lead.indexOf(Math.max(...lead)); // lines that lie on each other need no names
    });
}

const nameAt = (s, i, place, last, paper) =>
    i !== place
        ? s.values[i]
        : {
              value: s.values[i],
              label: {
                  show: true,
                  formatter: s.name,
                  color: s.colour,
                  fontWeight: 600,
                  fontSize: 13,
                  textBorderColor: paper,
                  textBorderWidth: 4,
                  position: "top",
                  align: i < last / 8 ? "left" : i > (7 * last) / 8 ? "right" : "center",
                  distance: 4,
              },
          };

// Shares that come near 100 % have an axis that ends there.
const isWhole = (list, tick) =>
    tick !== String && Math.max(...list.flatMap((s) => s.values)) > 0.75;
const valueAxis = (t, yName, tick, list) => ({
    ...(isWhole(list, tick) ? {max: 1, interval: 0.25} : {}),
    type: "value",
    min: 0,
    ...axisLook(t, yName),
    nameLocation: "end",
    nameGap: 10,
    nameTextStyle: {color: t.soft, fontSize: 13, align: "left", padding: [0, 0, 0, -44]},
    splitNumber: 4,
    axisLabel: {...axisLook(t).axisLabel, formatter: tick},
});

const axisTip = (t, x, xTitle, series, format, axisPointer) =>
    tooltip(
        (items) =>
            tip(
                xTitle(x[items[0].dataIndex]),
                series().map((s) => [
                    s.colour,
                    `${s.name}: ${s.values[items[0].dataIndex] === null ? "–" : format(s.values[items[0].dataIndex] ?? 0)}`,
                ]),
            ),
        {trigger: "axis", axisPointer},
    );

// Lines over a common x. series: [{name, colour, values, area?, dashed?}]; step "end": a histogram,
// x being where each bin begins.
export function lines(
    container,
    label,
    {
        x,
        xName,
        yName,
        format,
        series,
        xLabel = String,
        xTitle = xLabel,
        integerTicks,
        step = false,
        tick = String,
    },
) {
    return chart(container, label, () => {
        const t = theme(),
            list = series(),
            places = labelPlaces(list);
        return {
            grid: {left: 58, right: 14, top: 30, bottom: 44},
            xAxis: {
                type: "category",
                data: x.map(xLabel),
                boundaryGap: false,
                ...axisLook(t, xName),
                nameGap: 28,
                splitLine: {show: false},
                axisLabel: {...axisLook(t).axisLabel, interval: integerTicks},
            },
            yAxis: valueAxis(t, yName, tick, list),
            tooltip: axisTip(t, x, xTitle, series, format, {lineStyle: {color: t.soft}}),
            series: list.map((s, k) => ({
                type: "line",
                name: s.name,
                data: s.values.map((_, i) => nameAt(s, i, places[k], s.values.length - 1, t.card)),
                showSymbol: true,
                showAllSymbol: true,
                symbol: "circle",
                symbolSize: 0,
                step,
                connectNulls: false,
                lineStyle: {
                    width: s.area ? 1.5 : 2.25,
                    color: s.colour,
                    type: s.dashed ? [5, 4] : s.dash || "solid",
                },
                itemStyle: {color: s.colour},
                areaStyle: s.area ? {color: t.realFill} : undefined,
                emphasis: {disabled: true},
                z: s.area ? 2 : 3,
            })),
        };
    });
}

// Upright bars side by side over a few names.
export function columns(container, label, {x, xName, yName, format, series, tick = String}) {
    return chart(container, label, () => {
        const t = theme();
        return {
            grid: {left: 58, right: 14, top: 30, bottom: 44},
            xAxis: {
                type: "category",
                data: x,
                ...axisLook(t, xName),
                nameGap: 28,
                splitLine: {show: false},
            },
            yAxis: valueAxis(t, yName, tick, series()),
            tooltip: axisTip(t, x, String, series, format, {
                type: "shadow",
                shadowStyle: {color: t.realFill},
            }),
            series: series().map((s) => ({
                type: "bar",
                name: s.name,
                data: s.values,
                barMaxWidth: 34,
                barGap: "8%",
                barCategoryGap: "28%",
                itemStyle: {
                    color: s.colour,
                    opacity: s.area ? 0.75 : 1,
                    borderRadius: [3, 3, 0, 0],
                },
                emphasis: {disabled: true},
            })),
        };
    });
}

// Horizontal bars. rows(): [{name, value, colour}]
export function bars(container, label, {rows, format}) {
    return chart(container, label, () => {
        const t = theme(),
            list = rows();
        return {
            grid: {left: 4, right: 56, top: 6, bottom: 6, containLabel: true},
            xAxis: {
                type: "value",
                ...axisLook(t),
                splitNumber: 4,
                axisLabel: {show: false},
                splitLine: {show: false},
            },
            yAxis: {
                type: "category",
                inverse: true,
                data: list.map((r) => r.name),
                ...axisLook(t),
                axisLabel: {color: t.ink, fontSize: 13},
                splitLine: {show: false},
            },
            tooltip: tooltip(
                (item) =>
                    tip(list[item.dataIndex].name, [
                        [list[item.dataIndex].colour, list[item.dataIndex].title],
                    ]),
                {trigger: "item"},
            ),
            series: [
                {
                    type: "bar",
                    barMaxWidth: 15,
                    data: list.map((r) => ({
                        value: r.value,
                        itemStyle: {color: r.colour, borderRadius: [0, 4, 4, 0]},
                    })),
                    label: {
                        show: true,
                        position: "right",
                        color: t.soft,
                        fontSize: 12,
                        formatter: (item) => format(item.value),
                    },
                },
            ],
        };
    });
}

export {axisLook};
