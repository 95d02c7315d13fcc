// Apache ECharts, only the parts used, with the page's look: one place makes every chart.
import * as echarts from "echarts/core";
import {BarChart, CustomChart, LineChart, LinesChart, ScatterChart} from "echarts/charts";
import {GridComponent, TooltipComponent} from "echarts/components";
import {CanvasRenderer} from "echarts/renderers";
import {el} from "./dom.js";
import {onTheme, theme} from "./colours.js";

echarts.use([BarChart, CustomChart, LineChart, LinesChart, ScatterChart, GridComponent, TooltipComponent, CanvasRenderer]);

const charts = [];

// A chart that draws itself again when the theme or its width changes. `option()` makes ECharts' options from the current theme.
export function chart(container, label, option) {
    container.setAttribute("role", "img");
    container.setAttribute("aria-label", label);
    const instance = echarts.init(container, null, {renderer: "canvas"});
    const draw = () => instance.setOption({animation: false, textStyle: {fontFamily: getComputedStyle(document.body).fontFamily}, ...option()}, {notMerge: true});
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
    return {backgroundColor: t.card, borderColor: t.line, textStyle: {color: t.ink, fontSize: 13}, confine: true, transitionDuration: 0,
        formatter, ...more};
}

export const tip = (title, rows) => el("div", {class: "tip"}, el("b", {}, title),
    rows.map(([colour, text]) => el("div", {}, colour ? el("span", {class: "chip", style: {background: colour}}) : null, el("span", {}, text))));

const axisLook = (t, name) => ({
    name, nameLocation: "middle", nameTextStyle: {color: t.soft, fontSize: 13}, axisLine: {lineStyle: {color: t.line}},
    axisTick: {show: false}, axisLabel: {color: t.soft, fontSize: 12, hideOverlap: true}, splitLine: {lineStyle: {color: t.line}},
});

// Lines over a common x. series: [{name, colour, values, area?, dashed?, step?}]
export function lines(container, label, {x, xName, yName, format, series, xLabel = String, xTitle = xLabel, integerTicks, tick = String}) {
    return chart(container, label, () => {
        const t = theme();
        return {
            grid: {left: 58, right: 14, top: 26, bottom: 44},
            xAxis: {type: "category", data: x.map(xLabel), boundaryGap: false, ...axisLook(t, xName), nameGap: 28, splitLine: {show: false},
                axisLabel: {...axisLook(t).axisLabel, interval: integerTicks}},
            yAxis: {type: "value", min: 0, ...axisLook(t, yName), nameLocation: "end", nameGap: 10,
                nameTextStyle: {color: t.soft, fontSize: 13, align: "left", padding: [0, 0, 0, -44]}, splitNumber: 4, axisLabel: {...axisLook(t).axisLabel, formatter: tick}},
            tooltip: tooltip((items) => tip(xTitle(x[items[0].dataIndex]),
                series().map((s) => [s.colour, `${s.name}: ${s.values[items[0].dataIndex] === null ? "–" : format(s.values[items[0].dataIndex] ?? 0)}`])),
            {trigger: "axis", axisPointer: {lineStyle: {color: t.soft}}}),
            series: series().map((s) => ({
                type: "line", name: s.name, data: s.values, showSymbol: false, symbol: s.symbol || "circle", symbolSize: 5, step: s.step || false, connectNulls: false,
                lineStyle: {width: s.area ? 1.5 : 2.25, color: s.colour, type: s.dashed ? [5, 4] : s.dash || "solid"}, itemStyle: {color: s.colour},
                areaStyle: s.area ? {color: t.realFill} : undefined, emphasis: {disabled: true},
            })),
        };
    });
}

// Horizontal bars. rows(): [{name, value, colour}]
export function bars(container, label, {rows, format, xName}) {
    return chart(container, label, () => {
        const t = theme(), list = rows();
        return {
            grid: {left: 4, right: 56, top: 6, bottom: 30, containLabel: true},
            xAxis: {type: "value", ...axisLook(t, xName), nameGap: 8, splitNumber: 4, axisLabel: {show: false}},
            yAxis: {type: "category", inverse: true, data: list.map((r) => r.name), ...axisLook(t), axisLabel: {color: t.ink, fontSize: 13}, splitLine: {show: false}},
            tooltip: tooltip((item) => tip(list[item.dataIndex].name, [[list[item.dataIndex].colour, list[item.dataIndex].title]]), {trigger: "item"}),
            series: [{type: "bar", barMaxWidth: 15, data: list.map((r) => ({value: r.value, itemStyle: {color: r.colour, borderRadius: [0, 4, 4, 0]}})),
                label: {show: true, position: "right", color: t.soft, fontSize: 12, formatter: (item) => format(item.value)}}],
        };
    });
}

export {axisLook};
