/* Building the columnar trip store. Readers of trips need dploc.h alone. */
#ifndef DPL_BASE_CLEANED_H
#define DPL_BASE_CLEANED_H

#include "base/base.h"

/* The public columns and how much room each has. */
struct dpl_cleaned_builder {
    struct dpl_cleaned trips; /* first: a pointer to one is a pointer to the other */
    size_t start_capacity, cell_capacity, position_capacity, later_capacity, utc_capacity,
        user_capacity, period_capacity, end_capacity;
};

/* One trip, as it is appended. */
struct dpl_cleaned_trip {
    const int32_t *cell; /* (n_visits) */
    size_t n_visits;
    int64_t utc_s;
    int32_t user; /* -1: unknown */
    uint8_t period;
    const struct dpl_position *position; /* (n_visits) NULL: not kept; the same for all trips */
};

/* An empty store. Caller frees with dpl_cleaned_free. */
enum dpl_status dpl_cleaned_new(struct dpl_run *run, const struct dpl_grid *grid,
                                struct dpl_cleaned **trips);
enum dpl_status dpl_cleaned_reserve(struct dpl_run *run, struct dpl_cleaned *trips,
                                    size_t more_trips, size_t more_visits, bool with_positions);
enum dpl_status dpl_cleaned_append(struct dpl_run *run, struct dpl_cleaned *trips,
                                   const struct dpl_cleaned_trip *trip);

/* After dpl_cleaned_append: where that trip is a phase later, (n_visits); for all trips or for
 * none.
 */
enum dpl_status dpl_cleaned_append_later(struct dpl_run *run, struct dpl_cleaned *trips,
                                         const struct dpl_position *later);

/* Likewise: its last point. */
enum dpl_status dpl_cleaned_append_end(struct dpl_run *run, struct dpl_cleaned *trips,
                                       struct dpl_instant end);

/* Where and when a trip begins and ends; as its slots say where points were not kept. */
struct dpl_instant dpl_cleaned_begin(const struct dpl_cleaned *trips, size_t trip);
struct dpl_instant dpl_cleaned_end(const struct dpl_cleaned *trips, size_t trip);

#endif
