/* The earth mover's distance against independent oracles: every permutation, successive shortest
 * paths, closed forms. */
#include "evaluate/emd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { MOST = 40 };

struct plane {
    double x[4096], y[4096];
};

static void euclid(const void *context, uint32_t from, const uint32_t *to, size_t n,
                   double *cost_m) {
    const struct plane *p = context;
    for (size_t i = 0; i < n; i++)
        cost_m[i] = hypot(p->x[from] - p->x[to[i]], p->y[from] - p->y[to[i]]);
}

/* Point i stands at i / 2 metres. */
static void half_metres(const void *context, uint32_t from, const uint32_t *to, size_t n,
                        double *cost_m) {
    (void)context;
    for (size_t i = 0; i < n; i++) cost_m[i] = fabs((double)from - (double)to[i]) / 2;
}

static double distance(const struct plane *p, size_t a, size_t b) {
    return hypot(p->x[a] - p->x[b], p->y[a] - p->y[b]);
}

static double solve(struct dpl_run *run, const struct plane *plane, const int64_t *a,
                    const int64_t *b, size_t n) {
    struct dpl_emd_ground ground = {euclid, plane, 4000};
    struct dpl_emd_solver solver = {0};
    double emd_m = -1;
    assert_ok(run, dpl_emd(run, &solver, a, b, n, &ground, &emd_m));
    dpl_emd_free(&solver);
    return emd_m;
}

/* Whole numbers in a small square give ties and duplicate points; others give none. */
static void scatter(struct plane *plane, size_t n, bool lattice, uint64_t *random) {
    for (size_t i = 0; i < n; i++) {
        plane->x[i] =
            lattice ? (double)(test_random(random) % 5) * 100 : test_uniform(random) * 1000;
        plane->y[i] =
            lattice ? (double)(test_random(random) % 5) * 100 : test_uniform(random) * 1000;
    }
}

/* ---- oracle 1: all assignments of n unit masses to n unit masses ---- */

static double best_assignment(const struct plane *plane, size_t n, size_t done, unsigned used) {
    if (done == n) return 0;
    double best = INFINITY;
    for (size_t j = 0; j < n; j++) {
        if (used >> j & 1) continue;
        best = fmin(best, distance(plane, done, n + j) +
                              best_assignment(plane, n, done + 1, used | 1u << j));
    }
    return best;
}

static void equals_the_best_of_all_assignments(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct plane plane;
    uint64_t random = 1;
    for (size_t round = 0; round < test_soak(300); round++) {
        size_t n = 1 + test_random(&random) % 7;
        int64_t a[14] = {0}, b[14] = {0};
        scatter(&plane, 2 * n, round % 2, &random);
        for (size_t i = 0; i < n; i++) a[i] = b[n + i] = 1;
        assert_near(solve(run, &plane, a, b, 2 * n), best_assignment(&plane, n, 0, 0) / (double)n,
                    1e-4);
    }
    dpl_run_free(run);
}

/* ---- oracle 2: minimum cost flow by successive shortest paths (Bellman-Ford on the residual
 * network, plain doubles) ---- */

struct residual {
    size_t n;
    double cost[MOST + 2][MOST + 2];
    int64_t room[MOST + 2][MOST + 2]; /* capacity left from i to j */
};

static double shortest_path_flow(struct residual *g, size_t from, size_t to) {
    double work = 0;
    for (;;) {
        double far[MOST + 2];
        size_t before[MOST + 2];
        for (size_t v = 0; v < g->n; v++) far[v] = v == from ? 0 : INFINITY;
        for (size_t round = 0; round < g->n; round++)
            for (size_t u = 0; u < g->n; u++)
                for (size_t v = 0; v < g->n; v++)
                    if (g->room[u][v] > 0 && far[u] + g->cost[u][v] < far[v] - 1e-9)
                        far[v] = far[u] + g->cost[u][v], before[v] = u;
        if (isinf(far[to])) return work;
        int64_t most = INT64_MAX;
        for (size_t v = to; v != from; v = before[v])
            if (g->room[before[v]][v] < most) most = g->room[before[v]][v];
        for (size_t v = to; v != from; v = before[v])
            g->room[before[v]][v] -= most, g->room[v][before[v]] += most;
        work += far[to] * (double)most;
    }
}

/* No differences are taken here: all of a moves to all of b, some of it by 0 m. */
static double oracle_flow(const struct plane *plane, const int64_t *a, const int64_t *b, size_t n) {
    static struct residual g;
    memset(&g, 0, sizeof g);
    int64_t total_a = 0, total_b = 0;
    for (size_t v = 0; v < n; v++) total_a += a[v], total_b += b[v];
    g.n = 2 * n + 2;
    for (size_t i = 0; i < n; i++) {
        g.room[2 * n][i] = a[i] * total_b;
        g.room[n + i][2 * n + 1] = b[i] * total_a;
        for (size_t j = 0; j < n; j++) {
            g.room[i][n + j] = INT64_MAX / 4;
            g.cost[i][n + j] = distance(plane, i, j);
            g.cost[n + j][i] = -g.cost[i][n + j];
        }
    }
    return shortest_path_flow(&g, 2 * n, 2 * n + 1) / ((double)total_a * (double)total_b);
}

static void equals_a_minimum_cost_flow(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct plane plane;
    uint64_t random = 2;
    for (size_t round = 0; round < test_soak(400); round++) {
        size_t n = 1 + test_random(&random) % (MOST / 2);
        int64_t a[MOST] = {0}, b[MOST] = {0}, largest = round % 3 == 0 ? 2 : 50;
        scatter(&plane, n, round % 2, &random);
        for (size_t i = 0; i < n; i++) {
            a[i] = (int64_t)(test_random(&random) % (uint64_t)largest);
            b[i] = (int64_t)(test_random(&random) % (uint64_t)largest);
        }
        a[0]++, b[n - 1]++; // neither is empty; totals differ nearly always
        assert_near(solve(run, &plane, a, b, n), oracle_flow(&plane, a, b, n), 1e-4);
        assert_near(solve(run, &plane, a, b, n), solve(run, &plane, b, a, n), 1e-4);
    }
    dpl_run_free(run);
}

/* ---- closed forms ---- */

static void on_a_line_it_is_the_area_between_the_sums(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct plane plane;
    static int64_t a[300], b[300];
    uint64_t random = 3;
    for (size_t round = 0; round < test_soak(20); round++) {
        size_t n = 300;
        double total_a = 0, total_b = 0, sum_a = 0, sum_b = 0, area = 0;
        for (size_t i = 0; i < n; i++) {
            plane.x[i] =
                (i ? plane.x[i - 1] : 0) + (double)(test_random(&random) % 20); // duplicates too
            plane.y[i] = 0;
            a[i] = (int64_t)(test_random(&random) % 100);
            b[i] = (int64_t)(test_random(&random) % 30);
            total_a += (double)a[i], total_b += (double)b[i];
        }
        for (size_t i = 0; i + 1 < n; i++) {
            sum_a += (double)a[i] / total_a;
            sum_b += (double)b[i] / total_b;
            area += fabs(sum_a - sum_b) * (plane.x[i + 1] - plane.x[i]);
        }
        assert_near(solve(run, &plane, a, b, n), area, 1e-4);
    }
    dpl_run_free(run);
}

/* The worked example of docs/EVALUATION.md: 3/4 and 1/4 against 1/4 and 3/4, 500 m apart. */
static void the_example_of_the_manual(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct plane plane = {{0, 500}, {0, 0}};
    assert_near(solve(run, &plane, (int64_t[]){3, 1}, (int64_t[]){1, 3}, 2), 250, 0);
    assert_near(solve(run, &plane, (int64_t[]){3, 1}, (int64_t[]){300, 100}, 2), 0, 0);
    dpl_run_free(run);
}

/* ---- the dual: a certificate of optimality that needs no second solver, on sizes no oracle
 * reaches ---- */

/* A shift of any histogram by (dx, dy) costs exactly |(dx, dy)|: the 1-Lipschitz function along it
 * proves that less is impossible. */
static void a_shift_costs_its_length(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct plane plane;
    static int64_t a[4096], b[4096];
    uint64_t random = 4;
    for (size_t i = 0; i < 4096; i++)
        plane.x[i] = (double)(i % 64) * 10, plane.y[i] = (double)(i / 64) * 10;
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    for (size_t i = 0; i < 61; i++)
        for (size_t j = 0; j < 60; j++)
            b[(j + 4) * 64 + i + 3] = a[j * 64 + i] = (int64_t)(test_random(&random) % 1000);
    assert_near(solve(run, &plane, a, b, 4096), 50, 1e-9); // 3 and 4 cells of 10 m
    dpl_run_free(run);
}

/* Beyond DPL_EMD_MATRIX_BYTES rows are computed anew each time. On a line the answer is known
 * whatever the size. */
static void large_problems_need_no_matrix(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    enum { N = 5200 };
    static struct plane plane;
    static int64_t balance[N];
    struct dpl_emd_ground ground = {half_metres, &plane, 4000};
    struct dpl_emd_solver solver = {0};
    _Static_assert((size_t)(N / 2) * (N / 2) * 4 > DPL_EMD_MATRIX_BYTES, "the arcs must not fit");
    double work, expected = 0;
    int64_t sum = 0;
    for (size_t i = 0; i < N; i++) {
        balance[i] = i % 2 ? -1 - (int64_t)(i / 2 % 7) : 1 + (int64_t)((i / 2 + 3) % 7);
        if (i == N - 1) balance[i] = -sum;
        sum += balance[i];
        expected += fabs((double)sum) * 0.5;
    }
    assert_true(balance[N - 1] < 0);
    assert_ok(run, dpl_emd_work(run, &solver, balance, N, &ground, &work));
    assert_int_equal(solver.matrix_size, 0);
    assert_near(work, expected, 1e-3 * N);
    dpl_emd_free(&solver);
    dpl_run_free(run);
}

static void empty_histograms_are_an_error(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct plane plane;
    struct dpl_emd_ground ground = {euclid, &plane, 4000};
    struct dpl_emd_solver solver = {0};
    double emd_m = 7;
    assert_int_equal(
        dpl_emd(run, &solver, (int64_t[]){0, 0}, (int64_t[]){1, 2}, 2, &ground, &emd_m),
        DPL_BAD_DATA);
    assert_near(emd_m, 7, 0);
    dpl_run_begin(run);
    assert_int_equal(
        dpl_emd(run, &solver, (int64_t[]){INT64_MAX / 2, 0}, (int64_t[]){3, 2}, 2, &ground, &emd_m),
        DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "too large"));
    dpl_emd_free(&solver);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_best_of_all_assignments),
        cmocka_unit_test(equals_a_minimum_cost_flow),
        cmocka_unit_test(on_a_line_it_is_the_area_between_the_sums),
        cmocka_unit_test(the_example_of_the_manual),
        cmocka_unit_test(a_shift_costs_its_length),
        cmocka_unit_test(large_problems_need_no_matrix),
        cmocka_unit_test(empty_histograms_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
