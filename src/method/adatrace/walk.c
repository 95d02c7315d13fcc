/* AdaTrace's synthesis: ends, a length, a walk that is drawn to its end, a sub-cell for each cell.
 *
 * Invariant: at cell i of n the end is at most n - 1 - i moves away. It holds at the start, since n
 * - 1 is at least the king's distance; a cell with a weight can reach the end in time; a king's
 * move brings it one nearer. So every walk ends where it should. Cost: (side + 20) products of
 * side^2 x side^2 matrices once; nine products a step. */

#include "method/adatrace/adatrace.h"
#include "sample/drawing.h"

static const double TOO_SMALL = 1e-5;

struct dpl_adatrace_walker {
    size_t side, cells, powers, n_sub;
    const struct dpl_adatrace_parts *parts;
    float *power;      /* (powers, cells, cells) of the Markov matrix, the 0th first */
    double *pairs;     /* (cells * cells) summed up */
    double *steps;     /* (side, DPL_ADATRACE_EXTRA + 1) summed up */
    double *sub;       /* (n_sub) summed up within each cell */
    size_t *first_sub; /* (cells + 1) */
};

static void multiply(const float *a, const float *b, size_t n, float *product) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; a[i * n + k] > 0 && j < n; j++)
                product[i * n + j] += a[i * n + k] * b[k * n + j];
}

static enum dpl_status make_room(struct dpl_run *run, struct dpl_adatrace_walker *walker) {
    size_t cells = walker->cells;
    walker->power = dpl_alloc(run, walker->powers * cells * cells, sizeof *walker->power);
    walker->pairs = dpl_alloc(run, cells * cells, sizeof *walker->pairs);
    walker->steps = dpl_alloc(run, walker->side * (DPL_ADATRACE_EXTRA + 1), sizeof *walker->steps);
    walker->sub = dpl_alloc(run, walker->n_sub, sizeof *walker->sub);
    walker->first_sub = dpl_alloc(run, cells + 1, sizeof *walker->first_sub);
    return walker->power && walker->pairs && walker->steps && walker->sub && walker->first_sub
               ? DPL_OK
               : DPL_SYSTEM;
}

enum dpl_status dpl_adatrace_walker_new(struct dpl_run *run, size_t side,
                                        const struct dpl_adatrace_parts *parts,
                                        struct dpl_adatrace_walker **made) {
    size_t cells = side * side;
    struct dpl_adatrace_walker *walker = dpl_alloc(run, 1, sizeof *walker);
    if (!walker) return DPL_SYSTEM;
    *walker = (struct dpl_adatrace_walker){
        .side = side, .cells = cells, .powers = side + DPL_ADATRACE_EXTRA, .parts = parts};
    for (size_t c = 0; c < cells; c++)
        walker->n_sub += (size_t)parts->split[c] * (size_t)parts->split[c];
    if (make_room(run, walker) != DPL_OK) {
        dpl_adatrace_walker_free(walker);
        return DPL_SYSTEM;
    }
    for (size_t c = 0; c < cells; c++) walker->power[c * cells + c] = 1;
    for (size_t p = 1; p < walker->powers; p++)
        multiply(walker->power + (p - 1) * cells * cells, parts->markov, cells,
                 walker->power + p * cells * cells);
    dpl_sum_up(parts->pairs, cells * cells, walker->pairs);
    for (size_t d = 0; d < side; d++)
        dpl_sum_up(parts->steps + d * (DPL_ADATRACE_EXTRA + 1), DPL_ADATRACE_EXTRA + 1,
                   walker->steps + d * (DPL_ADATRACE_EXTRA + 1));
    for (size_t c = 0; c < cells; c++) {
        size_t n = (size_t)parts->split[c] * (size_t)parts->split[c];
        dpl_sum_up(parts->subgrid + walker->first_sub[c], n, walker->sub + walker->first_sub[c]);
        walker->first_sub[c + 1] = walker->first_sub[c] + n;
    }
    *made = walker;
    return DPL_OK;
}

void dpl_adatrace_walker_free(struct dpl_adatrace_walker *walker) {
    if (!walker) return;
    dpl_free(walker->power), dpl_free(walker->pairs), dpl_free(walker->steps),
        dpl_free(walker->sub), dpl_free(walker->first_sub);
    dpl_free(walker);
}

/* The cell beside `at`, by one of nine moves; SIZE_MAX beyond the edge. */
static size_t beside(size_t side, size_t at, size_t move) {
    size_t row = at / side + move / 3, column = at % side + move % 3; // one too many each
    return row >= 1 && row <= side && column >= 1 && column <= side ? (row - 1) * side + column - 1
                                                                    : SIZE_MAX;
}

bool dpl_adatrace_next(const struct dpl_adatrace_walker *walker, size_t at, size_t end, size_t i,
                       size_t n, double weight[9]) {
    size_t cells = walker->cells;
    const float *power = walker->power + (n - i - 1) * cells * cells;
    double sum = 0;
    for (size_t move = 0; move < 9; move++) {
        size_t to = beside(walker->side, at, move);
        weight[move] = to == SIZE_MAX || to == at ? 0
                                                  : (double)walker->parts->markov[at * cells + to] *
                                                        (double)power[to * cells + end];
        sum += weight[move];
    }
    return sum >= TOO_SMALL;
}

static size_t step(const struct dpl_adatrace_walker *walker, size_t at, size_t end, size_t i,
                   size_t n, struct dpl_stream *stream) {
    double weight[9];
    if (!dpl_adatrace_next(walker, at, end, i, n, weight))
        return dpl_king_move(walker->side, at, end);
    for (size_t move = 1; move < 9; move++) weight[move] += weight[move - 1];
    return beside(walker->side, at, dpl_draw_from(weight, 9, stream));
}

size_t dpl_adatrace_draw(const struct dpl_adatrace_walker *walker, struct dpl_stream *stream,
                         uint16_t *sub) {
    size_t pair = dpl_draw_from(walker->pairs, walker->cells * walker->cells, stream),
           at = pair / walker->cells, end = pair % walker->cells;
    size_t distance = dpl_king_distance(walker->side, at, end), bins = DPL_ADATRACE_EXTRA + 1;
    size_t n = 1 + distance + dpl_draw_from(walker->steps + distance * bins, bins, stream);
    if (n < 2) n = 2; // a trip within one cell has two visits
    for (size_t i = 0; i < n; i++) {
        if (i > 0) at = step(walker, at, end, i, n, stream);
        size_t first = walker->first_sub[at];
        sub[i] = (uint16_t)(first + dpl_draw_from(walker->sub + first,
                                                  walker->first_sub[at + 1] - first, stream));
    }
    return n;
}
