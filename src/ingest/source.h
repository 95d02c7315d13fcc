/* Inputs as a sequence of named byte streams: every file of every directory, every member of every
 * archive. Order is fixed: inputs as given, directories by name, archives as stored. */
#ifndef DPL_INGEST_SOURCE_H
#define DPL_INGEST_SOURCE_H

#include "base/base.h"

struct source;

/* Finds all files (directories are walked) and spools standard input ("-") to a temporary file, so
 * that everything can be read twice. Whether a file is packed is told by its name; where the name
 * does not tell, and the options let the first line be a header, by the first line. Caller closes.
 */
enum dpl_status dpl_source_open(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                                const struct dpl_read_options *options, struct source **source);
void dpl_source_close(struct source *source);
/* Back to the first member. */
void dpl_source_rewind(struct source *source);
/* On to the next member; *name is NULL after the last, otherwise borrowed until the next call.
 * Hidden files and archive housekeeping are passed over. */
enum dpl_status dpl_source_next(struct source *source, const char **name);
/* Up to `room` bytes of the member; *got is 0 only at its end. */
enum dpl_status dpl_source_read(struct source *source, char *buffer, size_t room, size_t *got);
/* Whether the member is a table with a schema, of which lines of CSV were made. */
bool dpl_source_has_schema(const struct source *source);
/* Whether the one input is one stream of bytes, plain or compressed: no directory, no archive. */
bool dpl_source_is_one_stream(const struct source *source);
/* Whether the member has unpacked to much more than GPS data does: it may be a bomb. */
bool dpl_source_is_bomb(const struct source *source);
double dpl_source_file_mb(const struct source *source);
/* Bytes of all files on disk, and how many of them have been read so far. */
int64_t dpl_source_total_bytes(const struct source *source);
int64_t dpl_source_done_bytes(const struct source *source);

#endif
