/* Placement: against enumeration on a sub-grid, inside the cells, within the limit, whatever the
 * cells. */
#include "support.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "sample/decode.h"

enum {
    SIDE = 5,
    CELLS = SIDE * SIDE,
    WEIGHTS = DPL_MOTION_SPEEDS * DPL_MOTION_SPEEDS * DPL_MOTION_TURNS + 2 * DPL_MOTION_SPEEDS
};

/* A block of cells of 500 m, and weights at random. */
struct rig {
    struct dpl_run *run;
    struct dpl_grid grid;
    struct dpl_place place[CELLS];
    float weight[WEIGHTS], fine[CELLS * DPL_FINE];
    struct dpl_motion motion;
    struct dpl_placer *placer;
    struct dpl_random *random;
};

static void rig_new(struct rig *rig, double limit_kmh, double spread) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_secret secret;
    uint64_t seed = 3;
    *rig = (struct rig){.run = test_run(1)};
    assert_ok(rig->run, dpl_area_preset(rig->run, "simulated", &area));
    area.speed_limit_kmh = limit_kmh;
    assert_ok(rig->run, dpl_grid_make(rig->run, &area, &rig->grid));
    double lat = 500 / rig->grid.m_per_deg_lat * 1e6, lng = 500 / rig->grid.m_per_deg_lon * 1e6;
    for (int i = 0; i < CELLS; i++) {
        double south = area.south_deg * 1e6 + (i / SIDE) * lat,
               west = area.west_deg * 1e6 + (i % SIDE) * lng;
        rig->place[i] = (struct dpl_place){.south = (int32_t)ceil(south) + 1,
                                           .north = (int32_t)floor(south + lat) - 1,
                                           .west = (int32_t)ceil(west) + 1,
                                           .east = (int32_t)floor(west + lng) - 1,
                                           .lat = (int32_t)(south + lat / 2),
                                           .lng = (int32_t)(west + lng / 2)};
    }
    for (size_t i = 0; i < WEIGHTS; i++)
        rig->weight[i] = (float)exp(spread * (test_uniform(&seed) - 0.5));
    for (size_t i = 0; i < CELLS * DPL_FINE; i++)
        rig->fine[i] = (float)exp(spread / 2 * (test_uniform(&seed) - 0.5));
    rig->motion = (struct dpl_motion){
        .bins = dpl_motion_bins_make(true), .weight = rig->weight, .fine = rig->fine};
    assert_ok(rig->run, dpl_placer_new(rig->run, &rig->grid, rig->place, CELLS, &rig->motion,
                                       dpl_written_reach_m(&area, 1), &rig->placer));
    assert_ok(rig->run, dpl_secret_from_seed(rig->run, 4, &secret));
    assert_ok(rig->run, dpl_random_new(rig->run, &secret, &rig->random));
}

static void rig_free(struct rig *rig) {
    dpl_random_free(rig->random);
    dpl_placer_free(rig->placer);
    dpl_run_free(rig->run);
}

static double reach_m(const struct rig *rig) {
    return rig->grid.area.speed_limit_kmh / 3.6 * rig->grid.area.slot_s;
}

/* The density of a trip of three visits, by the definition. */
static double density_of(const struct rig *rig, const uint16_t *cell,
                         const struct dpl_position *at) {
    const struct dpl_motion_bins *bins = &rig->motion.bins;
    float per_reach = (float)(1 / reach_m(rig)), most_m = (float)reach_m(rig) - 0.25f;
    struct dpl_step a = dpl_motion_step(bins, per_reach, at[0], at[1]),
                    b = dpl_motion_step(bins, per_reach, at[1], at[2]);
    if (a.length_m > most_m || b.length_m > most_m) return 0;
    double product = (double)rig->weight[dpl_motion_first(bins, a.speed)] *
                     (double)rig->weight[dpl_motion_of(bins, &a, &b)] *
                     (double)rig->weight[dpl_motion_last(bins, b.speed)];
    for (size_t v = 0; v < 3; v++) {
        int x = (int)(at[v].x_m / 125) % DPL_FINE_SIDE, y = (int)(at[v].y_m / 125) % DPL_FINE_SIDE;
        product *= (double)rig->fine[cell[v] * DPL_FINE + y * DPL_FINE_SIDE + x];
    }
    return product;
}

/* The oracle: a trip of three visits, each in any of 144 parts of its cell, at random there: which
 * quarter of its cell the middle one lies in, how long both steps are, and whether the turn is
 * sharp. Long chains must show the same shares. */
enum { SUB = 12, QUARTERS = 4, SEEN = QUARTERS + 2 * DPL_MOTION_SPEEDS + 2 };

static void see(const struct rig *rig, const struct dpl_position *at, double weight, double *seen) {
    const struct dpl_motion_bins *bins = &rig->motion.bins;
    float per_reach = (float)(1 / reach_m(rig));
    struct dpl_step a = dpl_motion_step(bins, per_reach, at[0], at[1]),
                    b = dpl_motion_step(bins, per_reach, at[1], at[2]);
    int east = fmod((double)at[1].x_m, 500) > 250, north = fmod((double)at[1].y_m, 500) > 250;
    seen[2 * north + east] += weight;
    seen[QUARTERS + a.speed] += weight;
    seen[QUARTERS + DPL_MOTION_SPEEDS + b.speed] += weight;
    seen[SEEN - 2 + (a.x_m * b.x_m + a.y_m * b.y_m < 0)] += weight;
}

static void enumerate(const struct rig *rig, const uint16_t *cell, double *seen) {
    struct dpl_position at[3];
    double total = 0;
    uint64_t seed = 17;
    for (size_t k = 0; k < (size_t)SUB * SUB * SUB * SUB * SUB * SUB; k++) {
        size_t rest = k;
        for (int v = 0; v < 3; v++) {
            double x = ((double)(rest % SUB) + test_uniform(&seed)) / SUB, y;
            rest /= SUB;
            y = ((double)(rest % SUB) + test_uniform(&seed)) / SUB;
            rest /= SUB;
            at[v] = (struct dpl_position){(float)((cell[v] % SIDE + x) * 500),
                                          (float)((cell[v] / SIDE + y) * 500)};
        }
        double weight = density_of(rig, cell, at);
        total += weight;
        see(rig, at, weight, seen);
    }
    for (int i = 0; i < SEEN; i++) seen[i] /= total;
}

static void chains_have_the_density(void **state) {
    (void)state;
    const uint16_t cases[2][3] = {{6, 7, 12}, {6, 6, 7}}; // moving, and beginning with a stay
    enum { DRAWS = 12000, SWEEPS = 30 };
    struct rig rig;
    rig_new(&rig, 60, 2.5);
    for (int c = 0; c < 2; c++) {
        double wanted[SEEN] = {0}, seen[SEEN] = {0}, most = 0;
        enumerate(&rig, cases[c], wanted);
        for (uint64_t i = 0; i < DRAWS; i++) {
            struct dpl_position at[3];
            struct dpl_stream stream;
            dpl_stream_open(&stream, rig.random,
                            (struct dpl_stream_id){DPL_PURPOSE_TEST, i, (uint64_t)c});
            dpl_place_sweeps(rig.placer, &stream, cases[c], 3, SWEEPS, at);
            assert_ok(rig.run, dpl_stream_close(rig.run, &stream));
            see(&rig, at, 1.0 / DRAWS, seen);
        }
        for (int i = 0; i < SEEN; i++) most = fmax(most, fabs(seen[i] - wanted[i]));
        print_message("shares are at most %g apart\n", most);
        assert_true(most < 0.015); // three deviations
    }
    rig_free(&rig);
}

/* The oracle of standing: five visits in one cell, with weights for nothing but standing still. Far
 * from borders each step stands still with one chance, whatever the others do; so the sixteen ways
 * in which four steps may stand are known, by the definition of the weights. */
enum { STEPS = 4, WAYS = 1 << STEPS };

static double way_weight(const struct rig *rig, int way, double chance) {
    const struct dpl_motion_bins *bins = &rig->motion.bins;
    double product = 1;
    size_t still = 0;
    for (int v = 0; v < STEPS; v++) {
        bool stands = way >> v & 1, stood = still > 0;
        size_t speed = stands ? DPL_MOTION_STILL : 1, last = stood ? DPL_MOTION_STILL : 1;
        still = stands ? still + 1 : 0;
        product *= stands ? chance : 1 - chance;
        product *= (double)rig->weight[v == 0      ? dpl_motion_first(bins, speed)
                                       : still > 1 ? dpl_motion_standing(bins, still)
                                                   : (last * bins->speeds + speed) * bins->turns];
        if (v == STEPS - 1) product *= (double)rig->weight[dpl_motion_last(bins, speed)];
    }
    return product;
}

/* Weights under which all ways occur, and four steps weigh otherwise than two and two. */
static void weigh_standing(struct rig *rig) {
    const struct dpl_motion_bins *bins = &rig->motion.bins;
    for (size_t i = 0; i < WEIGHTS; i++) rig->weight[i] = 1;
    for (size_t i = 0; i < CELLS * DPL_FINE; i++) rig->fine[i] = 1;
    for (size_t a = 1; a < bins->speeds; a++)
        rig->weight[a * bins->speeds * bins->turns] = rig->weight[a * bins->turns] = 30;
    rig->weight[dpl_motion_first(bins, DPL_MOTION_STILL)] = 40;
    rig->weight[dpl_motion_last(bins, DPL_MOTION_STILL)] = 60;
    for (size_t nth = 2; nth <= STEPS; nth++)
        rig->weight[dpl_motion_standing(bins, nth)] = (float[]){900, 300, 1500}[nth - 2];
    dpl_placer_weigh(rig->placer);
}

static void runs_of_standing_have_their_weights(void **state) {
    (void)state;
    enum { DRAWS = 6000, SWEEPS = 90 };
    const uint16_t cell[STEPS + 1] = {12, 12, 12, 12, 12};
    struct rig rig;
    rig_new(&rig, 60, 0);
    weigh_standing(&rig);
    // of two points in a square of side a being nearer than r
    double r = 11.0 / DPL_MOTION_SPEED_STEPS * reach_m(&rig), a = 500, total = 0, most = 0,
           chance =
               (3.14159265 * r * r * a * a - 8.0 / 3 * r * r * r * a + pow(r, 4) / 2) / pow(a, 4),
           wanted[WAYS], seen[WAYS] = {0};
    for (int way = 0; way < WAYS; way++) total += wanted[way] = way_weight(&rig, way, chance);
    for (uint64_t i = 0; i < DRAWS; i++) {
        struct dpl_position at[STEPS + 1];
        struct dpl_stream stream;
        int way = 0;
        dpl_stream_open(&stream, rig.random, (struct dpl_stream_id){DPL_PURPOSE_TEST, i, 5});
        dpl_place_sweeps(rig.placer, &stream, cell, STEPS + 1, SWEEPS, at);
        assert_ok(rig.run, dpl_stream_close(rig.run, &stream));
        for (int v = 0; v < STEPS; v++)
            way |= (dpl_motion_step(&rig.motion.bins, (float)(1 / reach_m(&rig)), at[v], at[v + 1])
                        .speed == DPL_MOTION_STILL)
                   << v;
        seen[way] += 1.0 / DRAWS;
    }
    for (int way = 0; way < WAYS; way++) {
        double apart = fabs(seen[way] - wanted[way] / total);
        print_message("way %d: %.3f drawn, %.3f wanted\n", way, seen[way], wanted[way] / total);
        most = fmax(most, apart);
    }
    assert_true(most < 0.015);
    rig_free(&rig);
}

/* Cells of a random walk with steps within the limit between centres, with stays. */
static size_t random_cells(const struct rig *rig, uint64_t *seed, uint16_t *cell, size_t most) {
    size_t n = 2 + test_random(seed) % (most - 1);
    cell[0] = (uint16_t)(test_random(seed) % CELLS);
    for (size_t v = 1; v < n; v++) {
        uint16_t next = test_random(seed) % 3 ? (uint16_t)(test_random(seed) % CELLS) : cell[v - 1];
        double far =
            500 * hypot(next % SIDE - cell[v - 1] % SIDE, next / SIDE - cell[v - 1] / SIDE);
        cell[v] = far <= 0.99 * reach_m(rig) ? next : cell[v - 1];
    }
    return n;
}

/* Every written position is in its cell, and no step beyond the limit; whatever the weights. */
static void cells_and_the_limit_are_kept(void **state) {
    (void)state;
    enum { MOST = 40 };
    for (int c = 0; c < 3; c++) {
        struct rig rig;
        uint64_t seed = 11;
        double longest = 0;
        rig_new(&rig, (double[]){60, 110, 150}[c], (double[]){0, 3, 12}[c]);
        for (uint64_t i = 0; i < test_soak(1500); i++) {
            uint16_t cell[MOST];
            struct dpl_position at[MOST];
            struct dpl_stream stream;
            size_t n = random_cells(&rig, &seed, cell, MOST);
            int32_t lat, lng;
            double last_lat = 0, last_lng = 0;
            dpl_stream_open(&stream, rig.random, (struct dpl_stream_id){DPL_PURPOSE_TEST, i, 9});
            dpl_place_trip(rig.placer, &stream, cell, n, at);
            assert_ok(rig.run, dpl_stream_close(rig.run, &stream));
            for (size_t v = 0; v < n; v++) {
                dpl_place_round(rig.placer, cell[v], at[v], &lat, &lng);
                int32_t found = dpl_grid_cell_at(&rig.grid, lat * 1e-6, lng * 1e-6);
                assert_int_equal(found, cell[v] / SIDE * rig.grid.columns + cell[v] % SIDE);
                double m = v == 0 ? 0
                                  : hypot((lat - last_lat) * rig.grid.m_per_deg_lat / 1e6,
                                          (lng - last_lng) * rig.grid.m_per_deg_lon / 1e6);
                longest = fmax(longest, m);
                last_lat = lat, last_lng = lng;
            }
        }
        print_message("the longest step is %g m of %g m\n", longest, reach_m(&rig));
        assert_true(longest <= reach_m(&rig) && longest > 0.8 * reach_m(&rig));
        rig_free(&rig);
    }
}

/* Coarse bins are unions of fine ones. */
static void coarse_bins_hold_fine_ones(void **state) {
    (void)state;
    struct dpl_motion_bins fine = dpl_motion_bins_make(true), coarse = dpl_motion_bins_make(false);
    assert_true(fine.speeds == DPL_MOTION_SPEEDS && fine.turns == DPL_MOTION_TURNS);
    assert_true(coarse.speeds * 2 == fine.speeds && coarse.turns * 2 == fine.turns);
    for (size_t i = 1; i <= DPL_MOTION_SPEED_STEPS; i++)
        if (fine.speed_of[i] == fine.speed_of[i - 1])
            assert_int_equal(coarse.speed_of[i], coarse.speed_of[i - 1]);
    for (size_t i = 1; i <= DPL_MOTION_TURN_STEPS; i++)
        if (fine.turn_of[i] == fine.turn_of[i - 1])
            assert_int_equal(coarse.turn_of[i], coarse.turn_of[i - 1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coarse_bins_hold_fine_ones),
        cmocka_unit_test(cells_and_the_limit_are_kept),
        cmocka_unit_test(chains_have_the_density),
        cmocka_unit_test(runs_of_standing_have_their_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
