/* See options.h. */
#include "base/options.h"

#include <string.h>

enum dpl_status dpl_options_take(struct dpl_run *run, const char *name, const void *given,
                                 void *own) {
    size_t size, theirs;
    if (!given) return DPL_OK;
    memcpy(&size, own, sizeof size);
    memcpy(&theirs, given, sizeof theirs);
    if (theirs < sizeof theirs)
        return dpl_fail(run, DPL_USAGE,
                        "the options '%s' do not say their size: begin with the defaults that the "
                        "library gives",
                        name);
    if (theirs > size)
        return dpl_fail(run, DPL_USAGE,
                        "the options '%s' are those of a newer version than %s, this library's",
                        name, dpl_version());
    memcpy(own, given, theirs);
    memcpy(own, &size, sizeof size);
    return DPL_OK;
}
