/* The plan: what follows from the options, what noise it finds, what it spends and in which order.
 */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ledger/ledger.h"
#include "ledger/plan.h"

enum { ASKED = 4 };

static const struct dpl_identity DATA_SET = {.rows = 9};

static const struct dpl_mechanism ASK[ASKED] = {
    {.name = "length",
     .kind = DPL_EVENT_GAUSSIAN,
     .share = 0.05,
     .clip = 1,
     .growth = DPL_GROWTH_ROOT},
    {.name = "topk",
     .kind = DPL_EVENT_GAUSSIAN,
     .share = 0.05,
     .clip_from = "length_max",
     .growth = DPL_GROWTH_LINEAR},
    {.name = "ti", .kind = DPL_EVENT_POISSON, .share = 0.3, .clip = 1, .batch = 200, .epochs = 15},
    {.name = "tpg",
     .kind = DPL_EVENT_POISSON,
     .share = 0.6,
     .clip = 3,
     .batch = 4096,
     .steps = 800},
};

static char note[1024];
static void remember_note(void *user, const char *sentence) {
    (void)user;
    snprintf(note, sizeof note, "%s", sentence);
}

static struct dpl_run *noting_run(void) {
    struct dpl_run_options options = dpl_run_defaults();
    options.threads = 1;
    options.on_note = remember_note;
    note[0] = '\0';
    struct dpl_run *run = dpl_run_new(&options);
    assert_non_null(run);
    return run;
}

static struct dpl_size *declared(struct dpl_run *run, int64_t units) {
    struct dpl_size *size;
    assert_ok(run, dpl_size_declare(run, units, &size));
    return size;
}

static struct dpl_plan *make(struct dpl_run *run, const struct dpl_budget *budget, int64_t units,
                             const struct dpl_mechanism *ask, size_t n) {
    struct dpl_plan *plan;
    struct dpl_size *size = declared(run, units);
    assert_ok(run, dpl_plan_make(run, budget, size, ask, n, &plan));
    dpl_size_free(size);
    return plan;
}

static bool near(double a, double b, double relative) { return fabs(a - b) <= relative * fabs(b); }

static void events_follow_from_the_options(void **state) {
    (void)state;
    struct dpl_run *run = noting_run();
    struct dpl_budget budget = dpl_budget_defaults();
    budget.unit = DPL_UNIT_USER;
    budget.trips_max = 16;
    struct dpl_plan *plan = make(run, &budget, 450000, ASK, ASKED);
    assert_int_equal(dpl_plan_events(plan), ASKED);
    const struct dpl_event *length = dpl_plan_event(plan, 0), *topk = dpl_plan_event(plan, 1),
                           *ti = dpl_plan_event(plan, 2), *tpg = dpl_plan_event(plan, 3);
    assert_true(near(length->sensitivity, 4, 1e-15)); // sqrt(16) trips
    assert_true(near(topk->sensitivity + 1, 1, 0));   // open until length_max is released
    assert_true(near(ti->rate, 200.0 / 450000, 1e-15));
    assert_int_equal(ti->steps, 33750); // and not one more by rounding
    assert_true(near(tpg->sensitivity, 3, 0));
    assert_int_equal(tpg->steps, 800);
    struct dpl_event settled;
    assert_ok(run, dpl_plan_reserve(run, plan, 1, 37, 99, NULL, &settled));
    assert_true(near(settled.sensitivity, 16 * 37, 0));
    assert_true(near(settled.sigma, topk->sigma, 0));
    assert_int_equal(dpl_plan_reserve(run, plan, 1, 0, 0, NULL, &settled),
                     DPL_BAD_DATA); // never without a sensitivity
    dpl_plan_free(plan);
    // A batch larger than the data: every unit in every step, an epoch is a step.
    plan = make(run, &budget, 150, ASK, ASKED);
    assert_true(near(dpl_plan_event(plan, 2)->rate, 1, 0));
    assert_int_equal(dpl_plan_event(plan, 2)->steps, 15);
    dpl_plan_free(plan);
    dpl_run_free(run);
}

/* Where the budget leaves open how many trips a user counts as, what grows with them is open, and
 * its noise over the sensitivity is not. */
static void a_bound_that_is_chosen_settles_sensitivities(void **state) {
    (void)state;
    struct dpl_run *run = noting_run();
    struct dpl_budget budget = dpl_budget_defaults();
    struct dpl_event event, other;
    budget.unit = DPL_UNIT_USER;
    budget.trips_max = 0;
    struct dpl_plan *plan = make(run, &budget, 450000, ASK, ASKED);
    assert_true(near(dpl_plan_event(plan, 0)->sensitivity + 1, 1, 0));
    assert_true(near(dpl_plan_event(plan, 3)->sensitivity, 3, 0)); // does not grow
    assert_int_equal(dpl_plan_reserve(run, plan, 0, 0, 0, NULL, &event), DPL_BAD_DATA);
    assert_int_equal(dpl_plan_reserve(run, plan, 1, 37, 0, NULL, &event), DPL_BAD_DATA);
    for (int64_t m = 1; m <= 64; m *= 2) {
        assert_ok(run, dpl_plan_reserve(run, plan, 0, 0, m, NULL, &event));
        assert_true(near(event.sensitivity, sqrt((double)m), 1e-15));
        assert_true(near(event.sigma, dpl_plan_event(plan, 0)->sigma, 0));
        assert_ok(run, dpl_plan_reserve(run, plan, 1, 37, m, NULL, &event));
        assert_true(near(event.sensitivity, 37 * (double)m, 1e-15));
        assert_ok(run, dpl_plan_reserve(run, plan, 3, 0, m, NULL, &event));
        assert_true(near(event.sensitivity, 3, 0));
    }
    budget.trips_max = 16;
    struct dpl_plan *fixed = make(run, &budget, 450000, ASK, ASKED);
    assert_ok(run, dpl_plan_reserve(run, fixed, 0, 0, 1, NULL, &event)); // what is fixed stays
    assert_true(near(event.sensitivity, 4, 1e-15));
    assert_ok(run, dpl_plan_reserve(run, plan, 0, 0, 16, NULL, &other));
    assert_true(near(event.sigma, other.sigma, 0)); // the same multiplier, whatever m will be
    dpl_plan_free(fixed);
    dpl_plan_free(plan);
    dpl_run_free(run);
}

static void noise_meets_the_target_and_the_shares(void **state) {
    (void)state;
    struct dpl_run *run = noting_run();
    struct dpl_budget budget = dpl_budget_defaults();
    for (int round = 0; round < 3; round++) {
        budget.epsilon = (double[]){0.5, 1, 5}[round];
        struct dpl_plan *plan = make(run, &budget, 200000, ASK, ASKED);
        struct dpl_bound bound;
        assert_ok(run, dpl_account(run, dpl_plan_event(plan, 0), ASKED, budget.delta, &bound));
        assert_true(bound.epsilon <= budget.epsilon && bound.epsilon > 0.99 * budget.epsilon);
        assert_true(near(dpl_plan_bound(plan)->epsilon, bound.epsilon, 1e-12));
        assert_true(near(dpl_plan_epsilon(plan), budget.epsilon, 0));
        assert_true(near(dpl_plan_epsilon_size(plan) + 1, 1, 0)); // declared
        double unit = dpl_event_weight(dpl_plan_event(plan, 0)) / ASK[0].share;
        for (size_t i = 1; i < ASKED; i++)
            assert_true(near(dpl_event_weight(dpl_plan_event(plan, i)), unit * ASK[i].share, 1e-6));
        dpl_plan_free(plan);
    }
    dpl_run_free(run);
}

/* The paper's Porto setting: PRIVACY.md has 1.131 for what it claims to be 1. */
static void given_sigmas_have_the_epsilon_that_results(void **state) {
    (void)state;
    struct dpl_run *run = noting_run();
    struct dpl_budget budget = dpl_budget_defaults();
    budget.delta = 1.0 / 450000;
    struct dpl_mechanism ask[] = {
        {.name = "topk",
         .kind = DPL_EVENT_GAUSSIAN,
         .sigma = 3.8,
         .clip_from = "length_max",
         .growth = DPL_GROWTH_LINEAR},
        {.name = "ti",
         .kind = DPL_EVENT_POISSON,
         .sigma = 1.5,
         .clip = 1,
         .batch = 200,
         .epochs = 15},
        {.name = "tpg",
         .kind = DPL_EVENT_POISSON,
         .sigma = 1.6,
         .clip = 3,
         .batch = 200,
         .epochs = 15},
    };
    struct dpl_plan *plan = make(run, &budget, 450000, ask, 3);
    assert_true(near(dpl_plan_epsilon(plan), 1.131, 0.005));
    assert_true(dpl_plan_given(plan));
    assert_non_null(strstr(note, "delta")); // 1/N is above 1/(100 N)
    dpl_plan_free(plan);
    struct dpl_size *size = declared(run, 450000);
    ask[1].sigma = 0;
    assert_int_equal(dpl_plan_make(run, &budget, size, ask, 3, &plan), DPL_USAGE);
    dpl_size_free(size);
    dpl_run_free(run);
}

/* PRIVACY: one table without noise, and the noise of the others promises nothing, be it solved for
 * or given. */
static void a_bare_table_makes_any_plan_infinite(void **state) {
    (void)state;
    struct dpl_run *run = noting_run();
    for (int given = 0; given < 2; given++) {
        struct dpl_budget budget = dpl_budget_defaults();
        budget.delta = 1e-8;
        struct dpl_mechanism ask[] = {
            {.name = "bare", .kind = DPL_EVENT_GAUSSIAN, .clip = 1, .bare = true},
            {.name = "noised", .kind = DPL_EVENT_GAUSSIAN, .clip = 1, .share = 1},
        };
        if (given) ask[0].sigma = ask[1].sigma = 5, ask[1].share = 0;
        assert_true(dpl_mechanisms_bare(ask, 2) && !dpl_mechanisms_bare(ask + 1, 1));
        struct dpl_plan *plan = make(run, &budget, 1000, ask, 2);
        assert_true(isinf(dpl_plan_epsilon(plan)));
        dpl_plan_free(plan);
    }
    dpl_run_free(run);
}

static void a_large_delta_is_noted_and_a_small_one_not(void **state) {
    (void)state;
    struct dpl_run *run = noting_run();
    struct dpl_budget budget = dpl_budget_defaults();
    dpl_plan_free(make(run, &budget, 1000000, ASK, 1)); // 1e-8 is 1/(100 N)
    assert_string_equal(note, "");
    dpl_plan_free(make(run, &budget, 1100000, ASK, 1));
    assert_non_null(strstr(note, "`budget.delta`"));
    dpl_run_free(run);
}

static void the_measured_size_is_noised_and_charged(void **state) {
    (void)state;
    struct dpl_run *run = noting_run();
    struct dpl_budget budget = dpl_budget_defaults();
    enum { N = 5000, ROUNDS = 300 };
    double sum = 0, squares = 0;
    size_t exact = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct dpl_secret secret;
        struct dpl_size *size;
        assert_ok(run, dpl_secret_from_seed(run, (uint64_t)i, &secret));
        budget.insecure_seed = true;
        assert_ok(run, dpl_size_measure(run, &budget, N, &secret, NULL, &size));
        double error = (double)(dpl_size_units(size) - N);
        sum += error;
        squares += error * error;
        exact += dpl_size_units(size) == N;
        dpl_size_free(size);
        dpl_secret_wipe(&secret);
    }
    // Laplace of scale 50: variance 5000, kurtosis 6, so the mean square has deviation
    // 5000*sqrt(5/300); 5 of them.
    assert_true(fabs(sum / ROUNDS) < 5 * sqrt(5000.0 / ROUNDS));
    assert_true(fabs(squares / ROUNDS - 5000) < 5 * 5000 * sqrt(5.0 / ROUNDS));
    assert_true(exact < ROUNDS / 10); // one in a hundred by chance
    dpl_run_free(run);
}

static void a_measured_size_leaves_the_rest_to_the_plan(void **state) {
    (void)state;
    struct dpl_run *run = noting_run();
    struct dpl_budget budget = dpl_budget_defaults();
    struct dpl_secret secret;
    struct dpl_size *size;
    struct dpl_plan *plan;
    assert_ok(run, dpl_secret_new(run, &secret));
    assert_ok(run, dpl_size_measure(run, &budget, 200000, &secret, NULL, &size));
    assert_ok(run, dpl_plan_make(run, &budget, size, ASK, ASKED, &plan));
    assert_true(near(dpl_plan_epsilon_size(plan), 0.02, 1e-15));
    assert_true(1 / dpl_plan_size_event(plan)->sigma <= 0.02);
    assert_true(dpl_plan_bound(plan)->epsilon <= 0.98 && dpl_plan_bound(plan)->epsilon > 0.97);
    assert_true(near(dpl_plan_epsilon(plan), 1, 0));
    assert_int_equal(dpl_plan_units(plan), dpl_size_units(size));
    // The same size under another budget would be a size that costs more than it says.
    budget.epsilon = 0.01;
    struct dpl_plan *other;
    assert_int_equal(dpl_plan_make(run, &budget, size, ASK, ASKED, &other), DPL_USAGE);
    dpl_plan_free(plan);
    dpl_size_free(size);
    budget.insecure_seed = true; // the secret is not
    assert_int_equal(dpl_size_measure(run, &budget, 10, &secret, NULL, &size), DPL_REFUSED);
    dpl_secret_wipe(&secret);
    dpl_run_free(run);
}

static void the_ledger_is_asked_before_the_size_is_measured(void **state) {
    (void)state;
    struct dpl_run *run = noting_run();
    char *directory = test_directory();
    const char *path = test_path(directory, "l");
    struct dpl_budget budget = dpl_budget_defaults();
    struct dpl_ledger_options options = dpl_ledger_defaults();
    struct dpl_ledger *ledger;
    struct dpl_secret secret;
    struct dpl_size *size = NULL;
    struct dpl_plan *plan;
    struct dpl_event event;
    options.total_epsilon = 1.5;
    assert_ok(run, dpl_secret_new(run, &secret));
    assert_ok(run, dpl_ledger_open(run, path, &DATA_SET, &options, &ledger));
    assert_ok(run, dpl_size_measure(run, &budget, 200000, &secret, ledger, &size));
    assert_true(near(dpl_ledger_totals(ledger).epsilon, 0.02, 1e-12));
    assert_ok(run, dpl_plan_make(run, &budget, size, ASK, ASKED, &plan));
    assert_int_equal(dpl_plan_reserve(run, plan, 0, 0, 0, ledger, &event),
                     DPL_REFUSED); // not charged
    dpl_run_begin(run);
    assert_ok(run, dpl_plan_charge(run, plan, ledger));
    for (size_t i = 0; i < ASKED; i++)
        assert_ok(run, dpl_plan_reserve(run, plan, i, 40, 0, ledger, &event));
    struct dpl_ledger_totals totals = dpl_ledger_totals(ledger);
    assert_true(near(totals.epsilon, 1, 1e-12));
    assert_true(near(totals.delta, 1e-8, 1e-12));
    assert_int_equal(totals.releases, 1);
    assert_int_equal(totals.mechanisms, ASKED + 1);
    dpl_ledger_close(ledger);
    dpl_size_free(size);
    size = NULL;
    // A second release of epsilon 1 does not fit; its cheap size is not measured either.
    assert_ok(run, dpl_ledger_open(run, path, &DATA_SET, &options, &ledger));
    assert_int_equal(dpl_size_measure(run, &budget, 200000, &secret, ledger, &size), DPL_REFUSED);
    assert_null(size);
    assert_int_equal(dpl_ledger_totals(ledger).mechanisms, ASKED + 1);
    dpl_ledger_close(ledger);
    dpl_plan_free(plan);
    dpl_secret_wipe(&secret);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* Whatever fails, and wherever: once the noise of the size was drawn, the ledger has its line. */
static void the_size_is_reserved_before_its_noise(void **state) {
    (void)state;
    struct dpl_run *run = noting_run();
    char *directory = test_directory();
    const char *path = test_path(directory, "l");
    struct dpl_budget budget = dpl_budget_defaults();
    struct dpl_ledger_options options = dpl_ledger_defaults();
    bool done = false, failed_after_noise = false;
    for (long n = 1; !done; n++) {
        struct dpl_ledger *ledger;
        struct dpl_secret secret;
        struct dpl_size *size = NULL;
        assert_ok(run, dpl_secret_new(run, &secret));
        assert_ok(run, dpl_ledger_open(run, path, &DATA_SET, &options, &ledger));
        size_t before = dpl_ledger_totals(ledger).mechanisms;
        dpl_run_fail_allocation(run, n);
        done = dpl_size_measure(run, &budget, 100, &secret, ledger, &size) == DPL_OK;
        dpl_run_fail_allocation(run, 0);
        bool drawn = secret.released[DPL_PURPOSE_SIZE] != 0,
             reserved = dpl_ledger_totals(ledger).mechanisms > before;
        assert_true(reserved || !drawn);
        failed_after_noise |= drawn && !done;
        dpl_size_free(size);
        dpl_ledger_close(ledger);
        dpl_secret_wipe(&secret);
        assert_true(n < 500);
    }
    assert_true(failed_after_noise); // or the loop above saw nothing
    test_directory_remove(directory);
    dpl_run_free(run);
}

static void without_noise_nothing_is_private(void **state) {
    (void)state;
    struct dpl_run *run = noting_run();
    struct dpl_budget budget = dpl_budget_defaults();
    struct dpl_secret secret;
    struct dpl_size *size;
    struct dpl_plan *plan;
    budget.epsilon = INFINITY;
    assert_ok(run, dpl_secret_new(run, &secret));
    assert_ok(run, dpl_size_measure(run, &budget, 777, &secret, NULL, &size));
    assert_int_equal(dpl_size_units(size), 777);
    assert_ok(run, dpl_plan_make(run, &budget, size, ASK, ASKED, &plan));
    assert_true(isinf(dpl_plan_epsilon(plan)));
    for (size_t i = 0; i < ASKED; i++) assert_true(!(dpl_plan_event(plan, i)->sigma > 0));
    assert_non_null(strstr(note, "NOT PRIVATE"));
    dpl_plan_free(plan);
    dpl_size_free(size);
    dpl_secret_wipe(&secret);
    dpl_run_free(run);
}

static void shares_can_be_overridden_by_name(void **state) {
    (void)state;
    struct dpl_run *run = noting_run();
    struct dpl_mechanism ask[ASKED];
    memcpy(ask, ASK, sizeof ask);
    assert_ok(run, dpl_budget_shares(run, "tpg=0.5,length=2", ask, ASKED));
    assert_true(near(ask[3].share, 0.5, 0) && near(ask[0].share, 2, 0) &&
                near(ask[2].share, 0.3, 0));
    static const char *const BAD[] = {"tp=1",       "tpg",    "tpg=",    "tpg=x",
                                      "tpg=0",      "tpg=-1", "tpg=nan", "tpg=inf",
                                      "tpg=1;ti=2", "=1",     ",",       "tpg=1,ti"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_int_equal(dpl_budget_shares(run, BAD[i], ask, ASKED), DPL_USAGE);
    assert_ok(run, dpl_budget_shares(run, "", ask, ASKED));
    dpl_run_free(run);
}

static void refused(const struct dpl_budget *budget, const struct dpl_mechanism *ask, size_t n) {
    struct dpl_run *run = noting_run();
    struct dpl_size *size = declared(run, 1000);
    struct dpl_plan *plan = NULL;
    enum dpl_status status = dpl_plan_make(run, budget, size, ask, n, &plan);
    if (status != DPL_USAGE && status != DPL_BAD_DATA)
        fail_msg("status %d: %s", (int)status, dpl_run_message(run));
    assert_true(strlen(dpl_run_message(run)) > 10);
    assert_null(plan);
    dpl_size_free(size);
    dpl_run_free(run);
}

static void nonsense_is_refused_with_a_sentence(void **state) {
    (void)state;
    const struct dpl_budget good = dpl_budget_defaults();
    const double bad[] = {0, -1, NAN, -INFINITY};
    for (size_t i = 0; i < 4; i++) {
        struct dpl_budget budget = good;
        budget.epsilon = bad[i];
        refused(&budget, ASK, ASKED);
        budget = good, budget.delta = bad[i];
        refused(&budget, ASK, ASKED);
        budget = good, budget.size_share = bad[i];
        refused(&budget, ASK, ASKED);
        struct dpl_mechanism ask = ASK[2];
        ask.share = bad[i];
        refused(&good, &ask, 1);
        ask = ASK[2], ask.clip = bad[i];
        refused(&good, &ask, 1);
        ask = ASK[2], ask.batch = bad[i];
        refused(&good, &ask, 1);
        ask = ASK[2], ask.epochs = bad[i];
        refused(&good, &ask, 1);
    }
    struct dpl_budget budget = good;
    budget.delta = 1;
    refused(&budget, ASK, ASKED);
    budget = good, budget.size_share = 1;
    refused(&budget, ASK, ASKED);
    budget = good, budget.trips_max = 5; // of a trip
    refused(&budget, ASK, ASKED);
    struct dpl_mechanism ask[2] = {ASK[2], ASK[2]};
    refused(&good, ask, 2); // one name twice
    refused(&good, ask, 0);
    ask[0].epochs = 1e300;
    refused(&good, ask, 1);
    ask[0] = ASK[2], ask[0].steps = 5; // steps and epochs
    refused(&good, ask, 1);
    ask[0] = ASK[2], ask[0].steps = -5;
    refused(&good, ask, 1);
    ask[0] = ASK[2], ask[0].batch = INFINITY;
    refused(&good, ask, 1);
    ask[0] = ASK[0], strcpy(ask[0].name, "size");
    refused(&good, ask, 1);
    strcpy(ask[0].name, "Top K");
    refused(&good, ask, 1);
    struct dpl_run *run = noting_run();
    struct dpl_size *size = NULL;
    assert_int_equal(dpl_size_declare(run, 0, &size), DPL_USAGE);
    assert_int_equal(dpl_size_declare(run, -5, &size), DPL_USAGE);
    assert_int_equal(dpl_size_declare(run, INT64_MAX, &size), DPL_USAGE);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_follow_from_the_options),
        cmocka_unit_test(a_bound_that_is_chosen_settles_sensitivities),
        cmocka_unit_test(noise_meets_the_target_and_the_shares),
        cmocka_unit_test(given_sigmas_have_the_epsilon_that_results),
        cmocka_unit_test(a_bare_table_makes_any_plan_infinite),
        cmocka_unit_test(a_large_delta_is_noted_and_a_small_one_not),
        cmocka_unit_test(the_measured_size_is_noised_and_charged),
        cmocka_unit_test(a_measured_size_leaves_the_rest_to_the_plan),
        cmocka_unit_test(the_ledger_is_asked_before_the_size_is_measured),
        cmocka_unit_test(the_size_is_reserved_before_its_noise),
        cmocka_unit_test(without_noise_nothing_is_private),
        cmocka_unit_test(shares_can_be_overridden_by_name),
        cmocka_unit_test(nonsense_is_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
