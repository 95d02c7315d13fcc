#!/usr/bin/env bash
# The source tarball dist/dploc-VERSION.tar.xz: what is committed, and the report's page already
# built, so that building from it needs no Node. The same commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(scripts/version.sh)
page=build/web/page/page.c
[ -f "$page" ] || { echo "dist: no $page; run 'make' first" >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || echo "dist: what is not committed stays out" >&2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=dploc-$version
git archive --prefix="$name/" HEAD | tar -x -C "$work"
mkdir -p "$work/$name/web/built" dist
cp "$page" "$work/$name/web/built/page.c"
chmod -R u=rwX,go=rX "$work/$name"
tar -C "$work" --sort=name --mtime="@$(git log -1 --format=%ct)" --owner=0 --group=0 \
    --numeric-owner --format=gnu -cf - "$name" | xz -T1 -6 >"$work/$name.tar.xz"
mv "$work/$name.tar.xz" "dist/$name.tar.xz"
ls -l "dist/$name.tar.xz"
