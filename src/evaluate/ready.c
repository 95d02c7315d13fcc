/* From trips on the grid to trips on the compared cells, and random halves of them.
 *
 * Randomness here is for sampling alone: nothing that is computed from it is released, so a fixed,
 * documented seed serves: the same figures on every run. */
#include "evaluate/ready.h"

#include <math.h>
#include <string.h>

/* ---- ready ---- */

/* Where each cell of the grid goes; -2: not asked for yet, -1: nowhere within reach. */
static int32_t destination(struct dpl_cells *cells, int32_t grid_cell, double reach_m,
                           int32_t *moved) {
    if (moved[grid_cell] == -2) {
        int32_t nearest = dpl_cells_nearest(cells, grid_cell);
        double way_m = dpl_grid_distance_m(&cells->grid, grid_cell, cells->grid_cell[nearest]);
        moved[grid_cell] = way_m > reach_m ? -1 : nearest;
    }
    return moved[grid_cell];
}

static bool move_trip(struct dpl_cells *cells, const int32_t *grid_cell, size_t n, double reach_m,
                      int32_t *moved, int32_t *cell) {
    for (size_t v = 0; v < n; v++) {
        cell[v] = destination(cells, grid_cell[v], reach_m, moved);
        if (cell[v] < 0) return false;
    }
    return true;
}

static enum dpl_status move_all(struct dpl_run *run, const struct dpl_cleaned *trips,
                                double reach_m, int32_t *moved, struct dpl_index *same,
                                struct dpl_ready *r) {
    size_t kept = 0, used = 0;
    for (size_t i = 0; i < trips->n_trips; i++) {
        size_t first = trips->start[i], n = trips->start[i + 1] - first;
        if (!move_trip(r->cells, trips->cell + first, n, reach_m, moved, r->cell + used)) continue;
        DPL_TRY(dpl_index_put(run, same, dpl_hash(trips->cell + first, n * sizeof *trips->cell, 0),
                              &r->same[kept], NULL));
        r->origin[kept] = (uint32_t)i;
        r->period[kept++] = trips->period[i];
        r->start[kept] = used += n;
    }
    r->trips = (struct dpl_sequences){kept, r->start, r->cell, r->cells->n_cells};
    return DPL_OK;
}

enum dpl_status dpl_ready_make(struct dpl_run *run, const struct dpl_cleaned *trips,
                               struct dpl_cells *cells, double reach_m, struct dpl_index *same,
                               struct dpl_ready *ready) {
    struct dpl_ready made = {.cells = cells,
                             .periods = trips->grid.area.periods,
                             .has_time = trips->has_time,
                             .source = trips,
                             .index = same};
    size_t n_grid = (size_t)dpl_grid_cells(&trips->grid);
    int32_t *moved = dpl_alloc(run, n_grid, sizeof *moved);
    enum dpl_status status = DPL_SYSTEM;
    made.start = dpl_alloc(run, trips->n_trips + 1, sizeof *made.start);
    made.cell = dpl_alloc(run, trips->n_visits, sizeof *made.cell);
    made.period = dpl_alloc(run, trips->n_trips, sizeof *made.period);
    made.same = dpl_alloc(run, trips->n_trips, sizeof *made.same);
    made.origin = dpl_alloc(run, trips->n_trips, sizeof *made.origin);
    if (!moved || !made.start || !made.cell || !made.period || !made.same || !made.origin)
        goto done;
    for (size_t cell = 0; cell < n_grid; cell++) moved[cell] = -2;
    DPL_GO(move_all(run, trips, reach_m, moved, same, &made));
    DPL_GO(dpl_patterns_make(run, &made.trips, &made.patterns));
    *ready = made;
    made = (struct dpl_ready){0};
done:
    dpl_free(moved);
    dpl_ready_free(&made);
    return status;
}

void dpl_ready_free(struct dpl_ready *ready) {
    dpl_free(ready->start);
    dpl_free(ready->cell);
    dpl_free(ready->period);
    dpl_free(ready->same);
    dpl_free(ready->origin);
    dpl_patterns_free(&ready->patterns);
    *ready = (struct dpl_ready){0};
}

/* ---- sides ---- */

enum dpl_status dpl_side_new(struct dpl_run *run, const struct dpl_ready *ready, size_t n,
                             struct dpl_side *side) {
    *side = (struct dpl_side){.ready = ready, .n = n};
    side->trip = dpl_alloc(run, n, sizeof *side->trip);
    return side->trip ? DPL_OK : DPL_SYSTEM;
}

void dpl_side_free(struct dpl_side *side) {
    dpl_free(side->trip);
    *side = (struct dpl_side){0};
}

void dpl_side_fill(struct dpl_side *side, const uint32_t *order, size_t n, size_t most_per_period) {
    size_t count[DPL_MAX_PERIODS] = {0}, next[DPL_MAX_PERIODS],
           periods = (size_t)side->ready->periods;
    const uint8_t *period = side->ready->period;
    for (size_t i = 0; i < n; i++)
        if (count[period[order[i]]] < most_per_period) count[period[order[i]]]++;
    side->period[0] = 0;
    for (size_t p = 0; p < periods; p++) {
        next[p] = side->period[p];
        side->period[p + 1] = side->period[p] + count[p];
    }
    for (size_t i = 0; i < n; i++) {
        size_t p = period[order[i]];
        if (next[p] < side->period[p + 1]) side->trip[next[p]++] = order[i];
    }
    side->n = side->period[periods];
}

struct dpl_part dpl_side_part(const struct dpl_side *side, int scope) {
    if (scope == DPL_SCOPE_POOLED) return (struct dpl_part){side->ready, side->trip, side->n};
    size_t first = side->period[scope];
    return (struct dpl_part){side->ready, side->trip + first, side->period[scope + 1] - first};
}

/* ---- random order ---- */

/* Uniform below `bound`, up to a bias of bound / 2^64. */
static size_t below(uint64_t *state, size_t bound) {
    __extension__ typedef unsigned __int128 wide;
    *state += 0x9E3779B97F4A7C15u;
    return (size_t)((wide)dpl_mix64(*state) * bound >> 64);
}

void dpl_shuffle(uint32_t *order, size_t n, size_t first, uint64_t seed, uint64_t stream) {
    uint64_t state = dpl_mix64(dpl_mix64(seed) + stream);
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    for (size_t i = 0; i < first; i++) {
        size_t other = i + below(&state, n - i);
        uint32_t swapped = order[i];
        order[i] = order[other];
        order[other] = swapped;
    }
}
