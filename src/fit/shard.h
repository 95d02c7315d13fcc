/* The cleaned trips of one shard: what a worker counts, in every round anew.
 *
 * PRIVATE. As bytes it is a frame (base/frame.h) of columns, about 14 bytes a visit with positions;
 * good for all rounds of the fit that it was cleaned for, and for no other. */
#ifndef DPL_FIT_SHARD_H
#define DPL_FIT_SHARD_H

#include "fit/count.h"
#include "fit/task.h"

struct dpl_shard {
    uint32_t index, shards;
    char id[DPL_TASK_ID]; /* of the fit */
    struct dpl_cleaned *trips;
    struct dpl_shard_facts facts; /* units is settled when they are counted */
};

/* What its trips are read for. */
struct dpl_shard_use {
    bool one_round;      /* the task's alone; false: all rounds of the fit */
    size_t memory_bytes; /* trips beyond go to a file; 0: none do, as dpl_shard_make wants it */
};

/* DPL_USAGE: there is no such shard of that many. */
enum dpl_status dpl_shard_check(struct dpl_run *run, uint32_t index, uint32_t shards);
/* Reads and cleans the units of the shard. `shard` is all zero; free also after a failure. */
enum dpl_status dpl_shard_read(struct dpl_run *run, const struct dpl_task *task,
                               struct dpl_trips *trips, uint32_t index, uint32_t shards,
                               struct dpl_shard_use use, struct dpl_shard *shard);
void dpl_shard_free(struct dpl_shard *shard);
enum dpl_status dpl_shard_make(struct dpl_run *run, const struct dpl_shard *shard,
                               struct dpl_bytes *bytes);
enum dpl_status dpl_shard_load(struct dpl_run *run, const struct dpl_task *task,
                               struct dpl_view bytes, struct dpl_shard *shard);
/* In a file that only its owner can read; and from it: DPL_REFUSED for another shard's. */
enum dpl_status dpl_shard_save(struct dpl_run *run, const struct dpl_shard *shard,
                               const char *path);
enum dpl_status dpl_shard_open(struct dpl_run *run, const struct dpl_task *task, const char *path,
                               uint32_t index, uint32_t shards, struct dpl_shard *shard);
/* What the round asks of it. Free with dpl_sums_free. */
enum dpl_status dpl_shard_count(struct dpl_run *run, const struct dpl_task *task,
                                struct dpl_shard *shard, struct dpl_sums **counts);

#endif
