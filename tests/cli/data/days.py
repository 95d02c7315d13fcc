"""Says on which days the trips on standard input are, and whether that is most of them."""

import collections
import csv
import datetime
import sys

first = {}
for row in csv.DictReader(sys.stdin):
    first.setdefault(row["tid"], row["datetime"][:10])
days = collections.Counter(first.values())
for day, trips in sorted(days.items()):
    share = trips / len(first)
    weekday = datetime.date.fromisoformat(day).strftime("%a")
    print(day, weekday, "nearly all" if share > 0.97 else "few" if share < 0.02 else "some")
