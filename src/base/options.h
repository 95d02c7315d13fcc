/* Option structs as callers of any version have them. */
#ifndef DPL_BASE_OPTIONS_H
#define DPL_BASE_OPTIONS_H

#include "base/base.h"

/* Copies the caller's struct over the defaults in `own`: both begin with their size in bytes. An
 * older caller's is shorter, and the members that it does not know keep their defaults; NULL leaves
 * them all. DPL_USAGE for a size of 0 or above ours; `name` is the struct's in messages. */
enum dpl_status dpl_options_take(struct dpl_run *run, const char *name, const void *given,
                                 void *own);

#endif
