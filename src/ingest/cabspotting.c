/* Cabspotting: one file new_NAME.txt a cab, "lat lon occupied unixtime" a line, newest first. A
 * trip is a run of occupied records; the user is the cab. The file is needed whole, because runs
 * are runs in time. */
#include <math.h>
#include <string.h>

#include "ingest/format.h"
#include "ingest/number.h"
#include "ingest/order.h"

enum { CAB_FIELDS = 4 };

struct cab_row {
    double lat_deg, lon_deg;
    int64_t occupied, utc_s;
};

/* One line; NULL when it does not have the shape. */
static const char *scan_row(const char *text, struct cab_row *row) {
    text = scan_decimal(text, &row->lat_deg);
    if (!text || *text++ != ' ') return NULL;
    text = scan_decimal(text, &row->lon_deg);
    if (!text || *text++ != ' ') return NULL;
    text = scan_whole(text, &row->occupied);
    if (!text || *text++ != ' ') return NULL;
    text = scan_whole(text, &row->utc_s);
    if (!text || row->occupied > 1) return NULL;
    while (*text == ' ' || *text == '\r') text++;
    return *text == '\n' ? text + 1 : NULL;
}

static bool named(const char *base) {
    return strlen(base) > 8 && !strncmp(base, "new_", 4) && dpl_name_ends(base, ".txt");
}

static bool has_point(struct field field) { return memchr(field.text, '.', field.length) != NULL; }

static bool row_like(struct field line) {
    static const double WHOLE_MOST = 1e15; // what is larger may be no int64_t
    struct field fields[MAX_COLUMNS];
    double number;
    if (dpl_split_line(line.text, line.length, ' ', fields) != CAB_FIELDS) return false;
    for (int i = 0; i < CAB_FIELDS; i++)
        if (!dpl_parse_number(fields[i].text, fields[i].length, &number)) return false;
    return has_point(fields[0]) && has_point(fields[1]) && !has_point(fields[3]) &&
           (dpl_field_is(fields[2], "0") || dpl_field_is(fields[2], "1")) &&
           fabs(number) < WHOLE_MOST && dpl_time_in_range((int64_t)number);
}

static bool looks_like(struct field first, struct field second) {
    return row_like(first) && row_like(second);
}

static enum dpl_status open_layout(const struct opening *opening, struct layout *layout) {
    const char *base = dpl_base_name(opening->name);
    layout->user = dpl_hash(base, strlen(base), SEED_USER);
    layout->split = SPLIT_NONE;
    return DPL_OK;
}

/* What is wrong with a line that scan_row refused, or whose numbers make no sense. */
static void reject_line(struct block *block, struct field line) {
    static const char *const NAMES[] = {"lat", "lon", "occupied", "time"};
    struct field fields[MAX_COLUMNS];
    int count = dpl_split_line(line.text, line.length, ' ', fields);
    if (count != CAB_FIELDS) {
        dpl_block_reject(block, DPL_REJECT_MISSING_FIELD, NULL, line);
        return;
    }
    double value;
    for (int i = 0; i < CAB_FIELDS; i++)
        if (!dpl_parse_number(fields[i].text, fields[i].length, &value)) {
            dpl_block_reject(block, i == 3 ? DPL_REJECT_BAD_TIME : DPL_REJECT_BAD_NUMBER, NAMES[i],
                             fields[i]);
            return;
        }
    dpl_block_reject(block, DPL_REJECT_BAD_NUMBER, NULL, line);
}

/* Appends the row's point and flag; a bad row is counted instead. */
static enum dpl_status take_row(struct block *block, struct field line) {
    struct cab_row row;
    if (!scan_row(line.text, &row)) {
        reject_line(block, line);
        return DPL_OK;
    }
    enum dpl_reject reason = check_position(row.lat_deg, row.lon_deg);
    if (reason == DPL_REJECTS && !dpl_time_in_range(row.utc_s))
        reason = DPL_REJECT_TIME_OUT_OF_RANGE;
    if (reason != DPL_REJECTS) {
        dpl_block_reject(block, reason, NULL, line);
        return DPL_OK;
    }
    DPL_TRY(dpl_grow(block->run, &block->flags, &block->flags_capacity, block->n_points + 1, 1));
    block->flags[block->n_points] = (uint8_t)row.occupied;
    return dpl_block_add_point(block, (struct point){row.utc_s, row.lat_deg, row.lon_deg});
}

/* Packs the flag beside the time while sorting: time * 2 + flag keeps the order of times. */
static enum dpl_status sort_with_flags(struct block *block) {
    for (size_t i = 0; i < block->n_points; i++)
        block->points[i].utc_s = block->points[i].utc_s * 2 + block->flags[i];
    enum dpl_status status = dpl_order_points(block->run, block->points, block->n_points);
    for (size_t i = 0; i < block->n_points; i++) {
        block->flags[i] = (uint8_t)(block->points[i].utc_s & 1);
        block->points[i].utc_s >>= 1;
    }
    return status;
}

static enum dpl_status parse(struct block *block) {
    DPL_TRY(dpl_block_add_group(block, (struct dpl_key){0}, block->layout->user));
    const char *text = block->text;
    struct field line;
    while (dpl_block_next_row(block, &text, &line)) DPL_TRY(take_row(block, line));
    block_note_time(block, TIME_S);
    DPL_TRY(sort_with_flags(block));
    block->n_groups = 0;
    for (size_t i = 0; i < block->n_points;) {
        size_t stop = i;
        while (stop < block->n_points && block->flags[stop]) stop++;
        if (stop > i) {
            DPL_TRY(dpl_block_add_group(block, (struct dpl_key){0}, block->layout->user));
            block->groups[block->n_groups - 1].first = i;
            block->groups[block->n_groups - 1].n = stop - i;
        }
        i = stop + 1;
    }
    return DPL_OK;
}

const struct format DPL_FORMAT_CABSPOTTING = {.name = "cabspotting",
                                              .about = "Cabspotting's new_*.txt, a file a cab",
                                              .one_person = true,
                                              .named = named,
                                              .looks_like = looks_like,
                                              .open = open_layout,
                                              .parse = parse};
