/* Traces: neighbours, the walk's long-run distribution against enumeration, looping's distribution,
 * lengths. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hand_model.h"
#include "method/paper/trace.h"

static const double TOO_FAR = 4.75; // p < 1e-6

struct fixture {
    struct dpl_run *run;
    struct dpl_random *random;
    struct dpl_stream stream;
    struct dpl_graph *graph;
};

static void set_up(struct fixture *f, size_t K, uint64_t seed) {
    struct dpl_secret secret;
    f->run = test_run(1);
    assert_ok(f->run, dpl_secret_from_seed(f->run, seed, &secret));
    assert_ok(f->run, dpl_random_new(f->run, &secret, &f->random));
    dpl_stream_open(&f->stream, f->random, (struct dpl_stream_id){DPL_PURPOSE_TEST, seed, 0});
    assert_ok(f->run, dpl_graph_new(f->run, K, 1, &f->graph));
}

static void tear_down(struct fixture *f) {
    assert_ok(f->run, dpl_stream_close(f->run, &f->stream));
    dpl_graph_free(f->graph);
    dpl_random_free(f->random);
    dpl_run_free(f->run);
}

/* ---- neighbours ---- */

static void neighbours_are_the_nearest_of_either(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(1);
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    enum { K = 90 };
    int32_t cell[K];
    uint64_t state = 3;
    for (int32_t i = 0; i < K; i++) cell[i] = i * 17 + (int32_t)(test_random(&state) % 17);
    static bool near[K][K],
        found[K][K]; // near[x][y]: fewer than 20 others are before y, seen from x
    for (int x = 0; x < K; x++)
        for (int y = 0; y < K; y++) {
            int before = 0;
            double d = dpl_grid_distance_m(&grid, cell[x], cell[y]);
            for (int z = 0; z < K; z++) {
                double other = dpl_grid_distance_m(&grid, cell[x], cell[z]);
                before += z != x && z != y && (other < d || (!(d < other) && z < y));
            }
            near[x][y] = x != y && before < DPL_NEAREST;
        }
    struct dpl_neighbours neighbours;
    assert_ok(run, dpl_neighbours_find(run, &grid, cell, K, &neighbours));
    size_t least = SIZE_MAX, most = 0;
    for (int x = 0; x < K; x++) {
        size_t degree = neighbours.start[x + 1] - neighbours.start[x];
        least = degree < least ? degree : least, most = degree > most ? degree : most;
        for (size_t i = neighbours.start[x]; i < neighbours.start[x + 1]; i++) {
            assert_false(found[x][neighbours.cell[i]]);
            found[x][neighbours.cell[i]] = true;
        }
    }
    for (int x = 0; x < K; x++)
        for (int y = 0; y < K; y++) assert_int_equal(found[x][y], near[x][y] || near[y][x]);
    assert_true(least >= DPL_NEAREST &&
                most > least); // degrees differ: the correction has something to do
    dpl_neighbours_free(&neighbours);
    assert_ok(run, dpl_neighbours_find(run, &grid, cell, 1, &neighbours));
    assert_int_equal(neighbours.start[1], 0);
    dpl_neighbours_free(&neighbours);
    dpl_run_free(run);
}

/* ---- the walk ---- */

/* Five cells with degrees 4, 2, 3, 2, 1 (a star around 0 and two more ties); not the nearest, so
 * that degrees differ much. */
static size_t STAR_START[] = {0, 4, 6, 9, 11, 12};
static int32_t STAR_CELL[] = {1, 2, 3, 4, /* 1 */ 0, 2, /* 2 */ 0, 1, 3, /* 3 */ 0, 2, /* 4 */ 0};
static const struct dpl_neighbours STAR = {STAR_START, STAR_CELL};
enum { CELLS = 5, STATES = CELLS * CELLS };

static size_t star_degree(int32_t x) { return STAR_START[x + 1] - STAR_START[x]; }

static void fill_random(struct dpl_graph *graph, uint64_t seed) {
    for (size_t i = 0; i < graph->n_cells * graph->n_cells; i++)
        graph->logit[i] = (float)(test_uniform(&seed) * 2);
}

/* The exact distribution of the two cells between 1 and 3, adjacent ones being different. */
static void enumerate(const struct dpl_graph *graph, double *chance) {
    double total = 0;
    for (int32_t a = 0; a < CELLS; a++)
        for (int32_t b = 0; b < CELLS; b++) {
            bool possible = a != 1 && a != b && b != 3;
            double p = possible ? exp(dpl_graph_log_p(graph, 1, a) + dpl_graph_log_p(graph, a, b) +
                                      dpl_graph_log_p(graph, b, 3))
                                : 0;
            total += chance[a * CELLS + b] = p;
        }
    for (int i = 0; i < STATES; i++) chance[i] /= total;
}

/* The walk once more, as a mutant would have it: the same but for the correction. */
static void walk_without_correction(const struct dpl_graph *graph, int64_t steps, uint64_t *state,
                                    int32_t *path) {
    for (int64_t step = 0; step < steps; step++) {
        size_t i = 1 + (size_t)(test_random(state) % 2);
        int32_t y = STAR_CELL[STAR_START[path[i]] +
                              (size_t)(test_uniform(state) * (double)star_degree(path[i]))];
        if (y == path[i - 1] || y == path[i + 1]) continue;
        double now = dpl_graph_log_p(graph, path[i - 1], path[i]) +
                     dpl_graph_log_p(graph, path[i], path[i + 1]);
        double then =
            dpl_graph_log_p(graph, path[i - 1], y) + dpl_graph_log_p(graph, y, path[i + 1]);
        if (test_uniform(state) < exp(then - now)) path[i] = y;
    }
}

static void the_walk_meets_its_target(void **unused) {
    (void)unused;
    struct fixture f;
    set_up(&f, CELLS, 21);
    fill_random(f.graph, 9);
    dpl_graph_solve(f.graph, 3);
    double chance[STATES] = {0}, count[STATES] = {0}, wrong[STATES] = {0};
    enumerate(f.graph, chance);
    enum { STEPS = 300 }; // far more than the chain needs to forget where it began
    size_t n = test_soak(12000);
    uint64_t state = 4;
    for (size_t i = 0; i < n; i++) {
        int32_t path[] = {1, 0, 2, 3}, other[] = {1, 0, 2, 3};
        dpl_trace_walk(f.graph, &STAR, STEPS, &f.stream, path, 4);
        assert_true(path[0] == 1 && path[3] == 3 && path[1] != 1 && path[1] != path[2] &&
                    path[2] != 3);
        count[path[1] * CELLS + path[2]]++;
        walk_without_correction(f.graph, STEPS, &state, other);
        wrong[other[1] * CELLS + other[2]]++;
    }
    double right_far = test_chi2(count, chance, STATES, (double)n),
           wrong_far = test_chi2(wrong, chance, STATES, (double)n);
    assert_true(right_far < TOO_FAR);
    assert_true(wrong_far > 2 * TOO_FAR); // this test would see the correction missing
    tear_down(&f);
}

static void short_paths_and_no_steps_stay(void **unused) {
    (void)unused;
    struct fixture f;
    set_up(&f, CELLS, 22);
    fill_random(f.graph, 10);
    dpl_graph_solve(f.graph, 3);
    int32_t two[] = {1, 3}, four[] = {1, 0, 2, 3};
    dpl_trace_walk(f.graph, &STAR, 100, &f.stream, two, 2);
    assert_true(two[0] == 1 && two[1] == 3);
    dpl_trace_walk(f.graph, &STAR, 0, &f.stream, four, 4);
    assert_true(four[1] == 0 && four[2] == 2);
    // Cells that cannot be reached are not walked to.
    for (size_t x = 0; x < CELLS; x++) f.graph->logit[4 * CELLS + x] = -INFINITY;
    dpl_graph_solve(f.graph, 3);
    for (int i = 0; i < 200; i++) {
        dpl_trace_walk(f.graph, &STAR, 10, &f.stream, four, 4);
        assert_true(four[1] != 4 && four[2] != 4);
    }
    tear_down(&f);
}

/* ---- looping and lengths ---- */

/* A graph on which every cell stays with probability p. */
static void fill_staying(struct dpl_graph *graph, double p) {
    size_t K = graph->n_cells;
    for (size_t i = 0; i < K * K; i++) graph->logit[i] = (float)log((1 - p) / ((double)K - 1));
    for (size_t x = 0; x < K; x++) graph->logit[x * K + x] = (float)log(p);
}

static void stays_are_geometric(void **unused) {
    (void)unused;
    const double chances[] = {0.05, 0.5, 0.8, 0.95};
    for (size_t c = 0; c < 4; c++) {
        enum { BINS = 120 };
        struct fixture f;
        double p = chances[c], count[BINS] = {0}, chance[BINS], sum = 0;
        size_t n = test_soak(40000);
        set_up(&f, 7, 30 + c);
        fill_staying(f.graph, p);
        dpl_graph_solve(f.graph, 0);
        for (size_t i = 0; i < n; i++) {
            uint32_t visits = dpl_trace_stay(f.graph, 4, 60000, &f.stream);
            assert_true(visits >= 1);
            sum += visits;
            count[visits - 1 < BINS ? visits - 1 : BINS - 1]++;
        }
        for (int k = 0; k < BINS; k++)
            chance[k] = k < BINS - 1 ? pow(p, k) * (1 - p) : pow(p, BINS - 1);
        assert_true(test_chi2(count, chance, BINS, (double)n) < TOO_FAR);
        assert_near(sum / (double)n, 1 / (1 - p),
                    5 * sqrt(p) / (1 - p) / sqrt((double)n)); // mean, five deviations
        tear_down(&f);
    }
}

static void stays_end_where_the_room_does(void **unused) {
    (void)unused;
    struct fixture f;
    set_up(&f, 3, 40);
    for (size_t i = 0; i < 9; i++)
        f.graph->logit[i] = i % 4 == 0 ? 0.0f : -INFINITY; // stays for ever
    dpl_graph_solve(f.graph, 0);
    for (uint32_t room = 1; room < 50;
         room++) { // then each number that fits is as good as any other
        double sum = 0;
        enum { N = 4000 };
        for (int i = 0; i < N; i++) {
            uint32_t visits = dpl_trace_stay(f.graph, 1, room, &f.stream);
            assert_true(visits >= 1 && visits <= room);
            sum += visits;
        }
        assert_near(sum / N, (1 + room) / 2.0, 6 * room / sqrt(12.0 * N));
    }
    f.graph->logit[4] = -INFINITY, f.graph->logit[1] = 0; // never stays
    dpl_graph_solve(f.graph, 0);
    for (uint32_t room = 1; room < 50; room++)
        assert_int_equal(dpl_trace_stay(f.graph, 1, room, &f.stream), 1);
    tear_down(&f);
}

static uint32_t total(const struct dpl_stay *stay, size_t n) {
    uint32_t visits = 0;
    for (size_t i = 0; i < n; i++) visits += stay[i].visits;
    return visits;
}

static void trips_keep_to_the_longest_length(void **unused) {
    (void)unused;
    enum { K = 30 };
    struct fixture f;
    set_up(&f, K, 50);
    size_t start[K + 1];
    int32_t neighbour[2 * K], path[64];
    struct dpl_stay stay[64];
    for (size_t x = 0; x < K; x++) { // a ring
        start[x] = 2 * x;
        neighbour[2 * x] = (int32_t)((x + 1) % K),
                      neighbour[2 * x + 1] = (int32_t)((x + K - 1) % K);
    }
    start[K] = (size_t)2 * K;
    struct dpl_neighbours ring = {start, neighbour};
    for (size_t i = 0; i < (size_t)K * K; i++) f.graph->logit[i] = -INFINITY;
    for (size_t x = 0; x < K; x++)
        f.graph->logit[x * K + x] = 2,
                               f.graph->logit[(x + 1) % K * K + x] = 0; // one way, mostly staying
    for (int32_t destination = 0; destination < K; destination += 7) {
        dpl_graph_solve(f.graph, destination);
        for (int32_t source = 0; source < K; source++)
            for (uint32_t longest = 2; longest < 60; longest += 3) {
                struct dpl_trace_options options = {
                    .mh_steps = 3, .looping = true, .length_max = longest};
                size_t n = dpl_trace_trip(f.graph, &ring, &options, source, &f.stream, path, stay);
                assert_true(total(stay, n) >= 2 && total(stay, n) <= longest);
                assert_int_equal(stay[0].cell, source);
                assert_int_equal(stay[n - 1].cell, destination);
                for (size_t i = 0; i < n; i++) assert_true(stay[i].visits >= 1);
                for (size_t i = 1; i < n; i++) assert_true(stay[i].cell != stay[i - 1].cell);
                options.looping = false;
                n = dpl_trace_trip(f.graph, &ring, &options, source, &f.stream, path, stay);
                assert_int_equal(total(stay, n), source == destination ? 2 : n);
            }
    }
    tear_down(&f);
}

/* Source = destination: the geometric number from 2 up. */
static void round_trips_stay_there(void **unused) {
    (void)unused;
    enum { BINS = 40 };
    struct fixture f;
    int32_t path[600];
    struct dpl_stay stay[600];
    double count[BINS] = {0}, chance[BINS], p = 0.6;
    size_t n = test_soak(20000);
    set_up(&f, CELLS, 60);
    fill_staying(f.graph, p);
    dpl_graph_solve(f.graph, 2);
    struct dpl_trace_options options = {.mh_steps = 10, .looping = true, .length_max = 600};
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(dpl_trace_trip(f.graph, &STAR, &options, 2, &f.stream, path, stay), 1);
        assert_true(stay[0].cell == 2 && stay[0].visits >= 2);
        count[stay[0].visits - 2 < BINS ? stay[0].visits - 2 : BINS - 1]++;
    }
    for (int k = 0; k < BINS; k++)
        chance[k] = k < BINS - 1 ? pow(p, k) * (1 - p) : pow(p, BINS - 1);
    assert_true(test_chi2(count, chance, BINS, (double)n) < TOO_FAR);
    tear_down(&f);
}

static void no_path_goes_straight(void **unused) {
    (void)unused;
    struct fixture f;
    int32_t path[8];
    set_up(&f, CELLS, 70);
    for (size_t i = 0; i < STATES; i++)
        f.graph->logit[i] = i % (CELLS + 1) == 0 ? 0.0f : -INFINITY; // nothing leads anywhere
    dpl_graph_solve(f.graph, 3);
    assert_int_equal(dpl_trace_path(f.graph, 1, 8, path), 2);
    assert_true(path[0] == 1 && path[1] == 3);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_the_nearest_of_either),
        cmocka_unit_test(the_walk_meets_its_target),
        cmocka_unit_test(short_paths_and_no_steps_stay),
        cmocka_unit_test(stays_are_geometric),
        cmocka_unit_test(stays_end_where_the_room_does),
        cmocka_unit_test(trips_keep_to_the_longest_length),
        cmocka_unit_test(round_trips_stay_there),
        cmocka_unit_test(no_path_goes_straight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
