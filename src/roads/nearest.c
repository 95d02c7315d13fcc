/* Nearest road by buckets. See nearest.h.
 *
 * Squares of SIDE_M list the segments that touch their neighbourhood; a search looks at the bucket
 * of the point, then at rings around it, until no further ring can hold anything nearer. Buckets
 * know how many empty rings surround them, so that a point in the sea begins where roads begin.
 * About 0.2 us in a city. */
#include "roads/nearest.h"

#include <math.h>

#include "roads/clip.h"

static const double SIDE_M = 60, BUCKETS_MAX = 4e6;

/* ---- making ---- */

/* The range of buckets that a segment's box touches. */
struct range {
    int32_t left, right, bottom, top;
};

static struct range range_of(const struct roads_buckets *b, const float *p) {
    return (struct range){clip_index(fminf(p[0], p[2]) / b->side_m, b->columns),
                          clip_index(fmaxf(p[0], p[2]) / b->side_m, b->columns),
                          clip_index(fminf(p[1], p[3]) / b->side_m, b->rows),
                          clip_index(fmaxf(p[1], p[3]) / b->side_m, b->rows)};
}

/* Whether a segment comes near a bucket: its distance from the middle is at most the half
 * diagonal. */
static bool touches(const struct roads_buckets *b, const float *p, int32_t column, int32_t row) {
    double dx = p[2] - p[0], dy = p[3] - p[1], length = hypot(dx, dy);
    double mx = (column + 0.5) * b->side_m - p[0], my = (row + 0.5) * b->side_m - p[1];
    return fabs(dx * my - dy * mx) <= length * b->side_m * 0.7072;
}

/* Counts (fill false) or writes the segments of every bucket; `next` has one more than buckets. */
static void list_segments(const struct dpl_roads *r, uint32_t *next, uint32_t *list) {
    const struct roads_buckets *b = &r->buckets;
    for (size_t piece = 0; piece < r->n_pieces; piece++)
        for (uint32_t i = r->piece[piece].point; i + 1 < r->piece[piece + 1].point; i++) {
            const float *p = r->xy_m + 2 * (size_t)i;
            struct range range = range_of(b, p);
            for (int32_t row = range.bottom; row <= range.top; row++)
                for (int32_t column = range.left; column <= range.right; column++) {
                    if (!touches(b, p, column, row)) continue;
                    uint32_t *at = &next[row * b->columns + column];
                    if (list) list[*at] = i;
                    ++*at;
                }
        }
}

/* Rings to the nearest bucket with a road: two sweeps over the rows, each taking one more than the
 * least of the neighbours already swept. */
static void measure_rings(struct roads_buckets *b) {
    int32_t last = b->columns * b->rows - 1;
    for (int sweep = 0; sweep < 2; sweep++)
        for (int32_t k = 0; k <= last; k++) {
            int32_t at = sweep ? last - k : k, row = at / b->columns, column = at % b->columns;
            int32_t step = sweep ? 1 : -1;
            uint8_t least = b->first[at] < b->first[at + 1] ? 0 : sweep ? b->apart[at] : 255;
            for (int32_t n = 0; n < 4; n++) { // three in the row before, one beside
                int32_t other_row = n < 3 ? row + step : row,
                        other = n < 3 ? column + n - 1 : column + step;
                if (other_row < 0 || other_row >= b->rows || other < 0 || other >= b->columns)
                    continue;
                uint8_t apart = b->apart[other_row * b->columns + other];
                if (apart < 254 && apart + 1 < least) least = (uint8_t)(apart + 1);
            }
            b->apart[at] = least;
        }
}

enum dpl_status dpl_nearest_make(struct dpl_run *run, struct dpl_roads *r) {
    struct roads_buckets *b = &r->buckets;
    const struct dpl_grid *grid = &r->grid;
    double width_m = (grid->area.east_deg - grid->area.west_deg) * grid->m_per_deg_lon;
    double height_m = (grid->area.north_deg - grid->area.south_deg) * grid->m_per_deg_lat;
    b->side_m = fmax(SIDE_M, sqrt(width_m * height_m / BUCKETS_MAX));
    b->columns = (int32_t)(width_m / b->side_m) + 1, b->rows = (int32_t)(height_m / b->side_m) + 1;
    size_t n = (size_t)b->columns * (size_t)b->rows;
    b->first = dpl_alloc(run, n + 2, sizeof *b->first);
    b->apart = dpl_alloc(run, n, sizeof *b->apart);
    if (!b->first || !b->apart) return DPL_SYSTEM;
    list_segments(r, b->first + 2, NULL);
    for (size_t i = 2; i <= n + 1; i++) {
        if (b->first[i] > UINT32_MAX - b->first[i - 1])
            return dpl_fail(run, DPL_BAD_DATA, "the roads are too many for one map");
        b->first[i] += b->first[i - 1];
    }
    b->point = dpl_alloc(run, b->first[n + 1], sizeof *b->point);
    if (!b->point) return DPL_SYSTEM;
    list_segments(r, b->first + 1, b->point);
    measure_rings(b);
    return DPL_OK;
}

/* ---- asking ---- */

static double square_to_segment(double x, double y, const float *p) {
    double dx = p[2] - p[0], dy = p[3] - p[1], square = dx * dx + dy * dy;
    double along = square > 0 ? ((x - p[0]) * dx + (y - p[1]) * dy) / square : 0;
    along = along < 0 ? 0 : along > 1 ? 1 : along;
    double ex = x - p[0] - along * dx, ey = y - p[1] - along * dy;
    return ex * ex + ey * ey;
}

static double least_in(const struct dpl_roads *r, int32_t column, int32_t row, double x, double y,
                       double least) {
    const struct roads_buckets *b = &r->buckets;
    if (column < 0 || row < 0 || column >= b->columns || row >= b->rows) return least;
    int32_t bucket = row * b->columns + column;
    for (uint32_t i = b->first[bucket]; i < b->first[bucket + 1]; i++) {
        double square = square_to_segment(x, y, r->xy_m + 2 * (size_t)b->point[i]);
        if (square < least) least = square;
    }
    return least;
}

static double least_on_ring(const struct dpl_roads *r, int32_t column, int32_t row, int32_t ring,
                            double x, double y, double least) {
    for (int32_t step = -ring; step <= ring; step++) {
        bool whole = step == -ring || step == ring;
        for (int32_t across = -ring; across <= ring; across += whole || !ring ? 1 : 2 * ring)
            least = least_in(r, column + across, row + step, x, y, least);
    }
    return least;
}

double dpl_roads_distance_m(const struct dpl_roads *r, double lat_deg, double lon_deg) {
    const struct roads_buckets *b = &r->buckets;
    double x = (lon_deg - r->grid.area.west_deg) * r->grid.m_per_deg_lon,
           y = (lat_deg - r->grid.area.south_deg) * r->grid.m_per_deg_lat, least = INFINITY;
    if (!isfinite(x) || !isfinite(y)) return INFINITY;
    int32_t column = clip_index(x / b->side_m, b->columns),
            row = clip_index(y / b->side_m, b->rows);
    int32_t rings = b->columns > b->rows ? b->columns : b->rows;
    // From the point to the nearest side of its bucket: what a ring adds to. A point outside the
    // box has 0, which is a lower bound, too.
    double dx = x - column * b->side_m, dy = y - row * b->side_m;
    double inside = fmax(0, fmin(fmin(dx, b->side_m - dx), fmin(dy, b->side_m - dy)));
    for (int32_t ring = b->apart[row * b->columns + column]; ring <= rings; ring++) {
        least = least_on_ring(r, column, row, ring, x, y, least);
        double reach = inside + ring * b->side_m;
        if (least <= reach * reach) break;
    }
    return sqrt(least);
}
