/* TPG, the paper's transition net: P(next cell | current cell, destination, hour). docs/METHOD.md,
 * "Method `paper`". */
#ifndef DPL_METHOD_PAPER_FIT_NEXTHOP_H
#define DPL_METHOD_PAPER_FIT_NEXTHOP_H

#include "method/paper/nexthop_table.h"
#include "fit/units.h"
#include "method/paper/net/train_dpsgd.h"

/* The paper's training: clip norm 3, |B| = 200, 15 epochs of n_hat / |B| steps, plain SGD. The
 * caller sets sigma (or not_private) and the learning rate; rate = batch / n_hat. */
struct dpl_sgd_options dpl_nexthop_training(double n_hat);

/* A net over these units, of which each shows `rows_per_unit` 2-grams (paper: 1), all if it has
 * fewer. `units` is borrowed until the net is freed with dpl_net_free. `batch`: expected units per
 * step. */
enum dpl_status dpl_nexthop_new(struct dpl_run *run, const struct dpl_nexthop_shape *shape,
                                const struct dpl_units *units, size_t rows_per_unit, double batch,
                                struct dpl_net **net);

#endif
