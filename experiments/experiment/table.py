"""Markdown: tables, figures, and the generated part of a document between two markers."""
from __future__ import annotations

import math
import re
from typing import Iterable, Sequence

from .measures import Spread


def number(value: float | None, digits: int = 3) -> str:
    """'.042', '87', '1,040'; a dash for what is not known. No zero before the point, as in the rest of the docs."""
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{value:,.{digits}f}"
    text = re.sub(r"^(-?)0\.", r"\1.", text)
    if float(text.replace(",", "")) == 0 and text.startswith("-"):
        text = text[1:]
    return text.replace("-", "−")


def with_spread(spread: Spread | None, digits: int = 3, unit: str = "") -> str:
    """'87 (82 … 95) m': the mean, and the smallest and largest run when there are several."""
    if spread is None:
        return "–"
    text = number(spread.mean, digits)
    if spread.runs > 1:
        text += f" ({number(spread.low, digits)} … {number(spread.high, digits)})"
    return f"{text} {unit}".strip()


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        if len(row) != len(head):
            raise ValueError(f"a row of {len(row)} cells under a head of {len(head)}: {row}")
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)
