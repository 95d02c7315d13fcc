/* Digests by libcrypto. See digest.h. */
#include "base/digest.h"

#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static enum dpl_status crypto_failed(struct dpl_run *run) {
    return dpl_fail(run, DPL_SYSTEM,
                    "the cryptographic library refused SHA-256 (is OpenSSL installed whole?)");
}

enum dpl_status dpl_sha256(struct dpl_run *run, const void *bytes, size_t length,
                           uint8_t digest[DPL_DIGEST]) {
    if (EVP_Digest(bytes, length, digest, NULL, EVP_sha256(), NULL) != 1) return crypto_failed(run);
    return DPL_OK;
}

enum dpl_status dpl_sha256_hex(struct dpl_run *run, const void *bytes, size_t length,
                               char hex[DPL_DIGEST_HEX]) {
    uint8_t digest[DPL_DIGEST];
    DPL_TRY(dpl_sha256(run, bytes, length, digest));
    dpl_hex(digest, sizeof digest, hex);
    return DPL_OK;
}

struct dpl_sha256_sum {
    struct dpl_run *run;
    EVP_MD_CTX *context;
};

enum dpl_status dpl_sha256_new(struct dpl_run *run, struct dpl_sha256_sum **made) {
    struct dpl_sha256_sum *sum = dpl_alloc(run, 1, sizeof *sum);
    if (!sum) return DPL_SYSTEM;
    sum->run = run;
    sum->context = EVP_MD_CTX_new();
    if (!sum->context || EVP_DigestInit_ex(sum->context, EVP_sha256(), NULL) != 1) {
        dpl_sha256_free(sum);
        return crypto_failed(run);
    }
    *made = sum;
    return DPL_OK;
}

enum dpl_status dpl_sha256_add(struct dpl_sha256_sum *sum, const void *bytes, size_t length) {
    if (EVP_DigestUpdate(sum->context, bytes, length) != 1) return crypto_failed(sum->run);
    return DPL_OK;
}

enum dpl_status dpl_sha256_end(struct dpl_sha256_sum *sum, char hex[DPL_DIGEST_HEX]) {
    uint8_t digest[DPL_DIGEST];
    if (EVP_DigestFinal_ex(sum->context, digest, NULL) != 1) return crypto_failed(sum->run);
    dpl_hex(digest, sizeof digest, hex);
    return DPL_OK;
}

void dpl_sha256_free(struct dpl_sha256_sum *sum) {
    if (!sum) return;
    EVP_MD_CTX_free(sum->context);
    dpl_free(sum);
}

enum dpl_status dpl_sha256_file(struct dpl_run *run, int fd, const char *path,
                                uint8_t digest[DPL_DIGEST]) {
    uint8_t buffer[64 << 10];
    char hex[DPL_DIGEST_HEX];
    struct dpl_sha256_sum *sum = NULL;
    enum dpl_status status = dpl_sha256_new(run, &sum);
    ssize_t got = 1;
    for (off_t offset = 0; status == DPL_OK && got != 0; offset += got > 0 ? got : 0) {
        got = pread(fd, buffer, sizeof buffer, offset);
        if (got > 0) status = dpl_sha256_add(sum, buffer, (size_t)got);
        if (got < 0 && errno != EINTR)
            status = dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot read", path);
    }
    if (status == DPL_OK) status = dpl_sha256_end(sum, hex);
    if (status == DPL_OK) dpl_unhex(hex, digest, DPL_DIGEST);
    dpl_sha256_free(sum);
    return status;
}

void dpl_hex(const uint8_t *bytes, size_t size, char *text) {
    static const char DIGITS[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = DIGITS[bytes[i] >> 4];
        text[2 * i + 1] = DIGITS[bytes[i] & 15];
    }
    text[2 * size] = '\0';
}

static int digit_value(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return -1;
}

bool dpl_unhex(const char *text, uint8_t *bytes, size_t size) {
    if (strlen(text) != 2 * size) return false;
    for (size_t i = 0; i < size; i++) {
        int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

enum dpl_status dpl_secret_bytes(struct dpl_run *run, void *bytes, size_t size) {
    uint8_t *next = bytes;
    while (size > 0) {
        ssize_t got = getrandom(next, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return dpl_fail_errno(run, DPL_SYSTEM, "the system gives no random bytes");
        next += got;
        size -= (size_t)got;
    }
    return DPL_OK;
}

/* ---- keyed ---- */

struct dpl_fingerprint {
    struct dpl_run *run;
    EVP_MAC_CTX *context;
};

enum dpl_status dpl_fingerprint_new(struct dpl_run *run, const uint8_t key[32],
                                    struct dpl_fingerprint **made) {
    struct dpl_fingerprint *fingerprint = dpl_alloc(run, 1, sizeof *fingerprint);
    if (!fingerprint) return DPL_SYSTEM;
    fingerprint->run = run;
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    fingerprint->context = mac ? EVP_MAC_CTX_new(mac) : NULL;
    EVP_MAC_free(mac);
    char hash[] = "SHA256";
    OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, hash, 0),
                               OSSL_PARAM_construct_end()};
    if (!fingerprint->context ||
        EVP_MAC_init(fingerprint->context, key, DPL_DIGEST, parameters) != 1) {
        dpl_fingerprint_free(fingerprint);
        return crypto_failed(run);
    }
    *made = fingerprint;
    return DPL_OK;
}

enum dpl_status dpl_fingerprint_add(struct dpl_fingerprint *fingerprint, const void *bytes,
                                    size_t length) {
    if (EVP_MAC_update(fingerprint->context, bytes, length) != 1)
        return crypto_failed(fingerprint->run);
    return DPL_OK;
}

enum dpl_status dpl_fingerprint_end(struct dpl_fingerprint *fingerprint, uint8_t digest[32]) {
    size_t size = 0;
    if (EVP_MAC_final(fingerprint->context, digest, &size, DPL_DIGEST) != 1 || size != DPL_DIGEST)
        return crypto_failed(fingerprint->run);
    return DPL_OK;
}

void dpl_fingerprint_free(struct dpl_fingerprint *fingerprint) {
    if (!fingerprint) return;
    EVP_MAC_CTX_free(fingerprint->context);
    dpl_free(fingerprint);
}

enum dpl_status dpl_hmac(struct dpl_run *run, const uint8_t key[32], const void *bytes,
                         size_t length, uint8_t digest[DPL_DIGEST]) {
    struct dpl_fingerprint *fingerprint = NULL;
    DPL_TRY(dpl_fingerprint_new(run, key, &fingerprint));
    enum dpl_status status = dpl_fingerprint_add(fingerprint, bytes, length);
    if (status == DPL_OK) status = dpl_fingerprint_end(fingerprint, digest);
    dpl_fingerprint_free(fingerprint);
    return status;
}
