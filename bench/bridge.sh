#!/usr/bin/env bash
# The method bridge on 222,000 simulated trips, as many as the San Francisco sample has: fit and sample apart, and what it needs of memory.
# Goal: both together in 90 s on two cores.
set -euo pipefail
trips=${DPLOC_BENCH_BRIDGE_TRIPS:-222000}
folder=$DPLOC_BENCH_DIR
report() { awk -v n="$1" -v v="$2" -v u="$3" -v g="$4" 'BEGIN { printf "%-36s %10.2f %-10s goal <= %g %s\n", n, v, u, g, v <= g ? "ok" : "MISSED" }'; }
measured() { # NAME COMMAND...: wall seconds and peak memory in files of that name
    local name=$1
    shift
    /usr/bin/env time -f '%e %M' -o "$folder/$name" "$@" >/dev/null
}
"$DPLOC" simulate --trips "$trips" -o "$folder/bridge.csv" --force --quiet
measured bridge_fit "$DPLOC" fit "$folder/bridge.csv" -o "$folder/bridge.dploc" --region simulated --epsilon 1 --delta 5e-6 --ledger none --insecure-seed 1 --force --restart --quiet --threads 2
measured bridge_sample "$DPLOC" sample "$folder/bridge.dploc" -o "$folder/bridge_out.csv" --seed 1 --force --quiet --threads 2
seconds() { tail -1 "$folder/$1" | awk '{ print $1 }'; }
report bridge_fit "$(seconds bridge_fit)" s 80
report bridge_sample "$(seconds bridge_sample)" s 10
report bridge_both "$(echo "$(seconds bridge_fit) $(seconds bridge_sample)" | awk '{ print $1 + $2 }')" s 90
report bridge_fit_memory "$(tail -1 "$folder/bridge_fit" | awk '{ print $2 * 1024 / 1e6 }')" MB 1000
rm -f "$folder"/bridge.csv "$folder"/bridge_out.csv "$folder"/bridge.dploc "$folder"/bridge_fit "$folder"/bridge_sample
