// What was asked and what was spent, from the certificates alone.
import {bars} from "./chart.js";
import {tableBehind} from "./behind.js";
import {byId, chip, el, fill, table} from "./dom.js";
import {colourOf, synthetic, unitWord} from "./data.js";
import {epsilon, percent, plain, power, whole} from "./format.js";

// What each mechanism measures or trains, in words; methods of other versions show their own names.
const WORDS = {
    size: "How many trips there are",
    lengths: "Lengths of trips",
    topk: "Which cells are busy",
    visits: "Visits by cell and hour",
    sources: "Starts by cell and hour",
    source_zones: "Starts by zone and hour",
    source_day: "Starts by cell, all day",
    destinations: "Ends by cell and hour",
    destination_zones: "Ends by zone and hour",
    destination_day: "Ends by cell, all day",
    trips: "Trips of all users",
    pairs: "From cell to cell",
    zones: "From zone to zone",
    durations: "Time a way takes",
    steps: "Steps between neighbours",
    turns: "Turns",
    speeds: "Speeds",
    motion: "How speeds follow each other",
    stops: "Stops",
    fine: "Points within cells",
    ti: "Training: start, end, hour",
    tpg: "Training: next cell",
    train: "Training",
    tree: "Tree of runs of cells",
    grid: "Visits on a coarse grid",
    subgrid: "Visits on a finer grid",
    markov: "Moves between grid cells",
};
const KINDS = {
    gaussian: "Gaussian noise",
    laplace: "Laplace noise",
    poisson: "Gaussian noise on random batches",
};
const wordFor = (name) => WORDS[name] || name;
export const numberOf = (value) => (value === "infinity" ? Infinity : value);

// Balanced guess, all else known: the chance to be right is at most (e^eps + delta) / (1 + e^eps).
export const bestGuess = (eps, delta) =>
    eps === Infinity ? 1 : Math.min(1, (1 + delta * Math.exp(-eps)) / (1 + Math.exp(-eps)));

function picture(right) {
    const gain = Math.ceil(100 * right - 50 - 1e-9),
        label = `Of 100 guesses, 50 are right by chance, and at most ${gain} more because of this release.`;
    const kind = (i) => (i < 50 ? "chance" : i < 50 + gain ? "gain" : "rest");
    return [
        el(
            "div",
            {class: "odds", role: "img", "aria-label": label},
            Array.from({length: 100}, (_, i) => el("i", {class: kind(i)})),
        ),
        el(
            "ul",
            {class: "legend odds-key"},
            [
                ["chance", "right by tossing a coin"],
                ["gain", `right thanks to this release, at most ${gain}`],
                ["rest", "wrong all the same"],
            ].map(([name, text]) =>
                el("li", {}, el("span", {class: `chip ${name}`, "aria-hidden": "true"}), text),
            ),
        ),
    ];
}

function words(certificate) {
    const eps = numberOf(certificate.epsilon),
        unit = unitWord(certificate);
    if (eps === Infinity)
        return el(
            "p",
            {class: "promise"},
            "No noise was added: nothing is promised about anybody.",
        );
    const right = bestGuess(eps, certificate.delta);
    return el(
        "p",
        {class: "promise"},
        `Somebody who knows everything else and guesses whether one given ${unit} was in the data is right at most `,
        el("b", {}, `${plain(100 * right)} times in 100`),
        " instead of 50: the odds rise from 1 : 1 to at most ",
        el("b", {}, `${plain(Math.exp(eps))} : 1`),
        ".",
    );
}

function facts(set) {
    const c = set.certificate,
        rows = [
            [
                "Asked for",
                c.sigma_given
                    ? "noise given by hand"
                    : `ε = ${epsilon(c.options.epsilon ?? c.epsilon)}`,
            ],
            ["Spent", `ε = ${epsilon(c.epsilon)} at δ = ${power(c.delta)}`],
            [
                "δ in words",
                `the chance that the promise fails altogether: 1 in ${whole(1 / c.delta)}`,
            ],
            [
                "Protected unit",
                c.unit === "user"
                    ? `a person, with at most ${whole(c.trips_max)} trips`
                    : "one trip",
            ],
            ["Method", c.method],
            [
                "Trips measured",
                `${whole(c.size.units)} (${c.size.source === "declared" ? "declared public" : "with noise"})`,
            ],
            [
                "All releases by then",
                c.ledger.composed
                    ? `ε = ${epsilon(c.ledger.epsilon)} over ${whole(c.ledger.releases)} release${c.ledger.releases === 1 ? "" : "s"} of this data`
                    : "not composed with other runs",
            ],
            [
                "Recomputed",
                el(
                    "span",
                    {class: set.verdict.valid ? "ok" : "warn"},
                    set.verdict.valid
                        ? `ε = ${epsilon(set.verdict.epsilon)}: the certificate holds`
                        : "the certificate does not hold",
                ),
            ],
        ];
    return el(
        "dl",
        {class: "facts"},
        rows.map(([term, text]) => [el("dt", {}, term), el("dd", {}, text)]),
    );
}

// What part of the budget each mechanism took. The number of units has an epsilon of its own, which
// adds to that of the plan; the plan is
// divided by shares, as it was asked for, or by 1/noise² (per step) where the noise was given by
// hand. The parts add up to 1.
export function budgetParts(c) {
    const size = c.mechanisms.filter((m) => m.name === "size"),
        plan = c.mechanisms.filter((m) => m.name !== "size");
    const asked = plan.every((m) => m.request && m.request.share > 0),
        weight = (m) => (asked ? m.request.share : (m.steps * m.rate ** 2) / m.sigma ** 2);
    const total = plan.reduce((sum, m) => sum + weight(m), 0),
        first = size.length ? numberOf(c.epsilon_size) / numberOf(c.epsilon) : 0;
    return [
        ...size.map((m) => ({...m, part: total > 0 ? first : 1})),
        ...plan.map((m) => ({...m, part: ((1 - first) * weight(m)) / total})),
    ].sort((a, b) => b.part - a.part);
}

function budget(set) {
    if (!Number.isFinite(numberOf(set.certificate.epsilon))) return null;
    const list = budgetParts(set.certificate);
    const canvas = el("div", {class: "chart", style: {height: `${24 + 25 * list.length}px`}});
    const makeTable = () =>
        table(
            "Every mechanism that looked at the private trips",
            [
                {title: "Measured"},
                {title: "Noise"},
                {title: "Sensitivity", number: true},
                {title: "Noise / sensitivity", number: true},
                {title: "Steps", number: true},
                {title: "Share of the budget", number: true},
                {title: "ε if alone", number: true},
            ],
            list.map((m) => [
                `${wordFor(m.name)} (${m.name})`,
                KINDS[m.kind] || m.kind,
                plain(m.sensitivity),
                {text: plain(m.sigma), value: m.sigma},
                m.steps === 1 ? "1" : `${whole(m.steps)} at rate ${plain(m.rate)}`,
                {text: percent(m.part), value: m.part},
                {text: epsilon(m.epsilon_alone), value: m.epsilon_alone},
            ]),
        );
    const element = el(
        "div",
        {},
        el("h3", {}, "Where the budget went"),
        el(
            "p",
            {class: "hint"},
            "Shares of ",
            el("b", {}, `ε = ${epsilon(set.certificate.epsilon)}`),
            ", which add up to 100 %. A larger share is less noise.",
        ),
        canvas,
        tableBehind("Budget", makeTable),
    );
    queueMicrotask(() =>
        bars(
            canvas,
            `Bars: the share of the budget that each of ${list.length} mechanisms took; the largest is ${wordFor(list[0].name)}.`,
            {
                format: (part) => `${(100 * part).toFixed(1)} %`,
                rows: () =>
                    list.map((m) => ({
                        name: wordFor(m.name),
                        value: m.part,
                        colour: colourOf(set),
                        title: `${percent(m.part)} of the budget; ε = ${epsilon(m.epsilon_alone)} if alone`,
                    })),
            },
        ).draw(),
    );
    return element;
}

function card(set) {
    const c = set.certificate,
        heading = el("h3", {}, synthetic.length > 1 ? chip(() => colourOf(set)) : null, set.name);
    if (!c)
        return el(
            "div",
            {class: "card"},
            heading,
            el(
                "p",
                {class: "hint"},
                "No certificate came with this set: nothing is promised, and nothing can be said about what it spent.",
            ),
        );
    const eps = numberOf(c.epsilon);
    return el(
        "div",
        {class: "card"},
        heading,
        c.warning ? el("p", {class: "warn"}, c.warning) : null,
        set.verdict.reasons.length
            ? el(
                  "p",
                  {class: "warn"},
                  `The certificate does not hold: ${set.verdict.reasons.join("; ")}`,
              )
            : null,
        el(
            "div",
            {class: "grid", style: {"--least": "330px"}},
            el("div", {}, words(c), Number.isFinite(eps) ? picture(bestGuess(eps, c.delta)) : null),
            facts(set),
            budget(set),
        ),
    );
}

export function showPrivacy() {
    byId("unit-word").textContent = unitWord(synthetic[0].certificate);
    fill("privacy-sets", synthetic.map(card));
}
