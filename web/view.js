// What part of the world a group of maps shows. All maps of a group move together: by wheel, drag,
// pinch, keys and buttons.
import {el} from "./dom.js";

const ZOOM_MAX = 64,
    ZOOM_STEP = 1.5,
    MOVE_STEP = 0.2;

// The whole is `extent`; `box()` is what is shown, never beyond it.
export function makeView(extent) {
    const width = extent.east - extent.west,
        height = extent.north - extent.south,
        followers = [];
    let zoom = 1,
        x = extent.west + width / 2,
        y = extent.south + height / 2,
        waiting = false;
    const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
    const changed = () => {
        x = clamp(x, extent.west + width / 2 / zoom, extent.east - width / 2 / zoom);
        y = clamp(y, extent.south + height / 2 / zoom, extent.north - height / 2 / zoom);
        if (waiting) return;
        waiting = true;
        requestAnimationFrame(() => {
            waiting = false;
            for (const follow of followers) follow();
        });
    };
    return {
        zoom: () => zoom,
        whole: () => zoom === 1,
        deepest: () => zoom === ZOOM_MAX,
        box: () => ({
            west: x - width / 2 / zoom,
            east: x + width / 2 / zoom,
            south: y - height / 2 / zoom,
            north: y + height / 2 / zoom,
        }),
        onChange: (follow) => followers.push(follow),
        // px, py: 0 ... 1 from the left and from the bottom; that place stays where it is.
        zoomBy(factor, px = 0.5, py = 0.5) {
            const next = clamp(zoom * factor, 1, ZOOM_MAX);
            x += (px - 0.5) * width * (1 / zoom - 1 / next);
            y += (py - 0.5) * height * (1 / zoom - 1 / next);
            zoom = next;
            changed();
        },
        // By parts of what is shown.
        moveBy(dx, dy) {
            x += (dx * width) / zoom;
            y += (dy * height) / zoom;
            changed();
        },
        showAll() {
            zoom = 1;
            changed();
        },
    };
}

const KEYS = {
    "+": (view) => view.zoomBy(ZOOM_STEP),
    "=": (view) => view.zoomBy(ZOOM_STEP),
    "-": (view) => view.zoomBy(1 / ZOOM_STEP),
    0: (view) => view.showAll(),
    ArrowLeft: (view) => view.moveBy(-MOVE_STEP, 0),
    ArrowRight: (view) => view.moveBy(MOVE_STEP, 0),
    ArrowUp: (view) => view.moveBy(0, MOVE_STEP),
    ArrowDown: (view) => view.moveBy(0, -MOVE_STEP),
};

function listenToKeys(frame, view) {
    frame.addEventListener("keydown", (event) => {
        const act =
            event.ctrlKey || event.metaKey || event.altKey || event.target !== frame
                ? null
                : KEYS[event.key];
        if (!act || (view.whole() && event.key.startsWith("Arrow"))) return; // at the whole, arrows scroll the page
        event.preventDefault();
        act(view);
    });
}

// Where an event is on the map: 0 ... 1 from the left and from the bottom.
function placeOf(frame, {clientX, clientY}) {
    const r = frame.getBoundingClientRect();
    return [(clientX - r.left) / r.width, 1 - (clientY - r.top) / r.height];
}

// A wheel over a map scrolls the page, as people expect, unless they took the map in hand first or
// hold Ctrl.
function listenToWheel(frame, view, hint) {
    let hiding = null;
    frame.addEventListener(
        "wheel",
        (event) => {
            if (!event.ctrlKey && !event.metaKey && document.activeElement !== frame) {
                hint.classList.add("shown");
                clearTimeout(hiding);
                hiding = setTimeout(() => hint.classList.remove("shown"), 1200);
                return;
            }
            event.preventDefault();
            view.zoomBy(Math.exp(-clampWheel(event) / 400), ...placeOf(frame, event));
        },
        {passive: false},
    );
}
const clampWheel = ({deltaY, deltaMode}) =>
    Math.max(-300, Math.min(300, deltaMode === 1 ? 30 * deltaY : deltaY));

// One pointer drags, two pinch.
function listenToPointers(frame, view) {
    const held = new Map();
    const middle = (list) =>
        list.reduce(([a, b], [x, y]) => [a + x / list.length, b + y / list.length], [0, 0]);
    const spread = ([[ax, ay], [bx, by]]) => Math.hypot(ax - bx, ay - by);
    const end = (event) => {
        held.delete(event.pointerId);
        if (held.size === 0) frame.classList.remove("held");
    };
    frame.addEventListener("pointerdown", (event) => {
        if (event.target.closest("button") || event.button > 0) return;
        frame.focus({preventScroll: true});
        held.set(event.pointerId, placeOf(frame, event));
        if (!view.whole() || held.size > 1) frame.classList.add("held");
    });
    frame.addEventListener("pointermove", (event) => {
        if (!held.has(event.pointerId)) return;
        if (event.pointerType === "mouse" && event.buttons === 0) return end(event);
        const before = [...held.values()];
        held.set(event.pointerId, placeOf(frame, event));
        const now = [...held.values()],
            [fromX, fromY] = middle(before),
            [toX, toY] = middle(now);
        if (now.length === 2 && spread(before) > 0)
            view.zoomBy(spread(now) / spread(before), toX, toY);
        view.moveBy(fromX - toX, fromY - toY);
    });
    for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, end);
    frame.addEventListener(
        "touchmove",
        (event) => event.touches.length > 1 && event.cancelable && event.preventDefault(),
        {passive: false},
    );
    frame.addEventListener(
        "dblclick",
        (event) => event.target.closest("button") || view.zoomBy(2, ...placeOf(frame, event)),
    );
}

function buttons(view) {
    const button = (text, label, act) =>
        el("button", {type: "button", "aria-label": label, title: label, onclick: act}, text);
    const closer = button("+", "Zoom in", () => view.zoomBy(ZOOM_STEP)),
        wider = button("−", "Zoom out", () => view.zoomBy(1 / ZOOM_STEP)),
        all = button("All", "Show the whole map", () => view.showAll());
    const follow = () => {
        closer.disabled = view.deepest();
        wider.disabled = all.disabled = view.whole();
    };
    view.onChange(follow);
    follow();
    return el("div", {class: "zoom"}, closer, wider, all);
}

// Makes a frame answer to wheel, drag, pinch and keys, and puts the buttons into it.
export function steer(frame, view, title) {
    const hint = el(
        "div",
        {class: "wheelhint", "aria-hidden": "true"},
        "Click the map, then scroll to zoom",
    );
    frame.tabIndex = 0;
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", `${title}: plus and minus zoom, arrow keys move, 0 shows all`);
    frame.append(buttons(view), hint);
    listenToKeys(frame, view);
    listenToWheel(frame, view, hint);
    listenToPointers(frame, view);
    const follow = () => frame.classList.toggle("zoomed", !view.whole()); // then one finger moves the map, not the page
    view.onChange(follow);
}
