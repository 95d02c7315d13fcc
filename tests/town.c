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
    assert_ok(run, dpl_places_new(run, &grid, cell, NULL, TOWN,
                                  (struct dpl_resolution){
                                      .dayparts = TOWN_DAYPARTS, .zone_m = 1500, .full_visits = 20},
                                  &places));
    assert_int_equal(places->Z, TOWN_ZONES);
    return places;
}

void town_walk(struct dpl_run *run, struct town_walk *walk, size_t length_max, size_t thin,
               uint64_t seed) {
    struct dpl_places *places = walk->places = town_new(run);
    size_t near = places->near_start[TOWN * DPL_SECTORS], n = 0;
    walk->start = calloc(TOWN * DPL_MOVES + 1, sizeof *walk->start);
    walk->to = calloc(near, sizeof *walk->to);
    walk->band = calloc(near, sizeof *walk->band);
    walk->weight = calloc(near, sizeof *walk->weight);
    for (size_t row = 0; row < TOWN * DPL_MOVES; row++) {
        size_t x = row / DPL_MOVES, sector = x * DPL_SECTORS + row % DPL_SECTORS;
        for (size_t i = places->near_start[sector]; i < places->near_start[sector + 1]; i++) {
            size_t y = (size_t)places->near[i];
            if (dpl_places_move(places, x, y) != row % DPL_MOVES || test_random(&seed) % thin)
                continue;
            walk->to[n] = (int32_t)y, walk->band[n] = (uint8_t)dpl_places_band(places, x, y);
            walk->weight[n++] = (float)(0.05 + test_uniform(&seed));
        }
        walk->start[row + 1] = (int32_t)n;
    }
    for (size_t i = 0; i < TOWN; i++) walk->stay[i] = (float)(0.1 + test_uniform(&seed));
    for (size_t i = 0; i < DPL_HEADINGS * DPL_NEXT; i++) {
        size_t q = i / DPL_NEXT;
        bool weighed = i % DPL_NEXT != DPL_STAY || dpl_rested(q) != q;
        walk->turn[i] = weighed ? (float)(0.2 + test_uniform(&seed)) : 1;
    }
    for (size_t i = 0; i < TOWN_DAYPARTS * DPL_MOTION_SPEEDS; i++)
        walk->speed[i] = (float)(0.5 + test_uniform(&seed));
    for (size_t i = 0; i < TOWN_DAYPARTS * TOWN; i++)
        walk->potential[i] = (float)(0.5 + test_uniform(&seed)), walk->terminal[i] = 1;
    int32_t own[TOWN];
    for (int32_t k = 0; k < TOWN; k++) own[k] = k;
    assert_ok(run, dpl_targets_make(run, own, TOWN, &walk->targets));
    walk->walk = (struct dpl_walk){.K = TOWN,
                                   .P = TOWN_DAYPARTS,
                                   .n_edges = n,
                                   .length_max = length_max,
                                   .start = walk->start,
                                   .to = walk->to,
                                   .band = walk->band,
                                   .weight = walk->weight,
                                   .stay = walk->stay,
                                   .turn = walk->turn,
                                   .speed = walk->speed,
                                   .potential = walk->potential,
                                   .targets = &walk->targets,
                                   .terminal = walk->terminal};
}

void town_walk_free(struct town_walk *walk) {
    dpl_places_free(walk->places);
    dpl_targets_free(&walk->targets);
    free(walk->start), free(walk->to), free(walk->band), free(walk->weight);
}
