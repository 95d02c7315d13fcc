/* TI, the paper's variational autoencoder over (source, destination, hour). METHOD.md, section 3. */
#ifndef DPL_PAPER_VAE_H
#define DPL_PAPER_VAE_H

#include "method/units.h"
#include "net/dpsgd.h"

/* Parameters, in this order; K cells, P periods, the last row of each is its bias:
 *     encoder (2K + P + 1, hidden)      one-hot source, destination, period
 *     latent  (hidden + 1, 2 * latent)  means, then log variances
 *     decoder (latent + 1, hidden)
 *     heads   (hidden + 1, 2K + P)      logits of source, destination, period */
struct dpl_vae_shape {
    size_t n_cells, n_periods, hidden, latent;
    float kl_weight; /* of the KL divergence averaged over the latent dimensions */
};
/* The paper's: hidden 100, latent 50, weight 1. */
struct dpl_vae_shape dpl_vae_paper(size_t n_cells, size_t n_periods);
size_t dpl_vae_parameters(const struct dpl_vae_shape *shape);

/* The paper's training: clip norm 1, |B| = 200, 15 epochs of n_hat / |B| steps, plain SGD. The caller
 * sets sigma (or not_private) and the learning rate. */
struct dpl_sgd_options dpl_vae_training(double n_hat);

/* A net over these units, of which each shows `rows_per_unit` of its trips (paper: 1), all if it has
 * fewer. `units` is borrowed until the net is freed with dpl_net_free. */
enum dpl_status dpl_vae_new(struct dpl_run *run, const struct dpl_vae_shape *shape, const struct dpl_units *units, size_t rows_per_unit,
                            double batch, struct dpl_net **net);

/* What the decoder draws: trips first ... first+n-1 of the sequence that belongs to `key`, so that any
 * cut of it and any number of threads give the same trips: z ~ N(0, I), then one draw per head. */
enum dpl_status dpl_vae_sample(struct dpl_run *run, const struct dpl_vae_shape *shape, const float *parameters, uint64_t key, uint64_t first,
                               size_t n, int32_t *source, int32_t *destination, uint8_t *period);

#endif
