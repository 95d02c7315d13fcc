/* Visits of slow movers, dealt out by pace and way. */
#include "method/bridge/dwell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "town.h"

enum { K = TOWN, STAYS_MOST = 12, TRIPS = 2000 };

/* A way from a random cell to neighbours of neighbours; visits by tossing coins. */
static size_t random_trip(uint64_t *seed, struct dpl_stay *stay) {
    size_t n = 2 + test_random(seed) % (STAYS_MOST - 1);
    int x = (int)(test_random(seed) % TOWN_SIDE), y = (int)(test_random(seed) % TOWN_SIDE);
    for (size_t i = 0; i < n; i++) {
        stay[i] = (struct dpl_stay){(uint16_t)(y * TOWN_SIDE + x), 1};
        while (test_random(seed) % 6 && stay[i].visits < 60) stay[i].visits++;
        bool along = test_random(seed) % 2;
        int *move = along ? &x : &y;
        *move += *move == 0 ? 1 : *move == TOWN_SIDE - 1 ? -1 : test_random(seed) % 2 ? 1 : -1;
    }
    return n;
}

static size_t visits_of(const struct dpl_stay *stay, size_t n) {
    size_t visits = 0;
    for (size_t i = 0; i < n; i++) visits += stay[i].visits;
    return visits;
}

/* Every stay has its share to within one visit, and the trip its length. */
static void stays_get_their_shares(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_places *places = town_new(run);
    float pace[K], none[K] = {0};
    uint64_t seed = 1;
    for (int t = 0; t < TRIPS; t++) {
        struct dpl_stay stay[STAYS_MOST], dealt[STAYS_MOST], left[STAYS_MOST];
        double weight[STAYS_MOST] = {0}, all = 0;
        size_t n = random_trip(&seed, stay);
        for (size_t k = 0; k < K; k++) pace[k] = (float)(0.2 + test_uniform(&seed));
        memcpy(dealt, stay, sizeof stay), memcpy(left, stay, sizeof stay);
        dpl_dwell_deal(places, pace, test_uniform(&seed), dealt, n);
        dpl_dwell_deal(places, none, 0.5, left, n);
        for (size_t i = 0; i + 1 < n; i++) { // half of every way to each of its ends
            double m = hypot(places->x_m[stay[i].cell] - places->x_m[stay[i + 1].cell],
                             places->y_m[stay[i].cell] - places->y_m[stay[i + 1].cell]);
            weight[i] += m / 2 * (double)pace[stay[i].cell];
            weight[i + 1] += m / 2 * (double)pace[stay[i + 1].cell];
        }
        for (size_t i = 0; i < n; i++) all += weight[i];
        assert_int_equal(visits_of(dealt, n), visits_of(stay, n));
        for (size_t i = 0; i < n; i++) {
            double share = 1 + weight[i] / all * (double)(visits_of(stay, n) - n);
            assert_int_equal(dealt[i].cell, stay[i].cell);
            assert_true(dealt[i].visits >= 1 && fabs(dealt[i].visits - share) < 1.001);
            assert_int_equal(left[i].visits, stay[i].visits);
        }
    }
    dpl_places_free(places);
    dpl_run_free(run);
}

static void count(const struct dpl_places *places, const struct dpl_round *round, const float *pace,
                  double *visits) {
    memset(visits, 0, K * sizeof *visits);
    for (size_t t = 0; t < round->n_trips; t++) {
        struct dpl_stay stay[STAYS_MOST];
        size_t n;
        const struct dpl_stay *drawn = dpl_round_get(round, t, &n);
        memcpy(stay, drawn, n * sizeof *stay);
        if (pace) dpl_dwell_deal(places, pace, 0.5, stay, n);
        for (size_t i = 0; i < n; i++)
            visits[stay[i].cell] +=
                stay[i].visits * dpl_visit_weight(places->full_visits, visits_of(stay, n));
    }
}

/* Half of the total difference of two counts (K), as a share. */
static double apart(const double *a, const double *b) {
    double sum = 0, off = 0;
    for (size_t k = 0; k < K; k++) sum += a[k], off += fabs(a[k] - b[k]);
    return off / sum / 2;
}

/* In a town some of whose places are rested in, all keep their visits, which with even paces they
 * do not. */
static void places_keep_their_visits(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_places *places = town_new(run);
    struct dpl_round *round;
    double before[K], after[K], even[K];
    float pace[K], ones[K];
    uint64_t seed = 2;
    assert_ok(run, dpl_round_new(run, TRIPS, 1, TRIPS * STAYS_MOST, &round));
    dpl_round_begin(round, 0, TRIPS);
    for (size_t t = 0; t < TRIPS; t++) {
        struct dpl_stay stay[STAYS_MOST];
        size_t n = random_trip(&seed, stay);
        for (size_t i = 0; i < n; i++)
            if (stay[i].cell % 5 == 0) stay[i].visits = (uint16_t)(stay[i].visits * 3);
        assert_ok(run, dpl_round_put(run, round, 0, t, 0, stay, n));
    }
    for (size_t k = 0; k < K; k++) ones[k] = 1;
    assert_ok(run, dpl_dwell_fit(run, places, round, pace));
    count(places, round, NULL, before), count(places, round, pace, after);
    count(places, round, ones, even);
    print_message("visits apart by %.4f, with even paces by %.4f\n", apart(before, after),
                  apart(before, even));
    assert_true(apart(before, after) < 0.01 && apart(before, even) > 0.1);
    dpl_round_free(round);
    dpl_places_free(places);
    dpl_run_free(run);
}

/* Slow are those who stay for three visits and more, on the average. */
static void cars_are_not_slow(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_places *places = town_new(run);
    double visits[K], steps[2] = {60, 40};
    const struct dpl_edges edges = {.n = 2, .steps = steps};
    for (int slow = 0; slow < 2; slow++) {
        for (size_t k = 0; k < K; k++) visits[k] = (slow ? 310.0 : 290.0) / K;
        assert_int_equal(dpl_dwell_is_slow(places, visits, &edges), slow);
    }
    dpl_places_free(places);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_get_their_shares),
        cmocka_unit_test(places_keep_their_visits),
        cmocka_unit_test(cars_are_not_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
