/* Targets of sweeps: how cells are grouped, and that a sweep to a group is the sum of those to its
 * cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "town.h"

enum { MOST = 400 };

/* A random part of a grid of 40 x 40 cells, in no order of interest but their own. */
static void random_places(uint64_t *seed, int32_t *cell, double *trips, struct dpl_places *places) {
    *places = (struct dpl_places){.grid = {.columns = 40, .rows = 40}, .cell = cell};
    size_t one_in = 4 + test_random(seed) % 40;
    for (int32_t c = 0; c < 40 * 40; c++)
        if (test_random(seed) % one_in == 0 && places->K < MOST) {
            trips[places->K] = exp(8 * test_uniform(seed));
            cell[places->K++] = c;
        }
}

/* The side of the smallest square of cells, aligned to a power of two, that holds a target. */
static int32_t side_of(const struct dpl_targets *targets, size_t g, const int32_t *cell) {
    int32_t side = 1, first = cell[targets->cell[targets->start[g]]];
    for (int32_t i = targets->start[g]; i < targets->start[g + 1]; i++) {
        int32_t c = cell[targets->cell[i]];
        while (c / 40 / side != first / 40 / side || c % 40 / side != first % 40 / side) side *= 2;
    }
    return side;
}

/* Whatever the cells, each is in one target; there are as many targets as wanted, or nearly; a
 * target is a square that no other target's cells are in. */
static void targets_divide_all_cells(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    uint64_t seed = 11;
    for (size_t round = 0; round < test_soak(100); round++) {
        int32_t cell[MOST];
        double trips[MOST];
        struct dpl_places places;
        struct dpl_targets targets;
        random_places(&seed, cell, trips, &places);
        if (places.K == 0) continue;
        size_t K = places.K, most = 1 + test_random(&seed) % (round % 5 ? 64 : 2 * MOST);
        assert_ok(run, dpl_targets_choose(run, &places, trips, most, &targets));
        assert_true(targets.G <= most && targets.G >= (most < K ? (most + 1) / 4 : K));
        assert_int_equal(targets.start[targets.G], K);
        size_t seen[MOST] = {0};
        for (size_t g = 0; g < targets.G; g++) {
            assert_true(targets.start[g] < targets.start[g + 1]);
            int32_t side = side_of(&targets, g, cell), at = cell[targets.cell[targets.start[g]]];
            for (int32_t i = targets.start[g]; i < targets.start[g + 1]; i++)
                seen[targets.cell[i]]++;
            for (size_t k = 0; k < K; k++) {
                bool inside =
                    cell[k] / 40 / side == at / 40 / side && cell[k] % 40 / side == at % 40 / side;
                assert_int_equal(inside, (size_t)targets.of[k] == g);
            }
        }
        for (size_t k = 0; k < K; k++) assert_int_equal(seen[k], 1);
        dpl_targets_free(&targets);
    }
    dpl_run_free(run);
}

/* Where most trips end, targets are next to single cells; where hardly any do, they are large. */
static void targets_are_small_where_trips_end(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    enum { SIDE = 16, CELLS = SIDE * SIDE };
    int32_t cell[CELLS];
    struct dpl_targets targets;
    double trips[CELLS], size[2] = {0}, n[2] = {0};
    for (int32_t k = 0; k < CELLS; k++)
        cell[k] = k, trips[k] = k % SIDE < 4 && k / SIDE < 4 ? 1000 : 1;
    const struct dpl_places places = {
        .K = CELLS, .grid = {.columns = SIDE, .rows = SIDE}, .cell = cell};
    assert_ok(run, dpl_targets_choose(run, &places, trips, 40, &targets));
    for (size_t k = 0; k < CELLS; k++) {
        size_t many = trips[k] > 1;
        size[many] += targets.start[targets.of[k] + 1] - targets.start[targets.of[k]], n[many]++;
    }
    print_message("cells of a target: %g, %g where many end\n", size[0] / n[0], size[1] / n[1]);
    assert_true(size[1] == n[1] && size[0] / n[0] > 8);
    dpl_targets_free(&targets);
    dpl_run_free(run);
}

static void bad_targets_are_refused(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_targets targets;
    static const int32_t BAD[][3] = {{0, 2, 0}, {-1, 0, 1}, {0, 3, 1}};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_int_equal(dpl_targets_make(run, BAD[i], 3, &targets), DPL_BAD_DATA);
    dpl_run_free(run);
}

/* ---- sweeps ---- */

enum { VISITS = 9, LENGTH_MAX = 10, SOURCE = 14, DAYPART = 1 };

struct doings {
    float visits[TOWN * DPL_LANES], arrivals[TOWN], trips[(LENGTH_MAX + 1) * DPL_LANES];
};

/* What a trip of so many visits from SOURCE to the target in that lane does. */
static void go(struct dpl_sweep *sweep, size_t lane, struct doings *doings) {
    static float lengths[DPL_DISTANCE_BINS * (LENGTH_MAX + 1)], counts[LENGTH_MAX + 1];
    float trips[DPL_LANES] = {0};
    lengths[VISITS] = 1, counts[VISITS] = 1;
    memset(doings, 0, sizeof *doings);
    trips[lane] = 1;
    sweep->n_demand = 0;
    dpl_sweep_demand(sweep, SOURCE, 0, trips);
    dpl_sweep_forward(sweep, lengths, counts,
                      &(struct dpl_tally){.visits = doings->visits,
                                          .arrivals = doings->arrivals,
                                          .lengths = doings->trips});
}

/* All ways of so many visits from SOURCE to the target in that lane: what B was before scaling. */
static double weight_of(const struct dpl_sweep *sweep, size_t lane) {
    const struct dpl_around *around = &sweep->around[SOURCE];
    size_t state = (size_t)around->first + around->n_headings - 1;
    double weight = (double)sweep->B[((VISITS - 1) * sweep->n_states + state) * DPL_LANES + lane];
    for (size_t r = 1; r < VISITS; r++) weight /= (double)sweep->scale[r * DPL_LANES + lane];
    return weight;
}

/* A sweep to five cells together, against the exact sweeps to each of them: its expectation is
 * theirs, in proportion to their terminal weights and to the ways that lead there in time. */
static void a_target_is_the_sum_of_its_cells(void **state) {
    (void)state;
    enum { CELLS = 5 };
    static const float TERMINAL[CELLS] = {1, 0.3f, 0.01f, 0.7f, 0.2f};
    static struct doings together, alone;
    struct dpl_run *run = test_run(1);
    struct town_walk rig;
    struct dpl_sweep *sweep;
    struct dpl_targets groups;
    int32_t of[TOWN];
    double weight[CELLS], all = 0, visits[TOWN] = {0};
    town_walk(run, &rig, LENGTH_MAX, 4, 7);
    for (size_t k = 0; k < TOWN; k++) of[k] = k < CELLS ? 0 : (int32_t)(k - CELLS + 1);
    assert_ok(run, dpl_targets_make(run, of, TOWN, &groups));
    assert_ok(run, dpl_sweep_new(run, &rig.walk, true, &sweep));
    for (size_t k = 0; k < CELLS; k++) {
        dpl_sweep_backward(sweep, DAYPART, 0);
        weight[k] = (double)TERMINAL[k] * weight_of(sweep, k), all += weight[k];
    }
    for (size_t k = 0; k < CELLS; k++) {
        dpl_sweep_backward(sweep, DAYPART, 0);
        go(sweep, k, &alone);
        for (size_t x = 0; x < TOWN; x++)
            visits[x] += weight[k] / all * (double)alone.visits[x * DPL_LANES + k];
    }
    rig.walk.targets = &groups;
    memcpy(rig.terminal + DAYPART * TOWN, TERMINAL, sizeof TERMINAL);
    dpl_sweep_backward(sweep, DAYPART, 0);
    assert_near(weight_of(sweep, 0) / all, 1, 1e-4);
    go(sweep, 0, &together);
    for (size_t k = 0; k < TOWN; k++) {
        assert_near((double)together.arrivals[k], k < CELLS ? weight[k] / all : 0, 1e-4);
        assert_near((double)together.visits[k * DPL_LANES], visits[k], 1e-4);
    }
    dpl_sweep_free(sweep);
    dpl_targets_free(&groups);
    town_walk_free(&rig);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_divide_all_cells),
        cmocka_unit_test(targets_are_small_where_trips_end),
        cmocka_unit_test(bad_targets_are_refused),
        cmocka_unit_test(a_target_is_the_sum_of_its_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
