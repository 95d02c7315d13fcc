/* GeoLife: NNN/Trajectory/TIME.plt, six header lines, then
 * "lat,lon,0,altitude_ft,days_since_1899,YYYY-MM-DD,hh:mm:ss" in GMT. The user is the folder above
 * Trajectory. A file is one recording; cleaning cuts it where the person stays. */
#include <string.h>

#include "ingest/format.h"
#include "ingest/number.h"

enum {
    HEADER_LINES = 6,
    COLUMN_LAT = 0,
    COLUMN_LON = 1,
    COLUMN_DATE = 5,
    COLUMN_TIME = 6,
    COLUMNS_NEEDED = 7
};

static bool named(const char *base) { return dpl_name_ends(base, ".plt"); }

/* "Geolife trajectory", or at least the second line's "WGS 84". */
static bool header_is_good(struct field header) {
    struct field first = dpl_take_line(header, &header), second = dpl_take_line(header, &header);
    return (first.length >= 7 && !strncmp(first.text, "Geolife", 7)) ||
           dpl_field_is(second, "WGS 84");
}

/* The folder above "Trajectory", else the one the file is in. */
static struct field user_folder(const char *name) {
    const char *end = dpl_base_name(name);
    if (end == name) return (struct field){name, 0};
    end--; // the separator in front of the file
    for (int level = 0; level < 2; level++) {
        const char *begin = end;
        while (begin > name && begin[-1] != '/' && begin[-1] != ':') begin--;
        struct field folder = {begin, (size_t)(end - begin)};
        bool trajectory = folder.length == 10 && !strncmp(folder.text, "Trajectory", 10);
        if (!trajectory || begin == name) return folder;
        end = begin - 1;
    }
    return (struct field){name, 0};
}

static enum dpl_status open_layout(const struct opening *opening, struct layout *layout) {
    struct field user = user_folder(opening->name);
    if (!header_is_good(opening->header))
        return dpl_fail(opening->run, DPL_BAD_DATA,
                        "%s:1: not GeoLife's header (\"Geolife trajectory\", \"WGS 84\", ...)",
                        opening->name);
    if (user.length) layout->user = dpl_hash(user.text, user.length, SEED_USER);
    layout->split = SPLIT_STAYS;
    return DPL_OK;
}

/* One data line to a point, or the reason why not and the column at fault. */
static enum dpl_reject read_row(struct field line, struct point *point, const char **column,
                                struct field *value) {
    static const char *const NAMES[COLUMNS_NEEDED] = {"latitude", "longitude", "",    "altitude",
                                                      "days",     "date",      "time"};
    struct field fields[MAX_COLUMNS];
    *column = NULL;
    *value = line;
    int count = dpl_split_line(line.text, line.length, ',', fields);
    if (count < 0) return DPL_REJECT_BAD_QUOTES;
    if (count < COLUMNS_NEEDED) return DPL_REJECT_MISSING_FIELD;
    double *into[2] = {&point->lat_deg, &point->lon_deg};
    for (int i = COLUMN_LAT; i <= COLUMN_LON; i++) {
        *column = NAMES[i], *value = fields[i];
        if (!dpl_parse_number(fields[i].text, fields[i].length, into[i]))
            return DPL_REJECT_BAD_NUMBER;
    }
    enum dpl_reject reason = check_position(point->lat_deg, point->lon_deg);
    if (reason == DPL_REJECT_BAD_LATITUDE) *column = NAMES[COLUMN_LAT], *value = fields[COLUMN_LAT];
    if (reason != DPL_REJECTS) return reason;
    char stamp[24] = "";
    *column = NAMES[COLUMN_DATE], *value = fields[COLUMN_DATE];
    if (fields[COLUMN_DATE].length != 10 || fields[COLUMN_TIME].length != 8)
        return DPL_REJECT_BAD_TIME;
    snprintf(stamp, sizeof stamp, "%.10s %.8s", fields[COLUMN_DATE].text, fields[COLUMN_TIME].text);
    if (!dpl_scan_iso(stamp, &point->utc_s)) return DPL_REJECT_BAD_TIME;
    return dpl_time_in_range(point->utc_s) ? DPL_REJECTS : DPL_REJECT_TIME_OUT_OF_RANGE;
}

static enum dpl_status parse(struct block *block) {
    DPL_TRY(dpl_block_add_group(block, (struct dpl_key){0}, block->layout->user));
    const char *text = block->text, *column;
    struct field line, value;
    while (dpl_block_next_row(block, &text, &line)) {
        struct point point;
        enum dpl_reject reason = read_row(line, &point, &column, &value);
        if (reason == DPL_REJECTS)
            DPL_TRY(dpl_block_add_point(block, point));
        else
            dpl_block_reject(block, reason, column, value);
    }
    block_note_time(block, TIME_GMT);
    return DPL_OK;
}

const struct format DPL_FORMAT_GEOLIFE = {.name = "geolife",
                                          .about = "GeoLife's NNN/Trajectory/*.plt, a file a track",
                                          .one_person = true,
                                          .header_lines = HEADER_LINES,
                                          .named = named,
                                          .open = open_layout,
                                          .parse = parse};
