// Every figure can be saved: its table as a CSV file, made in the browser from what is on the page.
import {el} from "./dom.js";

// Spreadsheets run a text that begins like a formula: a quote before it keeps it a text.
function field(text, exact) {
    const shown = !exact && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}

function cellText(cell) {
    const exact = cell.dataset.value;
    if (exact !== undefined) return field(exact === "null" ? "" : exact, true);
    return field(cell.textContent.trim().replace(/^–$/, ""), false);
}

// Exact numbers where a cell has one, otherwise what it shows.
export function tableToCsv(table) {
    const rows = [table.tHead.rows[table.tHead.rows.length - 1], ...table.tBodies[0].rows];
    return rows.map((row) => [...row.cells].map(cellText).join(",")).join("\r\n") + "\r\n";
}

function save(name, text) {
    const address = URL.createObjectURL(
        new Blob(["\ufeff", text], {type: "text/csv;charset=utf-8"}),
    );
    const link = el("a", {href: address, download: name});
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

export const fileName = (title) =>
    `${title
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-|-$/g, "")}.csv`;

// title: what the file holds, also its name; a function when it changes.
export function csvButton(title, makeTable) {
    const name = () => (typeof title === "function" ? title() : title);
    return el(
        "button",
        {
            type: "button",
            class: "csv",
            title: "Save the figures as a CSV file",
            onclick: () => save(fileName(name()), tableToCsv(makeTable())),
        },
        "CSV",
        el("span", {class: "visually-hidden"}, `: save ${name()}`),
    );
}
