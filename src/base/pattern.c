/* See pattern.h. */
#include "base/pattern.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>

bool dpl_input_is_query(const char *input) {
    return !strncmp(input, DPL_QUERY, sizeof DPL_QUERY - 1);
}

bool dpl_inputs_select(const char *const *inputs, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (dpl_input_is_query(inputs[i])) return true;
    return false;
}

enum dpl_status dpl_pattern_each(struct dpl_run *run, const char *input, dpl_name_visitor *visit,
                                 void *state) {
    struct stat info;
    glob_t found = {0};
    // A file whose own name has such letters is meant as it stands.
    if (dpl_input_is_query(input) || !strpbrk(input, "*?[") || lstat(input, &info) == 0)
        return visit(state, input);
    int failed = glob(input, 0, NULL, &found);
    enum dpl_status status = DPL_OK;
    if (failed == GLOB_NOMATCH)
        status = visit(state, input);
    else if (failed != 0)
        status = dpl_fail(run, DPL_SYSTEM, "%s: the names that fit cannot be listed", input);
    for (size_t i = 0; failed == 0 && i < found.gl_pathc && status == DPL_OK; i++)
        status = visit(state, found.gl_pathv[i]);
    globfree(&found);
    return status;
}
