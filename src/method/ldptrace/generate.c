/* Trips from an LDPTrace model: a start, a length, then moves until the length is reached or the
 * end is drawn. Its stays are in coarse cells, which are places of its own.
 *
 * PAPER: the factor on the end, min(1, 0.3 + 0.2 (length - 1)), is the published one. */
#include <math.h>

#include "method/ldptrace/ldptrace.h"
#include "sample/drawing.h"

enum { CELLS_MOST = DPL_LDPTRACE_SIDE_MOST * DPL_LDPTRACE_SIDE_MOST };

/* One of n by their weights; n: all are 0. */
static size_t draw_one(const double *weight, size_t n, struct dpl_stream *stream) {
    double sums[CELLS_MOST];
    for (size_t i = 0; i < n; i++) sums[i] = weight[i] + (i > 0 ? sums[i - 1] : 0);
    return sums[n - 1] > 0 ? dpl_draw_from(sums, n, stream) : n;
}

static size_t draw_chance(const float *chance, size_t n, struct dpl_stream *stream) {
    double weight[CELLS_MOST];
    for (size_t i = 0; i < n; i++) weight[i] = (double)chance[i];
    return draw_one(weight, n, stream);
}

/* The next cell after `length` cells, SIZE_MAX: the end. */
static size_t step(const struct dpl_ldptrace_parts *parts, size_t at, size_t length,
                   struct dpl_stream *stream) {
    static const double FIRST = 0.3, MORE = 0.2;
    const float *row = parts->moves + at * (DPL_LDPTRACE_WAYS + 1);
    double weight[DPL_LDPTRACE_WAYS + 1];
    for (size_t w = 0; w <= DPL_LDPTRACE_WAYS; w++) weight[w] = (double)row[w];
    for (size_t w = 0; w < DPL_LDPTRACE_WAYS; w++)
        if (dpl_ldptrace_to(parts->side, at, w) == SIZE_MAX) weight[w] = 0;
    weight[DPL_LDPTRACE_WAYS] *= fmin(1, FIRST + MORE * (double)(length - 1));
    size_t way = draw_one(weight, DPL_LDPTRACE_WAYS + 1, stream);
    return way < DPL_LDPTRACE_WAYS ? dpl_ldptrace_to(parts->side, at, way) : SIZE_MAX;
}

size_t dpl_ldptrace_draw(const struct dpl_ldptrace_parts *parts, struct dpl_stream *stream,
                         int32_t *cell) {
    size_t at = draw_chance(parts->starts, parts->side * parts->side, stream),
           length = 1 + draw_chance(parts->lengths, parts->longest, stream), n = 1;
    cell[0] = (int32_t)at;
    while (n < length && (at = step(parts, at, n, stream)) != SIZE_MAX) cell[n++] = (int32_t)at;
    if (n == 1) cell[n++] = cell[0]; // a trip has two visits
    return n;
}

/* ---- the generator ---- */

struct ldptrace {
    struct dpl_generator generator;
    struct dpl_ldptrace_parts parts;
    struct dpl_drawers drawers;
    struct dpl_place *place;
    int32_t *cell;         /* (drawers.n, length_max) */
    struct dpl_stay *stay; /* (drawers.n, length_max) */
    size_t length_max;
};

static enum dpl_status draw_trip(struct dpl_run *run, struct dpl_generator *generator,
                                 struct dpl_round *round, int thread, size_t i,
                                 struct dpl_stream *stream) {
    const struct ldptrace *self = (const struct ldptrace *)generator;
    size_t room = (size_t)thread * self->length_max;
    size_t n = dpl_ldptrace_draw(&self->parts, stream, self->cell + room);
    return dpl_round_put(run, round, thread, i, 0, self->stay + room,
                         dpl_stays_of(self->cell + room, n, self->stay + room));
}

static enum dpl_status draw(struct dpl_run *run, struct dpl_generator *generator,
                            struct dpl_round *round) {
    return dpl_drawers_fill(run, &((struct ldptrace *)generator)->drawers, generator, draw_trip,
                            round);
}

static void free_generator(struct dpl_generator *generator) {
    struct ldptrace *self = (struct ldptrace *)generator;
    dpl_drawers_close(&self->drawers);
    dpl_free(self->place), dpl_free(self->cell), dpl_free(self->stay);
    dpl_free(self);
}

static enum dpl_status get_parts(struct dpl_run *run, const struct dpl_model *model,
                                 struct ldptrace *self) {
    struct dpl_ldptrace_parts *parts = &self->parts;
    DPL_TRY(dpl_model_whole(run, model, "ldptrace_side", 2, DPL_LDPTRACE_SIDE_MOST, &parts->side));
    size_t cells = parts->side * parts->side;
    parts->longest = (size_t)model->length_max - 1;
    if (parts->longest > cells)
        return dpl_fail(run, DPL_BAD_DATA,
                        "the model's trips are longer than its option \"ldptrace_side\" allows");
    DPL_TRY(dpl_model_chances(run, model, "ldptrace.lengths", 1, &parts->longest, &parts->lengths));
    DPL_TRY(dpl_model_check_rows(run, "ldptrace.lengths", parts->lengths, 1, parts->longest));
    DPL_TRY(dpl_model_chances(run, model, "ldptrace.starts", 1, &cells, &parts->starts));
    DPL_TRY(dpl_model_check_rows(run, "ldptrace.starts", parts->starts, 1, cells));
    return dpl_model_chances(run, model, "ldptrace.moves", 2,
                             (size_t[]){cells, DPL_LDPTRACE_WAYS + 1}, &parts->moves);
}

static enum dpl_status make_room(struct dpl_run *run, const struct dpl_model *model,
                                 struct ldptrace *self) {
    size_t cells = self->parts.side * self->parts.side, n;
    self->length_max = (size_t)model->length_max;
    n = (size_t)self->drawers.n * self->length_max;
    self->place = dpl_alloc(run, cells, sizeof *self->place);
    self->cell = dpl_alloc(run, n, sizeof *self->cell);
    self->stay = dpl_alloc(run, n, sizeof *self->stay);
    if (!self->place || !self->cell || !self->stay) return DPL_SYSTEM;
    for (size_t c = 0; c < cells; c++)
        self->place[c] = dpl_coarse_place(&model->grid.area, self->parts.side, c, 1, 0);
    self->generator.place = self->place;
    self->generator.n_places = cells;
    return DPL_OK;
}

enum dpl_status dpl_ldptrace_generator(struct dpl_run *run, const struct dpl_model *model,
                                       const struct dpl_draw_options *options,
                                       struct dpl_generator **generator) {
    enum dpl_status status;
    struct ldptrace *self = dpl_alloc(run, 1, sizeof *self);
    if (!self) return DPL_SYSTEM;
    self->generator = (struct dpl_generator){.draw = draw, .free = free_generator};
    DPL_GO(get_parts(run, model, self));
    DPL_GO(dpl_drawers_open(run, options->seed, &self->drawers));
    DPL_GO(make_room(run, model, self));
    *generator = &self->generator;
    return DPL_OK;
done:
    free_generator(&self->generator);
    return status;
}
