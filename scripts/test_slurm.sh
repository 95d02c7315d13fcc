#!/usr/bin/env bash
# examples/scale/slurm.sh on a real Slurm: a controller and one node on this machine, for the time
# of the test, without other users. The model must be that of one machine, byte for byte.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh slurm
example=$PWD/examples/scale/slurm.sh
export PATH=$PWD/build:/usr/sbin:$PATH
work=$(mktemp -d)
pids=()
stop() {
    if [ ${#pids[@]} -gt 0 ]; then kill "${pids[@]}" 2>/dev/null || true; wait; fi
    rm -rf "$work"
}
trap stop EXIT
cd "$work"
mkdir state spool
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'
}
name=$(hostname -s)
cat >slurm.conf <<CONF
ClusterName=test
SlurmctldHost=$name(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/controller.pid
SlurmdPidFile=$work/node.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=$name NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$work/slurm.conf XDG_STATE_HOME=$work/ledger

slurmctld -D >controller.log 2>&1 &
pids+=($!)
slurmd -D >node.log 2>&1 &
pids+=($!)
for _ in $(seq 600); do
    [ "$(sinfo --noheader --format=%T 2>/dev/null)" != idle ] || break
    sleep 0.1
done

options=(--region simulated --cell 2000 --epsilon 4 --ledger none --insecure-seed 9)
dploc simulate --trips 2000 -o city.csv --quiet
dploc fit city.csv "${options[@]}" -o one.dploc --quiet
bash "$example" 3 "$work/fit" "$work/city.csv" "${options[@]}"
for _ in $(seq 3000); do
    [ ! -e fit/5.plan.certificate.json ] || [ -n "$(squeue --noheader)" ] || break
    sleep 0.1
done
cmp one.dploc fit/5.plan || { tail -n 5 ./*.log fit/*.log >&2; exit 1; }
left=$(ls fit | grep -E '^(part|cleaned|sums|.*checkpoint)' || true)
[ -z "$left" ] || { echo "what is private was left: $left" >&2; exit 1; }
echo "slurm.sh: the model of one machine"
