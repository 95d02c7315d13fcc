/* Where squares cannot be joined, because cells are as wide as a step, a wide box has more of them
 * than there may be places. The emptiest are left out: their cells belong to the nearest place.
 *
 *     squares by visits, fewest first
 *     -> left out as long as there are more than there may be
 *     -> places grow over their cells, all at once, ring by ring
 *
 * PRIVACY: reads estimates from noised counts alone.
 * Invariants: every cell belongs to exactly one place; those of a place's square to itself; at
 * least two places are left.
 * Cost: squares * log(squares), and the cells. */
#include <stdlib.h>
#include <string.h>

#include "method/bridge/bridge.h"

struct held {
    double visits;
    int32_t square;
};

static int compare(const void *a, const void *b) {
    const struct held *x = a, *y = b;
    if (x->visits != y->visits) return x->visits < y->visits ? -1 : 1;
    return x->square - y->square;
}

/* new_of (n): the new number of each square, or -1. Returns how many are kept. */
static size_t keep(const struct held *held, size_t n, size_t most, int32_t *new_of) {
    size_t kept = 0;
    for (size_t i = 0; n > most && i < n - most; i++) new_of[held[i].square] = -1;
    for (size_t i = 0; i < n; i++)
        if (new_of[i] >= 0) new_of[i] = (int32_t)kept++;
    return kept;
}

/* Cells (rows, columns) without a place get that of the nearest cell with one. queue: room. */
static void grow(const struct dpl_grid *grid, int32_t *of, int32_t *queue) {
    static const int32_t DOWN[] = {-1, 1, 0, 0}, RIGHT[] = {0, 0, -1, 1};
    size_t head = 0, tail = 0, n = dpl_squares_count(grid, 1);
    for (size_t i = 0; i < n; i++)
        if (of[i] >= 0) queue[tail++] = (int32_t)i;
    while (head < tail) {
        int32_t cell = queue[head++];
        for (int side = 0; side < 4; side++) {
            int32_t row = cell / grid->columns + DOWN[side],
                    column = cell % grid->columns + RIGHT[side],
                    next = row * grid->columns + column;
            if (row < 0 || row >= grid->rows || column < 0 || column >= grid->columns ||
                of[next] >= 0)
                continue;
            of[next] = of[cell];
            queue[tail++] = next;
        }
    }
}

enum dpl_status dpl_squares_drop(struct dpl_run *run, const struct dpl_grid *grid,
                                 const double *visits, size_t most, struct dpl_squares *squares) {
    size_t n = squares->n, n_cells = dpl_squares_count(grid, 1);
    struct held *held;
    int32_t *new_of, *queue;
    void *block =
        DPL_BLOCK(run, DPL_PIECE(held, n), DPL_PIECE(new_of, n), DPL_PIECE(queue, n_cells));
    if (!block) return DPL_SYSTEM;
    for (size_t i = 0; i < n; i++) held[i].square = (int32_t)i;
    for (size_t i = 0; i < n_cells; i++) held[squares->of[i]].visits += visits[i];
    qsort(held, n, sizeof *held, compare);
    squares->n = keep(held, n, most, new_of);
    for (size_t i = 0; i < n; i++)
        if (new_of[i] >= 0)
            squares->cell[new_of[i]] = squares->cell[i],
            squares->side[new_of[i]] = squares->side[i];
    for (size_t i = 0; i < n_cells; i++) squares->of[i] = new_of[squares->of[i]];
    grow(grid, squares->of, queue);
    dpl_free(block);
    return DPL_OK;
}
