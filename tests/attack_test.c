/* Attacks: exact limits, attackers against copies and strangers, and the split of units. */
#include <math.h>
#include <string.h>

#include "base/cleaned.h"
#include "evaluate/chain.h"
#include "evaluate/limits.h"
#include "support.h"

/* ---- limits, beside scipy.stats ---- */

static void limits_equal_scipy(void **state) {
    (void)state;
    assert_near(dpl_share_lower(3, 10, 0.025), 0.06673951117773447, 1e-12);
    assert_near(dpl_share_upper(3, 10, 0.025), 0.6524528500599973, 1e-12);
    assert_near(dpl_share_lower(150, 5000, 0.0005), 0.02267091099157787, 1e-12);
    assert_near(dpl_share_upper(50, 5000, 0.0005), 0.01551962470409227, 1e-12);
    assert_near(dpl_binomial_cdf(37, 100, 0.4), 0.3068097622709849, 1e-12);
    assert_near(dpl_share_upper(0, 500, 0.001), 1 - pow(0.001, 1 / 500.0), 1e-12);
    assert_near(dpl_share_lower(0, 500, 0.001), 0, 0);
    assert_near(dpl_share_upper(500, 500, 0.001), 1, 0);
}

/* ---- a town of random walks ---- */

static struct dpl_cleaned *town(struct dpl_run *run, size_t n, uint64_t seed, int32_t users) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    struct dpl_cleaned *trips = NULL;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    assert_ok(run, dpl_cleaned_new(run, &grid, &trips));
    for (size_t i = 0; i < n; i++) {
        int32_t cell[8];
        struct dpl_position at[8];
        int64_t x = (int64_t)(test_random(&seed) % 12), y = (int64_t)(test_random(&seed) % 12);
        for (size_t v = 0; v < 8; v++) {
            cell[v] = (int32_t)(y * grid.columns + x);
            at[v] = (struct dpl_position){(float)(500 * ((double)x + test_uniform(&seed))),
                                          (float)(500 * ((double)y + test_uniform(&seed)))};
            x = (x + (int64_t)(test_random(&seed) % 3) + 11) % 12;
            y = (y + (int64_t)(test_random(&seed) % 3) + 11) % 12;
        }
        struct dpl_cleaned_trip trip = {.cell = cell, .n_visits = 8, .position = at};
        trip.user = users ? (int32_t)(i % (size_t)users) : -1;
        trip.period = (uint8_t)(test_random(&seed) % 24);
        assert_ok(run, dpl_cleaned_append(run, trips, &trip));
    }
    return trips;
}

static const struct dpl_attack *find(const struct dpl_attack_report *r, const char *name) {
    for (size_t i = 0; i < r->n; i++)
        if (!strcmp(r->attack[i].name, name)) return &r->attack[i];
    fail_msg("no attack %s", name);
    return NULL;
}

struct bench {
    struct dpl_run *run;
    struct dpl_cleaned *members, *others, *strangers;
    struct dpl_attack_report report;
};

static void bench_open(struct bench *b, int32_t users) {
    *b = (struct bench){.run = test_run(2)};
    b->members = town(b->run, 4000, 1, users);
    b->others = town(b->run, 8000, 2, users);
    b->strangers = town(b->run, 4000, 3, 0);
}

static void attack(struct bench *b, const struct dpl_cleaned *synthetic, double epsilon,
                   enum dpl_unit unit) {
    struct dpl_attack_options options = dpl_attack_defaults();
    struct dpl_attack_input input = {.members = b->members,
                                     .others = b->others,
                                     .synthetic = synthetic,
                                     .control = b->strangers};
    options.epsilon = epsilon;
    options.unit = unit;
    assert_ok(b->run, dpl_attack(b->run, &input, &options, &b->report));
}

static void bench_close(struct bench *b) {
    dpl_cleaned_free(b->members);
    dpl_cleaned_free(b->others);
    dpl_cleaned_free(b->strangers);
    dpl_run_free(b->run);
}

/* ---- tests ---- */

static void strangers_stay_below_the_bound_and_copies_do_not(void **state) {
    (void)state;
    struct bench b;
    bench_open(&b, 0);
    attack(&b, b.strangers, 1, DPL_UNIT_TRIP);
    assert_int_equal(b.report.n, 3);
    assert_false(b.report.exceeds);
    const struct dpl_attack *density = find(&b.report, "density_ratio");
    assert_near(density->auc, 0.5, 0.03);
    assert_near(density->bound[0], exp(1) * 0.01 + 1e-8, 1e-12);
    assert_near(density->bound[1], exp(1) * 0.001 + 1e-8, 1e-12);
    assert_true(density->tpr[0] < 0.03);
    assert_true(density->control_auc > 0.99); // the copying control, beside it
    assert_near(density->control_inf_auc, 0.5, 0.03);
    assert_true(find(&b.report, "linkage")->control_auc > 0.99);
    assert_true(find(&b.report, "linkage")->sanity_only);
    attack(&b, b.members, 1, DPL_UNIT_TRIP);
    assert_true(b.report.exceeds);
    assert_true(find(&b.report, "density_ratio")->exceeds);
    assert_true(find(&b.report, "density_ratio")->tpr[1] > 0.9);
    attack(&b, b.members, 12, DPL_UNIT_TRIP); // a promise of e^12 allows everything
    assert_false(b.report.exceeds);
    bench_close(&b);
}

static void users_are_attacked_as_wholes(void **state) {
    (void)state;
    struct bench b;
    bench_open(&b, 400);
    attack(&b, b.members, 1, DPL_UNIT_USER);
    const struct dpl_attack *knock = find(&b.report, "knock_knock");
    assert_int_equal(knock->members, 400);
    assert_true(knock->others > 150 && knock->others < 250); // half of them are the reference
    assert_true(knock->auc > 0.8); // 80 visits among 32,000 in 3,456 places and hours
    assert_true(find(&b.report, "density_ratio")->auc > 0.99);
    assert_true(isnan(knock->tpr[1])); // 0.1 % of 100 users cannot be told
    attack(&b, b.strangers, 1, DPL_UNIT_USER);
    assert_near(find(&b.report, "knock_knock")->auc, 0.5, 0.1);
    struct dpl_attack_options options = dpl_attack_defaults();
    struct dpl_attack_input input = {
        .members = b.strangers, .others = b.others, .synthetic = b.members};
    options.unit = DPL_UNIT_USER;
    assert_int_equal(dpl_attack(b.run, &input, &options, &b.report), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(b.run), "names no users"));
    bench_close(&b);
}

/* Scores of noise: at 1 % the rule may fire once in a thousand tries. Two hundred tries: never. */
static void noise_is_not_a_defect(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    for (uint64_t seed = 100; seed < 100 + test_soak(12); seed++) {
        struct dpl_cleaned *a = town(run, 300, 3 * seed, 0), *b = town(run, 300, 3 * seed + 1, 0),
                           *s = town(run, 300, 3 * seed + 2, 0);
        struct dpl_attack_input input = {.members = a, .others = b, .synthetic = s};
        struct dpl_attack_options options = dpl_attack_defaults();
        struct dpl_attack_report report;
        options.epsilon = 0; // the hardest promise
        options.seed = seed;
        assert_ok(run, dpl_attack(run, &input, &options, &report));
        assert_false(report.exceeds);
        dpl_cleaned_free(a);
        dpl_cleaned_free(b);
        dpl_cleaned_free(s);
    }
    dpl_run_free(run);
}

/* By hand: one trip a b. Level 0 has 3 of 3 visits + cells + 1; levels above shrink with weight 1.
 */
static void chain_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *trips = town(run, 0, 1, 0);
    struct dpl_chain chain = {.n_cells = 4};
    assert_ok(
        run, dpl_cleaned_append(
                 run, trips, &(struct dpl_cleaned_trip){.cell = (int32_t[]){0, 1}, .n_visits = 2}));
    assert_ok(
        run, dpl_cleaned_append(
                 run, trips, &(struct dpl_cleaned_trip){.cell = (int32_t[]){0, 2}, .n_visits = 2}));
    assert_ok(run, dpl_chain_add(run, &chain, trips, 0));
    // p0(a) = p0(b) = p0(end) = 2/8, p0(c) = 1/8; p1 = (1 + p0)/2, p2 = (1 + p1)/2 where seen.
    double seen = (1 + (1 + 0.25) / 2) / 2, unseen = (0.125 / 2) / 2;
    double after_c = 0.25; // nothing is known of what follows c: p0 of the end
    assert_near(dpl_chain_log(&chain, trips, 0), log((1 + seen * seen * seen) / 2), 1e-12);
    assert_near(dpl_chain_log(&chain, trips, 1), log(seen * unseen * after_c / 2), 1e-12);
    dpl_chain_free(&chain);
    dpl_cleaned_free(trips);
    dpl_run_free(run);
}

static void too_few_are_refused(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *few = town(run, 10, 1, 0), *many = town(run, 100, 2, 0);
    struct dpl_attack_input input = {.members = many, .others = few, .synthetic = many};
    struct dpl_attack_options options = dpl_attack_defaults();
    struct dpl_attack_report report;
    assert_int_equal(dpl_attack(run, &input, &options, &report), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "10 non-members are too few"));
    options.epsilon = -1;
    input.others = many;
    assert_int_equal(dpl_attack(run, &input, &options, &report), DPL_USAGE);
    dpl_cleaned_free(few);
    dpl_cleaned_free(many);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_equal_scipy),
        cmocka_unit_test(strangers_stay_below_the_bound_and_copies_do_not),
        cmocka_unit_test(users_are_attacked_as_wholes),
        cmocka_unit_test(noise_is_not_a_defect),
        cmocka_unit_test(chain_by_hand),
        cmocka_unit_test(too_few_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
