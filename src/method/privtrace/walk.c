/* PrivTrace's synthesis: a first state, a predicted length, then moves by the chain of second order
 * where there is one and of first order elsewhere, until the end is drawn.
 *
 * PAPER: the factors on the end's weight and the rules for drawing again are the published ones; a
 * trip that is drawn again too often is taken as it is, cut at the longest.
 * Cost: a binary search a move. */
#include <stdlib.h>

#include "method/privtrace/privtrace.h"
#include "sample/drawing.h"

enum { ATTEMPTS = 50, FEW_STATES = 8, MOST_VISITED = 5 /* one in */ };
static const double END_AT_HOME = 0.5, END_TOO_SOON = 0.2, END_ALWAYS = 0.8, LINGERING = 0.6;

struct dpl_privtrace_walker {
    const struct dpl_privtrace_parts *parts;
    double *starts, *first, *second, *length; /* running sums, each row for itself */
};

static void sum_rows(const float *chance, size_t row, size_t n, size_t rows, double *sums) {
    for (size_t r = 0; r < rows; r++) dpl_sum_up(chance + row + r * n, n, sums + row + r * n);
}

enum dpl_status dpl_privtrace_walker_new(struct dpl_run *run,
                                         const struct dpl_privtrace_parts *parts,
                                         struct dpl_privtrace_walker **made) {
    const struct dpl_privtrace_states *states = &parts->states;
    size_t n = states->n, lengths = parts->longest + 1;
    struct dpl_privtrace_walker *walker = dpl_alloc(run, 1, sizeof *walker);
    if (!walker) return DPL_SYSTEM;
    walker->parts = parts;
    walker->starts = dpl_alloc(run, n, sizeof *walker->starts);
    walker->first = dpl_alloc(run, dpl_privtrace_first_size(states) - n, sizeof *walker->first);
    walker->second = dpl_alloc(run, parts->second_at[n], sizeof *walker->second);
    walker->length = dpl_alloc(run, n * lengths, sizeof *walker->length);
    if (!walker->starts || !walker->first || !walker->second || !walker->length) {
        dpl_privtrace_walker_free(walker);
        return DPL_SYSTEM;
    }
    dpl_sum_up(parts->starts, n, walker->starts);
    sum_rows(parts->length, 0, lengths, n, walker->length);
    for (size_t s = 0; s < n; s++) {
        size_t side = dpl_privtrace_neighbours(states, s) + 1;
        sum_rows(parts->first, dpl_privtrace_row(states, s) - n, side, 1, walker->first);
        if (parts->second_at[s] < parts->second_at[s + 1])
            sum_rows(parts->second, parts->second_at[s], side, side, walker->second);
    }
    *made = walker;
    return DPL_OK;
}

void dpl_privtrace_walker_free(struct dpl_privtrace_walker *walker) {
    if (!walker) return;
    dpl_free(walker->starts), dpl_free(walker->first);
    dpl_free(walker->second), dpl_free(walker->length);
    dpl_free(walker);
}

/* The running sums of the row that holds at `at` after `before` (-1: it is the first state); NULL:
 * nothing is known. */
static const double *row_of(const struct dpl_privtrace_walker *walker, int32_t before, size_t at) {
    const struct dpl_privtrace_parts *parts = walker->parts;
    const struct dpl_privtrace_states *states = &parts->states;
    size_t side = dpl_privtrace_neighbours(states, at) + 1;
    size_t slot = before < 0 ? side - 1 : dpl_privtrace_slot(states, at, (size_t)before);
    if (parts->second_at[at] < parts->second_at[at + 1] && slot != SIZE_MAX) {
        const double *row = walker->second + parts->second_at[at] + slot * side;
        if (row[side - 1] > 0) return row;
    }
    const double *row = walker->first + dpl_privtrace_row(states, at) - states->n;
    return row[side - 1] > 0 ? row : NULL;
}

/* A neighbour by how often it is entered; -1: none is. */
static int32_t stray(const struct dpl_privtrace_walker *walker, size_t at,
                     struct dpl_stream *stream) {
    const struct dpl_privtrace_states *states = &walker->parts->states;
    const float *inflow = walker->parts->inflow;
    double sum = 0, draw = dpl_stream_uniform(stream);
    for (size_t e = states->first[at]; e < states->first[at + 1]; e++)
        sum += (double)inflow[states->to[e]];
    draw *= sum;
    for (size_t e = states->first[at]; e < states->first[at + 1]; e++)
        if ((draw -= (double)inflow[states->to[e]]) < 0) return states->to[e];
    return -1;
}

/* The next state, -1: the end. */
static int32_t step(const struct dpl_privtrace_walker *walker, int32_t before, size_t at,
                    double end_factor, struct dpl_stream *stream) {
    const struct dpl_privtrace_states *states = &walker->parts->states;
    size_t n = dpl_privtrace_neighbours(states, at);
    const double *row = row_of(walker, before, at);
    if (!row) return stray(walker, at, stream);
    double moves = n > 0 ? row[n - 1] : 0, end = (row[n] - moves) * end_factor;
    if (!(dpl_stream_uniform(stream) * (moves + end) < moves)) return -1;
    return states->to[states->first[at] + dpl_draw_from(row, n, stream)];
}

/* One attempt; *blocks: level-1 blocks other than the first that it came to, at most 2. */
static size_t attempt(const struct dpl_privtrace_walker *walker, struct dpl_stream *stream,
                      int32_t *state, size_t *blocks) {
    const struct dpl_privtrace_parts *parts = walker->parts;
    const struct dpl_privtrace_block *block = parts->states.block;
    size_t lengths = parts->longest + 1, n = 1;
    state[0] = (int32_t)dpl_draw_from(walker->starts, parts->states.n, stream);
    size_t predicted = dpl_draw_from(walker->length + (size_t)state[0] * lengths, lengths, stream);
    int32_t home = block[state[0]].coarse, other = -1;
    *blocks = 0;
    while (n < DPL_PRIVTRACE_LONGEST_NEAR) {
        size_t at = (size_t)state[n - 1];
        double factor = END_ALWAYS;
        if (block[at].coarse == home)
            factor *= END_AT_HOME * (2 * n < predicted ? END_TOO_SOON : 1);
        int32_t next = step(walker, n > 1 ? state[n - 2] : -1, at, factor, stream);
        if (next < 0) break;
        state[n++] = next;
        int32_t coarse = block[next].coarse;
        if (coarse != home && coarse != other) ++*blocks, other = coarse;
    }
    return n;
}

static int rising(const void *a, const void *b) {
    return (*(const int32_t *)a > *(const int32_t *)b) -
           (*(const int32_t *)a < *(const int32_t *)b);
}

bool dpl_privtrace_lingers(const int32_t *state, size_t n) {
    int32_t sorted[DPL_PRIVTRACE_LONGEST_NEAR], times[DPL_PRIVTRACE_LONGEST_NEAR];
    size_t distinct = 0;
    double visits = 0;
    if (n <= FEW_STATES) return false;
    for (size_t i = 0; i < n; i++) sorted[i] = state[i];
    qsort(sorted, n, sizeof *sorted, rising);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || sorted[i] != sorted[i - 1]) times[distinct++] = 0;
        times[distinct - 1]++;
    }
    qsort(times, distinct, sizeof *times, rising);
    size_t most = (distinct + MOST_VISITED - 1) / MOST_VISITED;
    for (size_t i = 0; i < most; i++) visits += times[distinct - 1 - i];
    return visits > LINGERING * (double)n;
}

size_t dpl_privtrace_draw(const struct dpl_privtrace_walker *walker, struct dpl_stream *stream,
                          int32_t *state) {
    size_t n = 1;
    for (int i = 0; i < ATTEMPTS; i++) {
        size_t blocks;
        n = attempt(walker, stream, state, &blocks);
        size_t longest = blocks <= 1 ? DPL_PRIVTRACE_LONGEST_NEAR - 1 : DPL_PRIVTRACE_LONGEST;
        if (n <= longest && !dpl_privtrace_lingers(state, n)) break;
    }
    if (n == 1) state[n++] = state[0]; // a trip in one state has two points
    return n;
}
