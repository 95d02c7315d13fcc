/* The counts of AdaTrace.
 *
 * PRIVACY: a trip adds 1/n for each of the n cells of its path (grid) or of its n visits (subgrid),
 * 1/(n-1) for each of its n-1 moves (markov), 1 for its ends (pairs) and 1 for its length (steps):
 * in each table an L1 norm of 1 at most, and so an L2 norm of 1 at most. One call of dpl_exact_add
 * a unit holds it to that, whatever the trip.
 *
 * PAPER: cleaned trips are visits in cells of the public grid; a visit is taken to be at its cell's
 * centre. */
#include "method/adatrace/measure.h"

const char *dpl_adatrace_table_name(enum dpl_adatrace_table table) {
    static const char *const NAMES[DPL_ADATRACE_TABLES] = {"lengths", "grid",  "subgrid",
                                                           "markov",  "pairs", "steps"};
    return NAMES[table];
}

struct dpl_shape dpl_adatrace_table_shape(enum dpl_adatrace_table table, size_t side,
                                          size_t sub_cells) {
    size_t cells = side * side;
    switch (table) {
    case DPL_ADATRACE_LENGTHS: return dpl_shape1(DPL_LENGTH_BINS);
    case DPL_ADATRACE_GRID: return dpl_shape2(side, side);
    case DPL_ADATRACE_SUBGRID: return dpl_shape1(sub_cells);
    case DPL_ADATRACE_STEPS: return dpl_shape2(side, DPL_ADATRACE_EXTRA + 1);
    default: return dpl_shape2(cells, cells);
    }
}

/* One trip: its visits in level-1 cells, its path, and what it adds. Room is reused. */
struct trip {
    int32_t *cell, *path;
    struct dpl_entry *entry;
    size_t cell_capacity, path_capacity, entry_capacity;
    size_t n, n_path, n_entries;
};

static enum dpl_status put(struct dpl_run *run, struct trip *trip, size_t index, double value) {
    DPL_TRY(dpl_grow(run, &trip->entry, &trip->entry_capacity, trip->n_entries + 1,
                     sizeof *trip->entry));
    trip->entry[trip->n_entries++] = (struct dpl_entry){index, value};
    return DPL_OK;
}

static enum dpl_status find_path(struct dpl_run *run, const struct dpl_adatrace_about *about,
                                 const int32_t *visit, size_t n, struct trip *trip) {
    trip->n = n;
    DPL_TRY(dpl_grow(run, &trip->cell, &trip->cell_capacity, n + 1, sizeof *trip->cell));
    DPL_TRY(
        dpl_grow(run, &trip->path, &trip->path_capacity, n * about->side + 2, sizeof *trip->path));
    for (size_t v = 0; v < n; v++) trip->cell[v] = about->coarse[visit[v]];
    trip->n_path = dpl_king_path(about->side, trip->cell, n, trip->path);
    return DPL_OK;
}

static enum dpl_status put_trip(struct dpl_run *run, const struct dpl_adatrace_about *about,
                                const int32_t *visit, struct trip *trip) {
    size_t cells = about->side * about->side, n = trip->n_path, first = (size_t)trip->path[0],
           last = (size_t)trip->path[n - 1];
    size_t beyond = n - 1 - dpl_king_distance(about->side, first, last);
    switch (about->table) {
    case DPL_ADATRACE_GRID:
        for (size_t i = 0; i < n; i++)
            DPL_TRY(put(run, trip, (size_t)trip->path[i], 1 / (double)n));
        return DPL_OK;
    case DPL_ADATRACE_SUBGRID:
        for (size_t v = 0; v < trip->n; v++)
            DPL_TRY(put(run, trip, (size_t)about->fine[visit[v]], 1 / (double)trip->n));
        return DPL_OK;
    case DPL_ADATRACE_MARKOV:
        for (size_t i = 1; i < n; i++)
            DPL_TRY(put(run, trip, (size_t)trip->path[i - 1] * cells + (size_t)trip->path[i],
                        1 / (double)(n - 1)));
        return DPL_OK;
    case DPL_ADATRACE_PAIRS: return put(run, trip, first * cells + last, 1);
    case DPL_ADATRACE_STEPS:
        return put(run, trip,
                   dpl_king_distance(about->side, first, last) * (DPL_ADATRACE_EXTRA + 1) +
                       (beyond < DPL_ADATRACE_EXTRA ? beyond : DPL_ADATRACE_EXTRA),
                   1);
    default: return dpl_fail(run, DPL_USAGE, "this table is not counted here");
    }
}

/* The unit is the trip: the plan refuses any other. */
enum dpl_status dpl_adatrace_count(struct dpl_run *run, const void *data,
                                   const struct dpl_part *part, struct dpl_exact *exact) {
    const struct dpl_adatrace_about *about = data;
    const struct dpl_cleaned *trips = part->trips;
    struct trip trip = {0};
    enum dpl_status status = DPL_OK;
    for (size_t u = 0; u < part->kept.n_units; u++) {
        size_t t = dpl_kept_trip(&part->kept, u);
        const int32_t *visit = trips->cell + trips->start[t];
        DPL_GO(find_path(run, about, visit, dpl_trip_visits(trips, t, about->length_max), &trip));
        trip.n_entries = 0;
        if (trip.n_path > 0) DPL_GO(put_trip(run, about, visit, &trip));
        DPL_GO(dpl_exact_add(run, exact, trip.entry,
                             trip.n_entries)); // PRIVACY: the whole trip in one call, clipped there
    }
done:
    dpl_free(trip.cell), dpl_free(trip.path), dpl_free(trip.entry);
    return status;
}
