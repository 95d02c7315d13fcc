#!/usr/bin/env bash
# The main job from end to end on a made-up city. Everything lands in out/demo.
set -euo pipefail
cd "$(dirname "$0")/.."
dploc=build/dploc
out=out/demo
rm -rf "$out"
mkdir -p "$out"
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }

say $dploc simulate --trips 100000 -o $out/city.csv
say $dploc inspect $out/city.csv --region simulated
