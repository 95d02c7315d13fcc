/* One user's trips, one after the other.
 *
 * A user's home is the cell in which most of its days begin, and there where the first such day
 * does: a rule of one user alone. */
#ifndef DPL_FIT_LIFE_H
#define DPL_FIT_LIFE_H

#include "base/zone.h"
#include "model/people.h"

/* PRIVATE: one user's trips. */
struct dpl_life {
    double chains[DPL_GAPS * DPL_REACHES]; /* transitions of each kind */
    double days[2 * DPL_DAY_BINS];         /* days by number of trips; those behind begin at home */
    size_t n_transitions, n_days;
    size_t n_overlaps; /* transitions to a trip that begins before the last one has ended */
};
/* trip (n): numbers of trips, in the order of time. Days are local. */
enum dpl_status dpl_life_look(struct dpl_run *run, const struct dpl_cleaned *trips,
                              const struct dpl_zone *zone, const size_t *trip, size_t n,
                              struct dpl_life *life);

#endif
