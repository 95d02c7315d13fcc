/* Output files that appear whole or not at all: written aside, flushed to the disk, renamed. */
#ifndef DPL_BASE_FILE_H
#define DPL_BASE_FILE_H

#include "base/base.h"

struct dpl_file;

struct dpl_file_options {
    bool overwrite;  /* otherwise an existing file is refused (DPL_USAGE) */
    bool only_owner; /* mode 0600, for what must stay private */
};

/* Opens `path` for writing ("-": standard output). A name ending in .gz or .zst is compressed.
 * Ends with dpl_file_commit or dpl_file_abort. */
enum dpl_status dpl_file_create(struct dpl_run *run, const char *path,
                                const struct dpl_file_options *options, struct dpl_file **file);
/* Buffered. After a failure only dpl_file_abort makes sense. */
enum dpl_status dpl_file_write(struct dpl_file *file, const void *bytes, size_t length);
enum dpl_status dpl_file_print(struct dpl_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Makes the file appear under its name, and frees. On failure nothing appears and an older file
 * stays. */
enum dpl_status dpl_file_commit(struct dpl_file *file);
/* Forgets what was written; NULL is allowed. */
void dpl_file_abort(struct dpl_file *file);

/* A file without a name below $TMPDIR (or /tmp), gone when it is closed: nothing private stays
 * behind. */
enum dpl_status dpl_file_temporary(struct dpl_run *run, int *fd);

#endif
