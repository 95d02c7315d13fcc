/* Shrinking noisy counts towards a prior: empirical Bayes, with two numbers per table for how good
 * the prior is.
 *
 * Model: truth = prior + error, of variance spread * prior^power; noisy = truth + noise of a known
 * deviation. Power and spread are those of maximum likelihood: power 2 is a prior that is wrong by
 * a share, power 1 one that is wrong as Poisson counts are. The best linear estimate is then prior
 * + w (noisy - prior), w = variance / (variance + noise^2). A count below its noise stays at the
 * prior, which comes from a coarser table: that is how resolution follows noise.
 *
 * Invariant: an estimate is above 0 where its prior is.
 * Cost: some 120 likelihoods, of at most LIKELIHOOD_COUNTS counts each. */
#include <math.h>

#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"

struct evidence {
    const double *noisy, *prior, *summed;
    size_t n, stride;
    double sigma;
};

static double noise_variance(const struct evidence *e, size_t i) {
    return e->sigma * e->sigma * (e->summed ? e->summed[i] : 1);
}

/* Twice the log likelihood, up to a constant. */
static double likelihood(const struct evidence *e, double power, double spread) {
    double sum = 0;
    for (size_t i = 0; i < e->n; i += e->stride) {
        double variance =
                   noise_variance(e, i) +
                   dpl_prior_error_variance((struct dpl_prior_error){power, spread}, e->prior[i]) +
                   1e-12,
               d = e->noisy[i] - e->prior[i];
        sum -= log(variance) + d * d / variance;
    }
    return sum;
}

/* The likeliest spread by a coarse look and a finer one around its best. */
static double best_spread(const struct evidence *e, double power, double *value) {
    double best = LOG_SPREAD_LEAST, step = 1;
    *value = likelihood(e, power, exp(best));
    for (int round = 0; round < 3; round++, step /= 4) {
        double middle = best, low = round ? middle - 3 * step : LOG_SPREAD_LEAST,
               high = round ? middle + 3 * step : LOG_SPREAD_MOST;
        for (double at = low; at <= high + step / 2; at += step) {
            double here = likelihood(e, power, exp(at));
            if (here > *value) *value = here, best = at;
        }
    }
    return best > LOG_SPREAD_LEAST + 0.5 ? exp(best) : 0;
}

static struct dpl_prior_error likeliest(const struct evidence *e, double *most) {
    struct dpl_prior_error best = {2, 0};
    *most = -INFINITY;
    for (size_t i = 0; i < sizeof ERROR_POWERS / sizeof *ERROR_POWERS; i++) {
        double value, spread = best_spread(e, ERROR_POWERS[i], &value);
        if (value > *most) *most = value, best = (struct dpl_prior_error){ERROR_POWERS[i], spread};
    }
    return best;
}

struct dpl_prior_error dpl_prior_error_of(const double *noisy, const double *prior, size_t n,
                                          double sigma, const double *summed) {
    double most;
    const struct evidence e = {.noisy = noisy,
                               .prior = prior,
                               .summed = summed,
                               .n = n,
                               .stride = 1 + n / LIKELIHOOD_COUNTS,
                               .sigma = sigma};
    return likeliest(&e, &most);
}

double dpl_prior_likelihood(const double *noisy, const double *prior, size_t n, double sigma) {
    double most;
    const struct evidence e = {.noisy = noisy,
                               .prior = prior,
                               .n = n,
                               .stride = 1 + n / LIKELIHOOD_COUNTS,
                               .sigma = sigma};
    likeliest(&e, &most);
    return most;
}

double dpl_prior_error_variance(struct dpl_prior_error error, double prior) {
    double root = error.power == 1.5 ? sqrt(prior) : 1;
    return error.spread * prior * (error.power == 1 ? 1 : error.power == 2 ? prior : root);
}

void dpl_shrink_all(const double *noisy, double *prior, size_t n, double sigma,
                    const double *summed) {
    struct dpl_prior_error error = dpl_prior_error_of(noisy, prior, n, sigma, summed);
    for (size_t i = 0; i < n; i++) {
        double variance = dpl_prior_error_variance(error, prior[i]),
               noise = sigma * sigma * (summed ? summed[i] : 1);
        double w = sigma > 0 ? variance / (variance + noise + 1e-12) : 1;
        prior[i] = fmax(prior[i] + w * (noisy[i] - prior[i]), PRIOR_SHARE_LEAST * prior[i]);
    }
}

double dpl_beyond_noise(double noisy, double sigma) {
    double value = fmax(noisy, 0.5), ratio = BEYOND_NOISES * sigma / value;
    return value * fmax(1 - ratio * ratio, BEYOND_LEAST);
}

void dpl_add_rows(const double *values, size_t rows, size_t columns, double times, double *sum) {
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) sum[c] += times * values[r * columns + c];
}

void dpl_add_columns(const double *values, size_t rows, size_t columns, double *sum) {
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) sum[r] += values[r * columns + c];
}

double dpl_scale_of(double total, double sum) {
    double scale = total / sum;
    return sum > 0 && isfinite(scale) ? scale : 0;
}

void dpl_scale_to(double *values, size_t n, double total) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += values[i];
    for (size_t i = 0; i < n && sum > 0; i++) values[i] *= dpl_scale_of(total, sum);
}
