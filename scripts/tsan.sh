#!/usr/bin/env bash
# The threaded paths under ThreadSanitizer: reading, cleaning, counting, noise, training, drawing,
# judging. By clang with its own OpenMP and Archer, which tells the sanitizer what a barrier orders
# (gcc's libgomp is not instrumented, and every barrier would look like a race).
#   usage: tsan.sh [TEST...]
set -euo pipefail
cd "$(dirname "$0")/.."
archer=$(find /usr/lib/llvm-14 -name libarcher.so | head -1)
[ -n "$archer" ] || { echo "tsan: scripts/setup.sh fuzz installs what is missing" >&2; exit 1; }
tests=("$@")
[ $# -gt 0 ] || tests=(read_test clean_test lattice_test local_test count_test sample_test eval_test
    simulate_test on_roads_test dpsgd_test bridge_test ngram_test privtrace_test rounds_test)
cmake --preset tsan ${DPLOC_PAGE:+-DDPLOC_PAGE="$DPLOC_PAGE"} >/dev/null
cmake --build build-tsan --target "${tests[@]}" >/dev/null
export OMP_TOOL_LIBRARIES=$archer OMP_NUM_THREADS=4
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1 exitcode=66"
for test in "${tests[@]}"; do
    (cd build-tsan/tests && "./$test" >../"$test.log" 2>&1) ||
        { tail -40 "build-tsan/$test.log"; echo "$test: FAILED under the thread sanitizer" >&2; exit 1; }
    echo "$test: no race"
done
