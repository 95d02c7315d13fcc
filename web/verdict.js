// First on the page: what the synthetic trips are fit for, and whether they are safe to release.
import {attackName, attacksOn} from "./attacks.js";
import {colourOf, data, real, synthetic, unitWord} from "./data.js";
import {byId, chip, el, fill} from "./dom.js";
import {epsilon, plain, power, whole} from "./format.js";
import {bestGuess, numberOf} from "./privacy.js";

const QUESTIONS = {
    where: "Where trips are",
    when: "When they are",
    weekday: "On which weekday",
    "from-to": "From where to where",
    routes: "Which way",
    "speeds and km": "Speeds and kilometres",
    "single trips on a map": "Single trips on a map",
    "training on it": "Training models on it",
};
const MARKS = {yes: "✓", roughly: "≈", no: "✕", strong: "✓", moderate: "≈", weak: "✕"};
const CLASSES = {
    yes: "yes",
    strong: "yes",
    roughly: "roughly",
    moderate: "roughly",
    no: "no",
    weak: "no",
};

const line = (title, word, reason) =>
    el(
        "li",
        {class: `answer ${CLASSES[word] || "unknown"}`, "data-question": title, "data-word": word},
        el(
            "span",
            {class: "word"},
            el("span", {class: "mark", "aria-hidden": "true"}, MARKS[word] || "?"),
            word,
        ),
        el("span", {}, el("b", {}, title), reason ? `: ${reason}.` : ""),
    );

// ---- fit for use ----

const answers = (k) =>
    (data.evaluation ? data.evaluation.synthetic[k].fitness : []).filter(
        ([, word]) => word !== "not measured",
    );

const enumerate = (list) =>
    list.length < 2 ? list.join("") : `${list.slice(0, -1).join(", ")} and ${list.at(-1)}`;
const NOUNS = {
    where: "counts by place",
    when: "times of day",
    weekday: "weekdays",
    "from-to": "flows from place to place",
    routes: "routes",
    "speeds and km": "speeds and kilometres",
    "single trips on a map": "single trips",
    "training on it": "training models",
};

// The answers in one sentence: what to do.
function fitSentence(list) {
    const named = (word) =>
        enumerate(
            list.filter(([, w]) => w === word).map(([question]) => NOUNS[question] || question),
        );
    const parts = [
        ["yes", "Use it for"],
        ["roughly", "For trends only:"],
        ["no", "Do not use it for"],
    ]
        .filter(([word]) => named(word))
        .map(([word, begin]) => `${begin} ${named(word)}.`);
    return parts.join(" ");
}

function fitPart(set) {
    const list = answers(set.number);
    if (list.length === 0) return null;
    return el(
        "div",
        {},
        el("h3", {class: "ask"}, "Fit for use?"),
        el("p", {class: "bottom-line"}, fitSentence(list)),
        el(
            "ul",
            {class: "answers"},
            list.map(([question, word, reason]) =>
                line(QUESTIONS[question] || question, word, reason),
            ),
        ),
    );
}

// ---- safe to release ----

// ε = 1 leaves a guesser right 73 times in 100, ε = 3 95 times.
const strength = (eps) => (eps <= 1 ? "strong" : eps <= 3 ? "moderate" : "weak");
const guess = (c) =>
    `who knows all else and guesses whether one given ${unitWord(c)} was in the data is right at most ${plain(100 * bestGuess(numberOf(c.epsilon), c.delta))} times in 100 instead of 50`;
const holds = (set) =>
    Boolean(set.certificate && set.verdict && set.verdict.valid && set.certificate.private);

function certificateLine(set) {
    const c = set.certificate;
    if (!c) return line("Certificate", "no", "this set came without one: nothing is promised");
    if (!c.private) return line("Certificate", "no", "it says NOT PRIVATE: nothing is promised");
    return holds(set)
        ? line(
              "Certificate",
              "yes",
              "its promise was computed again from every mechanism, and holds",
          )
        : line("Certificate", "no", `it does not hold: ${set.verdict.reasons.join("; ")}`);
}

function unitLine(c) {
    return c.unit === "user"
        ? line("Protected: a person", "yes", `with up to ${whole(c.trips_max)} trips`)
        : line(
              "Protected: one trip",
              "yes",
              "a person with many trips in the data is protected less, by each trip that counts",
          );
}

function totalLine(c) {
    const ledger = data.ledger || (c.ledger.composed ? c.ledger : null);
    if (!ledger)
        return line(
            "All releases of this data",
            "not measured",
            "this one was not added up with others",
        );
    const limit = Number.isFinite(Number(ledger.total_epsilon ?? NaN))
        ? `, of ${epsilon(ledger.total_epsilon)} that its holder allows`
        : "";
    return line(
        "All releases of this data",
        strength(numberOf(ledger.epsilon)),
        `${whole(ledger.releases)} so far${data.ledger ? "" : ", with this one"}, together ε = ${epsilon(ledger.epsilon)}${limit}`,
    );
}

const tenth = (share) => (share === null ? "–" : `${(100 * share).toFixed(1)} %`);

function attackLine(set) {
    const list = attacksOn(set).filter((a) => !a.sanity_only);
    if (list.length === 0)
        return line(
            "Attacks",
            "not measured",
            "run dploc attack REAL SYNTH --json, and give its output to dploc report with --attack",
        );
    const best = list.reduce((a, b) => ((b.auc ?? 0) > (a.auc ?? 0) ? b : a)),
        beyond = list.filter((a) => a.exceeds);
    if (beyond.length)
        return line(
            "Attacks",
            "no",
            `${enumerate(beyond.map(attackName))} found more members than the promise allows: a defect, do not release`,
        );
    return line(
        "Attacks",
        "yes",
        `${list.length === 1 ? "one attack" : list.length === 2 ? "both attacks" : `all ${list.length} attacks`} stayed within the bound${data.attack.shadow ? ", on a shadow model" : ""}; the best, ${attackName(best).toLowerCase()}, has an AUC of ${plain(best.auc)} (0.5 is guessing) ` +
            `and found ${tenth(best.tpr_at_fpr_1e2)} of the members at 1 % false alarms, where ${tenth(best.bound_at_1e2)} are allowed`,
    );
}

function safety(set) {
    const c = set.certificate,
        promised = c && c.private;
    return [
        certificateLine(set),
        promised ? unitLine(c) : null,
        promised
            ? line(
                  `Strength: ε = ${epsilon(c.epsilon)}, δ = ${power(c.delta)}`,
                  strength(numberOf(c.epsilon)),
                  guess(c),
              )
            : null,
        promised ? totalLine(c) : null,
        real ? attackLine(set) : null,
    ];
}

function safeSentence(set) {
    if (attacksOn(set).some((a) => a.exceeds && !a.sanity_only))
        return "Do not release it: an attack went beyond what its certificate allows.";
    if (!holds(set)) return "Do not release it: no promise protects anybody in it.";
    const word = strength(numberOf(set.certificate.epsilon));
    return word === "weak"
        ? "Its certificate holds, but ε is large: the promise protects little. Think before releasing it."
        : `Yes, with ${word} protection of each ${unitWord(set.certificate)}.`;
}

const safePart = (set) =>
    el(
        "div",
        {},
        el("h3", {class: "ask"}, "Safe to release?"),
        el("p", {class: "bottom-line"}, safeSentence(set)),
        el("ul", {class: "answers"}, safety(set)),
    );

function card(set) {
    return el(
        "div",
        {class: "card verdict"},
        synthetic.length > 1
            ? el(
                  "h3",
                  {class: "of"},
                  chip(() => colourOf(set)),
                  set.name,
              )
            : null,
        el("div", {class: "grid", style: {"--least": "400px"}}, fitPart(set), safePart(set)),
    );
}

export function showVerdict() {
    fill("verdict-body", synthetic.map(card));
    if (!data.evaluation)
        byId("verdict-lead").textContent =
            "A public report compares with nothing: what the trips are fit for is for their holder to say.";
}
