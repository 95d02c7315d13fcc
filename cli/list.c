/* dploc --list THING: names that options take, one per line, or as a JSON array. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const char *region_name(size_t i) {
    const struct dpl_region *region = dpl_region_at(i);
    return region ? region->name : NULL;
}

static const char *measure_name(size_t i) {
    struct dpl_measure_about about;
    return dpl_measure_about(i, &about) ? about.name : NULL;
}

/* What can be listed: by its i-th name, NULL past the last. */
static const struct {
    const char *thing;
    const char *(*name)(size_t i);
} LISTS[] = {
    {"methods", dpl_method_name}, {"formats", dpl_format_name}, {"outputs", dpl_output_name},
    {"regions", region_name},     {"measures", measure_name},
};
enum { N_LISTS = sizeof LISTS / sizeof *LISTS };

static void print_names(const char *(*name)(size_t i), bool json) {
    if (json) putchar('[');
    for (size_t i = 0; name(i); i++)
        if (json)
            printf("%s\"%s\"", i ? ", " : "", name(i));
        else
            puts(name(i));
    if (json) puts("]");
}

int cli_list(int argc, char **argv) {
    bool json = false;
    const char *thing = NULL;
    for (int i = 0; i < argc; i++)
        if (!strcmp(argv[i], "--json"))
            json = true;
        else
            thing = argv[i];
    for (size_t i = 0; thing && i < N_LISTS; i++)
        if (!strcmp(thing, LISTS[i].thing)) {
            print_names(LISTS[i].name, json);
            return DPL_OK;
        }
    fprintf(stderr, "dploc --list: say what to list:");
    for (size_t i = 0; i < N_LISTS; i++) fprintf(stderr, "%s %s", i ? "," : "", LISTS[i].thing);
    fputc('\n', stderr);
    return DPL_USAGE;
}
