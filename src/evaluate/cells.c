/* The set of cells that all sides are compared on, and the way of every other visit to its nearest
 * of them. Finding the nearest looks at growing square rings and stops when a ring cannot hold
 * anything nearer. */
#include <math.h>
#include <stdlib.h>

#include "evaluate/measures.h"

static void bounds(struct dpl_cells *cells) {
    int32_t low_column = INT32_MAX, low_row = INT32_MAX, high_column = 0, high_row = 0;
    for (int32_t i = 0; i < cells->n_cells; i++) {
        int32_t column = cells->column[i], row = cells->row[i];
        low_column = column < low_column ? column : low_column;
        high_column = column > high_column ? column : high_column;
        low_row = row < low_row ? row : low_row;
        high_row = row > high_row ? row : high_row;
    }
    cells->diagonal_m = cells->n_cells ? hypot(high_column - low_column, high_row - low_row) *
                                             cells->grid.area.cell_m
                                       : 0;
}

/* From a mark per cell of the grid. */
static enum dpl_status from_marks(struct dpl_run *run, const struct dpl_grid *grid,
                                  const bool *marked, struct dpl_cells *cells) {
    size_t n_grid = (size_t)dpl_grid_cells(grid), n = 0;
    for (size_t cell = 0; cell < n_grid; cell++) n += marked[cell];
    struct dpl_cells made = {.grid = *grid};
    made.grid_cell = dpl_alloc(run, n, sizeof *made.grid_cell);
    made.column = dpl_alloc(run, n, sizeof *made.column);
    made.row = dpl_alloc(run, n, sizeof *made.row);
    made.number = dpl_alloc(run, n_grid, sizeof *made.number);
    if (!made.grid_cell || !made.column || !made.row || !made.number) {
        dpl_cells_free(&made);
        return DPL_SYSTEM;
    }
    for (int32_t cell = 0; cell < (int32_t)n_grid; cell++) {
        made.number[cell] = marked[cell] ? made.n_cells : -1;
        if (!marked[cell]) continue;
        made.grid_cell[made.n_cells] = cell;
        made.column[made.n_cells] = cell % grid->columns;
        made.row[made.n_cells++] = cell / grid->columns;
    }
    bounds(&made);
    *cells = made;
    return DPL_OK;
}

struct visited {
    uint64_t visits;
    int32_t cell;
};

static int most_visited_first(const void *a, const void *b) {
    const struct visited *x = a, *y = b;
    if (x->visits != y->visits) return x->visits > y->visits ? -1 : 1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

enum dpl_status dpl_cells_most_visited(struct dpl_run *run, const struct dpl_cleaned *trips,
                                       double share, struct dpl_cells *cells) {
    size_t n_grid = (size_t)dpl_grid_cells(&trips->grid);
    struct visited *order = dpl_alloc(run, n_grid, sizeof *order);
    bool *marked = dpl_alloc(run, n_grid, sizeof *marked);
    enum dpl_status status = DPL_SYSTEM;
    if (!order || !marked) goto done;
    for (size_t cell = 0; cell < n_grid; cell++) order[cell].cell = (int32_t)cell;
    for (size_t v = 0; v < trips->n_visits; v++) order[trips->cell[v]].visits++;
    qsort(order, n_grid, sizeof *order, most_visited_first);
    uint64_t held = 0;
    for (size_t i = 0;
         i < n_grid && order[i].visits && (double)held < share * (double)trips->n_visits; i++) {
        marked[order[i].cell] = true;
        held += order[i].visits;
    }
    status = from_marks(run, &trips->grid, marked, cells);
done:
    dpl_free(order);
    dpl_free(marked);
    return status;
}

enum dpl_status dpl_cells_given(struct dpl_run *run, const struct dpl_grid *grid,
                                const int32_t *cell, size_t n, struct dpl_cells *cells) {
    bool *marked = dpl_alloc(run, (size_t)dpl_grid_cells(grid), sizeof *marked);
    if (!marked) return DPL_SYSTEM;
    for (size_t i = 0; i < n; i++) marked[cell[i]] = true;
    enum dpl_status status = from_marks(run, grid, marked, cells);
    dpl_free(marked);
    return status;
}

void dpl_cells_free(struct dpl_cells *cells) {
    dpl_free(cells->grid_cell);
    dpl_free(cells->column);
    dpl_free(cells->row);
    dpl_free(cells->number);
    *cells = (struct dpl_cells){0};
}

struct nearest {
    int64_t squared; /* distance in cells */
    int32_t number;
};

static void look_at(const struct dpl_cells *cells, int32_t column, int32_t row, int32_t dx,
                    int32_t dy, struct nearest *best) {
    const struct dpl_grid *grid = &cells->grid;
    int32_t x = column + dx, y = row + dy;
    if (x < 0 || y < 0 || x >= grid->columns || y >= grid->rows) return;
    int32_t number = cells->number[y * grid->columns + x];
    int64_t squared = (int64_t)dx * dx + (int64_t)dy * dy;
    if (number < 0 || squared > best->squared ||
        (squared == best->squared && number > best->number))
        return;
    *best = (struct nearest){squared, number};
}

int32_t dpl_cells_nearest(const struct dpl_cells *cells, int32_t grid_cell) {
    if (cells->number[grid_cell] >= 0) return cells->number[grid_cell];
    const struct dpl_grid *grid = &cells->grid;
    int32_t column = grid_cell % grid->columns, row = grid_cell / grid->columns;
    int32_t furthest = grid->columns > grid->rows ? grid->columns : grid->rows;
    struct nearest best = {INT64_MAX, INT32_MAX};
    for (int32_t ring = 1; ring <= furthest && (int64_t)ring * ring <= best.squared; ring++)
        for (int32_t along = -ring; along <= ring; along++) {
            look_at(cells, column, row, along, -ring, &best);
            look_at(cells, column, row, along, ring, &best);
            look_at(cells, column, row, -ring, along, &best);
            look_at(cells, column, row, ring, along, &best);
        }
    return best.number;
}
