/* Options about data files and the area, shared by the subcommands that read trips. */
#ifndef DPLOC_CLI_DATA_H
#define DPLOC_CLI_DATA_H

#include "cli.h"

struct data_options {
    struct dpl_read_options read;
    struct dpl_area area;
    const char *region, *regions, *bbox, *zone;
    double cell_m, max_speed_kmh, max_gap_min;
    const char *drop; /* "trips" or "points" */
    bool od;          /* rows of origin and destination */
    char query[8192]; /* "sql:" and the query, as an input */
    int64_t slot_s, periods;
    struct option table[32];
};

/* Fills in defaults and the table; `data` must stay where it is. */
void data_options_init(struct data_options *data);
/* After cli_start: makes the area from region, box and the rest. *given says whether there is one;
 * with `required` its absence is a usage error that lists the presets. */
enum dpl_status data_options_area(struct cli *cli, struct data_options *data, bool required,
                                  bool *given);

#endif
