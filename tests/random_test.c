/* The random source: published vectors, blocks on their own, streams apart, unbiased numbers. */
#include "support.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/random.h"
#include "noise/gaussian.h"

static struct dpl_random *seeded(struct dpl_run *run, uint64_t seed) {
    struct dpl_secret secret;
    struct dpl_random *random;
    assert_ok(run, dpl_secret_from_seed(run, seed, &secret));
    assert_true(secret.insecure);
    assert_ok(run, dpl_random_new(run, &secret, &random));
    return random;
}

static void from_hex(const char *hex, unsigned char *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        out[i] = (unsigned char)byte;
    }
}

/* NIST SP 800-38A, F.5.5 CTR-AES256.Encrypt: ciphertext xor plaintext is the keystream. */
static void published_vectors(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_secret secret = {0};
    unsigned char plain[64], cipher[64], stream[64];
    from_hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4", secret.key, 32);
    from_hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
             "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
             plain, 64);
    from_hex("601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
             "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
             cipher, 64);
    struct dpl_random *random;
    assert_ok(run, dpl_random_new(run, &secret, &random));
    // The standard's first counter block, f0f1...ff, in our fields.
    struct dpl_stream_id id = {0xF0, 0xF1F2F3F4F5, 0xF6F7F8F9FA};
    assert_ok(run, dpl_random_fill(run, random, id, 0xFBFCFDFEFF, 4, stream));
    for (size_t i = 0; i < 64; i++) assert_int_equal(stream[i] ^ plain[i], cipher[i]);
    // Each block alone, backwards.
    for (size_t block = 4; block-- > 0;) {
        assert_ok(run, dpl_random_fill(run, random, id, 0xFBFCFDFEFF + block, 1, stream));
        for (size_t i = 0; i < 16; i++)
            assert_int_equal(stream[i] ^ plain[16 * block + i], cipher[16 * block + i]);
    }
    dpl_random_free(random);
    dpl_run_free(run);
}

static void any_block_alone(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 1);
    struct dpl_stream_id id = {DPL_PURPOSE_TEST, 5, 6};
    static unsigned char whole[1000 * 16], part[1000 * 16];
    assert_ok(run, dpl_random_fill(run, random, id, 0, 1000, whole));
    uint64_t seed = 3;
    for (size_t i = 0; i < test_soak(300); i++) {
        size_t first = test_random(&seed) % 1000, n = 1 + test_random(&seed) % (1000 - first);
        assert_ok(run, dpl_random_fill(run, random, id, first, n, part));
        assert_memory_equal(part, whole + 16 * first, 16 * n);
    }
    dpl_random_free(random);
    dpl_run_free(run);
}

static int compare_blocks(const void *a, const void *b) { return memcmp(a, b, DPL_BLOCK_SIZE); }

/* Neighbouring ids, and the edges of the fields: no block appears twice. */
static void streams_never_meet(void **state) {
    (void)state;
    enum { PER_STREAM = 64 };
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 1);
    const uint64_t index[] = {0, 1, 2, 255, 256, ((uint64_t)1 << 39), ((uint64_t)1 << 40) - 1};
    const unsigned purpose[] = {1, 2, 127, 129, 255};
    enum { INDICES = sizeof index / sizeof *index, PURPOSES = sizeof purpose / sizeof *purpose };
    size_t n = (size_t)INDICES * INDICES * PURPOSES * 2 * PER_STREAM, at = 0;
    unsigned char *blocks = dpl_alloc(run, n, DPL_BLOCK_SIZE);
    assert_non_null(blocks);
    for (size_t p = 0; p < PURPOSES; p++)
        for (size_t a = 0; a < INDICES; a++)
            for (size_t b = 0; b < INDICES; b++) {
                struct dpl_stream_id id = {purpose[p], index[a], index[b]};
                assert_ok(run, dpl_random_fill(run, random, id, 0, PER_STREAM,
                                               blocks + DPL_BLOCK_SIZE * at));
                uint64_t last = ((uint64_t)1 << 40) - PER_STREAM;
                assert_ok(run, dpl_random_fill(run, random, id, last, PER_STREAM,
                                               blocks + DPL_BLOCK_SIZE * (at + PER_STREAM)));
                at += (size_t)2 * PER_STREAM;
            }
    qsort(blocks, n, DPL_BLOCK_SIZE, compare_blocks);
    for (size_t i = 1; i < n; i++)
        assert_true(
            compare_blocks(blocks + DPL_BLOCK_SIZE * (i - 1), blocks + DPL_BLOCK_SIZE * i) != 0);
    dpl_free(blocks);
    dpl_random_free(random);
    dpl_run_free(run);
}

static void out_of_range_is_refused(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 1);
    unsigned char block[32];
    uint64_t end = (uint64_t)1 << 40;
    assert_int_equal(dpl_random_fill(run, random, (struct dpl_stream_id){256, 0, 0}, 0, 1, block),
                     DPL_USAGE);
    assert_int_equal(dpl_random_fill(run, random, (struct dpl_stream_id){1, end, 0}, 0, 1, block),
                     DPL_USAGE);
    assert_int_equal(dpl_random_fill(run, random, (struct dpl_stream_id){1, 0, end}, 0, 1, block),
                     DPL_USAGE);
    assert_int_equal(
        dpl_random_fill(run, random, (struct dpl_stream_id){1, 0, 0}, end - 1, 2, block),
        DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(run), "2^40"));
    dpl_random_free(random);
    dpl_run_free(run);
}

static void two_runs_share_nothing(void **state) {
    (void)state;
    enum { WORDS = 4096 };
    struct dpl_run *run = test_run(1);
    static uint64_t words[3][WORDS];
    for (size_t i = 0; i < 3; i++) {
        struct dpl_secret secret;
        struct dpl_random *random;
        assert_ok(run, dpl_secret_new(run, &secret));
        assert_false(secret.insecure);
        assert_ok(run, dpl_random_new(run, &secret, &random));
        assert_ok(run, dpl_random_fill(run, random, (struct dpl_stream_id){1, 0, 0}, 0, WORDS / 2,
                                       words[i]));
        dpl_random_free(random);
        dpl_secret_wipe(&secret);
        for (size_t j = 0; j < sizeof secret.key; j++) assert_int_equal(secret.key[j], 0);
    }
    for (size_t i = 0; i < WORDS; i++)
        assert_true(words[0][i] != words[1][i] && words[0][i] != words[2][i] &&
                    words[1][i] != words[2][i]);
    dpl_run_free(run);
}

static void a_release_is_made_once(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_secret secret;
    assert_ok(run, dpl_secret_from_seed(run, 1, &secret));
    assert_ok(run,
              dpl_secret_spend(run, &secret, (struct dpl_stream_id){DPL_PURPOSE_COUNTS, 3, 0}));
    assert_ok(run,
              dpl_secret_spend(run, &secret, (struct dpl_stream_id){DPL_PURPOSE_COUNTS, 4, 0}));
    assert_ok(run, dpl_secret_spend(run, &secret, (struct dpl_stream_id){DPL_PURPOSE_SIZE, 3, 0}));
    assert_int_equal(
        dpl_secret_spend(run, &secret, (struct dpl_stream_id){DPL_PURPOSE_COUNTS, 3, 0}),
        DPL_REFUSED);
    assert_int_equal(
        dpl_secret_spend(run, &secret, (struct dpl_stream_id){DPL_PURPOSE_COUNTS, 64, 0}),
        DPL_USAGE);
    dpl_run_free(run);
}

static void stream_words_are_the_blocks(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 9);
    struct dpl_stream_id id = {DPL_PURPOSE_SYNTHESIS, 1, 2};
    uint64_t words[400];
    struct dpl_stream stream, other;
    dpl_stream_open(&stream, random, id);
    dpl_stream_open(&other, random, (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, 1, 3});
    assert_ok(run, dpl_random_words(run, random, id, 0, 200, words));
    for (size_t i = 0; i < 400; i++) {
        assert_int_equal(dpl_stream_u64(&stream), words[i]);
        dpl_stream_u64(&other); // another stream on the same cipher does not disturb
    }
    assert_ok(run, dpl_stream_close(run, &stream));
    assert_ok(run, dpl_stream_close(run, &other));
    dpl_random_free(random);
    dpl_run_free(run);
}

/* Uniforms, coins and normals under one key, to the last bit, whatever the processor: a number is
 * compared with what x86-64 gave. scripts/release/85-qemu.sh runs this on others. */
static void the_same_numbers_on_any_machine(void **state) {
    (void)state;
    enum { N = 400, ROOM = 24 };
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 11);
    struct dpl_stream stream;
    int64_t number[2 * N] = {0};
    static char text[2 * N * ROOM];
    char hex[DPL_DIGEST_HEX];
    size_t length = 0;
    dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, 3, 4});
    for (size_t i = 0; i < N; i++) number[i] = (int64_t)dpl_stream_geometric(&stream, 7, 1000 + i);
    assert_ok(run, dpl_stream_close(run, &stream));
    assert_ok(run, dpl_gaussian_add(run, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, 1, 2}, 1,
                                    number + N, N, 0x1p40));
    for (size_t i = 0; i < 2 * N; i++)
        length += (size_t)snprintf(text + length, ROOM, "%" PRId64 "\n", number[i]);
    assert_ok(run, dpl_sha256_hex(run, text, length, hex));
    assert_string_equal(hex, "f04c9952192e5491fda0fcb287159030a03e372aae064c09d4ae18d3a9bf1107");
    dpl_random_free(random);
    dpl_run_free(run);
}

static void uniforms_are_uniform(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 9);
    struct dpl_stream stream;
    dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, 1, 2});
    enum { CELLS = 13 };
    // 3*2^62: without rejection, multiples of 3 would come twice as often as the rest.
    const uint64_t top = (uint64_t)3 << 62;
    size_t n = test_soak(260000);
    double below[CELLS] = {0}, thirds[3] = {0}, parts[CELLS] = {0};
    for (size_t i = 0; i < n; i++) {
        below[dpl_stream_below(&stream, CELLS)]++;
        thirds[dpl_stream_below(&stream, top) % 3]++;
        double uniform = dpl_stream_uniform(&stream);
        assert_true(uniform >= 0 && uniform < 1);
        parts[(size_t)(uniform * CELLS)]++;
    }
    assert_true(test_chi2(below, NULL, CELLS, (double)n) < 4.75);
    assert_true(test_chi2(thirds, NULL, 3, (double)n) < 4.75);
    assert_true(test_chi2(parts, NULL, CELLS, (double)n) < 4.75);
    assert_int_equal(dpl_stream_below(&stream, 1), 0);
    assert_ok(run, dpl_stream_close(run, &stream));
    dpl_random_free(random);
    dpl_run_free(run);
}

static void exponential_coins_and_geometric_skips(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 10);
    struct dpl_stream stream;
    dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, 1, 3});
    enum { CELLS = 12 };
    size_t n = test_soak(200000);
    const uint64_t ratio[][2] = {{0, 1}, {1, 1}, {1, 3}, {999, 1000}};
    for (size_t r = 0; r < 4; r++) {
        double p = exp(-(double)ratio[r][0] / (double)ratio[r][1]), yes = 0;
        for (size_t i = 0; i < n; i++) yes += dpl_stream_exp(&stream, ratio[r][0], ratio[r][1]);
        assert_true(fabs(yes - (double)n * p) <= 5 * sqrt((double)n * p * (1 - p)));
    }
    // Steps of 2/7 and of 5/2 in the exponent: the quotient's rest counts, and so do whole
    // multiples.
    const uint64_t step[][2] = {{2, 7}, {5, 2}, {1, 1}};
    for (size_t r = 0; r < 3; r++) {
        double count[CELLS] = {0}, chance[CELLS], s = (double)step[r][0] / (double)step[r][1];
        for (size_t i = 0; i < n; i++) {
            uint64_t g = dpl_stream_geometric(&stream, step[r][0], step[r][1]);
            count[g < CELLS ? g : CELLS - 1]++;
        }
        for (size_t k = 0; k < CELLS; k++)
            chance[k] = exp(-s * (double)k) * (k + 1 < CELLS ? -expm1(-s) : 1);
        assert_true(test_chi2(count, chance, CELLS, (double)n) < 4.75);
    }
    assert_ok(run, dpl_stream_close(run, &stream));
    dpl_random_free(random);
    dpl_run_free(run);
}

static void memory_may_be_short(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_secret secret;
    struct dpl_random *random = NULL;
    assert_ok(run, dpl_secret_from_seed(run, 1, &secret));
    dpl_run_fail_allocation(run, 1);
    assert_int_equal(dpl_random_new(run, &secret, &random), DPL_SYSTEM);
    assert_null(random);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors),
        cmocka_unit_test(any_block_alone),
        cmocka_unit_test(streams_never_meet),
        cmocka_unit_test(out_of_range_is_refused),
        cmocka_unit_test(two_runs_share_nothing),
        cmocka_unit_test(a_release_is_made_once),
        cmocka_unit_test(stream_words_are_the_blocks),
        cmocka_unit_test(the_same_numbers_on_any_machine),
        cmocka_unit_test(uniforms_are_uniform),
        cmocka_unit_test(exponential_coins_and_geometric_skips),
        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
