/* A chain of order two with back-off, in one hash table of counts.
 *
 * Keys are 64-bit hashes of (level, context, next cell) and of (level, context): two of ten million
 * collide with chance 3e-6, which would move one score a little. */
#include "evaluate/chain.h"

#include <math.h>

enum { START = -1, END = -2 };
/* How many observations the next lower level is worth. */
static const double SHRINK = 1;

/* ---- tally ---- */

/* Of a key that may be 0, which an index takes for an empty slot. */
static struct dpl_key index_key(uint64_t key) { return (struct dpl_key){1, key}; }

enum dpl_status dpl_tally_add(struct dpl_run *run, struct dpl_tally *tally, uint64_t key) {
    uint32_t number;
    bool fresh;
    DPL_TRY(dpl_index_put(run, &tally->index, index_key(key), &number, &fresh));
    DPL_TRY(
        dpl_grow(run, &tally->count, &tally->capacity, tally->index.count, sizeof *tally->count));
    tally->count[number] = fresh ? 1 : tally->count[number] + 1;
    return DPL_OK;
}

uint32_t dpl_tally_count(const struct dpl_tally *tally, uint64_t key) {
    uint32_t number;
    return dpl_index_find(&tally->index, index_key(key), &number) ? tally->count[number] : 0;
}

void dpl_tally_free(struct dpl_tally *tally) {
    dpl_index_free(&tally->index);
    dpl_free(tally->count);
    *tally = (struct dpl_tally){0};
}

/* ---- chain ---- */

/* What is seen at visit v, from v = 0 to the end of the trip, where it is END. */
struct seen {
    int32_t before, here, next;
};

static struct seen seen_at(const int32_t *cell, size_t n, size_t v) {
    return (struct seen){v > 1 ? cell[v - 2] : START, v > 0 ? cell[v - 1] : START,
                         v < n ? cell[v] : END};
}

/* Of (context, next), and with `with_next` false of the context alone. Level 0 has no context, 1
 * the cell before, 2 two of them. */
static uint64_t key_of(const struct seen *seen, int level, bool with_next) {
    uint64_t key = dpl_mix64((uint64_t)level * 2 + with_next + 1);
    if (level > 1) key = dpl_mix64(key + (uint32_t)seen->before);
    if (level > 0) key = dpl_mix64(key + (uint32_t)seen->here);
    return with_next ? dpl_mix64(key + (uint32_t)seen->next) : key;
}

static uint64_t trip_key(const int32_t *cell, size_t n, uint8_t period) {
    return dpl_hash(cell, n * sizeof *cell, (uint64_t)period + 1).lo;
}

enum dpl_status dpl_chain_add(struct dpl_run *run, struct dpl_chain *chain,
                              const struct dpl_cleaned *trips, size_t i) {
    const int32_t *cell = trips->cell + trips->start[i];
    size_t n = trips->start[i + 1] - trips->start[i];
    for (size_t v = 0; v <= n; v++) {
        struct seen seen = seen_at(cell, n, v);
        for (int level = 0; level < 3; level++) {
            DPL_TRY(dpl_tally_add(run, &chain->tally, key_of(&seen, level, true)));
            if (level) DPL_TRY(dpl_tally_add(run, &chain->tally, key_of(&seen, level, false)));
        }
    }
    DPL_TRY(dpl_tally_add(run, &chain->tally, trip_key(cell, n, trips->period[i])));
    chain->n_trips++;
    chain->n_visits += (double)n + 1;
    return DPL_OK;
}

static double step_chance(const struct dpl_chain *chain, const struct seen *seen) {
    double chance = (dpl_tally_count(&chain->tally, key_of(seen, 0, true)) + SHRINK) /
                    (chain->n_visits + SHRINK * (chain->n_cells + 1));
    for (int level = 1; level < 3; level++)
        chance = (dpl_tally_count(&chain->tally, key_of(seen, level, true)) + SHRINK * chance) /
                 (dpl_tally_count(&chain->tally, key_of(seen, level, false)) + SHRINK);
    return chance;
}

/* The whole trip's own count, shrunk to what the chain says. */
double dpl_chain_log(const struct dpl_chain *chain, const struct dpl_cleaned *trips, size_t i) {
    const int32_t *cell = trips->cell + trips->start[i];
    size_t n = trips->start[i + 1] - trips->start[i];
    double walk = 0;
    for (size_t v = 0; v <= n; v++) {
        struct seen seen = seen_at(cell, n, v);
        walk += log(step_chance(chain, &seen));
    }
    double verbatim = dpl_tally_count(&chain->tally, trip_key(cell, n, trips->period[i]));
    if (verbatim == 0) return walk + log(SHRINK / (chain->n_trips + SHRINK));
    return log((verbatim + SHRINK * exp(walk)) / (chain->n_trips + SHRINK));
}

void dpl_chain_free(struct dpl_chain *chain) { dpl_tally_free(&chain->tally); }
