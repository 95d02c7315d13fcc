/* TOP-K and projection. Everything here is post-processing of a noised vector and of the public
 * grid.
 *
 * Of n cells without a visit the largest noise is about sigma * sqrt(2 ln n); a threshold of
 * sigma * sqrt(2 ln(n / 0.05)) lets one of them through in a run out of twenty at most (for Laplace
 * noise of scale b it is b * ln(n / 0.1)).
 *
 * Projection is a table over all cells, filled from the K chosen ones outwards: K * (2r + 1)^2
 * distances for a reach of r cells, whatever the size of the grid. */
#include "fit/topk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double EMPTY_CELL_RISK = 0.05;

struct candidate {
    double count;
    int32_t cell;
};

/* Most visited first; the lower cell on a tie. */
static int by_count(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->count > y->count || x->count < y->count) return x->count > y->count ? -1 : 1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

static int by_cell(const void *a, const void *b) {
    const int32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static size_t gather(const struct dpl_noised *visits, double threshold, struct candidate *list) {
    size_t n = 0;
    for (size_t i = 0; i < dpl_noised_count(visits); i++) {
        double count = dpl_noised_value(visits, i);
        if (count > 0 && count >= threshold) list[n++] = (struct candidate){count, (int32_t)i};
    }
    qsort(list, n, sizeof *list, by_count);
    return n;
}

/* The most cells of which no more than `part` are expected to be empty ones (Benjamini and
 * Hochberg's rule). */
static size_t count_rated(const struct dpl_noised *visits, double part,
                          const struct candidate *list, size_t n) {
    double cells = (double)dpl_noised_count(visits), sigma = dpl_noised_deviation(visits);
    size_t k = n;
    while (k > 0 && cells * erfc(list[k - 1].count / (sigma * sqrt(2))) / 2 > part * (double)k) k--;
    return k;
}

/* How many of the sorted candidates it takes to hold that part of their total. */
static size_t count_for(const struct candidate *list, size_t n, double coverage) {
    double total = 0, sum = 0;
    for (size_t i = 0; i < n; i++) total += list[i].count;
    for (size_t i = 0; i < n; i++) {
        sum += list[i].count;
        if (sum >= coverage * total) return i + 1;
    }
    return n;
}

/* Marks all cells within reach of chosen cell k that have no nearer one yet. */
static void project_from(const struct dpl_grid *grid, int32_t k, int32_t cell, float *distance_m,
                         int32_t *nearest) {
    const int32_t reach = (int32_t)fmin(ceil(DPL_TOPK_REACH_M / grid->area.cell_m), DPL_MAX_CELLS);
    const int32_t row = cell / grid->columns, column = cell % grid->columns;
    const int32_t south = row > reach ? row - reach : 0,
                  north = row < grid->rows - 1 - reach ? row + reach : grid->rows - 1;
    const int32_t west = column > reach ? column - reach : 0,
                  east = column < grid->columns - 1 - reach ? column + reach : grid->columns - 1;
    for (int32_t y = south; y <= north; y++)
        for (int32_t x = west; x <= east; x++) {
            int32_t other = y * grid->columns + x;
            double m = dpl_grid_distance_m(grid, cell, other);
            if (m > DPL_TOPK_REACH_M || (nearest[other] >= 0 && (float)m >= distance_m[other]))
                continue;
            distance_m[other] = (float)m;
            nearest[other] = k;
        }
}

static enum dpl_status too_few(struct dpl_run *run, size_t k, const struct dpl_noised *visits) {
    return dpl_fail(run, DPL_BAD_DATA,
                    "K = %zu: of the %zu cells of the grid %s out of the noise (of %.3g visits a "
                    "cell), and a trip needs two; ask for a larger `budget.epsilon` or "
                    "`area.cell_m`, and see that the box is where the trips are",
                    k, dpl_noised_count(visits), k == 0 ? "none stands" : "only one stands",
                    dpl_noised_deviation(visits));
}

enum dpl_status dpl_topk_choose(struct dpl_run *run, const struct dpl_grid *grid,
                                const struct dpl_noised *visits, double coverage,
                                struct dpl_topk *topk) {
    return dpl_topk_choose_rated(run, grid, visits, coverage, 0, topk);
}

enum dpl_status dpl_topk_choose_rated(struct dpl_run *run, const struct dpl_grid *grid,
                                      const struct dpl_noised *visits, double coverage,
                                      double empty_part, struct dpl_topk *topk) {
    const size_t n_cells = (size_t)dpl_grid_cells(grid);
    struct dpl_topk made = {0};
    float *distance_m = NULL;
    struct candidate *list = NULL;
    enum dpl_status status = DPL_SYSTEM;
    if (dpl_noised_count(visits) != n_cells)
        return dpl_fail(run, DPL_USAGE, "TOP-K needs a count for each of the %zu cells", n_cells);
    if (!(coverage > 0 && coverage <= 1))
        return dpl_fail(run, DPL_USAGE, "`fit.coverage` takes a number above 0 and up to 1");
    if (!(list = dpl_alloc(run, n_cells, sizeof *list)) ||
        !(distance_m = dpl_alloc(run, n_cells, sizeof *distance_m)))
        goto done;
    size_t k = gather(visits, empty_part > 0 ? 0 : dpl_noised_reach(visits, EMPTY_CELL_RISK), list);
    if (empty_part > 0) k = count_rated(visits, empty_part, list, k);
    k = count_for(list, k, coverage);
    if (k < 2) {
        status = too_few(run, k, visits);
        goto done;
    }
    made.n_cells = (int32_t)k;
    made.cell = dpl_alloc(run, k, sizeof *made.cell);
    made.nearest = made.cell ? dpl_alloc(run, n_cells, sizeof *made.nearest) : NULL;
    if (!made.nearest) goto done;
    for (size_t i = 0; i < k; i++) made.cell[i] = list[i].cell;
    qsort(made.cell, k, sizeof *made.cell, by_cell);
    for (size_t i = 0; i < n_cells; i++) made.nearest[i] = -1;
    for (int32_t i = 0; i < made.n_cells; i++)
        project_from(grid, i, made.cell[i], distance_m, made.nearest);
    *topk = made;
    made = (struct dpl_topk){0};
    status = DPL_OK;
done:
    dpl_topk_free(&made);
    dpl_free(distance_m);
    dpl_free(list);
    return status;
}

void dpl_topk_free(struct dpl_topk *topk) {
    dpl_free(topk->cell);
    dpl_free(topk->nearest);
    *topk = (struct dpl_topk){0};
}
