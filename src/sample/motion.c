/* Bins and tables of motions. */
#include "sample/motion.h"

#include <math.h>

/* Upper ends of the bins but for the last, which is open: parts of the reach, and degrees. With
 * 150 km/h and a minute the first bin of lengths ends at 25 m, 1.5 km/h; each later one is about
 * a quarter wider than the one before. */
static const double SPEED_END[DPL_MOTION_SPEEDS - 1] = {.01,  .024, .044, .068, .096, .128, .168,
                                                        .216, .276, .352, .448, .572, .732};
static const double TURN_END[DPL_MOTION_TURNS - 1] = {5, 10, 16, 24, 35, 50, 70, 90, 130};

/* Steps that stand still in a row, of which each bin begins with that one. */
static const size_t STANDING_FIRST[DPL_MOTION_TURNS] = {2, 3, 4, 5, 6, 7, 9, 12, 16, 24};

static const double DEG = 3.14159265358979323846 / 180;

/* Which bin value falls into; a coarse one is two fine ones, but for the first of lengths, which
 * stays alone: standing still is told apart always. */
static uint8_t bin_of(const double *end, size_t n, double value, bool fine, bool first_alone) {
    size_t bin = 0;
    while (bin < n && value >= end[bin]) bin++;
    if (fine) return (uint8_t)bin;
    return (uint8_t)(first_alone ? (bin == n ? n / 2 : (bin + 1) / 2) : bin / 2);
}

struct dpl_motion_bins dpl_motion_bins_make(bool fine) {
    struct dpl_motion_bins bins = {0};
    for (size_t i = 0; i <= DPL_MOTION_SPEED_STEPS; i++)
        bins.speed_of[i] = bin_of(SPEED_END, DPL_MOTION_SPEEDS - 1,
                                  (double)i / DPL_MOTION_SPEED_STEPS, fine, true);
    for (size_t i = 0; i <= DPL_MOTION_TURN_STEPS; i++)
        bins.turn_of[i] =
            bin_of(TURN_END, DPL_MOTION_TURNS - 1,
                   acos(1 - 2 * (double)i / DPL_MOTION_TURN_STEPS) / DEG, fine, false);
    bins.speeds = (size_t)bins.speed_of[DPL_MOTION_SPEED_STEPS] + 1;
    bins.turns = (size_t)bins.turn_of[DPL_MOTION_TURN_STEPS] + 1;
    return bins;
}

size_t dpl_motion_standing(const struct dpl_motion_bins *bins, size_t nth) {
    size_t bin = 0;
    while (bin + 1 < DPL_MOTION_TURNS && nth >= STANDING_FIRST[bin + 1]) bin++;
    return bins->turns == DPL_MOTION_TURNS ? bin : bin / 2; // of the pair that stands twice
}

void dpl_motion_count(const struct dpl_motion_bins *bins, double reach_m,
                      const struct dpl_position *position, size_t n, double weight, double *count) {
    float per_reach = (float)(1 / reach_m);
    struct dpl_step before = {0};
    size_t still = 0; // steps in a row
    for (size_t v = 1; v < n; v++) {
        struct dpl_step step = dpl_motion_step(bins, per_reach, position[v - 1], position[v]);
        still = step.speed == DPL_MOTION_STILL ? still + 1 : 0;
        size_t at = v == 1      ? dpl_motion_first(bins, step.speed)
                    : still > 1 ? dpl_motion_standing(bins, still)
                                : dpl_motion_of(bins, &before, &step);
        count[at] += weight;
        before = step;
    }
    if (n > 1) count[dpl_motion_last(bins, before.speed)] += weight;
}
