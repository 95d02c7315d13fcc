#!/bin/sh
# Coverage-guided fuzzing of every reader with libFuzzer: SECONDS_EACH (default 60), or RUNS
# executions of each (make soak). Prints how many there were. Needs clang.
set -eu
cd "$(dirname "$0")/.."
limit=${RUNS:+-runs=$RUNS}
limit=${limit:--max_total_time=${SECONDS_EACH:-60}}
command -v clang >/dev/null || { echo "fuzz: install clang and libclang-rt-14-dev first" >&2; exit 1; }
cmake --preset fuzz >/dev/null
cmake --build build-fuzz
status=0
for fuzzer in build-fuzz/fuzz/*_fuzz; do
    name=$(basename "$fuzzer" _fuzz)
    log=build-fuzz/$name.log
    mkdir -p "build-fuzz/corpus/$name"
    echo "== $name"
    "$fuzzer" "$limit" -max_len=65536 -print_final_stats=1 \
        "build-fuzz/corpus/$name" "fuzz/corpus/$name" >"$log" 2>&1 ||
        { status=1 && grep -E 'ERROR|SUMMARY|Test unit written' "$log" && echo "see $log"; }
    tail -4 "$log"
done
exit $status
