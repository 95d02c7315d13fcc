#!/usr/bin/env bash
# The privacy wall, as a rule over folders and file names.
#
#   sees trips    ingest clean fit noise account ledger evaluate report, base/cleaned.h,
#                 method/method.*, and in a method's folder fit*, measure*, train*
#   public        write roads model sample, and every other file of a method's folder:
#                 estimate* (noised tables), generate (the model), and what both share
#
# No #include leads from a public file to one that sees trips, and no public file names such a thing
# of the public header. The report includes base, evaluate, roads and districts alone: it gets
# trips from its caller and can neither read files of trips nor reach a ledger. And what is inside a
# vector of exact counts (noise/*_inner.h) is for noise alone: nobody else can take a number out.
#
# usage: include_graph.sh SOURCE_DIRECTORY
set -euo pipefail
cd "$1/src"
sees_trips='^((ingest|clean|fit|noise|account|ledger|evaluate|report)/'
sees_trips+='|base/cleaned\.|method/method\.)'
sees_trips+='|^method/.*/(fit|measure|train)[a-z_]*\.[ch]$'
names='dpl_(trips_open|trips_append|clean|cleaned|part|parts|units|unit|twogram|fit|read_facts'
names+='|noised|exact|filter|sequences|ledger|plan)'
names+='([^A-Za-z]|_[a-z]+ *\()'
includes() { sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$1"; }

mapfile -t public < <(find write roads model sample method -name '*.[ch]' | grep -vE "$sees_trips")
declare -A from=()
for file in "${public[@]}"; do from[$file]=start; done
queue=("${public[@]}") bad=0
while [ ${#queue[@]} -gt 0 ]; do
    file=${queue[0]} queue=("${queue[@]:1}")
    while IFS= read -r header; do
        if [[ $header =~ $sees_trips ]]; then
            chain=$file
            while [ "${from[${chain%% *}]}" != start ]; do
                chain="${from[${chain%% *}]} $chain"
            done
            echo "private data within reach: $chain -> $header"
            bad=1
        fi
        if [ -f "$header" ] && [ -z "${from[$header]:-}" ]; then
            from[$header]=$file queue+=("$header")
        fi
    done < <(includes "$file")
done
for file in "${public[@]}"; do # words in comments do not count
    if found=$(sed 's|//.*||; s|/\*.*||; s|^ \*.*||' "$file" | grep -nE "$names"); then
        echo "$file names private data: $found"
        bad=1
    fi
done
allowed='^((base|evaluate|report|roads)/[a-z_]+\.h|grid/districts\.h|dploc\.h)$'
for file in report/*.[ch]; do
    if found=$(includes "$file" | grep -vE "$allowed"); then
        echo "$file includes more than base, evaluate, roads, districts and its own folder: $found"
        bad=1
    fi
done
inner='#[[:space:]]*include[[:space:]]*"noise/[a-z_]*inner\.h"'
if found=$(grep -rlE "$inner" --include='*.[ch]' . | grep -v '^\./noise/'); then
    echo "these see exact counts: $found"
    bad=1
fi
[ "$bad" = 0 ] && echo "${#public[@]} public files, none of which reaches private data"
exit "$bad"
