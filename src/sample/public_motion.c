#include "sample/motion.h"
static float ones[DPL_MOTION_SPEEDS * DPL_MOTION_SPEEDS * DPL_MOTION_TURNS + 2 * DPL_MOTION_SPEEDS];
struct dpl_motion dpl_motion_public(void) {
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++) ones[i] = 1;
    return (struct dpl_motion){.bins = dpl_motion_bins_make(true), .weight = ones};
}
