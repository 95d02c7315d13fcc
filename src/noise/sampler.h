/* Poisson samples of units, from the very struct that the accountant charges for. */
#ifndef DPL_NOISE_SAMPLER_H
#define DPL_NOISE_SAMPLER_H

#include "base/random.h"

/* A sample: unit numbers in rising order. Zero-initialise; reused from step to step; freed with
 * dpl_batch_free. */
struct dpl_batch {
    uint32_t *unit; /* (n) */
    size_t n, capacity;
};
void dpl_batch_free(struct dpl_batch *batch);

/* The sample of one step (0 ... event->steps-1) among n_units: every unit on its own, with the same
 * probability, at most event->rate and less than one part in 10^12 below it (one in 2^21 for rates
 * below 10^-6). It depends on the key,
 * the step and `network` (several training runs under one key) alone, so any step can be drawn by
 * itself. An empty batch is a valid one. */
enum dpl_status dpl_sampler_draw(struct dpl_run *run, struct dpl_random *random,
                                 const struct dpl_event *event, uint64_t network, int64_t step,
                                 size_t n_units, struct dpl_batch *batch);

/* The exponent num/den with 1 - exp(-num/den) <= rate: what the sampler uses for a rate below 1. */
void dpl_sampler_exponent(double rate, uint64_t *num, uint64_t *den);

#endif
