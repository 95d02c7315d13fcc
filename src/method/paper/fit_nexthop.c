/* The transition net.
 *
 *     embedding[current] | embedding[destination] | hour | 1  ->  dense H, ReLU  ->  dense K,
 * softmax
 *
 * Cost of a row: 3 * 2 * (2 E H + H K) FLOP. Shapes: R rows, K cells, E embedding, H hidden.
 */
#include "method/paper/fit_nexthop.h"

#include <math.h>
#include <string.h>

struct nexthop {
    struct dpl_net net; // first: a pointer to one is a pointer to the other
    struct dpl_nexthop_shape shape;
    struct dpl_units units;
    size_t rows_per_unit;
    int32_t *index, *target; // (R, 2) current and destination; (R); one allocation
    float *input;            // (R, 2E + 2); the floats are one allocation
    float *hidden;           // (R, H + 1)
    float *output;           // (R, K) logits, probabilities, then their delta
    float *d_input;          // (R, 2E + 1)
    float *d_hidden;         // (R, H)
};

enum { TAP_EMBEDDING, TAP_HIDDEN, TAP_OUTPUT, TAPS };

struct dpl_sgd_options dpl_nexthop_training(double n_hat) {
    struct dpl_sgd_options options = dpl_sgd_paper("tpg", 3, n_hat);
    options.network = 2;
    options.phase = "training transitions";
    return options;
}

/* ---- the net's parts, as training calls them ---- */

static size_t count(const struct dpl_net *net, size_t unit) {
    const struct nexthop *self = (const struct nexthop *)net;
    size_t n = dpl_unit_twograms(&self->units, unit);
    return n < self->rows_per_unit ? n : self->rows_per_unit;
}

static void gather(struct dpl_net *net, size_t unit, uint64_t draw, size_t first, size_t n_rows) {
    struct nexthop *self = (struct nexthop *)net;
    size_t n = dpl_unit_twograms(&self->units, unit), hour_at = 2 * self->shape.embedding;
    for (size_t i = 0; i < n_rows; i++) {
        size_t row = first + i;
        struct dpl_twogram twogram =
            dpl_unit_twogram(&self->units, unit, dpl_unit_choice(draw, i, n_rows, n));
        self->index[2 * row] = twogram.current;
        self->index[2 * row + 1] =
            self->shape.no_destination ? twogram.current : twogram.destination;
        self->target[row] = twogram.next;
        float *input = self->input + row * dpl_stride(hour_at + 2);
        input[hour_at] = dpl_nexthop_hour(&self->shape, twogram.period);
        input[hour_at + 1] = 1;
    }
}

static void pass(struct dpl_net *net, const float *parameters, size_t first, size_t rows,
                 float *loss) {
    struct nexthop *self = (struct nexthop *)net;
    size_t K = self->shape.n_cells, E = self->shape.embedding, H = self->shape.hidden;
    const size_t offset[2] = {0, E};
    struct dpl_lookup embedding = {
        .table_rows = K, .columns = E, .slots = 2, .table = parameters, .offset = offset};
    struct dpl_dense hidden = {.n_in = 2 * E + 1,
                               .n_out = H,
                               .w = parameters + dpl_nexthop_hidden_at(&self->shape),
                               .product = net->product};
    struct dpl_dense output = {.n_in = H,
                               .n_out = K,
                               .w = parameters + dpl_nexthop_output_at(&self->shape),
                               .product = net->product};
    struct dpl_softmax softmax = {.columns = K, .first = 0, .n = K, .target_step = 1, .weight = 1};
    const int32_t *index = self->index + 2 * first, *target = self->target + first;
    float *x = self->input + first * dpl_stride(2 * E + 2),
          *h = self->hidden + first * dpl_stride(H + 1);
    float *z = self->output + first * dpl_stride(K);
    float *dx = self->d_input + first * dpl_stride(2 * E + 1),
          *dh = self->d_hidden + first * dpl_stride(H);
    if (loss != NULL) memset(loss + first, 0, rows * sizeof *loss);

    dpl_lookup_forward(&embedding, rows, index, x, 2 * E + 2);
    dpl_dense_forward(&hidden, rows, x, h, H + 1);
    dpl_relu_forward(rows, H, h);
    dpl_dense_forward(&output, rows, h, z, K);
    dpl_softmax_forward(&softmax, rows, target, z, loss != NULL ? loss + first : NULL);

    dpl_softmax_backward(&softmax, rows, target, z);
    dpl_dense_backward(&output, rows, dh, z, K);
    dpl_relu_backward(rows, H, h, dh);
    dpl_dense_backward(&hidden, rows, dx, dh, H);
}

static void initialise(const struct dpl_net *net, uint64_t key, float *parameters) {
    const struct dpl_nexthop_shape *shape = &((const struct nexthop *)net)->shape;
    dpl_initial_uniform(dpl_mix64(key + 1), shape->n_cells * shape->embedding, 0.05f, parameters);
    dpl_initial_dense(dpl_mix64(key + 2), 2 * shape->embedding + 1, shape->hidden,
                      2 * shape->embedding + 1, parameters + dpl_nexthop_hidden_at(shape));
    dpl_initial_dense(dpl_mix64(key + 3), shape->hidden, shape->n_cells, shape->hidden,
                      parameters + dpl_nexthop_output_at(shape));
}

static void free_net(struct dpl_net *net) {
    struct nexthop *self = (struct nexthop *)net;
    dpl_free(self->index);
    dpl_free(self->input);
    dpl_free(self);
}

/* ---- making one ---- */

static void set_taps(struct nexthop *self) {
    size_t K = self->shape.n_cells, E = self->shape.embedding, H = self->shape.hidden;
    struct dpl_net *net = &self->net;
    net->n_taps = TAPS;
    net->tap[TAP_EMBEDDING] = (struct dpl_tap){.kind = DPL_TAP_LOOKUP,
                                               .first = 0,
                                               .rows = K,
                                               .columns = E,
                                               .index = self->index,
                                               .slots = 2,
                                               .offset = {0, E},
                                               .delta = self->d_input,
                                               .delta_columns = 2 * E + 1};
    net->tap[TAP_HIDDEN] = (struct dpl_tap){.kind = DPL_TAP_DENSE,
                                            .first = dpl_nexthop_hidden_at(&self->shape),
                                            .rows = 2 * E + 2,
                                            .columns = H,
                                            .a = self->input,
                                            .delta = self->d_hidden,
                                            .delta_columns = H};
    net->tap[TAP_OUTPUT] = (struct dpl_tap){.kind = DPL_TAP_DENSE,
                                            .first = dpl_nexthop_output_at(&self->shape),
                                            .rows = H + 1,
                                            .columns = K,
                                            .a = self->hidden,
                                            .delta = self->output,
                                            .delta_columns = K};
}

static enum dpl_status allocate(struct dpl_run *run, struct nexthop *self) {
    size_t K = self->shape.n_cells, E = self->shape.embedding, H = self->shape.hidden,
           R = self->net.capacity;
    size_t input = dpl_stride(2 * E + 2), hidden = dpl_stride(H + 1), output = dpl_stride(K),
           d_input = dpl_stride(2 * E + 1);
    self->index = dpl_alloc(run, 3 * R, sizeof *self->index);
    self->input = dpl_alloc(run, R * (input + hidden + output + d_input + dpl_stride(H)),
                            sizeof *self->input);
    if (self->index == NULL || self->input == NULL) return DPL_SYSTEM;
    self->target = self->index + 2 * R;
    self->hidden = self->input + R * input;
    self->output = self->hidden + R * hidden;
    self->d_input = self->output + R * output;
    self->d_hidden = self->d_input + R * d_input;
    set_taps(self);
    return DPL_OK;
}

enum dpl_status dpl_nexthop_new(struct dpl_run *run, const struct dpl_nexthop_shape *shape,
                                const struct dpl_units *units, size_t rows_per_unit, double batch,
                                struct dpl_net **net) {
    if (shape->n_cells < 1 || rows_per_unit < 1 || rows_per_unit > DPL_MAX_UNIT_ROWS)
        return dpl_fail(
            run, DPL_USAGE,
            "a transition net on %zu cells with %zu 2-grams a unit is not possible (1 to %d)",
            shape->n_cells, rows_per_unit, DPL_MAX_UNIT_ROWS);
    struct nexthop *self = dpl_alloc(run, 1, sizeof *self);
    if (self == NULL) return DPL_SYSTEM;
    self->net = dpl_net_over(units->n_units, rows_per_unit, batch, dpl_nexthop_parameters(shape));
    self->net.count = count, self->net.gather = gather, self->net.pass = pass;
    self->net.initialise = initialise, self->net.free = free_net;
    self->shape = *shape, self->units = *units, self->rows_per_unit = rows_per_unit;
    return dpl_net_finish(run, allocate(run, self), &self->net, net);
}
