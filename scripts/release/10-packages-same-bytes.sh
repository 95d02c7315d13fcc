#!/usr/bin/env bash
# Every package twice: the same bytes both times.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build() {
    rm -rf dist
    scripts/dist.sh
    scripts/deb.sh
    scripts/portable.sh
    (cd dist && sha256sum -- *) >"$1"
}
build "$work/first"
build "$work/second"
diff "$work/first" "$work/second"
