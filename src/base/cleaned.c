/* The columnar trip store. */
#include "base/cleaned.h"

#include <string.h>

#include "base/spill.h"

enum dpl_status dpl_cleaned_new(struct dpl_run *run, const struct dpl_grid *grid,
                                struct dpl_cleaned **trips) {
    struct dpl_cleaned_builder *made = dpl_alloc(run, 1, sizeof *made);
    if (!made) return DPL_SYSTEM;
    made->trips.grid = *grid;
    made->trips.has_time = true;
    enum dpl_status status =
        dpl_grow(run, &made->trips.start, &made->start_capacity, 1, sizeof *made->trips.start);
    if (status != DPL_OK) {
        dpl_free(made);
        return status;
    }
    made->trips.start[0] = 0;
    *trips = &made->trips;
    return DPL_OK;
}

/* The builder wraps the public struct, which comes first in it. */
static struct dpl_cleaned_builder *builder_of(struct dpl_cleaned *trips) {
    return (struct dpl_cleaned_builder *)trips;
}

enum dpl_status dpl_cleaned_reserve(struct dpl_run *run, struct dpl_cleaned *trips,
                                    size_t more_trips, size_t more_visits, bool with_positions) {
    struct dpl_cleaned_builder *b = builder_of(trips);
    size_t n = trips->n_trips + more_trips;
    DPL_TRY(dpl_grow(run, &trips->cell, &b->cell_capacity, trips->n_visits + more_visits,
                     sizeof *trips->cell));
    if (with_positions)
        DPL_TRY(dpl_grow(run, &trips->position, &b->position_capacity,
                         trips->n_visits + more_visits, sizeof *trips->position));
    DPL_TRY(dpl_grow(run, &trips->start, &b->start_capacity, n + 1, sizeof *trips->start));
    DPL_TRY(dpl_grow(run, &trips->utc_s, &b->utc_capacity, n, sizeof *trips->utc_s));
    DPL_TRY(dpl_grow(run, &trips->user, &b->user_capacity, n, sizeof *trips->user));
    return dpl_grow(run, &trips->period, &b->period_capacity, n, sizeof *trips->period);
}

enum dpl_status dpl_cleaned_append(struct dpl_run *run, struct dpl_cleaned *trips,
                                   const struct dpl_cleaned_trip *trip) {
    DPL_TRY(dpl_cleaned_reserve(run, trips, 1, trip->n_visits, trip->position != NULL));
    size_t i = trips->n_trips++;
    if (trip->n_visits)
        memcpy(trips->cell + trips->n_visits, trip->cell, trip->n_visits * sizeof *trip->cell);
    if (trip->n_visits && trip->position)
        memcpy(trips->position + trips->n_visits, trip->position,
               trip->n_visits * sizeof *trip->position);
    trips->n_visits += trip->n_visits;
    trips->start[i + 1] = trips->n_visits;
    trips->utc_s[i] = trip->utc_s;
    trips->user[i] = trip->user;
    trips->period[i] = trip->period;
    if (trip->user >= 0 && (size_t)trip->user >= trips->n_users)
        trips->n_users = (size_t)trip->user + 1;
    return DPL_OK;
}

enum dpl_status dpl_cleaned_append_later(struct dpl_run *run, struct dpl_cleaned *trips,
                                         const struct dpl_position *later) {
    size_t first = trips->start[trips->n_trips - 1];
    DPL_TRY(dpl_grow(run, &trips->later, &builder_of(trips)->later_capacity, trips->n_visits,
                     sizeof *trips->later));
    memcpy(trips->later + first, later, (trips->n_visits - first) * sizeof *later);
    return DPL_OK;
}

enum dpl_status dpl_cleaned_reserve_ends(struct dpl_run *run, struct dpl_cleaned *trips,
                                         size_t n_trips) {
    return dpl_grow(run, &trips->ends, &builder_of(trips)->ends_capacity, n_trips,
                    sizeof *trips->ends);
}

enum dpl_status dpl_cleaned_append_ends(struct dpl_run *run, struct dpl_cleaned *trips,
                                        struct dpl_trip_ends ends) {
    DPL_TRY(dpl_cleaned_reserve_ends(run, trips, trips->n_trips));
    trips->ends[trips->n_trips - 1] = ends;
    return DPL_OK;
}

/* Where the trip is at one of its visits: there, or at the middle of its cell. */
static struct dpl_instant at_visit(const struct dpl_cleaned *trips, size_t trip, size_t visit) {
    const struct dpl_grid *grid = &trips->grid;
    int32_t cell = trips->cell[visit];
    int64_t since_s = (int64_t)(visit - trips->start[trip]) * grid->area.slot_s;
    if (trips->position)
        return (struct dpl_instant){trips->utc_s[trip] + since_s, trips->position[visit].x_m,
                                    trips->position[visit].y_m};
    return (struct dpl_instant){trips->utc_s[trip] + since_s,
                                (float)((cell % grid->columns + 0.5) * grid->area.cell_m),
                                (float)((cell / grid->columns + 0.5) * grid->area.cell_m)};
}

struct dpl_instant dpl_cleaned_begin(const struct dpl_cleaned *trips, size_t trip) {
    return trips->ends ? trips->ends[trip].begin : at_visit(trips, trip, trips->start[trip]);
}

struct dpl_instant dpl_cleaned_end(const struct dpl_cleaned *trips, size_t trip) {
    return trips->ends ? trips->ends[trip].end : at_visit(trips, trip, trips->start[trip + 1] - 1);
}

struct dpl_key dpl_cleaned_hash(const struct dpl_cleaned *trips, size_t i, uint64_t seed) {
    const size_t begin = trips->start[i], n = trips->start[i + 1] - begin;
    const int64_t facts[] = {trips->utc_s[i], trips->period[i], (int64_t)n};
    struct dpl_key key = dpl_hash(facts, sizeof facts, seed);
    key = dpl_hash(trips->cell + begin, n * sizeof *trips->cell, key.hi ^ dpl_mix64(key.lo));
    if (trips->ends)
        key = dpl_hash(&trips->ends[i], sizeof *trips->ends, key.hi ^ dpl_mix64(key.lo));
    if (!trips->position) return key;
    return dpl_hash(trips->position + begin, n * sizeof *trips->position,
                    key.hi ^ dpl_mix64(key.lo));
}

void dpl_cleaned_free(struct dpl_cleaned *trips) {
    if (!trips) return;
    dpl_free(trips->start);
    dpl_free(trips->cell);
    dpl_free(trips->position);
    dpl_free(trips->later);
    dpl_free(trips->ends);
    dpl_free(trips->utc_s);
    dpl_free(trips->user);
    dpl_free(trips->period);
    dpl_spill_free(builder_of(trips)->spill);
    dpl_free(builder_of(trips));
}

void dpl_cleaned_columns(const struct dpl_cleaned *trips,
                         struct dpl_cleaned_column column[DPL_CLEANED_COLUMNS]) {
    const size_t T = trips->n_trips, V = trips->n_visits;
    column[0] = (struct dpl_cleaned_column){trips->start, (T + 1) * sizeof *trips->start};
    column[1] = (struct dpl_cleaned_column){trips->utc_s, T * sizeof *trips->utc_s};
    column[2] = (struct dpl_cleaned_column){trips->position,
                                            trips->position ? V * sizeof *trips->position : 0};
    column[3] = (struct dpl_cleaned_column){trips->cell, V * sizeof *trips->cell};
    column[4] = (struct dpl_cleaned_column){trips->user, T * sizeof *trips->user};
    column[5] = (struct dpl_cleaned_column){trips->period, T * sizeof *trips->period};
    column[6] = (struct dpl_cleaned_column){trips->ends, trips->ends ? T * sizeof *trips->ends : 0};
}

/* ---- more trips than memory holds ---- */

void dpl_cleaned_limit(struct dpl_cleaned *trips, size_t memory_bytes, bool by_user) {
    builder_of(trips)->memory_bytes = memory_bytes;
    builder_of(trips)->by_user = by_user;
}

void dpl_cleaned_clear(struct dpl_cleaned *trips) {
    struct dpl_cleaned_builder *b = builder_of(trips);
    trips->n_trips = trips->n_visits = trips->n_users = 0;
    dpl_spill_free(b->spill);
    b->spill = NULL;
}

enum dpl_status dpl_cleaned_relieve(struct dpl_run *run, struct dpl_cleaned *trips, bool end) {
    struct dpl_cleaned_builder *b = builder_of(trips);
    struct dpl_cleaned_column column[DPL_CLEANED_COLUMNS];
    size_t bytes = 0;
    dpl_cleaned_columns(trips, column);
    for (int i = 0; i < DPL_CLEANED_COLUMNS; i++) bytes += column[i].bytes;
    const bool full = b->memory_bytes > 0 && bytes > b->memory_bytes;
    if (!full && !(end && b->spill)) return DPL_OK;
    if (!b->spill) DPL_TRY(dpl_spill_new(run, b->by_user, &b->spill));
    DPL_TRY(dpl_spill_put(run, b->spill, trips));
    trips->n_trips = trips->n_visits = 0; // users keep their numbers
    return DPL_OK;
}

bool dpl_cleaned_spilled(const struct dpl_cleaned *trips) {
    return ((const struct dpl_cleaned_builder *)trips)->spill != NULL;
}

size_t dpl_cleaned_parts(const struct dpl_cleaned *trips) {
    return dpl_cleaned_spilled(trips) ? DPL_SPILL_PARTS : 1;
}

enum dpl_status dpl_cleaned_load(struct dpl_run *run, const struct dpl_cleaned *trips, size_t part,
                                 struct dpl_cleaned **loaded) {
    return dpl_spill_load(run, ((const struct dpl_cleaned_builder *)trips)->spill, part, trips,
                          loaded);
}

enum dpl_status dpl_cleaned_each(struct dpl_run *run, const struct dpl_cleaned *trips,
                                 dpl_cleaned_seer *see, void *context) {
    if (!dpl_cleaned_spilled(trips)) return see(run, context, trips);
    for (size_t part = 0; part < DPL_SPILL_PARTS; part++) {
        struct dpl_cleaned *loaded = NULL;
        DPL_TRY(dpl_check_interrupt(run));
        DPL_TRY(dpl_cleaned_load(run, trips, part, &loaded));
        enum dpl_status status = see(run, context, loaded);
        dpl_cleaned_free(loaded);
        DPL_TRY(status);
    }
    return DPL_OK;
}
