/* Trips drawn from a model for a look at them, which leave nothing behind. */
#ifndef DPLOC_CLI_DRAW_H
#define DPLOC_CLI_DRAW_H

#include "data.h"

/* Samples the model, trips as they would be written, with positions. PRIVACY: all in memory, so
 * that nothing of a model without noise is left on the disk. */
enum dpl_status draw_trips(struct cli *cli, const struct data_options *data,
                           const struct dpl_model *model, const struct dpl_sample_options *sample,
                           struct dpl_cleaned **trips);
/* Synthetic trips as written, with positions; visits as dpl_read_options.own_phase says. */
enum dpl_status draw_read(struct cli *cli, const struct data_options *data, bool own_phase,
                          const char *path, struct dpl_cleaned **trips);

#endif
