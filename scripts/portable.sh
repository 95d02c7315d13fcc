#!/usr/bin/env bash
# A program that runs where its libraries are not installed: dist/dploc-VERSION-linux-ARCH.tar.xz
# with the program, every library but the C library's own in lib/, and their licences.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(scripts/version.sh)
name=dploc-$version-linux-$(uname -m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/$name
mkdir -p "$tree/lib" "$tree/licenses" dist

tar -xf "dist/dploc-$version.tar.xz" -C "$work"
source=$work/dploc-$version
epoch=$(stat -c %Y "$source/CMakeLists.txt") # the commit's time, by scripts/dist.sh
cmake -S "$source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DBUILD_TESTING=OFF -DCMAKE_C_FLAGS="-ffile-prefix-map=$work=." >/dev/null
cmake --build "$work/build" --parallel "$(nproc)" --target dploc dploc_manual >/dev/null
cp "$work/build/dploc" "$tree/dploc"
cp -r "$work/build/manual/man" "$tree/man"
cp "$source"/{README.md,LICENSE,CHANGELOG.md} "$tree"
cp "$source/LICENSES" "$tree/licenses/page"

# What ldd names, without the C library: that one belongs to the machine.
libraries=$(ldd "$tree/dploc" | awk '$3 ~ /^\// {print $3}' |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv)\.so')
for library in $libraries; do
    cp -L "$library" "$tree/lib/"
    # By name: dpkg knows some libraries in /lib and some in /usr/lib, which are one folder.
    package=$(dpkg -S "*/$(basename "$(readlink -f "$library")")" | sed 's/[:,].*//;q')
    cp -L "/usr/share/doc/$package/copyright" "$tree/licenses/$package"
done
chmod u+w "$tree"/lib/*
strip --strip-unneeded "$tree/dploc" "$tree"/lib/*
patchelf --set-rpath '$ORIGIN/lib' "$tree/dploc"
for library in "$tree"/lib/*; do patchelf --set-rpath '$ORIGIN' "$library"; done

chmod -R u=rwX,go=rX "$tree"
tar -C "$work" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --format=gnu \
    -cf - "$name" | xz -T1 -6 >"$work/$name.tar.xz"
mv "$work/$name.tar.xz" "dist/$name.tar.xz"
ls -l "dist/$name.tar.xz"
