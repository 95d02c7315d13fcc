/* Inputs as a sequence of named byte streams: every file of every directory, every member of every
 * archive. Order is fixed: inputs as given, directories by name, archives as stored. */
#ifndef DPL_INGEST_SOURCE_H
#define DPL_INGEST_SOURCE_H

#include "base/base.h"

struct source;

/* Finds all files (directories are walked) and spools standard input ("-") to a temporary file, so
 * that everything can be read twice. Caller closes. */
enum dpl_status source_open(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                            struct source **source);
void source_close(struct source *source);
/* Back to the first member. */
void source_rewind(struct source *source);
/* On to the next member; *name is NULL after the last, otherwise borrowed until the next call.
 * Hidden files and archive housekeeping are passed over. */
enum dpl_status source_next(struct source *source, const char **name);
/* Up to `room` bytes of the member; *got is 0 only at its end. */
enum dpl_status source_read(struct source *source, char *buffer, size_t room, size_t *got);
/* Bytes of all files on disk, and how many of them have been read so far. */
int64_t source_total_bytes(const struct source *source);
int64_t source_done_bytes(const struct source *source);

#endif
