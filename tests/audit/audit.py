#!/usr/bin/env python3
"""A black-box audit of `dploc fit` through the command line (docs/PRIVACY.md, "The audit").

    audit.py DPLOC [--shim nofsync.so] [--fits N] [--secret] [--jobs J]

Fits one small data set N times with a canary trip and N times without it, reads the noised tables
that each model keeps, and asks how well the likelihood ratio of the canary tells the two apart.
What N fits on each side show is a lower bound of epsilon at delta = 0.01 (Clopper and Pearson,
95 %): it must not be above what the certificate's noise gives there, and not so far below that the
audit would see nothing.

By default noise follows from --insecure-seed 5001, 5002, ..., so that the figures are the same on
every run; --secret draws it as a private run does. DPLOC_SOAK above 1 makes it the long form:
10,000 fits on each side, with secret noise.
"""
from __future__ import annotations

import argparse
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

EPSILON, DELTA, TRIPS, VISITS = 4.0, 1e-8, 300, 20
CITY_VISITS = 5  # of a trip but the canary: each fit places such trips, and that takes longest
AUDIT_DELTA = 1e-2
ERROR = 0.05  # the chance that the lower bound is too high
CELL_M, SOUTH, WEST, M_PER_DEG = 500, 48.0, 11.5, 6371008.8 * math.pi / 180
QUICK_FITS, LONG_FITS, CALIBRATION_FITS, FIRST_SEED = 500, 10000, 60, 5001
# The part of the claim that the audit must find; lower, it has no power. To be expected are .42
# (short form, give or take .1) and .805 (long form, give or take .06).
LEAST_SHORT, LEAST_LONG = 0.2, 0.5
NOISE_ERRORS = 6  # standard errors that the size of the noise may be off

Tables = dict[str, tuple[list[int], list[float]]]  # shape and numbers by name
Places = list[tuple[float, float]]


# ---- data: four cells, trips that visit them all; the canary fills the clip of every table ----


def area() -> tuple[str, Places]:
    side_m = 2 * CELL_M - 20  # the grid rounds up
    height = side_m / M_PER_DEG
    width = height / math.cos(math.radians(SOUTH))
    centres = [
        (SOUTH + height * (1 + 2 * (i // 2)) / 4, WEST + width * (1 + 2 * (i % 2)) / 4)
        for i in range(4)
    ]
    return f"{SOUTH},{WEST},{SOUTH + height},{WEST + width}", centres


def rows(trip: int, cells: list[int], centres: Places, begin_s: int) -> str:
    return "".join(
        f"{trip},{begin_s + 60 * i},{centres[cell][0]:.6f},{centres[cell][1]:.6f}\n"
        for i, cell in enumerate(cells)
    )


def city(first: int, centres: Places) -> str:
    text = ""
    for trip in range(TRIPS):
        cells = [(trip + i // 3) % 4 for i in range(CITY_VISITS)]
        text += rows(first + trip, cells, centres, 1741000000 + trip * 577)
    return text


def write_data(where: Path, centres: Places) -> list[Path]:
    """The city, the city with the canary, and the city twice."""
    canary = rows(TRIPS, [0, 1] * (VISITS // 2), centres, 1741003600)
    paths = [where / "without.csv", where / "with.csv", where / "twice.csv"]
    for path, more in zip(paths, ["", canary, city(TRIPS, centres)]):
        path.write_text("trip_id,timestamp,lat,lon\n" + city(0, centres) + more)
    return paths


# ---- the program ----


class Program:
    def __init__(self, dploc: str, shim: str | None, where: Path):
        self.where = where
        self.words = [dploc, "fit", "--bbox", area()[0], "--tz", "UTC", "--periods", "1"]
        self.words += ["--size", str(TRIPS), "--delta", f"{DELTA}", "--ledger", "none"]
        self.words += ["--threads", "1", "--quiet", "--force"]
        self.environment = dict(os.environ, OMP_NUM_THREADS="1")
        if shim:
            self.environment["LD_PRELOAD"] = shim

    def fit(self, data: Path, name: str, *more: str) -> Tables:
        """The noised tables of the model."""
        model = self.where / f"{name}.dploc"
        words = [*self.words, str(data), "-o", str(model), *more]
        done = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            sys.exit(f"'{' '.join(words)}' ended with {done.returncode}: {done.stderr.strip()}")
        return read_tables(model)

    def claimed(self, name: str) -> dict[str, tuple[float, float]]:
        """Sensitivity, and noise over sensitivity, as the certificate has them."""
        certificate = json.loads((self.where / f"{name}.dploc.certificate.json").read_text())
        return {m["name"]: (m["sensitivity"], m["sigma"]) for m in certificate["mechanisms"]}


def read_tables(model: Path) -> Tables:
    content = model.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    tables = {}
    for name, entry in json.loads(content[8 : 8 + length]).items():
        if not name.startswith("noised."):
            continue
        begin, end = entry["data_offsets"]
        values = struct.unpack_from(f"<{(end - begin) // 8}d", content, 8 + length + begin)
        tables[name.removeprefix("noised.")] = (entry["shape"], list(values))
    return tables


# ---- statistics ----


def normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Of one Gaussian mechanism with sensitivity over noise mu (Balle and Wang 2018)."""
    low, high = 0.0, 100.0
    for _ in range(200):
        epsilon = (low + high) / 2
        rest = normal(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal(-mu / 2 - epsilon / mu)
        low, high = (epsilon, high) if rest > delta else (low, epsilon)
    return high


def binomial_tail(k: int, n: int, p: float) -> float:
    """P(X >= k)."""
    if k <= 0:
        return 1.0
    if p <= 0 or p >= 1:
        return float(p >= 1)
    choices = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    part = math.exp(choices + k * math.log(p) + (n - k) * math.log1p(-p))
    total = 0.0
    for i in range(k, n + 1):
        total += part
        part *= (n - i) / (i + 1) * p / (1 - p)
        if part < total * 1e-17:
            break
    return min(total, 1.0)


def lower_chance(k: int, n: int, error: float) -> float:
    """Clopper and Pearson: under a lower chance, k or more of n are less likely than `error`."""
    low, high = 0.0, k / n
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if binomial_tail(k, n, middle) < error else (low, middle)
    return low


def upper_chance(k: int, n: int, error: float) -> float:
    return 1 - lower_chance(n - k, n, error)


def audited_epsilon(hits: int, alarms: int, n: int) -> float:
    """From how often the test fires with the canary and without it."""
    hit, alarm = lower_chance(hits, n, ERROR / 2), upper_chance(alarms, n, ERROR / 2)
    return max(0.0, math.log((hit - AUDIT_DELTA) / alarm)) if hit > AUDIT_DELTA else 0.0


def best_threshold(mu: float, n: int) -> float:
    """Where a test of N(0, 1) against N(mu, 1) is expected to show most."""

    def expected(threshold: float) -> float:
        hits, alarms = normal(mu - threshold), normal(-threshold)
        return audited_epsilon(round(n * hits), round(n * alarms), n)

    return max((i / 20 for i in range(-40, 81)), key=expected)


# ---- the audit ----


class Noise:
    """The noise of each table over what the certificate says: mean squares, which are to be 1."""

    def __init__(self, exact: Tables, deviation: dict[str, float]):
        self.exact, self.deviation = exact, deviation
        self.sum, self.n = dict.fromkeys(exact, 0.0), dict.fromkeys(exact, 0)

    def add(self, tables: Tables) -> None:
        for name, (shape, exact) in self.exact.items():
            if tables[name][0] == shape:
                square = sum((y - x) ** 2 for y, x in zip(tables[name][1], exact))
                self.sum[name] += square / self.deviation[name] ** 2
                self.n[name] += len(exact)

    def seen(self, name: str) -> float:
        return math.sqrt(self.sum[name] / self.n[name])

    def problems(self) -> list[str]:
        found = []
        for name, n in self.n.items():
            what = f"noise of {name:18} {self.seen(name):.4f} of what the certificate says"
            print(f"  {what} ({n} numbers)")
            if abs(self.seen(name) ** 2 - 1) > NOISE_ERRORS * math.sqrt(2 / n):
                found.append(what)
        return found


def difference(a: tuple[list[int], list[float]], b: tuple[list[int], list[float]]) -> list[float]:
    if a[0] != b[0]:
        sys.exit("the tables of the small city have no fixed shapes: the audit needs another city")
    return [x - y for x, y in zip(a[1], b[1])]


class Canary:
    """What it adds to each table, and what is there without it.

    Exact: under one seed the noise is the same, so that tables differ by what data was added.
    """

    def __init__(self, program: Program, data: list[Path]):
        options = ["--epsilon", str(EPSILON), "--insecure-seed", "0"]
        without, there, twice = (program.fit(path, "seeded", *options) for path in data)
        self.exact = {n: (without[n][0], difference(twice[n], without[n])) for n in without}
        self.added = {n: difference(there[n], without[n]) for n in without}
        self.deviation: dict[str, float] = {}

    def norm(self, name: str) -> float:
        return math.sqrt(sum(a * a for a in self.added[name]))

    def mu(self) -> float:
        """How far it moves the score."""
        return math.sqrt(sum((self.norm(n) / self.deviation[n]) ** 2 for n in self.added))

    def score(self, tables: Tables) -> float:
        """Its log likelihood ratio, standardised. A table of another shape says nothing."""
        total = 0.0
        for name, added in self.added.items():
            (shape, exact), (found, noised) = self.exact[name], tables[name]
            if found == shape:
                moved = sum((y - x) * a for y, x, a in zip(noised, exact, added))
                total += moved / self.deviation[name] ** 2
        return total / self.mu()


class Audit:
    def __init__(self, asked: argparse.Namespace, where: Path):
        self.asked = asked
        self.program = Program(asked.dploc, asked.shim, where)
        self.data = write_data(where, area()[1])
        self.canary = Canary(self.program, self.data)
        self.claimed = self.program.claimed("seeded")
        self.seed = FIRST_SEED

    def fit(self, side: int, name: str, seed: int) -> Tables:
        noise = [] if self.asked.secret else ["--insecure-seed", str(seed)]
        return self.program.fit(self.data[side], name, "--epsilon", str(EPSILON), *noise)

    def fits(self, sides: list[int]) -> Iterator[tuple[int, Tables]]:
        """With (1) and without (0) the canary, some at a time, each of them in its own files."""
        jobs = self.asked.jobs
        with ThreadPoolExecutor(jobs) as pool:
            for first in range(0, len(sides), jobs):
                part = sides[first : first + jobs]
                names = [f"fit{i}" for i in range(len(part))]
                seeds = range(self.seed, self.seed + len(part))
                yield from zip(part, pool.map(self.fit, part, names, seeds))
                self.seed += len(part)

    def new_noise(self) -> Noise:
        deviation = {name: clip * sigma for name, (clip, sigma) in self.claimed.items()}
        return Noise(self.canary.exact, deviation)

    def calibrate(self) -> float:
        """The threshold, by fits that are not counted: whoever attacks knows the true noise."""
        noise = self.new_noise()
        for _, tables in self.fits([0] * CALIBRATION_FITS):
            noise.add(tables)
        self.canary.deviation = {n: noise.seen(n) * noise.deviation[n] for n in noise.exact}
        return best_threshold(self.canary.mu(), self.asked.fits)

    def judge(self, fired: list[int], noise: Noise) -> list[str]:
        n = self.asked.fits
        mu = math.sqrt(sum(1 / sigma**2 for _, sigma in self.claimed.values()))
        claim, found = gaussian_epsilon(mu, AUDIT_DELTA), audited_epsilon(fired[1], fired[0], n)
        print(f"{n} fits on each side, mu {mu:.4f}:", end=" ")
        print(f"the test fires {fired[1]} times with the canary, {fired[0]} times without")
        print(f"epsilon at delta {AUDIT_DELTA:g} is at least {found:.4f};", end=" ")
        print(f"the claim is {claim:.4f}: {found / claim:.3f} of it")
        problems = noise.problems()
        for name, (clip, _) in self.claimed.items():
            if self.canary.norm(name) > clip:
                problems.append(f"the canary moves '{name}' beyond its clip of {clip}")
        if found > claim:
            problems.append(f"the audit finds epsilon {found:.4f} where {claim:.4f} is claimed")
        least = LEAST_LONG if n >= LONG_FITS else LEAST_SHORT if n >= QUICK_FITS else 0
        if found < least * claim:
            problems.append(f"the audit has lost its power: {least} of the claim is the least")
        return problems

    def run(self) -> list[str]:
        threshold, noise, fired = self.calibrate(), self.new_noise(), [0, 0]
        for side, tables in self.fits([0, 1] * self.asked.fits):
            fired[side] += self.canary.score(tables) > threshold
            if side == 0:
                noise.add(tables)
        return self.judge(fired, noise)


def options() -> argparse.Namespace:
    soak = int(os.environ.get("DPLOC_SOAK") or 1)
    parser = argparse.ArgumentParser(description="Audits dploc fit from outside (docs/PRIVACY.md).")
    parser.add_argument("dploc")
    parser.add_argument("--shim", help="a library that makes fsync do nothing; preloaded")
    fits = LONG_FITS if soak > 1 else QUICK_FITS
    parser.add_argument("--fits", type=int, default=fits, help="on each side")
    parser.add_argument("--secret", action="store_true", default=soak > 1, help="as a private run")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def main() -> int:
    asked = options()
    with tempfile.TemporaryDirectory() as where:
        problems = Audit(asked, Path(where)).run()
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
