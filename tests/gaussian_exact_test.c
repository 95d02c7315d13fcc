/* The inside of the exact redo: every function is as accurate as docs/PRIVACY.md says, in units of
 * the last place, at every precision. The file under test is included, since all of it is static.
 */
#include "support.h"

#include "noise/gaussian_exact.c"

enum { FULL = MOST_DIGIT_WORDS + 1 };

/* 1536 binary digits behind the point, rounded down; least significant word first (from mpmath). */
static const uint64_t TWO_PI[FULL] = {
    0x1CF3B960C074301Cu, 0x9482F23171B671DFu, 0x8BA3604650C10BE1u, 0x3861AA7255E4C027u,
    0xF6A9483B84B4B36Bu, 0xE3179AB1042A95DCu, 0x1B2AE91EE51D6CB0u, 0x48B1FD47E9267AFCu,
    0xC6D241B0E2AE9CD3u, 0x1003E5C50B1DF82Cu, 0x4943328F6722D9EEu, 0x74F9208BE258FF32u,
    0x71C35FDAD44CFD2Du, 0x5FFAE5B7A035BF6Fu, 0xA262174D31BF6B58u, 0x242DABB312F3F637u,
    0x7F09AB6B6A8E122Fu, 0x8158536F92F8A1BAu, 0x7CA8CD9E69D218D9u, 0x8A5043CC71A026EFu,
    0x105DF531D89CD912u, 0x48127044533E63A0u, 0x2633145C06E0E689u, 0x487ED5110B4611A6u,
    0x0000000000000006u};
static const uint64_t LN_2[FULL] = {
    0x4C1A1E0BD1D6095Du, 0xCCCC4E659393514Cu, 0xC943E732B479CD33u, 0x17460775DB8990E5u,
    0x7D2E23DE1400B396u, 0xEE569D6DFC1EFA15u, 0x610D30F88FE551A2u, 0x07F4CA11FB5BFB90u,
    0xDA2D97C50F3FD5C6u, 0x655FA1872F20E3A2u, 0xF5DFA6BD38303248u, 0x72CE87B19D6548CAu,
    0x256FA0EC7657F74Bu, 0xB9EA9BC3B136603Bu, 0x1ACBDA11317C387Eu, 0x3E96CA16224AE8C5u,
    0x27573B291169B825u, 0xED2EAE35C1382144u, 0x559552FB4AFA1B10u, 0xE7B876206DEBAC98u,
    0x8A0D175B8BAAFA2Bu, 0x40F343267298B62Du, 0xC9E3B39803F2F6AFu, 0xB17217F7D1CF79ABu,
    0x0000000000000000u};

/* How far x (n words) is from a number given to FULL words, in units of x's last place. */
static uint64_t units_off(const uint64_t *x, const uint64_t *full, size_t n) {
    uint64_t a[MOST] = {0}, b[MOST] = {0};
    memcpy(a, x, n * sizeof *a);
    memcpy(b, full + FULL - n, n * sizeof *b);
    if (less(a, b, n))
        subtract(b, a, n), memcpy(a, b, sizeof a);
    else
        subtract(a, b, n);
    for (size_t i = 1; i < n; i++) assert_int_equal(a[i], 0);
    return a[0];
}

static const size_t WORDS[] = {3, 6, 12, 24};

static void constants(void **state) {
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        uint64_t x[MOST];
        two_pi(x, WORDS[i] + 1);
        assert_true(units_off(x, TWO_PI, WORDS[i] + 1) < 1 << 14);
        arc_of_inverse(x, 3, false, WORDS[i] + 1);
        multiply_small(x, 2, WORDS[i] + 1);
        assert_true(units_off(x, LN_2, WORDS[i] + 1) < 1400);
    }
}

/* A random number below 2^-shift, to FULL words, and its first n words. */
static void random_number(uint64_t *seed, unsigned shift, uint64_t *full) {
    for (size_t i = 0; i < FULL; i++) full[i] = test_random(seed);
    full[FULL - 1] = 0;
    full[FULL - 2] >>= shift;
}

static void quotient_and_root_are_exact(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (size_t round = 0; round < test_soak(200); round++) {
        size_t n = WORDS[round % 4] + 1;
        uint64_t a[MOST] = {0}, b[MOST] = {0}, x[MOST], product[MOST];
        random_number(&seed, 1, a);
        random_number(&seed, 0, b);
        b[n - 1] = a[n - 1] = 0;
        b[n - 2] |= (uint64_t)1 << 63;
        a[n - 2] >>= 1;
        // floor(a/b) * b <= a < (floor(a/b) + 1 unit) * b, where products round down by less than a
        // unit
        memcpy(x, a, sizeof x);
        divide(x, b, n);
        memcpy(product, x, sizeof product);
        multiply(product, b, n);
        assert_false(less(a, product, n));
        subtract(a, product, n);
        for (size_t i = 1; i < n; i++) assert_int_equal(a[i], 0);
        assert_true(a[0] <= 1);
        // the root's square, likewise
        memcpy(x, b, sizeof x);
        square_root(x, n);
        memcpy(product, x, sizeof product);
        multiply(product, x, n);
        assert_false(less(b, product, n));
        subtract(b, product, n);
        for (size_t i = 1; i < n; i++) assert_int_equal(b[i], 0);
        assert_true(b[0] <= 3);
    }
}

/* Against the same function at the highest precision. */
static void series(void **state) {
    (void)state;
    uint64_t seed = 4;
    for (size_t round = 0; round < test_soak(60); round++) {
        size_t n = WORDS[round % 3] + 1;
        uint64_t full[MOST] = {0}, x[MOST] = {0}, y[MOST], want[MOST];
        random_number(&seed, 2 + (unsigned)round / 3, full);
        for (size_t i = 0; i + n < FULL; i++) full[i] = 0; // the same number at both precisions
        memcpy(x, full + FULL - n, n * sizeof *x);
        for (uint64_t odd = 0; odd < 2; odd++) {
            sine_or_cosine(y, x, odd, n);
            sine_or_cosine(want, full, odd, FULL);
            assert_true(units_off(y, want, n) < 400);
        }
        twice_atanh(x, n);
        twice_atanh(full, FULL);
        assert_true(units_off(x, full, n) < 2000);
    }
}

/* sin^2 + cos^2 = 1, and atanh against ln 2: 2 atanh(1/3). */
static void identities(void **state) {
    (void)state;
    uint64_t seed = 5, x[MOST] = {0}, s[MOST], c[MOST], one[FULL] = {0};
    one[FULL - 1] = 1;
    for (size_t round = 0; round < 20; round++) {
        random_number(&seed, 1, x);
        sine_or_cosine(s, x, 1, FULL);
        sine_or_cosine(c, x, 0, FULL);
        multiply(s, s, FULL);
        multiply(c, c, FULL);
        add(s, c, FULL);
        assert_true(units_off(s, one, FULL) < 2000);
    }
    memset(x, 0, sizeof x);
    x[FULL - 1] = 1;
    divide_small(x, 3, FULL);
    twice_atanh(x, FULL);
    assert_true(units_off(x, LN_2, FULL) < 2000);
}

/* No digit of V is lost on the way to its quarter: each of the first 128 moves sine and cosine. */
static void every_digit_turns(void **state) {
    (void)state;
    enum { N = 3 };
    uint64_t seed = 6, v[N], before[2][MOST], after[2][MOST];
    bool sign[2];
    for (size_t round = 0; round < 128; round++) {
        for (size_t i = 0; i < N; i++) v[i] = test_random(&seed);
        exact_turn(v, N, before, sign);
        v[round / 64] ^= (uint64_t)1 << round % 64;
        bool turned[2];
        exact_turn(v, N, after, turned);
        for (size_t i = 0; i < 2; i++)
            assert_true(memcmp(before[i], after[i], (N + 1) * sizeof **after) != 0 ||
                        sign[i] != turned[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants),
        cmocka_unit_test(quotient_and_root_are_exact),
        cmocka_unit_test(series),
        cmocka_unit_test(identities),
        cmocka_unit_test(every_digit_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
