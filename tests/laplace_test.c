/* The discrete Laplace: exact probabilities, any cut, refusals. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise/laplace.h"

static struct dpl_random *seeded(struct dpl_run *run, uint64_t seed) {
    struct dpl_secret secret;
    struct dpl_random *random;
    assert_ok(run, dpl_secret_from_seed(run, seed, &secret));
    assert_ok(run, dpl_random_new(run, &secret, &random));
    return random;
}

enum { CELLS = 81, N = 200000 };

/* P(X = x) = (1-r)/(1+r) r^|x| with r = exp(-1/t); the end cells hold the tails r^|x|/(1+r). */
static double pmf_z(const int64_t *noise, size_t n, double t) {
    double count[CELLS] = {0}, chance[CELLS], r = exp(-1 / t);
    for (int i = 0; i < CELLS; i++) {
        int x = i - CELLS / 2;
        chance[i] = pow(r, abs(x)) / (1 + r) * (abs(x) == CELLS / 2 ? 1 : 1 - r);
    }
    for (size_t i = 0; i < n; i++) {
        int64_t cell = noise[i] + CELLS / 2;
        count[cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : cell]++;
    }
    return test_chi2(count, chance, CELLS, (double)n);
}

static void exact_probabilities(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 3);
    const uint64_t scale[][2] = {{1, 1},
                                 {1, 3},
                                 {7, 2},
                                 {20, 1},
                                 {2000003, 1000000},
                                 {(uint64_t)1 << 40, (uint64_t)1 << 38}};
    static int64_t noise[N];
    for (size_t i = 0; i < 6; i++) {
        memset(noise, 0, sizeof noise);
        assert_ok(run, dpl_laplace_add(run, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, i, 0},
                                       0, noise, N, scale[i][0], scale[i][1]));
        double t = (double)scale[i][0] / (double)scale[i][1];
        assert_true(pmf_z(noise, N, t) < 4.75);
        // The test can tell: a scale off by two parts in a hundred, and zero counted twice, both
        // fail it.
        if (i == 3) assert_true(pmf_z(noise, N, t * 1.02) > 4.75);
        for (size_t j = 0; i == 3 && j < N; j += 20) noise[j] = 0;
        if (i == 3) assert_true(pmf_z(noise, N, t) > 4.75);
    }
    dpl_random_free(random);
    dpl_run_free(run);
}

/* Wide noise: the variance 2r/(1-r)^2 (about 2t^2), and the median of the magnitude. */
static void wide_noise(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 3);
    static int64_t noise[N];
    const double t = 65536.0 * 31;
    memset(noise, 0, sizeof noise);
    assert_ok(run, dpl_laplace_add(run, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, 9, 0}, 0,
                                   noise, N, (uint64_t)t, 1));
    double square = 0, below = 0, even = 0;
    for (size_t i = 0; i < N; i++) {
        square += (double)noise[i] / t * ((double)noise[i] / t);
        below += fabs((double)noise[i]) < t * log(2);
        even += noise[i] % 2 == 0;
    }
    assert_true(fabs(square - 2.0 * N) <= 5 * sqrt(20.0 * N));
    assert_true(fabs(below - 0.5 * N) <= 5 * sqrt(0.25 * N));
    assert_true(fabs(even - 0.5 * N) <= 5 * sqrt(0.25 * N));
    dpl_random_free(random);
    dpl_run_free(run);
}

static void any_cut_gives_the_same_bits(void **state) {
    (void)state;
    enum { M = 1000 };
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 3);
    struct dpl_stream_id id = {DPL_PURPOSE_TEST, 9, 0};
    int64_t whole[M] = {0}, cut[M];
    assert_ok(run, dpl_laplace_add(run, random, id, 37, whole, M, 50, 3));
    uint64_t seed = 1;
    for (size_t round = 0; round < 10; round++) {
        for (size_t i = 0; i < M; i++) cut[i] = -3;
        for (size_t at = 0, n; at < M; at += n) {
            n = 1 + test_random(&seed) % 200;
            if (n > M - at) n = M - at;
            assert_ok(run, dpl_laplace_add(run, random, id, 37 + at, cut + at, n, 50, 3));
        }
        for (size_t i = 0; i < M; i++) assert_int_equal(cut[i], whole[i] - 3);
    }
    dpl_random_free(random);
    dpl_run_free(run);
}

static void senseless_noise_is_refused(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 3);
    struct dpl_stream_id id = {DPL_PURPOSE_TEST, 9, 0};
    int64_t x = 4;
    uint64_t much = ((uint64_t)1 << 40) + 1;
    assert_int_equal(dpl_laplace_add(run, random, id, 0, &x, 1, 0, 1), DPL_USAGE);
    assert_int_equal(dpl_laplace_add(run, random, id, 0, &x, 1, 1, 0), DPL_USAGE);
    assert_int_equal(dpl_laplace_add(run, random, id, 0, &x, 1, much, 1), DPL_USAGE);
    assert_int_equal(dpl_laplace_add(run, random, id, much, &x, 1, 1, 1), DPL_USAGE);
    id.b = 1;
    assert_int_equal(dpl_laplace_add(run, random, id, 0, &x, 1, 1, 1), DPL_USAGE);
    assert_int_equal(x, 4);
    dpl_random_free(random);
    dpl_run_free(run);
}

/* From 2^-20 to 2^39 lattice steps, both included; never less noise than asked for. */
static void ratios_round_up(void **state) {
    (void)state;
    const double fits[] = {0x1p-20, 0x1p-3, 1, 3.7, 12345.678, 0x1p39},
                 bad[] = {0, -1, NAN, INFINITY, nextafter(0x1p-20, 0), nextafter(0x1p39, INFINITY)};
    uint64_t num, den;
    for (size_t i = 0; i < 6; i++) {
        assert_true(dpl_laplace_ratio(fits[i], &num, &den));
        assert_true((double)num / (double)den >= fits[i]);
        assert_true((double)num / (double)den <= fits[i] * (1 + 0x1p-18));
        assert_false(dpl_laplace_ratio(bad[i], &num, &den));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_probabilities),
        cmocka_unit_test(wide_noise),
        cmocka_unit_test(any_cut_gives_the_same_bits),
        cmocka_unit_test(senseless_noise_is_refused),
        cmocka_unit_test(ratios_round_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
