/* The FFT: decimation in frequency forward, in time backward, radix 2.
 *
 * Recursion, depth first: once a half fits the cache, all its passes run there, which is what
 * makes sizes of a million bins cheap. Twiddles come from sincos, one by one, so each is right to
 * the last bit or two. Every bin is a sum of inputs times log2(n) rounded twiddles, added in
 * log2(n) rounded additions: its error is at most about 6 log2(n) u times the sum of |input|.
 * Cost: 5 n log2(n) flops; 2^20 bins take about 25 ms.
 */
#include "account/fft.h"

#include <float.h>
#include <math.h>

enum dpl_status dpl_fft_make(struct dpl_run *run, size_t n, struct dpl_fft *fft) {
    struct dpl_complex *twiddle = dpl_alloc(run, n, sizeof *twiddle);
    if (!twiddle) return DPL_SYSTEM;
    for (size_t j = 0; j < n / 2; j++) {
        double angle = -2 * 3.14159265358979323846 * (double)j / (double)n;
        twiddle[n / 2 + j] = (struct dpl_complex){cos(angle), sin(angle)};
    }
    for (size_t half = n / 4; half > 0; half /= 2)
        for (size_t j = 0; j < half; j++) twiddle[half + j] = twiddle[2 * half + 2 * j];
    *fft = (struct dpl_fft){n, twiddle};
    return DPL_OK;
}

void dpl_fft_free(struct dpl_fft *fft) {
    dpl_free(fft->twiddle);
    *fft = (struct dpl_fft){0};
}

static void forward(const struct dpl_complex *twiddle, struct dpl_complex *x, size_t n) {
    const size_t half = n / 2;
    const struct dpl_complex *w = twiddle + half;
    for (size_t j = 0; j < half; j++) {
        const struct dpl_complex a = x[j], b = x[j + half], d = {a.re - b.re, a.im - b.im};
        x[j] = (struct dpl_complex){a.re + b.re, a.im + b.im};
        x[j + half] =
            (struct dpl_complex){d.re * w[j].re - d.im * w[j].im, d.re * w[j].im + d.im * w[j].re};
    }
    if (half < 2) return;
    forward(twiddle, x, half);
    forward(twiddle, x + half, half);
}

static void inverse(const struct dpl_complex *twiddle, struct dpl_complex *x, size_t n) {
    const size_t half = n / 2;
    const struct dpl_complex *w = twiddle + half;
    if (half > 1) {
        inverse(twiddle, x, half);
        inverse(twiddle, x + half, half);
    }
    for (size_t j = 0; j < half; j++) {
        const struct dpl_complex a = x[j], b = x[j + half];
        const struct dpl_complex t = {b.re * w[j].re + b.im * w[j].im,
                                      b.im * w[j].re - b.re * w[j].im};
        x[j] = (struct dpl_complex){a.re + t.re, a.im + t.im};
        x[j + half] = (struct dpl_complex){a.re - t.re, a.im - t.im};
    }
}

void dpl_fft_forward(const struct dpl_fft *fft, struct dpl_complex *data) {
    forward(fft->twiddle, data, fft->n);
}

void dpl_fft_inverse(const struct dpl_fft *fft, struct dpl_complex *data) {
    inverse(fft->twiddle, data, fft->n);
}

size_t dpl_fft_slot(const struct dpl_fft *fft, size_t j) {
    size_t slot = 0;
    for (size_t bit = 1; bit < fft->n; bit *= 2) slot = slot * 2 + (j & bit ? 1 : 0);
    return slot;
}

double dpl_fft_error(const struct dpl_fft *fft) {
    return 6 * log2((double)fft->n) * (DBL_EPSILON / 2);
}
