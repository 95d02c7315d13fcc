// Models trained on the synthetic trips, tested on real ones, beside models trained on real trips.
import {tableBehind} from "./behind.js";
import {colourOf, labelOf, real, synthetic} from "./data.js";
import {byId, chip, el, fill, table} from "./dom.js";
import {percent, plain, whole} from "./format.js";
import {find} from "./measures.js";

const seconds = (value) => `${whole(value)} s`;
const TASKS = [
    ["next_hit1", "The next cell, first guess right", percent],
    ["next_hit5", "The next cell, among five guesses", percent],
    [
        "destination_hit5",
        "The destination, among five guesses, from the first third of a trip",
        percent,
    ],
    ["travel_time_mae_s", "Travel time between two zones, mean error", seconds],
    ["demand_wape", "Hourly demand of a zone, error", percent],
];

function barRow(set, value, longest, format, name) {
    const bar = chip(() => colourOf(set), "fill");
    bar.style.width = `${Math.max(0.5, (100 * value) / longest)}%`;
    return el(
        "div",
        {class: "taskbar"},
        el("span", {class: "who"}, name),
        el("span", {class: "track"}, bar),
        el("b", {}, format(value)),
    );
}

function taskCard([name, title, format]) {
    const found = synthetic
        .map((set) => [set, find(set.number, name, "pooled")])
        .filter(([, m]) => m && m.value !== null && m.floor !== null);
    if (found.length === 0) return null;
    const [, first] = found[0],
        longest = Math.max(...found.flatMap(([, m]) => [m.value, m.floor])) || 1;
    return el(
        "div",
        {class: "task"},
        el(
            "h3",
            {},
            title,
            el("small", {}, first.better === "higher" ? "more is better" : "less is better"),
        ),
        barRow(real, first.floor, longest, format, "Trained on real"),
        found.map(([set, m]) =>
            barRow(
                set,
                m.value,
                longest,
                format,
                synthetic.length === 1 ? "Trained on synthetic" : labelOf(set),
            ),
        ),
    );
}

export function showTasks() {
    const cards = TASKS.map(taskCard).filter(Boolean);
    if (!real || cards.length === 0) return byId("tasks").remove();
    const makeTable = () =>
        table(
            "Tasks: trained on each set, tested on real trips that neither saw",
            [
                {title: "Task"},
                {title: "Trained on real", number: true},
                ...synthetic.map((set) => ({
                    title: `Trained on ${labelOf(set).toLowerCase()}`,
                    number: true,
                })),
            ],
            TASKS.filter(([name]) => find(0, name, "pooled")).map(([name, title, format]) => [
                title,
                ...[
                    find(0, name, "pooled").floor,
                    ...synthetic.map(
                        (set) => (find(set.number, name, "pooled") || {value: null}).value,
                    ),
                ].map((value) => ({text: value === null ? "–" : format(value), value})),
            ]),
        );
    fill(
        "tasks-body",
        el(
            "div",
            {class: "card"},
            el("div", {class: "grid", style: {"--least": "380px"}}, cards),
            tableBehind("Tasks", makeTable),
        ),
    );
}
