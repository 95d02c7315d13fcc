/* Inputs that are no names of files: patterns, 'part-*.parquet', where no shell has put the names
 * in its place; and queries, "sql:select ...". */
#ifndef DPL_BASE_PATTERN_H
#define DPL_BASE_PATTERN_H

#include "base/base.h"

/* What an input that is no file but a query begins with. */
#define DPL_QUERY "sql:"
bool dpl_input_is_query(const char *input);
/* Whether one of the inputs (n) is. */
bool dpl_inputs_select(const char *const *inputs, size_t n);

typedef enum dpl_status dpl_name_visitor(void *state, const char *name);

/* Calls `visit` with the name of each file that the pattern fits, in order of names; with the
 * input itself if it is a file, a query or no pattern, or if nothing fits it. */
enum dpl_status dpl_pattern_each(struct dpl_run *run, const char *input, dpl_name_visitor *visit,
                                 void *state);

#endif
