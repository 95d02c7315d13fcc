#!/usr/bin/env bash
# Other processors, under qemu: ARM64, and s390x, which is big-endian. What is built is the library
# and the tests named below; their golden numbers are those of this processor, so that the same bits
# come out everywhere. The libraries come from Debian's packages for those machines, unpacked.
#   usage: 85-qemu.sh [arm64|s390x ...]
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/setup.sh qemu
declare -A triplet=([arm64]=aarch64-linux-gnu [s390x]=s390x-linux-gnu)
declare -A cpu=([arm64]=aarch64 [s390x]=s390x)
# The noise to its bits, and models; on ARM64 also reading, ledger and plans.
declare -A tests=(
    [s390x]="random_test gaussian_exact_test gaussian_test laplace_test lattice_test noised_test
             sampler_test model_test"
    [arm64]="random_test gaussian_exact_test gaussian_test laplace_test lattice_test noised_test
             sampler_test model_test base_test json_test filter_test local_test
             zone_test clean_test read_test ledger_test plan_test certificate_test topk_test")

# root ARCHITECTURE DIR: the libraries and headers of that machine.
make_root() {
    local settings=(-o "APT::Architecture=$1" -o "APT::Architectures=$1" -o "Dir::State=$2/state"
        -o Dir::State::status=/dev/null -o "Dir::Cache=$2/cache" -o Debug::NoLocking=1)
    mkdir -p "$2"/{state/lists/partial,cache/archives/partial,root}
    apt-get "${settings[@]}" -qq update
    apt-get "${settings[@]}" -qq -y --no-install-recommends --download-only install libc6-dev \
        libgcc-12-dev libarchive-dev libjansson-dev libssl-dev zlib1g-dev libcmocka-dev libgomp1
    for package in "$2"/cache/archives/*.deb; do dpkg-deb -x "$package" "$2/root"; done
    touch "$2/made"
}

for arch in "${@:-arm64 s390x}"; do
    for one in $arch; do
        work=$PWD/build/qemu/$one root=$PWD/build/qemu/$one/root
        test -f "$work/made" || make_root "$one" "$work"
        export PKG_CONFIG_LIBDIR=$root/usr/lib/${triplet[$one]}/pkgconfig:$root/usr/share/pkgconfig
        export PKG_CONFIG_SYSROOT_DIR=$root QEMU_LD_PREFIX=$root
        cmake -S . -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DDPLOC_BLAS=plain \
            -DDPLOC_WERROR=OFF -DDPLOC_ANY_BYTE_ORDER=ON -DDPLOC_BROWSER_TESTS=OFF -DCMAKE_SYSTEM_NAME=Linux \
            -DCMAKE_SYSTEM_PROCESSOR="${cpu[$one]}" -DCMAKE_SYSROOT="$root" \
            -DCMAKE_C_COMPILER="${triplet[$one]}-gcc" \
            -DCMAKE_CROSSCOMPILING_EMULATOR="qemu-${cpu[$one]}-static" \
            ${CMAKE_C_COMPILER_LAUNCHER:+-DCMAKE_C_COMPILER_LAUNCHER="$CMAKE_C_COMPILER_LAUNCHER"} \
            ${DPLOC_PAGE:+-DDPLOC_PAGE="$DPLOC_PAGE"} >"$work/log"
        read -r -a names <<<"$(tr '\n' ' ' <<<"${tests[$one]}")"
        cmake --build "$work/build" --target "${names[@]}" >"$work/log"
        pattern=$(IFS='|'; echo "${names[*]}")
        echo "$one"
        ctest --test-dir "$work/build" -R "^($pattern)\$" --no-tests=error --output-on-failure \
            --timeout 7200
    done
done
