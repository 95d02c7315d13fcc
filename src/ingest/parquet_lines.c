/* See parquet_lines.h. Whole numbers, doubles, points and times are turned into text here, all else
 * by DuckDB; both exactly: a double has as many digits as give it back. */
#include "ingest/parquet_lines.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/date.h"
#include "base/duckdb.h"
#include "ingest/csv.h"
#include "ingest/wkb.h"

enum { NAME_ROOM = 4096, EXPRESSION = 256 };

/* Bytes in the making. */
struct text {
    char *bytes;
    size_t used, capacity;
};

struct column {
    int type; /* enum duck_type */
    const void *data;
    const uint64_t *validity; /* a bit a row; NULL: all are there */
};

/* Where a row's elements are in the column of all of them. */
struct list {
    uint64_t first, n;
};

struct parquet_lines {
    struct dpl_run *run;
    char name[NAME_ROOM];
    struct duck *duck;
    struct duck_result result;
    uint64_t n_columns;
    struct column *column; /* (n_columns) of the chunk being read */
    int64_t times;         /* the column of lists of times: a row is a path; -1: a row is a point */
    struct column element; /* of the lists in the chunk being read */
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

/* ---- the rows as text ---- */

/* Column i as text. A time with a zone is an instant, one without is what local clocks showed.
 * What is nested or binary is no value of a row. */
static void expression(int type, uint64_t i, char words[EXPRESSION]) {
    const char *form = "CAST(c%llu AS VARCHAR)";
    switch (type) {
    case DUCK_INTEGER:
    case DUCK_BIGINT:
    case DUCK_DOUBLE:
    case DUCK_TIMESTAMP:
    case DUCK_TIMESTAMP_TZ: form = "c%llu"; break; // turned into text here, which is quicker
    case DUCK_TIMESTAMP_S:
    case DUCK_TIMESTAMP_MS:
    case DUCK_TIMESTAMP_NS: form = "strftime(c%llu, '%%Y-%%m-%%dT%%H:%%M:%%S')"; break;
    case DUCK_FLOAT: // 7.0 is the id 7: columns with gaps are often of such a type
        form = "CASE WHEN c%1$llu = trunc(c%1$llu) AND abs(c%1$llu) < 9007199254740992 "
               "THEN CAST(CAST(c%1$llu AS BIGINT) AS VARCHAR) ELSE CAST(c%1$llu AS VARCHAR) END";
        break;
    case DUCK_BLOB: form = "c%llu"; break; // a point, perhaps: put_point
    case DUCK_LIST:                        // but for times of a path: list_expression
    case DUCK_STRUCT:
    case DUCK_MAP:
    case DUCK_UNION:
    case DUCK_ARRAY: form = "CAST(NULL AS VARCHAR)"; break;
    default: break;
    }
    snprintf(words, EXPRESSION, form, (unsigned long long)i);
}

/* What the lists in column i have as elements; 0: it has no lists. */
static int element_type(const struct duck *duck, struct duck_result *schema, uint64_t i) {
    if (duck->column_type(schema, i) != DUCK_LIST) return 0;
    void *type = duck->column_logical_type(schema, i), *element = duck->list_type_child_type(type);
    int found = duck->get_type_id(element);
    duck->destroy_logical_type(&element);
    duck->destroy_logical_type(&type);
    return found;
}

static bool is_time(int type) {
    return type == DUCK_TIMESTAMP || type == DUCK_TIMESTAMP_TZ ||
           (type >= DUCK_TIMESTAMP_S && type <= DUCK_TIMESTAMP_NS);
}

/* PRIVACY: the schema alone tells whether rows are paths: geometries, and one column with lists of
 * times, or of numbers under a name of times. */
static int64_t find_times(const struct duck *duck, struct duck_result *schema) {
    int64_t found = -1;
    bool geometry = false;
    for (uint64_t i = 0; i < duck->column_count(schema); i++) {
        int element = element_type(duck, schema, i);
        bool times =
            is_time(element) || (element && dpl_csv_time_name(duck->column_name(schema, i)));
        if (times && found >= 0) return -1; // which of them?
        if (times) found = (int64_t)i;
        geometry |= duck->column_type(schema, i) == DUCK_BLOB;
    }
    return geometry ? found : -1;
}

/* Lists of times as elements that put_value knows. */
static void list_expression(int element, uint64_t i, char words[EXPRESSION]) {
    const char *form = "CAST(c%llu AS VARCHAR[])";
    if (element == DUCK_TIMESTAMP || element == DUCK_TIMESTAMP_TZ || element == DUCK_BIGINT ||
        element == DUCK_INTEGER || element == DUCK_DOUBLE)
        form = "c%llu";
    else if (is_time(element))
        form = "CAST(c%llu AS TIMESTAMP[])";
    snprintf(words, EXPRESSION, form, (unsigned long long)i);
}

static enum dpl_status refuse(struct parquet_lines *table, const char *message) {
    char words[256];
    // PRIVACY: DuckDB quotes the value that does not fit.
    if (dpl_run_hushed(table->run))
        message = "why is not said here, because it may quote a row ('dploc inspect' says it)";
    return dpl_fail(table->run, DPL_BAD_DATA, "%s: cannot be read: %s", table->name,
                    dpl_duck_words(message, words));
}

/* The header line, and the query for the rows as text. */
static enum dpl_status describe(struct parquet_lines *table, struct duck_result *schema,
                                const char *rows, struct text *query) {
    struct dpl_run *run = table->run;
    const struct duck *duck = table->duck;
    char words[EXPRESSION];
    table->n_columns = duck->column_count(schema);
    table->column = dpl_alloc(run, table->n_columns, sizeof *table->column);
    if (!table->column) return DPL_SYSTEM;
    table->times = find_times(duck, schema);
    DPL_TRY(put_words(run, query, "SELECT "));
    for (uint64_t i = 0; i < table->n_columns; i++) {
        const char *name = duck->column_name(schema, i);
        if ((int64_t)i == table->times)
            list_expression(element_type(duck, schema, i), i, words);
        else
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

/* One statement, as it stands: "a; b" is two. Caller ends the result. */
static enum dpl_status ask(struct parquet_lines *table, const char *before, const char *rows,
                           const char *after, struct duck_result *result) {
    const struct duck *duck = table->duck;
    void *statement = NULL, *pending = NULL;
    struct text query = {0};
    enum dpl_status status;
    DPL_GO(put_words(table->run, &query, before));
    DPL_GO(put_words(table->run, &query, rows));
    DPL_GO(put_words(table->run, &query, after));
    if (duck->prepare(duck->connection, query.bytes, &statement) != 0)
        status = refuse(table, duck->prepare_error(statement));
    else if (duck->pending_prepared_streaming(statement, &pending) != 0)
        status = refuse(table, duck->pending_error(pending));
    else if (duck->execute_pending(pending, result) != 0)
        status = refuse(table, duck->result_error(result));
done:
    duck->destroy_pending(&pending);
    duck->destroy_prepare(&statement);
    dpl_free(query.bytes);
    return status;
}

static enum dpl_status prepare(struct parquet_lines *table, const char *rows, struct text *query) {
    struct duck_result schema = {0};
    enum dpl_status status = ask(table, "SELECT * FROM (", rows, "\n) LIMIT 0", &schema);
    if (status == DPL_OK) status = describe(table, &schema, rows, query);
    table->duck->destroy_result(&schema);
    return status;
}

/* As many rows as the file says that it has. */
static enum dpl_status count(struct parquet_lines *table, const char *rows) {
    const struct duck *duck = table->duck;
    struct duck_result result = {0};
    enum dpl_status status = ask(table, "SELECT count(*) FROM (", rows, ")", &result);
    void *chunk = status == DPL_OK ? duck->fetch_chunk(result) : NULL;
    if (chunk) {
        memcpy(&table->total, duck->vector_get_data(duck->data_chunk_get_vector(chunk, 0)),
               sizeof table->total);
        duck->destroy_data_chunk(&chunk);
    }
    duck->destroy_result(&result);
    return status;
}

/* ---- what a query may read ---- */

/* PRIVACY: what the plan of a query scans. Readers of text (read_csv, read_json, read_text) look at
 * rows to find out how to read others; what is not on this list is refused, whatever it is. */
static bool scan_allowed(const char *name) {
    static const char *const ALLOWED[] = {"PARQUET_SCAN", "READ_PARQUET",       "COLUMN_DATA_SCAN",
                                          "DUMMY_SCAN",   "EMPTY_RESULT",       "CTE_SCAN",
                                          "DELIM_SCAN",   "RECURSIVE_CTE_SCAN", "UNNEST",
                                          "RANGE",        "GENERATE_SERIES",    "EXPRESSION_SCAN"};
    size_t length = strlen(name);
    while (length && name[length - 1] == ' ') length--;
    for (size_t i = 0; i < sizeof ALLOWED / sizeof *ALLOWED; i++)
        if (strlen(ALLOWED[i]) == length && !memcmp(ALLOWED[i], name, length)) return true;
    return false;
}

/* The first thing in the plan that a query may not read by; NULL: there is none. */
static const char *find_forbidden(json_t *node) {
    json_t *children = json_object_get(node, "children"), *child;
    const char *name = json_string_value(json_object_get(node, "name")),
               *function = json_string_value(
                   json_object_get(json_object_get(node, "extra_info"), "Function"));
    size_t i;
    if (!name || (function && !scan_allowed(function))) return function ? function : "?";
    if (json_array_size(children) == 0 && !scan_allowed(name)) return name;
    json_array_foreach(children, i, child) {
        const char *found = find_forbidden(child);
        if (found) return found;
    }
    return NULL;
}

static enum dpl_status check_plan(struct parquet_lines *table, const struct duck_text *plan) {
    json_t *nodes = json_loadb(duck_text_bytes(plan), plan->length, 0, NULL), *node;
    const char *found = json_array_size(nodes) ? NULL : "?";
    enum dpl_status status = DPL_OK;
    size_t i;
    json_array_foreach(nodes, i, node) {
        if (!found) found = find_forbidden(node);
    }
    if (found)
        status = dpl_fail(table->run, DPL_REFUSED,
                          "the query reads by %.64s: it may read Parquet files alone, because what "
                          "reads text looks at rows to find out how to read the others (give a CSV "
                          "file as an input, or convert it first)",
                          found);
    json_decref(nodes);
    return status;
}

/* DuckDB's own plan of the query, as JSON in the second column. */
static enum dpl_status check_query(struct parquet_lines *table, const char *rows) {
    const struct duck *duck = table->duck;
    struct duck_result result = {0};
    enum dpl_status status =
        ask(table, "EXPLAIN (FORMAT json) SELECT * FROM (", rows, "\n)", &result);
    void *chunk = status == DPL_OK ? duck->fetch_chunk(result) : NULL;
    if (chunk) {
        status = check_plan(table, duck->vector_get_data(duck->data_chunk_get_vector(chunk, 1)));
        duck->destroy_data_chunk(&chunk);
    } else if (status == DPL_OK) {
        status = dpl_fail(table->run, DPL_BAD_DATA, "DuckDB does not explain the query");
    }
    duck->destroy_result(&result);
    return status;
}

/* ---- opening ---- */

static enum dpl_status open_rows(struct parquet_lines *table, const char *rows, bool query) {
    struct text statement = {0};
    struct duck_result ignored = {0};
    enum dpl_status status;
    DPL_GO(dpl_duck_open(table->run, dpl_run_threads(table->run), &table->duck));
    // DuckDB before 1.5 has no such setting and reads geometries as they are.
    table->duck->query(table->duck->connection, "SET enable_geoparquet_conversion = false",
                       &ignored);
    table->duck->destroy_result(&ignored);
    if (query) DPL_GO(check_query(table, rows));
    DPL_GO(prepare(table, rows, &statement));
    if (!query) DPL_GO(count(table, rows));
    DPL_GO(ask(table, statement.bytes, "", "", &table->result));
done:
    dpl_free(statement.bytes);
    return status;
}

static enum dpl_status open_table(struct dpl_run *run, const char *rows, bool query,
                                  const char *name, struct parquet_lines **made) {
    struct parquet_lines *table = dpl_alloc(run, 1, sizeof *table);
    if (!table) return DPL_SYSTEM;
    table->run = run;
    snprintf(table->name, sizeof table->name, "%s", name);
    enum dpl_status status = open_rows(table, rows, query);
    if (status == DPL_OK)
        *made = table;
    else
        dpl_parquet_lines_close(table);
    return status;
}

/* The file by its descriptor, not by its name: a name may hold what DuckDB takes for a pattern. Not
 * what the names of folders say. */
enum dpl_status dpl_parquet_lines_open(struct dpl_run *run, int fd, const char *name,
                                       struct parquet_lines **made) {
    char rows[128];
    snprintf(rows, sizeof rows,
             "SELECT * FROM read_parquet('/dev/fd/%d', hive_partitioning = false)", fd);
    return open_table(run, rows, false, name, made);
}

enum dpl_status dpl_parquet_lines_select(struct dpl_run *run, const char *query, const char *name,
                                         struct parquet_lines **made) {
    size_t length = strlen(query);
    while (length &&
           (query[length - 1] == ';' || query[length - 1] == ' ' || query[length - 1] == '\n'))
        length--;
    char *rows = dpl_alloc(run, length + 1, 1);
    if (!rows) return DPL_SYSTEM;
    memcpy(rows, query, length);
    enum dpl_status status = open_table(run, rows, true, name, made);
    dpl_free(rows);
    return status;
}

void dpl_parquet_lines_close(struct parquet_lines *table) {
    if (!table) return;
    if (table->duck) {
        table->duck->destroy_result(&table->result);
    }
    dpl_duck_close(table->duck);
    dpl_free(table->column);
    dpl_free(table->lines.bytes);
    dpl_free(table);
}

/* ---- rows ---- */

/* Which of a row's lines is written: always the first of one, unless rows are paths. */
struct line {
    uint64_t i, n;
};

/* The i-th point of n of GeoParquet, as CSV has it: POINT(11.5 48.1). Of anything else, and of a
 * path that has not n points, nothing: the row is a bad one. */
static enum dpl_status put_point(struct dpl_run *run, struct text *text, const char *bytes,
                                 size_t length, bool paths, struct line line) {
    char words[64];
    double xy[2];
    struct wkb wkb;
    if (!dpl_wkb_read(bytes, length, &wkb) || wkb.n != line.n || (wkb.line && !paths))
        return DPL_OK;
    dpl_wkb_position(&wkb, (uint32_t)line.i, xy);
    int used = snprintf(words, sizeof words, "POINT(%.17g %.17g)", xy[0], xy[1]);
    return put_value(run, text, words, (size_t)used);
}

static bool is_null(const uint64_t *validity, uint64_t row) {
    return validity && !(validity[row / 64] >> row % 64 & 1);
}

/* At least `least` digits at `to`; returns where they end. printf takes longer than all else. */
static char *digits(char *to, uint64_t value, int least) {
    char reversed[20];
    int n = 0;
    for (; value || n < least; value /= 10) reversed[n++] = (char)('0' + value % 10);
    while (n > 0) *to++ = reversed[--n];
    return to;
}

static enum dpl_status put_whole(struct dpl_run *run, struct text *text, int64_t value) {
    char words[32], *end = words;
    if (value < 0) *end++ = '-';
    end = digits(end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 1);
    return put(run, text, words, (size_t)(end - words));
}

/* The number itself: as few decimals as give it back, up to 7 of them as coordinates have; or 17
 * digits. What is whole has none: 7.0 is the id 7. */
static enum dpl_status put_number(struct dpl_run *run, struct text *text, double value) {
    static const double TENS = 1e7, MOST = 1e8, WHOLE = 9007199254740992;
    char words[64];
    if (fabs(value) < WHOLE && !(value < trunc(value)) && !(value > trunc(value)))
        return put_whole(run, text, (int64_t)value);
    uint64_t part = fabs(value) < MOST ? (uint64_t)llround(fabs(value) * TENS) : 0;
    double back = (double)part / TENS; // rounded as a reader of the decimals rounds
    bool exact = isfinite(value) && !(back < fabs(value)) && !(back > fabs(value));
    if (!exact) return put(run, text, words, (size_t)snprintf(words, sizeof words, "%.17g", value));
    char *end = words;
    if (value < 0) *end++ = '-';
    end = digits(end, part / 10000000, 1);
    *end++ = '.';
    end = digits(end, part % 10000000, 7);
    while (end[-1] == '0') end--;
    return put(run, text, words, (size_t)(end - words));
}

/* Seconds of a time, cut off towards the past, as ISO 8601. */
static enum dpl_status put_time(struct dpl_run *run, struct text *text, int64_t micro, bool zone) {
    enum { MICRO = 1000000, DAY_S = 86400 };
    static const int64_t MOST_S = 253402300800; // the year 10000; infinite times are beyond it
    int64_t s = micro / MICRO - (micro % MICRO < 0), year;
    int month, date;
    char words[64];
    if (s < -MOST_S || s >= MOST_S) return put_words(run, text, "infinity");
    int64_t day = s / DAY_S - (s % DAY_S < 0), rest = s - day * DAY_S;
    dpl_date_from_days(day, &year, &month, &date);
    const int field[] = {month, date, (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60)};
    char *end = digits(words, year < 0 ? 0 : (uint64_t)year, 4);
    for (int i = 0; i < 5; i++) {
        *end++ = "--T::"[i];
        end = digits(end, (uint64_t)field[i], 2);
    }
    if (zone) *end++ = 'Z';
    return put(run, text, words, (size_t)(end - words));
}

static const struct duck_text *text_at(const struct column *column, uint64_t row) {
    return (const struct duck_text *)column->data + row;
}

/* A value of one column by itself. */
static enum dpl_status put_plain(struct dpl_run *run, struct text *text,
                                 const struct column *column, uint64_t row) {
    if (is_null(column->validity, row)) return DPL_OK;
    switch (column->type) {
    case DUCK_INTEGER: return put_whole(run, text, ((const int32_t *)column->data)[row]);
    case DUCK_BIGINT: return put_whole(run, text, ((const int64_t *)column->data)[row]);
    case DUCK_DOUBLE: return put_number(run, text, ((const double *)column->data)[row]);
    case DUCK_TIMESTAMP: return put_time(run, text, ((const int64_t *)column->data)[row], false);
    case DUCK_TIMESTAMP_TZ: return put_time(run, text, ((const int64_t *)column->data)[row], true);
    default: break;
    }
    // Without blanks around it, as in a CSV file and in other programs' memory: one id is one unit.
    const struct duck_text *words = text_at(column, row);
    const struct field value = dpl_trim((struct field){duck_text_bytes(words), words->length});
    return put_value(run, text, value.text, value.length);
}

/* The times of a path; none, if they are missing. */
static struct list times_at(const struct parquet_lines *table, uint64_t row) {
    const struct column *times = &table->column[table->times];
    if (is_null(times->validity, row)) return (struct list){0, 0};
    return ((const struct list *)times->data)[row];
}

static enum dpl_status put_cell(struct parquet_lines *table, uint64_t i, uint64_t row,
                                struct line line) {
    const struct column *column = &table->column[i];
    if ((int64_t)i == table->times) {
        struct list list = times_at(table, row);
        if (line.i >= list.n) return DPL_OK;
        return put_plain(table->run, &table->lines, &table->element, list.first + line.i);
    }
    if (column->type != DUCK_BLOB) return put_plain(table->run, &table->lines, column, row);
    if (is_null(column->validity, row)) return DPL_OK;
    const struct duck_text *words = text_at(column, row);
    return put_point(table->run, &table->lines, duck_text_bytes(words), words->length,
                     table->times >= 0, line);
}

/* As many lines as a path has times or, without times, points; one of a path that has none, so that
 * it is counted. */
static uint64_t lines_of(const struct parquet_lines *table, uint64_t row) {
    uint64_t n = times_at(table, row).n;
    bool timed = !is_null(table->column[table->times].validity, row);
    for (uint64_t i = 0; !timed && !n && i < table->n_columns; i++) {
        const struct column *column = &table->column[i];
        if (column->type != DUCK_BLOB || is_null(column->validity, row)) continue;
        const struct duck_text *words = text_at(column, row);
        struct wkb wkb;
        if (dpl_wkb_read(duck_text_bytes(words), words->length, &wkb)) n = wkb.n;
    }
    return n ? n : 1;
}

static enum dpl_status put_row(struct parquet_lines *table, uint64_t row) {
    struct line line = {.n = table->times >= 0 ? lines_of(table, row) : 1};
    for (; line.i < line.n; line.i++) {
        for (uint64_t i = 0; i < table->n_columns; i++) {
            if (i) DPL_TRY(put(table->run, &table->lines, ",", 1));
            DPL_TRY(put_cell(table, i, row, line));
        }
        DPL_TRY(put(table->run, &table->lines, "\n", 1));
    }
    return DPL_OK;
}

static struct column open_column(const struct duck *duck, void *vector, int type) {
    return (struct column){.type = type,
                           .data = duck->vector_get_data(vector),
                           .validity = duck->vector_get_validity(vector)};
}

static void open_columns(struct parquet_lines *table, void *chunk) {
    const struct duck *duck = table->duck;
    for (uint64_t i = 0; i < table->n_columns; i++)
        table->column[i] = open_column(duck, duck->data_chunk_get_vector(chunk, i),
                                       duck->column_type(&table->result, i));
    if (table->times < 0) return;
    uint64_t times = (uint64_t)table->times;
    table->element =
        open_column(duck, duck->list_vector_get_child(duck->data_chunk_get_vector(chunk, times)),
                    element_type(duck, &table->result, times));
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
    if (chunk) open_columns(table, chunk);
    for (uint64_t row = 0; row < n && status == DPL_OK; row++) status = put_row(table, row);
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
