/* What methods share before any net: units, lengths, visit counts, and the reduced trips.
 *
 *     trips --keep--> units --lengths--> L_max --visits--> TOP-K --reduce--> trips on K cells
 *
 * Every filter is a function of one unit and of numbers released already. docs/METHOD.md, "Units"
 * and "Sizes". What is counted of units: count.h. */
#ifndef DPL_FIT_SIZES_H
#define DPL_FIT_SIZES_H

#include "base/zone.h"
#include "fit/topk.h"
#include "model/length_bins.h"
#include "fit/units.h"
#include "noise/lattice.h"

/* ---- units ---- */

/* Trips kept of a user where the bound on what they count as is chosen later, from a noised table:
 * all of most users, since clipping bounds what they add; a public number, for time's sake. */
enum { DPL_TRIPS_KEPT = 1000 };

/* Which trips belong to which unit. A view of the cleaned trips; for a trip as unit it is the
 * identity. */
struct dpl_kept {
    size_t n_units, n_trips;
    size_t n_no_user;   /* trips that were dropped because they name no user. NOT PRIVATE */
    size_t *unit_start; /* (n_units + 1) into `trip`; NULL: every trip is a unit */
    size_t *trip;       /* (n_trips) numbers of trips; NULL: all of them, in order */
    /* Where the unit is the user, also the trips that were not kept, in the order of time: */
    size_t *all_start; /* (n_units + 1) into `all` */
    size_t *all;
};

/* At most trips_max trips of each user are kept (0: DPL_TRIPS_KEPT): those with the smallest hashes
 * of their own content. Where the unit is the user, a trip without one is dropped. Caller frees
 * with dpl_kept_free. */
enum dpl_status dpl_kept_make(struct dpl_run *run, const struct dpl_cleaned *trips,
                              enum dpl_unit unit, int64_t trips_max, struct dpl_kept *kept);
void dpl_kept_free(struct dpl_kept *kept);
/* Unit u has the entries dpl_kept_begin(u) ... dpl_kept_begin(u + 1) - 1. */
static inline size_t dpl_kept_begin(const struct dpl_kept *kept, size_t unit) {
    return kept->unit_start ? kept->unit_start[unit] : unit;
}
/* The trip at entry i. */
static inline size_t dpl_kept_trip(const struct dpl_kept *kept, size_t i) {
    return kept->trip ? kept->trip[i] : i;
}
/* Visits of the trip, cut at length_max; 0: not cut. */
size_t dpl_trip_visits(const struct dpl_cleaned *trips, size_t trip, int32_t length_max);
/* The period of the trip cut at n visits. PRIVACY: when a trip goes is asked of what is left of it,
 * so that nothing beyond L_max counts. `zone` is that of the trips' area. */
uint8_t dpl_trip_period(const struct dpl_cleaned *trips, const struct dpl_zone *zone, size_t trip,
                        size_t n);

/* ---- what a unit adds ---- */

/* One entry per trip, or one per visit, of one unit at a time; room is reused. Free `entry` with
 * dpl_free. */
struct dpl_entries {
    struct dpl_entry *entry;
    size_t n, capacity;
};
static inline enum dpl_status dpl_entries_put(struct dpl_run *run, struct dpl_entries *list,
                                              size_t index, double value) {
    if (list->n == list->capacity)
        DPL_TRY(dpl_grow(run, &list->entry, &list->capacity, list->n + 1, sizeof *list->entry));
    list->entry[list->n++] = (struct dpl_entry){index, value};
    return DPL_OK;
}

/* The non-negative histogram nearest to values (n) among those with the same total, in place; all
 * zero when the total is not above 0. */
void dpl_fit_counts(double *values, size_t n);
/* The same as chances, which sum to 1; false: the total is not above 0, and they are all zero. */
bool dpl_counts_to_chances(double *values, size_t n, float *chance);
/* Mean number of visits of trips that are cut at length_max, by counts of lengths
 * (DPL_LENGTH_BINS) that are not negative; 2 at least. */
double dpl_length_mean(const double *counts, int32_t length_max);
/* L_max: the length that 95 % of trips do not exceed, by the noised histogram. PRIVACY: takes the
 * noised type. */
int32_t dpl_length_max(struct dpl_run *run, const struct dpl_noised *lengths);

/* ---- reduced trips ---- */

/* Trips of at most length_max visits on the chosen cells; all arrays owned, freed with
 * dpl_reduced_free. */
struct dpl_reduced {
    struct dpl_units units; /* points into the arrays below */
    size_t n_trips, n_visits;
    size_t *unit_start, *trip_start;
    int32_t *cell;
    struct dpl_position *position; /* NULL: the trips have none */
    uint8_t *period, *weekday;
};

/* Truncates first (destination and period are then the truncated trip's), moves visits to the
 * nearest chosen cell, and drops trips that have a visit too far from any, or fewer than 2 visits.
 */
enum dpl_status dpl_reduce(struct dpl_run *run, const struct dpl_cleaned *trips,
                           const struct dpl_kept *kept, int32_t length_max,
                           const struct dpl_topk *topk, struct dpl_reduced *reduced);
void dpl_reduced_free(struct dpl_reduced *reduced);

#endif
