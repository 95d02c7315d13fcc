#!/usr/bin/env bash
# What samples and writes never sees private data: from its sources no #include leads to what reads, cleans, holds or trains on
# trips, and none of them names such a thing from the public header; nor to what compares or shows them. The report in turn stands on base,
# evaluate and public roads alone: it gets trips from its caller and can neither read files of trips nor reach a ledger.   usage: include_graph.sh SOURCE_DIRECTORY
set -euo pipefail
cd "$1/src"
sources=(write/*.[ch] roads/*.[ch] model/*.[ch] sample/*.[ch] method/paper/{routes,trace,vae_sample,nexthop_table}.[ch] method/*/generate.c
         method/bridge/{bridge,walk}.h method/bridge/mixing.[ch] method/bridge/{places,estimate,levels,visits,flows,lengths,edges,walk,calibrate,motion}.c # estimates and calibration see noised tables alone
         method/ngram/grams.[ch] method/adatrace/adatrace.h method/adatrace/{places,estimate,walk}.c)
forbidden='^(ingest/|clean/|evaluate/|report/|base/cleaned\.h|fit/|method/method\.h|method/paper/(vae|nexthop)\.h|method/bridge/measure\.h|method/ngram/tree\.h|method/adatrace/measure\.h|method/paper/net/(dpsgd|arrange)\.h|noise/|account/|ledger/)'
names='dpl_(trips|trip|units|unit|twogram|fit|read_facts|noised|exact|filter|sequences|ledger|plan)([^A-Za-z]|_[a-z]+ *\()'

declare -A from=()
queue=()
for file in "${sources[@]}"; do
    [ -f "$file" ] || { echo "$file is gone: correct the list in this script"; exit 1; }
    from[$file]=start queue+=("$file")
done
bad=0
while [ ${#queue[@]} -gt 0 ]; do
    file=${queue[0]} queue=("${queue[@]:1}")
    while IFS= read -r header; do
        if [[ $header =~ $forbidden ]]; then
            chain=$file
            while [ "${from[${chain%% *}]}" != start ]; do chain="${from[${chain%% *}]} $chain"; done
            echo "private data within reach: $chain -> $header"
            bad=1
        fi
        [ -f "$header" ] && [ -z "${from[$header]:-}" ] && { from[$header]=$file queue+=("$header"); }
    done < <(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$file")
done
# Words in comments do not count.
for file in "${sources[@]}"; do
    if found=$(sed 's|//.*||; s|/\*.*||; s|^ \*.*||' "$file" | grep -nE "$names"); then
        echo "$file names private data: $found"
        bad=1
    fi
done
for file in report/*.[ch]; do
    if found=$(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$file" | grep -vE '"((base|evaluate|report|roads)/[a-z_]+\.h|dploc\.h)"'); then
        echo "$file includes more than base, evaluate, roads and its own folder: $found"
        bad=1
    fi
done
[ "$bad" = 0 ] && echo "${#from[@]} files, none of which reaches private data"
exit "$bad"
