/* A complex FFT in double precision, sizes that are powers of two.
 *
 * Forward leaves the spectrum in bit-reversed order and inverse takes it in that order: a
 * convolution multiplies bin by bin, so no reordering pass is ever needed.
 */
#ifndef DPL_ACCOUNT_FFT_H
#define DPL_ACCOUNT_FFT_H

#include "base/base.h"

struct dpl_complex {
    double re, im;
};

struct dpl_fft {
    size_t n;
    struct dpl_complex *twiddle; /* (n) for size m = 2, 4, ... n: e^{-2 pi i j / m}, j < m/2, stored
                                    at m/2 and after */
};

/* n is a power of two, at least 2. Caller frees with dpl_fft_free. */
enum dpl_status dpl_fft_make(struct dpl_run *run, size_t n, struct dpl_fft *fft);
void dpl_fft_free(struct dpl_fft *fft);
void dpl_fft_forward(const struct dpl_fft *fft, struct dpl_complex *data);
/* Not divided by n: inverse(forward(x)) = n x. */
void dpl_fft_inverse(const struct dpl_fft *fft, struct dpl_complex *data);
/* Where forward leaves bin j. */
size_t dpl_fft_slot(const struct dpl_fft *fft, size_t j);
/* A bound on the error of each forward bin, relative to the sum of the inputs' magnitudes. */
double dpl_fft_error(const struct dpl_fft *fft);

#endif
