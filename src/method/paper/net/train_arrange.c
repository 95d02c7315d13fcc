/* Laying out a batch. Cost: one sort of the members, then one pass. */
#include "method/paper/net/train_arrange.h"

#include <math.h>
#include <stdlib.h>

/* Half the slack of clipping, C (1 - 1/(1 + 2^-8)) = C / 257: a block's error enters twice, with
 * the unit and without it. Nine tenths of it are for sums, the rest for the unit's own roundings.
 */
static const double ERROR_LIMIT = 0.9 / 257 / 2;
/* Of that, what the float sums may take; what is left is for the lattice. */
static const double SUM_LIMIT = 0.8 / 257 / 2;
static const double FLOAT_ROUNDOFF = 0x1p-24;
/* Rows of a chunk of a unit that is summed by itself. */
enum { UNIT_ROWS = 64 };

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

/* Units summed by themselves: chunks of at most UNIT_ROWS rows each. */
static bool fits_apart(const struct dpl_cutting *layout, size_t n_units) {
    size_t pieces = (layout->max_rows + UNIT_ROWS - 1) / UNIT_ROWS,
           chunk_rows = layout->max_rows < UNIT_ROWS ? layout->max_rows : UNIT_ROWS;
    return dpl_block_error(layout, n_units, chunk_rows, n_units * pieces) <= ERROR_LIMIT;
}

/* Units summed together: each wave that the block lies in may end with a chunk that is not full. Of
 * two waves that follow each other in one block, more than the capacity is filled. */
static bool fits_together(const struct dpl_cutting *layout, size_t n_units) {
    size_t chunk_rows = dpl_chunk_rows(layout, n_units), rows = n_units * layout->max_rows;
    if (chunk_rows == 0) return false;
    size_t waves = 2 * rows / layout->capacity + 1;
    size_t chunks = rows / chunk_rows + (waves < n_units ? waves : n_units);
    return dpl_block_error(layout, n_units, chunk_rows, chunks) <= ERROR_LIMIT;
}

bool dpl_unit_fits(const struct dpl_cutting *layout) { return fits_apart(layout, 1); }

size_t dpl_most_together(const struct dpl_cutting *layout) {
    size_t n = 0;
    while (fits_together(layout, n + 1) && fits_apart(layout, n + 2)) n++;
    return n;
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

static int by_word(const void *a, const void *b) {
    const struct dpl_member *x = a, *y = b;
    if (x->word != y->word) return x->word < y->word ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

size_t dpl_block_of(uint64_t word, size_t n_blocks) {
    __extension__ typedef unsigned __int128 wide;
    return (size_t)(((wide)word * n_blocks) >> 64);
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

static struct dpl_wave *last_wave(const struct dpl_arrangement *batch) {
    return &batch->wave[batch->n_waves - 1];
}

static size_t count_rows(const struct dpl_arrangement *batch, size_t begin, size_t end) {
    size_t rows = 0;
    for (size_t i = begin; i < end; i++) rows += batch->member[i].n_rows;
    return rows;
}

/* Places the members begin ... end-1 of one block.
 * PRIVACY: how they are cut is a function of these members alone. A block that fits into a wave is
 * never cut by one; a block that does not begins a wave. */
static enum dpl_status place_block(struct dpl_run *run, struct dpl_arrangement *batch,
                                   const struct dpl_cutting *layout, size_t begin, size_t end) {
    const size_t n = end - begin, before = last_wave(batch)->rows;
    const bool apart = n > layout->most_together;
    const size_t chunk_rows = apart ? UNIT_ROWS : dpl_chunk_rows(layout, n);
    if (before > 0 && before + count_rows(batch, begin, end) > layout->capacity)
        DPL_TRY(new_wave(run, batch, begin));
    size_t from = last_wave(batch)->rows; // later rows are in no chunk yet
    for (size_t i = begin; i < end; i++) {
        struct dpl_member *member = &batch->member[i];
        if (last_wave(batch)->rows + member->n_rows > layout->capacity) {
            DPL_TRY(add_chunks(run, batch, from, last_wave(batch)->rows, chunk_rows));
            DPL_TRY(new_wave(run, batch, i));
            from = 0;
        }
        member->first_row = last_wave(batch)->rows;
        last_wave(batch)->rows += member->n_rows;
        last_wave(batch)->member_end = i + 1;
        if (!apart) continue;
        DPL_TRY(add_chunks(run, batch, from, last_wave(batch)->rows, chunk_rows));
        from = last_wave(batch)->rows;
    }
    return add_chunks(run, batch, from, last_wave(batch)->rows, chunk_rows);
}

enum dpl_status dpl_arrange(struct dpl_run *run, struct dpl_arrangement *batch,
                            const struct dpl_cutting *layout) {
    if (batch->n_members > 1)
        qsort(batch->member, batch->n_members, sizeof *batch->member, by_word);
    batch->n_chunks = batch->n_waves = 0;
    DPL_TRY(new_wave(run, batch, 0)); // an empty batch is one empty wave
    for (size_t begin = 0; begin < batch->n_members;) {
        size_t block = dpl_block_of(batch->member[begin].word, layout->n_blocks), end = begin + 1;
        while (end < batch->n_members &&
               dpl_block_of(batch->member[end].word, layout->n_blocks) == block)
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
