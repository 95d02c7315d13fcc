/* Reports that units noise themselves: their likelihoods, unbiased counts, dummies, and what is
 * refused. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "noise/local.h"

enum { PLACES = 16, DOMAIN = 6 };

/* The bit of a true value is 1 with probability 1/2, another with q: by no more than e^epsilon do
 * two reports differ, and by hardly less. */
static void reports_differ_by_their_epsilon(void **state) {
    (void)state;
    for (double epsilon = 0.01; epsilon < 8; epsilon *= 1.3) {
        double q = ldexp(dpl_local_threshold(epsilon), -32);
        double factor = 0.5 / q * (1 - q) / 0.5, against_dummy = fmax(0.5 / q, (1 - q) / 0.5);
        assert_true(factor <= exp(epsilon) && factor > exp(epsilon) * (1 - 1e-5));
        assert_true(against_dummy <= exp(epsilon));
    }
    assert_int_equal(dpl_local_threshold(0), (uint32_t)1 << 31);
}

static struct dpl_event event_of(double epsilon, double reports) {
    return (struct dpl_event){.name = "reports",
                              .kind = DPL_EVENT_LOCAL,
                              .sigma = 1 / epsilon,
                              .sensitivity = reports,
                              .rate = 1,
                              .steps = 1};
}

/* Units that report value 0 and, the first `twice` of them, value 1 in a second report; the others
 * send a dummy. */
static struct dpl_exact *count(struct dpl_run *run, size_t units, size_t twice, double reports) {
    struct dpl_exact *exact;
    const struct dpl_exact_options options = {DOMAIN, DPL_NORM_L1, reports, PLACES};
    assert_ok(run, dpl_exact_new(run, &options, &exact));
    for (size_t u = 0; u < units; u++) {
        const struct dpl_entry entry[] = {{0, 1}, {1, 1}};
        assert_ok(run, dpl_exact_add(run, exact, entry, u < twice ? 2 : 1));
    }
    return exact;
}

static struct dpl_noised *release(struct dpl_run *run, uint64_t key, size_t units, size_t twice,
                                  double epsilon) {
    const struct dpl_local_section section = {0, DOMAIN, 2};
    const struct dpl_event event = event_of(epsilon, 2);
    struct dpl_exact *exact = count(run, units, twice, 2);
    struct dpl_secret secret;
    struct dpl_noised *noised;
    assert_ok(run, dpl_secret_from_seed(run, key, &secret));
    assert_ok(run, dpl_local_release(run, &secret, &event,
                                     (struct dpl_stream_id){DPL_PURPOSE_COUNTS, 0, 0}, &section, 1,
                                     &exact, &noised));
    assert_null(exact);
    return noised;
}

/* Over many keys the mean is the count and the deviation the declared one. */
static void counts_are_unbiased(void **state) {
    (void)state;
    enum { UNITS = 200, TWICE = 60, KEYS = 3000 };
    struct dpl_run *run = test_run(1);
    const double truth[DOMAIN] = {UNITS, TWICE, 0, 0, 0, 0};
    double sum[DOMAIN] = {0}, squares = 0, deviation = 0;
    for (uint64_t key = 0; key < KEYS; key++) {
        struct dpl_noised *noised = release(run, key, UNITS, TWICE, 1);
        for (size_t i = 0; i < DOMAIN; i++) sum[i] += dpl_noised_value(noised, i);
        squares += pow(dpl_noised_value(noised, 3), 2);
        deviation = dpl_noised_deviation(noised);
        dpl_noised_free(noised);
    }
    assert_near(deviation, dpl_local_deviation(2 * UNITS, 0.5), 1e-9); // half of epsilon a report
    for (size_t i = 0; i < DOMAIN; i++)
        assert_near(sum[i] / KEYS, truth[i], 6 * 1.1 * deviation / sqrt(KEYS));
    assert_near(sqrt(squares / KEYS) / deviation, 1, 0.1);
    dpl_run_free(run);
}

/* One unit alone, its two sums of bits seen many times: with the one report or with the other, no
 * outcome is more than e^epsilon times as likely. */
static void one_unit_is_hidden(void **state) {
    (void)state;
    enum { KEYS = 40000 };
    struct dpl_run *run = test_run(1);
    struct dpl_secret secret;
    struct dpl_random *random;
    const double epsilon = 1;
    uint32_t threshold = dpl_local_threshold(epsilon);
    double seen[2][4] = {{0}};
    assert_ok(run, dpl_secret_from_seed(run, 3, &secret));
    assert_ok(run, dpl_random_new(run, &secret, &random));
    for (uint64_t key = 0; key < KEYS; key++)
        for (int value = 0; value < 2; value++) {
            struct dpl_stream stream;
            bool bit[2];
            dpl_stream_open(&stream, random,
                            (struct dpl_stream_id){DPL_PURPOSE_TEST, key, (uint64_t)value});
            for (int i = 0; i < 2; i++)
                bit[i] = dpl_local_draw(&stream, i == value, 1, threshold, PLACES) > 0;
            assert_ok(run, dpl_stream_close(run, &stream));
            seen[value][bit[0] * 2 + bit[1]]++;
        }
    for (int outcome = 0; outcome < 4; outcome++) {
        double a = seen[0][outcome], b = seen[1][outcome];
        assert_true(a > 1000 && b > 1000);
        assert_true(fabs(log(a / b)) <= epsilon + 6 * sqrt(1 / a + 1 / b));
    }
    assert_near(log(seen[0][2] / seen[1][2]), epsilon, 0.1); // and it is no less than that
    dpl_random_free(random);
    dpl_run_free(run);
}

/* PRIVACY: how many bits are drawn depends on the number of units alone: the stream's noise of a
 * coordinate that nobody reports is the same whatever the others send. */
static void dummies_look_alike(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_noised *none = release(run, 9, 50, 0, 1), *all = release(run, 9, 50, 50, 1);
    for (size_t i = 2; i < DOMAIN; i++)
        assert_near(dpl_noised_value(none, i), dpl_noised_value(all, i), 0);
    assert_true(fabs(dpl_noised_value(none, 1) - dpl_noised_value(all, 1)) > 0);
    dpl_noised_free(none), dpl_noised_free(all);
    dpl_run_free(run);
}

static void refuses_what_was_not_charged(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_secret secret;
    struct dpl_noised *noised;
    const struct dpl_stream_id id = {DPL_PURPOSE_COUNTS, 0, 0};
    const struct dpl_local_section three = {0, DOMAIN, 3}, part = {0, DOMAIN - 1, 2},
                                   good = {0, DOMAIN, 2};
    struct dpl_event event = event_of(1, 2), laplace = event;
    struct dpl_exact *exact = count(run, 3, 1, 2);
    laplace.kind = DPL_EVENT_LAPLACE;
    assert_ok(run, dpl_secret_from_seed(run, 1, &secret));
    assert_int_equal(dpl_local_release(run, &secret, &laplace, id, &good, 1, &exact, &noised),
                     DPL_REFUSED);
    dpl_run_begin(run);
    assert_int_equal(dpl_local_release(run, &secret, &event, id, &three, 1, &exact, &noised),
                     DPL_REFUSED); // more reports than were paid for
    dpl_run_begin(run);
    assert_ok(run, dpl_secret_from_seed(run, 2, &secret));
    assert_int_equal(dpl_local_release(run, &secret, &event, id, &part, 1, &exact, &noised),
                     DPL_REFUSED); // coordinates without a report
    dpl_run_begin(run);
    assert_ok(run, dpl_secret_from_seed(run, 3, &secret));
    assert_ok(run, dpl_local_release(run, &secret, &event, id, &good, 1, &exact, &noised));
    dpl_noised_free(noised);
    exact = count(run, 3, 1, 2);
    assert_int_equal(dpl_local_release(run, &secret, &event, id, &good, 1, &exact, &noised),
                     DPL_REFUSED); // the same noise once more
    dpl_exact_free(exact);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_differ_by_their_epsilon),
        cmocka_unit_test(counts_are_unbiased),
        cmocka_unit_test(one_unit_is_hidden),
        cmocka_unit_test(dummies_look_alike),
        cmocka_unit_test(refuses_what_was_not_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
