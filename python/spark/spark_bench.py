"""dploc.spark.fit on two local executors against `dploc fit` with two threads, on the same trips.

    spark_bench.py DPLOC TRIPS       e.g. 10000000; scripts/test_spark.sh has the environment

Both read the same Parquet files, and dploc also the same rows as CSV, which it reads fastest.
Prints processor seconds of all (of Spark's processes: driver, executors, their Pythons), wall
seconds, and the ratios; fails when the models are not the same bytes. DPLOC_DUCKDB: see dploc.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy
import pyarrow
import pyarrow.csv
import pyarrow.parquet

from spark_test import FOLDER, Cluster, session_on
from dploc import rounds, spark

POINTS = 5  # a trip, a minute apart
AT_ONCE = 250_000
AREA = {"region": "simulated", "cell": 1000}
OPTIONS = {**AREA, "ledger": None, "insecure_seed": 5, "quiet": True}


def some_trips(random, first, n):
    """Walks over the made-up city's box."""
    step = .008 * (random.random((2, n, POINTS)) - .5)
    step[:, :, 0] = numpy.array([47.95, 11.45])[:, None] + .2 * random.random((2, n))
    lat, lon = numpy.cumsum(step, axis=2).round(5)
    begin = 1740984000 + random.integers(0, 600000, n)
    trip = numpy.arange(first, first + n)
    return pyarrow.table({
        "trip_id": trip.repeat(POINTS), "user_id": (trip % 250_000).repeat(POINTS),
        "timestamp": (begin[:, None] + 60 * numpy.arange(POINTS)).ravel(),
        "lat": lat.ravel(), "lon": lon.ravel()})


def write_trips(folder, trips):
    """The same rows as Parquet, for Spark, and as CSV, which dploc reads fastest."""
    random = numpy.random.default_rng(7)
    os.mkdir(f"{folder}/parquet")
    with open(f"{folder}/trips.csv", "wb") as csv:
        for first in range(0, trips, AT_ONCE):
            table = some_trips(random, first, min(AT_ONCE, trips - first))
            pyarrow.parquet.write_table(table, f"{folder}/parquet/{first:09}.parquet")
            pyarrow.csv.write_csv(table, csv, pyarrow.csv.WriteOptions(
                include_header=first == 0, quoting_style="none"))


def fit_alone(dploc, folder, data):
    """Processor and wall seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([dploc, "fit", f"{folder}/{data}", "--region", AREA["region"], "--cell",
                    str(AREA["cell"]), "--ledger", "none", "--insecure-seed", "5", "--threads", "2",
                    "--quiet", "--force", "-o", f"{folder}/alone.dploc"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - began


def processor_s(sessions):
    """What all living processes of these sessions, and those they waited for, have used so far."""
    ticks = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) in sessions:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def wait_for_executors(session):
    """The cluster is there before the fit, as it is where people have one."""
    status = session.sparkContext._jsc.sc().getExecutorMemoryStatus
    while status().size() < 3:  # the driver is one of them
        time.sleep(0.1)


def fit_on_spark(folder, trips):
    cluster = Cluster(folder)
    try:
        session = session_on(cluster)
        wait_for_executors(session)
        sessions = {os.getsid(0), *(process.pid for process in cluster.processes)}
        before, began = processor_s(sessions), time.monotonic()
        spark.fit(f"{folder}/parquet/*", session=session, shards=max(8, trips // 150_000),
                  output=f"{folder}/spark.dploc", **OPTIONS)
        used = processor_s(sessions) - before, time.monotonic() - began
        session.stop()
        return used
    finally:
        cluster.stop()


class Here:
    """A broadcast of one process."""

    def __init__(self, value):
        self.value = value


def without_engine(path, shards=8):
    """Processor seconds of what Spark's workers do with one file, by stage, in this process."""
    folder = tempfile.mkdtemp(dir=FOLDER.name)
    plan, key = rounds.begin(folder, **OPTIONS)
    task, used, began = rounds.Task(plan, key), {}, time.process_time()
    with pyarrow.parquet.ParquetFile(path) as file:
        bundler = spark.Bundler(Here(task), file.schema_arrow.names, shards)
        rows = file.iter_batches(spark.ROWS_AT_ONCE, columns=bundler.columns, use_threads=False)
        bundles = list(bundler.bundles(rows, 0))
    used["set_apart"], began = time.process_time() - began, time.process_time()
    cleaned = list(spark.clean_bundles(bundles, task, shards))
    used["clean"] = time.process_time() - began
    used["count"], number = 0, 0
    while plan is not None:
        task, number, began = rounds.Task(plan, key), number + 1, time.process_time()
        sums = rounds.merge([task.count(content) for content in cleaned])
        used["count"] += time.process_time() - began
        plan = rounds.proceed(folder, number, sums)
    return used


def report(name, value, goal=None):
    """A ratio; whether it is at most the goal."""
    good = goal is None or value <= goal
    verdict = "" if goal is None else f"goal <= {goal:g} {'ok' if good else 'MISSED'}"
    print(f"{name:<36} {value:10.2f} {'times':<10} {verdict}".rstrip())
    return good


def content(path):
    with open(path, "rb") as file:
        return file.read()


def main(dploc, trips):
    folder = FOLDER.name
    write_trips(folder, trips)
    used = {"dploc fit": fit_alone(dploc, folder, "parquet"),
            "dploc fit of CSV": fit_alone(dploc, folder, "trips.csv"),
            "Spark": fit_on_spark(folder, trips)}
    alone, of_csv, on_spark = used.values()
    print(f"# {trips} trips, {POINTS * trips} points")
    for name, (processor, wall) in used.items():
        print(f"# {name}: {processor:.1f} s processor, {wall:.1f} s wall")
    if content(f"{folder}/alone.dploc") != content(f"{folder}/spark.dploc"):
        sys.exit("the models differ")
    points = POINTS * min(trips, AT_ONCE)
    without_engine(f"{folder}/parquet/{0:09}.parquet")  # imports what there is to import
    for stage, used in without_engine(f"{folder}/parquet/{0:09}.parquet").items():
        print(f"{'spark_without_engine_' + stage:<36} {used / points * 1e9:10.1f} ns/point")
    report("spark_over_fit_of_csv_processor", on_spark[0] / of_csv[0])
    report("spark_over_fit_of_csv_wall", on_spark[1] / of_csv[1])
    good = [report("spark_over_fit_processor", on_spark[0] / alone[0], 2),
            report("spark_over_fit_wall", on_spark[1] / alone[1], 2)]
    sys.exit(not all(good))


if __name__ == "__main__":
    os.setsid() if os.getpid() != os.getsid(0) else None
    main(sys.argv[1], int(sys.argv[2]))
