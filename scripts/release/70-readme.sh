#!/usr/bin/env bash
# What the README tells a reader to type, typed: from nothing to a release, once on the command line
# and once in Python, each in a fresh root that has the source tarball and nothing else.
set -euo pipefail
version=$(scripts/version.sh)
work=$(mktemp -d)
roots=()
finish() {
    for root in "${roots[@]}"; do scripts/root.sh remove "$root"; done
    rm -rf --one-file-system "$work"
}
trap finish EXIT
tar -xf "dist/dploc-$version.tar.xz" -C "$work"
readme=$work/dploc-$version/README.md

# try NAME COMMAND: runs COMMAND in the unpacked source, where the README's code is /tmp/NAME.*
try() {
    local root=$work/$1
    roots+=("$root")
    scripts/root.sh make "$root"
    cp -r "$work/dploc-$version" "$root/root/dploc"
    cp "$work/$1".* "$root/tmp/"
    scripts/root.sh run "$root" bash -exc "cd /root/dploc && $2"
    (cd "$root/root/dploc/public" && ls) >"$work/released-$1"
    test -s "$root/root/dploc/report.html"
    scripts/root.sh run "$root" /root/dploc/build/dploc verify /root/dploc/public/synthetic.csv
}

scripts/blocks.py "$readme" sh "Install" "On the command line" >"$work/shell.sh"
try shell "bash -ex /tmp/shell.sh"
scripts/blocks.py "$readme" sh "Install" "In Python" >"$work/python.sh"
scripts/blocks.py "$readme" python "In Python" >"$work/python.py"
try python "bash -ex /tmp/python.sh && venv/bin/python /tmp/python.py"

diff "$work/released-shell" "$work/released-python"
diff "$work/released-shell" - <<'END'
datapackage.json
synthetic.csv
synthetic.csv.certificate.json
synthetic.csv.manifest.json
END
