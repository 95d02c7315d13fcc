/* Building the columnar trip store. Readers of trips need dploc.h alone. */
#ifndef DPL_BASE_CLEANED_H
#define DPL_BASE_CLEANED_H

#include "base/base.h"

struct dpl_spill; // spill.h

/* The public columns and how much room each has. */
struct dpl_cleaned_builder {
    struct dpl_cleaned trips; /* first: a pointer to one is a pointer to the other */
    size_t start_capacity, cell_capacity, position_capacity, later_capacity, utc_capacity,
        user_capacity, period_capacity, ends_capacity;
    size_t memory_bytes; /* trips beyond go to the spill; 0: none do */
    bool by_user;        /* there, a user's trips are to be in one part */
    struct dpl_spill *spill;
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

/* Likewise: its first and last point. */
enum dpl_status dpl_cleaned_append_ends(struct dpl_run *run, struct dpl_cleaned *trips,
                                        struct dpl_trip_ends ends);
/* Room for those of that many trips. */
enum dpl_status dpl_cleaned_reserve_ends(struct dpl_run *run, struct dpl_cleaned *trips,
                                         size_t n_trips);

/* Where and when a trip begins and ends; as its slots say where points were not kept. */
struct dpl_instant dpl_cleaned_begin(const struct dpl_cleaned *trips, size_t trip);
struct dpl_instant dpl_cleaned_end(const struct dpl_cleaned *trips, size_t trip);

/* A hash of what the trip itself is: when, where, how long; not whose, nor where it stands. */
struct dpl_key dpl_cleaned_hash(const struct dpl_cleaned *trips, size_t trip, uint64_t seed);

/* All columns but `later`, as bytes. */
enum { DPL_CLEANED_COLUMNS = 7 };
struct dpl_cleaned_column {
    void *data;
    size_t bytes;
};
void dpl_cleaned_columns(const struct dpl_cleaned *trips,
                         struct dpl_cleaned_column column[DPL_CLEANED_COLUMNS]);

/* ---- more trips than memory holds ---- */

/* Before the first append: what exceeds `memory_bytes` goes to a file without a name. */
void dpl_cleaned_limit(struct dpl_cleaned *trips, size_t memory_bytes, bool by_user);
/* Now and then while appending, and with `end` after the last: all trips go to the file if they
 * are too many, or if some are there already. */
enum dpl_status dpl_cleaned_relieve(struct dpl_run *run, struct dpl_cleaned *trips, bool end);
/* Forgets all trips. */
void dpl_cleaned_clear(struct dpl_cleaned *trips);
/* Whether the trips are in a file. Then the columns are empty, and only the following calls see
 * them. */
bool dpl_cleaned_spilled(const struct dpl_cleaned *trips);
/* How many parts they are in: 1 in memory. */
size_t dpl_cleaned_parts(const struct dpl_cleaned *trips);
/* Calls `see` with each part in turn; in memory with the trips themselves. */
typedef enum dpl_status dpl_cleaned_seer(struct dpl_run *run, void *context,
                                         const struct dpl_cleaned *part);
enum dpl_status dpl_cleaned_each(struct dpl_run *run, const struct dpl_cleaned *trips,
                                 dpl_cleaned_seer *see, void *context);
/* One part of trips in a file. Caller frees with dpl_cleaned_free. */
enum dpl_status dpl_cleaned_load(struct dpl_run *run, const struct dpl_cleaned *trips, size_t part,
                                 struct dpl_cleaned **loaded);

#endif
