#!/usr/bin/env bash
# Coverage-guided fuzzing of every reader with libFuzzer: SECONDS_EACH (default 60), or RUNS
# executions of each (make soak), of all fuzzers or of those named. A tenth of them see what is
# compared with what, and find the way; the others run a build without these clues and without
# counts of lines, about twice as fast, with the same sanitizers. Most inputs are short, which is
# faster by far; one in twenty may be long. Then all inputs that were kept run once more with a
# check for leaks. Ends with a table: executions, and how many a second of processor time; what
# share of the lines of the reader's own files the corpus reaches, and of those in functions that it
# enters at all (files also hold what writes). Needs clang.
#   usage: fuzz.sh [NAME...]
set -euo pipefail
cd "$(dirname "$0")/.."
unit=${RUNS:+-runs} much=${RUNS:-${SECONDS_EACH:-60}}
unit=${unit:--max_total_time} few=$(((much + 19) / 20)) led=$(((much + 9) / 10))
LONG=65536
command -v clang >/dev/null && command -v llvm-cov-14 >/dev/null ||
    { echo "fuzz: scripts/setup.sh fuzz installs what is missing" >&2; exit 1; }
# The files that are a reader's own.
ingest=src/ingest
declare -A files=(
    [adatrace]="$ingest/adatrace.c" [archive]="$ingest/source.c $ingest/feeder.c"
    [arrow]="$ingest/table.c $ingest/cell.c src/base/arrow.c" [cabspotting]="$ingest/cabspotting.c"
    [certificate]="src/ledger/claim.c src/ledger/verify.c"
    [csv]="$ingest/csv.c $ingest/timestamp.c $ingest/position.c"
    [districts]="src/grid/districts.c" [geojson]="$ingest/geojson.c $ingest/unfold.c"
    [geojsonl]="$ingest/geojsonl.c $ingest/feature.c" [geolife]="$ingest/geolife.c"
    [ledger]="src/ledger/chain.c" [model]="src/model/model.c"
    [neighbours]="$ingest/read.c $ingest/sorter.c $ingest/tally.c" [od]="$ingest/od.c"
    [parts]="src/fit/counts.c src/fit/task.c src/fit/shard.c src/base/frame.c"
    [porto]="$ingest/porto.c" [regions]="src/grid/regions.c"
    [roads]="src/roads/map.c src/roads/blob.c src/roads/pbf.c src/roads/osm_xml.c")
# Bytes at most, where the default would cut the seeds off.
SHORT=1024
declare -A short=([archive]=10240 [certificate]=10240 [geojson]=2048 [geolife]=2800 [ledger]=22000
    [model]=8400 [parts]=16384 [porto]=2400)
# One thread; memory that was freed is used again soon, so that no fresh pages are asked for with
# every execution. Where it came from, and whether it leaks, is asked for when inputs run again.
export OMP_NUM_THREADS=1
FAST=quarantine_size_mb=1:malloc_context_size=0:detect_leaks=0
FAST+=:allocator_release_to_os_interval_ms=-1
cmake --preset fuzz ${DPLOC_PAGE:+-DDPLOC_PAGE="$DPLOC_PAGE"} >/dev/null
cmake --preset fuzz-fast ${DPLOC_PAGE:+-DDPLOC_PAGE="$DPLOC_PAGE"} >/dev/null
names=("$@")
[ $# -gt 0 ] || names=("${!files[@]}")
for build in build-fuzz build-fuzz-fast; do
    cmake --build $build --target "${names[@]/%/_fuzz}" >/dev/null
done

# Executions, and the processor time that they took in hundredths of a second.
runs=0 time=0
run() { # build name longest many
    local build=$1; shift
    local log=build-fuzz/$1.log fuzzer=$build/fuzz/$1_fuzz spent TIMEFORMAT='%U %S'
    spent=$({ time ASAN_OPTIONS=$FAST LLVM_PROFILE_FILE=/dev/null "$fuzzer" "$unit=$3" \
        -max_len="$2" -detect_leaks=0 -entropic=0 -print_final_stats=1 \
        -artifact_prefix="build-fuzz/crash-$1-" "build-fuzz/corpus/$1" "fuzz/corpus/$1" \
        >"$log" 2>&1 || touch "build-fuzz/$1.failed"; } 2>&1)
    ((time += $(awk '{ printf "%d", 100 * ($1 + $2) }' <<<"$spent"))) || true
    ((runs += $(sed -n 's/^stat::number_of_executed_units: *//p' "$log"))) || true
    [ -e "build-fuzz/$1.failed" ] || return 0
    grep -E 'ERROR|SUMMARY|Test unit written' "$log" || true
    echo "see $log"
    rm "build-fuzz/$1.failed"
    return 1
}

# What was kept, once more, with leaks looked for and lines counted.
run_again() { # name
    LLVM_PROFILE_FILE=build-fuzz/$1.profraw "build-fuzz/fuzz/$1_fuzz" -runs=0 -max_len=$LONG \
        "build-fuzz/corpus/$1" "fuzz/corpus/$1" >"build-fuzz/$1.again.log" 2>&1 && return 0
    echo "an input that was kept fails: see build-fuzz/$1.again.log"
    return 1
}

# The lines that a corpus reaches, of those that the reader's files have.
covered() { # name
    local fuzzer=build-fuzz/fuzz/$1_fuzz
    llvm-profdata-14 merge -o "build-fuzz/$1.profdata" "build-fuzz/$1.profraw"
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
    mkdir -p "build-fuzz/corpus/$name"
    echo "== $name"
    runs=0 time=0
    size=${short[$name]:-$SHORT}
    run build-fuzz "$name" "$size" $led &&
        run build-fuzz-fast "$name" "$size" $((much - few - led)) &&
        run build-fuzz-fast "$name" $LONG $few || status=1
    run_again "$name" || status=1
    table+=$(printf '%-12s %10s executions, %6s a second, %s' "$name" "$runs" \
        $((100 * runs / (time + 1))) "$(covered "$name")")$'\n'
done
printf '\n%s' "$table"
exit $status
