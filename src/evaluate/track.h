/* How one trip moves: positions one slot apart, and what follows from them. */
#ifndef DPL_EVALUATE_TRACK_H
#define DPL_EVALUATE_TRACK_H

#include "base/base.h"

/* Positions of one trip, in order, one slot apart. */
struct dpl_track {
    const struct dpl_position *at; /* (n) borrowed */
    size_t n;
};

/* Moves up to this length have no direction worth the name: GPS error would decide it. */
enum { DPL_MOVE_MIN_M = 30, DPL_STOP_RADIUS_M = 100, DPL_STOP_MIN_S = 120 };

/* At the slots' instants; trips->position must be there. */
struct dpl_track dpl_track_of(const struct dpl_cleaned *trips, size_t trip);
/* A phase later; trips->later must be there. */
struct dpl_track dpl_track_later(const struct dpl_cleaned *trips, size_t trip);

double dpl_track_distance_m(struct dpl_position a, struct dpl_position b);
/* From position i to the next. */
double dpl_track_step_m(const struct dpl_track *track, size_t i);
double dpl_track_path_m(const struct dpl_track *track);
double dpl_track_straight_m(const struct dpl_track *track);
/* Root of the mean squared distance from the mean position. */
double dpl_track_gyration_m(const struct dpl_track *track);
/* By how much the trip turns at position i, 0 ... 180; negative when one of the two steps there is
 * no longer than DPL_MOVE_MIN_M. 0 < i < n - 1. */
double dpl_track_turn_deg(const struct dpl_track *track, size_t i);
/* Stops: longest runs of positions within 100 m of the run's first one that last 2 minutes or more.
 * *stopped_s gets their total length. */
size_t dpl_track_stops(const struct dpl_track *track, double slot_s, double *stopped_s);

#endif
