/* Trips into a Parquet file, by DuckDB. Threads turn trips into records as they turn them into
 * text for other layouts; one thread of DuckDB's turns the records into rows of columns and writes
 * them. Between the two stands one chunk of records, so that memory does not grow with the file.
 *
 *     chunks of records -> dpl_table_put ->| one chunk |-> DuckDB: COPY (rows) TO the open file
 */
#ifndef DPL_WRITE_TABLE_H
#define DPL_WRITE_TABLE_H

#include "base/file.h"
#include "write/writer.h"

struct duck;

enum { DPL_TABLE_COLUMNS = 5 };

struct dpl_table_column {
    enum dpl_column name;
    int type; /* enum duck_type */
    bool list;
};

/* How the records of a writer become rows. */
struct dpl_table_kind {
    /* Fills the list of columns and returns how many there are. */
    size_t (*columns)(const struct dpl_sheet *sheet, struct dpl_table_column *column);
    /* Turns records, up to `room` rows of them, into rows; returns how many bytes they were. */
    size_t (*fill)(const struct duck *duck, void *const *vector, const struct dpl_sheet *sheet,
                   const char *bytes, size_t length, size_t room, size_t *rows);
    const char *metadata; /* what the file says about itself, as COPY takes it; NULL: nothing */
};

struct dpl_table;

/* Whether tables can be written to that path: call before anything is spent. */
enum dpl_status dpl_table_check(struct dpl_run *run, const char *path);
/* Begins to fill the open file. Ends with dpl_table_end. */
enum dpl_status dpl_table_begin(struct dpl_run *run, const struct dpl_table_kind *kind,
                                const struct dpl_sheet *sheet, struct dpl_file *file,
                                struct dpl_table **made);
/* The next records. `table` is a struct dpl_table. */
enum dpl_status dpl_table_put(void *table, const char *bytes, size_t length);
/* Completes the file, unless `status` says that the trips could not be drawn; returns what failed
 * first. Frees. */
enum dpl_status dpl_table_end(struct dpl_table *table, enum dpl_status status);

/* ---- for the layouts ---- */

/* The time of visit i: microseconds since 1970, of UTC or of local clocks, or whole seconds. */
int64_t dpl_table_time(const struct dpl_visits *visits, size_t i);
/* The columns that all tables begin with: uid (when there are users), tid, datetime (of a point, or
 * with `lists` of all points of a trip). Returns how many there are. */
size_t dpl_table_head(const struct dpl_sheet *sheet, bool lists, struct dpl_table_column *column);
/* The first n values of the vector are not known. */
void dpl_table_set_null(const struct duck *duck, void *vector, size_t n);

#endif
