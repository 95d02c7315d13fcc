/* Attackers: functions that score trips, the higher the more likely a member. */
#ifndef DPL_EVALUATE_ATTACK_H
#define DPL_EVALUATE_ATTACK_H

#include "base/base.h"

/* Some trips of one set. */
struct dpl_pick {
    const struct dpl_cleaned *trips;
    const uint32_t *trip; /* (n) */
    size_t n;
};

/* What an attacker sees, and what is asked. */
struct dpl_attack_view {
    const struct dpl_cleaned *synthetic;
    struct dpl_pick reference; /* real trips of others */
    struct dpl_pick target[2]; /* others, members; the attacker does not know which is which */
    uint64_t seed;
};

/* score[t] is (target[t].n). */
typedef enum dpl_status dpl_attacker(struct dpl_run *run, const struct dpl_attack_view *view,
                                     double *const score[2]);

dpl_attacker dpl_attack_density, dpl_attack_classifier, dpl_attack_linkage, dpl_attack_presence;

/* Share of up to 1000 trips of the set that `points` random visits (cell, period) tell from all
 * others. */
enum dpl_status dpl_unicity(struct dpl_run *run, const struct dpl_cleaned *trips, size_t points,
                            uint64_t seed, double *share);

#endif
