/* The table of methods, and the store for a round.
 *
 * Stays lie in one pool per thread, in the order drawn; a trip's span says where. 12 bytes a stay
 * and trip or so: a round of a million trips takes about 35 MB.
 */
#include "sample/generator.h"

#include <string.h>

static const struct {
    const char *method;
    dpl_generator_open_function *open;
    bool own_places; /* its stays are not in the model's cells */
} METHODS[] = {{"bridge", dpl_bridge_generator, false},
               {"paper", dpl_paper_generator, false},
               {"ngram", dpl_ngram_generator, false},
               {"adatrace", dpl_adatrace_generator, true}};

static enum dpl_status check_sizes(struct dpl_run *run, const struct dpl_model *model,
                                   bool own_places) {
    if (model->length_max >= 2 && model->length_max <= DPL_STAY_MAX && model->n_cells >= 1 &&
        (own_places || model->n_cells <= DPL_STAY_MAX))
        return DPL_OK;
    return dpl_fail(run, DPL_BAD_DATA,
                    "a model of %d cells and trips of at most %d visits cannot be drawn from (1 to "
                    "%d cells, 2 to %d visits)",
                    (int)model->n_cells, (int)model->length_max, DPL_STAY_MAX, DPL_STAY_MAX);
}

enum dpl_status dpl_generator_open(struct dpl_run *run, const struct dpl_model *model,
                                   const struct dpl_draw_options *options,
                                   struct dpl_generator **generator) {
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++) {
        if (strcmp(model->method, METHODS[i].method)) continue;
        DPL_TRY(check_sizes(run, model, METHODS[i].own_places));
        return METHODS[i].open(run, model, options, generator);
    }
    return dpl_fail(
        run, DPL_BAD_DATA,
        "this program cannot draw from a model of the method '%s' (a newer version may)",
        model->method);
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
