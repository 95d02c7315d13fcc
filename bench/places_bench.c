/* How the time of a fit of `bridge` grows with the number of places, on one box.
 *
 * The simulated city's box in cells that get smaller, FEW and MANY of them, all of which are
 * places: a town that thins out from its centre. Tables are made by formulas, as TRIPS trips would
 * fill them, with noise as one has at epsilon = 1; then all is done that a fit does after its noise
 * but placing: places, visits, lengths, steps, flows, calibration. Processor time of all threads.
 *
 *     exponent = log(time of MANY / time of FEW) / log(MANY / FEW)
 *
 * usage: places_bench [SIDE...]   sides of the box in cells, instead of the two */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "method/bridge/constants.h"
#include "method/bridge/measure.h"
#include "method/bridge/walk.h"

enum {
    L = 50,
    BANDS = DPL_MOTION_SPEEDS,
    BINS = DPL_DISTANCE_BINS,
    TURNS = DPL_HEADINGS * DPL_NEXT,
    FEW_SIDE = 17, // 289 places
    MANY_SIDE = 71 // 5041
};
static const double BOX_M = 19700, TRIPS = 2e6, MEAN_VISITS = 12, CENTRE_M = 3500, FAR_M = 4000,
                    STEP_M = 900, SIGMA = 15, GOAL = 1.3;

static double uniform(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

static double *numbers(struct dpl_run *run, size_t n) {
    double *made = dpl_alloc(run, n, sizeof *made);
    must(run, made ? DPL_OK : DPL_SYSTEM);
    return made;
}

/* A table that adds up to `total` before noise; takes `value`. */
static struct dpl_table table_of(double *value, size_t n, double total, double sigma) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += value[i];
    for (size_t i = 0; i < n; i++) {
        double noise = sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
        value[i] = value[i] * total / sum + sigma * noise;
    }
    return (struct dpl_table){.n = n, .value = value, .sigma = sigma};
}

struct town {
    struct dpl_places *places;
    struct dpl_bridge_tables tables;
    double *density; // (K)
};

static void make_places(struct dpl_run *run, int32_t side, struct town *town) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    must(run, dpl_area_preset(run, "simulated", &area));
    area.cell_m = BOX_M / side;
    must(run, dpl_grid_make(run, &area, &grid));
    size_t K = (size_t)grid.rows * (size_t)grid.columns;
    int32_t *cell = dpl_alloc(run, K, sizeof *cell);
    must(run, cell ? DPL_OK : DPL_SYSTEM);
    for (size_t k = 0; k < K; k++) cell[k] = (int32_t)k;
    struct dpl_resolution resolution = dpl_resolution_for(&area, TRIPS, 1);
    resolution.full_visits = dpl_full_visits_for(MEAN_VISITS);
    must(run, dpl_places_new(run, &grid, cell, NULL, K, resolution, &town->places));
    dpl_free(cell);
    town->density = numbers(run, K);
    for (size_t k = 0; k < K; k++) {
        double x_m = town->places->x_m[k] - BOX_M / 2, y_m = town->places->y_m[k] - BOX_M / 2;
        town->density[k] = exp(-hypot(x_m, y_m) / CENTRE_M);
    }
}

/* The density in each of `rows`, by cell or by zone. */
static struct dpl_table densities(struct dpl_run *run, const struct town *town, size_t rows,
                                  bool zones, double total) {
    const struct dpl_places *places = town->places;
    size_t columns = zones ? places->Z : places->K;
    double *value = numbers(run, rows * columns);
    for (size_t i = 0; i < rows * places->K; i++) {
        size_t k = i % places->K, column = zones ? (size_t)places->zone[k] : k;
        value[i / places->K * columns + column] += town->density[k];
    }
    return table_of(value, rows * columns, total, SIGMA);
}

static void make_ends(struct dpl_run *run, const struct town *town, struct dpl_ends *ends) {
    ends->cells = densities(run, town, town->places->W, false, TRIPS);
    ends->zones = densities(run, town, town->places->H, true, TRIPS);
    ends->day = densities(run, town, 1, false, TRIPS);
}

static double length_chance(size_t bin, size_t visits) {
    return exp(-fabs((double)visits - 5 - (double)bin) / 3);
}

/* Pairs, and what follows from them. */
static void make_pairs(struct dpl_run *run, struct town *town) {
    const struct dpl_places *places = town->places;
    struct dpl_bridge_tables *tables = &town->tables;
    size_t K = places->K, Z = places->Z, P = places->P, groups = dpl_length_group(L) + 1;
    double *pairs = numbers(run, K * K), *zones = numbers(run, P * Z * Z),
           *durations = numbers(run, P * BINS * groups), by_distance[BINS] = {0};
    tables->lengths = numbers(run, L + 1), tables->lengths_share = numbers(run, L + 1);
    for (size_t i = 0; i < K * K; i++) {
        size_t s = i / K, d = i % K, bin = dpl_places_distance_bin(places, s, d);
        pairs[i] =
            town->density[s] * town->density[d] * exp(-dpl_places_distance_m(places, s, d) / FAR_M);
        for (size_t p = 0; p < P; p++)
            zones[(p * Z + (size_t)places->zone[s]) * Z + (size_t)places->zone[d]] += pairs[i];
        by_distance[bin] += pairs[i];
    }
    for (size_t row = 0; row < P * BINS; row++)
        for (size_t l = 2; l <= L; l++)
            durations[row * groups + dpl_length_group(l)] +=
                by_distance[row % BINS] * length_chance(row % BINS, l);
    for (size_t bin = 0; bin < BINS; bin++)
        for (size_t l = 2; l <= L; l++)
            tables->lengths[l] += by_distance[bin] * length_chance(bin, l);
    tables->pairs = table_of(pairs, K * K, TRIPS, SIGMA);
    tables->zones = table_of(zones, P * Z * Z, TRIPS, SIGMA);
    tables->durations = table_of(durations, P * BINS * groups, TRIPS, SIGMA);
    dpl_scale_to(tables->lengths, L + 1, TRIPS);
    for (size_t l = 0; l <= L; l++) tables->lengths_share[l] = 1;
    tables->lengths_sigma = SIGMA, tables->length_max = L, tables->trips = TRIPS;
    tables->tail_power = 3;
}

static void make_steps(struct dpl_run *run, struct town *town) {
    const struct dpl_places *places = town->places;
    size_t n = places->near_start[places->K * DPL_SECTORS];
    double *steps = numbers(run, n), *speeds = numbers(run, places->P * BANDS),
           *turns = numbers(run, TURNS), moves = 0.7 * MEAN_VISITS * TRIPS;
    for (size_t x = 0; x < places->K; x++)
        for (size_t i = places->near_start[x * DPL_SECTORS];
             i < places->near_start[(x + 1) * DPL_SECTORS]; i++) {
            size_t y = (size_t)places->near[i];
            steps[i] = town->density[x] * town->density[y] *
                       exp(-dpl_places_distance_m(places, x, y) / STEP_M);
            for (size_t p = 0; p < places->P; p++)
                speeds[p * BANDS + dpl_places_band(places, x, y)] += steps[i];
        }
    for (size_t p = 0; p < places->P; p++)
        for (size_t band = 1; band < BANDS; band++)
            speeds[p * BANDS] += speeds[p * BANDS + band] * 3 / 7;
    for (size_t i = 0; i < TURNS; i++) {
        size_t q = i / DPL_NEXT, next = i % DPL_NEXT;
        turns[i] = 0.2 + (q % DPL_SECTORS == next % DPL_SECTORS) + (q / DPL_SECTORS == next / 8);
    }
    town->tables.steps = table_of(steps, n, moves, 4 * SIGMA);
    town->tables.speeds = table_of(speeds, places->P * BANDS, moves / 0.7, 12 * SIGMA);
    town->tables.turns = table_of(turns, TURNS, moves, 7 * SIGMA);
}

static void make_tables(struct dpl_run *run, struct town *town) {
    double visits = MEAN_VISITS * TRIPS;
    town->tables.visits = densities(run, town, 1, false, visits);
    town->tables.watch_visits = densities(run, town, town->places->W, false, visits);
    make_ends(run, town, &town->tables.sources), make_ends(run, town, &town->tables.destinations);
    make_pairs(run, town);
    make_steps(run, town);
}

/* Everything after the noise, as src/method/bridge/fit.c does it. */
static void estimate(struct dpl_run *run, const struct town *town) {
    const struct dpl_places *places = town->places;
    const struct dpl_bridge_tables *tables = &town->tables;
    struct dpl_edges edges = {0};
    struct dpl_flows_made made = {0};
    struct dpl_calibrated walk = {0};
    double *visits = numbers(run, places->K), *hours = numbers(run, places->H * places->K);
    float *lengths = dpl_alloc(run, places->P * BINS * (L + 1), sizeof *lengths);
    must(run, lengths ? DPL_OK : DPL_SYSTEM);
    double start = cpu_s();
    must(run, dpl_visits_estimate(run, places, tables, visits, hours));
    must(run, dpl_lengths_estimate(run, places, tables, lengths));
    must(run, dpl_edges_estimate(run, places, tables, visits, &edges));
    double steps = cpu_s();
    must(run, dpl_flows_estimate(run, places, tables, hours, &edges, &made));
    double flows = cpu_s();
    must(run, dpl_calibrate(run, places, tables, hours, visits, &edges, &made, TARGETS_MOST,
                            DRAWN_TARGETS_MOST, lengths, &walk));
    double end = cpu_s();
    printf("  %zu places, %zu steps: visits and steps %.2f s, flows %.2f s, calibration %.2f s\n",
           places->K, edges.n, steps - start, flows - steps, end - flows);
    dpl_calibrated_free(&walk), dpl_flows_free(&made), dpl_edges_free(&edges);
    dpl_free(visits), dpl_free(hours), dpl_free(lengths);
}

/* Returns how many places there are. */
static double fit(struct dpl_run *run, int32_t side, double *took_s) {
    struct town town = {0};
    double start = cpu_s();
    make_places(run, side, &town);
    *took_s = cpu_s() - start;
    make_tables(run, &town);
    start = cpu_s();
    estimate(run, &town);
    *took_s += cpu_s() - start;
    double K = (double)town.places->K;
    dpl_bridge_tables_free(&town.tables), dpl_free(town.density), dpl_places_free(town.places);
    return K;
}

int main(int argc, char **argv) {
    struct dpl_run_options options = dpl_run_defaults();
    struct dpl_run *run = dpl_run_new(&options);
    double few_s, many_s, took_s;
    for (int i = 1; i < argc; i++) {
        double K = fit(run, atoi(argv[i]), &took_s);
        printf("places %.0f %.2f s\n", K, took_s);
    }
    if (argc > 1) return 0;
    double few = fit(run, FEW_SIDE, &few_s), many = fit(run, MANY_SIDE, &many_s);
    report("places_few", few_s, "s");
    report("places_many", many_s, "s");
    report_at_most("places_exponent", log(many_s / few_s) / log(many / few), "", GOAL);
    dpl_run_free(run);
    return 0;
}
