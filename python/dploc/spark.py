"""Fits and samples on Spark: trips stay with the executors, and only sums reach the driver.

    from dploc import spark
    model = spark.fit(df, region="sf", epsilon=1, trip_column="trip", user_column="driver")
    trips = spark.sample(session, model, 1_000_000, seed=7)

The same key gives the same model as dploc.fit on one machine. Needs pyspark and pyarrow; dploc must
be installed where executors run. docs/SCALE.md says what is checked and what is where.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from typing import Any, Iterator

from . import rounds
from .core import Model
from .errors import UsageError

ROWS_AT_ONCE = 1 << 19  # that a task sets apart by shard: about 20 MB
SUMS_AT_ONCE = 16  # that the driver takes


def unit_name(df: Any, task: rounds.Task) -> str:
    """The column of units: as the options say, or by the names that the reader knows."""
    named = task.unit_column
    known = ("user_id", "uid", "user", "userid") if task.by_user else ("trip_id", "tid", "trip",
                                                                      "tripid")
    for name in [named] if named else known:
        for column in df.columns:
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
    order = numpy.argsort(shard, kind="stable")
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


def with_shards(df: Any, task: Any, unit: str, shards: int) -> Any:
    """Rows in bundles of one shard, all bundles of a shard in one partition. PRIVATE.

    The engine moves a few large values instead of many rows. `place` keeps the rows' order, so that
    those of a trip stay together, for which the reader is made.
    """
    schema = "shard int, place long, rows binary"

    def bundle(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext
        place = (TaskContext.get().partitionId() if TaskContext.get() else 0) << 32
        for table in in_tables(batches, ROWS_AT_ONCE):
            ids = id_texts(table[unit].combine_chunks())
            for shard, rows in split(table, task.value.shards(ids, shards).astype("int32")):
                yield record(schema, [shard], [place], [written(rows)])
            place += 1

    return df.mapInArrow(bundle, schema).repartition(shards, "shard")


def cleaned_shards(bundles: Any, task: Any, shards: int) -> Any:
    """An RDD of shards' trips, cleaned. PRIVATE."""

    def clean(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        found: dict[int, list[tuple[int, Any]]] = {}
        for batch in batches:
            for i in range(batch.num_rows):
                shard, place, rows = (batch.column(k)[i] for k in range(3))
                found.setdefault(shard.as_py(), []).append((place.as_py(), rows.as_buffer()))
        for shard in sorted(found):
            rows = sorted(found.pop(shard), key=lambda bundle: bundle[0])
            table = pyarrow.concat_tables(pyarrow.ipc.open_stream(one).read_all()
                                          for _, one in rows)
            yield record("cleaned binary", [task.value.clean(table, shard, shards)])

    return bundles.mapInArrow(clean, "cleaned binary").rdd.map(lambda row: bytes(row.cleaned))


def summed(cleaned: Any, task: Any, tasks: int) -> bytes | None:
    """All shards counted for the round, in so many tasks, and merged; None: there are none."""

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


def fit(df: Any, shards: int | None = None, folder: Any = None, output: Any = None,
        **options: Any) -> Model:
    """Fits a model to the points of a Spark DataFrame, one a row; the keywords are those of
    dploc.fit.

    `shards`: how many pieces trips are cleaned and counted in (four a core); one is in a Python
    worker's memory at a time. `folder`: where plans and the checkpoint, which holds the key of the
    noise, are kept on the driver, so that a fit that was stopped can be looked at; a temporary one
    if it is left out. `output`: where the model is written.
    """
    from pyspark import StorageLevel
    context = df.sparkSession.sparkContext
    tasks = max(4 * context.defaultParallelism, 1)
    shards = shards or tasks
    with tempfile.TemporaryDirectory(prefix="dploc-rounds-") as own:
        place = os.fspath(folder or own)
        more = {name: options[name] for name in ("new_data", "total_epsilon", "total_delta")
                if name in options}
        plan: bytes | None
        plan, key = rounds.begin(place, **options)
        task = context.broadcast(rounds.Task(plan, key))
        unit = unit_name(df, task.value)
        df = df.select([f"`{name}`" for name in task.value.columns(df.columns)])
        bundles = with_shards(df, task, unit, shards)
        cleaned = cleaned_shards(bundles, task, shards).persist(StorageLevel.DISK_ONLY)
        number = 0
        try:
            while plan is not None:
                number += 1
                task = context.broadcast(rounds.Task(plan, key))
                sums = whole(summed(cleaned, task, tasks), task.value, shards, df.columns)
                plan = rounds.proceed(place, number, sums, **more)
        finally:
            cleaned.unpersist()
        return finished(rounds.plan_path(place, number + 1), output)


def finished(path: Any, output: Any) -> Model:
    """The model, at its place if it has one."""
    if output is not None:
        for ending in ("", ".certificate.json", ".manifest.json", ".PRIVATE.json"):
            os.replace(f"{path}{ending}", f"{os.fspath(output)}{ending}")
        path = output
    return Model(path)


def sample(session: Any, model: Model, trips: int, seed: int | None = None,
           blocks: int | None = None, **options: Any) -> Any:
    """Draws synthetic trips as a Spark DataFrame; with the same seed the rows that model.sample
    draws on one machine, whatever the number of blocks."""
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
                    yield from here.sample(block=(block + 1, blocks), **options).to_batches()

    first = model.sample(**{**options, "trips": 1})
    from pyspark.sql.pandas.types import from_arrow_schema
    return session.range(blocks, numPartitions=blocks).mapInArrow(
        draw, from_arrow_schema(first.schema))


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
