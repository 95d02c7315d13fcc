#!/bin/sh
# Formats every C file of the tree, or with --check only says which ones differ (and fails).
# The style is .clang-format's, by clang-format 14: other versions break lines elsewhere.
set -eu
cd "$(dirname "$0")/.."
files=$(git ls-files '*.c' '*.h')
if [ "${1:-}" = --check ]; then
    # shellcheck disable=SC2086 — a list of names
    exec clang-format-14 --dry-run --Werror $files
fi
# shellcheck disable=SC2086
exec clang-format-14 -i $files
