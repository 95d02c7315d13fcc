/* Speed and memory of evaluation: a whole comparison of two cities of 431,000 trips, and the earth
 * mover's distance alone. Prints lines "name value unit goal ok|MISSED". */
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "bench.h"
#include "base/cleaned.h"
#include "evaluate/emd.h"

enum { TRIPS = 431000, CELLS = 550, PAIRS = 2000, LONGEST = 64 };

static uint64_t random_bits(uint64_t *state) { return dpl_mix64(*state += 0x9E3779B97F4A7C15u); }

static double uniform(uint64_t *state) { return (double)(random_bits(state) >> 11) * 0x1p-53; }

static double normal(uint64_t *state) {
    return sqrt(-2 * log(1 - uniform(state))) * cos(6.283185307179586 * uniform(state));
}

static _Noreturn void give_up(struct dpl_run *run) {
    fprintf(stderr, "eval_bench: %s\n", dpl_run_message(run));
    exit(1);
}

/* ---- a plausible city: five districts, trips that head for their destination with detours ---- */

static int32_t clamp(double at, int32_t n) { return at < 0 ? 0 : at >= n ? n - 1 : (int32_t)at; }

static int32_t draw_place(const struct dpl_grid *grid, uint64_t *state) {
    static const double district[5][3] = {{0.7, 0.75, 1.6},
                                          {0.6, 0.7, 1.7},
                                          {0.45, 0.75, 1.7},
                                          {0.6, 0.6, 1.7},
                                          {0.75, 0.2, 0.4}}; // column, row, spread
    static const double share[5] = {0.5, 0.75, 0.88, 0.985, 1};
    double u = uniform(state);
    size_t d = 0;
    while (d < 4 && u > share[d]) d++;
    int32_t column =
        clamp(district[d][0] * grid->columns + district[d][2] * normal(state), grid->columns);
    int32_t row = clamp(district[d][1] * grid->rows + district[d][2] * normal(state), grid->rows);
    return row * grid->columns + column;
}

static size_t draw_trip(const struct dpl_grid *grid, uint64_t *state, int32_t *cell) {
    int32_t from = draw_place(grid, state), to = draw_place(grid, state), columns = grid->columns;
    double x = from % columns + 0.5, y = from / columns + 0.5, end_x = to % columns + 0.5,
           end_y = to / columns + 0.5;
    double pace = 0.6 + 0.8 * uniform(state), way = hypot(end_x - x, end_y - y);
    size_t n = (size_t)fmin(LONGEST, 2 + way / pace + 3 * uniform(state));
    for (size_t v = 0; v < n; v++) {
        double done = n > 1 ? (double)v / (double)(n - 1) : 0, off = v && v + 1 < n ? 0.35 : 0;
        cell[v] = clamp(y + (end_y - y) * done + off * normal(state), grid->rows) * columns +
                  clamp(x + (end_x - x) * done + off * normal(state), columns);
    }
    return n;
}

static struct dpl_cleaned *make_city(struct dpl_run *run, const struct dpl_grid *grid,
                                     uint64_t seed) {
    struct dpl_cleaned *trips = NULL;
    if (dpl_cleaned_new(run, grid, &trips) != DPL_OK) give_up(run);
    for (size_t i = 0; i < TRIPS; i++) {
        int32_t cell[LONGEST];
        struct dpl_cleaned_trip trip = {
            .cell = cell, .user = -1, .period = (uint8_t)fmod(13 + 7 * normal(&seed) + 48, 24)};
        trip.n_visits = draw_trip(grid, &seed, cell);
        if (dpl_cleaned_append(run, trips, &trip) != DPL_OK) give_up(run);
    }
    return trips;
}

static void bench_evaluation(struct dpl_run *run) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    if (dpl_area_preset(run, "sf", &area) != DPL_OK || dpl_grid_make(run, &area, &grid) != DPL_OK)
        give_up(run);
    struct dpl_cleaned *real = make_city(run, &grid, 1), *synthetic = make_city(run, &grid, 2);
    struct dpl_eval_synthetic candidate = {.name = "bench", .trips = synthetic};
    struct dpl_evaluation *evaluation;
    double began_s = cpu_s();
    if (dpl_evaluate(run, real, &candidate, 1, NULL, &evaluation) != DPL_OK) give_up(run);
    double took_s = cpu_s() - began_s;
    took_s /= dpl_run_threads(run);
    printf("# %zu trips, %zu visits, %d cells, %d threads\n", evaluation->n_trips,
           evaluation->n_visits, evaluation->n_cells, dpl_run_threads(run));
    report_at_most("eval_431k_trips", took_s, "cpu_s/core", 40);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    report_at_most("eval_memory", (double)usage.ru_maxrss / 1e3, "MB", 1000);
    dpl_evaluation_free(evaluation);
    dpl_cleaned_free(real);
    dpl_cleaned_free(synthetic);
}

/* ---- the earth mover's distance alone ---- */

struct places {
    double x[2 * PAIRS], y[2 * PAIRS], u[2 * PAIRS], v[2 * PAIRS];
};

static void row_m(const void *context, uint32_t from, const uint32_t *to, size_t n,
                  double *cost_m) {
    const struct places *p = context;
    for (size_t i = 0; i < n; i++) {
        double dx = p->x[from] - p->x[to[i]], dy = p->y[from] - p->y[to[i]],
               du = p->u[from] - p->u[to[i]], dv = p->v[from] - p->v[to[i]];
        cost_m[i] = 500 * (sqrt(dx * dx + dy * dy) + sqrt(du * du + dv * dv));
    }
}

/* Mean milliseconds over `rounds` problems of n points, half of them with mass on one side only. */
static double emd_ms(struct dpl_run *run, size_t n, bool pairs, int rounds) {
    static struct places places;
    static int64_t a[2 * PAIRS], b[2 * PAIRS];
    struct dpl_emd_solver solver = {0};
    struct dpl_emd_ground ground = {row_m, &places, 500 * 200};
    double took_s = 0;
    uint64_t state = 7;
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < n; i++) {
            places.x[i] = pairs ? floor(20 + 6 * normal(&state)) : (double)(i % 25),
            places.y[i] = pairs ? floor(20 + 8 * normal(&state)) : (double)(i / 25);
            places.u[i] = pairs ? floor(20 + 6 * normal(&state)) : 0,
            places.v[i] = pairs ? floor(20 + 8 * normal(&state)) : 0;
            a[i] = pairs ? (i % 2 == 0 ? 1 + (int64_t)(random_bits(&state) % 40) : 0)
                         : 1 + (int64_t)(random_bits(&state) % 1000);
            b[i] = pairs ? (i % 2 == 1 ? 1 + (int64_t)(random_bits(&state) % 40) : 0)
                         : 1 + (int64_t)(random_bits(&state) % 1000);
        }
        double emd_m, began_s = cpu_s();
        if (dpl_emd(run, &solver, a, b, n, &ground, &emd_m) != DPL_OK) give_up(run);
        took_s += cpu_s() - began_s;
    }
    dpl_emd_free(&solver);
    return took_s / rounds * 1e3;
}

int main(void) {
    struct dpl_run_options options = dpl_run_defaults();
    options.threads = 2;
    struct dpl_run *run = dpl_run_new(&options);
    if (!run) return 3;
    report_at_most("emd_550_cells", emd_ms(run, CELLS, false, 10), "ms", 10);
    report_at_most("emd_2000x2000_pairs", emd_ms(run, 2 * PAIRS, true, 4), "ms", 500);
    bench_evaluation(run);
    dpl_run_free(run);
    return 0;
}
