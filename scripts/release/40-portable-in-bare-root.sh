#!/usr/bin/env bash
# The portable program in a root that has none of its libraries.
set -euo pipefail
name=dploc-$(scripts/version.sh)-linux-$(uname -m)
root=$(mktemp -d)
trap 'scripts/root.sh remove "$root"' EXIT
scripts/root.sh make "$root"
tar -xf "dist/$name.tar.xz" -C "$root/opt"
cp scripts/demo.sh "$root/tmp/"
scripts/root.sh run "$root" sh -ec "
    if ls /usr/lib/*/libarchive.so* 2>/dev/null; then exit 1; fi # it is not a bare root
    cd /tmp
    DPLOC=/opt/$name/dploc bash demo.sh
    test -s out/demo/public/synthetic.csv
"
