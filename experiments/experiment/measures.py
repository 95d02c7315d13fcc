"""Figures out of results: one measure of one run, its mean and spread over runs, and which of two methods is nearer to real data.

The direction of a measure is that of docs/EVALUATION.md. Methods are compared as `dploc eval` does: by the ratio to the floor where
there is one, since sets of different sizes have different floors; else by value.
"""
from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any, Callable, Iterable

Result = dict[str, Any]

LOWER, HIGHER, NEAR = "lower", "higher", "near the real figure"
FP_MEAN = ("fp_20", "fp_50", "fp_100", "fp_200")


@dataclass(frozen=True)
class Measure:
    """A row of tables: the evaluator's name and scope, words for the reader, and which side is better."""

    name: str
    scope: str
    title: str
    better: str = LOWER
    unit: str = ""

    @property
    def digits(self) -> int:
        return 0 if self.unit == "m" else 3


@dataclass(frozen=True)
class Figure:
    """A measure of one run. For lengths the floor is the real trips' own figure."""

    value: float
    floor: float
    ratio: float


# How trips move, when they start, whether a classifier can tell, and what a model trained on them is good for.
POINTS_AND_TASKS = (
    ("too_fast_share", "trips over the speed limit, of the file", LOWER, ""),
    ("kept_share", "trips that cleaning keeps, of the file", HIGHER, ""),
    ("shape_auc", "shape of trips, AUC of a classifier", LOWER, ""),
    ("shape_auc_phase", "the same beside real trips read half a slot later", LOWER, ""),
    ("speed_jsd", "speeds, JS distance", LOWER, ""),
    ("turn_jsd", "turns, JS distance", LOWER, ""),
    ("accel_jsd", "changes of speed, JS distance", LOWER, ""),
    ("path_jsd", "km of trips, JS distance", LOWER, ""),
    ("duration_jsd", "durations, JS distance", LOWER, ""),
    ("gyration_jsd", "radii of gyration, JS distance", LOWER, ""),
    ("first_step_jsd", "first steps, JS distance", LOWER, ""),
    ("last_step_jsd", "last steps, JS distance", LOWER, ""),
    ("speed_q50_kmh", "median speed", NEAR, "km/h"),
    ("speed_q90_kmh", "90 % quantile of speed", NEAR, "km/h"),
    ("speed_q99_kmh", "99 % quantile of speed", NEAR, "km/h"),
    ("path_km_mean", "km a trip", NEAR, "km"),
    ("path_over_straight", "km over straight km", NEAR, ""),
    ("turn_sharp_share", "turns over 90°", NEAR, ""),
    ("turn_median_deg", "median turn", NEAR, "°"),
    ("accel_q90_mps2", "90 % quantile of the change of speed", NEAR, "m/s²"),
    ("stops_per_trip", "stops a trip", NEAR, ""),
    ("stop_min_mean", "length of a stop", NEAR, "min"),
    ("duration_min_mean", "duration of a trip", NEAR, "min"),
    ("gyration_km_mean", "radius of gyration", NEAR, "km"),
    ("first_step_m", "first step", NEAR, "m"),
    ("last_step_m", "last step", NEAR, "m"),
    ("return_share", "trips that return to a cell", NEAR, ""),
    ("off_track_share", "points over 50 m from any real one", LOWER, ""),
    ("minute_tv", "start minutes, total variation", LOWER, ""),
    ("weekday_tv", "weekdays, total variation", LOWER, ""),
    ("trips_per_day", "trips a day", NEAR, ""),
    ("next_start_300m", "next trip within 300 m of the last end", NEAR, ""),
    ("overlap_share", "trips that begin before the last ended", NEAR, ""),
    ("home_start_share", "days that begin at home", NEAR, ""),
    ("next_hit1", "task: next cell, first guess", HIGHER, ""),
    ("next_hit5", "task: next cell, five guesses", HIGHER, ""),
    ("next_mrr", "task: next cell, mean of 1/place", HIGHER, ""),
    ("next_to_hit1", "task: next cell, destination known", HIGHER, ""),
    ("destination_hit5", "task: destination, five guesses", HIGHER, ""),
    ("travel_time_mae_s", "task: travel time, mean error", LOWER, "s"),
    ("travel_time_mape", "task: travel time, mean relative error", LOWER, ""),
    ("demand_wape", "task: starts by zone and hour, error over all", LOWER, ""),
)

# What other programs report, by their own definitions (`dploc eval --peer-measures`, docs/EVALUATION.md); corrected rows only.
PEERS = (
    ("peer_query_avre", "AdaTrace: queries, mean relative error", LOWER, ""),
    ("peer_query_points_avre", "AdaTrace: queries of points", LOWER, ""),
    ("peer_tau_b", "AdaTrace: places in order, τ_b", HIGHER, ""),
    ("peer_fp_f1", "AdaTrace: patterns, F1", HIGHER, ""),
    ("peer_fp_avre", "AdaTrace: patterns, mean relative error", LOWER, ""),
    ("peer_trip_jsd", "AdaTrace: trips, divergence", LOWER, ""),
    ("peer_diameter_jsd", "AdaTrace: diameters, divergence", LOWER, ""),
    ("peer_length_jsd", "AdaTrace: km of trips, divergence", LOWER, ""),
    ("peer_density_jsd", "LDPTrace: density, divergence", LOWER, ""),
    ("peer_density16_jsd", "LDPTrace: density of 16 × 16, divergence", LOWER, ""),
    ("peer_transition_jsd", "LDPTrace: moves, divergence", LOWER, ""),
    ("peer_ndcg_5", "RetraSyn: busiest places, NDCG@5", HIGHER, ""),
    ("peer_ndcg_10", "RetraSyn: busiest places, NDCG@10", HIGHER, ""),
    ("dpmr_visits_emd_m", "dp_mobility_report: ends by cell, EMD", LOWER, "m"),
    ("dpmr_visits_smape", "dp_mobility_report: ends by cell, SMAPE", LOWER, ""),
    ("dpmr_od_jsd", "dp_mobility_report: flows, JS distance", LOWER, ""),
    ("dpmr_od_smape", "dp_mobility_report: flows, SMAPE", LOWER, ""),
    ("dpmr_jump_jsd", "dp_mobility_report: jump lengths, JS distance", LOWER, ""),
    ("dpmr_jump_smape", "dp_mobility_report: jump lengths, SMAPE", LOWER, ""),
    ("dpmr_time_jsd", "dp_mobility_report: travel times, JS distance", LOWER, ""),
    ("dpmr_time_smape", "dp_mobility_report: travel times, SMAPE", LOWER, ""),
    ("dpmr_windows_emd_m", "dp_mobility_report: ends by window, EMD", LOWER, "m"),
)


def _rows() -> Iterable[Measure]:
    for scope, words in (("pooled", "pooled"), ("hours", "mean of hours")):
        yield Measure("length_jsd_distance", scope, f"length JS distance, {words}")
        for n in (10, 20, 50, 100, 200):
            yield Measure(f"fp_{n}", scope, f"FP-{n}, {words}", HIGHER)
        for n in (10, 20, 50, 100, 200):
            yield Measure(f"fpset_{n}", scope, f"FP-{n} of item sets, {words}", HIGHER)
        yield Measure("density_emd_m", scope, f"density EMD, {words}", LOWER, "m")
        yield Measure("od_emd_m", scope, f"source–destination EMD, {words}", LOWER, "m")
        yield Measure("route_emd_m", scope, f"route EMD, {words}", LOWER, "m")
        yield Measure("route_emd_plain_m", scope, f"route EMD, plain mean of pairs, {words}", LOWER, "m")
        yield Measure("route_share", scope, f"pairs held, share of trips, {words}", HIGHER)
        yield Measure("od_cpc", scope, f"source–destination, common part, {words}", HIGHER)
        yield Measure("steps_cpc", scope, f"steps, common part, {words}", HIGHER)
    yield Measure("hour_jsd", "pooled", "hours of the day, JS distance")
    yield Measure("length_mean", "pooled", "mean visits a trip", NEAR)
    yield Measure("length_sd", "pooled", "deviation of visits a trip", NEAR)
    yield Measure("jump_share", "pooled", "steps beyond the speed limit")
    yield Measure("verbatim_share", "pooled", "real trips held visit for visit", NEAR)
    yield Measure("distinct_share", "pooled", "distinct trips", NEAR)
    for name, title, better, unit in (*POINTS_AND_TASKS, *PEERS):
        yield Measure(name, "pooled", title, better, unit)


ALL_MEASURES: tuple[Measure, ...] = tuple(_rows())


def figure(result: Result, name: str, scope: str, variant: str = "", judge: str = "own") -> Figure | None:
    """One figure of a result's variant (the first when not named); None when it was not measured."""
    chosen = [v for v in result.get("variants", []) if not variant or v["name"] == variant]
    if not chosen or judge not in chosen[0]["evaluations"]:
        return None
    for row in chosen[0]["evaluations"][judge]["synthetic"][0]["measures"]:
        if row["name"] == name and str(row["scope"]) == scope:  # single hours are numbers
            return Figure(*(math.nan if row[key] is None else float(row[key]) for key in ("value", "floor", "ratio")))
    return None


def fp_gap(result: Result) -> float:
    """How far FP-20/50/100/200 lie below their floors, on the average; negative when above."""
    figures = [figure(result, name, "pooled") for name in FP_MEAN]
    return statistics.fmean(f.floor - f.value for f in figures if f is not None)


@dataclass(frozen=True)
class Spread:
    """Mean of runs, smallest, largest, and the mean's standard error: 0 of one run, not known."""

    mean: float
    low: float
    high: float
    runs: int
    error: float = 0.0


def spread(values: Iterable[float]) -> Spread | None:
    known = [v for v in values if math.isfinite(v)]
    if not known:
        return None
    error = statistics.stdev(known) / math.sqrt(len(known)) if len(known) > 1 else 0.0
    return Spread(statistics.fmean(known), min(known), max(known), len(known), error)


def over_runs(results: Iterable[Result], pick: Callable[[Result], Figure | None], part: str = "value") -> Spread | None:
    """Mean and spread of the values (or floors, or ratios) of several runs."""
    return spread(getattr(f, part) for r in results if (f := pick(r)) is not None)


def badness(measure: Measure, figures: list[Figure], by_ratio: bool) -> float:
    """How far from real data the runs are on the average: larger is worse."""
    if measure.better == NEAR:
        return statistics.fmean(abs(f.value - f.floor) for f in figures)
    score = statistics.fmean(f.ratio if by_ratio else f.value for f in figures)
    return -score if measure.better == HIGHER else score


def ranges(measure: Measure, ours: list[Result], theirs: list[Result]) -> tuple[Spread, Spread] | None:
    """How bad each side is, over its runs; None when one has no such figure."""
    sides = [
        [f for r in results if (f := figure(r, measure.name, measure.scope)) is not None and math.isfinite(f.value)]
        for results in (ours, theirs)
    ]
    if not all(sides):
        return None
    by_ratio = all(math.isfinite(f.ratio) for side in sides for f in side)
    first, second = (spread(badness(measure, [f], by_ratio) for f in side) for side in sides)
    return (first, second) if first and second else None


def beyond_spread(measure: Measure, ours: list[Result], theirs: list[Result]) -> str:
    """'ahead' or 'behind' where means differ by more than two standard errors of the difference,
    else 'within'; '' without figures."""
    found = ranges(measure, ours, theirs)
    if found is None:
        return ""
    mine, other = found
    gap, room = other.mean - mine.mean, 2 * math.hypot(mine.error, other.error)
    return "ahead" if gap > room else "behind" if gap < -room else "within"


def verdict(measure: Measure, ours: list[Result], theirs: list[Result]) -> str:
    """'better', 'equal' or 'worse' of ours against theirs by the means of runs; '' when one side has no such figure."""
    sides = [
        [f for r in results if (f := figure(r, measure.name, measure.scope)) is not None and math.isfinite(f.value)]
        for results in (ours, theirs)
    ]
    if not all(sides):
        return ""
    by_ratio = all(math.isfinite(f.ratio) for side in sides for f in side)
    mine, other = (badness(measure, side, by_ratio) for side in sides)
    return "equal" if mine == other else "better" if mine < other else "worse"
