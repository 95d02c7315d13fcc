#!/usr/bin/env bash
# Static analysers over the whole tree; the threaded paths under the thread sanitizer.
set -euo pipefail
scripts/setup.sh lint
scripts/static.sh
scripts/setup.sh fuzz
scripts/tsan.sh
