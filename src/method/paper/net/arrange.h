/* A batch laid out for summing: units sorted by a keyed hash, cut into blocks, waves and chunks.
 *
 *     units     u7 u2 u9 | u4 u1 | u8 u3 u5      sorted by hash; a block is a range of hashes
 *     rows      aaabbc     dde     fgghh         a unit brings one or more rows
 *     wave      [ what fits into the net's workspace at once ][ ... ]
 *     chunk     [   ][  ]  [  ]    [    ]        rows of one block that one float product sums
 *
 * PRIVACY: a unit's block follows from its own hash, so adding or removing a unit changes one
 * block. Chunks are small enough that the float and rounding errors of a whole block stay below the
 * slack (dpl_chunk_rows), however full the block happens to be.
 */
#ifndef DPL_METHOD_PAPER_NET_ARRANGE_H
#define DPL_METHOD_PAPER_NET_ARRANGE_H

#include "base/base.h"

struct dpl_member {
    uint64_t hash;
    size_t unit;
    size_t n_rows;
    size_t first_row; /* within its wave */
};
struct dpl_chunk {
    size_t first_row, rows; /* within its wave */
};
struct dpl_wave {
    size_t member_begin, member_end, chunk_begin, chunk_end, rows;
};

struct dpl_arrangement {
    struct dpl_member *member;
    struct dpl_chunk *chunk;
    struct dpl_wave *wave;
    size_t n_members, n_chunks, n_waves;
    size_t member_capacity, chunk_capacity, wave_capacity;
};

/* What a batch is laid out for. */
struct dpl_cutting {
    size_t n_blocks;
    size_t capacity; /* rows of a wave */
    double weight;   /* sum of the norms of a unit's clipped rows, over the clip norm: 1 or 8 */
    double root_d;   /* square root of the number of dense parameters */
    double step;     /* the lattice step over the clip norm */
};

/* A block's float and lattice error when it holds n_units in chunks of at most chunk_rows rows
 * each, over the clip norm: gamma * sum of norms + n_chunks * sqrt(d) * h / 2. */
double dpl_block_error(const struct dpl_cutting *layout, size_t n_units, size_t chunk_rows,
                       size_t n_chunks);
/* The most rows a chunk of a block of n_units may have; 0 when no size will do. */
size_t dpl_chunk_rows(const struct dpl_cutting *layout, size_t n_units);
/* How many blocks an expected batch is cut into, so that a block is nearly always one chunk. */
size_t dpl_block_count(double expected_batch, size_t max_rows, double weight);

/* Room for n members; their unit, hash and n_rows are then to be filled in. */
enum dpl_status dpl_arrangement_reserve(struct dpl_run *run, struct dpl_arrangement *batch,
                                        size_t n_members);
/* Sorts the members and cuts blocks, waves and chunks. Members with no rows stay without effect.
 * DPL_REFUSED when a block is so full that its error cannot be bounded (for Poisson batches:
 * never). */
enum dpl_status dpl_arrange(struct dpl_run *run, struct dpl_arrangement *batch,
                            const struct dpl_cutting *layout);
void dpl_arrangement_free(struct dpl_arrangement *batch);

#endif
