"""The paper's tables from finished settings. In brackets behind a figure: what the paper published for that data set."""
from __future__ import annotations

import math
import statistics
from typing import Any, Callable

from . import published
from .measures import Spread, figure, spread
from .paper_plan import OURS, Plan, System
from .settings import Setting, Variant
from .sheet import Num, Sheet

Result = dict[str, Any]
Results = dict[Setting, Result]

# Title, kind, evaluator's name by our measure and by the authors' (item sets), and the published name.
ROWS = (
    *[(f"FP-{n}", "share", f"fp_{n}", f"fpset_{n}") for n in (10, 20, 50, 100, 200)],
    ("length", "share", "length_jsd_distance", "length_jsd_distance"),
    ("source–destination", "metres", "od_emd_m", "od_emd_m"),
    ("density", "metres", "density_emd_m", "density_emd_m"),
    ("route", "metres", "route_emd_m", "route_emd_m"),
)
WORDS = {
    "length": "length, JS distance",
    "source–destination": "source–destination EMD, m",
    "density": "density EMD, m",
    "route": "route EMD, m",
}

HOURLY = (
    ("length_jsd_distance", "share", "length"),
    ("od_emd_m", "metres", "source–destination"),
    ("density_emd_m", "metres", "density"),
)
WALKED = (
    ("ours, pooled", "own", "route_emd_m"),
    ("the paper's measure", "paper", "route_emd_m"),
    ("the same, plain mean of pairs", "paper", "route_emd_plain_m"),
)
# The published system's range: `paper` with its noise on San Francisco at 500 m must land here.
RANGES = (
    ("length", 0.25, 0.50, ".25 … .50"),
    ("source–destination", 0, 2100, "at most 2100 m"),
    ("density", 0, 1000, "at most 1000 m"),
    ("route", 0, 1450, "at most 1450 m"),
)

SIZES_NOTE = (
    "After cleaning. K and the longest length are noised: mean and deviation of {runs} runs of `paper` at ε = {epsilon:g}. "
    "Lengths are those of the real trips, before they are cut."
)
OWN_NOTE = "Pooled over the day; patterns are sequences. The floor is one half of the real trips against the other."
PAPER_NOTE = (
    "`dploc eval --paper-measures`: 2000 trips a side and hour on the model's own cells, mean of the hours (pooled for what has no "
    "times); patterns are item sets, and the share is always of N. In brackets: published; their FP of 1.00 at N = 100 and 200 cannot "
    "be shares of N, since fewer sets than that reach the support of 5 % (two halves of the real trips share about .6 and .3 on San "
    "Francisco)."
)
TIMES_NOTE = (
    "Means over ε. Wall times depend on what else the machine did and on how many settings ran at a time; processor times hardly."
)
ABLATIONS_NOTE = (
    "Pooled over the day (ours) or the mean of the hours (the paper's). "
    "Without time there is one period, so that hours are drawn uniformly."
)
WALK_NOTE = (
    "`paper` with the paper's noise, one model. Ours is pooled over all trips. The paper's takes 2000 trips a side and hour and wavers by "
    "some 40 m from sample to sample."
)
FAITHFUL_NOTE = (
    "{runs} models of `paper` with the paper's noise (σ of TOP-K {sigma[0]:g}, TI {sigma[1]:g}, TPG {sigma[2]:g}), {cell_m} m, `--paper-measures`. "
    "This noise costs ε = {cost:.2f} at δ = {delta:g} by our accountant, N̂ and lengths included."
)


def overall(result: Result | None, name: str, judge: str, variant: str = "", part: str = "value") -> float | None:
    """The figure that stands for the whole: pooled by our measure; by the authors' the mean of the hours, pooled for what has no times."""
    if result is None:
        return None
    for scope in ("pooled",) if judge == "own" else ("hours", "pooled"):
        found = figure(result, name, scope, variant, judge)
        if found is not None:
            return getattr(found, part)
    return None


class Report:
    """The sheets of one data set."""

    def __init__(self, plan: Plan, results: Results) -> None:
        self.plan, self.scale, self.data = plan, plan.scale, plan.data.name
        self.failed = [f"{s.slug}: {r['failed']}" for s, r in results.items() if "failed" in r]
        self.results = {s: r for s, r in results.items() if "failed" not in r}

    # ---- finding ----

    def of_summary(self, cell_m: int, epsilon: float, system: System) -> Result | None:
        for s in self.plan.summary:
            if (s.cell_m, s.epsilon, s.method, s.mechanism) == (cell_m, epsilon, system.method, system.mechanism):
                return self.results.get(s)
        return None

    def names(self) -> list[str]:
        return [f"`{s.method}`" + (f" {s.mechanism}" if s.mechanism else "") for s in self.plan.systems]

    @staticmethod
    def published_name(system: System) -> str:
        """The paper gave Ngram and AdaTrace Gaussian noise."""
        return system.method if system.mechanism in ("", "gaussian") else "none"

    def published_route(self, steps: int) -> float | None:
        return dict(zip(published.MH_STEPS, published.ROUTE.get(self.data, ()))).get(steps)

    # ---- tables ----

    def sizes(self) -> Sheet:
        sheet = Sheet(
            "data",
            "Data",
            ["", "trips", "K", "deviation of K", "longest", "deviation", "mean length", "deviation", "mode"],
            SIZES_NOTE.format(runs=self.scale.size_runs, epsilon=self.scale.epsilon),
        )
        for cell_m in self.scale.cells:
            first = self.of_summary(cell_m, self.scale.epsilon, System("paper"))
            runs = ([first] if first else []) + [
                self.results[s] for s in self.plan.sizes if s.cell_m == cell_m and s in self.results
            ]
            known = published.DATA.get((self.data, cell_m), (None,) * 6)
            cells, longest = ([r["certificate"]["numbers"][key] for r in runs] for key in ("cells", "length_max"))
            real = [overall(first, name, "own", part="floor") for name in ("length_mean", "length_sd", "length_mode")]
            trips = first["variants"][0]["evaluations"]["own"]["real"]["trips"] if first else None
            sheet.add(
                f"{self.data}, {cell_m} m",
                Num(trips, "count", known[0]),
                *[
                    Num(*pair)
                    for pair in (
                        (mean(cells), "count", known[1]),
                        (deviation(cells), "visits"),
                        (mean(longest), "count", known[2]),
                        (deviation(longest), "visits"),
                        (real[0], "visits", known[3]),
                        (real[1], "visits", known[4]),
                        (real[2], "count", known[5]),
                    )
                ],
            )
        return sheet

    def summary(self, judge: str) -> Sheet:
        if judge == "own":
            sheet = Sheet("summary", "Summary, by our measures", ["cells of", "ε", "measure", "floor", *self.names()], OWN_NOTE)
        else:
            sheet = Sheet(
                "summary_paper", "Summary, as the paper measured", ["cells of", "ε", "measure", *self.names()], PAPER_NOTE
            )
        for cell_m in self.scale.cells:
            for epsilon in self.scale.epsilons:
                for row in ROWS:
                    self.summary_row(sheet, judge, cell_m, epsilon, row)
        return sheet

    def summary_row(self, sheet: Sheet, judge: str, cell_m: int, epsilon: float, row: tuple[str, str, str, str]) -> None:
        title, kind, own, theirs = row
        name = own if judge == "own" else theirs
        results = [self.of_summary(cell_m, epsilon, system) for system in self.plan.systems]
        known = [
            published.summary(self.data, cell_m, self.published_name(s), title, epsilon) if judge == "paper" else None
            for s in self.plan.systems
        ]
        cells = [Num(overall(result, name, judge), kind, k) for result, k in zip(results, known)]
        floors = [f for r in reversed(results) if (f := overall(r, name, judge, part="floor")) is not None]
        floor = [Num(floors[0] if floors else None, kind)] if judge == "own" else []
        sheet.add(f"{cell_m} m", f"{epsilon:g}", WORDS.get(title, title), *floor, *cells)

    def lengths(self) -> Sheet:
        sheet = Sheet(
            "lengths",
            "Lengths of synthetic trips",
            ["cells of", "ε", "method", "mean", "deviation", "mode", "real mean", "real deviation", "real mode"],
            "Published figures (in brackets) are for all settings together.",
        )
        for cell_m in self.scale.cells:
            for epsilon in self.scale.epsilons:
                for system, label in zip(self.plan.systems, self.names()):
                    result = self.of_summary(cell_m, epsilon, system)
                    known = (
                        published.LENGTHS.get(self.published_name(system), (None,) * 3)
                        if self.data in published.DATA_SETS
                        else (None,) * 3
                    )
                    fields = (("length_mean", "visits"), ("length_sd", "visits"), ("length_mode", "count"))
                    sheet.add(
                        f"{cell_m} m",
                        f"{epsilon:g}",
                        label,
                        *[Num(overall(result, n, "own"), k, p) for (n, k), p in zip(fields, known)],
                        *[Num(overall(result, n, "own", part="floor"), k) for n, k in fields],
                    )
        return sheet

    def times(self) -> Sheet:
        sheet = Sheet(
            "times",
            "Running times",
            [
                "cells of",
                "method",
                "fit, processor s",
                "fit, wall s",
                "sample, processor s",
                "evaluation, processor s",
                "peak MB",
                "published",
            ],
            TIMES_NOTE,
        )
        for cell_m in self.scale.cells:
            for system, label in zip(self.plan.systems, self.names()):
                runs = [r for e in self.scale.epsilons if (r := self.of_summary(cell_m, e, system)) is not None]
                known = published.TIMES.get(self.published_name(system), "") if self.data == "sf" else ""
                seconds = (
                    [r["fit"]["cpu_s"] for r in runs],
                    [r["fit"]["wall_s"] for r in runs],
                    [r["variants"][0]["sample"]["cpu_s"] for r in runs],
                    [sum(cost["cpu_s"] for cost in r["eval"].values()) for r in runs],
                )
                sheet.add(
                    f"{cell_m} m",
                    label,
                    *[Num(mean(s), "seconds") for s in seconds],
                    Num(mean([r["fit"]["peak_mb"] for r in runs]), "count"),
                    known,
                )
        return sheet

    def generation(self) -> Sheet:
        sheet = Sheet(
            "generation",
            "Generation time against K",
            ["method", "K", "data", "cells of", "trips", "processor s", "µs a trip"],
            "Drawing as many trips as the model estimates, graphs and files included.",
            folded=True,
        )
        rows = []
        for s, r in self.results.items():
            if s.method not in OURS or s.label not in ("", "coverage") or not r["variants"]:
                continue
            trips, cpu = r["variants"][0]["evaluations"]["own"]["synthetic"][0]["trips"], r["variants"][0]["sample"]["cpu_s"]
            rows.append((s.method, r["certificate"]["numbers"]["cells"], s.data.name, s.cell_m, trips, cpu))
        for method, cells, data, cell_m, trips, cpu in sorted(rows, key=lambda row: row[:2]):
            sheet.add(
                f"`{method}`",
                Num(cells, "count"),
                data,
                f"{cell_m} m",
                Num(trips, "count"),
                Num(cpu, "seconds"),
                Num(1e6 * cpu / max(1, trips), "micros"),
            )
        return sheet

    def variants(
        self,
        name: str,
        title: str,
        note: str,
        settings: tuple[Setting, ...],
        label: Callable[[Setting, Variant], str],
        known: Callable[[Setting], dict[str, float]] = lambda setting: {},
    ) -> Sheet:
        """One row a sample: the summary's measures, ours and (where they differ) as the paper measured."""
        head = ["", "K", *[WORDS.get(r[0], r[0]) for r in ROWS], "mean length", "deviation"]
        sheet = Sheet(name, title, ["measured", *head], note)
        for judge, word in (("own", "ours"), ("paper", "the paper's")):
            for s in settings:
                result = self.results.get(s)
                figures = known(s) if judge == "paper" else {}
                for v in s.variants:
                    sheet.add(
                        word,
                        label(s, v),
                        Num(result["certificate"]["numbers"]["cells"] if result else None, "count"),
                        *[
                            Num(overall(result, own if judge == "own" else theirs, judge, v.name), kind, figures.get(t))
                            for t, kind, own, theirs in ROWS
                        ],
                        *[Num(overall(result, n, "own", v.name), "visits", figures.get(n)) for n in ("length_mean", "length_sd")],
                    )
        return sheet

    def ablations(self) -> Sheet:
        return self.variants(
            "ablations",
            f"Ablations of `paper`, {self.scale.cell_m} m, ε = {self.scale.epsilon:g}",
            ABLATIONS_NOTE,
            self.plan.ablations,
            lambda s, v: v.name,
        )

    def coverage(self) -> Sheet:
        extra = tuple(
            s
            for s in self.plan.summary
            if s.cell_m == self.scale.coverage_cell_m and s.epsilon == self.scale.epsilon and s.method in OURS
        )
        return self.variants(
            "coverage",
            f"Coverage {self.scale.coverage:g}, {self.scale.coverage_cell_m} m, ε = {self.scale.epsilon:g}",
            "Fewer cells with less noise each, against the methods' own coverage.",
            (*extra, *self.plan.coverage),
            lambda s, v: f"`{s.method}`" + (f", {' '.join(s.fit)}" if s.fit else ""),
        )

    def not_private(self) -> Sheet:
        def known(s: Setting) -> dict[str, float]:
            row = published.NOT_PRIVATE.get((self.data, s.cell_m)) if s.method == "paper" else None
            names = ("FP-10", "FP-20", "FP-50", "FP-100", "length", "length_mean", "length_sd", "source–destination", "density")
            return dict(zip(names, row)) if row else {}

        return self.variants(
            "not_private",
            "Without noise",
            "`--epsilon inf`: what the methods cost apart from privacy. NOT PRIVATE.",
            self.plan.not_private,
            lambda s, v: f"`{s.method}`, {s.cell_m} m",
            known,
        )

    def downtown(self) -> Sheet:
        def known(s: Setting) -> dict[str, float]:
            row = published.DOWNTOWN.get((self.data, self.published_name(System(s.method, s.mechanism))))
            names = ("FP-10", "FP-20", "FP-50", "FP-100", "length", "source–destination", "density")
            return dict(zip(names, row)) if row else {}

        area = " ".join(self.plan.downtown[0].data.area)
        return self.variants(
            "downtown",
            f"Downtown, {self.scale.cell_m} m, ε = {self.scale.epsilon:g}",
            f"`{area}`: trips that leave the box are cut or dropped by cleaning.",
            self.plan.downtown,
            lambda s, v: f"`{s.method}` {s.mechanism}".strip(),
            known,
        )

    def walk(self) -> Sheet:
        sheet = Sheet(
            "walk",
            f"Route by steps of the walk (MH), {self.scale.cell_m} m",
            ["route EMD, m", *map(str, self.scale.mh_steps)],
            WALK_NOTE,
        )
        setting = self.plan.walk[0]
        result = self.results.get(setting)
        for word, judge, name in WALKED:
            known = [
                self.published_route(int(v.name)) if (judge, name) == ("paper", "route_emd_m") else None for v in setting.variants
            ]
            sheet.add(word, *[Num(overall(result, name, judge, v.name), "metres", k) for v, k in zip(setting.variants, known)])
        return sheet

    def faithfulness(self) -> Sheet:
        """The published system's range, for San Francisco at 500 m with the paper's noise: means of several models."""
        setting = self.plan.walk[0]
        runs = [self.results[s] for s in self.plan.walk if s in self.results]
        cost = runs[0]["certificate"]["epsilon"] if runs else math.nan
        note = FAITHFUL_NOTE.format(
            runs=len(runs), sigma=self.scale.sigma, cell_m=self.scale.cell_m, cost=cost, delta=setting.data.delta
        )
        sheet = Sheet("faithfulness", "Faithfulness", ["measure", "range", "ours [published]", "smallest", "largest", ""], note)

        def of_runs(name: str, steps: str) -> Spread | None:
            return spread(value for run in runs if (value := overall(run, name, "paper", steps)) is not None)

        def add(title: str, words: str, kind: str, got: Spread | None, known: float | None, good: bool) -> None:
            low, high = (got.low, got.high) if got else (None, None)
            sheet.add(title, words, Num(got.mean if got else None, kind, known), Num(low, kind), Num(high, kind), met(good))

        evaluator = {title: (kind, theirs) for title, kind, _, theirs in ROWS}
        for title, low, high, words in RANGES:
            kind, name = evaluator[title]
            got = of_runs(name, "10")
            ranged = published.summary(self.data, setting.cell_m, "paper", title, 1.0)
            known = self.published_route(10) if title == "route" else ranged
            add(WORDS[title], words, kind, got, known, got is not None and low <= got.mean <= high)
        before, after = of_runs("route_emd_m", "0"), of_runs("route_emd_m", "10")
        falls = before is not None and after is not None and after.mean < before.mean
        add("route EMD at 0 steps, m", "above that at 10 steps", "metres", before, self.published_route(0), falls)
        return sheet

    def hours(self, judge: str = "own") -> Sheet:
        sheet = Sheet(
            f"hours_{judge}",
            "Hour by hour" + ("" if judge == "own" else ", as the paper measured"),
            ["measure", "cells of", "ε", "method", *map(str, range(24))],
            folded=True,
        )
        for name, kind, words in HOURLY:
            for cell_m in self.scale.cells:
                for epsilon in self.scale.epsilons:
                    for system, label in zip(self.plan.systems, self.names()):
                        result = self.of_summary(cell_m, epsilon, system)
                        found = [figure(result, name, str(hour), judge=judge) if result else None for hour in range(24)]
                        if any(found):
                            sheet.add(
                                words, f"{cell_m} m", f"{epsilon:g}", label, *[Num(f.value if f else None, kind) for f in found]
                            )
        return sheet

    def sheets(self) -> list[Sheet]:
        made = [
            self.sizes(),
            self.summary("own"),
            self.summary("paper"),
            self.faithfulness(),
            self.walk(),
            self.ablations(),
            self.not_private(),
            self.coverage(),
        ]
        if self.plan.downtown:
            made.append(self.downtown())
        return [*made, self.lengths(), self.times(), self.generation(), self.hours("own"), self.hours("paper")]


def mean(values: list[float]) -> float | None:
    return statistics.fmean(values) if values else None


def deviation(values: list[float]) -> float | None:
    return statistics.stdev(values) if len(values) > 1 else None


def met(good: bool) -> str:
    return "met" if good else "**missed**"
