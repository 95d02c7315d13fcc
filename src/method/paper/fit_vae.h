/* TI, the paper's variational autoencoder over (source, destination, hour). docs/METHOD.md,
 * "Method `paper`". */
#ifndef DPL_METHOD_PAPER_FIT_VAE_H
#define DPL_METHOD_PAPER_FIT_VAE_H

#include "method/paper/vae_sample.h"
#include "fit/units.h"
#include "method/paper/net/train_dpsgd.h"

/* The paper's training: clip norm 1, |B| = 200, 15 epochs of n_hat / |B| steps, plain SGD. The
 * caller sets sigma (or not_private) and the learning rate. */
struct dpl_sgd_options dpl_vae_training(double n_hat);

/* A net over these units, of which each shows `rows_per_unit` of its trips (paper: 1), all if it
 * has fewer. `units` is borrowed until the net is freed with dpl_net_free. */
enum dpl_status dpl_vae_new(struct dpl_run *run, const struct dpl_vae_shape *shape,
                            const struct dpl_units *units, size_t rows_per_unit, double batch,
                            struct dpl_net **net);

#endif
