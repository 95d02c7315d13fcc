#!/usr/bin/env bash
# Coverage-guided fuzzing of every reader with libFuzzer: SECONDS_EACH (default 60), or RUNS
# executions of each (make soak), of all fuzzers or of those named. Ends with a table: executions,
# what share of the lines of the reader's own files the corpus reaches, and of those in functions
# that it enters at all (files also hold what writes). Needs clang.
#   usage: fuzz.sh [NAME...]
set -euo pipefail
cd "$(dirname "$0")/.."
limit=${RUNS:+-runs=$RUNS}
limit=${limit:--max_total_time=${SECONDS_EACH:-60}}
command -v clang >/dev/null && command -v llvm-cov-14 >/dev/null ||
    { echo "fuzz: scripts/setup.sh fuzz installs what is missing" >&2; exit 1; }
# The files that are a reader's own.
ingest=src/ingest
declare -A files=(
    [adatrace]="$ingest/adatrace.c" [archive]="$ingest/source.c $ingest/feeder.c"
    [arrow]="$ingest/table.c $ingest/cell.c src/base/arrow.c" [cabspotting]="$ingest/cabspotting.c"
    [certificate]="src/ledger/certificate.c src/ledger/verify.c"
    [csv]="$ingest/csv.c $ingest/timestamp.c $ingest/position.c"
    [districts]="src/grid/districts.c" [geojson]="$ingest/geojson.c $ingest/unfold.c"
    [geojsonl]="$ingest/geojsonl.c $ingest/feature.c" [geolife]="$ingest/geolife.c"
    [ledger]="src/ledger/chain.c" [model]="src/model/model.c"
    [neighbours]="$ingest/read.c $ingest/sorter.c" [od]="$ingest/od.c"
    [parts]="src/fit/counts.c src/fit/task.c src/fit/shard.c src/base/frame.c"
    [porto]="$ingest/porto.c" [regions]="src/grid/regions.c"
    [roads]="src/roads/map.c src/roads/blob.c src/roads/pbf.c src/roads/osm_xml.c")
cmake --preset fuzz ${DPLOC_PAGE:+-DDPLOC_PAGE="$DPLOC_PAGE"} >/dev/null
names=("$@")
[ $# -gt 0 ] || names=("${!files[@]}")
for name in "${names[@]}"; do cmake --build build-fuzz --target "${name}_fuzz" >/dev/null; done

# The lines that a corpus reaches, of those that the reader's files have.
covered() { # name
    local fuzzer=build-fuzz/fuzz/$1_fuzz raw=build-fuzz/$1.profraw
    LLVM_PROFILE_FILE=$raw "$fuzzer" -runs=0 "build-fuzz/corpus/$1" "fuzz/corpus/$1" \
        >/dev/null 2>&1
    llvm-profdata-14 merge -o "build-fuzz/$1.profdata" "$raw"
    # shellcheck disable=SC2086 — a list of names
    llvm-cov-14 report "$fuzzer" -instr-profile="build-fuzz/$1.profdata" -show-functions \
        ${files[$1]} | awk '$5 + 0 == 0 || $1 == "TOTAL" { next }
            { all += $5; missed += $6 }
            $6 < $5 { entered += $5; left += $6 }
            END { printf "%.1f %% of the lines of its files, %.1f %% where it enters",
                      100 - 100 * missed / all, 100 - 100 * left / entered }'
}

status=0 table=""
for name in "${names[@]}"; do
    log=build-fuzz/$name.log
    mkdir -p "build-fuzz/corpus/$name"
    echo "== $name"
    LLVM_PROFILE_FILE=/dev/null "build-fuzz/fuzz/${name}_fuzz" "$limit" -max_len=65536 \
        -print_final_stats=1 -artifact_prefix="build-fuzz/crash-$name-" "build-fuzz/corpus/$name" \
        "fuzz/corpus/$name" >"$log" 2>&1 ||
        { status=1 && grep -E 'ERROR|SUMMARY|Test unit written' "$log" && echo "see $log"; }
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    table+=$(printf '%-12s %10s executions, %s' "$name" "$runs" "$(covered "$name")")$'\n'
done
printf '\n%s' "$table"
exit $status
