/* How many trips a user counts as: chosen from a noised table alone, and what follows from it. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/cleaned.h"
#include "fit/count.h"
#include "fit/trips_max.h"
#include "noise/lattice_inner.h" // defines: struct dpl_exact

static struct dpl_crowd crowd_of(size_t trips, double users, double sigma) {
    struct dpl_crowd crowd = {.sigma = sigma};
    crowd.users[dpl_user_bin(trips)] = users;
    return crowd;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

static void crowds_by_hand(void **state) {
    (void)state;
    struct dpl_crowd crowd = crowd_of(4, 100, 1);
    crowd.users[dpl_user_bin(1)] = 50;
    assert_true(near(dpl_crowd_trips(&crowd), 450));
    assert_true(near(dpl_crowd_capped(&crowd, 2), 250));
    assert_true(near(dpl_crowd_counted(&crowd, 1), 250)); // 4 trips of norm 2 in a norm of 1: 2
    assert_true(near(dpl_crowd_counted(&crowd, 4), 450));
    assert_true(near(dpl_crowd_counted(&crowd, 64), 450));
}

static void only_powers_of_two_are_possible(void **state) {
    (void)state;
    for (int64_t m = -2; m < 200; m++) {
        bool power = m == 1 || m == 2 || m == 4 || m == 8 || m == 16 || m == 32 || m == 64;
        assert_int_equal(dpl_trips_possible(m), power);
    }
}

/* Users of few trips are not noised as if they had many, and those of many not cut to few. */
static void the_choice_follows_the_crowd(void **state) {
    (void)state;
    static const size_t TRIPS[] = {1, 2, 5, 13, 40, 150, 600};
    int64_t before = 1;
    for (size_t i = 0; i < sizeof TRIPS / sizeof *TRIPS; i++) {
        struct dpl_crowd crowd = crowd_of(TRIPS[i], 1e6, 50);
        int64_t m = dpl_trips_max_choose(&crowd);
        assert_true(dpl_trips_possible(m));
        assert_true(m >= before && (double)m <= fmax(2 * 2 * (double)TRIPS[i], 1));
        before = m;
    }
    assert_int_equal(before, DPL_TRIPS_CHOSEN_MOST);
    struct dpl_crowd nobody = {.sigma = 50};
    assert_int_equal(dpl_trips_max_choose(&nobody), 1); // the least noise
}

/* The more noise, the fewer trips. */
static void noise_lowers_the_choice(void **state) {
    (void)state;
    int64_t before = DPL_TRIPS_CHOSEN_MOST;
    for (double sigma = 0; sigma < 1e5; sigma = 2 * sigma + 0.1) {
        struct dpl_crowd crowd = crowd_of(2, 50000, sigma);
        crowd.users[dpl_user_bin(60)] = 500;
        int64_t m = dpl_trips_max_choose(&crowd);
        assert_true(m <= before);
        before = m;
    }
    assert_true(before <= 2);
}

/* ---- what a user of any number of trips can move ---- */

static struct dpl_exact *count(struct dpl_run *run, const struct dpl_cleaned *trips,
                               dpl_counting *counting, size_t n, double sensitivity) {
    static const struct dpl_cut CUT = {.length_max = 50};
    struct dpl_exact *exact;
    struct dpl_parts parts;
    const struct dpl_exact_options options = {n, DPL_NORM_L2, sensitivity, DPL_COUNT_PLACES};
    assert_ok(run, dpl_exact_new(run, &options, &exact));
    assert_ok(run, dpl_parts_make(run, trips, DPL_UNIT_USER, 0, 1, &parts));
    assert_ok(run, counting(run, &CUT, &parts.part[0], exact));
    dpl_parts_free(&parts);
    return exact;
}

static void add(struct dpl_run *run, struct dpl_cleaned *trips, int32_t user, size_t n,
                uint64_t *seed) {
    for (size_t i = 0; i < n; i++) {
        int32_t cell[3];
        for (int v = 0; v < 3; v++) cell[v] = (int32_t)(test_random(seed) % 50);
        const struct dpl_cleaned_trip trip = {
            .cell = cell, .n_visits = 3, .utc_s = 1740960000 + (int64_t)i, .user = user};
        assert_ok(run, dpl_cleaned_append(run, trips, &trip));
    }
}

/* PRIVACY: neighbours differ in a user of up to a million trips; all of DPL_TRIPS_KEPT are looked
 * at, and the table moves by no more than m allows. */
static void a_user_moves_a_table_by_what_m_allows(void **state) {
    (void)state;
    static const size_t TRIPS[] = {1, 7, 64, 999, 5000, 1000000};
    static dpl_counting *const COUNT[] = {dpl_count_lengths, dpl_count_trips, dpl_count_visits};
    struct dpl_run *run = test_run(1);
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    uint64_t seed = 3;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    const size_t bins[] = {DPL_LENGTH_BINS, 1, (size_t)dpl_grid_cells(&grid)};
    for (size_t i = 0; i < sizeof TRIPS / sizeof *TRIPS; i++) {
        struct dpl_cleaned *trips;
        struct dpl_exact *before[3][3];
        assert_ok(run, dpl_cleaned_new(run, &grid, &trips));
        add(run, trips, 0, 5, &seed);
        for (int t = 0; t < 3; t++)
            for (int m = 0; m < 3; m++)
                before[t][m] = count(run, trips, COUNT[t], bins[t], sqrt((double)(1 << 3 * m)));
        add(run, trips, 1, TRIPS[i], &seed);
        for (int t = 0; t < 3; t++)
            for (int m = 0; m < 3; m++) {
                const double most = (double)(1 << 3 * m), lattice = 0x1p16;
                struct dpl_exact *after = count(run, trips, COUNT[t], bins[t], sqrt(most));
                double sum = 0;
                for (size_t b = 0; b < bins[t]; b++) {
                    double d = (double)(after->sum[b] - before[t][m]->sum[b]) / lattice;
                    sum += d * d;
                }
                assert_true(sum <= most);
                assert_true(sum >= fmin(most, (double)TRIPS[i]) * 0.999); // and no less is used
                dpl_exact_free(after), dpl_exact_free(before[t][m]);
            }
        dpl_cleaned_free(trips);
    }
    dpl_run_free(run);
}

/* All trips of a user are looked at, up to a public number. */
static void a_user_keeps_many_trips(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    struct dpl_cleaned *trips;
    struct dpl_kept kept;
    uint64_t seed = 5;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    assert_ok(run, dpl_cleaned_new(run, &grid, &trips));
    add(run, trips, 0, 300, &seed), add(run, trips, 1, DPL_TRIPS_KEPT + 300, &seed);
    assert_ok(run, dpl_kept_make(run, trips, DPL_UNIT_USER, 0, &kept));
    assert_int_equal(kept.unit_start[1], 300);
    assert_int_equal(kept.unit_start[2] - 300, DPL_TRIPS_KEPT);
    dpl_kept_free(&kept);
    dpl_cleaned_free(trips);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowds_by_hand),
        cmocka_unit_test(only_powers_of_two_are_possible),
        cmocka_unit_test(the_choice_follows_the_crowd),
        cmocka_unit_test(noise_lowers_the_choice),
        cmocka_unit_test(a_user_moves_a_table_by_what_m_allows),
        cmocka_unit_test(a_user_keeps_many_trips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
