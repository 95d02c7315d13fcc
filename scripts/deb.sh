#!/usr/bin/env bash
# The Debian packages in dist/, built from the source tarball, and looked through by lintian.
# usage: deb.sh [OUT]: packages land in OUT instead of dist/
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
version=$(scripts/version.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xf "dist/dploc-$version.tar.xz" -C "$work"
source=$work/dploc-$version
cp -r "$source/packaging/debian" "$source/debian"
epoch=$(stat -c %Y "$source/CMakeLists.txt") # the commit's time, by scripts/dist.sh
cat >"$source/debian/changelog" <<END
dploc ($version) unstable; urgency=medium

  * Version $version; see the file changelog.gz.

 -- $(sed -n 's/^Maintainer: //p' "$source/debian/control")  $(date -u -R -d "@$epoch")
END
{
    cat "$source/debian/copyright.head"
    sed 's/^$/./; s/^/ /' "$source/LICENSES"
} >"$source/debian/copyright"
(cd "$source" && DEB_BUILD_OPTIONS="nocheck parallel=$(nproc) ${DEB_BUILD_OPTIONS:-}" \
    dpkg-buildpackage --build=binary --no-sign >"$work/log" 2>&1) || { tail -30 "$work/log" >&2; exit 1; }
# The address in packaging/debian/control is a reserved one: whoever publishes puts in theirs.
lintian --allow-root --fail-on error,warning \
    --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$work"/*.changes
mv "$work"/*.deb "$out"
ls -l "$out"/*.deb
