/* Inputs that are patterns: 'part-*.parquet', where no shell has put the names in its place. */
#ifndef DPL_BASE_PATTERN_H
#define DPL_BASE_PATTERN_H

#include "base/base.h"

typedef enum dpl_status dpl_name_visitor(void *state, const char *name);

/* Calls `visit` with the name of each file that the pattern fits, in order of names; with the
 * input itself if it is a file or no pattern, or if nothing fits it. */
enum dpl_status dpl_pattern_each(struct dpl_run *run, const char *input, dpl_name_visitor *visit,
                                 void *state);

#endif
