#!/usr/bin/env bash
# Breaks the privacy code on purpose, one mutant at a time, in a copy of the tree, and demands that
# the tests notice. A mutant is a file tests/mutants/NAME: the tests that must turn red, and edits
# (their form: scripts/mutate.py).
#
#     scripts/mutants.sh            all
#     scripts/mutants.sh NAME...    some
#     scripts/mutants.sh --check    only whether every edit of every mutant still applies; seconds
#
# Prints a table and ends with 1 when one survives. Not caught but BROKEN: an edit does not apply or
# changes nothing, or the mutant does not compile; that is a mistake in the mutant and ends with 1
# too, as does a test that fails without any mutant. A page.c named by DPLOC_PAGE spares Node.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
if [ "${1:-}" = --check ]; then exec scripts/mutate.py --check tests/mutants/*; fi
if [ $# -gt 0 ]; then names=("$@"); else
    names=()
    for file in tests/mutants/*; do names+=("$(basename "$file")"); done
fi
tests_of() { sed -n 's/^tests: //p' "$source/tests/mutants/$1"; }

work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
clean=$work/clean tree=$work/tree
mkdir "$clean"
for part in CMakeLists.txt CMakePresets.json LICENSE LICENSES cmake include src cli web tests bench \
    examples experiments fuzz docs man python scripts; do
    if [ -e "$part" ]; then cp -r "$part" "$clean/"; fi
done
cp -r "$clean" "$tree"
cmake -S "$tree" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DDPLOC_PAGE="${DPLOC_PAGE:-}" >/dev/null

# Builds what the tests need; a command-line case needs the program.
build() {
    local targets=() test
    for test in "$@"; do
        case $test in
            cli_parquet) targets+=(dploc duckdb_library) ;; # without it all cases are left out
            cli_* | include_graph | tables) targets+=(dploc) ;;
            hardening) targets+=(dploc dploc_shared) ;;
            parquet_test) targets+=(parquet_test duckdb_library) ;;
            crash | fault | power) targets+=(dploc disk_shim) ;;
            *) targets+=("$test") ;;
        esac
    done
    cmake --build "$work/build" --target "${targets[@]}" >"$work/log" 2>&1
}
run_tests() {
    local test
    for test in "$@"; do
        ctest --test-dir "$work/build" -R "^$test\$" --no-tests=error --timeout 300 \
            >"$work/log" 2>&1 || return 1
    done
}
# cp without -p: what is put back must look newer than what was built from the mutant.
restore() {
    local file
    while IFS= read -r file; do cp "$clean/$file" "$tree/$file"; done <"$work/changed"
}

needed=$(for name in "${names[@]}"; do tests_of "$name" | tr ' ' '\n'; done | sort -u)
# shellcheck disable=SC2086 — a list of names
build $needed || { cat "$work/log"; echo "the tree does not build" >&2; exit 1; }
for test in $needed; do
    run_tests "$test" || { cat "$work/log"; echo "$test is red without any mutant" >&2; exit 1; }
done

caught=0 bad=0
printf '%-28s %-9s %s\n' mutant verdict 'tests that were run'
for name in "${names[@]}"; do
    read -r -a tests <<<"$(tests_of "$name")"
    if ! scripts/mutate.py "tests/mutants/$name" "$tree" >"$work/changed"; then
        verdict=BROKEN why=$(cat "$work/changed")
        : >"$work/changed"
    elif ! build "${tests[@]}"; then
        verdict=BROKEN why="does not compile: $(grep -m1 error: "$work/log" || true)"
    elif run_tests "${tests[@]}"; then verdict=SURVIVED why="${tests[*]}"
    else verdict=caught why="${tests[*]}"; fi
    if [ $verdict = caught ]; then caught=$((caught + 1)); else bad=$((bad + 1)); fi
    printf '%-28s %-9s %s\n' "$name" "$verdict" "$why"
    restore
done
echo "$caught of ${#names[@]} mutants caught"
[ "$bad" = 0 ]
