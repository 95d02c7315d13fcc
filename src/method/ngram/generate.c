/* Trips from an Ngram model, which is a list of trips and how often each occurs: all of them, in a
 * random order.
 *
 * The order is a bijection of 0 ... total-1 that the seed keys: four Feistel rounds on an even
 * number of bits, again and again until the result is below the total (cycle walking; less than
 * four times on the average). So the first n trips are a random choice without repetition, and the
 * model's own number of trips is exactly what the synthesis made. Beyond it a new order begins. */
#include "sample/drawing.h"

#include <omp.h>
#include <string.h>

enum { ROUNDS = 4 };

struct ngram {
    struct dpl_generator generator;
    size_t n, n_cells;
    const int32_t *start, *count, *cell;
    uint64_t *ends; /* (n) trips up to and with each */
    uint64_t key;
    unsigned half;         /* bits of a Feistel half */
    struct dpl_stay *stay; /* (n_workers, length_max) */
    size_t length_max;
    int n_workers;
};

static uint64_t shuffle(const struct ngram *self, uint64_t lap, uint64_t i) {
    const uint64_t total = self->ends[self->n - 1], mask = ((uint64_t)1 << self->half) - 1;
    do {
        uint64_t left = i >> self->half, right = i & mask;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            uint64_t next =
                left ^ (dpl_mix64(dpl_mix64(self->key + lap) ^ (right * ROUNDS + round)) & mask);
            left = right;
            right = next;
        }
        i = left << self->half | right;
    } while (i >= total);
    return i;
}

/* The entry that holds trip i. */
static size_t entry_of(const struct ngram *self, uint64_t i) {
    size_t low = 0, high = self->n - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->ends[middle] <= i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum dpl_status draw(struct dpl_run *run, struct dpl_generator *generator,
                            struct dpl_round *round) {
    struct ngram *self = (struct ngram *)generator;
    const uint64_t total = self->ends[self->n - 1];
    _Atomic int failed = DPL_OK;
#pragma omp parallel for num_threads(self->n_workers) schedule(static)
    for (size_t i = 0; i < round->n_trips; i++) {
        if (failed || atomic_load(&round->full)) continue;
        uint64_t trip = round->first + i;
        struct dpl_stay *stay = self->stay + (size_t)omp_get_thread_num() * self->length_max;
        size_t entry = entry_of(self, shuffle(self, trip / total, trip % total));
        size_t visits = (size_t)(self->start[entry + 1] - self->start[entry]),
               n = dpl_stays_of(self->cell + self->start[entry], visits, stay);
        enum dpl_status status = dpl_round_put(run, round, omp_get_thread_num(), i, 0, stay, n);
        if (status != DPL_OK) failed = (int)status;
    }
    if (!failed && !atomic_load(&round->full)) dpl_progress_add(run, (double)round->n_trips);
    return (enum dpl_status)failed;
}

/* ---- from the model ---- */

static void free_generator(struct dpl_generator *generator) {
    struct ngram *self = (struct ngram *)generator;
    dpl_free(self->ends);
    dpl_free(self->stay);
    dpl_free(self);
}

static enum dpl_status check_trips(struct dpl_run *run, const struct dpl_model *model,
                                   const struct ngram *self) {
    for (size_t i = 0; i < self->n; i++)
        if (self->count[i] < 1)
            return dpl_fail(run, DPL_BAD_DATA,
                            "the model's tensor \"ngram.count\" holds a number that is no count");
    return dpl_model_check_trips(run, model, "ngram.start", self->n, self->start, self->n_cells,
                                 self->cell);
}

static enum dpl_status read_trips(struct dpl_run *run, const struct dpl_model *model,
                                  struct ngram *self) {
    DPL_TRY(dpl_model_whole(run, model, "ngram_trips", 1, INT32_MAX, &self->n));
    DPL_TRY(dpl_model_whole(run, model, "ngram_visits", 1, INT32_MAX, &self->n_cells));
    DPL_TRY(dpl_model_get(run, model, "ngram.start", DPL_TENSOR_I32, 1, (size_t[]){self->n + 1},
                          &self->start));
    DPL_TRY(dpl_model_get(run, model, "ngram.count", DPL_TENSOR_I32, 1, &self->n, &self->count));
    DPL_TRY(
        dpl_model_get(run, model, "ngram.cell", DPL_TENSOR_I32, 1, &self->n_cells, &self->cell));
    DPL_TRY(check_trips(run, model, self));
    self->ends = dpl_alloc(run, self->n, sizeof *self->ends);
    if (!self->ends) return DPL_SYSTEM;
    for (size_t i = 0; i < self->n; i++)
        self->ends[i] = (i > 0 ? self->ends[i - 1] : 0) + (uint64_t)self->count[i];
    for (self->half = 1; (uint64_t)1 << (2 * self->half) < self->ends[self->n - 1];) self->half++;
    return DPL_OK;
}

static enum dpl_status read_key(struct dpl_run *run, uint64_t seed, uint64_t *key) {
    struct dpl_secret secret;
    struct dpl_random *random = NULL;
    struct dpl_stream stream;
    DPL_TRY(dpl_secret_from_seed(run, seed, &secret));
    enum dpl_status status = dpl_random_new(run, &secret, &random);
    dpl_secret_wipe(&secret);
    DPL_TRY(status);
    dpl_stream_open(&stream, random,
                    (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, 0, DPL_SYNTHESIS_KEYS});
    *key = dpl_stream_u64(&stream);
    status = dpl_stream_close(run, &stream);
    dpl_random_free(random);
    return status;
}

enum dpl_status dpl_ngram_generator(struct dpl_run *run, const struct dpl_model *model,
                                    const struct dpl_draw_options *options,
                                    struct dpl_generator **generator) {
    enum dpl_status status;
    struct ngram *self = dpl_alloc(run, 1, sizeof *self);
    if (!self) return DPL_SYSTEM;
    self->generator = (struct dpl_generator){.draw = draw, .free = free_generator};
    self->n_workers = dpl_run_threads(run);
    self->length_max = (size_t)model->length_max;
    DPL_GO(dpl_generator_check_cells(run, model));
    DPL_GO(read_key(run, options->seed, &self->key));
    DPL_GO(read_trips(run, model, self));
    self->stay = dpl_alloc(run, (size_t)self->n_workers * self->length_max, sizeof *self->stay);
    status = self->stay ? DPL_OK : DPL_SYSTEM;
    if (status != DPL_OK) goto done;
    *generator = &self->generator;
    return DPL_OK;
done:
    free_generator(&self->generator);
    return status;
}
