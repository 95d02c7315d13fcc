"""The data sets: files of DPLOC_DATA, parts of them, and made-up cities."""
from __future__ import annotations

import csv
import io
import lzma
import os
from pathlib import Path

from .runner import Failure, Program, run_process
from .settings import DataSet

# Cities and people that nothing was tuned on: docs/SIMULATE.md and the tests stay with small numbers.
HELD_OUT_CITY, HELD_OUT_SEED = 97, 97


def data_directory(root: Path) -> Path:
    """DPLOC_DATA, or ../shared/data beside the project."""
    given = os.environ.get("DPLOC_DATA")
    path = Path(given) if given else root.parent / "shared" / "data"
    if not path.is_dir():
        raise Failure(
            f"the data is not there: {path} is no directory. Set DPLOC_DATA to the directory that holds sf/ and badhersfeld/."
        )
    return path


def simulated(
    program: Program, made: Path, trips: int, *, city: int = HELD_OUT_CITY, seed: int = HELD_OUT_SEED, delta: float = 2e-7
) -> DataSet:
    """A made-up city, written once."""
    path = made / f"simulated-{city}-{seed}-{trips}.csv"
    if not path.exists():
        made.mkdir(parents=True, exist_ok=True)
        code, _, err, _ = run_process(
            [
                str(program.path),
                "simulate",
                "--trips",
                str(trips),
                "--city",
                str(city),
                "--seed",
                str(seed),
                "--quiet",
                "-o",
                str(path),
            ]
        )
        if code != 0:
            raise Failure(f"dploc simulate ended with {code}: {err.strip()}")
    return DataSet(
        "simulated",
        f"a made-up city, {trips:,} trips (`dploc simulate --city {city} --seed {seed} --trips {trips}`)",
        path,
        ("--region", "simulated"),
        delta,
    )


def cabs_of(trips: Path, made: Path, parity: int) -> Path:
    """The rows of the cabs with an even (0) or odd (1) taxi_id, written once."""
    path = made / f"sf-{'odd' if parity else 'even'}.csv"
    if path.exists():
        return path
    made.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with lzma.open(trips, "rt", encoding="utf-8", newline="") as source, part.open("w", encoding="utf-8", newline="") as target:
        keep_rows(source, target, parity)
    part.replace(path)
    return path


def keep_rows(source: io.TextIOBase, target: io.TextIOBase, parity: int) -> None:
    """Copies the head and the rows whose taxi_id has this parity."""
    reader, writer = csv.reader(source), csv.writer(target, lineterminator="\n")
    head = next(reader)
    column = head.index("taxi_id")
    writer.writerow(head)
    writer.writerows(row for row in reader if int(row[column]) % 2 == parity)


def san_francisco(data: Path) -> DataSet:
    return DataSet("sf", "San Francisco taxis, all 275 cabs", need(data / "sf" / "sf_trips_dev.csv.xz"), ("--region", "sf"), 5e-6)


def san_francisco_half(data: Path, made: Path, parity: int) -> DataSet:
    word = "odd" if parity else "even"
    path = cabs_of(need(data / "sf" / "sf_trips_dev.csv.xz"), made, parity)
    return DataSet(f"sf-{word}", f"San Francisco taxis, cabs with {word} taxi_id", path, ("--region", "sf"), 5e-6)


def bad_hersfeld(data: Path) -> DataSet:
    area = ("--bbox", "50.834,9.625,50.893,9.805", "--tz", "Europe/Berlin")
    return DataSet(
        "badhersfeld", "Bad Hersfeld, a simulated town", need(data / "badhersfeld" / "badhersfeld_trips.csv.xz"), area, 2e-7
    )


def need(path: Path) -> Path:
    if not path.is_file():
        raise Failure(f"the data is not complete: there is no {path}. DPLOC_DATA must hold what the data's README lists.")
    return path
