/* See arrow_build.h. */
#include "arrow_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 48, PIECES = 4, LEAD = 3, VIEW = 16, VIEW_INSIDE = 12 };

__extension__ typedef __int128 wide;

static void *must(void *pointer) {
    if (!pointer) abort();
    return pointer;
}

/* ---- arrays that own their memory ---- */

/* What a release frees: kept apart from the array, whose own pointers tests damage. */
struct owned {
    void *piece[PIECES];
    const void *buffers[PIECES];
    struct ArrowArray *children[BUILDER_COLUMNS], *kept[BUILDER_COLUMNS], *dictionary;
    int64_t n_children;
};

static void free_array(struct ArrowArray *array) {
    if (array && array->release) array->release(array);
    free(array);
}

static void release_array(struct ArrowArray *array) {
    struct owned *owned = array->private_data;
    for (size_t i = 0; i < PIECES; i++) free(owned->piece[i]);
    for (int64_t i = 0; i < owned->n_children; i++) free_array(owned->kept[i]);
    free_array(owned->dictionary);
    free(owned);
    array->release = NULL;
}

static struct owned *own(struct ArrowArray *array, int64_t length, int64_t n_buffers) {
    struct owned *owned = must(calloc(1, sizeof *owned));
    *array = (struct ArrowArray){.length = length,
                                 .n_buffers = n_buffers,
                                 .buffers = owned->buffers,
                                 .release = release_array,
                                 .private_data = owned};
    return owned;
}

static void *add_piece(struct owned *owned, size_t i, size_t size) {
    owned->buffers[i] = owned->piece[i] = must(calloc(1, size + 1));
    return owned->piece[i];
}

/* ---- values ---- */

static bool is_text(const char *format) {
    return !strcmp(format, "u") || !strcmp(format, "U") || !strcmp(format, "vu");
}

static int64_t per_second(const char *format) {
    int64_t factor = 1;
    if (!strncmp(format, "ts", 2))
        for (const char *unit = "smun"; *unit != format[2] && *unit != 'n'; unit++) factor *= 1000;
    return factor;
}

/* The shortest decimals that give the number back. */
static void text_of(const struct column_builder *c, size_t row, char text[TEXT]) {
    if (c->whole) {
        snprintf(text, TEXT, "%lld", (long long)c->whole[row]);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, TEXT, "%.*g", digits, c->real[row]);
        double back = strtod(text, NULL);
        if (!(back < c->real[row]) && !(back > c->real[row])) return;
    }
}

/* The value as a number of the format, at its place. */
static void put_number(const char *format, const struct column_builder *c, size_t row, char *data,
                       size_t at) {
    double real = c->real ? c->real[row] : (double)c->whole[row];
    int64_t whole =
        c->whole ? c->whole[row] * (c->seconds ? per_second(format) : 1) : (int64_t)c->real[row];
    wide decimal = whole;
    const char *scale = strrchr(format, ',');
    switch (format[0]) {
    case 'g': memcpy(data + at * 8, &real, 8); break;
    case 'i':
    case 'I': memcpy(data + at * 4, &(int32_t){(int32_t)whole}, 4); break;
    case 's':
    case 'S': memcpy(data + at * 2, &(int16_t){(int16_t)whole}, 2); break;
    case 'd':
        if (c->real) {
            double power = 1;
            for (long i = strtol(scale + 1, NULL, 10); i > 0; i--) power *= 10;
            decimal = (wide)(c->real[row] * power + (c->real[row] < 0 ? -0.5 : 0.5));
        }
        memcpy(data + at * 16, &decimal, 16);
        break;
    default: memcpy(data + at * 8, &whole, 8);
    }
}

static void fill_texts(const char *format, const struct column_builder *c, const size_t *rows,
                       size_t n, struct owned *owned) {
    const bool large = format[0] == 'U', views = format[0] == 'v';
    char *offsets = add_piece(owned, 1, (n + 1) * VIEW), *text = add_piece(owned, 2, n * TEXT),
         one[TEXT];
    int64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        text_of(c, rows[i], one);
        int32_t length = (int32_t)strlen(one), place[2] = {0, (int32_t)at};
        if (views) {
            memcpy(offsets + i * VIEW, &length, 4);
            memcpy(offsets + i * VIEW + 4, one, length < VIEW_INSIDE ? (size_t)length : 4);
            if (length > VIEW_INSIDE) memcpy(offsets + i * VIEW + 8, place, sizeof place);
        }
        memcpy(text + at, one, (size_t)length);
        at += length;
        if (large) ((int64_t *)(void *)offsets)[i + 1] = at;
        if (!large && !views) ((int32_t *)(void *)offsets)[i + 1] = (int32_t)at;
    }
    if (views) *(int64_t *)add_piece(owned, 3, sizeof at) = at; // how long the texts are
}

static void make_plain(const char *format, const struct column_builder *c, const size_t *rows,
                       size_t n, struct ArrowArray *array) {
    struct owned *owned = own(array, (int64_t)n, format[0] == 'v' ? 4 : is_text(format) ? 3 : 2);
    if (is_text(format)) {
        fill_texts(format, c, rows, n, owned);
        return;
    }
    char *data = add_piece(owned, 1, n * 16);
    for (size_t i = 0; i < n; i++) put_number(format, c, rows[i], data, i);
}

/* Rows that follow each other with one value share an entry of the dictionary. */
static void make_dictionary(const struct column_builder *c, const size_t *rows, size_t n,
                            struct ArrowArray *array) {
    struct owned *owned = own(array, (int64_t)n, 2);
    int32_t *index = add_piece(owned, 1, n * sizeof *index);
    size_t *entry = must(calloc(n + 1, sizeof *entry)), n_entries = 0;
    for (size_t i = 0; i < n; i++) {
        char one[TEXT], before[TEXT] = "";
        text_of(c, rows[i], one);
        if (n_entries) text_of(c, entry[n_entries - 1], before);
        if (strcmp(one, before) != 0) entry[n_entries++] = rows[i];
        index[i] = (int32_t)n_entries - 1;
    }
    owned->dictionary = array->dictionary = must(calloc(1, sizeof *array));
    make_plain(c->format + 1, c, entry, n_entries, array->dictionary);
    free(entry);
}

static void mark_missing(const struct column_builder *c, const size_t *rows, size_t n,
                         struct ArrowArray *array) {
    if (!c->missing) return;
    uint8_t *bits = add_piece(array->private_data, 0, n / 8 + 1);
    for (size_t i = 0; i < n; i++) {
        bool missing = rows[i] < 64 && c->missing >> rows[i] & 1;
        bits[i >> 3] |= (uint8_t)(!missing << (i & 7));
        array->null_count += missing;
    }
}

/* Rows first ... first + n - 1; `lead` rows that are not part of the column stand before them. */
static void make_column(const struct column_builder *c, size_t first, size_t n, size_t lead,
                        struct ArrowArray *array) {
    size_t *rows = must(calloc(n + lead + 1, sizeof *rows));
    for (size_t i = 0; i < n + lead; i++) rows[i] = i < lead ? first : first + i - lead;
    if (c->format[0] == '@')
        make_dictionary(c, rows, n + lead, array);
    else
        make_plain(c->format, c, rows, n + lead, array);
    mark_missing(c, rows, n + lead, array);
    free(rows);
}

/* ---- the stream ---- */

struct source {
    struct table_builder table;
    int64_t chunk_rows, row, n_chunks;
    void (*damage)(struct ArrowArray *chunk);
    const char *message;
};

static void release_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->dictionary) free(schema->children[i]->dictionary);
        free(schema->children[i]);
    }
    free(schema->children);
    schema->release = NULL;
}

static void no_release(struct ArrowSchema *schema) { schema->release = NULL; }

static struct ArrowSchema *schema_of(const char *name, const char *format) {
    struct ArrowSchema *schema = must(calloc(1, sizeof *schema));
    *schema = (struct ArrowSchema){
        .name = name, .format = format, .flags = ARROW_FLAG_NULLABLE, .release = no_release};
    return schema;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema) {
    const struct table_builder *table = &((struct source *)stream->private_data)->table;
    *schema = (struct ArrowSchema){
        .format = "+s", .name = "", .n_children = table->n_columns, .release = release_schema};
    schema->children = must(calloc(BUILDER_COLUMNS, sizeof *schema->children));
    for (int64_t i = 0; i < table->n_columns; i++) {
        const struct column_builder *c = &table->column[i];
        const bool dictionary = c->format[0] == '@';
        schema->children[i] = schema_of(c->name, dictionary ? "i" : c->format);
        if (dictionary) schema->children[i]->dictionary = schema_of("", c->format + 1);
    }
    return 0;
}

static void make_chunk(const struct source *source, int64_t n, bool slice,
                       struct ArrowArray *chunk) {
    struct owned *owned = own(chunk, n, 1);
    chunk->children = owned->children;
    chunk->n_children = owned->n_children = source->table.n_columns;
    if (slice) chunk->offset = 1;
    for (int64_t i = 0; i < chunk->n_children; i++) {
        struct ArrowArray *child = must(calloc(1, sizeof *child));
        make_column(&source->table.column[i], (size_t)source->row, (size_t)n, slice ? LEAD : 0,
                    child);
        if (slice) child->offset = LEAD - 1, child->length -= LEAD - 1;
        owned->children[i] = owned->kept[i] = child;
    }
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *chunk) {
    struct source *source = stream->private_data;
    int64_t rows = (int64_t)source->table.column[0].n, left = rows - source->row,
            most = source->chunk_rows ? source->chunk_rows : rows, phase = source->n_chunks++ % 3;
    chunk->release = NULL;
    if (source->message) return EIO;
    if (left == 0) return 0;
    int64_t n = source->chunk_rows && phase == 1 ? 0 : left < most ? left : most;
    make_chunk(source, n, phase == 2 && n > 0, chunk);
    if (source->damage) source->damage(chunk);
    source->damage = NULL;
    source->row += n;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
    return ((struct source *)stream->private_data)->message;
}

static void release_stream(struct ArrowArrayStream *stream) {
    free(stream->private_data);
    stream->release = NULL;
}

struct ArrowArrayStream builder_stream(const struct table_builder *table, int64_t chunk_rows) {
    struct source *source = must(calloc(1, sizeof *source));
    *source = (struct source){.table = *table, .chunk_rows = chunk_rows};
    return (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = get_last_error,
                                     .release = release_stream,
                                     .private_data = source};
}

void builder_damage(struct ArrowArrayStream *stream, void (*damage)(struct ArrowArray *chunk)) {
    ((struct source *)stream->private_data)->damage = damage;
}

void builder_fail(struct ArrowArrayStream *stream, const char *message) {
    ((struct source *)stream->private_data)->message = message;
}

/* ---- columns ---- */

static struct column_builder *add_column(struct table_builder *table, const char *name,
                                         const char *format, size_t n) {
    if (table->n_columns == BUILDER_COLUMNS) abort();
    struct column_builder *column = &table->column[table->n_columns++];
    *column = (struct column_builder){.name = name, .format = format, .n = n};
    return column;
}

void builder_whole(struct table_builder *table, const char *name, const char *format,
                   const int64_t *values, size_t n) {
    add_column(table, name, format, n)->whole = values;
}

void builder_real(struct table_builder *table, const char *name, const char *format,
                  const double *values, size_t n) {
    add_column(table, name, format, n)->real = values;
}

void builder_time(struct table_builder *table, const char *name, const char *format,
                  const int64_t *seconds, size_t n) {
    struct column_builder *column = add_column(table, name, format, n);
    column->whole = seconds;
    column->seconds = true;
}

void builder_missing(struct table_builder *table, int row) {
    table->column[table->n_columns - 1].missing |= (uint64_t)1 << row;
}
