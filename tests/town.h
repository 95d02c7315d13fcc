/* A small town for tests of `bridge`: a block of cells, and walks in it. */
#ifndef DPL_TEST_TOWN_H
#define DPL_TEST_TOWN_H

#include "method/bridge/walk.h"

enum { TOWN_SIDE = 6, TOWN = TOWN_SIDE * TOWN_SIDE, TOWN_ZONES = 4, TOWN_DAYPARTS = 4 };

/* Four zones, four dayparts. Caller frees with dpl_places_free. */
struct dpl_places *town_new(struct dpl_run *run);

/* A walk of random weights. */
struct town_walk {
    struct dpl_places *places;
    struct dpl_walk walk;
    int32_t *start, *to;
    uint8_t *band;
    float *weight, stay[TOWN], turn[DPL_HEADINGS * DPL_NEXT],
        speed[TOWN_DAYPARTS * DPL_MOTION_SPEEDS], potential[TOWN_DAYPARTS * TOWN],
        terminal[TOWN_DAYPARTS * TOWN]; // 1 each
    struct dpl_targets targets;         // one for each cell, in their order
};
/* Every `thin`-th step that the limit allows. Caller frees with town_walk_free. */
void town_walk(struct dpl_run *run, struct town_walk *walk, size_t length_max, size_t thin,
               uint64_t seed);
void town_walk_free(struct town_walk *walk);

#endif
