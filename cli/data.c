/* Options about data files and the area. */
#include "data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A query is an input: the first, so that it is the real data where others follow. */
static enum dpl_status set_query(struct cli *cli, void *into, const char *value) {
    struct data_options *data = into;
    if (cli->n_inputs == CLI_MAX_INPUTS || data->query[0])
        return cli_usage(cli, "--sql is given twice");
    if (snprintf(data->query, sizeof data->query, "sql:%s", value) >= (int)sizeof data->query)
        return cli_usage(cli, "--sql takes a query of at most %zu bytes", sizeof data->query - 5);
    memmove(cli->inputs + 1, cli->inputs, cli->n_inputs * sizeof *cli->inputs);
    cli->inputs[0] = data->query;
    cli->n_inputs++;
    return DPL_OK;
}

void data_options_init(struct data_options *data) {
    *data = (struct data_options){.read = dpl_read_defaults(), .area = dpl_area_defaults()};
    data->cell_m = data->area.cell_m;
    data->slot_s = data->area.slot_s;
    data->periods = data->area.periods;
    data->max_speed_kmh = data->area.speed_limit_kmh;
    data->max_gap_min = data->read.gap_limit_s / 60.0;
    data->drop = "trips";
    const struct option table[] = {
        {"format", 0, OPTION_TEXT, &data->read.format, NULL},
        {"trip-column", 0, OPTION_TEXT, &data->read.trip_column, NULL},
        {"user-column", 0, OPTION_TEXT, &data->read.user_column, NULL},
        {"time-column", 0, OPTION_TEXT, &data->read.time_column, NULL},
        {"lat-column", 0, OPTION_TEXT, &data->read.lat_column, NULL},
        {"lon-column", 0, OPTION_TEXT, &data->read.lon_column, NULL},
        {"date-column", 0, OPTION_TEXT, &data->read.date_column, NULL},
        {"time-format", 0, OPTION_TEXT, &data->read.time_format, NULL},
        {"coordinates", 0, OPTION_TEXT, &data->read.coordinates, NULL},
        {"columns", 0, OPTION_TEXT, &data->read.columns, NULL},
        {"separator", 0, OPTION_TEXT, &data->read.separator, NULL},
        {"time-unit", 0, OPTION_TEXT, &data->read.time_unit, NULL},
        {"strict", 0, OPTION_FLAG, &data->read.strict, NULL},
        {"region", 0, OPTION_TEXT, &data->region, NULL},
        {"regions", 0, OPTION_TEXT, &data->regions, NULL},
        {"bbox", 0, OPTION_TEXT, &data->bbox, NULL},
        {"tz", 0, OPTION_TEXT, &data->zone, NULL},
        {"cell", 0, OPTION_REAL, &data->cell_m, NULL},
        {"slot", 0, OPTION_WHOLE, &data->slot_s, NULL},
        {"periods", 0, OPTION_WHOLE, &data->periods, NULL},
        {"max-speed", 0, OPTION_REAL, &data->max_speed_kmh, NULL},
        {"max-gap", 0, OPTION_REAL, &data->max_gap_min, NULL},
        {"drop", 0, OPTION_TEXT, &data->drop, NULL},
        {"od", 0, OPTION_FLAG, &data->od, NULL},
        {"sql", 0, OPTION_CALL, data, set_query},
        {0},
    };
    _Static_assert(sizeof table <= sizeof data->table, "room for all options");
    memcpy(data->table, table, sizeof table);
}

static enum dpl_status parse_box(struct cli *cli, const char *text, struct dpl_area *area) {
    double *into[4] = {&area->south_deg, &area->west_deg, &area->north_deg, &area->east_deg};
    const char *at = text;
    for (int i = 0; i < 4; i++) {
        char *end;
        *into[i] = strtod(at, &end);
        if (end == at || *end != (i < 3 ? ',' : '\0'))
            return cli_usage(cli, "--bbox takes south,west,north,east in degrees, not '%s'", text);
        at = end + 1;
    }
    return DPL_OK;
}

static enum dpl_status no_area(struct cli *cli) {
    char names[512] = "";
    for (size_t i = 0; dpl_area_preset_name(i); i++) {
        size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "",
                 dpl_area_preset_name(i));
    }
    return cli_usage(cli,
                     "no area given: use --region (%s) or --bbox S,W,N,E with --tz; take the box "
                     "from a public map, never from the data: its extent is private",
                     names);
}

/* What cleaning drops, and from what on. */
static enum dpl_status set_cleaning(struct cli *cli, struct data_options *data) {
    bool points = !strcmp(data->drop, "points");
    if (!points && strcmp(data->drop, "trips") != 0)
        return cli_usage(cli, "--drop takes trips or points, not '%.40s'", data->drop);
    if (!(data->max_gap_min > 0 && data->max_gap_min < 1e6))
        return cli_usage(cli, "--max-gap takes minutes, up to 180");
    if (data->od && strcmp(data->read.format, "auto") != 0 && strcmp(data->read.format, "od") != 0)
        return cli_usage(cli, "--od and --format %.40s exclude each other", data->read.format);
    if (data->od) data->read.format = "od";
    data->read.drop_points = points;
    data->read.gap_limit_s = (int)rint(data->max_gap_min * 60);
    data->area.speed_limit_kmh = data->max_speed_kmh;
    return DPL_OK;
}

enum dpl_status data_options_area(struct cli *cli, struct data_options *data, bool required,
                                  bool *given) {
    struct dpl_area *area = &data->area;
    *given = data->region || data->bbox;
    data->read.zone = data->zone;
    enum dpl_status cleaning = set_cleaning(cli, data);
    if (cleaning != DPL_OK) return cleaning;
    if (!*given) return required ? no_area(cli) : DPL_OK;
    if (data->region && data->bbox) return cli_usage(cli, "--region and --bbox exclude each other");
    if (data->region) {
        enum dpl_status status =
            data->regions ? dpl_area_from_file(cli->run, data->regions, data->region, area)
                          : dpl_area_preset(cli->run, data->region, area);
        if (status != DPL_OK) return status;
    } else {
        enum dpl_status status = parse_box(cli, data->bbox, area);
        if (status != DPL_OK) return status;
    }
    if (data->zone) {
        if (strlen(data->zone) >= sizeof area->zone)
            return cli_usage(cli, "--tz: '%.40s...' is no time zone", data->zone);
        strcpy(area->zone, data->zone);
    }
    if (data->slot_s > 86400 || data->periods > 86400)
        return cli_usage(cli, "--slot and --periods are at most 86400");
    area->cell_m = data->cell_m;
    area->slot_s = (int)data->slot_s;
    area->periods = (int)data->periods;
    struct dpl_grid grid;
    return dpl_grid_make(cli->run, area, &grid); // checks it all before hours of reading
}
