# rounds.sh PLAN SHARDS DATA [CLEANED]: from the plan of round 1 to the model, which is named last;
# with CLEANED, trips are kept in CLEANED.1 and so on.
set -e
plan=$1 shards=$2 data=$3
for round in $(seq 1 20); do
    for i in $(seq "$shards"); do
        dploc count "$data" --plan "$plan.$round" --shard "$i/$shards" -o "part.$i" --force -q \
            ${4:+--cleaned "$4.$i"}
    done
    dploc merge $(seq -f 'part.%.0f' "$shards") -o sums --force -q
    dploc fit --from-counts sums --plan "$plan.$round" -o "$plan.$((round + 1))" -q
    if [ -e "$plan.$((round + 1)).certificate.json" ]; then
        echo "$plan.$((round + 1))"
        exit
    fi
done
exit 1
