/* Looking things up in units. */
#include "fit/units.h"

void dpl_unit_trips(const struct dpl_units *units, size_t unit, size_t *begin, size_t *end) {
    *begin = units->unit_start != NULL ? units->unit_start[unit] : unit;
    *end = units->unit_start != NULL ? units->unit_start[unit + 1] : unit + 1;
}

static size_t trip_twograms(const struct dpl_units *units, size_t trip) {
    size_t visits = units->trip_start[trip + 1] - units->trip_start[trip];
    return visits > 0 ? visits - 1 : 0;
}

size_t dpl_unit_twograms(const struct dpl_units *units, size_t unit) {
    size_t begin, end, n = 0;
    dpl_unit_trips(units, unit, &begin, &end);
    for (size_t trip = begin; trip < end; trip++) n += trip_twograms(units, trip);
    return n;
}

struct dpl_twogram dpl_unit_twogram(const struct dpl_units *units, size_t unit, size_t i) {
    size_t trip, end;
    dpl_unit_trips(units, unit, &trip, &end);
    while (i >= trip_twograms(units, trip)) i -= trip_twograms(units, trip++);
    const int32_t *visit = units->cell + units->trip_start[trip];
    return (struct dpl_twogram){.current = visit[i],
                                .next = visit[i + 1],
                                .destination = units->cell[units->trip_start[trip + 1] - 1],
                                .period = units->period[trip]};
}

size_t dpl_unit_choice(uint64_t draw, size_t i, size_t m, size_t n) {
    __extension__ typedef unsigned __int128 wide;
    size_t begin = n * i / m, end = n * (i + 1) / m;
    uint64_t word = dpl_mix64(draw + (i + 1) * 0x9E3779B97F4A7C15u);
    return begin + (size_t)(((wide)word * (end - begin)) >> 64); // biased by less than n / 2^64
}
