#!/usr/bin/env bash
# No line of the code and its tests is wider than 100 columns; tests/golden holds data.
# usage: columns.sh SOURCE_DIRECTORY
set -euo pipefail
cd "$1"
export LC_ALL=C.UTF-8 # columns are characters, not bytes
mapfile -t files < <(find src cli include python tests -path tests/golden -prune -o -type f \
    \( -name '*.[ch]' -o -name '*.test' -o -name '*.sh' -o -name '*.py' -o -name CMakeLists.txt \) \
    -print)
[ ${#files[@]} -gt 0 ] || { echo "no files to look at in $1"; exit 1; }
wide=0
grep -nHE '^.{101,}$' "${files[@]}" || wide=$? # 0: there are some, 1: none, 2: trouble
[ "$wide" = 1 ] || { echo "these lines are wider than 100 columns, or cannot be read"; exit 1; }
echo "${#files[@]} files, no line wider than 100 columns"
