/* The counts of SGLT.
 *
 * PRIVACY: a trip adds, to `profile`, 1 for each cell and each step q of Q that its share of visits
 * there reaches: sum over cells of floor(Q share) is at most Q, in different coordinates, an L2
 * norm of sqrt(Q) and an L1 norm of Q; to `moves`, a weight for each step; to `starts` and
 * `keys`, 1. One dpl_exact_add a unit holds it to the sensitivity, whatever the trip. */
#include <math.h>

#include "method/sglt/measure.h"
#include "method/sglt/sequence.h"

struct dpl_shape dpl_sglt_shape(const struct dpl_grid *grid, enum dpl_sglt_table table) {
    size_t cells = (size_t)dpl_grid_cells(grid);
    switch (table) {
    case DPL_SGLT_PROFILE: return (struct dpl_shape){3, {DPL_SGLT_PARTS, cells, DPL_SGLT_SHARES}};
    case DPL_SGLT_MOVES: return dpl_shape2(cells, dpl_sglt_window(grid));
    case DPL_SGLT_STARTS: return dpl_shape2(DPL_SGLT_PARTS, cells);
    default:
        return (struct dpl_shape){
            4, {DPL_SGLT_PARTS, DPL_SGLT_CLUSTERS, DPL_SGLT_CLUSTERS, DPL_SGLT_LENGTHS}};
    }
}

/* One trip as it is cut. */
struct trip {
    const struct dpl_grid *grid;
    const int32_t *cell;
    size_t n, part;
};

static enum dpl_status put_profile(struct dpl_run *run, const struct trip *trip,
                                   struct dpl_entries *list) {
    size_t cells = (size_t)dpl_grid_cells(trip->grid);
    for (size_t v = 0; v < trip->n; v++) {
        size_t before = 0, visits = 0;
        for (size_t u = 0; u < trip->n; u++) {
            before += u < v && trip->cell[u] == trip->cell[v];
            visits += trip->cell[u] == trip->cell[v];
        }
        if (before > 0) continue; // each cell once
        for (size_t q = 0; q < visits * DPL_SGLT_SHARES / trip->n; q++)
            DPL_TRY(dpl_entries_put(
                run, list, (trip->part * cells + (size_t)trip->cell[v]) * DPL_SGLT_SHARES + q, 1));
    }
    return DPL_OK;
}

static enum dpl_status put_moves(struct dpl_run *run, const struct trip *trip, bool shares,
                                 struct dpl_entries *list) {
    static const double LIGHT = 20;
    double steps = (double)(trip->n - 1),
           weight = shares ? 1 / steps : fmin(1, sqrt(LIGHT / steps));
    for (size_t v = 1; v < trip->n; v++) {
        size_t w = dpl_sglt_place(trip->grid, trip->cell[v - 1], trip->cell[v]);
        if (w == SIZE_MAX) continue; // nobody can go that far
        DPL_TRY(dpl_entries_put(
            run, list, (size_t)trip->cell[v - 1] * dpl_sglt_window(trip->grid) + w, weight));
    }
    return DPL_OK;
}

static struct trip trip_of(const struct dpl_sglt_about *about, const struct dpl_cleaned *trips,
                           size_t t) {
    size_t n = dpl_trip_visits(trips, t, about->length_max);
    uint8_t period = dpl_trip_period(trips, about->zone, t, n);
    return (struct trip){&trips->grid, trips->cell + trips->start[t], n,
                         dpl_sglt_part(&trips->grid.area, period)};
}

enum dpl_status dpl_sglt_put_sequence(struct dpl_run *run, const void *data,
                                      const struct dpl_cleaned *trips, size_t t,
                                      struct dpl_entries *list) {
    const struct dpl_sglt_about *about = data;
    const struct trip trip = trip_of(about, trips, t);
    uint64_t key;
    if (trip.n == 0 || !dpl_sglt_sequence_key(trip.part, trip.cell, trip.n, about->cluster, &key))
        return DPL_OK;
    return dpl_entries_put(run, list, key, 1);
}

static enum dpl_status put_trip(struct dpl_run *run, const void *data,
                                const struct dpl_cleaned *trips, size_t t,
                                struct dpl_entries *list) {
    const struct dpl_sglt_about *about = data;
    const struct trip trip = trip_of(about, trips, t);
    if (trip.n == 0) return DPL_OK;
    switch (about->table) {
    case DPL_SGLT_PROFILE: return put_profile(run, &trip, list);
    case DPL_SGLT_MOVES: return put_moves(run, &trip, about->shares, list);
    case DPL_SGLT_STARTS:
        return dpl_entries_put(
            run, list, trip.part * (size_t)dpl_grid_cells(trip.grid) + (size_t)trip.cell[0], 1);
    default:
        return dpl_entries_put(run, list,
                               dpl_sglt_key(trip.part, (size_t)about->cluster[trip.cell[0]],
                                            (size_t)about->cluster[trip.cell[trip.n - 1]],
                                            dpl_sglt_length_bin(trip.n)),
                               1);
    }
}

enum dpl_status dpl_sglt_count(struct dpl_run *run, const void *about, const struct dpl_part *part,
                               struct dpl_exact *exact) {
    return dpl_count_units(run, about, part, put_trip, exact);
}
