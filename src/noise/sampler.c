/* Poisson sampling by geometric skips, without a rounding error in any unit's chance.
 *
 * The number of units passed over before the next one taken is geometric: P(skip >= k) = (1-q)^k.
 * We draw it exactly (dpl_stream_geometric, integers only) for q' = 1 - exp(-g) with a rational g
 * <= -ln(1-q). Hence all units are independent and have chance exactly q'.
 *
 * PRIVACY: q' <= q, and a Poisson-subsampled Gaussian leaks no more at a smaller rate: its output
 * (1-q')P + q'Q is a mixture of P and of (1-q)P + qQ, and divergences are convex in both arguments.
 * So the accountant's event at rate q covers it.
 *
 * Cost: about 70 ns per unit taken, none per unit passed over. */
#include "noise/sampler.h"

#include <math.h>

static const int64_t MOST_STEPS = (int64_t)1 << 40;

void dpl_batch_free(struct dpl_batch *batch) {
    dpl_free(batch->unit);
    *batch = (struct dpl_batch){0};
}

void dpl_sampler_exponent(double rate, uint64_t *num, uint64_t *den) {
    // A margin of 2^-41, far above the last-digit errors of log1p and of the product.
    double exponent = -log1p(-rate) * (1 - 0x1p-41);
    int places;
    frexp(exponent, &places);
    // 52 digits of the exponent, but a denominator of at most 2^62: a tiny rate keeps fewer,
    // rounded down.
    int shift = 52 - places < 62 ? 52 - places : 62;
    *num = (uint64_t)ldexp(exponent, shift);
    *den = (uint64_t)1 << shift;
}

static enum dpl_status check(struct dpl_run *run, const struct dpl_event *event, int64_t step,
                             size_t n_units) {
    if (event->kind != DPL_EVENT_POISSON)
        return dpl_fail(run, DPL_USAGE, "event '%s' takes no samples: it is not a Poisson event",
                        event->name);
    if (!(event->rate >= 0x1p-40 && event->rate <= 1))
        return dpl_fail(run, DPL_USAGE, "event '%s' samples at rate %g; a rate is from 2^-40 to 1",
                        event->name, event->rate);
    if (event->steps > MOST_STEPS)
        return dpl_fail(run, DPL_USAGE, "event '%s' has %lld steps (at most 2^40)", event->name,
                        (long long)event->steps);
    // PRIVACY: what was not accounted for is not drawn.
    if (step < 0 || step >= event->steps)
        return dpl_fail(
            run, DPL_REFUSED,
            "step %lld of event '%s' is not among the %lld steps that were accounted for",
            (long long)step, event->name, (long long)event->steps);
    if (n_units > UINT32_MAX)
        return dpl_fail(run, DPL_USAGE, "%zu units are too many to sample from (at most 2^32-1)",
                        n_units);
    return DPL_OK;
}

static enum dpl_status take(struct dpl_run *run, struct dpl_batch *batch, uint64_t unit) {
    DPL_TRY(dpl_grow(run, &batch->unit, &batch->capacity, batch->n + 1, sizeof *batch->unit));
    batch->unit[batch->n++] = (uint32_t)unit;
    return DPL_OK;
}

enum dpl_status dpl_sampler_draw(struct dpl_run *run, struct dpl_random *random,
                                 const struct dpl_event *event, uint64_t network, int64_t step,
                                 size_t n_units, struct dpl_batch *batch) {
    DPL_TRY(check(run, event, step, n_units));
    batch->n = 0;
    if (event->rate == 1) {
        for (size_t unit = 0; unit < n_units; unit++) DPL_TRY(take(run, batch, unit));
        return DPL_OK;
    }
    struct dpl_stream stream;
    dpl_stream_open(&stream, random,
                    (struct dpl_stream_id){DPL_PURPOSE_BATCH, (uint64_t)step, network});
    uint64_t num, den;
    dpl_sampler_exponent(event->rate, &num, &den);
    enum dpl_status status = DPL_OK;
    for (uint64_t next = 0; status == DPL_OK && !stream.broken;) {
        uint64_t skip = dpl_stream_geometric(&stream, num, den);
        if (skip >= n_units - next) break;
        status = take(run, batch, next + skip);
        next += skip + 1;
    }
    enum dpl_status closed = dpl_stream_close(run, &stream);
    return status == DPL_OK ? closed : status;
}
