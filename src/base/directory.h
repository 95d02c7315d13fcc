/* A directory that is put together aside and then takes its name as a whole. */
#ifndef DPL_BASE_DIRECTORY_H
#define DPL_BASE_DIRECTORY_H

#include "base/base.h"

/* Whether `path` may become a directory of this run: it is not there, or it is a directory (not a
 * link to one) and `overwrite` is set; *there tells which. What is in it is the caller's to check.
 */
enum dpl_status dpl_directory_check(struct dpl_run *run, const char *path, bool overwrite,
                                    bool *there);
/* Gives `aside` the name `path`. With `replace` the directory of that name stands under the name
 * `aside` afterwards, for the caller to remove; where the system can, at no moment is there
 * none under `path`. */
enum dpl_status dpl_directory_show(struct dpl_run *run, const char *aside, const char *path,
                                   bool replace);

#endif
