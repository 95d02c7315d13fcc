#!/usr/bin/env bash
# Static analysers over src and cli: gcc's -fanalyzer, clang's analyzer (as scan-build runs it),
# cppcheck, and clang-tidy over every folder (make lint runs it over those that changed). A finding
# ends it with 1. What was looked into and is none stands in scripts/static.answers, with its
# reason: a line "FILE:CHECK reason". DPLOC_STATIC="src/noise cli" looks at those folders only.
#   usage: static.sh [gcc|clang|cppcheck|tidy ...]
set -uo pipefail
cd "$(dirname "$0")/.."
out=build/static
mkdir -p "$out"
includes=(-Isrc -Iinclude -D_GNU_SOURCE '-DDPL_VERSION="0"' -DDPL_BLAS_PLAIN -DDPL_ANALYSED -fopenmp
    -std=gnu17)
read -r -a folders <<<"${DPLOC_STATIC:-src cli}"
files() { git ls-files -- "${folders[@]}" | grep '\.c$' | grep -v _avx; }

# Each prints its findings as FILE:LINE: ... [CHECK]
run_gcc() {
    files | xargs -P "${THREADS:-2}" -n 1 sh -c '
        gcc-12 -O1 -fanalyzer -Wno-analyzer-too-complex -S -o /dev/null "$@" 2>&1' _ \
        "${includes[@]}" | grep -E 'warning: .*\[' || true
}
run_clang() {
    files | xargs -P "${THREADS:-2}" -n 1 sh -c '
        clang-14 --analyze --analyzer-output text -Xclang -analyzer-config -Xclang \
            silence-checkers="security.insecureAPI.DeprecatedOrUnsafeBufferHandling" "$@" \
            -o /dev/null 2>&1' _ "${includes[@]}" | grep -E 'warning: .*\[' || true
}
run_cppcheck() {
    cppcheck --std=c11 --enable=warning,portability --inline-suppr --quiet -Isrc -Iinclude -Icli \
        --library=scripts/static.cfg -D__x86_64__ -D_GNU_SOURCE -DDPL_BLAS_PLAIN -DDPL_ANALYSED \
        --template='{file}:{line}: warning: {message} [{id}]' \
        -j "${THREADS:-2}" "${folders[@]}" 2>&1 | grep -E 'warning: .*\[' || true
}
run_tidy() {
    test -f build-clang/compile_commands.json || cmake --preset clang \
        -DCMAKE_C_COMPILER=clang-14 -DBUILD_TESTING=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
        ${DPLOC_PAGE:+-DDPLOC_PAGE="$DPLOC_PAGE"} >/dev/null
    files | xargs -P "${THREADS:-2}" -n 4 clang-tidy-14 -p build-clang --quiet 2>/dev/null |
        grep -E '(warning|error): .*\[' || true
}

status=0
for tool in "${@:-gcc clang cppcheck tidy}"; do
    for one in $tool; do
        "run_$one" | sed "s|$PWD/||" | sort -u >"$out/$one"
        open=0 answered=0
        while IFS= read -r finding; do
            file=${finding%%:*} check=$(sed -E 's/.*\[(-W)?([^]=,]*)[^]]*\]$/\2/' <<<"$finding")
            if grep -q "^$file:$check " scripts/static.answers; then
                answered=$((answered + 1))
            else
                echo "$finding"
                open=$((open + 1)) status=1
            fi
        done <"$out/$one"
        echo "$one: $open open, $answered answered"
    done
done
exit $status
