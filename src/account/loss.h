/* Privacy loss, the common language of the accountant's parts.
 *
 * A mechanism on a data set without the unit gives P (lower), with it Q (upper); the loss is
 * L = log(Q/P). Removing the unit is the pair (Q, P) with loss L under Q, adding it (P, Q) with
 * loss -L under P. All that is needed of a part is how L spreads under P:
 *
 *     gaussian  P = N(0, sigma^2), Q = N(1, sigma^2)
 *     poisson   P = N(0, sigma^2), Q = (1-rate) N(0, sigma^2) + rate N(1, sigma^2)
 *     pure      L = +-1/sigma, randomised response: it dominates every mechanism of pure epsilon
 * 1/sigma
 *
 * and its log moment log E_P[e^{aL}]: at a = 1+t this is the log moment of the remove direction at
 * t, at a = -t that of the add direction.
 */
#ifndef DPL_ACCOUNT_LOSS_H
#define DPL_ACCOUNT_LOSS_H

#include "dploc.h"

enum dpl_part_kind { DPL_PART_GAUSSIAN, DPL_PART_POISSON, DPL_PART_PURE };

/* Events that are alike, merged. Invariant of a list: sorted by kind, rate and sigma, steps > 0,
 * 0 < rate < 1 for Poisson, at most one Gaussian (with steps 1). */
struct dpl_part {
    enum dpl_part_kind kind;
    double rate, sigma, steps;
};

struct dpl_parts {
    const struct dpl_part *part; /* (n) */
    size_t n;
};

struct dpl_moment {
    double log;            /* log E_P[e^{aL}] */
    double mean, variance; /* of L under P tilted by e^{aL}: the first two derivatives in a */
};

/* One step of a part. */
struct dpl_moment dpl_part_moment(const struct dpl_part *part, double a);
/* The same of the loss cut to noise within [x_low, x_high] (Poisson parts): for planning, not for
 * bounds. */
struct dpl_moment dpl_part_moment_cut(const struct dpl_part *part, double a, double x_low,
                                      double x_high);

/* Renyi divergence of one Poisson-subsampled Gaussian step at a real order > 1. */
double dpl_rdp_divergence(double rate, double sigma, double order);
/* The least epsilon over real orders by the conversion of Canonne, Kamath and Steinke; rounded up.
 */
double dpl_rdp_epsilon(const struct dpl_parts *parts, double delta);
/* Minimises over t > 0 the function value(user, t), which falls and then rises; *best_t gets where.
 */
double dpl_minimise(double (*value)(void *user, double t), void *user, double start,
                    double tolerance, double *best_t);

/* The exact epsilon of one Gaussian release, by the analytic formula; rounded up. */
double dpl_gaussian_epsilon(double sigma, double delta);
/* The exact epsilon of one pure event of epsilon 1/scale, that is, of randomised response; rounded
 * up. 0 only if the total variation is at most delta. */
double dpl_pure_epsilon(double scale, double delta);

/* The privacy loss distribution's epsilon: an upper bound in both directions, INFINITY where the
 * machine's precision or the size of the grid leaves none. `direction`, unless NULL, gets that of
 * removing and that of adding a unit; without it, a direction that is known to be the lesser one is
 * not worked out. */
enum dpl_status dpl_pld_epsilon(struct dpl_run *run, const struct dpl_parts *parts, double delta,
                                double direction[2], double *epsilon);

#endif
