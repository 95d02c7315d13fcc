/* Keys that nobody could list: a key of one unit alone is hardly ever shown, others are shown with
 * noise, and delta pays for it. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "noise/threshold.h"

static struct dpl_event event_of(double sigma, double sensitivity, double rate) {
    return (struct dpl_event){.name = "keys",
                              .kind = DPL_EVENT_THRESHOLD,
                              .sigma = sigma,
                              .sensitivity = sensitivity,
                              .rate = rate,
                              .steps = 1};
}

static const struct dpl_stream_id ID = {DPL_PURPOSE_COUNTS, 0, 0};

static struct dpl_unlisted *open_tally(struct dpl_run *run, double sensitivity) {
    struct dpl_unlisted *tally;
    assert_ok(run, dpl_unlisted_new(run, sensitivity, &tally));
    return tally;
}

static struct dpl_keys release(struct dpl_run *run, uint64_t seed, const struct dpl_event *event,
                               struct dpl_unlisted *tally) {
    struct dpl_secret secret;
    struct dpl_keys keys;
    assert_ok(run, dpl_secret_from_seed(run, seed, &secret));
    assert_ok(run, dpl_threshold_release(run, &secret, event, ID, &tally, &keys));
    assert_null(tally);
    return keys;
}

/* PRIVACY: of a million keys that one unit each has, at most one in a thousand is shown, which is
 * what the event pays for; and hardly fewer. */
static void a_key_seen_once_is_hardly_ever_shown(void **state) {
    (void)state;
    enum { KEYS = 1000000 };
    static const double RATE = 1e-3, SIGMAS[] = {0.5, 5, 40};
    struct dpl_run *run = test_run(1);
    for (size_t i = 0; i < 3; i++) {
        const struct dpl_event event = event_of(SIGMAS[i], 1, RATE);
        struct dpl_unlisted *tally = open_tally(run, 1);
        for (size_t k = 0; k < KEYS; k++)
            assert_ok(run, dpl_unlisted_add(run, tally, &(struct dpl_entry){k * 977 + 1, 1}, 1));
        struct dpl_keys keys = release(run, 3 + i, &event, tally);
        double most = KEYS * RATE + 5.5 * sqrt(KEYS * RATE);
        assert_true((double)keys.n <= most && (double)keys.n > 0.8 * KEYS * RATE);
        for (size_t k = 0; k < keys.n; k++)
            assert_true(keys.count[k] > dpl_threshold_of(&event) && keys.key[k] % 977 == 1);
        dpl_keys_free(&keys);
    }
    dpl_run_free(run);
}

/* A user's m keys together: with one key m times, and with m keys once each. */
static void the_keys_of_a_user_are_paid_together(void **state) {
    (void)state;
    enum { USERS = 200000, TRIPS = 4 };
    static const double RATE = 1e-2;
    struct dpl_run *run = test_run(1);
    const struct dpl_event event = event_of(3, 2, RATE); // sqrt(4)
    for (int alone = 0; alone < 2; alone++) {
        struct dpl_unlisted *tally = open_tally(run, 2);
        for (size_t u = 0; u < USERS; u++) {
            struct dpl_entry entry[TRIPS];
            for (size_t i = 0; i < TRIPS; i++)
                entry[i] = (struct dpl_entry){u * TRIPS + (alone ? i : 0), 1};
            assert_ok(run, dpl_unlisted_add(run, tally, entry, TRIPS));
        }
        struct dpl_keys keys = release(run, 8, &event, tally);
        assert_true((double)keys.n <= USERS * RATE + 5.5 * sqrt(USERS * RATE));
        dpl_keys_free(&keys);
    }
    dpl_run_free(run);
}

/* A user whose many keys are light enough for the clip has no more of them than others: each could
 * be shown. */
static void a_user_has_no_more_keys_than_are_paid(void **state) {
    (void)state;
    enum { USERS = 5000, KEYS = 400 };
    static const double RATE = 1e-2;
    struct dpl_run *run = test_run(1);
    const struct dpl_event event = event_of(3, 2, RATE); // four keys
    struct dpl_unlisted *tally = open_tally(run, 2);
    for (size_t u = 0; u < USERS; u++) {
        struct dpl_entry entry[KEYS];
        for (size_t i = 0; i < KEYS; i++) entry[i] = (struct dpl_entry){u * KEYS + i, 0.1};
        assert_ok(run, dpl_unlisted_add(run, tally, entry, KEYS));
    }
    struct dpl_keys keys = release(run, 9, &event, tally);
    assert_true((double)keys.n <= USERS * RATE + 5.5 * sqrt(USERS * RATE));
    for (size_t i = 0; i < keys.n; i++) assert_true(keys.key[i] % KEYS < 4);
    dpl_keys_free(&keys);
    dpl_run_free(run);
}

/* A key of many is shown, with Gaussian noise of the event's deviation; repeated entries of a unit
 * add up to the sensitivity and no further. */
static void common_keys_are_shown_with_noise(void **state) {
    (void)state;
    enum { KEYS = 2000, UNITS = 100 };
    struct dpl_run *run = test_run(1);
    const struct dpl_event event = event_of(4, 1, 1e-6);
    struct dpl_unlisted *tally = open_tally(run, 1);
    double squares = 0;
    for (size_t k = 0; k < KEYS; k++)
        for (size_t u = 0; u < UNITS; u++) {
            const struct dpl_entry entry[] = {{UINT64_MAX - k, 1}, {UINT64_MAX - k, 1}};
            assert_ok(run, dpl_unlisted_add(run, tally, entry, 2));
        }
    struct dpl_keys keys = release(run, 9, &event, tally);
    assert_int_equal(keys.n, KEYS);
    for (size_t k = 0; k < KEYS; k++) {
        if (k > 0) assert_true(keys.key[k] > keys.key[k - 1]);
        squares += pow(keys.count[k] - UNITS, 2);
    }
    assert_near(sqrt(squares / KEYS), 4, 0.4);
    dpl_keys_free(&keys);
    dpl_run_free(run);
}

static void nobody_has_no_keys_and_no_noise_shows_all(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_event event = event_of(4, 1, 1e-6), bare = event_of(0, 1, 1e-6);
    struct dpl_keys keys = release(run, 1, &event, open_tally(run, 1));
    assert_int_equal(keys.n, 0);
    dpl_keys_free(&keys);
    struct dpl_unlisted *tally = open_tally(run, 1);
    assert_ok(run, dpl_unlisted_add(run, tally, &(struct dpl_entry){77, 1}, 1));
    keys = release(run, 1, &bare, tally);
    assert_true(keys.n == 1 && keys.key[0] == 77);
    assert_near(keys.count[0], 1, 1e-4);
    dpl_keys_free(&keys);
    dpl_run_free(run);
}

static void refuses_what_was_not_charged(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_event event = event_of(4, 1, 1e-6);
    struct dpl_unlisted *tally = open_tally(run, 1);
    struct dpl_secret secret;
    struct dpl_keys keys;
    assert_ok(run, dpl_secret_from_seed(run, 1, &secret));
    event.kind = DPL_EVENT_GAUSSIAN;
    assert_int_equal(dpl_threshold_release(run, &secret, &event, ID, &tally, &keys), DPL_REFUSED);
    event = event_of(4, 2, 1e-6), tally = open_tally(run, 1); // another sensitivity
    assert_int_equal(dpl_threshold_release(run, &secret, &event, ID, &tally, &keys), DPL_REFUSED);
    event = event_of(4, 1, 1e-6), tally = open_tally(run, 1);
    assert_ok(run, dpl_threshold_release(run, &secret, &event, ID, &tally, &keys));
    dpl_keys_free(&keys);
    tally = open_tally(run, 1); // the same noise again
    assert_int_equal(dpl_threshold_release(run, &secret, &event, ID, &tally, &keys), DPL_REFUSED);
    dpl_run_free(run);
}

/* The accountant: a Gaussian at what is left of delta, alone and beside others. */
static void delta_pays_for_keys(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_event keys = event_of(4, 1, 4e-7),
                           gaussian = {"counts", DPL_EVENT_GAUSSIAN, 4, 1, 1, 1};
    struct dpl_bound with, without;
    assert_ok(run, dpl_account(run, &keys, 1, 1e-6, &with));
    assert_ok(run, dpl_account(run, &gaussian, 1, 6e-7, &without));
    assert_near(with.epsilon, without.epsilon, 1e-9);
    assert_near(with.delta, 1e-6, 0);
    const struct dpl_event both[] = {gaussian, keys}, two[] = {gaussian, gaussian};
    assert_ok(run, dpl_account(run, both, 2, 1e-6, &with));
    assert_ok(run, dpl_account(run, two, 2, 6e-7, &without));
    assert_near(with.epsilon, without.epsilon, 1e-9);
    assert_ok(run, dpl_account(run, &keys, 1, 4e-7, &with));
    assert_true(isinf(with.epsilon));
    struct dpl_event none = keys;
    none.rate = 0;
    assert_int_equal(dpl_account(run, &none, 1, 1e-6, &with), DPL_USAGE);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_seen_once_is_hardly_ever_shown),
        cmocka_unit_test(the_keys_of_a_user_are_paid_together),
        cmocka_unit_test(a_user_has_no_more_keys_than_are_paid),
        cmocka_unit_test(common_keys_are_shown_with_noise),
        cmocka_unit_test(nobody_has_no_keys_and_no_noise_shows_all),
        cmocka_unit_test(refuses_what_was_not_charged),
        cmocka_unit_test(delta_pays_for_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
