/* Real and synthetic trips read onto one grid, for the subcommands that compare or show them. */
#ifndef DPLOC_CLI_SETS_H
#define DPLOC_CLI_SETS_H

#include <jansson.h>

#include "data.h"

/* Where the area comes from when the command line leaves it open: a synthetic file's manifest. */
struct sets_area {
    char source[512];             /* where it came from, in words */
    void *manifest, *certificate; /* keep texts alive; end with sets_area_free */
};

/* Before cli_start, after data_options_init: what is not given on the command line stays open. */
void sets_leave_area_open(struct data_options *data);
/* After cli_start: completes the area, from the command line or else from the first manifest beside
 * one of the n files. The days, where they were not given, are those of the first one's
 * certificate. */
enum dpl_status sets_area_find(struct cli *cli, struct data_options *data,
                               const char *const *synthetic, size_t n, struct sets_area *area);
void sets_area_free(struct sets_area *area);

/* What was read, and how. */
struct sets {
    struct dpl_cleaned *real;          /* NULL: none was asked for */
    struct dpl_read_facts *real_facts; /* likewise */
    size_t n;
    struct dpl_eval_synthetic *synthetic; /* (n) */
    struct dpl_read_facts **facts;        /* (n) */
    bool *as_is;                          /* (n) taken as written, not cleaned */
};

/* How they are read: synthetic sets as written, and visits as dpl_read_options.own_phase says. */
struct sets_how {
    bool as_is, own_phase;
};
/* Reads the real inputs (n_real may be 0: nothing private is opened) and n synthetic files. */
enum dpl_status sets_read(struct cli *cli, const struct data_options *data, struct sets_how how,
                          const char *const *real, size_t n_real, const char *const *synthetic,
                          size_t n, struct sets *sets);
void sets_free(struct sets *sets);
/* The options in the manifest beside a synthetic file, to be released; NULL: none. */
enum dpl_status sets_manifest(struct cli *cli, const char *synthetic, json_t **options);
/* Real trips with positions, read as for fitting. */
enum dpl_status sets_read_real(struct cli *cli, const struct data_options *data,
                               const struct dpl_read_options *read, const char *const *real,
                               size_t n_real, struct dpl_cleaned **trips,
                               struct dpl_read_facts **facts);
/* What stands after the last slash. */
const char *sets_base_name(const char *path);

#endif
