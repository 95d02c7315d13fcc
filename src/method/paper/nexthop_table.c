/* What the transition net says, from released parameters: its first layer folded into tables, so
 * that a row costs one product with the output layer.
 *
 * Shapes: K cells, E embedding, H hidden.
 */
#include "method/paper/nexthop_table.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "method/paper/net/layers.h"
#include "method/paper/net/product.h"
#include "method/paper/net/vector.h"

struct dpl_nexthop_shape dpl_nexthop_paper(size_t n_cells, size_t n_periods) {
    return (struct dpl_nexthop_shape){
        .n_cells = n_cells, .n_periods = n_periods, .embedding = 50, .hidden = 200};
}

size_t dpl_nexthop_hidden_at(const struct dpl_nexthop_shape *shape) {
    return shape->n_cells * shape->embedding;
}

size_t dpl_nexthop_output_at(const struct dpl_nexthop_shape *shape) {
    return dpl_nexthop_hidden_at(shape) + (2 * shape->embedding + 2) * shape->hidden;
}

size_t dpl_nexthop_parameters(const struct dpl_nexthop_shape *shape) {
    return dpl_nexthop_output_at(shape) + (shape->hidden + 1) * shape->n_cells;
}

float dpl_nexthop_hour(const struct dpl_nexthop_shape *shape, size_t period) {
    return shape->n_periods > 1 ? (float)period / (float)(shape->n_periods - 1) : 0;
}

enum dpl_status dpl_nexthop_fold(struct dpl_run *run, const struct dpl_nexthop_shape *shape,
                                 const float *parameters, struct dpl_nexthop_folded *folded) {
    size_t K = shape->n_cells, E = shape->embedding, H = shape->hidden;
    float *block = dpl_alloc(run, 2 * K * H + H, sizeof *block);
    if (block == NULL) return DPL_SYSTEM;
    const float *w = parameters + dpl_nexthop_hidden_at(shape),
                *bias = w + (2 * E + 1) * H; // w (2E + 2, H)
    *folded = (struct dpl_nexthop_folded){.shape = *shape,
                                          .from = block,
                                          .to = block + K * H,
                                          .time = block + 2 * K * H,
                                          .output = parameters + dpl_nexthop_output_at(shape)};
    dpl_product('N', 'N', K, H, E, 1, parameters, E, w, H, 0, folded->from, H);
    dpl_product('N', 'N', K, H, E, 1, parameters, E, w + E * H, H, 0, folded->to, H);
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < H; j++) folded->from[i * H + j] += bias[j];
    if (shape->no_destination) {
        for (size_t i = 0; i < K * H; i++) folded->from[i] += folded->to[i];
        memset(folded->to, 0, K * H * sizeof *folded->to);
    }
    memcpy(folded->time, w + 2 * E * H, H * sizeof *block);
    return DPL_OK;
}

void dpl_nexthop_folded_free(struct dpl_nexthop_folded *folded) {
    dpl_free(folded->from);
    *folded = (struct dpl_nexthop_folded){0};
}

enum { QUERY_ROWS = 8 * DPL_PRODUCT_ROWS };

static void log_softmax(float *z, size_t n, float *scratch) {
    float max = dpl_vector_max(z, n);
    for (size_t j = 0; j < n; j++) scratch[j] = z[j] - max;
    dpl_vector_exp(scratch, n);
    float log_sum = max + logf(dpl_vector_sum(scratch, n));
    for (size_t j = 0; j < n; j++) z[j] -= log_sum;
}

/* Queries begin ... begin+n-1, n <= QUERY_ROWS; hidden (QUERY_ROWS, H + 1), scratch (K). */
static void evaluate_rows(const struct dpl_nexthop_folded *folded, size_t n, const int32_t *current,
                          const int32_t *destination, const uint8_t *period, float *hidden,
                          float *scratch, float *log_p) {
    size_t K = folded->shape.n_cells, H = folded->shape.hidden;
    for (size_t i = 0; i < n; i++) {
        const float *from = folded->from + (size_t)current[i] * H,
                    *to = folded->to + (size_t)destination[i] * H;
        float *h = hidden + i * dpl_stride(H + 1),
              hour = dpl_nexthop_hour(&folded->shape, period[i]);
        for (size_t j = 0; j < H; j++) h[j] = from[j] + to[j] + hour * folded->time[j];
    }
    dpl_relu_forward(n, H, hidden);
    dpl_product('N', 'N', n, K, H + 1, 1, hidden, dpl_stride(H + 1), folded->output, K, 0, log_p,
                K);
    for (size_t i = 0; i < n; i++) log_softmax(log_p + i * K, K, scratch);
}

enum dpl_status dpl_nexthop_evaluate(struct dpl_run *run, const struct dpl_nexthop_folded *folded,
                                     size_t n, const int32_t *current, const int32_t *destination,
                                     const uint8_t *period, float *log_p) {
    size_t K = folded->shape.n_cells,
           per_thread = QUERY_ROWS * dpl_stride(folded->shape.hidden + 1) + dpl_stride(K);
    int threads = dpl_run_threads(run);
    float *block = dpl_alloc(run, per_thread * (size_t)threads, sizeof *block);
    if (block == NULL) return DPL_SYSTEM;
    size_t pieces = (n + QUERY_ROWS - 1) / QUERY_ROWS;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (size_t i = 0; i < pieces; i++) {
        size_t begin = i * QUERY_ROWS, rows = n - begin < QUERY_ROWS ? n - begin : QUERY_ROWS;
        float *hidden = block + per_thread * (size_t)omp_get_thread_num();
        evaluate_rows(folded, rows, current + begin, destination + begin, period + begin, hidden,
                      hidden + QUERY_ROWS * dpl_stride(folded->shape.hidden + 1),
                      log_p + begin * K);
    }
    dpl_free(block);
    return DPL_OK;
}
