/* Random streams: AES-256 in counter mode, one key per run, any block of any stream on its own.
 *
 *     struct dpl_secret secret;                 the key; from the kernel, or from a seed
 *     dpl_secret_new(run, &secret);
 *     struct dpl_random *random;                a cipher made ready; one per thread
 *     dpl_random_new(run, &secret, &random);
 *     struct dpl_stream stream;                 numbers from one stream, on the stack
 *     dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, trip, 0});
 *     ... dpl_stream_u64(&stream) ...
 *     dpl_stream_close(run, &stream);           did every block come from the cipher?
 *     dpl_random_free(random);
 *     dpl_secret_wipe(&secret);
 *
 * A stream is named by (purpose, a, b), and its blocks of 16 bytes are numbered. The cipher's
 * 128-bit counter, most significant bit first, is
 *
 *     purpose 8 | a 40 | b 40 | block 40
 *
 * so that two different (purpose, a, b, block) never meet in a counter, and a fill that would run
 * past block 2^40 is refused instead of running into the next stream. Purposes of 128 and more are
 * the far ends of streams below 128 (see gaussian_exact.c) and are not for callers.
 */
#ifndef DPL_BASE_RANDOM_H
#define DPL_BASE_RANDOM_H

#include "base/base.h"

enum { DPL_SECRET_SIZE = 32, DPL_BLOCK_SIZE = 16, DPL_RELEASES = 64 };

/* What a stream is for. Two uses of one key never share a purpose. */
enum dpl_purpose {
    DPL_PURPOSE_SIZE = 1,       /* noise on the number of units */
    DPL_PURPOSE_COUNTS = 2,     /* noise on count vectors; a: which release */
    DPL_PURPOSE_GRADIENT = 3,   /* noise on gradient sums; a: step, b: which network */
    DPL_PURPOSE_BATCH = 4,      /* Poisson samples; a: step, b: which network */
    DPL_PURPOSE_CHOICE = 5,     /* a unit's block and what it shows; a: step, b: which network,
                                   block: unit */
    DPL_PURPOSE_WEIGHTS = 6,    /* initial weights; a: which network */
    DPL_PURPOSE_SEEDS = 7,      /* fakes of the published form of SGLT; a: which */
    DPL_PURPOSE_SYNTHESIS = 16, /* synthetic trips; a: trip */
    DPL_PURPOSE_TEST = 127,
    DPL_PURPOSE_LIMIT = 128,
    DPL_PURPOSE_FAR = 128 /* added to a purpose: more bits for the same draws */
};

struct dpl_stream_id {
    unsigned purpose; /* enum dpl_purpose */
    uint64_t a, b;    /* below 2^40 each */
};

/* ---- the key ---- */

struct dpl_secret {
    unsigned char key[DPL_SECRET_SIZE];
    bool insecure; /* made from a seed: whatever it noises is NOT PRIVATE, and must say so */
    uint64_t released[DPL_PURPOSE_LIMIT]; /* bit a of a purpose: that release's noise was made */
};

/* A fresh key from getrandom(2). Caller wipes with dpl_secret_wipe. */
enum dpl_status dpl_secret_new(struct dpl_run *run, struct dpl_secret *secret);
/* The key that belongs to a seed: for synthesis (--seed), and for --insecure-seed. */
enum dpl_status dpl_secret_from_seed(struct dpl_run *run, uint64_t seed, struct dpl_secret *secret);
void dpl_secret_wipe(struct dpl_secret *secret);
/* Marks the one release (purpose, a) as made; DPL_REFUSED when it was made already, since the same
 * noise on two vectors gives away their difference. Not for the steps of a training run, which are
 * told apart by a step number that the caller counts. */
enum dpl_status dpl_secret_spend(struct dpl_run *run, struct dpl_secret *secret,
                                 struct dpl_stream_id id);

/* ---- blocks ---- */

struct dpl_random;

/* A cipher under that key; the key is copied. For one thread at a time. Caller frees with
 * dpl_random_free. */
enum dpl_status dpl_random_new(struct dpl_run *run, const struct dpl_secret *secret,
                               struct dpl_random **random);
void dpl_random_free(struct dpl_random *random);
/* Blocks first ... first+n-1 of a stream. Allocates nothing; about 5 GB/s, and 0.2 us to get going
 * unless the blocks follow the last ones. On failure `out` is zeroed. */
enum dpl_status dpl_random_fill(struct dpl_run *run, struct dpl_random *random,
                                struct dpl_stream_id id, uint64_t first, size_t n_blocks,
                                void *out);
/* The same blocks as two words each, whose bytes are read little-endian. */
enum dpl_status dpl_random_words(struct dpl_run *run, struct dpl_random *random,
                                 struct dpl_stream_id id, uint64_t first, size_t n_blocks,
                                 uint64_t *words);

/* ---- numbers from a stream ---- */

enum { DPL_STREAM_WORDS = 64 };

struct dpl_stream {
    struct dpl_random *random;
    struct dpl_stream_id id;
    uint64_t block;    /* the next one to fetch */
    size_t next, have; /* words used and held */
    bool broken;       /* the cipher failed at some point, and zeros were given out */
    uint64_t word[DPL_STREAM_WORDS];
};

void dpl_stream_open(struct dpl_stream *stream, struct dpl_random *random, struct dpl_stream_id id);
/* Wipes the stream. DPL_SYSTEM when the cipher failed meanwhile: what was drawn must not be used.
 */
enum dpl_status dpl_stream_close(struct dpl_run *run, struct dpl_stream *stream);
uint64_t dpl_stream_u64(struct dpl_stream *stream);
/* A uniform integer in 0 ... n-1, without bias; n > 0. */
uint64_t dpl_stream_below(struct dpl_stream *stream, uint64_t n);
/* A multiple of 2^-53 in [0, 1). For synthesis; privacy needs the exact draws below. */
double dpl_stream_uniform(struct dpl_stream *stream);
/* true with probability exactly exp(-num/den), for num <= den, den > 0; integers only. */
bool dpl_stream_exp(struct dpl_stream *stream, uint64_t num, uint64_t den);
/* A geometric number g >= 0 with P(g >= k) = exp(-k * num/den) exactly; 0 < num, den <= 2^62.
 * Saturates at 2^63-1. */
uint64_t dpl_stream_geometric(struct dpl_stream *stream, uint64_t num, uint64_t den);

#endif
