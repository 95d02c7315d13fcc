/* Latitude and longitude to metres to cells.
 *
 * Metres are local: at the middle latitude of the box one degree is a fixed number of metres on the
 * WGS84 ellipsoid (meridional radius of curvature M north-south, N cos(lat) east-west). Over a city
 * of 50 km the error is below 0.1 %. Cell = row * columns + column, from the south-west corner; the
 * last row and column may reach past the box, but points outside the box are in no cell. */
#include <math.h>
#include <string.h>

#include "base/zone.h"
#include "base/options.h"

static const double WGS84_A_M = 6378137.0, WGS84_E2 = 6.69437999014e-3,
                    DEG = 3.14159265358979323846 / 180;

struct dpl_area dpl_area_defaults(void) {
    return (struct dpl_area){.struct_size = sizeof(struct dpl_area),
                             .cell_m = 500,
                             .speed_limit_kmh = 150,
                             .slot_s = 60,
                             .periods = 24};
}

static enum dpl_status check_area(struct dpl_run *run, const struct dpl_area *a) {
    if (!(a->south_deg >= -85 && a->south_deg < a->north_deg && a->north_deg <= 85 &&
          a->west_deg >= -180 && a->west_deg < a->east_deg && a->east_deg <= 180))
        return dpl_fail(run, DPL_USAGE,
                        "the box %g,%g,%g,%g is not south,west,north,east in degrees (south < "
                        "north, west < east, |lat| <= 85): "
                        "`area.south_deg,west_deg,north_deg,east_deg`",
                        a->south_deg, a->west_deg, a->north_deg, a->east_deg);
    if (!(a->cell_m >= 1 && a->cell_m <= 1e5))
        return dpl_fail(run, DPL_USAGE,
                        "a cell of %g m (`area.cell_m`) is not between 1 m and 100 km", a->cell_m);
    if (!(a->speed_limit_kmh > 0 && a->speed_limit_kmh <= 2000))
        return dpl_fail(run, DPL_USAGE,
                        "`area.speed_limit_kmh` %g makes no sense (above 0, up to 2000 km/h)",
                        a->speed_limit_kmh);
    if (a->slot_s < 1 || a->slot_s > 3600)
        return dpl_fail(run, DPL_USAGE,
                        "a slot of %d s (`area.slot_s`) is not between 1 s and an hour", a->slot_s);
    if (a->periods < 1 || a->periods > DPL_MAX_PERIODS || 86400 % a->periods)
        return dpl_fail(
            run, DPL_USAGE,
            "%d periods (`area.periods`) do not divide a day into at most %d equal parts",
            a->periods, DPL_MAX_PERIODS);
    if (!a->zone[0])
        return dpl_fail(
            run, DPL_USAGE,
            "no time zone given (`area.zone` Europe/Lisbon, say): the hour of a trip is local");
    return DPL_OK;
}

enum dpl_status dpl_grid_make(struct dpl_run *run, const struct dpl_area *given,
                              struct dpl_grid *grid) {
    struct dpl_area complete = dpl_area_defaults();
    const struct dpl_area *area = &complete;
    dpl_run_begin(run);
    DPL_TRY(dpl_options_take(run, "area", given, &complete));
    DPL_TRY(check_area(run, area));
    struct dpl_zone *zone;
    DPL_TRY(dpl_zone_open(run, area->zone, &zone));
    dpl_zone_free(zone);

    double middle = (area->south_deg + area->north_deg) / 2 * DEG,
           flat = 1 - WGS84_E2 * sin(middle) * sin(middle);
    struct dpl_grid made = {.area = *area};
    made.m_per_deg_lat = DEG * WGS84_A_M * (1 - WGS84_E2) / (flat * sqrt(flat));
    made.m_per_deg_lon = DEG * WGS84_A_M * cos(middle) / sqrt(flat);
    double rows = ceil((area->north_deg - area->south_deg) * made.m_per_deg_lat / area->cell_m);
    double columns = ceil((area->east_deg - area->west_deg) * made.m_per_deg_lon / area->cell_m);
    if (rows * columns > DPL_MAX_CELLS)
        return dpl_fail(run, DPL_USAGE,
                        "%.0f x %.0f cells are more than %d; take larger cells (`area.cell_m`) or "
                        "a smaller box",
                        columns, rows, DPL_MAX_CELLS);
    made.rows = (int32_t)rows;
    made.columns = (int32_t)columns;
    *grid = made;
    return DPL_OK;
}

int32_t dpl_grid_cells(const struct dpl_grid *grid) { return grid->rows * grid->columns; }

int32_t dpl_grid_cell_at(const struct dpl_grid *grid, double lat_deg, double lon_deg) {
    const struct dpl_area *a = &grid->area;
    // Written so that NaN fails it.
    if (!(lat_deg >= a->south_deg && lat_deg <= a->north_deg && lon_deg >= a->west_deg &&
          lon_deg <= a->east_deg))
        return -1;
    int32_t row = (int32_t)((lat_deg - a->south_deg) * grid->m_per_deg_lat / a->cell_m);
    int32_t column = (int32_t)((lon_deg - a->west_deg) * grid->m_per_deg_lon / a->cell_m);
    // The very edge (or rounding there) belongs to the last row and column.
    if (row >= grid->rows) row = grid->rows - 1;
    if (column >= grid->columns) column = grid->columns - 1;
    return row * grid->columns + column;
}

int32_t dpl_grid_cell_of(const struct dpl_grid *grid, double x_m, double y_m) {
    int32_t column = (int32_t)(x_m / grid->area.cell_m), row = (int32_t)(y_m / grid->area.cell_m);
    // The far edges belong to the last row and column.
    if (column >= grid->columns) column = grid->columns - 1;
    if (row >= grid->rows) row = grid->rows - 1;
    return row * grid->columns + column;
}

void dpl_grid_centre(const struct dpl_grid *grid, int32_t cell, double *lat_deg, double *lon_deg) {
    double row = cell / grid->columns, column = cell % grid->columns;
    *lat_deg = grid->area.south_deg + (row + 0.5) * grid->area.cell_m / grid->m_per_deg_lat;
    *lon_deg = grid->area.west_deg + (column + 0.5) * grid->area.cell_m / grid->m_per_deg_lon;
}

double dpl_grid_distance_m(const struct dpl_grid *grid, int32_t a, int32_t b) {
    double dx = a % grid->columns - b % grid->columns, dy = a / grid->columns - b / grid->columns;
    return sqrt(dx * dx + dy * dy) * grid->area.cell_m;
}
