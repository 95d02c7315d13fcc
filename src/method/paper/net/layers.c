/* The layers. Shapes: R rows (a multiple of DPL_PRODUCT_ROWS), strides of dpl_stride(columns). */
#include "method/paper/net/layers.h"

#include <math.h>
#include <string.h>

#include "method/paper/net/product.h"
#include "method/paper/net/vector.h"

size_t dpl_stride(size_t columns) { return (columns + 15) / 16 * 16; }

size_t dpl_padded_rows(size_t rows) {
    return (rows + DPL_PRODUCT_ROWS - 1) / DPL_PRODUCT_ROWS * DPL_PRODUCT_ROWS;
}

/* ---- dense ---- */

void dpl_dense_forward(const struct dpl_dense *layer, size_t rows, const float *a, float *z,
                       size_t z_columns) {
    layer->product('N', 'N', rows, layer->n_out, layer->n_in + 1, 1, a, dpl_stride(layer->n_in + 1),
                   layer->w, layer->n_out, 0, z, dpl_stride(z_columns));
}

void dpl_dense_backward(const struct dpl_dense *layer, size_t rows, float *da, const float *dz,
                        size_t z_columns) {
    layer->product('N', 'T', rows, layer->n_in, layer->n_out, 1, dz, dpl_stride(z_columns),
                   layer->w, layer->n_out, 0, da, dpl_stride(layer->n_in));
}

/* ---- ReLU ---- */

DPL_CLONES void dpl_relu_forward(size_t rows, size_t columns, float *a) {
    for (size_t i = 0; i < rows; i++, a += dpl_stride(columns + 1)) {
        for (size_t j = 0; j < columns; j++) a[j] = a[j] < 0 ? 0 : a[j]; // NaN stays
        a[columns] = 1;
    }
}

DPL_CLONES void dpl_relu_backward(size_t rows, size_t columns, const float *a, float *da) {
    for (size_t i = 0; i < rows; i++, a += dpl_stride(columns + 1), da += dpl_stride(columns))
        for (size_t j = 0; j < columns; j++) da[j] = a[j] == 0 ? 0 : da[j];
}

/* ---- lookup ---- */

void dpl_lookup_forward(const struct dpl_lookup *layer, size_t rows, const int32_t *index,
                        float *out, size_t out_columns) {
    for (size_t i = 0; i < rows; i++, out += dpl_stride(out_columns), index += layer->slots)
        for (size_t s = 0; s < layer->slots; s++) {
            const float *from = layer->table + (size_t)index[s] * layer->columns;
            float *to = out + layer->offset[s];
            bool adds = s > 0 && layer->offset[s] == layer->offset[s - 1];
            if (!adds) memcpy(to, from, layer->columns * sizeof *to);
            for (size_t j = 0; adds && j < layer->columns; j++) to[j] += from[j];
        }
}

void dpl_lookup_backward(const struct dpl_lookup *layer, size_t rows, const int32_t *index,
                         const float *dout, size_t out_columns, float *dtable) {
    for (size_t i = 0; i < rows; i++, dout += dpl_stride(out_columns), index += layer->slots)
        for (size_t s = 0; s < layer->slots; s++)
            for (size_t j = 0; j < layer->columns; j++)
                dtable[(size_t)index[s] * layer->columns + j] += dout[layer->offset[s] + j];
}

/* ---- softmax and cross-entropy ---- */

void dpl_softmax_forward(const struct dpl_softmax *layer, size_t rows, const int32_t *target,
                         float *z, float *loss) {
    z += layer->first;
    for (size_t i = 0; i < rows; i++, z += dpl_stride(layer->columns)) {
        float max = dpl_vector_max(z, layer->n), at_target = z[target[i * layer->target_step]];
        for (size_t j = 0; j < layer->n; j++) z[j] -= max;
        dpl_vector_exp(z, layer->n);
        float sum = dpl_vector_sum(z, layer->n);
        dpl_vector_scale(z, layer->n, 1.0f / sum);
        if (loss != NULL) loss[i] += layer->weight * (logf(sum) + max - at_target);
    }
}

void dpl_softmax_backward(const struct dpl_softmax *layer, size_t rows, const int32_t *target,
                          float *z) {
    z += layer->first;
    for (size_t i = 0; i < rows; i++, z += dpl_stride(layer->columns)) {
        z[target[i * layer->target_step]] -= 1.0f;
        if (layer->weight != 1.0f) dpl_vector_scale(z, layer->n, layer->weight);
    }
}

/* ---- Gaussian ---- */

void dpl_latent_forward(const struct dpl_latent *layer, size_t rows, const float *m,
                        const float *noise, float *z, float *loss) {
    size_t n = layer->n;
    for (size_t i = 0; i < rows;
         i++, m += dpl_stride(2 * n), noise += dpl_stride(n), z += dpl_stride(n + 1)) {
        float kl = 0;
        for (size_t j = 0; j < n; j++) z[j] = 0.5f * m[n + j];
        dpl_vector_exp(z, n); // the standard deviations
        for (size_t j = 0; j < n; j++) {
            kl += 0.5f * (m[j] * m[j] + z[j] * z[j] - 1.0f - m[n + j]);
            z[j] = m[j] + z[j] * noise[j];
        }
        z[n] = 1;
        if (loss != NULL) loss[i] += layer->kl_weight * kl / (float)n;
    }
}

void dpl_latent_backward(const struct dpl_latent *layer, size_t rows, const float *m,
                         const float *noise, const float *dz, float *dm) {
    size_t n = layer->n;
    float weight = layer->kl_weight / (float)n;
    for (size_t i = 0; i < rows; i++, m += dpl_stride(2 * n), noise += dpl_stride(n),
                dz += dpl_stride(n), dm += dpl_stride(2 * n)) {
        float *deviation = dm + n;
        for (size_t j = 0; j < n; j++) deviation[j] = 0.5f * m[n + j];
        dpl_vector_exp(deviation, n);
        for (size_t j = 0; j < n; j++) {
            dm[j] = dz[j] + weight * m[j];
            dm[n + j] = 0.5f * (dz[j] * noise[j] * deviation[j] +
                                weight * (deviation[j] * deviation[j] - 1.0f));
        }
    }
}

/* ---- initial weights ---- */

void dpl_initial_uniform(uint64_t key, size_t n, float reach, float *w) {
    for (size_t i = 0; i < n; i++) {
        uint64_t word = dpl_mix64(key + (i + 1) * 0x9E3779B97F4A7C15u);
        w[i] = reach * ((float)(int32_t)(word >> 40) * 0x1p-23f - 1.0f);
    }
}

void dpl_initial_dense(uint64_t key, size_t n_in, size_t n_out, size_t fan_in, float *w) {
    dpl_initial_uniform(key, n_in * n_out, sqrtf(6.0f / (float)(fan_in + n_out)), w);
    memset(w + n_in * n_out, 0, n_out * sizeof *w);
}
