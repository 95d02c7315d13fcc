/* Where the chosen cells are, which zone each belongs to, and which steps the public speed limit
 * allows. Public numbers only. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"

static const double PI = 3.14159265358979323846;

/* How many watches a day has. */
static size_t watches_for(const struct dpl_area *area, double rich) {
    size_t periods = (size_t)area->periods, watches = rich > HOURS_FROM          ? periods
                                                      : rich > WATCHES_MOST_FROM ? WATCHES_MOST
                                                      : rich > WATCHES_FROM      ? WATCHES
                                                                                 : WATCHES_FEW;
    return watches < periods ? watches : periods;
}

static double wealth_for(double rich) {
    return fmin(fmax(1 - log(fmax(rich, 1e-9)) / log(WEALTH_FROM), 0), 1);
}

/* A zone pair holds trips in proportion to the fourth power of the zone's side, and its noise
 * stays: with less data the side grows by the fourth root, and with very little the dayparts of the
 * day go, too. */
struct dpl_resolution dpl_resolution_for(const struct dpl_area *area, double trips,
                                         double epsilon) {
    double rich = trips * epsilon / RICH_TRIPS;
    size_t dayparts = rich > RICH_FROM     ? DAYPARTS_RICH
                      : rich > MIDDLE_FROM ? DAYPARTS_MIDDLE
                      : rich > FEW_FROM    ? DAYPARTS_FEW
                                           : 1;
    if (dayparts > (size_t)area->periods) dayparts = (size_t)area->periods;
    double zone_m = rich < 1 ? fmin(ZONE_M / sqrt(sqrt(fmax(rich, 1e-6))), ZONE_MOST_M) : ZONE_M;
    return (struct dpl_resolution){.dayparts = dayparts,
                                   .watches = watches_for(area, rich),
                                   .wealth = wealth_for(rich),
                                   .zone_m = fmax(zone_m, ZONE_CELLS * area->cell_m)};
}

bool dpl_fine_motion_for(double trips, double epsilon) { return trips * epsilon > FINE_TRIPS; }

void dpl_table_free(struct dpl_table *table) {
    dpl_free(table->value);
    *table = (struct dpl_table){0};
}

/* Slow trips rest, which adds to their norm: were they counted in full, clipping would bite on most
 * of them, and on those that rest more than on others. */
double dpl_full_visits_for(double mean_visits) {
    return FULL_VISITS * fmin(1, LONG_VISITS / mean_visits);
}

double dpl_visit_weight(double full_visits, size_t visits) {
    return (double)visits <= full_visits ? 1 : sqrt(full_visits / (double)visits);
}

size_t dpl_stop_bin_first(size_t bin) {
    static const size_t FIRST[DPL_STOP_BINS + 1] = {
        2, 3, 4, 5, 7, 10, 14, 19, 26, 36, 50, 70, 2 * DPL_BRIDGE_LENGTH_MOST - 70};
    return FIRST[bin];
}

size_t dpl_stop_bin(size_t steps) {
    size_t bin = 0;
    while (bin + 1 < DPL_STOP_BINS && steps >= dpl_stop_bin_first(bin + 1)) bin++;
    return bin;
}

size_t dpl_length_group(size_t visits) {
    size_t group = 0, width = 1;
    for (size_t first = 2;; first += width, group++) {
        width = first < 12 ? 1 : first / 6;
        if (visits < first + width) return group;
    }
}

double dpl_places_distance_m(const struct dpl_places *places, size_t a, size_t b) {
    return hypot(places->x_m[a] - places->x_m[b], places->y_m[a] - places->y_m[b]);
}

/* Side by side there is always a step, also where cells are wider than a slot's way. */
double dpl_step_limit_m(const struct dpl_area *area) {
    return fmax(LIMIT_SHARE * dpl_area_reach_m(area), area->cell_m);
}

static size_t distance_bin(const struct dpl_places *places, size_t a, size_t b) {
    double bin = dpl_places_distance_m(places, a, b) / places->bin_m;
    return bin < DPL_DISTANCE_BINS - 1 ? (size_t)bin : DPL_DISTANCE_BINS - 1;
}

static enum dpl_status find_bins(struct dpl_run *run, struct dpl_places *places) {
    size_t K = places->K;
    places->distance_bin = dpl_alloc(run, K * K, sizeof *places->distance_bin);
    if (!places->distance_bin) return DPL_SYSTEM;
    for (size_t s = 0; s < K; s++)
        for (size_t d = 0; d < K; d++)
            places->distance_bin[s * K + d] = (uint8_t)distance_bin(places, s, d);
    return DPL_OK;
}

size_t dpl_places_daypart(const struct dpl_places *places, size_t period) {
    return period * places->P / places->H;
}

size_t dpl_places_watch(const struct dpl_places *places, size_t period) {
    return period * places->W / places->H;
}

static size_t sector_by_angle(double dx_m, double dy_m) {
    double turn = atan2(dy_m, dx_m) / (2 * PI) * DPL_SECTORS + 0.5;
    return (size_t)((int)floor(turn) + DPL_SECTORS) % DPL_SECTORS;
}

/* Counting asks this of every step: the slope answers, and the angle only next to a sector's edge,
 * where rounding could make a difference. */
size_t dpl_places_sector(const struct dpl_places *places, size_t a, size_t b) {
    static const double EDGE = 0.41421356237309505, NEXT_TO = 1e-9; // the tangent of 22.5 degrees
    const double dx_m = places->x_m[b] - places->x_m[a], dy_m = places->y_m[b] - places->y_m[a],
                 x_m = fabs(dx_m), y_m = fabs(dy_m);
    if (y_m < EDGE * (1 - NEXT_TO) * x_m) return dx_m > 0 ? 0 : 4;
    if (x_m < EDGE * (1 - NEXT_TO) * y_m) return dy_m > 0 ? 2 : 6;
    if (y_m > EDGE * (1 + NEXT_TO) * x_m && x_m > EDGE * (1 + NEXT_TO) * y_m)
        return dy_m > 0 ? (dx_m > 0 ? 1 : 3) : dx_m > 0 ? 7 : 5;
    return sector_by_angle(dx_m, dy_m);
}

bool dpl_places_within(const struct dpl_places *places, size_t a, size_t b, double limit_m) {
    static const double NEXT_TO = 1e-9; // of the limit rounding could make a difference
    const double dx_m = places->x_m[a] - places->x_m[b], dy_m = places->y_m[a] - places->y_m[b],
                 square = dx_m * dx_m + dy_m * dy_m, most = limit_m * limit_m;
    if (fabs(square - most) > NEXT_TO * most) return square < most;
    return dpl_places_distance_m(places, a, b) <= limit_m;
}

static bool can_step(const struct dpl_places *places, size_t a, size_t b) {
    return a != b && dpl_places_within(places, a, b, places->step_limit_m);
}

size_t dpl_places_band(const struct dpl_places *places, size_t a, size_t b) {
    struct dpl_position from = {(float)places->x_m[a], (float)places->y_m[a]},
                        to = {(float)places->x_m[b], (float)places->y_m[b]};
    return dpl_motion_step(&places->bands, (float)(1 / dpl_places_reach_m(places)), from, to).speed;
}

size_t dpl_places_step(const struct dpl_places *places, size_t a, size_t b) {
    if (!can_step(places, a, b)) return SIZE_MAX;
    size_t row = a * DPL_SECTORS + dpl_places_sector(places, a, b);
    size_t low = places->near_start[row], high = places->near_start[row + 1];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (places->near[middle] < (int32_t)b)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Steps by cell and sector, rising within each. */
static enum dpl_status find_near(struct dpl_run *run, struct dpl_places *places) {
    size_t *start = places->near_start = dpl_alloc(run, places->K * DPL_SECTORS + 1, sizeof *start),
           n = 0;
    if (!start) return DPL_SYSTEM;
    for (size_t a = 0; a < places->K; a++)
        for (size_t b = 0; b < places->K; b++)
            if (can_step(places, a, b))
                start[a * DPL_SECTORS + dpl_places_sector(places, a, b) + 1]++, n++;
    for (size_t i = 0; i < places->K * DPL_SECTORS; i++) start[i + 1] += start[i];
    places->near = dpl_alloc(run, n, sizeof *places->near);
    if (!places->near) return DPL_SYSTEM;
    for (size_t a = 0; a < places->K; a++) {
        size_t used[DPL_SECTORS] = {0};
        for (size_t b = 0; b < places->K; b++) {
            if (!can_step(places, a, b)) continue;
            size_t sector = dpl_places_sector(places, a, b);
            places->near[start[a * DPL_SECTORS + sector] + used[sector]++] = (int32_t)b;
        }
    }
    return DPL_OK;
}

/* Squares of that side, numbered in the order in which the cells come. */
static enum dpl_status number_squares(struct dpl_run *run, const struct dpl_places *places,
                                      double side_m, int32_t *area, size_t *n_areas) {
    double width_m = places->grid.columns * places->grid.area.cell_m,
           height_m = places->grid.rows * places->grid.area.cell_m;
    size_t columns = (size_t)(width_m / side_m) + 1, rows = (size_t)(height_m / side_m) + 1;
    int32_t *number = dpl_alloc(run, columns * rows, sizeof *number);
    if (!number) return DPL_SYSTEM;
    for (size_t k = 0; k < places->K; k++) {
        size_t square =
            (size_t)(places->y_m[k] / side_m) * columns + (size_t)(places->x_m[k] / side_m);
        if (number[square] == 0) number[square] = (int32_t)++ * n_areas;
        area[k] = number[square] - 1;
    }
    dpl_free(number);
    return DPL_OK;
}

/* Each level's squares lie within those of the level before. */
static enum dpl_status find_areas(struct dpl_run *run, double zone_m, struct dpl_places *places) {
    for (size_t at = 0; at <= DPL_LEVEL_ZONES; at++)
        DPL_TRY(number_squares(run, places, zone_m * (double)(1 << (DPL_LEVEL_ZONES - at)),
                               places->area[at], &places->n_areas[at]));
    places->zone = places->area[DPL_LEVEL_ZONES];
    places->Z = places->n_areas[DPL_LEVEL_ZONES];
    places->n_areas[DPL_LEVELS - 1] = places->K;
    for (size_t k = places->K; k-- > 0;) {
        places->area[DPL_LEVELS - 1][k] = (int32_t)k;
        places->zone_first[places->zone[k]] = (int32_t)k;
    }
    return DPL_OK;
}

/* Of the cells from first on, `side` of them or to the grid's edge. */
static double middle(int32_t first, int32_t side, int32_t cells) {
    return (first + (first + side < cells ? first + side : cells)) / 2.0;
}

enum dpl_status dpl_places_new(struct dpl_run *run, const struct dpl_grid *grid,
                               const int32_t *cell, const int32_t *side, size_t n_cells,
                               struct dpl_resolution resolution, struct dpl_places **into) {
    enum dpl_status status = DPL_SYSTEM;
    const struct dpl_area *area = &grid->area;
    struct dpl_places *places = dpl_alloc(run, 1, sizeof *places);
    if (!places) return DPL_SYSTEM;
    *places = (struct dpl_places){.K = n_cells,
                                  .H = (size_t)area->periods,
                                  .P = resolution.dayparts,
                                  .grid = *grid,
                                  .full_visits = resolution.full_visits};
    places->W = resolution.watches ? resolution.watches : places->H;
    places->step_limit_m = dpl_step_limit_m(area);
    places->bands = dpl_motion_bins_make(true);
    places->bin_m = fmax(DISTANCE_BIN_M, DISTANCE_BIN_CELLS * area->cell_m);
    places->cell = dpl_alloc(run, n_cells, sizeof *places->cell);
    places->side = dpl_alloc(run, n_cells, sizeof *places->side);
    places->x_m = dpl_alloc(run, n_cells, sizeof *places->x_m);
    places->y_m = dpl_alloc(run, n_cells, sizeof *places->y_m);
    places->zone_first =
        dpl_alloc(run, n_cells, sizeof *places->zone_first); // there are no more zones than cells
    if (!places->cell || !places->side || !places->x_m || !places->y_m || !places->zone_first)
        goto done;
    for (size_t at = 0; at < DPL_LEVELS; at++)
        if (!(places->area[at] = dpl_alloc(run, n_cells, sizeof **places->area))) goto done;
    memcpy(places->cell, cell, n_cells * sizeof *cell);
    for (size_t k = 0; k < n_cells; k++) {
        places->side[k] = side ? side[k] : 1;
        places->x_m[k] =
            middle(cell[k] % grid->columns, places->side[k], grid->columns) * area->cell_m;
        places->y_m[k] =
            middle(cell[k] / grid->columns, places->side[k], grid->rows) * area->cell_m;
    }
    DPL_GO(find_areas(run, resolution.zone_m, places));
    DPL_GO(find_bins(run, places));
    DPL_GO(find_near(run, places));
    *into = places;
    places = NULL;
done:
    dpl_places_free(places);
    return status;
}

void dpl_places_free(struct dpl_places *places) {
    if (!places) return;
    dpl_free(places->distance_bin);
    dpl_free(places->near);
    dpl_free(places->near_start);
    for (size_t at = 0; at < DPL_LEVELS; at++) dpl_free(places->area[at]);
    dpl_free(places->zone_first);
    dpl_free(places->y_m);
    dpl_free(places->x_m);
    dpl_free(places->side);
    dpl_free(places->cell);
    dpl_free(places);
}
