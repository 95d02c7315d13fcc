#!/usr/bin/env bash
# 2.5 million points from a frame of pandas to cleaned trips, against the same points in a CSV.
set -euo pipefail
PYTHONPATH=$(dirname "$DPLOC")/python exec /usr/bin/python3 "$(dirname "$0")/frame.py"
