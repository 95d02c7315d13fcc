/* Porto (ECML/PKDD 2015): one row a trip, POLYLINE holds [[lon,lat],...] every 15 s from TIMESTAMP
 * on. Rows that the source itself marks MISSING_DATA are counted and dropped. */
#include <string.h>

#include "ingest/format.h"
#include "ingest/number.h"

enum { POINT_EVERY_S = 15 };

/* The columns we use; their places are found in the header. */
enum porto_column { COLUMN_TAXI, COLUMN_TIMESTAMP, COLUMN_MISSING, COLUMN_POLYLINE, PORTO_COLUMNS };
static const char *const NAMES[PORTO_COLUMNS] = {"TAXI_ID", "TIMESTAMP", "MISSING_DATA",
                                                 "POLYLINE"};

static bool headed(struct field line) {
    struct field fields[MAX_COLUMNS];
    int count = dpl_split_line(line.text, line.length, ',', fields);
    bool polyline = false, timestamp = false;
    for (int i = 0; i < count; i++) {
        polyline |= fields[i].length == 8 && !memcmp(fields[i].text, "POLYLINE", 8);
        timestamp |= fields[i].length == 9 && !memcmp(fields[i].text, "TIMESTAMP", 9);
    }
    return polyline && timestamp;
}

static enum dpl_status open_layout(const struct opening *opening, struct layout *layout) {
    struct columns *columns = dpl_arena_take(opening->run, opening->arena, sizeof *columns);
    if (!columns) return DPL_SYSTEM;
    struct field next, line = dpl_take_line(opening->header, &next), fields[MAX_COLUMNS];
    int count = dpl_split_line(line.text, line.length, ',', fields);
    columns->delimiter = ',';
    for (int c = 0; c < PORTO_COLUMNS; c++) {
        columns->column_of[c] = -1;
        for (int i = 0; i < count; i++)
            if (fields[i].length == strlen(NAMES[c]) &&
                !memcmp(fields[i].text, NAMES[c], fields[i].length))
                columns->column_of[c] = i;
        if (columns->column_of[c] >= columns->count) columns->count = columns->column_of[c] + 1;
    }
    for (int c = COLUMN_TIMESTAMP; c < PORTO_COLUMNS; c++)
        if (columns->column_of[c] < 0 && c != COLUMN_MISSING)
            return dpl_fail(opening->run, DPL_BAD_DATA,
                            "%s:1: no column %s; Porto's table has the columns TAXI_ID, TIMESTAMP, "
                            "MISSING_DATA and POLYLINE",
                            opening->name, NAMES[c]);
    layout->columns = columns;
    layout->split = SPLIT_NONE;
    layout->no_users = columns->column_of[COLUMN_TAXI] < 0;
    return DPL_OK;
}

/* One "[lon,lat]" at text; NULL when it is not there. */
static const char *scan_pair(const char *text, double *lon_deg, double *lat_deg) {
    if (*text++ != '[') return NULL;
    text = scan_decimal(text, lon_deg);
    if (!text || *text++ != ',') return NULL;
    if (*text == ' ') text++;
    text = scan_decimal(text, lat_deg);
    return text && *text == ']' ? text + 1 : NULL;
}

/* "[[-8.61,41.14],[-8.62,41.15]]" into the last group. A bad pair is the whole row's: without it
 * all later points would move in time. */
static enum dpl_reject read_polyline(struct block *block, struct field text, int64_t utc_s,
                                     enum dpl_status *status) {
    const char *at = text.text, *end = text.text + text.length;
    if (!text.length || *at++ != '[') return DPL_REJECT_BAD_POLYLINE;
    while (at < end && *at != ']') {
        double lat_deg, lon_deg;
        at = scan_pair(at, &lon_deg, &lat_deg);
        if (!at) return DPL_REJECT_BAD_POLYLINE;
        enum dpl_reject reason = check_position(lat_deg, lon_deg);
        if (reason != DPL_REJECTS) return reason;
        *status = dpl_block_add_point(block, (struct point){utc_s, lat_deg, lon_deg});
        if (*status != DPL_OK) return DPL_REJECTS;
        utc_s += POINT_EVERY_S;
        if (*at == ',') at++;
        if (at < end && *at == ' ') at++;
    }
    return at == end - 1 ? DPL_REJECTS : DPL_REJECT_BAD_POLYLINE;
}

static bool is_true(struct field field) {
    return field.length == 4 && (!memcmp(field.text, "True", 4) || !memcmp(field.text, "TRUE", 4) ||
                                 !memcmp(field.text, "true", 4));
}

static void reject(struct block *block, enum dpl_reject reason, enum porto_column column,
                   struct field value) {
    dpl_block_reject(block, reason, column < PORTO_COLUMNS ? NAMES[column] : NULL, value);
}

static enum dpl_status parse_row(struct block *block, struct field line) {
    static const struct time_format EPOCH = {1, NULL, NULL};
    const struct columns *columns = block->layout->columns;
    struct field fields[MAX_COLUMNS];
    int count = dpl_split_line(line.text, line.length, ',', fields);
    if (count < columns->count) {
        reject(block, count < 0 ? DPL_REJECT_BAD_QUOTES : DPL_REJECT_MISSING_FIELD, PORTO_COLUMNS,
               line);
        return DPL_OK;
    }
    int missing = columns->column_of[COLUMN_MISSING], taxi = columns->column_of[COLUMN_TAXI];
    struct field stamp = fields[columns->column_of[COLUMN_TIMESTAMP]],
                 polyline = fields[columns->column_of[COLUMN_POLYLINE]];
    if (missing >= 0 && is_true(fields[missing])) {
        reject(block, DPL_REJECT_MISSING_DATA, COLUMN_MISSING, fields[missing]);
        return DPL_OK;
    }
    int64_t utc_s;
    enum time_notation notation;
    enum time_result result = dpl_time_parse(&EPOCH, stamp.text, stamp.length, &utc_s, &notation);
    if (result != TIME_OK) {
        reject(block, result == TIME_MALFORMED ? DPL_REJECT_BAD_TIME : DPL_REJECT_TIME_OUT_OF_RANGE,
               COLUMN_TIMESTAMP, stamp);
        return DPL_OK;
    }
    struct dpl_key user = {0, 0};
    if (taxi >= 0 && fields[taxi].length)
        user = dpl_hash(fields[taxi].text, fields[taxi].length, SEED_USER);
    enum dpl_status status = DPL_OK;
    DPL_TRY(dpl_block_add_group(block, (struct dpl_key){0, 0}, user));
    enum dpl_reject reason = read_polyline(block, polyline, utc_s, &status);
    if (reason != DPL_REJECTS) {
        reject(block, reason, COLUMN_POLYLINE, polyline);
        dpl_block_drop_group(block);
    }
    return status;
}

static enum dpl_status parse(struct block *block) {
    const char *text = block->text;
    struct field line;
    while (dpl_block_next_row(block, &text, &line)) DPL_TRY(parse_row(block, line));
    block_note_time(block, TIME_S);
    return DPL_OK;
}

const struct format DPL_FORMAT_PORTO = {.name = "porto",
                                        .about = "Porto's table (ECML/PKDD 2015), a POLYLINE a row",
                                        .header_lines = 1,
                                        .headed = headed,
                                        .open = open_layout,
                                        .parse = parse};
