/* The Gaussian kernel in plain C: the reference, and the way on processors without AVX2.
 *
 * Only + - * / sqrt, comparisons and integer operations, each rounded as IEEE 754 says, in a fixed
 * order, without contraction. About 15 ns a normal. */
#include <math.h>
#include <string.h>

#include "noise/gaussian_inner.h"

/* Even and odd powers apart: two chains of operations half as long as Horner's one. */
static double polynomial(const double *coefficient, int n, double x) {
    double x2 = x * x, a = coefficient[n - 1], b = coefficient[n - 2];
    for (int i = n - 3; i >= 0; i -= 2) {
        a = a * x2 + coefficient[i];
        if (i > 0) b = b * x2 + coefficient[i - 1];
    }
    return n % 2 ? a + b * x : b + a * x;
}

/* v = 2^k * m with sqrt(1/2) <= m < sqrt(2), exactly. */
static double split(double v, double *m) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    uint64_t shifted = bits + (DPL_ONE_BITS - DPL_SQRT_HALF_BITS);
    uint64_t mantissa = (shifted & 0x000FFFFFFFFFFFFFu) + DPL_SQRT_HALF_BITS;
    memcpy(m, &mantissa, sizeof *m);
    return (double)((int64_t)(shifted >> 52) - 1023);
}

/* sqrt(-2 ln U). `signed_u` is U below 1/2 and U-1 above, so that it is exact to 53 bits at both
 * ends. */
static double radius(double signed_u) {
    static const double terms[DPL_LOG_DEGREE] = DPL_LOG_TERMS;
    double m;
    double k = split(signed_u < 0 ? signed_u + 1 : signed_u, &m);
    double f = k == 0 ? signed_u : m - 1; // k = 0: U is near 1, and m-1 would have lost its digits
    double q = f / (f + 2), z = q * q, q2 = q + q;
    double log_m = q2 + q2 * (z * polynomial(terms, DPL_LOG_DEGREE, z));
    return sqrt(-2 * (k * DPL_LN2 + log_m));
}

/* cos and sin of 2 pi V, by the nearest quarter turn and the rest in [-1/8, 1/8). */
static void turn(uint64_t w1, double *cosine, double *sine) {
    static const double cos_terms[DPL_TRIG_DEGREE] = DPL_COS_TERMS,
                        sin_terms[DPL_TRIG_DEGREE] = DPL_SIN_TERMS;
    uint64_t eighth = (uint64_t)1 << 61, shifted = w1 + eighth;
    unsigned quarter = (unsigned)(shifted >> 62);
    double t = (double)(int64_t)((shifted & (2 * eighth - 1)) - eighth) * 0x1p-64, x = t * t;
    double c = polynomial(cos_terms, DPL_TRIG_DEGREE, x),
           s = t * polynomial(sin_terms, DPL_TRIG_DEGREE, x);
    *cosine = quarter & 1 ? s : c;
    *sine = quarter & 1 ? c : s;
    if ((quarter + 1) & 2) *cosine = -*cosine;
    if (quarter & 2) *sine = -*sine;
}

bool dpl_gaussian_pair(const struct dpl_gaussian_job *job, uint64_t w0, uint64_t w1,
                       double value[2], double *bound) {
    double u = (double)(int64_t)w0 * 0x1p-64;
    if (fabs(u) < DPL_GAUSSIAN_EDGE) return false;
    double c, s, scale = job->sigma * radius(u);
    turn(w1, &c, &s);
    value[0] = scale * c;
    value[1] = scale * s;
    *bound = scale * job->relative + job->absolute;
    return true;
}

size_t dpl_gaussian_plain(const struct dpl_gaussian_job *job, const uint64_t *words, size_t n_pairs,
                          int64_t *noise, uint16_t *doubt) {
    size_t n_doubt = 0;
    for (size_t i = 0; i < n_pairs; i++) {
        double value[2], bound;
        bool sure = dpl_gaussian_pair(job, words[2 * i], words[2 * i + 1], value, &bound);
        for (size_t j = 0; sure && j < 2; j++) {
            double whole = rint(value[j]);
            // Ziv's test: the whole interval value +- bound rounds to the same integer. The
            // difference is exact.
            sure = fabs(value[j] - whole) <= 0.5 - bound;
            noise[2 * i + j] = (int64_t)whole;
        }
        if (!sure) doubt[n_doubt++] = (uint16_t)i;
    }
    return n_doubt;
}
