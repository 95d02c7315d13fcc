/* A Parquet file as lines of CSV, by DuckDB: then columns are found, rows are read and counted by
 * the rules for CSV, and the same rows are the same data set to the ledger.
 *
 *     schema -> "tid,datetime,lat,lng\n"      row -> "7,2025-03-03T07:15:00Z,47.98,11.5\n"
 *
 * Where the schema has a list of times beside geometries, as what `-o out.geoparquet` writes, a row
 * is a whole trip, a LineString, and becomes a line of text for each of its points.
 *
 * PRIVACY: how a value is written follows from its column's type in the schema alone. The lines are
 * in memory, a few thousand rows of them at a time, and never in a file. */
#ifndef DPL_INGEST_PARQUET_LINES_H
#define DPL_INGEST_PARQUET_LINES_H

#include "base/base.h"

struct parquet_lines;

/* The rows of an open file; `name` is for messages. Caller closes. */
enum dpl_status dpl_parquet_lines_open(struct dpl_run *run, int fd, const char *name,
                                       struct parquet_lines **made);
/* The rows that a query of the holder's selects, from Parquet files: a reader of text would look at
 * rows to find out how to read them. */
enum dpl_status dpl_parquet_lines_select(struct dpl_run *run, const char *query, const char *name,
                                         struct parquet_lines **made);
/* Up to `room` bytes of lines; *got is 0 only at their end. */
enum dpl_status dpl_parquet_lines_read(struct parquet_lines *table, char *buffer, size_t room,
                                       size_t *got);
/* How much of the rows has been read, 0 to 1. */
double dpl_parquet_lines_share(const struct parquet_lines *table);
void dpl_parquet_lines_close(struct parquet_lines *table);

#endif
