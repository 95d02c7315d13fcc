/* How long a slow mover is where it passes: see dwell.c. */
#ifndef DPL_METHOD_BRIDGE_DWELL_H
#define DPL_METHOD_BRIDGE_DWELL_H

#include "method/bridge/bridge.h"
#include "sample/generator.h"

/* Whether stays are long, by estimated visits (K) and steps. */
bool dpl_dwell_is_slow(const struct dpl_places *places, const double *visits,
                       const struct dpl_edges *edges);
/* The pace of each place, above 0, out (K), from trips as the walk draws them. */
enum dpl_status dpl_dwell_fit(struct dpl_run *run, const struct dpl_places *places,
                              const struct dpl_round *round, float *pace);
/* Deals the visits of a trip's n stays out anew, each at least one; u from 0 to 1 is random.
 * Nothing where paces (K) are 0. */
void dpl_dwell_deal(const struct dpl_places *places, const float *pace, double u,
                    struct dpl_stay *stay, size_t n);

#endif
