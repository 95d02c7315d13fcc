/* The variational autoencoder.
 *
 *     one-hot source, destination, period -> dense H, ReLU -> dense 2L: means, log variances
 *         -> z = mean + deviation * noise -> dense H, ReLU -> dense 2K + P: three softmax heads
 *     loss = mean of the three cross-entropies + kl_weight * (KL averaged over the L dimensions)
 *
 * The first layer on one-hot inputs is three rows of its weights and the bias, added up: a lookup
 * of four slots. Shapes: R rows, K cells, P periods, H hidden, L latent, O = 2K + P.
 */
#include "method/paper/fit_vae.h"

#include <math.h>
#include <string.h>

#include "method/paper/net/vector.h"

enum { SLOTS = 4, HEADS = 3 };

struct vae {
    struct dpl_net net; // first: a pointer to one is a pointer to the other
    struct dpl_vae_shape shape;
    struct dpl_units units;
    size_t rows_per_unit;
    int32_t *index;   // (R, 4) rows of the encoder: source, K + destination, 2K + period, bias; one
                      // allocation with target
    int32_t *target;  // (R, 3) source, destination, period
    float *encoded;   // (R, H + 1); the floats are one allocation
    float *latent;    // (R, 2L) means and log variances
    float *noise;     // (R, L)
    float *z;         // (R, L + 1)
    float *decoded;   // (R, H + 1)
    float *output;    // (R, O) logits, probabilities, then their delta
    float *d_decoded; // (R, H)
    float *d_z;       // (R, L)
    float *d_latent;  // (R, 2L)
    float *d_encoded; // (R, H)
};

enum { TAP_ENCODER, TAP_LATENT, TAP_DECODER, TAP_HEADS, TAPS };

struct dpl_sgd_options dpl_vae_training(double n_hat) {
    struct dpl_sgd_options options = dpl_sgd_paper("ti", 1, n_hat);
    options.network = 1;
    options.phase = "training starts and ends";
    return options;
}

/* ---- the net's parts, as training calls them ---- */

static size_t count(const struct dpl_net *net, size_t unit) {
    const struct vae *self = (const struct vae *)net;
    size_t begin, end;
    dpl_unit_trips(&self->units, unit, &begin, &end);
    return end - begin < self->rows_per_unit ? end - begin : self->rows_per_unit;
}

static void gather(struct dpl_net *net, size_t unit, uint64_t draw, size_t first, size_t n_rows) {
    struct vae *self = (struct vae *)net;
    const struct dpl_units *units = &self->units;
    int32_t K = (int32_t)self->shape.n_cells, P = (int32_t)self->shape.n_periods;
    size_t begin, end;
    dpl_unit_trips(units, unit, &begin, &end);
    for (size_t i = 0; i < n_rows; i++) {
        size_t row = first + i, trip = begin + dpl_unit_choice(draw, i, n_rows, end - begin);
        int32_t source = units->cell[units->trip_start[trip]],
                destination = units->cell[units->trip_start[trip + 1] - 1];
        memcpy(self->target + HEADS * row, (int32_t[]){source, destination, units->period[trip]},
               HEADS * sizeof(int32_t));
        memcpy(self->index + SLOTS * row,
               (int32_t[]){source, K + destination, 2 * K + units->period[trip], 2 * K + P},
               SLOTS * sizeof(int32_t));
        dpl_vector_normals(dpl_mix64(draw ^ (i + 1)),
                           self->noise + row * dpl_stride(self->shape.latent), self->shape.latent);
    }
}

/* One head's softmax: columns first ... first+n-1, target column h. */
static struct dpl_softmax head(const struct dpl_vae_shape *shape, size_t h) {
    return (struct dpl_softmax){.columns = dpl_vae_outputs(shape),
                                .first = h * shape->n_cells,
                                .n = h < 2 ? shape->n_cells : shape->n_periods,
                                .target_step = HEADS,
                                .weight = 1.0f / HEADS};
}

static void pass(struct dpl_net *net, const float *parameters, size_t first, size_t rows,
                 float *loss) {
    struct vae *self = (struct vae *)net;
    const struct dpl_vae_shape *shape = &self->shape;
    size_t H = shape->hidden, L = shape->latent, O = dpl_vae_outputs(shape);
    const size_t offset[SLOTS] = {0, 0, 0, 0};
    struct dpl_lookup encoder = {
        .table_rows = O + 1, .columns = H, .slots = SLOTS, .table = parameters, .offset = offset};
    struct dpl_dense latent = {.n_in = H,
                               .n_out = 2 * L,
                               .w = parameters + dpl_vae_latent_at(shape),
                               .product = net->product};
    struct dpl_latent gaussian = {.n = L, .kl_weight = shape->kl_weight};
    struct dpl_dense decoder = {.n_in = L,
                                .n_out = H,
                                .w = parameters + dpl_vae_decoder_at(shape),
                                .product = net->product};
    struct dpl_dense heads = {
        .n_in = H, .n_out = O, .w = parameters + dpl_vae_heads_at(shape), .product = net->product};
    struct dpl_softmax softmax[HEADS] = {head(shape, 0), head(shape, 1), head(shape, 2)};
    const int32_t *target = self->target + HEADS * first;
    float *a = self->encoded + first * dpl_stride(H + 1),
          *m = self->latent + first * dpl_stride(2 * L);
    float *noise = self->noise + first * dpl_stride(L), *z = self->z + first * dpl_stride(L + 1);
    float *b = self->decoded + first * dpl_stride(H + 1), *o = self->output + first * dpl_stride(O);
    float *db = self->d_decoded + first * dpl_stride(H), *dz = self->d_z + first * dpl_stride(L);
    float *dm = self->d_latent + first * dpl_stride(2 * L),
          *da = self->d_encoded + first * dpl_stride(H);
    float *row_loss = loss != NULL ? loss + first : NULL;
    if (loss != NULL) memset(row_loss, 0, rows * sizeof *loss);

    dpl_lookup_forward(&encoder, rows, self->index + SLOTS * first, a, H + 1);
    dpl_relu_forward(rows, H, a);
    dpl_dense_forward(&latent, rows, a, m, 2 * L);
    dpl_latent_forward(&gaussian, rows, m, noise, z, row_loss);
    dpl_dense_forward(&decoder, rows, z, b, H + 1);
    dpl_relu_forward(rows, H, b);
    dpl_dense_forward(&heads, rows, b, o, O);
    for (size_t h = 0; h < HEADS; h++)
        dpl_softmax_forward(&softmax[h], rows, target + h, o, row_loss);

    for (size_t h = 0; h < HEADS; h++) dpl_softmax_backward(&softmax[h], rows, target + h, o);
    dpl_dense_backward(&heads, rows, db, o, O);
    dpl_relu_backward(rows, H, b, db);
    dpl_dense_backward(&decoder, rows, dz, db, H);
    dpl_latent_backward(&gaussian, rows, m, noise, dz, dm);
    dpl_dense_backward(&latent, rows, da, dm, 2 * L);
    dpl_relu_backward(rows, H, a, da);
}

static void initialise(const struct dpl_net *net, uint64_t key, float *parameters) {
    const struct dpl_vae_shape *shape = &((const struct vae *)net)->shape;
    size_t H = shape->hidden, L = shape->latent, O = dpl_vae_outputs(shape);
    dpl_initial_dense(dpl_mix64(key + 1), O, H, O, parameters);
    dpl_initial_dense(dpl_mix64(key + 2), H, 2 * L, H, parameters + dpl_vae_latent_at(shape));
    dpl_initial_dense(dpl_mix64(key + 3), L, H, L, parameters + dpl_vae_decoder_at(shape));
    dpl_initial_dense(dpl_mix64(key + 4), H, O, H, parameters + dpl_vae_heads_at(shape));
}

static void free_net(struct dpl_net *net) {
    struct vae *self = (struct vae *)net;
    dpl_free(self->index);
    dpl_free(self->encoded);
    dpl_free(self);
}

/* ---- making one ---- */

static void set_taps(struct vae *self) {
    const struct dpl_vae_shape *shape = &self->shape;
    size_t H = shape->hidden, L = shape->latent, O = dpl_vae_outputs(shape);
    struct dpl_net *net = &self->net;
    net->n_taps = TAPS;
    net->tap[TAP_ENCODER] = (struct dpl_tap){.kind = DPL_TAP_LOOKUP,
                                             .first = 0,
                                             .rows = O + 1,
                                             .columns = H,
                                             .index = self->index,
                                             .slots = SLOTS,
                                             .delta = self->d_encoded,
                                             .delta_columns = H};
    net->tap[TAP_LATENT] = (struct dpl_tap){.kind = DPL_TAP_DENSE,
                                            .first = dpl_vae_latent_at(shape),
                                            .rows = H + 1,
                                            .columns = 2 * L,
                                            .a = self->encoded,
                                            .delta = self->d_latent,
                                            .delta_columns = 2 * L};
    net->tap[TAP_DECODER] = (struct dpl_tap){.kind = DPL_TAP_DENSE,
                                             .first = dpl_vae_decoder_at(shape),
                                             .rows = L + 1,
                                             .columns = H,
                                             .a = self->z,
                                             .delta = self->d_decoded,
                                             .delta_columns = H};
    net->tap[TAP_HEADS] = (struct dpl_tap){.kind = DPL_TAP_DENSE,
                                           .first = dpl_vae_heads_at(shape),
                                           .rows = H + 1,
                                           .columns = O,
                                           .a = self->decoded,
                                           .delta = self->output,
                                           .delta_columns = O};
}

static enum dpl_status allocate(struct dpl_run *run, struct vae *self) {
    size_t H = self->shape.hidden, L = self->shape.latent, O = dpl_vae_outputs(&self->shape),
           R = self->net.capacity;
    struct {
        float **at;
        size_t columns;
    } const piece[] = {{&self->encoded, H + 1}, {&self->latent, 2 * L},  {&self->noise, L},
                       {&self->z, L + 1},       {&self->decoded, H + 1}, {&self->output, O},
                       {&self->d_decoded, H},   {&self->d_z, L},         {&self->d_latent, 2 * L},
                       {&self->d_encoded, H}};
    size_t floats = 0;
    for (size_t i = 0; i < sizeof piece / sizeof *piece; i++)
        floats += R * dpl_stride(piece[i].columns);
    self->index = dpl_alloc(run, (SLOTS + HEADS) * R, sizeof *self->index);
    float *next = dpl_alloc(run, floats, sizeof *next);
    for (size_t i = 0; i < sizeof piece / sizeof *piece && next != NULL; i++) {
        *piece[i].at = next;
        next += R * dpl_stride(piece[i].columns);
    }
    if (self->index == NULL || self->encoded == NULL) return DPL_SYSTEM;
    self->target = self->index + SLOTS * R;
    set_taps(self);
    return DPL_OK;
}

enum dpl_status dpl_vae_new(struct dpl_run *run, const struct dpl_vae_shape *shape,
                            const struct dpl_units *units, size_t rows_per_unit, double batch,
                            struct dpl_net **net) {
    if (shape->n_cells < 1 || shape->n_periods < 1 || rows_per_unit < 1 ||
        rows_per_unit > DPL_MAX_UNIT_ROWS)
        return dpl_fail(run, DPL_USAGE,
                        "an autoencoder on %zu cells and %zu periods with %zu trips a unit is not "
                        "possible (1 to %d)",
                        shape->n_cells, shape->n_periods, rows_per_unit, DPL_MAX_UNIT_ROWS);
    struct vae *self = dpl_alloc(run, 1, sizeof *self);
    if (self == NULL) return DPL_SYSTEM;
    self->net = dpl_net_over(units->n_units, rows_per_unit, batch, dpl_vae_parameters(shape));
    self->net.count = count, self->net.gather = gather, self->net.pass = pass;
    self->net.initialise = initialise, self->net.free = free_net;
    self->shape = *shape, self->units = *units, self->rows_per_unit = rows_per_unit;
    return dpl_net_finish(run, allocate(run, self), &self->net, net);
}
