/* Options about rows: whether they make sense. */
#include <string.h>

#include "ingest/format.h"

enum dpl_status dpl_ingest_check_options(struct dpl_run *run,
                                         const struct dpl_read_options *options) {
    if (dpl_time_units(options->time_unit) < 0)
        return dpl_fail(run, DPL_USAGE, "`read.time_unit` takes auto, s, ms, us or ns, not '%.32s'",
                        options->time_unit);
    struct coordinates coordinates;
    if (strcmp(options->coordinates, "auto") != 0 &&
        !dpl_coordinates_parse(options->coordinates, &coordinates))
        return dpl_fail(run, DPL_USAGE,
                        "`read.coordinates` takes auto, degrees, e7, EPSG:3857 or UTM's EPSG:326NN "
                        "and EPSG:327NN, not '%.32s'",
                        options->coordinates);
    if (options->time_format && !dpl_time_pattern_good(options->time_format))
        return dpl_fail(run, DPL_USAGE,
                        "`read.time_format` '%.64s' needs %%Y %%m %%d %%H (or %%s), and knows also "
                        "%%y %%b %%I %%p %%M %%S %%f %%z %%F %%T",
                        options->time_format);
    const struct format *format = dpl_format_called(options->format);
    char names[FORMAT_NAMES];
    if (!format && strcmp(options->format, "auto"))
        return dpl_fail(run, DPL_USAGE, "there is no format '%.32s'; known are auto, %s",
                        options->format, dpl_format_names(names));
    if (options->separator && !dpl_separator_known(options->separator))
        return dpl_fail(
            run, DPL_USAGE,
            "`read.separator` takes one character that is no part of values, or the words "
            "tab and space, not '%.32s'",
            options->separator);
    if (!format) format = &DPL_FORMAT_CSV;
    if (!options->columns) return DPL_OK;
    if (!format->check_columns)
        return dpl_fail(run, DPL_USAGE, "`read.columns` does not belong to `read.format` %s",
                        format->name);
    return format->check_columns(run, options);
}
