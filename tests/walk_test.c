/* The sweeps of bridge's walk on towns of which all is known. */
#include <math.h>
#include <string.h>

#include "method/bridge/walk.h"
#include "support.h"

enum { CELLS = 24, STEPS = CELLS - 1, VISITS = CELLS, SECTOR = 2 };

/* A street of CELLS cells on which walks go one way; a step is as likely as `step` times to stay.
 */
struct street {
    int32_t start[CELLS * DPL_MOVES + 1], to[STEPS];
    uint8_t band[STEPS];
    float weight[STEPS], stay[CELLS], turn[DPL_HEADINGS * DPL_NEXT], speed[DPL_MOTION_SPEEDS],
        potential[CELLS];
    struct dpl_targets targets;
    struct dpl_walk walk;
};

static void make_street(struct dpl_run *run, float step, struct street *street) {
    memset(street, 0, sizeof *street);
    int32_t own[CELLS];
    for (int32_t row = 0, n = 0; row <= CELLS * DPL_MOVES; row++) {
        street->start[row] = n;
        if (row % DPL_MOVES == SECTOR && n < STEPS) street->to[n] = row / DPL_MOVES + 1, n++;
    }
    for (size_t e = 0; e < STEPS; e++) street->weight[e] = step;
    for (size_t x = 0; x < CELLS; x++)
        street->stay[x] = street->potential[x] = 1, own[x] = (int32_t)x;
    assert_ok(run, dpl_targets_make(run, own, CELLS, &street->targets));
    for (size_t i = 0; i < DPL_HEADINGS * DPL_NEXT; i++) street->turn[i] = 1;
    for (size_t i = 0; i < DPL_MOTION_SPEEDS; i++) street->speed[i] = 1;
    street->walk = (struct dpl_walk){.K = CELLS,
                                     .P = 1,
                                     .n_edges = STEPS,
                                     .length_max = VISITS + 6,
                                     .start = street->start,
                                     .to = street->to,
                                     .band = street->band,
                                     .weight = street->weight,
                                     .stay = street->stay,
                                     .turn = street->turn,
                                     .speed = street->speed,
                                     .potential = street->potential,
                                     .targets = &street->targets,
                                     .terminal = street->potential};
}

/* What 1000 trips down the whole street do that never stand still. */
static void assert_expected_whole(float step) {
    static struct street street;
    float arrivals[CELLS] = {0}, visits[CELLS * DPL_LANES] = {0}, steps[STEPS * DPL_LANES] = {0},
          stays[DPL_LANES] = {0}, turns[DPL_HEADINGS * DPL_NEXT * DPL_LANES] = {0},
          trips[(VISITS + 7) * DPL_LANES] = {0}, lengths[DPL_DISTANCE_BINS * (VISITS + 7)] = {0},
          counts[VISITS + 7], trips_to[DPL_LANES] = {0};
    struct dpl_run *run = test_run(1);
    struct dpl_sweep *sweep = NULL;
    size_t lane = (CELLS - 1) % DPL_LANES;
    make_street(run, step, &street);
    trips_to[lane] = 1000;
    lengths[VISITS] = 1;
    for (size_t l = 0; l < VISITS + 7; l++) counts[l] = 1;
    assert_ok(run, dpl_sweep_new(run, &street.walk, true, &sweep));
    dpl_sweep_backward(sweep, 0, CELLS - 1 - lane);
    dpl_sweep_demand(sweep, 0, 0, trips_to);
    dpl_sweep_forward(sweep, lengths, counts,
                      &(struct dpl_tally){.visits = visits,
                                          .arrivals = arrivals,
                                          .steps = steps,
                                          .stays = stays,
                                          .turns = turns,
                                          .lengths = trips});
    assert_near(arrivals[CELLS - 1], 1000, 1);
    for (size_t x = 0; x < CELLS; x++) assert_true(fabsf(visits[x * DPL_LANES + lane] - 1000) < 1);
    for (size_t e = 0; e < STEPS; e++) assert_true(fabsf(steps[e * DPL_LANES + lane] - 1000) < 1);
    dpl_sweep_free(sweep);
    dpl_targets_free(&street.targets);
    dpl_run_free(run);
}

/* Their chance is 1e-46, and 1e-138, which no number of the sweep holds: all of them are expected
 * all the same, in every cell once. */
static void a_fast_trip_is_expected_whole(void **state) {
    (void)state;
    assert_expected_whole(1e-2f);
    assert_expected_whole(1e-6f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_fast_trip_is_expected_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
