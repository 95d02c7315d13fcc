/* Noisy counts and a prior: empirical Bayes, with one number per table for how good the prior is.
 *
 * Model: truth = prior * (1 + e), e of variance `spread`, the same for all cells of a table; noisy = truth + noise of a known
 * deviation. Then E (noisy - prior)^2 = spread * prior^2 + deviation^2, which gives `spread` by weighted least squares, and the
 * best linear estimate is prior + w (noisy - prior), w = spread prior^2 / (spread prior^2 + deviation^2). A cell that holds less
 * than its noise so stays at the prior, which comes from a coarser table: that is how resolution follows noise. */
#include <math.h>

#include "method/bridge/bridge.h"

static const double GUESSED_SPREAD = 0.09; // in the weights alone: a wrong guess costs a little precision
static const double LEAST_PART = 0.05;     // of the prior: products of factors must not vanish

double dpl_spread(const double *noisy, const double *prior, size_t n, double sigma, const double *summed) {
    double excess = 0, scale = 0;
    for (size_t i = 0; i < n; i++) {
        double variance = sigma * sigma * (summed ? summed[i] : 1), square = prior[i] * prior[i], d = noisy[i] - prior[i];
        double weight = 1 / (variance + GUESSED_SPREAD * square + 1e-9);
        weight *= weight * square;
        excess += weight * (d * d - variance);
        scale += weight * square;
    }
    return scale > 0 && excess > 0 ? excess / scale : 0;
}

double dpl_blend(double noisy, double prior, double deviation, double spread) {
    double strays = spread * prior * prior, w = strays / (strays + deviation * deviation + 1e-12);
    return fmax(prior + w * (noisy - prior), LEAST_PART * prior);
}

void dpl_blend_all(const double *noisy, double *prior, size_t n, double sigma, const double *summed) {
    double spread = dpl_spread(noisy, prior, n, sigma, summed);
    for (size_t i = 0; i < n; i++) prior[i] = dpl_blend(noisy[i], prior[i], sigma * (summed ? sqrt(summed[i]) : 1), spread);
}

void dpl_scale_to(double *values, size_t n, double total) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += values[i];
    for (size_t i = 0; i < n && sum > 0; i++) values[i] *= total / sum;
}
