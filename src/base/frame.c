/* See frame.h. */
#include "base/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

enum { WORD = 8, PREFIX = DPL_FRAME_MAGIC + WORD, HASH = 16, HEADER_MAX = 1 << 26 };

static void put_word(uint8_t *bytes, uint64_t word) {
    for (int i = 0; i < WORD; i++) bytes[i] = (uint8_t)(word >> (8 * i));
}

static uint64_t get_word(const uint8_t *bytes) {
    uint64_t word = 0;
    for (int i = 0; i < WORD; i++) word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static void hash_of(const uint8_t *bytes, size_t n, uint8_t hash[HASH]) {
    const struct dpl_key key = dpl_hash(bytes, n, 0);
    put_word(hash, key.hi), put_word(hash + WORD, key.lo);
}

void dpl_bytes_free(struct dpl_bytes *bytes) {
    dpl_free(bytes->data);
    *bytes = (struct dpl_bytes){0};
}

enum dpl_status dpl_frame_make(struct dpl_run *run, const struct dpl_frame_kind *kind,
                               const json_t *header, const struct dpl_view *pieces, size_t n,
                               struct dpl_bytes *made) {
    const size_t flags = JSON_COMPACT | JSON_ENSURE_ASCII;
    char *text = header ? dpl_json_dump(header, flags | JSON_REAL_PRECISION(17)) : NULL;
    size_t length = text ? strlen(text) : 0, padded = (length + WORD - 1) / WORD * WORD,
           at = PREFIX + padded, size = at + HASH;
    for (size_t i = 0; i < n; i++) size += pieces[i].n;
    uint8_t *bytes = text ? dpl_alloc(run, size, 1) : NULL;
    if (!bytes) {
        free(text);
        return dpl_fail(run, DPL_SYSTEM, "out of memory");
    }
    memcpy(bytes, kind->magic, DPL_FRAME_MAGIC);
    put_word(bytes + DPL_FRAME_MAGIC, padded);
    memcpy(bytes + PREFIX, text, length);
    memset(bytes + PREFIX + length, ' ', padded - length);
    for (size_t i = 0; i < n; at += pieces[i++].n)
        if (pieces[i].n) memcpy(bytes + at, pieces[i].data, pieces[i].n);
    hash_of(bytes, at, bytes + at);
    *made = (struct dpl_bytes){bytes, size};
    free(text);
    return DPL_OK;
}

static enum dpl_status damaged(struct dpl_run *run, const struct dpl_frame_kind *kind,
                               const char *where) {
    return dpl_fail(run, DPL_BAD_DATA, "%s: this file of %s is damaged, or cut off; make it anew",
                    where, kind->name);
}

enum dpl_status dpl_frame_open(struct dpl_run *run, const struct dpl_frame_kind *kind,
                               const char *where, struct dpl_view bytes, struct dpl_frame *frame) {
    const uint8_t *from = bytes.data;
    uint8_t hash[HASH];
    if (bytes.n < DPL_FRAME_MAGIC || memcmp(from, kind->magic, DPL_FRAME_MAGIC) != 0)
        return dpl_fail(run, DPL_BAD_DATA, "%s: this is not %s", where, kind->name);
    if (bytes.n < PREFIX + HASH) return damaged(run, kind, where);
    const size_t end = bytes.n - HASH;
    hash_of(from, end, hash);
    if (memcmp(hash, from + end, HASH) != 0) return damaged(run, kind, where);
    const uint64_t header = get_word(from + DPL_FRAME_MAGIC);
    if (header > HEADER_MAX || header % WORD || header > end - PREFIX)
        return damaged(run, kind, where);
    json_t *root;
    DPL_TRY(dpl_json_parse(run, (const char *)from + PREFIX, header, 0, NULL, &root));
    if (!json_is_object(root)) {
        json_decref(root);
        return damaged(run, kind, where);
    }
    *frame = (struct dpl_frame){root, from + PREFIX + header, end - PREFIX - header};
    return DPL_OK;
}

void dpl_frame_close(struct dpl_frame *frame) {
    json_decref(frame->header);
    *frame = (struct dpl_frame){0};
}

/* ---- files ---- */

static enum dpl_status read_open(struct dpl_run *run, const char *path, int fd,
                                 struct dpl_bytes *bytes) {
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return dpl_fail(run, DPL_SYSTEM, "%s: cannot read: not a plain file", path);
    uint8_t *data = dpl_alloc(run, (size_t)info.st_size + 1, 1);
    if (!data) return DPL_SYSTEM;
    ssize_t got = dpl_read_whole(fd, data, (size_t)info.st_size);
    if (got == info.st_size) {
        *bytes = (struct dpl_bytes){data, (size_t)got};
        return DPL_OK;
    }
    enum dpl_status status =
        got < 0 ? dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot read", path)
                : dpl_fail(run, DPL_SYSTEM, "%s: became shorter while it was read", path);
    dpl_free(data);
    return status;
}

enum dpl_status dpl_bytes_read(struct dpl_run *run, const char *path, struct dpl_bytes *bytes) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot read", path);
    enum dpl_status status = read_open(run, path, fd, bytes);
    close(fd);
    return status;
}

enum dpl_status dpl_bytes_write(struct dpl_run *run, const char *path, const char *mark,
                                bool only_owner, bool overwrite, struct dpl_view bytes) {
    const struct dpl_file_options how = {
        .overwrite = overwrite, .only_owner = only_owner, .mark = mark};
    struct dpl_file *file = NULL;
    DPL_TRY(dpl_file_create(run, path, &how, &file));
    enum dpl_status status = dpl_file_write(file, bytes.data, bytes.n);
    if (status == DPL_OK) return dpl_file_commit(file);
    dpl_file_abort(file);
    return status;
}
