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

#endif
