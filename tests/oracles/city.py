"""Made-up trips for the oracles: the same numbers as tests/points_test.c draws, by its rule."""

from dataclasses import dataclass
from math import cos, pi, radians, sin

import numpy as np

MASK = (1 << 64) - 1
SLOT_S = 60
CELL_M = 500


def box_m(south: float, west: float, north: float, east: float) -> tuple[float, float]:
    """Width and height on the WGS 84 ellipsoid, at the middle latitude."""
    radius_m, e2, middle = 6378137.0, 0.00669437999014, radians((south + north) / 2)
    flat = 1 - e2 * sin(middle) ** 2
    along, across = radius_m * (1 - e2) / flat**1.5, radius_m / flat**0.5 * cos(middle)
    return (east - west) * across * pi / 180, (north - south) * along * pi / 180


BOX_M = box_m(47.91, 11.37, 48.09, 11.63)  # the region "simulated"
BASE_UTC_S = 1741003200  # 2025-03-03 12:00 UTC, a Monday


class Random:
    """splitmix64, as test_random."""

    def __init__(self, seed: int):
        self.state = seed

    def word(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def uniform(self) -> float:
        return (self.word() >> 11) * 2.0**-53


@dataclass
class Trip:
    xy: np.ndarray  # (n, 2) metres, float32
    utc_s: int
    user: int
    period: int

    @property
    def cells(self) -> list[tuple[int, int]]:
        """(row, column): ordered as the program numbers cells."""
        return [(int(y // CELL_M), int(x // CELL_M)) for x, y in self.xy.astype(float)]


def clamp(value: float) -> float:
    return min(max(value, 0.0), 12000.0)


def make_trip(random: Random, restless_m: float) -> Trip:
    visits = 2 + random.word() % 14
    stop_at = random.word() % 24
    x, y = 2000 + 6000 * random.uniform(), 2000 + 6000 * random.uniform()
    vx, vy = 1200 * (random.uniform() - 0.5), 1200 * (random.uniform() - 0.5)
    points = []
    for v in range(visits):
        points.append((x, y))
        vx = 0.75 * vx + restless_m * (random.uniform() - 0.5)
        vy = 0.75 * vy + restless_m * (random.uniform() - 0.5)
        still = 0.02 if stop_at <= v < stop_at + 4 else 1.0
        x, y = clamp(x + still * vx), clamp(y + still * vy)
    utc_s = BASE_UTC_S + random.word() % (14 * 86400)
    return Trip(np.array(points, dtype=np.float32), utc_s, random.word() % 40, random.word() % 24)


def make_city(seed: int, trips: int, restless_m: float) -> list[Trip]:
    random = Random(seed)
    return [make_trip(random, restless_m) for _ in range(trips)]
