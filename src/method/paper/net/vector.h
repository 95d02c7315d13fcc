/* Operations on runs of numbers that training spends its time in besides products: exponentials,
 * norms, rounding onto the lattice, updates.
 *
 * Each is plain C that the compiler turns into vector code, built twice (baseline and AVX2) and
 * chosen when the program starts. Sums go through a fixed number of lanes, and a*b+c is never
 * contracted, so both builds give the same bits.
 */
#ifndef DPL_METHOD_PAPER_NET_VECTOR_H
#define DPL_METHOD_PAPER_NET_VECTOR_H

#include "base/base.h"
#include "base/clones.h"

/* x = exp(x), relative error below 3e-7; x is held within [-87, 88]; NaN and infinity give NaN. */
void dpl_vector_exp(float *x, size_t n);
float dpl_vector_max(const float *x, size_t n); /* n > 0; NaNs are skipped */
float dpl_vector_sum(const float *x, size_t n);
void dpl_vector_scale(float *x, size_t n, float factor);
/* In double: relative error below n * 2^-53. */
double dpl_vector_dot(const float *x, const float *y, size_t n);
/* Largest |x|, infinity when one is NaN. */
float dpl_vector_reach(const float *x, size_t n);
/* Standard normals from a key, for what is random but carries no privacy (reparameterisation,
 * initial weights, the decoder's z): Box-Muller in float, tails to 5.7. */
void dpl_vector_normals(uint64_t key, float *out, size_t n);

/* ---- the lattice ----
 * Numbers are multiples of a step h, a power of two; |x / h| must stay below 2^51 on both ways. */

/* sum = round(x / h), or sum += round(x / h). per_step = 1 / h. */
void dpl_lattice_set(const float *x, size_t n, double per_step, int64_t *sum);
void dpl_lattice_add(const float *x, size_t n, double per_step, int64_t *sum);
/* gradient = sum * factor. */
void dpl_lattice_read(const int64_t *sum, size_t n, double factor, float *gradient);

#endif
