/* The autoencoder's shape, where its parameters lie, and drawing from it: all that sampling needs.
 * PRIVACY: nothing here knows training data; fit_vae.h adds that. */
#ifndef DPL_METHOD_PAPER_VAE_SAMPLE_H
#define DPL_METHOD_PAPER_VAE_SAMPLE_H

#include "base/base.h"

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
/* Columns of all heads together, 2K + P; and where the other parts begin (the encoder begins at 0).
 */
size_t dpl_vae_outputs(const struct dpl_vae_shape *shape);
size_t dpl_vae_latent_at(const struct dpl_vae_shape *shape);
size_t dpl_vae_decoder_at(const struct dpl_vae_shape *shape);
size_t dpl_vae_heads_at(const struct dpl_vae_shape *shape);

/* What the decoder draws: trips first ... first+n-1 of the sequence that belongs to `key`, so that
 * any cut of it and any number of threads give the same trips: z ~ N(0, I), then one draw per head.
 */
enum dpl_status dpl_vae_sample(struct dpl_run *run, const struct dpl_vae_shape *shape,
                               const float *parameters, uint64_t key, uint64_t first, size_t n,
                               int32_t *source, int32_t *destination, uint8_t *period);

#endif
