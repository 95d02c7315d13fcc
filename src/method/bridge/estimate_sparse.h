/* One noisy count with a prior, cut into bins of what the true one may be: shared by the two files
 * that sum posteriors, estimate_sparse.c and estimate_mixed.c. */
#ifndef DPL_METHOD_BRIDGE_ESTIMATE_SPARSE_H
#define DPL_METHOD_BRIDGE_ESTIMATE_SPARSE_H

#include <math.h>
#include <stddef.h>

enum { BINS_MOST = 200 };
static const double CLEAR = 8, BIN_RATIO = 1.2, BIN_WIDTH = 0.25, REACH = 6;
static const double SMALLEST = 1e-3, PRIOR_LEAST = 1e-4;
static const double PI = 3.14159265358979323846;

/* How counts lie about their prior. */
struct sparse {
    double shape, empty;
};

/* One count, in units of its noise. */
struct count {
    double noisy, prior;
    size_t n;                                 /* bins; 0: the count is clear of its noise */
    double log_edge[BINS_MOST];               /* upper edges; the first bin begins at 0 */
    double middle[BINS_MOST], fit[BINS_MOST]; /* likelihood of the noisy count there */
};

static inline double gauss(double x) { return exp(-x * x / 2); }

static inline void add_bin(struct count *count, double from, double to) {
    size_t i = count->n++;
    count->middle[i] = (from + to) / 2;
    count->log_edge[i] = log(to);
    count->fit[i] = gauss(count->noisy - count->middle[i]);
}

static inline void make_bins(double noisy, double prior, double sigma, struct count *count) {
    count->noisy = fmax(noisy / sigma, -CLEAR);
    count->prior = fmax(prior / sigma, PRIOR_LEAST);
    count->n = 0;
    if (count->noisy > CLEAR) return;
    double at = 0, to = SMALLEST * fmin(count->prior, 1), end = fmax(count->noisy, 0) + REACH;
    for (; at < end && count->n < BINS_MOST; at = to, to += fmin((BIN_RATIO - 1) * to, BIN_WIDTH))
        add_bin(count, at, to);
}

/* Log of the Gamma density's factor that does not depend on where. */
static inline double log_gamma_scale(double shape, double mean) {
    return shape * log(shape / mean) - lgamma(shape);
}

#endif
