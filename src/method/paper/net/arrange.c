/* Laying out a batch. Cost: one sort of the members, then one pass. */
#include "method/paper/net/arrange.h"

#include <math.h>
#include <stdlib.h>

/* Half the slack of clipping, C (1 - 1/(1 + 2^-8)) = C / 257: a block's error enters twice, with
 * the unit and without it. Nine tenths of it are for sums, the rest for the unit's own roundings.
 */
static const double ERROR_LIMIT = 0.9 / 257 / 2;
/* Of that, what the float sums may take; what is left is for the lattice. */
static const double SUM_LIMIT = 0.8 / 257 / 2;
static const double FLOAT_ROUNDOFF = 0x1p-24;

double dpl_block_error(const struct dpl_cutting *layout, size_t n_units, size_t chunk_rows,
                       size_t n_chunks) {
    double nu = (double)chunk_rows * FLOAT_ROUNDOFF, gamma = nu / (1 - nu);
    return gamma * layout->weight * (double)n_units +
           (double)n_chunks * layout->root_d * layout->step / 2;
}

size_t dpl_chunk_rows(const struct dpl_cutting *layout, size_t n_units) {
    if (n_units == 0) return 1;
    double nu = SUM_LIMIT / (layout->weight * (double)n_units);
    return (size_t)(nu / (1 + nu) / FLOAT_ROUNDOFF);
}

size_t dpl_block_count(double expected_batch, size_t max_rows, double weight) {
    // n units of max_rows rows make one chunk while n * n * max_rows * weight * 2^-24 stays below
    // the limit.
    double fits = sqrt(SUM_LIMIT / FLOAT_ROUNDOFF / weight / (double)max_rows);
    double aim = fmin(0.7 * fits, 128);
    return (size_t)fmax(1, ceil(expected_batch / fmax(aim, 1)));
}

enum dpl_status dpl_arrangement_reserve(struct dpl_run *run, struct dpl_arrangement *batch,
                                        size_t n_members) {
    DPL_TRY(
        dpl_grow(run, &batch->member, &batch->member_capacity, n_members, sizeof *batch->member));
    batch->n_members = n_members;
    return DPL_OK;
}

static int by_hash(const void *a, const void *b) {
    const struct dpl_member *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* The block of a hash: ranges of hashes, so that the order of hashes is the order of blocks. */
static size_t block_of(uint64_t hash, size_t n_blocks) {
    __extension__ typedef unsigned __int128 wide;
    return (size_t)(((wide)hash * n_blocks) >> 64);
}

static enum dpl_status new_wave(struct dpl_run *run, struct dpl_arrangement *batch, size_t member) {
    DPL_TRY(dpl_grow(run, &batch->wave, &batch->wave_capacity, batch->n_waves + 1,
                     sizeof *batch->wave));
    batch->wave[batch->n_waves++] = (struct dpl_wave){.member_begin = member,
                                                      .member_end = member,
                                                      .chunk_begin = batch->n_chunks,
                                                      .chunk_end = batch->n_chunks};
    return DPL_OK;
}

/* Cuts rows begin ... end-1 of the last wave into chunks of nearly equal size. */
static enum dpl_status add_chunks(struct dpl_run *run, struct dpl_arrangement *batch, size_t begin,
                                  size_t end, size_t chunk_rows) {
    if (begin == end) return DPL_OK;
    size_t n = (end - begin + chunk_rows - 1) / chunk_rows;
    DPL_TRY(dpl_grow(run, &batch->chunk, &batch->chunk_capacity, batch->n_chunks + n,
                     sizeof *batch->chunk));
    for (size_t i = 0; i < n; i++) {
        size_t from = begin + (end - begin) * i / n, to = begin + (end - begin) * (i + 1) / n;
        batch->chunk[batch->n_chunks++] = (struct dpl_chunk){.first_row = from, .rows = to - from};
    }
    batch->wave[batch->n_waves - 1].chunk_end = batch->n_chunks;
    return DPL_OK;
}

/* Places the members begin ... end-1 of one block. */
static enum dpl_status place_block(struct dpl_run *run, struct dpl_arrangement *batch,
                                   const struct dpl_cutting *layout, size_t begin, size_t end) {
    size_t chunk_rows = dpl_chunk_rows(layout, end - begin), chunks_before = batch->n_chunks;
    if (chunk_rows == 0) goto too_full;
    struct dpl_wave *wave = &batch->wave[batch->n_waves - 1];
    size_t block_row = wave->rows;
    for (size_t i = begin; i < end; i++) {
        struct dpl_member *member = &batch->member[i];
        if (wave->rows + member->n_rows > layout->capacity) {
            DPL_TRY(add_chunks(run, batch, block_row, wave->rows, chunk_rows));
            DPL_TRY(new_wave(run, batch, i));
            wave = &batch->wave[batch->n_waves - 1];
            block_row = 0;
        }
        member->first_row = wave->rows;
        wave->rows += member->n_rows;
        wave->member_end = i + 1;
    }
    DPL_TRY(add_chunks(run, batch, block_row, wave->rows, chunk_rows));
    if (dpl_block_error(layout, end - begin, chunk_rows, batch->n_chunks - chunks_before) <=
        ERROR_LIMIT)
        return DPL_OK;
too_full:
    return dpl_fail(run, DPL_REFUSED,
                    "%zu units fell into one block of a batch, and its sum would be too inexact "
                    "for the privacy promise (use a smaller batch)",
                    end - begin);
}

enum dpl_status dpl_arrange(struct dpl_run *run, struct dpl_arrangement *batch,
                            const struct dpl_cutting *layout) {
    if (batch->n_members > 1)
        qsort(batch->member, batch->n_members, sizeof *batch->member, by_hash);
    batch->n_chunks = batch->n_waves = 0;
    DPL_TRY(new_wave(run, batch, 0)); // an empty batch is one empty wave
    for (size_t begin = 0; begin < batch->n_members;) {
        size_t block = block_of(batch->member[begin].hash, layout->n_blocks), end = begin + 1;
        while (end < batch->n_members &&
               block_of(batch->member[end].hash, layout->n_blocks) == block)
            end++;
        DPL_TRY(place_block(run, batch, layout, begin, end));
        begin = end;
    }
    return DPL_OK;
}

void dpl_arrangement_free(struct dpl_arrangement *batch) {
    dpl_free(batch->member);
    dpl_free(batch->chunk);
    dpl_free(batch->wave);
}
