/* Squares of the grid that somebody visits, coarse enough to be few.
 *
 * Their size follows from the synthetic sets alone, so that a report with the real trips and one
 * without them have the same squares. */
#include <string.h>

#include "report/gather.h"

int32_t dpl_blocks_of(const struct blocks *blocks, const struct dpl_grid *grid, int32_t cell) {
    int32_t column = cell % grid->columns / blocks->block,
            row = cell / grid->columns / blocks->block;
    return blocks->number[row * blocks->columns + column];
}

/* Of the finest squares, which are single cells. */
static void mark_visited(const struct dpl_cleaned *trips, struct blocks *fine) {
    for (size_t v = 0; v < trips->n_visits; v++) fine->number[trips->cell[v]] = 1;
}

/* One cell's square is visited when one of its cells is: coarser squares follow from finer ones, so
 * trips are read once. */
static void coarsen(const struct blocks *fine, struct blocks *coarse) {
    for (int32_t i = 0; i < fine->columns * fine->rows; i++) {
        if (!fine->number[i]) continue;
        int32_t column = i % fine->columns / coarse->block, row = i / fine->columns / coarse->block;
        coarse->number[row * coarse->columns + column] = 1;
    }
}

static size_t count_visited(const struct blocks *b) {
    size_t n = 0;
    for (int32_t i = 0; i < b->columns * b->rows; i++) n += b->number[i] != 0;
    return n;
}

static enum dpl_status lay(struct dpl_run *run, const struct dpl_grid *grid, int32_t block,
                           struct blocks *b) {
    *b = (struct blocks){.block = block,
                         .columns = (grid->columns + block - 1) / block,
                         .rows = (grid->rows + block - 1) / block};
    b->number = dpl_alloc(run, (size_t)b->columns * (size_t)b->rows, sizeof *b->number);
    return b->number ? DPL_OK : DPL_SYSTEM;
}

static enum dpl_status give_numbers(struct dpl_run *run, struct blocks *b) {
    size_t n = 0;
    b->n = count_visited(b);
    b->place = dpl_alloc(run, b->n, sizeof *b->place);
    if (!b->place) return DPL_SYSTEM;
    for (int32_t i = 0; i < b->columns * b->rows; i++) {
        bool visited = b->number[i] != 0;
        b->number[i] = visited ? (int32_t)n : -1;
        if (visited) b->place[n++] = i;
    }
    return DPL_OK;
}

/* Lays squares of at least `block` cells a side, of which at most `most` are visited. */
static enum dpl_status lay_few(struct dpl_run *run, const struct dpl_grid *grid,
                               const struct blocks *fine, int32_t block, size_t most,
                               struct blocks *made) {
    for (;; block += 1 + block / 8) { // a fine grid of millions of cells needs few rounds
        DPL_TRY(lay(run, grid, block, made));
        coarsen(fine, made);
        if (count_visited(made) <= most || made->columns * made->rows == 1) return DPL_OK;
        dpl_blocks_free(made);
    }
}

enum dpl_status dpl_blocks_make(const struct gather *gather, size_t most, struct blocks *blocks) {
    enum { REAL_ROOM = 3 }; // real trips may go to so many times more squares before these grow
    const struct dpl_grid *grid = &gather->set[0]->grid;
    struct blocks fine = {0}, made = {0};
    enum dpl_status status;
    DPL_GO(lay(gather->run, grid, 1, &fine));
    for (size_t s = gather->has_real; s < gather->n_sets; s++) mark_visited(gather->set[s], &fine);
    DPL_GO(lay_few(gather->run, grid, &fine, 1, most, &made));
    if (gather->has_real) {
        int32_t block = made.block;
        dpl_blocks_free(&made);
        mark_visited(gather->set[0], &fine);
        DPL_GO(lay_few(gather->run, grid, &fine, block, REAL_ROOM * most, &made));
    }
    DPL_GO(give_numbers(gather->run, &made));
    *blocks = made;
    made = (struct blocks){0};
done:
    dpl_blocks_free(&made);
    dpl_blocks_free(&fine);
    return status;
}

void dpl_blocks_free(struct blocks *blocks) {
    dpl_free(blocks->place);
    dpl_free(blocks->number);
    *blocks = (struct blocks){0};
}

void dpl_blocks_write(const struct blocks *blocks, struct island *island) {
    dpl_island_key(island, "block"), dpl_island_whole(island, blocks->block);
    dpl_island_key(island, "columns"), dpl_island_whole(island, blocks->columns);
    dpl_island_key(island, "rows"), dpl_island_whole(island, blocks->rows);
    dpl_island_key(island, "place");
    dpl_island_open(island, '[');
    for (size_t i = 0; i < blocks->n; i++) dpl_island_whole(island, blocks->place[i]);
    dpl_island_close(island, ']');
}
