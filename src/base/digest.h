/* SHA-256, HMAC-SHA-256 over pieces, and hexadecimal: what the ledger and the certificate name
 * things by. */
#ifndef DPL_BASE_DIGEST_H
#define DPL_BASE_DIGEST_H

#include "base/base.h"

enum { DPL_DIGEST = 32, DPL_DIGEST_HEX = 2 * DPL_DIGEST + 1 };

enum dpl_status dpl_sha256(struct dpl_run *run, const void *bytes, size_t length,
                           uint8_t digest[DPL_DIGEST]);
/* The same as 64 digits. */
enum dpl_status dpl_sha256_hex(struct dpl_run *run, const void *bytes, size_t length,
                               char hex[DPL_DIGEST_HEX]);
/* SHA-256 over pieces. dpl_sha256_end writes 64 digits; dpl_sha256_free takes NULL. */
struct dpl_sha256_sum;
enum dpl_status dpl_sha256_new(struct dpl_run *run, struct dpl_sha256_sum **sum);
enum dpl_status dpl_sha256_add(struct dpl_sha256_sum *sum, const void *bytes, size_t length);
enum dpl_status dpl_sha256_end(struct dpl_sha256_sum *sum, char hex[DPL_DIGEST_HEX]);
void dpl_sha256_free(struct dpl_sha256_sum *sum);
/* HMAC-SHA-256 under a key of 32 bytes; of one text, or fed piece by piece. */
enum dpl_status dpl_hmac(struct dpl_run *run, const uint8_t key[32], const void *bytes,
                         size_t length, uint8_t digest[DPL_DIGEST]);
struct dpl_fingerprint;
enum dpl_status dpl_fingerprint_new(struct dpl_run *run, const uint8_t key[32],
                                    struct dpl_fingerprint **fingerprint);
enum dpl_status dpl_fingerprint_add(struct dpl_fingerprint *fingerprint, const void *bytes,
                                    size_t length);
enum dpl_status dpl_fingerprint_end(struct dpl_fingerprint *fingerprint,
                                    uint8_t digest[DPL_DIGEST]);
void dpl_fingerprint_free(struct dpl_fingerprint *fingerprint);
/* Of a whole open file, from its beginning; leaves its offset alone. `path` is for the message. */
enum dpl_status dpl_sha256_file(struct dpl_run *run, int fd, const char *path,
                                uint8_t digest[DPL_DIGEST]);
/* `size` bytes as 2*size digits and a final zero. */
void dpl_hex(const uint8_t *bytes, size_t size, char *text);
/* Exactly 2*size lower-case digits; false for anything else. */
bool dpl_unhex(const char *text, uint8_t *bytes, size_t size);
/* Bytes that nobody can guess: getrandom(2). */
enum dpl_status dpl_secret_bytes(struct dpl_run *run, void *bytes, size_t size);

#endif
