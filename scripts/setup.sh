#!/bin/sh
# Installs the Debian packages dploc needs, and nothing when they are there already.
# This list is the only one: the Makefile, CI and the README all come here.
# usage: setup.sh [browser|lint|fuzz|site|release|python|spark|slurm|multilib|qemu]: also what the
# browser tests and screenshots need, what `make lint` runs, what fuzzes, what the site is built
# with, what packages are made and tried with, what environments of Python and wheels are made with,
# what Spark needs, what Slurm is, what a 32-bit build needs, what builds for other processors need
set -eu

packages="
gcc g++ time cmake ninja-build pkg-config make
libarchive-dev libjansson-dev libssl-dev zlib1g-dev libdnnl-dev ocl-icd-opencl-dev
tzdata libcmocka-dev zip zstd xz-utils python3 python3-pandas strace mandoc zsh fish parallel
"

# Node builds the report's page, which a source tarball has built already. Some machines have a Node
# of their own, with which Debian's npm conflicts: what is there and new enough stays.
needs_node() {
    [ ! -f "$(dirname "$0")/../web/built/page.c" ] || return 1
    major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/' || true)
    [ "${major:-0}" -lt 18 ] || ! command -v npm >/dev/null 2>&1
}
if needs_node; then packages="$packages nodejs npm"; fi

if [ "${1:-}" = browser ]; then
    command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || packages="$packages chromium"
    packages="$packages fonts-dejavu-core"
fi

if [ "${1:-}" = spark ]; then packages="$packages openjdk-17-jre-headless python3-venv"; fi

if [ "${1:-}" = slurm ]; then packages="$packages slurm-wlm"; fi

if [ "${1:-}" = site ]; then packages="$packages python3-markdown python3-pygments"; fi

if [ "${1:-}" = release ]; then
    packages="$packages python3-markdown python3-pygments debootstrap debhelper dh-python python3-all lintian fakeroot patchelf"
fi

if [ "${1:-}" = lint ]; then packages="$packages clang-format-14 clang-14 clang-tidy-14 libomp-14-dev cppcheck python3-markdown python3-pygments"; fi

# Sanitizers and coverage of clang: fuzzers, the thread sanitizer.
if [ "${1:-}" = fuzz ]; then packages="$packages clang clang-14 libclang-rt-14-dev libomp-14-dev llvm-14"; fi

if [ "${1:-}" = qemu ]; then
    packages="$packages gcc-aarch64-linux-gnu gcc-s390x-linux-gnu qemu-user-static"
fi

if [ "${1:-}" = multilib ]; then packages="$packages gcc-multilib"; fi

# Environments with packages of their own, and a library that brings all it needs.
if [ "${1:-}" = python ]; then packages="$packages python3-venv patchelf"; fi

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
