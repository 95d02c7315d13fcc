/* Which shard a unit belongs to.
 *
 * A unit is known by its id as the rows have it, without the file: by its user, or by its trip, or,
 * where rows have no trip ids, by the user whose track it is cut from. Units of one id in two files
 * are two units of one shard. What has no id at all is known by its first point. */
#ifndef DPL_INGEST_SHARD_H
#define DPL_INGEST_SHARD_H

#include "ingest/ingest.h"

/* Which of `count` parts the id falls into. */
static inline uint32_t dpl_shard_of(uint64_t seed, struct dpl_key id, uint32_t count) {
    __extension__ typedef unsigned __int128 wide;
    return (uint32_t)((wide)dpl_hash(&id, sizeof id, seed).hi * count >> 64);
}

static inline bool dpl_shard_has(const struct ingest_shard *shard, struct dpl_key id) {
    return shard->count <= 1 || dpl_shard_of(shard->seed, id, shard->count) == shard->index;
}

/* The id that decides; all zero: there is none. */
static inline struct dpl_key dpl_shard_id(const struct ingest_shard *shard, struct dpl_key trip,
                                          struct dpl_key user) {
    return shard->by_user || !(trip.hi | trip.lo) ? user : trip;
}

static inline bool dpl_shard_has_point(const struct ingest_shard *shard,
                                       const struct point *point) {
    return dpl_shard_has(shard, dpl_hash(point, sizeof *point, 0));
}

#endif
