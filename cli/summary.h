/* What fit and synth say at their end. */
#ifndef DPLOC_CLI_SUMMARY_H
#define DPLOC_CLI_SUMMARY_H

#include "data.h"

/* The files of one run; NULL: there is none. */
struct summary {
    const struct dpl_area *area;
    const char *model, *trips, *release, *report;
};

/* Exact numbers of the data for its holder, then what may be published, the files of both kinds,
 * and what to do next: on stderr, unless --quiet or --json. PRIVACY: the exact numbers go to the
 * terminal of whoever holds the data and nowhere else, as they go to OUT.PRIVATE.json. */
void summary_print(const struct cli *cli, const struct dpl_fit *fit, const struct summary *summary);

#endif
