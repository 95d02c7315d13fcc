#!/bin/sh
# What is checked without running the program: layout, mutants that no longer apply, warnings of
# clang.
set -eu
cd "$(dirname "$0")/.."
scripts/format.sh --check
scripts/mutants.sh --check
test -f build-clang/build.ninja ||
    cmake --preset clang -DCMAKE_C_COMPILER=clang-14 -DBUILD_TESTING=OFF >/dev/null
cmake --build build-clang --target dploc dploc_shared >/dev/null
