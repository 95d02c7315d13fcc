"""From data of any kind to the library's trips."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import warnings
from typing import Any

from . import _abi
from .arrow import Columns
from .errors import DplocError
from .frames import open_stream, paths_of
from .library import Owned, Run, lib, text_of

TRIP_AND_USER = 2  # of the columns that a reading names, in this order


class Trips(Owned):
    """Trips of the library's, with what they are read from."""

    keep: Any = None


def open_trips(run: Run, data: Any, read: Any) -> Trips:
    """Trips in files, or in a frame; `read` and the data are kept with them."""
    paths = paths_of(data)
    if paths is not None:
        return open_files(run, paths, read)
    roles = Roles(run, read)
    stream, keep = open_stream(data, roles)
    made = ctypes.c_void_p()
    run.call("dpl_trips_from_arrow", ctypes.byref(stream), ctypes.byref(read), ctypes.byref(made))
    trips = Trips(made.value or 0, "dpl_trips_free")
    trips.keep = (keep, read)
    return trips


def offer_duckdb(paths: list[str]) -> None:
    """Parquet is read by DuckDB's library: where the package is installed, its own will do."""
    if os.environ.get("DPLOC_DUCKDB") or not any(
            path.endswith("parquet") or path.startswith("sql:") for path in paths):
        return
    found = importlib.util.find_spec("_duckdb")
    if found is not None and found.origin:
        importlib.import_module("_duckdb")  # brings what the library needs
        os.environ["DPLOC_DUCKDB"] = found.origin


def open_files(run: Run, paths: list[str], read: Any) -> Trips:
    offer_duckdb(paths)
    names = (ctypes.c_char_p * len(paths))(*(path.encode() for path in paths))
    made = ctypes.c_void_p()
    run.call("dpl_trips_open", names, len(paths), ctypes.byref(read), ctypes.byref(made))
    trips = Trips(made.value or 0, "dpl_trips_free")
    trips.keep = (names, read)
    return trips


class Facts(Owned):
    """What was read, exactly. NOT PRIVATE."""

    @property
    def read(self) -> Any:
        return _abi.dpl_read_facts.from_address(self.pointer)


def clean(run: Run, trips: Owned, area: Any) -> tuple[Owned | None, Facts]:
    """Trips on the area's grid (None without an area), and the facts, also of a failure."""
    cleaned, facts = ctypes.c_void_p(), ctypes.c_void_p()
    status = run.waited(lib.dpl_clean, run.pointer, trips.pointer,
                        ctypes.byref(area) if area is not None else None, ctypes.byref(cleaned),
                        ctypes.byref(facts))
    found = Facts(facts.value or 0, "dpl_read_facts_free")
    made = Owned(cleaned.value, "dpl_cleaned_free") if cleaned.value else None
    run.check(status)
    return made, found


class Roles:
    """Which columns of a frame the library will look at, so that no others are converted."""

    def __init__(self, run: Run, read: Any):
        self.run, self.read = run, read

    def of(self, names: list[str]) -> list[str]:
        """The library is asked with a table that has these columns and no rows."""
        import numpy
        none = numpy.zeros(1, "int32")
        table = Columns({name: ("u", [None, none, none]) for name in names}, 0)
        stream, trips = table.stream(), ctypes.c_void_p()
        with Run(threads=1, progress="none") as run:
            status = lib.dpl_trips_from_arrow(run.pointer, ctypes.byref(stream),
                                              ctypes.byref(self.read), ctypes.byref(trips))
            run.check(status)
            _, facts = ask(run, Trips(trips.value or 0, "dpl_trips_free"))
        return [text_of(name.value) for name in facts.read.reading.column if name.value]

    def warn_of_floats(self, kinds: dict[str, str]) -> None:
        """Ids that are floats were whole numbers once, before one was missing."""
        for name in self.ids(list(kinds)):
            if kinds[name] in "fg":
                warnings.warn(f"the ids in column '{name}' are numbers with a fraction, which "
                              "packages make of whole ones when one is missing; from 2^53 on "
                              "they are rejected. Load the column as text or Int64", stacklevel=4)

    def ids(self, names: list[str]) -> list[str]:
        named = [self.read.trip_column, self.read.user_column]
        wanted = {text_of(one) for one in named if one} | {"tid", "uid", "trip_id", "user_id"}
        return [name for name in names if name in wanted]


def ask(run: Run, trips: Trips) -> tuple[None, Facts]:
    """The facts of a table without rows, which is an error otherwise."""
    facts = ctypes.c_void_p()
    lib.dpl_clean(run.pointer, trips.pointer, None, None, ctypes.byref(facts))
    if not facts.value:
        raise DplocError(text_of(lib.dpl_run_message(run.pointer)))
    return None, Facts(facts.value, "dpl_read_facts_free")
