/* The accountant: checks events, merges what is alike, and takes the least valid bound.
 *
 * PRIVACY: composition is over fixed events, add/remove of one unit, each event's noise over its
 * sensitivity in `sigma`. The Gaussians (and Poisson events of rate 1, which are Gaussians) compose
 * into one: their losses are normal and 1/sigma^2 adds. Poisson events of the same rate and sigma
 * are one event with the sum of steps. Laplace counts as what it promises, pure epsilon 1/scale,
 * because a discrete Laplace of one lattice step has no better distribution than randomised
 * response. So do reports that units noise themselves. Events are sorted first: the order in which
 * they are given changes no bit.
 *
 * The inverse is a one-dimensional search over the common squared budget mu^2, in logarithms, by
 * false position.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "account/event.h"
#include "account/loss.h"

static const int64_t MAX_STEPS = (int64_t)1 << 53; // beyond, a double no longer counts by one
static const double MET = 1e-3;                    // how close below the target is close enough

enum { MAX_SEARCH = 200 };

const char *dpl_bound_name(enum dpl_bound_kind kind) {
    static const char *const NAMES[] = {"none", "gaussian", "pure", "pld", "rdp"};
    return NAMES[kind];
}

/* ---- checks ---- */

static enum dpl_status check_delta(struct dpl_run *run, double delta) {
    if (delta > 0 && delta < 1) return DPL_OK;
    return dpl_fail(
        run, DPL_USAGE,
        "delta is %g, but must lie between 0 and 1 (take less than 1 / number of trips)", delta);
}

static enum dpl_status check_event(struct dpl_run *run, const struct dpl_event *event, size_t i) {
    const char *name = event->name[0] ? event->name : "unnamed";
    const bool poisson = event->kind == DPL_EVENT_POISSON;
    if (event->kind == DPL_EVENT_THRESHOLD && !(event->rate > 0 && event->rate < 1))
        return dpl_fail(run, DPL_USAGE,
                        "event %zu (%.*s): its part of delta is %g, but must be between 0 and 1",
                        i + 1, DPL_EVENT_NAME, name, event->rate);
    if (!(event->sigma >= 0 && event->sigma < INFINITY))
        return dpl_fail(run, DPL_USAGE,
                        "event %zu (%.*s): sigma is %g, but noise is a number above 0", i + 1,
                        DPL_EVENT_NAME, name, event->sigma);
    if (poisson && !(event->rate > 0 && event->rate <= 1))
        return dpl_fail(
            run, DPL_USAGE,
            "event %zu (%.*s): the sampling rate is %g, but must be above 0 and at most 1", i + 1,
            DPL_EVENT_NAME, name, event->rate);
    if (poisson && (event->steps < 0 || event->steps > MAX_STEPS))
        return dpl_fail(run, DPL_USAGE,
                        "event %zu (%.*s): %lld steps, but steps count from 0 to 2^53", i + 1,
                        DPL_EVENT_NAME, name, (long long)event->steps);
    return DPL_OK;
}

/* ---- merging ---- */

static int compare_parts(const void *left, const void *right) {
    const struct dpl_part *a = left, *b = right;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->rate < b->rate || a->rate > b->rate) return a->rate < b->rate ? -1 : 1;
    if (a->sigma < b->sigma || a->sigma > b->sigma) return a->sigma < b->sigma ? -1 : 1;
    return a->steps < b->steps ? -1 : a->steps > b->steps;
}

static struct dpl_part part_of(const struct dpl_event *event) {
    if (dpl_event_pure(event)) return (struct dpl_part){DPL_PART_PURE, 1, event->sigma, 1};
    if (event->kind == DPL_EVENT_GAUSSIAN || event->kind == DPL_EVENT_THRESHOLD)
        return (struct dpl_part){DPL_PART_GAUSSIAN, 1, event->sigma, 1};
    return (struct dpl_part){event->rate < 1 ? DPL_PART_POISSON : DPL_PART_GAUSSIAN, event->rate,
                             event->sigma, (double)event->steps};
}

/* Sorted, merged, into part[] (n); returns how many remain. */
static size_t merge(const struct dpl_event *events, size_t n, struct dpl_part *part) {
    size_t given = 0, kept = 0;
    double inverse = 0; // sum of 1 / sigma^2 of the Gaussians
    for (size_t i = 0; i < n; i++)
        if (events[i].kind != DPL_EVENT_POISSON || events[i].steps > 0)
            part[given++] = part_of(&events[i]);
    qsort(part, given, sizeof *part, compare_parts);
    for (size_t i = 0; i < given; i++) {
        const struct dpl_part now = part[i];
        struct dpl_part *last = kept ? &part[kept - 1] : NULL;
        if (now.kind == DPL_PART_GAUSSIAN) {
            inverse += now.steps / (now.sigma * now.sigma);
            kept = 1; // Gaussians sort first: one slot for all of them
            part[0] = (struct dpl_part){DPL_PART_GAUSSIAN, 1, 1 / sqrt(inverse), 1};
        } else if (last && last->kind == now.kind && !(last->rate < now.rate) &&
                   !(last->sigma < now.sigma)) {
            last->steps += now.steps;
        } else {
            part[kept++] = now;
        }
    }
    return kept;
}

/* ---- the bound ---- */

static bool without_noise(const struct dpl_parts *parts) {
    for (size_t i = 0; i < parts->n; i++)
        if (!(parts->part[i].sigma > 0)) return true;
    return false;
}

static enum dpl_status bound_parts(struct dpl_run *run, const struct dpl_parts *parts, double delta,
                                   struct dpl_bound *bound) {
    *bound = (struct dpl_bound){.delta = delta};
    if (parts->n == 0) return DPL_OK;
    bound->epsilon = bound->epsilon_pld = bound->epsilon_rdp = INFINITY;
    if (without_noise(parts)) return DPL_OK;
    bound->epsilon_rdp = dpl_rdp_epsilon(parts, delta);
    if (parts->n == 1 && parts->part[0].kind != DPL_PART_POISSON && !(parts->part[0].steps > 1)) {
        const bool pure = parts->part[0].kind == DPL_PART_PURE;
        bound->epsilon = bound->epsilon_pld =
            (pure ? dpl_pure_epsilon : dpl_gaussian_epsilon)(parts->part[0].sigma, delta);
        bound->kind = pure ? DPL_BOUND_PURE : DPL_BOUND_GAUSSIAN;
        return DPL_OK;
    }
    DPL_TRY(dpl_pld_epsilon(run, parts, delta, NULL, &bound->epsilon_pld));
    bound->kind = bound->epsilon_pld <= bound->epsilon_rdp ? DPL_BOUND_PLD : DPL_BOUND_RDP;
    bound->epsilon = fmin(bound->epsilon_pld, bound->epsilon_rdp);
    return DPL_OK;
}

/* PRIVACY: of delta, what keys that one unit alone has are paid with; (0, rate)-DP each, and basic
 * composition adds them up (noise/threshold.h). */
static double threshold_delta(const struct dpl_event *events, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (events[i].kind == DPL_EVENT_THRESHOLD) sum += events[i].rate;
    return sum;
}

/* Without checks and without forgetting the run's message. */
static enum dpl_status account(struct dpl_run *run, const struct dpl_event *events, size_t n,
                               double delta, struct dpl_bound *bound) {
    struct dpl_part *part = dpl_alloc(run, n, sizeof *part);
    if (!part) return DPL_SYSTEM;
    const struct dpl_parts parts = {part, merge(events, n, part)};
    struct dpl_bound found = {
        .epsilon = INFINITY, .epsilon_pld = INFINITY, .epsilon_rdp = INFINITY};
    const double left = delta - threshold_delta(events, n);
    enum dpl_status status = left > 0 ? bound_parts(run, &parts, left, &found) : DPL_OK;
    found.delta = delta;
    if (status == DPL_OK) *bound = found;
    dpl_free(part);
    return status;
}

static enum dpl_status check_events(struct dpl_run *run, const struct dpl_event *events, size_t n) {
    for (size_t i = 0; i < n; i++) DPL_TRY(check_event(run, &events[i], i));
    return DPL_OK;
}

enum dpl_status dpl_account(struct dpl_run *run, const struct dpl_event *events, size_t n,
                            double delta, struct dpl_bound *bound) {
    dpl_run_begin(run);
    DPL_TRY(check_delta(run, delta));
    DPL_TRY(check_events(run, events, n));
    return account(run, events, n, delta, bound);
}

enum dpl_status dpl_account_profile(struct dpl_run *run, const struct dpl_event *events, size_t n,
                                    const double *delta, size_t n_delta, double *epsilon) {
    dpl_run_begin(run);
    DPL_TRY(check_events(run, events, n));
    for (size_t i = 0; i < n_delta; i++) DPL_TRY(check_delta(run, delta[i]));
    for (size_t i = 0; i < n_delta; i++) {
        struct dpl_bound bound;
        DPL_TRY(account(run, events, n, delta[i], &bound));
        epsilon[i] = bound.epsilon;
    }
    return DPL_OK;
}

/* ---- the inverse ---- */

struct search {
    struct dpl_run *run;
    struct dpl_event *trial; /* (n) */
    const double *share;     /* (n) */
    size_t n;
    double share_sum, delta;
};

static double sigma_for(const struct dpl_event *event, double mu2) {
    if (event->kind != DPL_EVENT_POISSON) return 1 / sqrt(mu2);
    if (event->rate >= 1) return sqrt((double)event->steps / mu2);
    return 1 / sqrt(log1p(mu2 / (event->rate * event->rate * (double)event->steps)));
}

/* epsilon of the whole when the squared budget is e^{2 log_mu}; the noise is left in search->trial.
 */
static enum dpl_status epsilon_at(struct search *search, double log_mu, double *epsilon) {
    struct dpl_bound bound;
    for (size_t i = 0; i < search->n; i++)
        if (search->share[i] > 0)
            search->trial[i].sigma = sigma_for(
                &search->trial[i], search->share[i] / search->share_sum * exp(2 * log_mu));
    DPL_TRY(account(search->run, search->trial, search->n, search->delta, &bound));
    *epsilon = bound.epsilon;
    return DPL_OK;
}

/* A budget whose single Gaussian would have this epsilon: where the search starts. */
static double first_guess(double epsilon, double delta) {
    double low = -40, high = 40;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (dpl_gaussian_epsilon(exp(-middle), delta) > epsilon)
            high = middle;
        else
            low = middle;
    }
    return low;
}

struct bracket {
    double low, high;         /* log mu: meets the target; does not */
    double low_eps, high_eps; /* log epsilon there; -INFINITY and INFINITY while unknown */
};

static double next_guess(const struct bracket *b, double target, int i, double start) {
    if (i == 0) return start;
    if (b->low == -INFINITY) return b->high - 0.1 * pow(2, i);
    if (b->high == INFINITY) return b->low + 0.1 * pow(2, i);
    const double middle = (b->low + b->high) / 2;
    if (!isfinite(b->low_eps) || !isfinite(b->high_eps) || i % 4 == 3)
        return middle; // now and then, so that both ends move
    const double aim = log(target) - MET / 2;
    const double guess =
        b->low + (b->high - b->low) * (aim - b->low_eps) / (b->high_eps - b->low_eps);
    return fmin(fmax(guess, b->low + 1e-3 * (b->high - b->low)),
                b->high - 1e-3 * (b->high - b->low));
}

/* Ends with the noise that meets the target in search->trial. */
static enum dpl_status search_budget(struct search *search, double target) {
    struct bracket b = {-INFINITY, INFINITY, -INFINITY, INFINITY};
    const double start = first_guess(target, search->delta);
    for (int i = 0; i < MAX_SEARCH; i++) {
        const double guess = next_guess(&b, target, i, start);
        double epsilon;
        if (fabs(guess) > 300) break;
        DPL_TRY(epsilon_at(search, guess, &epsilon));
        if (epsilon <= target && epsilon >= target * (1 - MET)) return DPL_OK;
        if (epsilon <= target)
            b.low = guess, b.low_eps = log(epsilon);
        else
            b.high = guess, b.high_eps = log(epsilon);
        if (b.high - b.low < 1e-13) break;
    }
    if (b.low == -INFINITY)
        return dpl_fail(
            search->run, DPL_USAGE,
            "epsilon %g at delta %g cannot be met: the mechanisms with fixed noise alone cost more",
            target, search->delta);
    double epsilon; // a jump across the target: stay below it
    return epsilon_at(search, b.low, &epsilon);
}

static enum dpl_status check_solve(struct dpl_run *run, const struct dpl_event *events,
                                   const double *share, size_t n, double epsilon,
                                   double *share_sum) {
    if (!(epsilon > 0 && epsilon < INFINITY))
        return dpl_fail(run, DPL_USAGE, "the target epsilon is %g, but must be a number above 0",
                        epsilon);
    for (size_t i = 0; i < n; i++) {
        if (!(share[i] >= 0 && share[i] < INFINITY))
            return dpl_fail(run, DPL_USAGE, "share %zu is %g, but shares are numbers from 0 up",
                            i + 1, share[i]);
        if (share[i] > 0 && events[i].kind == DPL_EVENT_POISSON && events[i].steps == 0)
            return dpl_fail(run, DPL_USAGE,
                            "event %zu has a share of the budget but no steps to spend it on",
                            i + 1);
        *share_sum += share[i];
    }
    if (*share_sum > 0) return DPL_OK;
    return dpl_fail(run, DPL_USAGE,
                    "no event has a share of the budget: there is nothing to solve for");
}

enum dpl_status dpl_account_solve(struct dpl_run *run, struct dpl_event *events,
                                  const double *share, size_t n, double epsilon, double delta) {
    double share_sum = 0;
    dpl_run_begin(run);
    DPL_TRY(check_delta(run, delta));
    DPL_TRY(check_solve(run, events, share, n, epsilon, &share_sum));
    struct dpl_event *trial = dpl_alloc(run, n, sizeof *trial);
    if (!trial) return DPL_SYSTEM;
    memcpy(trial, events, n * sizeof *trial);
    for (size_t i = 0; i < n; i++)
        if (share[i] > 0) trial[i].sigma = 1; // to be found: whatever stood there is not checked
    struct search search = {run, trial, share, n, share_sum, delta};
    enum dpl_status status = check_events(run, trial, n);
    if (status == DPL_OK) status = search_budget(&search, epsilon);
    for (size_t i = 0; status == DPL_OK && i < n; i++) events[i].sigma = trial[i].sigma;
    dpl_free(trial);
    return status;
}
