/* TPG, the paper's transition net: P(next cell | current cell, destination, hour). METHOD.md, section 4. */
#ifndef DPL_PAPER_NEXTHOP_H
#define DPL_PAPER_NEXTHOP_H

#include "method/units.h"
#include "net/dpsgd.h"

/* Parameters, in this order:
 *     embedding (n_cells, embedding)           shared by current cell and destination
 *     hidden    (2 * embedding + 2, hidden)    current, destination, hour in [0, 1], bias
 *     output    (hidden + 1, n_cells)          the last row is the bias */
struct dpl_nexthop_shape {
    size_t n_cells, n_periods, embedding, hidden;
};
/* The paper's: embedding 50, hidden 200. */
struct dpl_nexthop_shape dpl_nexthop_paper(size_t n_cells, size_t n_periods);
size_t dpl_nexthop_parameters(const struct dpl_nexthop_shape *shape);

/* The paper's training: clip norm 3, |B| = 200, 15 epochs of n_hat / |B| steps, plain SGD. The caller
 * sets sigma (or not_private) and the learning rate; rate = batch / n_hat. */
struct dpl_sgd_options dpl_nexthop_training(double n_hat);

/* A net over these units, of which each shows `rows_per_unit` 2-grams (paper: 1), all if it has fewer.
 * `units` is borrowed until the net is freed with dpl_net_free. `batch`: expected units per step. */
enum dpl_status dpl_nexthop_new(struct dpl_run *run, const struct dpl_nexthop_shape *shape, const struct dpl_units *units,
                                size_t rows_per_unit, double batch, struct dpl_net **net);

/* The first layer folded into tables: hidden = relu(from[current] + to[destination] + hour * time).
 * One allocation, freed with dpl_nexthop_folded_free. output is borrowed from the parameters. */
struct dpl_nexthop_folded {
    struct dpl_nexthop_shape shape;
    float *from;         /* (n_cells, hidden), the bias included */
    float *to;           /* (n_cells, hidden) */
    float *time;         /* (hidden) */
    const float *output; /* (hidden + 1, n_cells) */
};
enum dpl_status dpl_nexthop_fold(struct dpl_run *run, const struct dpl_nexthop_shape *shape, const float *parameters,
                                 struct dpl_nexthop_folded *folded);
void dpl_nexthop_folded_free(struct dpl_nexthop_folded *folded);
/* The hour as the net sees it. */
float dpl_nexthop_hour(const struct dpl_nexthop_shape *shape, size_t period);

/* log P(. | current[i], destination[i], period[i]) for n queries: log_p (n, n_cells), tight. Same bits
 * for any number of threads. */
enum dpl_status dpl_nexthop_evaluate(struct dpl_run *run, const struct dpl_nexthop_folded *folded, size_t n, const int32_t *current,
                                     const int32_t *destination, const uint8_t *period, float *log_p);

#endif
