/* Standing still, from noised runs of it (estimate_stops.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/bridge/bridge.h"
#include "support.h"

enum { N = DPL_STOP_BINS, TABLES = 400 };

/* Made-up runs by bin, which get rarer as about the square of their steps, as those of taxis do. */
static const double RUNS[N] = {4444, 1556, 720, 640, 327, 163, 80, 42, 23, 12, 6, 7};

/* How often they stand on: in the middle of their bins, but for the last. */
static double stood_on(void) {
    double sum = 0;
    for (size_t bin = 0; bin + 1 < N; bin++)
        sum += RUNS[bin] *
               ((double)(dpl_stop_bin_first(bin) + dpl_stop_bin_first(bin + 1) - 1) / 2 - 1);
    return sum + RUNS[N - 1] * 100;
}

/* The estimate of the same. */
static double standing_on(const struct dpl_table *stops) {
    const struct dpl_motion_bins bins = dpl_motion_bins_make(true);
    double standing[DPL_MOTION_TURNS], sum = 0;
    dpl_stops_standing_on(stops, &bins, standing);
    for (size_t i = 0; i < DPL_MOTION_TURNS; i++) sum += standing[i];
    return sum;
}

static struct dpl_table table_of(double *value, double sigma) {
    return (struct dpl_table){.n = N, .sigma = sigma, .value = value};
}

static void without_noise_counts_are_believed(void **state) {
    (void)state;
    double value[N];
    memcpy(value, RUNS, sizeof value);
    struct dpl_table table = table_of(value, 0);
    assert_true(fabs(standing_on(&table) / stood_on() - 1) < 0.05);
}

/* Runs of two, three and four steps: all stand on once, those of three and four twice ... */
static void each_step_counts_by_those_before_it(void **state) {
    (void)state;
    const struct dpl_motion_bins fine = dpl_motion_bins_make(true),
                                 coarse = dpl_motion_bins_make(false);
    double value[N] = {100, 10, 1}, standing[DPL_MOTION_TURNS];
    struct dpl_table table = table_of(value, 0);
    dpl_stops_standing_on(&table, &fine, standing);
    assert_true(fabs(standing[0] - 111) < 1e-6 && fabs(standing[1] - 11) < 1e-6 &&
                fabs(standing[2] - 1) < 1e-6 && standing[3] == 0);
    dpl_stops_standing_on(&table, &coarse, standing);
    assert_true(fabs(standing[0] - 122) < 1e-6 && fabs(standing[1] - 1) < 1e-6);
}

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Believed bin by bin, the noise of the long runs' bins alone would be as much standing as there
 * is: the largest twentieth was then more than 1.7 of the truth, the smallest less than .6. */
static void noise_of_long_runs_is_not_standing(void **state) {
    (void)state;
    uint64_t random = 1;
    double found[TABLES], value[N];
    for (size_t i = 0; i < TABLES; i++) {
        for (size_t bin = 0; bin < N; bin++) value[bin] = RUNS[bin] + 180 * test_gauss(&random);
        struct dpl_table table = table_of(value, 180);
        found[i] = standing_on(&table) / stood_on();
    }
    qsort(found, TABLES, sizeof *found, rising);
    assert_true(found[TABLES / 20] > 0.7);
    assert_true(found[TABLES / 2] > 0.9 && found[TABLES / 2] < 1.1);
    assert_true(found[TABLES - TABLES / 20] < 1.45);
}

static void noise_alone_is_little_and_never_negative(void **state) {
    (void)state;
    uint64_t random = 2;
    double value[N], sum = 0;
    for (size_t i = 0; i < TABLES; i++) {
        for (size_t bin = 0; bin < N; bin++) value[bin] = 180 * test_gauss(&random);
        struct dpl_table table = table_of(value, 180);
        double found = standing_on(&table);
        assert_true(found >= 0 && isfinite(found));
        sum += found;
    }
    assert_true(sum / TABLES < 0.05 * stood_on());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_noise_counts_are_believed),
        cmocka_unit_test(each_step_counts_by_those_before_it),
        cmocka_unit_test(noise_of_long_runs_is_not_standing),
        cmocka_unit_test(noise_alone_is_little_and_never_negative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
