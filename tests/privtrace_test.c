/* PrivTrace: states and ways against brute force, what a unit can move, estimates by hand, the
 * calibration against an exact solver, and walks. */
#include "counted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/privtrace/measure.h"

enum { CELL_M = 1000 };

/* A grid with a level 1 of some side, and random splits. */
struct rig {
    struct counted counted;
    size_t side, rows, columns;
    int32_t *split, *coarse;
    struct dpl_privtrace_states states;
};

static void set_up(struct dpl_run *run, size_t side, uint64_t seed, struct rig *rig) {
    *rig = (struct rig){.side = side};
    counted_open(run, CELL_M, &rig->counted);
    const struct dpl_grid *grid = &rig->counted.grid;
    size_t cells = (size_t)dpl_grid_cells(grid);
    dpl_privtrace_coarse(grid, side, &rig->rows, &rig->columns);
    rig->split = calloc(rig->rows * rig->columns, sizeof *rig->split);
    rig->coarse = calloc(cells, sizeof *rig->coarse);
    for (size_t i = 0; i < rig->rows * rig->columns; i++)
        rig->split[i] = 1 + (int32_t)(test_random(&seed) % 5);
    for (size_t i = 0; i < cells; i++)
        rig->coarse[i] = dpl_privtrace_coarse_at(grid, side, (int32_t)i);
    assert_ok(run, dpl_privtrace_states_make(run, grid, side, rig->split, &rig->states));
}

static void tear_down(struct rig *rig) {
    dpl_privtrace_states_free(&rig->states);
    free(rig->split), free(rig->coarse);
    counted_close(&rig->counted);
}

/* ---- states ---- */

/* States share out the cells, none reaches over a level-1 block, a split block has as many parts
 * as it should, and the neighbours are those that geometry says. */
static void states_share_out_the_grid(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    for (size_t side = 2; side < 14; side += 5) {
        struct rig rig;
        set_up(run, side, side, &rig);
        const struct dpl_grid *grid = &rig.counted.grid;
        const struct dpl_privtrace_states *states = &rig.states;
        size_t cells = 0, *parts = calloc(rig.rows * rig.columns, sizeof *parts);
        double reach_m = grid->area.speed_limit_kmh / 3.6 * grid->area.slot_s;
        for (size_t s = 0; s < states->n; s++) {
            const struct dpl_privtrace_block *block = &states->block[s];
            parts[block->coarse]++;
            for (int32_t r = block->south; r < block->north; r++)
                for (int32_t c = block->west; c < block->east; c++, cells++) {
                    assert_int_equal(states->state_of[r * grid->columns + c], s);
                    assert_int_equal(rig.coarse[r * grid->columns + c], block->coarse);
                }
            for (size_t t = 0; t < states->n; t++) {
                const struct dpl_privtrace_block *other = &states->block[t];
                double y = (block->south + block->north - other->south - other->north) / 2.0,
                       x = (block->west + block->east - other->west - other->east) / 2.0;
                bool apart = block->south > other->north || other->south > block->north ||
                             block->west > other->east || other->west > block->east;
                bool near = s != t && (hypot(x, y) * CELL_M <= reach_m || !apart);
                assert_int_equal(dpl_privtrace_slot(states, s, t) != SIZE_MAX, near);
            }
        }
        assert_int_equal(cells, dpl_grid_cells(grid));
        for (size_t i = 0; i < rig.rows * rig.columns; i++) {
            size_t tall = (size_t)grid->rows / rig.rows, wide = (size_t)grid->columns / rig.columns,
                   split = (size_t)rig.split[i];
            assert_true(parts[i] >= (split < tall ? split : tall) * (split < wide ? split : wide));
            assert_true(parts[i] <= split * split);
        }
        free(parts);
        tear_down(&rig);
    }
    dpl_run_free(run);
}

/* Distances by brute force: all pairs, again and again. */
static void distances_are_shortest(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct rig rig;
    set_up(run, 4, 3, &rig);
    const struct dpl_privtrace_states *states = &rig.states;
    size_t n = states->n;
    int32_t *all = calloc(n * n, sizeof *all), *distance = calloc(n, sizeof *distance),
            *queue = calloc(n, sizeof *queue);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            const struct dpl_privtrace_block *x = &states->block[a], *y = &states->block[b];
            int32_t tall = (x->north < y->north ? x->north : y->north) -
                           (x->south > y->south ? x->south : y->south),
                    wide = (x->east < y->east ? x->east : y->east) -
                           (x->west > y->west ? x->west : y->west);
            all[a * n + b] = a == b ? 0 : tall + wide > 0 && tall >= 0 && wide >= 0 ? 1 : 10000;
        }
    for (size_t k = 0; k < n; k++)
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++)
                if (all[a * n + k] + all[k * n + b] < all[a * n + b])
                    all[a * n + b] = all[a * n + k] + all[k * n + b];
    for (size_t a = 0; a < n; a += 3) {
        dpl_privtrace_distances(states, a, distance, queue);
        for (size_t b = 0; b < n; b++) assert_int_equal(distance[b], all[a * n + b] + 1);
    }
    free(all), free(distance), free(queue);
    tear_down(&rig);
    dpl_run_free(run);
}

/* ---- counting ---- */

enum { N_TABLES = 3 };

static void one_unit_moves_each_table_by_one(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct rig rig;
    set_up(run, 6, 1, &rig);
    int32_t *guide = calloc(rig.states.n, sizeof *guide);
    size_t *at = calloc(rig.states.n + 1, sizeof *at);
    for (size_t s = 0; s < rig.states.n; s++) guide[s] = s % 3 != 0;
    dpl_privtrace_second_layout(&rig.states, guide, at);
    for (int shares = 0; shares < 2; shares++) {
        struct dpl_privtrace_about about[N_TABLES];
        const size_t size[N_TABLES] = {rig.rows * rig.columns,
                                       dpl_privtrace_first_size(&rig.states), at[rig.states.n]};
        static const char *const NAME[N_TABLES] = {"grid", "first", "second"};
        struct counted_table table[N_TABLES];
        for (int t = 0; t < N_TABLES; t++) {
            about[t] = (struct dpl_privtrace_about){
                (enum dpl_privtrace_table)t, 30, shares, rig.coarse, &rig.states, at};
            table[t] =
                (struct counted_table){NAME[t], dpl_privtrace_count, &about[t], size[t], 1, 1};
        }
        counted_neighbours(run, CELL_M, table, N_TABLES, DPL_UNIT_TRIP, test_soak(12));
        counted_neighbours(run, CELL_M, table, N_TABLES, DPL_UNIT_USER, test_soak(8));
    }
    free(guide), free(at);
    tear_down(&rig);
    dpl_run_free(run);
}

/* A trip a a b c in three states; then one that jumps further than anybody can; then one cut at
 * L_max. */
static void tables_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct rig rig;
    set_up(run, 60, 0, &rig); // every cell is a state
    const struct dpl_privtrace_states *states = &rig.states;
    const size_t n = states->n;
    assert_int_equal(n, dpl_grid_cells(&rig.counted.grid));
    int32_t *guide = calloc(n, sizeof *guide);
    size_t *at = calloc(n + 1, sizeof *at);
    guide[0] = guide[1] = 1;
    dpl_privtrace_second_layout(states, guide, at);
    struct dpl_privtrace_about about = {DPL_PRIVTRACE_FIRST, 30, true, rig.coarse, states, at};
    struct counted_table table = {
        "first", dpl_privtrace_count, &about, dpl_privtrace_first_size(states), 1, 1};
    counted_add(run, &rig.counted, (int32_t[]){0, 0, 1, 2}, 4, -1);
    struct dpl_exact *exact = counted_count(run, &rig.counted, &table, DPL_NORM_L1, DPL_UNIT_TRIP);
    assert_near(counted_value(exact, 0), 0.25, 1e-4); // starts in 0
    assert_near(
        counted_value(exact, dpl_privtrace_row(states, 0) + dpl_privtrace_slot(states, 0, 1)), 0.25,
        1e-4);
    assert_near(
        counted_value(exact, dpl_privtrace_row(states, 1) + dpl_privtrace_slot(states, 1, 2)), 0.25,
        1e-4);
    assert_near(
        counted_value(exact, dpl_privtrace_row(states, 2) + dpl_privtrace_neighbours(states, 2)),
        0.25, 1e-4); // ends in 2
    dpl_exact_free(exact);
    about.table = DPL_PRIVTRACE_SECOND, table.n = at[n];
    exact = counted_count(run, &rig.counted, &table, DPL_NORM_L1, DPL_UNIT_TRIP);
    size_t side0 = dpl_privtrace_neighbours(states, 0) + 1,
           side1 = dpl_privtrace_neighbours(states, 1) + 1;
    assert_near(counted_value(exact, (side0 - 1) * side0 + dpl_privtrace_slot(states, 0, 1)),
                1 / 3.0, 1e-4); // begins in 0, goes to 1
    assert_near(counted_value(exact, at[1] + dpl_privtrace_slot(states, 1, 0) * side1 +
                                         dpl_privtrace_slot(states, 1, 2)),
                1 / 3.0, 1e-4);
    double sum = 0;
    for (size_t i = 0; i < table.n; i++) sum += counted_value(exact, i);
    assert_near(sum, 2 / 3.0, 1e-3); // 2 is no guidepost
    dpl_exact_free(exact);
    about.table = DPL_PRIVTRACE_FIRST, table.n = dpl_privtrace_first_size(states);
    about.shares = false; // Gaussian: one over the root
    about.length_max = 3; // 0 0 1
    exact = counted_count(run, &rig.counted, &table, DPL_NORM_L2, DPL_UNIT_TRIP);
    assert_near(
        counted_value(exact, dpl_privtrace_row(states, 1) + dpl_privtrace_neighbours(states, 1)),
        1 / sqrt(3), 1e-4);
    dpl_exact_free(exact);
    counted_add(run, &rig.counted, (int32_t[]){0, (int32_t)n - 1}, 2, -1);
    exact = counted_count(run, &rig.counted, &table, DPL_NORM_L2, DPL_UNIT_TRIP);
    assert_near(counted_value(exact, 0), 2 / sqrt(3), 1e-4); // its start counts, its jump does not
    dpl_exact_free(exact);
    free(guide), free(at);
    tear_down(&rig);
    dpl_run_free(run);
}

/* ---- estimates ---- */

static void grids_by_hand(void **state) {
    (void)state;
    assert_int_equal(dpl_privtrace_side(-5), 2);
    assert_int_equal(dpl_privtrace_side(600 * 49 - 1), 6);
    assert_int_equal(dpl_privtrace_side(600 * 49), 7);
    assert_int_equal(dpl_privtrace_side(1e12), 60);
    int32_t split[4];
    // Of 4000 trips in four blocks: a block is busy above 50.
    dpl_privtrace_split((double[]){3200, 49, 201, 60}, 4, 4000, split);
    assert_int_equal(split[0], 4), assert_int_equal(split[1], 1), assert_int_equal(split[2], 2),
        assert_int_equal(split[3], 1);
}

/* The smallest positive values pay for the negative ones; the sum stays, but never below 0. */
static void negatives_are_paid_by_the_smallest(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    double row[] = {5, -2, 1, 3, -1.5, 0};
    assert_ok(run, dpl_privtrace_settle(run, row, 6));
    const double expected[] = {5, 0, 0, 0.5, 0, 0};
    for (int i = 0; i < 6; i++) assert_near(row[i], expected[i], 1e-12);
    double twice[] = {2, 2, -1}; // of two that are alike, one pays
    assert_ok(run, dpl_privtrace_settle(run, twice, 3));
    assert_near(twice[0], 1, 1e-12);
    assert_near(twice[1], 2, 1e-12);
    double poor[] = {1, -5};
    assert_ok(run, dpl_privtrace_settle(run, poor, 2));
    assert_near(poor[0], 0, 0);
    assert_near(poor[1], 0, 0);
    uint64_t seed = 3;
    for (size_t round = 0; round < test_soak(300); round++) {
        double many[50], sum = 0, after = 0;
        for (int i = 0; i < 50; i++) sum += many[i] = test_gauss(&seed) + 0.3;
        assert_ok(run, dpl_privtrace_settle(run, many, 50));
        for (int i = 0; i < 50; i++) assert_true(many[i] >= 0), after += many[i];
        assert_near(after, fmax(sum, 0), 1e-9);
    }
    dpl_run_free(run);
}

static void guideposts_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct rig rig;
    set_up(run, 60, 0, &rig);
    const struct dpl_privtrace_states *states = &rig.states;
    double *first = calloc(dpl_privtrace_first_size(states), sizeof *first);
    int32_t *guide = calloc(states->n, sizeof *guide);
    size_t entries, middle = states->n / 2;
#define ROW(s) (first + dpl_privtrace_row(states, s))
#define SIDE(s) (dpl_privtrace_neighbours(states, s) + 1)
    for (size_t s = 0; s < states->n; s++) {
        first[s] = 1;
        ROW(s)[0] = 0.6, ROW(s)[1] = 0.4, ROW(s)[SIDE(s) - 1] = 1;
    }
    double busy = (double)SIDE(middle) * 0.5 * 1.01; // just above what noise adds up to
    ROW(middle)[0] = ROW(middle)[1] = busy / 2;
    ROW(middle + 1)[0] = busy * 5 / 6, ROW(middle + 1)[1] = busy / 6; // nearly all to one
    first[3] = (double)states->n;                                     // many begin there
    ROW(5)[SIDE(5) - 1] = (double)states->n;                          // or end there
    ROW(7)[0] = 5 * (double)states->n;                                // very many pass, one way
    assert_ok(run, dpl_privtrace_guideposts(run, states, first, 0.5, SIZE_MAX, guide, &entries));
    size_t expected = 0;
    for (size_t s = 0; s < states->n; s++) {
        bool is = s == middle || s == 3 || s == 5 || s == 7;
        assert_int_equal(guide[s], is);
        expected += is ? SIDE(s) * SIDE(s) : 0;
    }
    assert_int_equal(entries, expected);
    assert_ok(run, dpl_privtrace_guideposts(run, states, first, 0.5, SIDE(7) * SIDE(7), guide,
                                            &entries)); // room for the busiest alone
    assert_true(guide[7] && !guide[middle]);
    assert_true(entries <= SIDE(7) * SIDE(7));
#undef ROW
#undef SIDE
    free(first), free(guide);
    tear_down(&rig);
    dpl_run_free(run);
}

enum { ENDS = 5 };

static double residual(const struct dpl_privtrace_ends *ends, const double *x, double *gradient) {
    double row[ENDS], column[ENDS] = {0}, sum = 0;
    for (size_t i = 0; i < ENDS; i++) {
        row[i] = -ends->start[i];
        for (size_t j = 0; j < ENDS; j++) {
            double weight = (double)ends->w[i * ENDS + j] * x[i * ENDS + j];
            row[i] += weight, column[j] += weight;
        }
        sum += row[i] * row[i];
    }
    for (size_t j = 0; j < ENDS; j++) column[j] -= ends->end[j], sum += column[j] * column[j];
    for (size_t i = 0; gradient && i < ENDS * ENDS; i++)
        gradient[i] = (double)ends->w[i] * (row[i / ENDS] + column[i % ENDS]);
    return sum;
}

/* Projected gradients with many small steps: slow and sure. */
static void solve_exactly(const struct dpl_privtrace_ends *ends, double *x) {
    double gradient[ENDS * ENDS];
    for (int round = 0; round < 200000; round++) {
        residual(ends, x, gradient);
        for (size_t i = 0; i < ENDS * ENDS; i++) x[i] = fmax(0, x[i] - gradient[i] * 0.1);
    }
}

/* Starts and ends that fit no trips at all are met as well as an exact solver meets them; those
 * that fit are met. */
static void the_calibration_is_the_exact_solution(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    uint64_t seed = 12;
    for (size_t round = 0; round < test_soak(6); round++) {
        double start[ENDS] = {0}, end[ENDS] = {0}, exact[ENDS * ENDS] = {0}, trips = 0;
        float w[ENDS * ENDS], x[ENDS * ENDS];
        bool fits = round % 2;
        struct dpl_privtrace_ends ends = {ENDS, ENDS, start, end, w, 0};
        for (size_t i = 0; i < ENDS * ENDS; i++) {
            double true_trips = fits ? 10 + 90 * test_uniform(&seed) : 0;
            w[i] = 0.2f + 0.3f * (float)test_uniform(&seed);
            start[i / ENDS] += true_trips * (double)w[i],
                end[i % ENDS] += true_trips * (double)w[i];
            trips += true_trips;
        }
        for (size_t i = 0; i < ENDS && !fits; i++)
            start[i] = 100 * test_uniform(&seed), end[i] = 300 * test_uniform(&seed);
        if (!fits) {
            for (size_t i = 0; i < ENDS * ENDS; i++) exact[i] = (double)w[i] * 100;
            solve_exactly(&ends, exact);
            for (size_t i = 0; i < ENDS * ENDS; i++) trips += exact[i];
        }
        ends.trips = trips;
        assert_ok(run, dpl_privtrace_calibrate(run, &ends, x));
        double best = residual(&ends, exact, NULL), sum = 0, scale = 0, fit = 0;
        for (size_t i = 0; i < ENDS * ENDS; i++) exact[i] = (double)x[i], sum += exact[i];
        for (size_t i = 0; i < ENDS; i++) scale += start[i] * start[i] + end[i] * end[i];
        assert_near(sum, trips, 1e-3 * trips);
        // What fits is met but for one factor, which the number of trips leaves: chances it is.
        for (size_t i = 0; i < ENDS * ENDS; i++)
            fit += (double)w[i] * exact[i] * (start[i / ENDS] + end[i % ENDS]);
        for (size_t i = 0; i < ENDS * ENDS && fits; i++) exact[i] *= scale / fit;
        if (fits) assert_near(fit / scale, 1, 0.1);
        assert_true(residual(&ends, exact, NULL) <= (fits ? 1e-8 * scale : 1.01 * best));
    }
    dpl_run_free(run);
}

/* Ends weigh 1.3 in the first order; in the second they are scaled to 1.5 times the first's. */
static void chances_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct rig rig;
    set_up(run, 60, 0, &rig);
    const struct dpl_privtrace_states *states = &rig.states;
    size_t n = states->n, side = dpl_privtrace_neighbours(states, 0) + 1;
    double *first = calloc(dpl_privtrace_first_size(states), sizeof *first),
           *second = calloc(side * side, sizeof *second);
    float *chance = calloc(dpl_privtrace_first_size(states), sizeof *chance),
          *inflow = calloc(n, sizeof *inflow), *two = calloc(side * side, sizeof *two);
    int32_t *guide = calloc(n, sizeof *guide);
    size_t *at = calloc(n + 1, sizeof *at);
    guide[0] = 1;
    dpl_privtrace_second_layout(states, guide, at);
    first[dpl_privtrace_row(states, 0) + 2] = 8.7;
    first[dpl_privtrace_row(states, 0) + side - 1] = 1;
    dpl_privtrace_chances(states, first, chance, inflow);
    assert_near(chance[2], 0.87, 1e-6);
    assert_near(chance[side - 1], 0.13, 1e-6);
    assert_near(inflow[states->to[2]], 1, 1e-6);
    assert_near(inflow[states->to[1]], 0, 0);
    second[0 * side + 1] = 4.9, second[0 * side + side - 1] = 6.2, second[0 * side + 2] = -0.5;
    second[3 * side + side - 1] = 3.1;
    assert_ok(run, dpl_privtrace_second_chances(run, states, at, first, second, two));
    // Row 0 is 4, 6 after settling and rounding down, row 3 is 3; ends sum to 9 and become 1.5.
    assert_near(two[1], 4 / 5.0, 1e-6);
    assert_near(two[side - 1], 1 / 5.0, 1e-6);
    assert_near(two[3 * side + side - 1], 1, 1e-6);
    free(first), free(second), free(chance), free(inflow), free(two), free(guide), free(at);
    tear_down(&rig);
    dpl_run_free(run);
}

/* ---- walks ---- */

static void lingering_by_hand(void **state) {
    (void)state;
    const int32_t apart[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                  still[] = {1, 2, 1, 3, 1, 4, 1, 5, 1, 1}, eight[] = {1, 2, 1, 2, 1, 1, 1, 1};
    assert_false(dpl_privtrace_lingers(apart, 10));
    assert_false(
        dpl_privtrace_lingers(still, 10)); // six of ten are in one of five: not more than 60 %
    const int32_t more[] = {1, 2, 1, 3, 1, 4, 1, 5, 1, 1, 1};
    assert_true(dpl_privtrace_lingers(more, 11));
    assert_false(dpl_privtrace_lingers(eight, 8)); // too short to tell
}

/* A model in which every trip begins in `home`, and rows are set by hand. */
struct model {
    float *starts, *first, *second, *inflow, *length;
    size_t *at;
    struct dpl_privtrace_parts parts;
};

static void model_new(const struct dpl_privtrace_states *states, const int32_t *guide,
                      struct model *model) {
    size_t n = states->n;
    model->at = calloc(n + 1, sizeof *model->at);
    dpl_privtrace_second_layout(states, guide, model->at);
    model->starts = calloc(n, sizeof(float)), model->inflow = calloc(n, sizeof(float));
    model->first = calloc(dpl_privtrace_first_size(states) - n, sizeof(float));
    model->second = calloc(model->at[n] + 1, sizeof(float));
    model->length = calloc(n * 11, sizeof(float));
    model->parts = (struct dpl_privtrace_parts){*states,       model->at,    10,
                                                model->starts, model->first, model->second,
                                                model->inflow, model->length};
}

static void model_free(struct model *model) {
    free(model->starts), free(model->first), free(model->second), free(model->inflow);
    free(model->length), free(model->at);
}

typedef void see_trip(void *user, const int32_t *state, size_t n);
static void draw_many(struct dpl_run *run, const struct dpl_privtrace_parts *parts, size_t trips,
                      see_trip *see, void *user) {
    struct dpl_secret secret;
    struct dpl_random *random;
    struct dpl_privtrace_walker *walker;
    assert_ok(run, dpl_secret_from_seed(run, 5, &secret));
    assert_ok(run, dpl_random_new(run, &secret, &random));
    assert_ok(run, dpl_privtrace_walker_new(run, parts, &walker));
    for (uint64_t t = 0; t < trips; t++) {
        struct dpl_stream stream;
        int32_t state[DPL_PRIVTRACE_LONGEST_NEAR];
        dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, t, 0});
        size_t n = dpl_privtrace_draw(walker, &stream, state);
        assert_ok(run, dpl_stream_close(run, &stream));
        see(user, state, n);
    }
    dpl_privtrace_walker_free(walker);
    dpl_random_free(random);
}

struct seen {
    int32_t first, second;
    double stayed, went_on,
        ended; /* never left the first; went to the second and on; ended there */
};
static void see_ways(void *user, const int32_t *state, size_t n) {
    struct seen *seen = user;
    assert_int_equal(state[0], seen->first);
    if (n == 2 && state[1] == seen->first)
        seen->stayed++;
    else if (n == 2)
        seen->ended++;
    else
        seen->went_on++;
}

/* At home the end counts .8 * .5, a fifth of that when the trip is shorter than half of what was
 * predicted; in another block .8. The second order is taken where it has a row. */
static void walks_by_hand(void **state) {
    (void)state;
    enum { N = 40000 };
    struct dpl_run *run = test_run(1);
    struct rig rig;
    set_up(run, 60, 0, &rig);
    const struct dpl_privtrace_states *states = &rig.states;
    int32_t *guide = calloc(states->n, sizeof *guide);
    size_t home = 0, other = (size_t)states->to[0],
           third = (size_t)states->to[states->first[other] + 3];
    assert_true(third != home);
    guide[other] = 1;
    for (int late = 0; late < 2; late++) {
        struct model model;
        struct seen seen = {(int32_t)home, (int32_t)other, 0, 0, 0};
        size_t side = dpl_privtrace_neighbours(states, other) + 1;
        model_new(states, guide, &model);
        float *row = model.first + dpl_privtrace_row(states, home) - states->n,
              *beyond = model.first + dpl_privtrace_row(states, other) - states->n,
              *two = model.second + dpl_privtrace_slot(states, other, home) * side,
              *last = model.first + dpl_privtrace_row(states, third) - states->n;
        model.starts[home] = 1;
        model.length[home * 11 + (late ? 8 : 1)] = 1;
        row[0] = 0.5f, row[dpl_privtrace_neighbours(states, home)] = 0.5f;
        beyond[0] = 1; // the first order would go on always; the second ends half of the time
        two[3] = 0.5f, two[side - 1] = 0.5f;
        last[dpl_privtrace_neighbours(states, third)] = 1;
        draw_many(run, &model.parts, N, see_ways, &seen);
        double end = 0.5 * 0.8 * 0.5 * (late ? 0.2 : 1), ends_home = end / (0.5 + end),
               ends_there = 0.4 / (0.5 + 0.4);
        assert_true(test_chi2((double[]){seen.stayed, seen.ended, seen.went_on},
                              (double[]){ends_home, (1 - ends_home) * ends_there,
                                         (1 - ends_home) * (1 - ends_there)},
                              3, N) < 4.75);
        model_free(&model);
    }
    free(guide);
    tear_down(&rig);
    dpl_run_free(run);
}

static void see_legal(void *user, const int32_t *state, size_t n) {
    const struct dpl_privtrace_states *states = user;
    assert_true(n >= 2 && n <= DPL_PRIVTRACE_LONGEST_NEAR);
    for (size_t i = 0; i < n; i++) {
        assert_in_range(state[i], 0, states->n - 1);
        if (i > 0 && !(n == 2 && state[0] == state[1]))
            assert_true(dpl_privtrace_slot(states, (size_t)state[i - 1], (size_t)state[i]) !=
                        SIZE_MAX);
    }
}

/* Chances of anything, rows of zeros and walks without end: trips are trips. */
static void walks_are_legal(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    uint64_t seed = 9;
    for (size_t round = 0; round < test_soak(8); round++) {
        struct rig rig;
        struct model model;
        set_up(run, 5, round, &rig);
        size_t n = rig.states.n, rows = dpl_privtrace_first_size(&rig.states) - n;
        int32_t *guide = calloc(n, sizeof *guide);
        for (size_t s = 0; s < n; s++) guide[s] = test_random(&seed) % 2;
        model_new(&rig.states, guide, &model);
        for (size_t s = 0; s < n; s++)
            model.starts[s] = 1, model.inflow[s] = (float)(test_random(&seed) % 2);
        for (size_t i = 0; i < rows; i++)
            model.first[i] = test_random(&seed) % (round + 2) ? 0 : (float)test_uniform(&seed);
        for (size_t i = 0; i < model.at[n]; i++)
            model.second[i] = test_random(&seed) % (4 * round + 2) ? 0 : (float)test_uniform(&seed);
        if (round % 2) // nothing ever ends
            for (size_t s = 0; s < n; s++)
                model.first[dpl_privtrace_row(&rig.states, s) - n +
                            dpl_privtrace_neighbours(&rig.states, s)] = 0;
        draw_many(run, &model.parts, 200, see_legal, &rig.states);
        model_free(&model);
        free(guide);
        tear_down(&rig);
    }
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_share_out_the_grid),
        cmocka_unit_test(distances_are_shortest),
        cmocka_unit_test(one_unit_moves_each_table_by_one),
        cmocka_unit_test(tables_by_hand),
        cmocka_unit_test(grids_by_hand),
        cmocka_unit_test(negatives_are_paid_by_the_smallest),
        cmocka_unit_test(guideposts_by_hand),
        cmocka_unit_test(the_calibration_is_the_exact_solution),
        cmocka_unit_test(chances_by_hand),
        cmocka_unit_test(lingering_by_hand),
        cmocka_unit_test(walks_by_hand),
        cmocka_unit_test(walks_are_legal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
