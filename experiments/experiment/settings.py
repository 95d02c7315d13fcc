"""What is run: a setting is one fit on one data set, with one or several samples drawn and judged from it.

Everything here is a plain value. Commands are built with places ({input}, {model}, {output}, {outputs}, {roads}) instead of paths, so that
the key of a setting does not depend on where a checkout lies.
"""
from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from pathlib import Path


# Rough processor seconds of fit and sample for 200,000 trips by method and cell size, until there are measured ones; 3 for what is not here.
ROUGH_S = {("bridge", 500): 50, ("bridge", 250): 170, ("paper", 500): 54, ("paper", 250): 90}


@dataclass(frozen=True)
class DataSet:
    """Trips in a file, the public area they lie in, and the delta that is used on them."""

    name: str
    title: str
    path: Path
    area: tuple[str, ...]
    delta: float
    unit: tuple[str, ...] = ()  # options of a fit that say what one unit of this data is
    roads: Path | None = None  # a public map of the area

    @property
    def content(self) -> str:
        """A hash of the file: a result belongs to these bytes."""
        return file_sha256(self.path)


@dataclass(frozen=True)
class Variant:
    """One sample of a model."""

    name: str = "default"
    sample: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judge:
    """One way to judge the samples of a model: all of them in one call, because they share the floor."""

    name: str = "own"
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setting:
    """One fit and its samples. `repetition` tells apart runs that differ by their noise alone."""

    data: DataSet
    cell_m: int
    epsilon: float
    method: str
    mechanism: str = ""
    fit: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = field(default=(Variant(),))
    judges: tuple[Judge, ...] = field(default=(Judge(),))
    repetition: int = 0
    label: str = ""

    @property
    def private(self) -> bool:
        return math.isfinite(self.epsilon)

    @property
    def system(self) -> str:
        """The method as tables name it: with the mechanism where there is a choice."""
        return f"{self.method} ({self.mechanism})" if self.mechanism else self.method

    @property
    def slug(self) -> str:
        parts = [
            self.data.name,
            str(self.cell_m),
            f"e{self.epsilon:g}",
            self.method,
            self.mechanism,
            self.label,
            f"r{self.repetition}",
        ]
        return "-".join(part for part in parts if part)

    def fit_command(self) -> list[str]:
        mechanism = ["--mechanism", self.mechanism] if self.mechanism else []
        return [
            "fit",
            "{input}",
            *self.data.area,
            "--cell",
            str(self.cell_m),
            "--method",
            self.method,
            *mechanism,
            "--epsilon",
            f"{self.epsilon:g}",
            "--delta",
            f"{self.data.delta:g}",
            *self.data.unit,
            *self.fit,
            "--ledger",
            "none",
            "-o",
            "{model}",
        ]

    def sample_command(self, variant: Variant) -> list[str]:
        return ["sample", "{model}", *variant.sample, "-o", "{output}"]

    def eval_command(self, judge: Judge) -> list[str]:
        return ["eval", "{input}", "{outputs}", *self.data.area, "--cell", str(self.cell_m), *judge.options, "--json"]

    def synth_line(self) -> str:
        """What a reader types to do the same."""
        words = [word for word in self.fit_command()[2:] if word not in ("-o", "{model}")]
        return f"dploc synth {self.data.path.name} {' '.join(words)} -o syn.csv"

    def key(self) -> str:
        """Sixteen hex digits of all that the result depends on, but for the program and the noise."""
        what = {
            "data": self.data.content,
            "fit": self.fit_command(),
            "repetition": self.repetition,
            "variants": [[v.name, self.sample_command(v)] for v in self.variants],
            "judges": [[j.name, self.eval_command(j)] for j in self.judges] if self.variants else [],
        }
        if any("{roads}" in v.sample for v in self.variants) and self.data.roads:
            what["roads"] = file_sha256(self.data.roads)
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]


_HASHES: dict[tuple[str, int, int], str] = {}


def file_sha256(path: Path) -> str:
    """Of the bytes of a file; remembered for as long as size and time of change stay."""
    stat = path.stat()
    mark = (str(path), stat.st_size, stat.st_mtime_ns)
    if mark not in _HASHES:
        with path.open("rb") as file:
            _HASHES[mark] = hashlib.file_digest(file, "sha256").hexdigest()
    return _HASHES[mark]
