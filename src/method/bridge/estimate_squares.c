/* Visits of every cell, from noised counts of squares at several levels; and the squares that
 * become places.
 *
 *     counts by squares of 1, 4, 16 cells' side
 *       -> up:   the sum of a square's four parts and, where it was counted itself, that count,
 *                joined by their variances (least squares)
 *       -> down: a square's estimate, spread over its four parts as the estimates around it say,
 *                is their prior; dpl_shrink_sparse; scaled to the square's estimate
 *
 *        ┌───────┬───┬─┬─┐
 *        │       │   ├─┼─┤   places: a square is cut in four while its visits stand out of
 *        │       ├───┼─┴─┤   the noise of a cell; a wide one, unless next to nobody is there
 *        │       │   │   │
 *        └───────┴───┴───┘
 *
 * With a public map a square has a second prior: the estimates around it, spread over its parts by
 * the roads in them. How far it is believed the counts themselves say (estimate_mixed.c). A square
 * without a road, within the box around all roads, must stand out of its own noise.
 *
 * Invariants: estimates are above 0 and add up to the squares'; places tile the grid, whatever the
 * noise: every cell is in exactly one; no place is wider than a step, so that neighbours can be
 * reached from each other.
 * Cost: 4/3 of the cells, times what dpl_shrink_sparse takes. */
#include <math.h>
#include <string.h>

#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"

enum { LEVELS_MOST = 16 };

struct level {
    int32_t side, rows, columns; /* side in cells */
    double *value, *variance;    /* (rows, columns) joined counts of the squares below */
    double *estimate, *cells;    /* (rows, columns) cells: how many of the grid's are inside */
    double *roads, *along;       /* (rows, columns) with a map: roads inside, the prior by them */
    uint8_t *kind;               /* (rows, columns) enum dpl_map_kind */
};

struct tree {
    size_t n;
    struct level level[LEVELS_MOST];
    void *block[LEVELS_MOST];
};

static int32_t squares_along(int32_t cells, int32_t side) { return (cells + side - 1) / side; }

size_t dpl_squares_count(const struct dpl_grid *grid, int32_t side) {
    return (size_t)squares_along(grid->rows, side) * (size_t)squares_along(grid->columns, side);
}

static void tree_free(struct tree *tree) {
    for (size_t i = 0; i < tree->n; i++) dpl_free(tree->block[i]);
}

static enum dpl_status tree_new(struct dpl_run *run, const struct dpl_grid *grid,
                                struct tree *tree) {
    *tree = (struct tree){0};
    for (int32_t side = 1; tree->n < LEVELS_MOST; side *= 2) {
        struct level *level = &tree->level[tree->n];
        size_t n = dpl_squares_count(grid, side);
        *level = (struct level){.side = side,
                                .rows = squares_along(grid->rows, side),
                                .columns = squares_along(grid->columns, side)};
        void *block = DPL_BLOCK(run, DPL_PIECE(level->value, n), DPL_PIECE(level->variance, n),
                                DPL_PIECE(level->estimate, n), DPL_PIECE(level->cells, n),
                                DPL_PIECE(level->roads, n), DPL_PIECE(level->along, n),
                                DPL_PIECE(level->kind, n));
        if (!block) return DPL_SYSTEM;
        tree->block[tree->n++] = block;
        if (side >= DPL_SQUARE_WIDEST && side * grid->area.cell_m >= TREE_TOP_M) break;
    }
    return DPL_OK;
}

/* Adds each square's value to the square around it. */
static void add_up(const struct level *below, const double *from, const struct level *level,
                   double *sum) {
    for (int32_t row = 0; row < below->rows; row++)
        for (int32_t column = 0; column < below->columns; column++)
            sum[row / 2 * level->columns + column / 2] += from[row * below->columns + column];
}

static double total_of(const struct dpl_table *counted) {
    double sum = 0;
    for (size_t i = 0; i < counted->n; i++) sum += counted->value[i];
    return sum;
}

/* Long trips are clipped more the wider the squares are: their counts are scaled to the cells'. */
static double scale_of(const struct dpl_table *cells, const struct dpl_table *wider) {
    double total = total_of(wider);
    return total > 0 ? fmin(fmax(total_of(cells) / total, 1), SCALE_MOST) : 1;
}

/* How far both differ beyond their noise, as a part of the count, squared: clipping takes most from
 * trips that stay in one square. */
static double distortion_of(const struct dpl_table *counted, double scale,
                            const struct level *level) {
    double beyond = 0, counts = 0, own = scale * counted->sigma * scale * counted->sigma;
    for (size_t i = 0; i < counted->n; i++) {
        double off = scale * counted->value[i] - level->value[i];
        beyond += off * off - own - level->variance[i];
        counts += level->value[i] * level->value[i] - level->variance[i];
    }
    return counts > 0 ? fmax(beyond / counts, 0) : 0;
}

/* Joins what the parts add up to with the square's own count, scaled. */
static void join(const struct dpl_table *counted, double scale, struct level *level) {
    double distortion = distortion_of(counted, scale, level);
    for (size_t i = 0; i < counted->n; i++) {
        double count = fmax(level->value[i], 0),
               own = scale * counted->sigma * scale * counted->sigma + distortion * count * count,
               w = level->variance[i] / (level->variance[i] + own);
        level->value[i] = w * scale * counted->value[i] + (1 - w) * level->value[i];
        level->variance[i] = w * own;
    }
}

static void go_up(const struct dpl_table *counted, struct tree *tree) {
    struct level *cells = &tree->level[0];
    for (size_t i = 0; i < counted[0].n; i++) {
        cells->value[i] = counted[0].value[i];
        cells->variance[i] = counted[0].sigma * counted[0].sigma;
        cells->cells[i] = 1;
    }
    for (size_t at = 1; at < tree->n; at++) {
        struct level *level = &tree->level[at];
        const struct level *below = &tree->level[at - 1];
        add_up(below, below->value, level, level->value);
        add_up(below, below->variance, level, level->variance);
        add_up(below, below->cells, level, level->cells);
        for (size_t j = 1; j < DPL_SQUARE_LEVELS; j++)
            if (dpl_square_side(j) == level->side)
                join(&counted[j], scale_of(counted, &counted[j]), level);
    }
}

/* One of the four squares above that are nearest to where a square is, and its weight when one goes
 * straight between their centres. */
static size_t corner_of(const struct level *above, int32_t row, int32_t column, int32_t corner,
                        double *weight) {
    int32_t up = corner / 2, right = corner % 2;
    int32_t r = row / 2 + (up ? (row % 2 ? 1 : -1) : 0),
            c = column / 2 + (right ? (column % 2 ? 1 : -1) : 0);
    r = r < 0 ? 0 : r < above->rows ? r : above->rows - 1;
    c = c < 0 ? 0 : c < above->columns ? c : above->columns - 1;
    *weight = (up ? 0.25 : 0.75) * (right ? 0.25 : 0.75);
    return (size_t)(r * above->columns + c);
}

/* Visits a cell of the squares above around where a square is: straight between their centres. */
static double density_at(const struct level *above, int32_t row, int32_t column) {
    double sum = 0;
    for (int32_t corner = 0; corner < 4; corner++) {
        double weight;
        size_t i = corner_of(above, row, column, corner, &weight);
        sum += weight * above->estimate[i] / above->cells[i];
    }
    return sum;
}

/* Scales the four parts of each square above, values (rows, columns), to its estimate; sum: as many
 * as squares above. */
static void scale_parts(const struct level *above, const struct level *level, double *values,
                        double *sum) {
    memset(sum, 0, (size_t)above->rows * (size_t)above->columns * sizeof *sum);
    add_up(level, values, above, sum);
    for (int32_t row = 0; row < level->rows; row++)
        for (int32_t column = 0; column < level->columns; column++) {
            size_t i = (size_t)(row / 2 * above->columns + column / 2);
            values[row * level->columns + column] *= above->estimate[i] / sum[i];
        }
}

/* The even prior, in place of the estimate. */
static void spread_evenly(const struct level *above, struct level *level, double total,
                          double *room) {
    size_t n = (size_t)level->rows * (size_t)level->columns;
    double cells = 0;
    for (size_t i = 0; i < n; i++) cells += level->cells[i];
    for (int32_t row = 0; row < level->rows; row++)
        for (int32_t column = 0; column < level->columns; column++) {
            size_t i = (size_t)(row * level->columns + column);
            double density = above ? density_at(above, row, column) : fmax(total, 1) / cells;
            level->estimate[i] = fmax(density, 1e-12) * level->cells[i];
        }
    if (above) scale_parts(above, level, level->estimate, room);
}

/* ---- with a map ---- */

/* Roads of every cell as parts of their mean, to a power, never nothing; and what the map knows of
 * the cell. */
static void take_roads(const struct dpl_grid *grid, const float *roads, struct level *cells) {
    size_t n = dpl_squares_count(grid, 1);
    int32_t south = grid->rows, north = -1, west = grid->columns, east = -1;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        int32_t row = (int32_t)i / grid->columns, column = (int32_t)i % grid->columns;
        sum += cells->roads[i] = pow(roads[i], ROAD_POWER);
        if (!(roads[i] > 0)) continue;
        south = row < south ? row : south, north = row > north ? row : north;
        west = column < west ? column : west, east = column > east ? column : east;
    }
    for (size_t i = 0; i < n; i++) {
        int32_t row = (int32_t)i / grid->columns, column = (int32_t)i % grid->columns;
        bool inside = row >= south && row <= north && column >= west && column <= east;
        cells->roads[i] = ROAD_LEAST + (sum > 0 ? cells->roads[i] * (double)n / sum : 0);
        cells->kind[i] = roads[i] > 0 ? DPL_MAP_ROAD : inside ? DPL_MAP_ROADLESS : DPL_MAP_BEYOND;
    }
}

/* A square knows what the best known of its parts does: kinds rise with ignorance. */
static void roads_up(const struct level *below, struct level *level) {
    memset(level->kind, DPL_MAP_BEYOND, (size_t)level->rows * (size_t)level->columns);
    add_up(below, below->roads, level, level->roads);
    for (int32_t row = 0; row < below->rows; row++)
        for (int32_t column = 0; column < below->columns; column++) {
            uint8_t kind = below->kind[row * below->columns + column],
                    *into = &level->kind[row / 2 * level->columns + column / 2];
            *into = kind < *into ? kind : *into;
        }
}

/* Visits a metre of road of the squares above, around where a square is. */
static double density_along(const struct level *above, int32_t row, int32_t column) {
    double visits = 0, roads = 0;
    for (int32_t corner = 0; corner < 4; corner++) {
        double weight;
        size_t i = corner_of(above, row, column, corner, &weight);
        visits += weight * above->estimate[i], roads += weight * above->roads[i];
    }
    return visits / roads;
}

static void spread_along(const struct level *above, struct level *level, double total,
                         double *room) {
    size_t n = (size_t)level->rows * (size_t)level->columns;
    double roads = 0;
    for (size_t i = 0; i < n; i++) roads += level->roads[i];
    for (int32_t row = 0; row < level->rows; row++)
        for (int32_t column = 0; column < level->columns; column++) {
            size_t i = (size_t)(row * level->columns + column);
            double density = above ? density_along(above, row, column) : fmax(total, 1) / roads;
            level->along[i] = fmax(density, 1e-12) * level->roads[i];
        }
    if (above) scale_parts(above, level, level->along, room);
}

/* PRIVACY: which squares without a road are kept is decided by noised counts alone. room: as many
 * as squares. */
static void shrink_on_roads(struct level *level, double *room) {
    size_t n = (size_t)level->rows * (size_t)level->columns;
    const struct dpl_two_priors priors = {room, level->along, level->kind};
    memcpy(room, level->estimate, n * sizeof *room);
    dpl_shrink_mixed(level->value, level->variance, &priors, level->estimate, n);
    for (size_t i = 0; i < n; i++)
        if (level->kind[i] == DPL_MAP_ROADLESS &&
            level->value[i] < ROADLESS_NOISES * sqrt(level->variance[i]))
            level->estimate[i] = fmin(level->estimate[i], ROADLESS_SHARE * room[i]);
}

/* ---- down ---- */

static void go_down(struct tree *tree, bool roads, double *room) {
    for (size_t at = tree->n; at-- > 0;) {
        struct level *level = &tree->level[at];
        const struct level *above = at + 1 < tree->n ? level + 1 : NULL;
        size_t n = (size_t)level->rows * (size_t)level->columns;
        double total = 0;
        for (size_t i = 0; i < n; i++) total += level->value[i];
        spread_evenly(above, level, total, room);
        if (roads) {
            spread_along(above, level, total, room);
            shrink_on_roads(level, room);
        } else {
            dpl_shrink_sparse(level->value, level->variance, level->estimate, n);
        }
        if (above)
            scale_parts(above, level, level->estimate, room);
        else
            dpl_scale_to(level->estimate, n, fmax(total, 1));
    }
}

enum dpl_status dpl_squares_estimate(struct dpl_run *run, const struct dpl_grid *grid,
                                     const struct dpl_table *counted, const float *roads,
                                     double *visits) {
    struct tree tree;
    size_t n = dpl_squares_count(grid, 1);
    if (!(counted[0].sigma > 0)) { // without noise nothing is to be joined
        for (size_t i = 0; i < n; i++) visits[i] = fmax(counted[0].value[i], 0);
        return DPL_OK;
    }
    enum dpl_status status = tree_new(run, grid, &tree);
    double *room = status == DPL_OK ? dpl_alloc(run, n, sizeof *room) : NULL;
    if (room) {
        go_up(counted, &tree);
        if (roads) take_roads(grid, roads, &tree.level[0]);
        for (size_t at = 1; roads && at < tree.n; at++)
            roads_up(&tree.level[at - 1], &tree.level[at]);
        go_down(&tree, roads != NULL, room);
        memcpy(visits, tree.level[0].estimate, n * sizeof *visits);
    } else {
        status = DPL_SYSTEM;
    }
    dpl_free(room);
    tree_free(&tree);
    return status;
}

/* ---- places ---- */

struct cutting {
    const struct dpl_grid *grid;
    const double *visits;
    double least; /* visits of a square that is cut */
    struct dpl_squares *squares;
};

/* Visits of the cells of the grid inside a square. */
static double visits_in(const struct cutting *all, int32_t row, int32_t column, int32_t side) {
    double sum = 0;
    for (int32_t r = row; r < row + side && r < all->grid->rows; r++)
        for (int32_t c = column; c < column + side && c < all->grid->columns; c++)
            sum += all->visits[r * all->grid->columns + c];
    return sum;
}

/* Whether the part of the square inside the grid lies in its south-western quarter. */
static bool is_cut_off(const struct dpl_grid *grid, int32_t row, int32_t column, int32_t side) {
    return row + side / 2 >= grid->rows && column + side / 2 >= grid->columns;
}

/* A place, or its four parts. */
static void cut(const struct cutting *all, int32_t row, int32_t column, int32_t side) {
    if (row >= all->grid->rows || column >= all->grid->columns) return;
    double least = all->least * (side * all->grid->area.cell_m > PLACE_M ? CUT_WIDE : 1);
    if (side > 1 &&
        (is_cut_off(all->grid, row, column, side) || visits_in(all, row, column, side) > least)) {
        for (int32_t part = 0; part < 4; part++)
            cut(all, row + part / 2 * (side / 2), column + part % 2 * (side / 2), side / 2);
        return;
    }
    size_t at = all->squares->n++;
    for (int32_t r = row; r < row + side && r < all->grid->rows; r++)
        for (int32_t c = column; c < column + side && c < all->grid->columns; c++)
            all->squares->of[r * all->grid->columns + c] = (int32_t)at;
    all->squares->side[at] = side;
}

/* The widest square from whose centre its neighbours' of the same side is within a step. */
static int32_t widest(const struct dpl_grid *grid, double step_m) {
    int32_t side = 1;
    while (2 * side * grid->area.cell_m <= step_m) side *= 2;
    return side;
}

static void cut_all(const struct cutting *all, double step_m) {
    int32_t side = widest(all->grid, step_m);
    all->squares->n = 0;
    for (int32_t row = 0; row < all->grid->rows; row += side)
        for (int32_t column = 0; column < all->grid->columns; column += side)
            cut(all, row, column, side);
}

/* Numbers the squares by their first cells, rising. room (n). */
static void number(const struct dpl_grid *grid, struct dpl_squares *squares, int32_t *room) {
    size_t n_cells = dpl_squares_count(grid, 1), next = 0;
    memcpy(room, squares->side, squares->n * sizeof *room);
    int32_t *renamed = room + squares->n;
    for (size_t i = 0; i < squares->n; i++) renamed[i] = -1;
    for (size_t cell = 0; cell < n_cells; cell++) {
        int32_t old = squares->of[cell];
        if (renamed[old] < 0) {
            renamed[old] = (int32_t)next;
            squares->cell[next] = (int32_t)cell;
            squares->side[next++] = room[old];
        }
        squares->of[cell] = renamed[old];
    }
}

/* The walk's time grows with the places: more than are cheap must be worth it. */
static bool is_too_many(const struct cutting *all, double total) {
    double n = (double)all->squares->n;
    return all->least <= total &&
           (n > PLACES_MOST || (n > PLACES_CHEAP && all->least < CUT_SHARE * total));
}

enum dpl_status dpl_squares_choose(struct dpl_run *run, const struct dpl_grid *grid,
                                   const double *visits, double sigma, double step_m,
                                   struct dpl_squares *squares) {
    size_t n = dpl_squares_count(grid, 1);
    int32_t *room = dpl_alloc(run, 2 * n, sizeof *room);
    struct dpl_squares made = {.cell = dpl_alloc(run, n, sizeof *made.cell),
                               .side = dpl_alloc(run, n, sizeof *made.side),
                               .of = dpl_alloc(run, n, sizeof *made.of)};
    if (!room || !made.cell || !made.side || !made.of) {
        dpl_free(room);
        dpl_squares_free(&made);
        return DPL_SYSTEM;
    }
    double total = 0;
    for (size_t i = 0; i < n; i++) total += visits[i];
    struct cutting all = {.grid = grid,
                          .visits = visits,
                          .least = fmax(CUT_NOISES * sigma, CUT_SHARE_LEAST * total),
                          .squares = &made};
    cut_all(&all, step_m);
    while (is_too_many(&all, total)) {
        all.least *= CUT_RAISED;
        cut_all(&all, step_m);
    }
    number(grid, &made, room);
    dpl_free(room);
    *squares = made;
    return DPL_OK;
}

void dpl_squares_free(struct dpl_squares *squares) {
    dpl_free(squares->cell);
    dpl_free(squares->side);
    dpl_free(squares->of);
    *squares = (struct dpl_squares){0};
}

/* Of a square of side cells of the grid from row and column on: a sixteenth's share. */
void dpl_squares_within(const struct dpl_grid *grid, const struct dpl_squares *squares,
                        const double *visits, double *within) {
    for (size_t k = 0; k < squares->n; k++) {
        int32_t side = squares->side[k], row = squares->cell[k] / grid->columns,
                column = squares->cell[k] % grid->columns;
        double *share = within + k * DPL_FINE, sum = 0;
        for (int32_t j = 0; j < DPL_FINE; j++) {
            int32_t steps = side > DPL_FINE_SIDE ? side / DPL_FINE_SIDE : 1;
            for (int32_t r = 0; r < steps; r++)
                for (int32_t c = 0; c < steps; c++) {
                    int32_t y = row + (j / DPL_FINE_SIDE) * side / DPL_FINE_SIDE + r,
                            x = column + (j % DPL_FINE_SIDE) * side / DPL_FINE_SIDE + c;
                    if (y < grid->rows && x < grid->columns)
                        share[j] += visits[y * grid->columns + x] / steps / steps;
                }
            sum += share[j];
        }
        for (size_t j = 0; j < DPL_FINE; j++) share[j] = sum > 0 ? share[j] / sum : 1.0 / DPL_FINE;
    }
}
