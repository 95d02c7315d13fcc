/* Directories. See directory.h. */
#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

enum dpl_status dpl_directory_check(struct dpl_run *run, const char *path, bool overwrite,
                                    bool *there) {
    struct stat info;
    *there = lstat(path, &info) == 0;
    if (!*there) return DPL_OK;
    if (!overwrite)
        return dpl_fail(run, DPL_USAGE, "%s exists already (use `overwrite` to overwrite it)",
                        path);
    if (S_ISDIR(info.st_mode)) return DPL_OK;
    return dpl_fail(run, DPL_USAGE,
                    "%s is not a directory (a link to one is not replaced); choose another name",
                    path);
}

/* For a file system that cannot exchange two names: for a moment there is nothing under `path`. */
static bool exchange_in_steps(const char *aside, const char *path) {
    char old[4096];
    if (snprintf(old, sizeof old, "%s-old", aside) >= (int)sizeof old) return false;
    if (rename(path, old) != 0) return false;
    if (rename(aside, path) != 0) {
        (void)rename(old, path);
        return false;
    }
    return rename(old, aside) == 0;
}

enum dpl_status dpl_directory_show(struct dpl_run *run, const char *aside, const char *path,
                                   bool replace) {
    unsigned how = replace ? RENAME_EXCHANGE : RENAME_NOREPLACE;
    bool done = renameat2(AT_FDCWD, aside, AT_FDCWD, path, how) == 0;
    if (!done && (errno == EINVAL || errno == ENOSYS))
        done = replace ? exchange_in_steps(aside, path) : rename(aside, path) == 0;
    if (!done) return dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot rename to it", path);
    return dpl_sync_directory(run, path);
}
