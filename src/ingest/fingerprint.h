/* The raw input's keyed fingerprint, by which the ledger knows a data set whatever the options. */
#ifndef DPL_INGEST_FINGERPRINT_H
#define DPL_INGEST_FINGERPRINT_H

#include "base/base.h"

/* Inputs that can be read more than once: standard input is copied to a file without a name. */
struct ingest_inputs {
    const char **name; /* (n) */
    size_t n;
    int spool_fd;   /* -1: none */
    char spool[48]; /* the name of the copy */
};

enum dpl_status ingest_inputs_settle(struct dpl_run *run, const char *const *names, size_t n,
                                     struct ingest_inputs *inputs);
void ingest_inputs_free(struct ingest_inputs *inputs);

/* HMAC-SHA-256 under `key` over the unpacked bytes of all files: the same for other names, another
 * order of files, or another compression of the same content. Reads everything once: about 0.4 s a
 * GB of plain text, and the time of unpacking. */
enum dpl_status ingest_fingerprint(struct dpl_run *run, const struct ingest_inputs *inputs,
                                   const struct dpl_read_options *options, const uint8_t key[32],
                                   uint8_t fingerprint[32]);

#endif
