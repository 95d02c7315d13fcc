/* Counts with two priors, one that knows a map and one that does not: empirical Bayes with a
 * mixture of both.
 *
 * Model: a count is 0 with chance `empty`; otherwise it is Gamma-distributed about its even prior
 * with chance `doubt`, about the map's prior with chance 1 - doubt. noisy = count + Gaussian noise.
 * Shape, empty and the doubt of each kind of square are those of maximum likelihood; the estimate
 * is the posterior mean. So the counts say how much the map says: a map that explains them has
 * little doubt, a wrong one has doubt 1, which is no map at all. Some doubt is always left: a count
 * that the map cannot explain, as of an airport that it lacks, goes to the even prior by itself.
 *
 * PRIVACY: reads noised counts and public numbers alone.
 * Invariant: an estimate is above 0 where a prior is.
 * Cost: SHAPES * EMPTIES likelihoods of at most SPARSE_COUNTS counts, two sums over bins each. */
#include <math.h>

#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"
#include "method/bridge/estimate_sparse.h"

enum { DOUBTS = sizeof MAP_DOUBTS / sizeof *MAP_DOUBTS };

struct mixed {
    struct sparse sparse;
    double doubt[DPL_MAP_KINDS];
};

/* Likelihood of a noisy count that is not empty, its prior in units of the noise; *mean is the
 * posterior's. */
static double slab(const struct count *count, double prior, struct sparse sparse, double *mean) {
    double k = sparse.shape, about = prior / (1 - sparse.empty), x = count->noisy,
           scale = log_gamma_scale(k, about), sum = 0, first = 0, below = 0;
    if (count->n == 0) {
        *mean = x + fmin(fmax((k - 1) / x - k / about, -REACH / 2), REACH / 2);
        return exp(fmax(scale + (k - 1) * log(x) - k * x / about + log(2 * PI) / 2, -600));
    }
    for (size_t i = 0; i < count->n; i++) {
        double power = exp(k * count->log_edge[i] + scale),
               mass = (power - below) / k * exp(-k * count->middle[i] / about) * count->fit[i];
        below = power;
        sum += mass, first += mass * count->middle[i];
    }
    *mean = sum > 0 ? first / sum : prior;
    return fmax(sum, 1e-290);
}

/* Both priors of a count in units of its noise, and its bins. */
static void take_count(const struct dpl_two_priors *priors, size_t i, double noisy, double sigma,
                       double prior[2], struct count *count) {
    prior[0] = fmax(priors->even[i] / sigma, PRIOR_LEAST);
    prior[1] = fmax(priors->map[i] / sigma, PRIOR_LEAST);
    make_bins(noisy, fmin(priors->even[i], priors->map[i]), sigma, count);
}

/* Adds each kind's log likelihoods with every doubt. */
static void add_likelihoods(const struct dpl_two_priors *priors, const double *noisy,
                            const double *variance, size_t n, struct sparse sparse,
                            double sum[DPL_MAP_KINDS][DOUBTS]) {
    struct count count;
    double prior[2], mean;
    for (size_t i = 0; i < n; i += 1 + n / SPARSE_COUNTS) {
        take_count(priors, i, noisy[i], sqrt(variance[i]), prior, &count);
        double even = slab(&count, prior[0], sparse, &mean),
               map = slab(&count, prior[1], sparse, &mean),
               spike = sparse.empty * gauss(count.noisy);
        for (size_t j = 0; j < DOUBTS; j++)
            sum[priors->kind[i]][j] += log(fmax(
                spike + (1 - sparse.empty) * (MAP_DOUBTS[j] * even + (1 - MAP_DOUBTS[j]) * map),
                1e-300));
    }
}

static struct mixed likeliest(const struct dpl_two_priors *priors, const double *noisy,
                              const double *variance, size_t n) {
    struct mixed best = {{1, 0}, {1, 1, 1}};
    double most = -INFINITY;
    for (double at = SPARSE_SHAPE_LEAST; at <= SPARSE_SHAPE_MOST + 0.01; at += MIXED_SHAPE_STEP)
        for (double empty = 0; empty <= SPARSE_EMPTY_MOST + 0.01; empty += SPARSE_EMPTY_STEP) {
            struct mixed tried = {.sparse = {exp(at), empty}};
            double sum[DPL_MAP_KINDS][DOUBTS] = {{0}}, all = 0;
            add_likelihoods(priors, noisy, variance, n, tried.sparse, sum);
            for (size_t kind = 0; kind < DPL_MAP_KINDS; kind++) {
                size_t at_most = 0;
                for (size_t j = 1; j < DOUBTS; j++)
                    if (sum[kind][j] > sum[kind][at_most]) at_most = j;
                tried.doubt[kind] = MAP_DOUBTS[at_most];
                all += sum[kind][at_most];
            }
            if (all > most) most = all, best = tried;
        }
    return best;
}

void dpl_shrink_mixed(const double *noisy, const double *variance,
                      const struct dpl_two_priors *priors, double *out, size_t n) {
    struct mixed mixed = likeliest(priors, noisy, variance, n);
    struct count count;
    for (size_t i = 0; i < n; i++) {
        double sigma = sqrt(variance[i]), doubt = mixed.doubt[priors->kind[i]], prior[2], mean[2];
        take_count(priors, i, noisy[i], sigma, prior, &count);
        double full = 1 - mixed.sparse.empty,
               even = doubt * full * slab(&count, prior[0], mixed.sparse, &mean[0]),
               map = (1 - doubt) * full * slab(&count, prior[1], mixed.sparse, &mean[1]),
               spike = mixed.sparse.empty * gauss(count.noisy),
               blend = doubt * priors->even[i] + (1 - doubt) * priors->map[i];
        out[i] =
            fmax((even * mean[0] + map * mean[1]) / (even + map + spike) * sigma, 1e-9 * blend);
    }
}
