/* Discrete Laplace noise, exactly: P(X = x) proportional to exp(-|x| * den/num). */
#ifndef DPL_NOISE_LAPLACE_H
#define DPL_NOISE_LAPLACE_H

#include "base/random.h"

/* Adds noise of scale num/den (in lattice steps; both from 1 to 2^40) to vector[0 ... n-1], the
 * coordinates first ... first+n-1 of stream `id`, whose `b` must be 0. Any cut into calls gives the
 * same bits; cuts at multiples of 64 are the cheap ones. On failure the vector must not be
 * released. */
enum dpl_status dpl_laplace_add(struct dpl_run *run, struct dpl_random *random,
                                struct dpl_stream_id id, uint64_t first, int64_t *vector, size_t n,
                                uint64_t num, uint64_t den);

/* scale <= num/den, as close as 40 bits allow. False when the scale is out of range (2^-20 to 2^39
 * steps). */
bool dpl_laplace_ratio(double scale_steps, uint64_t *num, uint64_t *den);

#endif
