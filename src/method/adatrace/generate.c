/* Trips from an AdaTrace model: the generator around the walk. Its stays are in level-2 cells,
 * which are places of its own. */
#include <omp.h>

#include "method/adatrace/adatrace.h"

struct worker {
    struct dpl_random *random;
    uint16_t sub[DPL_ADATRACE_EXTRA + DPL_ADATRACE_SIDE_MOST];
    struct dpl_stay stay[DPL_ADATRACE_EXTRA + DPL_ADATRACE_SIDE_MOST];
};

struct adatrace {
    struct dpl_generator generator;
    struct dpl_adatrace_parts parts;
    struct dpl_adatrace_walker *walker;
    struct dpl_place *place;
    struct worker *worker;
    int n_workers;
};

static enum dpl_status draw_trip(struct dpl_run *run, const struct adatrace *self,
                                 struct dpl_round *round, int thread, size_t i) {
    struct worker *worker = &self->worker[thread];
    struct dpl_stream stream;
    dpl_stream_open(
        &stream, worker->random,
        (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, round->first + i, DPL_SYNTHESIS_TRACE});
    size_t n = dpl_adatrace_draw(self->walker, &stream, worker->sub);
    DPL_TRY(dpl_stream_close(run, &stream));
    for (size_t v = 0; v < n; v++) worker->stay[v] = (struct dpl_stay){worker->sub[v], 1};
    return dpl_round_put(run, round, thread, i, 0, worker->stay, n);
}

static enum dpl_status draw(struct dpl_run *run, struct dpl_generator *generator,
                            struct dpl_round *round) {
    struct adatrace *self = (struct adatrace *)generator;
    _Atomic int failed = DPL_OK;
#pragma omp parallel for num_threads(self->n_workers) schedule(static)
    for (size_t i = 0; i < round->n_trips; i++) {
        if (failed || atomic_load(&round->full)) continue;
        enum dpl_status status = i % 4096 ? DPL_OK : dpl_check_interrupt(run);
        if (status == DPL_OK) status = draw_trip(run, self, round, omp_get_thread_num(), i);
        if (status != DPL_OK) failed = (int)status;
    }
    if (!failed && !atomic_load(&round->full)) dpl_progress_add(run, (double)round->n_trips);
    return (enum dpl_status)failed;
}

/* ---- from the model ---- */

static void free_generator(struct dpl_generator *generator) {
    struct adatrace *self = (struct adatrace *)generator;
    for (int i = 0; self->worker && i < self->n_workers; i++)
        dpl_random_free(self->worker[i].random);
    dpl_adatrace_walker_free(self->walker);
    dpl_free(self->worker), dpl_free(self->place);
    dpl_free(self);
}

static enum dpl_status get_chances(struct dpl_run *run, const struct dpl_model *model,
                                   const char *name, size_t rows, size_t columns,
                                   const float **chance) {
    DPL_TRY(dpl_model_get(run, model, name, DPL_TENSOR_F32, 2, (size_t[]){rows, columns}, chance));
    for (size_t i = 0; i < rows * columns; i++)
        if (!((*chance)[i] >= 0 && (*chance)[i] <= 1))
            return dpl_fail(run, DPL_BAD_DATA,
                            "the model's tensor \"%s\" holds a number that is no chance", name);
    return DPL_OK;
}

/* Rows that something is drawn from must hold something. */
static enum dpl_status check_rows(struct dpl_run *run, const char *name, const float *chance,
                                  size_t rows, size_t columns) {
    for (size_t r = 0; r < rows; r++) {
        double sum = 0;
        for (size_t i = 0; i < columns; i++) sum += (double)chance[r * columns + i];
        if (!(sum > 0.5))
            return dpl_fail(run, DPL_BAD_DATA,
                            "the model's tensor \"%s\" has a row of chances that do not sum to 1",
                            name);
    }
    return DPL_OK;
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
    DPL_TRY(get_chances(run, model, "adatrace.subgrid", 1, total, &parts->subgrid));
    self->place = dpl_alloc(run, total, sizeof *self->place);
    if (!self->place) return DPL_SYSTEM;
    for (size_t c = 0; c < cells; c++) {
        size_t split = (size_t)parts->split[c];
        DPL_TRY(check_rows(run, "adatrace.subgrid", parts->subgrid + first, 1, split * split));
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
    json_t *value = json_object_get(model->options, "adatrace_side");
    json_int_t given = json_integer_value(value);
    if (!json_is_integer(value) || given < 2 || given > DPL_ADATRACE_SIDE_MOST ||
        model->length_max < given + DPL_ADATRACE_EXTRA)
        return dpl_fail(run, DPL_BAD_DATA,
                        "the model's option \"adatrace_side\" is missing or not from 2 to %d, or "
                        "its trips are too short for it",
                        DPL_ADATRACE_SIDE_MOST);
    size_t side = (size_t)given, cells = side * side;
    DPL_TRY(get_subgrid(run, model, side, self));
    DPL_TRY(get_chances(run, model, "adatrace.markov", cells, cells, &parts->markov));
    DPL_TRY(get_chances(run, model, "adatrace.pairs", cells, cells, &parts->pairs));
    DPL_TRY(check_rows(run, "adatrace.pairs", parts->pairs, 1, cells * cells));
    DPL_TRY(get_chances(run, model, "adatrace.steps", side, DPL_ADATRACE_EXTRA + 1, &parts->steps));
    DPL_TRY(check_rows(run, "adatrace.steps", parts->steps, side, DPL_ADATRACE_EXTRA + 1));
    return dpl_adatrace_walker_new(run, side, parts, &self->walker);
}

static enum dpl_status make_workers(struct dpl_run *run, uint64_t seed, struct adatrace *self) {
    struct dpl_secret secret;
    enum dpl_status status = DPL_OK;
    self->n_workers = dpl_run_threads(run);
    self->worker = dpl_alloc(run, (size_t)self->n_workers, sizeof *self->worker);
    if (!self->worker) return DPL_SYSTEM;
    DPL_TRY(dpl_secret_from_seed(run, seed, &secret));
    for (int i = 0; status == DPL_OK && i < self->n_workers; i++)
        status = dpl_random_new(run, &secret, &self->worker[i].random);
    dpl_secret_wipe(&secret);
    return status;
}

enum dpl_status dpl_adatrace_generator(struct dpl_run *run, const struct dpl_model *model,
                                       const struct dpl_draw_options *options,
                                       struct dpl_generator **generator) {
    enum dpl_status status;
    struct adatrace *self = dpl_alloc(run, 1, sizeof *self);
    if (!self) return DPL_SYSTEM;
    self->generator = (struct dpl_generator){.draw = draw, .free = free_generator};
    DPL_GO(get_parts(run, model, self));
    DPL_GO(make_workers(run, options->seed, self));
    *generator = &self->generator;
    return DPL_OK;
done:
    free_generator(&self->generator);
    return status;
}
