/* The transition net's shape, where its parameters lie, and what it says: all that sampling needs.
 * PRIVACY: nothing here knows training data; fit_nexthop.h adds that. */
#ifndef DPL_METHOD_PAPER_NEXTHOP_TABLE_H
#define DPL_METHOD_PAPER_NEXTHOP_TABLE_H

#include "base/base.h"

/* Parameters, in this order:
 *     embedding (n_cells, embedding)           shared by current cell and destination
 *     hidden    (2 * embedding + 2, hidden)    current, destination, hour in [0, 1], bias
 *     output    (hidden + 1, n_cells)          the last row is the bias */
struct dpl_nexthop_shape {
    size_t n_cells, n_periods, embedding, hidden;
    bool no_destination; /* in its place stands the current cell once more: the same net, told
                            nothing of where a trip goes */
};
/* The paper's: embedding 50, hidden 200. */
struct dpl_nexthop_shape dpl_nexthop_paper(size_t n_cells, size_t n_periods);
size_t dpl_nexthop_parameters(const struct dpl_nexthop_shape *shape);
/* Where the layers begin; the embedding begins at 0. */
size_t dpl_nexthop_hidden_at(const struct dpl_nexthop_shape *shape);
size_t dpl_nexthop_output_at(const struct dpl_nexthop_shape *shape);

/* The first layer folded into tables: hidden = relu(from[current] + to[destination] + hour * time).
 * One allocation, freed with dpl_nexthop_folded_free. output is borrowed from the parameters. */
struct dpl_nexthop_folded {
    struct dpl_nexthop_shape shape;
    float *from;         /* (n_cells, hidden), the bias included */
    float *to;           /* (n_cells, hidden) */
    float *time;         /* (hidden) */
    const float *output; /* (hidden + 1, n_cells) */
};
enum dpl_status dpl_nexthop_fold(struct dpl_run *run, const struct dpl_nexthop_shape *shape,
                                 const float *parameters, struct dpl_nexthop_folded *folded);
void dpl_nexthop_folded_free(struct dpl_nexthop_folded *folded);
/* The hour as the net sees it. */
float dpl_nexthop_hour(const struct dpl_nexthop_shape *shape, size_t period);

/* log P(. | current[i], destination[i], period[i]) for n queries: log_p (n, n_cells), tight. Same
 * bits for any number of threads. */
enum dpl_status dpl_nexthop_evaluate(struct dpl_run *run, const struct dpl_nexthop_folded *folded,
                                     size_t n, const int32_t *current, const int32_t *destination,
                                     const uint8_t *period, float *log_p);

#endif
