/* Counts of which many are zero, behind noisy ones: empirical Bayes with a spike at zero.
 *
 * Model: a count is 0 with chance `empty`; otherwise it is Gamma-distributed with that shape, so
 * that its mean over both is the prior. noisy = count + Gaussian noise. Both numbers are those of
 * maximum likelihood, one pair for all counts given; the estimate is the posterior mean. Linear
 * shrinkage (estimate.c) lifts every empty square a little, and together they hold what the
 * outskirts have; here a count within its noise is next to nothing where most are empty, and stays
 * near its prior where most are not.
 *
 * The posterior is summed over bins, in units of the noise: geometric from far below prior and
 * noise, even from two deviations on; a bin's share of the prior is exact but for its exponential,
 * taken at the middle. Counts beyond CLEAR deviations need no bins: the prior is straight there.
 *
 * Invariant: an estimate is above 0 where its prior is.
 * Cost: some 50 likelihoods, of at most SPARSE_COUNTS counts and 160 bins each. */
#include <math.h>

#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"
#include "method/bridge/estimate_sparse.h"

/* Log likelihood of the noisy count; *mean is the posterior's, in units of the noise. */
static double posterior(const struct count *count, struct sparse sparse, double *mean) {
    double k = sparse.shape, slab = count->prior / (1 - sparse.empty), x = count->noisy;
    double scale = log(1 - sparse.empty) + log_gamma_scale(k, slab);
    if (count->n == 0) {
        *mean = x + fmin(fmax((k - 1) / x - k / slab, -REACH / 2), REACH / 2);
        return scale + (k - 1) * log(x) - k * x / slab + log(2 * PI) / 2;
    }
    double spike = sparse.empty * gauss(x), sum = spike, first = 0, below = 0;
    for (size_t i = 0; i < count->n; i++) {
        double power = exp(k * count->log_edge[i] + scale),
               mass = (power - below) / k * exp(-k * count->middle[i] / slab) * count->fit[i];
        below = power;
        sum += mass, first += mass * count->middle[i];
    }
    *mean = sum > 0 ? first / sum : count->prior;
    return log(fmax(sum, 1e-300));
}

/* ---- the two numbers ---- */

struct evidence {
    const double *noisy, *variance, *prior;
    size_t n, stride;
};

enum { TRIED_MOST = 64 };

/* The likeliest of those tried, and how likely. */
static struct sparse likeliest(const struct evidence *e, const struct sparse *tried, size_t n,
                               double *most) {
    double sum[TRIED_MOST] = {0}, mean;
    struct count count;
    size_t best = 0;
    for (size_t i = 0; i < e->n; i += e->stride) {
        make_bins(e->noisy[i], e->prior[i], sqrt(e->variance[i]), &count);
        for (size_t j = 0; j < n; j++) sum[j] += posterior(&count, tried[j], &mean);
    }
    for (size_t j = 1; j < n; j++)
        if (sum[j] > sum[best]) best = j;
    *most = sum[best];
    return tried[best];
}

/* All shapes from low to high with all chances of being empty between from and to. */
static size_t list_tries(double low, double high, double step, double from, double to, double jump,
                         struct sparse *tried) {
    size_t n = 0;
    for (double at = low; at <= high + step / 4; at += step)
        for (double empty = fmax(from, 0); empty <= to + jump / 4 && n < TRIED_MOST; empty += jump)
            tried[n++] = (struct sparse){exp(at), empty};
    return n;
}

/* By a coarse look and a finer one around its best. */
static struct sparse best_of(const struct evidence *e) {
    struct sparse tried[TRIED_MOST];
    double most, step = SPARSE_SHAPE_STEP, jump = SPARSE_EMPTY_STEP;
    size_t n =
        list_tries(SPARSE_SHAPE_LEAST, SPARSE_SHAPE_MOST, step, 0, SPARSE_EMPTY_MOST, jump, tried);
    struct sparse best = likeliest(e, tried, n, &most);
    double at = log(best.shape);
    step /= 2, jump /= 2;
    n = list_tries(at - step, at + step, step, best.empty - jump, best.empty + jump, jump, tried);
    return likeliest(e, tried, n, &most);
}

void dpl_shrink_sparse(const double *noisy, const double *variance, double *prior, size_t n) {
    struct evidence e = {.noisy = noisy,
                         .variance = variance,
                         .prior = prior,
                         .n = n,
                         .stride = 1 + n / SPARSE_COUNTS};
    struct sparse sparse = best_of(&e);
    struct count count;
    for (size_t i = 0; i < n; i++) {
        double sigma = sqrt(variance[i]), mean;
        make_bins(noisy[i], prior[i], sigma, &count);
        posterior(&count, sparse, &mean);
        prior[i] = fmax(mean * sigma, 1e-9 * prior[i]);
    }
}
