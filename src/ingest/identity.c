/* See identity.h. */
#include "ingest/identity.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "ingest/shard.h"

enum { BATCH = 256, BLOCK = 16, CIPHERS = 4, CANDIDATES = 2 * DPL_SKETCH };
enum cipher { CIPHER_IDS, CIPHER_ROW_1, CIPHER_ROW_2, CIPHER_PLACE };

__extension__ typedef unsigned __int128 wide;

struct identifier {
    EVP_CIPHER_CTX *cipher[CIPHERS];
    size_t n_names; /* in the batch, at least one: the last is of the rows to come */
    uint64_t trip[BATCH][2], user[BATCH][2], id[BATCH][2];
    size_t n; /* rows waiting in the batch */
    uint16_t name[BATCH];
    uint64_t row[BATCH][2], place[BATCH][2], out[BATCH][2];
    wide sum[2];
    uint64_t rows;
    uint64_t candidate[CANDIDATES]; /* for the sketch: all values seen below the limit */
    size_t n_candidates;
    uint64_t limit; /* this value and larger ones cannot be in the sketch */
    bool broken;    /* the cipher failed at some point */
    struct ingest_shard shard;
    enum { HERE, ELSEWHERE, BY_POINT } rows_are; /* those to come */
};

static enum dpl_status open_cipher(struct dpl_run *run, const uint8_t key[32], unsigned number,
                                   EVP_CIPHER_CTX **cipher) {
    uint8_t derived[DPL_DIGEST];
    char purpose[48];
    snprintf(purpose, sizeof purpose, "dploc data set, cipher %u", number);
    DPL_TRY(dpl_hmac(run, key, purpose, strlen(purpose), derived));
    *cipher = EVP_CIPHER_CTX_new();
    bool ready = *cipher &&
                 EVP_EncryptInit_ex(*cipher, EVP_aes_256_ecb(), NULL, derived, NULL) == 1 &&
                 EVP_CIPHER_CTX_set_padding(*cipher, 0) == 1;
    dpl_wipe(derived, sizeof derived);
    return ready ? DPL_OK
                 : dpl_fail(run, DPL_SYSTEM,
                            "the cryptographic library refused AES-256 (is OpenSSL installed "
                            "whole?)");
}

enum dpl_status dpl_identifier_new(struct dpl_run *run, const struct ingest_identity *wanted,
                                   struct identifier **made) {
    struct identifier *identifier = dpl_alloc(run, 1, sizeof *identifier);
    enum dpl_status status = identifier ? DPL_OK : DPL_SYSTEM;
    for (unsigned i = 0; status == DPL_OK && i < CIPHERS; i++)
        status = open_cipher(run, wanted->key, i, &identifier->cipher[i]);
    if (status != DPL_OK) {
        dpl_identifier_free(identifier);
        return status;
    }
    identifier->shard = wanted->shard;
    dpl_identifier_clear(identifier);
    *made = identifier;
    return DPL_OK;
}

void dpl_identifier_free(struct identifier *identifier) {
    if (!identifier) return;
    for (int i = 0; i < CIPHERS; i++) EVP_CIPHER_CTX_free(identifier->cipher[i]);
    dpl_wipe(identifier, sizeof *identifier);
    dpl_free(identifier);
}

void dpl_identifier_clear(struct identifier *identifier) {
    identifier->n = identifier->n_names = identifier->n_candidates = 0;
    identifier->rows = 0;
    identifier->sum[0] = identifier->sum[1] = 0;
    identifier->limit = UINT64_MAX;
    dpl_identifier_name(identifier, (struct dpl_key){0, 0}, (struct dpl_key){0, 0});
}

/* n blocks of 16 bytes. */
static void encrypt(struct identifier *identifier, enum cipher cipher, const void *in, void *out,
                    size_t n) {
    int length = 0;
    if (EVP_EncryptUpdate(identifier->cipher[cipher], out, &length, in, (int)(n * BLOCK)) != 1 ||
        length != (int)(n * BLOCK))
        identifier->broken = true;
}

/* ---- the sketch ---- */

static int by_value(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts, drops what is there twice and all but the least DPL_SKETCH; returns how many are left. */
static size_t keep_least(uint64_t *value, size_t n) {
    size_t kept = 0;
    qsort(value, n, sizeof *value, by_value);
    for (size_t i = 0; i < n && kept < DPL_SKETCH; i++)
        if (kept == 0 || value[kept - 1] != value[i]) value[kept++] = value[i];
    return kept;
}

static void take_candidate(struct identifier *identifier, uint64_t value) {
    if (value >= identifier->limit) return;
    identifier->candidate[identifier->n_candidates++] = value;
    if (identifier->n_candidates < CANDIDATES) return;
    identifier->n_candidates = keep_least(identifier->candidate, CANDIDATES);
    if (identifier->n_candidates == DPL_SKETCH)
        identifier->limit = identifier->candidate[DPL_SKETCH - 1];
}

/* ---- rows ---- */

static void add_to_sum(struct identifier *identifier, int which) {
    wide sum = 0;
    encrypt(identifier, which ? CIPHER_ROW_2 : CIPHER_ROW_1, identifier->row, identifier->out,
            identifier->n);
    for (size_t i = 0; i < identifier->n; i++)
        sum += (wide)identifier->out[i][1] << 64 | identifier->out[i][0];
    identifier->sum[which] += sum;
}

/* The ids of all names of the batch at once: a call of the cipher costs far more than a block. */
static void make_ids(struct identifier *identifier) {
    const size_t n = identifier->n_names;
    encrypt(identifier, CIPHER_IDS, identifier->trip, identifier->out, n);
    for (size_t i = 0; i < n; i++)
        for (int word = 0; word < 2; word++) identifier->out[i][word] ^= identifier->user[i][word];
    encrypt(identifier, CIPHER_IDS, identifier->out, identifier->id, n);
}

static void make_rows(struct identifier *identifier) {
    for (size_t i = 0; i < identifier->n; i++)
        for (int word = 0; word < 2; word++)
            identifier->row[i][word] =
                identifier->place[i][word] ^ identifier->id[identifier->name[i]][word];
}

/* The name of the rows to come stays, as the first of the next batch. */
static void forget_names(struct identifier *identifier) {
    memcpy(identifier->trip[0], identifier->trip[identifier->n_names - 1], BLOCK);
    memcpy(identifier->user[0], identifier->user[identifier->n_names - 1], BLOCK);
    identifier->n_names = 1;
}

static void flush(struct identifier *identifier) {
    make_ids(identifier);
    make_rows(identifier);
    for (int which = 0; which < 2; which++) add_to_sum(identifier, which);
    encrypt(identifier, CIPHER_PLACE, identifier->place, identifier->out, identifier->n);
    for (size_t i = 0; i < identifier->n; i++) take_candidate(identifier, identifier->out[i][0]);
    identifier->rows += identifier->n;
    identifier->n = 0;
    forget_names(identifier);
}

void dpl_identifier_name(struct identifier *identifier, struct dpl_key trip, struct dpl_key user) {
    const struct dpl_key id = dpl_shard_id(&identifier->shard, trip, user);
    identifier->rows_are = dpl_shard_has(&identifier->shard, id) ? HERE : ELSEWHERE;
    if (!(id.hi | id.lo)) identifier->rows_are = BY_POINT;
    if (identifier->rows_are == ELSEWHERE) return;
    if (identifier->n_names == BATCH) flush(identifier);
    const size_t at = identifier->n_names++;
    identifier->trip[at][0] = trip.hi, identifier->trip[at][1] = trip.lo;
    identifier->user[at][0] = user.hi, identifier->user[at][1] = user.lo;
}

static uint32_t micro_degrees(double deg) {
    return (uint32_t)(int32_t)(deg * 1e6 + (deg < 0 ? -0.5 : 0.5));
}

void dpl_identifier_add(struct identifier *identifier, const struct point *point) {
    if (identifier->rows_are == ELSEWHERE) return;
    if (identifier->rows_are == BY_POINT && !dpl_shard_has_point(&identifier->shard, point)) return;
    uint64_t *place = identifier->place[identifier->n];
    place[0] = (uint64_t)point->utc_s;
    place[1] = (uint64_t)micro_degrees(point->lat_deg) << 32 | micro_degrees(point->lon_deg);
    identifier->name[identifier->n] = (uint16_t)(identifier->n_names - 1);
    if (++identifier->n == BATCH) flush(identifier);
}

static void add_wide(uint64_t sum[2], wide more) {
    wide total = ((wide)sum[1] << 64 | sum[0]) + more;
    sum[0] = (uint64_t)total, sum[1] = (uint64_t)(total >> 64);
}

/* n values (at most CANDIDATES) more for the sketch. */
static void add_to_sketch(struct dpl_identity *identity, const uint64_t *value, size_t n) {
    uint64_t both[CANDIDATES + DPL_SKETCH];
    memcpy(both, identity->sketch, identity->n_sketch * sizeof *both);
    memcpy(both + identity->n_sketch, value, n * sizeof *both);
    identity->n_sketch = keep_least(both, identity->n_sketch + n);
    memcpy(identity->sketch, both, identity->n_sketch * sizeof *both);
}

enum dpl_status dpl_identifier_end(struct dpl_run *run, struct identifier *identifier,
                                   struct dpl_identity *identity) {
    flush(identifier);
    if (identifier->broken)
        return dpl_fail(run, DPL_SYSTEM, "the cryptographic library failed while reading");
    identity->rows += identifier->rows;
    add_wide(identity->sum, identifier->sum[0]);
    add_wide(identity->sum + 2, identifier->sum[1]);
    add_to_sketch(identity, identifier->candidate, identifier->n_candidates);
    return DPL_OK;
}

void dpl_identity_merge(struct dpl_identity *into, const struct dpl_identity *from) {
    into->rows += from->rows;
    for (int i = 0; i < 4; i += 2)
        add_wide(into->sum + i, (wide)from->sum[i + 1] << 64 | from->sum[i]);
    add_to_sketch(into, from->sketch, from->n_sketch);
}
