#!/usr/bin/env bash
# A fit in rounds on all cores of one machine, or of several, by GNU parallel. Run by a test.
#   usage: parallel.sh SHARDS MODEL DATA OPTION...      options of 'dploc fit': --region, --epsilon
# With --sshloginfile in PARALLEL the same works over ssh, where the folder is shared.
set -euo pipefail
shards=$1 model=$2 data=$3; shift 3
folder=$(mktemp -d "${TMPDIR:-/tmp}/dploc-rounds.XXXXXX") # for you alone: parts are private
trap 'rm -rf "$folder"' EXIT
dploc fit --plan-only "$@" -o "$folder/1.plan" --quiet
for round in $(seq 1 60); do
    plan=$folder/$round.plan next=$folder/$((round + 1)).plan
    seq "$shards" | parallel --halt now,fail=1 --retries 3 dploc count "$data" --plan "$plan" \
        --shard "{}/$shards" --cleaned "$folder/cleaned.{}" -o "$folder/part.{}" --threads 1 \
        --force --quiet
    dploc merge "$folder"/part.* -o "$folder/sums" --force --quiet
    dploc fit --from-counts "$folder/sums" --plan "$plan" -o "$next" --quiet
    [ -e "$next.certificate.json" ] || continue
    for ending in "" .certificate.json .manifest.json .PRIVATE.json; do
        mv "$next$ending" "$model$ending"
    done
    exit
done
exit 1
