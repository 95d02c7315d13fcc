/* How people's trips follow one another: public bins, the same for all data, and the tensors of a
 * model that has been asked about people (`--unit user`). */
#ifndef DPL_MODEL_PEOPLE_H
#define DPL_MODEL_PEOPLE_H

#include <stddef.h>
#include <stdint.h>

#include "model/length_bins.h"

/* Trips of a user: 1 ... 31 singly, then widening to 1439; the last is open. */
enum { DPL_USER_BINS = DPL_LENGTH_BINS };
static inline size_t dpl_user_bin(size_t trips) { return dpl_length_bin(trips + 1); }
/* The most trips of a bin. */
static inline double dpl_user_bin_top(size_t bin) { return dpl_length_bin_top(bin) - 1; }
/* Trips of the users of a bin, on the average. */
static inline double dpl_user_bin_trips(size_t bin) {
    return ((bin ? dpl_user_bin_top(bin - 1) + 1 : 1) + dpl_user_bin_top(bin)) / 2;
}

/* From the end of a trip to the beginning of the next one: seconds, and metres. */
enum { DPL_GAPS = 6, DPL_REACHES = 3 };
static const double DPL_NEAR_M = 300, DPL_AROUND_M = 1000;
static inline size_t dpl_gap_bin(int64_t seconds) {
    static const int64_t UPTO_S[DPL_GAPS - 1] = {900, 3600, 14400, 43200, 86400};
    size_t bin = 0;
    while (bin < DPL_GAPS - 1 && seconds >= UPTO_S[bin]) bin++;
    return bin;
}
/* 0: there, 1: not far, 2: elsewhere. */
static inline size_t dpl_reach_bin(double metres) {
    return metres <= DPL_NEAR_M ? 0 : metres <= DPL_AROUND_M ? 1 : 2;
}

/* Trips of a user on a day that has any: 1, 2, 3, 4, 5 or 6, more. */
enum { DPL_DAY_BINS = 6 };
static inline size_t dpl_day_bin(size_t trips) { return trips < 5 ? trips - 1 : trips < 7 ? 4 : 5; }
static inline double dpl_day_bin_trips(size_t bin) {
    return bin < 4 ? (double)bin + 1 : bin < 5 ? 5.5 : 8;
}

/* Shares: of users (DPL_USER_BINS); of a user's transitions (DPL_GAPS, DPL_REACHES), and of a
 * user's days, by whether they begin at home (2, DPL_DAY_BINS), both averaged over users. */
#define DPL_MODEL_USERS "people.users"
#define DPL_MODEL_CHAINS "people.chains"
#define DPL_MODEL_DAYS "people.days"

/* Among the model's options: how many trips a user counts as, where a noised table said so. */
#define DPL_MODEL_TRIPS_MAX "trips_max_chosen"

#endif
