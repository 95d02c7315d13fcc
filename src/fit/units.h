/* Trips on the chosen cells, grouped into units: what the methods train on. A view; owns nothing.
 */
#ifndef DPL_FIT_UNITS_H
#define DPL_FIT_UNITS_H

#include "base/base.h"

struct dpl_units {
    size_t n_units;
    const size_t
        *unit_start; /* (n_units + 1) first trip of each unit; NULL: every trip is a unit */
    const size_t *trip_start;            /* (n_trips + 1) first visit of each trip */
    const int32_t *cell;                 /* (n_visits) 0 ... K-1 */
    const struct dpl_position *position; /* (n_visits) NULL: the trips have none */
    const uint8_t *period;               /* (n_trips) */
    const uint8_t *weekday;              /* (n_trips) of the first visit: 0 Monday ... 6 Sunday */
};

/* A unit's trips are *begin ... *end-1. */
void dpl_unit_trips(const struct dpl_units *units, size_t unit, size_t *begin, size_t *end);
/* Steps from one visit to the next, over all trips of the unit. */
size_t dpl_unit_twograms(const struct dpl_units *units, size_t unit);

struct dpl_twogram {
    int32_t current, next, destination; /* destination: the trip's last visit */
    uint8_t period;
};
/* The i-th of them, i < dpl_unit_twograms. */
struct dpl_twogram dpl_unit_twogram(const struct dpl_units *units, size_t unit, size_t i);

/* Which of n things the i-th of m rows shows, m <= n: uniformly one of the i-th m-th part. With m =
 * 1 one of all n, with m = n all of them. `draw` is the unit's randomness. */
size_t dpl_unit_choice(uint64_t draw, size_t i, size_t m, size_t n);

#endif
