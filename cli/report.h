/* Making a report: for `dploc report` and for `dploc synth --report`. */
#ifndef DPLOC_CLI_REPORT_H
#define DPLOC_CLI_REPORT_H

#include "sets.h"

struct report_job {
    const struct data_options *data; /* area settled */
    bool as_is;
    const char *const *real; /* (n_real) 0: a public report */
    size_t n_real;
    const char *const *synthetic;   /* (n) */
    const char *const *certificate; /* (n) files; NULL: each is beside its trips, if there is one */
    size_t n;
    const char *attack; /* a file of `dploc attack --json`; NULL: none */
    const char *ledger; /* of the data; NULL: found by the first SYNTH's PRIVATE.json */
    struct dpl_report_options options; /* without texts */
    const char *out;
};

/* Reads, compares, writes, and says where the report is. */
enum dpl_status report_make(struct cli *cli, const struct report_job *job);

#endif
