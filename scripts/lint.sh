#!/bin/sh
# What is checked without running the program: layout, mutants that no longer apply, folders in lock
# files, links between pages, warnings of clang, and clang-tidy's bug checks (.clang-tidy) on the
# files that changed since BASE (default: where this branch left main, or the commit before).
# usage: lint.sh [BASE]
set -eu
cd "$(dirname "$0")/.."
scripts/format.sh --check
scripts/mutants.sh --check
if grep -n -e '-r /' python/requirements/*.txt; then
    echo "lint: a lock file names a folder of one machine" >&2
    exit 1
fi
/usr/bin/python3 site/build.py build/site
test -f build-clang/compile_commands.json ||
    cmake --preset clang -DCMAKE_C_COMPILER=clang-14 -DBUILD_TESTING=OFF \
        -DCMAKE_EXPORT_COMPILE_COMMANDS=ON ${DPLOC_PAGE:+-DDPLOC_PAGE="$DPLOC_PAGE"} >/dev/null
cmake --build build-clang --target dploc dploc_shared >/dev/null

base=${1:-$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD~1)}
# Of a changed header the whole folder. Files for other instruction sets have options of their own.
git diff --name-only "$base" -- src cli | while read -r file; do
    case $file in
    *.h) find "$(dirname "$file")" -maxdepth 1 -name '*.c' 2>/dev/null || true ;;
    *.c) if test -f "$file"; then echo "$file"; fi ;;
    esac
done | grep -v _avx | sort -u | xargs -r -n 1 -P "$(nproc)" clang-tidy-14 -p build-clang --quiet \
    --extra-arg=-DDPL_ANALYSED 2>/dev/null
