/* What is counted of people: lives looked at by hand, and what one user can move. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleaned.h"
#include "fit/life.h"
#include "fit/people.h"
#include "noise/lattice_inner.h" // defines: struct dpl_exact

enum { HOUR_S = 3600, DAY_S = 86400, TABLES = 3 };
static const int64_t MONDAY_S = 1740960000; // 2025-03-03 00:00 UTC

struct bench {
    struct dpl_run *run;
    struct dpl_grid grid;
    struct dpl_cleaned *trips;
};

static void open_bench(struct bench *b) {
    struct dpl_area area = dpl_area_defaults();
    *b = (struct bench){.run = test_run(1)};
    assert_ok(b->run, dpl_area_preset(b->run, "simulated", &area));
    strcpy(area.zone, "UTC");
    assert_ok(b->run, dpl_grid_make(b->run, &area, &b->grid));
    assert_ok(b->run, dpl_cleaned_new(b->run, &b->grid, &b->trips));
}

static void close_bench(struct bench *b) {
    dpl_cleaned_free(b->trips);
    dpl_run_free(b->run);
}

/* A trip of two visits, in metres, that ends 30 s after its second slot begins. */
static void add(struct bench *b, int32_t user, int64_t utc_s, float from_m, float to_m) {
    const struct dpl_position at[] = {{from_m, 100}, {(from_m + to_m) / 2, 100}};
    int32_t cell[2];
    for (int i = 0; i < 2; i++)
        cell[i] = dpl_grid_cell_of(&b->grid, (double)at[i].x_m, (double)at[i].y_m);
    const struct dpl_cleaned_trip trip = {
        .cell = cell, .n_visits = 2, .utc_s = utc_s, .user = user, .position = at};
    assert_ok(b->run, dpl_cleaned_append(b->run, b->trips, &trip));
    const struct dpl_trip_ends ends = {{utc_s, from_m, 100}, {utc_s + 90, to_m, 100}};
    assert_ok(b->run, dpl_cleaned_append_ends(b->run, b->trips, ends));
}

static void look(struct bench *b, struct dpl_life *life) {
    struct dpl_zone *zone;
    struct dpl_kept kept;
    assert_ok(b->run, dpl_zone_open(b->run, "UTC", &zone));
    assert_ok(b->run, dpl_kept_make(b->run, b->trips, DPL_UNIT_USER, 1, &kept));
    assert_int_equal(kept.n_units, 1);
    assert_int_equal(kept.all_start[1], b->trips->n_trips); // all, though one is kept
    assert_ok(b->run, dpl_life_look(b->run, b->trips, zone, kept.all, kept.all_start[1], life));
    dpl_kept_free(&kept);
    dpl_zone_free(zone);
}

/* Home at 0 m; trips are not in the order of time. The end is the last point's, not the slot's. */
static void a_life_by_hand(void **state) {
    (void)state;
    struct bench b;
    struct dpl_life life;
    open_bench(&b);
    add(&b, 0, MONDAY_S + 17 * HOUR_S, 3000, 250);         // back, 250 m from home
    add(&b, 0, MONDAY_S + 8 * HOUR_S, 0, 3000);            // out
    add(&b, 0, MONDAY_S + DAY_S + 9 * HOUR_S, 0, 900);     // the next day
    add(&b, 0, MONDAY_S + DAY_S + 9 * HOUR_S + 60, 0, 90); // before the last has ended, 900 m off
    add(&b, 0, MONDAY_S + 3 * DAY_S, 5000, 9000);          // elsewhere, days later
    look(&b, &life);
    assert_int_equal(life.n_transitions, 4);
    assert_int_equal(life.n_overlaps, 1);
    assert_int_equal(life.n_days, 3);
    double chains[DPL_GAPS][DPL_REACHES] = {{0}}, days[2][DPL_DAY_BINS] = {{0}};
    chains[3][0] = 1; // 9 hours at work
    chains[4][0] = 1; // 16 hours over night, 250 m off
    chains[0][1] = 1; // the overlap
    chains[5][2] = 1;
    days[1][1] = 2, days[0][0] = 1;
    assert_memory_equal(life.chains, chains, sizeof chains);
    assert_memory_equal(life.days, days, sizeof days);
    close_bench(&b);
}

/* ---- sensitivity ---- */

static struct dpl_exact *count(struct bench *b, size_t table, double sensitivity) {
    static dpl_counting *const COUNT[TABLES] = {dpl_count_user_trips, dpl_count_chains,
                                                dpl_count_days};
    static const size_t SIZE[TABLES] = {DPL_USER_BINS, DPL_GAPS * DPL_REACHES, 2 * DPL_DAY_BINS};
    struct dpl_exact *exact;
    struct dpl_parts parts;
    const struct dpl_exact_options options = {SIZE[table], DPL_NORM_L2, sensitivity, 16};
    assert_ok(b->run, dpl_exact_new(b->run, &options, &exact));
    assert_ok(b->run, dpl_parts_make(b->run, b->trips, DPL_UNIT_USER, 3, 1, &parts));
    assert_ok(b->run, COUNT[table](b->run, NULL, &parts.part[0], exact));
    dpl_parts_free(&parts);
    return exact;
}

/* How far the counts of two data sets are apart, in units of 1. */
static double apart(const struct dpl_exact *a, const struct dpl_exact *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)(a->sum[i] - b->sum[i]) / 0x1p16;
        sum += d * d;
    }
    return sqrt(sum);
}

/* A user of n trips: all alike, at random, one a day, all at once, or to and fro. */
static void add_hostile(struct bench *b, int32_t user, size_t n, int how, uint64_t *seed) {
    for (size_t i = 0; i < n; i++) {
        int64_t second = (int64_t)i;
        float from = 0, to = 0;
        if (how == 1)
            second = (int64_t)(test_random(seed) % (20 * DAY_S)),
            from = (float)(test_random(seed) % 9000), to = (float)(test_random(seed) % 9000);
        if (how == 2) second *= DAY_S;
        if (how == 3) second = 0;
        if (how == 4) second *= 900, from = i % 2 ? 8000 : 0, to = i % 2 ? 0 : 8000;
        add(b, user, MONDAY_S + second, from, to);
    }
}

static void one_user_moves_no_table_by_more_than_one(void **state) {
    (void)state;
    static const size_t TRIPS[] = {1, 2, 3, 21, 400, 1500};
    uint64_t seed = 7;
    for (size_t round = 0; round < test_soak(60); round++) {
        struct bench b;
        size_t n = TRIPS[round % 6],
               sizes[TABLES] = {DPL_USER_BINS, DPL_GAPS * DPL_REACHES, 2 * DPL_DAY_BINS};
        struct dpl_exact *before[TABLES], *after;
        open_bench(&b);
        for (int32_t user = 0; user < 4; user++) add_hostile(&b, user, 5, 1, &seed);
        for (size_t t = 0; t < TABLES; t++) before[t] = count(&b, t, 1);
        add_hostile(&b, 4, n, (int)(round / 6 % 5), &seed);
        for (size_t t = 0; t < TABLES; t++) {
            after = count(&b, t, 1);
            double moved = apart(before[t], after, sizes[t]);
            assert_true(moved <= 1);
            if (t != 1 || n > 1) assert_true(moved > 0.1);
            dpl_exact_free(after);
            after = count(&b, t, 1e6); // no clip: means alone hold it
            assert_true(apart(before[t], after, sizes[t]) <= 1 + 1e-3);
            dpl_exact_free(after), dpl_exact_free(before[t]);
        }
        close_bench(&b);
    }
}

/* A million trips of one user are one entry of the last bin, and means of the others. */
static void a_user_with_a_million_trips(void **state) {
    (void)state;
    struct bench b;
    uint64_t seed = 3;
    open_bench(&b);
    add_hostile(&b, 0, 1000000, 0, &seed);
    for (size_t t = 0; t < TABLES; t++) {
        struct dpl_exact *exact = count(&b, t, 1e6);
        double sum = 0;
        for (size_t i = 0; i < exact->options.n; i++) sum += (double)exact->sum[i] / 0x1p16;
        assert_near(sum, 1, 1e-3);
        if (t == 0) assert_int_equal(exact->sum[DPL_USER_BINS - 1], 1 << 16);
        dpl_exact_free(exact);
    }
    close_bench(&b);
}

static void bins_are_whole(void **state) {
    (void)state;
    for (size_t n = 1; n < 3000; n++) {
        size_t bin = dpl_user_bin(n);
        assert_true(bin < DPL_USER_BINS);
        if (n < 1440) assert_true((double)n <= dpl_user_bin_top(bin));
        if (n > 1 && n < 1440 && bin) assert_true((double)n > dpl_user_bin_top(bin - 1));
    }
    assert_int_equal(dpl_user_bin(1), 0);
    assert_int_equal(dpl_user_bin(13), 12);
    assert_int_equal(dpl_gap_bin(-5), 0);
    assert_int_equal(dpl_gap_bin(899), 0);
    assert_int_equal(dpl_gap_bin(900), 1);
    assert_int_equal(dpl_gap_bin(INT64_MAX), DPL_GAPS - 1);
    assert_int_equal(dpl_day_bin(1), 0);
    assert_int_equal(dpl_day_bin(6), 4);
    assert_int_equal(dpl_day_bin(70), 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_by_hand),
        cmocka_unit_test(one_user_moves_no_table_by_more_than_one),
        cmocka_unit_test(a_user_with_a_million_trips),
        cmocka_unit_test(bins_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
