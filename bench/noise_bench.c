/* Speed of the random source and of the noise, on one core: `name value unit goal ok|MISSED`.
 * The best of several rounds, since other programs share the machine. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "base/random.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "noise/sampler.h"
#include "noise/lattice.h"

enum { N = 1 << 16, ROUNDS = 40 };

static bool time_gaussian(struct dpl_run *run, struct dpl_random *random,
                          enum dpl_gaussian_path path, double goal_ns, int64_t *vector) {
    double best = INFINITY;
    size_t redone = 0;
    struct dpl_gaussian_how how = {path, 1, &redone};
    for (uint64_t round = 0; round < ROUNDS; round++) {
        double begin = clock_s(CLOCK_MONOTONIC);
        struct dpl_stream_id id = {DPL_PURPOSE_TEST, round, 0};
        if (dpl_gaussian_add_with(run, random, &how, id, 0, vector, N, 1e6) != DPL_OK) return false;
        best = fmin(best, clock_s(CLOCK_MONOTONIC) - begin);
    }
    char name[64];
    snprintf(name, sizeof name, "gaussian_%s", dpl_gaussian_path_name(path));
    report_at_most(name, best / N * 1e9, "ns", goal_ns);
    snprintf(name, sizeof name, "gaussian_%s_redone", dpl_gaussian_path_name(path));
    report(name, (double)redone / (ROUNDS * (N / 2)) * 1e6, "ppm");
    return true;
}

static bool time_keystream(struct dpl_run *run, struct dpl_random *random, void *buffer) {
    double best = INFINITY;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        double begin = clock_s(CLOCK_MONOTONIC);
        struct dpl_stream_id id = {DPL_PURPOSE_TEST, round, 1};
        if (dpl_random_fill(run, random, id, 0, N * sizeof(int64_t) / DPL_BLOCK_SIZE, buffer) !=
            DPL_OK)
            return false;
        best = fmin(best, clock_s(CLOCK_MONOTONIC) - begin);
    }
    report_at_least("keystream", N * sizeof(int64_t) / best / 1e9, "GB/s", 2);
    return true;
}

static bool time_laplace(struct dpl_run *run, struct dpl_random *random, int64_t *vector) {
    double best = INFINITY;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        double begin = clock_s(CLOCK_MONOTONIC);
        struct dpl_stream_id id = {DPL_PURPOSE_TEST, ROUNDS + round, 0};
        if (dpl_laplace_add(run, random, id, 0, vector, N / 16, (uint64_t)20 << 16, 1) != DPL_OK)
            return false;
        best = fmin(best, clock_s(CLOCK_MONOTONIC) - begin);
    }
    report_at_most("laplace", best / (N / 16) * 1e9, "ns", 300);
    return true;
}

static bool time_sampler(struct dpl_run *run, struct dpl_random *random) {
    enum { STEPS = 20 };
    struct dpl_event event = {
        .name = "bench", .kind = DPL_EVENT_POISSON, .rate = 200.0 / 450000, .steps = STEPS};
    struct dpl_batch batch = {0};
    bool ok = true;
    double best = INFINITY;
    for (uint64_t round = 0; ok && round < ROUNDS; round++) {
        double begin = clock_s(CLOCK_MONOTONIC);
        for (int64_t step = 0; ok && step < STEPS; step++)
            ok = dpl_sampler_draw(run, random, &event, round, step, 450000, &batch) == DPL_OK;
        best = fmin(best, clock_s(CLOCK_MONOTONIC) - begin);
    }
    report("sampler_200_of_450000", best / STEPS * 1e6, "us");
    dpl_batch_free(&batch);
    return ok;
}

/* Units of ten entries into a vector of 10,000 coordinates. */
static bool time_units(struct dpl_run *run) {
    enum { UNITS = 1000, ENTRIES = 10, COORDINATES = 10000 };
    struct dpl_exact *exact = NULL;
    if (dpl_exact_new(run, &(struct dpl_exact_options){COORDINATES, DPL_NORM_L2, 1, 16}, &exact) !=
        DPL_OK)
        return false;
    struct dpl_entry entry[ENTRIES];
    bool ok = true;
    double best = INFINITY;
    for (uint64_t round = 0; ok && round < ROUNDS; round++) {
        double begin = clock_s(CLOCK_MONOTONIC);
        for (uint64_t unit = 0; ok && unit < UNITS; unit++) {
            for (uint64_t i = 0; i < ENTRIES; i++)
                entry[i] = (struct dpl_entry){dpl_mix64(unit * ENTRIES + i) % COORDINATES, 1};
            ok = dpl_exact_add(run, exact, entry, ENTRIES) == DPL_OK;
        }
        best = fmin(best, clock_s(CLOCK_MONOTONIC) - begin);
    }
    report("unit_of_10_entries", best / UNITS * 1e9, "ns");
    dpl_exact_free(exact);
    return ok;
}

int main(void) {
    struct dpl_run_options options = dpl_run_defaults();
    struct dpl_run *run = dpl_run_new(&options);
    struct dpl_secret secret;
    struct dpl_random *random = NULL;
    int64_t *vector = run ? dpl_alloc(run, N, sizeof *vector) : NULL;
    bool ok = vector && dpl_secret_from_seed(run, 1, &secret) == DPL_OK &&
              dpl_random_new(run, &secret, &random) == DPL_OK;
    static const double goal_ns[DPL_GAUSSIAN_PATHS] = {INFINITY, 6, 3.5};
    ok = ok && time_keystream(run, random, vector);
    for (enum dpl_gaussian_path path = 0; ok && path < DPL_GAUSSIAN_PATHS; path++)
        if (dpl_gaussian_path_exists(path))
            ok = time_gaussian(run, random, path, goal_ns[path], vector);
    ok = ok && time_laplace(run, random, vector) && time_sampler(run, random) && time_units(run);
    if (!ok) fprintf(stderr, "noise_bench: %s\n", run ? dpl_run_message(run) : "out of memory");
    dpl_random_free(random);
    dpl_free(vector);
    dpl_run_free(run);
    return ok ? 0 : 1;
}
