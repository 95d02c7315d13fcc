/* See table.h. DuckDB turns every value into text, which is exact: a double has as many digits as
 * give it back. Cost: 2.5 million rows a few seconds of one core, memory a few blocks of rows. */
#include "ingest/parquet_lines.h"

#include <string.h>

#include "base/duckdb.h"

enum { NAME_ROOM = 4096 };

/* Bytes in the making. */
struct text {
    char *bytes;
    size_t used, capacity;
};

struct parquet_lines {
    struct dpl_run *run;
    char name[NAME_ROOM];
    struct duck *duck;
    void *statement, *pending;
    struct duck_result result;
    uint64_t n_columns;
    struct text lines;
    size_t given;        /* of the lines */
    int64_t rows, total; /* read so far; of the file */
};

/* ---- text ---- */

static enum dpl_status put(struct dpl_run *run, struct text *text, const char *bytes,
                           size_t length) {
    DPL_TRY(dpl_grow(run, &text->bytes, &text->capacity, text->used + length + 1, 1));
    if (length) memcpy(text->bytes + text->used, bytes, length);
    text->used += length;
    text->bytes[text->used] = '\0';
    return DPL_OK;
}

static enum dpl_status put_words(struct dpl_run *run, struct text *text, const char *words) {
    return put(run, text, words, strlen(words));
}

static bool is_plain(const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (strchr(",\"\n\r ;|\t", bytes[i])) return false; // NUL too: strchr finds it
    return true;
}

/* A value between quotes where it needs them. What holds a line break cannot stand on one line: its
 * quotes are not closed, and the row is a bad one, as it would be in a CSV file. */
static enum dpl_status put_value(struct dpl_run *run, struct text *text, const char *bytes,
                                 size_t length) {
    if (is_plain(bytes, length)) return put(run, text, bytes, length);
    DPL_TRY(put(run, text, "\"", 1));
    for (size_t i = 0; i < length; i++) {
        bool breaks = bytes[i] == '\n' || bytes[i] == '\r';
        if (breaks) return DPL_OK;
        if (bytes[i] == '"') DPL_TRY(put(run, text, "\"", 1));
        DPL_TRY(put(run, text, bytes + i, 1));
    }
    return put(run, text, "\"", 1);
}

/* ---- opening ---- */

/* Column i as text. A time with a zone is an instant, one without is what local clocks showed.
 * What is nested or binary is no value of a row. */
static void expression(int type, uint64_t i, char words[128]) {
    const char *form = "CAST(c%llu AS VARCHAR)";
    switch (type) {
    case DUCK_TIMESTAMP_TZ:
        form = "strftime(make_timestamp(epoch_us(c%llu)), '%%Y-%%m-%%dT%%H:%%M:%%SZ')";
        break;
    case DUCK_TIMESTAMP:
    case DUCK_TIMESTAMP_S:
    case DUCK_TIMESTAMP_MS:
    case DUCK_TIMESTAMP_NS: form = "strftime(c%llu, '%%Y-%%m-%%dT%%H:%%M:%%S')"; break;
    case DUCK_BLOB:
    case DUCK_LIST:
    case DUCK_STRUCT:
    case DUCK_MAP:
    case DUCK_UNION:
    case DUCK_ARRAY: form = "CAST(NULL AS VARCHAR)"; break;
    default: break;
    }
    snprintf(words, 128, form, (unsigned long long)i);
}

static enum dpl_status refuse(struct parquet_lines *table, const char *message) {
    char words[256];
    return dpl_fail(table->run, DPL_BAD_DATA, "%s: cannot be read: %s", table->name,
                    dpl_duck_words(message, words));
}

/* The header line, and the query for the rows as text. */
static enum dpl_status describe(struct parquet_lines *table, struct duck_result *schema,
                                const char *rows, struct text *query) {
    struct dpl_run *run = table->run;
    const struct duck *duck = table->duck;
    char words[128];
    table->n_columns = duck->column_count(schema);
    DPL_TRY(put_words(run, query, "SELECT "));
    for (uint64_t i = 0; i < table->n_columns; i++) {
        const char *name = duck->column_name(schema, i);
        expression(duck->column_type(schema, i), i, words);
        DPL_TRY(put_words(run, query, i ? ", " : ""));
        DPL_TRY(put_words(run, query, words));
        DPL_TRY(put_words(run, &table->lines, i ? "," : ""));
        DPL_TRY(put_value(run, &table->lines, name, strlen(name)));
    }
    DPL_TRY(put_words(run, &table->lines, "\n"));
    DPL_TRY(put_words(run, query, " FROM ("));
    DPL_TRY(put_words(run, query, rows));
    DPL_TRY(put_words(run, query, "\n) AS t("));
    for (uint64_t i = 0; i < table->n_columns; i++) {
        snprintf(words, sizeof words, "%sc%llu", i ? ", " : "", (unsigned long long)i);
        DPL_TRY(put_words(run, query, words));
    }
    return put_words(run, query, ")");
}

static enum dpl_status prepare(struct parquet_lines *table, const char *rows, struct text *query) {
    struct duck *duck = table->duck;
    struct duck_result schema = {0};
    struct text look = {0};
    enum dpl_status status;
    DPL_GO(put_words(table->run, &look, "SELECT * FROM ("));
    DPL_GO(put_words(table->run, &look, rows));
    DPL_GO(put_words(table->run, &look, "\n) LIMIT 0"));
    status = duck->query(duck->connection, look.bytes, &schema) == 0
                 ? describe(table, &schema, rows, query)
                 : refuse(table, duck->result_error(&schema));
done:
    duck->destroy_result(&schema);
    dpl_free(look.bytes);
    return status;
}

/* As many rows as the file says that it has. */
static enum dpl_status count(struct parquet_lines *table, const char *rows) {
    struct duck *duck = table->duck;
    struct duck_result result = {0};
    char query[256];
    snprintf(query, sizeof query, "SELECT count(*) FROM (%s)", rows);
    bool ok = duck->query(duck->connection, query, &result) == 0;
    void *chunk = ok ? duck->fetch_chunk(result) : NULL;
    if (chunk)
        memcpy(&table->total, duck->vector_get_data(duck->data_chunk_get_vector(chunk, 0)),
               sizeof table->total);
    enum dpl_status status = chunk ? DPL_OK : refuse(table, duck->result_error(&result));
    if (chunk) duck->destroy_data_chunk(&chunk);
    duck->destroy_result(&result);
    return status;
}

/* Rows come as they are asked for, in the order of the file. */
static enum dpl_status start(struct parquet_lines *table, const char *query) {
    const struct duck *duck = table->duck;
    if (duck->prepare(duck->connection, query, &table->statement) != 0)
        return refuse(table, duck->prepare_error(table->statement));
    if (duck->pending_prepared_streaming(table->statement, &table->pending) != 0)
        return refuse(table, duck->pending_error(table->pending));
    if (duck->execute_pending(table->pending, &table->result) != 0)
        return refuse(table, duck->result_error(&table->result));
    return DPL_OK;
}

/* The file by its descriptor, not by its name: a name may hold what DuckDB takes for a pattern. Not
 * what the names of folders say, nor another notation for geometries than the file's. */
static enum dpl_status open_rows(struct parquet_lines *table, int fd) {
    struct text query = {0};
    struct duck_result ignored = {0};
    char rows[128];
    snprintf(rows, sizeof rows,
             "SELECT * FROM read_parquet('/dev/fd/%d', hive_partitioning = false)", fd);
    enum dpl_status status;
    DPL_GO(dpl_duck_open(table->run, dpl_run_threads(table->run), &table->duck));
    // DuckDB before 1.5 has no such setting and reads geometries as they are.
    table->duck->query(table->duck->connection, "SET enable_geoparquet_conversion = false",
                       &ignored);
    table->duck->destroy_result(&ignored);
    DPL_GO(prepare(table, rows, &query));
    DPL_GO(count(table, rows));
    DPL_GO(start(table, query.bytes));
done:
    dpl_free(query.bytes);
    return status;
}

enum dpl_status dpl_parquet_lines_open(struct dpl_run *run, int fd, const char *name,
                                       struct parquet_lines **made) {
    struct parquet_lines *table = dpl_alloc(run, 1, sizeof *table);
    if (!table) return DPL_SYSTEM;
    table->run = run;
    snprintf(table->name, sizeof table->name, "%s", name);
    enum dpl_status status = open_rows(table, fd);
    if (status == DPL_OK)
        *made = table;
    else
        dpl_parquet_lines_close(table);
    return status;
}

void dpl_parquet_lines_close(struct parquet_lines *table) {
    if (!table) return;
    if (table->duck) {
        table->duck->destroy_result(&table->result);
        table->duck->destroy_pending(&table->pending);
        table->duck->destroy_prepare(&table->statement);
    }
    dpl_duck_close(table->duck);
    dpl_free(table->lines.bytes);
    dpl_free(table);
}

/* ---- rows ---- */

static bool is_null(const uint64_t *validity, uint64_t row) {
    return validity && !(validity[row / 64] >> row % 64 & 1);
}

static enum dpl_status put_row(struct parquet_lines *table, void *chunk, uint64_t row) {
    const struct duck *duck = table->duck;
    for (uint64_t i = 0; i < table->n_columns; i++) {
        void *vector = duck->data_chunk_get_vector(chunk, i);
        if (i) DPL_TRY(put(table->run, &table->lines, ",", 1));
        if (is_null(duck->vector_get_validity(vector), row)) continue;
        const struct duck_text *value = (struct duck_text *)duck->vector_get_data(vector) + row;
        DPL_TRY(put_value(table->run, &table->lines, duck_text_bytes(value), value->length));
    }
    return put(table->run, &table->lines, "\n", 1);
}

/* The next rows as lines; none at the end. */
static enum dpl_status next_lines(struct parquet_lines *table) {
    const struct duck *duck = table->duck;
    enum dpl_status status = DPL_OK;
    table->lines.used = table->given = 0;
    void *chunk = duck->fetch_chunk(table->result);
    const char *message = chunk ? NULL : duck->result_error(&table->result);
    if (message && *message) return refuse(table, message);
    uint64_t n = chunk ? duck->data_chunk_get_size(chunk) : 0;
    for (uint64_t row = 0; row < n && status == DPL_OK; row++) status = put_row(table, chunk, row);
    table->rows += (int64_t)n;
    if (chunk) duck->destroy_data_chunk(&chunk);
    return status;
}

enum dpl_status dpl_parquet_lines_read(struct parquet_lines *table, char *buffer, size_t room,
                                       size_t *got) {
    if (table->given == table->lines.used) DPL_TRY(next_lines(table));
    size_t left = table->lines.used - table->given;
    *got = left < room ? left : room;
    if (*got) memcpy(buffer, table->lines.bytes + table->given, *got);
    table->given += *got;
    return DPL_OK;
}

double dpl_parquet_lines_share(const struct parquet_lines *table) {
    return table->total > 0 ? (double)table->rows / (double)table->total : 1;
}
