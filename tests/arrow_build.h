/* Tables for tests: columns of numbers, in any representation that the reader takes. Shared by
 * arrow_test and arrow_fuzz, so without cmocka; memory that is short ends the process. */
#ifndef DPL_TEST_ARROW_BUILD_H
#define DPL_TEST_ARROW_BUILD_H

#include <dploc_arrow.h>

enum { BUILDER_COLUMNS = 8 };

/* One column as texts or 8-byte values; the stream makes its own copy in the format. */
struct column_builder {
    const char *name, *format; /* of the interface; "@" in front: as a dictionary */
    const int64_t *whole;      /* (n) one of the two */
    const double *real;        /* (n) */
    bool seconds;              /* the whole numbers are times, in seconds */
    size_t n;
    uint64_t missing; /* bit i: row i has no value */
};

struct table_builder {
    struct column_builder column[BUILDER_COLUMNS];
    int64_t n_columns;
};

void builder_whole(struct table_builder *table, const char *name, const char *format,
                   const int64_t *values, size_t n);
void builder_real(struct table_builder *table, const char *name, const char *format,
                  const double *values, size_t n);
void builder_time(struct table_builder *table, const char *name, const char *format,
                  const int64_t *seconds, size_t n);
/* The row of the last column has no value. */
void builder_missing(struct table_builder *table, int row);

/* All columns in chunks of so many rows (0: one chunk). Every second chunk is a slice of columns
 * that hold more, and an empty one stands before it. */
struct ArrowArrayStream builder_stream(const struct table_builder *table, int64_t chunk_rows);
/* Changes the first chunk that comes out; takes the change back before it is released. */
void builder_damage(struct ArrowArrayStream *stream, void (*damage)(struct ArrowArray *chunk));
/* The first chunk is an error. */
void builder_fail(struct ArrowArrayStream *stream, const char *message);

#endif
