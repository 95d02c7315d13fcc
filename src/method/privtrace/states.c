/* States, their neighbours and ways between them. See privtrace.h.
 * Cost: O(states^2) for the neighbours, once. */
#include <math.h>
#include <stdlib.h>

#include "method/privtrace/privtrace.h"

static int32_t least(size_t a, int32_t b) { return a < (size_t)b ? (int32_t)a : b; }

void dpl_privtrace_coarse(const struct dpl_grid *grid, size_t side, size_t *rows, size_t *columns) {
    *rows = (size_t)least(side, grid->rows);
    *columns = (size_t)least(side, grid->columns);
}

/* Which of `parts` nearly equal parts of 0 ... n-1 holds i; part p begins at ceil(p n / parts). */
static int32_t part_of(int32_t i, int32_t n, size_t parts) {
    return (int32_t)((size_t)i * parts / (size_t)n);
}
static int32_t begin_of(size_t part, int32_t n, size_t parts) {
    return (int32_t)((part * (size_t)n + parts - 1) / parts);
}

int32_t dpl_privtrace_coarse_at(const struct dpl_grid *grid, size_t side, int32_t cell) {
    size_t rows, columns;
    dpl_privtrace_coarse(grid, side, &rows, &columns);
    return part_of(cell / grid->columns, grid->rows, rows) * (int32_t)columns +
           part_of(cell % grid->columns, grid->columns, columns);
}

/* ---- blocks ---- */

/* Parts along one side of a level-1 block of so many cells. */
static size_t parts_of(int32_t split, int32_t cells) {
    return (size_t)(split < 1 ? 1 : split < cells ? split : cells);
}

static void add_blocks(const struct dpl_privtrace_block *whole, int32_t split,
                       struct dpl_privtrace_states *states) {
    int32_t tall = whole->north - whole->south, wide = whole->east - whole->west;
    size_t rows = parts_of(split, tall), columns = parts_of(split, wide);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            states->block[states->n++] = (struct dpl_privtrace_block){
                whole->south + begin_of(r, tall, rows), whole->south + begin_of(r + 1, tall, rows),
                whole->west + begin_of(c, wide, columns),
                whole->west + begin_of(c + 1, wide, columns), whole->coarse};
}

static void lay_blocks(const struct dpl_grid *grid, size_t side, const int32_t *split,
                       struct dpl_privtrace_states *states) {
    size_t rows, columns;
    dpl_privtrace_coarse(grid, side, &rows, &columns);
    for (size_t i = 0; i < rows * columns; i++) {
        const struct dpl_privtrace_block whole = {
            begin_of(i / columns, grid->rows, rows), begin_of(i / columns + 1, grid->rows, rows),
            begin_of(i % columns, grid->columns, columns),
            begin_of(i % columns + 1, grid->columns, columns), (int32_t)i};
        add_blocks(&whole, split[i], states);
    }
    for (size_t s = 0; s < states->n; s++)
        for (int32_t r = states->block[s].south; r < states->block[s].north; r++)
            for (int32_t c = states->block[s].west; c < states->block[s].east; c++)
                states->state_of[r * grid->columns + c] = (int32_t)s;
}

/* ---- neighbours ---- */

static bool touch(const struct dpl_privtrace_block *a, const struct dpl_privtrace_block *b) {
    return a->south <= b->north && b->south <= a->north && a->west <= b->east && b->west <= a->east;
}

/* Twice the difference of the centres is a whole number of cells. */
static bool within(const struct dpl_privtrace_block *a, const struct dpl_privtrace_block *b,
                   double reach_cells) {
    double north = a->south + a->north - b->south - b->north,
           east = a->west + a->east - b->west - b->east;
    return north * north + east * east <= 4 * reach_cells * reach_cells;
}

static enum dpl_status find_neighbours(struct dpl_run *run, const struct dpl_area *area,
                                       struct dpl_privtrace_states *states) {
    double reach_cells = area->speed_limit_kmh / 3.6 * area->slot_s / area->cell_m;
    size_t room = 0;
    for (size_t i = 0; i < states->n; i++) {
        size_t n = states->first[i];
        DPL_TRY(dpl_grow(run, &states->to, &room, n + states->n, sizeof *states->to));
        for (size_t j = 0; j < states->n; j++) {
            const struct dpl_privtrace_block *a = &states->block[i], *b = &states->block[j];
            if (i != j && (within(a, b, reach_cells) || touch(a, b))) states->to[n++] = (int32_t)j;
        }
        states->first[i + 1] = n;
    }
    return DPL_OK;
}

enum dpl_status dpl_privtrace_states_make(struct dpl_run *run, const struct dpl_grid *grid,
                                          size_t side, const int32_t *split,
                                          struct dpl_privtrace_states *states) {
    size_t cells = (size_t)dpl_grid_cells(grid);
    *states = (struct dpl_privtrace_states){0};
    states->block = dpl_alloc(run, cells, sizeof *states->block);
    states->state_of = dpl_alloc(run, cells, sizeof *states->state_of);
    states->first = dpl_alloc(run, cells + 1, sizeof *states->first);
    if (!states->block || !states->state_of || !states->first) return DPL_SYSTEM;
    lay_blocks(grid, side, split, states);
    return find_neighbours(run, &grid->area, states);
}

void dpl_privtrace_states_free(struct dpl_privtrace_states *states) {
    dpl_free(states->block), dpl_free(states->state_of);
    dpl_free(states->first), dpl_free(states->to);
    *states = (struct dpl_privtrace_states){0};
}

size_t dpl_privtrace_slot(const struct dpl_privtrace_states *states, size_t from, size_t to) {
    size_t low = states->first[from], high = states->first[from + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (states->to[middle] < (int32_t)to)
            low = middle + 1;
        else
            high = middle;
    }
    return low < states->first[from + 1] && states->to[low] == (int32_t)to
               ? low - states->first[from]
               : SIZE_MAX;
}

void dpl_privtrace_second_layout(const struct dpl_privtrace_states *states, const int32_t *guide,
                                 size_t *at) {
    at[0] = 0;
    for (size_t s = 0; s < states->n; s++) {
        size_t side = dpl_privtrace_neighbours(states, s) + 1;
        at[s + 1] = at[s] + (guide[s] ? side * side : 0);
    }
}

/* ---- ways ---- */

/* They share more than a corner. */
static bool border(const struct dpl_privtrace_block *a, const struct dpl_privtrace_block *b) {
    bool beside = a->south < b->north && b->south < a->north,
         above = a->west < b->east && b->west < a->east;
    return touch(a, b) && (beside || above);
}

void dpl_privtrace_distances(const struct dpl_privtrace_states *states, size_t from,
                             int32_t *distance, int32_t *queue) {
    size_t done = 0, known = 0;
    for (size_t s = 0; s < states->n; s++) distance[s] = 0;
    distance[from] = 1;
    queue[known++] = (int32_t)from;
    while (done < known) {
        size_t at = (size_t)queue[done++];
        for (size_t e = states->first[at]; e < states->first[at + 1]; e++) {
            int32_t to = states->to[e];
            if (distance[to] > 0 || !border(&states->block[at], &states->block[to])) continue;
            distance[to] = distance[at] + 1;
            queue[known++] = to;
        }
    }
}

/* ---- weights ---- */

double dpl_privtrace_first_weight(bool shares, size_t states) {
    double n = (double)states + 1;
    return shares ? 1 / n : 1 / sqrt(n);
}

double dpl_privtrace_second_weight(bool shares, size_t states) {
    return shares ? 1 / (double)states : 1 / sqrt((double)states);
}
