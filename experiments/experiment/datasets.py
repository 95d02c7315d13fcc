"""The data sets: files of DPLOC_DATA, parts of them, and made-up cities."""
from __future__ import annotations

import csv
import io
import lzma
import os
import zlib
from pathlib import Path
from typing import Callable

from .runner import Failure, Program, run_process
from .settings import DataSet

# Cities and people that nothing was tuned on: docs/SIMULATE.md and the tests stay with small numbers.
HELD_OUT_CITY, HELD_OUT_SEED = 97, 97


def data_directory() -> Path:
    """The folder of real data that DPLOC_DATA names."""
    given = os.environ.get("DPLOC_DATA")
    if not given or not Path(given).is_dir():
        raise Failure("set DPLOC_DATA to the folder that holds sf/, badhersfeld/ and chengdu/")
    return Path(given)


def simulated(program: Program, made: Path, trips: int, *, delta: float = 2e-7, pace: str = "drive") -> DataSet:
    """A made-up city, written once."""
    name = "simulated" if pace == "drive" else "walkers"
    path = made / f"{name}-{HELD_OUT_CITY}-{HELD_OUT_SEED}-{trips}.csv"
    options = ["--city", str(HELD_OUT_CITY), "--seed", str(HELD_OUT_SEED), "--trips", str(trips), "--pace", pace]
    if not path.exists():
        made.mkdir(parents=True, exist_ok=True)
        code, _, err, _ = run_process([str(program.path), "simulate", *options, "--quiet", "-o", str(path)])
        if code != 0:
            raise Failure(f"dploc simulate ended with {code}: {err.strip()}")
    return DataSet(name, f"a made-up city, {trips:,} trips (`dploc simulate {' '.join(options)}`)", path, ("--region", "simulated"), delta)


def part_of_trips(trips: Path, path: Path, column: str, keep: Callable[[str], bool]) -> Path:
    """The rows whose column is kept, written once."""
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with lzma.open(trips, "rt", encoding="utf-8", newline="") as source, part.open("w", encoding="utf-8", newline="") as target:
        keep_rows(source, target, column, keep)
    part.replace(path)
    return path


def keep_rows(source: io.TextIOBase, target: io.TextIOBase, column: str, keep: Callable[[str], bool]) -> None:
    """Copies the head and the rows that are kept by what stands in the column."""
    reader, writer = csv.reader(source), csv.writer(target, lineterminator="\n")
    head = next(reader)
    at = head.index(column)
    writer.writerow(head)
    writer.writerows(row for row in reader if keep(row[at]))


def san_francisco(data: Path) -> DataSet:
    return DataSet("sf", "San Francisco taxis, all 275 cabs", need(data / "sf" / "sf_trips_dev.csv.xz"), ("--region", "sf"), 5e-6)


def san_francisco_half(data: Path, made: Path, parity: int) -> DataSet:
    word = "odd" if parity else "even"
    trips = need(data / "sf" / "sf_trips_dev.csv.xz")
    path = part_of_trips(trips, made / f"sf-{word}.csv", "taxi_id", lambda cab: int(cab) % 2 == parity)
    return DataSet(f"sf-{word}", f"San Francisco taxis, cabs with {word} taxi_id", path, ("--region", "sf"), 5e-6)


def san_francisco_few(data: Path, made: Path) -> DataSet:
    """One trip in eleven, as if by chance: by a hash of its number."""
    trips = need(data / "sf" / "sf_trips_dev.csv.xz")
    path = part_of_trips(trips, made / "sf-few.csv", "trip_id", lambda trip: zlib.crc32(trip.encode()) % 11 == 0)
    return DataSet("sf-few", "San Francisco taxis, one trip in eleven, 20,000", path, ("--region", "sf"), 2e-6)


def chengdu(data: Path) -> DataSet:
    area = ("--bbox", "30.655,104.043,30.727,104.127", "--tz", "Asia/Shanghai")
    path = need(data / "chengdu" / "chengdu_didi_trips_15s.csv.gz")
    return DataSet("chengdu", "ride-hailing in the middle of Chengdu, 9,900 trips", path, area, 5e-6)


def porto(data: Path) -> DataSet:
    path = need(data / "porto" / "porto_all.csv.gz")
    return DataSet("porto", "Porto taxis, a sample of 9,500 trips", path, ("--region", "porto"), 5e-6)


def bad_hersfeld(data: Path) -> DataSet:
    area = ("--bbox", "50.834,9.625,50.893,9.805", "--tz", "Europe/Berlin")
    return DataSet(
        "badhersfeld", "Bad Hersfeld, a simulated town", need(data / "badhersfeld" / "badhersfeld_trips.csv.xz"), area, 2e-7
    )


def bad_hersfeld_users(data: Path) -> DataSet:
    """The same town with the person as unit, and its period declared."""
    town = bad_hersfeld(data)
    unit = ("--unit", "user", "--dates", "2022-05-02..2022-05-06")
    return DataSet("badhersfeld-users", "Bad Hersfeld, users as units", town.path, town.area, town.delta, unit)


def need(path: Path) -> Path:
    if not path.is_file():
        raise Failure(f"the data is not complete: there is no {path}. DPLOC_DATA must hold what the data's README lists.")
    return path
