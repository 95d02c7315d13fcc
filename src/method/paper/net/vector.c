/* Vector operations. The loops are written so that gcc and clang vectorise them without being
 * allowed to change the order of anything: elementwise, or over LANES independent accumulators. */
#include "method/paper/net/vector.h"

#include <math.h>
#include <string.h>

enum { LANES = 8 };

static inline float bits_float(int32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline int32_t float_bits(float value) {
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* exp(x) = 2^k * exp(r), |r| <= ln(2)/2, by the Taylor polynomial of degree 7 (remainder 6e-9). */
static inline float exp_one(float x) {
    float low = x > -87.0f ? x : -87.0f, held = low < 88.0f ? low : 88.0f;
    float k = held * 1.44269504f + 12582912.0f; // 1.5 * 2^23: rounds to an integer in the low bits
    int32_t power = float_bits(k) - float_bits(12582912.0f);
    k -= 12582912.0f;
    float r =
        held - k * 0.693359375f; // ln 2 in two parts, the first with few bits: k * it is exact
    r -= k * -2.12194440e-4f;
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    return p * bits_float((power + 127) * (1 << 23)) + (x - x); // x - x: NaN in, NaN out
}

DPL_CLONES void dpl_vector_exp(float *x, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = exp_one(x[i]);
}

DPL_CLONES float dpl_vector_max(const float *x, size_t n) {
    float lane[LANES];
    for (size_t j = 0; j < LANES; j++) lane[j] = -INFINITY;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];
    for (; i < n; i++) lane[0] = x[i] > lane[0] ? x[i] : lane[0];
    for (size_t j = 1; j < LANES; j++) lane[0] = lane[j] > lane[0] ? lane[j] : lane[0];
    return lane[0];
}

DPL_CLONES float dpl_vector_sum(const float *x, size_t n) {
    float lane[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) lane[j] += x[i + j];
    for (; i < n; i++) lane[0] += x[i];
    for (size_t j = 1; j < LANES; j++) lane[0] += lane[j];
    return lane[0];
}

DPL_CLONES void dpl_vector_scale(float *x, size_t n, float factor) {
    for (size_t i = 0; i < n; i++) x[i] *= factor;
}

DPL_CLONES double dpl_vector_dot(const float *x, const float *y, size_t n) {
    double lane[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) lane[j] += (double)x[i + j] * (double)y[i + j];
    for (; i < n; i++) lane[0] += (double)x[i] * (double)y[i];
    for (size_t j = 1; j < LANES; j++) lane[0] += lane[j];
    return lane[0];
}

/* The bits of |x| as an integer order like |x|, and NaN above infinity. */
DPL_CLONES float dpl_vector_reach(const float *x, size_t n) {
    int32_t lane[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) {
            int32_t bits;
            memcpy(&bits, x + i + j, sizeof bits);
            bits &= INT32_MAX;
            lane[j] = bits > lane[j] ? bits : lane[j];
        }
    for (; i < n; i++) {
        int32_t bits = float_bits(x[i]) & INT32_MAX;
        lane[0] = bits > lane[0] ? bits : lane[0];
    }
    for (size_t j = 1; j < LANES; j++) lane[0] = lane[j] > lane[0] ? lane[j] : lane[0];
    float reach = bits_float(lane[0]);
    return isnan(reach) ? INFINITY : reach;
}

/* ln(x) for normal x > 0: exponent, and 2 atanh((m-1)/(m+1)) for m in [0.707, 1.414). */
static inline float log_one(float x) {
    int32_t bits = float_bits(x), shifted = bits - 0x3f3504f3; // sqrt(1/2)
    int32_t exponent = shifted >> 23;
    float m = bits_float(bits - exponent * (1 << 23));
    float s = (m - 1.0f) / (m + 1.0f), s2 = s * s;
    float p = 2.0f / 9;
    p = p * s2 + 2.0f / 7;
    p = p * s2 + 2.0f / 5;
    p = p * s2 + 2.0f / 3;
    p = p * s2 + 2.0f;
    return (float)exponent * 0.693147181f + s * p;
}

/* sin(2 pi x) for |x| <= 1/4: the Taylor polynomial of degree 11 (remainder 6e-8). */
static inline float sine_turn(float x) {
    float t = x * 6.28318531f, t2 = t * t;
    float p = -1.0f / 39916800;
    p = p * t2 + 1.0f / 362880;
    p = p * t2 - 1.0f / 5040;
    p = p * t2 + 1.0f / 120;
    p = p * t2 - 1.0f / 6;
    return t + t * t2 * p;
}

enum { NORMAL_PAIRS = 32 };

/* Pairs of normals from 64 random bits each: 24 for the radius, 24 for the angle. */
DPL_CLONES static void normal_pairs(const uint64_t *word, float *out) {
    float radius[NORMAL_PAIRS], turn[NORMAL_PAIRS];
    for (size_t i = 0; i < NORMAL_PAIRS; i++) {
        radius[i] = ((float)(int32_t)(word[i] >> 40) + 0.5f) * 0x1p-24f;
        turn[i] =
            (float)((int32_t)((word[i] >> 8) & 0xffffff) - 0x800000) * 0x1p-24f; // in [-1/2, 1/2)
    }
    for (size_t i = 0; i < NORMAL_PAIRS; i++) {
        float r = sqrtf(-2.0f * log_one(radius[i])), x = turn[i], ax = fabsf(x);
        float folded = 0.25f - fabsf(ax - 0.25f);
        out[i] = r * sine_turn(0.25f - ax);
        out[NORMAL_PAIRS + i] = r * sine_turn(x < 0 ? -folded : folded);
    }
}

void dpl_vector_normals(uint64_t key, float *out, size_t n) {
    uint64_t word[NORMAL_PAIRS];
    float normal[2 * NORMAL_PAIRS];
    for (size_t done = 0; done < n; done += 2 * NORMAL_PAIRS) {
        for (size_t i = 0; i < NORMAL_PAIRS; i++)
            word[i] = dpl_mix64(key + (done + i + 1) * 0x9E3779B97F4A7C15u);
        normal_pairs(word, normal);
        size_t take = n - done < 2 * NORMAL_PAIRS ? n - done : 2 * NORMAL_PAIRS;
        memcpy(out + done, normal, take * sizeof *out);
    }
}

/* 1.5 * 2^52: added to a double below 2^51 it rounds to an integer (to even at a tie), which then
 * stands in the low bits. Both ways without the 64-bit conversions that AVX2 lacks. */
static const double MAGIC = 6755399441055744.0;
static const int64_t MAGIC_BITS = 0x4338000000000000;

static inline int64_t round_one(float x, double per_step) {
    double shifted = (double)x * per_step + MAGIC;
    int64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return bits - MAGIC_BITS;
}

DPL_CLONES void dpl_lattice_set(const float *x, size_t n, double per_step, int64_t *sum) {
    for (size_t i = 0; i < n; i++) sum[i] = round_one(x[i], per_step);
}

DPL_CLONES void dpl_lattice_add(const float *x, size_t n, double per_step, int64_t *sum) {
    for (size_t i = 0; i < n; i++) sum[i] += round_one(x[i], per_step);
}

DPL_CLONES void dpl_lattice_read(const int64_t *sum, size_t n, double factor, float *gradient) {
    for (size_t i = 0; i < n; i++) {
        int64_t bits = sum[i] + MAGIC_BITS;
        double shifted;
        memcpy(&shifted, &bits, sizeof shifted);
        gradient[i] = (float)((shifted - MAGIC) * factor);
    }
}
