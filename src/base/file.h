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

enum { DPL_PATH_ROOM = 4096 };

/* The folder `part` of the state directory ($XDG_STATE_HOME/dploc, or ~/.local/state/dploc), made
 * for its owner alone if it is not there; leaves 128 bytes for a file's name. `advice` is what to
 * do when there is no place for it. */
enum dpl_status dpl_state_directory(struct dpl_run *run, const char *part, const char *advice,
                                    char folder[DPL_PATH_ROOM]);

/* A file without a name, gone when it is closed: nothing private stays behind. It lies below
 * $TMPDIR if that is set, else in the state directory, which is the owner's alone: raw points go
 * through it. */
enum dpl_status dpl_file_temporary(struct dpl_run *run, int *fd);

#endif
