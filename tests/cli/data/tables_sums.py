"""Tables by district are the sums of those by cell, with the noise of sums."""
import csv
import math


def rows(name):
    return list(csv.DictReader(open(f"d/{name}.csv")))


of = {r["cell"]: r["district"] for r in rows("cells")}
assert set(of.values()) == {"West, old", "East", ""}


def check(name, keys):
    sums, count = {}, {}
    for r in rows(name):
        key = tuple(of[r[k]] if "cell" in k else r[k] for k in keys)
        sums[key] = sums.get(key, 0) + float(r["value"])
        count[key] = count.get(key, 0) + 1
        single = float(r["deviation"])
    told = rows(name + "_by_district")
    assert len(told) == len(sums), (name, len(told), len(sums))
    for r in told:
        key = tuple(r[k.replace("cell", "district")] for k in keys)
        assert abs(float(r["value"]) - sums[key]) < 1e-5 * (1 + abs(sums[key])), (name, key)
        assert abs(float(r["deviation"]) / (single * math.sqrt(count[key])) - 1) < 1e-4
    print(name, len(told) > 2)


check("visits", ["hour", "cell"])
check("pairs", ["origin_cell", "destination_cell"])
