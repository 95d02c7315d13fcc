"""Of users' trips on standard input: overlaps, and how many begin where the last one ended."""

import collections
import csv
import datetime
import math
import sys

trips = {}
for row in csv.DictReader(sys.stdin):
    when = datetime.datetime.fromisoformat(row["datetime"]).timestamp()
    point = (when, float(row["lat"]) * 111200, float(row["lng"]) * 74500)
    trips.setdefault((int(row["uid"]), int(row["tid"])), []).append(point)
users = collections.defaultdict(list)
for (uid, _), points in trips.items():
    users[uid].append((min(points), max(points)))
overlaps = near = transitions = 0
for diary in users.values():
    assert diary == sorted(diary), "a user's trips stand in the order of time"
    for (_, last), (first, _) in zip(diary, diary[1:]):
        transitions += 1
        overlaps += first[0] < last[0]
        near += math.dist(last[1:], first[1:]) <= 300
assert sorted(users) == list(range(1, len(users) + 1)), "users are numbered in a row"
print("overlaps:", overlaps)
print("most begin where the last one ended:", near > 0.6 * transitions)
print("trips a user:", round(len(trips) / len(users)))
