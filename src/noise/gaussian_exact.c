/* One pair of normals to as many digits as their rounding needs.
 *
 * Numbers are unsigned fixed point: n words, least significant first, the last one whole, F =
 * 64(n-1) binary digits behind the point. Every operation rounds down, by less than one unit 2^-F.
 * With u and v to F digits each:
 *
 *     L = -ln U = zeros*ln 2 + 2 atanh((1-m)/(1+m))    U = m*2^-zeros, 1/2 <= m < 1
 *     r = sqrt(2L)                                     bit by bit, exactly rounded down
 *     cos, sin of 2 pi (V - quarter/4)                 Taylor; pi by Machin
 *
 * and an interval around r*cos, r*sin that is wide enough (docs/PRIVACY.md, "The redo"). When both
 * ends of sigma times the interval round alike, that is the answer; otherwise the precision
 * doubles: 192, 384, 768, 1536 digits. The further digits of U and V come from the far end of the
 * pair's stream, 32 blocks a pair. The chance that 1536 digits do not settle it is below 2^-600: it
 * is an error, not a guess.
 *
 * Cost: about 16 us a pair at 192 digits. */
#include <math.h>
#include <string.h>

#include "noise/gaussian_inner.h"

__extension__ typedef unsigned __int128 wide;

enum { MOST_DIGIT_WORDS = 24, MOST = MOST_DIGIT_WORDS + 2, FAR_BLOCKS = 32 };

/* ---- fixed point; n words each ---- */

static bool is_zero(const uint64_t *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (a[i]) return false;
    return true;
}

static bool less(const uint64_t *a, const uint64_t *b, size_t n) {
    for (size_t i = n; i-- > 0;)
        if (a[i] != b[i]) return a[i] < b[i];
    return false;
}

static void add(uint64_t *a, const uint64_t *b, size_t n) {
    wide carry = 0;
    for (size_t i = 0; i < n; i++) {
        carry += (wide)a[i] + b[i];
        a[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

static void subtract(uint64_t *a, const uint64_t *b, size_t n) {
    uint64_t borrow = 0;
    for (size_t i = 0; i < n; i++) {
        wide difference = (wide)a[i] - b[i] - borrow;
        a[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
}

static void multiply_small(uint64_t *a, uint64_t factor, size_t n) {
    wide carry = 0;
    for (size_t i = 0; i < n; i++) {
        carry += (wide)a[i] * factor;
        a[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

static void divide_small(uint64_t *a, uint64_t divisor, size_t n) {
    wide rest = 0;
    for (size_t i = n; i-- > 0;) {
        rest = rest << 64 | a[i];
        a[i] = (uint64_t)(rest / divisor);
        rest %= divisor;
    }
}

/* a *= b; b may be a. */
static void multiply(uint64_t *a, const uint64_t *b, size_t n) {
    uint64_t product[2 * MOST] = {0};
    for (size_t i = 0; i < n; i++) {
        wide carry = 0;
        for (size_t j = 0; j < n; j++) {
            carry += (wide)a[i] * b[j] + product[i + j];
            product[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
        product[i + n] = (uint64_t)carry;
    }
    memcpy(a, product + n - 1, n * sizeof *a);
}

/* a = a * 2^count + fill, count < 64. */
static void shift_in(uint64_t *a, unsigned count, uint64_t fill, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t out = a[i] >> (64 - count);
        a[i] = a[i] << count | fill;
        fill = out;
    }
}

/* a /= b, for a < b < 2^62. */
static void divide(uint64_t *a, const uint64_t *b, size_t n) {
    uint64_t quotient[MOST] = {0};
    for (size_t bit = 0; bit < 64 * (n - 1); bit++) {
        shift_in(a, 1, 0, n);
        bool fits = !less(a, b, n);
        if (fits) subtract(a, b, n);
        shift_in(quotient, 1, fits, n);
    }
    memcpy(a, quotient, n * sizeof *a);
}

/* a = sqrt(a): the integer root of a*2^F, two digits of it at a time. */
static void square_root(uint64_t *a, size_t n) {
    uint64_t root[MOST] = {0}, rest[MOST] = {0}, trial[MOST];
    for (size_t step = 0; step < 32 * (2 * n - 1); step++) {
        size_t word = step / 32, shift = 62 - 2 * (step % 32);
        shift_in(rest, 2, word < n ? a[n - 1 - word] >> shift & 3 : 0, n);
        memcpy(trial, root, sizeof trial);
        shift_in(trial, 2, 1, n);
        bool fits = !less(rest, trial, n);
        if (fits) subtract(rest, trial, n);
        shift_in(root, 1, fits, n);
    }
    memcpy(a, root, n * sizeof *a);
}

/* ---- series ---- */

/* sum = 1/d +- 1/(3 d^3) + 1/(5 d^5) +- ...: atan(1/d) alternating, atanh(1/d) otherwise. */
static void arc_of_inverse(uint64_t *sum, uint64_t d, bool alternating, size_t n) {
    uint64_t power[MOST] = {0}, term[MOST];
    power[n - 1] = 1;
    divide_small(power, d, n);
    memcpy(sum, power, n * sizeof *sum);
    for (uint64_t i = 1;; i++) {
        divide_small(power, d * d, n);
        if (is_zero(power, n)) return;
        memcpy(term, power, sizeof term);
        divide_small(term, 2 * i + 1, n);
        if (alternating && i % 2 == 1)
            subtract(sum, term, n);
        else
            add(sum, term, n);
    }
}

static void two_pi(uint64_t *out, size_t n) {
    uint64_t small[MOST];
    arc_of_inverse(out, 5, true, n);
    arc_of_inverse(small, 239, true, n);
    multiply_small(out, 4, n);
    subtract(out, small, n);
    multiply_small(out, 8, n);
}

/* z = 2 atanh(z), z <= 1/3. */
static void twice_atanh(uint64_t *z, size_t n) {
    uint64_t square[MOST], power[MOST], term[MOST];
    memcpy(square, z, n * sizeof *z);
    multiply(square, z, n);
    memcpy(power, z, n * sizeof *z);
    for (uint64_t i = 1;; i++) {
        multiply(power, square, n);
        if (is_zero(power, n)) break;
        memcpy(term, power, sizeof term);
        divide_small(term, 2 * i + 1, n);
        add(z, term, n);
    }
    multiply_small(z, 2, n);
}

/* sum = x^odd/odd! - x^(odd+2)/(odd+2)! + ...: the sine of x <= 0.8 for odd = 1, the cosine for odd
 * = 0. */
static void sine_or_cosine(uint64_t *sum, const uint64_t *x, uint64_t odd, size_t n) {
    uint64_t square[MOST], term[MOST] = {0};
    memcpy(square, x, n * sizeof *x);
    multiply(square, x, n);
    if (odd)
        memcpy(term, x, n * sizeof *x);
    else
        term[n - 1] = 1;
    memset(sum, 0, n * sizeof *sum);
    for (uint64_t i = 0; !is_zero(term, n); i++) {
        if (i % 2 == 1)
            subtract(sum, term, n);
        else
            add(sum, term, n);
        multiply(term, square, n);
        divide_small(term, (2 * i + 1 + odd) * (2 * i + 2 + odd), n);
    }
}

/* ---- the pair ---- */

/* r = sqrt(-2 ln U). Its error is below 2^-*good; false when U has fewer than 128 digits behind its
 * zeros. */
static bool exact_radius(const uint64_t *u, size_t n_words, uint64_t *r, size_t *good) {
    size_t n = n_words + 1, digits = 64 * n_words, zeros = 0;
    uint64_t m[MOST] = {0}, below[MOST] = {0}, above[MOST], ln2[MOST];
    for (size_t i = 0; i < n_words; i++) m[i] = u[n_words - 1 - i];
    if (is_zero(m, n)) return false;
    for (; !(m[n - 2] >> 63); zeros++) shift_in(m, 1, 0, n);
    if (digits - zeros < 128) return false;
    below[n - 1] = 1;
    memcpy(above, below, sizeof above);
    subtract(below, m, n);
    add(above, m, n);
    divide(below, above, n);
    twice_atanh(below, n);
    arc_of_inverse(ln2, 3, false, n);
    multiply_small(ln2, 2 * zeros, n);
    add(below, ln2, n);
    multiply_small(below, 2, n);
    square_root(below, n);
    memcpy(r, below, n * sizeof *r);
    size_t limit = digits - 25 < digits - zeros - 3 ? digits - 25 : digits - zeros - 3;
    *good = limit / 2 - 1; // |sqrt(a) - sqrt(b)| <= sqrt(|a - b|)
    return true;
}

/* The magnitudes of cos and sin of 2 pi V, and their signs. */
static void exact_turn(const uint64_t *v, size_t n_words, uint64_t magnitude[2][MOST],
                       bool negative[2]) {
    size_t n = n_words + 1;
    uint64_t angle[MOST], rest[MOST] = {0}, eighth[MOST] = {0};
    for (size_t i = 0; i < n_words; i++) rest[i] = v[n_words - 1 - i];
    eighth[n - 2] = (uint64_t)1 << 61;
    rest[n - 2] += eighth[n - 2]; // a whole turn more or less is none
    unsigned quarter = (unsigned)(rest[n - 2] >> 62);
    rest[n - 2] &= 2 * eighth[n - 2] - 1;
    bool back = less(rest, eighth, n);
    if (back)
        subtract(eighth, rest, n);
    else
        subtract(rest, eighth, n);
    two_pi(angle, n);
    multiply(angle, back ? eighth : rest, n);
    sine_or_cosine(magnitude[quarter & 1], angle, 0, n);
    sine_or_cosine(magnitude[~quarter & 1], angle, 1, n);
    // (cos, sin) of quarter*pi/2 + x: (c, s), (-s, c), (-c, -s), (s, -c); s carries the sign of x.
    negative[0] = (((quarter + 1) & 2) != 0) != (back && (quarter & 1));
    negative[1] = ((quarter & 2) != 0) != (back && !(quarter & 1));
}

/* round(sigma * x); x has n words. */
static uint64_t scaled(const uint64_t *x, size_t n, double sigma) {
    int exponent;
    uint64_t mantissa = (uint64_t)(frexp(sigma, &exponent) * 0x1p53);
    size_t shift = 64 * (n - 1) + (size_t)(53 - exponent); // positive: sigma <= 2^46
    uint64_t product[MOST + 2] = {0}, half[MOST + 2] = {0};
    memcpy(product, x, n * sizeof *x);
    multiply_small(product, mantissa, n + 1);
    half[(shift - 1) / 64] = (uint64_t)1 << (shift - 1) % 64;
    add(product, half, n + 1);
    size_t word = shift / 64, bit = shift % 64;
    return bit ? product[word] >> bit | product[word + 1] << (64 - bit) : product[word];
}

bool dpl_gaussian_settle(const uint64_t *u, const uint64_t *v, size_t n_words, double sigma,
                         int64_t noise[2]) {
    size_t n = n_words + 1, good;
    uint64_t r[MOST], low[2][MOST], high[MOST], error[MOST] = {0};
    bool negative[2];
    if (!exact_radius(u, n_words, r, &good)) return false;
    exact_turn(v, n_words, low, negative);
    size_t place = 64 * n_words - good + 1;
    error[place / 64] = (uint64_t)1
                        << place % 64; // twice the radius's: the other errors are far smaller
    for (size_t i = 0; i < 2; i++) {
        multiply(low[i], r, n);
        memcpy(high, low[i], sizeof high);
        add(high, error, n);
        if (less(low[i], error, n))
            memset(low[i], 0, sizeof low[i]);
        else
            subtract(low[i], error, n);
        uint64_t whole = scaled(low[i], n, sigma);
        if (scaled(high, n, sigma) != whole) return false;
        noise[i] = negative[i] ? -(int64_t)whole : (int64_t)whole;
    }
    return true;
}

enum dpl_status dpl_gaussian_exact(struct dpl_run *run, struct dpl_random *random,
                                   struct dpl_stream_id id, uint64_t pair, double sigma,
                                   int64_t noise[2]) {
    struct dpl_stream_id far_id = {id.purpose + DPL_PURPOSE_FAR, id.a, id.b};
    uint64_t words[2 * MOST_DIGIT_WORDS], u[MOST_DIGIT_WORDS], v[MOST_DIGIT_WORDS];
    enum dpl_status status = dpl_random_words(run, random, id, pair, 1, words);
    bool settled = false;
    for (size_t n = 3; status == DPL_OK && !settled && n <= MOST_DIGIT_WORDS; n *= 2) {
        status = dpl_random_words(run, random, far_id, pair * FAR_BLOCKS, n - 1, words + 2);
        for (size_t i = 0; i < n; i++) u[i] = words[2 * i], v[i] = words[2 * i + 1];
        settled = status == DPL_OK && dpl_gaussian_settle(u, v, n, sigma, noise);
    }
    dpl_wipe(words, sizeof words);
    dpl_wipe(u, sizeof u);
    dpl_wipe(v, sizeof v);
    if (status != DPL_OK || settled) return status;
    return dpl_fail(
        run, DPL_SYSTEM,
        "1536 random digits did not settle one normal, which a working random source does not do");
}
