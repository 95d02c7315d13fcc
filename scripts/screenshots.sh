#!/usr/bin/env bash
# The pictures in docs/images: a made-up city, a synthetic set, attacks on it, parts of the report.
set -euo pipefail
cd "$(dirname "$0")/.."
dploc=$PWD/build/dploc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state
(
    cd "$work"
    "$dploc" simulate --trips 200000 -o city.csv --roads-out city.osm.pbf --quiet
    "$dploc" synth city.csv --region simulated --epsilon 1 --seed 1 --hold-out 0.1 \
        --dates 2025-03-03..2025-03-30 --roads city.osm.pbf --model city.dploc -o synthetic.csv \
        --quiet
    "$dploc" attack city.csv synthetic.csv --no-control --json --quiet >attack.json
    "$dploc" report city.csv synthetic.csv --attack attack.json --real-trips 12 -o report.html \
        --basemap city.osm.pbf --quiet
    # Trips on streets: a point every ten seconds, so that lines follow them. The real ones are some
    # of everybody's: the city is written user by user.
    "$dploc" sample city.dploc -n 2000 --seed 1 --roads city.osm.pbf --interval 10 \
        -o streets.csv --quiet
    awk -F, 'NR == 1 || $1 % 100 == 0' city.csv >some.csv
    "$dploc" report some.csv streets.csv --region simulated --slot 10 --basemap city.osm.pbf \
        --trips 60 --real-trips 60 -o streets.html --quiet
)
mkdir -p docs/images
node tests/browser/screenshots.mjs "$work/report.html" "$work/streets.html" build/web docs/images
ls -l docs/images
