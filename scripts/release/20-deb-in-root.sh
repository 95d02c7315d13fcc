#!/usr/bin/env bash
# The Debian packages in a fresh root: installed by apt, then the demo, a program built on the
# library, and Python.
set -euo pipefail
root=$(mktemp -d)
trap 'scripts/root.sh remove "$root"' EXIT
scripts/root.sh make "$root"
mkdir "$root/packages"
cp dist/*.deb "$root/packages/"
scripts/root.sh run "$root" sh -ec '
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends /packages/*.deb python3-pandas gcc libc6-dev pkgconf
    cd /tmp
    DPLOC=dploc bash /usr/share/doc/dploc/examples/demo.sh
    test -s out/demo/public/synthetic.csv
    dploc verify out/demo/public/synthetic.csv
    gcc -Wall -Werror /usr/share/doc/libdploc-dev/examples/account.c -o account \
        $(pkg-config --cflags --libs dploc)
    ./account
    python3 -c "
import dploc, pandas
city = dploc.simulate(trips=20000, seed=1)
synthetic = dploc.synth(city, region=\"simulated\", epsilon=1, ledger=None, seed=1)
print(len(synthetic), \"points\", dploc.__version__)
assert len(synthetic) > 1000
"
    man -w dploc-synth 2>/dev/null || test -f /usr/share/man/man1/dploc-synth.1.gz
'
