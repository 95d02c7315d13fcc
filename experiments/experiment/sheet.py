"""A table whose cells remember what they are: written as Markdown, kept as JSON, and checked for sane values."""
from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Union

from .table import number, table

# What a number can be, with its digits and its range.
KINDS = {
    "share": (3, 0.0, 1.0),
    "metres": (0, 0.0, 1e6),
    "count": (0, 0.0, 1e12),
    "visits": (2, 0.0, 1e5),
    "seconds": (1, 0.0, 1e7),
    "micros": (1, 0.0, 1e9),
    "ratio": (2, 0.0, 1e6),
}


@dataclass(frozen=True)
class Num:
    """A figure, and the published one beside it when there is one."""

    value: float | None
    kind: str
    published: float | None = None

    def text(self) -> str:
        digits = KINDS[self.kind][0]
        ours = number(self.value, digits)
        return ours if self.published is None else f"{ours} [{number(self.published, digits)}]"

    def sane(self) -> bool:
        _, low, high = KINDS[self.kind]
        return self.value is None or (math.isfinite(self.value) and low <= self.value <= high * (1 + 1e-9))


Cell = Union[str, Num]


@dataclass
class Sheet:
    name: str
    title: str
    head: list[str]
    note: str = ""
    folded: bool = False
    rows: list[list[Cell]] = field(default_factory=list)

    def add(self, *cells: Cell) -> None:
        self.rows.append(list(cells))

    def markdown(self) -> str:
        body = table(self.head, [[cell if isinstance(cell, str) else cell.text() for cell in row] for row in self.rows])
        parts = [part for part in (self.note, body) if part]
        if self.folded:
            return f"<details><summary>{self.title}</summary>\n\n" + "\n\n".join(parts) + "\n\n</details>"
        return "\n\n".join([f"### {self.title}", *parts])

    def data(self) -> dict[str, Any]:
        def plain(cell: Cell) -> Any:
            if isinstance(cell, str):
                return cell
            value = cell.value if cell.value is not None and math.isfinite(cell.value) else None
            return value if cell.published is None else {"value": value, "published": cell.published}

        return {
            "name": self.name,
            "title": self.title,
            "note": self.note,
            "head": self.head,
            "rows": [[plain(cell) for cell in row] for row in self.rows],
        }

    def filled(self) -> bool:
        """Whether anything was measured for it."""
        return any(isinstance(cell, Num) and cell.value is not None for row in self.rows for cell in row)

    def faults(self) -> list[str]:
        """What is wrong: no rows, a row without any figure, or a figure outside of its range."""
        if not self.rows:
            return [f"{self.name}: no rows"]
        found = []
        for row in self.rows:
            numbers = [cell for cell in row if isinstance(cell, Num)]
            if numbers and all(cell.value is None for cell in numbers):
                found.append(f"{self.name}: a row without a figure: {row[0]}, {row[1] if len(row) > 1 else ''}")
            found += [f"{self.name}: {cell.value} is no {cell.kind}" for cell in numbers if not cell.sane()]
        return found
