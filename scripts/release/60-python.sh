#!/usr/bin/env bash
# The Python package with what is too slow for every change: the pandas before, without pyarrow, and
# scikit-mobility; and the wheel, in an empty environment, and packed twice with the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."
make test-python ENVIRONMENTS="test pandas2 skmob"
make wheel
again=$(mktemp -d)
trap 'rm -rf "$again"' EXIT
python3 scripts/wheel.py build "$again"
cmp dist/dploc-*.whl "$again"/dploc-*.whl
