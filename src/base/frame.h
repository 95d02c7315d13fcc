/* Files of ours that go from machine to machine: a magic text, a JSON object, bytes behind it, a
 * hash of it all.
 *
 *     16 bytes  magic
 *     8 bytes   length of the header, little-endian
 *     header    JSON, blanks behind it so that the length is a multiple of 8
 *     payload   whatever the header says
 *     16 bytes  hash of all before
 *
 * The hash finds damage, not malice: who can write a part can write any numbers into it. */
#ifndef DPL_BASE_FRAME_H
#define DPL_BASE_FRAME_H

#include <jansson.h>

#include "base/base.h"
#include "dploc_rounds.h" // defines: struct dpl_bytes, struct dpl_view

enum { DPL_FRAME_MAGIC = 16 };

/* What a kind of file is called in messages, and what it begins with. */
struct dpl_frame_kind {
    char magic[DPL_FRAME_MAGIC + 1];
    const char *name; /* "a plan" */
};

struct dpl_frame {
    json_t *header;
    const uint8_t *payload; /* borrowed from the bytes it was opened from */
    size_t n_payload;
};

/* Puts one together: the pieces (n) are the payload, one behind the other. Free with
 * dpl_bytes_free. */
enum dpl_status dpl_frame_make(struct dpl_run *run, const struct dpl_frame_kind *kind,
                               const json_t *header, const struct dpl_view *pieces, size_t n,
                               struct dpl_bytes *made);
/* Checks magic, lengths and hash. `where` is its file's name, or what else it is known by, for
 * messages. Free with dpl_frame_close. */
enum dpl_status dpl_frame_open(struct dpl_run *run, const struct dpl_frame_kind *kind,
                               const char *where, struct dpl_view bytes, struct dpl_frame *frame);
void dpl_frame_close(struct dpl_frame *frame);

/* A whole file, or what it is to become. */
enum dpl_status dpl_bytes_read(struct dpl_run *run, const char *path, struct dpl_bytes *bytes);
enum dpl_status dpl_bytes_write(struct dpl_run *run, const char *path, const char *mark,
                                bool only_owner, bool overwrite, struct dpl_view bytes);

#endif
