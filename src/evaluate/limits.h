/* Exact confidence limits of a share (Clopper and Pearson). */
#ifndef DPL_EVALUATE_LIMITS_H
#define DPL_EVALUATE_LIMITS_H

#include <stddef.h>

/* The chance of at most `hits` of n, each with chance p. */
double dpl_binomial_cdf(size_t hits, size_t n, double p);
/* With confidence 1 - alpha the true share is not below, or not above, the limit. */
double dpl_share_lower(size_t hits, size_t n, double alpha);
double dpl_share_upper(size_t hits, size_t n, double alpha);

#endif
