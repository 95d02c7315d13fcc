/* Trips from a DPT model: the generator around the walk. */
#include "method/dpt/dpt.h"
#include "sample/drawing.h"

struct dpt {
    struct dpl_generator generator;
    struct dpl_dpt_parts parts;
    struct dpl_dpt_walker *walker;
    struct dpl_drawers drawers;
    size_t length_max;
    int32_t *cell;         /* (drawers.n, length_max) */
    struct dpl_stay *stay; /* (drawers.n, length_max) */
};

static enum dpl_status draw_trip(struct dpl_run *run, struct dpl_generator *generator,
                                 struct dpl_round *round, int thread, size_t i,
                                 struct dpl_stream *stream) {
    const struct dpt *self = (const struct dpt *)generator;
    int32_t *cell = self->cell + (size_t)thread * self->length_max;
    struct dpl_stay *stay = self->stay + (size_t)thread * self->length_max;
    size_t n = dpl_dpt_draw(self->walker, stream, self->length_max, cell, NULL);
    return dpl_round_put(run, round, thread, i, 0, stay, dpl_stays_of(cell, n, stay));
}

static enum dpl_status draw(struct dpl_run *run, struct dpl_generator *generator,
                            struct dpl_round *round) {
    return dpl_drawers_fill(run, &((struct dpt *)generator)->drawers, generator, draw_trip, round);
}

static void free_generator(struct dpl_generator *generator) {
    struct dpt *self = (struct dpt *)generator;
    dpl_dpt_walker_free(self->walker);
    dpl_drawers_close(&self->drawers);
    dpl_free(self->cell), dpl_free(self->stay);
    dpl_free(self);
}

/* ---- from the model ---- */

static enum dpl_status get_levels(struct dpl_run *run, const struct dpl_model *model,
                                  struct dpl_dpt_levels *levels) {
    const int32_t *kept;
    *levels = dpl_dpt_levels_make(&model->grid);
    size_t n = (size_t)levels->top + 1;
    DPL_TRY(dpl_model_get(run, model, "dpt.levels", DPL_TENSOR_I32, 1, &n, &kept));
    bool good = kept[0] && kept[levels->top] && model->n_cells == dpl_grid_cells(&model->grid);
    for (size_t m = 0; m < n; m++) {
        good = good && (kept[m] == 0 || kept[m] == 1);
        levels->kept[m] = kept[m];
    }
    return good ? DPL_OK
                : dpl_fail(run, DPL_BAD_DATA,
                           "the model's tensor \"dpt.levels\" does not fit its grid and cells");
}

static enum dpl_status get_turns(struct dpl_run *run, const struct dpl_model *model,
                                 struct dpl_dpt_parts *parts) {
    const float *turn;
    DPL_TRY(dpl_model_get(run, model, "dpt.turns", DPL_TENSOR_F32, 1, (size_t[]){DPL_DPT_HEADINGS},
                          &turn));
    for (int s = 0; s < DPL_DPT_HEADINGS; s++) {
        if (!(turn[s] >= 0.01f && turn[s] <= 100))
            return dpl_fail(run, DPL_BAD_DATA,
                            "the model's tensor \"dpt.turns\" holds a number that is no weight");
        parts->turn[s] = turn[s];
    }
    return DPL_OK;
}

static enum dpl_status get_parts(struct dpl_run *run, const struct dpl_model *model,
                                 struct dpl_dpt_parts *parts) {
    size_t order, cells = (size_t)dpl_grid_cells(&model->grid);
    DPL_TRY(get_levels(run, model, &parts->levels));
    DPL_TRY(dpl_model_whole(run, model, "dpt_order", 2, DPL_DPT_ORDER_MOST, &order));
    parts->order = (int)order;
    size_t nodes = parts->levels.first[parts->levels.top + 1];
    DPL_TRY(dpl_model_chances(run, model, "dpt.starts", 1, &nodes, &parts->starts));
    DPL_TRY(dpl_model_check_rows(run, "dpt.starts", parts->starts, 1, nodes));
    DPL_TRY(dpl_model_chances(run, model, "dpt.visits", 1, &cells, &parts->visits));
    for (int j = 2; j <= parts->order; j++) {
        char name[] = "dpt.order0";
        name[sizeof name - 2] = (char)('0' + j);
        DPL_TRY(dpl_model_chances(run, model, name, 3,
                                  (size_t[]){nodes, dpl_dpt_rows(j), DPL_DPT_TOKENS},
                                  &parts->order_chance[j]));
    }
    return get_turns(run, model, parts);
}

static enum dpl_status make_room(struct dpl_run *run, const struct dpl_model *model,
                                 struct dpt *self) {
    self->length_max = (size_t)model->length_max;
    size_t n = (size_t)self->drawers.n * self->length_max;
    self->cell = dpl_alloc(run, n, sizeof *self->cell);
    self->stay = dpl_alloc(run, n, sizeof *self->stay);
    return self->cell && self->stay ? DPL_OK : DPL_SYSTEM;
}

enum dpl_status dpl_dpt_generator(struct dpl_run *run, const struct dpl_model *model,
                                  const struct dpl_draw_options *options,
                                  struct dpl_generator **generator) {
    enum dpl_status status;
    struct dpt *self = dpl_alloc(run, 1, sizeof *self);
    if (!self) return DPL_SYSTEM;
    self->generator = (struct dpl_generator){.draw = draw, .free = free_generator};
    DPL_GO(dpl_generator_check_cells(run, model));
    DPL_GO(get_parts(run, model, &self->parts));
    DPL_GO(dpl_dpt_walker_new(run, &self->parts, &self->walker));
    DPL_GO(dpl_drawers_open(run, options->seed, &self->drawers));
    DPL_GO(make_room(run, model, self));
    *generator = &self->generator;
    return DPL_OK;
done:
    free_generator(&self->generator);
    return status;
}
