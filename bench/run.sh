#!/usr/bin/env bash
# Runs every benchmark and prints one line a figure: name, value, unit, goal, ok or MISSED. Times are
# compared within this run only (the machine may be shared); exits non-zero when a goal is missed.
# usage: bench/run.sh [NAME...]   names of bench/*.sh and bench/*_bench.c without their ending
set -uo pipefail
cd "$(dirname "$0")/.."
export DPLOC=$PWD/build/dploc DPLOC_BENCH_DIR=${DPLOC_BENCH_DIR:-$PWD/out/bench}
mkdir -p "$DPLOC_BENCH_DIR"
wanted=" $* "
runs() { [ "$wanted" = "  " ] || [[ "$wanted" == *" $1 "* ]]; }
{
    for script in bench/*.sh; do
        name=$(basename "$script" .sh)
        [ "$name" != run ] && runs "$name" && bash "$script"
    done
    for program in build/bench/*_bench; do
        [ -x "$program" ] && runs "$(basename "$program" _bench)" && "$program"
    done
} | tee "$DPLOC_BENCH_DIR/figures.txt"
! grep -q 'MISSED$' "$DPLOC_BENCH_DIR/figures.txt"
