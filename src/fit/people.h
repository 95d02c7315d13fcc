/* What is asked about people, where the unit is the user: how many trips they make, whether the
 * next one begins where the last one ended, and what their days look like.
 *
 * All three are of all trips of a user in the order of time, not of the m kept ones, which are not
 * consecutive. PRIVACY: a user adds one entry of 1, or means over transitions and days: the norm is
 * at most 1 however many trips there are, and dpl_exact_add holds it to that. */
#ifndef DPL_FIT_PEOPLE_H
#define DPL_FIT_PEOPLE_H

#include "fit/release.h"
#include "fit/trips_max.h"
#include "model/people.h"

/* Counts of users by number of trips (DPL_USER_BINS), of transitions (DPL_GAPS, DPL_REACHES) and of
 * days (2, DPL_DAY_BINS). */
dpl_counting dpl_count_user_trips, dpl_count_chains, dpl_count_days;

/* Adds what the three ask of the budget to ask (*n of them). */
void dpl_people_plan(struct dpl_mechanism *ask, size_t *n);
/* Measures "users" and puts what is estimated into the model. Where the budget leaves open how many
 * trips a user counts as, this settles it: before any table whose sensitivity grows with them.
 * PRIVACY: from the noised table alone. */
enum dpl_status dpl_people_users(struct dpl_run *run, struct dpl_release *release,
                                 struct dpl_parts *parts, struct dpl_model *model,
                                 struct dpl_crowd *crowd);
/* Likewise the two others. */
enum dpl_status dpl_people_measure(struct dpl_run *run, struct dpl_release *release,
                                   struct dpl_parts *parts, struct dpl_model *model);

#endif
