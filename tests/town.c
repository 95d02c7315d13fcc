#include "town.h"

#include <stdlib.h>

#include "support.h"

struct dpl_places *town_new(struct dpl_run *run) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    struct dpl_places *places;
    int32_t cell[TOWN];
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    area.speed_limit_kmh = 104; // three cells and a bit
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    for (int i = 0; i < TOWN; i++) cell[i] = (i / TOWN_SIDE + 3) * grid.columns + i % TOWN_SIDE + 3;
    assert_ok(run, dpl_places_new(run, &grid, cell, TOWN,
                                  (struct dpl_resolution){TOWN_DAYPARTS, 1500}, &places));
    assert_int_equal(places->Z, TOWN_ZONES);
    return places;
}

void town_walk(struct dpl_run *run, struct town_walk *walk, size_t length_max, size_t thin,
               uint64_t seed) {
    struct dpl_places *places = walk->places = town_new(run);
    size_t near = places->near_start[TOWN * DPL_SECTORS], n = 0;
    walk->start = calloc(TOWN * DPL_SECTORS + 1, sizeof *walk->start);
    walk->to = calloc(near, sizeof *walk->to);
    walk->weight = calloc(near, sizeof *walk->weight);
    for (size_t row = 0; row < TOWN * DPL_SECTORS; row++) {
        for (size_t i = places->near_start[row]; i < places->near_start[row + 1]; i++)
            if (test_random(&seed) % thin == 0)
                walk->to[n] = places->near[i],
                walk->weight[n++] = (float)(0.05 + test_uniform(&seed));
        walk->start[row + 1] = (int32_t)n;
    }
    for (size_t i = 0; i < TOWN; i++) walk->stay[i] = (float)(0.1 + test_uniform(&seed));
    for (size_t i = 0; i < DPL_HEADINGS * DPL_SECTORS; i++)
        walk->turn[i] = (float)(0.2 + test_uniform(&seed));
    for (size_t i = 0; i < TOWN_DAYPARTS * TOWN; i++)
        walk->potential[i] = (float)(0.5 + test_uniform(&seed));
    walk->walk = (struct dpl_walk){.K = TOWN,
                                   .P = TOWN_DAYPARTS,
                                   .n_edges = n,
                                   .length_max = length_max,
                                   .start = walk->start,
                                   .to = walk->to,
                                   .weight = walk->weight,
                                   .stay = walk->stay,
                                   .turn = walk->turn,
                                   .potential = walk->potential};
}

void town_walk_free(struct town_walk *walk) {
    dpl_places_free(walk->places);
    free(walk->start), free(walk->to), free(walk->weight);
}
