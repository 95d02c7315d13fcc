"""The goals for `bridge`, in one table, and the check of them."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

from .measures import Figure, Spread, figure, fp_gap, spread

Result = dict[str, Any]

GOAL_EPSILONS = (0.5, 1.0, 2.0)  # those that have goals
EPSILONS = (*GOAL_EPSILONS, 5.0)  # those that are run


@dataclass(frozen=True)
class Goal:
    """A figure of one run that must not exceed a limit, by epsilon; `floor` is what no generator can be asked to undercut."""

    title: str
    limits: tuple[float, ...]  # by GOAL_EPSILONS
    of_run: Callable[[Result], float]
    floor: Callable[[Result], float] | None = None
    digits: int = 3
    unit: str = ""

    def limit(self, epsilon: float) -> float:
        return self.limits[GOAL_EPSILONS.index(epsilon)]

    def measured(self, runs: list[Result]) -> Spread | None:
        return spread(self.of_run(run) for run in runs)

    def met(self, epsilon: float, runs: list[Result]) -> bool:
        got = self.measured(runs)
        return got is not None and got.mean <= self.limit(epsilon)


def _part(name: str, scope: str, part: str) -> Callable[[Result], float]:
    def pick(result: Result) -> float:
        found: Figure | None = figure(result, name, scope)
        return getattr(found, part) if found is not None else float("nan")

    return pick


# fmt: off
# San Francisco, all cabs, 500 m, delta 5e-6, mean of three runs.  epsilon: 0.5   1     2
GOALS: tuple[Goal, ...] = (
    Goal("FP-20/50/100/200, mean, below the floor by",            (0.08, 0.04, 0.03), fp_gap),
    Goal("length JS distance, pooled",                            (0.02, 0.02, 0.02), _part("length_jsd_distance", "pooled", "value"),
         _part("length_jsd_distance", "pooled", "floor")),
    Goal("density EMD, pooled",                                   (90.0, 50.0, 35.0), _part("density_emd_m", "pooled", "value"),
         _part("density_emd_m", "pooled", "floor"), 0, "m"),
    Goal("density EMD, mean of hours",                            (280., 180., 130.), _part("density_emd_m", "hours", "value"),
         _part("density_emd_m", "hours", "floor"), 0, "m"),
    Goal("source–destination EMD, mean of hours, ratio to floor", (1.35, 1.20, 1.10), _part("od_emd_m", "hours", "ratio"), None, 2),
    Goal("route EMD, ratio to floor",                             (2.40, 2.10, 1.90), _part("route_emd_m", "pooled", "ratio"), None, 2),
)
# fmt: on
