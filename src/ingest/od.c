/* Rows that know a trip's two ends alone, as bike shares, taxi commissions and MDS publish them:
 *
 *     ride_id,started_at,ended_at,start_lat,start_lng,end_lat,end_lng
 *
 * A row is a trip of two points, on the straight line between which it is in the meantime. Chosen
 * by option alone (--od): such a table may as well have points in it. */
#include <ctype.h>
#include <string.h>

#include "ingest/format.h"
#include "ingest/number.h"

enum end_column { USER, TRIP, START_TIME, START_LAT, START_LON, END_TIME, END_LAT, END_LON, ENDS };

/* Letters and digits of the names that a column may have, in lower case; the first is how --columns
 * calls it. */
static const char *const NAMES[ENDS] = {
    [USER] = " user uid userid riderid customerid memberid personid deviceid driver driverid ",
    [TRIP] = " trip tripid tid rideid journeyid orderid rentalid ",
    [START_TIME] = " starttime startedat startdatetime starttimestamp startdate tripstart "
                   "pickupdatetime tpeppickupdatetime lpeppickupdatetime pickuptime departuretime "
                   "departure origintime ",
    [START_LAT] = " startlat startlatitude startstationlatitude startstationlat startlocationlat "
                  "pickuplatitude pickuplat originlat originlatitude fromlat olat ",
    [START_LON] = " startlon startlng startlongitude startstationlongitude startstationlng "
                  "startlocationlng startlocationlon pickuplongitude pickuplng pickuplon originlng "
                  "originlon originlongitude fromlng fromlon olng olon ",
    [END_TIME] = " endtime endedat enddatetime endtimestamp enddate tripend stoptime "
                 "dropoffdatetime tpepdropoffdatetime lpepdropoffdatetime dropofftime arrivaltime "
                 "arrival destinationtime ",
    [END_LAT] = " endlat endlatitude endstationlatitude endstationlat endlocationlat "
                "dropofflatitude dropofflat destinationlat destinationlatitude destlat tolat dlat ",
    [END_LON] = " endlon endlng endlongitude endstationlongitude endstationlng endlocationlng "
                "endlocationlon dropofflongitude dropofflng dropofflon destinationlng "
                "destinationlon destinationlongitude destlng destlon tolng tolon dlng dlon ",
};
static const char *const WORDS[ENDS] = {"user",      "trip",     "start_time", "start_lat",
                                        "start_lon", "end_time", "end_lat",    "end_lon"};

/* ---- columns ---- */

static bool is_named(struct field field, const char *names) {
    char plain[64] = " ";
    size_t length = 1;
    for (size_t i = 0; i < field.length && length + 2 < sizeof plain; i++)
        if (isalnum((unsigned char)field.text[i]))
            plain[length++] = (char)tolower((unsigned char)field.text[i]);
    plain[length++] = ' ';
    plain[length] = '\0';
    return length > 2 && strstr(names, plain);
}

static enum dpl_status find_columns(struct dpl_run *run, const char *where,
                                    const struct field *fields, int count, bool by_option,
                                    struct columns *columns) {
    for (int c = 0; c < ENDS; c++) {
        columns->column_of[c] = -1;
        columns->name[c] = WORDS[c];
        for (int i = 0; i < count; i++) {
            bool fits =
                by_option ? dpl_field_is(fields[i], WORDS[c]) : is_named(fields[i], NAMES[c]);
            if (!fits) continue;
            if (columns->column_of[c] >= 0)
                return dpl_fail(run, DPL_USAGE, "%s: two columns may be the %s", where, WORDS[c]);
            columns->column_of[c] = i;
        }
        if (columns->column_of[c] < 0 && c >= START_TIME)
            return dpl_fail(run, DPL_USAGE,
                            "%s: no column is the %s of a trip (rows of origin and destination "
                            "have start_time, start_lat, start_lon, end_time, end_lat, end_lon, or "
                            "`read.columns` names them in order, '-' for others)",
                            where, WORDS[c]);
        if (columns->column_of[c] >= columns->count) columns->count = columns->column_of[c] + 1;
    }
    return DPL_OK;
}

static enum dpl_status check_columns(struct dpl_run *run, const struct dpl_read_options *options) {
    struct field words[MAX_COLUMNS];
    struct columns columns = {0};
    int count = dpl_split_line(options->columns, strlen(options->columns), ',', words);
    return find_columns(run, "`read.columns`", words, count, true, &columns);
}

static enum dpl_status open_layout(const struct opening *opening, struct layout *layout) {
    const struct dpl_read_options *options = opening->options;
    struct columns *columns = dpl_arena_take(opening->run, opening->arena, sizeof *columns);
    struct field fields[MAX_COLUMNS], next, line = dpl_take_line(opening->header, &next);
    if (!columns) return DPL_SYSTEM;
    const bool by_option = options->columns != NULL;
    if (by_option) line = (struct field){options->columns, strlen(options->columns)};
    columns->delimiter = dpl_separator_given(options, line);
    int count =
        dpl_split_line(line.text, line.length, by_option ? ',' : columns->delimiter, fields);
    DPL_TRY(find_columns(opening->run, opening->name, fields, count, by_option, columns));
    columns->time = (struct time_format){dpl_time_units(options->time_unit), opening->zone,
                                         options->time_format};
    (void)dpl_coordinates_parse(options->coordinates, &columns->coordinates); // auto: degrees
    layout->columns = columns;
    layout->split = SPLIT_ENDS;
    layout->no_users = columns->column_of[USER] < 0;
    return DPL_OK;
}

/* ---- rows ---- */

static enum dpl_reject read_time(struct block *block, struct field value, int64_t *utc_s) {
    enum time_notation notation;
    switch (
        dpl_time_parse(&block->layout->columns->time, value.text, value.length, utc_s, &notation)) {
    case TIME_OK: block_note_time(block, notation); return DPL_REJECTS;
    case TIME_OUT_OF_RANGE: return DPL_REJECT_TIME_OUT_OF_RANGE;
    default: return DPL_REJECT_BAD_TIME;
    }
}

/* One end of the trip; *column is the one at fault. */
static enum dpl_reject read_end(struct block *block, const struct field *fields,
                                enum end_column first, struct point *point, int *column) {
    const struct columns *columns = block->layout->columns;
    enum dpl_reject reason;
    *column = (int)first;
    reason = read_time(block, fields[columns->column_of[first]], &point->utc_s);
    if (reason != DPL_REJECTS) return reason;
    double *const degrees[] = {&point->lat_deg, &point->lon_deg};
    for (int i = 0; i < 2; i++) {
        *column = (int)first + 1 + i;
        struct field field = fields[columns->column_of[*column]];
        if (!dpl_parse_decimal(field.text, field.length, degrees[i])) return DPL_REJECT_BAD_NUMBER;
    }
    reason = dpl_block_settle(block, &columns->coordinates, point);
    *column = (int)first + (reason == DPL_REJECT_BAD_LONGITUDE ? 2 : 1);
    return reason;
}

static struct dpl_key id_of(const struct columns *columns, const struct field *fields,
                            enum end_column column, uint64_t seed) {
    int at = columns->column_of[column];
    if (at < 0 || !fields[at].length) return (struct dpl_key){0, 0};
    return dpl_hash(fields[at].text, fields[at].length, seed);
}

static enum dpl_status parse_row(struct block *block, struct field line) {
    const struct columns *columns = block->layout->columns;
    struct field fields[MAX_COLUMNS];
    struct point point[2];
    int column = 0, count = dpl_split_line(line.text, line.length, columns->delimiter, fields);
    if (count < columns->count) {
        dpl_block_reject(block, count < 0 ? DPL_REJECT_BAD_QUOTES : DPL_REJECT_MISSING_FIELD, NULL,
                         line);
        return DPL_OK;
    }
    enum dpl_reject reason = read_end(block, fields, START_TIME, &point[0], &column);
    if (reason == DPL_REJECTS) reason = read_end(block, fields, END_TIME, &point[1], &column);
    if (reason == DPL_REJECTS && point[1].utc_s < point[0].utc_s) {
        reason = DPL_REJECT_BACKWARDS;
        column = END_TIME;
    }
    if (reason != DPL_REJECTS) {
        dpl_block_reject(block, reason, columns->name[column], fields[columns->column_of[column]]);
        return DPL_OK;
    }
    struct dpl_key user = id_of(columns, fields, USER, SEED_USER);
    DPL_TRY(dpl_block_add_group(block, (struct dpl_key){0, 0}, user));
    dpl_block_name_rows(block, id_of(columns, fields, TRIP, SEED_TRIP), user);
    DPL_TRY(dpl_block_add_point(block, point[0]));
    return dpl_block_add_point(block, point[1]);
}

static enum dpl_status parse(struct block *block) {
    const char *text = block->text;
    struct field line;
    while (dpl_block_next_row(block, &text, &line)) DPL_TRY(parse_row(block, line));
    return DPL_OK;
}

const struct format DPL_FORMAT_OD = {.name = "od",
                                     .about =
                                         "origin and destination, a trip a row (only by option)",
                                     .header_lines = 1,
                                     .check_columns = check_columns,
                                     .open = open_layout,
                                     .parse = parse};
