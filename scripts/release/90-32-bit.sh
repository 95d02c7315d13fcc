#!/usr/bin/env bash
# A 32-bit build is refused with a sentence.
set -euo pipefail
scripts/setup.sh multilib
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if cmake -S . -B "$work" -G Ninja -DCMAKE_C_FLAGS=-m32 >"$work/log" 2>&1; then
    echo "a 32-bit build was configured"; exit 1
fi
grep "needs a 64-bit system" "$work/log"
