"""What a release promises, for people."""

from __future__ import annotations

import ctypes
import html
import json
import math
from typing import Any

from . import _abi
from .library import Run, text_of


class Certificate(dict):
    """A release's certificate (docs/certificate.schema.json), which also shows itself.

    >>> Certificate('{"epsilon": 1, "delta": 1e-8, "unit": "trip", "mechanisms": []}').epsilon
    1.0
    """

    def __init__(self, text: str):
        self.text = text
        super().__init__(json.loads(text))

    @property
    def epsilon(self) -> float:
        return number_of(self.get("epsilon"))

    @property
    def delta(self) -> float:
        return number_of(self.get("delta", 0))

    def words(self) -> str:
        """Epsilon as a change of odds.

        >>> print(Certificate('{"epsilon": 1, "delta": 1e-8, "unit": "user"}').words())
        Someone who takes it for 50:50 that a certain user is in the data is at most 73:27 sure \
after seeing all that was released, whatever else they know.
        """
        unit = self.get("unit", "trip")
        if math.isinf(self.epsilon):
            return f"NOT PRIVATE: made without noise, this protects no {unit}."
        sure = 100 / (1 + math.exp(-min(self.epsilon, 700)))
        odds = f"{sure:.0f}:{100 - sure:.0f}" if sure < 99 else f"{sure:.4g}:{100 - sure:.2g}"
        return (f"Someone who takes it for 50:50 that a certain {unit} is in the data is at most "
                f"{odds} sure after seeing all that was released, whatever else they know.")

    def verify(self) -> dict[str, Any]:
        """Recomputes epsilon and checks that the options imply the mechanisms."""
        verdict, text = _abi.dpl_verdict(), self.text.encode()
        with Run(progress="none") as run:
            run.call("dpl_certificate_verify", text, len(text), ctypes.byref(verdict))
        return {"valid": verdict.valid, "epsilon": verdict.epsilon, "delta": verdict.delta,
                "reasons": [text_of(verdict.reasons[i].value) for i in range(verdict.n_reasons)]}

    def rows(self) -> list[tuple[str, ...]]:
        """Where epsilon went: name, kind, noise, and what each would cost alone."""
        made: list[tuple[str, ...]] = []
        for one in self.get("mechanisms", []):
            alone = number_of(one.get("epsilon_alone", math.nan))
            made.append((str(one.get("name", "")), str(one.get("kind", "")),
                         f"{number_of(one.get('sigma', math.nan)):.4g}",
                         "" if math.isnan(alone) else f"{alone:.3g}"))
        return made

    def __repr__(self) -> str:
        return f"<dploc.Certificate: epsilon {self.epsilon:.4g}, delta {self.delta:.3g}. " \
               f"{self.words()}>"

    def _repr_html_(self) -> str:
        line = html.escape(f"ε = {self.epsilon:.4g}, δ = {self.delta:.3g}, "
                           f"protects one {self.get('unit', 'trip')}")
        if self.get("warning"):
            line = f"<strong>{html.escape(str(self['warning']))}</strong><br>{line}"
        return (f"<div><p><b>{line}</b></p><p>{html.escape(self.words())}</p>"
                + table_of(("measured", "noise", "sigma", "epsilon alone"), self.rows()) + "</div>")


def number_of(value: Any) -> float:
    """A number of a certificate, where "inf" is a text."""
    return float(value) if value is not None else math.nan


def table_of(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table of HTML.

    >>> table_of(("a",), [("<b>",)])
    '<table><tr><th>a</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    lines = ["".join(f"<th>{html.escape(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows]
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"
