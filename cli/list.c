/* dploc --list THING: names that options take, one per line or as a JSON array; and what is made
 * of the table of options: manual pages and completions. */
#include <stdio.h>
#include <string.h>

#include "manual.h"

static const char *region_name(size_t i) {
    const struct dpl_region *region = dpl_region_at(i);
    return region ? region->name : NULL;
}

static const char *measure_name(size_t i) {
    struct dpl_measure_about about;
    return dpl_measure_about(i, &about) ? about.name : NULL;
}

static const char *command_name(size_t i) {
    const struct command *command = manual_command(i);
    return command ? command->name : NULL;
}

/* What can be listed: by its i-th name, NULL past the last. */
static const struct {
    const char *thing;
    const char *(*name)(size_t i);
} LISTS[] = {
    {"methods", dpl_method_name}, {"formats", dpl_format_name}, {"outputs", dpl_output_name},
    {"regions", region_name},     {"measures", measure_name},   {"commands", command_name},
};
enum { N_LISTS = sizeof LISTS / sizeof *LISTS };

const char *list_name(const char *list, size_t i) {
    for (size_t k = 0; k < N_LISTS; k++)
        if (!strcmp(list, LISTS[k].thing)) return LISTS[k].name(i);
    return NULL;
}

static void print_names(const char *list, bool json) {
    if (json) putchar('[');
    for (size_t i = 0; list_name(list, i); i++)
        if (json)
            printf("%s\"%s\"", i ? ", " : "", list_name(list, i));
        else
            puts(list_name(list, i));
    if (json) puts("]");
}

/* man [COMMAND] */
static int print_man(const char *name) {
    const struct command *command;
    if (!name) {
        man_program();
        return DPL_OK;
    }
    for (size_t i = 0; (command = manual_command(i)); i++)
        if (!strcmp(name, command->name)) {
            manual_show(command, man_command);
            return DPL_OK;
        }
    fprintf(stderr, "dploc --list man: there is no command '%s'\n", name);
    return DPL_USAGE;
}

/* completions SHELL */
static int print_completions(const char *shell) {
    for (size_t i = 0; shell && completions_shell(i); i++)
        if (!strcmp(shell, completions_shell(i))) {
            completions_print(i);
            return DPL_OK;
        }
    fprintf(stderr, "dploc --list completions: for which shell? bash, zsh or fish\n");
    return DPL_USAGE;
}

static int say_what_to_list(void) {
    fprintf(stderr, "dploc --list: say what to list:");
    for (size_t i = 0; i < N_LISTS; i++) fprintf(stderr, " %s,", LISTS[i].thing);
    fprintf(stderr, " man, completions\n");
    return DPL_USAGE;
}

int cli_list(int argc, char **argv) {
    bool json = false;
    const char *word[2] = {NULL, NULL};
    for (int i = 0, n = 0; i < argc; i++)
        if (!strcmp(argv[i], "--json"))
            json = true;
        else if (n < 2)
            word[n++] = argv[i];
    if (!word[0]) return say_what_to_list();
    if (!strcmp(word[0], "man")) return print_man(word[1]);
    if (!strcmp(word[0], "completions")) return print_completions(word[1]);
    if (!list_name(word[0], 0)) return say_what_to_list();
    print_names(word[0], json);
    return DPL_OK;
}
