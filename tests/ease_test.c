/* Lengths by how easily a way is made, on two dayparts of which all is known. */
#include <math.h>
#include <string.h>

#include "method/bridge/ease.h"
#include "support.h"

enum { P = 2, L = 8, N = L + 1, BINS = DPL_DISTANCE_BINS, ROWS = P * BINS };

/* Chances fall with length in even rows and rise in odd ones; the last distance has no trips. */
static void make_chances(float *chance) {
    memset(chance, 0, ROWS * N * sizeof *chance);
    for (size_t row = 0; row < ROWS; row++) {
        float sum = 0;
        if (row % BINS == BINS - 1) continue;
        for (size_t l = 2; l < N; l++) sum += row % 2 ? (float)l : (float)(N - l);
        for (size_t l = 2; l < N; l++)
            chance[row * N + l] = (row % 2 ? (float)l : (float)(N - l)) / sum;
    }
}

/* Trips of each row by what factors and eases weigh together: row + 1 of them, of the last distance
 * none. */
static void expect(const float *factor, double *got) {
    memset(got, 0, ROWS * N * sizeof *got);
    for (size_t row = 0; row < ROWS; row++) {
        double sum = 0;
        for (size_t l = 2; l < N; l++)
            sum += got[row * N + l] =
                (double)factor[row * N + l] * exp(-0.3 * fabs((double)l - 5) * (double)(row % 3));
        for (size_t l = 2; l < N && sum > 0; l++) got[row * N + l] *= (double)(row + 1) / sum;
    }
}

static void add_up(const double *rows, double *together) {
    double sum = 0;
    memset(together, 0, N * sizeof *together);
    for (size_t i = 0; i < ROWS * N; i++) together[i % N] += rows[i], sum += rows[i];
    for (size_t l = 0; l < N; l++) together[l] /= sum;
}

static void factors_bring_the_lengths_wanted(void **state) {
    (void)state;
    static float chance[ROWS * N], factor[ROWS * N];
    static double got[ROWS * N];
    double histogram[N], sum[ROWS] = {0};
    struct dpl_run *run = test_run(1);
    struct dpl_eased eased;
    make_chances(chance);
    memcpy(factor, chance, sizeof factor);
    for (size_t i = 0; i < ROWS * N; i++) got[i] = (double)chance[i] * (double)(i / N + 1);
    add_up(got, histogram);
    assert_int_equal(dpl_eased_new(run, P, L, chance, histogram, &eased), DPL_OK);
    for (int round = 0; round < 40; round++) {
        expect(factor, got);
        dpl_eased_move(&eased, (const double[P]){0, 0}, got);
        dpl_eased_adjust(&eased, got, 0.7, factor);
    }
    expect(factor, got);
    for (size_t i = 0; i < ROWS * N; i++) {
        assert_true(fabs(got[i] / (double)(i / N + 1) - (double)chance[i]) < 1e-3);
        sum[i / N] += (double)factor[i];
    }
    for (size_t row = 0; row < ROWS; row++)
        assert_true(fabs(sum[row] - (row % BINS == BINS - 1 ? 0 : 1)) < 1e-5);
    dpl_eased_free(&eased);
    dpl_run_free(run);
}

/* The trips of one daypart get longer, those of the other shorter, so that all together have the
 * histogram. */
static void what_is_wanted_moves_within_the_histogram(void **state) {
    (void)state;
    static float chance[ROWS * N];
    static double got[ROWS * N];
    double histogram[N], together[N], mean[P] = {0}, trips[P] = {0};
    struct dpl_run *run = test_run(1);
    struct dpl_eased eased;
    make_chances(chance);
    for (size_t i = 0; i < ROWS * N; i++) got[i] = (double)chance[i];
    add_up(got, histogram);
    assert_int_equal(dpl_eased_new(run, P, L, chance, histogram, &eased), DPL_OK);
    for (int round = 0; round < 20; round++)
        dpl_eased_move(&eased, (const double[P]){0.05, 0}, got);
    add_up(eased.wanted, together);
    for (size_t l = 2; l < N; l++) assert_true(fabs(together[l] - histogram[l]) < 1e-3);
    for (size_t i = 0; i < ROWS * N; i++)
        mean[i / N / BINS] += eased.wanted[i] * (double)(i % N),
            trips[i / N / BINS] += eased.wanted[i];
    assert_true(mean[0] / trips[0] > mean[1] / trips[1] + 0.3);
    dpl_eased_free(&eased);
    dpl_run_free(run);
}

/* Dayparts go on from where the day has come to. */
static void the_day_hands_on_its_factors(void **state) {
    (void)state;
    static float chance[ROWS * N], day[BINS * N], factor[ROWS * N];
    struct dpl_run *run = test_run(1);
    struct dpl_eased eased;
    make_chances(chance);
    memcpy(factor, chance, sizeof factor);
    memcpy(day, chance, sizeof day);
    assert_int_equal(
        dpl_eased_new(run, 1, L, day, (const double[N]){0, 0, 1, 1, 1, 1, 1, 1, 1}, &eased),
        DPL_OK);
    for (size_t i = 0; i < BINS * N; i++) day[i] *= i % N == 3 ? 2 : 1;
    dpl_eased_hand_on(&eased, day, P, factor);
    for (size_t i = 0; i < ROWS * N; i++)
        assert_true(fabsf(factor[i] - chance[i] * (i % N == 3 ? 2 : 1)) < 1e-6f);
    dpl_eased_free(&eased);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_bring_the_lengths_wanted),
        cmocka_unit_test(what_is_wanted_moves_within_the_histogram),
        cmocka_unit_test(the_day_hands_on_its_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
