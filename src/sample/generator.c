/* Finding a model's generator, and the store for a round.
 *
 * Stays lie in one pool per thread, in the order drawn; a trip's span says where. 12 bytes a stay
 * and trip or so: a round of a million trips takes about 35 MB.
 */
#include "sample/generator.h"

#include <string.h>

#define ROW(name) {#name, dpl_##name##_generator},
static const struct {
    const char *method;
    dpl_generator_open_function *open;
} METHODS[] = {DPL_METHODS(ROW)};
#undef ROW

static enum dpl_status check_size(struct dpl_run *run, int32_t size, int32_t least,
                                  const char *what) {
    if (size >= least && size <= DPL_STAY_MAX) return DPL_OK;
    return dpl_fail(run, DPL_BAD_DATA, "a model of %d %s cannot be drawn from (it takes %d to %d)",
                    (int)size, what, (int)least, DPL_STAY_MAX);
}

enum dpl_status dpl_generator_check_cells(struct dpl_run *run, const struct dpl_model *model) {
    return check_size(run, model->n_cells, 1, "cells");
}

static enum dpl_status find_open(struct dpl_run *run, const char *method,
                                 dpl_generator_open_function **open) {
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++)
        if (!strcmp(method, METHODS[i].method)) {
            *open = METHODS[i].open;
            return DPL_OK;
        }
    return dpl_fail(
        run, DPL_BAD_DATA,
        "this program cannot draw from a model of the method '%s' (a newer version may)", method);
}

enum dpl_status dpl_generator_open(struct dpl_run *run, const struct dpl_model *model,
                                   const struct dpl_draw_options *options,
                                   struct dpl_generator **generator) {
    dpl_generator_open_function *open = NULL;
    DPL_TRY(find_open(run, model->method, &open));
    DPL_TRY(check_size(run, model->length_max, 2, "visits at most"));
    return open(run, model, options, generator);
}

enum dpl_status dpl_round_new(struct dpl_run *run, size_t capacity, int n_pools, size_t limit,
                              struct dpl_round **round) {
    struct dpl_round *made = dpl_alloc(run, 1, sizeof *made);
    if (made == NULL) return DPL_SYSTEM;
    made->capacity = capacity;
    made->n_pools = n_pools;
    made->limit = limit;
    made->period = dpl_alloc(run, capacity, sizeof *made->period);
    made->span = dpl_alloc(run, capacity, sizeof *made->span);
    made->pool = dpl_alloc(run, (size_t)n_pools, sizeof *made->pool);
    if (made->period == NULL || made->span == NULL || made->pool == NULL) {
        dpl_round_free(made);
        return DPL_SYSTEM;
    }
    *round = made;
    return DPL_OK;
}

void dpl_round_free(struct dpl_round *round) {
    if (round == NULL) return;
    for (int i = 0; round->pool != NULL && i < round->n_pools; i++) dpl_free(round->pool[i].stay);
    dpl_free(round->pool);
    dpl_free(round->span);
    dpl_free(round->period);
    dpl_free(round);
}

void dpl_round_begin(struct dpl_round *round, uint64_t first, size_t n_trips) {
    round->first = first;
    round->n_trips = n_trips;
    for (int i = 0; i < round->n_pools; i++) round->pool[i].used = 0;
    atomic_store(&round->used, 0);
    atomic_store(&round->full, false);
}

enum dpl_status dpl_round_put(struct dpl_run *run, struct dpl_round *round, int pool, size_t i,
                              size_t period, const struct dpl_stay *stay, size_t n) {
    struct dpl_pool *into = &round->pool[pool];
    if (atomic_fetch_add(&round->used, n) + n > round->limit) {
        atomic_store(&round->full, true);
        return DPL_OK;
    }
    DPL_TRY(dpl_grow(run, &into->stay, &into->capacity, into->used + n, sizeof *stay));
    memcpy(into->stay + into->used, stay, n * sizeof *stay);
    round->span[i] = (struct dpl_span){(uint32_t)into->used, (uint16_t)n, (uint16_t)pool};
    round->period[i] = (uint8_t)period;
    into->used += n;
    return DPL_OK;
}

const struct dpl_stay *dpl_round_get(const struct dpl_round *round, size_t i, size_t *n) {
    struct dpl_span span = round->span[i];
    *n = span.n;
    return round->pool[span.pool].stay + span.first;
}
