/* Tables in memory as a source of rows, in place of the feeder's blocks of text.
 *
 * PRIVACY: the same contract as for files (docs/PRIVACY.md, "Reading"): how a row is read is a
 * function of that row, of the schema and of options. Types of columns are part of the schema;
 * where a program has inferred them from the rows, its caller has to pass text instead. */
#ifndef DPL_INGEST_TABLE_H
#define DPL_INGEST_TABLE_H

#include "base/arrow.h"
#include "ingest/format.h"

struct table_feeder {
    struct dpl_run *run;
    const struct dpl_arrow *table;
    struct dpl_arena arena; /* the layout's */
    struct layout *layout;
    size_t chunk; /* where the next block begins */
    int64_t row;
    double done_rows; /* handed out so far */
};

/* Finds the columns and checks all chunks. Free with dpl_table_feeder_free, also after a failure.
 */
enum dpl_status dpl_table_feeder_open(struct dpl_run *run, const struct dpl_arrow *table,
                                      const struct dpl_read_options *options,
                                      const struct dpl_zone *zone, struct table_feeder *feeder);
/* What was settled, for the holder; names of columns are the holder's, like a header line. */
void dpl_table_feeder_describe(const struct table_feeder *feeder, struct dpl_read_facts *facts);
/* The next block of rows; *more is false when there is none. Callers take turns. */
enum dpl_status dpl_table_feeder_next(struct table_feeder *feeder, struct block *block, bool *more);
void dpl_table_feeder_rewind(struct table_feeder *feeder);
void dpl_table_feeder_free(struct table_feeder *feeder);

#endif
