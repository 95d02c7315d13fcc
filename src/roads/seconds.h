/* How long it takes by road from one square of the grid to another. Public. */
#ifndef DPL_ROADS_SECONDS_H
#define DPL_ROADS_SECONDS_H

#include "roads/roads.h"

/* Squares of cells and pairs of them. */
struct dpl_roads_pairs {
    size_t n;
    const int32_t *cell, *side; /* (n) the south-western cell, and how many there are on a side */
    const size_t *start;        /* (n * stride + 1) pairs of each square, in `stride` rows ... */
    size_t stride;
    const int32_t *to; /* ... and to which */
};
/* Seconds in free flow from a road in one square to one in the other, the mean over some of them;
 * what takes longer than most_s, or has no way, counts most_s. 0: a square has no road that can be
 * left and reached. out: as
 * many as pairs. The same bits for any number of threads. */
enum dpl_status dpl_roads_seconds(struct dpl_run *run, const struct dpl_roads *roads,
                                  const struct dpl_roads_pairs *pairs, double most_s, float *out);

#endif
