/* Trips from an SGLT model: the generator around the walk. */
#include "method/sglt/sequence.h"
#include "sample/drawing.h"

/* The trips of a model in the published form, one after the other. */
struct fakes {
    size_t n, visits;
    const int32_t *start; /* (n + 1) */
    const int32_t *cell;  /* (visits) */
};

struct sglt {
    struct dpl_generator generator;
    struct dpl_sglt_parts parts;
    struct dpl_sglt_walker *walker; /* one of the three */
    struct dpl_sglt_ahead *ahead;
    struct fakes fakes;
    struct dpl_drawers drawers;
    int32_t *cell;         /* (drawers.n, length_max) */
    struct dpl_stay *stay; /* (drawers.n, length_max) */
};

static enum dpl_status draw_trip(struct dpl_run *run, struct dpl_generator *generator,
                                 struct dpl_round *round, int thread, size_t i,
                                 struct dpl_stream *stream) {
    const struct sglt *self = (const struct sglt *)generator;
    size_t room = (size_t)thread * self->parts.length_max;
    const int32_t *cell = self->cell + room;
    size_t n;
    if (self->fakes.n > 0) {
        size_t which = (size_t)((round->first + i) % self->fakes.n);
        cell = self->fakes.cell + self->fakes.start[which];
        n = (size_t)(self->fakes.start[which + 1] - self->fakes.start[which]);
    } else if (self->ahead) {
        n = dpl_sglt_sequence_draw(self->ahead, stream, self->cell + room);
    } else {
        n = dpl_sglt_draw(self->walker, stream, self->cell + room);
    }
    return dpl_round_put(run, round, thread, i, 0, self->stay + room,
                         dpl_stays_of(cell, n, self->stay + room));
}

static enum dpl_status draw(struct dpl_run *run, struct dpl_generator *generator,
                            struct dpl_round *round) {
    return dpl_drawers_fill(run, &((struct sglt *)generator)->drawers, generator, draw_trip, round);
}

static void free_generator(struct dpl_generator *generator) {
    struct sglt *self = (struct sglt *)generator;
    dpl_sglt_walker_free(self->walker);
    dpl_sglt_ahead_free(self->ahead);
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
    return dpl_model_chances(run, model, "sglt.lengths", 1, (size_t[]){parts->length_max + 1},
                             &parts->lengths);
}

static enum dpl_status get_keys(struct dpl_run *run, const struct dpl_model *model,
                                struct dpl_sglt_parts *parts) {
    DPL_TRY(dpl_model_chances(run, model, "sglt.keys", 1, (size_t[]){DPL_SGLT_KEYS}, &parts->keys));
    return dpl_model_check_rows(run, "sglt.keys", parts->keys, 1, DPL_SGLT_KEYS);
}

static bool good_sequence(const struct dpl_sglt_parts *parts,
                          const struct dpl_sglt_sequence *sequence) {
    bool good = sequence->part >= 0 && sequence->part < DPL_SGLT_PARTS &&
                sequence->length_bin >= 0 && sequence->length_bin < DPL_SGLT_LENGTHS &&
                sequence->runs > 0 && sequence->runs <= DPL_SGLT_RUNS &&
                (size_t)sequence->runs <= parts->length_max;
    for (int32_t r = 0; good && r < sequence->runs; r++)
        good = sequence->cluster[r] >= 0 && sequence->cluster[r] < (int32_t)parts->clusters &&
               (r == 0 || sequence->cluster[r] != sequence->cluster[r - 1]);
    return good;
}

static enum dpl_status get_sequences(struct dpl_run *run, const struct dpl_model *model,
                                     struct dpl_sglt_parts *parts) {
    const int32_t *row;
    size_t n;
    DPL_TRY(dpl_model_whole(run, model, "sglt_sequences", 1, INT32_MAX, &n));
    DPL_TRY(dpl_model_get(run, model, "sglt.sequences", DPL_TENSOR_I32, 2,
                          (size_t[]){n, DPL_SGLT_ROW}, &row));
    DPL_TRY(dpl_model_chances(run, model, "sglt.sequence_chances", 1, &n, &parts->sequence_chance));
    DPL_TRY(dpl_model_check_rows(run, "sglt.sequence_chances", parts->sequence_chance, 1, n));
    parts->n_sequences = n, parts->sequence = (const struct dpl_sglt_sequence *)row;
    for (size_t s = 0; s < n; s++)
        if (!good_sequence(parts, &parts->sequence[s]))
            return dpl_fail(run, DPL_BAD_DATA,
                            "the model's tensor \"sglt.sequences\" has a row that is none");
    return DPL_OK;
}

static enum dpl_status get_fakes(struct dpl_run *run, const struct dpl_model *model,
                                 struct fakes *fakes) {
    DPL_TRY(dpl_model_whole(run, model, "sglt_fakes", 1, INT32_MAX - 1, &fakes->n));
    DPL_TRY(dpl_model_whole(run, model, "sglt_fake_visits", 2, INT32_MAX, &fakes->visits));
    DPL_TRY(dpl_model_get(run, model, "sglt.fake_start", DPL_TENSOR_I32, 1,
                          (size_t[]){fakes->n + 1}, &fakes->start));
    DPL_TRY(dpl_model_get(run, model, "sglt.fake_cell", DPL_TENSOR_I32, 1, &fakes->visits,
                          &fakes->cell));
    return dpl_model_check_trips(run, model, "sglt.fake_start", fakes->n, fakes->start,
                                 fakes->visits, fakes->cell);
}

/* By what is kept of trips: their ends, their sequences, or fakes of them. */
static enum dpl_status open_walk(struct dpl_run *run, const struct dpl_model *model,
                                 struct sglt *self) {
    if (dpl_model_has(model, "sglt.fake_start")) return get_fakes(run, model, &self->fakes);
    if (dpl_model_has(model, "sglt.sequences")) {
        DPL_TRY(get_sequences(run, model, &self->parts));
        return dpl_sglt_ahead_new(run, &self->parts, &self->ahead);
    }
    DPL_TRY(get_keys(run, model, &self->parts));
    return dpl_sglt_walker_new(run, &self->parts, &self->walker);
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
    DPL_GO(open_walk(run, model, self));
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
