/* How many trips a user counts as at most, where the holder does not say: m, from the noised table
 * of users by number of trips. Every sensitivity that grows with m follows from it, so that it is a
 * released number which the certificate states; the noise in units of the sensitivity stays what
 * the plan has fixed. docs/METHOD.md, "Units". */
#ifndef DPL_FIT_TRIPS_MAX_H
#define DPL_FIT_TRIPS_MAX_H

#include "ledger/plan.h"
#include "model/people.h"

/* Users by number of trips (DPL_USER_BINS), estimated from the noised table: not negative. */
struct dpl_crowd {
    double users[DPL_USER_BINS];
    double sigma; /* of the noise of each */
};
/* Their trips, all of them. */
double dpl_crowd_trips(const struct dpl_crowd *crowd);
/* Their trips when none has more than m, as they are kept. */
double dpl_crowd_capped(const struct dpl_crowd *crowd, double m);
/* What is left of their trips when a user's are scaled down to the norm of m: of n trips to n
 * places sqrt(m n). */
double dpl_crowd_counted(const struct dpl_crowd *crowd, double m);
/* m: 1, 2, 4, ... DPL_TRIPS_CHOSEN_MOST. */
int64_t dpl_trips_max_choose(const struct dpl_crowd *crowd);

#endif
