/* Data sets made ready for comparison, and random parts of them. */
#ifndef DPL_EVALUATE_READY_H
#define DPL_EVALUATE_READY_H

#include "evaluate/measures.h"

/* Moves every visit to its nearest of the cells; drops trips with a visit that would move further
 * than `reach_m` (INFINITY: none). `same` numbers equal trips across all data sets made ready with
 * it. `cells` is borrowed. Caller frees with dpl_ready_free. */
enum dpl_status dpl_ready_make(struct dpl_run *run, const struct dpl_cleaned *trips,
                               struct dpl_cells *cells, double reach_m, struct dpl_index *same,
                               struct dpl_ready *ready);
void dpl_ready_free(struct dpl_ready *ready);

/* A random part, its trips grouped by period. */
struct dpl_side {
    const struct dpl_ready *ready;
    size_t n;
    uint32_t *trip;                     /* (n) */
    size_t period[DPL_MAX_PERIODS + 1]; /* where each period begins */
};

/* Room for n trips; free with dpl_side_free. */
enum dpl_status dpl_side_new(struct dpl_run *run, const struct dpl_ready *ready, size_t n,
                             struct dpl_side *side);
void dpl_side_free(struct dpl_side *side);
/* Takes the first side->n of `order`; of each period at most `most_per_period` (SIZE_MAX: all), in
 * that order. */
void dpl_side_fill(struct dpl_side *side, const uint32_t *order, size_t n, size_t most_per_period);
/* scope: DPL_SCOPE_POOLED or a period. */
struct dpl_part dpl_side_part(const struct dpl_side *side, int scope);

/* 0 ... n-1 in random order, of which only the first `first` are drawn. The same for the same seed
 * and stream. */
void dpl_shuffle(uint32_t *order, size_t n, size_t first, uint64_t seed, uint64_t stream);

#endif
