#!/usr/bin/env bash
# What was built has what cmake/hardening.cmake asks for, and a run leaves no core dump.
#   usage: hardening.sh dploc libdploc.so [sanitized]
set -euo pipefail
program=$1 library=$2 sanitized=${3:-}
bad=0
wants() { # what, file, command that finds it
    local what=$1 file=$2
    shift 2
    "$@" || { echo "$file has no $what"; bad=1; }
}
dynamic() { grep -Eq "$2" <<<"$(readelf -dW "$1")"; }
header() { grep -Eq "$2" <<<"$(readelf -hlW "$1")"; }
calls() { grep -Eq "UND $2" <<<"$(readelf --dyn-syms -W "$1")"; }

wants "position-independent code (PIE)" "$program" header "$program" 'Type: +DYN'
wants "position-independent code (PIE)" "$program" dynamic "$program" 'FLAGS_1.*PIE'
for file in "$program" "$library"; do
    wants "read-only relocations (RELRO)" "$file" header "$file" GNU_RELRO
    wants "binding at start (BIND_NOW)" "$file" dynamic "$file" 'BIND_NOW|FLAGS.*NOW'
    wants "stack that is not executable" "$file" header "$file" 'GNU_STACK.* RW '
    wants "stack protector" "$file" calls "$file" __stack_chk_fail
    [ -n "$sanitized" ] || wants "fortified calls" "$file" calls "$file" '__[a-z]+_chk@'
    if dynamic "$file" 'TEXTREL|RPATH.*:'; then echo "$file has relocations in its code"; bad=1; fi
done

# A run that waits for its input: what the kernel says about it. One that is not dumpable belongs to
# root in /proc; as root, strace shows that it was asked for.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ulimit -c unlimited 2>/dev/null || true
mkfifo "$work/in.csv"
"$program" inspect "$work/in.csv" >/dev/null 2>&1 &
waiting=$!
for _ in $(seq 100); do
    cores=$(awk '/Max core file size/ {print $5 $6}' "/proc/$waiting/limits")
    [ "$cores" = 00 ] && break
    sleep 0.05
done
[ "$cores" = 00 ] || { echo "core dumps of the program are limited to '$cores'"; bad=1; }
kill -9 "$waiting"
wait "$waiting" 2>/dev/null || true
# Leaks cannot be looked for under strace.
export ASAN_OPTIONS=detect_leaks=0
strace -qq -e trace=prctl -o "$work/calls" "$program" --version >/dev/null
grep -q 'PR_SET_DUMPABLE, SUID_DUMP_DISABLE) = 0' "$work/calls" ||
    { echo "the program can be dumped"; bad=1; }
exit $bad
