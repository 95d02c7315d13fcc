#!/usr/bin/env bash
# The most memory that sampling takes: ten million trips from 238 cells, and a few from 4000 cells, where a graph is 64 MB.
set -euo pipefail
trips=${DPLOC_BENCH_MANY:-10000000}
report() { awk -v n="$1" -v v="$2" 'BEGIN { printf "%-36s %10.2f %-10s goal <= 300 %s\n", n, v, "MB", v <= 300 ? "ok" : "MISSED" }'; }
peak() { # MODEL TRIPS THREADS
    /usr/bin/env time -f %M -o "$DPLOC_BENCH_DIR/rss" "$DPLOC" sample "$1" -n "$2" --threads "$3" --seed 1 --quiet -o - >/dev/null
    tail -1 "$DPLOC_BENCH_DIR/rss" | awk '{ print $1 * 1024 / 1e6 }'
}
bench=$(dirname "$DPLOC")/bench/sample_bench
"$bench" "$DPLOC_BENCH_DIR/k238.dploc" 238 500
report sample_memory_10m_trips "$(peak "$DPLOC_BENCH_DIR/k238.dploc" "$trips" 2)"
"$bench" "$DPLOC_BENCH_DIR/k4000.dploc" 4000 250
report sample_memory_k4000 "$(peak "$DPLOC_BENCH_DIR/k4000.dploc" 24 8)"
rm -f "$DPLOC_BENCH_DIR"/{k238.dploc,k4000.dploc,rss}
