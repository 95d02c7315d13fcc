/* The table of formats, and what they share. */
#include "ingest/format.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define FORMAT_ADDRESS(name) &DPL_FORMAT_##name,
static const struct format *const FORMATS[] = {DPL_FORMAT_LIST(FORMAT_ADDRESS)};
enum { N_FORMATS = sizeof FORMATS / sizeof *FORMATS, NAME_ROOM = 256 };
static const char BYTE_ORDER_MARK[] = "\xEF\xBB\xBF";

const char *const DPL_ROLE_NAMES[ROLES] = {"", "trip", "user", "time", "lat", "lon", "date"};

const char *dpl_reject_name(enum dpl_reject reason) {
    static const char *const NAMES[DPL_REJECTS] = {"missing_field",
                                                   "bad_number",
                                                   "bad_latitude",
                                                   "bad_longitude",
                                                   "zero_coordinates",
                                                   "bad_time",
                                                   "time_out_of_range",
                                                   "no_id",
                                                   "bad_quotes",
                                                   "nul_byte",
                                                   "line_too_long",
                                                   "missing_data",
                                                   "bad_polyline",
                                                   "time_runs_backwards",
                                                   "cut_off"};
    return reason < DPL_REJECTS ? NAMES[reason] : "";
}

const char *dpl_format_name(size_t i) { return i < N_FORMATS ? FORMATS[i]->name : NULL; }

const char *dpl_format_about(size_t i) { return i < N_FORMATS ? FORMATS[i]->about : NULL; }

const char *dpl_format_names(char text[FORMAT_NAMES]) {
    size_t length = 0;
    for (size_t i = 0; i < N_FORMATS && length < FORMAT_NAMES; i++)
        length += (size_t)snprintf(text + length, FORMAT_NAMES - length, "%s%s", i ? ", " : "",
                                   FORMATS[i]->name);
    return text;
}

const struct format *dpl_format_called(const char *name) {
    for (size_t i = 0; i < N_FORMATS; i++)
        if (!strcmp(name, FORMATS[i]->name)) return FORMATS[i];
    return NULL;
}

bool dpl_name_ends(const char *base, const char *ending) {
    size_t length = strlen(base), end = strlen(ending);
    return length >= end && !strcmp(base + length - end, ending);
}

/* "x.plt.gz" -> "x.plt" */
static void cut_compression(char *base) {
    static const char *const ENDINGS[] = {".gz", ".xz", ".zst", ".bz2"};
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        if (!dpl_name_ends(base, ENDINGS[i])) continue;
        base[strlen(base) - strlen(ENDINGS[i])] = '\0';
        return;
    }
}

const struct format *dpl_format_by_file_name(const char *name) {
    char base[NAME_ROOM];
    const char *whole = dpl_base_name(name);
    if (strlen(whole) >= sizeof base) return NULL;
    strcpy(base, whole);
    cut_compression(base);
    for (size_t i = 0; i < N_FORMATS; i++)
        if (FORMATS[i]->named && FORMATS[i]->named(base)) return FORMATS[i];
    return NULL;
}

/* PRIVACY: options, then the name, then the header line; no row is looked at. What was chosen is
 * never given up for another format, whatever the rows are like. */
const struct format *dpl_format_choose(const struct dpl_read_options *options, const char *name,
                                       struct field first_line, bool schema) {
    const struct format *format = dpl_format_called(options->format);
    if (format) return format;
    for (size_t i = 0; i < N_FORMATS && schema; i++)
        if (FORMATS[i]->schema) return FORMATS[i];
    if (options->columns)
        return &DPL_FORMAT_CSV; // every line is a row: there is no header to look at
    format = dpl_format_by_file_name(name);
    if (format) return format;
    for (size_t i = 0; i < N_FORMATS; i++)
        if (FORMATS[i]->headed && FORMATS[i]->headed(first_line)) return FORMATS[i];
    return &DPL_FORMAT_CSV;
}

bool dpl_format_is_document(const struct dpl_read_options *options, const char *name) {
    const struct format *format = dpl_format_called(options->format);
    if (!format && !options->columns) format = dpl_format_by_file_name(name);
    return format && format->document;
}

const struct format *dpl_format_guess(struct field first, struct field second) {
    for (size_t i = 0; i < N_FORMATS; i++)
        if (FORMATS[i]->looks_like && FORMATS[i]->looks_like(first, second)) return FORMATS[i];
    return NULL;
}

int dpl_format_header_lines(const struct format *format, const struct dpl_read_options *options) {
    return format->check_columns && options->columns ? 0 : format->header_lines;
}

/* ---- rows ---- */

bool dpl_block_next_row(struct block *block, const char **text, struct field *line) {
    const char *end = block->text + block->length;
    while (*text < end) {
        struct field rest = {*text, (size_t)(end - *text)};
        *line = dpl_take_line(rest, &rest);
        *text = rest.text;
        block->line = block->lines++;
        if (!line->length) continue;
        block->rows++;
        if (!memchr(line->text, '\0', line->length)) return true;
        dpl_block_reject(block, DPL_REJECT_NUL_BYTE, NULL, *line);
    }
    return false;
}

void dpl_block_reject(struct block *block, enum dpl_reject reason, const char *column,
                      struct field value) {
    if (block->rejected[reason]++) return;
    struct example *example = &block->example[reason];
    *example = (struct example){.line = block->line, .column = column};
    size_t length = 0;
    for (size_t i = 0; i < value.length && length + 8 < sizeof example->value;
         i++) // control bytes would garble a terminal
        length += (size_t)snprintf(example->value + length, sizeof example->value - length,
                                   isprint((unsigned char)value.text[i]) ? "%c" : "\\x%02x",
                                   (unsigned char)value.text[i]);
    if (value.length > length)
        snprintf(example->value + length, sizeof example->value - length, "...");
}

enum dpl_reject dpl_block_settle(struct block *block, const struct coordinates *coordinates,
                                 struct point *point) {
    struct dpl_read_signs *signs = &block->signs;
    const double lat = point->lat_deg, lon = point->lon_deg;
    dpl_to_degrees(coordinates, &point->lat_deg, &point->lon_deg);
    enum dpl_reject reason = check_position(point->lat_deg, point->lon_deg);
    bool range = reason == DPL_REJECT_BAD_LATITUDE || reason == DPL_REJECT_BAD_LONGITUDE;
    if (range && !signs->odd_positions++) signs->odd_lat = lat, signs->odd_lon = lon;
    return reason;
}

enum dpl_status dpl_block_add_group(struct block *block, struct dpl_key key, struct dpl_key user) {
    DPL_TRY(dpl_grow(block->run, &block->groups, &block->groups_capacity, block->n_groups + 1,
                     sizeof *block->groups));
    block->groups[block->n_groups++] =
        (struct group){.key = key, .user = user, .first = block->n_points};
    dpl_block_name_rows(block, (struct dpl_key){0, 0}, user);
    return DPL_OK;
}

void dpl_block_drop_group(struct block *block) {
    block->n_points = block->groups[--block->n_groups].first;
}

void dpl_block_name_rows(struct block *block, struct dpl_key trip, struct dpl_key user) {
    struct group *group = &block->groups[block->n_groups - 1];
    if (group->n == 0) group->trip = trip;
    if (block->identifier) dpl_identifier_name(block->identifier, trip, user);
}

enum dpl_status dpl_block_add_point(struct block *block, struct point point) {
    if (block->n_points == block->points_capacity)
        DPL_TRY(dpl_grow(block->run, &block->points, &block->points_capacity, block->n_points + 1,
                         sizeof *block->points));
    block->points[block->n_points++] = point;
    if (block->identifier) dpl_identifier_add(block->identifier, &point);
    block->groups[block->n_groups - 1].n++;
    return DPL_OK;
}

struct field dpl_trim(struct field field) {
    while (field.length && (*field.text == ' ' || *field.text == '\t'))
        field.text++, field.length--;
    while (field.length &&
           (field.text[field.length - 1] == ' ' || field.text[field.length - 1] == '\t'))
        field.length--;
    return field;
}

int dpl_split_line(const char *line, size_t length, char delimiter,
                   struct field fields[MAX_COLUMNS]) {
    const char *at = line, *end = line + length;
    int count = 0;
    for (;;) {
        struct field field;
        // Columns are set apart by any number of blanks.
        while (at < end && *at == ' ' && delimiter == ' ') at++;
        if (at == end && count && delimiter == ' ') return count;
        const char *start = at;
        while (start < end && *start == ' ') start++;
        if (start < end && *start == '"') {
            const char *close = start + 1;
            while (close < end && (*close != '"' || (close + 1 < end && close[1] == '"')))
                close += *close == '"' ? 2 : 1;
            if (close >= end) return -1;
            field = (struct field){start + 1, (size_t)(close - start - 1)};
            at = close + 1;
            while (at < end && *at != delimiter) at++;
        } else {
            const char *stop = at < end ? memchr(at, delimiter, (size_t)(end - at)) : NULL;
            field = dpl_trim((struct field){at, (size_t)((stop ? stop : end) - at)});
            at = stop ? stop : end;
        }
        if (count < MAX_COLUMNS) fields[count++] = field;
        if (at >= end) return count;
        at++;
    }
}

/* PRIVACY: a byte order mark is dropped from any line, not from a file's first alone; a row that
 * is put in front of another must not change it. */
struct field dpl_take_line(struct field text, struct field *next) {
    const char *stop = text.length ? memchr(text.text, '\n', text.length) : NULL;
    size_t length = stop ? (size_t)(stop - text.text) : text.length,
           whole = length + (stop != NULL);
    struct field line = {text.text, length};
    *next = (struct field){text.text + whole, text.length - whole};
    if (line.length && line.text[line.length - 1] == '\r') line.length--;
    if (line.length >= 3 && !memcmp(line.text, BYTE_ORDER_MARK, 3))
        line.text += 3, line.length -= 3;
    return line;
}

bool dpl_field_is(struct field field, const char *word) {
    return strlen(word) == field.length && !strncasecmp(field.text, word, field.length);
}

const char *dpl_base_name(const char *path) {
    const char *slash = strrchr(path, '/'), *colon = strrchr(path, ':');
    if (colon && (!slash || colon > slash)) slash = colon;
    return slash ? slash + 1 : path;
}
