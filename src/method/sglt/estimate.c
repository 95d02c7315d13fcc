/* From SGLT's noised tables to clusters and moves. Everything here is post-processing.
 *
 * The similarity of two cells in the published program is a sum over all pairs of users of the
 * lesser of their visiting shares there. With A_l(q) trips of a share of at least q / Q in cell l
 * it is sum_q A_l(q) A_l'(q) / Q, exactly (a test shows it): an inner product of profiles. So
 * clustering by its cosine is clustering unit vectors, and no pair of trips is ever looked at.
 * PAPER: spherical k-means from a public start in place of a closed clustering program. */
#include <math.h>

#include "method/sglt/sglt.h"

enum { FEATURES = DPL_SGLT_PARTS * DPL_SGLT_SHARES, ROUNDS = 30 };

/* ---- places and keys ---- */

static double reach_cells(const struct dpl_area *area) {
    return area->speed_limit_kmh / 3.6 * area->slot_s / area->cell_m;
}

int32_t dpl_sglt_reach(const struct dpl_grid *grid) {
    double reach = ceil(reach_cells(&grid->area));
    return reach < 1 ? 1 : reach < DPL_SGLT_REACH_MOST ? (int32_t)reach : DPL_SGLT_REACH_MOST;
}

/* At most so far, and to all neighbours. */
static bool reachable(const struct dpl_grid *grid, int32_t north, int32_t east) {
    double limit = fmax(reach_cells(&grid->area), 1.5);
    return (double)north * north + (double)east * east <= limit * limit;
}

int32_t dpl_sglt_to(const struct dpl_grid *grid, int32_t cell, size_t w) {
    int32_t reach = dpl_sglt_reach(grid), side = 2 * reach + 1;
    int32_t north = (int32_t)w / side - reach, east = (int32_t)w % side - reach;
    int32_t row = cell / grid->columns + north, column = cell % grid->columns + east;
    bool inside = row >= 0 && row < grid->rows && column >= 0 && column < grid->columns;
    return inside && reachable(grid, north, east) ? row * grid->columns + column : -1;
}

size_t dpl_sglt_place(const struct dpl_grid *grid, int32_t from, int32_t to) {
    int32_t reach = dpl_sglt_reach(grid), side = 2 * reach + 1;
    int32_t north = to / grid->columns - from / grid->columns,
            east = to % grid->columns - from % grid->columns;
    if (north < -reach || north > reach || east < -reach || east > reach ||
        !reachable(grid, north, east))
        return SIZE_MAX;
    return (size_t)((north + reach) * side + east + reach);
}

void dpl_sglt_list_members(const int32_t *cluster, size_t cells, int32_t *member, int32_t *place,
                           size_t *first) {
    size_t n = 0;
    for (size_t c = 0; c < DPL_SGLT_CLUSTERS; c++) {
        first[c] = n;
        for (size_t l = 0; l < cells; l++) {
            if (cluster[l] != (int32_t)c) continue;
            if (place) place[l] = (int32_t)(n - first[c]);
            member[n++] = (int32_t)l;
        }
    }
    first[DPL_SGLT_CLUSTERS] = n;
}

void dpl_sglt_ways(const struct dpl_grid *grid, int32_t *to) {
    size_t window = dpl_sglt_window(grid);
    for (int32_t cell = 0; cell < dpl_grid_cells(grid); cell++)
        for (size_t w = 0; w < window; w++)
            to[(size_t)cell * window + w] = dpl_sglt_to(grid, cell, w);
}

size_t dpl_sglt_part(const struct dpl_area *area, size_t period) {
    size_t part = period * DPL_SGLT_PARTS / (size_t)area->periods;
    return part < DPL_SGLT_PARTS ? part : DPL_SGLT_PARTS - 1;
}

/* Singly from 2 to 12, then twice as many each time. */
size_t dpl_sglt_length_bin(size_t visits) {
    size_t bin = visits < 2 ? 0 : visits - 2, top = 12;
    if (bin <= 10) return bin;
    for (bin = 10; top < visits && bin < DPL_SGLT_LENGTHS - 1; top *= 2) bin++;
    return bin;
}

size_t dpl_sglt_key(size_t part, size_t source, size_t destination, size_t length_bin) {
    return ((part * DPL_SGLT_CLUSTERS + source) * DPL_SGLT_CLUSTERS + destination) *
               DPL_SGLT_LENGTHS +
           length_bin;
}

/* ---- clusters ---- */

/* The profile of a cell as a unit vector; false: it does not stand out of the noise. */
static bool read_profile(const double *profile, size_t cells, size_t cell, double deviation,
                         float *unit) {
    static const double STANDS_OUT = 2; // times what noise alone has
    double squares = 0;
    for (size_t p = 0; p < DPL_SGLT_PARTS; p++)
        for (size_t q = 0; q < DPL_SGLT_SHARES; q++) {
            double value = profile[(p * cells + cell) * DPL_SGLT_SHARES + q];
            unit[p * DPL_SGLT_SHARES + q] = (float)value;
            squares += value * value;
        }
    for (size_t i = 0; i < FEATURES && squares > 0; i++) unit[i] /= (float)sqrt(squares);
    return squares > STANDS_OUT * FEATURES * deviation * deviation && squares > 0;
}

static float dot(const float *a, const float *b) {
    float sum = 0;
    for (size_t i = 0; i < FEATURES; i++) sum += a[i] * b[i];
    return sum;
}

static size_t nearest(const float *unit, const float *centre, size_t k) {
    size_t best = 0;
    float most = -INFINITY;
    for (size_t c = 0; c < k; c++) {
        float cosine = dot(unit, centre + c * FEATURES);
        if (cosine > most) most = cosine, best = c;
    }
    return best;
}

struct cells {
    size_t n, k;    /* cells that stand out, clusters */
    int32_t *which; /* (n) */
    float *unit;    /* (n, FEATURES) */
    float *centre;  /* (k, FEATURES) */
    int32_t *label; /* (n) */
};

/* Each next centre is the cell that is least like those before: a start without any draw. */
static void choose_centres(struct cells *cells) {
    for (size_t c = 0, pick = 0; c < cells->k; c++) {
        float least = INFINITY;
        for (size_t i = 0; i < FEATURES; i++)
            cells->centre[c * FEATURES + i] = cells->unit[pick * FEATURES + i];
        for (size_t i = 0; i < cells->n; i++) {
            const float *unit = cells->unit + i * FEATURES;
            float like = dot(unit, cells->centre + nearest(unit, cells->centre, c + 1) * FEATURES);
            if (like < least) least = like, pick = i;
        }
    }
}

static void move_centres(struct cells *cells) {
    for (size_t i = 0; i < cells->n; i++)
        cells->label[i] = (int32_t)nearest(cells->unit + i * FEATURES, cells->centre, cells->k);
    for (size_t c = 0; c < cells->k; c++) {
        float sum[FEATURES] = {0}, length;
        for (size_t i = 0; i < cells->n; i++)
            for (size_t f = 0; cells->label[i] == (int32_t)c && f < FEATURES; f++)
                sum[f] += cells->unit[i * FEATURES + f];
        length = sqrtf(dot(sum, sum));
        for (size_t f = 0; f < FEATURES && length > 0; f++)
            cells->centre[c * FEATURES + f] = sum[f] / length;
    }
}

/* Cells without a signal: as the nearest one that has it. */
static void spread(const struct dpl_grid *grid, const struct cells *cells, int32_t *cluster) {
    for (int32_t i = 0; i < dpl_grid_cells(grid); i++) {
        double least = INFINITY;
        cluster[i] = 0;
        for (size_t j = 0; j < cells->n; j++) {
            double north = i / grid->columns - cells->which[j] / grid->columns,
                   east = i % grid->columns - cells->which[j] % grid->columns,
                   far = north * north + east * east;
            if (far < least) least = far, cluster[i] = cells->label[j];
        }
    }
}

enum dpl_status dpl_sglt_clusters(struct dpl_run *run, const struct dpl_grid *grid,
                                  const double *profile, double deviation, int32_t *cluster,
                                  size_t *n_clusters) {
    size_t all = (size_t)dpl_grid_cells(grid);
    struct cells cells = {0};
    void *block = DPL_BLOCK(run, DPL_PIECE(cells.which, all), DPL_PIECE(cells.label, all),
                            DPL_PIECE(cells.unit, all * FEATURES),
                            DPL_PIECE(cells.centre, DPL_SGLT_CLUSTERS * FEATURES));
    if (!block) return DPL_SYSTEM;
    for (size_t i = 0; i < all; i++)
        if (read_profile(profile, all, i, deviation, cells.unit + cells.n * FEATURES))
            cells.which[cells.n++] = (int32_t)i;
    cells.k = cells.n < DPL_SGLT_CLUSTERS ? cells.n : DPL_SGLT_CLUSTERS;
    choose_centres(&cells);
    for (int round = 0; round < ROUNDS; round++) move_centres(&cells);
    spread(grid, &cells, cluster);
    *n_clusters = cells.k > 0 ? cells.k : 1;
    dpl_free(block);
    return DPL_OK;
}

/* ---- moves ---- */

void dpl_sglt_moves(const struct dpl_grid *grid, const double *moves, float *chance) {
    size_t window = dpl_sglt_window(grid);
    int32_t reach = dpl_sglt_reach(grid), side = 2 * reach + 1;
    for (int32_t cell = 0; cell < dpl_grid_cells(grid); cell++) {
        const double *row = moves + (size_t)cell * window;
        double seen = 0, pull = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t w = 0; w < window; w++) {
                double north = (int32_t)w / side - reach, east = (int32_t)w % side - reach,
                       near = 1 / fmax(north * north + east * east, 1), count = fmax(row[w], 0);
                if (dpl_sglt_to(grid, cell, w) < 0) continue;
                if (pass == 0)
                    seen += count, pull += near;
                else
                    chance[(size_t)cell * window + w] =
                        (float)(seen > 0 ? 0.5 * count / seen + 0.5 * near / pull : near / pull);
            }
    }
}
