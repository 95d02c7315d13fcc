"""Whether the first steps of synthetic trips are short; reads what `dploc eval --json` prints."""
import json
import sys

measures = json.load(sys.stdin)["synthetic"][0]["measures"]
pooled = {measure["name"]: measure["value"] for measure in measures if measure["scope"] == "pooled"}
print("at most 140 m:", pooled["first_step_m"] <= 140)
