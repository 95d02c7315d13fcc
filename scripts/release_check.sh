#!/usr/bin/env bash
# Everything a release must pass beyond .ci/run: each file in scripts/release is one step. Runs all,
# or those named; goes on after a failure and ends with a table. Logs: build/release/STEP.log
set -uo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/release
steps=${*:-$(cd scripts/release && ls ./*.sh | sed 's|./\(.*\)\.sh|\1|')}
failed=0
table=""
for step in $steps; do
    echo "release-check: $step" >&2
    if bash "scripts/release/$step.sh" >"build/release/$step.log" 2>&1; then
        result=ok
    else
        result="FAILED, see build/release/$step.log"
        tail -20 "build/release/$step.log" >&2
        failed=1
    fi
    table+=$(printf '%-28s %s' "$step" "$result")$'\n'
done
printf '\n%s' "$table"
exit $failed
