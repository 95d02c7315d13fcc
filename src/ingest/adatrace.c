/* The format of AdaTrace, PrivTrace, LDPTrace and their like, usually called NAME.dat: two lines a
 * trip, "#7:" and ">0:x,y;x,y;...;". x is the longitude and y the latitude, unless --columns
 * lat,lon says otherwise. There are no times and no users: the points are in order, one slot apart.
 *
 * PRIVACY: a line that begins with '>' is a trip whatever stands before it; the lines with '#' are
 * passed over. */
#include <string.h>

#include "ingest/format.h"
#include "ingest/number.h"

static bool named(const char *base) { return dpl_name_ends(base, ".dat"); }

static bool looks_like(struct field first, struct field second) {
    return first.length > 1 && *first.text == '#' && second.length > 2 && *second.text == '>';
}

static enum dpl_status check_columns(struct dpl_run *run, const struct dpl_read_options *options) {
    if (!strcmp(options->columns, "lon,lat") || !strcmp(options->columns, "lat,lon")) return DPL_OK;
    return dpl_fail(
        run, DPL_USAGE,
        "`read.columns` takes lon,lat or lat,lon with `read.format` adatrace, not '%.64s'",
        options->columns);
}

static enum dpl_status open_layout(const struct opening *opening, struct layout *layout) {
    const struct dpl_read_options *options = opening->options;
    if (!options->time_optional)
        return dpl_fail(opening->run, DPL_USAGE,
                        "%s: the format adatrace has no times, and a fit needs them (inspect, eval "
                        "and report read it)",
                        opening->name);
    layout->split = SPLIT_NONE;
    layout->timed = false;
    layout->no_users = true;
    (void)dpl_coordinates_parse(options->coordinates, &layout->coordinates); // auto: degrees
    layout->lat_first = options->columns && !strcmp(options->columns, "lat,lon");
    return DPL_OK;
}

/* One "x,y" to a point. */
static enum dpl_reject read_pair(struct block *block, struct field pair, struct point *point) {
    const bool lat_first = block->layout->lat_first;
    struct field part[MAX_COLUMNS];
    double value[2];
    if (dpl_split_line(pair.text, pair.length, ',', part) != 2) return DPL_REJECT_BAD_POLYLINE;
    for (int i = 0; i < 2; i++)
        if (!dpl_parse_number(part[i].text, part[i].length, &value[i]))
            return DPL_REJECT_BAD_NUMBER;
    *point = (struct point){UNTIMED_S, value[lat_first ? 0 : 1], value[lat_first ? 1 : 0]};
    return dpl_block_settle(block, &block->layout->coordinates, point);
}

/* "x,y;x,y;" into the last group. A bad pair is the whole trip's: without it all later points would
 * move by a slot. */
static enum dpl_reject read_pairs(struct block *block, struct field text, enum dpl_status *status) {
    const char *at = text.text, *end = text.text + text.length;
    while (at < end) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        if (!stop) stop = end;
        struct point point;
        struct field pair = {at, (size_t)(stop - at)};
        enum dpl_reject reason = read_pair(block, pair, &point);
        if (reason != DPL_REJECTS) return reason;
        *status = dpl_block_add_point(block, point);
        if (*status != DPL_OK) return DPL_REJECTS;
        at = stop + 1;
    }
    return DPL_REJECTS;
}

static enum dpl_status read_trip(struct block *block, struct field line) {
    const char *colon = memchr(line.text, ':', line.length);
    enum dpl_status status = DPL_OK;
    if (*line.text != '>' || !colon) {
        dpl_block_reject(block, DPL_REJECT_BAD_POLYLINE, NULL, line);
        return DPL_OK;
    }
    struct field pairs = {colon + 1, (size_t)(line.text + line.length - colon - 1)};
    DPL_TRY(dpl_block_add_group(block, (struct dpl_key){0, 0}, (struct dpl_key){0, 0}));
    enum dpl_reject reason = read_pairs(block, pairs, &status);
    if (reason != DPL_REJECTS) {
        dpl_block_reject(block, reason, NULL, line);
        dpl_block_drop_group(block);
    }
    return status;
}

static enum dpl_status parse(struct block *block) {
    const char *text = block->text;
    struct field line;
    while (dpl_block_next_row(block, &text, &line))
        if (*line.text == '#')
            block->rows--;
        else
            DPL_TRY(read_trip(block, line));
    return DPL_OK;
}

const struct format DPL_FORMAT_ADATRACE = {
    .name = "adatrace",
    .about = "two lines a trip, \"#7:\" and \">0:x,y;x,y;\", without times",
    .named = named,
    .looks_like = looks_like,
    .check_columns = check_columns,
    .open = open_layout,
    .parse = parse};
