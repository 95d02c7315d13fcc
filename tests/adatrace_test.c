/* AdaTrace: what a trip can move; grid, Markov chain, ends, lengths and walk worked by hand on a 2
 * x 2 grid. */
#include "counted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleaned.h"
#include "method/adatrace/measure.h"
#include "noise/lattice_inner.h" // defines: struct dpl_exact

enum { BINS = DPL_ADATRACE_EXTRA + 1, CELL_M = 1000 };

/* ---- king's moves and places ---- */

static void assert_path(size_t side, const int32_t *cell, size_t n, const int32_t *expected,
                        size_t length) {
    int32_t path[64];
    assert_int_equal(dpl_king_path(side, cell, n, path), length);
    assert_memory_equal(path, expected, length * sizeof *expected);
}

static void kings_move_by_hand(void **state) {
    (void)state;
    //  6 7 8
    //  3 4 5
    //  0 1 2
    assert_int_equal(dpl_king_distance(3, 0, 8), 2);
    assert_int_equal(dpl_king_distance(3, 6, 2), 2);
    assert_int_equal(dpl_king_distance(3, 3, 5), 2);
    assert_int_equal(dpl_king_distance(3, 4, 4), 0);
    assert_int_equal(dpl_king_move(3, 0, 8), 4);
    assert_int_equal(dpl_king_move(3, 0, 5), 4);
    assert_int_equal(dpl_king_move(3, 2, 0), 1);
    assert_int_equal(dpl_king_move(3, 7, 7), 7);
    assert_path(3, (int32_t[]){0, 0, 1, 1, 4}, 5, (int32_t[]){0, 1, 4}, 3); // repeats are dropped
    assert_path(3, (int32_t[]){7, 7}, 2, (int32_t[]){7, 7}, 2); // one cell alone is doubled
    assert_path(3, (int32_t[]){0, 8, 8, 6}, 4, (int32_t[]){0, 4, 8, 7, 6},
                5); // moves are put in between
    assert_path(3, (int32_t[]){0, 5, 0}, 3, (int32_t[]){0, 4, 5, 1, 0}, 5);
}

/* Every point of a sub-cell lies in its cell and sub-cell, and the sub-cells share the box out. */
static void places_are_where_they_are_said_to_be(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_area area = dpl_area_defaults();
    uint64_t seed = 3;
    double covered = 0;
    assert_ok(run, dpl_area_preset(run, "sf", &area));
    for (size_t cell = 0; cell < 36; cell++)
        for (size_t split = 1; split <= DPL_ADATRACE_SPLIT; split += 3)
            for (size_t sub = 0; sub < split * split; sub++) {
                struct dpl_place place = dpl_coarse_place(&area, 6, cell, split, sub);
                double lat = place.south + (double)(test_random(&seed) %
                                                    (uint64_t)(place.north - place.south + 1));
                double lng = place.west +
                             (double)(test_random(&seed) % (uint64_t)(place.east - place.west + 1));
                assert_int_equal(dpl_coarse_at(&area, 6, lat * 1e-6, lng * 1e-6), cell);
                assert_int_equal(dpl_coarse_sub_at(&area, 6, split, lat * 1e-6, lng * 1e-6), sub);
                assert_true(place.lat >= place.south && place.lat <= place.north &&
                            place.lng >= place.west && place.lng <= place.east);
                if (split == 4)
                    covered += (place.north - place.south + 1) * 1e-6 *
                               (place.east - place.west + 1) * 1e-6;
            }
    assert_near(covered / ((area.north_deg - area.south_deg) * (area.east_deg - area.west_deg)), 1,
                1e-3);
    dpl_run_free(run);
}

/* ---- counting ---- */

/* A small grid of the simulated city, level 1 of `side` cells. */
struct rig {
    struct dpl_grid grid;
    struct dpl_cleaned *trips;
    int32_t *coarse, *fine;
    struct dpl_adatrace_about about;
};

static void set_up(struct dpl_run *run, struct rig *rig, size_t side) {
    struct dpl_area area = dpl_area_defaults();
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    area.cell_m = CELL_M;
    assert_ok(run, dpl_grid_make(run, &area, &rig->grid));
    assert_ok(run, dpl_cleaned_new(run, &rig->grid, &rig->trips));
    size_t n = (size_t)dpl_grid_cells(&rig->grid);
    rig->coarse = calloc(n, sizeof *rig->coarse), rig->fine = calloc(n, sizeof *rig->fine);
    for (size_t i = 0; i < n; i++) {
        double lat, lon;
        dpl_grid_centre(&rig->grid, (int32_t)i, &lat, &lon);
        rig->coarse[i] = (int32_t)dpl_coarse_at(&area, side, lat, lon);
        rig->fine[i] = rig->coarse[i] * 4 + (int32_t)dpl_coarse_sub_at(&area, side, 2, lat, lon);
    }
    rig->about = (struct dpl_adatrace_about){
        .length_max = 30, .side = side, .coarse = rig->coarse, .fine = rig->fine};
}

static void tear_down(struct rig *rig) {
    dpl_cleaned_free(rig->trips);
    free(rig->coarse), free(rig->fine);
}

static void add(struct dpl_run *run, struct rig *rig, const int32_t *cell, size_t n) {
    assert_ok(run, dpl_cleaned_append(
                       run, rig->trips,
                       &(struct dpl_cleaned_trip){.cell = cell, .n_visits = n, .user = -1}));
}

static struct dpl_exact *count(struct dpl_run *run, struct rig *rig, enum dpl_adatrace_table table,
                               enum dpl_norm norm) {
    struct dpl_exact *exact;
    size_t side = rig->about.side;
    const struct dpl_exact_options shape = {
        dpl_shape_size(dpl_adatrace_table_shape(table, side, side * side * 4)), norm, 1, 16};
    rig->about.table = table;
    assert_ok(run, dpl_exact_new(run, &shape, &exact));
    const struct dpl_part part = {
        .trips = rig->trips,
        .kept = {.n_units = rig->trips->n_trips, .n_trips = rig->trips->n_trips}};
    assert_ok(run, dpl_adatrace_count(run, &rig->about, &part, exact));
    return exact;
}

/* A cell of the grid in the given level-1 cell of a 2 x 2 grid, towards its own corner of the box.
 */
static int32_t corner(const struct rig *rig, int coarse) {
    return (coarse / 2 ? rig->grid.rows - 1 : 0) * rig->grid.columns +
           (coarse % 2 ? rig->grid.columns - 1 : 0);
}

static void assert_table(struct dpl_run *run, struct rig *rig, enum dpl_adatrace_table table,
                         const double *expected) {
    struct dpl_exact *exact = count(run, rig, table, DPL_NORM_L1);
    for (size_t i = 0; i < exact->options.n; i++)
        if (fabs((double)exact->sum[i] / 0x1p16 - expected[i]) > 1e-3)
            fail_msg("%s[%zu] is %g, not %g", dpl_adatrace_table_name(table), i,
                     (double)exact->sum[i] / 0x1p16, expected[i]);
    dpl_exact_free(exact);
}

/* Trips 0 0 1 3 and 2 2 on a 2 x 2 grid. Paths 0 1 3 and 2 2. */
static void tables_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct rig rig;
    set_up(run, &rig, 2);
    add(run, &rig, (int32_t[]){corner(&rig, 0), corner(&rig, 0), corner(&rig, 1), corner(&rig, 3)},
        4);
    add(run, &rig, (int32_t[]){corner(&rig, 2), corner(&rig, 2)}, 2);
    assert_table(run, &rig, DPL_ADATRACE_GRID, (double[]){1 / 3.0, 1 / 3.0, 1, 1 / 3.0});
    // Level 2: corners are sub-cell 0 of cell 0, 1 of 1, 2 of 2, 3 of 3. The first trip has four
    // visits.
    assert_table(run, &rig, DPL_ADATRACE_SUBGRID,
                 (double[16]){[0] = 0.5, [4 + 1] = 0.25, [8 + 2] = 1, [12 + 3] = 0.25});
    assert_table(run, &rig, DPL_ADATRACE_MARKOV,
                 (double[16]){[0 * 4 + 1] = 0.5, [1 * 4 + 3] = 0.5, [2 * 4 + 2] = 1});
    assert_table(run, &rig, DPL_ADATRACE_PAIRS, (double[16]){[0 * 4 + 3] = 1, [2 * 4 + 2] = 1});
    assert_table(
        run, &rig, DPL_ADATRACE_STEPS,
        (double[2 * BINS]){[1] = 1, [BINS + 1] = 1}); // both one step beyond the king's distance
    rig.about.length_max = 3;                         // the first trip is 0 0 1 now
    assert_table(run, &rig, DPL_ADATRACE_PAIRS, (double[16]){[0 * 4 + 1] = 1, [2 * 4 + 2] = 1});
    tear_down(&rig);
    dpl_run_free(run);
}

/* Data sets that differ in one trip: no table moves by more than 1, in either norm. */
static void one_trip_moves_each_table_by_one(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    for (int coarse = 0; coarse < 2; coarse++) {
        struct rig rig;
        struct dpl_adatrace_about about[DPL_ADATRACE_TABLES];
        struct counted_table table[DPL_ADATRACE_TABLES];
        size_t n = 0;
        set_up(run, &rig, coarse ? 2 : DPL_ADATRACE_SIDE);
        for (int t = DPL_ADATRACE_GRID; t < DPL_ADATRACE_TABLES; t++, n++) {
            enum dpl_adatrace_table which = (enum dpl_adatrace_table)t;
            size_t side = rig.about.side;
            about[n] = rig.about;
            about[n].table = which;
            table[n] = (struct counted_table){
                dpl_adatrace_table_name(which),
                dpl_adatrace_count,
                &about[n],
                dpl_shape_size(dpl_adatrace_table_shape(which, side, side * side * 4)),
                1,
                1};
        }
        counted_neighbours(run, CELL_M, table, n, DPL_UNIT_TRIP, test_soak(15));
        tear_down(&rig);
    }
    dpl_run_free(run);
}

/* ---- from tables to chances ---- */

static void estimates_by_hand(void **state) {
    (void)state;
    int32_t split[4];
    float markov[16], pairs[16], subgrid[10];
    // 5 d / (n epsilon): 2.5, 0.05, -1, 50 for n = 100, epsilon = 1
    assert_int_equal(dpl_adatrace_split((double[]){50, 1, -20, 1000}, 4, 100, 1, split),
                     9 + 1 + 1 + 400);
    assert_int_equal(split[0], 3), assert_int_equal(split[1], 1), assert_int_equal(split[2], 1),
        assert_int_equal(split[3], DPL_ADATRACE_SPLIT);
    dpl_adatrace_split((double[]){50, 1, -20, 1000}, 4, 100, INFINITY, split);
    assert_int_equal(split[3], 1);
    dpl_adatrace_subgrid((double[]){1, -5, 3, 0, 7, -1, -1, -1, -1, 2}, (int32_t[]){2, 1, 2, 1}, 4,
                         subgrid);
    static const float SUBGRID[10] = {0.25f, 0,     0.75f, 0,     1,
                                      0.25f, 0.25f, 0.25f, 0.25f, 1}; // nothing: evenly
    for (int i = 0; i < 10; i++) assert_near(subgrid[i], SUBGRID[i], 1e-6);
    // Rows: self is dropped, negatives too; nothing left: a row of zeros.
    dpl_adatrace_markov((double[]){9, 3, 1, -2, 1, 0, 1, 2, -1, -1, 5, -1, 0, 0, 6, 0}, 2, markov);
    static const float MARKOV[16] = {0, 0.75f, 0.25f, 0, 0.25f, 0, 0.25f, 0.5f,
                                     0, 0,     0,     0, 0,     0, 1,     0};
    for (int i = 0; i < 16; i++) assert_near(markov[i], MARKOV[i], 1e-6);
    assert_true(dpl_adatrace_pairs((double[16]){[1] = 2.6, [3] = 0.4, [8] = 1.2, [9] = -3}, 2,
                                   pairs)); // rounded: 3, 0, 1
    assert_near(pairs[1], 0.75, 1e-6);
    assert_near(pairs[8], 0.25, 1e-6);
    assert_near(pairs[3], 0, 0);
    assert_false(dpl_adatrace_pairs((double[16]){[1] = 0.4, [3] = -1}, 2, pairs));
    float far[81]; // 3 x 3: cells that do not touch
    double noised[81];
    for (int i = 0; i < 81; i++) noised[i] = 1;
    dpl_adatrace_markov(noised, 3, far);
    assert_near(far[0 * 9 + 8], 0, 0);
    assert_near(far[0 * 9 + 2], 0, 0);
    assert_near(far[0 * 9 + 4], 1 / 3.0, 1e-6);
    assert_near(far[4 * 9 + 8], 1 / 8.0, 1e-6);
}

static void lengths_by_hand(void **state) {
    (void)state;
    double noised[BINS] = {0};
    float chance[BINS];
    for (int i = 0; i <= 4; i++) noised[i] = 100;
    noised[9] = 5; // below what noise reaches: not the longest
    assert_int_equal(dpl_adatrace_steps(noised, 20, chance), DPL_FAMILY_UNIFORM);
    for (int i = 0; i < BINS; i++) assert_near(chance[i], i <= 4 ? 0.2 : 0, 1e-6);
    for (int i = 0; i < BINS; i++) noised[i] = 1000 * pow(0.5, i);
    assert_int_equal(dpl_adatrace_steps(noised, 0, chance), DPL_FAMILY_GEOMETRIC); // mean 1
    assert_near(chance[0], 0.5, 1e-3);
    assert_near(chance[3], 0.0625, 1e-3);
    for (int i = 0; i < BINS; i++) noised[i] = 1000 * exp(-4 + i * log(4) - lgamma(i + 1));
    assert_int_equal(dpl_adatrace_steps(noised, 0, chance), DPL_FAMILY_POISSON);
    assert_near(chance[4], exp(-4) * 256 / 24, 1e-3);
    for (int i = 0; i < BINS; i++) noised[i] = -1;
    dpl_adatrace_steps(noised, 5, chance); // nothing but noise: straight on
    assert_near(chance[0], 1, 1e-6);
}

/* ---- the walk ---- */

/* From 0 to 3 on a 2 x 2 grid with the chain
 *     0: 1/2 to 1, 1/4 to 2, 1/4 to 3     1: 1/2 to 0, 1/2 to 3     2: all to 3     3: all to 1
 * In three cells: 0 1 3 has 1/2 * 1/2, 0 2 3 has 1/4 * 1, 0 3 3 none. In four: 1, then P^2: from 1
 * to 3 in two: 1/2 * 1/4 = 1/8 (through 0; 3 leads to 1 only); from 2: none; from 3: 1/2 (through
 * 1). So 1/2 * 1/8, 1/4 * 0, 1/4 * 1/2. */
static const float CHAIN[16] = {0, 0.5f, 0.25f, 0.25f, 0.5f, 0, 0, 0.5f, 0, 0, 0, 1, 0, 1, 0, 0};

static void walks_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_adatrace_walker *walker;
    float pairs[16] = {[3] = 1}, steps[2 * BINS] = {[1] = 1, [BINS + 2] = 1},
          subgrid[4] = {1, 1, 1, 1};
    const int32_t split[4] = {1, 1, 1, 1};
    const struct dpl_adatrace_parts parts = {
        .split = split, .subgrid = subgrid, .markov = CHAIN, .pairs = pairs, .steps = steps};
    double weight[9];
    assert_ok(run, dpl_adatrace_walker_new(run, 2, &parts, &walker));
    // Of the nine moves 4 is staying, 5 east, 7 north, 8 north-east.
    assert_true(dpl_adatrace_next(walker, 0, 3, 1, 3, weight));
    assert_near(weight[5], 0.25, 1e-6);
    assert_near(weight[7], 0.25, 1e-6);
    assert_near(weight[8], 0, 1e-6);
    assert_near(weight[4], 0, 0);
    assert_near(weight[0] + weight[1] + weight[2] + weight[3] + weight[6], 0, 0);
    assert_true(dpl_adatrace_next(walker, 0, 3, 1, 4, weight));
    assert_near(weight[5], 0.5 / 8, 1e-6);
    assert_near(weight[7], 0, 1e-6);
    assert_near(weight[8], 0.25 / 2, 1e-6);
    assert_true(dpl_adatrace_next(walker, 1, 3, 2, 3, weight)); // the last cell is the end
    assert_near(weight[7], 0.5, 1e-6);
    assert_false(dpl_adatrace_next(walker, 2, 0, 1, 2,
                                   weight)); // 2 does not lead to 0: a king's move is due
    // Trips from 0 to 3 of four cells (distance 1 and two beyond): 0 1 0 3 or 0 3 1 3, at 1 : 2.
    enum { N = 30000 };
    struct dpl_secret secret;
    struct dpl_random *random;
    double seen[2] = {0};
    assert_ok(run, dpl_secret_from_seed(run, 5, &secret));
    assert_ok(run, dpl_random_new(run, &secret, &random));
    for (uint64_t t = 0; t < N; t++) {
        struct dpl_stream stream;
        uint16_t sub[DPL_ADATRACE_EXTRA + 2];
        dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, t, 0});
        assert_int_equal(dpl_adatrace_draw(walker, &stream, sub), 4);
        assert_ok(run, dpl_stream_close(run, &stream));
        bool east = sub[0] == 0 && sub[1] == 1 && sub[2] == 0 && sub[3] == 3,
             over = sub[0] == 0 && sub[1] == 3 && sub[2] == 1 && sub[3] == 3;
        assert_true(east || over);
        seen[over]++;
    }
    assert_true(test_chi2(seen, (double[]){1 / 3.0, 2 / 3.0}, 2, N) < 4.75);
    dpl_random_free(random);
    dpl_adatrace_walker_free(walker);
    dpl_run_free(run);
}

/* Whatever the tables hold, a walk goes from its start by king's moves to its end; sub-cells are
 * those of its cells. */
static void walks_arrive(void **state) {
    (void)state;
    enum { SIDE = 6, CELLS = SIDE * SIDE };
    struct dpl_run *run = test_run(1);
    struct dpl_secret secret;
    struct dpl_random *random;
    uint64_t seed = 6;
    assert_ok(run, dpl_secret_from_seed(run, 6, &secret));
    assert_ok(run, dpl_random_new(run, &secret, &random));
    for (size_t round = 0; round < test_soak(10); round++) {
        static double noised[CELLS * CELLS];
        static float markov[CELLS * CELLS], pairs[CELLS * CELLS], steps[SIDE * BINS],
            subgrid[CELLS * 4];
        int32_t split[CELLS], cell_of[CELLS * 4];
        size_t n_sub = 0;
        for (size_t i = 0; i < CELLS * CELLS; i++)
            noised[i] =
                test_random(&seed) % (round + 1) ? -1 : test_uniform(&seed); // thinner and thinner
        dpl_adatrace_markov(noised, SIDE, markov);
        for (size_t i = 0; i < CELLS * CELLS; i++) pairs[i] = 1.0f / (CELLS * CELLS);
        for (size_t i = 0; i < SIDE * BINS; i++) steps[i] = 1.0f / BINS;
        for (int32_t c = 0; c < CELLS; c++) {
            split[c] = 1 + (int32_t)(test_random(&seed) % 2);
            for (int32_t s = 0; s < split[c] * split[c]; s++)
                subgrid[n_sub] = 1.0f / (float)(split[c] * split[c]), cell_of[n_sub++] = c;
        }
        const struct dpl_adatrace_parts parts = {
            .split = split, .subgrid = subgrid, .markov = markov, .pairs = pairs, .steps = steps};
        struct dpl_adatrace_walker *walker;
        assert_ok(run, dpl_adatrace_walker_new(run, SIDE, &parts, &walker));
        for (uint64_t t = 0; t < 2000; t++) {
            struct dpl_stream stream;
            uint16_t sub[DPL_ADATRACE_EXTRA + SIDE];
            dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, t, round});
            size_t n = dpl_adatrace_draw(walker, &stream, sub), pair;
            assert_ok(run, dpl_stream_close(run, &stream));
            dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, t, round});
            pair = (size_t)(dpl_stream_uniform(&stream) * CELLS *
                            CELLS); // the first draw, as all pairs are alike
            assert_ok(run, dpl_stream_close(run, &stream));
            assert_true(n >= 2 && n <= DPL_ADATRACE_EXTRA + SIDE);
            for (size_t i = 0; i < n; i++)
                assert_true(sub[i] < n_sub &&
                            (i == 0 || dpl_king_distance(SIDE, (size_t)cell_of[sub[i - 1]],
                                                         (size_t)cell_of[sub[i]]) <= 1));
            size_t first = (size_t)cell_of[sub[0]], last = (size_t)cell_of[sub[n - 1]];
            if (first * CELLS + last != pair)
                assert_true(first * CELLS + last == pair + 1 ||
                            first * CELLS + last + 1 == pair); // rounding at a border
        }
        dpl_adatrace_walker_free(walker);
    }
    dpl_random_free(random);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kings_move_by_hand),
        cmocka_unit_test(places_are_where_they_are_said_to_be),
        cmocka_unit_test(tables_by_hand),
        cmocka_unit_test(one_trip_moves_each_table_by_one),
        cmocka_unit_test(estimates_by_hand),
        cmocka_unit_test(lengths_by_hand),
        cmocka_unit_test(walks_by_hand),
        cmocka_unit_test(walks_arrive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
