/* LDPTrace: paths as reports, what one trip sends, estimates and walks by hand. */
#include "counted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/ldptrace/measure.h"

enum { CELL_M = 1000, SIDE = 3, CELLS = SIDE * SIDE, ROUTES = CELLS * (DPL_LDPTRACE_WAYS + 2) };

struct rig {
    struct counted counted;
    int32_t *coarse, any[CELLS]; /* any: a cell of the grid in each coarse one */
    struct dpl_ldptrace_about about;
};

static void set_up(struct dpl_run *run, size_t longest, struct rig *rig) {
    counted_open(run, CELL_M, &rig->counted);
    const struct dpl_grid *grid = &rig->counted.grid;
    rig->coarse = calloc((size_t)dpl_grid_cells(grid), sizeof *rig->coarse);
    for (int32_t i = 0; i < dpl_grid_cells(grid); i++) {
        double lat, lon;
        dpl_grid_centre(grid, i, &lat, &lon);
        rig->coarse[i] = (int32_t)dpl_coarse_at(&grid->area, SIDE, lat, lon);
        rig->any[rig->coarse[i]] = i;
    }
    rig->about = (struct dpl_ldptrace_about){SIDE, rig->coarse, longest};
}

static void tear_down(struct rig *rig) {
    free(rig->coarse);
    counted_close(&rig->counted);
}

static void ways_lead_there_and_back(void **state) {
    (void)state;
    for (size_t cell = 0; cell < CELLS; cell++)
        for (size_t way = 0; way < DPL_LDPTRACE_WAYS; way++) {
            size_t to = dpl_ldptrace_to(SIDE, cell, way);
            if (to == SIZE_MAX) continue;
            assert_int_equal(dpl_king_distance(SIDE, cell, to), 1);
            assert_int_equal(dpl_ldptrace_way(SIDE, cell, to), way);
            assert_int_equal(dpl_ldptrace_to(SIDE, to, DPL_LDPTRACE_WAYS - 1 - way), cell);
        }
    assert_int_equal(dpl_ldptrace_to(SIDE, 0, 0), SIZE_MAX);
}

static void assert_counts(struct dpl_run *run, struct rig *rig, dpl_counting *counting, size_t n,
                          double reports, const double *expected) {
    const struct counted_table table = {"reports", counting, &rig->about, n, reports, reports};
    struct dpl_exact *exact = counted_count(run, &rig->counted, &table, DPL_NORM_L1, DPL_UNIT_TRIP);
    for (size_t i = 0; i < n; i++) assert_near(counted_value(exact, i), expected[i], 1e-9);
    dpl_exact_free(exact);
}

/* 0 0 2 2: the path is 0 1 2. Then one in a single cell. With L = 2 the first ends in 1. */
static void reports_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct rig rig;
    set_up(run, 4, &rig);
    const int32_t far[] = {rig.any[0], rig.any[0], rig.any[2], rig.any[2]},
                  still[] = {rig.any[4], rig.any[4]};
    counted_add(run, &rig.counted, far, 4, -1);
    counted_add(run, &rig.counted, still, 2, -1);
    double lengths[CELLS] = {1, 0, 1}, routes[ROUTES] = {[0] = 1, [4] = 1};
    routes[CELLS + 0 * DPL_LDPTRACE_WAYS + 4] = 1; // east
    routes[CELLS + 1 * DPL_LDPTRACE_WAYS + 4] = 1;
    routes[CELLS * 9 + 2] = routes[CELLS * 9 + 4] = 1;
    assert_counts(run, &rig, dpl_ldptrace_count_lengths, CELLS, 1, lengths);
    assert_counts(run, &rig, dpl_ldptrace_count_routes, ROUTES, 5, routes);
    rig.about.longest = 2;
    routes[CELLS + 1 * DPL_LDPTRACE_WAYS + 4] = 0;
    routes[CELLS * 9 + 2] = 0, routes[CELLS * 9 + 1] = 1;
    assert_counts(run, &rig, dpl_ldptrace_count_routes, ROUTES, 3, routes);
    tear_down(&rig);
    dpl_run_free(run);
}

/* PRIVACY: no trip, however long, reports more than its one length and L + 1 others: nothing is
 * ever scaled down, since a report that counts for a part is none. */
static void no_trip_reports_more(void **state) {
    (void)state;
    enum { LONGEST = 4 };
    struct dpl_run *run = test_run(1);
    struct rig rig;
    uint64_t seed = 2;
    static int32_t cell[COUNTED_LONGEST];
    for (size_t round = 0; round < test_soak(60); round++) {
        set_up(run, LONGEST, &rig);
        size_t n = counted_hostile(&rig.counted.grid, (int)(round % 4), &seed, cell);
        counted_add(run, &rig.counted, cell, n, -1);
        const struct counted_table tables[] = {
            {"lengths", dpl_ldptrace_count_lengths, &rig.about, CELLS, 1, 1},
            {"routes", dpl_ldptrace_count_routes, &rig.about, ROUTES, LONGEST + 1, LONGEST + 1}};
        for (int t = 0; t < 2; t++) {
            struct dpl_exact *exact =
                counted_count(run, &rig.counted, &tables[t], DPL_NORM_L1, DPL_UNIT_TRIP);
            double sum = 0, starts = 0;
            for (size_t i = 0; i < tables[t].n; i++) {
                double value = counted_value(exact, i);
                assert_near(value, rint(value), 0);
                sum += value, starts += i < CELLS ? value : 0;
            }
            assert_true(sum <= tables[t].l1 && starts <= 1 && sum > 0);
            dpl_exact_free(exact);
        }
        tear_down(&rig);
    }
    dpl_run_free(run);
}

static void estimates_by_hand(void **state) {
    (void)state;
    double lengths[] = {50, -20, 30, 10, 8, -3, 2};
    assert_int_equal(dpl_ldptrace_longest(lengths, 7), 4); // 90 of 100
    assert_near(lengths[1], 0, 0);
    assert_int_equal(dpl_ldptrace_longest((double[]){5, 0, 0}, 3), 2);
    assert_int_equal(dpl_ldptrace_longest((double[]){-1, -1, -1}, 3), 2); // nothing: all are alike
    float chance[3];
    assert_true(dpl_ldptrace_chances((double[]){3, -2, 1}, 3, chance));
    assert_near(chance[0], 0.75, 1e-6);
    assert_near(chance[1], 0, 0);
    assert_false(dpl_ldptrace_chances((double[]){-3, -2, 0}, 3, chance));
    double routes[ROUTES] = {0};
    float moves[CELLS * 9];
    routes[CELLS + 0] = 100;   // from the corner out of the box: there is no such move
    routes[CELLS + 4] = 6;     // east
    routes[CELLS * 9 + 0] = 2; // ends there
    dpl_ldptrace_moves(routes, SIDE, moves);
    assert_near(moves[0], 0, 0);
    assert_near(moves[4], 0.75, 1e-6);
    assert_near(moves[8], 0.25, 1e-6);
}

/* From cell 0 east always, or the end: after one cell it weighs .3, after two .5. */
static void walks_by_hand(void **state) {
    (void)state;
    enum { N = 30000 };
    struct dpl_run *run = test_run(1);
    struct dpl_secret secret;
    struct dpl_random *random;
    float lengths[3] = {0, 0, 1}, starts[CELLS] = {1}, moves[CELLS * 9] = {0};
    for (size_t c = 0; c < 2; c++) moves[c * 9 + 4] = moves[c * 9 + 8] = 0.5f;
    const struct dpl_ldptrace_parts parts = {SIDE, 3, lengths, starts, moves};
    double seen[3] = {0};
    assert_ok(run, dpl_secret_from_seed(run, 5, &secret));
    assert_ok(run, dpl_random_new(run, &secret, &random));
    for (uint64_t t = 0; t < N; t++) {
        struct dpl_stream stream;
        int32_t cell[4];
        dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, t, 0});
        size_t n = dpl_ldptrace_draw(&parts, &stream, cell);
        assert_ok(run, dpl_stream_close(run, &stream));
        assert_true(cell[0] == 0 && (n == 2 || n == 3));
        seen[n == 3 ? 2 : cell[1]]++; // 0: stayed
    }
    double first = 0.3 / 1.3, second = 0.5 / 1.5;
    assert_true(test_chi2(seen, (double[]){first, (1 - first) * second, (1 - first) * (1 - second)},
                          3, N) < 4.75);
    dpl_random_free(random);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_lead_there_and_back),
        cmocka_unit_test(reports_by_hand),
        cmocka_unit_test(no_trip_reports_more),
        cmocka_unit_test(estimates_by_hand),
        cmocka_unit_test(walks_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
