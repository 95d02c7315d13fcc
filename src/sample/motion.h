/* How trips move: public bins of step lengths and turns, and the weights by which positions are
 * drawn.
 *
 * A motion is what three visits in a row do: the bin of the first step's length, that of the
 * second, and the bin of the turn between them; and, as classes of their own, the first and the
 * last step of a trip. Where both steps stand still there is no turn: the third number then says
 * for how many steps one has stood, since who has stood long stands on. Lengths are parts of the
 * reach: the metres that the public speed limit allows in a slot. What is measured
 * (method/bridge/measure.c) and what is drawn (place.c) count by the same functions, so that one
 * can be held against the other.
 */
#ifndef DPL_SAMPLE_MOTION_H
#define DPL_SAMPLE_MOTION_H

#include "base/base.h"

enum { DPL_MOTION_SPEEDS = 14, DPL_MOTION_TURNS = 10, DPL_MOTION_STILL = 0 };
enum { DPL_MOTION_SPEED_STEPS = 1024, DPL_MOTION_TURN_STEPS = 4096 };

struct dpl_motion_bins {
    size_t speeds, turns;
    uint8_t speed_of[DPL_MOTION_SPEED_STEPS + 1]; /* by length over reach */
    uint8_t turn_of[DPL_MOTION_TURN_STEPS + 1];   /* by half of 1 - cosine */
};
/* Fine: DPL_MOTION_SPEEDS and DPL_MOTION_TURNS of them; coarse: half as many, each a few of the
 * fine ones. */
struct dpl_motion_bins dpl_motion_bins_make(bool fine);

/* Entries of a table of motions: pairs of speeds by turn, then first steps, then last ones. */
static inline size_t dpl_motion_size(const struct dpl_motion_bins *bins) {
    return bins->speeds * bins->speeds * bins->turns + 2 * bins->speeds;
}
static inline size_t dpl_motion_first(const struct dpl_motion_bins *bins, size_t speed) {
    return bins->speeds * bins->speeds * bins->turns + speed;
}
static inline size_t dpl_motion_last(const struct dpl_motion_bins *bins, size_t speed) {
    return bins->speeds * bins->speeds * bins->turns + bins->speeds + speed;
}

/* A step, with what is asked of it often. */
struct dpl_step {
    float x_m, y_m, length_m;
    uint32_t speed; /* bin */
};
static inline struct dpl_step dpl_motion_step(const struct dpl_motion_bins *bins, float per_reach,
                                              struct dpl_position from, struct dpl_position to) {
    struct dpl_step step = {.x_m = to.x_m - from.x_m, .y_m = to.y_m - from.y_m};
    step.length_m = __builtin_sqrtf(step.x_m * step.x_m + step.y_m * step.y_m);
    float part = step.length_m * per_reach * DPL_MOTION_SPEED_STEPS;
    step.speed = bins->speed_of[part < DPL_MOTION_SPEED_STEPS ? (int)part : DPL_MOTION_SPEED_STEPS];
    return step;
}
/* The entry of a step that is one of those that stand still in a row: the second, the third ... */
size_t dpl_motion_standing(const struct dpl_motion_bins *bins, size_t nth);
/* A turn next to a step that stands still means nothing: it is in the first bin. Of two that stand
 * still it is the entry of the second in a row. */
static inline size_t dpl_motion_of(const struct dpl_motion_bins *bins, const struct dpl_step *a,
                                   const struct dpl_step *b) {
    size_t turn = 0, pair = a->speed * bins->speeds + b->speed;
    if (a->speed != DPL_MOTION_STILL && b->speed != DPL_MOTION_STILL) {
        float cosine = (a->x_m * b->x_m + a->y_m * b->y_m) / (a->length_m * b->length_m),
              part = (1 - cosine) * (DPL_MOTION_TURN_STEPS / 2);
        int at = part > 0 ? (int)part : 0;
        turn = bins->turn_of[at < DPL_MOTION_TURN_STEPS ? at : DPL_MOTION_TURN_STEPS];
    }
    return pair * bins->turns + turn;
}

/* Weights of motions and of parts of cells: what the drawing of positions goes by. A view. */
enum { DPL_FINE_SIDE = 4, DPL_FINE = DPL_FINE_SIDE * DPL_FINE_SIDE };
struct dpl_motion {
    struct dpl_motion_bins bins;
    const float *weight; /* (dpl_motion_size) above 0 */
    const float *fine;   /* (cells, DPL_FINE) rows from the south, of mean 1 a cell; NULL: alike */
};
/* The weights that made-up cities have: for models that measured none. */
struct dpl_motion dpl_motion_public(void);

/* Adds what a trip of n positions does to count (dpl_motion_size), `weight` for each. */
void dpl_motion_count(const struct dpl_motion_bins *bins, double reach_m,
                      const struct dpl_position *position, size_t n, double weight, double *count);

#endif
