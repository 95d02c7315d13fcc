// The search of the site: sections that have all the words, those with the words in their heading
// first. Works from a file: the index is a script.
const field = document.getElementById("search");
const found = document.getElementById("found");
const menu = document.getElementById("menu");
const menuButton = document.getElementById("menu-button");

function score(entry, words) {
    const heading = `${entry.title} ${entry.heading}`.toLowerCase();
    const text = entry.text.toLowerCase();
    let sum = 0;
    for (const word of words) {
        if (heading.includes(word)) sum += 10;
        else if (text.includes(word)) sum += 1;
        else return 0;
    }
    return sum;
}

// The words around the first one found.
function excerpt(text, word) {
    const at = Math.max(0, text.toLowerCase().indexOf(word) - 50);
    return (at > 0 ? "…" : "") + text.slice(at, at + 140) + (at + 140 < text.length ? "…" : "");
}

function row(entry, words) {
    const link = document.createElement("a");
    link.href = `${root}${entry.page}#${entry.anchor}`;
    const title = document.createElement("b");
    title.textContent = entry.heading;
    const where = document.createElement("small");
    where.textContent = `${entry.title}: ${excerpt(entry.text, words[0])}`;
    link.append(title, where);
    return link;
}

function search() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = words.length === 0;
    if (found.hidden) return;
    const entries = window.searchEntries
        .map((entry) => ({entry, points: score(entry, words)}))
        .filter(({points}) => points > 0)
        .sort((a, b) => b.points - a.points)
        .slice(0, 20);
    found.replaceChildren(...entries.map(({entry}) => row(entry, words)));
    if (entries.length === 0) {
        const nothing = document.createElement("p");
        nothing.textContent = "Nothing has all of these words.";
        found.append(nothing);
    }
}

function close() {
    field.value = "";
    found.hidden = true;
}

field.addEventListener("input", search);
field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && found.firstChild?.href) location.href = found.firstChild.href;
    if (event.key === "ArrowDown") found.querySelector("a")?.focus();
});
found.addEventListener("keydown", (event) => {
    const next = {ArrowDown: "nextSibling", ArrowUp: "previousSibling"}[event.key];
    if (!next) return;
    event.preventDefault();
    (document.activeElement[next] || field).focus();
});
found.addEventListener("click", close);
document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field) {
        event.preventDefault();
        field.focus();
    }
    if (event.key === "Escape") close();
});
menuButton.addEventListener("click", () => {
    const open = menu.classList.toggle("open");
    menuButton.setAttribute("aria-expanded", open);
});
