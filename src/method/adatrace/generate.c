/* Trips from an AdaTrace model: the generator around the walk. Its stays are in level-2 cells,
 * which are places of its own. */
#include "method/adatrace/adatrace.h"
#include "sample/drawing.h"

struct worker {
    uint16_t sub[DPL_ADATRACE_EXTRA + DPL_ADATRACE_SIDE_MOST];
    struct dpl_stay stay[DPL_ADATRACE_EXTRA + DPL_ADATRACE_SIDE_MOST];
};

struct adatrace {
    struct dpl_generator generator;
    struct dpl_adatrace_parts parts;
    struct dpl_adatrace_walker *walker;
    struct dpl_place *place;
    struct dpl_drawers drawers;
    struct worker *worker; /* (drawers.n) */
};

static enum dpl_status draw_trip(struct dpl_run *run, struct dpl_generator *generator,
                                 struct dpl_round *round, int thread, size_t i,
                                 struct dpl_stream *stream) {
    const struct adatrace *self = (const struct adatrace *)generator;
    struct worker *worker = &self->worker[thread];
    size_t n = dpl_adatrace_draw(self->walker, stream, worker->sub);
    for (size_t v = 0; v < n; v++) worker->stay[v] = (struct dpl_stay){worker->sub[v], 1};
    return dpl_round_put(run, round, thread, i, 0, worker->stay, n);
}

static enum dpl_status draw(struct dpl_run *run, struct dpl_generator *generator,
                            struct dpl_round *round) {
    return dpl_drawers_fill(run, &((struct adatrace *)generator)->drawers, generator, draw_trip,
                            round);
}

/* ---- from the model ---- */

static void free_generator(struct dpl_generator *generator) {
    struct adatrace *self = (struct adatrace *)generator;
    dpl_drawers_close(&self->drawers);
    dpl_adatrace_walker_free(self->walker);
    dpl_free(self->worker), dpl_free(self->place);
    dpl_free(self);
}

static enum dpl_status get_subgrid(struct dpl_run *run, const struct dpl_model *model, size_t side,
                                   struct adatrace *self) {
    struct dpl_adatrace_parts *parts = &self->parts;
    size_t cells = side * side, total = 0, first = 0;
    DPL_TRY(dpl_model_get(run, model, "adatrace.split", DPL_TENSOR_I32, 1, &cells, &parts->split));
    for (size_t c = 0; c < cells; c++) {
        if (parts->split[c] < 1 || parts->split[c] > DPL_ADATRACE_SPLIT)
            return dpl_fail(
                run, DPL_BAD_DATA,
                "the model's tensor \"adatrace.split\" holds a number that is not from 1 to %d",
                DPL_ADATRACE_SPLIT);
        total += (size_t)parts->split[c] * (size_t)parts->split[c];
    }
    DPL_TRY(dpl_model_chances(run, model, "adatrace.subgrid", 2, (size_t[]){1, total},
                              &parts->subgrid));
    self->place = dpl_alloc(run, total, sizeof *self->place);
    if (!self->place) return DPL_SYSTEM;
    for (size_t c = 0; c < cells; c++) {
        size_t split = (size_t)parts->split[c];
        DPL_TRY(dpl_model_check_rows(run, "adatrace.subgrid", parts->subgrid + first, 1,
                                     split * split));
        for (size_t s = 0; s < split * split; s++)
            self->place[first++] = dpl_coarse_place(&model->grid.area, side, c, split, s);
    }
    self->generator.place = self->place;
    self->generator.n_places = total;
    return DPL_OK;
}

static enum dpl_status get_parts(struct dpl_run *run, const struct dpl_model *model,
                                 struct adatrace *self) {
    struct dpl_adatrace_parts *parts = &self->parts;
    size_t side, bins = DPL_ADATRACE_EXTRA + 1;
    DPL_TRY(dpl_model_whole(run, model, "adatrace_side", 2, DPL_ADATRACE_SIDE_MOST, &side));
    if ((size_t)model->length_max < side + DPL_ADATRACE_EXTRA)
        return dpl_fail(run, DPL_BAD_DATA,
                        "the model's trips are too short for its option \"adatrace_side\"");
    size_t cells = side * side;
    DPL_TRY(get_subgrid(run, model, side, self));
    DPL_TRY(dpl_model_chances(run, model, "adatrace.markov", 2, (size_t[]){cells, cells},
                              &parts->markov));
    DPL_TRY(dpl_model_chances(run, model, "adatrace.pairs", 2, (size_t[]){cells, cells},
                              &parts->pairs));
    DPL_TRY(dpl_model_check_rows(run, "adatrace.pairs", parts->pairs, 1, cells * cells));
    DPL_TRY(
        dpl_model_chances(run, model, "adatrace.steps", 2, (size_t[]){side, bins}, &parts->steps));
    DPL_TRY(dpl_model_check_rows(run, "adatrace.steps", parts->steps, side, bins));
    return dpl_adatrace_walker_new(run, side, parts, &self->walker);
}

enum dpl_status dpl_adatrace_generator(struct dpl_run *run, const struct dpl_model *model,
                                       const struct dpl_draw_options *options,
                                       struct dpl_generator **generator) {
    enum dpl_status status;
    struct adatrace *self = dpl_alloc(run, 1, sizeof *self);
    if (!self) return DPL_SYSTEM;
    self->generator = (struct dpl_generator){.draw = draw, .free = free_generator};
    DPL_GO(get_parts(run, model, self));
    DPL_GO(dpl_drawers_open(run, options->seed, &self->drawers));
    self->worker = dpl_alloc(run, (size_t)self->drawers.n, sizeof *self->worker);
    status = self->worker ? DPL_OK : DPL_SYSTEM;
    if (status != DPL_OK) goto done;
    *generator = &self->generator;
    return DPL_OK;
done:
    free_generator(&self->generator);
    return status;
}
