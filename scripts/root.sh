#!/usr/bin/env bash
# A fresh Debian root to try packages in.
#   root.sh make DIR        a new root in DIR (packages are kept in build/roots for the next one)
#   root.sh run DIR CMD...  runs CMD in it, with /proc and the network's names
#   root.sh remove DIR
# The mirror is the one that this machine's own apt uses.
set -euo pipefail
cd "$(dirname "$0")/.."
suite=${SUITE:-bookworm}
action=$1 root=$2
shift 2

mirror() {
    apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' |
        awk '$2 == "main" {print $1; exit}'
}

make_root() {
    local cache=$PWD/build/roots/$suite
    mkdir -p "$cache/packages" "$root"
    if [ ! -f "$cache/base.tar" ]; then
        debootstrap --variant=minbase --cache-dir="$cache/packages" "$suite" "$cache/base" \
            "$(mirror)" >"$cache/log" 2>&1 || { tail -5 "$cache/log" >&2; exit 1; }
        tar -C "$cache/base" -cf "$cache/base.tar" .
        rm -rf "$cache/base"
    fi
    tar -C "$root" -xf "$cache/base.tar"
    # The machine's own way to its mirror: sources as debootstrap left them, settings of apt.
    cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    cp /etc/hosts "$root/etc/hosts"
}

run_in_root() {
    mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
    mountpoint -q "$root/dev" || mount --rbind --make-rslave /dev "$root/dev"
    local status=0
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} \
        chroot "$root" "$@" || status=$?
    umount "$root/proc"
    umount -l "$root/dev"
    return $status
}

remove_root() {
    ! mountpoint -q "$root/proc" || umount "$root/proc"
    ! mountpoint -q "$root/dev" || umount -l "$root/dev"
    # Whatever is still mounted below is the machine's, not the root's.
    if grep -q " $(readlink -f "$root")/" /proc/mounts; then
        echo "root: something is still mounted below $root; not removed" >&2
        exit 1
    fi
    rm -rf --one-file-system "$root"
}

case $action in
    make) make_root ;;
    run) run_in_root "$@" ;;
    remove) remove_root ;;
    *) echo "usage: root.sh make|run|remove DIR [CMD...]" >&2; exit 2 ;;
esac
