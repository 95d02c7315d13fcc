/* Speed of the random source and of the noise, on one core: `name value unit goal ok|MISSED`.
 * The best of several rounds, since other programs share the machine. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "privacy/gaussian.h"

enum { N = 1 << 16, ROUNDS = 40 };

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A goal of 0 is none. */
static void report(const char *name, double value, const char *unit, double goal, bool higher_is_better) {
    bool ok = goal <= 0 || (higher_is_better ? value >= goal : value <= goal);
    printf("%-28s %8.2f %-5s %6g %s\n", name, value, unit, goal, ok ? "ok" : "MISSED");
}

static bool time_gaussian(struct dpl_run *run, struct dpl_random *random, enum dpl_gaussian_path path, double goal, int64_t *vector) {
    double best = INFINITY;
    size_t redone = 0;
    struct dpl_gaussian_how how = {path, 1, &redone};
    for (uint64_t round = 0; round < ROUNDS; round++) {
        double begin = now_s();
        struct dpl_stream_id id = {DPL_PURPOSE_TEST, round, 0};
        if (dpl_gaussian_add_with(run, random, &how, id, 0, vector, N, 1e6) != DPL_OK) return false;
        best = fmin(best, now_s() - begin);
    }
    char name[64];
    snprintf(name, sizeof name, "gaussian_%s", dpl_gaussian_path_name(path));
    report(name, best / N * 1e9, "ns", goal, false);
    snprintf(name, sizeof name, "gaussian_%s_redone", dpl_gaussian_path_name(path));
    report(name, (double)redone / (ROUNDS * (N / 2)) * 1e6, "ppm", 0, false);
    return true;
}

static bool time_keystream(struct dpl_run *run, struct dpl_random *random, void *buffer) {
    double best = INFINITY;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        double begin = now_s();
        struct dpl_stream_id id = {DPL_PURPOSE_TEST, round, 1};
        if (dpl_random_fill(run, random, id, 0, N * sizeof(int64_t) / DPL_BLOCK_SIZE, buffer) != DPL_OK) return false;
        best = fmin(best, now_s() - begin);
    }
    report("keystream", N * sizeof(int64_t) / best / 1e9, "GB/s", 2, true);
    return true;
}

int main(void) {
    struct dpl_run_options options = dpl_run_defaults();
    struct dpl_run *run = dpl_run_new(&options);
    struct dpl_secret secret;
    struct dpl_random *random = NULL;
    int64_t *vector = run ? dpl_alloc(run, N, sizeof *vector) : NULL;
    bool ok = vector && dpl_secret_from_seed(run, 1, &secret) == DPL_OK && dpl_random_new(run, &secret, &random) == DPL_OK;
    static const double goal_ns[DPL_GAUSSIAN_PATHS] = {0, 6, 3.5};
    ok = ok && time_keystream(run, random, vector);
    for (enum dpl_gaussian_path path = 0; ok && path < DPL_GAUSSIAN_PATHS; path++)
        if (dpl_gaussian_path_exists(path)) ok = time_gaussian(run, random, path, goal_ns[path], vector);
    if (!ok) fprintf(stderr, "noise_bench: %s\n", run ? dpl_run_message(run) : "out of memory");
    dpl_random_free(random);
    dpl_free(vector);
    dpl_run_free(run);
    return ok ? 0 : 1;
}
