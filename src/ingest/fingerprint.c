/* One digest a member, sorted, and a digest of those: so the order and the names of files do not
 * matter, and no two lists of files have the same fingerprint unless their contents are the same.
 */
#include "ingest/fingerprint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#include "ingest/source.h"

enum { CHUNK = 1 << 20, DIGEST = 32 };

/* ---- inputs that can be read twice ---- */

static enum dpl_status copy_standard_input(struct dpl_run *run, int fd) {
    char *buffer = dpl_alloc(run, CHUNK, 1);
    enum dpl_status status = buffer ? DPL_OK : DPL_SYSTEM;
    while (status == DPL_OK) {
        ssize_t got = read(STDIN_FILENO, buffer, CHUNK);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = dpl_fail_errno(run, DPL_SYSTEM, "standard input: cannot read");
        for (ssize_t at = 0; at < got && status == DPL_OK;) {
            ssize_t done = write(fd, buffer + at, (size_t)(got - at));
            if (done < 0 && errno != EINTR)
                status = dpl_fail_errno(
                    run, DPL_SYSTEM,
                    "the copy of standard input cannot be written (set TMPDIR to a larger disk)");
            if (done > 0) at += done;
        }
        if (got == 0) break;
    }
    if (buffer) dpl_wipe(buffer, CHUNK);
    dpl_free(buffer);
    return status;
}

static enum dpl_status spool(struct dpl_run *run, struct ingest_inputs *inputs) {
    DPL_TRY(dpl_file_temporary(run, &inputs->spool_fd));
    snprintf(inputs->spool, sizeof inputs->spool, "/proc/self/fd/%d", inputs->spool_fd);
    return copy_standard_input(run, inputs->spool_fd);
}

enum dpl_status ingest_inputs_settle(struct dpl_run *run, const char *const *names, size_t n,
                                     struct ingest_inputs *inputs) {
    *inputs = (struct ingest_inputs){.n = n, .spool_fd = -1};
    inputs->name = dpl_alloc(run, n, sizeof *inputs->name);
    if (!inputs->name) return DPL_SYSTEM;
    for (size_t i = 0; i < n; i++) {
        inputs->name[i] = names[i];
        if (strcmp(names[i], "-")) continue;
        if (inputs->spool_fd < 0) DPL_TRY(spool(run, inputs));
        inputs->name[i] = inputs->spool;
    }
    return DPL_OK;
}

void ingest_inputs_free(struct ingest_inputs *inputs) {
    if (inputs->name && inputs->spool_fd >= 0) close(inputs->spool_fd);
    dpl_free(inputs->name);
    *inputs = (struct ingest_inputs){.spool_fd = -1};
}

/* ---- the fingerprint ---- */

struct digests {
    uint8_t (*digest)[DIGEST];
    size_t n, capacity;
};

static int by_bytes(const void *a, const void *b) { return memcmp(a, b, DIGEST); }

static enum dpl_status hash_member(struct dpl_run *run, struct source *source,
                                   const uint8_t key[32], char *buffer, uint8_t digest[DIGEST]) {
    struct dpl_fingerprint *print = NULL;
    enum dpl_status status;
    size_t got;
    DPL_TRY(dpl_fingerprint_new(run, key, &print));
    do {
        int64_t before = source_done_bytes(source);
        DPL_GO(dpl_check_interrupt(run));
        DPL_GO(source_read(source, buffer, CHUNK, &got));
        DPL_GO(dpl_fingerprint_add(print, buffer, got));
        dpl_progress_add(run, (double)(source_done_bytes(source) - before) * 1e-6);
    } while (got > 0);
    status = dpl_fingerprint_end(print, digest);
done:
    dpl_fingerprint_free(print);
    return status;
}

static enum dpl_status hash_members(struct dpl_run *run, struct source *source,
                                    const uint8_t key[32], struct digests *list) {
    char *buffer = dpl_alloc(run, CHUNK, 1);
    const char *name;
    enum dpl_status status;
    if (!buffer) return DPL_SYSTEM;
    for (;;) {
        DPL_GO(source_next(source, &name));
        if (!name) break;
        DPL_GO(dpl_grow(run, &list->digest, &list->capacity, list->n + 1, sizeof *list->digest));
        DPL_GO(hash_member(run, source, key, buffer, list->digest[list->n]));
        list->n++;
    }
done:
    dpl_free(buffer);
    return status;
}

enum dpl_status ingest_fingerprint(struct dpl_run *run, const struct ingest_inputs *inputs,
                                   const struct dpl_read_options *options, const uint8_t key[32],
                                   uint8_t fingerprint[32]) {
    struct source *source = NULL;
    struct dpl_fingerprint *all = NULL;
    struct digests list = {0};
    enum dpl_status status;
    DPL_TRY(source_open(run, inputs->name, inputs->n, options, &source));
    dpl_progress_begin(run, "recognising the data set", "MB",
                       (double)source_total_bytes(source) * 1e-6);
    DPL_GO(hash_members(run, source, key, &list));
    if (list.n) qsort(list.digest, list.n, sizeof *list.digest, by_bytes);
    DPL_GO(dpl_fingerprint_new(run, key, &all));
    DPL_GO(dpl_fingerprint_add(all, list.digest, list.n * sizeof *list.digest));
    DPL_GO(dpl_fingerprint_end(all, fingerprint));
done:
    dpl_progress_end(run);
    dpl_fingerprint_free(all);
    dpl_free(list.digest);
    source_close(source);
    return status;
}
