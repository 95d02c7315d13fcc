/* Trips drawn from a model for a look at them. */
#include "draw.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void remove_directory(const char *directory) {
    DIR *list = opendir(directory);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        char path[4096 + 256];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (entry->d_name[0] != '.') unlink(path);
    }
    if (list) closedir(list);
    rmdir(directory);
}

enum dpl_status draw_read(struct cli *cli, const struct data_options *data, const char *path,
                          struct dpl_cleaned **trips) {
    struct dpl_read_options read = dpl_read_defaults();
    read.zone = data->zone;
    read.time_optional = read.positions = read.keep_too_fast = true;
    return dpl_cleaned_read(cli->run, &path, 1, &read, &data->area, trips, NULL);
}

enum dpl_status draw_trips(struct cli *cli, const struct data_options *data,
                           const struct dpl_model *model, const struct dpl_sample_options *sample,
                           struct dpl_cleaned **trips) {
    const char *temporary = getenv("TMPDIR");
    char directory[4096], path[4096 + 16];
    snprintf(directory, sizeof directory, "%s/dploc-%s-XXXXXX", temporary ? temporary : "/tmp",
             cli->command->name);
    if (!mkdtemp(directory))
        return cli_fail(cli, DPL_SYSTEM, "no directory can be made for drawn trips: %s", directory);
    snprintf(path, sizeof path, "%s/drawn.csv", directory);
    enum dpl_status status = dpl_sample_model(cli->run, model, sample, path);
    if (status == DPL_OK) status = draw_read(cli, data, path, trips);
    remove_directory(directory);
    return status;
}
