// Visits by square: real, synthetic and their difference, with a slider over the hours of the day.
import {tip} from "./chart.js";
import {gradient, onTheme, theme} from "./colours.js";
import {
    area,
    colourOf,
    data,
    degrees,
    everywhere,
    labelOf,
    real,
    sets,
    squares,
    sum,
    synthetic,
    timed,
} from "./data.js";
import {tableBehind} from "./behind.js";
import {el, fill, byId, table} from "./dom.js";
import {periodName, plain, position, whole} from "./format.js";
import {blank, map, ramp, squaresSeries} from "./map.js";
import {makeView} from "./view.js";

const PER = 10000; // the unit: visits out of so many of the whole day

// shares[set][0]: the whole day, shares[set][1 + period]: one period; of the day's visits in all of
// them, so that hours compare, too.
const shares = sets.map((set) => {
    const counts = data.map.visits[set.index],
        total = Math.max(1, sum(counts.map(sum)));
    const day = squares.map((_, i) => (PER * sum(counts.map((row) => row[i]))) / total);
    return set.has_time && timed
        ? [day, ...counts.map((row) => row.map((n) => (PER * n) / total))]
        : [day];
});
const at = (set, view) => shares[set.index][Math.min(view, shares[set.index].length - 1)];
const lacksTime = (set, view) => view > 0 && shares[set.index].length === 1;

// One colour scale for all maps of a view: the day has its own, all hours share one.
const largest = (lists) =>
    lists.reduce((most, list) => list.reduce((a, b) => Math.max(a, b), most), 0) || 1;
const top = {
    day: largest(shares.map((s) => s[0])),
    hour: largest(shares.flatMap((s) => s.slice(1))),
};
const differences = (set, view) => at(set, view).map((value, i) => value - at(real, view)[i]);
const views = 1 + (timed ? area.periods : 0);
const topDifference = real
    ? {
          day: largest(synthetic.map((s) => differences(s, 0).map(Math.abs))),
          hour: largest(
              synthetic.flatMap((s) =>
                  Array.from({length: views - 1}, (_, v) =>
                      lacksTime(s, v + 1) ? [0] : differences(s, v + 1).map(Math.abs),
                  ),
              ),
          ),
      }
    : null;
const topOf = (tops, view) => (view === 0 ? tops.day : tops.hour);

const viewName = (view) => (view === 0 ? "All day" : periodName(view - 1, area.periods));
const centreOf = (i) =>
    degrees(squares[i].x + squares[i].side / 2, squares[i].y + squares[i].side / 2);
const placeName = (i) => position(...centreOf(i));

export function showMaps() {
    let view = 0;
    const part = makeView(everywhere); // all maps of this section move together
    const side_m = data.map.block * area.cell_m;
    byId("maps-lead").textContent =
        `Of ${whole(PER)} visits of the whole day, how many fall into each square of ${whole(side_m)} m` +
        `${timed ? " in the chosen hour" : ""}. All maps of a row have the same colours for the same number${real ? "; the difference is synthetic minus real" : ""}.`;
    const rowsOf = (i) =>
        sets.map((set) => [
            colourOf(set),
            `${labelOf(set)}: ${lacksTime(set, view) ? "no times" : `${plain(at(set, view)[i])} of ${whole(PER)}`}`,
        ]);
    const hover = (item) =>
        item.componentSubType === "custom"
            ? tip(placeName(item.dataIndex), rowsOf(item.dataIndex))
            : null;

    const heat = (set) =>
        map({
            title: labelOf(set),
            colour: () => colourOf(set),
            view: part,
            label: `Heat map of the visits of ${set.real ? "the real trips" : set.name}; the table below has the figures.`,
            tip: hover,
            series: (t) => [
                squaresSeries(squares, (i) => {
                    const value = lacksTime(set, view) ? 0 : at(set, view)[i];
                    return value > 0 ? t.sequential(Math.sqrt(value / topOf(top, view))) : null; // the root shows quiet squares, too
                }),
            ],
        });
    const difference = (set) =>
        map({
            title: synthetic.length > 1 ? `${set.name} minus real` : "Synthetic minus real",
            view: part,
            label: `Map of the difference in visits between ${set.name} and the real trips.`,
            tip: hover,
            series: (t) => [
                squaresSeries(squares, (i) => {
                    if (lacksTime(set, view)) return null;
                    const value = differences(set, view)[i];
                    return value === 0
                        ? null
                        : t.diverging(
                              0.5 +
                                  0.5 *
                                      Math.sign(value) *
                                      Math.sqrt(Math.abs(value) / topOf(topDifference, view)),
                          );
                }),
            ],
        });
    const heats = sets.map(heat),
        others = real ? synthetic.map(difference) : [];
    const ramps = el("div", {class: "ramps"});
    const drawRamps = () =>
        ramps.replaceChildren(
            el(
                "div",
                {},
                ramp(
                    gradient(theme().sequential),
                    [0, 1 / 16, 1 / 4, 9 / 16, 1].map((part) => plain(part * topOf(top, view))),
                    `Visits of ${whole(PER)} a day`,
                ),
                blank("No colour: no visits in this square"),
            ),
            ...(real
                ? [
                      el(
                          "div",
                          {},
                          ramp(
                              gradient(theme().diverging),
                              [-1, -1 / 4, 0, 1 / 4, 1].map(
                                  (part) =>
                                      `${part > 0 ? "+" : ""}${plain(part * topOf(topDifference, view))}`,
                              ),
                              "Too few (blue) or too many (orange) synthetic visits",
                          ),
                          blank("Middle of the scale, or no colour: as many as real"),
                      ),
                  ]
                : []),
        );

    const behind = tableBehind(
        () => `Visits by square ${viewName(view)}`,
        () => {
            const order = squares
                .map((_, i) => i)
                .filter((i) => sets.some((set) => at(set, view)[i] > 0))
                .sort((a, b) => at(sets[0], view)[b] - at(sets[0], view)[a]);
            return table(
                `${viewName(view)}: visits of ${whole(PER)} of the day in each square, the busiest first`,
                [
                    {title: "Square (centre)"},
                    {title: "Latitude", number: true},
                    {title: "Longitude", number: true},
                    ...sets.map((set) => ({title: labelOf(set), number: true})),
                ],
                order.map((i) => [
                    placeName(i),
                    ...centreOf(i).map((value) => ({
                        text: value.toFixed(4),
                        value: Number(value.toFixed(6)),
                    })),
                    ...sets.map((set) =>
                        lacksTime(set, view)
                            ? "–"
                            : {text: plain(at(set, view)[i]), value: at(set, view)[i]},
                    ),
                ]),
            );
        },
    );
    const output = el("output", {for: "hour"}, viewName(0));
    const slider = el("input", {
        type: "range",
        id: "hour",
        min: 0,
        max: views - 1,
        step: 1,
        value: 0,
        "aria-label": "Hour of the day",
        "aria-valuetext": viewName(0),
    });
    const show = (next) => {
        view = next;
        slider.value = String(view);
        output.textContent = viewName(view);
        slider.setAttribute("aria-valuetext", viewName(view));
        for (const m of [...heats, ...others]) m.chart.draw();
        drawRamps();
        behind.refresh();
    };
    slider.addEventListener("input", () => show(Number(slider.value)));
    let playing = null;
    const stop = () => {
        clearInterval(playing);
        playing = null;
        play.textContent = "Play the day";
    };
    const play = el(
        "button",
        {
            type: "button",
            onclick: () => {
                if (playing) return stop();
                play.textContent = "Stop";
                show(1);
                playing = setInterval(
                    () => (view + 1 < views ? show(view + 1) : (stop(), show(0))),
                    700,
                );
            },
        },
        "Play the day",
    );
    onTheme(drawRamps);
    drawRamps();

    // One synthetic set: three maps in a row. Several: the differences below their sets, the scales
    // below the real one.
    const single = synthetic.length === 1,
        width = {"--columns": single ? sets.length + others.length : sets.length};
    const grid = el(
        "div",
        {class: "columns", style: width},
        heats.map((m) => m.element),
        single ? others.map((m) => m.element) : null,
    );
    const second =
        !single && others.length
            ? el(
                  "div",
                  {class: "columns", style: width},
                  ramps,
                  others.map((m) => m.element),
              )
            : null;
    fill(
        "maps-body",
        el(
            "div",
            {class: "card"},
            timed ? el("div", {class: "controls"}, play, slider, output) : null,
            grid,
            second || ramps,
            behind,
        ),
    );
}
