/* Counts of some shards of one round: parts, and the sums that they add up to.
 *
 * PRIVATE: exact sums. Files of them are for their owner alone (mode 0600) and say so in their
 * first member. What they say to the driver: for which plan, by which version, of which shards,
 * which data set (the same keyed sum over rows as the ledger's, merged), and the tables.
 *
 * A part is a function of the plan and of its units: a retried task makes the same bytes. Merging
 * adds whole numbers: the same bits in any order. A shard that is missing or there twice is found.
 */
#ifndef DPL_FIT_COUNTS_H
#define DPL_FIT_COUNTS_H

#include "account/event.h"
#include "base/digest.h"
#include "base/frame.h"
#include "base/identity.h"
#include "noise/lattice.h"

enum { DPL_COUNTS_TABLES = 32, DPL_SHARDS_MOST = 1 << 20 };

extern const struct dpl_frame_kind dpl_part_kind;

/* What reading said, as far as the driver's notes for the holder repeat it. NOT PRIVATE. */
struct dpl_shard_facts {
    uint64_t units, recordings, elsewhere; /* elsewhere: recordings left to other shards */
    int64_t trips_read, trips_dropped[DPL_DROPS];
    bool selected;              /* some rows are the result of a query */
    struct dpl_reading reading; /* public: names and header line */
    struct dpl_identity identity;
};

struct dpl_sums {
    char plan[DPL_DIGEST_HEX]; /* SHA-256 of the plan's file; "": nothing was added yet */
    int64_t round;
    uint32_t shards;
    uint8_t *have; /* (shards) */
    struct dpl_shard_facts facts;
    size_t n_tables;
    struct {
        char name[DPL_EVENT_NAME];
        struct dpl_exact *sum;
    } table[DPL_COUNTS_TABLES];
};

/* The counts of one shard, without tables yet. Free with dpl_sums_free. */
enum dpl_status dpl_sums_of_shard(struct dpl_run *run, const char plan[DPL_DIGEST_HEX], int round,
                                  uint32_t index, uint32_t shards,
                                  const struct dpl_shard_facts *facts, struct dpl_sums **sums);
/* Gives it a table; *counts is NULL afterwards. */
enum dpl_status dpl_sums_put(struct dpl_run *run, struct dpl_sums *sums, const char *name,
                             struct dpl_exact **counts);
/* Takes a table out; NULL: there is none of that name. */
struct dpl_exact *dpl_sums_take(struct dpl_sums *sums, const char *name);
/* DPL_REFUSED, with the shards that are missing. */
enum dpl_status dpl_sums_check_whole(struct dpl_run *run, const struct dpl_sums *sums);
/* Units that no worker counted, as far as the parts tell: 0 when each worker read all data, or its
 * own units alone. */
uint64_t dpl_sums_lost(const struct dpl_sums *sums);

/* Members and JSON of a shard's facts, for files of cleaned shards too. */
json_t *dpl_shard_facts_to_json(const struct dpl_shard_facts *facts);
enum dpl_status dpl_shard_facts_from_json(struct dpl_run *run, const char *where, json_t *object,
                                          struct dpl_shard_facts *facts);

#endif
