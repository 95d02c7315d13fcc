/* The mechanisms: the only makers of struct dpl_noised.
 *
 * PRIVACY: both neighbours' exact vectors lie on the same lattice, and the noise is exactly the
 * rounded Gaussian, or the discrete Laplace, of at least the event's scale; so what is released
 * costs at most what the accountant charges for the event, without any allowance for rounding.
 */
#include <math.h>

#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "noise/lattice_inner.h"
#include "noise/local.h"

struct dpl_noised {
    size_t n;
    int places;
    double deviation;
    bool laplace; /* otherwise Gaussian */
    int64_t *sum; /* (n) in lattice steps */
};

void dpl_noised_free(struct dpl_noised *noised) {
    if (!noised) return;
    dpl_free(noised->sum);
    dpl_free(noised);
}

size_t dpl_noised_count(const struct dpl_noised *noised) { return noised->n; }

double dpl_noised_value(const struct dpl_noised *noised, size_t i) {
    return ldexp((double)noised->sum[i], -noised->places);
}

double dpl_noised_deviation(const struct dpl_noised *noised) { return noised->deviation; }

/* Of n coordinates of noise alone, the tail beyond t weighs at most n * exp(-t^2 / 2 sigma^2), or
 * n/2 * exp(-t / scale). */
double dpl_noised_reach(const struct dpl_noised *noised, double risk) {
    double n = (double)noised->n;
    if (noised->laplace) return noised->deviation / sqrt(2) * fmax(log(n / (2 * risk)), 0);
    return noised->deviation * sqrt(2 * log(n / risk));
}

/* PRIVACY: who watches knows the exact vector, and so the noise. */
static enum dpl_status check_unwatched(struct dpl_run *run, const struct dpl_event *event,
                                       const struct dpl_exact *exact) {
    if (!exact->watch.see) return DPL_OK;
    return dpl_fail(run, DPL_REFUSED, "event '%s': a vector that is watched is not released",
                    event->name);
}

static enum dpl_status check(struct dpl_run *run, const struct dpl_event *event,
                             enum dpl_event_kind kind, enum dpl_norm norm,
                             const struct dpl_exact *exact) {
    DPL_TRY(check_unwatched(run, event, exact));
    if (event->kind != kind || exact->options.norm != norm)
        return dpl_fail(run, DPL_REFUSED,
                        "event '%s' was accounted for as another mechanism than the one asked for",
                        event->name);
    if (!(event->sigma > 0 && isfinite(event->sigma)))
        return dpl_fail(run, DPL_USAGE, "event '%s' has noise %g; it must be above 0 and finite",
                        event->name, event->sigma);
    if (event->sensitivity != exact->options.sensitivity)
        return dpl_fail(
            run, DPL_REFUSED,
            "event '%s' was accounted for with sensitivity %g, but the vector allows %g",
            event->name, event->sensitivity, exact->options.sensitivity);
    return DPL_OK;
}

/* The event's noise in lattice steps; the product is rounded up, never down. */
static double noise_steps(const struct dpl_event *event, const struct dpl_exact *exact) {
    return ldexp(nextafter(event->sigma * event->sensitivity, INFINITY), exact->options.places);
}

/* An empty noised vector of the exact one's shape, and a cipher for its noise. */
static enum dpl_status prepare(struct dpl_run *run, const struct dpl_secret *secret,
                               const struct dpl_exact *exact, struct dpl_noised **noised,
                               struct dpl_random **random) {
    struct dpl_noised *made = dpl_alloc(run, 1, sizeof *made);
    if (!made) return DPL_SYSTEM;
    enum dpl_status status = dpl_random_new(run, secret, random);
    if (status != DPL_OK) {
        dpl_free(made);
        return status;
    }
    made->n = exact->options.n;
    made->places = exact->options.places;
    *noised = made;
    return DPL_OK;
}

/* Moves the sum out of the exact vector, which is gone then. */
static void take_over(struct dpl_exact **exact, struct dpl_noised *noised) {
    noised->sum = (*exact)->sum;
    (*exact)->sum = NULL;
    dpl_exact_free(*exact);
    *exact = NULL;
}

enum dpl_status dpl_gaussian_release(struct dpl_run *run, struct dpl_secret *secret,
                                     const struct dpl_event *event, struct dpl_stream_id id,
                                     struct dpl_exact **exact, struct dpl_noised **noised) {
    DPL_TRY(check(run, event, DPL_EVENT_GAUSSIAN, DPL_NORM_L2, *exact));
    DPL_TRY(dpl_secret_spend(run, secret, id));
    struct dpl_random *random = NULL;
    struct dpl_noised *made = NULL;
    DPL_TRY(prepare(run, secret, *exact, &made, &random));
    double sigma = noise_steps(event, *exact);
    enum dpl_status status = dpl_gaussian_add(run, random, id, 0, (*exact)->sum, made->n, sigma);
    dpl_random_free(random);
    if (status != DPL_OK) {
        dpl_free(made);
        return status;
    }
    made->deviation = ldexp(sigma, -made->places);
    take_over(exact, made);
    *noised = made;
    return DPL_OK;
}

enum dpl_status dpl_laplace_release(struct dpl_run *run, struct dpl_secret *secret,
                                    const struct dpl_event *event, struct dpl_stream_id id,
                                    struct dpl_exact **exact, struct dpl_noised **noised) {
    DPL_TRY(check(run, event, DPL_EVENT_LAPLACE, DPL_NORM_L1, *exact));
    double scale = noise_steps(event, *exact);
    uint64_t num, den;
    if (!dpl_laplace_ratio(scale, &num, &den))
        return dpl_fail(run, DPL_USAGE,
                        "event '%s' needs Laplace noise of %g lattice steps (from 2^-20 to 2^39; "
                        "choose another step)",
                        event->name, scale);
    DPL_TRY(dpl_secret_spend(run, secret, id));
    struct dpl_random *random = NULL;
    struct dpl_noised *made = NULL;
    DPL_TRY(prepare(run, secret, *exact, &made, &random));
    enum dpl_status status = dpl_laplace_add(run, random, id, 0, (*exact)->sum, made->n, num, den);
    dpl_random_free(random);
    if (status != DPL_OK) {
        dpl_free(made);
        return status;
    }
    made->deviation = ldexp(scale, -made->places) * sqrt(2);
    made->laplace = true;
    take_over(exact, made);
    *noised = made;
    return DPL_OK;
}

enum dpl_status dpl_local_release(struct dpl_run *run, struct dpl_secret *secret,
                                  const struct dpl_event *event, struct dpl_stream_id id,
                                  const struct dpl_local_section *section, size_t n_sections,
                                  struct dpl_exact **exact, struct dpl_noised **noised) {
    DPL_TRY(check(run, event, DPL_EVENT_LOCAL, DPL_NORM_L1, *exact));
    DPL_TRY(dpl_secret_spend(run, secret, id));
    struct dpl_noised *made = dpl_alloc(run, 1, sizeof *made);
    if (!made) return DPL_SYSTEM;
    made->n = (*exact)->options.n;
    made->places = (*exact)->options.places;
    enum dpl_status status =
        dpl_local_noise(run, secret, event, id, section, n_sections, *exact, &made->deviation);
    if (status != DPL_OK) {
        dpl_free(made);
        return status;
    }
    take_over(exact, made);
    *noised = made;
    return DPL_OK;
}

enum dpl_status dpl_bare_release(struct dpl_run *run, const struct dpl_event *event,
                                 struct dpl_exact **exact, struct dpl_noised **noised) {
    DPL_TRY(check_unwatched(run, event, *exact));
    // PRIVACY: a plan has a sigma of 0 only for an infinite epsilon, which stamps every output NOT
    // PRIVATE.
    if (event->sigma > 0 || event->sigma < 0)
        return dpl_fail(run, DPL_REFUSED,
                        "event '%s' was accounted for with noise, and is to be released without",
                        event->name);
    struct dpl_noised *made = dpl_alloc(run, 1, sizeof *made);
    if (!made) return DPL_SYSTEM;
    made->n = (*exact)->options.n;
    made->places = (*exact)->options.places;
    take_over(exact, made);
    *noised = made;
    return DPL_OK;
}

enum dpl_status dpl_noised_again(struct dpl_run *run, const double *values, size_t n, int places,
                                 double deviation, bool laplace, struct dpl_noised **noised) {
    struct dpl_noised *made = dpl_alloc(run, 1, sizeof *made);
    if (!made) return DPL_SYSTEM;
    *made =
        (struct dpl_noised){n, places, deviation, laplace, dpl_alloc(run, n, sizeof *made->sum)};
    if (!made->sum) {
        dpl_free(made);
        return DPL_SYSTEM;
    }
    for (size_t i = 0; i < n; i++) made->sum[i] = (int64_t)rint(ldexp(values[i], places));
    *noised = made;
    return DPL_OK;
}
