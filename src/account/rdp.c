/* Log moments of the privacy loss, Renyi differential privacy with real orders, and the closed
 * forms of one Gaussian and of one pure event.
 *
 * The moment of a Poisson step is 1 + E[(1+x)^a - 1 - ax] with x = rate * u, u = e^{(2z-1)/2
 * sigma^2} - 1, z ~ N(0, sigma^2): E[u] = 0, so taking 1 + ax out first leaves what is small, and
 * nothing cancels. (The series over fractional binomials with its signs dropped is off by up to 140
 * %.) The integrand is analytic in the strip |Im z| < pi sigma^2, where 1+x has its zeros, and
 * decays like a Gaussian: the plain trapezoidal rule with a step below min(sigma/2, sigma^2/2.5)
 * converges beyond double precision.
 *
 * Conversion (Canonne, Kamath, Steinke 2020, Prop. 12; Balle et al. 2020): for every order alpha
 *     epsilon = D_alpha + log((alpha-1)/alpha) - (log delta + log alpha) / (alpha-1).
 * The least is taken over orders in steps of 2 %, any of which is a valid bound. The remove
 * direction has the larger divergence (Mironov, Talwar, Zhang 2019, Th. 5), so it is the bound.
 *
 * Cost: 50 to 1000 exponentials per moment, about 60 moments per minimisation.
 */
#include <float.h>
#include <math.h>

#include "account/loss.h"

enum { SERIES_TERMS = 10, MAX_NODES = 200000 };

static const double REACH = 13;          // in sigmas: e^{-84} of the peak is left out
static const double ROUND_UP = 1 + 1e-9; // covers the quadrature's and the arithmetic's errors

// Orders are 1 + BASE e^{k STEP}, steps of 2 %: the orders of the reference values, so that the
// figure is the same as theirs.
static const double ORDER_BASE = 0.10461052736416377, ORDER_STEP = 0.019612566418253204;

/* (1+x)^a - 1 - ax, given log_1x = log(1+x). */
static double beyond_linear(double x, double log_1x, double a) {
    if (fabs(x) * fmax(fabs(a), 1) > 0.02) return expm1(a * log_1x) - a * x;
    double term = a * x, sum = 0;
    for (int k = 2; k < SERIES_TERMS; k++) {
        term *= (a - k + 1) / k * x;
        sum += term;
    }
    return sum;
}

/* For sigma so small that the quadrature would need too many nodes: by convexity,
 * (1-q+qy)^a <= 1-q + q y^a for a >= 1, and for a <= 0 too. */
static struct dpl_moment convex_bound(double rate, double sigma, double a) {
    double exponent = a * (a - 1) / (2 * sigma * sigma);
    double log_moment = exponent < 700 ? log1p(rate * expm1(exponent)) : exponent + log(rate);
    return (struct dpl_moment){log_moment, rate * (a - 0.5) / (sigma * sigma),
                               1 / (sigma * sigma) + 0.25 / pow(sigma, 4)};
}

struct sums {
    double shift;              // terms are kept as e^{f - shift}
    double all, first, second; // of e^{f}, e^{f} L, e^{f} L^2
    double beyond;             // of the weight times beyond_linear; only while shift is 0
};

static void add_node(struct sums *s, double rate, double sigma, double a, double z) {
    const double inverse = 1 / (2 * sigma * sigma), log_weight = -z * z * inverse,
                 ratio = (2 * z - 1) * inverse;
    const double log_1x = ratio < 600 ? log1p(rate * expm1(ratio)) : ratio + log(rate);
    const double f = a * log_1x + log_weight;
    if (f > s->shift + 600) {
        double scale = exp(s->shift - f);
        s->all *= scale, s->first *= scale, s->second *= scale;
        s->shift = f;
    }
    const double term = exp(f - s->shift);
    s->all += term;
    s->first += term * log_1x;
    s->second += term * log_1x * log_1x;
    if (s->shift > 0) return;
    if (ratio < 30 && a * log_1x < 30)
        s->beyond += exp(log_weight) * beyond_linear(rate * expm1(ratio), log_1x, a);
    else
        s->beyond += term - exp(log_weight) * (1 - a * rate) - a * rate * exp(log_weight + ratio);
}

static struct dpl_moment poisson_moment(double rate, double sigma, double a, double x_low,
                                        double x_high) {
    const double step_want = fmin(sigma / 2, sigma * sigma / 2.5);
    const double low = fmax(x_low, fmin(0, a) - REACH * sigma),
                 high = fmin(x_high, fmax(2, a) + REACH * sigma);
    const double nodes = ceil((high - low) / step_want);
    if (!(nodes < MAX_NODES)) return convex_bound(rate, sigma, a);
    const double step = (high - low) / nodes;
    struct sums s = {0};
    for (double i = 0; i <= nodes; i++) add_node(&s, rate, sigma, a, low + i * step);
    const double norm = step / (sigma * sqrt(2 * M_PI)), mean = s.first / s.all;
    const double log_moment = s.shift > 0 ? s.shift + log(s.all * norm) : log1p(s.beyond * norm);
    return (struct dpl_moment){log_moment, mean, fmax(s.second / s.all - mean * mean, 0)};
}

static struct dpl_moment pure_moment(double scale, double a) {
    const double e = 1 / scale, up = (a - 1) * e - log1p(exp(-e)),
                 down = -a * e - log1p(exp(-e)); // logs of the two terms
    const double top = fmax(up, down), p = 1 / (1 + exp(down - up));
    return (struct dpl_moment){top + log(exp(up - top) + exp(down - top)), (2 * p - 1) * e,
                               4 * p * (1 - p) * e * e};
}

struct dpl_moment dpl_part_moment_cut(const struct dpl_part *part, double a, double x_low,
                                      double x_high) {
    const double inverse = 1 / (part->sigma * part->sigma);
    switch (part->kind) {
    case DPL_PART_GAUSSIAN:
        return (struct dpl_moment){a * (a - 1) * inverse / 2, (a - 0.5) * inverse, inverse};
    case DPL_PART_POISSON: return poisson_moment(part->rate, part->sigma, a, x_low, x_high);
    case DPL_PART_PURE: break;
    }
    return pure_moment(part->sigma, a);
}

struct dpl_moment dpl_part_moment(const struct dpl_part *part, double a) {
    return dpl_part_moment_cut(part, a, -INFINITY, INFINITY);
}

double dpl_rdp_divergence(double rate, double sigma, double order) {
    return poisson_moment(rate, sigma, order, -INFINITY, INFINITY).log / (order - 1);
}

/* ---- the least epsilon ---- */

/* Steps by a factor until the value rises again, then cuts the bracket in golden ratio. */
double dpl_minimise(double (*value)(void *user, double t), void *user, double start,
                    double tolerance, double *best_t) {
    const double factor = 1.6, golden = 0.6180339887498949;
    double at = log(start), here = value(user, start), step = log(factor);
    double next = value(user, exp(at + step));
    if (next > here) step = -step, next = value(user, exp(at + step));
    for (int i = 0; i < 90 && next < here; i++) {
        at += step, here = next;
        next = value(user, exp(at + step));
    }
    double low = at - fabs(step), high = at + fabs(step);
    double x1 = high - golden * (high - low), x2 = low + golden * (high - low),
           v1 = value(user, exp(x1)), v2 = value(user, exp(x2));
    while (high - low > tolerance) {
        if (v1 < v2) {
            high = x2, x2 = x1, v2 = v1;
            x1 = high - golden * (high - low), v1 = value(user, exp(x1));
        } else {
            low = x1, x1 = x2, v1 = v2;
            x2 = low + golden * (high - low), v2 = value(user, exp(x2));
        }
    }
    *best_t = exp((low + high) / 2);
    const double middle = value(user, *best_t);
    if (middle <= here) return middle;
    *best_t = exp(at);
    return here;
}

struct conversion {
    const struct dpl_parts *parts;
    double delta;
};

static double total_log_moment(const struct dpl_parts *parts, double a) {
    double total = 0;
    for (size_t i = 0; i < parts->n; i++)
        total += parts->part[i].steps * dpl_part_moment(&parts->part[i], a).log;
    return total;
}

static double convert(void *user, double t) {
    const struct conversion *c = user;
    const double moment = total_log_moment(c->parts, 1 + t), log_delta = log(c->delta),
                 rounding =
                     16 * DBL_EPSILON * ((fabs(moment) - log_delta + log1p(t)) / t + log1p(1 / t)),
                 epsilon = (moment - log_delta - log1p(t)) / t - log1p(1 / t) + rounding;
    return isnan(epsilon) ? INFINITY : epsilon;
}

/* Order infinity: the sum of pure epsilons, if there is nothing else. */
static double pure_sum(const struct dpl_parts *parts) {
    double sum = 0;
    for (size_t i = 0; i < parts->n; i++) {
        if (parts->part[i].kind != DPL_PART_PURE) return INFINITY;
        sum += parts->part[i].steps / parts->part[i].sigma;
    }
    return sum;
}

double dpl_rdp_epsilon(const struct dpl_parts *parts, double delta) {
    struct conversion c = {parts, delta};
    double spread = 0, t;
    for (size_t i = 0; i < parts->n; i++)
        spread += parts->part[i].steps * dpl_part_moment(&parts->part[i], 1).variance;
    double start = sqrt(2 * log(1 / delta) / spread);
    if (!(start > 1e-9)) start = 1e-9;
    if (start > 1e9) start = 1e9;
    dpl_minimise(convert, &c, start, ORDER_STEP / 10, &t);
    const double below = floor(log(t / ORDER_BASE) / ORDER_STEP);
    double epsilon = pure_sum(parts);
    for (int i = -1; i <= 2; i++)
        epsilon = fmin(epsilon, convert(&c, ORDER_BASE * exp((below + i) * ORDER_STEP)));
    return fmax(epsilon, 0) * ROUND_UP;
}

/* ---- the Gaussian ---- */

/* Mills' ratio Q(x)/phi(x) for x >= 0. */
static double mills(double x) {
    if (x < 20) return erfc(x * M_SQRT1_2) * exp(x * x / 2) * sqrt(M_PI / 2);
    double term = 1, sum = 1;
    for (int k = 1; k < 12; k++) {
        term *= -(2 * k - 1) / (x * x);
        sum += term;
    }
    return sum / x;
}

/* delta of the Gaussian with 1/sigma = mu at epsilon = mu t + mu^2/2. Written as phi(t) (R(t) -
 * R(t+mu)): e^epsilon never appears, so that neither large epsilon nor tiny delta loses digits. */
static double gaussian_delta(double mu, double t) {
    const double density = exp(-t * t / 2) / sqrt(2 * M_PI);
    const double middle = fmax(t + mu / 2, 0);
    // Both differences below cancel for a small mu; R' = xR - 1 at the middle is off by mu^2 / 12.
    if (mu < 1e-4) return density * mu * (1 - middle * mills(middle));
    if (t <= 0) return 0.5 * erfc(t * M_SQRT1_2) - density * mills(fmax(t + mu, 0));
    return density * (mills(t) - mills(t + mu));
}

double dpl_gaussian_epsilon(double sigma, double delta) {
    const double mu = 1 / sigma, want = delta * (1 - 1e-8);
    double low = -mu / 2, high = sqrt(2 * log(1 / delta)) + 1; // epsilon 0; and Q(high) < delta
    if (gaussian_delta(mu, low) <= want) return 0;
    for (int i = 0; i < 200 && high - low > 4e-16 * fmax(fabs(high), fabs(low)); i++) {
        double middle = (low + high) / 2;
        if (gaussian_delta(mu, middle) > want)
            low = middle;
        else
            high = middle;
    }
    return fmax(mu * (high + mu / 2), 0) * (1 + 1e-12);
}

/* ---- one pure event ---- */

/* Randomised response with e = 1/scale has delta(epsilon) = (e^e - e^epsilon) / (1 + e^e) up to
 * epsilon = e, and at 0 that is its total variation. Solved without a difference of large numbers;
 * what rounding may have taken is added. */
double dpl_pure_epsilon(double scale, double delta) {
    const double e = 1 / scale;
    if (e > 1)
        return fmax(e + log1p(4 * DBL_EPSILON - fmin(delta * (1 + exp(-e)), 1)), 0) * (1 + 1e-12);
    const double beyond = expm1(e), slack = 8 * DBL_EPSILON * (beyond + 2 * delta);
    return fmax(log1p(fmax(beyond * (1 - delta) - 2 * delta + slack, -0.5)), 0) * (1 + 1e-12);
}
