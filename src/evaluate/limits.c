/* The binomial distribution as an incomplete beta function: P(X <= k) = I_{1-p}(n - k, k + 1), by
 * Lentz's continued fraction; limits by bisection, 60 halvings. */
#include "evaluate/limits.h"

#include <math.h>

/* Continued fraction of the incomplete beta function; converges fast for x < (a + 1)/(a + b + 2).
 */
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m < 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
               odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int i = 0; i < 2; i++) {
            double term = i ? odd : even;
            d = 1 + term * d, c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d), c = fabs(c) < tiny ? tiny : c;
            value *= c * d;
        }
        if (fabs(c * d - 1) < 1e-15) break;
    }
    return value;
}

static double incomplete_beta(double a, double b, double x) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double dpl_binomial_cdf(size_t hits, size_t n, double p) {
    if (hits >= n) return 1;
    return incomplete_beta((double)(n - hits), (double)hits + 1, 1 - p);
}

double dpl_share_upper(size_t hits, size_t n, double alpha) {
    double low = 0, high = 1;
    if (hits >= n) return 1;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (dpl_binomial_cdf(hits, n, middle) > alpha)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double dpl_share_lower(size_t hits, size_t n, double alpha) {
    return 1 - dpl_share_upper(n - hits, n, alpha);
}
