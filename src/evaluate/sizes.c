/* Figures of a whole data set on cells: how long trips are, and how often they jump. */
#include <math.h>
#include <stdlib.h>

#include "evaluate/table.h"

/* Steps longer than the area's speed limit allows in one slot, plus the diagonal of a cell,
 * since only cells are known. */
static double jump_share(const struct dpl_cleaned *trips, const struct dpl_area *area) {
    double reach_m = area->speed_limit_kmh / 3.6 * area->slot_s + sqrt(2) * area->cell_m;
    size_t steps = 0, jumps = 0;
    for (size_t i = 0; i < trips->n_trips; i++)
        for (size_t v = trips->start[i] + 1; v < trips->start[i + 1]; v++, steps++)
            jumps +=
                dpl_grid_distance_m(&trips->grid, trips->cell[v - 1], trips->cell[v]) > reach_m;
    return steps ? (double)jumps / (double)steps : 0;
}

static int compare_size(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* The shortest of the most frequent lengths. */
static size_t mode_of_sorted(const size_t *sorted, size_t n) {
    size_t best = 0, mode = 0;
    for (size_t i = 0, run = 0; i < n; i++) {
        run = i && sorted[i] == sorted[i - 1] ? run + 1 : 1;
        if (run > best) best = run, mode = sorted[i];
    }
    return mode;
}

enum dpl_status dpl_figures_sizes(struct dpl_run *run, const struct dpl_set *set, double *figures) {
    const struct dpl_cleaned *trips = set->trips;
    size_t n = trips->n_trips, *length = dpl_alloc(run, n, sizeof *length);
    if (!length) return DPL_SYSTEM;
    double mean = (double)trips->n_visits / (double)n, squares = 0;
    for (size_t i = 0; i < n; i++) {
        length[i] = trips->start[i + 1] - trips->start[i];
        squares += ((double)length[i] - mean) * ((double)length[i] - mean);
    }
    qsort(length, n, sizeof *length, compare_size);
    figures[0] = mean;
    figures[1] = sqrt(squares / (double)n);
    figures[2] = (double)mode_of_sorted(length, n);
    figures[3] = jump_share(trips, set->area);
    dpl_free(length);
    return DPL_OK;
}
