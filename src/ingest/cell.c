/* See cell.h. */
#include "ingest/cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"

__extension__ typedef __int128 wide;

/* Texts are kept in 16 bytes each: up to 12 of them here, or where they are. */
struct text_view {
    int32_t length;
    union {
        char inside[12];
        struct {
            char prefix[4];
            int32_t buffer, offset;
        } outside;
    } text;
};
enum { INSIDE = 12, BUFFERS_BEFORE_TEXTS = 2, DECIMAL_BYTES = 16, SCALE_MAX = 22 };

/* ---- types ---- */

static const struct {
    const char *format;
    enum column_kind kind;
} SIMPLE_TYPES[] = {
    {"n", COLUMN_NULL},  {"b", COLUMN_BOOL},       {"c", COLUMN_INT8},       {"C", COLUMN_UINT8},
    {"s", COLUMN_INT16}, {"S", COLUMN_UINT16},     {"i", COLUMN_INT32},      {"I", COLUMN_UINT32},
    {"l", COLUMN_INT64}, {"L", COLUMN_UINT64},     {"f", COLUMN_FLOAT},      {"g", COLUMN_DOUBLE},
    {"u", COLUMN_TEXT},  {"U", COLUMN_LARGE_TEXT}, {"vu", COLUMN_TEXT_VIEW},
};

/* "tsu:Europe/Berlin": microseconds, in a zone; nothing behind the colon: in none. */
static bool stamp_type(const char *format, struct column_type *type) {
    static const char UNITS[] = "smun";
    const char *unit = !strncmp(format, "ts", 2) && format[2] ? strchr(UNITS, format[2]) : NULL;
    if (!unit || format[3] != ':') return false;
    *type = (struct column_type){.kind = COLUMN_STAMP, .per_second = 1, .zoned = format[4] != 0};
    for (const char *before = UNITS; before < unit; before++) type->per_second *= 1000;
    return true;
}

/* "d:18,3": 18 digits, 3 of them behind the point; with another width than 128 bits: "d:9,2,32". */
static bool decimal_type(const char *format, struct column_type *type) {
    if (strncmp(format, "d:", 2) != 0) return false;
    char *end;
    long digits = strtol(format + 2, &end, 10);
    if (end == format + 2 || *end != ',' || digits < 1 || digits > 38) return false;
    long scale = strtol(end + 1, &end, 10);
    if (scale < 0 || scale > SCALE_MAX || (*end && strcmp(end, ",128") != 0)) return false;
    *type = (struct column_type){.kind = COLUMN_DECIMAL, .scale = (int)scale};
    return true;
}

static bool plain_type(const char *format, struct column_type *type) {
    for (size_t i = 0; i < sizeof SIMPLE_TYPES / sizeof *SIMPLE_TYPES; i++)
        if (!strcmp(format, SIMPLE_TYPES[i].format)) {
            *type = (struct column_type){.kind = SIMPLE_TYPES[i].kind};
            return true;
        }
    return stamp_type(format, type) || decimal_type(format, type);
}

static bool is_whole(enum column_kind kind) { return kind >= COLUMN_INT8 && kind <= COLUMN_UINT64; }

bool dpl_column_type(const struct ArrowSchema *schema, struct column_type *type,
                     struct column_type *values) {
    if (!schema->format || !plain_type(schema->format, type)) return false;
    if (!schema->dictionary) return true;
    const struct ArrowSchema *dictionary = schema->dictionary;
    type->values = values;
    return is_whole(type->kind) && dictionary->format && !dictionary->dictionary &&
           plain_type(dictionary->format, values);
}

static bool kind_is_text(enum column_kind kind) {
    return kind == COLUMN_TEXT || kind == COLUMN_LARGE_TEXT || kind == COLUMN_TEXT_VIEW;
}

bool dpl_column_is_text(const struct column_type *type) {
    return kind_is_text(type->values ? type->values->kind : type->kind);
}

/* ---- checking ---- */

static bool is_valid(const struct ArrowArray *array, int64_t at) {
    const uint8_t *bits = array->buffers[0];
    return !bits || bits[at >> 3] >> (at & 7) & 1;
}

static const struct text_view *text_view_at(const struct ArrowArray *array, int64_t at) {
    return (const struct text_view *)array->buffers[1] + at;
}

/* Sizes of the buffers that texts are in stand in the last one. */
static bool text_view_fits(const struct ArrowArray *array, const struct text_view *view) {
    int64_t n_buffers = array->n_buffers - BUFFERS_BEFORE_TEXTS - 1,
            buffer = view->text.outside.buffer, offset = view->text.outside.offset;
    const int64_t *size = array->buffers[array->n_buffers - 1];
    if (view->length <= INSIDE) return view->length >= 0;
    return buffer >= 0 && buffer < n_buffers && offset >= 0 && size &&
           array->buffers[BUFFERS_BEFORE_TEXTS + buffer] && offset <= size[buffer] &&
           view->length <= size[buffer] - offset;
}

static int64_t text_offset(const struct ArrowArray *array, bool large, int64_t at) {
    return large ? ((const int64_t *)array->buffers[1])[at]
                 : ((const int32_t *)array->buffers[1])[at];
}

/* Offsets that never fall, from 0 on, end where the text does, and no text lies outside. */
static bool texts_fit(const struct ArrowArray *array, enum column_kind kind, int64_t first,
                      int64_t n) {
    if (kind == COLUMN_TEXT_VIEW) {
        for (int64_t i = first; i < first + n; i++)
            if (is_valid(array, i) && !text_view_fits(array, text_view_at(array, i))) return false;
        return true;
    }
    const bool large = kind == COLUMN_LARGE_TEXT;
    int64_t before = text_offset(array, large, first);
    if (before < 0) return false;
    for (int64_t i = first + 1; i <= first + n; i++) {
        int64_t offset = text_offset(array, large, i);
        if (offset < before) return false;
        before = offset;
    }
    if (before == text_offset(array, large, first)) return true;
    // Rows behind those that are read may be none of ours, but where the text ends is.
    return array->buffers[2] && before <= text_offset(array, large, array->offset + array->length);
}

/* Buffers that a column of the kind has, text views' own not counted. */
static int64_t buffers_of(enum column_kind kind) {
    if (kind == COLUMN_NULL) return 0;
    return kind == COLUMN_TEXT || kind == COLUMN_LARGE_TEXT || kind == COLUMN_TEXT_VIEW ? 3 : 2;
}

/* Whether rows `first` ... `first + n - 1` of the array's buffers can be looked at. */
static bool array_fits(const struct ArrowArray *array, enum column_kind kind, int64_t first,
                       int64_t n) {
    const bool views = kind == COLUMN_TEXT_VIEW;
    const int64_t needed = buffers_of(kind);
    if (array->length < 0 || array->offset < 0 || array->offset > INT64_MAX / 64 - array->length)
        return false;
    if (first < 0 || n < 0 || first > array->length || n > array->length - first) return false;
    if (views ? array->n_buffers < needed : array->n_buffers != needed) return false;
    if (n == 0 || kind == COLUMN_NULL) return true;
    if (!array->buffers || !array->buffers[1]) return false;
    if (!array->buffers[0] && array->null_count > 0) return false;
    return !kind_is_text(kind) || texts_fit(array, kind, array->offset + first, n);
}

/* ---- values ---- */

/* A whole number of the kind at its place; *big: it is above INT64_MAX, and its bits are given. */
static int64_t whole_at(enum column_kind kind, const void *data, int64_t at, bool *big) {
    *big = false;
    switch (kind) {
    case COLUMN_BOOL: return ((const uint8_t *)data)[at >> 3] >> (at & 7) & 1;
    case COLUMN_INT8: return ((const int8_t *)data)[at];
    case COLUMN_UINT8: return ((const uint8_t *)data)[at];
    case COLUMN_INT16: return ((const int16_t *)data)[at];
    case COLUMN_UINT16: return ((const uint16_t *)data)[at];
    case COLUMN_INT32: return ((const int32_t *)data)[at];
    case COLUMN_UINT32: return ((const uint32_t *)data)[at];
    default: break;
    }
    int64_t value = ((const int64_t *)data)[at];
    *big = kind == COLUMN_UINT64 && value < 0;
    return value;
}

/* Indices into a dictionary; a row without a value has none. */
static bool indices_fit(const struct ArrowArray *array, enum column_kind kind, int64_t first,
                        int64_t n, int64_t n_values) {
    for (int64_t i = first; i < first + n; i++) {
        bool big;
        if (!is_valid(array, i)) continue;
        int64_t index = whole_at(kind, array->buffers[1], i, &big);
        if (index < 0 || index >= n_values) return false;
    }
    return true;
}

static bool dictionary_fits(const struct column_type *type, const struct ArrowArray *array,
                            int64_t first, int64_t n) {
    const struct ArrowArray *values = array->dictionary;
    return values && array_fits(values, type->values->kind, 0, values->length) &&
           (n == 0 || indices_fit(array, type->kind, array->offset + first, n, values->length));
}

enum dpl_status dpl_column_view(struct dpl_run *run, const char *name,
                                const struct column_type *type, const struct ArrowArray *array,
                                int64_t first, int64_t n, struct column_view *view) {
    if (!array || !array_fits(array, type->kind, first, n) ||
        (type->values && !dictionary_fits(type, array, first, n)))
        return dpl_fail(run, DPL_BAD_DATA,
                        "the table's column '%.64s' is damaged: its lengths, offsets or indices "
                        "contradict each other",
                        name);
    *view = (struct column_view){.type = type,
                                 .array = array,
                                 .first = array->offset + first,
                                 .n = n,
                                 .values = type->values ? array->dictionary : NULL};
    return DPL_OK;
}

static struct field text_at(const struct ArrowArray *array, enum column_kind kind, int64_t at) {
    if (kind == COLUMN_TEXT_VIEW) {
        const struct text_view *view = text_view_at(array, at);
        const char *text = view->text.inside;
        if (view->length > INSIDE)
            text = (const char *)array->buffers[BUFFERS_BEFORE_TEXTS + view->text.outside.buffer] +
                   view->text.outside.offset;
        return (struct field){text, (size_t)view->length};
    }
    const bool large = kind == COLUMN_LARGE_TEXT;
    int64_t begin = text_offset(array, large, at), end = text_offset(array, large, at + 1);
    if (begin == end) return (struct field){"", 0};
    return (struct field){(const char *)array->buffers[2] + begin, (size_t)(end - begin)};
}

/* Cells are filled in place, member by member: a cell that is returned would be copied before its
 * members have arrived in memory, which makes reading a table half as fast. */
static void set_real(struct cell *cell, double value) {
    cell->kind = isnan(value) ? CELL_NONE : CELL_REAL;
    cell->real = value;
}

static void set_whole(struct cell *cell, int64_t whole) {
    cell->kind = CELL_WHOLE;
    cell->whole = whole;
    cell->real = (double)whole;
}

static void set_decimal(struct cell *cell, const void *data, int64_t at, int scale) {
    wide value;
    memcpy(&value, (const char *)data + at * DECIMAL_BYTES, sizeof value);
    if (scale == 0 && value >= INT64_MIN && value <= INT64_MAX) {
        set_whole(cell, (int64_t)value);
        return;
    }
    double power = 1; // exact up to 10^22, so that the quotient is as good as a text's
    for (int i = 0; i < scale; i++) power *= 10;
    set_real(cell, (double)value / power);
}

/* Seconds, a fraction cut off towards the past as in files. */
static void set_stamp(struct cell *cell, const struct column_type *type, int64_t value) {
    const int64_t by = type->per_second;
    cell->kind = type->zoned ? CELL_MOMENT : CELL_LOCAL;
    cell->whole = value / by - (value % by < 0);
}

static void read_plain(const struct column_type *type, const struct ArrowArray *array, int64_t at,
                       struct cell *cell) {
    bool big;
    if (type->kind == COLUMN_NULL || !is_valid(array, at)) {
        cell->kind = CELL_NONE;
        return;
    }
    const void *data = array->buffers[1];
    switch (type->kind) {
    case COLUMN_TEXT:
    case COLUMN_LARGE_TEXT:
    case COLUMN_TEXT_VIEW:
        cell->kind = CELL_TEXT;
        cell->text = dpl_trim(text_at(array, type->kind, at));
        return;
    case COLUMN_FLOAT: set_real(cell, (double)((const float *)data)[at]); return;
    case COLUMN_DOUBLE: set_real(cell, ((const double *)data)[at]); return;
    case COLUMN_DECIMAL: set_decimal(cell, data, at, type->scale); return;
    case COLUMN_STAMP: set_stamp(cell, type, ((const int64_t *)data)[at]); return;
    default: break;
    }
    set_whole(cell, whole_at(type->kind, data, at, &big));
    if (big) cell->kind = CELL_BIG, cell->real = (double)(uint64_t)cell->whole;
}

void dpl_cell_read(const struct column_view *view, int64_t i, struct cell *cell) {
    int64_t at = view->first + i;
    bool big;
    if (!view->values) {
        read_plain(view->type, view->array, at, cell);
        return;
    }
    cell->kind = CELL_NONE;
    if (!is_valid(view->array, at)) return;
    int64_t index = whole_at(view->type->kind, view->array->buffers[1], at, &big);
    read_plain(view->type->values, view->values, view->values->offset + index, cell);
}

/* The shortest digits that give the same number back. */
static int print_real(double value, char room[CELL_ROOM]) {
    static const double EXACT_BELOW = 9007199254740992; // 2^53
    if (value == floor(value) && fabs(value) < EXACT_BELOW)
        return (int)(put_whole(room, (int64_t)value) - room);
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(room, CELL_ROOM, "%.*g", digits, value);
        if (strtod(room, NULL) == value) break;
    }
    return length;
}

struct field dpl_cell_text(const struct cell *cell, char room[CELL_ROOM]) {
    int length = 0;
    switch (cell->kind) {
    case CELL_NONE: break;
    case CELL_TEXT: return cell->text;
    case CELL_REAL: length = print_real(cell->real, room); break;
    case CELL_BIG: length = snprintf(room, CELL_ROOM, "%" PRIu64, (uint64_t)cell->whole); break;
    default: length = (int)(put_whole(room, cell->whole) - room);
    }
    return (struct field){room, (size_t)length};
}
