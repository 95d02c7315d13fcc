/* A batch laid out for summing: units sorted by a random word each, cut into blocks, waves and
 * chunks.
 *
 *     units     u7 u2 u9 | u4 u1 | u8 u3 u5      sorted by word; a block is a range of words
 *     rows      aaabbc     dde     fgghh         a unit brings one or more rows
 *     wave      [               ][            ]  whole blocks that fit into the net's workspace
 *     chunk     [   ][  ]  [  ]    [    ]        rows of one block that one float product sums
 *
 * PRIVACY: a unit's block follows from its own word, and how a block is cut into chunks follows
 * from the units in that block: adding or removing a unit changes one block. The float and rounding
 * errors of a block of up to `most_together` units stay below half the slack of clipping, since its
 * chunks are small enough (dpl_chunk_rows). In a fuller block every unit is summed by itself, so
 * that removing one takes away its own rounded sum and nothing else.
 */
#ifndef DPL_METHOD_PAPER_NET_TRAIN_ARRANGE_H
#define DPL_METHOD_PAPER_NET_TRAIN_ARRANGE_H

#include "base/base.h"

struct dpl_member {
    uint64_t word;   /* which block, and where in it */
    uint64_t choice; /* what the unit shows in this step */
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
    size_t most_together; /* units of a block that are summed together; more: each by itself */
    size_t capacity;      /* rows of a wave */
    size_t max_rows;      /* of a unit; at most the capacity */
    double weight; /* sum of the norms of a unit's clipped rows, over the clip norm: 1 or 8 */
    double root_d; /* square root of the number of dense parameters */
    double step;   /* the lattice step over the clip norm */
};

/* A block's float and lattice error when it holds n_units in chunks of at most chunk_rows rows
 * each, over the clip norm: gamma * sum of norms + n_chunks * sqrt(d) * h / 2. */
double dpl_block_error(const struct dpl_cutting *layout, size_t n_units, size_t chunk_rows,
                       size_t n_chunks);
/* The most rows a chunk of a block of n_units may have; 0 when no size will do. */
size_t dpl_chunk_rows(const struct dpl_cutting *layout, size_t n_units);
/* Whether the error of one unit that is summed by itself leaves its norm within the slack. */
bool dpl_unit_fits(const struct dpl_cutting *layout);
/* What `most_together` is to be: the errors of a block of up to that many units summed together,
 * and of one with one unit more summed one by one, are each within half the slack. */
size_t dpl_most_together(const struct dpl_cutting *layout);
/* How many blocks an expected batch is cut into, so that a block is nearly always one chunk. */
size_t dpl_block_count(double expected_batch, size_t max_rows, double weight);

/* The block of a word: ranges of words, so that the order of words is the order of blocks. */
size_t dpl_block_of(uint64_t word, size_t n_blocks);

/* Room for n members; their word, choice, unit and n_rows are then to be filled in. */
enum dpl_status dpl_arrangement_reserve(struct dpl_run *run, struct dpl_arrangement *batch,
                                        size_t n_members);
/* Sorts the members and cuts blocks, waves and chunks, however many members a block has. */
enum dpl_status dpl_arrange(struct dpl_run *run, struct dpl_arrangement *batch,
                            const struct dpl_cutting *layout);
void dpl_arrangement_free(struct dpl_arrangement *batch);

#endif
