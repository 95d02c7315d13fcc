"""A fit in rounds on Dask, on the calls of dploc.rounds.

    python dask_fit.py DATA MODEL SHARDS            a file that all workers can read

Every worker reads the file and keeps the units of its shard, cleaned, in its memory; only sums reach
the driver. A worker that dies is replaced: its task is a function of the plan and the file.
"""

import os
import sys
import tempfile

from dask.distributed import Client, LocalCluster

from dploc import rounds


def clean(task, data, shard, shards):
    return task.clean(data, shard, shards)


def count(task, cleaned):
    return task.count(cleaned)


def merge(parts):
    return rounds.merge(parts)


def fit(client, data, output, shards, **options):
    with tempfile.TemporaryDirectory() as folder:
        plan, key = rounds.begin(folder, **options)
        task = rounds.Task(plan, key)
        cleaned = [client.submit(clean, task, data, shard, shards, pure=False)
                   for shard in range(shards)]
        number = 0
        while plan is not None:
            number += 1
            task = rounds.Task(plan, key)
            parts = [client.submit(count, task, part, pure=False) for part in cleaned]
            while len(parts) > 1:  # a tree: no machine holds more than eight vectors
                parts = [client.submit(merge, parts[i:i + 8], pure=False)
                         for i in range(0, len(parts), 8)]
            plan = rounds.proceed(folder, number, parts[0].result())
        model = rounds.plan_path(folder, number + 1)
        for ending in ("", ".certificate.json", ".manifest.json", ".PRIVATE.json"):
            os.replace(f"{model}{ending}", f"{output}{ending}")


if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            fit(client, sys.argv[1], sys.argv[2], int(sys.argv[3]), region="simulated", cell=2000,
                epsilon=4, ledger=None, quiet=True)
