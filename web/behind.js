// The table behind a chart, made when it is first opened, with a button that saves it.
import {csvButton} from "./csv.js";
import {el} from "./dom.js";

// title: what the figures are; a function when it changes. element.refresh() fills an open table
// again.
export function tableBehind(title, makeTable) {
    const label = "The figures as a table";
    const body = el("div", {
        class: "scroll tall",
        tabindex: 0,
        role: "region",
        "aria-label": label,
    });
    const details = el("details", {}, el("summary", {}, label), body);
    const element = el("div", {class: "behind"}, details, csvButton(title, makeTable));
    element.refresh = () => details.open && body.replaceChildren(makeTable());
    details.addEventListener("toggle", element.refresh);
    return element;
}
