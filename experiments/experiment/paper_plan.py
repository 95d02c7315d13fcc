"""The paper's experiments on one data set, as settings.

The full product of everything would take days. What the paper varied is varied here; the small tables (ablations, coverage, downtown,
steps of the walk) stand at one epsilon and one cell size, as in the paper.
"""
from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .settings import DataSet, Judge, Setting, Variant

OURS = ("paper", "bridge")
ONE_NOISE = (*OURS, "ldptrace")  # the others have Gaussian and Laplace noise
GROUPS = ("walk", "ablations", "summary", "not_private", "coverage", "downtown", "sizes")  # in the order they are run


@dataclass(frozen=True)
class Scale:
    """How much is run: the paper's choices, or few small ones for a test."""

    epsilons: tuple[float, ...] = (0.5, 1.0, 2.0, 5.0)
    cells: tuple[int, ...] = (250, 500)
    epsilon: float = 1.0  # of the small tables
    cell_m: int = 500
    coverage: float = 0.8  # as the paper did for GeoLife at 250 m
    coverage_cell_m: int = 250
    size_runs: int = 5  # fits whose K and L_max are told, the summary's included
    faithful_runs: int = 5  # models with the paper's noise
    mh_steps: tuple[int, ...] = (0, 1, 5, 10, 25, 50, 100, 150)
    sigma: tuple[float, float, float] = (3.8, 1.5, 1.6)  # the paper's noise at epsilon 1: TOP-K, TI, TPG
    splits: int = 2


QUICK = Scale(
    epsilons=(8.0,),
    cells=(1000,),
    epsilon=8.0,
    cell_m=1000,
    coverage_cell_m=1000,
    size_runs=2,
    faithful_runs=2,
    mh_steps=(0, 10),
    sigma=(0.3, 0.6, 0.6),
    splits=1,
)


@dataclass(frozen=True)
class System:
    """A method, and its mechanism where there is a choice."""

    method: str
    mechanism: str = ""


@dataclass(frozen=True)
class Plan:
    """Settings by the table they are for; a setting may serve several tables."""

    scale: Scale
    systems: tuple[System, ...]
    data: DataSet
    summary: tuple[Setting, ...]
    sizes: tuple[Setting, ...]
    ablations: tuple[Setting, ...]
    coverage: tuple[Setting, ...]
    not_private: tuple[Setting, ...]
    downtown: tuple[Setting, ...]
    walk: tuple[Setting, ...]

    def settings(self, only: tuple[str, ...] = ()) -> list[Setting]:
        """All of them once, the quick and telling ones first; or those of some groups alone."""
        groups = [getattr(self, name) for name in GROUPS if not only or name in only]
        return list(dict.fromkeys(setting for group in groups for setting in group))


def systems(methods: list[str], has_mechanism: bool) -> tuple[System, ...]:
    """All that the program has, those to compare with first, `bridge` last."""
    found = []
    for method in (*[m for m in methods if m not in OURS], *[m for m in OURS if m in methods]):
        both = has_mechanism and method not in ONE_NOISE
        found += [System(method, mechanism) for mechanism in (("gaussian", "laplace") if both else ("",))]
    return tuple(found)


def judges(scale: Scale) -> tuple[Judge, ...]:
    """Our evaluator, and the authors' way to measure."""
    splits = ("--splits", str(scale.splits))
    return Judge("own", splits), Judge("paper", ("--paper-measures", *splits))


def ablations(data: DataSet, scale: Scale) -> tuple[Setting, ...]:
    base = Setting(data, scale.cell_m, scale.epsilon, "paper", judges=judges(scale))
    samples = (
        Variant("whole"),
        Variant("no looping", ("--no-looping",)),
        Variant("no walk (MH)", ("--mh-steps", "0")),
        Variant("neither", ("--no-looping", "--mh-steps", "0")),
    )
    return (
        replace(base, variants=samples, label="ablation"),
        replace(base, fit=("--no-destination",), variants=(Variant("no destination"),), label="no-destination"),
        replace(base, fit=("--periods", "1"), variants=(Variant("no time"),), label="no-time"),
    )


def walk(data: DataSet, scale: Scale) -> tuple[Setting, ...]:
    """The paper's own noise: one model with samples by the number of steps, and further ones to tell its range from run to run."""
    given = tuple(word for name, value in zip(("topk", "ti", "tpg"), scale.sigma) for word in (f"--sigma-{name}", f"{value:g}"))
    samples = tuple(Variant(str(steps), ("--mh-steps", str(steps))) for steps in scale.mh_steps)
    first = Setting(data, scale.cell_m, scale.epsilon, "paper", fit=given, variants=samples, judges=judges(scale), label="sigma")
    few = tuple(sample for sample in samples if sample.name in ("0", "10"))
    more = replace(first, variants=few, judges=judges(scale)[1:])
    return (first, *[replace(more, repetition=run) for run in range(1, scale.faithful_runs)])


def make(data: DataSet, which: tuple[System, ...], scale: Scale, downtown: DataSet | None) -> Plan:
    """Everything for one data set; without a downtown that table is left out."""

    def one(of: DataSet, cell_m: int, epsilon: float, system: System, **more: object) -> Setting:
        return Setting(of, cell_m, epsilon, system.method, system.mechanism, judges=judges(scale), **more)  # type: ignore[arg-type]

    nets = tuple(system for system in which if system.method in OURS)
    paper = System("paper")
    return Plan(
        scale,
        which,
        data,
        summary=tuple(one(data, cell, epsilon, system) for cell in scale.cells for epsilon in scale.epsilons for system in which),
        sizes=tuple(
            one(data, cell, scale.epsilon, paper, repetition=run, variants=(), label="sizes")
            for cell in scale.cells
            for run in range(1, scale.size_runs)
        ),
        ablations=ablations(data, scale),
        coverage=tuple(
            one(data, scale.coverage_cell_m, scale.epsilon, system, fit=("--coverage", f"{scale.coverage:g}"), label="coverage")
            for system in nets
        ),
        not_private=tuple(one(data, cell, math.inf, system) for cell in scale.cells for system in nets),
        downtown=tuple(one(downtown, scale.cell_m, scale.epsilon, system) for system in which) if downtown else (),
        walk=walk(data, scale),
    )
