#include "support.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dpl_run *test_run(int threads) {
    struct dpl_run_options options = dpl_run_defaults();
    options.threads = threads;
    struct dpl_run *run = dpl_run_new(&options);
    assert_non_null(run);
    return run;
}

size_t test_soak(size_t count) {
    const char *text = getenv("DPLOC_SOAK");
    double factor = text ? strtod(text, NULL) : 1;
    return factor > 0 ? (size_t)((double)count * factor) : count;
}

uint64_t test_random(uint64_t *state) { return dpl_mix64(*state += 0x9E3779B97F4A7C15u); }

double test_uniform(uint64_t *state) { return (double)(test_random(state) >> 11) * 0x1p-53; }

double test_gauss(uint64_t *state) {
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += test_uniform(state) - 0.5;
    return sum;
}

double test_chi2(const double *count, const double *chance, size_t cells, double n) {
    double sum = 0, pooled = 0, pooled_expected = 0, freedom = -1;
    for (size_t i = 0; i < cells; i++) {
        double expected = chance ? n * chance[i] : n / (double)cells;
        if (expected < 5) {
            pooled += count[i];
            pooled_expected += expected;
            continue;
        }
        sum += (count[i] - expected) * (count[i] - expected) / expected;
        freedom++;
    }
    if (pooled_expected >= 1) {
        sum += (pooled - pooled_expected) * (pooled - pooled_expected) / pooled_expected;
        freedom++;
    } else if (pooled > 20) {
        return INFINITY; // what should hardly ever come came often
    }
    if (freedom < 1) return pooled + sum > 20 ? INFINITY : 0;
    double spread = 2 / (9 * freedom);
    return (cbrt(sum / freedom) - (1 - spread)) / sqrt(spread);
}

char *test_directory(void) {
    char *directory = strdup("dploc-test-XXXXXX");
    assert_non_null(directory);
    assert_non_null(mkdtemp(directory));
    return directory;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where) {
    (void)info, (void)kind, (void)where;
    return remove(path);
}

void test_directory_remove(char *directory) {
    nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(directory);
}

const char *test_path(const char *directory, const char *name) {
    static char paths[4][512];
    static size_t turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

const char *test_file(const char *directory, const char *name, const void *content, size_t length) {
    const char *path = test_path(directory, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return path;
}

struct dpl_cleaned *test_read_city(struct dpl_run *run, const char *path,
                                   struct dpl_read_facts *facts) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_read_facts *found;
    struct dpl_cleaned *trips;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    assert_ok(run, dpl_cleaned_read(run, &path, 1, NULL, &area, &trips, &found));
    *facts = *found;
    dpl_read_facts_free(found);
    return trips;
}

void assert_same_trips(const struct dpl_cleaned *a, const struct dpl_cleaned *b) {
    assert_int_equal(a->n_trips, b->n_trips);
    assert_int_equal(a->n_visits, b->n_visits);
    assert_int_equal(a->n_users, b->n_users);
    assert_memory_equal(a->start, b->start, (a->n_trips + 1) * sizeof *a->start);
    assert_memory_equal(a->cell, b->cell, a->n_visits * sizeof *a->cell);
    assert_memory_equal(a->utc_s, b->utc_s, a->n_trips * sizeof *a->utc_s);
    assert_memory_equal(a->user, b->user, a->n_trips * sizeof *a->user);
    assert_memory_equal(a->period, b->period, a->n_trips);
}

enum dpl_status test_fit(struct dpl_run *run, const char *path, const struct dpl_read_options *read,
                         const struct dpl_area *area, const struct dpl_fit_options *options,
                         struct dpl_fit **fit) {
    struct dpl_trips *trips = NULL;
    enum dpl_status status = dpl_trips_open(run, &path, 1, read, &trips);
    if (status == DPL_OK) status = dpl_fit(run, trips, area, options, fit);
    dpl_trips_free(trips);
    return status;
}

enum dpl_status test_sample(struct dpl_run *run, const char *model_path,
                            const struct dpl_sample_options *options, const char *path) {
    struct dpl_model *model = NULL;
    enum dpl_status status = dpl_model_read(run, model_path, &model);
    if (status == DPL_OK) status = dpl_sample_write(run, model, options, path);
    dpl_model_free(model);
    return status;
}
