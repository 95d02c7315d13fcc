#!/usr/bin/env python3
"""What `dploc sample --times` writes is taken by pandas as it is, over a change of clocks, too.

usage: times_test.py DPLOC
"""
import os
import subprocess
import sys
import tempfile

import pandas as pd

DPLOC = os.path.abspath(sys.argv[1])
DAYS = "2025-03-28..2025-04-01"  # Berlin's clocks are put forward on the 30th
ZONE = "Europe/Berlin"


def dploc(*arguments):
    done = subprocess.run([DPLOC, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def written(model, times):
    dploc("sample", model, "--quiet", "--seed", "7", "--times", times, "--date", DAYS,
          "-o", f"{times}.csv")
    return pd.read_csv(f"{times}.csv")


def instants(table, times):
    """The column as instants, read without telling pandas anything that the column does not."""
    parsed = pd.to_datetime(table["datetime"], unit="s" if times == "epoch" else None)
    # One offset: a column of times, not of objects (pandas 2 raises on mixed offsets).
    assert pd.api.types.is_datetime64_any_dtype(parsed.dtype), (times, parsed.dtype)
    if times == "naive":
        parsed = parsed.dt.tz_localize(ZONE)
    return parsed.dt.tz_convert("UTC") if parsed.dt.tz is not None else parsed.dt.tz_localize("UTC")


def kept(path):
    out = dploc("inspect", path, "--region", "simulated", "--cell", "1500", "--quiet")
    return [line for line in out.splitlines() if line.startswith(("kept", "from", "dropped"))]


def main():
    os.environ["XDG_STATE_HOME"] = os.path.abspath("state")
    dploc("simulate", "--trips", "2000", "--quiet", "-o", "city.csv")
    dploc("fit", "city.csv", "--region", "simulated", "--cell", "1500", "--epsilon", "inf",
          "--ledger", "none", "--quiet", "-o", "m.dploc")
    tables = {times: written("m.dploc", times) for times in ("local", "utc", "naive", "epoch")}
    first = instants(tables["utc"], "utc")
    assert first.min() < pd.Timestamp("2025-03-30 01:00", tz="UTC") < first.max()
    for times, table in tables.items():
        assert (instants(table, times) == first).all(), times
        assert kept(f"{times}.csv") == kept("utc.csv"), times
        assert (table[["tid", "lat", "lng"]] == tables["utc"][["tid", "lat", "lng"]]).all().all()
    print(f"{len(first)} rows, pandas {pd.__version__}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
