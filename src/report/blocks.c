/* Squares of the grid that somebody visits, coarse enough to be few. */
#include <string.h>

#include "report/gather.h"

int32_t dpl_blocks_of(const struct blocks *blocks, const struct dpl_grid *grid, int32_t cell) {
    int32_t column = cell % grid->columns / blocks->block,
            row = cell / grid->columns / blocks->block;
    return blocks->number[row * blocks->columns + column];
}

static void mark_visited(const struct gather *gather, struct blocks *b) {
    const struct dpl_grid *grid = &gather->set[0]->grid;
    for (size_t s = 0; s < gather->n_sets; s++)
        for (size_t v = 0; v < gather->set[s]->n_visits; v++) {
            int32_t cell = gather->set[s]->cell[v];
            b->number[cell / grid->columns / b->block * b->columns +
                      cell % grid->columns / b->block] = 1;
        }
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

enum dpl_status dpl_blocks_make(const struct gather *gather, size_t most, struct blocks *blocks) {
    const struct dpl_grid *grid = &gather->set[0]->grid;
    struct blocks fine = {0}, made = {0};
    enum dpl_status status;
    DPL_GO(lay(gather->run, grid, 1, &fine));
    mark_visited(gather, &fine);
    for (int32_t block = 1;;
         block += 1 + block / 8) { // a fine grid of millions of cells needs few rounds
        DPL_GO(lay(gather->run, grid, block, &made));
        coarsen(&fine, &made);
        if (count_visited(&made) <= most || made.columns * made.rows == 1) break;
        dpl_blocks_free(&made);
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
