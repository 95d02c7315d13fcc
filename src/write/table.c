/* See table.h. */
#include "write/table.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/duckdb.h"

enum { MICRO = 1000000, QUERY_ROOM = 2048 };

struct dpl_table {
    struct dpl_run *run;
    const struct dpl_table_kind *kind;
    const struct dpl_sheet *sheet;
    struct dpl_file *file;
    struct duck *duck;
    struct dpl_table_column column[DPL_TABLE_COLUMNS];
    size_t n_columns;
    pthread_t thread;
    /* Shared by the two threads. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct dpl_text chunk; /* records that are not rows yet */
    size_t taken;          /* bytes of them that are */
    bool closed;           /* no more will come */
    bool broken;           /* the trips could not be drawn: the file is not to be completed */
    bool ended;            /* DuckDB takes no more */
    bool failed;           /* DuckDB said so: */
    char words[256];
};

/* ---- times ---- */

int64_t dpl_table_time(const struct dpl_visits *visits, size_t i) {
    int64_t utc_s = visits->utc_s + (int64_t)i * visits->slot_s;
    if (visits->times == DPL_TIMES_EPOCH) return utc_s;
    if (visits->times == DPL_TIMES_NAIVE)
        utc_s += i < visits->change_at ? visits->offset_s : visits->offset_after_s;
    return utc_s * MICRO;
}

static int time_type(const struct dpl_sheet *sheet) {
    if (sheet->times == DPL_TIMES_EPOCH) return DUCK_BIGINT;
    return sheet->times == DPL_TIMES_NAIVE ? DUCK_TIMESTAMP : DUCK_TIMESTAMP_TZ;
}

size_t dpl_table_head(const struct dpl_sheet *sheet, bool lists, struct dpl_table_column *column) {
    size_t n = 0;
    if (sheet->users) column[n++] = (struct dpl_table_column){DPL_COLUMN_UID, DUCK_BIGINT, false};
    column[n++] = (struct dpl_table_column){DPL_COLUMN_TID, DUCK_BIGINT, false};
    column[n++] = (struct dpl_table_column){DPL_COLUMN_DATETIME, time_type(sheet), lists};
    return n;
}

void dpl_table_set_null(const struct duck *duck, void *vector, size_t n) {
    duck->vector_ensure_validity_writable(vector);
    uint64_t *validity = duck->vector_get_validity(vector);
    for (size_t i = 0; i < n; i++) validity[i / 64] &= ~((uint64_t)1 << i % 64);
}

/* ---- DuckDB's side ---- */

/* DuckDB calls back with a handle alone, and only itself knows what belongs to the handle. These
 * two ask it. They are always written with the same: the library is loaded once and stays. */
typedef void *extra_of(void *info);
static _Atomic(extra_of *) extra_of_bind, extra_of_function;

static void *column_type(const struct duck *duck, const struct dpl_table_column *column) {
    void *element = duck->create_logical_type(column->type);
    if (!column->list) return element;
    void *list = duck->create_list_type(element);
    duck->destroy_logical_type(&element);
    return list;
}

static void bind(void *info) {
    const struct dpl_table *table = atomic_load(&extra_of_bind)(info);
    for (size_t i = 0; i < table->n_columns; i++) {
        void *type = column_type(table->duck, &table->column[i]);
        table->duck->bind_add_result_column(
            info, dpl_column_name(table->sheet->names, table->column[i].name), type);
        table->duck->destroy_logical_type(&type);
    }
}

/* A function that scans is told to begin by this; it always runs in one thread, so that rows keep
 * their order. */
static void init(void *info) { (void)info; }

/* Waits for records; false when there are no more. */
static bool await_records(struct dpl_table *table) {
    pthread_mutex_lock(&table->lock);
    while (table->taken == table->chunk.used && !table->closed)
        pthread_cond_wait(&table->changed, &table->lock);
    bool more = table->taken < table->chunk.used;
    pthread_mutex_unlock(&table->lock);
    return more;
}

static void took(struct dpl_table *table, size_t bytes) {
    pthread_mutex_lock(&table->lock);
    table->taken += bytes;
    pthread_cond_signal(&table->changed);
    pthread_mutex_unlock(&table->lock);
}

static void fill(void *info, void *chunk) {
    struct dpl_table *table = atomic_load(&extra_of_function)(info);
    const struct duck *duck = table->duck;
    void *vector[DPL_TABLE_COLUMNS];
    size_t rows = 0;
    for (size_t i = 0; i < table->n_columns; i++) vector[i] = duck->data_chunk_get_vector(chunk, i);
    if (await_records(table))
        took(table, table->kind->fill(duck, vector, table->sheet, table->chunk.bytes + table->taken,
                                      table->chunk.used - table->taken, (size_t)duck->vector_size(),
                                      &rows));
    else if (table->broken)
        duck->function_set_error(info, "the trips could not be drawn");
    duck->data_chunk_set_size(chunk, rows);
}

static void register_rows(struct dpl_table *table) {
    const struct duck *duck = table->duck;
    void *function = duck->create_table_function();
    atomic_store(&extra_of_bind, duck->bind_get_extra_info);
    atomic_store(&extra_of_function, duck->function_get_extra_info);
    duck->table_function_set_name(function, "dploc_rows");
    duck->table_function_set_extra_info(function, table, NULL);
    duck->table_function_set_bind(function, bind);
    duck->table_function_set_init(function, init);
    duck->table_function_set_function(function, fill);
    duck->register_table_function(duck->connection, function);
    duck->destroy_table_function(&function);
}

/* The file is already aside (base/file.h): DuckDB writes into it as it is. */
static void *copy_rows(void *state) {
    struct dpl_table *table = state;
    struct duck *duck = table->duck;
    struct duck_result result = {0};
    const char *metadata = table->kind->metadata;
    char query[QUERY_ROOM];
    snprintf(query, sizeof query,
             "COPY (SELECT * FROM dploc_rows()) TO '/dev/fd/%d' (FORMAT parquet, COMPRESSION zstd, "
             "USE_TMP_FILE false%s%s)",
             dpl_file_descriptor(table->file), metadata ? ", KV_METADATA " : "",
             metadata ? metadata : "");
    bool failed = duck->query(duck->connection, query, &result) != 0;
    pthread_mutex_lock(&table->lock);
    if (failed) dpl_duck_words(duck->result_error(&result), table->words);
    table->failed = failed;
    table->ended = true;
    pthread_cond_signal(&table->changed);
    pthread_mutex_unlock(&table->lock);
    duck->destroy_result(&result);
    return NULL;
}

/* ---- our side ---- */

enum dpl_status dpl_table_check(struct dpl_run *run, const char *path) {
    size_t length = strlen(path);
    bool packed = (length > 3 && !strcmp(path + length - 3, ".gz")) ||
                  (length > 4 && !strcmp(path + length - 4, ".zst"));
    if (packed)
        return dpl_fail(run, DPL_USAGE, "%s: Parquet is packed already: leave out the last ending",
                        path);
    if (!strcmp(path, "-"))
        return dpl_fail(run, DPL_USAGE, "Parquet is not written to standard output: name a file");
    return dpl_duck_find(run);
}

static void free_table(struct dpl_table *table) {
    dpl_duck_close(table->duck);
    pthread_cond_destroy(&table->changed);
    pthread_mutex_destroy(&table->lock);
    dpl_free(table->chunk.bytes);
    dpl_free(table);
}

enum dpl_status dpl_table_begin(struct dpl_run *run, const struct dpl_table_kind *kind,
                                const struct dpl_sheet *sheet, struct dpl_file *file,
                                struct dpl_table **made) {
    struct dpl_table *table = dpl_alloc(run, 1, sizeof *table);
    if (!table) return DPL_SYSTEM;
    table->run = run, table->kind = kind, table->sheet = sheet, table->file = file;
    table->n_columns = kind->columns(sheet, table->column);
    pthread_mutex_init(&table->lock, NULL);
    pthread_cond_init(&table->changed, NULL);
    enum dpl_status status = dpl_duck_open(run, dpl_run_threads(run), &table->duck);
    if (status == DPL_OK) register_rows(table);
    if (status == DPL_OK && pthread_create(&table->thread, NULL, copy_rows, table) != 0)
        status = dpl_fail(run, DPL_SYSTEM, "no thread can be started for writing Parquet");
    if (status == DPL_OK)
        *made = table;
    else
        free_table(table);
    return status;
}

enum dpl_status dpl_table_put(void *state, const char *bytes, size_t length) {
    struct dpl_table *table = state;
    enum dpl_status status = DPL_OK;
    char *to;
    if (length == 0) return DPL_OK;
    pthread_mutex_lock(&table->lock);
    while (table->taken < table->chunk.used && !table->ended)
        pthread_cond_wait(&table->changed, &table->lock);
    table->chunk.used = table->taken = 0;
    if (table->ended)
        status = DPL_SYSTEM; // dpl_table_end says why
    else
        status = dpl_text_room(table->run, &table->chunk, length, &to);
    if (status == DPL_OK) dpl_text_end(&table->chunk, put_text(to, bytes, length));
    pthread_cond_signal(&table->changed);
    pthread_mutex_unlock(&table->lock);
    return status;
}

enum dpl_status dpl_table_end(struct dpl_table *table, enum dpl_status status) {
    pthread_mutex_lock(&table->lock);
    while (status == DPL_OK && table->taken < table->chunk.used && !table->ended)
        pthread_cond_wait(&table->changed, &table->lock);
    table->broken = status != DPL_OK && !table->ended;
    if (table->broken) table->taken = table->chunk.used; // what waits is not wanted
    table->closed = true;
    pthread_cond_signal(&table->changed);
    pthread_mutex_unlock(&table->lock);
    pthread_join(table->thread, NULL);
    if (table->failed && !table->broken)
        status = dpl_fail(table->run, DPL_SYSTEM, "Parquet cannot be written: %s", table->words);
    if (status == DPL_OK) status = dpl_file_adopt(table->file);
    free_table(table);
    return status;
}
