/* Frequent patterns: what the most trips have in common.
 *
 * Sequences: contiguous runs of 2 to 5 cells of a trip, repeats collapsed (a a b c c -> a b c).
 * Sets: up to 7 cells that one trip visits, in any order. The support of either is the number of
 * trips that hold it, however often. */
#ifndef DPL_EVALUATE_PATTERNS_H
#define DPL_EVALUATE_PATTERNS_H

#include "base/base.h"

enum { DPL_PATTERN_MIN = 2, DPL_PATTERN_MAX = 5, DPL_SET_MAX = 7, DPL_TOP_PATTERNS = 200 };

/* Trips on cells numbered from 0. */
struct dpl_sequences {
    size_t n_trips;
    const size_t *start; /* (n_trips + 1) */
    const int32_t *cell; /* (start[n_trips]) */
    int32_t n_cells;
};

/* ---- sequences: numbered once for a data set, then counted in any part of it ---- */

struct dpl_patterns {
    size_t n_patterns; /* numbered by their support in the whole set, the largest first */
    struct dpl_key
        *key;          /* (n_patterns) packed cells, the same in every data set on the same cells */
    uint32_t *support; /* (n_patterns) in the whole set */
    size_t *start;     /* (n_trips + 1) */
    uint32_t *pattern; /* (start[n_trips]) the distinct patterns of each trip, ascending */
};

/* Caller frees with dpl_patterns_free. */
enum dpl_status dpl_patterns_make(struct dpl_run *run, const struct dpl_sequences *trips,
                                  struct dpl_patterns *patterns);
void dpl_patterns_free(struct dpl_patterns *patterns);
/* The cells of a pattern, in order, from its key among `n_cells` cells; returns how many. */
size_t dpl_pattern_cells(struct dpl_key key, int32_t n_cells, int32_t cell[DPL_PATTERN_MAX]);

/* The most supported patterns, best first. Sequences: ties by cells. Sets: ties by size, then by
 * cells. */
struct dpl_top {
    size_t n; /* at most DPL_TOP_PATTERNS */
    uint32_t support[DPL_TOP_PATTERNS];
    struct dpl_key key[DPL_TOP_PATTERNS];
};

/* Of the trips named in `trip` (n). `support` is scratch, (n_patterns), zero before and after. */
void dpl_patterns_top(const struct dpl_patterns *patterns, const uint32_t *trip, size_t n,
                      uint32_t *support, struct dpl_top *top);
/* Sets held by at least `share` of the trips named in `trip` (n). */
enum dpl_status dpl_sets_top(struct dpl_run *run, const struct dpl_sequences *trips,
                             const uint32_t *trip, size_t n, double share, struct dpl_top *top);
/* |first N of a, and of b, in common| / N. */
double dpl_top_common(const struct dpl_top *a, const struct dpl_top *b, size_t n);

#endif
