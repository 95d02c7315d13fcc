#!/usr/bin/env bash
# Every mutant must turn the suite red.
set -euo pipefail
scripts/mutants.sh
