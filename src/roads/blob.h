/* The outer layer of an .osm.pbf file: a row of blocks, each with a small header and packed by
 * zlib. One block is in memory at a time: at most 32 MiB packed and 32 MiB unpacked, as the format
 * allows. */
#ifndef DPL_ROADS_BLOB_H
#define DPL_ROADS_BLOB_H

#include "base/base.h"

struct blob_file {
    struct dpl_run *run;
    const char *path; /* borrowed */
    int fd;
    bool xml;               /* plain .osm: it has no blocks */
    uint64_t size, offset;  /* of the file; of the next block */
    uint64_t block_at;      /* where the current block begins, for messages */
    size_t number;          /* of the current block, from 1 */
    uint8_t *packed, *room; /* as read; unpacked */
    size_t packed_capacity, room_capacity;
};

struct blob {
    bool header; /* OSMHeader; false: OSMData */
    const uint8_t *bytes;
    size_t length;
};

/* Zero-initialise; close with dpl_blob_close whatever it returned. DPL_BAD_DATA, with a hint, for
 * what is plainly another kind of file. */
enum dpl_status dpl_blob_open(struct dpl_run *run, const char *path, struct blob_file *file);
void dpl_blob_close(struct blob_file *file);
/* Starts over. */
void dpl_blob_rewind(struct blob_file *file);
/* The next block of a known type; *done at the end of the file. Bytes are borrowed until the next
 * call. */
enum dpl_status dpl_blob_next(struct blob_file *file, struct blob *blob, bool *done);
/* DPL_BAD_DATA: "path: block 3, at byte 1234: what (hint)". */
enum dpl_status dpl_blob_fail(struct blob_file *file, const char *what);

#endif
