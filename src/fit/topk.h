/* TOP-K: the cells that hold most visits, and where all other cells' visits go. docs/METHOD.md,
 * "Method `paper`". */
#ifndef DPL_FIT_TOPK_H
#define DPL_FIT_TOPK_H

#include "noise/lattice.h"

struct dpl_topk {
    int32_t n_cells;  /* K */
    int32_t *cell;    /* (K) grid cells, rising */
    int32_t *nearest; /* (cells of the grid) 0 ... K-1: the chosen cell nearest to it, -1: none
                         within reach */
};

/* A visit moves at most so far. */
#define DPL_TOPK_REACH_M 1000.0

/* From noised visit counts of all cells of the grid: cells below the noise's reach are left out,
 * and of the others the most visited ones are taken until they hold `coverage` of the total.
 * PRIVACY: takes a noised vector, so it cannot see anything else. DPL_BAD_DATA (K is said) when
 * fewer than 2 are left. Caller frees with dpl_topk_free. */
enum dpl_status dpl_topk_choose(struct dpl_run *run, const struct dpl_grid *grid,
                                const struct dpl_noised *visits, double coverage,
                                struct dpl_topk *topk);
/* The same with a lower threshold: the lowest by which no more than `empty_part` of the chosen
 * cells are expected to be empty ones. 0: the above. */
enum dpl_status dpl_topk_choose_rated(struct dpl_run *run, const struct dpl_grid *grid,
                                      const struct dpl_noised *visits, double coverage,
                                      double empty_part, struct dpl_topk *topk);
void dpl_topk_free(struct dpl_topk *topk);

#endif
