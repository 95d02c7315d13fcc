/* See drawing.h. Trips are told apart by their streams, so that any thread may draw any of them. */
#include "sample/drawing.h"

#include <omp.h>

enum { TRIPS_BETWEEN_CHECKS = 4096 };

enum dpl_status dpl_model_chances(struct dpl_run *run, const struct dpl_model *model,
                                  const char *name, int rank, const size_t *shape,
                                  const float **chance) {
    size_t n = 1;
    DPL_TRY(dpl_model_get(run, model, name, DPL_TENSOR_F32, rank, shape, chance));
    for (int i = 0; i < rank; i++) n *= shape[i];
    for (size_t i = 0; i < n; i++)
        if (!((*chance)[i] >= 0 && (*chance)[i] <= 1))
            return dpl_fail(run, DPL_BAD_DATA,
                            "the model's tensor \"%s\" holds a number that is no chance", name);
    return DPL_OK;
}

enum dpl_status dpl_model_check_rows(struct dpl_run *run, const char *name, const float *chance,
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

enum dpl_status dpl_model_whole(struct dpl_run *run, const struct dpl_model *model,
                                const char *name, int64_t least, int64_t most, size_t *value) {
    json_t *given = json_object_get(model->options, name);
    json_int_t number = json_integer_value(given);
    if (!json_is_integer(given) || number < least || number > most)
        return dpl_fail(run, DPL_BAD_DATA,
                        "the model's option \"%s\" is missing or not from %lld to %lld", name,
                        (long long)least, (long long)most);
    *value = (size_t)number;
    return DPL_OK;
}

enum dpl_status dpl_model_check_trips(struct dpl_run *run, const struct dpl_model *model,
                                      const char *name, size_t n, const int32_t *start,
                                      size_t visits, const int32_t *cell) {
    bool good = start[0] == 0 && start[n] == (int32_t)visits;
    for (size_t i = 0; good && i < n; i++) {
        int64_t of_trip = (int64_t)start[i + 1] - start[i];
        good = of_trip >= 2 && of_trip <= model->length_max;
    }
    for (size_t i = 0; good && i < visits; i++) good = cell[i] >= 0 && cell[i] < model->n_cells;
    return good ? DPL_OK
                : dpl_fail(run, DPL_BAD_DATA,
                           "the model's tensor \"%s\" is no list of trips between its cells", name);
}

void dpl_sum_up(const float *chance, size_t n, double *sums) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sums[i] = sum += (double)chance[i];
}

size_t dpl_draw_from(const double *sums, size_t n, struct dpl_stream *stream) {
    double draw = dpl_stream_uniform(stream) * sums[n - 1];
    size_t low = 0, high = n - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sums[middle] <= draw)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t dpl_stays_of(const int32_t *cell, size_t n, struct dpl_stay *stay) {
    size_t stays = 0;
    for (size_t v = 0; v < n; v++) {
        if (stays > 0 && stay[stays - 1].cell == cell[v])
            stay[stays - 1].visits++;
        else
            stay[stays++] = (struct dpl_stay){(uint16_t)cell[v], 1};
    }
    return stays;
}

enum dpl_status dpl_drawers_open(struct dpl_run *run, uint64_t seed, struct dpl_drawers *drawers) {
    struct dpl_secret secret;
    enum dpl_status status = DPL_OK;
    *drawers = (struct dpl_drawers){.n = dpl_run_threads(run)};
    drawers->random = dpl_alloc(run, (size_t)drawers->n, sizeof *drawers->random);
    if (!drawers->random) return DPL_SYSTEM;
    DPL_TRY(dpl_secret_from_seed(run, seed, &secret));
    for (int i = 0; status == DPL_OK && i < drawers->n; i++)
        status = dpl_random_new(run, &secret, &drawers->random[i]);
    dpl_secret_wipe(&secret);
    return status;
}

void dpl_drawers_close(struct dpl_drawers *drawers) {
    for (int i = 0; drawers->random && i < drawers->n; i++) dpl_random_free(drawers->random[i]);
    dpl_free(drawers->random);
    *drawers = (struct dpl_drawers){0};
}

static enum dpl_status draw_one(struct dpl_run *run, const struct dpl_drawers *drawers,
                                struct dpl_generator *generator, dpl_draw_one *one,
                                struct dpl_round *round, size_t i) {
    struct dpl_stream stream;
    int thread = omp_get_thread_num();
    if (i % TRIPS_BETWEEN_CHECKS == 0) DPL_TRY(dpl_check_interrupt(run));
    dpl_stream_open(
        &stream, drawers->random[thread],
        (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, round->first + i, DPL_SYNTHESIS_TRACE});
    enum dpl_status status = one(run, generator, round, thread, i, &stream);
    enum dpl_status closed = dpl_stream_close(run, &stream);
    return status != DPL_OK ? status : closed;
}

enum dpl_status dpl_drawers_fill(struct dpl_run *run, const struct dpl_drawers *drawers,
                                 struct dpl_generator *generator, dpl_draw_one *one,
                                 struct dpl_round *round) {
    _Atomic int failed = DPL_OK;
#pragma omp parallel for num_threads(drawers->n) schedule(static)
    for (size_t i = 0; i < round->n_trips; i++) {
        if (failed || atomic_load(&round->full)) continue;
        enum dpl_status status = draw_one(run, drawers, generator, one, round, i);
        if (status != DPL_OK) failed = (int)status;
    }
    if (!failed && !atomic_load(&round->full)) dpl_progress_add(run, (double)round->n_trips);
    return (enum dpl_status)failed;
}
