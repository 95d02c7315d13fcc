/* A table of rows (hours, or one) by cells, from coarse to fine.
 *
 *     blocks of 4 x 4 zones -> of 2 x 2 -> zones -> cells
 *     each first together with neighbouring rows, then row by row
 *
 * At every level the estimate so far, summed up, is the prior, and the measured table, summed up
 * likewise, is shrunk towards it; the change is passed down in proportion. The earth mover's
 * distance is dominated by mass that is far off, so the coarse levels, where sums exceed their
 * noise, come first; where a cell alone drowns in noise, its neighbours in time do not.
 * Where sums by zone were measured, too, they and the sums of cells are averaged with the inverses
 * of their variances.
 *
 * Cost: levels * rows * K, and the likelihoods of estimate.c. */
#include <math.h>
#include <string.h>

#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"

struct level {
    const struct dpl_places *places;
    const int32_t *area; /* (K) 0 ... n-1 */
    size_t rows, n;
    double *measured, *variance,
        *prior;        /* (rows, n); variance the same in each row before windows */
    double *window[3]; /* (rows, n) each */
};

/* Measured sums and their variances, from cells and, where given, zones. */
static void sum_measured(const struct level *level, const struct dpl_measured *measured,
                         bool zones) {
    size_t K = level->places->K, Z = level->places->Z, n = level->n;
    double by_cells = measured->cells_sigma * measured->cells_sigma,
           by_zones = measured->zones_sigma * measured->zones_sigma;
    double *cells = level->window[0], *variance = level->window[1], *sums = level->window[2];
    memset(cells, 0, level->rows * n * sizeof *cells),
        memset(variance, 0, level->rows * n * sizeof *variance),
        memset(sums, 0, level->rows * n * sizeof *sums);
    for (size_t row = 0; row < level->rows; row++) {
        for (size_t k = 0; measured->cells && k < K; k++) {
            size_t at = row * n + (size_t)level->area[k];
            cells[at] += measured->cells[row * K + k], variance[at] += by_cells;
        }
        for (size_t z = 0; zones && z < Z; z++) {
            size_t at = row * n + (size_t)level->area[level->places->zone_first[z]];
            sums[at] += measured->zones[row * Z + z], level->variance[at] += by_zones;
        }
    }
    for (size_t i = 0; i < level->rows * n; i++) {
        double w = zones ? variance[i] / (variance[i] + level->variance[i] + 1e-12) : 0;
        if (!measured->cells)
            w = 1;
        else if (zones && measured->cells_sigma <= 0)
            w = 0;
        level->measured[i] = w * sums[i] + (1 - w) * cells[i];
        level->variance[i] = w > 0 ? w * level->variance[i] : variance[i];
    }
}

/* Each row with those around it, the nearer the more. */
static void sum_windows(const struct level *level, size_t reach) {
    size_t rows = level->rows, n = level->n;
    for (int j = 0; j < 3; j++) memset(level->window[j], 0, rows * n * sizeof **level->window);
    for (size_t r = 0; r < rows; r++)
        for (size_t off = 0; off <= 2 * reach; off++) {
            size_t from = (r + rows + off - reach) % rows;
            double w = 1 - fabs((double)off - (double)reach) / (double)(reach + 1);
            for (size_t a = 0; a < n; a++) {
                level->window[0][r * n + a] += w * level->measured[from * n + a];
                level->window[1][r * n + a] += w * level->prior[from * n + a];
                level->window[2][r * n + a] += w * w * level->variance[from * n + a];
            }
        }
}

static void shrink_level(const struct level *level, size_t reach, double *values) {
    size_t K = level->places->K, n = level->n;
    memset(level->prior, 0, level->rows * n * sizeof *level->prior);
    for (size_t row = 0; row < level->rows; row++)
        for (size_t k = 0; k < K; k++)
            level->prior[row * n + (size_t)level->area[k]] += values[row * K + k];
    sum_windows(level, reach);
    double *measured = level->window[0], *shrunk = level->window[1];
    memcpy(level->prior, shrunk, level->rows * n * sizeof *shrunk);
    dpl_shrink_all(measured, shrunk, level->rows * n, 1, level->window[2]);
    for (size_t row = 0; row < level->rows; row++)
        for (size_t k = 0; k < K; k++) {
            size_t at = row * n + (size_t)level->area[k];
            values[row * K + k] *= shrunk[at] / fmax(level->prior[at], 1e-9);
        }
}

static enum dpl_status refine_at(struct dpl_run *run, const struct dpl_places *places,
                                 const struct dpl_measured *measured, size_t at, double *values) {
    struct level level = {.places = places,
                          .area = places->area[at],
                          .rows = measured->rows,
                          .n = places->n_areas[at]};
    size_t size = level.rows * level.n;
    void *block = DPL_BLOCK(run, DPL_PIECE(level.measured, size), DPL_PIECE(level.variance, size),
                            DPL_PIECE(level.prior, size), DPL_PIECE(level.window[0], size),
                            DPL_PIECE(level.window[1], size), DPL_PIECE(level.window[2], size));
    if (!block) return DPL_SYSTEM;
    sum_measured(&level, measured, measured->zones && at <= DPL_LEVEL_ZONES);
    if (level.rows > 2 * LEVEL_REACH) shrink_level(&level, LEVEL_REACH, values);
    shrink_level(&level, 0, values);
    dpl_free(block);
    return DPL_OK;
}

enum dpl_status dpl_refine(struct dpl_run *run, const struct dpl_places *places,
                           const struct dpl_measured *measured, double *values) {
    size_t n_levels = measured->cells ? DPL_LEVELS : DPL_LEVEL_ZONES + 1;
    for (size_t at = 0; at < n_levels; at++) DPL_TRY(refine_at(run, places, measured, at, values));
    return DPL_OK;
}

/* Rows to `rows`, columns to `columns`; two rounds are enough from so near. */
void dpl_rake(double *values, size_t n_rows, size_t n_columns, const double *rows,
              const double *columns, double *room) {
    for (int round = 0; round < 2; round++) {
        memset(room, 0, n_columns * sizeof *room);
        dpl_add_rows(values, n_rows, n_columns, 1, room);
        for (size_t c = 0; c < n_columns; c++) room[c] = fmax(room[c], 1e-9);
        for (size_t r = 0; r < n_rows; r++) {
            double *row = values + r * n_columns;
            for (size_t c = 0; c < n_columns; c++) row[c] *= columns[c] / room[c];
            dpl_scale_to(row, n_columns, rows[r]);
        }
    }
}
