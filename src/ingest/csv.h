/* Rows of a table, one point each: what delimited text and tables in memory share. The columns are
 * found by the same names, a value that is text is read by the same rules, and rows come together
 * into trips in the same way, so that one data set is the same trips in either form. */
#ifndef DPL_INGEST_CSV_H
#define DPL_INGEST_CSV_H

#include <string.h>

#include "ingest/format.h"

struct row {
    struct field trip, user, date, time;
    struct point point;
    enum time_notation notation;
    bool plain_ids; /* the ids hold neither separator nor blank: text that starts with them, and
                       goes on with a separator, starts with the same ids */
};

static inline bool same_field(struct field a, struct field b) {
    return a.length == b.length && !memcmp(a.text, b.text, a.length);
}

/* A layout from the names of columns alone, by `read.trip_column` and its like or by known names.
 */
enum dpl_status dpl_csv_open_names(const struct opening *opening, const struct field *names,
                                   int count, struct layout *layout);
/* One field into its place in the row; the reason when it does not fit. */
/* Whether a column of this name would be taken for the times. */
bool dpl_csv_time_name(const char *name);
enum dpl_reject dpl_csv_read_field(enum role role, struct field field, struct row *row);
/* The time column's value, with the date in front of it where that has a column of its own. */
enum dpl_reject dpl_csv_read_time(struct block *block, struct row *row);
enum dpl_reject dpl_csv_time_reject(enum time_result result);
/* Adds the row to the group it belongs to; `same`: it has the ids of the row before. `line` is for
 * a message. */
enum dpl_status dpl_csv_add_row(struct block *block, const struct row *row,
                                const struct row *before, bool same, struct field line);

#endif
