/* SGLT: profiles instead of pairs, what a unit can move, clusters, backward chances by enumeration,
 * and walks that keep what is to be kept. */
#include "counted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleaned.h"
#include "method/sglt/fit_deniable.h"
#include "method/sglt/measure.h"
#include "method/sglt/sequence.h"

enum { CELL_M = 1000, SHARES = DPL_SGLT_SHARES };

/* Steps, windows and cells agree with each other. */
static void windows_lead_there_and_back(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct counted counted;
    counted_open(run, CELL_M, &counted);
    const struct dpl_grid *grid = &counted.grid; // 150 km/h and 60 s: two and a half cells
    assert_int_equal(dpl_sglt_reach(grid), 3);
    assert_int_equal(dpl_sglt_window(grid), 49);
    for (int32_t cell = 0; cell < dpl_grid_cells(grid); cell += 7)
        for (size_t w = 0; w < 49; w++) {
            int32_t to = dpl_sglt_to(grid, cell, w);
            if (to < 0) continue;
            assert_int_equal(dpl_sglt_place(grid, cell, to), w);
            assert_int_equal(dpl_sglt_to(grid, to, 48 - w), cell);
            assert_true(dpl_grid_distance_m(grid, cell, to) <= 2501);
        }
    assert_int_equal(dpl_sglt_place(grid, 0, 3), SIZE_MAX);
    size_t last = 0;
    for (size_t n = 2; n < 1500; n++) {
        size_t bin = dpl_sglt_length_bin(n);
        assert_true(bin < DPL_SGLT_LENGTHS && (bin == last || bin == last + 1));
        last = bin;
    }
    counted_close(&counted);
    dpl_run_free(run);
}

/* ---- profiles ---- */

/* The sum over all pairs of trips of the lesser of their shares in two cells is the inner product
 * of the cells' profiles, where shares are multiples of 1 / 16. */
static void profiles_are_sums_over_pairs(void **state) {
    (void)state;
    enum { TRIPS = 30 };
    struct dpl_run *run = test_run(1);
    struct counted counted;
    uint64_t seed = 4;
    double share[TRIPS][3] = {{0}};
    counted_open(run, CELL_M, &counted);
    for (size_t t = 0; t < TRIPS; t++) {
        int32_t cell[SHARES];
        for (size_t v = 0; v < SHARES; v++) {
            cell[v] = (int32_t)(test_random(&seed) % (t % 3 + 1));
            share[t][cell[v]] += 1.0 / SHARES;
        }
        counted_add(run, &counted, cell, SHARES, -1);
    }
    const struct dpl_sglt_about about = {.table = DPL_SGLT_PROFILE, .length_max = 30};
    size_t n = dpl_shape_size(dpl_sglt_shape(&counted.grid, DPL_SGLT_PROFILE));
    const struct counted_table table = {"profile", dpl_sglt_count, &about, n, 4, SHARES};
    struct dpl_exact *exact = counted_count(run, &counted, &table, DPL_NORM_L1, DPL_UNIT_TRIP);
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < 3; b++) {
            double pairs = 0, product = 0;
            for (size_t t = 0; t < TRIPS; t++)
                for (size_t u = 0; u < TRIPS; u++) pairs += fmin(share[t][a], share[u][b]);
            for (size_t q = 0; q < SHARES; q++)
                product += counted_value(exact, a * SHARES + q) *
                           counted_value(exact, b * SHARES + q) / SHARES;
            assert_near(product, pairs, 1e-6 * (1 + pairs));
        }
    dpl_exact_free(exact);
    counted_close(&counted);
    dpl_run_free(run);
}

static void one_unit_moves_each_table_by_its_clip(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double l2, l1;
    } ALL[] = {{"profile", 4, SHARES}, {"moves", 4, 1}, {"starts", 1, 1}, {"keys", 1, 1}};
    struct dpl_run *run = test_run(1);
    struct counted counted;
    counted_open(run, CELL_M, &counted);
    int32_t *cluster = calloc((size_t)dpl_grid_cells(&counted.grid), sizeof *cluster);
    for (int32_t i = 0; i < dpl_grid_cells(&counted.grid); i++) cluster[i] = i % 20;
    for (int shares = 0; shares < 2; shares++) {
        struct dpl_sglt_about about[4];
        struct counted_table table[4];
        for (int t = 0; t < 4; t++) {
            about[t] = (struct dpl_sglt_about){.table = (enum dpl_sglt_table)t,
                                               .length_max = 30,
                                               .shares = shares,
                                               .cluster = cluster,
                                               .zone = counted.zone};
            table[t] = (struct counted_table){
                ALL[t].name, dpl_sglt_count,
                &about[t],   dpl_shape_size(dpl_sglt_shape(&counted.grid, (enum dpl_sglt_table)t)),
                ALL[t].l2,   ALL[t].l1};
        }
        counted_neighbours(run, CELL_M, table, 4, DPL_UNIT_TRIP, test_soak(8));
        counted_neighbours(run, CELL_M, table, 4, DPL_UNIT_USER, test_soak(4));
    }
    free(cluster);
    counted_close(&counted);
    dpl_run_free(run);
}

/* A trip 0 0 1: a third of its visits in cell 1. Its key by hand; cut at two visits it ends in 0.
 */
static void tables_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct counted counted;
    counted_open(run, CELL_M, &counted);
    size_t cells = (size_t)dpl_grid_cells(&counted.grid);
    int32_t *cluster = calloc(cells, sizeof *cluster);
    cluster[0] = 3, cluster[1] = 7;
    counted_add(run, &counted, (int32_t[]){0, 0, 1}, 3, -1);
    struct dpl_sglt_about about = {
        .table = DPL_SGLT_PROFILE, .length_max = 30, .cluster = cluster, .zone = counted.zone};
    struct counted_table table = {
        "profile", dpl_sglt_count,
        &about,    dpl_shape_size(dpl_sglt_shape(&counted.grid, DPL_SGLT_PROFILE)),
        4,         SHARES};
    struct dpl_exact *exact = counted_count(run, &counted, &table, DPL_NORM_L2, DPL_UNIT_TRIP);
    for (size_t q = 0; q < SHARES; q++) { // two thirds are ten sixteenths, one third five
        assert_near(counted_value(exact, q), q < 10, 1e-3);
        assert_near(counted_value(exact, SHARES + q), q < 5, 1e-3);
    }
    dpl_exact_free(exact);
    about.table = DPL_SGLT_KEY_COUNTS, table.n = DPL_SGLT_KEYS, table.l2 = table.l1 = 1;
    exact = counted_count(run, &counted, &table, DPL_NORM_L2, DPL_UNIT_TRIP);
    assert_near(counted_value(exact, dpl_sglt_key(0, 3, 7, 1)), 1, 1e-4);
    dpl_exact_free(exact);
    about.length_max = 2;
    exact = counted_count(run, &counted, &table, DPL_NORM_L2, DPL_UNIT_TRIP);
    assert_near(counted_value(exact, dpl_sglt_key(0, 3, 3, 0)), 1, 1e-4);
    dpl_exact_free(exact);
    free(cluster);
    counted_close(&counted);
    dpl_run_free(run);
}

/* Five visits from two minutes before six are a trip of the second part of the day; the first two
 * alone, one of the first. */
static void the_part_is_that_of_the_cut_trip(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct counted counted;
    counted_open(run, CELL_M, &counted);
    const struct dpl_cleaned_trip trip = {.cell = (int32_t[]){0, 0, 0, 0, 0},
                                          .n_visits = 5,
                                          .user = -1,
                                          .utc_s = dpl_zone_utc_s(counted.zone, 5 * 3600 + 58 * 60),
                                          .period = 6};
    assert_ok(run, dpl_cleaned_append(run, counted.trips, &trip));
    for (int32_t cut = 2; cut <= 5; cut += 3) {
        const struct dpl_sglt_about about = {
            .table = DPL_SGLT_STARTS, .length_max = cut, .zone = counted.zone};
        size_t cells = (size_t)dpl_grid_cells(&counted.grid);
        const struct counted_table table = {
            "starts", dpl_sglt_count, &about, DPL_SGLT_PARTS * cells, 1, 1};
        struct dpl_exact *exact = counted_count(run, &counted, &table, DPL_NORM_L2, DPL_UNIT_TRIP);
        assert_near(counted_value(exact, 0), cut == 2, 1e-4);
        assert_near(counted_value(exact, cells), cut == 5, 1e-4);
        dpl_exact_free(exact);
    }
    counted_close(&counted);
    dpl_run_free(run);
}

/* ---- clusters and moves ---- */

/* Cells where trips stay long in the morning, and cells that they pass in the evening: two kinds,
 * wherever they lie; cells of noise join the nearest. */
static void clusters_tell_kinds_apart(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct counted counted;
    uint64_t seed = 5;
    counted_open(run, CELL_M, &counted);
    size_t cells = (size_t)dpl_grid_cells(&counted.grid), found;
    double *profile = calloc(DPL_SGLT_PARTS * cells * SHARES, sizeof *profile);
    int32_t *cluster = calloc(cells, sizeof *cluster);
    for (size_t i = 0; i < DPL_SGLT_PARTS * cells * SHARES; i++) profile[i] = test_gauss(&seed);
    for (size_t cell = 0; cell < cells; cell += 2)
        for (size_t q = 0; q < SHARES; q++) {
            bool stays = cell % 4 == 0;
            size_t part = stays ? 0 : 3;
            profile[(part * cells + cell) * SHARES + q] += stays ? 100 : q < 2 ? 200 : 0;
        }
    assert_ok(run, dpl_sglt_clusters(run, &counted.grid, profile, 1, cluster, &found));
    assert_int_equal(found, DPL_SGLT_CLUSTERS);
    bool kind[2][DPL_SGLT_CLUSTERS] = {{false}};
    for (size_t cell = 0; cell < cells; cell += 2) kind[cell % 4 == 0][cluster[cell]] = true;
    for (size_t c = 0; c < DPL_SGLT_CLUSTERS; c++) assert_false(kind[0][c] && kind[1][c]);
    for (size_t cell = 1; cell + 1 < cells; cell += 2) // between two: as one of them
        if (cell % (size_t)counted.grid.columns > 0 &&
            cell % (size_t)counted.grid.columns + 1 < (size_t)counted.grid.columns)
            assert_true(cluster[cell] >= 0 && cluster[cell] < DPL_SGLT_CLUSTERS);
    memset(profile, 0, DPL_SGLT_PARTS * cells * SHARES * sizeof *profile);
    assert_ok(run, dpl_sglt_clusters(run, &counted.grid, profile, 1, cluster, &found));
    assert_int_equal(found, 1); // nothing stands out: one cluster
    free(profile), free(cluster);
    counted_close(&counted);
    dpl_run_free(run);
}

/* Half of what was seen, half of a pull by distance; rows sum to 1. */
static void moves_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct counted counted;
    counted_open(run, CELL_M, &counted);
    const struct dpl_grid *grid = &counted.grid;
    size_t cells = (size_t)dpl_grid_cells(grid), window = dpl_sglt_window(grid);
    double *moves = calloc(cells * window, sizeof *moves), pull = 0;
    float *chance = calloc(cells * window, sizeof *chance);
    int32_t middle = grid->rows / 2 * grid->columns + grid->columns / 2;
    size_t east = dpl_sglt_place(grid, middle, middle + 1),
           stay = dpl_sglt_place(grid, middle, middle);
    moves[(size_t)middle * window + east] = 30, moves[(size_t)middle * window + stay] = 10;
    moves[(size_t)middle * window + 0] = 1000; // further than anybody can
    dpl_sglt_moves(grid, moves, chance);
    for (int32_t y = -2; y <= 2; y++)
        for (int32_t x = -2; x <= 2; x++)
            if (x * x + y * y <= 6) pull += 1 / fmax(x * x + y * y, 1);
    assert_near(chance[(size_t)middle * window + east], 0.5 * 0.75 + 0.5 / pull, 1e-5);
    assert_near(chance[(size_t)middle * window + 0], 0, 0);
    for (size_t cell = 0; cell < cells; cell++) {
        double sum = 0;
        for (size_t w = 0; w < window; w++) sum += (double)chance[cell * window + w];
        assert_near(sum, 1, 1e-5);
    }
    free(moves), free(chance);
    counted_close(&counted);
    dpl_run_free(run);
}

/* ---- walks ---- */

struct model {
    struct dpl_grid grid;
    int32_t *cluster;
    float *moves, *starts, *keys, lengths[8];
    struct dpl_sglt_parts parts;
};

/* Random moves on a grid of a few cells, two clusters in stripes. */
static void model_new(struct dpl_run *run, struct model *model) {
    struct counted counted;
    uint64_t seed = 6;
    counted_open(run, 6000, &counted);
    model->grid = counted.grid;
    counted_close(&counted);
    size_t cells = (size_t)dpl_grid_cells(&model->grid), window = dpl_sglt_window(&model->grid);
    double *counts = calloc(cells * window, sizeof *counts);
    for (size_t i = 0; i < cells * window; i++) counts[i] = test_uniform(&seed);
    model->cluster = calloc(cells, sizeof(int32_t));
    model->moves = calloc(cells * window, sizeof(float));
    model->starts = calloc(DPL_SGLT_PARTS * cells, sizeof(float));
    model->keys = calloc(DPL_SGLT_KEYS, sizeof(float));
    dpl_sglt_moves(&model->grid, counts, model->moves);
    for (size_t i = 0; i < cells; i++) model->cluster[i] = (int32_t)(i % 2);
    for (size_t i = 0; i < 8; i++) model->lengths[i] = 0.1f;
    model->parts = (struct dpl_sglt_parts){.grid = &model->grid,
                                           .clusters = 2,
                                           .length_max = 7,
                                           .cluster = model->cluster,
                                           .moves = model->moves,
                                           .starts = model->starts,
                                           .keys = model->keys,
                                           .lengths = model->lengths};
    free(counts);
}

static void model_free(struct model *model) {
    free(model->cluster), free(model->moves), free(model->starts), free(model->keys);
}

/* The chance to be in the cluster after so many steps, by going through all ways. */
static double enumerate(const struct model *model, int32_t cell, size_t steps, int32_t cluster) {
    size_t window = dpl_sglt_window(&model->grid);
    double sum = 0;
    if (steps == 0) return model->cluster[cell] == cluster;
    for (size_t w = 0; w < window; w++) {
        int32_t to = dpl_sglt_to(&model->grid, cell, w);
        if (to >= 0)
            sum += (double)model->moves[(size_t)cell * window + w] *
                   enumerate(model, to, steps - 1, cluster);
    }
    return sum;
}

static void backward_chances_are_sums_over_ways(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct model model;
    struct dpl_sglt_walker *walker;
    model_new(run, &model);
    assert_ok(run, dpl_sglt_walker_new(run, &model.parts, &walker));
    for (int32_t cell = 0; cell < dpl_grid_cells(&model.grid); cell += 3)
        for (size_t steps = 0; steps < 5; steps++)
            for (int32_t c = 0; c < 2; c++)
                assert_near(dpl_sglt_arrives(walker, (size_t)c, steps, cell),
                            enumerate(&model, cell, steps, c), 1e-5);
    dpl_sglt_walker_free(walker);
    model_free(&model);
    dpl_run_free(run);
}

/* Every trip has the length bin, the first and the last cluster of its key, and only steps that can
 * be made; two steps on their way come as often as they should. */
static void walks_keep_their_keys(void **state) {
    (void)state;
    enum { N = 20000 };
    struct dpl_run *run = test_run(1);
    struct model model;
    struct dpl_sglt_walker *walker;
    struct dpl_secret secret;
    struct dpl_random *random;
    double seen[2] = {0};
    model_new(run, &model);
    size_t cells = (size_t)dpl_grid_cells(&model.grid), window = dpl_sglt_window(&model.grid);
    model.keys[dpl_sglt_key(2, 0, 1, dpl_sglt_length_bin(3))] = 1;
    model.starts[2 * cells + 4] = 1; // always from cell 4
    assert_int_equal(model.cluster[4], 0);
    assert_ok(run, dpl_sglt_walker_new(run, &model.parts, &walker));
    assert_ok(run, dpl_secret_from_seed(run, 5, &secret));
    assert_ok(run, dpl_random_new(run, &secret, &random));
    for (uint64_t t = 0; t < N; t++) {
        struct dpl_stream stream;
        int32_t cell[8];
        dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, t, 0});
        size_t n = dpl_sglt_draw(walker, &stream, cell);
        assert_ok(run, dpl_stream_close(run, &stream));
        assert_int_equal(n, 3);
        assert_true(cell[0] == 4 && model.cluster[cell[2]] == 1);
        for (size_t v = 1; v < n; v++)
            assert_true(dpl_sglt_place(&model.grid, cell[v - 1], cell[v]) != SIZE_MAX);
        seen[cell[1] == 4]++;
    }
    double stay = (double)model.moves[4 * window + dpl_sglt_place(&model.grid, 4, 4)] *
                  enumerate(&model, 4, 1, 1) / enumerate(&model, 4, 2, 1);
    assert_true(test_chi2(seen, (double[]){1 - stay, stay}, 2, N) < 4.75);
    dpl_random_free(random);
    dpl_sglt_walker_free(walker);
    model_free(&model);
    dpl_run_free(run);
}

/* ---- sequences ---- */

/* Runs in one cluster count once; a key is read back as it was made; too many runs have none. */
static void sequences_as_numbers(void **state) {
    (void)state;
    int32_t cluster[40], zigzag[2 * DPL_SGLT_RUNS];
    uint64_t key, other;
    for (int32_t i = 0; i < 40; i++) cluster[i] = i / 2;
    assert_true(dpl_sglt_sequence_key(3, (int32_t[]){38, 39, 0, 1, 6}, 5, cluster, &key));
    const struct dpl_sglt_sequence read = dpl_sglt_sequence_of(key);
    assert_int_equal(read.part, 3);
    assert_int_equal(read.length_bin, dpl_sglt_length_bin(5));
    assert_int_equal(read.runs, 3);
    assert_true(read.cluster[0] == 19 && read.cluster[1] == 0 && read.cluster[2] == 3);
    assert_true(dpl_sglt_sequence_key(3, (int32_t[]){0, 0, 0, 1, 6}, 5, cluster, &other));
    assert_true(key != other && dpl_sglt_sequence_of(other).runs == 2); // a first cluster 0 counts
    for (int32_t i = 0; i < 2 * DPL_SGLT_RUNS; i++) zigzag[i] = i % 2 ? 0 : 6;
    assert_true(dpl_sglt_sequence_key(0, zigzag, DPL_SGLT_RUNS, cluster, &key));
    assert_int_equal(dpl_sglt_sequence_of(key).runs, DPL_SGLT_RUNS);
    assert_false(dpl_sglt_sequence_key(0, zigzag, DPL_SGLT_RUNS + 1, cluster, &key));
}

/* The chance to go through what is left of the sequence in so many steps, by all ways. */
static double go_through(const struct model *model, const struct dpl_sglt_sequence *sequence,
                         int32_t run, int32_t cell, size_t steps) {
    size_t window = dpl_sglt_window(&model->grid);
    double sum = 0;
    if (steps == 0) return run == sequence->runs - 1;
    for (size_t w = 0; w < window; w++) {
        int32_t to = dpl_sglt_to(&model->grid, cell, w), on = run;
        if (to < 0) continue;
        if (model->cluster[to] != sequence->cluster[run]) on++;
        if (on == sequence->runs || model->cluster[to] != sequence->cluster[on]) continue;
        sum += (double)model->moves[(size_t)cell * window + w] *
               go_through(model, sequence, on, to, steps - 1);
    }
    return sum;
}

static const struct dpl_sglt_sequence SEQUENCES[] = {{1, 3, 3, {0, 1, 0}}, {2, 1, 2, {1, 0}}};
static const float SEQUENCE_CHANCES[] = {0.25f, 0.75f};

static void add_sequences(struct model *model) {
    model->parts.n_sequences = 2;
    model->parts.sequence = SEQUENCES;
    model->parts.sequence_chance = SEQUENCE_CHANCES;
}

static void what_is_ahead_is_a_sum_over_ways(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct model model;
    struct dpl_sglt_ahead *ahead;
    size_t above = 0;
    model_new(run, &model);
    add_sequences(&model);
    assert_ok(run, dpl_sglt_ahead_new(run, &model.parts, &ahead));
    for (size_t s = 0; s < 2; s++)
        for (int32_t j = 0; j < SEQUENCES[s].runs; j++)
            for (int32_t cell = 0; cell < dpl_grid_cells(&model.grid); cell += 3)
                for (size_t steps = 0; steps < (s == 0 ? 5 : 3); steps++) {
                    bool here = model.cluster[cell] == SEQUENCES[s].cluster[j];
                    double truth = here ? go_through(&model, &SEQUENCES[s], j, cell, steps) : 0;
                    assert_near(dpl_sglt_finishes(ahead, s, (size_t)j, steps, cell), truth, 1e-5);
                    above += truth > 0;
                }
    assert_true(above > 20);
    dpl_sglt_ahead_free(ahead);
    model_free(&model);
    dpl_run_free(run);
}

/* Every trip goes through the clusters of a sequence, in order, in a length of its bin; sequences
 * come as often as they should. */
static void trips_keep_their_sequences(void **state) {
    (void)state;
    enum { N = 8000 };
    struct dpl_run *run = test_run(1);
    struct model model;
    struct dpl_sglt_ahead *ahead;
    struct dpl_secret secret;
    struct dpl_random *random;
    double seen[2] = {0};
    model_new(run, &model);
    add_sequences(&model);
    assert_ok(run, dpl_sglt_ahead_new(run, &model.parts, &ahead));
    assert_ok(run, dpl_secret_from_seed(run, 6, &secret));
    assert_ok(run, dpl_random_new(run, &secret, &random));
    for (uint64_t t = 0; t < N; t++) {
        struct dpl_stream stream;
        int32_t cell[8];
        uint64_t key;
        dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, t, 0});
        size_t n = dpl_sglt_sequence_draw(ahead, &stream, cell), s = n == 5 ? 0 : 1;
        assert_ok(run, dpl_stream_close(run, &stream));
        for (size_t v = 1; v < n; v++)
            assert_true(dpl_sglt_place(&model.grid, cell[v - 1], cell[v]) != SIZE_MAX);
        assert_true(dpl_sglt_sequence_key((size_t)SEQUENCES[s].part, cell, n, model.cluster, &key));
        const struct dpl_sglt_sequence drawn = dpl_sglt_sequence_of(key);
        assert_memory_equal(&drawn, &SEQUENCES[s], sizeof drawn);
        seen[s]++;
    }
    assert_true(test_chi2(seen, (double[]){0.25, 0.75}, 2, N) < 4.75);
    dpl_random_free(random);
    dpl_sglt_ahead_free(ahead);
    model_free(&model);
    dpl_run_free(run);
}

/* ---- the published form ---- */

/* The best of all assignments of a's places to b's, by going through them. */
static double best_matching(const float *a, size_t n_a, const float *b, size_t n_b, unsigned used) {
    double best = 0;
    if (n_a == 0) return 0;
    for (size_t i = 0; i < n_b; i++)
        if (!(used >> i & 1))
            best = fmax(best, fmin((double)a[0], (double)b[i]) +
                                  best_matching(a + 1, n_a - 1, b, n_b, used | 1U << i));
    return fmax(best, best_matching(a + 1, n_a - 1, b, n_b, used)); // a place may stay alone
}

static void matching_in_order_is_the_best_assignment(void **state) {
    (void)state;
    uint64_t seed = 9;
    for (int round = 0; round < 300; round++) {
        int32_t cell[2][12];
        float share[2][12];
        size_t places[2];
        for (int i = 0; i < 2; i++) {
            size_t n = 2 + test_random(&seed) % 11, few = 1 + test_random(&seed) % 5;
            for (size_t v = 0; v < n; v++) cell[i][v] = (int32_t)(test_random(&seed) % few);
            places[i] = dpl_sglt_shares(cell[i], n, share[i]);
            double sum = 0;
            for (size_t p = 0; p < places[i]; p++) sum += (double)share[i][p];
            assert_near(sum, 1, 1e-6);
        }
        assert_near(dpl_sglt_likeness(share[0], places[0], share[1], places[1]),
                    best_matching(share[0], places[0], share[1], places[1], 0), 1e-6);
    }
}

/* A fake never stands where its seed did at that time, has the seed's length, and is made of the
 * clusters that the seed goes through. */
static void fakes_replace_every_place(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct model model;
    struct dpl_secret secret;
    struct dpl_random *random;
    struct dpl_sglt_sets sets;
    size_t first[DPL_SGLT_CLUSTERS + 1], differ = 0;
    uint64_t seed = 10;
    model_new(run, &model);
    size_t cells = (size_t)dpl_grid_cells(&model.grid);
    int32_t *member = calloc(cells, sizeof *member), trip[8], fake[8];
    sets.place = calloc(8 * DPL_SGLT_SET, sizeof *sets.place);
    sets.count = calloc(8, 1), sets.back = calloc(8 * DPL_SGLT_SET, 1);
    dpl_sglt_list_members(model.cluster, cells, member, NULL, first);
    struct dpl_sglt_decoder decoder = {
        .grid = &model.grid, .cluster = model.cluster, .member = member, .first = first};
    assert_ok(run, dpl_sglt_decoder_logs(run, model.moves, &decoder));
    assert_ok(run, dpl_secret_from_seed(run, 7, &secret));
    assert_ok(run, dpl_random_new(run, &secret, &random));
    for (uint64_t t = 0; t < 200; t++) {
        struct dpl_stream stream;
        dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, t, 0});
        for (size_t v = 0; v < 8; v++) // all of one kind: the set of each slot is, too
            trip[v] = (int32_t)(2 * (test_random(&seed) % (cells / 2)));
        dpl_sglt_fake(&decoder, trip, 8, &sets, &stream, fake);
        for (size_t v = 0; v < 8; v++) {
            assert_int_equal(model.cluster[fake[v]], 0);
            differ += fake[v] != trip[v];
        }
        assert_ok(run, dpl_stream_close(run, &stream));
    }
    assert_true(differ > 190 * 8); // an empty set is any place of the cluster, also the true one
    dpl_sglt_decoder_free(&decoder);
    free(member), free(sets.place), free(sets.count), free(sets.back);
    dpl_random_free(random);
    model_free(&model);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_lead_there_and_back),
        cmocka_unit_test(profiles_are_sums_over_pairs),
        cmocka_unit_test(one_unit_moves_each_table_by_its_clip),
        cmocka_unit_test(tables_by_hand),
        cmocka_unit_test(the_part_is_that_of_the_cut_trip),
        cmocka_unit_test(clusters_tell_kinds_apart),
        cmocka_unit_test(moves_by_hand),
        cmocka_unit_test(backward_chances_are_sums_over_ways),
        cmocka_unit_test(walks_keep_their_keys),
        cmocka_unit_test(sequences_as_numbers),
        cmocka_unit_test(what_is_ahead_is_a_sum_over_ways),
        cmocka_unit_test(trips_keep_their_sequences),
        cmocka_unit_test(matching_in_order_is_the_best_assignment),
        cmocka_unit_test(fakes_replace_every_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
