// First on the page: what the synthetic trips are fit for, and whether they are safe to release.
import {colourOf, data, synthetic, unitWord} from "./data.js";
import {byId, chip, el, fill} from "./dom.js";
import {epsilon, power} from "./format.js";

const QUESTIONS = {
    "where": "Where trips are", "when": "When they are", "weekday": "On which weekday", "from-to": "From where to where", "routes": "Which way",
    "speeds and km": "Speeds and kilometres", "single trips on a map": "Single trips on a map", "training on it": "Training models on it",
};
const CLASSES = {yes: "yes", roughly: "roughly", no: "no"};

const line = (title, word, reason) => el("li", {class: `answer ${CLASSES[word] || "unknown"}`, "data-question": title, "data-word": word},
    el("b", {class: "word"}, word), el("span", {}, el("b", {}, title), reason ? `: ${reason}.` : ""));

function fitness(k) {
    const list = data.evaluation ? data.evaluation.synthetic[k].fitness : [];
    return list.filter(([, word]) => word !== "not measured").map(([question, word, reason]) => line(QUESTIONS[question] || question, word, reason));
}

function safety(set) {
    const c = set.certificate;
    if (!c) return [line("Promise", "no", "this set came without a certificate: nothing is promised")];
    const holds = set.verdict && set.verdict.valid && c.private;
    return [
        line("Promise", holds ? "yes" : "no", holds ? `differential privacy per ${unitWord(c)}, ε = ${epsilon(c.epsilon)}, δ = ${power(c.delta)}; the certificate holds` : "the certificate does not promise privacy, or does not hold"),
        line("Attacks", "not measured", "run dploc attack to see how well attackers do against the bound"),
    ];
}

function card(set) {
    const fit = fitness(set.number);
    return el("div", {class: "card verdict"}, synthetic.length > 1 ? el("h3", {}, chip(() => colourOf(set)), set.name) : null,
        fit.length ? [el("h3", {}, "Fit for use"), el("ul", {class: "answers"}, fit)] : null,
        el("h3", {}, "Safe to release"), el("ul", {class: "answers"}, safety(set)));
}

export function showVerdict() {
    fill("verdict-body", synthetic.map(card));
    if (!data.evaluation) byId("verdict-lead").textContent = "A public report compares with nothing: what the trips are fit for is for their holder to say.";
}
