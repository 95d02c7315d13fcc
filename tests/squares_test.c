/* The tree of squares: places that tile the grid whatever the noise, visits out of noisy counts at
 * several levels, and counts by squares that one trip cannot move further than their clip. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/bridge/constants.h"
#include "method/bridge/measure.h"
#include "noise/lattice_inner.h" // defines: struct dpl_exact

static struct dpl_grid grid_of(int32_t rows, int32_t columns, double cell_m) {
    return (struct dpl_grid){.area = {.cell_m = cell_m, .speed_limit_kmh = 150, .slot_s = 60},
                             .rows = rows,
                             .columns = columns};
}

static double normal(uint64_t *seed) {
    return sqrt(-2 * log(1 - test_uniform(seed))) * cos(2 * acos(-1) * test_uniform(seed));
}

/* Noisy counts at all levels of what cells hold. Caller frees with free_counts. */
static void make_counts(const struct dpl_grid *grid, const double *truth, const double *sigma,
                        uint64_t *seed, struct dpl_table *counted) {
    for (size_t level = 0; level < DPL_SQUARE_LEVELS; level++) {
        int32_t side = dpl_square_side(level), across = (grid->columns + side - 1) / side;
        counted[level] =
            (struct dpl_table){.n = dpl_squares_count(grid, side), .sigma = sigma[level]};
        counted[level].value = calloc(counted[level].n, sizeof(double));
        for (int32_t i = 0; i < grid->rows * grid->columns; i++)
            counted[level].value[i / grid->columns / side * across + i % grid->columns / side] +=
                truth[i];
        for (size_t i = 0; i < counted[level].n; i++)
            counted[level].value[i] += sigma[level] * normal(seed);
    }
}

static void free_counts(struct dpl_table *counted) {
    for (size_t level = 0; level < DPL_SQUARE_LEVELS; level++) free(counted[level].value);
}

/* ---- places ---- */

static void assert_tiles(const struct dpl_grid *grid, const struct dpl_squares *squares,
                         double step_m) {
    size_t n = (size_t)(grid->rows * grid->columns), covered = 0;
    int *times = calloc(n, sizeof *times);
    for (size_t k = 0; k < squares->n; k++) {
        int32_t side = squares->side[k], row = squares->cell[k] / grid->columns,
                column = squares->cell[k] % grid->columns;
        assert_true(side > 0 && (side & (side - 1)) == 0);
        assert_true(row % side == 0 && column % side == 0);
        assert_true(side == 1 || side * grid->area.cell_m <= step_m);
        assert_true(k == 0 || squares->cell[k] > squares->cell[k - 1]);
        for (int32_t y = row; y < row + side && y < grid->rows; y++)
            for (int32_t x = column; x < column + side && x < grid->columns; x++) {
                assert_int_equal(squares->of[y * grid->columns + x], (int)k);
                times[y * grid->columns + x]++, covered++;
            }
    }
    assert_int_equal(covered, n);
    for (size_t i = 0; i < n; i++) assert_int_equal(times[i], 1);
    free(times);
}

/* Random grids and noise, from none to such that nothing is seen; hostile counts, too. */
static void places_tile_the_grid_for_every_noise(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    uint64_t seed = 11;
    for (size_t round = 0; round < test_soak(60); round++) {
        static const double CELL_M[] = {100, 250, 500, 1500, 4000};
        struct dpl_grid grid = grid_of(1 + (int32_t)(test_random(&seed) % 50),
                                       1 + (int32_t)(test_random(&seed) % 50), CELL_M[round % 5]);
        size_t n = dpl_squares_count(&grid, 1);
        double sigma = round % 4 ? pow(10, (double)(round % 7) - 2) : 0, step_m = 2475,
               level_sigma[] = {sigma, 3 * sigma, 5 * sigma};
        double *truth = calloc(n, sizeof *truth), *visits = calloc(n, sizeof *visits);
        struct dpl_table counted[DPL_SQUARE_LEVELS];
        struct dpl_squares squares;
        for (size_t i = 0; i < n; i++)
            truth[i] = test_random(&seed) % 3 ? 0 : 1000 * pow(test_uniform(&seed), 4);
        make_counts(&grid, truth, level_sigma, &seed, counted);
        if (round % 9 == 8) // as bad as noise can be: all negative, one beyond everything
            for (size_t i = 0; i < n; i++) counted[0].value[i] = i == n / 2 ? 1e12 : -1e6;
        assert_ok(run, dpl_squares_estimate(run, &grid, counted, NULL, visits));
        for (size_t i = 0; i < n; i++) assert_true(isfinite(visits[i]) && visits[i] >= 0);
        assert_ok(run, dpl_squares_choose(run, &grid, visits, sigma, step_m, &squares));
        assert_tiles(&grid, &squares, step_m);
        assert_true((double)squares.n <= PLACES_MOST);
        dpl_squares_free(&squares);
        free_counts(counted), free(truth), free(visits);
    }
    dpl_run_free(run);
}

/* More cells with visits than there may be places: squares stay wider, and still tile. */
/* Whatever is left out, every cell belongs to a place, and those of a place's square to itself. */
static void assert_belong(const struct dpl_grid *grid, const struct dpl_squares *squares) {
    size_t n = dpl_squares_count(grid, 1);
    for (size_t i = 0; i < n; i++)
        assert_true(squares->of[i] >= 0 && (size_t)squares->of[i] < squares->n);
    for (size_t k = 0; k < squares->n; k++) {
        int32_t first = squares->cell[k], side = squares->side[k];
        assert_true(k == 0 || squares->cell[k - 1] < first);
        for (int32_t i = 0; i < side * side; i++) {
            int32_t row = first / grid->columns + i / side,
                    column = first % grid->columns + i % side;
            if (row < grid->rows && column < grid->columns)
                assert_int_equal(squares->of[row * grid->columns + column], k);
        }
    }
}

/* Steps from cell to cell, up, down, left or right, from one to the nearest of a square's. */
static int32_t steps_to(const struct dpl_grid *grid, int32_t cell,
                        const struct dpl_squares *squares, size_t k) {
    int32_t side = squares->side[k], first = squares->cell[k],
            row = cell / grid->columns - first / grid->columns,
            column = cell % grid->columns - first % grid->columns;
    return (row < 0      ? -row
            : row < side ? 0
                         : row - side + 1) +
           (column < 0      ? -column
            : column < side ? 0
                            : column - side + 1);
}

static void assert_nearest(const struct dpl_grid *grid, const struct dpl_squares *squares) {
    for (size_t i = 0; i < dpl_squares_count(grid, 1); i++) {
        int32_t own = steps_to(grid, (int32_t)i, squares, (size_t)squares->of[i]);
        for (size_t k = 0; k < squares->n; k++)
            assert_true(own <= steps_to(grid, (int32_t)i, squares, k));
    }
}

/* The fewest visits of a square that is left, and the most of one that is not: by its cells, which
 * lie outside of the square that they belong to. Only where every square was one cell. */
static void assert_fullest_left(const struct dpl_grid *grid, const struct dpl_squares *squares,
                                const double *visits) {
    double fewest = INFINITY, most = 0;
    for (size_t i = 0; i < dpl_squares_count(grid, 1); i++) {
        if (squares->cell[squares->of[i]] == (int32_t)i)
            fewest = fmin(fewest, visits[i]);
        else
            most = fmax(most, visits[i]);
    }
    assert_true(most <= fewest);
}

/* Where cells are as wide as a step, so that no two can be one place. */
static void the_emptiest_squares_are_left_out(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    uint64_t seed = 3;
    for (size_t round = 0; round < test_soak(30); round++) {
        int32_t side = round % 5 ? 40 : 100;
        struct dpl_grid grid = grid_of(side, side, 500);
        size_t n = dpl_squares_count(&grid, 1), most = round % 3 ? n / 4 : 2 * n;
        double *visits = calloc(n, sizeof *visits);
        struct dpl_squares squares;
        for (size_t i = 0; i < n; i++) visits[i] = exp(20 * test_uniform(&seed));
        assert_ok(run, dpl_squares_choose(run, &grid, visits, 0, round % 2 ? 600 : 2475, &squares));
        size_t before = squares.n;
        assert_ok(run, dpl_squares_drop(run, &grid, visits, most, &squares));
        assert_belong(&grid, &squares);
        assert_true(squares.n == (before < most ? before : most));
        if (round % 5) assert_nearest(&grid, &squares);
        if (round % 2 && before == n) assert_fullest_left(&grid, &squares, visits);
        dpl_squares_free(&squares), free(visits);
    }
    dpl_run_free(run);
}

static void there_are_never_too_many_places(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = grid_of(150, 130, 100);
    size_t n = dpl_squares_count(&grid, 1);
    double *visits = calloc(n, sizeof *visits);
    uint64_t seed = 4;
    struct dpl_squares squares;
    for (size_t i = 0; i < n; i++) visits[i] = 1e6 * test_uniform(&seed);
    assert_ok(run, dpl_squares_choose(run, &grid, visits, 0, 2475, &squares));
    assert_tiles(&grid, &squares, 2475);
    assert_true((double)squares.n <= PLACES_MOST);
    dpl_squares_free(&squares);
    free(visits);
    dpl_run_free(run);
}

/* Where people are places are cells; where nobody is they are wide; the sixteenths of a wide one
 * follow the cells in it. */
static void places_follow_the_visits(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = grid_of(16, 16, 500);
    static double visits[256], within[256 * DPL_FINE];
    struct dpl_squares squares;
    for (int i = 0; i < 256; i++) visits[i] = i / 16 < 8 && i % 16 < 8 ? 1000 : 0.01;
    visits[8 * 16 + 8] = 300, visits[9 * 16 + 9] = 100; // one place of 2 x 2 cells
    assert_ok(run, dpl_squares_choose(run, &grid, visits, 110, 2475, &squares));
    memset(within, 0, sizeof within);
    dpl_squares_within(&grid, &squares, visits, within);
    for (int i = 0; i < 256; i++) {
        int32_t k = squares.of[i];
        bool busy = i / 16 < 8 && i % 16 < 8, corner = i / 16 >= 12 && i % 16 >= 12;
        if (busy) assert_int_equal(squares.side[k], 1);
        if (corner) assert_int_equal(squares.side[k], 4);
    }
    int32_t merged = squares.of[8 * 16 + 8];
    assert_int_equal(squares.side[merged], 2);
    const double *share = within + merged * DPL_FINE;
    assert_near(share[0] + share[1] + share[4] + share[5], 0.75, 1e-3);     // south-west
    assert_near(share[10] + share[11] + share[14] + share[15], 0.25, 1e-3); // north-east
    assert_near(within[squares.of[0] * DPL_FINE + 7], 1.0 / DPL_FINE, 1e-12);
    dpl_squares_free(&squares);
    dpl_run_free(run);
}

/* ---- visits ---- */

/* A city in one corner, a far village, and nobody elsewhere. */
static void make_truth(const struct dpl_grid *grid, double *truth) {
    for (int32_t i = 0; i < grid->rows * grid->columns; i++) {
        double row = i / grid->columns, column = i % grid->columns;
        truth[i] = row < 12 && column < 12 ? 900 * exp(-hypot(row - 6, column - 6) / 3) : 0;
        if (hypot(row - 26, column - 24) < 1.5) truth[i] = 500;
    }
}

/* The sum over squares of all sides of how far the estimate is off, times the side: about what an
 * earth mover must do. */
static double off(const struct dpl_grid *grid, const double *truth, const double *got) {
    double sum = 0;
    for (int32_t side = 1; side <= 32; side *= 2)
        for (int32_t row = 0; row < grid->rows; row += side)
            for (int32_t column = 0; column < grid->columns; column += side) {
                double by = 0;
                for (int32_t y = row; y < row + side && y < grid->rows; y++)
                    for (int32_t x = column; x < column + side && x < grid->columns; x++)
                        by += got[y * grid->columns + x] - truth[y * grid->columns + x];
                sum += fabs(by) * side;
            }
    return sum;
}

/* As if half of every trip were clipped there. */
static void halve_wider(struct dpl_table *counted) {
    for (int level = 1; level < 3; level++) {
        counted[level].sigma /= 2;
        for (size_t i = 0; i < counted[level].n; i++) counted[level].value[i] /= 2;
    }
}

/* With the wider squares the estimate is far better than without, and than the noisy counts without
 * what is below zero; nearly nobody is put where nobody is, and the village is there. */
static void visits_come_out_of_the_noise(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = grid_of(32, 30, 500);
    static double truth[960], got[960], half[960], alone[960], plain[960];
    const double sigma[] = {110, 280, 550}, one_level[] = {110, 1e9, 1e9};
    double all = 0, with = 0, halved = 0, without = 0, clipped = 0, empty = 0, village = 0;
    uint64_t seed = 3;
    make_truth(&grid, truth);
    for (int i = 0; i < 960; i++) all += truth[i];
    for (int round = 0; round < 5; round++) {
        struct dpl_table counted[DPL_SQUARE_LEVELS];
        make_counts(&grid, truth, sigma, &seed, counted);
        assert_ok(run, dpl_squares_estimate(run, &grid, counted, NULL, got));
        halve_wider(counted);
        assert_ok(run, dpl_squares_estimate(run, &grid, counted, NULL, half));
        halved += off(&grid, truth, half);
        for (int level = 1; level < 3; level++) counted[level].sigma = one_level[level];
        assert_ok(run, dpl_squares_estimate(run, &grid, counted, NULL, alone));
        for (int i = 0; i < 960; i++) plain[i] = fmax(counted[0].value[i], 0);
        with += off(&grid, truth, got), without += off(&grid, truth, alone);
        clipped += off(&grid, truth, plain);
        for (int i = 0; i < 960; i++) {
            if (truth[i] == 0) empty += got[i] / all / 5;
            if (i / 30 >= 24 && i % 30 >= 22) village += got[i] / 5;
        }
        free_counts(counted);
    }
    print_message(
        "off by %g with wider squares, %g halved, %g without, %g as counted; %g where nobody is, "
        "%g in the village\n",
        with, halved, without, clipped, empty, village);
    assert_true(with < 0.7 * without);
    assert_true(halved < 0.75 * without);
    assert_true(with < 0.1 * clipped);
    assert_true(empty < 0.13);
    assert_true(village > 2500 && village < 6500);
    dpl_run_free(run);
}

/* Wider squares that hold less because long trips were clipped there are scaled, and those that
 * hold something else count less. */
static void clipped_levels_do_not_mislead(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = grid_of(32, 30, 500);
    static double truth[960], got[960];
    const double sigma[] = {30, 40, 60};
    uint64_t seed = 8;
    struct dpl_table counted[DPL_SQUARE_LEVELS];
    double all = 0, sum = 0;
    make_truth(&grid, truth);
    for (int i = 0; i < 960; i++) all += truth[i];
    make_counts(&grid, truth, sigma, &seed, counted);
    for (int level = 1; level < 3; level++)
        for (size_t i = 0; i < counted[level].n; i++)
            counted[level].value[i] *= i % 2 ? 0.4 : 0.6; // half, more or less
    assert_ok(run, dpl_squares_estimate(run, &grid, counted, NULL, got));
    for (int i = 0; i < 960; i++) sum += got[i];
    print_message("%g visits of %g, off by %g\n", sum, all, off(&grid, truth, got) / all);
    assert_near(sum / all, 1, 0.04);
    assert_true(off(&grid, truth, got) < 2.2 * all);
    free_counts(counted);
    dpl_run_free(run);
}

/* Half of the counts are empty: those within their noise become next to nothing, the others stay.
 */
static void empty_counts_become_nothing(void **state) {
    (void)state;
    enum { N = 400 };
    double truth[N], noisy[N], variance[N], got[N], empty = 0, full = 0, clear[3], exact[3];
    uint64_t seed = 6;
    for (int i = 0; i < N; i++) {
        truth[i] = i % 2 ? 0 : 200 + 600 * test_uniform(&seed);
        noisy[i] = truth[i] + 100 * normal(&seed), variance[i] = 1e4, got[i] = 250;
    }
    dpl_shrink_sparse(noisy, variance, got, N);
    for (int i = 0; i < N; i++) {
        assert_true(got[i] > 0);
        *(i % 2 ? &empty : &full) += fabs(got[i] - truth[i]) / (N / 2);
    }
    print_message("empty ones are off by %g, the others by %g\n", empty, full);
    assert_true(empty < 20 && full < 95);
    for (int i = 0; i < 3; i++) clear[i] = 1000 * (i + 1), variance[i] = 1e-6, exact[i] = 2000;
    dpl_shrink_sparse(clear, variance, exact, 3);
    for (int i = 0; i < 3; i++) assert_near(exact[i], clear[i], 0.01);
}

/* ---- counting ---- */

/* Trips of a thousand visits that stand, leap between two corners, or go everywhere. */
static void one_trip_moves_no_level_beyond_its_clip(void **state) {
    (void)state;
    enum { VISITS = 1000 };
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = grid_of(40, 30, 500);
    static int32_t cell[VISITS];
    uint64_t seed = 2;
    for (int kind = 0; kind < 3; kind++) {
        for (int v = 0; v < VISITS; v++)
            cell[v] = kind == 0   ? 77
                      : kind == 1 ? v % 2 * 1199
                                  : (int32_t)(test_random(&seed) % 1200);
        size_t start[2] = {0, VISITS};
        const struct dpl_cleaned trips = {
            .grid = grid, .n_trips = 1, .n_visits = VISITS, .start = start, .cell = cell};
        const struct dpl_part part = {.trips = &trips, .kept = {.n_units = 1, .n_trips = 1}};
        for (size_t level = 0; level < DPL_SQUARE_LEVELS; level++) {
            const struct dpl_bridge_spec *spec = &dpl_bridge_specs[DPL_BRIDGE_SQUARES + level];
            const struct dpl_cut cut = {
                .weight = dpl_visit_weight, .full_visits = 20, .side = dpl_square_side(level)};
            size_t n = dpl_squares_count(&grid, cut.side);
            struct dpl_exact *exact;
            double sum = 0;
            assert_ok(
                run, dpl_exact_new(run, &(struct dpl_exact_options){n, DPL_NORM_L2, spec->clip, 16},
                                   &exact));
            assert_ok(run, spec->count(run, &cut, &part, exact));
            for (size_t i = 0; i < n; i++) sum += (double)exact->sum[i] * (double)exact->sum[i];
            assert_true(sqrt(sum) / 0x1p16 <= spec->clip * (1 + 1e-12));
            int32_t across = (grid.columns + cut.side - 1) / cut.side,
                    square = 77 / 30 / cut.side * across + 77 % 30 / cut.side;
            if (kind == 0) assert_near((double)exact->sum[square] / 0x1p16, spec->clip, 0.01);
            dpl_exact_free(exact);
        }
    }
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_tile_the_grid_for_every_noise),
        cmocka_unit_test(the_emptiest_squares_are_left_out),
        cmocka_unit_test(there_are_never_too_many_places),
        cmocka_unit_test(places_follow_the_visits),
        cmocka_unit_test(visits_come_out_of_the_noise),
        cmocka_unit_test(clipped_levels_do_not_mislead),
        cmocka_unit_test(empty_counts_become_nothing),
        cmocka_unit_test(one_trip_moves_no_level_beyond_its_clip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
