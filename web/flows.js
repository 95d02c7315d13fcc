// The strongest flows between places, districts or squares, as arrows on a map of each set.
import {tip} from "./chart.js";
import {gradient, onTheme, theme} from "./colours.js";
import {absolute, area, around, colourOf, data, degrees, labelOf, sets, squareOf} from "./data.js";
import {tableBehind} from "./behind.js";
import {byId, el, fill, table} from "./dom.js";
import {kilometres, percent, position, whole} from "./format.js";
import {GROUND_WORDS, groundSeries, linesSeries, map, ramp} from "./map.js";
import {makeView} from "./view.js";

const SHOWN = 25;
const districts = data.flows.districts || null; // [name, x, y] each
const middles = districts
    ? districts.map(([, x, y]) => [x, y])
    : data.flows.place.map((place) => {
          const s = squareOf(data.flows, place);
          return [s.x + s.side / 2, s.y + s.side / 2];
      });
const outlines = (data.flows.outlines || []).map(absolute);
const flows = data.flows.pairs.map(([from, to], i) => ({
    from,
    to,
    share: sets.map((set) => data.flows.trips[set.index][i] / set.trips),
}));
const placeName = (place) =>
    districts ? districts[place][0] : position(...degrees(...middles[place]));

const shares = (trips) =>
    sets
        .map((set) => `${labelOf(set).toLowerCase()} ${percent(trips[set.index] / set.trips)}`)
        .join(", ");

function lead() {
    const pairs = `drawn are the ${Math.min(SHOWN, flows.length)} pairs of each set with the most trips. `;
    if (!districts)
        return (
            `Places are squares of ${kilometres(data.flows.block * area.cell_m)}; ${pairs}` +
            `Trips that end in the square where they began: ${shares(data.flows.staying)}. `
        );
    return (
        `Places are the ${districts.length} districts of a public map; ${pairs}` +
        `Trips that end in the district where they began: ${shares(data.flows.staying)}; ` +
        `with an end in none of them: ${shares(data.flows.outside)}. `
    );
}

export function showFlows() {
    if (flows.length === 0) return byId("flows").remove();
    const most = Math.max(...flows.flatMap((f) => f.share));
    byId("flows-lead").textContent = lead() + GROUND_WORDS;
    const strongest = (set) =>
        [...flows]
            .sort((a, b) => b.share[set.index] - a.share[set.index])
            .slice(0, SHOWN)
            .filter((f) => f.share[set.index] > 0);
    const extent = around(
            sets.flatMap((set) => strongest(set).flatMap((f) => [middles[f.from], middles[f.to]])),
            1.2 * (districts ? 1 : data.flows.block) * area.cell_m,
        ),
        view = makeView(extent);
    const draw = (set) => {
        const list = strongest(set).reverse(); // the strongest on top
        return map({
            title: labelOf(set),
            colour: () => colourOf(set),
            extent,
            view,
            label: `Map with arrows for the strongest flows of ${set.real ? "the real trips" : set.name}; the table below lists them.`,
            tip: (item) =>
                item.seriesName === "flows"
                    ? tip(
                          `${placeName(list[item.dataIndex].from)} → ${placeName(list[item.dataIndex].to)}`,
                          sets.map((s) => [
                              colourOf(s),
                              `${labelOf(s)}: ${percent(list[item.dataIndex].share[s.index])} of trips`,
                          ]),
                      )
                    : null,
            series: (t) => [
                groundSeries(set, t),
                ...linesSeries(outlines, t),
                {
                    type: "lines",
                    name: "flows",
                    coordinateSystem: "cartesian2d",
                    z: 6,
                    symbol: ["none", "arrow"],
                    symbolSize: 9,
                    data: list.map((f) => ({
                        coords: [middles[f.from], middles[f.to]],
                        lineStyle: {
                            width: 1.5 + 5 * (f.share[set.index] / most),
                            color: t.sequential(0.3 + 0.7 * (f.share[set.index] / most)),
                            curveness: 0.22,
                            opacity: 0.95,
                        },
                    })),
                },
            ],
        }).element;
    };
    const legend = el("div");
    const drawLegend = () =>
        legend.replaceChildren(
            ramp(
                gradient((p) => theme().sequential(0.3 + 0.7 * p)),
                [0, 0.5, 1].map((p) => percent(p * most)),
                "Share of the set's trips",
            ),
        );
    drawLegend();
    onTheme(drawLegend);
    const behind = tableBehind("Strongest flows", () =>
        table(
            `The strongest flows, ordered by ${labelOf(sets[0])}`,
            [
                {title: districts ? "From" : "From (centre)"},
                {title: districts ? "To" : "To (centre)"},
                ...sets.flatMap((set) => [
                    {title: labelOf(set), number: true},
                    {title: "trips", number: true},
                ]),
            ],
            [...flows]
                .sort((a, b) => b.share[0] - a.share[0])
                .map((f) => [
                    placeName(f.from),
                    placeName(f.to),
                    ...sets.flatMap((set) => [
                        {text: percent(f.share[set.index]), value: f.share[set.index]},
                        whole(Math.round(f.share[set.index] * set.trips)),
                    ]),
                ]),
        ),
    );
    fill(
        "flows-body",
        el("div", {class: "card"}, el("div", {class: "grid"}, sets.map(draw)), legend, behind),
    );
}
