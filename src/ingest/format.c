/* The table of formats, and what they share. */
#include "ingest/format.h"

#include <ctype.h>
#include <string.h>

static const struct format *const FORMATS[] = {&FORMAT_GEOJSONL, &FORMAT_PORTO, &FORMAT_GEOLIFE,
                                               &FORMAT_CABSPOTTING, &FORMAT_CSV};
enum { N_FORMATS = sizeof FORMATS / sizeof *FORMATS };

const char *dpl_reject_name(enum dpl_reject reason) {
    static const char *const NAMES[DPL_REJECTS] = {
        "missing_field",    "bad_number",         "bad_latitude",      "bad_longitude",
        "zero_coordinates", "bad_time",           "time_out_of_range", "no_id",
        "bad_quotes",       "nul_byte",           "line_too_long",     "missing_data",
        "bad_polyline",     "time_runs_backwards"};
    return reason < DPL_REJECTS ? NAMES[reason] : "";
}

const char *dpl_format_name(size_t i) { return i < N_FORMATS ? FORMATS[i]->name : NULL; }

const struct format *format_named(const char *name) {
    for (size_t i = 0; i < N_FORMATS; i++)
        if (!strcmp(name, FORMATS[i]->name)) return FORMATS[i];
    return NULL;
}

const struct format *format_detect(const struct sample *sample) {
    for (size_t i = 0; i < N_FORMATS; i++)
        if (FORMATS[i]->matches(sample)) return FORMATS[i];
    return NULL;
}

void block_reject(struct block *block, enum dpl_reject reason, int64_t line, const char *column,
                  struct field value) {
    if (block->rejected[reason]++) return;
    struct example *example = &block->example[reason];
    *example = (struct example){.line = line, .column = column};
    size_t length = 0;
    for (size_t i = 0; i < value.length && length + 8 < sizeof example->value;
         i++) // control bytes would garble a terminal
        length += (size_t)snprintf(example->value + length, sizeof example->value - length,
                                   isprint((unsigned char)value.text[i]) ? "%c" : "\\x%02x",
                                   (unsigned char)value.text[i]);
    if (value.length > length)
        snprintf(example->value + length, sizeof example->value - length, "...");
}

enum dpl_status block_add_group(struct block *block, struct dpl_key key, struct dpl_key user) {
    DPL_TRY(dpl_grow(block->run, &block->groups, &block->groups_capacity, block->n_groups + 1,
                     sizeof *block->groups));
    block->groups[block->n_groups++] =
        (struct group){.key = key, .user = user, .first = block->n_points};
    block_name_rows(block, (struct dpl_key){0, 0}, user);
    return DPL_OK;
}

void block_name_rows(struct block *block, struct dpl_key trip, struct dpl_key user) {
    if (block->identifier) identifier_name(block->identifier, trip, user);
}

enum dpl_status block_add_point(struct block *block, struct point point) {
    if (block->n_points == block->points_capacity)
        DPL_TRY(dpl_grow(block->run, &block->points, &block->points_capacity, block->n_points + 1,
                         sizeof *block->points));
    block->points[block->n_points++] = point;
    if (block->identifier) identifier_add(block->identifier, &point);
    block->groups[block->n_groups - 1].n++;
    return DPL_OK;
}

static struct field trim(struct field field) {
    while (field.length && (*field.text == ' ' || *field.text == '\t'))
        field.text++, field.length--;
    while (field.length &&
           (field.text[field.length - 1] == ' ' || field.text[field.length - 1] == '\t'))
        field.length--;
    return field;
}

int split_line(const char *line, size_t length, char delimiter, struct field fields[MAX_COLUMNS]) {
    const char *at = line, *end = line + length;
    int count = 0;
    for (;;) {
        struct field field;
        const char *start = at;
        while (start < end && *start == ' ' && delimiter != ' ') start++;
        if (start < end && *start == '"') {
            const char *close = start + 1;
            while (close < end && (*close != '"' || (close + 1 < end && close[1] == '"')))
                close += *close == '"' ? 2 : 1;
            if (close >= end) return -1;
            field = (struct field){start + 1, (size_t)(close - start - 1)};
            at = close + 1;
            while (at < end && *at != delimiter) at++;
        } else {
            const char *stop = memchr(at, delimiter, (size_t)(end - at));
            field = trim((struct field){at, (size_t)((stop ? stop : end) - at)});
            at = stop ? stop : end;
        }
        if (count < MAX_COLUMNS) fields[count++] = field;
        if (at >= end) return count;
        at++;
    }
}

struct field take_line(const char *text, const char **next) {
    const char *end = strchr(text, '\n');
    if (!end) end = text + strlen(text);
    *next = *end ? end + 1 : end;
    size_t length = (size_t)(end - text);
    if (length && text[length - 1] == '\r') length--;
    return (struct field){text, length};
}

const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/'), *colon = strrchr(path, ':');
    if (colon && (!slash || colon > slash)) slash = colon;
    return slash ? slash + 1 : path;
}
