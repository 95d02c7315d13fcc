"""Goals for `bridge` as ratios to floors, city by city: places and cost, and the last mile.

A ratio is value over floor, of means over runs; for tasks, the score of training on synthetic trips over that of training on real ones.
"below" is floor minus value, for shares where more is better.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .measures import over_runs, figure
from .table import number, table

Result = dict[str, Any]
Runs = dict[tuple[str, int, float], list[Result]]  # of `bridge`, by data set, cell size and epsilon


@dataclass(frozen=True)
class Column:
    name: str
    scope: str
    title: str
    digits: int = 2
    better: str = "lower"
    below: bool = False

    def of(self, runs: list[Result]) -> float | None:
        value, floor = (over_runs(runs, lambda r: figure(r, self.name, self.scope), part) for part in ("value", "floor"))
        if value is None or floor is None or (not self.below and floor.mean == 0):
            return None
        return floor.mean - value.mean if self.below else value.mean / floor.mean

    def met(self, got: float, goal: float) -> bool:
        """As printed: a figure that reads like the goal is at it."""
        got = round(got, self.digits)
        return got >= goal if self.better == "higher" else got <= goal


DENSITY = Column("density_emd_m", "pooled", "density")
BY_HOUR = Column("density_emd_m", "hours", "by hour")
ENDS = Column("od_emd_m", "hours", "OD by hour")
ROUTE = Column("route_emd_m", "pooled", "route")
PATTERNS = Column("fp_50", "pooled", "FP-50 below floor", 3, below=True)
NEXT = Column("next_hit1", "pooled", "next cell", better="higher")
DESTINATION = Column("destination_hit5", "pooled", "destination", better="higher")
TIME = Column("travel_time_mae_s", "pooled", "travel time")
COLUMNS = (DENSITY, BY_HOUR, ENDS, ROUTE, PATTERNS, NEXT, DESTINATION, TIME)

Goals = dict[tuple[str, int], dict[Column, tuple[float | None, ...]]]
EPSILONS = (0.5, 1.0, 2.0)
TASKS = {NEXT: (0.9, 0.95, 0.97), DESTINATION: (0.9, 0.95, 0.97), TIME: (1.15, 1.10, 1.05)}
THIN = {DENSITY: (2.5, 1.8, 1.4), ENDS: (1.25, 1.1, 1.0), ROUTE: (1.7, 1.5, 1.4), **TASKS}
COMPACT = {ROUTE: (2.2, 2.0, 1.9), **TASKS}

# By EPSILONS. "The last mile": spend the budget where it pays.
LAST_MILE: Goals = {
    ("sf", 500): {
        DENSITY: (1.4, 1.05, 1.0),
        BY_HOUR: (1.3, 1.05, 1.0),
        ENDS: (1.22, 1.14, 1.10),
        ROUTE: (1.5, 1.40, 1.3),
        PATTERNS: (0.015, 0.015, 0.01),
        **TASKS,
    },
    ("sf", 250): {
        DENSITY: (2.0, 1.4, 1.2),
        BY_HOUR: (1.4, 1.2, 1.1),
        ENDS: (1.35, 1.2, 1.1),
        ROUTE: (1.5, 1.4, 1.3),
        PATTERNS: (0.06, 0.03, 0.02),
        **TASKS,
    },
    ("sf-few", 500): THIN,
    ("chengdu", 500): THIN,
    ("porto", 500): THIN,
    ("walkers", 500): {DENSITY: (2.5, 1.8, 1.4), ROUTE: (3.0, 2.2, 1.8), **TASKS},
    ("badhersfeld", 500): COMPACT,
    ("simulated", 500): COMPACT,
}


def at_one(**goals: float) -> dict[Column, tuple[float | None, ...]]:
    columns = {"density": DENSITY, "hour": BY_HOUR, "ends": ENDS, "route": ROUTE, "patterns": PATTERNS}
    return {columns[name]: (None, goal, None) for name, goal in goals.items()}


# "Resolution follows the data": at epsilon 1.
RESOLUTION: Goals = {
    ("sf", 500): at_one(density=1.05, hour=1.11, ends=1.18, route=1.50, patterns=0.015),
    ("sf", 250): at_one(density=1.6, hour=1.3, ends=1.3, route=1.5, patterns=0.04),
    ("sf-few", 500): at_one(density=2, hour=1.15, route=1.5, patterns=0.06),
    ("walkers", 500): at_one(density=2, route=3, patterns=0.08),
    ("chengdu", 500): at_one(density=2.2, route=1.9, patterns=0.06),
    ("porto", 500): at_one(density=2.2, route=1.9, patterns=0.06),
    ("badhersfeld", 500): at_one(route=2.2),
    ("simulated", 500): at_one(route=2.2),
}


def cell(column: Column, runs: list[Result], goal: float | None) -> str:
    """'1.00, goal 1.05: met'."""
    got = column.of(runs)
    text = number(got, column.digits)
    if got is None or goal is None:
        return text
    return f"{text}; {number(goal, column.digits)}: " + ("met" if column.met(got, goal) else "**missed**")


def goal_of(goals: Goals, where: tuple[str, int], column: Column, epsilon: float) -> float | None:
    found = goals.get(where, {}).get(column)
    return found[EPSILONS.index(epsilon)] if found and epsilon in EPSILONS else None


def ratio_table(runs: Runs, goals: Goals) -> str:
    """A row a data set, cell size and epsilon: figure; goal: word."""
    rows = []
    for (data, cell_m, epsilon), of in runs.items():
        if any(goal_of(goals, (data, cell_m), c, epsilon) is not None for c in COLUMNS):
            cells = [cell(c, of, goal_of(goals, (data, cell_m), c, epsilon)) for c in COLUMNS]
            rows.append([f"{data}, {cell_m} m", f"{epsilon:g}", str(len(of)), *cells])
    return table(["", "ε", "runs", *[c.title for c in COLUMNS]], rows) if rows else ""


def missed(runs: Runs, goals: Goals, title: str) -> list[str]:
    """Every goal of the table that is missed, as a sentence."""
    lines = []
    for (data, cell_m, epsilon), of in runs.items():
        for column in COLUMNS:
            goal, got = goal_of(goals, (data, cell_m), column, epsilon), column.of(of)
            if goal is not None and got is not None and not column.met(got, goal):
                where = f"{data}, {cell_m} m, ε = {epsilon:g}"
                lines.append(f"{where}: {column.title} {number(got, column.digits)}, goal {number(goal, column.digits)} ({title})")
    return lines


SECTIONS = (("Resolution follows the data", RESOLUTION), ("The last mile", LAST_MILE))


def sections(runs: Runs) -> list[str]:
    tables = [(title, ratio_table(runs, goals)) for title, goals in SECTIONS]
    words = (
        "`bridge`, ratios to the floor, of means over runs; FP-50 is what it lies below the floor by, tasks are shares of "
        "training on real trips. Behind the figure its goal."
    )
    parts = [part for title, text in tables if text for part in (f"**{title}**", text)]
    return ["### Goals by city", words, *parts] if parts else []


def all_missed(runs: Runs) -> list[str]:
    return [line for title, goals in SECTIONS for line in missed(runs, goals, title)]
