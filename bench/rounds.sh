#!/usr/bin/env bash
# Counting against reading alone; weak scaling of workers by processor time; and the memory of a fit
# of 10,000,000 trips above that of its tables. DPLOC_BENCH_TRIPS, DPLOC_BENCH_MANY: other sizes.
set -euo pipefail
trips=${DPLOC_BENCH_TRIPS:-400000} many=${DPLOC_BENCH_MANY:-10000000}
work=$DPLOC_BENCH_DIR/rounds
rm -rf "$work"; mkdir -p -m 700 "$work"; cd "$work"
export XDG_STATE_HOME=$work/state TMPDIR=$work
report() {
    awk -v n="$1" -v v="$2" -v u="$3" -v op="$4" -v g="$5" 'BEGIN {
        ok = op == "<=" ? v <= g : v >= g
        printf "%-36s %10.2f %-10s goal %s %g %s\n", n, v, u, op, g, ok ? "ok" : "MISSED" }'
}
cpu() { /usr/bin/env time -f '%U %S' -o cpu "$@" >/dev/null 2>&1; awk 'END { print $1 + $2 }' cpu; }
count() { cpu "$DPLOC" count "$1" --plan "$2" -o "$3" --threads 1 --force --quiet "${@:4}"; }
over() { awk -v a="$1" -v b="$2" 'BEGIN { print a / b }'; }
area="--region simulated --cell 1000"

# Trips of five points, a minute apart, that walk over the made-up city's box: rows without end.
rows() {
    awk -v n="$1" 'BEGIN { srand(7); print "trip_id,user_id,timestamp,lat,lon"
        for (t = 1; t <= n; t++) {
            y = 47.95 + .2 * rand(); x = 11.45 + .2 * rand(); s = 1740984000 + int(600000 * rand())
            for (i = 0; i < 5; i++) { printf "%d,%d,%d,%.5f,%.5f\n", t, t % 250000, s + 60 * i, y, x
                y += .008 * (rand() - .5); x += .008 * (rand() - .5) } } }'
}

"$DPLOC" simulate --trips "$trips" -o city.csv --quiet
# shellcheck disable=SC2086 — the area is several words
"$DPLOC" fit --plan-only $area --ledger none -o plan.1 --quiet
# The reader alone, with cleaning; one worker that counts all, round by round; and the same with
# cleaned trips kept from round to round. In turns, and the least of five of each.
for round in 1 2 3 4; do
    for _ in 1 2 3 4 5; do
        # shellcheck disable=SC2086
        cpu "$DPLOC" inspect city.csv $area --threads 1 --quiet >>"read.$round.s"
        count city.csv "plan.$round" part >>"count.$round.s"
        if [ "$round" = 1 ]; then rm -f kept; fi
        count city.csv "plan.$round" part --cleaned kept >>"kept.$round.s"
    done
    "$DPLOC" merge part -o sums --force --quiet
    "$DPLOC" fit --from-counts sums --plan "plan.$round" -o "plan.$((round + 1))" --quiet
done
rm -f kept
least() { sort -n "$1" | head -1; }
of_all() { for round in 1 2 3 4; do least "$1.$round.s"; done | awk '{ s += $1 } END { print s }'; }
reader_over() { over "$(least "read.$1.s")" "$(least "count.$1.s")"; }
count_s=$(least count.1.s)
report count_rate_over_reader_fit_kept "$(over "$(of_all read)" "$(of_all kept)")" times '>=' 0.8
report count_rate_over_reader_fit "$(over "$(of_all read)" "$(of_all count)")" times '>=' 0.8
report count_rate_over_reader_units "$(reader_over 1)" times '>=' 0.8
report count_rate_over_reader_lengths "$(reader_over 2)" times '>=' 0.8
# These do more than read: positions and visits of all cells; seventeen tables a trip.
report count_rate_over_reader_cells "$(reader_over 3)" times '>=' 0.8
report count_rate_over_reader_tables "$(reader_over 4)" times '>=' 0.8
rate=$(over "$(stat -c %s city.csv)" "$count_s" | awk '{ print $1 / 1e6 }')
report count_rate "$rate" MB/s/core '>=' 50
# Weak scaling: each worker has its own file of the same size, and all run at once.
alone=$count_s
for workers in 2 4; do
    for i in $(seq "$workers"); do
        { cp city.csv "city.$i.csv"; } 2>/dev/null
    done
    /usr/bin/env time -f '%U %S' -o cpu bash -c "for i in \$(seq $workers); do
        '$DPLOC' count city.\$i.csv --plan plan.1 -o part.\$i --threads 1 --force --quiet &
    done; wait"
    share=$(awk -v a="$alone" -v w="$workers" 'END { print a * w / ($1 + $2) }' cpu)
    report "weak_scaling_$workers" "$share" times '>=' 0.85
    rm -f city.[0-9].csv
done
rm -f city.csv

peak() {
    /usr/bin/env time -f %M -o rss "$@" >/dev/null 2>&1
    tail -1 rss | awk '{ print $1 * 1024 / 1e6 }'
}
rows 1000 >few.csv
rows "$many" >many.csv
# shellcheck disable=SC2086
few=$(peak "$DPLOC" fit few.csv $area --epsilon 100 --ledger none -o few.dploc --quiet)
# shellcheck disable=SC2086
many_mb=$(peak "$DPLOC" fit many.csv $area --ledger none --memory 600 -o many.dploc --quiet)
above_mb=$(awk -v a="$many_mb" -v b="$few" 'BEGIN { print a - b }')
report fit_many_memory_above_tables "$above_mb" MB '<=' 512
rm -rf "$work"
