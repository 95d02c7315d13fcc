/* Trips drawn from a model for a look at them. */
#include "draw.h"

enum dpl_status draw_read(struct cli *cli, const struct data_options *data, bool own_phase,
                          const char *path, struct dpl_cleaned **trips) {
    struct dpl_read_options read = dpl_read_defaults();
    read.zone = data->zone;
    read.own_phase = own_phase;
    read.time_optional = read.positions = read.keep_too_fast = true;
    return dpl_cleaned_read(cli->run, &path, 1, &read, &data->area, trips, NULL);
}

enum dpl_status draw_trips(struct cli *cli, const struct data_options *data,
                           const struct dpl_model *model, const struct dpl_sample_options *sample,
                           struct dpl_cleaned **trips) {
    struct dpl_trips *drawn = NULL;
    enum dpl_status status = dpl_sample(cli->run, model, sample, &drawn);
    if (status == DPL_OK) status = dpl_clean(cli->run, drawn, &data->area, trips, NULL);
    dpl_trips_free(drawn);
    return status;
}
