"""Results of `make results` as tables, and the list of what was missed."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from . import ratio_goals, rivals_report
from .front_table import front_table
from .goals import GOAL_EPSILONS, GOALS, Goal
from .measures import ALL_MEASURES, Measure, figure, over_runs, spread, verdict
from .runner import duration
from .settings import DataSet, Setting
from .table import number, table, with_spread

Result = dict[str, Any]
Results = dict[Setting, Result]
HALVES = ("sf-even", "sf-odd")
ROADS_ROWS = (
    ("shape_auc", "classifier of shapes, AUC", 3),
    ("road_share_15m", "points within 15 m of a road", 3),
    ("road_share_30m", "within 30 m", 3),
    ("too_fast_share", "trips over the limit", 3),
    ("speed_q50_kmh", "median speed, km/h", 1),
    ("speed_q90_kmh", "90 % speed", 1),
    ("speed_q99_kmh", "99 % speed", 1),
    ("turn_sharp_share", "turns over 90°", 3),
    ("turn_median_deg", "median turn, °", 1),
    ("path_km_mean", "km a trip", 2),
    ("stops_per_trip", "stops a trip", 3),
    ("off_track_share", "points 50 m off every track", 3),
    ("density_emd_m", "density EMD, m", 0),
    ("route_emd_m", "route EMD, m", 0),
)
SMALL = ("sf-few", "chengdu", "porto", "walkers")  # where noise is large beside the data


@dataclass(frozen=True)
class Report:
    markdown: str
    data: dict[str, Any]
    missed: list[str]


def runs_of(results: Results, **wanted: Any) -> list[Result]:
    """The runs of a setting: those whose fields have the wanted values (`data` by its name)."""

    def fits(setting: Setting) -> bool:
        return all((setting.data.name if name == "data" else getattr(setting, name)) == value for name, value in wanted.items())

    return [result for setting, result in results.items() if fits(setting)]


def values(results: Results, name: str) -> list[Any]:
    """The values of a field that occur, in order of appearance."""
    return list(dict.fromkeys(s.data.name if name == "data" else getattr(s, name) for s in results))


def goal_cell(goal: Goal, epsilon: float, runs: list[Result], judged: bool) -> str:
    """'87 (82 … 95) m, goal 50: **missed**'."""
    text = with_spread(goal.measured(runs), goal.digits, goal.unit)
    if not runs:
        return "–"
    if not judged or epsilon not in GOAL_EPSILONS:
        return text
    limit = number(goal.limit(epsilon), goal.digits if goal.digits != 3 else 2)
    word = "met" if goal.met(epsilon, runs) else "**missed**"
    floors = [goal.floor(run) for run in runs] if goal.floor else []
    below = floors and sum(floors) / len(floors) > goal.limit(epsilon)
    return f"{text}; goal {limit}: {word}" + (" (goal below the floor)" if below and not goal.met(epsilon, runs) else "")


def floor_words(goal: Goal, runs: list[Result]) -> str:
    floor = spread(goal.floor(run) for run in runs) if goal.floor else None
    return f" (floor {number(floor.mean, goal.digits)}{' ' + goal.unit if goal.unit else ''})" if floor else ""


def goal_table(results: Results, data: str, cell_m: int, judged: bool) -> str:
    """The goal figures of every method, row by row; `bridge` is held against the goals where they apply."""
    here = [s for s in results if s.data.name == data and s.cell_m == cell_m]
    epsilons, methods = sorted({s.epsilon for s in here}), list(dict.fromkeys(s.method for s in here))
    rows = []
    for goal in GOALS:
        for method in methods:
            per = {e: runs_of(results, data=data, method=method, cell_m=cell_m, epsilon=e) for e in epsilons}
            title = goal.title + floor_words(goal, [run for runs in per.values() for run in runs]) if method == methods[0] else ""
            rows.append([title, f"`{method}`", *[goal_cell(goal, e, per[e], judged and method == "bridge") for e in epsilons]])
    return table(["", "method", *[f"ε = {e:g}" for e in epsilons]], rows)


def missed_goals(results: Results, data: str = "sf", cell_m: int = 500) -> list[str]:
    """Every goal that `bridge` misses on all cabs at 500 m, as a sentence."""
    missed = []
    for epsilon in GOAL_EPSILONS:
        runs = runs_of(results, data=data, method="bridge", cell_m=cell_m, epsilon=epsilon)
        missed += [
            f"{data}, {cell_m} m, ε = {epsilon:g}: {g.title}: {with_spread(g.measured(runs), g.digits, g.unit)}, goal {g.limit(epsilon):g}"
            for g in GOALS
            if runs and not g.met(epsilon, runs)
        ]
    return missed


def side_by_side(results: Results, data: str, cell_m: int, epsilon: float) -> str:
    """Every measure of every method that ran, beside the floor; what `bridge` loses is set in bold."""
    methods = [m for m in values(results, "method") if runs_of(results, data=data, cell_m=cell_m, epsilon=epsilon, method=m)]
    runs = {m: runs_of(results, data=data, cell_m=cell_m, epsilon=epsilon, method=m) for m in methods}
    rows = [row for measure in ALL_MEASURES if (row := measure_row(measure, runs))]
    return table(["measure", "floor or real", *[f"`{m}`" for m in methods]], rows)


def measure_row(measure: Measure, runs: dict[str, list[Result]]) -> list[str]:
    pick = lambda r: figure(r, measure.name, measure.scope)  # noqa: E731
    first = next(iter(runs.values()))
    floor = over_runs(first, pick, "floor")
    if floor is None:
        return []
    cells = []
    for method, of in runs.items():
        text = with_spread(over_runs(of, pick), measure.digits)
        worse = method != "bridge" and "bridge" in runs and verdict(measure, runs["bridge"], of) == "worse"
        cells.append(f"**{text}**" if worse else text)
    return [measure.title + (f", {measure.unit}" if measure.unit else ""), number(floor.mean, measure.digits), *cells]


def losses(results: Results) -> tuple[list[str], int]:
    """Where `bridge` is worse than another method by the mean of runs, as sentences; and how many comparisons were made."""
    lost, compared = [], 0
    for data in values(results, "data"):
        for cell_m in values(results, "cell_m"):
            for epsilon in sorted(values(results, "epsilon")):
                ours = runs_of(results, data=data, cell_m=cell_m, epsilon=epsilon, method="bridge")
                for method in values(results, "method"):
                    theirs = runs_of(results, data=data, cell_m=cell_m, epsilon=epsilon, method=method)
                    if method == "bridge" or not ours or not theirs:
                        continue
                    words = {m: verdict(m, ours, theirs) for m in ALL_MEASURES}
                    compared += sum(word != "" for word in words.values())
                    lost += [
                        loss_line(data, cell_m, epsilon, method, m, ours, theirs) for m, word in words.items() if word == "worse"
                    ]
    return lost, compared


def by_method(results: Results, data: str, cell_m: int, epsilon: float) -> dict[str, list[Result]]:
    """The runs of all methods there, none of those that did not run; {} where nothing ran."""
    here = dict(data=data, cell_m=cell_m, epsilon=epsilon)
    runs = {m: runs_of(results, method=m, **here) for m in values(results, "method")}
    return runs if any(runs.values()) else {}


def rivals_there(runs: dict[str, list[Result]]) -> bool:
    return bool(runs.get("bridge")) and any(of for m, of in runs.items() if m != "bridge")


def settings_with_rivals(results: Results) -> dict[str, dict[str, list[Result]]]:
    """'sf, 500 m, ε = 1' and the runs of all methods there."""
    return {
        f"{data}, {cell_m} m, ε = {epsilon:g}": runs
        for data in values(results, "data")
        for cell_m in values(results, "cell_m")
        for epsilon in sorted(values(results, "epsilon"))
        if rivals_there(runs := by_method(results, data, cell_m, epsilon))
    }


def places_section(results: Results) -> list[str]:
    """Where `bridge` is first, setting by setting."""
    settings = settings_with_rivals(results)
    lines = [rivals_report.standing_line(name, runs) for name, runs in settings.items()]
    words = (
        "`bridge` is first on a measure when it is better than every other method by more than "
        "two standard errors of the difference of means."
    )
    parts = [words, rivals_report.standing_table(settings), "\n".join(lines)]
    return ["### Where `bridge` is first", *parts] if lines else []


def rivals_sections(results: Results) -> list[str]:
    """The tables of docs/RESULTS.md that hold all methods against one another, where they ran."""
    of = lambda *where: by_method(results, *where)  # noqa: E731
    sets = {d: of(d, 500, 1.0) for d in values(results, "data") if d != "sf"}
    epsilons = {e: of("sf", 500, e) for e in sorted(values(results, "epsilon"))}
    parts = (
        ("San Francisco, 500 m, ε = 1", {"sf": of("sf", 500, 1.0)}, rivals_report.whole_table),
        ("Other cities and small data, 500 m, ε = 1", sets, rivals_report.sets_table),
        ("San Francisco, 250 m, ε = 1", {"sf": of("sf", 250, 1.0)}, rivals_report.sets_table),
        ("San Francisco, 500 m, by ε", epsilons, rivals_report.epsilon_table),
    )
    sections = []
    for title, asked, make_table in parts:
        ran = {name: runs for name, runs in asked.items() if rivals_there(runs)}
        if ran:
            sections += [f"#### {title}", make_table(ran)]
    return ["### Side by side", rivals_report.LEGEND, *sections] if sections else []


def loss_line(
    data: str, cell_m: int, epsilon: float, method: str, measure: Measure, ours: list[Result], theirs: list[Result]
) -> str:
    pick = lambda r: figure(r, measure.name, measure.scope)  # noqa: E731
    mine, other = (with_spread(over_runs(runs, pick), measure.digits, measure.unit) for runs in (ours, theirs))
    words = f"{data}, {cell_m} m, ε = {epsilon:g}: not better than `{method}` in {measure.title}: {mine} against {other}"
    if not measure.name.startswith("route_emd"):
        return words
    held = [over_runs(runs, lambda r: figure(r, "route_share", measure.scope)) for runs in (ours, theirs)]
    return words + f" (over the pairs of {number(held[0].mean, 2)} and {number(held[1].mean, 2)} of the trips)" if all(held) else words


def halves_table(results: Results, cell_m: int) -> str:
    """The goal figures of all cabs, and beside them those of the odd ones (never tuned on) and the even ones."""
    names = [n for n in ("sf", "sf-odd", "sf-even") if runs_of(results, data=n, cell_m=cell_m, method="bridge")]
    titles = {"sf": "all cabs", "sf-odd": "odd cabs", "sf-even": "even cabs"}
    epsilons = sorted({s.epsilon for s in results if s.data.name in names and s.cell_m == cell_m})
    rows = []
    for goal in GOALS:
        for e in epsilons:
            of = [runs_of(results, data=n, cell_m=cell_m, method="bridge", epsilon=e) for n in names]
            rows.append(
                [
                    goal.title,
                    f"{e:g}",
                    *[with_spread(goal.measured(runs), goal.digits, goal.unit) + floor_words(goal, runs) for runs in of],
                ]
            )
    return table(["`bridge`", "ε", *[titles[n] for n in names]], rows)


def cost_table(results: Results) -> str:
    """Processor seconds and memory, the mean over runs and epsilons."""
    rows = []
    for data in values(results, "data"):
        for cell_m in values(results, "cell_m"):
            for method in values(results, "method"):
                runs = runs_of(results, data=data, cell_m=cell_m, method=method)
                if runs:
                    mean = lambda pick: sum(map(pick, runs)) / len(runs)  # noqa: E731
                    rows.append(
                        [
                            data,
                            f"{cell_m} m",
                            f"`{method}`",
                            number(mean(lambda r: r["fit"]["cpu_s"]), 1),
                            number(mean(lambda r: r["variants"][0]["sample"]["cpu_s"]), 1),
                            number(max(r["fit"]["peak_mb"] for r in runs), 0),
                            number(mean(lambda r: r["certificate"]["numbers"]["cells"]), 0),
                        ]
                    )
    return table(["data", "cells of", "method", "fit, processor s", "sample, processor s", "peak MB", "K"], rows)


def provenance(results: Results) -> str:
    commits = sorted({f"`{s.method}` {r['program']['commit']}" for s, r in results.items()})
    hosts = sorted(
        {
            f"{r['machine']['processor']}, {r['machine']['cores']} cores, {r['machine']['memory_gb']:g} GB"
            for r in results.values()
        }
    )
    runs = Counter((s.data.name, s.cell_m, s.epsilon, s.method) for s in results).values()
    each = f"{min(runs)} run{'s' if min(runs) > 1 else ''} each" if min(runs) == max(runs) else f"{min(runs)} to {max(runs)} runs each"
    work = sum(r["wall_s"] * r["program"]["threads"] / r["machine"]["cores"] for r in results.values())
    lines = [
        f"Made by `make results` (`experiments/results`): {len(results)} settings, {each}, "
        f"noise from the operating system, every certificate verified by `dploc verify`. "
        f"Commits: {', '.join(commits)}. Machine: {'; '.join(hosts)}. All settings together took {duration(work)}.",
        "",
        "Figures are means of the runs, with the smallest and largest run in brackets. For each setting:",
        "",
        "```sh",
    ]
    epsilons = sorted(values(results, "epsilon"))
    shown = 1.0 if 1.0 in epsilons else epsilons[0]
    lines += sorted({s.synth_line() for s in results if s.epsilon == shown and s.method == "bridge"})
    judged = " ".join(next(iter(results)).judges[0].options)
    lines += [
        f"dploc eval DATA syn.csv {judged} --json     # ε = {', '.join(f'{e:g}' for e in epsilons)}; "
        f"--method {', '.join(values(results, 'method'))}",
        "```",
        "",
    ]
    deltas = {s.data.title: s.data.delta for s in results}
    lines += [f"- {title}: δ = {delta:g}" for title, delta in deltas.items()]
    return "\n".join(lines)


def city_sections(results: Results) -> list[str]:
    """Every measure, folded away: one block a city and cell size."""
    titles: dict[str, DataSet] = {s.data.name: s.data for s in results if s.data.name not in HALVES}
    parts = []
    for data, found in titles.items():
        for cell_m in values(results, "cell_m"):
            tables = [
                f"ε = {e:g}\n\n{side_by_side(results, data, cell_m, e)}"
                for e in sorted(values(results, "epsilon"))
                if runs_of(results, data=data, cell_m=cell_m, epsilon=e)
            ]
            if tables:
                parts.append(
                    f"<details><summary>Every measure: {found.title.split(' (')[0]}, {cell_m} m</summary>\n\n"
                    + "\n\n".join(tables)
                    + "\n\n</details>"
                )
    return parts


def bridge_runs(results: Results) -> ratio_goals.Runs:
    """Those of `bridge` by data set, cell size and epsilon."""
    runs: ratio_goals.Runs = {}
    for setting, result in results.items():
        if setting.method == "bridge":
            runs.setdefault((setting.data.name, setting.cell_m, setting.epsilon), []).append(result)
    return dict(sorted(runs.items(), key=lambda item: (list(values(results, "data")).index(item[0][0]), -item[0][1], item[0][2])))


def goal_sections(results: Results) -> list[str]:
    parts = []
    for data in (d for d in values(results, "data") if d not in HALVES):
        for cell_m in values(results, "cell_m"):
            if runs_of(results, data=data, cell_m=cell_m):
                judged = data == "sf" and cell_m == 500
                parts += [
                    f"### {data}, {cell_m} m" + ("" if judged else " (reported: the goals are for sf at 500 m)"),
                    goal_table(results, data, cell_m, judged),
                ]
    return parts


def halves_sections(results: Results) -> list[str]:
    return [
        part
        for cell_m in values(results, "cell_m")
        if runs_of(results, data="sf-odd", cell_m=cell_m)
        for part in (
            f"### The cabs that nothing was tuned on, {cell_m} m",
            "Half of the trips, so more noise a trip and a higher floor.",
            halves_table(results, cell_m),
        )
    ]


def roads_cell(runs: list[Result], name: str, digits: int) -> str:
    """'.72 → .74 (.72 … .76), real .50': without roads, with them, and the floor."""
    without, with_them = (over_runs(runs, lambda r, v=v: figure(r, name, "pooled", v)) for v in ("default", "roads"))
    floor = over_runs(runs, lambda r: figure(r, name, "pooled", "roads"), "floor")
    if not without or not with_them or not floor:
        return "–"
    return f"{number(without.mean, digits)} → {with_spread(with_them, digits)}, real {number(floor.mean, digits)}"


def roads_sections(results: Results) -> list[str]:
    """Trips on the roads of a public map beside trips of the same models without."""
    here = {s: r for s, r in results.items() if any(v.name == "roads" for v in s.variants)}
    names = values(here, "data")
    if not names:
        return []
    per = {name: runs_of(here, data=name) for name in names}
    rows = [[title, *[roads_cell(per[name], measure, digits) for name in names]] for measure, title, digits in ROADS_ROWS]
    words = "`bridge`, ε = 1, 500 m: the same models, without and with `sample --roads`. Beside them the real trips' figure or floor."
    return ["### On roads", words, table(["", *names], rows)]


def front_sections(results: Results, data: str = "sf", cell_m: int = 500, epsilon: float = 1.0) -> list[str]:
    """The table of the README, where its setting was run."""
    runs = by_method(results, data, cell_m, epsilon)
    if not runs:
        return []
    return [f"### At a glance: {data}, {cell_m} m, ε = {epsilon:g} (the table of README.md)", front_table(runs)]


def make(everything: Results) -> Report:
    results = {s: r for s, r in everything.items() if "failed" not in r}
    failed = {s: f"{s.slug}: no model: {r['failed']}" for s, r in everything.items() if "failed" in r}
    lost, compared = losses(results)
    by_city = bridge_runs(results)
    missed = missed_goals(results) + ratio_goals.all_missed(by_city) + lost + [line for s, line in failed.items() if s.method == "bridge"]
    parts = [
        "## Goals and measured values",
        provenance(results),
        *front_sections(results),
        *ratio_goals.sections(by_city),
        *goal_sections(results),
        *halves_sections(results),
        *roads_sections(results),
        "### Against the other methods",
        summary_line(results, lost, compared),
        *places_section(results),
        *rivals_sections(results),
        *city_sections(results),
        "### Cost",
        cost_table(results),
    ]
    if failed:
        parts += ["### Fits that brought no model", "\n".join(f"- {line}" for line in failed.values())]
    data = {
        "missed": missed,
        "failed": list(failed.values()),
        "compared": compared,
        "results": [strip_hours(r) for r in results.values()],
    }
    return Report("\n\n".join(parts), data, missed)


def summary_line(results: Results, lost: list[str], compared: int) -> str:
    others = ", ".join(f"`{m}`" for m in values(results, "method") if m != "bridge")
    if not compared:
        return "No other method was run."
    if not lost:
        return (
            f"`bridge` is as good as or better than {others} on every measure, at every ε, cell size and city: "
            f"{compared} comparisons of means, checked by the program."
        )
    head = f"Of {compared} comparisons of means with {others}, `bridge` loses {len(lost)} (in bold below):"
    return head + "\n\n" + "\n".join(f"- {line}" for line in lost)


def strip_hours(result: Result) -> Result:
    """A result without the rows of single hours, which nothing here shows: the files of the settings keep them."""
    slim = dict(result, variants=[])
    for variant in result["variants"]:
        slim["variants"].append(dict(variant, evaluations={name: pooled_rows(e) for name, e in variant["evaluations"].items()}))
    return slim


def pooled_rows(evaluation: dict[str, Any]) -> dict[str, Any]:
    parts = [dict(s, measures=[m for m in s["measures"] if m["scope"] in ("pooled", "hours")]) for s in evaluation["synthetic"]]
    return dict(evaluation, synthetic=parts)
