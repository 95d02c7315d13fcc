"""The one table of the README: every method on one screen, a row each, with a few measures."""
from __future__ import annotations

from typing import Any

from .measures import figure, over_runs
from .table import number, table

Result = dict[str, Any]

# (the evaluator's name, words for the reader, factor, digits). Routes stand as multiples of their
# floor: a method is judged on the pairs of ends that it holds, so that each has a floor of its own.
COLUMNS = (
    ("density_emd_m", "where trips are, m off", 1, 0),
    ("od_emd_m", "from where to where, m off", 1, 0),
    ("route_emd_m", "routes, × floor", None, 1),
    ("fp_50", "50 top patterns found", 1, 2),
    ("length_jsd_distance", "lengths, JS distance", 1, 3),
    ("shape_auc", "told from real, AUC", 1, 2),
    ("too_fast_share", "impossibly fast, %", 100, 0),
)


def cell(runs: list[Result], name: str, factor: int | None, digits: int, part: str) -> str:
    found = over_runs(runs, lambda r: figure(r, name, "pooled"), part if factor else "ratio")
    return number(found.mean * (factor or 1), digits) if found else "–"


def floor_row(runs: list[Result]) -> list[str]:
    cells = [cell(runs, name, factor, digits, "floor") if factor else "1"
             for name, _, factor, digits in COLUMNS]
    return ["*real trips, one half against the other*", *cells]


def method_row(method: str, runs: list[Result]) -> list[str]:
    name = f"**`{method}`**" if method == "bridge" else f"`{method}`"
    return [name, *[cell(runs, *column[:1], *column[2:], "value") for column in COLUMNS]]


def front_table(runs: dict[str, list[Result]]) -> str:
    """`runs` by method, all of one data set, cell size and epsilon; those without runs are out."""
    ran = {method: of for method, of in runs.items() if of}
    rows = [floor_row(next(iter(ran.values()))), *[method_row(m, of) for m, of in ran.items()]]
    return table(["", *[words for _, words, _, _ in COLUMNS]], rows)
