// The measures in words, and how good a figure is.
import {data} from "./data.js";
import {metres, percent, plain} from "./format.js";

const bits = (value) => plain(value);
const minutes = (value) => (value === null ? "–" : `${plain(value)}`);

export const GROUPS = [
    ["Where", ["density_emd_m"]],
    ["From and to", ["od_emd_m", "route_emd_m", "route_emd_plain_m", "route_share"]],
    [
        "How long",
        ["length_jsd_distance", "length_jsd_divergence", "length_mean", "length_sd", "length_mode"],
    ],
    ["When", ["hour_jsd"]],
    [
        "Frequent patterns",
        [
            "fp_10",
            "fp_20",
            "fp_50",
            "fp_100",
            "fp_200",
            "fpset_10",
            "fpset_20",
            "fpset_50",
            "fpset_100",
            "fpset_200",
        ],
    ],
    [
        "Plausible and not copied",
        ["too_fast_share", "kept_share", "jump_share", "verbatim_share", "distinct_share"],
    ],
    [
        "Shape of trips",
        [
            "shape_auc",
            "shape_auc_phase",
            "turn_sharp_share",
            "turn_median_deg",
            "turn_jsd",
            "path_over_straight",
            "return_share",
            "off_track_share",
        ],
    ],
    [
        "Speeds, kilometres, stops",
        [
            "speed_q50_kmh",
            "speed_q90_kmh",
            "speed_q99_kmh",
            "speed_jsd",
            "accel_q90_mps2",
            "accel_jsd",
            "path_km_mean",
            "path_jsd",
            "gyration_km_mean",
            "gyration_jsd",
            "duration_min_mean",
            "duration_jsd",
            "stops_per_trip",
            "stop_min_mean",
            "first_step_m",
            "first_step_jsd",
            "last_step_m",
            "last_step_jsd",
        ],
    ],
    ["Days and minutes", ["weekday_tv", "minute_tv", "trips_per_day"]],
    ["People, where both sides name users", ["next_start_300m", "overlap_share", "home_start_share"]],
    ["Common flows", ["od_cpc", "steps_cpc"]],
    [
        "Tasks: trained on synthetic, tested on real (floor: trained on real)",
        [
            "next_hit1",
            "next_hit5",
            "next_mrr",
            "next_to_hit1",
            "destination_hit5",
            "travel_time_mae_s",
            "travel_time_mape",
            "demand_wape",
        ],
    ],
];

// Shown at once; the rest on request.
export const FIRST = new Set([
    "density_emd_m",
    "od_emd_m",
    "route_emd_m",
    "length_jsd_distance",
    "length_mean",
    "hour_jsd",
    "fp_20",
    "fp_100",
    "jump_share",
    "verbatim_share",
    "too_fast_share",
    "shape_auc",
    "turn_sharp_share",
    "speed_q50_kmh",
    "path_km_mean",
    "stops_per_trip",
    "weekday_tv",
    "next_hit1",
    "travel_time_mae_s",
]);

const NAMED = {
    density_emd_m: [
        "Density of visits",
        "how far visits must be moved, on the average, to turn one map into the other",
        metres,
    ],
    od_emd_m: [
        "Source and destination",
        "how far starts and ends must be moved, both together, to turn one set of pairs into the other",
        metres,
    ],
    route_emd_m: [
        "Routes",
        "how far the visits on the way must be moved, pair by pair, weighted by trips",
        metres,
    ],
    route_emd_plain_m: [
        "Routes, every pair alike",
        "as above, a rare pair counting as much as a frequent one",
        metres,
    ],
    route_share: [
        "Pairs found again",
        "real trips whose start and end also occur in the synthetic set",
        percent,
    ],
    length_jsd_distance: [
        "Trip size",
        "Jensen-Shannon distance of the number of visits: 0 same, 1 nothing in common",
        bits,
    ],
    length_jsd_divergence: ["Trip size, divergence", "the square of the distance", bits],
    length_mean: ["Mean number of visits", "floor: the real trips' own figure", minutes],
    length_sd: [
        "Spread of the number of visits",
        "standard deviation; floor: the real trips' own figure",
        minutes,
    ],
    length_mode: ["Most frequent number of visits", "floor: the real trips' own figure", minutes],
    hour_jsd: [
        "Hour of the day",
        "Jensen-Shannon distance of the trips' hours: 0 same, 1 nothing in common",
        bits,
    ],
    jump_share: [
        "Impossible steps",
        "steps beyond the speed limit; floor: the real trips' own figure",
        percent,
    ],
    verbatim_share: [
        "Real trips met again",
        "real trips that occur visit for visit; floor: how often they do among real trips",
        percent,
    ],
    distinct_share: ["Distinct trips", "trips that differ from all others", percent],
};

// Names and units of measures whose sentence comes from the program.
const kmh = (value) => (value === null ? "–" : `${plain(value)} km/h`);
const km = (value) => (value === null ? "–" : `${plain(value)} km`);
const degrees = (value) => (value === null ? "–" : `${plain(value)}°`);
const seconds = (value) => (value === null ? "–" : `${plain(value)} s`);
const TITLES = {
    too_fast_share: ["Trips with a step over the speed limit", percent],
    kept_share: ["Kept by the program's own cleaning", percent],
    shape_auc: ["Told from real trips by their shape (AUC)", plain],
    shape_auc_phase: ["The same, beside real trips half a slot later", plain],
    turn_sharp_share: ["Turns sharper than 90°", percent],
    turn_median_deg: ["Turn, median", degrees],
    turn_jsd: ["Turns, distance", plain],
    path_over_straight: ["Path over straight line", plain],
    return_share: ["Trips that return to a cell", percent],
    off_track_share: ["Points 50 m off every real one", percent],
    speed_q50_kmh: ["Speed, median", kmh],
    speed_q90_kmh: ["Speed, 90 % are slower", kmh],
    speed_q99_kmh: ["Speed, 99 % are slower", kmh],
    speed_jsd: ["Speeds, distance", plain],
    accel_q90_mps2: ["Change of speed, 90 % are below (m/s²)", plain],
    accel_jsd: ["Changes of speed, distance", plain],
    path_km_mean: ["Kilometres, mean", km],
    path_jsd: ["Kilometres, distance", plain],
    gyration_km_mean: ["Radius of gyration, mean", km],
    gyration_jsd: ["Radius of gyration, distance", plain],
    duration_min_mean: ["Duration, mean (min)", plain],
    duration_jsd: ["Durations, distance", plain],
    stops_per_trip: ["Stops a trip", plain],
    stop_min_mean: ["Length of a stop, mean (min)", plain],
    first_step_m: ["First step, mean", metres],
    first_step_jsd: ["First steps, distance", plain],
    last_step_m: ["Last step, mean", metres],
    last_step_jsd: ["Last steps, distance", plain],
    weekday_tv: ["Weekday", percent],
    minute_tv: ["Minute of the hour", percent],
    trips_per_day: ["Trips a day", plain],
    next_start_300m: ["Next trip within 300 m of the last", percent],
    overlap_share: ["Trips that begin before the last ended", percent],
    home_start_share: ["Days that begin at home", percent],
    od_cpc: ["Common part of flows", percent],
    steps_cpc: ["Common part of steps", percent],
    next_hit1: ["Next cell, first guess", percent],
    next_hit5: ["Next cell, five guesses", percent],
    next_mrr: ["Next cell, mean reciprocal rank", plain],
    next_to_hit1: ["Next cell, destination known", percent],
    destination_hit5: ["Destination, five guesses", percent],
    travel_time_mae_s: ["Travel time, mean error", seconds],
    travel_time_mape: ["Travel time, relative error", percent],
    demand_wape: ["Hourly demand, error", percent],
};

const meaning = (name) => (data.evaluation && data.evaluation.meanings[name]) || "";

export function describe(name) {
    if (TITLES[name]) return {title: TITLES[name][0], text: meaning(name), format: TITLES[name][1]};
    if (NAMED[name]) return {title: NAMED[name][0], text: NAMED[name][1], format: NAMED[name][2]};
    const [, set, n] = /^fp(set)?_(\d+)$/.exec(name) || [];
    if (!n)
        return {
            title: name.replaceAll("_", " "),
            text: meaning(name),
            format: /_share$/.test(name) ? percent : plain,
        };
    return {
        title: `Top ${n} ${set ? "sets" : "patterns"} kept`,
        format: percent,
        text: set
            ? `the ${n} most frequent sets of cells, order ignored: part found again`
            : `the ${n} most frequent runs of 2 to 5 cells: part found again`,
    };
}

export const measures = data.evaluation
    ? data.evaluation.synthetic.map((s) =>
          s.measures.map(([name, scope, better, value, floor, ratio]) => ({
              name,
              scope,
              better,
              value,
              floor,
              ratio,
          })),
      )
    : [];
export const find = (k, name, scope) =>
    (measures[k] || []).find((m) => m.name === name && m.scope === scope) || null;

// How many times worse than the floor; null: no such number.
export function badness(m) {
    if (!m || m.value === null) return null;
    if (m.name === "verbatim_share" && m.value <= m.floor) return 1; // fewer copies than chance are no fault
    if (m.better === "near") return m.floor ? 1 + 10 * Math.abs(m.value / m.floor - 1) : null;
    if (m.ratio === null) return m.value === 0 ? 1 : null;
    return m.better === "lower" ? m.ratio : 1 / Math.max(m.ratio, 1e-3);
}

export function words(m) {
    if (!m || m.value === null) return "not defined";
    if (m.name === "jump_share")
        return m.value === 0
            ? "none"
            : m.value <= m.floor
              ? "no more than real"
              : "some: look at them";
    if (m.name === "verbatim_share")
        return m.value <= m.floor ? "no more than chance" : "more than chance";
    if (m.better === "near") {
        const off = m.floor ? m.value / m.floor - 1 : null;
        if (off === null) return "–";
        return Math.abs(off) < 0.005
            ? "the same"
            : `${plain(100 * Math.abs(off))} % ${off > 0 ? "more" : "less"}`;
    }
    const b = badness(m);
    if (b === null) return "no floor";
    return b <= 1.1
        ? "like real data"
        : b <= 1.5
          ? "close"
          : b <= 2.5
            ? "roughly"
            : b <= 5
              ? "visibly off"
              : "far off";
}
