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

/* The chance to cry out where nothing is wrong, over all that is tried. */
#define DPL_ATTACK_DOUBT 0.001

/* What an attacker who knows the noise says about its scores, which are then minus the share of
 * false hits at the score. */
struct dpl_calibration {
    double design[2]; /* variance of a count of hits (others, members) over the binomial one */
    bool quiet;       /* the noise is less than declared, as surely as limits are held to be */
};

/* What an attacker sees, and what is asked. */
struct dpl_attack_view {
    const struct dpl_cleaned *synthetic;
    const struct dpl_model *model; /* NULL: not known */
    bool bare;                     /* the model's tables are to be seen without their noise */
    struct dpl_calibration *calibration;
    struct dpl_pick reference; /* real trips of others */
    struct dpl_pick target[2]; /* others, members; the attacker does not know which is which, but
                                  the informed one knows everybody but the target */
    uint64_t seed;
};

/* score[t] is (target[t].n). */
typedef enum dpl_status dpl_attacker(struct dpl_run *run, const struct dpl_attack_view *view,
                                     double *const score[2]);

dpl_attacker dpl_attack_density, dpl_attack_classifier, dpl_attack_linkage, dpl_attack_presence,
    dpl_attack_informed;

/* Share of up to 1000 trips of the set that `points` random visits (cell, period) tell from all
 * others. */
enum dpl_status dpl_unicity(struct dpl_run *run, const struct dpl_cleaned *trips, size_t points,
                            uint64_t seed, double *share);

#endif
