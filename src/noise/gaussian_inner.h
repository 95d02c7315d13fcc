/* What the versions of the Gaussian kernel share: the job, the coefficients, the error bound.
 *
 * A pair of coordinates has one block of keystream, two 64-bit words w0 and w1, the first 64 binary
 * digits of two uniforms U and V. With r = sqrt(-2 ln U) the pair is sigma*r*(cos 2 pi V, sin 2 pi
 * V). A kernel computes it in double and says of which pairs it is not certain. */
#ifndef DPL_NOISE_GAUSSIAN_INNER_H
#define DPL_NOISE_GAUSSIAN_INNER_H

#include "noise/gaussian.h"

enum { DPL_GAUSSIAN_GROUP = 8, DPL_GAUSSIAN_CHUNK = 256 };

/* PRIVACY: |computed - sigma*Z| <= r*sigma*RELATIVE + sigma*ABSOLUTE, as derived in
 * docs/PRIVACY.md, which finds 17 of these 32 units of 2^-53, and 0.53 of the absolute part. */
#define DPL_GAUSSIAN_RELATIVE 0x1p-48
#define DPL_GAUSSIAN_ABSOLUTE 0x1p-55
/* Outside 2^-17 <= U <= 1 - 2^-17 the 64 digits of U are too few for that bound. */
#define DPL_GAUSSIAN_EDGE 0x1p-17

struct dpl_gaussian_job {
    double sigma;
    double relative, absolute; /* the bound; `absolute` includes sigma */
};

/* ln 2, sqrt(1/2) and, for 2 atanh(q) = 2q + 2q(q^2/3 + q^4/5 + ...), the ten coefficients 1/3 ...
 * 1/21. */
#define DPL_LN2 0x1.62e42fefa39efp-1
#define DPL_SQRT_HALF_BITS 0x3FE6A09E667F3BCDu
#define DPL_ONE_BITS 0x3FF0000000000000u
#define DPL_LOG_TERMS                                                                              \
    {                                                                                              \
        1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19,      \
            1.0 / 21                                                                               \
    }
/* sin(2 pi t)/t and cos(2 pi t) in powers of t^2: the Taylor series, rounded. */
#define DPL_SIN_TERMS                                                                              \
    {                                                                                              \
        0x1.921fb54442d18p+2, -0x1.4abbce625be53p+5, 0x1.466bc6775aae2p+6, -0x1.32d2cce62bd86p+6,  \
            0x1.50783487ee782p+5, -0x1.e3074fde8871fp+3, 0x1.e8f434d018d63p+1,                     \
            -0x1.6fadb9f155744p-1, 0x1.aaec32af93359p-4                                            \
    }
#define DPL_COS_TERMS                                                                              \
    {                                                                                              \
        1.0, -0x1.3bd3cc9be45dep+4, 0x1.03c1f081b5ac4p+6, -0x1.55d3c7e3cbffap+6,                   \
            0x1.e1f506891babbp+5, -0x1.a6d1f2a204a8cp+4, 0x1.f9d38a3763cc3p+2,                     \
            -0x1.b6e24f44b128fp+0, 0x1.20c62c2f2d7f5p-2                                            \
    }
enum { DPL_LOG_DEGREE = 10, DPL_TRIG_DEGREE = 9 };

/* words (2*n_pairs) -> noise (2*n_pairs); n_pairs is a multiple of DPL_GAUSSIAN_GROUP. Lists the
 * pairs in doubt, whose noise is not set to anything of use, and returns how many there are. */
typedef size_t dpl_gaussian_kernel(const struct dpl_gaussian_job *job, const uint64_t *words,
                                   size_t n_pairs, int64_t *noise, uint16_t *doubt);
dpl_gaussian_kernel dpl_gaussian_plain, dpl_gaussian_avx2, dpl_gaussian_avx512;
/* Whether the build has them; always there, false on other processors. */
bool dpl_gaussian_has_avx2(void), dpl_gaussian_has_avx512(void);

/* One pair in double, and the bound on the error of both numbers. For the plain kernel and for
 * tests of the bound. False at the edges of U, where there is no bound. */
bool dpl_gaussian_pair(const struct dpl_gaussian_job *job, uint64_t w0, uint64_t w1,
                       double value[2], double *bound);

/* Both numbers of a pair, exactly rounded, from as many bits as that takes. */
enum dpl_status dpl_gaussian_exact(struct dpl_run *run, struct dpl_random *random,
                                   struct dpl_stream_id id, uint64_t pair, double sigma,
                                   int64_t noise[2]);
/* The same from given digits: u and v have n_words words each, most significant first. False when
 * they do not settle it. n_words: a multiple of 3 up to 24. */
bool dpl_gaussian_settle(const uint64_t *u, const uint64_t *v, size_t n_words, double sigma,
                         int64_t noise[2]);

#endif
