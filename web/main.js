// The page from top to bottom. Each part reads the island (data.js) and fills its section of index.html.
import {drawAll} from "./chart.js";
import {showCloseness, showGlance} from "./closeness.js";
import {area, data, real, sets, synthetic} from "./data.js";
import {onTheme} from "./colours.js";
import {byId, el, fill, repaint, table} from "./dom.js";
import {showFlows} from "./flows.js";
import {kilometres, percent, position, whole} from "./format.js";
import {showMaps} from "./heat.js";
import {showPatterns} from "./patterns.js";
import {showPrivacy} from "./privacy.js";
import {showHourly, showShapes} from "./shapes.js";
import {showTrips} from "./trips.js";
import {showVerdict} from "./verdict.js";

function showHead() {
    const banner = byId("banner"), warned = synthetic.some((set) => set.certificate && !set.certificate.private);
    banner.className = data.not_private ? "private" : "public";
    banner.append(...(data.not_private
        ? [el("b", {}, "NOT PRIVATE — for the data holder. "), "It contains figures computed from the real trips: do not publish it, nor choose between runs by it."]
        : [el("b", {}, "Public report. "), "Made from the synthetic trips and their certificates alone; no figure here was computed from real trips."]));
    if (warned) banner.append(" ", el("b", {}, "A set shown here was made without privacy."));
    const names = synthetic.map((set) => set.name).join(", ");
    byId("title").textContent = real ? `${names} beside ${real.name}` : names;
    document.title = `${names}: dploc report`;
    const [south, west, north, east] = area.box_deg, width_m = (east - west) * area.m_per_deg_lon, height_m = (north - south) * area.m_per_deg_lat;
    byId("subtitle").textContent = `${synthetic.length === 1 ? "One synthetic set" : `${synthetic.length} synthetic sets`}${real ? " and the real trips" : ""} ` +
        `in a box of ${kilometres(width_m)} by ${kilometres(height_m)} (${position(south, west)} to ${position(north, east)}), cells of ${whole(area.cell_m)} m, local time ${area.zone}.`;
}

const CONTENTS = [["verdict", "Verdict"], ["glance", "At a glance"], ["privacy", "Privacy"], ["closeness", "Closeness"], ["maps", "Maps"], ["shapes", "Distributions"], ["hourly", "Through the day"],
    ["flows", "Flows"], ["patterns", "Patterns"], ["trips", "Trips"], ["about", "About"]];

function showContents() {
    fill("contents", el("ul", {}, CONTENTS.filter(([id]) => byId(id)).map(([id, name]) => el("li", {}, el("a", {href: `#${id}`}, name)))));
}

function showAbout() {
    const dropped = (set) => Object.entries(set.dropped || {}).map(([reason, n]) => `${whole(n)} ${reason.replaceAll("_", " ")}`).join(", ") || "none";
    fill("about-body",
        el("p", {class: "hint"}, `Written by dploc ${data.version}. It opens offline: style, script and data are inside this one file, and nothing is fetched. ` +
            "It contains sums over cells, hours and lengths; the only whole trips in it are synthetic."),
        el("div", {class: "scroll"}, table("What was read", [{title: "File"}, {title: "Role"}, {title: "Format"}, {title: "Columns"}, {title: "Trips", number: true}, {title: "Visits", number: true}, {title: "Trips dropped"}, {title: "Real visits in cells it does not know", number: true}],
            sets.map((set) => [set.name, set.real ? "real" : "synthetic", set.format || "–", set.read_columns || "–", whole(set.trips), whole(set.visits), dropped(set),
                set.real || !data.evaluation ? "–" : percent(data.evaluation.synthetic[set.index - 1].outside_share)]))));
}

showHead();
showVerdict();
showGlance();
showPrivacy();
if (data.evaluation) showCloseness();
else byId("closeness").remove();
showMaps();
showShapes();
showHourly();
showFlows();
showPatterns();
showTrips();
showAbout();
showContents();
drawAll();
onTheme(repaint);
document.documentElement.dataset.ready = "true"; // for tests
