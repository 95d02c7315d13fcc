/* Trips from a PrivTrace model: the generator around the walk. Its stays are in states, which are
 * places of its own. */
#include "method/privtrace/privtrace.h"
#include "sample/decode.h"
#include "sample/drawing.h"

struct worker {
    int32_t state[DPL_PRIVTRACE_LONGEST_NEAR];
    struct dpl_stay stay[DPL_PRIVTRACE_LONGEST_NEAR];
};

struct privtrace {
    struct dpl_generator generator;
    struct dpl_privtrace_parts parts;
    struct dpl_privtrace_walker *walker;
    struct dpl_drawers drawers;
    struct worker *worker; /* (drawers.n) */
    size_t *second_at;
    struct dpl_place *place;
};

static enum dpl_status draw_trip(struct dpl_run *run, struct dpl_generator *generator,
                                 struct dpl_round *round, int thread, size_t i,
                                 struct dpl_stream *stream) {
    const struct privtrace *self = (const struct privtrace *)generator;
    struct worker *worker = &self->worker[thread];
    size_t n = dpl_privtrace_draw(self->walker, stream, worker->state);
    return dpl_round_put(run, round, thread, i, 0, worker->stay,
                         dpl_stays_of(worker->state, n, worker->stay));
}

static enum dpl_status draw(struct dpl_run *run, struct dpl_generator *generator,
                            struct dpl_round *round) {
    return dpl_drawers_fill(run, &((struct privtrace *)generator)->drawers, generator, draw_trip,
                            round);
}

static void free_generator(struct dpl_generator *generator) {
    struct privtrace *self = (struct privtrace *)generator;
    dpl_privtrace_walker_free(self->walker);
    dpl_drawers_close(&self->drawers);
    dpl_privtrace_states_free(&self->parts.states);
    dpl_free(self->worker), dpl_free(self->second_at), dpl_free(self->place);
    dpl_free(self);
}

/* ---- from the model ---- */

static struct dpl_place place_of(const struct dpl_grid *grid,
                                 const struct dpl_privtrace_block *block) {
    struct dpl_place low = dpl_cell_place(grid, block->south * grid->columns + block->west),
                     high =
                         dpl_cell_place(grid, (block->north - 1) * grid->columns + block->east - 1);
    low.north = high.north, low.east = high.east;
    low.lat = low.south + (low.north - low.south) / 2;
    low.lng = low.west + (low.east - low.west) / 2;
    return low;
}

static enum dpl_status check_numbers(struct dpl_run *run, const char *name, const int32_t *number,
                                     size_t n, int32_t least, int32_t most) {
    for (size_t i = 0; i < n; i++)
        if (number[i] < least || number[i] > most)
            return dpl_fail(run, DPL_BAD_DATA,
                            "the model's tensor \"%s\" holds a number that is not from %d to %d",
                            name, (int)least, (int)most);
    return DPL_OK;
}

static enum dpl_status get_states(struct dpl_run *run, const struct dpl_model *model,
                                  struct privtrace *self) {
    size_t side, rows, columns;
    const int32_t *split, *guide;
    DPL_TRY(dpl_model_whole(run, model, "privtrace_side", 2, DPL_PRIVTRACE_SIDE_MOST, &side));
    dpl_privtrace_coarse(&model->grid, side, &rows, &columns);
    DPL_TRY(dpl_model_get(run, model, "privtrace.split", DPL_TENSOR_I32, 1,
                          (size_t[]){rows * columns}, &split));
    DPL_TRY(check_numbers(run, "privtrace.split", split, rows * columns, 1, INT16_MAX));
    DPL_TRY(dpl_privtrace_states_make(run, &model->grid, side, split, &self->parts.states));
    size_t n = self->parts.states.n;
    DPL_TRY(dpl_model_get(run, model, "privtrace.guide", DPL_TENSOR_I32, 1, &n, &guide));
    DPL_TRY(check_numbers(run, "privtrace.guide", guide, n, 0, 1));
    self->second_at = dpl_alloc(run, n + 1, sizeof *self->second_at);
    self->place = dpl_alloc(run, n, sizeof *self->place);
    if (!self->second_at || !self->place) return DPL_SYSTEM;
    dpl_privtrace_second_layout(&self->parts.states, guide, self->second_at);
    for (size_t s = 0; s < n; s++)
        self->place[s] = place_of(&model->grid, &self->parts.states.block[s]);
    self->parts.second_at = self->second_at;
    self->generator.place = self->place;
    self->generator.n_places = n;
    return DPL_OK;
}

static enum dpl_status get_parts(struct dpl_run *run, const struct dpl_model *model,
                                 struct privtrace *self) {
    struct dpl_privtrace_parts *parts = &self->parts;
    DPL_TRY(get_states(run, model, self));
    size_t n = parts->states.n, first = dpl_privtrace_first_size(&parts->states) - n;
    DPL_TRY(dpl_model_whole(run, model, "privtrace_longest", 1, UINT16_MAX, &parts->longest));
    DPL_TRY(dpl_model_chances(run, model, "privtrace.starts", 1, &n, &parts->starts));
    DPL_TRY(dpl_model_check_rows(run, "privtrace.starts", parts->starts, 1, n));
    DPL_TRY(dpl_model_chances(run, model, "privtrace.first", 1, &first, &parts->first));
    DPL_TRY(
        dpl_model_chances(run, model, "privtrace.second", 1, &parts->second_at[n], &parts->second));
    DPL_TRY(dpl_model_chances(run, model, "privtrace.inflow", 1, &n, &parts->inflow));
    return dpl_model_chances(run, model, "privtrace.lengths", 2, (size_t[]){n, parts->longest + 1},
                             &parts->length);
}

enum dpl_status dpl_privtrace_generator(struct dpl_run *run, const struct dpl_model *model,
                                        const struct dpl_draw_options *options,
                                        struct dpl_generator **generator) {
    enum dpl_status status;
    struct privtrace *self = dpl_alloc(run, 1, sizeof *self);
    if (!self) return DPL_SYSTEM;
    self->generator = (struct dpl_generator){.draw = draw, .free = free_generator};
    DPL_GO(dpl_generator_check_cells(run, model));
    if (model->length_max < DPL_PRIVTRACE_LONGEST_NEAR) {
        status = dpl_fail(run, DPL_BAD_DATA, "the model's trips are too short for PrivTrace");
        goto done;
    }
    DPL_GO(get_parts(run, model, self));
    DPL_GO(dpl_privtrace_walker_new(run, &self->parts, &self->walker));
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
