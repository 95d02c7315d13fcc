#!/usr/bin/env bash
# The source tarball on Debian 13, in a fresh root, built by its gcc and by its clang; the suite
# without browser and slow tests. TARGETS and TESTS (a pattern) leave it at a part of both.
#   usage: 35-debian-13.sh [COMPILER...]
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$(scripts/version.sh)
root=$(mktemp -d)
trap 'SUITE=trixie scripts/root.sh remove "$root"' EXIT
SUITE=trixie scripts/root.sh make "$root"
cp "dist/dploc-$version.tar.xz" "$root/tmp/"
scripts/root.sh run "$root" bash -ec "
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends make xz-utils ca-certificates clang libomp-dev
    cd /tmp && tar -xf dploc-$version.tar.xz && cd dploc-$version
    scripts/setup.sh
    for compiler in ${*:-gcc clang}; do
        cmake -S . -B build-\$compiler -G Ninja -DCMAKE_BUILD_TYPE=Release \
            -DCMAKE_C_COMPILER=\$compiler -DDPLOC_BROWSER_TESTS=OFF >/dev/null
        cmake --build build-\$compiler ${TARGETS:+--target $TARGETS} -- -k 0
        ctest --test-dir build-\$compiler --output-on-failure -LE 'browser|slow' ${TESTS:+-R '$TESTS'}
    done
"
