#!/bin/sh
# Coverage-guided fuzzing of every reader with libFuzzer: SECONDS each (default 60). Needs clang.
set -eu
cd "$(dirname "$0")/.."
seconds=${SECONDS_EACH:-60}
command -v clang >/dev/null || { echo "fuzz: install clang and libclang-rt-14-dev first" >&2; exit 1; }
cmake --preset fuzz >/dev/null
cmake --build build-fuzz
for fuzzer in build-fuzz/fuzz/*_fuzz; do
    name=$(basename "$fuzzer" _fuzz)
    mkdir -p "build-fuzz/corpus/$name"
    echo "== $name"
    "$fuzzer" -max_total_time="$seconds" -max_len=65536 -print_final_stats=1 "build-fuzz/corpus/$name" "fuzz/corpus/$name" 2>&1 | tail -4
done
