"""What a certificate says of how many trips a user counts as: whether it is a released number,
plausible, an option; and whether all sensitivities follow from it."""
import json
import math
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    certificate = json.load(file)
m = certificate["trips_max"]
grown = {"none": 1, "root": math.sqrt(m), "linear": m}
follow = [math.isclose(e["sensitivity"], e["request"]["clip"] * grown[e["request"]["growth"]])
          for e in certificate["mechanisms"] if "request" in e]
print(certificate["numbers"].get("trips_max") == m, m in (4, 5, 8, 16),
      "trips-max" in certificate["options"], all(follow))
