/* The files of one run, collected by a subcommand and checked before anything is read or spent. */
#ifndef DPLOC_CLI_PATHS_H
#define DPLOC_CLI_PATHS_H

#include "cli.h"

enum { PATHS_MAX = 32, PATHS_TEXT = 1 << 17 };

struct paths {
    const char *inputs[CLI_MAX_INPUTS + PATHS_MAX];
    size_t n_inputs;
    const char *outputs[PATHS_MAX];
    size_t n_outputs;
    char text[PATHS_TEXT]; /* of names that are made here */
    size_t used;
    bool full;
};

/* The arguments and --config. `paths` must be zero. */
void paths_begin(struct paths *paths, const struct cli *cli);
/* NULL: nothing. */
void paths_input(struct paths *paths, const char *path);
/* NULL and "-": nothing. */
void paths_output(struct paths *paths, const char *path);
/* Trips or a model, and all that may stand beside them. */
void paths_output_set(struct paths *paths, const char *path);
/* Checkpoint and ledger. */
void paths_output_state(struct paths *paths, const struct dpl_fit_options *fit);
/* `directory`: replaced as a whole, may be NULL. */
enum dpl_status paths_check(struct cli *cli, const struct paths *paths, const char *directory);

#endif
