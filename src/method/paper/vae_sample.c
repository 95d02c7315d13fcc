/* Drawing from the autoencoder: only its decoder is used, on released parameters.
 *
 *     z ~ N(0, I) -> dense H, ReLU -> dense 2K + P: three softmax heads, one draw from each
 *
 * Shapes: K cells, P periods, H hidden, L latent, O = 2K + P.
 */
#include "method/paper/vae_sample.h"

#include <omp.h>

#include "method/paper/net/layers.h"
#include "method/paper/net/product.h"
#include "method/paper/net/vector.h"

struct dpl_vae_shape dpl_vae_paper(size_t n_cells, size_t n_periods) {
    return (struct dpl_vae_shape){
        .n_cells = n_cells, .n_periods = n_periods, .hidden = 100, .latent = 50, .kl_weight = 1};
}

size_t dpl_vae_outputs(const struct dpl_vae_shape *shape) {
    return 2 * shape->n_cells + shape->n_periods;
}

size_t dpl_vae_latent_at(const struct dpl_vae_shape *shape) {
    return (dpl_vae_outputs(shape) + 1) * shape->hidden;
}

size_t dpl_vae_decoder_at(const struct dpl_vae_shape *shape) {
    return dpl_vae_latent_at(shape) + (shape->hidden + 1) * 2 * shape->latent;
}

size_t dpl_vae_heads_at(const struct dpl_vae_shape *shape) {
    return dpl_vae_decoder_at(shape) + (shape->latent + 1) * shape->hidden;
}

size_t dpl_vae_parameters(const struct dpl_vae_shape *shape) {
    return dpl_vae_heads_at(shape) + (shape->hidden + 1) * dpl_vae_outputs(shape);
}

/* Trips of one call of the decoder. They begin at multiples of it, so that a trip's bits do not
 * depend on how a caller cuts the sequence. */
enum { DRAW_ROWS = 8 * DPL_PRODUCT_ROWS };

/* A draw from softmax(logit), which become exponentials; uniform in [0, 1). */
static size_t draw_category(float *logit, size_t n, double uniform) {
    float max = dpl_vector_max(logit, n);
    for (size_t j = 0; j < n; j++) logit[j] -= max;
    dpl_vector_exp(logit, n);
    double total = 0, at = 0;
    for (size_t j = 0; j < n; j++) total += (double)logit[j];
    for (size_t j = 0; j < n; j++) {
        at += (double)logit[j];
        if (uniform * total < at) return j;
    }
    return n - 1;
}

/* z (DRAW_ROWS, L + 1), b (DRAW_ROWS, H + 1), o (DRAW_ROWS, O) of trips first ... */
static void decode(const struct dpl_vae_shape *shape, const float *parameters, uint64_t key,
                   uint64_t first, float *z, float *b, float *o) {
    size_t H = shape->hidden, L = shape->latent, O = dpl_vae_outputs(shape);
    struct dpl_dense decoder = {
        .n_in = L, .n_out = H, .w = parameters + dpl_vae_decoder_at(shape), .product = dpl_product};
    struct dpl_dense heads = {
        .n_in = H, .n_out = O, .w = parameters + dpl_vae_heads_at(shape), .product = dpl_product};
    for (size_t i = 0; i < DRAW_ROWS; i++) {
        dpl_vector_normals(dpl_mix64(key ^ dpl_mix64(2 * (first + i))), z + i * dpl_stride(L + 1),
                           L);
        z[i * dpl_stride(L + 1) + L] = 1;
    }
    dpl_dense_forward(&decoder, DRAW_ROWS, z, b, H + 1);
    dpl_relu_forward(DRAW_ROWS, H, b);
    dpl_dense_forward(&heads, DRAW_ROWS, b, o, O);
}

/* The i-th head's draw of a trip. */
static double head_uniform(uint64_t key, uint64_t trip, size_t i) {
    return (double)(dpl_mix64(dpl_mix64(key ^ dpl_mix64(2 * trip + 1)) + i) >> 11) * 0x1p-53;
}

enum dpl_status dpl_vae_sample(struct dpl_run *run, const struct dpl_vae_shape *shape,
                               const float *parameters, uint64_t key, uint64_t first, size_t n,
                               int32_t *source, int32_t *destination, uint8_t *period) {
    if (n == 0) return DPL_OK;
    size_t K = shape->n_cells, H = shape->hidden, L = shape->latent, O = dpl_vae_outputs(shape);
    size_t per_thread = DRAW_ROWS * (dpl_stride(L + 1) + dpl_stride(H + 1) + dpl_stride(O));
    int threads = dpl_run_threads(run);
    float *block = dpl_alloc(run, per_thread * (size_t)threads, sizeof *block);
    if (block == NULL) return DPL_SYSTEM;
    uint64_t begin = first / DRAW_ROWS, end = (first + n - 1) / DRAW_ROWS + 1;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (uint64_t piece = begin; piece < end; piece++) {
        float *z = block + per_thread * (size_t)omp_get_thread_num(),
              *b = z + DRAW_ROWS * dpl_stride(L + 1);
        float *o = b + DRAW_ROWS * dpl_stride(H + 1);
        decode(shape, parameters, key, piece * DRAW_ROWS, z, b, o);
        for (uint64_t trip = piece * DRAW_ROWS; trip < (piece + 1) * DRAW_ROWS;
             trip++, o += dpl_stride(O)) {
            if (trip < first || trip >= first + n) continue;
            source[trip - first] = (int32_t)draw_category(o, K, head_uniform(key, trip, 0));
            destination[trip - first] =
                (int32_t)draw_category(o + K, K, head_uniform(key, trip, 1));
            period[trip - first] =
                (uint8_t)draw_category(o + 2 * K, shape->n_periods, head_uniform(key, trip, 2));
        }
    }
    dpl_free(block);
    return DPL_OK;
}
