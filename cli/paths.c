/* The files of one run. */
#include "paths.h"

#include <stdio.h>
#include <string.h>

void paths_input(struct paths *paths, const char *path) {
    if (!path) return;
    if (paths->n_inputs == sizeof paths->inputs / sizeof *paths->inputs)
        paths->full = true;
    else
        paths->inputs[paths->n_inputs++] = path;
}

void paths_output(struct paths *paths, const char *path) {
    if (!path || !strcmp(path, "-")) return;
    if (paths->n_outputs == PATHS_MAX)
        paths->full = true;
    else
        paths->outputs[paths->n_outputs++] = path;
}

static void output_with(struct paths *paths, const char *path, const char *ending) {
    char *name = paths->text + paths->used;
    size_t room = sizeof paths->text - paths->used;
    size_t length = (size_t)snprintf(name, room, "%s%s", path, ending);
    if (length >= room) {
        paths->full = true;
        return;
    }
    paths->used += length + 1;
    paths_output(paths, name);
}

void paths_begin(struct paths *paths, const struct cli *cli) {
    for (size_t i = 0; i < cli->n_inputs; i++) paths_input(paths, cli->inputs[i]);
    paths_input(paths, cli->config);
}

void paths_output_set(struct paths *paths, const char *path) {
    static const char *const ENDINGS[] = {"", ".certificate.json", ".manifest.json",
                                          ".PRIVATE.json", ".NOT-PRIVATE.txt"};
    if (!path || !strcmp(path, "-")) return;
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++)
        output_with(paths, path, ENDINGS[i]);
}

void paths_output_state(struct paths *paths, const struct dpl_fit_options *fit) {
    paths_output(paths, fit->checkpoint);
    if (!fit->ledger || !strcmp(fit->ledger, "none")) return;
    paths_output(paths, fit->ledger);
    output_with(paths, fit->ledger, ".tip");
}

enum dpl_status paths_check(struct cli *cli, const struct paths *paths, const char *directory) {
    if (paths->full) return cli_usage(cli, "the names of the files are too many or too long");
    return dpl_paths_check(cli->run, &(struct dpl_paths){.inputs = paths->inputs,
                                                         .n_inputs = paths->n_inputs,
                                                         .outputs = paths->outputs,
                                                         .n_outputs = paths->n_outputs,
                                                         .directory = directory});
}
