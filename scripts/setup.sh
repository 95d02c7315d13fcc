#!/bin/sh
# Installs the Debian packages dploc needs, and nothing when they are there already.
# This list is the only one: the Makefile, CI and the README all come here.
set -eu

packages="
gcc g++ time cmake ninja-build pkg-config make
libarchive-dev libjansson-dev libssl-dev libdnnl-dev ocl-icd-opencl-dev
tzdata libcmocka-dev zip zstd xz-utils python3
"

missing=""
for package in $packages; do
    # "install ok installed" is the only state in which the files are there.
    state=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
    [ "$state" = "install ok installed" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "setup: installing$missing" >&2
run=""
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "setup: not root and no sudo; install by hand:$missing" >&2
        exit 1
    }
    run="sudo"
fi
export DEBIAN_FRONTEND=noninteractive
$run apt-get update -qq
# shellcheck disable=SC2086 — the list is meant to be split into words
$run apt-get install -y -qq --no-install-recommends $missing >/dev/null
