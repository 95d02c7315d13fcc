/* AES-256-CTR streams over libcrypto, and exact draws from them.
 *
 * Invariants
 *  - A counter is a function of (purpose, a, b, block) and distinct for distinct ones: the fields
 *    have fixed widths and counter_of refuses what does not fit.
 *  - The keystream is used raw, so that a published test vector is a test of every byte.
 *  - A cipher that fails gives zeros and a failure, never zeros alone.
 *
 * The exact draws use comparisons of integers only (Canonne, Kamath, Steinke 2020, section 5).
 * Cost: a word about 2 ns; dpl_stream_geometric about 14 words.
 */
#include "base/random.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/random.h>

__extension__ typedef unsigned __int128 wide;

enum { FIELD_BITS = 40, CHUNK = 4096, FIRST_FILL = 16 };
static const uint64_t FIELD_END = (uint64_t)1 << FIELD_BITS;

struct dpl_random {
    EVP_CIPHER_CTX *cipher;
    unsigned char counter[DPL_BLOCK_SIZE]; // of the block the cipher gives next
};

/* ---- the key ---- */

enum dpl_status dpl_secret_new(struct dpl_run *run, struct dpl_secret *secret) {
    struct dpl_secret fresh = {0};
    for (size_t have = 0; have < sizeof fresh.key;) {
        ssize_t got = getrandom(fresh.key + have, sizeof fresh.key - have, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return dpl_fail_errno(run, DPL_SYSTEM,
                                  "the kernel gives no random numbers (getrandom)");
        have += (size_t)got;
    }
    *secret = fresh;
    dpl_wipe(&fresh, sizeof fresh);
    return DPL_OK;
}

enum dpl_status dpl_secret_from_seed(struct dpl_run *run, uint64_t seed,
                                     struct dpl_secret *secret) {
    unsigned char text[24] = "dploc seed, v1: ";
    for (size_t i = 0; i < 8; i++) text[16 + i] = (unsigned char)(seed >> (8 * i));
    struct dpl_secret made = {.insecure = true};
    if (!EVP_Digest(text, sizeof text, made.key, NULL, EVP_sha256(), NULL))
        return dpl_fail(run, DPL_SYSTEM,
                        "libcrypto refused SHA-256, which turns a seed into a key (check the "
                        "OpenSSL installation)");
    *secret = made;
    return DPL_OK;
}

void dpl_secret_wipe(struct dpl_secret *secret) { dpl_wipe(secret, sizeof *secret); }

enum dpl_status dpl_secret_spend(struct dpl_run *run, struct dpl_secret *secret,
                                 struct dpl_stream_id id) {
    if (id.purpose >= DPL_PURPOSE_LIMIT || id.a >= DPL_RELEASES)
        return dpl_fail(
            run, DPL_USAGE, "release %u/%llu is out of range (purposes end at %d, releases at %d)",
            id.purpose, (unsigned long long)id.a, DPL_PURPOSE_LIMIT - 1, DPL_RELEASES - 1);
    uint64_t bit = (uint64_t)1 << id.a;
    // PRIVACY: the same noise on two vectors cancels in their difference.
    if (secret->released[id.purpose] & bit)
        return dpl_fail(run, DPL_REFUSED,
                        "the noise of release %u/%llu has been used already; take another number "
                        "for this release",
                        id.purpose, (unsigned long long)id.a);
    secret->released[id.purpose] |= bit;
    return DPL_OK;
}

/* ---- blocks ---- */

enum dpl_status dpl_random_new(struct dpl_run *run, const struct dpl_secret *secret,
                               struct dpl_random **random) {
    struct dpl_random *made = dpl_alloc(run, 1, sizeof *made);
    if (!made) return DPL_SYSTEM;
    made->cipher = EVP_CIPHER_CTX_new();
    if (!made->cipher ||
        !EVP_EncryptInit_ex(made->cipher, EVP_aes_256_ctr(), NULL, secret->key, made->counter)) {
        dpl_random_free(made);
        return dpl_fail(run, DPL_SYSTEM,
                        "libcrypto refused AES-256-CTR (check the OpenSSL installation)");
    }
    *random = made;
    return DPL_OK;
}

void dpl_random_free(struct dpl_random *random) {
    if (!random) return;
    EVP_CIPHER_CTX_free(random->cipher); // wipes the key schedule
    dpl_wipe(random, sizeof *random);
    dpl_free(random);
}

/* The 128-bit counter of a block, big-endian as the cipher counts. */
static void counter_of(struct dpl_stream_id id, uint64_t block,
                       unsigned char counter[DPL_BLOCK_SIZE]) {
    assert(id.purpose < 256 && id.a < FIELD_END && id.b < FIELD_END && block <= FIELD_END);
    wide value = (((wide)id.purpose << FIELD_BITS | id.a) << FIELD_BITS | id.b) << FIELD_BITS;
    value +=
        block; // block 2^40 is the counter after a stream's last: only ever remembered, never used
    for (size_t i = DPL_BLOCK_SIZE; i-- > 0; value >>= 8) counter[i] = (unsigned char)value;
}

static bool in_range(struct dpl_stream_id id, uint64_t first, size_t n_blocks) {
    return id.purpose < 256 && id.a < FIELD_END && id.b < FIELD_END && first < FIELD_END &&
           n_blocks <= FIELD_END - first;
}

/* Puts the cipher at a counter, which costs more than a hundred blocks unless it is there already.
 */
static bool seek(struct dpl_random *random, const unsigned char counter[DPL_BLOCK_SIZE]) {
    if (memcmp(random->counter, counter, DPL_BLOCK_SIZE) == 0) return true;
    return EVP_EncryptInit_ex(random->cipher, NULL, NULL, NULL, counter);
}

static bool encrypt_zeros(struct dpl_random *random, unsigned char *out, size_t n_bytes) {
    static const unsigned char zeros[CHUNK];
    while (n_bytes > 0) {
        int piece = (int)(n_bytes < CHUNK ? n_bytes : CHUNK), made = 0;
        if (!EVP_EncryptUpdate(random->cipher, out, &made, zeros, piece) || made != piece)
            return false;
        out += piece;
        n_bytes -= (size_t)piece;
    }
    return true;
}

/* dpl_random_fill without words. */
static bool fill(struct dpl_random *random, struct dpl_stream_id id, uint64_t first,
                 size_t n_blocks, void *out) {
    if (!in_range(id, first, n_blocks)) return false;
    unsigned char counter[DPL_BLOCK_SIZE];
    counter_of(id, first, counter);
    if (!seek(random, counter)) return false;
    counter_of(id, first + n_blocks, random->counter);
    return encrypt_zeros(random, out, n_blocks * DPL_BLOCK_SIZE);
}

enum dpl_status dpl_random_fill(struct dpl_run *run, struct dpl_random *random,
                                struct dpl_stream_id id, uint64_t first, size_t n_blocks,
                                void *out) {
    if (fill(random, id, first, n_blocks, out)) return DPL_OK;
    if (!in_range(id, first, n_blocks))
        return dpl_fail(
            run, DPL_USAGE,
            "stream %u/%llu/%llu ends before block %llu (indices and blocks are below 2^40)",
            id.purpose, (unsigned long long)id.a, (unsigned long long)id.b,
            (unsigned long long)first + n_blocks);
    // PRIVACY: a vector must not go out as if it had been noised.
    memset(out, 0, n_blocks * DPL_BLOCK_SIZE);
    memset(random->counter, 0xFF, sizeof random->counter);
    return dpl_fail(
        run, DPL_SYSTEM,
        "libcrypto failed while making random numbers (check the OpenSSL installation)");
}

/* The same bits on every machine. */
static void words_of_bytes(uint64_t *words, size_t n) {
    for (size_t i = 0; i < n; i++) words[i] = le64toh(words[i]);
}

enum dpl_status dpl_random_words(struct dpl_run *run, struct dpl_random *random,
                                 struct dpl_stream_id id, uint64_t first, size_t n_blocks,
                                 uint64_t *words) {
    DPL_TRY(dpl_random_fill(run, random, id, first, n_blocks, words));
    words_of_bytes(words, n_blocks * DPL_BLOCK_SIZE / sizeof *words);
    return DPL_OK;
}

/* ---- numbers ---- */

void dpl_stream_open(struct dpl_stream *stream, struct dpl_random *random,
                     struct dpl_stream_id id) {
    assert(in_range(id, 0, 1));
    stream->random = random;
    stream->id = id;
    stream->block = 0;
    stream->next = stream->have = 0;
    stream->broken = false;
}

enum dpl_status dpl_stream_close(struct dpl_run *run, struct dpl_stream *stream) {
    bool broken = stream->broken;
    dpl_wipe(stream, sizeof *stream);
    if (!broken) return DPL_OK;
    return dpl_fail(
        run, DPL_SYSTEM,
        "libcrypto failed while making random numbers (check the OpenSSL installation)");
}

/* A short first fetch, for streams of which little is wanted; then whole buffers. */
static void refill(struct dpl_stream *stream) {
    size_t words = stream->have == 0 ? FIRST_FILL : DPL_STREAM_WORDS;
    size_t blocks = words * sizeof(uint64_t) / DPL_BLOCK_SIZE;
    if (!fill(stream->random, stream->id, stream->block, blocks, stream->word)) {
        memset(stream->word, 0, sizeof stream->word);
        stream->broken = true;
    }
    words_of_bytes(stream->word, words);
    stream->block += blocks;
    stream->have = words;
    stream->next = 0;
}

uint64_t dpl_stream_u64(struct dpl_stream *stream) {
    if (stream->next == stream->have) refill(stream);
    return stream->word[stream->next++];
}

uint64_t dpl_stream_below(struct dpl_stream *stream, uint64_t n) {
    assert(n > 0);
    // The high half of word*n is uniform once the low half's uneven rest, 2^64 mod n values, is
    // rejected.
    wide product = (wide)dpl_stream_u64(stream) * n;
    if ((uint64_t)product < n) {
        uint64_t rest = (0 - n) % n;
        while ((uint64_t)product < rest && !stream->broken)
            product = (wide)dpl_stream_u64(stream) * n;
    }
    return (uint64_t)(product >> 64);
}

double dpl_stream_uniform(struct dpl_stream *stream) {
    return (double)(dpl_stream_u64(stream) >> 11) * 0x1p-53;
}

bool dpl_stream_exp(struct dpl_stream *stream, uint64_t num, uint64_t den) {
    assert(num <= den && den > 0);
    // The first k at which a coin of chance (num/den)/k fails is odd with probability
    // exp(-num/den).
    uint64_t k = 1;
    while (!stream->broken && dpl_stream_below(stream, den) < num &&
           (k == 1 || dpl_stream_below(stream, k) == 0))
        k++;
    return k % 2 == 1;
}

uint64_t dpl_stream_geometric(struct dpl_stream *stream, uint64_t num, uint64_t den) {
    assert(num > 0 && den > 0 && den <= (uint64_t)1 << 62);
    // x is geometric with P(x >= k) = exp(-k/den): its rest by den, then its quotient by den.
    uint64_t rest = dpl_stream_below(stream, den), whole = 0;
    while (!stream->broken && !dpl_stream_exp(stream, rest, den))
        rest = dpl_stream_below(stream, den);
    while (!stream->broken && whole < (uint64_t)1 << 40 && dpl_stream_exp(stream, 1, 1)) whole++;
    wide g = ((wide)whole * den + rest) / num;
    return g > INT64_MAX ? INT64_MAX : (uint64_t)g;
}
