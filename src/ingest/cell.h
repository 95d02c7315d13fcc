/* Columns of a table in memory (Arrow's layouts), value by value.
 *
 * A column's type comes from the schema alone; a view is one chunk of a column. Views are checked
 * when they are made, as far as anything can be checked: the interface does not say how long
 * buffers are, but lengths, offsets and indices must not contradict each other. */
#ifndef DPL_INGEST_CELL_H
#define DPL_INGEST_CELL_H

#include "base/arrow.h"
#include "ingest/format.h"

enum column_kind {
    COLUMN_NULL, /* no values at all */
    COLUMN_BOOL,
    COLUMN_INT8, /* these eight in the order of the interface's letters, cCsSiIlL */
    COLUMN_UINT8,
    COLUMN_INT16,
    COLUMN_UINT16,
    COLUMN_INT32,
    COLUMN_UINT32,
    COLUMN_INT64,
    COLUMN_UINT64,
    COLUMN_FLOAT,
    COLUMN_DOUBLE,
    COLUMN_DECIMAL, /* 128 bits */
    COLUMN_TEXT,    /* 32-bit offsets */
    COLUMN_LARGE_TEXT,
    COLUMN_TEXT_VIEW,
    COLUMN_STAMP
};

struct column_type {
    enum column_kind kind;            /* with a dictionary: of its indices, a whole number */
    int64_t per_second;               /* of stamps */
    bool zoned;                       /* stamps are moments; otherwise what local clocks show */
    int scale;                        /* of decimals: digits behind the point */
    const struct column_type *values; /* of the dictionary; NULL: none */
};

/* False for a type that is not read. `values` is room for the type of a dictionary's values. */
bool dpl_column_type(const struct ArrowSchema *schema, struct column_type *type,
                     struct column_type *values);
/* Whether values of the type are text. */
bool dpl_column_is_text(const struct column_type *type);

struct column_view {
    const struct column_type *type;
    const struct ArrowArray *array;
    int64_t first, n;                /* rows of the array that the view shows */
    const struct ArrowArray *values; /* the dictionary; NULL: none */
};

/* A view of `n` rows from `first` on (both of the parent, whose offset is in them). DPL_BAD_DATA
 * when the array contradicts itself; `name` is the column's. */
enum dpl_status dpl_column_view(struct dpl_run *run, const char *name,
                                const struct column_type *type, const struct ArrowArray *array,
                                int64_t first, int64_t n, struct column_view *view);

enum cell_kind {
    CELL_NONE,  /* null, or not a number */
    CELL_WHOLE, /* number */
    CELL_BIG,   /* a whole number above what `whole` holds: its bits */
    CELL_REAL,
    CELL_TEXT,
    CELL_MOMENT, /* whole: seconds since 1970 UTC */
    CELL_LOCAL   /* whole: seconds, as local clocks show */
};

struct cell {
    enum cell_kind kind;
    int64_t whole;
    double real;
    struct field text; /* borrowed from the table, blanks at its ends taken off */
};

/* Row i of the view; sets the members that its kind has. */
void dpl_cell_read(const struct column_view *view, int64_t i, struct cell *cell);

enum { CELL_ROOM = 32 };
/* The value as text: of a number its digits, without a fraction where it has none, so that 7, 7.0
 * and "7" are one id. `room` holds what is not in the table. Empty of what is missing. */
struct field dpl_cell_text(const struct cell *cell, char room[CELL_ROOM]);

#endif
