/* The Gaussian kernel on LANES pairs at once: gaussian_plain.c, operation by operation, in the
 * compiler's vector types. Included by a file that defines LANES, KERNEL (the function's name),
 * VECTOR_SQRT, VECTOR_DOUBLE (of signed 64-bit integers) and VECTOR_MASK (sign bits of the lanes).
 *
 * Two loads hold pairs as  a = u0 v0 u1 v1 ...  and  b = u' v' ...; taking the even elements of
 * both in turn gives all u, the odd ones all v, and the same two moves put the results back in
 * order. */
#include "noise/gaussian_inner.h"

#include <math.h>
#include <string.h>

typedef double vector_f64 __attribute__((vector_size(8 * LANES)));
typedef int64_t vector_i64 __attribute__((vector_size(8 * LANES)));
typedef uint64_t vector_u64 __attribute__((vector_size(8 * LANES)));

#if LANES == 4
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#else
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#endif

static inline vector_f64 all(double value) { return value - (vector_f64){0}; }

static inline vector_f64 choose(vector_i64 mask, vector_f64 yes, vector_f64 no) {
    return (vector_f64)((mask & (vector_i64)yes) | (~mask & (vector_i64)no));
}

static inline vector_f64 magnitude(vector_f64 x) { return (vector_f64)((vector_i64)x & INT64_MAX); }

static inline vector_f64 polynomial(const double *coefficient, int n, vector_f64 x) {
    vector_f64 x2 = x * x, a = all(coefficient[n - 1]), b = all(coefficient[n - 2]);
    for (int i = n - 3; i >= 0; i -= 2) {
        a = a * x2 + coefficient[i];
        if (i > 0) b = b * x2 + coefficient[i - 1];
    }
    return n % 2 ? a + b * x : b + a * x;
}

static inline vector_f64 radius(vector_f64 signed_u) {
    static const double terms[DPL_LOG_DEGREE] = DPL_LOG_TERMS;
    vector_f64 u = signed_u + (vector_f64)((vector_i64)(signed_u < 0) & (int64_t)DPL_ONE_BITS);
    vector_u64 shifted = (vector_u64)u + (DPL_ONE_BITS - DPL_SQRT_HALF_BITS);
    vector_f64 m = (vector_f64)((shifted & 0x000FFFFFFFFFFFFFu) + DPL_SQRT_HALF_BITS);
    // The exponent as a double: its bits under those of 2^52, minus 2^52 and the bias.
    vector_f64 k = (vector_f64)((shifted >> 52) | 0x4330000000000000u) - (0x1p52 + 1023);
    vector_f64 f = choose((vector_i64)(k == 0), signed_u, m - 1);
    vector_f64 q = f / (f + 2), z = q * q, q2 = q + q;
    vector_f64 log_m = q2 + q2 * (z * polynomial(terms, DPL_LOG_DEGREE, z));
    return VECTOR_SQRT(-2 * (k * DPL_LN2 + log_m));
}

static inline void turn(vector_u64 w1, vector_f64 *cosine, vector_f64 *sine) {
    static const double cos_terms[DPL_TRIG_DEGREE] = DPL_COS_TERMS,
                        sin_terms[DPL_TRIG_DEGREE] = DPL_SIN_TERMS;
    const uint64_t eighth = (uint64_t)1 << 61;
    vector_u64 shifted = w1 + eighth, quarter = shifted >> 62;
    vector_f64 t = VECTOR_DOUBLE((vector_i64)((shifted & (2 * eighth - 1)) - eighth)) * 0x1p-64,
               x = t * t;
    vector_f64 c = polynomial(cos_terms, DPL_TRIG_DEGREE, x),
               s = t * polynomial(sin_terms, DPL_TRIG_DEGREE, x);
    vector_i64 swap = -(vector_i64)(quarter & 1);
    *cosine = (vector_f64)((vector_u64)choose(swap, s, c) ^ (((quarter + 1) & 2) << 62));
    *sine = (vector_f64)((vector_u64)choose(swap, c, s) ^ ((quarter & 2) << 62));
}

/* The nearest integer of |x| < 2^51, and whether it is the nearest one of all of x +- (1/2 -
 * margin). Never sure of infinities. */
static inline vector_i64 nearest(vector_f64 x, vector_f64 margin, vector_i64 *sure) {
    const double magic = 0x1.8p52;
    vector_f64 shifted = x + magic;
    *sure &= (vector_i64)(magnitude(x - (shifted - magic)) <= margin);
    return (vector_i64)shifted - 0x4338000000000000;
}

/* sigma*r for all pairs. A loop of its own, like the next: short chains of operations, so that the
 * processor has several rounds of the loop under way at once. */
static inline void make_scales(const struct dpl_gaussian_job *job, const uint64_t *words,
                               size_t n_pairs, vector_f64 *scale) {
    for (size_t i = 0; i < n_pairs / LANES; i++) {
        vector_u64 a, b;
        memcpy(&a, words + 2 * LANES * i, sizeof a);
        memcpy(&b, words + 2 * LANES * i + LANES, sizeof b);
        vector_f64 u = VECTOR_DOUBLE((vector_i64)EVEN(a, b)) * 0x1p-64;
        // At the edges of U a scale that no test of doubt lets pass.
        scale[i] = choose((vector_i64)(magnitude(u) < DPL_GAUSSIAN_EDGE), all(INFINITY),
                          job->sigma * radius(u));
    }
}

size_t KERNEL(const struct dpl_gaussian_job *job, const uint64_t *words, size_t n_pairs,
              int64_t *noise, uint16_t *doubt) {
    vector_f64 scales[DPL_GAUSSIAN_CHUNK / LANES];
    size_t n_doubt = 0;
    make_scales(job, words, n_pairs, scales);
    for (size_t i = 0; i < n_pairs; i += LANES) {
        vector_u64 a, b;
        memcpy(&a, words + 2 * i, sizeof a);
        memcpy(&b, words + 2 * i + LANES, sizeof b);
        vector_f64 c, s, scale = scales[i / LANES],
                         margin = 0.5 - (scale * job->relative + job->absolute);
        turn(ODD(a, b), &c, &s);
        vector_i64 sure = (vector_i64){0} - 1;
        vector_i64 x = nearest(scale * c, margin, &sure), y = nearest(scale * s, margin, &sure);
        vector_i64 low = EVEN(x, y), high = ODD(x, y);
        memcpy(noise + 2 * i, &low, sizeof low);
        memcpy(noise + 2 * i + LANES, &high, sizeof high);
        unsigned bits = VECTOR_MASK(~sure);
        for (unsigned lane = 0; bits; lane++, bits >>= 1)
            if (bits & 1) doubt[n_doubt++] = (uint16_t)(i + (lane & 1) * (LANES / 2) + lane / 2);
    }
    return n_doubt;
}
