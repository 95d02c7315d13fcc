/* Targets: the groups of cells that sweeps lead to, see bridge.h.
 *
 *     one square around all cells
 *     -> the square with the most trips * side^2 is cut in four, again and again
 *     -> until there are as many as wanted, or one for each cell
 *
 * Within a target a walk ends where it is easiest to get to in time, more than it should; how far
 * off that is grows with the square of the side. So sides are short where many trips end.
 *
 * Invariants
 *  - Each cell belongs to exactly one target, and each target has a cell.
 *  - Neighbours in number are neighbours on the map (Morton's order), so that those of one batch
 *    are reached from the same cells in few steps.
 *  - With room for one target per cell, each cell is one: the sweeps are then exact. */
#include <stdlib.h>

#include "method/bridge/bridge.h"
#include "model/model.h"

struct keyed {
    uint64_t key; /* column and row, bit by bit */
    int32_t cell;
};

/* Cells first ... first+n-1 in the order of keys, which agree but for their last 2 * level bits. */
struct square {
    size_t first, n;
    unsigned level;
    double worth;
};

static uint64_t morton(uint32_t column, uint32_t row) {
    uint64_t key = 0;
    for (unsigned bit = 0; bit < 32; bit++)
        key |= (uint64_t)(column >> bit & 1) << 2 * bit | (uint64_t)(row >> bit & 1)
                                                              << (2 * bit + 1);
    return key;
}

static int compare_keys(const void *a, const void *b) {
    const struct keyed *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static int compare_squares(const void *a, const void *b) {
    const struct square *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static double worth_of(const struct keyed *keyed, const double *trips,
                       const struct square *square) {
    double sum = 0, side = (double)((uint64_t)1 << square->level);
    if (square->n < 2) return 0;
    for (size_t i = square->first; i < square->first + square->n; i++) sum += trips[keyed[i].cell];
    return (sum + 1e-9) * side * side;
}

/* Returns how many quarters of a square have cells. */
static size_t cut(const struct keyed *keyed, const double *trips, const struct square *square,
                  struct square quarter[4]) {
    size_t n = 0;
    unsigned bits = 2 * (square->level - 1);
    for (size_t i = square->first; i < square->first + square->n; i++) {
        if (n == 0 || keyed[i].key >> bits != keyed[i - 1].key >> bits)
            quarter[n++] = (struct square){.first = i, .level = square->level - 1};
        quarter[n - 1].n++;
    }
    for (size_t i = 0; i < n; i++) quarter[i].worth = worth_of(keyed, trips, &quarter[i]);
    return n;
}

/* Cuts the first of n squares up; returns how many there are then, at most `most` or as many as
 * there are cells. */
static size_t cut_all(const struct keyed *keyed, const double *trips, size_t most,
                      struct square *square) {
    for (size_t n = 1;;) {
        struct square quarter[4], *best = square;
        for (size_t i = 1; i < n; i++)
            if (square[i].worth > best->worth) best = &square[i];
        if (!(best->worth > 0)) return n;
        size_t quarters = cut(keyed, trips, best, quarter);
        if (n + quarters - 1 > most) return n;
        *best = quarter[0];
        for (size_t i = 1; i < quarters; i++) square[n++] = quarter[i];
    }
}

enum dpl_status dpl_targets_choose(struct dpl_run *run, const struct dpl_places *places,
                                   const double *trips, size_t most, struct dpl_targets *targets) {
    struct keyed *keyed;
    struct square *square;
    int32_t *of;
    size_t K = places->K;
    void *block = DPL_BLOCK(run, DPL_PIECE(keyed, K), DPL_PIECE(square, K + 4), DPL_PIECE(of, K));
    if (!block) return DPL_SYSTEM;
    for (size_t k = 0; k < K; k++)
        keyed[k] = (struct keyed){morton((uint32_t)(places->cell[k] % places->grid.columns),
                                         (uint32_t)(places->cell[k] / places->grid.columns)),
                                  (int32_t)k};
    qsort(keyed, K, sizeof *keyed, compare_keys);
    square[0] = (struct square){.n = K};
    while (keyed[0].key >> 2 * square[0].level != keyed[K - 1].key >> 2 * square[0].level)
        square[0].level++;
    square[0].worth = worth_of(keyed, trips, &square[0]);
    size_t n = cut_all(keyed, trips, most, square);
    qsort(square, n, sizeof *square, compare_squares);
    for (size_t g = 0; g < n; g++)
        for (size_t i = 0; i < square[g].n; i++) of[keyed[square[g].first + i].cell] = (int32_t)g;
    enum dpl_status status = dpl_targets_make(run, of, K, targets);
    dpl_free(block);
    return status;
}

enum dpl_status dpl_targets_make(struct dpl_run *run, const int32_t *of, size_t K,
                                 struct dpl_targets *targets) {
    *targets = (struct dpl_targets){0};
    targets->block = DPL_BLOCK(run, DPL_PIECE(targets->of, K), DPL_PIECE(targets->start, K + 2),
                               DPL_PIECE(targets->cell, K));
    if (!targets->block) return DPL_SYSTEM;
    for (size_t k = 0; k < K; k++) {
        if (of[k] < 0 || (size_t)of[k] >= K) goto bad;
        targets->of[k] = of[k], targets->start[of[k] + 2]++;
        if ((size_t)of[k] >= targets->G) targets->G = (size_t)of[k] + 1;
    }
    for (size_t g = 0; g < targets->G; g++) {
        if (targets->start[g + 2] == 0) goto bad;
        targets->start[g + 2] += targets->start[g + 1];
    }
    for (size_t k = 0; k < K; k++) targets->cell[targets->start[of[k] + 1]++] = (int32_t)k;
    return DPL_OK;
bad:
    dpl_targets_free(targets);
    return dpl_fail(run, DPL_BAD_DATA,
                    "the model's tensor \"bridge.target\" is no division of its cells into groups");
}

enum dpl_status dpl_targets_read(struct dpl_run *run, const struct dpl_model *model, size_t K,
                                 struct dpl_targets *targets) {
    const int32_t *of;
    DPL_TRY(dpl_model_get(run, model, "bridge.target", DPL_TENSOR_I32, 1, &K, &of));
    return dpl_targets_make(run, of, K, targets);
}

void dpl_targets_free(struct dpl_targets *targets) {
    dpl_free(targets->block);
    *targets = (struct dpl_targets){0};
}
