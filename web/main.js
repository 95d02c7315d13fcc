// The page from top to bottom. Each part reads the island (data.js) and fills its section of
// index.html.
import {showAttacks} from "./attacks.js";
import {drawAll} from "./chart.js";
import {showCloseness, showGlance} from "./closeness.js";
import {area, data, real, sets, synthetic} from "./data.js";
import {onTheme} from "./colours.js";
import {csvButton} from "./csv.js";
import {byId, el, fill, repaint, table} from "./dom.js";
import {showFlows} from "./flows.js";
import {kilometres, percent, position, whole} from "./format.js";
import {showMaps} from "./heat.js";
import {showMotion} from "./motion.js";
import {showPatterns} from "./patterns.js";
import {showPrivacy} from "./privacy.js";
import {showHourly, showShapes} from "./shapes.js";
import {showTasks} from "./tasks.js";
import {showTrips} from "./trips.js";
import {showVerdict} from "./verdict.js";

function showHead() {
    const banner = byId("banner"),
        warned = synthetic.some((set) => set.certificate && !set.certificate.private);
    banner.className = data.not_private ? "private" : "public";
    banner.append(
        ...(data.not_private
            ? [
                  el("b", {}, "NOT PRIVATE — for the data holder. "),
                  "It contains figures computed from the real trips: do not publish it, nor choose between runs by it.",
              ]
            : [
                  el("b", {}, "Public report. "),
                  "Made from the synthetic trips and their certificates alone; no figure here was computed from real trips.",
              ]),
    );
    if (warned) banner.append(" ", el("b", {}, "A set shown here was made without privacy."));
    const names = synthetic.map((set) => set.name).join(", ");
    byId("title").textContent = real ? `${names} beside ${real.name}` : names;
    document.title = `${names}: dploc report`;
    const [south, west, north, east] = area.box_deg,
        width_m = (east - west) * area.m_per_deg_lon,
        height_m = (north - south) * area.m_per_deg_lat;
    byId("subtitle").textContent =
        `${synthetic.length === 1 ? "One synthetic set" : `${synthetic.length} synthetic sets`}${real ? " and the real trips" : ""} ` +
        `in a box of ${kilometres(width_m)} by ${kilometres(height_m)} (${position(south, west)} to ${position(north, east)}), cells of ${whole(area.cell_m)} m, local time ${area.zone}.`;
}

const CONTENTS = [
    ["verdict", "Verdict"],
    ["glance", "At a glance"],
    ["maps", "Maps"],
    ["trips", "Trips"],
    ["motion", "How they move"],
    ["shapes", "How long, when"],
    ["hourly", "Through the day"],
    ["flows", "Flows"],
    ["patterns", "Patterns"],
    ["tasks", "Tasks"],
    ["privacy", "Privacy"],
    ["attacks", "Attacks"],
    ["closeness", "All measures"],
    ["about", "About"],
];

function showContents() {
    fill(
        "contents",
        el(
            "ul",
            {},
            CONTENTS.filter(([id]) => byId(id)).map(([id, name]) =>
                el("li", {}, el("a", {href: `#${id}`}, name)),
            ),
        ),
    );
}

function readTable() {
    const dropped = (set) =>
        Object.entries(set.dropped || {})
            .map(([reason, n]) => `${whole(n)} ${reason.replaceAll("_", " ")}`)
            .join(", ") || "none";
    return table(
        "What was read",
        [
            {title: "File"},
            {title: "Role"},
            {title: "Format"},
            {title: "Columns"},
            {title: "Trips", number: true},
            {title: "Visits", number: true},
            {title: "Trips dropped"},
            ...(data.evaluation
                ? [{title: "Real visits in cells it does not know", number: true}]
                : []),
        ],
        sets.map((set) => [
            set.name,
            set.real ? "real" : "synthetic",
            set.format || "–",
            set.read_columns || "–",
            {text: whole(set.trips), value: set.trips},
            {text: whole(set.visits), value: set.visits},
            dropped(set),
            ...(data.evaluation
                ? [set.real ? "–" : percent(data.evaluation.synthetic[set.index - 1].outside_share)]
                : []),
        ]),
        "read",
    );
}

function showAbout() {
    fill(
        "about-body",
        el(
            "p",
            {class: "hint"},
            `Written by dploc ${data.version}. It opens offline: style, script and data are inside this one file, and nothing is fetched. ` +
                `It contains sums over cells, hours, lengths and motions; ${data.real_trips ? `it also contains the points of ${whole(data.real_trips.length)} real trips, which --real-trips asked for` : "the only whole trips in it are synthetic"}.`,
        ),
        data.openstreetmap
            ? el(
                  "p",
                  {class: "hint"},
                  "Roads behind the maps: © OpenStreetMap contributors, under the Open Database License 1.0.",
              )
            : null,
        el(
            "div",
            {class: "card"},
            el(
                "div",
                {class: "scroll", tabindex: 0, role: "region", "aria-label": "What was read"},
                readTable(),
            ),
            el("div", {class: "behind"}, csvButton("What was read", readTable)),
        ),
    );
}

showHead();
showVerdict();
showGlance();
showMaps();
showTrips();
showMotion();
showShapes();
showHourly();
showFlows();
showPatterns();
showTasks();
showPrivacy();
showAttacks();
if (data.evaluation) showCloseness();
else byId("closeness").remove();
showAbout();
showContents();
drawAll();
onTheme(repaint);
document.documentElement.dataset.ready = "true"; // for tests
