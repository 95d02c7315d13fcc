"""A fit in rounds, for programs that spread work over machines: docs/SCALE.md.

    plan, key = begin(folder, region="sf", epsilon=1) driver: nothing is spent
    task = Task(plan, key)                            worker, from here
    cleaned = task.clean(frame, shard, shards)        PRIVATE: good for all rounds of the fit
    part = task.count(cleaned)                        PRIVATE: exact counts
    sums = merge([part, ...])                         in any order, pairwise or all at once
    plan = proceed(folder, sums)                      driver: the next plan, or None at the end

Everything but `begin` and `proceed` is a function of its arguments: tasks may be tried again.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, Iterable

from . import _abi
from .library import Owned, Run, bytes_of, lib
from .options import Keywords, area_options, fit_options, read_options
from .reading import Roles, open_trips


def view_of(content: bytes) -> Any:
    """Bytes for the library, which the caller keeps alive."""
    return _abi.dpl_view(ctypes.cast(ctypes.c_char_p(content), ctypes.c_void_p), len(content))


def taken(made: Any) -> bytes:
    """The library's bytes as Python's; the library's are freed."""
    try:
        return ctypes.string_at(made.data, made.n)
    finally:
        lib.dpl_bytes_free(ctypes.byref(made))


def quiet_run(threads: int = 1) -> Run:
    """A worker says nothing: what it would say stands in the logs of a cluster."""
    return Run(threads=threads, progress="none", quiet=True)


class Task:
    """The plan of one round, as a worker has it."""

    def __init__(self, plan: bytes, key: bytes):
        with quiet_run() as run:
            self._owner = Owned.made(run, "dpl_task_free", "dpl_task_open", view_of(plan),
                                     view_of(key))
        self._files = (plan, key)

    def __reduce__(self) -> Any:
        return Task, self._files

    @property
    def round(self) -> int:
        return int(lib.dpl_task_round(self._owner.pointer))

    @property
    def by_user(self) -> bool:
        """Whether units are users; else trips."""
        return bool(lib.dpl_task_by_user(self._owner.pointer))

    @property
    def _reading(self) -> Any:
        place = lib.dpl_task_reading(self._owner.pointer)
        return ctypes.cast(place, ctypes.POINTER(_abi.dpl_read_options)).contents

    @property
    def unit_column(self) -> str | None:
        """The name of the column of units, where the options give one."""
        read = self._reading
        name = read.user_column if self.by_user else read.trip_column
        return name.decode() if name else None

    def columns(self, names: list[str]) -> list[str]:
        """Those of a table's columns that the library looks at."""
        with quiet_run() as run:
            wanted = Roles(run, self._reading).of(names)
        return [name for name in names if name in wanted]

    def shards(self, ids: Any, shards: int) -> Any:
        """Which shard each unit belongs to: `ids` is an Arrow array of texts, without nulls."""
        import numpy
        import pyarrow
        ids = pyarrow.concat_arrays([ids.cast(pyarrow.large_string())])
        into = numpy.empty(len(ids), "uint32")
        _, offsets, text = ids.buffers()
        first = offsets.address + 8 * ids.offset
        lib.dpl_task_shards(self._owner.pointer,
                            ctypes.cast(text.address if text else 0, ctypes.c_char_p),
                            ctypes.cast(first, ctypes.POINTER(ctypes.c_int64)), len(ids), shards,
                            into.ctypes.data_as(ctypes.POINTER(ctypes.c_uint32)))
        return into

    def clean(self, data: Any, index: int, shards: int, threads: int = 1) -> bytes:
        """The trips of shard `index`, from 0 on, cleaned. PRIVATE."""
        made = _abi.dpl_bytes()
        with quiet_run(threads) as run:
            trips = open_trips(run, data, self._reading)
            run.call("dpl_task_clean", self._owner.pointer, trips.pointer, index, shards,
                     ctypes.byref(made))
        return taken(made)

    def count(self, cleaned: bytes, threads: int = 1) -> bytes:
        """What this round asks of them. PRIVATE."""
        made = _abi.dpl_bytes()
        with quiet_run(threads) as run:
            run.call("dpl_task_count", self._owner.pointer, view_of(cleaned), ctypes.byref(made))
        return taken(made)


def merge(parts: Iterable[bytes]) -> bytes:
    """Parts, or sums of some, added up. PRIVATE."""
    made = _abi.dpl_bytes()
    with quiet_run() as run:
        sums = Owned.made(run, "dpl_sums_free", "dpl_sums_new")
        for part in parts:
            run.call("dpl_sums_add", sums.pointer, b"a part", view_of(part))
        run.call("dpl_sums_make", sums.pointer, ctypes.byref(made))
    return taken(made)


def shards_of(sums: bytes) -> set[int]:
    """The shards that are in it, from 0 on."""
    import json
    length = int.from_bytes(sums[16:24], "little")
    header = json.loads(sums[24:24 + length])
    return {shard for first, last in header["have"] for shard in range(first, last + 1)}


def plan_path(folder: Any, round: int) -> Path:
    return Path(folder, f"round{round}.plan")


def begin(folder: Any, **options: Any) -> tuple[bytes, bytes]:
    """The plan of round 1 and the key that workers need; nothing is spent. `folder` is the fit's
    own: plans, key and checkpoint, which holds the key of the noise, are there."""
    from .core import fit
    keywords = Keywords("fit", options, fit)
    with keywords.run() as run:
        read, area = read_options(keywords), area_options(run, keywords)
        wanted = fit_options(keywords)
        keywords.end()
        path = plan_path(folder, 1)
        run.call("dpl_rounds_begin", ctypes.byref(read), ctypes.byref(area), ctypes.byref(wanted),
                 bytes_of(path), False)
    return path.read_bytes(), Path(f"{path}.key").read_bytes()


def proceed(folder: Any, round: int, sums: bytes, new_data: bool = False, quiet: bool = True,
            total_epsilon: float = 0, total_delta: float = 0) -> bytes | None:
    """Charges, noises, and gives the plan of the next round; None: the model is written, at
    plan_path(folder, round + 1), with its certificate beside it."""
    options = lib.dpl_rounds_defaults()
    options.overwrite, options.new_data = True, new_data
    options.total_epsilon, options.total_delta = total_epsilon, total_delta
    done, path = ctypes.c_bool(), plan_path(folder, round + 1)
    with Run(progress="none" if quiet else "auto", quiet=quiet) as run:
        run.call("dpl_rounds_continue", bytes_of(plan_path(folder, round)), view_of(sums),
                 ctypes.byref(options), bytes_of(path), ctypes.byref(done))
    return None if done.value else path.read_bytes()


def remove(folder: Any) -> None:
    """Deletes what a fit that is done, or given up, has left: plans and the workers' key."""
    for path in Path(folder).glob("round*.plan*"):
        os.unlink(path)
