/* Trips from an SGLT model: the generator around the walk. */
#include "method/sglt/sglt.h"
#include "sample/drawing.h"

struct sglt {
    struct dpl_generator generator;
    struct dpl_sglt_parts parts;
    struct dpl_sglt_walker *walker;
    struct dpl_drawers drawers;
    int32_t *cell;         /* (drawers.n, length_max) */
    struct dpl_stay *stay; /* (drawers.n, length_max) */
};

static enum dpl_status draw_trip(struct dpl_run *run, struct dpl_generator *generator,
                                 struct dpl_round *round, int thread, size_t i,
                                 struct dpl_stream *stream) {
    const struct sglt *self = (const struct sglt *)generator;
    size_t room = (size_t)thread * self->parts.length_max;
    size_t n = dpl_sglt_draw(self->walker, stream, self->cell + room);
    return dpl_round_put(run, round, thread, i, 0, self->stay + room,
                         dpl_stays_of(self->cell + room, n, self->stay + room));
}

static enum dpl_status draw(struct dpl_run *run, struct dpl_generator *generator,
                            struct dpl_round *round) {
    return dpl_drawers_fill(run, &((struct sglt *)generator)->drawers, generator, draw_trip, round);
}

static void free_generator(struct dpl_generator *generator) {
    struct sglt *self = (struct sglt *)generator;
    dpl_sglt_walker_free(self->walker);
    dpl_drawers_close(&self->drawers);
    dpl_free(self->cell), dpl_free(self->stay);
    dpl_free(self);
}

static enum dpl_status get_clusters(struct dpl_run *run, const struct dpl_model *model,
                                    struct dpl_sglt_parts *parts) {
    size_t cells = (size_t)dpl_grid_cells(&model->grid);
    DPL_TRY(dpl_model_whole(run, model, "sglt_clusters", 1, DPL_SGLT_CLUSTERS, &parts->clusters));
    DPL_TRY(dpl_model_get(run, model, "sglt.cluster", DPL_TENSOR_I32, 1, &cells, &parts->cluster));
    for (size_t i = 0; i < cells; i++)
        if (parts->cluster[i] < 0 || parts->cluster[i] >= (int32_t)parts->clusters)
            return dpl_fail(
                run, DPL_BAD_DATA,
                "the model's tensor \"sglt.cluster\" names a cluster that there is not");
    return model->n_cells == dpl_grid_cells(&model->grid)
               ? DPL_OK
               : dpl_fail(run, DPL_BAD_DATA, "the model's cells are not those of its grid");
}

static enum dpl_status get_parts(struct dpl_run *run, const struct dpl_model *model,
                                 struct dpl_sglt_parts *parts) {
    size_t cells = (size_t)dpl_grid_cells(&model->grid);
    parts->grid = &model->grid;
    parts->length_max = (size_t)model->length_max;
    DPL_TRY(get_clusters(run, model, parts));
    DPL_TRY(dpl_model_chances(run, model, "sglt.moves", 2,
                              (size_t[]){cells, dpl_sglt_window(&model->grid)}, &parts->moves));
    DPL_TRY(dpl_model_chances(run, model, "sglt.starts", 2, (size_t[]){DPL_SGLT_PARTS, cells},
                              &parts->starts));
    DPL_TRY(dpl_model_chances(run, model, "sglt.keys", 1, (size_t[]){DPL_SGLT_KEYS}, &parts->keys));
    DPL_TRY(dpl_model_check_rows(run, "sglt.keys", parts->keys, 1, DPL_SGLT_KEYS));
    return dpl_model_chances(run, model, "sglt.lengths", 1, (size_t[]){parts->length_max + 1},
                             &parts->lengths);
}

enum dpl_status dpl_sglt_generator(struct dpl_run *run, const struct dpl_model *model,
                                   const struct dpl_draw_options *options,
                                   struct dpl_generator **generator) {
    enum dpl_status status;
    struct sglt *self = dpl_alloc(run, 1, sizeof *self);
    if (!self) return DPL_SYSTEM;
    self->generator = (struct dpl_generator){.draw = draw, .free = free_generator};
    DPL_GO(dpl_generator_check_cells(run, model));
    DPL_GO(get_parts(run, model, &self->parts));
    DPL_GO(dpl_sglt_walker_new(run, &self->parts, &self->walker));
    DPL_GO(dpl_drawers_open(run, options->seed, &self->drawers));
    size_t n = (size_t)self->drawers.n * self->parts.length_max;
    self->cell = dpl_alloc(run, n, sizeof *self->cell);
    self->stay = dpl_alloc(run, n, sizeof *self->stay);
    status = self->cell && self->stay ? DPL_OK : DPL_SYSTEM;
    if (status != DPL_OK) goto done;
    *generator = &self->generator;
    return DPL_OK;
done:
    free_generator(&self->generator);
    return status;
}
