#!/usr/bin/env python3
"""Black-box audits of every method and unit (docs/RELIABILITY.md, "Audits").

    methods.py DPLOC [--shim nofsync.so] [--fits N] [--secret] [--jobs J] [METHOD/UNIT...]

As audit.py does for bridge and trips: N fits with a canary and N without it, a score of what the
model holds (noised tables, and what was trained), a threshold that other fits have fixed, and from
how often it is exceeded a lower bound of epsilon at delta = 0.01. It must not be above what the
mechanisms of the certificate give there. No table may be moved beyond its clip, and no noise may be
smaller or larger than the certificate says. One line a setting, as a table.

The quick form (fewer than 100 fits) has no power: only the last two are tried, and not of
ldptrace, whose noise is in bits. The noise follows from --insecure-seed; --secret draws it as a
private run does. DPLOC_SOAK above 1 makes it the long form: 1,000 fits on each side, with secret
noise.
"""
from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from operator import mul
from pathlib import Path
from typing import NamedTuple

from audit import (
    AUDIT_DELTA, NOISE_ERRORS, Places, area, audited_epsilon, normal, rows,
)

EPSILON, DELTA = 4.0, 1e-8
USER_TRIPS, VISITS = 2, 20
QUICK_FITS, LONG_FITS, POWER_FITS = 6, 1000, 100
CALIBRATION_FITS, NET_SEEDS, LOCAL_SEEDS = 100, 6, 40
FIRST_SEED = 7001
NETS = ("vae", "nexthop")
Line = list[int]  # cells, a visit a minute


class Setting(NamedTuple):
    method: str
    unit: str
    trips: int  # so many that what the method chooses hardly ever changes
    canary: Line
    more: tuple[str, ...] = ()

    @property
    def units(self) -> int:
        return self.trips // USER_TRIPS if self.unit == "user" else self.trips

    @property
    def local(self) -> bool:
        return self.method == "ldptrace"


TO_AND_FRO, RESTING, SHORT = [0, 1] * (VISITS // 2), [0] * VISITS, [2, 2, 2, 3]
LONG = [0] * (3 * VISITS)  # beyond what noise makes of the longest
SETTINGS = [
    Setting("bridge", "trip", 300, TO_AND_FRO),
    Setting("bridge", "user", 600, TO_AND_FRO),
    # Most of the budget for a table: in the nets next to nothing of one unit is found.
    Setting("paper", "trip", 1000, LONG, ("--share", "topk=5,lengths=0.5")),
    Setting("paper", "user", 2000, LONG, ("--share", "topk=5,lengths=0.5")),
    Setting("ngram", "trip", 1000, RESTING),
    Setting("adatrace", "trip", 1000, RESTING),
    Setting("dpt", "trip", 3000, TO_AND_FRO),
    Setting("dpt", "user", 6000, TO_AND_FRO),
    Setting("privtrace", "trip", 1000, RESTING),
    Setting("privtrace", "user", 2000, RESTING),
    # Five sixths of epsilon for one of its reports: many small ones show less.
    Setting("ldptrace", "trip", 1, TO_AND_FRO, ("--share", "lengths=20")),
    Setting("sglt", "trip", 1000, TO_AND_FRO),
    Setting("sglt", "user", 2000, TO_AND_FRO),
]


# ---- data ----


def unit_rows(unit: int, trips: int, cells: Callable[[int], Line], centres: Places) -> str:
    text = ""
    for trip in range(unit * trips, (unit + 1) * trips):
        for line in rows(trip, cells(trip), centres, 1741000000 + trip * 577).splitlines():
            text += f"{unit},{line}\n"
    return text


def write_data(setting: Setting, where: Path) -> list[Path]:
    """Without the canary, and with it. A local report is seen alone: in its place is another."""
    centres, trips, n = area()[1], setting.trips // setting.units, setting.units
    city = "".join(
        unit_rows(unit, trips, lambda t: [(t + i // 5) % 4 for i in range(VISITS)], centres)
        for unit in range(n)
    )

    def canary(line: Line) -> str:
        return unit_rows(n, trips, lambda _: line, centres)

    before, instead = ("", canary(SHORT)) if setting.local else (city, "")
    texts = [before + instead, before + canary(setting.canary)]
    paths = [where / "without.csv", where / "with.csv"]
    for path, text in zip(paths, texts):
        path.write_text("user_id,trip_id,timestamp,lat,lon\n" + text)
    return paths


# ---- models ----


class Table(NamedTuple):
    shape: list[int]
    values: array
    deviation: float = 0  # of its noise; 0: as in the certificate


class Model(NamedTuple):
    tables: dict[str, Table]
    nets: dict[str, array]
    chosen: str  # what later tables depend on


def read_model(path: Path) -> Model:
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])

    def read(name: str) -> array:
        begin, end = header[name]["data_offsets"]
        values = array({"F64": "d", "F32": "f", "I32": "i"}[header[name]["dtype"]])
        values.frombytes(content[8 + length + begin : 8 + length + end])
        return values

    tables = {
        name.removeprefix("noised."): Table(header[name]["shape"], read(name))
        for name in header
        if name.startswith("noised.") and not name.startswith("noised.tree")
    }
    if "noised.tree" in header:
        tables |= tree_tables(*map(read, ("noised.tree", "noised.tree_scale", "noised.tree_node")))
    if "sglt.cluster" in header:
        tables["keys"] = by_cells(tables["keys"], read("sglt.cluster"))
    chosen = ["cells", "sides", "dpt.levels", "adatrace.split", "privtrace.split"]
    text = f"{header['__metadata__']['length_max']} " + " ".join(
        f"{name} {list(read(name))}" for name in chosen if name in header
    )
    return Model(tables, {name: read(name) for name in NETS if name in header}, text)


def tree_tables(tree: array, scale: array, node: array) -> dict[str, Table]:
    """A table for each node, by its path."""
    bins, names, tables = len(tree) // len(scale), {-1: "tree"}, {}
    for v, deviation in enumerate(scale):
        parent, symbol = node[2 * v], node[2 * v + 1]
        names[v] = names[parent] + (f" {symbol}" if parent >= 0 else "")
        tables[names[v]] = Table([bins], tree[v * bins : (v + 1) * bins], deviation)
    return tables


def by_cells(keys: Table, cluster: array) -> Table:
    """The seeds between cells 0 to 3, each of them a cluster, whatever its number."""
    parts, side, _, lengths = keys.shape
    values = array("d")
    for part in range(parts):
        for a in cluster:
            for b in cluster:
                at = ((part * side + a) * side + b) * lengths
                values += keys.values[at : at + lengths]
    return Table([parts, len(cluster), len(cluster), lengths], values)


# ---- the program ----


class Program:
    def __init__(self, asked: argparse.Namespace, setting: Setting, where: Path):
        self.where, self.dploc = where, asked.dploc
        self.words = [asked.dploc, "fit", "--bbox", area()[0], "--tz", "UTC", "--periods", "1"]
        self.words += ["--size", str(setting.units), "--delta", f"{DELTA}", "--ledger", "none"]
        self.words += ["--threads", "1", "--quiet", "--force", "--method", setting.method]
        self.words += ["--unit", setting.unit, *setting.more]
        if setting.unit == "user":
            self.words += ["--trips-max", str(USER_TRIPS)]
        self.environment = dict(os.environ, OMP_NUM_THREADS="1")
        if asked.shim:
            self.environment["LD_PRELOAD"] = asked.shim

    def call(self, words: list[str], may_end_with: int = 0) -> str:
        done = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode not in (0, may_end_with):
            sys.exit(f"'{' '.join(words)}' ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def fit(self, data: Path, name: str, seed: int | None, epsilon: float = EPSILON) -> Model:
        model = self.where / f"{name}.dploc"
        noise = [] if seed is None else ["--insecure-seed", str(seed)]
        words = [*self.words, str(data), "-o", str(model), "--epsilon", f"{epsilon}", *noise]
        model.unlink(missing_ok=True)
        self.call(words, may_end_with=1)  # nothing exceeds the noise: a result like any other
        return read_model(model) if model.exists() else Model({}, {}, "")

    def mechanisms(self, name: str) -> list[dict]:
        return json.loads((self.where / f"{name}.dploc.certificate.json").read_text())["mechanisms"]

    def claim(self, mechanisms: list[dict]) -> float:
        """Epsilon at the audit's delta; local reports have no delta, and cost what they do."""
        words = [self.dploc, "account", "--json", "--delta", str(AUDIT_DELTA)]
        for m in mechanisms:
            if m["kind"] == "local":
                return sum(1 / m["sigma"] for m in mechanisms)
            noise = f"{m['sigma']!r}"
            if m["kind"] == "poisson":
                noise = f"{m['rate']!r},{noise},{m['steps']}"
            words += [f"--{m['kind']}", noise]
        return json.loads(self.call(words))["epsilon"]


# ---- what the canary does ----


def minus(a: array, b: array) -> array:
    return array("d", (x - y for x, y in zip(a, b)))


def dot(a: array, b: array) -> float:
    return sum(map(mul, a, b))


def mean(lists: list[array]) -> array:
    return array("d", (sum(values) / len(lists) for values in zip(*lists)))


class Canary:
    """What it adds to each table: under one seed the noise is the same.

    A tree is looked at without noise: under noise, its nodes are others with each data set. A net's
    part is what a seed gives, on average over some.
    """

    def __init__(self, program: Program, setting: Setting, data: list[Path], power: bool):
        self.tree: dict[str, Table] = {}  # without the canary and without noise
        self.added: dict[str, array] = {}
        self.nets: dict[str, array] = {}
        if setting.local:
            self.look_locally(program, data)
            return
        for seed in range(20):
            without, there = (program.fit(path, "seeded", seed) for path in data)
            if without.chosen == there.chosen:
                break
        else:
            sys.exit("what the method chooses is different each time: it needs another city")
        # Clips may follow from what was chosen, too: those of another fit can be others.
        self.chosen, self.mechanisms = without.chosen, program.mechanisms("seeded")
        for name, table in without.tables.items():
            if not name.startswith("tree"):
                self.added[name] = minus(there.tables[name].values, table.values)
        if len(self.added) < len(without.tables):
            self.look_at_tree(program, data)
        if without.nets and power:
            self.look_at_nets(program, data)

    def look_at_tree(self, program: Program, data: list[Path]) -> None:
        without, there = (program.fit(path, "bare", None, math.inf).tables for path in data)
        for name in without.keys() & there.keys():
            if name.startswith("tree"):
                self.tree[name] = without[name]
                self.added[name] = minus(there[name].values, without[name].values)

    def look_at_nets(self, program: Program, data: list[Path]) -> None:
        fits = [[program.fit(path, "seeded", s).nets for path in data] for s in range(NET_SEEDS)]
        self.nets = {n: mean([minus(b[n], a[n]) for a, b in fits]) for n in fits[0][0]}

    def look_locally(self, program: Program, data: list[Path]) -> None:
        """A report's true bit is sent half of the time, and hardly another one at epsilon 100."""
        sides = [
            mean([m.tables["lengths"].values
                  for m in (program.fit(p, "seeded", s, 100.0) for s in range(LOCAL_SEEDS))
                  if m.tables])
            for p in data
        ]
        self.added = {"lengths": array("d", map(round, minus(sides[1], sides[0])))}
        self.chosen = ""
        seed = 0
        while not program.fit(data[0], "seeded", seed).tables:
            seed += 1
        self.mechanisms = program.mechanisms("seeded")

    def norm(self, name: str) -> float:
        return math.sqrt(dot(self.added[name], self.added[name]))

    def of_tables(self, tables: dict[str, Table], deviation: dict[str, float]) -> float:
        """Its log likelihood ratio. A table of another shape says nothing."""
        total = 0.0
        for name, added in self.added.items():
            if name not in tables:
                continue
            table, there = tables[name], 0.0
            if len(table.values) != len(added):
                continue
            if name in self.tree:  # of a node that is missing nothing is known
                there = dot(self.tree[name].values, added)
            moved = dot(table.values, added) - there
            total += moved / (table.deviation or deviation.get(name, 1)) ** 2
        return total


class Noise:
    """The noise over what is claimed of it: its variance, which is to be 1."""

    def __init__(self, canary: Canary, deviation: dict[str, float]):
        self.canary, self.deviation = canary, deviation
        self.sums: dict[str, tuple[array, array, int]] = {}  # of values and squares, and of fits
        self.tree = [0.0, 0]  # of squares, and of numbers

    def add(self, model: Model) -> None:
        if model.chosen != self.canary.chosen:
            return  # later tables count something else
        for name, table in model.tables.items():
            if name in self.canary.tree:
                self.add_node(table, self.canary.tree[name])
            if name not in self.deviation:
                continue
            zeros = array("d", bytes(8 * len(table.values)))
            one, two, n = self.sums.get(name, (zeros, zeros, 0))
            one = array("d", (s + x for s, x in zip(one, table.values)))
            two = array("d", (s + x * x for s, x in zip(two, table.values)))
            self.sums[name] = one, two, n + 1

    def add_node(self, table: Table, exact: Table) -> None:
        """Which nodes there are depends on their parents' noise, not on their own."""
        off = minus(table.values, exact.values)[:-1]  # where walks end has no noise at the root
        self.tree[0] += dot(off, off) / table.deviation**2
        self.tree[1] += len(off)

    def seen(self) -> dict[str, tuple[float, int]]:
        """Variance over the claim, and how many numbers it is of."""
        made = {}
        for name, (one, two, n) in self.sums.items():
            if n > 1:
                square = sum(b - a * a / n for a, b in zip(one, two))
                count = (n - 1) * len(one)
                made[name] = square / count / self.deviation[name] ** 2, count
        if self.tree[1]:
            made["tree"] = self.tree[0] / self.tree[1], int(self.tree[1])
        return made

    def problems(self) -> list[str]:
        return [
            f"noise of {name} {math.sqrt(square):.4f} of what the certificate says"
            for name, (square, n) in self.seen().items()
            if abs(math.log(square)) > NOISE_ERRORS * math.sqrt(2 / n)
        ]

    def range(self) -> str:
        seen = [math.sqrt(square) for square, _ in self.seen().values()]
        return f"{min(seen):.3f} to {max(seen):.3f}" if seen else "-"


# ---- the test ----


def spread(values: list[float]) -> tuple[float, float]:
    m = sum(values) / len(values)
    return m, math.sqrt(sum((v - m) ** 2 for v in values) / (len(values) - 1)) or 1e-300


class Test:
    """A score of models and a threshold, from fits that are not counted."""

    def __init__(self, canary: Canary, setting: Setting, deviation: dict[str, float]):
        self.canary, self.setting, self.deviation = canary, setting, deviation
        self.direction: dict[str, array] = {}
        self.middle: dict[str, float] = {}
        self.weight: dict[str, float] = {"tables": 1.0}
        self.threshold = 0.0

    def parts(self, model: Model) -> dict[str, float]:
        made = {"tables": self.canary.of_tables(model.tables, self.deviation)}
        return made | {n: self.of_net(model, n) for n in self.direction}

    def of_net(self, model: Model, name: str) -> float:
        """From its mean; as many numbers as there are cells with other choices say nothing."""
        direction = self.direction[name]
        known = name in model.nets and len(model.nets[name]) == len(direction)
        return dot(model.nets[name], direction) - self.middle[name] if known else 0.0

    def score(self, model: Model) -> float:
        parts = self.parts(model)
        return sum(weight * parts[name] for name, weight in self.weight.items())

    def learn(self, sides: list[list[Model]], fits: int) -> None:
        for name, added in self.canary.nets.items():
            nets = [m.nets[name] for side in sides for m in side if name in m.nets]
            lists = [net for net in nets if len(net) == len(added)]
            middle = mean(lists)
            square = mean([array("d", map(mul, o, o)) for o in (minus(x, middle) for x in lists)])
            self.direction[name] = array("d", (a / s if s else 0 for a, s in zip(added, square)))
            self.middle[name] = dot(middle, self.direction[name])
        if self.direction:
            for name in ("tables", *self.direction):
                (m0, s0), (m1, s1) = (spread([self.parts(m)[name] for m in s]) for s in sides)
                self.weight[name] = max(m1 - m0, 0) / (s0**2 + s1**2)
        scores = [[self.score(model) for model in side] for side in sides]
        self.threshold = self.best(scores, fits)

    def best(self, scores: list[list[float]], fits: int) -> float:
        """Where it is expected to show most: by counts for bits, by Gaussians for the rest."""
        (m0, s0), (m1, s1) = map(spread, scores)

        def by_counts(t: float) -> float:
            fired = [sum(x > t for x in side) for side in scores]
            return audited_epsilon(fired[1], fired[0], len(scores[0]))

        def by_gaussians(t: float) -> float:
            hits, alarms = normal((m1 - t) / s1), normal((m0 - t) / s0)
            return audited_epsilon(round(fits * hits), round(fits * alarms), fits)

        if self.setting.local:
            values = sorted({x for side in scores for x in side})
            return max(((a + b) / 2 for a, b in zip(values, values[1:])), key=by_counts)
        return max((m0 + s0 * i / 20 for i in range(-40, 81)), key=by_gaussians)


class Audit:
    def __init__(self, asked: argparse.Namespace, setting: Setting, where: Path):
        self.asked, self.setting = asked, setting
        self.program, self.seed = Program(asked, setting, where), FIRST_SEED
        self.data = write_data(setting, where)
        self.canary = Canary(self.program, setting, self.data, asked.fits >= POWER_FITS)
        self.claimed = self.canary.mechanisms
        self.clip = {m["name"]: m["sensitivity"] for m in self.claimed}
        self.deviation = {
            m["name"]: m["sensitivity"] * m["sigma"] for m in self.claimed if m["kind"] != "local"
        }

    def fits(self, n: int) -> Iterator[tuple[int, Model]]:
        """n without (0) and n with (1) the canary, some at a time, each in its own files."""
        sides = [0, 1] * n
        with ThreadPoolExecutor(self.asked.jobs) as pool:
            for first in range(0, len(sides), self.asked.jobs):
                part = sides[first : first + self.asked.jobs]
                made = [
                    pool.submit(self.program.fit, self.data[side], f"fit{i}",
                                None if self.asked.secret else self.seed + i)
                    for i, side in enumerate(part)
                ]
                self.seed += len(part)
                yield from zip(part, (fit.result() for fit in made))

    def run(self) -> tuple[list[str], list[str]]:
        """The cells of the table's row, and what is wrong."""
        noise, test, fits = Noise(self.canary, self.deviation), None, self.asked.fits
        if fits >= POWER_FITS:
            test = Test(self.canary, self.setting, self.deviation)
            sides: list[list[Model]] = [[], []]
            for side, model in self.fits(CALIBRATION_FITS):
                sides[side].append(model)
            test.learn(sides, fits)
        fired = [0, 0]
        for side, model in self.fits(fits):
            fired[side] += test is not None and test.score(model) > test.threshold
            if side == 0:
                noise.add(model)
        return self.judge(fired, noise)

    def judge(self, fired: list[int], noise: Noise) -> tuple[list[str], list[str]]:
        fits = self.asked.fits
        claim, found = self.program.claim(self.claimed), audited_epsilon(fired[1], fired[0], fits)
        problems = noise.problems()
        for name in self.canary.added.keys() & self.clip.keys():
            clip = self.clip[name] * (math.sqrt(2) if self.setting.local else 1)
            if self.canary.norm(name) > clip * (1 + 1e-9):
                problems.append(f"the canary moves '{name}' beyond its clip of {clip}")
        if found > claim:
            problems.append(f"the audit finds epsilon {found:.4f} where {claim:.4f} is claimed")
        row = [self.setting.method, self.setting.unit, f"{claim:.3f}"]
        row += ["-", "-", "-"] if fits < POWER_FITS else [
            f"{fired[1]}, {fired[0]}", f"{found:.3f}", f"{found / claim:.2f}"]
        return [*row, noise.range()], problems


def options() -> argparse.Namespace:
    soak = int(os.environ.get("DPLOC_SOAK") or 1)
    parser = argparse.ArgumentParser(description="Audits every method and unit from outside.")
    parser.add_argument("dploc")
    parser.add_argument("settings", nargs="*", help="bridge/trip, sglt/user, ...; all if none")
    parser.add_argument("--shim", help="a library that makes fsync do nothing; preloaded")
    fits = LONG_FITS if soak > 1 else QUICK_FITS
    parser.add_argument("--fits", type=int, default=fits, help="on each side")
    parser.add_argument("--secret", action="store_true", default=soak > 1, help="as a private run")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_intermixed_args()


def main() -> int:
    asked, bad = options(), 0
    print(f"{asked.fits} fits on each side, epsilon at delta {AUDIT_DELTA:g}\n")
    print("| method | unit | claim | fired with, without | at least | of the claim | noise |")
    print("|---|---|---|---|---|---|---|")
    for setting in SETTINGS:
        if asked.settings and f"{setting.method}/{setting.unit}" not in asked.settings:
            continue
        if setting.local and asked.fits < POWER_FITS:
            continue
        with tempfile.TemporaryDirectory() as where:
            row, problems = Audit(asked, setting, Path(where)).run()
        print(f"| {' | '.join(row)} |", flush=True)
        for problem in problems:
            print(f"FAILED: {setting.method}, {setting.unit}: {problem}")
        bad += len(problems)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
