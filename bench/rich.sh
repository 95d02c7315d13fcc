#!/usr/bin/env bash
# What a fit of `bridge` takes where there is much data: processor time of `dploc fit` on San Francisco (where DPLOC_DATA is set) and on
# 2,000,000 simulated trips, as a ratio to the program DPLOC_BEFORE (commit 33438b3~1, the tree before targets) where that is set; and
# 10,000,000 simulated trips in cells of 100 m, fitted and drawn: wall time and memory. Needs 20 GB of disk.
# DPLOC_BENCH_RICH="sf500 sf250 two ten": which of them.
set -euo pipefail
folder=$DPLOC_BENCH_DIR
which=" ${DPLOC_BENCH_RICH:-sf500 sf250 two ten} "
wanted() { [[ "$which" == *" $1 "* ]]; }
line() { printf '%-36s %10.2f %s\n' "$1" "$2" "$3"; }
report() { awk -v n="$1" -v v="$2" -v u="$3" -v g="$4" 'BEGIN { printf "%-36s %10.2f %-10s goal <= %g %s\n", n, v, u, g, v <= g ? "ok" : "MISSED" }'; }
# PROGRAM COMMAND INPUT OPTION...: processor seconds, wall seconds, MB
measured() {
    /usr/bin/env time -f '%U %S %e %M' -o "$folder/rich.time" "$@" --force --quiet >/dev/null
    tail -1 "$folder/rich.time" | awk '{ print $1 + $2, $3, $4 * 1024 / 1e6 }'
}
fit() { measured "$1" fit "${@:2}" --epsilon 1 --ledger none --insecure-seed 5 --restart --threads 2 -o "$folder/rich.dploc"; }
# NAME GOAL INPUT OPTION...
compare() {
    local now before name=$1 goal=$2
    shift 2
    now=$(fit "$DPLOC" "$@" | cut -d' ' -f1)
    line "${name}_fit" "$now" s
    [ -n "${DPLOC_BEFORE:-}" ] || return 0
    before=$(fit "$DPLOC_BEFORE" "$@" | cut -d' ' -f1)
    line "${name}_fit_before" "$before" s
    report "${name}_fit_ratio" "$(echo "$now $before" | awk '{ print $1 / $2 }')" x "$goal"
}
sf=${DPLOC_DATA:-none}/sf/sf_trips_dev.csv.xz
if [ -f "$sf" ]; then
    wanted sf500 && compare sf_500m .4 "$sf" --region sf --cell 500 --delta 5e-6
    wanted sf250 && compare sf_250m .25 "$sf" --region sf --cell 250 --delta 5e-6
fi
if wanted two; then
    "$DPLOC" simulate --trips 2000000 -o "$folder/rich.csv" --force --quiet
    compare two_million .25 "$folder/rich.csv" --region simulated --cell 250 --delta 2e-8
fi
if wanted ten; then
    "$DPLOC" simulate --trips 10000000 -o "$folder/rich.csv" --force --quiet
    read -r _ fit_s fit_mb < <(fit "$DPLOC" "$folder/rich.csv" --region simulated --cell 100 --delta 1e-9)
    rm -f "$folder/rich.csv"
    read -r _ sample_s sample_mb < <(measured "$DPLOC" sample "$folder/rich.dploc" -o "$folder/rich.csv" --seed 5 --threads 2)
    line ten_million_fit "$fit_s" s
    line ten_million_sample "$sample_s" s
    report ten_million_both "$(echo "$fit_s $sample_s" | awk '{ print ($1 + $2) / 60 }')" min 10
    plan_mb=$("$DPLOC" fit --region simulated --cell 100 --size 10000000 --delta 1e-9 --threads 2 --dry-run 2>/dev/null | sed -n 's/^tables take at most \([0-9]*\) MB.*/\1/p')
    report ten_million_memory_of_plan "$(echo "$fit_mb $plan_mb" | awk '{ print $1 / $2 }')" x 1
    report ten_million_memory "$(echo "$fit_mb $sample_mb" | awk '{ print $1 > $2 ? $1 : $2 }')" MB 2000
fi
rm -f "$folder"/rich.csv "$folder"/rich.dploc "$folder"/rich.time
