/* Options about the budget, the method and the ledger, shared by the subcommands that spend. */
#ifndef DPLOC_CLI_PRIVACY_OPTIONS_H
#define DPLOC_CLI_PRIVACY_OPTIONS_H

#include "cli.h"
#include "data.h"

struct privacy_options {
    struct dpl_fit_options fit;
    const char *unit, *seed;
    double sigma_lengths, sigma_topk, sigma_ti, sigma_tpg;
    bool dry_run, force;
    char sigmas[256], shares[512], checkpoint[4096];
    struct option table[40];
};

/* Fills in defaults and the table; `privacy` must stay where it is. */
void privacy_options_init(struct privacy_options *privacy);
/* After cli_start: settles privacy->fit. Checkpoints go to OUT.checkpoint unless another place is
 * named. */
enum dpl_status privacy_options_settle(struct cli *cli, struct privacy_options *privacy,
                                       const char *out);
/* dpl_fit; what it asks the holder is asked on a terminal, and a yes starts it again. */
enum dpl_status privacy_options_fit(struct cli *cli, const struct privacy_options *privacy,
                                    const struct data_options *data, struct dpl_fit **fit);
/* Whether the status is a question about overlapping data that the holder answered with yes. */
bool privacy_options_asked(const struct cli *cli, enum dpl_status status);
/* --dry-run: prints the plan. */
enum dpl_status privacy_options_preview(struct cli *cli, const struct privacy_options *privacy,
                                        const struct data_options *data);
/* The lines of --help about these options. */
#define PRIVACY_OPTIONS_HELP                                                                       \
    "  --epsilon 1          the promise; 'inf' adds no noise and is NOT PRIVATE\n"                 \
    "  --delta 1e-8         the chance that it fails\n"                                            \
    "  --unit trip          or user: who is protected; of a user --trips-max 20 trips are kept\n"  \
    "  --trips-as-cut       the unit is a trip that was cut from a track (data without trip "      \
    "ids)\n"                                                                                       \
    "  --method bridge      how trips are modelled; or paper; or, to compare, ngram or adatrace\n" \
    "  --mechanism gaussian or laplace: the noise of ngram and adatrace\n"                         \
    "  --size N             the number of units is public: it costs nothing then\n"                \
    "  --coverage X         part of all visits in the cells that are kept\n"                       \
    "  --share NAME=PART    of the squared budget (lengths, topk, ti, tpg); may be repeated\n"     \
    "  --sigma-topk S       with --sigma-ti and --sigma-tpg: noise given, epsilon follows\n"       \
    "  --ledger FILE        or none; default: the data set's own, in the state directory\n"        \
    "  --dataset NAME       one ledger for data that grows; --new-data: it overlaps, and is new\n" \
    "  --total-epsilon E    refuse what would bring all releases above (also --total-delta)\n"     \
    "  --hold-out SHARE     of the units is not fitted on, for 'dploc attack'; who: "              \
    "PRIVATE.json\n"                                                                               \
    "  --dry-run            the plan as a table; nothing is spent\n"                               \
    "  --resume, --restart  go on after a stop; or start anew and pay again (--checkpoint FILE)\n" \
    "  --show-private-loss  --insecure-seed N: for experiments, NOT PRIVATE\n"                     \
    "  --force              overwrite\n"

#endif
