/* The shape of a trip in sixteen numbers, for classifiers. */
#ifndef DPL_EVALUATE_SHAPE_H
#define DPL_EVALUATE_SHAPE_H

#include "evaluate/track.h"

enum { DPL_SHAPE_FEATURES = 16, DPL_SHAPE_POINTS_MIN = 3 };

/* Path km, straight km, path / max(straight, 100 m), step speed at 10, 50, 90, 100 %, mean turn,
 * share of turns over 90 degrees, 90 % quantile of the turn, share of steps under 50 m, mean and
 * largest change of step length, radius of gyration, first and last step; metres, km/h, degrees.
 * The track has at least DPL_SHAPE_POINTS_MIN positions; `scratch` has room for its steps. Without
 * turns, their figures are 0. */
void dpl_shape_features(const struct dpl_track *track, double slot_s, double *scratch,
                        float features[DPL_SHAPE_FEATURES]);

/* Adds Gaussian blur to n positions; the same numbers for the same key. */
void dpl_shape_blur(const struct dpl_position *from, size_t n, double blur_m, uint64_t key,
                    struct dpl_position *to);

#endif
