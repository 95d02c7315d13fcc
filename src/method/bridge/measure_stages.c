/* Wanted and expected, from the tables of a model. See measure_stages.h.
 *
 * PRIVACY: a replay of the release without trips: the noised tables are all that it sees. */
#include "method/bridge/measure_stages.h"

#include <math.h>
#include <string.h>

#include "base/cleaned.h"
#include "fit/replay.h"
#include "method/bridge/measure.h"
#include "method/bridge/walk.h"

/* All that is estimated before the walk. */
struct estimates {
    struct dpl_places *places;
    struct dpl_bridge_tables tables;
    struct dpl_edges edges;
    struct dpl_flows_made flows;
    double *visits, *hour_visits; /* (K), (H, K) */
};

static void estimates_free(struct estimates *e) {
    dpl_flows_free(&e->flows);
    dpl_edges_free(&e->edges);
    dpl_bridge_tables_free(&e->tables);
    dpl_places_free(e->places);
    dpl_free(e->visits);
    dpl_free(e->hour_visits);
}

/* What the fit had of a map, if any. Shapes are checked where they are read. */
static enum dpl_status copy_roads(struct dpl_run *run, const struct dpl_model *from,
                                  struct dpl_model *to) {
    for (size_t i = 0; i < from->n_tensors; i++) {
        const struct dpl_tensor *tensor = &from->tensor[i];
        if (strcmp(tensor->name, DPL_MODEL_ROADS) && strcmp(tensor->name, DPL_MODEL_ROAD_SECONDS))
            continue;
        if (tensor->type != DPL_TENSOR_F32)
            return dpl_fail(run, DPL_BAD_DATA, "the model's `%s` are no numbers", tensor->name);
        size_t n = 1;
        float *copy;
        for (int d = 0; d < tensor->rank; d++) n *= tensor->shape[d];
        DPL_TRY(
            dpl_model_add(run, to, tensor->name, tensor->type, tensor->rank, tensor->shape, &copy));
        memcpy(copy, tensor->data, n * sizeof *copy);
    }
    return DPL_OK;
}

/* The tables as the fit measured them, by a release that hands out the old ones. */
static enum dpl_status find_tables(struct dpl_run *run, const struct dpl_model *model,
                                   struct estimates *e) {
    struct dpl_release release = {0};
    struct dpl_parts parts = {0};
    struct dpl_cleaned *nobody = NULL;
    struct dpl_model *scratch = NULL;
    enum dpl_status status;
    DPL_GO(dpl_cleaned_new(run, &model->grid, &nobody));
    DPL_GO(dpl_parts_make(run, nobody, DPL_UNIT_TRIP, 1, 1, &parts));
    DPL_GO(dpl_model_new(run, model->method, &model->grid, &scratch));
    scratch->per_user = model->per_user;
    DPL_GO(copy_roads(run, model, scratch));
    DPL_GO(dpl_replay_open(run, model, &release));
    status = dpl_bridge_measure(run, &parts, &release, scratch, &e->places, &e->tables);
done:
    dpl_replay_close(&release);
    dpl_model_free(scratch);
    dpl_parts_free(&parts);
    dpl_cleaned_free(nobody);
    return status;
}

static enum dpl_status estimate(struct dpl_run *run, struct estimates *e) {
    size_t K = e->places->K, H = e->places->H;
    e->visits = dpl_alloc(run, K, sizeof *e->visits);
    e->hour_visits = dpl_alloc(run, H * K, sizeof *e->hour_visits);
    if (!e->visits || !e->hour_visits) return DPL_SYSTEM;
    DPL_TRY(dpl_visits_estimate(run, e->places, &e->tables, e->visits, e->hour_visits));
    DPL_TRY(dpl_edges_estimate(run, e->places, &e->tables, e->visits, &e->edges));
    return dpl_flows_estimate(run, e->places, &e->tables, e->hour_visits, &e->edges, &e->flows);
}

/* Flows as the calibration left them: it may tilt the pairs. */
static enum dpl_status take_pairs(struct dpl_run *run, const struct dpl_model *model,
                                  struct estimates *e) {
    size_t K = e->places->K;
    return dpl_model_get(run, model, "bridge.pairs", DPL_TENSOR_F32, 2, (size_t[]){K, K},
                         &e->flows.flows.pooled);
}

static enum dpl_status make_room(struct dpl_run *run, const struct estimates *e,
                                 struct dpl_bridge_stages *s) {
    s->K = e->places->K, s->P = e->places->P, s->full_visits = e->places->full_visits;
    s->n_edges = e->edges.n, s->length_max = e->tables.length_max;
    for (size_t i = 0; i < 2; i++) {
        s->visits[i] = dpl_alloc(run, s->P * s->K, sizeof(double));
        s->steps[i] = dpl_alloc(run, s->n_edges, sizeof(double));
        s->lengths[i] = dpl_alloc(run, s->length_max + 1, sizeof(double));
        if (!s->visits[i] || !s->steps[i] || !s->lengths[i]) return DPL_SYSTEM;
    }
    s->pairs = dpl_alloc(run, s->K * s->K, sizeof *s->pairs);
    s->from = dpl_alloc(run, s->n_edges, sizeof *s->from);
    s->to = dpl_alloc(run, s->n_edges, sizeof *s->to);
    size_t n_grid = dpl_squares_count(&e->places->grid, 1);
    s->place = dpl_alloc(run, n_grid, sizeof *s->place);
    s->share = dpl_alloc(run, n_grid, sizeof *s->share);
    s->centre = dpl_alloc(run, s->K, sizeof *s->centre);
    bool made = s->pairs && s->from && s->to && s->place && s->share && s->centre;
    return made ? DPL_OK : DPL_SYSTEM;
}

/* A place's visits lie in its own square, also where cells around it belong to it. */
static void share_square(const struct dpl_places *places, const double *visits, size_t k,
                         double *share) {
    const struct dpl_grid *grid = &places->grid;
    int32_t row = places->cell[k] / grid->columns, column = places->cell[k] % grid->columns;
    double sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t y = row; y < row + places->side[k] && y < grid->rows; y++)
            for (int32_t x = column; x < column + places->side[k] && x < grid->columns; x++) {
                int32_t cell = y * grid->columns + x;
                if (pass == 0)
                    sum += visits[cell];
                else
                    share[cell] = visits[cell] / fmax(sum, 1e-9);
            }
}

static void fill_places(const struct estimates *e, struct dpl_bridge_stages *s) {
    const struct dpl_grid *grid = &e->places->grid;
    memcpy(s->place, e->tables.place, dpl_squares_count(grid, 1) * sizeof *s->place);
    for (size_t k = 0; k < s->K; k++) {
        s->centre[k] = dpl_grid_cell_of(grid, e->places->x_m[k], e->places->y_m[k]);
        share_square(e->places, e->tables.cell_visits, k, s->share);
    }
}

static void fill_wanted(const struct estimates *e, struct dpl_bridge_stages *s) {
    size_t K = s->K;
    for (size_t h = 0; h < e->places->H; h++)
        for (size_t k = 0; k < K; k++)
            s->visits[0][dpl_places_daypart(e->places, h) * K + k] += e->hour_visits[h * K + k];
    for (size_t h = 0; h < e->places->H; h++)
        for (size_t i = 0; i < K * K; i++)
            s->pairs[i] += dpl_flow(&e->flows.flows, h, i / K, i % K);
    memcpy(s->steps[0], e->edges.steps, s->n_edges * sizeof(double));
    memcpy(s->to, e->edges.to, s->n_edges * sizeof *s->to);
    for (size_t x = 0; x < K; x++)
        for (int32_t i = e->edges.start[x * DPL_MOVES]; i < e->edges.start[(x + 1) * DPL_MOVES];
             i++)
            s->from[i] = (int32_t)x;
    dpl_lengths_histogram(&e->tables, s->lengths[0]);
}

static enum dpl_status fill_expected(struct dpl_run *run, const struct dpl_model *model,
                                     const struct estimates *e, struct dpl_bridge_stages *s) {
    const float *weight, *stay, *turn, *speed, *potential, *terminal, *lengths;
    struct dpl_targets targets;
    DPL_TRY(
        dpl_model_get(run, model, "bridge.edge_weight", DPL_TENSOR_F32, 1, &s->n_edges, &weight));
    DPL_TRY(dpl_model_get(run, model, "bridge.stay", DPL_TENSOR_F32, 1, &s->K, &stay));
    DPL_TRY(dpl_model_get(run, model, "bridge.turn", DPL_TENSOR_F32, 2,
                          (size_t[]){DPL_HEADINGS, DPL_NEXT}, &turn));
    DPL_TRY(dpl_model_get(run, model, "bridge.speed", DPL_TENSOR_F32, 2,
                          (size_t[]){s->P, DPL_MOTION_SPEEDS}, &speed));
    DPL_TRY(dpl_model_get(run, model, "bridge.potential", DPL_TENSOR_F32, 2, (size_t[]){s->P, s->K},
                          &potential));
    DPL_TRY(dpl_model_get(run, model, "bridge.terminal", DPL_TENSOR_F32, 2, (size_t[]){s->P, s->K},
                          &terminal));
    DPL_TRY(dpl_model_get(run, model, "bridge.lengths", DPL_TENSOR_F32, 3,
                          (size_t[]){s->P, DPL_DISTANCE_BINS, s->length_max + 1}, &lengths));
    DPL_TRY(dpl_targets_read(run, model, s->K, &targets));
    const struct dpl_calibrated weights = {.weight = (float *)weight,
                                           .stay = (float *)stay,
                                           .turn = (float *)turn,
                                           .speed = (float *)speed,
                                           .potential = (float *)potential,
                                           .terminal = (float *)terminal,
                                           .targets = targets};
    enum dpl_status status =
        dpl_walk_expect(run, e->places, &e->tables, &e->edges, &e->flows.flows, lengths, &weights,
                        s->visits[1], s->steps[1], s->lengths[1]);
    dpl_targets_free(&targets);
    return status;
}

bool dpl_stages_known(const struct dpl_model *model) { return !strcmp(model->method, "bridge"); }

enum dpl_status dpl_bridge_stages_make(struct dpl_run *run, const struct dpl_model *model,
                                       struct dpl_bridge_stages *stages) {
    struct estimates e = {.places = NULL};
    enum dpl_status status;
    *stages = (struct dpl_bridge_stages){.K = 0};
    DPL_GO(find_tables(run, model, &e));
    DPL_GO(estimate(run, &e));
    DPL_GO(take_pairs(run, model, &e));
    DPL_GO(make_room(run, &e, stages));
    fill_places(&e, stages);
    fill_wanted(&e, stages);
    status = fill_expected(run, model, &e, stages);
done:
    estimates_free(&e);
    if (status != DPL_OK) dpl_bridge_stages_free(stages);
    return status;
}

void dpl_bridge_stages_free(struct dpl_bridge_stages *s) {
    for (size_t i = 0; i < 2; i++)
        dpl_free(s->visits[i]), dpl_free(s->steps[i]), dpl_free(s->lengths[i]);
    dpl_free(s->pairs);
    dpl_free(s->from);
    dpl_free(s->to);
    dpl_free(s->place);
    dpl_free(s->share);
    dpl_free(s->centre);
    *s = (struct dpl_bridge_stages){.K = 0};
}
