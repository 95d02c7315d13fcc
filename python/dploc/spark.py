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
import shutil
import tempfile
from typing import Any, Iterator

from . import rounds
from .core import Model
from .errors import UsageError
from .library import Run, bytes_of

SHARD = "_dploc_shard"


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


def id_text(df: Any, name: str) -> Any:
    """Ids as the reader knows them: 7, 7.0 and "7" are one id."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import DoubleType, FloatType
    column = F.col(f"`{name}`")
    if isinstance(df.schema[name].dataType, (DoubleType, FloatType)):
        column = F.when(column == F.floor(column), column.cast("long").cast("string")) \
            .otherwise(column.cast("string"))
    return F.coalesce(column.cast("string"), F.lit(""))


def with_shards(df: Any, task: Any, name: str, shards: int) -> Any:
    """The rows with the shard of their unit, a shard's rows in one partition."""
    from pyspark.sql.types import IntegerType, StructField, StructType
    rows = df.withColumn(SHARD, id_text(df, name))
    schema = StructType([*df.schema.fields, StructField(SHARD, IntegerType())])

    def mark(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        for batch in batches:
            ids = batch.column(batch.num_columns - 1)
            shard = pyarrow.array(task.value.shards(ids, shards).astype("int32"))
            yield pyarrow.RecordBatch.from_arrays([*batch.columns[:-1], shard],
                                                  names=schema.names)

    return rows.mapInArrow(mark, schema).repartition(shards, SHARD)


def cleaned_shards(df: Any, task: Any, shards: int) -> Any:
    """One row a shard: its number, and its trips cleaned. PRIVATE."""

    def clean(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        kept = [batch for batch in batches if batch.num_rows]
        if not kept:
            return
        table = pyarrow.Table.from_batches(kept)
        for shard in sorted(set(table[SHARD].to_pylist())):
            mask = pyarrow.compute.equal(table[SHARD], shard)
            trips = table.filter(mask).drop_columns([SHARD])
            content = task.value.clean(trips, shard, shards)
            yield pyarrow.RecordBatch.from_arrays(
                [pyarrow.array([shard], "int32"), pyarrow.array([content], pyarrow.binary())],
                names=["shard", "cleaned"])

    return df.mapInArrow(clean, "shard int, cleaned binary")


def summed(cleaned: Any, task: Any) -> bytes | None:
    """All shards counted for the round, and merged in a tree; None: there are none."""

    def count(rows: Iterator[Any]) -> Iterator[bytes]:
        parts = [task.value.count(bytes(row.cleaned)) for row in rows]
        if parts:
            yield rounds.merge(parts)

    try:
        return bytes(cleaned.rdd.mapPartitions(count).treeReduce(lambda a, b: rounds.merge([a, b])))
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
    if output is not None:  # before anything is spent
        with Run(progress="none") as run:
            run.call("dpl_fit_check_path", bytes_of(output), True)
    shards = shards or max(4 * context.defaultParallelism, 1)
    with tempfile.TemporaryDirectory(prefix="dploc-rounds-") as own:
        place = os.fspath(folder or own)
        more = {name: options[name] for name in ("new_data", "total_epsilon", "total_delta")
                if name in options}
        plan: bytes | None
        plan, key = rounds.begin(place, **options)
        task = context.broadcast(rounds.Task(plan, key))
        rows = with_shards(df, task, unit_name(df, task.value), shards)
        cleaned = cleaned_shards(rows, task, shards).persist(StorageLevel.DISK_ONLY)
        number = 0
        try:
            while plan is not None:
                number += 1
                task = context.broadcast(rounds.Task(plan, key))
                sums = whole(summed(cleaned, task), task.value, shards, df.columns)
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
