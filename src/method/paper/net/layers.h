/* Layers on rows of f32: each has a forward and a backward with the same arguments in the same
 * order.
 *
 * A matrix of rows is (rows, columns) with a stride of dpl_stride(columns) floats, so that every
 * row starts on 64 bytes. Activations that enter a dense layer carry a last column of ones, and the
 * layer's last row of weights is its bias: bias, its gradient and its share of the norm then need
 * no code.
 *
 * PRIVACY: every output row is a function of the parameters and of that input row alone, bit for
 * bit. For the products this is what dpl_product_rows_alike has checked; `rows` is therefore always
 * a multiple of DPL_PRODUCT_ROWS, and callers pad.
 */
#ifndef DPL_METHOD_PAPER_NET_LAYERS_H
#define DPL_METHOD_PAPER_NET_LAYERS_H

#include "base/base.h"

/* Floats from one row to the next. */
size_t dpl_stride(size_t columns);
/* Smallest multiple of DPL_PRODUCT_ROWS that holds so many rows. */
size_t dpl_padded_rows(size_t rows);

/* Which product the layers call: dpl_product, or dpl_product_plain when the library's failed the
 * check. */
typedef void dpl_product_function(char op_a, char op_b, size_t m, size_t n, size_t k, float alpha,
                                  const float *a, size_t lda, const float *b, size_t ldb,
                                  float beta, float *c, size_t ldc);

/* Dense: z = [a 1] w. */
struct dpl_dense {
    size_t n_in, n_out;
    const float *w; /* (n_in + 1, n_out), the last row is the bias */
    dpl_product_function *product;
};
/* a (rows, n_in + 1) whose last column is 1 -> z (rows, n_out) with the stride of z_columns */
void dpl_dense_forward(const struct dpl_dense *layer, size_t rows, const float *a, float *z,
                       size_t z_columns);
/* da (rows, n_in) <- dz (rows, n_out) with the stride of z_columns */
void dpl_dense_backward(const struct dpl_dense *layer, size_t rows, float *da, const float *dz,
                        size_t z_columns);

/* ReLU in place, and the column of ones behind it: a (rows, columns + 1). */
void dpl_relu_forward(size_t rows, size_t columns, float *a);
/* da (rows, columns) in place: zero where a (rows, columns + 1) is */
void dpl_relu_backward(size_t rows, size_t columns, const float *a, float *da);

/* Lookup: a row's input is a list of table rows. Their sum is the output (one-hot inputs into a
 * dense layer), or each goes to its own columns (embeddings side by side). */
struct dpl_lookup {
    size_t table_rows, columns, slots;
    const float *table; /* (table_rows, columns) */
    const size_t
        *offset; /* (slots) where in the output row a slot's columns begin; equal offsets add */
};
/* index (rows, slots) -> out (rows, out_columns) */
void dpl_lookup_forward(const struct dpl_lookup *layer, size_t rows, const int32_t *index,
                        float *out, size_t out_columns);
/* dtable (table_rows, columns) += what dout (rows, out_columns) says. Training goes through the
 * lattice instead (train_dpsgd.c); this is the reference. */
void dpl_lookup_backward(const struct dpl_lookup *layer, size_t rows, const int32_t *index,
                         const float *dout, size_t out_columns, float *dtable);

/* Softmax and cross-entropy over columns first ... first+n-1 of rows with the stride of `columns`.
 * Forward: z becomes probabilities; loss (rows) += weight * cross-entropy of target (rows; the i-th
 * is target[i * target_step]). loss may be NULL. */
struct dpl_softmax {
    size_t columns, first, n, target_step;
    float weight;
};
void dpl_softmax_forward(const struct dpl_softmax *layer, size_t rows, const int32_t *target,
                         float *z, float *loss);
/* Probabilities become weight * (p - one-hot), in place. */
void dpl_softmax_backward(const struct dpl_softmax *layer, size_t rows, const int32_t *target,
                          float *z);

/* Gaussian reparameterisation and its KL divergence from N(0, I), averaged over the n latent
 * dimensions and times kl_weight: m (rows, 2n) holds means and log variances; noise (rows, n)
 * standard normals; z (rows, n + 1) with a column of ones. loss may be NULL. */
struct dpl_latent {
    size_t n;
    float kl_weight;
};
void dpl_latent_forward(const struct dpl_latent *layer, size_t rows, const float *m,
                        const float *noise, float *z, float *loss);
/* dm (rows, 2n) <- dz (rows, n) */
void dpl_latent_backward(const struct dpl_latent *layer, size_t rows, const float *m,
                         const float *noise, const float *dz, float *dm);

/* Glorot's uniform initial weights for w (n_in + 1, n_out), bias 0; w may be a table without bias.
 */
void dpl_initial_dense(uint64_t key, size_t n_in, size_t n_out, size_t fan_in, float *w);
/* Uniform in [-reach, reach]. */
void dpl_initial_uniform(uint64_t key, size_t n, float reach, float *w);

#endif
