/* Members to blocks of whole lines. */
#ifndef DPL_INGEST_FEEDER_H
#define DPL_INGEST_FEEDER_H

#include "ingest/format.h"
#include "ingest/source.h"
#include "ingest/unfold.h"

struct feeder {
    struct dpl_run *run;
    struct source *source;
    const struct dpl_read_options *options;
    const struct ingest_limits *limits;
    const struct dpl_zone *zone; /* NULL: UTC */
    struct dpl_read_facts *facts;
    const char *name; /* of the member, borrowed from the source */
    bool document;    /* the member is one JSON text */
    struct unfold unfold;
    char *folded; /* (folded_capacity) bytes of it, as they were read */
    size_t folded_capacity;
    bool cr_lines; /* CR alone ends a line of the member, too */
    bool silent;   /* the second time through: everything was said before */

    struct dpl_arena arena; /* layouts live until the end */
    struct layout *layout;  /* of the member being read, NULL: between members */
    uint32_t n_members;
    char *carry; /* what stands behind the last block's lines */
    size_t carry_length, carry_capacity;
    char said[DPL_FACT_TEXT];          /* the last thing said about a layout */
    char first_problem[DPL_FACT_TEXT]; /* why the first unusable member was passed over */
    enum dpl_status first_status;
};

/* The next block; *more is false when there is none. Not thread-safe: callers take turns. */
enum dpl_status dpl_feeder_next(struct feeder *feeder, struct block *block, bool *more);
/* After the last block: fails when no member could be used. */
enum dpl_status dpl_feeder_finish(struct feeder *feeder);
void dpl_feeder_rewind(struct feeder *feeder);
void dpl_feeder_free(struct feeder *feeder);

/* ---- shared with tables in memory ---- */

/* Which columns were taken for what: "trip=tid, time=datetime". */
void dpl_columns_list(const struct columns *columns, char *text, size_t size);
enum { CUT_WORDS = 128 };
/* How tracks are cut, to be put behind that. */
const char *dpl_cut_words(const struct dpl_read_options *options, char text[CUT_WORDS]);
/* DPL_REFUSED where the layout does not settle what the unit is. */
enum dpl_status dpl_units_check(struct dpl_run *run, const struct dpl_read_options *options,
                                const struct layout *layout);

#endif
