"""All methods side by side, as docs/RESULTS.md has them: means, and where `bridge` is behind."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterable

from .measures import ALL_MEASURES, Measure, beyond_spread, figure, over_runs, verdict
from .table import number, table

Result = dict[str, Any]
Runs = dict[str, list[Result]]  # by method; all of one data set, cell size and epsilon

# Of all measures those that one screen holds, pooled.
SCREEN = (
    "length_jsd_distance fp_20 fp_50 fp_200 fpset_50 density_emd_m od_emd_m route_emd_m od_cpc "
    "steps_cpc length_mean jump_share verbatim_share shape_auc speed_jsd turn_jsd speed_q50_kmh "
    "speed_q99_kmh path_km_mean turn_median_deg stops_per_trip off_track_share return_share "
    "next_hit1 next_hit5 next_mrr destination_hit5 peer_query_avre peer_tau_b peer_fp_f1 "
    "peer_trip_jsd peer_diameter_jsd peer_density_jsd peer_transition_jsd peer_ndcg_10 "
    "dpmr_visits_emd_m dpmr_od_jsd dpmr_jump_jsd"
).split()
SHORT = (
    "length_jsd_distance fp_50 density_emd_m od_emd_m route_emd_m shape_auc next_hit1 "
    "destination_hit5"
).split()
BY_EPSILON = "density_emd_m od_emd_m route_emd_m fp_50 shape_auc".split()
LEGEND = (
    "Means of runs. Bold: `bridge` is behind that method by more than two standard errors of the "
    "difference of means; in italics: behind, but within them. Of one run there is no such error: "
    "bold says behind."
)


def pooled(names: Iterable[str]) -> list[Measure]:
    by_name = {m.name: m for m in ALL_MEASURES if m.scope == "pooled"}
    return [by_name[name] for name in names]


# ---- tables ----


def mean(runs: list[Result], measure: Measure, part: str = "value") -> str:
    found = over_runs(runs, lambda r: figure(r, measure.name, measure.scope), part)
    return number(found.mean, measure.digits) if found else "–"


def marked(measure: Measure, ours: list[Result], theirs: list[Result]) -> str:
    """'.414', '*.414*' or '**.414**': `bridge` is not behind, within the spread, or beyond it."""
    text = mean(theirs, measure)
    if verdict(measure, ours, theirs) != "worse":
        return text
    return f"**{text}**" if beyond_spread(measure, ours, theirs) == "behind" else f"*{text}*"


def measure_row(measure: Measure, runs: Runs) -> list[str]:
    title = measure.title.removesuffix(", pooled") + (f", {measure.unit}" if measure.unit else "")
    floor = mean([run for of in runs.values() for run in of], measure, "floor")
    return [title, floor, *[marked(measure, runs.get("bridge", []), of) for of in runs.values()]]


def cost(of: list[Result]) -> str:
    """'1.7 + 3.5 (71)': processor seconds of fit and sample, and the largest peak in MB."""
    if not of:
        return "–"
    fits, samples = [r["fit"] for r in of], [r["variants"][0]["sample"] for r in of]
    seconds = [sum(step["cpu_s"] for step in steps) / len(of) for steps in (fits, samples)]
    peak = max(step["peak_mb"] for step in fits + samples)
    return f"{number(seconds[0], 1)} + {number(seconds[1], 1)} ({number(peak, 0)})"


def cost_row(runs: Runs) -> list[str]:
    return ["fit + sample, processor s (MB)", "", *map(cost, runs.values())]


def head(runs: Runs) -> list[str]:
    return ["floor or real", *[f"`{method}`" for method in runs]]


def rows_of(runs: Runs, names: Iterable[str]) -> list[list[str]]:
    return [*[measure_row(measure, runs) for measure in pooled(names)], cost_row(runs)]


def whole_table(sets: dict[str, Runs]) -> str:
    """What one screen holds, of the one data set."""
    (runs,) = sets.values()
    return table(["", *head(runs)], rows_of(runs, SCREEN))


def sets_table(sets: dict[str, Runs]) -> str:
    """A few measures of several data sets, one below the other."""
    rows = [
        [name if i == 0 else "", *row]
        for name, runs in sets.items()
        for i, row in enumerate(rows_of(runs, SHORT))
    ]
    return table(["", "", *head(next(iter(sets.values())))], rows)


def epsilon_table(by_epsilon: dict[float, Runs]) -> str:
    """How a few measures follow ε."""
    rows = []
    for measure in pooled(BY_EPSILON):
        for i, (epsilon, runs) in enumerate(by_epsilon.items()):
            title, *cells = measure_row(measure, runs)
            rows.append([title if i == 0 else "", f"{epsilon:g}", *cells])
    return table(["", "ε", *head(next(iter(by_epsilon.values())))], rows)


# ---- first or not ----


@dataclass
class Standing:
    """Every measure in one list, with the methods that put it there."""

    first: list[str] = field(default_factory=list)
    level: list[str] = field(default_factory=list)  # ahead, but of some not beyond the spread
    within: list[str] = field(default_factory=list)  # behind one, within the spread of runs
    beyond: list[str] = field(default_factory=list)  # behind one beyond it

    @property
    def measures(self) -> int:
        return sum(map(len, (self.first, self.level, self.within, self.beyond)))


def standing(runs: Runs) -> Standing:
    """Where `bridge` stands among all others."""
    others = {m: of for m, of in runs.items() if m != "bridge" and of}
    ours, stand = runs.get("bridge", []), Standing()
    for measure in ALL_MEASURES:
        words = {m: beyond_spread(measure, ours, of) for m, of in others.items()}
        behind = [m for m, word in words.items() if word == "behind"]
        worse = [m for m, of in others.items() if verdict(measure, ours, of) == "worse"]
        level = [m for m, word in words.items() if word == "within"]
        lists = ((behind, stand.beyond), (worse, stand.within), (level, stand.level))
        methods, into = next((pair for pair in lists if pair[0]), ([], stand.first))
        if any(words.values()):
            names = ", ".join(f"`{m}`" for m in methods)
            into.append(f"{measure.title} ({names})" if names else measure.title)
    return stand


def times_run(runs: Runs) -> str:
    """'3', or '1 to 3'."""
    counts = sorted({len(of) for of in runs.values() if of})
    return " to ".join(str(count) for count in (counts[0], counts[-1])[: len(counts)])


def standing_table(settings: dict[str, Runs]) -> str:
    """How often `bridge` is first, setting by setting, and what it is behind on."""
    rows = []
    for name, runs in settings.items():
        stand = standing(runs)
        lists = (stand.first, stand.level, stand.within, stand.beyond)
        counts = [str(len(of)) for of in lists]
        rows.append([name, times_run(runs), *counts, "; ".join(stand.beyond)])
    return table(["", "runs", "first", "not beyond", "behind within", "behind", "behind on"], rows)


def standing_line(name: str, runs: Runs) -> str:
    stand, times = standing(runs), times_run(runs)
    parts = (
        (stand.beyond, "Behind"),
        (stand.within, "Behind within the spread of runs"),
        (stand.level, "Not ahead beyond the spread"),
    )
    return (
        f"- {name}, {times} run{'s' if times != '1' else ''}: first on {len(stand.first)} of "
        f"{stand.measures} measures."
        + "".join(f" {words} on {len(of)}: {'; '.join(of)}." for of, words in parts if of)
    )
