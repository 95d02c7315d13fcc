"""See frame.sh. Best of five, taken in turns: both see the same neighbours on the machine."""

import ctypes
import os
import time

import dploc
from dploc.library import Run, lib
from dploc.options import Keywords, area_options
from dploc.reading import clean, open_trips

TRIPS = int(os.environ.get("DPLOC_BENCH_FRAME_TRIPS", 120000))  # about 2.5 million points


def report(name, value, unit, goal):
    word = "ok" if value <= goal else "MISSED"
    print(f"{name:<36} {value:10.2f} {unit:<10} goal <= {goal:g} {word}", flush=True)


def cleaned(data):
    """Seconds, and the trips and points that were cleaned."""
    began = time.perf_counter()
    with Run(progress="none") as run:
        area = area_options(run, Keywords("fit", {"region": "simulated"}, dploc.fit))
        trips = open_trips(run, data, lib.dpl_read_defaults())
        _, facts = clean(run, trips, area)
        return time.perf_counter() - began, (facts.read.trips_read, facts.read.points)


def memory_mb(word):
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(word)) * 1024 / 1e6


def peak_mb(data):
    """What reading takes on top of the frame. What was freed before, and is kept for later, goes
    back first: it would serve the reading without being counted."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")  # the peak starts anew
    before = memory_mb("VmRSS")
    cleaned(data)
    return memory_mb("VmHWM") - before


def main():
    path = os.path.join(os.environ["DPLOC_BENCH_DIR"], "frame.csv")
    dploc.simulate(output=path, trips=TRIPS, seed=1, force=True)
    frame = dploc.simulate(trips=TRIPS, seed=1)
    above_mb = peak_mb(frame)
    times, sizes = {"csv": [], "frame": []}, set()
    for _ in range(5):
        for name, data in (("csv", path), ("frame", frame)):
            seconds, size = cleaned(data)
            times[name].append(seconds)
            sizes.add(size)
    assert len(sizes) == 1, sizes
    report("frame_points", next(iter(sizes))[1] / 1e6, "million", 10)
    report("frame_over_csv", min(times["frame"]) / min(times["csv"]), "times", 1.5)
    report("frame_memory_above_frame", above_mb, "MB", 64)
    os.remove(path)


main()
