/* How long trips take by how easily their way is made, see ease.c. */
#ifndef DPL_METHOD_BRIDGE_EASE_H
#define DPL_METHOD_BRIDGE_EASE_H

#include "method/bridge/bridge.h"

/* Lengths as they are wanted of the trips of each daypart and distance, and together. */
struct dpl_eased {
    size_t P, length_max;
    void *block;
    double *wanted;    /* (P, DPL_DISTANCE_BINS, length_max + 1) rows sum up to 1, or are empty */
    double *histogram; /* (length_max + 1) of all trips, sums up to 1 */
    double *together;  /* (length_max + 1) room */
};
/* lengths (P, DPL_DISTANCE_BINS, length_max + 1) are the chances wanted, histogram (length_max + 1)
 * those of all trips. Free with dpl_eased_free. */
enum dpl_status dpl_eased_new(struct dpl_run *run, size_t P, size_t length_max,
                              const float *lengths, const double *histogram,
                              struct dpl_eased *eased);
void dpl_eased_free(struct dpl_eased *eased);
/* What is wanted of each daypart moves by a power (P) of length; then all of it, so that trips of
 * all rows together have the histogram. got: trips, in the shape of `wanted`. */
void dpl_eased_move(struct dpl_eased *eased, const double *powers, const double *got);
/* Factors (the shape of `wanted`) times (wanted / got)^power; rows sum up to 1 again. */
void dpl_eased_adjust(const struct dpl_eased *eased, const double *got, double power,
                      float *factors);
/* Factors of each row (the shape of `wanted`) times what those of the whole day, (DPL_DISTANCE_BINS,
 * length_max + 1), have become over what was wanted of the day. */
void dpl_eased_hand_on(const struct dpl_eased *day, const float *day_factors, size_t P,
                       float *factors);

#endif
