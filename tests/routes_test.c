/* Routing graphs: probabilities against the net, distances against two textbook searches and
 * against all paths there are. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "hand_model.h"
#include "method/paper/routes.h"

enum { MOST = 48 };

/* ---- the oracles, in double ---- */

/* cost[x][y] = -log P(y | x). */
static void costs(const struct dpl_graph *graph, double cost[MOST][MOST]) {
    size_t K = graph->n_cells;
    for (size_t x = 0; x < K; x++) {
        double sum = 0;
        for (size_t y = 0; y < K; y++) sum += exp((double)graph->logit[y * K + x]);
        for (size_t y = 0; y < K; y++) cost[x][y] = log(sum) - (double)graph->logit[y * K + x];
    }
}

static void dijkstra(size_t K, double cost[MOST][MOST], size_t destination, double *distance) {
    bool settled[MOST] = {false};
    for (size_t x = 0; x < K; x++) distance[x] = x == destination ? 0 : INFINITY;
    for (size_t round = 0; round < K; round++) {
        size_t best = K;
        for (size_t x = 0; x < K; x++)
            if (!settled[x] && (best == K || distance[x] < distance[best])) best = x;
        settled[best] = true;
        for (size_t x = 0; x < K; x++)
            distance[x] = fmin(distance[x], distance[best] + cost[x][best]);
    }
}

static void bellman_ford(size_t K, double cost[MOST][MOST], size_t destination, double *distance) {
    for (size_t x = 0; x < K; x++) distance[x] = x == destination ? 0 : INFINITY;
    for (size_t round = 0; round < K; round++)
        for (size_t x = 0; x < K; x++)
            for (size_t y = 0; y < K; y++)
                distance[x] = fmin(distance[x], cost[x][y] + distance[y]);
}

/* The least cost over all simple paths. */
static double all_paths(size_t K, double cost[MOST][MOST], size_t x, size_t destination,
                        unsigned seen) {
    if (x == destination) return 0;
    double best = INFINITY;
    for (size_t y = 0; y < K; y++)
        if (!(seen >> y & 1))
            best = fmin(best, cost[x][y] + all_paths(K, cost, y, destination, seen | 1u << y));
    return best;
}

/* ---- graphs ---- */

static void fill(struct dpl_graph *graph, uint64_t *state, double spread, double missing) {
    size_t K = graph->n_cells;
    for (size_t i = 0; i < K * K; i++)
        graph->logit[i] =
            test_uniform(state) < missing ? -INFINITY : (float)(test_uniform(state) * spread);
    for (size_t x = 0; x < K; x++)
        graph->logit[x * K + x] =
            (float)(test_uniform(state) * spread); // no column without any edge
}

static void check_distance(double found, double right) {
    if (isinf(right))
        assert_true(isinf(found));
    else
        assert_near(found, right, 1e-4 * (1 + right));
}

/* Walking along `next` costs what `distance` says, and ends. */
static void check_tree(const struct dpl_graph *graph, double cost[MOST][MOST]) {
    for (size_t source = 0; source < graph->n_cells; source++) {
        double sum = 0;
        size_t steps = 0;
        int32_t x = (int32_t)source;
        if (isinf(graph->distance[source])) {
            assert_int_equal(graph->next[source], -1);
            continue;
        }
        for (; x != graph->destination; x = graph->next[x]) {
            assert_true(graph->next[x] >= 0 && ++steps < graph->n_cells);
            sum += cost[x][graph->next[x]];
        }
        check_distance((double)graph->distance[source], sum);
    }
}

static void distances_are_the_least(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(1);
    uint64_t state = 1;
    for (size_t trial = 0; trial < test_soak(60); trial++) {
        size_t K =
            trial < 30
                ? 1 + trial % 7
                : 8 + trial % (MOST - 8); // sizes that are no multiple of the vector's lanes, too
        double cost[MOST][MOST], distance[MOST], other[MOST];
        struct dpl_graph *graph;
        assert_ok(run, dpl_graph_new(run, K, 1, &graph));
        fill(graph, &state, trial % 3 ? 6 : 60, trial % 4 == 0 ? 0.6 : 0);
        costs(graph, cost);
        for (size_t destination = 0; destination < K; destination++) {
            dpl_graph_solve(graph, (int32_t)destination);
            dijkstra(K, cost, destination, distance);
            bellman_ford(K, cost, destination, other);
            for (size_t x = 0; x < K; x++) {
                check_distance(other[x], distance[x]);
                check_distance((double)graph->distance[x], distance[x]);
                if (K <= 7)
                    check_distance((double)graph->distance[x],
                                   all_paths(K, cost, x, destination, 1u << x));
                for (size_t y = 0; y < K; y++)
                    if (!isinf(cost[x][y]))
                        assert_near(dpl_graph_log_p(graph, (int32_t)x, (int32_t)y),
                                    fmin(0, -cost[x][y]), 2e-5 * (1 + cost[x][y]));
            }
            check_tree(graph, cost);
        }
        dpl_graph_free(graph);
    }
    dpl_run_free(run);
}

/* Edges of certainty cost nothing; the tree still has no cycle. */
static void free_edges_make_no_cycle(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(1);
    enum { K = 17 };
    struct dpl_graph *graph;
    assert_ok(run, dpl_graph_new(run, K, 1, &graph));
    for (size_t i = 0; i < K * K; i++) graph->logit[i] = -200;
    for (size_t x = 0; x < K; x++) graph->logit[(x + 1) % K * K + x] = 0;
    dpl_graph_solve(graph, 3);
    for (int32_t x = 0; x < K; x++) {
        assert_near(graph->distance[x], 0, 1e-6);
        int32_t at = x;
        for (int steps = 0; at != 3; at = graph->next[at]) assert_true(++steps < K);
    }
    dpl_graph_free(graph);
    dpl_run_free(run);
}

/* A file may hold any numbers: nothing that is not finite is ever an edge, and nothing hangs. */
static void rubbish_is_no_edge(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(1);
    enum { K = 11 };
    struct dpl_graph *graph;
    assert_ok(run, dpl_graph_new(run, K, 1, &graph));
    const float rubbish[] = {NAN, INFINITY, -INFINITY};
    for (size_t kind = 0; kind < 3; kind++) {
        for (size_t i = 0; i < K * K; i++) graph->logit[i] = rubbish[kind];
        dpl_graph_solve(graph, 2);
        for (int32_t x = 0; x < K; x++) {
            assert_int_equal(graph->next[x], -1);
            for (int32_t y = 0; y < K; y++) assert_true(isinf(dpl_graph_log_p(graph, x, y)));
        }
        for (size_t i = 0; i < K * K; i++) graph->logit[i] = i % 3 == kind ? rubbish[kind] : 0;
        dpl_graph_solve(graph, 2);
        for (int32_t x = 0; x < K; x++)
            if (graph->next[x] >= 0)
                assert_true(isfinite(dpl_graph_log_p(graph, x, graph->next[x])));
    }
    dpl_graph_free(graph);
    dpl_run_free(run);
}

/* The one product of a graph says what the net says query by query. */
static void graphs_say_what_the_net_says(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(2);
    struct dpl_nexthop_shape shape = {.n_cells = 37, .n_periods = 24, .embedding = 5, .hidden = 13};
    size_t K = shape.n_cells, n = dpl_nexthop_parameters(&shape);
    float *parameters = dpl_alloc(run, n, sizeof *parameters),
          *log_p = dpl_alloc(run, K * K, sizeof *log_p);
    int32_t current[37], destination[37];
    uint8_t period[37];
    uint64_t state = 5;
    struct dpl_nexthop_folded folded;
    struct dpl_routes *routes;
    struct dpl_graph *graph;
    for (size_t i = 0; i < n; i++) parameters[i] = (float)(test_uniform(&state) * 3 - 1.5);
    assert_ok(run, dpl_nexthop_fold(run, &shape, parameters, &folded));
    assert_ok(run, dpl_routes_open(run, &shape, parameters, &routes));
    assert_ok(run, dpl_graph_new(run, K, shape.hidden, &graph));
    for (size_t trial = 0; trial < 20; trial++) {
        for (size_t x = 0; x < K; x++)
            current[x] = (int32_t)x, destination[x] = (int32_t)(trial * 7 % K),
            period[x] = (uint8_t)(trial % 24);
        assert_ok(run, dpl_nexthop_evaluate(run, &folded, K, current, destination, period, log_p));
        dpl_graph_build(routes, destination[0], period[0], graph);
        for (int32_t x = 0; x < 37; x++)
            for (int32_t y = 0; y < 37; y++)
                assert_near(dpl_graph_log_p(graph, x, y), log_p[(size_t)x * K + (size_t)y], 2e-4);
    }
    dpl_graph_free(graph);
    dpl_routes_free(routes);
    dpl_nexthop_folded_free(&folded);
    shape.n_cells = DPL_ROUTES_CELLS + 1;
    assert_int_equal(dpl_routes_open(run, &shape, parameters, &routes), DPL_BAD_DATA);
    dpl_free(log_p);
    dpl_free(parameters);
    dpl_run_free(run);
}

static void every_allocation_may_fail(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(1);
    struct dpl_nexthop_shape shape = {.n_cells = 7, .n_periods = 24, .embedding = 2, .hidden = 3};
    float parameters[256] = {0};
    assert_true(dpl_nexthop_parameters(&shape) <= 256);
    for (long n = 1; n < 12; n++) {
        struct dpl_routes *routes = NULL;
        struct dpl_graph *graph = NULL;
        dpl_run_begin(run);
        dpl_run_fail_allocation(run, n);
        enum dpl_status status = dpl_routes_open(run, &shape, parameters, &routes);
        if (status == DPL_OK) status = dpl_graph_new(run, 7, 3, &graph);
        assert_int_equal(status, n <= 6 ? DPL_SYSTEM : DPL_OK);
        dpl_run_fail_allocation(run, 0);
        dpl_graph_free(graph);
        dpl_routes_free(routes);
    }
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_the_least),   cmocka_unit_test(free_edges_make_no_cycle),
        cmocka_unit_test(rubbish_is_no_edge),        cmocka_unit_test(graphs_say_what_the_net_says),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
