/* The library's messages name the member of an option struct that is at fault, in backquotes; a
 * reader of the command line knows the option that sets it. */
#include <string.h>

#include "cli.h"

static const struct {
    const char *field, *option;
} FIELDS[] = {
    {"area", "--region or --bbox S,W,N,E"},
    {"area.south_deg,west_deg,north_deg,east_deg", "--bbox S,W,N,E"},
    {"dpl_area_preset", "--region"},
    {"area.cell_m", "--cell"},
    {"area.slot_s", "--slot"},
    {"area.periods", "--periods"},
    {"area.zone", "--tz"},
    {"read.zone", "--tz"},
    {"read.format", "--format"},
    {"read.columns", "--columns"},
    {"read.separator", "--separator"},
    {"read.trip_column", "--trip-column"},
    {"read.user_column", "--user-column"},
    {"read.time_column", "--time-column"},
    {"read.lat_column", "--lat-column"},
    {"read.lon_column", "--lon-column"},
    {"read.time_unit", "--time-unit"},
    {"read.date_column", "--date-column"},
    {"read.time_format", "--time-format"},
    {"read.coordinates", "--coordinates"},
    {"read.gap_limit_s", "--max-gap"},
    {"read.drop_points", "--drop points"},
    {"area.speed_limit_kmh", "--max-speed"},
    {"read.strict", "--strict"},
    {"travel", "--travel"},
    {"fit.memory_mb", "--memory"},
    {"budget.epsilon", "--epsilon"},
    {"budget.delta", "--delta"},
    {"budget.unit", "--unit"},
    {"attack.unit", "--unit"},
    {"budget.trips_max", "--trips-max"},
    {"budget.insecure_seed", "--insecure-seed"},
    {"fit.method", "--method"},
    {"fit.mechanism", "--mechanism"},
    {"fit.trips_as_cut", "--trips-as-cut"},
    {"fit.accept_weak", "--accept-weak"},
    {"fit.size", "--size"},
    {"fit.coverage", "--coverage"},
    {"fit.kl_weight", "--kl-weight"},
    {"fit.no_destination", "--no-destination"},
    {"fit.as_published", "--as-published"},
    {"fit.sglt_form", "--sglt-form"},
    {"fit.keep", "--keep"},
    {"fit.shares", "--shares"},
    {"fit.sigmas.lengths", "--sigma-lengths"},
    {"fit.sigmas.topk", "--sigma-topk"},
    {"fit.sigmas.ti", "--sigma-ti"},
    {"fit.sigmas.tpg", "--sigma-tpg"},
    {"fit.ledger", "--ledger"},
    {"fit.dataset", "--dataset"},
    {"fit.new_data", "--new-data"},
    {"fit.total_epsilon", "--total-epsilon"},
    {"fit.total_delta", "--total-delta"},
    {"fit.checkpoint", "--checkpoint"},
    {"fit.resume", "--resume"},
    {"fit.restart", "--restart"},
    {"fit.hold_out", "--hold-out"},
    {"fit.roads", "--roads"},
    {"fit.travel", "--travel"},
    {"sample.mh_steps", "--mh-steps"},
    {"sample.seed", "--seed"},
    {"sample.block", "--block"},
    {"sample.interval_s", "--interval"},
    {"sample.gps_error_m", "--gps-error"},
    {"sample.date", "--dates"},
    {"read.dates", "--dates"},
    {"sample.times", "--times"},
    {"sample.points", "--points"},
    {"sample.roads", "--roads"},
    {"sample.travel", "--travel"},
    {"sample.to", "--to"},
    {"sample.columns_out", "--columns-out"},
    {"sample.license", "--license"},
    {"sample.release", "--release"},
    {"report.basemap", "--basemap"},
    {"report.zones", "--zones"},
    {"attack.unit", "--unit"},
    {"report.attack", "--attack"},
    {"report.ledger", "--ledger"},
    {"overwrite", "--force"},
    {"dpl_measure_about", "dploc eval --explain"},
};

static const char *option_of(const char *field, size_t length) {
    for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++)
        if (strlen(FIELDS[i].field) == length && !strncmp(FIELDS[i].field, field, length))
            return FIELDS[i].option;
    return NULL;
}

/* The option of the field that `text` begins with, in backquotes; *length of it there. */
static const char *field_at(const char *text, size_t *length) {
    const char *end = *text == '`' ? strchr(text + 1, '`') : NULL;
    if (!end) return NULL;
    *length = (size_t)(end - text) + 1;
    return option_of(text + 1, *length - 2);
}

const char *cli_fields(const char *text, char *room, size_t size) {
    size_t used = 0;
    while (*text && used + 1 < size) {
        size_t length = 1;
        const char *option = field_at(text, &length);
        if (option)
            used += (size_t)snprintf(room + used, size - used, "%s", option);
        else
            room[used++] = *text, length = 1;
        text += length;
    }
    room[used < size ? used : size - 1] = '\0';
    return room;
}
