#!/usr/bin/env bash
# The main job from end to end on a made-up city: simulate, look, synthesise at epsilon 1, look at what came out.
# Everything lands in out/demo; about half a minute on two cores. DPLOC names an installed program;
# then out/demo is made where you are.
set -euo pipefail
[ -n "${DPLOC:-}" ] || cd "$(dirname "$0")/.."
dploc=${DPLOC:-build/dploc}
out=out/demo
rm -rf "$out"
mkdir -p "$out"
export XDG_STATE_HOME=$PWD/$out/state # a ledger of its own: the demo spends nothing of yours
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }
show() { printf '\n\033[1m$ %s\033[0m\n' "$*"; bash -c "$*"; }

say $dploc simulate --trips 100000 --roads-out $out/city.osm.pbf -o $out/city.csv
show "$dploc inspect $out/city.csv --region simulated --roads $out/city.osm.pbf --quiet | grep -v '^ '"
say $dploc synth $out/city.csv --region simulated --epsilon 1 --seed 1 --roads $out/city.osm.pbf --model $out/city.dploc --release $out/public --report $out/report.html -o $out/synthetic.csv
show "head -5 $out/synthetic.csv"
show "$dploc inspect $out/synthetic.csv --region simulated --quiet | grep -v '^ '"
say $dploc verify $out/synthetic.csv.certificate.json
say $dploc sample $out/city.dploc -n 3 --seed 2 -o $out/three.geojsonl --date 2025-03-03..2025-03-09
show "cut -c1-150 $out/three.geojsonl"
say $dploc sample $out/city.dploc -n 1000 --seed 3 --roads $out/city.osm.pbf --interval 10 -o $out/streets.csv
say $dploc report --public $out/streets.csv --region simulated --slot 10 --basemap $out/city.osm.pbf -o $out/streets.html
show "ls $out/public"
printf '\nMay be published: %s. For you alone: %s\n' "$out/public" "$out/synthetic.csv.PRIVATE.json"
printf 'Look at it in a browser (for you alone, too): %s\n' "$PWD/$out/report.html"
printf 'Trips on streets, every ten seconds (may be published): %s\n' "$PWD/$out/streets.html"
