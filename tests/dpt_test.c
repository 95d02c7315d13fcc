/* DPT: levels against brute force, trips as tokens and back, what a unit can move, estimates by
 * hand, and walks that are legal whatever the tables hold. */
#include "counted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/dpt/measure.h"

enum { CELL_M = 500, VISITS = 40 };

static struct dpl_grid make_grid(struct dpl_run *run, double cell_m, double kilometres) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    area.cell_m = cell_m;
    area.north_deg = area.south_deg + kilometres / 111.2;
    area.east_deg = area.west_deg + kilometres / 111.2 / cos(area.south_deg * M_PI / 180);
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    return grid;
}

/* A trip of steps of up to `reach` cells, inside the grid. */
static size_t wander(const struct dpl_grid *grid, int reach, uint64_t *seed, int32_t *cell) {
    size_t n = 2 + test_random(seed) % (VISITS - 2);
    int32_t row = (int32_t)(test_random(seed) % (uint64_t)grid->rows),
            column = (int32_t)(test_random(seed) % (uint64_t)grid->columns);
    for (size_t v = 0; v < n; v++) {
        int span = v / 8 % 2 ? reach : 1; // slow and fast by turns
        cell[v] = row * grid->columns + column;
        row += (int32_t)(test_random(seed) % (uint64_t)(2 * span + 1)) - span;
        column += (int32_t)(test_random(seed) % (uint64_t)(2 * span + 1)) - span;
        row = row < 0 ? 0 : row >= grid->rows ? grid->rows - 1 : row;
        column = column < 0 ? 0 : column >= grid->columns ? grid->columns - 1 : column;
    }
    return n;
}

/* ---- levels ---- */

/* The finest kept level where the step is to a neighbour, by division; the top if there is none. */
static int need_by_hand(const struct dpl_dpt_levels *levels, int32_t a, int32_t b) {
    int32_t w = levels->columns;
    for (int m = 0, side = 1; m <= levels->top; m++, side *= 2)
        if (levels->kept[m] && abs(a / w / side - b / w / side) < 2 &&
            abs(a % w / side - b % w / side) < 2)
            return m;
    return levels->top;
}

/* The rule of levels over a whole trip at once: level[i] of step i. */
static void levels_by_hand(const struct dpl_dpt_levels *levels, const int32_t *cell, size_t n,
                           int *level) {
    int need[VISITS + DPL_DPT_AHEAD] = {0};
    for (size_t i = 0; i + 1 < n; i++) need[i] = need_by_hand(levels, cell[i], cell[i + 1]);
    level[0] = need[0];
    for (size_t i = 1; i + 1 < n; i++) {
        int ahead = 0; // beyond the end a trip needs nothing
        for (int k = 0; k < DPL_DPT_AHEAD; k++)
            if (need[i + (size_t)k] > ahead) ahead = need[i + (size_t)k];
        level[i] = need[i] > level[i - 1] ? need[i] : ahead < level[i - 1] ? ahead : level[i - 1];
    }
}

static void levels_are_those_of_the_speed_limit(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = make_grid(run, 500, 12); // 150 km/h and 60 s: 2500 m
    struct dpl_dpt_levels levels = dpl_dpt_levels_make(&grid);
    assert_int_equal(levels.top, 3);
    size_t nodes = 0;
    for (int m = 0, side = 1; m <= 3; m++, side *= 2) {
        assert_int_equal(levels.first[m], nodes);
        nodes += (size_t)((grid.rows + side - 1) / side * ((grid.columns + side - 1) / side));
    }
    assert_int_equal(levels.first[4], nodes);
    grid = make_grid(run, 250, 12);
    assert_int_equal(dpl_dpt_levels_make(&grid).top, 4);
    grid = make_grid(run, 2500, 12);
    assert_int_equal(dpl_dpt_levels_make(&grid).top, 0);
    // Every cell of every level has a node of its own.
    bool *seen = calloc(nodes, sizeof *seen);
    for (int m = 0; m <= levels.top; m++)
        for (int32_t cell = 0; cell < levels.rows * levels.columns; cell++)
            seen[dpl_dpt_node(&levels, dpl_dpt_at(&levels, m, cell))] = true;
    for (size_t i = 0; i < nodes; i++) assert_true(seen[i]);
    free(seen);
    dpl_run_free(run);
}

/* Tokens lead through the cells of the trip, each seen in the level of brute force; every one is
 * legal, and the context of a move never reaches back over a jump. */
static void tokens_decode_to_visits(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_grid grid = make_grid(run, CELL_M, 14);
    uint64_t seed = 2;
    size_t jumps = 0;
    for (size_t round = 0; round < test_soak(3000); round++) {
        struct dpl_dpt_levels levels = dpl_dpt_levels_make(&grid);
        levels.kept[1] = round % 3 != 1, levels.kept[2] = round % 4 != 1;
        int32_t cell[VISITS];
        int level[VISITS];
        size_t n = wander(&grid, 7, &seed, cell), visit = 0;
        levels_by_hand(&levels, cell, n, level);
        struct dpl_dpt_reader reader = dpl_dpt_read(&levels, cell, n);
        struct dpl_dpt_at at = reader.state.at;
        assert_int_equal(at.level, level[0]);
        int since = 0;
        for (int token; (token = dpl_dpt_peek(&reader)) >= 0; dpl_dpt_take(&reader, token)) {
            struct dpl_dpt_at here = dpl_dpt_at(&levels, at.level, cell[visit]);
            assert_true(here.row == at.row && here.column == at.column);
            assert_true(dpl_dpt_legal(&levels, token, at));
            assert_int_equal(reader.state.moves < 3 ? reader.state.moves : 3,
                             since < 3 ? since : 3);
            assert_true(dpl_dpt_apply(&levels, token, &at));
            if (token < DPL_DPT_MOVES)
                assert_int_equal(at.level, level[visit]), visit++, since++;
            else
                since = 0, jumps += token < DPL_DPT_END;
        }
        assert_int_equal(visit, n - 1);
        assert_int_equal(dpl_dpt_peek(&reader), -1); // the end is told once
    }
    assert_true(jumps > 1000);
    dpl_run_free(run);
}

/* A step beyond the top level's neighbours: the nearest neighbour, and on from where it really is,
 * with an empty memory. */
static void steps_too_far_are_clamped(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_grid grid = make_grid(run, CELL_M, 30);
    const struct dpl_dpt_levels levels = dpl_dpt_levels_make(&grid);
    const int32_t cell[] = {0, 40 * grid.columns, 40 * grid.columns};
    struct dpl_dpt_reader reader = dpl_dpt_read(&levels, cell, 3);
    assert_int_equal(reader.state.at.level, levels.top);
    assert_int_equal(dpl_dpt_peek(&reader), 7); // north
    dpl_dpt_take(&reader, 7);
    assert_int_equal(reader.state.at.row, 40 >> levels.top);
    assert_int_equal(reader.state.moves, 0);
    dpl_run_free(run);
}

static void levels_that_hold_little_are_left_out(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_grid grid = make_grid(run, CELL_M, 8); // 17 x 17, 9 x 9, 5 x 5, 3 x 3 or so
    struct dpl_dpt_levels levels = dpl_dpt_levels_make(&grid);
    double cells = (double)(levels.first[3] - levels.first[2]);
    // Level 1 has half a per cent; level 2 just as much as its nodes need, or just not.
    const double moves[] = {8950, 50, 1000, -5};
    double enough = 15 * cells * 3 / 4 * 10; // a tenth of all is at level 2, deviation 3
    dpl_dpt_levels_choose(moves, enough * 1.01, 3, &levels);
    assert_true(levels.kept[0] && !levels.kept[1] && levels.kept[2] && levels.kept[3]);
    dpl_dpt_levels_choose(moves, enough * 0.98, 3, &levels);
    assert_true(levels.kept[0] && !levels.kept[1] && !levels.kept[2] && levels.kept[3]);
    // Up goes to the next kept level, down passes those in between, where nothing else is legal.
    struct dpl_dpt_at at = {0, 13, 6};
    assert_true(dpl_dpt_apply(&levels, DPL_DPT_UP, &at));
    assert_true(at.level == 3 && at.row == 1 && at.column == 0);
    assert_true(dpl_dpt_apply(&levels, DPL_DPT_DOWN + 3, &at));
    assert_true(at.level == 2 && at.row == 3 && at.column == 1);
    assert_false(dpl_dpt_legal(&levels, DPL_DPT_END, at));
    assert_false(dpl_dpt_legal(&levels, DPL_DPT_STAY, at));
    assert_true(dpl_dpt_legal(&levels, DPL_DPT_DOWN, at));
    dpl_run_free(run);
}

static void sectors_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_grid grid = make_grid(run, CELL_M, 14);
    const struct dpl_dpt_levels levels = dpl_dpt_levels_make(&grid);
    struct dpl_dpt_state at = dpl_dpt_begin((struct dpl_dpt_at){0, 9, 9});
    assert_int_equal(dpl_dpt_sector(&at, 5), DPL_DPT_SECTORS); // no direction yet
    dpl_dpt_advance(&levels, 5, &at);                          // east
    dpl_dpt_advance(&levels, DPL_DPT_STAY, &at);
    static const int SECTOR[DPL_DPT_MOVES] = {5, 6, 7, 4, -1, 0, 3, 2, 1};
    for (int move = 0; move < DPL_DPT_MOVES; move++)
        if (move != DPL_DPT_STAY) assert_int_equal(dpl_dpt_sector(&at, move), SECTOR[move]);
    dpl_dpt_advance(&levels, 3, &at); // and back: no direction again
    assert_int_equal(dpl_dpt_sector(&at, 5), DPL_DPT_SECTORS);
    for (int i = 0; i < DPL_DPT_BACK; i++) dpl_dpt_advance(&levels, 7, &at); // north six times
    assert_int_equal(dpl_dpt_sector(&at, 7), 0); // what came before is forgotten
    dpl_run_free(run);
}

/* ---- counting ---- */

enum { N_TABLES = 5 };

static void make_tables(const struct dpl_dpt_levels *levels, bool shares,
                        struct dpl_dpt_about about[N_TABLES],
                        struct counted_table table[N_TABLES]) {
    static const struct {
        const char *name;
        enum dpl_dpt_table table;
        int order;
        double l2;
    } ALL[N_TABLES] = {{"levels", DPL_DPT_TABLE_LEVELS, 0, 4},
                       {"starts", DPL_DPT_TABLE_STARTS, 0, 1},
                       {"headings", DPL_DPT_TABLE_HEADINGS, 0, 7},
                       {"order2", DPL_DPT_TABLE_ORDER, 2, 4},
                       {"order3", DPL_DPT_TABLE_ORDER, 3, 4}};
    for (size_t i = 0; i < N_TABLES; i++) {
        about[i] = (struct dpl_dpt_about){ALL[i].table, ALL[i].order, 30, shares, levels};
        table[i] = (struct counted_table){ALL[i].name, dpl_dpt_count,
                                          &about[i],   dpl_shape_size(dpl_dpt_shape(&about[i])),
                                          ALL[i].l2,   1};
    }
}

static void one_unit_moves_each_table_by_its_clip(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct counted counted;
    struct dpl_dpt_about about[N_TABLES];
    struct counted_table table[N_TABLES];
    counted_open(run, 1000, &counted);
    const struct dpl_dpt_levels levels = dpl_dpt_levels_make(&counted.grid);
    for (int shares = 0; shares < 2; shares++) {
        make_tables(&levels, shares, about, table);
        counted_neighbours(run, 1000, table, N_TABLES, DPL_UNIT_TRIP, test_soak(12));
        counted_neighbours(run, 1000, table, N_TABLES, DPL_UNIT_USER, test_soak(8));
    }
    counted_close(&counted);
    dpl_run_free(run);
}

static double total_of(const struct dpl_exact *exact, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += counted_value(exact, i);
    return sum;
}

/* A trip to the east, then one that stays: weights, coordinates and sums. A trip beyond L_max adds
 * what it does up to there. */
static void tables_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct counted counted;
    struct dpl_dpt_about about[N_TABLES];
    struct counted_table table[N_TABLES];
    counted_open(run, 1000, &counted);
    const struct dpl_dpt_levels levels = dpl_dpt_levels_make(&counted.grid);
    make_tables(&levels, false, about, table);
    counted_add(run, &counted, (int32_t[]){0, 1, 2, 2}, 4, -1);
    struct dpl_exact *exact = counted_count(run, &counted, &table[3], DPL_NORM_L2, DPL_UNIT_TRIP);
    assert_near(counted_value(exact, 0 * DPL_DPT_TOKENS + 5), 1, 1e-4); // east from cells 0 and 1
    assert_near(counted_value(exact, 1 * DPL_DPT_TOKENS + 5), 1, 1e-4);
    assert_near(counted_value(exact, 2 * DPL_DPT_TOKENS + DPL_DPT_STAY), 1, 1e-4);
    assert_near(counted_value(exact, 2 * DPL_DPT_TOKENS + DPL_DPT_END), 1, 1e-4);
    assert_near(total_of(exact, table[3].n), 4, 1e-3);
    dpl_exact_free(exact);
    exact = counted_count(run, &counted, &table[4], DPL_NORM_L2, DPL_UNIT_TRIP);
    assert_near(counted_value(exact, (1 * 9 + 5) * DPL_DPT_TOKENS + 5), 1, 1e-4);
    assert_near(counted_value(exact, (2 * 9 + 5) * DPL_DPT_TOKENS + DPL_DPT_STAY), 1, 1e-4);
    assert_near(counted_value(exact, (2 * 9 + 4) * DPL_DPT_TOKENS + DPL_DPT_END), 1, 1e-4);
    assert_near(total_of(exact, table[4].n), 3, 1e-3);
    dpl_exact_free(exact);
    make_tables(&levels, true, about, table); // a quarter for each of four tokens
    exact = counted_count(run, &counted, &table[4], DPL_NORM_L1, DPL_UNIT_TRIP);
    assert_near(total_of(exact, table[4].n), 0.75, 1e-3);
    dpl_exact_free(exact);
    about[1].length_max = about[3].length_max = 2; // 0 1: a move and the end, half each
    exact = counted_count(run, &counted, &table[3], DPL_NORM_L1, DPL_UNIT_TRIP);
    assert_near(counted_value(exact, 1 * DPL_DPT_TOKENS + DPL_DPT_END), 0.5, 1e-4);
    assert_near(counted_value(exact, 2 * DPL_DPT_TOKENS + DPL_DPT_STAY), 0, 0);
    dpl_exact_free(exact);
    counted_close(&counted);
    dpl_run_free(run);
}

/* ---- estimates and walks ---- */

/* Tables of all orders of some trips, without noise or with given deviations. */
struct tables {
    struct dpl_dpt_noised noised[DPL_DPT_ORDER_MOST + 1];
    float *chance[DPL_DPT_ORDER_MOST + 1];
    struct dpl_dpt_parts parts;
};

static void tables_new(const struct dpl_grid *grid, int order, struct tables *tables) {
    *tables = (struct tables){.parts = {.levels = dpl_dpt_levels_make(grid), .order = order}};
    size_t nodes = tables->parts.levels.first[tables->parts.levels.top + 1];
    for (int j = 2; j <= order; j++) {
        size_t n = nodes * dpl_dpt_rows(j) * DPL_DPT_TOKENS;
        tables->noised[j].value = calloc(n, sizeof(double));
        tables->parts.order_chance[j] = tables->chance[j] = calloc(n, sizeof(float));
    }
    tables->parts.starts = calloc(nodes, sizeof(float));
    tables->parts.visits = calloc((size_t)dpl_grid_cells(grid), sizeof(float));
    for (int s = 0; s < DPL_DPT_HEADINGS; s++) tables->parts.turn[s] = 1;
}

static void tables_free(struct tables *tables) {
    for (int j = 2; j <= tables->parts.order; j++)
        free((void *)tables->noised[j].value), free(tables->chance[j]);
    free((void *)tables->parts.starts), free((void *)tables->parts.visits);
}

/* Adds a trip, by the reader, with weight 1. */
static void tables_add(struct tables *tables, const int32_t *cell, size_t n) {
    const struct dpl_dpt_levels *levels = &tables->parts.levels;
    struct dpl_dpt_reader reader = dpl_dpt_read(levels, cell, n);
    ((float *)tables->parts.starts)[dpl_dpt_node(levels, reader.state.at)] += 0.001f;
    for (size_t v = 0; v < n; v++) ((float *)tables->parts.visits)[cell[v]] += 0.001f;
    for (int token; (token = dpl_dpt_peek(&reader)) >= 0; dpl_dpt_take(&reader, token))
        for (int j = 2; j <= tables->parts.order; j++) {
            size_t row = dpl_dpt_row(levels, &reader.state, j);
            if (row == SIZE_MAX) continue;
            ((double *)tables->noised[j].value)[row * DPL_DPT_TOKENS + (size_t)token] += 1;
        }
}

typedef void see_trip(void *user, const int32_t *cell, size_t n);
static void draw_many(struct dpl_run *run, const struct dpl_dpt_parts *parts, size_t trips,
                      size_t length_max, see_trip *see, void *user) {
    struct dpl_secret secret;
    struct dpl_random *random;
    struct dpl_dpt_walker *walker;
    int32_t cell[VISITS];
    assert_true(length_max <= VISITS);
    assert_ok(run, dpl_secret_from_seed(run, 5, &secret));
    assert_ok(run, dpl_random_new(run, &secret, &random));
    assert_ok(run, dpl_dpt_walker_new(run, parts, &walker));
    for (uint64_t t = 0; t < trips; t++) {
        struct dpl_stream stream;
        dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, t, 0});
        size_t n = dpl_dpt_draw(walker, &stream, length_max, cell, NULL);
        assert_ok(run, dpl_stream_close(run, &stream));
        see(user, cell, n);
    }
    dpl_dpt_walker_free(walker);
    dpl_random_free(random);
}

/* Slow trips of up to five visits on a small grid: with grams of six tokens and no noise a walk is
 * one of them, as often as it was there. */
enum { TINY_TRIPS = 4 };
static const struct {
    int32_t row[5], column[5];
    size_t n;
    int times;
} TINY[TINY_TRIPS] = {{{0, 0, 1, 1, 2}, {0, 1, 1, 2, 2}, 5, 4},
                      {{0, 0, 1, 2, 2}, {0, 1, 1, 1, 0}, 5, 3},
                      {{0, 0, 0}, {0, 1, 2}, 3, 2},
                      {{2, 2, 2, 1}, {2, 1, 1, 0}, 4, 1}};
struct tiny {
    int32_t cell[TINY_TRIPS][5];
    double seen[TINY_TRIPS];
};

static void see_tiny(void *user, const int32_t *cell, size_t n) {
    struct tiny *tiny = user;
    for (size_t t = 0; t < TINY_TRIPS; t++)
        if (n == TINY[t].n && !memcmp(cell, tiny->cell[t], n * sizeof *cell)) {
            tiny->seen[t]++;
            return;
        }
    fail_msg("a walk of %zu visits is none of the trips", n);
}

static void long_grams_reproduce_the_trips(void **state) {
    (void)state;
    enum { WALKS = 20000 };
    struct dpl_run *run = test_run(1);
    const struct dpl_grid grid = make_grid(run, 2000, 5.5);
    struct tables tables;
    struct tiny tiny = {0};
    tables_new(&grid, DPL_DPT_ORDER_MOST, &tables);
    assert_true(grid.rows >= 3 && grid.columns >= 3 && tables.parts.levels.top == 1);
    for (size_t t = 0; t < TINY_TRIPS; t++) {
        for (size_t v = 0; v < TINY[t].n; v++)
            tiny.cell[t][v] = TINY[t].row[v] * grid.columns + TINY[t].column[v];
        for (int i = 0; i < TINY[t].times; i++) tables_add(&tables, tiny.cell[t], TINY[t].n);
    }
    dpl_dpt_estimate(&tables.parts.levels, DPL_DPT_ORDER_MOST, tables.noised, tables.chance);
    draw_many(run, &tables.parts, WALKS, 8, see_tiny, &tiny);
    assert_true(test_chi2(tiny.seen, (double[]){0.4, 0.3, 0.2, 0.1}, TINY_TRIPS, WALKS) < 4.75);
    tables_free(&tables);
    dpl_run_free(run);
}

/* With one level DPT is a plain chain: its chances are relative frequencies of what follows a cell
 * and the move before, by counting pairs. */
static void one_level_is_a_plain_chain(void **state) {
    (void)state;
    enum { TRIPS = 400, CELLS_MOST = 64 };
    static double follows[CELLS_MOST * DPL_DPT_MOVES][DPL_DPT_TOKENS];
    struct dpl_run *run = test_run(1);
    const struct dpl_grid grid = make_grid(run, 2500, 16);
    struct tables tables;
    uint64_t seed = 8;
    memset(follows, 0, sizeof follows);
    tables_new(&grid, 3, &tables);
    assert_true(tables.parts.levels.top == 0 && dpl_grid_cells(&grid) <= CELLS_MOST);
    for (size_t t = 0; t < TRIPS; t++) {
        int32_t cell[VISITS];
        int move[VISITS];
        size_t n = wander(&grid, 1, &seed, cell);
        tables_add(&tables, cell, n);
        for (size_t v = 0; v < n; v++) {
            move[v] = DPL_DPT_END;
            if (v + 1 < n)
                move[v] = (cell[v + 1] / grid.columns - cell[v] / grid.columns + 1) * 3 +
                          cell[v + 1] % grid.columns - cell[v] % grid.columns + 1;
            if (v > 0) follows[cell[v] * DPL_DPT_MOVES + move[v - 1]][move[v]]++;
        }
    }
    dpl_dpt_estimate(&tables.parts.levels, 3, tables.noised, tables.chance);
    for (size_t row = 0; row < (size_t)dpl_grid_cells(&grid) * DPL_DPT_MOVES; row++) {
        double sum = 0;
        for (int t = 0; t < DPL_DPT_TOKENS; t++) sum += follows[row][t];
        for (int t = 0; t < DPL_DPT_TOKENS; t++)
            assert_near(tables.chance[3][row * DPL_DPT_TOKENS + (size_t)t],
                        sum > 0 ? follows[row][t] / sum : 0, 1e-6);
    }
    tables_free(&tables);
    dpl_run_free(run);
}

/* One row of order 3 with noise: kept when the move into it stands out, projected onto what both
 * its own sum and that entry say. */
static void rows_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_grid grid = make_grid(run, 2500, 16);
    struct tables tables;
    tables_new(&grid, 3, &tables);
    size_t at = (size_t)(2 * grid.columns + 2), from = at - 1, row = at * DPL_DPT_MOVES + 5;
    double *two = (double *)tables.noised[2].value, *three = (double *)tables.noised[3].value;
    tables.noised[2].deviation = 3, tables.noised[3].deviation = 2;
    two[from * DPL_DPT_TOKENS + 5] = 100; // east, into the row
    three[row * DPL_DPT_TOKENS + 5] = 60; // east again
    three[row * DPL_DPT_TOKENS + DPL_DPT_END] = 30;
    three[row * DPL_DPT_TOKENS + 0] = -10;
    three[row * DPL_DPT_TOKENS + DPL_DPT_UP] = 50; // there is no level above: illegal, not counted
    dpl_dpt_estimate(&tables.parts.levels, 3, tables.noised, tables.chance);
    // Ten legal tokens: own sum 80 of variance 10 * 4, the entry 100 of variance 9.
    double total = (80 * 9 + 100 * 40.0) / 49;
    double less = (60 + 30 + 7 * 0 - total) / 9; // the negative one is cut off
    assert_true(less < 0);
    const float *chance = tables.chance[3] + row * DPL_DPT_TOKENS;
    assert_near(chance[5], (60 - less) / total, 1e-5);
    assert_near(chance[DPL_DPT_END], (30 - less) / total, 1e-5);
    assert_near(chance[3], -less / total, 1e-5);
    assert_near(chance[0], 0, 0);
    assert_near(chance[DPL_DPT_UP], 0, 0);
    two[from * DPL_DPT_TOKENS + 5] = 4 * 2; // four deviations of an entry of order 3: not enough
    memset(tables.chance[3], 0, DPL_DPT_TOKENS * (row + 1) * sizeof(float));
    dpl_dpt_estimate(&tables.parts.levels, 3, tables.noised, tables.chance);
    for (int t = 0; t < DPL_DPT_TOKENS; t++) assert_near(chance[t], 0, 0);
    tables_free(&tables);
    dpl_run_free(run);
}

struct bounds {
    int32_t cells;
    size_t length_max;
};
static void see_bounds(void *user, const int32_t *cell, size_t n) {
    const struct bounds *bounds = user;
    assert_true(n >= 2 && n <= bounds->length_max);
    for (size_t v = 0; v < n; v++) assert_true(cell[v] >= 0 && cell[v] < bounds->cells);
}

/* Chances of anything, illegal tokens and endless jumps included: tokens are legal, and trips are
 * trips. */
static void walks_are_legal(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_grid grid = make_grid(run, 700, 6);
    uint64_t seed = 9;
    for (size_t round = 0; round < test_soak(12); round++) {
        struct tables tables;
        struct dpl_dpt_walker *walker;
        const struct bounds bounds = {dpl_grid_cells(&grid), 2 + round * 3 % (VISITS - 1)};
        tables_new(&grid, 3, &tables);
        const struct dpl_dpt_levels *levels = &tables.parts.levels;
        tables.parts.levels.kept[1] = round % 2;
        size_t nodes = levels->first[levels->top + 1];
        for (size_t i = 0; i < nodes; i++) ((float *)tables.parts.starts)[i] = 1;
        for (int j = 2; j <= 3; j++)
            for (size_t i = 0; i < nodes * dpl_dpt_rows(j) * DPL_DPT_TOKENS; i++) {
                bool jump = i % DPL_DPT_TOKENS >= DPL_DPT_UP && i % DPL_DPT_TOKENS < DPL_DPT_END;
                tables.chance[j][i] = round % 3 == 0 && !jump ? 0 : test_random(&seed) % 3 ? 0 : 1;
            }
        draw_many(run, &tables.parts, 500, bounds.length_max, see_bounds, (void *)&bounds);
        assert_ok(run, dpl_dpt_walker_new(run, &tables.parts, &walker));
        for (int32_t cell = 0; cell < bounds.cells; cell += 3)
            for (int m = 0; m <= levels->top; m++) {
                double weight[DPL_DPT_TOKENS];
                struct dpl_dpt_state at = dpl_dpt_begin(dpl_dpt_at(levels, m, cell));
                if (!dpl_dpt_next(walker, &at, 1, weight)) continue;
                assert_near(weight[DPL_DPT_END], 0, 0); // one visit is no trip
                for (int t = 0; t < DPL_DPT_TOKENS; t++)
                    assert_true(weight[t] == 0 || dpl_dpt_legal(levels, t, at.at));
            }
        dpl_dpt_walker_free(walker);
        tables_free(&tables);
    }
    dpl_run_free(run);
}

struct straight {
    const struct dpl_grid *grid;
    double turned, all;
};
/* How often a step differs from the one before, of those that move. */
static void see_straight(void *user, const int32_t *cell, size_t n) {
    struct straight *seen = user;
    for (size_t v = 2; v < n; v++) {
        if (cell[v] == cell[v - 1] || cell[v - 1] == cell[v - 2]) continue;
        seen->turned += cell[v] - cell[v - 1] != cell[v - 1] - cell[v - 2];
        seen->all++;
    }
}

/* Trips that go straight on, seen by a chain without memory: the turns' weights bring the
 * directions back. */
static void turns_are_made_as_measured(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_grid grid = make_grid(run, 2500, 40);
    struct tables tables;
    struct straight plain = {&grid, 0, 0}, weighed = {&grid, 0, 0};
    const double headings[DPL_DPT_HEADINGS] = {1000, 30, 0, -5, 10, 0, 0, 30, 400};
    tables_new(&grid, 2, &tables);
    for (int32_t i = 2; i < 12; i++)
        for (int way = 0; way < 2; way++) { // along rows and along columns, both ways
            int32_t there[10], back[10];
            for (int32_t v = 0; v < 10; v++)
                there[v] = back[9 - v] =
                    way ? i * grid.columns + v + 2 : (v + 2) * grid.columns + i;
            tables_add(&tables, there, 10), tables_add(&tables, back, 10);
        }
    dpl_dpt_estimate(&tables.parts.levels, 2, tables.noised, tables.chance);
    draw_many(run, &tables.parts, 5000, 10, see_straight, &plain);
    assert_ok(run, dpl_dpt_estimate_turns(run, headings, 10, &tables.parts));
    draw_many(run, &tables.parts, 5000, 10, see_straight, &weighed);
    assert_true(plain.turned / plain.all > 0.6);
    assert_true(weighed.turned / weighed.all < 0.3);
    for (int s = 0; s < DPL_DPT_HEADINGS; s++)
        assert_true(tables.parts.turn[s] >= 0.125f && tables.parts.turn[s] <= 8);
    assert_near(tables.parts.turn[DPL_DPT_SECTORS], 1, 0);
    tables_free(&tables);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_those_of_the_speed_limit),
        cmocka_unit_test(tokens_decode_to_visits),
        cmocka_unit_test(steps_too_far_are_clamped),
        cmocka_unit_test(levels_that_hold_little_are_left_out),
        cmocka_unit_test(sectors_by_hand),
        cmocka_unit_test(one_unit_moves_each_table_by_its_clip),
        cmocka_unit_test(tables_by_hand),
        cmocka_unit_test(long_grams_reproduce_the_trips),
        cmocka_unit_test(one_level_is_a_plain_chain),
        cmocka_unit_test(rows_by_hand),
        cmocka_unit_test(walks_are_legal),
        cmocka_unit_test(turns_are_made_as_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
