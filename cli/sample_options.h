/* Options about drawing trips, shared by sample and synth. */
#ifndef DPLOC_CLI_SAMPLE_OPTIONS_H
#define DPLOC_CLI_SAMPLE_OPTIONS_H

#include "cli.h"

struct sample_options {
    struct dpl_sample_options sample;
    const char *out;
    struct option table[16];
};

/* Fills in defaults and the table, in which --force is only `with_force`; `options` must stay where
 * it is. */
void sample_options_init(struct sample_options *options, bool with_force);
/* The lines of --help about these options. */
#define SAMPLE_OPTIONS_HELP                                                                        \
    "  -n, --trips N        how many trips; default: as many as the model estimates\n"             \
    "  --seed S             the same seed gives the same trips; default: a fresh one, in the "     \
    "manifest\n"                                                                                   \
    "  --to NAME            csv, geojsonl, porto; default: by the ending of OUT\n"                 \
    "  --date DAY           2025-03-03 (a Monday), or FIRST..LAST: each trip draws its day\n"      \
    "  --points drawn       where in its cell a visit is: such that trips move as trips do;\n"     \
    "                       or uniform, or centre\n"                                               \
    "  --times local        local time with one offset for the whole file, or utc, naive, epoch\n" \
    "  --interval S         a point every S seconds instead of one a slot, on the way between\n"   \
    "  --gps-error M        adds a receiver's error of that many metres to every point\n"          \
    "  --mh-steps 10        random changes of each path    --no-looping   repeat no cell\n"        \
    "  --release DIR        puts what may be published, and nothing else, into DIR\n"

#endif
