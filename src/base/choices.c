/* The names of enumerations in option structs: one row each. */
#include <string.h>

#include "base/base.h"

static const struct choices {
    const char *field;
    const char *name[5]; /* by value, NULL behind the last */
} CHOICES[] = {
    {"budget.unit", {"trip", "user"}},
    {"sample.points", {"drawn", "uniform", "centre"}},
    {"sample.times", {"local", "utc", "naive", "epoch"}},
    {"simulate.layout", {"csv", "porto", "cabspotting", "geolife"}},
    {"simulate.sampling", {"irregular", "regular"}},
    {"simulate.pace", {"drive", "walk"}},
    {"travel", {"drive", "bike", "walk"}},
};
enum { N_CHOICES = sizeof CHOICES / sizeof *CHOICES };

static const struct choices *find(const char *field) {
    for (size_t i = 0; i < N_CHOICES; i++)
        if (!strcmp(CHOICES[i].field, field)) return &CHOICES[i];
    return NULL;
}

const char *dpl_choice_name(const char *field, int value) {
    const struct choices *choices = find(field);
    for (int i = 0; choices && choices->name[i]; i++)
        if (i == value) return choices->name[i];
    return NULL;
}

enum dpl_status dpl_choice(struct dpl_run *run, const char *field, const char *name, int *value) {
    const struct choices *choices = find(field);
    char names[128] = "";
    size_t used = 0;
    dpl_run_begin(run);
    if (!choices) return dpl_fail(run, DPL_USAGE, "there is no choice '%.64s'", field);
    for (int i = 0; choices->name[i]; i++) {
        if (!strcmp(choices->name[i], name)) {
            *value = i;
            return DPL_OK;
        }
        const char *between = i == 0 ? "" : choices->name[i + 1] ? ", " : " or ";
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s%s", between, choices->name[i]);
    }
    return dpl_fail(run, DPL_USAGE, "`%s` takes %s, not '%.64s'", field, names, name);
}
