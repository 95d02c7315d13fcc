/* A model of the paper's method whose parameters are set by hand, for tests and benches of
 * sampling: steps are Gaussian around a point that is drawn towards the destination, starts and
 * ends crowd around the middle of the box. */
#ifndef DPL_TEST_HAND_MODEL_H
#define DPL_TEST_HAND_MODEL_H

#include "model/model.h"

struct hand_options {
    int32_t n_cells; /* the K cells nearest to the middle of the box, at most what the box has */
    int32_t length_max;
    double reach_cells; /* deviation of a step, in cells */
    double pull;        /* share of the way to the destination that a step aims at */
    size_t vae_hidden, vae_latent, embedding, hidden;
    bool per_user;
};
struct hand_options hand_defaults(int32_t n_cells);
/* Free with dpl_model_free. The area is "simulated" with cells of cell_m. */
enum dpl_status hand_model(struct dpl_run *run, double cell_m, const struct hand_options *options,
                           struct dpl_model **model);

#endif
