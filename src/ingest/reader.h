/* A reading under way: what the loop over blocks (read.c) and the reading of what is in memory
 * (read_memory.c) share. */
#ifndef DPL_INGEST_READER_H
#define DPL_INGEST_READER_H

#include "ingest/feeder.h"
#include "ingest/sorter.h"
#include "ingest/table.h"

/* What facts a batch of recordings adds. */
struct tally {
    int64_t trips, points, elsewhere, first_utc_s, last_utc_s;
    double south_deg, west_deg, north_deg, east_deg;
    int64_t interval_s[DPL_INTERVALS];
};

struct slot {
    struct block block;
    void *batch;
    struct tally tally;
};

struct reader {
    struct dpl_run *run;
    struct feeder feeder;
    struct table_feeder table; /* in its place, when the rows are a table's */
    bool of_table;
    const struct sink *sink;
    struct ingest_identity *identity; /* NULL: not wanted */
    struct dpl_read_facts *facts;
    bool strict;
    bool by_user;       /* points in memory: the unit is the user */
    struct slot *slots; /* (n_slots) */
    size_t n_slots;
    struct slot seam; /* batch and tally of stitched recordings; its points are the pending trip */
    struct group pending;
    const struct layout *pending_layout; /* NULL: nothing pending */
    int64_t line_base;                   /* lines of the member before the block being committed */
    unsigned notations;                  /* of times, as struct block has them */
    struct dpl_hash_set marks;           /* of finished trips */
    struct dpl_index users;
    bool scattered;        /* a mark came back */
    struct sorter *sorter; /* second pass; else NULL */
    struct dpl_index recordings;
    struct group *sorted_groups; /* (recordings.count) user and split of each */
    const struct layout **sorted_layouts;
    size_t groups_capacity, layouts_capacity;
};

/* ---- facts: tally.c ---- */

void dpl_facts_clear(struct dpl_read_facts *facts);
void dpl_tally_clear(struct tally *tally);
void dpl_tally_recording(struct tally *tally, const struct recording *r);
/* Adds the tally to the facts and clears it. */
void dpl_tally_commit(struct dpl_read_facts *facts, struct tally *tally);

/* ---- the loop: read.c ---- */

/* Caller frees with dpl_reader_free, also after a failure. */
enum dpl_status dpl_reader_slots(struct reader *reader);
void dpl_reader_free(struct reader *reader);
/* A recording to the slot's batch, in order of time; or left to another shard. */
enum dpl_status dpl_reader_deliver(const struct reader *reader, struct slot *slot,
                                   const struct layout *layout, const struct group *group,
                                   struct point *points);
enum dpl_status dpl_reader_commit(struct reader *reader, struct slot *slot);
/* All blocks, twice where rows are scattered; sorted through `memory_bytes` and a file. */
enum dpl_status dpl_reader_all(struct reader *reader, size_t memory_bytes);
/* Sums know no order: what each thread has seen is added up once, at the end of the last pass. */
enum dpl_status dpl_reader_identify(struct reader *reader);
/* How times were written, in words, for the holder of the data. */
void dpl_reader_times(unsigned notations, const char *zone_name, struct dpl_read_facts *facts);

#endif
