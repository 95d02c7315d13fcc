/* See trips_max.h. Post-processing: a function of a noised table alone.
 *
 * A user of n trips to n places adds a vector of norm sqrt(n), which is scaled down to sqrt(m) if
 * it is longer: sqrt(m n) of n trips are left. Two things go wrong:
 *
 *     noise   grows as sqrt(m), over what is left of all trips
 *     bias    users of many trips, scaled down, count for less beside those of few
 *
 * That all are scaled down alike harms nothing: tables are scaled to the number of trips. So where
 * all have n trips, noise and bias are the same for any m up to n, and m above n is waste. */
#include "fit/trips_max.h"

#include <math.h>

/* Two made-up cities, of few and of many trips a user, and a real one: docs/NOTEBOOK.md. */
static const double NOISE_WEIGHT = 60; // of the noise of one bin over all that is left; bias: 1
static const double AS_GOOD = 1.03;    // times the least error: the largest m of these

/* What is left of n trips. */
static double left_of(double n, double m) { return n <= m ? n : sqrt(m * n); }

double dpl_crowd_capped(const struct dpl_crowd *crowd, double m) {
    double sum = 0;
    for (size_t i = 0; i < DPL_USER_BINS; i++)
        sum += crowd->users[i] * fmin(dpl_user_bin_trips(i), m);
    return sum;
}

double dpl_crowd_trips(const struct dpl_crowd *crowd) { return dpl_crowd_capped(crowd, INFINITY); }

double dpl_crowd_counted(const struct dpl_crowd *crowd, double m) {
    double sum = 0;
    for (size_t i = 0; i < DPL_USER_BINS; i++)
        sum += crowd->users[i] * left_of(dpl_user_bin_trips(i), m);
    return sum;
}

/* The share of trips that count for those of others. */
static double bias(const struct dpl_crowd *crowd, double m) {
    double trips = dpl_crowd_trips(crowd), left = dpl_crowd_counted(crowd, m), wrong = 0;
    for (size_t i = 0; i < DPL_USER_BINS; i++) {
        double n = dpl_user_bin_trips(i);
        wrong += crowd->users[i] * fabs(left_of(n, m) / left - n / trips);
    }
    return wrong / 2;
}

static double error_of(const struct dpl_crowd *crowd, double m) {
    double noise = NOISE_WEIGHT * crowd->sigma * sqrt(m) / dpl_crowd_counted(crowd, m);
    return hypot(bias(crowd, m), noise);
}

int64_t dpl_trips_max_choose(const struct dpl_crowd *crowd) {
    int64_t chosen = 1; // where no users exceed the noise: the least of it
    double least = INFINITY;
    if (!(dpl_crowd_trips(crowd) > 0)) return chosen;
    for (int64_t m = 1; m <= DPL_TRIPS_CHOSEN_MOST; m *= 2)
        least = fmin(least, error_of(crowd, (double)m));
    for (int64_t m = 1; m <= DPL_TRIPS_CHOSEN_MOST; m *= 2)
        if (error_of(crowd, (double)m) <= AS_GOOD * least) chosen = m;
    return chosen;
}
