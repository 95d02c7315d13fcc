/* dploc fit in rounds: --plan-only, and --from-counts with --plan. */
#ifndef DPLOC_CLI_ROUNDS_H
#define DPLOC_CLI_ROUNDS_H

#include "privacy_options.h"

struct rounds_options {
    bool plan_only;
    const char *plan, *from_counts;
    struct option table[4];
};

void rounds_options_init(struct rounds_options *rounds);
/* Whether this is a fit in rounds. */
bool rounds_asked(const struct rounds_options *rounds);
/* Does it. */
enum dpl_status rounds_fit(struct cli *cli, const struct rounds_options *rounds,
                           struct data_options *data, struct privacy_options *privacy,
                           const char *out);

#endif
