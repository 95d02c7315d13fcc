/* DuckDB's C library, found at run time: what reads and writes Parquet. It is no dependency of the
 * build; the few functions used are declared here, as DuckDB 1.0 and later have them.
 *
 * The library is the file that $DPLOC_DUCKDB names, or libduckdb.so where the system's loader finds
 * it. A session is a database in memory with one connection.
 * PRIVACY: a session writes nothing of what it works on to a disk but the file it is told to, and
 * has no extensions but those compiled in, none of which knows the network. */
#ifndef DPL_BASE_DUCKDB_H
#define DPL_BASE_DUCKDB_H

#include "base/base.h"

/* DuckDB's own struct, which it takes by value. */
struct duck_result {
    uint64_t counts[3];
    void *columns;
    char *message;
    void *inside;
};

/* A text as DuckDB's vectors hold it: up to 12 bytes in place, longer ones elsewhere. */
struct duck_text {
    uint32_t length;
    union {
        char near[12];
        struct __attribute__((packed)) {
            char prefix[4];
            const char *bytes;
        } far;
    } as;
};
static inline const char *duck_text_bytes(const struct duck_text *text) {
    return text->length <= sizeof text->as.near ? text->as.near : text->as.far.bytes;
}

/* The types that are used, by DuckDB's numbers. */
enum duck_type {
    DUCK_INTEGER = 4,
    DUCK_BIGINT = 5,
    DUCK_FLOAT = 10,
    DUCK_DOUBLE = 11,
    DUCK_TIMESTAMP = 12,
    DUCK_BLOB = 18,
    DUCK_TIMESTAMP_S = 20,
    DUCK_TIMESTAMP_MS = 21,
    DUCK_TIMESTAMP_NS = 22,
    DUCK_LIST = 24,
    DUCK_STRUCT = 25,
    DUCK_MAP = 26,
    DUCK_UNION = 28,
    DUCK_TIMESTAMP_TZ = 31,
    DUCK_ARRAY = 33
};

typedef void duck_callback(void *info);
typedef void duck_fill(void *info, void *chunk);

/* Every function that is used: its result, its name without "duckdb_", its arguments. Handles are
 * void pointers; a status is 0 when all is well. */
#define DUCK_FUNCTIONS(ROW)                                                                        \
    ROW(int, create_config, (void **config))                                                       \
    ROW(int, set_config, (void *config, const char *name, const char *value))                      \
    ROW(void, destroy_config, (void **config))                                                     \
    ROW(int, open_ext, (const char *path, void **database, void *config, char **message))          \
    ROW(void, close, (void **database))                                                            \
    ROW(void, free, (void *pointer))                                                               \
    ROW(int, connect, (void *database, void **connection))                                         \
    ROW(void, disconnect, (void **connection))                                                     \
    ROW(int, query, (void *connection, const char *text, struct duck_result *result))              \
    ROW(void, destroy_result, (struct duck_result * result))                                       \
    ROW(const char *, result_error, (struct duck_result * result))                                 \
    ROW(uint64_t, column_count, (struct duck_result * result))                                     \
    ROW(const char *, column_name, (struct duck_result * result, uint64_t column))                 \
    ROW(int, column_type, (struct duck_result * result, uint64_t column))                          \
    ROW(void *, column_logical_type, (struct duck_result * result, uint64_t column))               \
    ROW(void *, list_type_child_type, (void *type))                                                \
    ROW(int, get_type_id, (void *type))                                                            \
    ROW(int, prepare, (void *connection, const char *text, void **statement))                      \
    ROW(const char *, prepare_error, (void *statement))                                            \
    ROW(void, destroy_prepare, (void **statement))                                                 \
    ROW(int, pending_prepared_streaming, (void *statement, void **pending))                        \
    ROW(const char *, pending_error, (void *pending))                                              \
    ROW(int, execute_pending, (void *pending, struct duck_result *result))                         \
    ROW(void, destroy_pending, (void **pending))                                                   \
    ROW(void *, fetch_chunk, (struct duck_result result))                                          \
    ROW(void, destroy_data_chunk, (void **chunk))                                                  \
    ROW(uint64_t, data_chunk_get_size, (void *chunk))                                              \
    ROW(void, data_chunk_set_size, (void *chunk, uint64_t size))                                   \
    ROW(void *, data_chunk_get_vector, (void *chunk, uint64_t column))                             \
    ROW(void *, vector_get_data, (void *vector))                                                   \
    ROW(uint64_t *, vector_get_validity, (void *vector))                                           \
    ROW(void, vector_ensure_validity_writable, (void *vector))                                     \
    ROW(void, vector_assign_string_element_len,                                                    \
        (void *vector, uint64_t row, const char *bytes, uint64_t length))                          \
    ROW(void *, list_vector_get_child, (void *vector))                                             \
    ROW(int, list_vector_set_size, (void *vector, uint64_t size))                                  \
    ROW(int, list_vector_reserve, (void *vector, uint64_t size))                                   \
    ROW(uint64_t, vector_size, (void))                                                             \
    ROW(void *, create_logical_type, (int type))                                                   \
    ROW(void *, create_list_type, (void *element))                                                 \
    ROW(void, destroy_logical_type, (void **type))                                                 \
    ROW(void *, create_table_function, (void))                                                     \
    ROW(void, table_function_set_name, (void *function, const char *name))                         \
    ROW(void, table_function_set_extra_info, (void *function, void *extra, duck_callback *free))   \
    ROW(void, table_function_set_bind, (void *function, duck_callback *bind))                      \
    ROW(void, table_function_set_init, (void *function, duck_callback *init))                      \
    ROW(void, table_function_set_function, (void *function, duck_fill *fill))                      \
    ROW(int, register_table_function, (void *connection, void *function))                          \
    ROW(void, destroy_table_function, (void **function))                                           \
    ROW(void *, bind_get_extra_info, (void *info))                                                 \
    ROW(void, bind_add_result_column, (void *info, const char *name, void *type))                  \
    ROW(void *, function_get_extra_info, (void *info))                                             \
    ROW(void, function_set_error, (void *info, const char *message))

struct duck {
#define DUCK_MEMBER(result, name, arguments) result(*name) arguments;
    DUCK_FUNCTIONS(DUCK_MEMBER)
#undef DUCK_MEMBER
    void *database, *connection;
};

/* Whether there is a library that would do; the message of dpl_duck_open otherwise. */
enum dpl_status dpl_duck_find(struct dpl_run *run);
/* Caller closes. DPL_USAGE, with what to do, when there is no library. */
enum dpl_status dpl_duck_open(struct dpl_run *run, int threads, struct duck **made);
void dpl_duck_close(struct duck *duck);
/* Runs one statement for its effect; `what` begins the message of a failure. */
enum dpl_status dpl_duck_do(struct dpl_run *run, struct duck *duck, const char *what,
                            const char *statement);
/* A message of DuckDB's on one line, without the advice that follows its first sentence. */
const char *dpl_duck_words(const char *message, char text[256]);

#endif
