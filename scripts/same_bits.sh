#!/usr/bin/env bash
# Does this tree release the same bits as an earlier commit? Builds both, fits and samples with every
# method on three simulated cities under one key, and compares the bytes of what is released.
# A move or a clean-up must show no difference; no digest is recorded.   usage: same_bits.sh COMMIT
set -euo pipefail
cd "$(dirname "$0")/.."
commit=${1:?usage: same_bits.sh COMMIT}
work=$(mktemp -d)
trap 'git worktree remove --force "$work/old" 2>/dev/null; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/old" "$commit"

build() { # source directory, build directory
    cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
        ${DPLOC_PAGE:+-DDPLOC_PAGE="$DPLOC_PAGE"} >/dev/null
    cmake --build "$2" --target dploc >/dev/null
}
build "$work/old" "$work/build-old"
build "$PWD" "$work/build-new"

# The numbers that methods estimate and draw. Certificates and manifests name versions and may
# differ in words; the trips and the model's tensors may not.
digest() { # dploc, city, method -> digests of trips and tensors
    local out=$work/run
    rm -rf "$out" && mkdir "$out"
    "$1" fit "$2" --region simulated --method "$3" --epsilon 4 --size 3000 --cell 1000 --ledger none \
        --insecure-seed 7 --quiet -o "$out/m.dploc" >/dev/null 2>&1 || { echo "no model"; return; }
    "$1" sample "$out/m.dploc" -n 2000 --seed 3 --quiet -o "$out/t.csv" >/dev/null 2>&1
    sha256sum <"$out/t.csv" | cut -c1-16
    python3 - "$out/m.dploc" <<'PY'
import hashlib, json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8 : 8 + size])
body = data[8 + size :]
for name in sorted(header):
    if name != "__metadata__" and not name.startswith("noised."):
        begin, end = header[name]["data_offsets"]
        print(name, hashlib.sha256(body[begin:end]).hexdigest()[:16])
PY
}

differ=0
for city in 1 2 3; do
    "$work/build-new/dploc" simulate --trips 3000 --city $city --seed $city --quiet -o "$work/$city.csv"
    for method in $("$work/build-old/dploc" --list methods); do
        before=$(digest "$work/build-old/dploc" "$work/$city.csv" $method)
        after=$(digest "$work/build-new/dploc" "$work/$city.csv" $method)
        if [ "$before" = "$after" ]; then echo "city $city, $method: same ($(wc -l <<<"$after") digests)"; else
            echo "city $city, $method: DIFFERENT"
            diff <(echo "$before") <(echo "$after") || true
            differ=1
        fi
    done
done
exit $differ
