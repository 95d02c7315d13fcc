#!/usr/bin/env bash
# A fit in rounds as a Slurm job array a round. scripts/test_slurm.sh runs it on one node.
#   usage: slurm.sh SHARDS FOLDER DATA OPTION...     FOLDER: shared by all nodes, for you alone
# The first call makes the plan and submits round 1; each round's last job submits the next.
set -euo pipefail
shards=$1 folder=$2 data=$3; shift 3
here=$(realpath "$0") round=${DPLOC_ROUND:-1}
plan=$folder/$round.plan next=$folder/$((round + 1)).plan
if [ "$round" = 1 ] && [ ! -e "$plan" ]; then
    mkdir -p -m 700 "$folder"
    dploc fit --plan-only "$@" -o "$plan"
fi
count=$(sbatch --parsable --array="1-$shards" --requeue --output="$folder/%A_%a.log" --wrap \
    "dploc count '$data' --plan '$plan' --shard \$SLURM_ARRAY_TASK_ID/$shards \
     --cleaned '$folder'/cleaned.\$SLURM_ARRAY_TASK_ID \
     -o '$folder'/part.\$SLURM_ARRAY_TASK_ID --force")
sbatch --dependency="afterok:$count" --output="$folder/driver.$round.log" --wrap \
    "set -e; dploc merge '$folder'/part.* -o '$folder/sums' --force
     dploc fit --from-counts '$folder/sums' --plan '$plan' -o '$next'
     if [ -e '$next.certificate.json' ]; then
         rm -f '$folder'/cleaned.* '$folder'/part.* '$folder/sums'
     else
         DPLOC_ROUND=$((round + 1)) '$here' '$shards' '$folder' '$data'
     fi"
