"""A directory of tables against the model m.dploc, read as it is on the disk."""
import csv
import hashlib
import json
import os
import struct
import sys

raw = open("m.dploc", "rb").read()
size = struct.unpack("<Q", raw[:8])[0]
head = json.loads(raw[8:8 + size])
noised = json.loads(head["__metadata__"]["noised"])


def rows(name):
    return list(csv.DictReader(open(f"{sys.argv[1]}/{name}.csv")))


for name, about in noised.items():
    begin, end = head["noised." + name]["data_offsets"]
    values = struct.unpack(f"<{(end - begin) // 8}d", raw[8 + size + begin:8 + size + end])
    table = rows(name)
    assert len(table) == len(values), name
    assert all(abs(float(r["value"]) - v) < 1e-6 * (1 + abs(v)) for r, v in zip(table, values))
    assert all(abs(float(r["deviation"]) / about["deviation"] - 1) < 1e-5 for r in table), name
package = json.load(open(sys.argv[1] + "/datapackage.json"))
files = {r["path"]: r["hash"] for r in package["resources"]}
assert sorted(files) == sorted(set(os.listdir(sys.argv[1])) - {"datapackage.json"})
for name, told in files.items():
    data = open(f"{sys.argv[1]}/{name}", "rb").read()
    assert told == "sha256:" + hashlib.sha256(data).hexdigest(), name
assert package["licenses"] == [{"name": "ODbL-1.0"}]
for r in package["resources"]:
    if r["path"].endswith(".csv"):
        first = open(f"{sys.argv[1]}/{r['path']}").readline().strip().split(",")
        assert [f["name"] for f in r["schema"]["fields"]] == first, r["path"]
# 3,000 trips at ε = 8: the hours of a place are counted by six watches.
assert sorted({float(r["hour"]) for r in rows("visits")}) == [0, 4, 8, 12, 16, 20]
assert rows("lengths")[0]["visits_from"] == "2" and rows("lengths")[1]["visits_from"] == "3"
assert 2500 < sum(float(r["value"]) for r in rows("zones")) < 3500
print(len(noised) > 10, "good")
