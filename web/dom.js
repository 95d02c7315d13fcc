// Building blocks of the page. Texts become text nodes, never markup: a column called <script> is
// shown, not run.

// el("p", {class: "hint", "aria-label": "..."}, "text", child, ...); null children are left out.
export function el(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (name === "style")
            for (const [property, text] of Object.entries(value))
                property.startsWith("--")
                    ? element.style.setProperty(property, text)
                    : (element.style[property] = text);
        else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? "" : String(value));
    }
    append(element, children);
    return element;
}

function append(element, children) {
    for (const child of children.flat(Infinity)) {
        if (child === null || child === undefined || child === false) continue;
        element.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
}

export const byId = (id) => document.getElementById(id);

export function fill(id, ...children) {
    const element = byId(id);
    element.replaceChildren();
    append(element, children);
    return element;
}

// columns: [{title, number?}]; a cell is a text, a node, or {text, value}: value is the exact
// number for programs.
export function table(caption, columns, rows, className) {
    const cell = (content, column, index) => {
        const exact =
            content !== null &&
            typeof content === "object" &&
            !(content instanceof Node) &&
            !Array.isArray(content);
        const attributes = {class: column.number ? "n" : null, scope: index === 0 ? "row" : null};
        if (exact && content.value !== undefined)
            attributes["data-value"] = content.value === null ? "null" : content.value;
        return el(index === 0 ? "th" : "td", attributes, exact ? content.text : content);
    };
    return el(
        "table",
        {class: className},
        el("caption", {}, caption),
        el(
            "thead",
            {},
            el(
                "tr",
                {},
                columns.map((c) => el("th", {scope: "col", class: c.number ? "n" : null}, c.title)),
            ),
        ),
        el(
            "tbody",
            {},
            rows.map((row) =>
                el(
                    "tr",
                    {},
                    row.map((content, i) => cell(content, columns[i], i)),
                ),
            ),
        ),
    );
}

// ---- patches of colour; a colour is a function, asked again when the theme changes ----

const painted = [];

export function chip(colour, className = "chip") {
    const element = el("span", {class: className, "aria-hidden": "true"});
    const paint = () => Object.assign(element.style, {background: colour(), borderColor: colour()});
    painted.push(paint);
    paint();
    return element;
}

export const repaint = () => painted.forEach((paint) => paint());

// items: [{colour, name, figure?, dashed?}]; a figure stands bold behind its name.
export function legend(items) {
    return el(
        "ul",
        {class: "legend"},
        items.map(({colour, name, figure, dashed}) =>
            el(
                "li",
                {},
                chip(colour, dashed ? "chip dashed" : "chip"),
                name,
                figure ? [" ", el("b", {}, figure)] : null,
            ),
        ),
    );
}
