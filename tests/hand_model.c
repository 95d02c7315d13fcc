/* Models by hand.
 *
 * The transition net can hold a Gaussian exactly. With m = x + pull (d - x), linear in the
 * positions that the embedding holds, log exp(-|y - m|^2 / 2 s^2) is, up to what does not depend on
 * y, (m . y) / s^2 - |y|^2 / 2 s^2: two hidden values m + C (C keeps them above 0) and a bias. The
 * other hidden values get small random weights, so that products cost what they do. */
#include "hand_model.h"

#include <math.h>
#include <stdlib.h>

#include "method/paper/nexthop_table.h"
#include "method/paper/vae_sample.h"

struct hand_options hand_defaults(int32_t n_cells) {
    return (struct hand_options){.n_cells = n_cells,
                                 .length_max = 40,
                                 .reach_cells = 1.1,
                                 .pull = 0.12,
                                 .vae_hidden = 100,
                                 .vae_latent = 50,
                                 .embedding = 50,
                                 .hidden = 200};
}

static float small(uint64_t *state, double reach) {
    return (float)(((double)(dpl_mix64(*state += 0x9E3779B97F4A7C15u) >> 11) * 0x1p-52 - 1) *
                   reach);
}

struct near_cell {
    double distance;
    int32_t cell;
};

static int by_distance(const void *a, const void *b) {
    const struct near_cell *left = a, *right = b;
    if (left->distance < right->distance) return -1;
    if (left->distance > right->distance) return 1;
    return (left->cell > right->cell) - (left->cell < right->cell);
}

static int by_number(const void *a, const void *b) {
    int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

static void place(const struct dpl_grid *grid, int32_t cell, double *x, double *y) {
    *x = cell % grid->columns - (grid->columns - 1) / 2.0;
    *y = cell / grid->columns - (grid->rows - 1) / 2.0;
}

static enum dpl_status choose_cells(struct dpl_run *run, const struct dpl_grid *grid, int32_t K,
                                    int32_t *cell) {
    int32_t all = dpl_grid_cells(grid);
    struct near_cell *list = dpl_alloc(run, (size_t)all, sizeof *list);
    if (list == NULL) return DPL_SYSTEM;
    for (int32_t i = 0; i < all; i++) {
        double x, y;
        place(grid, i, &x, &y);
        list[i] = (struct near_cell){x * x + y * y, i};
    }
    qsort(list, (size_t)all, sizeof *list, by_distance);
    for (int32_t i = 0; i < K; i++) cell[i] = list[i].cell;
    qsort(cell, (size_t)K, sizeof *cell, by_number);
    dpl_free(list);
    return DPL_OK;
}

static void set_nexthop(const struct dpl_model *model, const struct hand_options *options,
                        const struct dpl_nexthop_shape *shape, float *p) {
    size_t K = shape->n_cells, E = shape->embedding, H = shape->hidden;
    const double C = 200, s2 = options->reach_cells * options->reach_cells;
    float *hidden = p + dpl_nexthop_hidden_at(shape), *output = p + dpl_nexthop_output_at(shape);
    uint64_t state = 7;
    for (size_t i = 0; i < dpl_nexthop_parameters(shape); i++) p[i] = small(&state, 0.02);
    for (size_t j = 0; j < H; j++)
        for (size_t e = 0; e < 2; e++)
            hidden[e * H + j] = hidden[(E + e) * H + j] =
                0; // positions are large: two values alone see them
    for (size_t axis = 0; axis < 2; axis++) {
        for (size_t e = 0; e < 2 * E + 2; e++) hidden[e * H + axis] = 0;
        hidden[axis * H + axis] = (float)(1 - options->pull);
        hidden[(E + axis) * H + axis] = (float)options->pull;
        hidden[(2 * E + 1) * H + axis] = (float)C;
    }
    for (size_t i = 0; i < K; i++) {
        double x, y;
        place(&model->grid, model->cell[i], &x, &y);
        p[i * E] = (float)x, p[i * E + 1] = (float)y;
        output[i] = (float)(x / s2), output[K + i] = (float)(y / s2);
        output[H * K + i] = (float)(-(x * x + y * y) / (2 * s2) - C * (x + y) / s2);
    }
}

static void set_vae(const struct dpl_model *model, const struct dpl_vae_shape *shape, float *p) {
    size_t K = shape->n_cells, O = dpl_vae_outputs(shape), H = shape->hidden;
    float *bias = p + dpl_vae_heads_at(shape) + H * O;
    double reach = sqrt((double)K) / 4;
    uint64_t state = 11;
    for (size_t i = 0; i < dpl_vae_parameters(shape); i++) p[i] = small(&state, 0.1);
    for (size_t i = 0; i < K; i++) {
        double x, y;
        place(&model->grid, model->cell[i], &x, &y);
        bias[i] = bias[K + i] = (float)(-(x * x + y * y) / (2 * reach * reach));
    }
    for (size_t t = 0; t < shape->n_periods; t++)
        bias[2 * K + t] = (float)sin((double)t / (double)shape->n_periods * 6.28 - 2);
}

enum dpl_status hand_model(struct dpl_run *run, double cell_m, const struct hand_options *options,
                           struct dpl_model **model) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    struct dpl_model *made = NULL;
    enum dpl_status status;
    int32_t *cell;
    float *nexthop, *vae;
    DPL_TRY(dpl_area_preset(run, "simulated", &area));
    area.cell_m = cell_m;
    DPL_TRY(dpl_grid_make(run, &area, &grid));
    int32_t K = options->n_cells < dpl_grid_cells(&grid) ? options->n_cells : dpl_grid_cells(&grid);
    DPL_GO(dpl_model_new(run, "paper", &grid, &made));
    DPL_GO(dpl_model_add(run, made, "cells", DPL_TENSOR_I32, 1, (size_t[]){(size_t)K}, &cell));
    DPL_GO(choose_cells(run, &grid, K, cell));
    struct dpl_vae_shape vae_shape = dpl_vae_paper((size_t)K, 24);
    struct dpl_nexthop_shape shape = dpl_nexthop_paper((size_t)K, 24);
    vae_shape.hidden = options->vae_hidden, vae_shape.latent = options->vae_latent;
    shape.embedding = options->embedding, shape.hidden = options->hidden;
    DPL_GO(dpl_model_add(run, made, "vae", DPL_TENSOR_F32, 1,
                         (size_t[]){dpl_vae_parameters(&vae_shape)}, &vae));
    DPL_GO(dpl_model_add(run, made, "nexthop", DPL_TENSOR_F32, 1,
                         (size_t[]){dpl_nexthop_parameters(&shape)}, &nexthop));
    set_vae(made, &vae_shape, vae);
    set_nexthop(made, options, &shape, nexthop);
    made->length_max = options->length_max;
    made->trips_estimated = 1000;
    made->per_user = options->per_user;
    json_decref(made->options);
    made->options = json_pack(
        "{s:i, s:i, s:i, s:i, s:s, s:s, s:s}", "vae_hidden", (int)vae_shape.hidden, "vae_latent",
        (int)vae_shape.latent, "nexthop_embedding", (int)shape.embedding, "nexthop_hidden",
        (int)shape.hidden, "region", "simulated", "method", "paper", "input", "secret.csv");
    *model = made;
    made = NULL;
done:
    dpl_model_free(made);
    return status;
}
