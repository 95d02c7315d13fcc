"""Fits and samples on Spark: trips stay with the executors, and only sums reach the driver.

    from dploc import spark
    model = spark.fit(df, region="sf", epsilon=1, trip_column="trip", user_column="driver")
    trips = spark.sample(session, model, 1_000_000, seed=7)

The same key gives the same model as dploc.fit on one machine. Needs pyspark and pyarrow; dploc must
be installed where executors run. docs/SCALE.md says what is checked and what is where.
"""

from __future__ import annotations

import functools
import gc
import glob
import os
import secrets
import shutil
import sys
import tempfile
import warnings
import zipimport
from typing import Any, Callable, Iterable, Iterator

from . import rounds
from .core import Model
from .errors import UsageError
from .library import Run, bytes_of

ROWS_AT_ONCE = 1 << 19  # that a task sets apart by shard: about 20 MB
SUMS_AT_ONCE = 16  # that the driver takes


@functools.cache
def settle_worker() -> None:
    """Once a process. What is imported stays, and need not be looked through for garbage; memory
    that one table has given back is kept for the next one, which pyarrow's own pool does not do."""
    import pyarrow
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    gc.freeze()


def forget_zips() -> None:
    """Importers of zip files, from a cache that Python fills again by itself: before every task
    Spark has each of them read the whole directory of its file, which takes as long as counting."""
    for path, importer in list(sys.path_importer_cache.items()):
        if isinstance(importer, zipimport.zipimporter):
            del sys.path_importer_cache[path]


def worker(task: Callable[[Iterator[Any]], Iterator[Any]]) -> Any:
    """What Python workers do, time after time, without what would take longer than the task."""

    @functools.wraps(task)
    def run(items: Iterator[Any]) -> Iterator[Any]:
        yield from task(items)
        settle_worker()
        forget_zips()

    return run


def unit_name(columns: list[str], task: rounds.Task) -> str:
    """The column of units: as the options say, or by the names that the reader knows."""
    named = task.unit_column
    known = ("user_id", "uid", "user", "userid") if task.by_user else ("trip_id", "tid", "trip",
                                                                      "tripid")
    for name in [named] if named else known:
        for column in columns:
            if column == name or (not named and column.lower() == name):
                return str(column)
    what = "user_column" if task.by_user else "trip_column"
    raise UsageError(f"say which column holds the units: `{what}`")


def id_texts(ids: Any) -> Any:
    """Ids as the reader knows them: 7, 7.0 and "7" are one id, and none is an empty one."""
    import pyarrow
    import pyarrow.compute as compute
    if pyarrow.types.is_floating(ids.type):
        whole = compute.equal(ids, compute.floor(ids))
        texts = compute.if_else(whole, ids.cast("int64", safe=False).cast("large_string"),
                                ids.cast("large_string"))
    else:
        texts = ids.cast("large_string")
    return compute.fill_null(texts, "")


def split(table: Any, shard: Any) -> Iterator[tuple[int, Any]]:
    """The rows of each shard, in their order."""
    import numpy
    narrow = shard.astype("uint16") if shard.max(initial=0) < 1 << 16 else shard
    order = numpy.argsort(narrow, kind="stable")  # of 16 bits: in linear time
    ordered, table = shard[order], table.take(order)
    first = numpy.flatnonzero(numpy.diff(ordered, prepend=-1))
    for begin, end in zip(first, [*first[1:], len(ordered)]):
        yield int(ordered[begin]), table.slice(begin, end - begin)


def written(table: Any) -> bytes:
    """Rows as bytes."""
    import pyarrow
    into = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(into, table.schema) as writer:
        writer.write_table(table)
    return bytes(into.getvalue())


def record(schema: str, *columns: list[Any]) -> Any:
    """One batch of a DataFrame, whose columns are e.g. "shard int, rows binary"."""
    import pyarrow
    kinds = {"int": pyarrow.int32(), "long": pyarrow.int64(), "binary": pyarrow.binary()}
    fields = [field.split() for field in schema.split(", ")]
    return pyarrow.RecordBatch.from_arrays(
        [pyarrow.array(column, kinds[kind]) for column, (_, kind) in zip(columns, fields)],
        names=[name for name, _ in fields])


def in_tables(batches: Iterator[Any], rows_most: int) -> Iterator[Any]:
    """Batches put together: engines send thousands of rows, and splitting has its price."""
    import pyarrow
    kept: list[Any] = []
    for batch in batches:
        kept.append(batch)
        if sum(one.num_rows for one in kept) >= rows_most:
            yield pyarrow.Table.from_batches(kept).combine_chunks()
            kept = []
    if any(one.num_rows for one in kept):
        yield pyarrow.Table.from_batches(kept).combine_chunks()


BUNDLES = "shard int, place long, rows binary"


class Bundler:
    """Sets rows apart in bundles of one shard. PRIVATE.

    The engine then moves a few large values instead of many rows. `place` keeps the rows' order, so
    that those of a trip stay together, for which the reader is made.
    """

    def __init__(self, task: Any, columns: list[str], shards: int):
        self.task, self.shards = task, shards
        self.columns, self.unit = task.value.columns(columns), unit_name(columns, task.value)

    def bundles(self, batches: Iterator[Any], source: int) -> Iterator[tuple[int, int, bytes]]:
        """Shard, place and rows, of batches in memory, of the source so numbered."""
        for number, table in enumerate(in_tables(batches, ROWS_AT_ONCE)):
            for shard, rows in split(table, self.shards_of(table[self.unit].combine_chunks())):
                yield shard, (source << 32) + number, written(rows)

    def shards_of(self, ids: Any) -> Any:
        """The shard of each row's unit, found once for rows of one unit that follow each other."""
        import numpy
        import pyarrow.compute as compute
        runs = compute.run_end_encode(ids)
        shards = self.task.value.shards(id_texts(runs.values), self.shards).astype("int32")
        return numpy.repeat(shards, numpy.diff(runs.run_ends.to_numpy(), prepend=0))

    def of_frame(self, df: Any) -> Any:
        """The bundles of a DataFrame, whose rows the engine reads: an RDD, a shard's in one
        partition."""

        @worker
        def bundle(batches: Iterator[Any]) -> Iterator[Any]:
            from pyspark import TaskContext
            context = TaskContext.get()
            for found in self.bundles(batches, context.partitionId() if context else 0):
                yield record(BUNDLES, *([value] for value in found))

        rows = df.select([f"`{name}`" for name in self.columns]).mapInArrow(bundle, BUNDLES)
        return rows.repartition(self.shards, "shard").rdd

    def of_files(self, context: Any, paths: list[str]) -> Any:
        """The same of Parquet files, a task a file: no row passes through the engine, whose tables
        have no part in it either (they take seconds to get ready)."""

        @worker
        def bundle(numbers: Iterator[int]) -> Iterator[Any]:
            from pyarrow.parquet import ParquetFile
            for number in numbers:
                with ParquetFile(paths[number]) as file:
                    rows = file.iter_batches(ROWS_AT_ONCE, columns=self.columns, use_threads=False)
                    for found in self.bundles(rows, number):
                        yield found[0], found

        numbers = context.parallelize(range(len(paths)), len(paths))
        return numbers.mapPartitions(bundle).partitionBy(self.shards, int).values()


def bundled(data: Any, session: Any, task: Any, shards: int) -> tuple[Any, list[str]]:
    """All bundles of a shard in one partition; and the columns."""
    if not isinstance(data, (str, os.PathLike, list, tuple)):
        bundler = Bundler(task, data.columns, shards)
        return bundler.of_frame(data), bundler.columns
    from pyarrow.parquet import read_schema
    given = data if isinstance(data, (list, tuple)) else [data]
    paths = [path for name in given for path in sorted(glob.glob(os.fspath(name)))]
    if not paths:
        raise UsageError("no file has such a name")
    bundler = Bundler(task, read_schema(paths[0]).names, shards)
    return bundler.of_files(session.sparkContext, paths), bundler.columns


def clean_bundles(bundles: Iterable[Any], task: rounds.Task, shards: int) -> Iterator[bytes]:
    """The trips of each shard that is among the bundles, cleaned. PRIVATE."""
    import pyarrow
    found: dict[int, list[tuple[int, Any]]] = {}
    for shard, place, rows in bundles:
        found.setdefault(shard, []).append((place, rows))
    for shard in sorted(found):
        rows = sorted(found.pop(shard), key=lambda bundle: bundle[0])
        table = pyarrow.concat_tables(pyarrow.ipc.open_stream(one).read_all() for _, one in rows)
        yield task.clean(table, shard, shards)


def cleaned_shards(bundles: Any, task: Any, shards: int) -> Any:
    """An RDD of shards' trips, cleaned. PRIVATE."""

    @worker
    def clean(bundles: Iterator[Any]) -> Iterator[bytes]:
        yield from clean_bundles(bundles, task.value, shards)

    return bundles.mapPartitions(clean)


def summed(cleaned: Any, task: Any, tasks: int) -> bytes | None:
    """All shards counted for the round, in so many tasks, and merged; None: there are none."""

    @worker
    def count(shards: Iterator[bytes]) -> Iterator[bytes]:
        parts = [task.value.count(content) for content in shards]
        if parts:
            yield rounds.merge(parts)

    def both(a: bytes, b: bytes) -> bytes:
        return rounds.merge([a, b])

    sums = cleaned.coalesce(tasks).mapPartitions(count)
    try:  # few sums are added up by the driver, many in a tree
        return bytes(sums.reduce(both) if tasks <= SUMS_AT_ONCE else sums.treeReduce(both))
    except ValueError as error:  # what Spark says of nothing to reduce
        if "empty" not in str(error):
            raise
        return None


def whole(sums: bytes | None, task: rounds.Task, shards: int, columns: list[str]) -> bytes:
    """The sums with the shards that have no rows, which no executor has seen."""
    import pyarrow
    missing = set(range(shards)) - (rounds.shards_of(sums) if sums else set())
    nobody = pyarrow.table({name: pyarrow.array([], pyarrow.string()) for name in columns})
    empty = [task.count(task.clean(nobody, shard, shards)) for shard in sorted(missing)]
    return rounds.merge(([sums] if sums else []) + empty)


def fit(data: Any, shards: int | None = None, folder: Any = None, output: Any = None,
        session: Any = None, **options: Any) -> Model:
    """Fits a model to points, one a row; the keywords are those of dploc.fit.

    `data`: a Spark DataFrame; or, with `session`, names of Parquet files that all executors can
    read, with wildcards or without, which is faster: rows do not pass through the engine.
    `shards`: how many pieces trips are cleaned and counted in (four a core); one is in a Python
    worker's memory at a time. `folder`: where plans and the checkpoint, which holds the key of the
    noise, are kept on the driver, so that a fit that was stopped can be looked at; a temporary one
    if it is left out. `output`: where the model is written.
    """
    from pyspark import StorageLevel
    session = session or data.sparkSession
    context = session.sparkContext
    if context.getConf().get("spark.io.encryption.enabled", "false") != "true":
        warnings.warn("executors' disks will hold rows as they are: spark.io.encryption.enabled "
                      "keeps shuffle files and blocks from being read", stacklevel=2)
    tasks = max(4 * context.defaultParallelism, 1)
    shards = shards or tasks
    if output is not None:  # before anything is spent
        with Run(progress="none") as run:
            run.call("dpl_fit_check_path", bytes_of(output), True)
    with tempfile.TemporaryDirectory(prefix="dploc-rounds-") as own:
        place = os.fspath(folder or own)
        more = {name: options[name] for name in ("new_data", "total_epsilon", "total_delta")
                if name in options}
        plan: bytes | None
        plan, key = rounds.begin(place, **options)
        task = context.broadcast(rounds.Task(plan, key))
        bundles, columns = bundled(data, session, task, shards)
        cleaned = cleaned_shards(bundles, task, shards).persist(StorageLevel.DISK_ONLY)
        number = 0
        try:
            while plan is not None:
                number += 1
                task = context.broadcast(rounds.Task(plan, key))
                sums = whole(summed(cleaned, task, tasks), task.value, shards, columns)
                plan = rounds.proceed(place, number, sums, **more)
        finally:
            cleaned.unpersist()
        return finished(rounds.plan_path(place, number + 1), output, folder is not None)


def finished(path: Any, output: Any, stays: bool) -> Model:
    """The model, at its place if it has one, on whatever disk; else its file may go (`stays`)."""
    if output is not None:
        for ending in ("", ".certificate.json", ".manifest.json", ".PRIVATE.json"):
            shutil.move(f"{path}{ending}", f"{os.fspath(output)}{ending}")
        path = output
    model = Model(path)
    if output is None and not stays:
        model.path = None
    return model


def sample(session: Any, model: Model, trips: int, seed: int | None = None,
           blocks: int | None = None, date_column: str | None = None, **options: Any) -> Any:
    """Draws synthetic trips as a Spark DataFrame; with the same seed the rows that model.sample
    draws on one machine, whatever the number of blocks. `date_column`: the name of one column more,
    with the local day on which a row's trip begins, for write.partitionBy."""
    context = session.sparkContext
    blocks = blocks or max(4 * context.defaultParallelism, 1)
    seed = secrets.randbits(53) if seed is None else seed
    content = context.broadcast(model_bytes(model))
    options = {"frame": "pyarrow", **options, "trips": trips, "seed": seed, "quiet": True,
               "threads": 1}

    def draw(numbers: Iterator[Any]) -> Iterator[Any]:
        with tempfile.NamedTemporaryFile(prefix="dploc-model-") as file:
            file.write(content.value)
            file.flush()
            here = Model(file.name)
            for batch in numbers:
                for block in batch.column(0).to_pylist():
                    drawn = here.sample(block=(block + 1, blocks), **options)
                    yield from with_days(drawn, date_column).to_batches()

    first = with_days(model.sample(**{**options, "trips": 1}), date_column)
    from pyspark.sql.pandas.types import from_arrow_schema
    return session.range(blocks, numPartitions=blocks).mapInArrow(
        draw, from_arrow_schema(first.schema))


def with_days(table: Any, name: str | None) -> Any:
    """The table with a column of the local days on which its trips begin: trips stay whole."""
    import numpy
    import pyarrow
    import pyarrow.compute as compute
    if name is None:
        return table
    keys = [table[key].to_numpy() for key in ("uid", "tid") if key in table.column_names]
    begins = numpy.zeros(table.num_rows, bool)
    begins[:1] = True
    for key in keys:
        begins[1:] |= key[1:] != key[:-1]
    first = numpy.flatnonzero(begins)[numpy.cumsum(begins) - 1]
    days = compute.local_timestamp(table["datetime"]).cast(pyarrow.date32(), safe=False)
    return table.append_column(name, days.take(first))


def model_bytes(model: Model) -> bytes:
    if model.path:
        with open(model.path, "rb") as file:
            return file.read()
    with tempfile.TemporaryDirectory(prefix="dploc-model-") as folder:
        path = os.path.join(folder, "model.dploc")
        model.save(path)
        model.path = None
        with open(path, "rb") as file:
            return file.read()
