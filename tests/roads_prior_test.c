/* A public map as a prior of the fit: metres of road by cell, counts with two priors, towns that a
 * map explains and towns that it does not, and tables that do not know of it. */
#include "support.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dploc_data.h"
#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"
#include "model/model.h"
#include "roads/pbf_write.h"
#include "roads/roads.h"

static double normal(uint64_t *seed) {
    return sqrt(-2 * log(1 - test_uniform(seed))) * cos(2 * acos(-1) * test_uniform(seed));
}

/* ---- metres of road by cell ---- */

enum { LINES = 60 };
static const char *const CLASS[] = {"motorway", "primary", "tertiary", "residential", "service"};
static const double WEIGHT[] = {5, 4, 2, 1, 0.3}; // docs/ROADS.md

static struct dpl_grid box(struct dpl_run *run) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    area.south_deg = 48, area.west_deg = 11, area.north_deg = 48.018, area.east_deg = 11.027;
    area.cell_m = 300;
    snprintf(area.zone, sizeof area.zone, "UTC");
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    return grid;
}

/* Line by line, in steps of some centimetres: nothing is clipped, each step is in one cell. */
static void add_by_steps(const struct dpl_grid *grid, const double *lat, const double *lon,
                         double weight, double *metres) {
    enum { STEPS = 40000 };
    double x[2], y[2];
    for (int i = 0; i < 2; i++) {
        x[i] = (lon[i] - grid->area.west_deg) * grid->m_per_deg_lon;
        y[i] = (lat[i] - grid->area.south_deg) * grid->m_per_deg_lat;
    }
    double length = hypot(x[1] - x[0], y[1] - y[0]);
    double wide = (grid->area.east_deg - grid->area.west_deg) * grid->m_per_deg_lon,
           high = (grid->area.north_deg - grid->area.south_deg) * grid->m_per_deg_lat;
    for (int i = 0; i < STEPS; i++) {
        double part = (i + 0.5) / STEPS, at_x = x[0] + part * (x[1] - x[0]),
               at_y = y[0] + part * (y[1] - y[0]);
        if (at_x < 0 || at_y < 0 || at_x > wide || at_y > high) continue;
        int32_t column = (int32_t)(at_x / grid->area.cell_m),
                row = (int32_t)(at_y / grid->area.cell_m);
        if (column < grid->columns && row < grid->rows)
            metres[row * grid->columns + column] += weight * length / STEPS;
    }
}

static void metres_are_those_of_the_map(void **state) {
    (void)state;
    static double lat[2 * LINES], lon[2 * LINES];
    static int64_t ref[LINES][2];
    static struct pbf_line line[LINES];
    static const char *tags[LINES][3];
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = box(run);
    struct dpl_roads *roads = NULL;
    char *folder = test_directory();
    const char *path = test_path(folder, "lines.osm.pbf");
    size_t n = dpl_squares_count(&grid, 1);
    double *metres = calloc(n, sizeof *metres);
    uint64_t seed = 3;
    for (int i = 0; i < 2 * LINES; i++) { // some begin or end outside of the box
        lat[i] = round((47.998 + 0.022 * test_uniform(&seed)) * 1e7) * 1e-7;
        lon[i] = round((10.998 + 0.031 * test_uniform(&seed)) * 1e7) * 1e-7;
    }
    for (int i = 0; i < LINES; i++) {
        ref[i][0] = 2 * i + 1, ref[i][1] = 2 * i + 2;
        tags[i][0] = "highway", tags[i][1] = CLASS[i % 5];
        line[i] = (struct pbf_line){ref[i], 2, tags[i]};
        add_by_steps(&grid, lat + 2 * i, lon + 2 * i, WEIGHT[i % 5], metres);
    }
    const struct pbf_map map = {lat, lon, 2 * LINES, line, LINES};
    assert_ok(run, dpl_pbf_write(run, &map, path, false));
    assert_ok(run, dpl_roads_read(run, path, &grid, DPL_TRAVEL_DRIVE, &roads));
    for (size_t i = 0; i < n; i++)
        assert_near(roads->cell_weight[i], metres[i], 2 + 0.002 * metres[i]);
    dpl_roads_free(roads);
    test_directory_remove(folder);
    free(metres), dpl_run_free(run);
}

/* ---- counts with two priors ---- */

enum { COUNTS = 48 };

/* Density of the noisy count and mean of the true one, by fine steps of the true one's root. */
static double by_steps(double noisy, double sigma, double shape, double about, double *mean) {
    enum { STEPS = 6000 };
    double sum = 0, first = 0, top = sqrt(fmax(noisy, 0) + 10 * sigma);
    for (int i = 0; i < STEPS; i++) {
        double root = (i + 0.5) / STEPS * top, x = root * root, z = (noisy - x) / sigma,
               log_p = shape * log(shape / about) - lgamma(shape) + (shape - 1) * log(x) -
                       shape * x / about - z * z / 2,
               p = exp(log_p) * 2 * root * top / STEPS;
        sum += p, first += p * x;
    }
    *mean = sum > 0 ? first / sum : about;
    return sum;
}

/* The whole estimate again, by its definition. */
static void shrink_by_steps(const double *noisy, double sigma, const struct dpl_two_priors *p,
                            double *out) {
    enum { DOUBTS = sizeof MAP_DOUBTS / sizeof *MAP_DOUBTS };
    double most = -INFINITY;
    for (double at = SPARSE_SHAPE_LEAST; at < SPARSE_SHAPE_MOST + 0.01; at += MIXED_SHAPE_STEP)
        for (double empty = 0; empty < SPARSE_EMPTY_MOST + 0.01; empty += SPARSE_EMPTY_STEP) {
            double even[COUNTS], map[COUNTS], mean[2][COUNTS], all = 0, trial[COUNTS];
            for (size_t i = 0; i < COUNTS; i++) {
                double full = 1 - empty;
                even[i] = full * by_steps(noisy[i], sigma, exp(at), p->even[i] / full, &mean[0][i]);
                map[i] = full * by_steps(noisy[i], sigma, exp(at), p->map[i] / full, &mean[1][i]);
            }
            for (int kind = 0; kind < DPL_MAP_KINDS; kind++) {
                double best = -INFINITY, doubt = 1;
                for (int j = 0; j < DOUBTS; j++) {
                    double sum = 0;
                    for (size_t i = 0; i < COUNTS; i++)
                        if (p->kind[i] == kind)
                            sum += log(empty * exp(-noisy[i] * noisy[i] / sigma / sigma / 2) +
                                       MAP_DOUBTS[j] * even[i] + (1 - MAP_DOUBTS[j]) * map[i]);
                    if (sum > best) best = sum, doubt = MAP_DOUBTS[j];
                }
                all += best;
                for (size_t i = 0; i < COUNTS; i++)
                    if (p->kind[i] == kind) {
                        double spike = empty * exp(-noisy[i] * noisy[i] / sigma / sigma / 2),
                               a = doubt * even[i], b = (1 - doubt) * map[i];
                        trial[i] = (a * mean[0][i] + b * mean[1][i]) / (spike + a + b);
                    }
            }
            if (all > most) most = all, memcpy(out, trial, sizeof trial);
        }
}

static void the_mean_is_the_posterior_s(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 3; round++) {
        double sigma = 10, noisy[COUNTS], variance[COUNTS], even[COUNTS], map[COUNTS], got[COUNTS],
               want[COUNTS];
        uint8_t kind[COUNTS];
        const struct dpl_two_priors priors = {even, map, kind};
        for (size_t i = 0; i < COUNTS; i++) {
            even[i] = 20, map[i] = 4 + 60 * test_uniform(&seed);
            kind[i] = (uint8_t)(i % DPL_MAP_KINDS);
            double truth = round == 0 ? map[i] : round == 1 ? 20 : i % 2 ? map[i] : 20;
            noisy[i] = fmin(truth + sigma * normal(&seed), 7.5 * sigma);
            variance[i] = sigma * sigma;
        }
        dpl_shrink_mixed(noisy, variance, &priors, got, COUNTS);
        shrink_by_steps(noisy, sigma, &priors, want);
        for (size_t i = 0; i < COUNTS; i++) assert_near(got[i], want[i], 0.05 * sigma);
    }
}

/* ---- towns ---- */

enum { SIDE = 32, CELLS = SIDE * SIDE };

struct place {
    struct dpl_grid grid;
    float roads[CELLS];
    double truth[CELLS];
};

/* Streets by chance, none in the sea in the west; visits follow them. */
static void make_place(uint64_t *seed, struct place *place) {
    *place = (struct place){.grid = {.area = {.cell_m = 500, .speed_limit_kmh = 150, .slot_s = 60},
                                     .rows = SIDE,
                                     .columns = SIDE}};
    for (int i = 0; i < CELLS; i++) {
        double street = i % SIDE < 8 && i != 5 ? 0 : test_uniform(seed) < 0.3 ? 4000 : 300;
        place->roads[i] = (float)street;
        place->truth[i] = pow(street, ROAD_POWER) * 200 / pow(4000, ROAD_POWER);
    }
}

/* How far estimates are off, a cell. */
static double miss(const struct place *place, const float *roads, double sigma, uint64_t seed,
                   double *visits) {
    struct dpl_run *run = test_run(1);
    struct dpl_table counted[DPL_SQUARE_LEVELS];
    double off = 0;
    for (size_t level = 0; level < DPL_SQUARE_LEVELS; level++) {
        int32_t side = dpl_square_side(level), across = (SIDE + side - 1) / side;
        counted[level] = (struct dpl_table){.n = dpl_squares_count(&place->grid, side),
                                            .sigma = sigma * (double)(1 + level)};
        counted[level].value = calloc(counted[level].n, sizeof(double));
        for (int i = 0; i < CELLS; i++)
            counted[level].value[i / SIDE / side * across + i % SIDE / side] += place->truth[i];
        for (size_t i = 0; i < counted[level].n; i++)
            counted[level].value[i] += counted[level].sigma * normal(&seed);
    }
    assert_ok(run, dpl_squares_estimate(run, &place->grid, counted, roads, visits));
    for (int i = 0; i < CELLS; i++) off += fabs(visits[i] - place->truth[i]) / CELLS;
    for (size_t level = 0; level < DPL_SQUARE_LEVELS; level++) free(counted[level].value);
    dpl_run_free(run);
    return off;
}

static void a_map_that_explains_everything_helps(void **state) {
    (void)state;
    static struct place place;
    static double visits[CELLS];
    uint64_t seed = 7;
    for (int round = 0; round < 3; round++) {
        make_place(&seed, &place);
        uint64_t noise = test_random(&seed);
        double without = miss(&place, NULL, 100, noise, visits),
               with = miss(&place, place.roads, 100, noise, visits);
        assert_true(with < 0.5 * without);
    }
}

/* Another town's map, a map of nothing, and one that is the same everywhere. */
static void a_wrong_map_does_little_harm(void **state) {
    (void)state;
    static struct place place, other;
    static double visits[CELLS];
    static float nothing[CELLS], same[CELLS];
    uint64_t seed = 9;
    for (int i = 0; i < CELLS; i++) same[i] = 1000;
    for (int round = 0; round < 3; round++) {
        make_place(&seed, &place), make_place(&seed, &other);
        for (int i = 0; i < CELLS; i++) other.roads[i] = other.roads[CELLS - 1 - i] + 1;
        uint64_t noise = test_random(&seed);
        double without = miss(&place, NULL, 60, noise, visits);
        assert_true(miss(&place, other.roads, 60, noise, visits) < 1.1 * without);
        assert_true(miss(&place, nothing, 60, noise, visits) < 1.1 * without);
        assert_true(miss(&place, same, 60, noise, visits) < 1.1 * without);
    }
}

/* Within the map a cell without a road is kept when its count stands out, and not otherwise; beyond
 * the map nothing is known of roads. */
static void without_a_road_counts_must_stand_out(void **state) {
    (void)state;
    static struct place place;
    static double visits[CELLS];
    enum { LOUD = 10 * SIDE + 3, QUIET = 20 * SIDE + 3 };
    uint64_t seed = 11;
    make_place(&seed, &place);
    place.roads[4] = 300, place.roads[31 * SIDE] = 300; // the sea is within the map
    place.truth[LOUD] = 3000, place.truth[QUIET] = 100;
    miss(&place, place.roads, 50, 13, visits);
    assert_near(visits[LOUD], 3000, 400);
    assert_true(visits[QUIET] < 10);
    for (int i = 0; i < CELLS; i++) // a map of the east alone
        if (i % SIDE < 16) place.roads[i] = 0;
    miss(&place, place.roads, 50, 13, visits);
    assert_near(visits[LOUD], 3000, 400);
    double west = 0, truth = 0;
    for (int i = 0; i < CELLS; i++)
        if (i % SIDE < 16) west += visits[i], truth += place.truth[i];
    assert_near(west, truth, 0.1 * truth);
}

/* Anything for roads and counts: visits are numbers above 0. */
static void hostile_maps_and_counts(void **state) {
    (void)state;
    static struct place place;
    static double visits[CELLS];
    uint64_t seed = 15;
    for (size_t round = 0; round < test_soak(12); round++) {
        make_place(&seed, &place);
        for (int i = 0; i < CELLS; i++) {
            double u = test_uniform(&seed);
            place.roads[i] = u < 0.3 ? 0 : u < 0.4 ? 1e-30f : (float)pow(10, 9 * u);
            if (round % 3 == 0) place.truth[i] = u < 0.01 ? 1e12 : -1e6;
        }
        miss(&place, place.roads, pow(10, (double)(round % 6) - 2), round, visits);
        for (int i = 0; i < CELLS; i++) assert_true(isfinite(visits[i]) && visits[i] > 0);
    }
}

/* ---- a fit ---- */

static struct {
    char *folder;
    char city[512], map[512];
    struct dpl_area area;
    struct dpl_run *run;
} town;

static int set_up(void **state) {
    (void)state;
    struct dpl_simulate_options simulate = dpl_simulate_defaults();
    town.run = test_run(2);
    town.folder = test_directory();
    snprintf(town.city, sizeof town.city, "%s", test_path(town.folder, "city.csv"));
    snprintf(town.map, sizeof town.map, "%s", test_path(town.folder, "city.osm.pbf"));
    simulate.trips = 2000, simulate.roads_out = town.map;
    assert_ok(town.run, dpl_simulate(town.run, &simulate, town.city));
    town.area = dpl_area_defaults();
    assert_ok(town.run, dpl_area_preset(town.run, "simulated", &town.area));
    town.area.cell_m = 1000;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_directory_remove(town.folder);
    dpl_run_free(town.run);
    return 0;
}

static struct dpl_fit_options options_of(const char *roads) {
    struct dpl_fit_options options = dpl_fit_defaults();
    options.ledger = "none", options.size = 2000, options.roads = roads;
    options.budget.epsilon = 5;
    options.budget.insecure_seed = true, options.insecure_seed = 3;
    return options;
}

static struct dpl_fit *fit_with(const char *roads) {
    struct dpl_fit_options options = options_of(roads);
    struct dpl_fit *fit = NULL;
    assert_ok(town.run, test_fit(town.run, town.city, NULL, &town.area, &options, &fit));
    return fit;
}

static size_t bytes_of(const struct dpl_tensor *tensor) {
    size_t bytes = tensor->type == DPL_TENSOR_F64 ? 8 : 4;
    for (int i = 0; i < tensor->rank; i++) bytes *= tensor->shape[i];
    return bytes;
}

static const struct dpl_tensor *find(const struct dpl_model *model, const char *name) {
    for (size_t i = 0; i < model->n_tensors; i++)
        if (!strcmp(model->tensor[i].name, name)) return &model->tensor[i];
    return NULL;
}

/* PRIVACY: one key, with and without a map: what is released is the same to the byte, places and
 * all; what is estimated from it is not. */
static void tables_do_not_know_the_map(void **state) {
    (void)state;
    struct dpl_fit *with = fit_with(town.map), *without = fit_with(NULL);
    const struct dpl_model *a = dpl_fit_model(with), *b = dpl_fit_model(without);
    size_t same = 0, other = 0;
    assert_int_equal(a->n_tensors, b->n_tensors + 2);
    assert_non_null(find(a, DPL_MODEL_ROADS));
    assert_non_null(find(a, DPL_MODEL_ROAD_SECONDS));
    for (size_t i = 0; i < b->n_tensors; i++) {
        const struct dpl_tensor *theirs = &b->tensor[i], *ours = find(a, theirs->name);
        bool released = !strncmp(theirs->name, "noised.", 7) || !strcmp(theirs->name, "cells") ||
                        !strcmp(theirs->name, "sides");
        assert_non_null(ours);
        if (!released) {
            other += bytes_of(ours) != bytes_of(theirs) ||
                     memcmp(ours->data, theirs->data, bytes_of(ours)) != 0;
            continue;
        }
        assert_int_equal(bytes_of(ours), bytes_of(theirs));
        assert_memory_equal(ours->data, theirs->data, bytes_of(ours));
        same++;
    }
    assert_true(same > 20);
    assert_true(other > 0);
    dpl_fit_free(with), dpl_fit_free(without);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    struct dpl_fit_options options = options_of(town.map);
    struct dpl_fit *fit = NULL;
    options.method = "ngram";
    assert_int_equal(test_fit(town.run, town.city, NULL, &town.area, &options, &fit), DPL_USAGE);
    assert_non_null(
        strstr(dpl_run_message(town.run), "`fit.roads` belongs to `fit.method` bridge"));
    options = options_of(town.city); // no map
    assert_int_equal(test_fit(town.run, town.city, NULL, &town.area, &options, &fit), DPL_BAD_DATA);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metres_are_those_of_the_map),
        cmocka_unit_test(the_mean_is_the_posterior_s),
        cmocka_unit_test(a_map_that_explains_everything_helps),
        cmocka_unit_test(a_wrong_map_does_little_harm),
        cmocka_unit_test(without_a_road_counts_must_stand_out),
        cmocka_unit_test(hostile_maps_and_counts),
        cmocka_unit_test(tables_do_not_know_the_map),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
