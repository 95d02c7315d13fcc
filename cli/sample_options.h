/* Options about drawing trips, shared by sample and synth. */
#ifndef DPLOC_CLI_SAMPLE_OPTIONS_H
#define DPLOC_CLI_SAMPLE_OPTIONS_H

#include "cli.h"

struct sample_options {
    struct dpl_sample_options sample;
    const char *out;
    struct option table[24];
};

/* Fills in defaults and the table; `alone`: with --force and --block, which 'dploc sample' takes
 * and 'dploc synth' does not. `options` must stay where it is. */
void sample_options_init(struct sample_options *options, bool alone);

#endif
