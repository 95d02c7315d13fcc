#!/usr/bin/env bash
# The source tarball in a fresh root without Node: builds, passes the suite (browser tests need
# Node and stay out).
set -euo pipefail
version=$(scripts/version.sh)
root=$(mktemp -d)
trap 'scripts/root.sh remove "$root"' EXIT
scripts/root.sh make "$root"
cp "dist/dploc-$version.tar.xz" "$root/tmp/"
scripts/root.sh run "$root" sh -ec "
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends make xz-utils ca-certificates
    cd /tmp && tar -xf dploc-$version.tar.xz && cd dploc-$version
    make demo
    cmake --build build
    ctest --test-dir build --output-on-failure -LE 'browser|slow'
    if command -v node; then exit 1; fi
"
