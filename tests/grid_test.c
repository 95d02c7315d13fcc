/* Grid: true metres, cells, edges, presets, and areas that make no sense. */
#include "support.h"

#include <math.h>
#include <string.h>

static struct dpl_area area_at(double south_deg, double west_deg) {
    struct dpl_area area = dpl_area_defaults();
    area.south_deg = south_deg, area.west_deg = west_deg;
    area.north_deg = south_deg + 0.2, area.east_deg = west_deg + 0.2;
    strcpy(area.zone, "UTC");
    return area;
}

/* Length of a degree on WGS84, from tables. */
static void a_degree_is_as_long_as_on_the_globe(void **state) {
    (void)state;
    static const struct {
        double lat_deg, north_m, east_m;
    } KNOWN[] = {
        {0, 110574, 111320}, {30, 110852, 96486}, {45, 111132, 78847}, {60, 111412, 55800}};
    struct dpl_run *run = test_run(1);
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        struct dpl_area area = area_at(KNOWN[i].lat_deg - 0.1, 11);
        struct dpl_grid grid;
        assert_ok(run, dpl_grid_make(run, &area, &grid));
        assert_float_equal(grid.m_per_deg_lat, KNOWN[i].north_m, 1);
        assert_float_equal(grid.m_per_deg_lon, KNOWN[i].east_m, 1);
    }
    dpl_run_free(run);
}

static void cells_are_squares_from_the_south_west(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_area area = area_at(48, 11);
    struct dpl_grid grid;
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    double step_lat = area.cell_m / grid.m_per_deg_lat, step_lon = area.cell_m / grid.m_per_deg_lon;
    assert_int_equal(dpl_grid_cell_at(&grid, 48, 11), 0);
    assert_int_equal(dpl_grid_cell_at(&grid, 48 + 0.5 * step_lat, 11 + 1.5 * step_lon), 1);
    assert_int_equal(dpl_grid_cell_at(&grid, 48 + 1.5 * step_lat, 11 + 0.5 * step_lon),
                     grid.columns);
    assert_float_equal(dpl_grid_distance_m(&grid, 0, 3), 1500, 1e-9);
    assert_float_equal(dpl_grid_distance_m(&grid, 0, 4 * grid.columns + 3), 2500, 1e-9);
    for (int32_t cell = 0; cell < dpl_grid_cells(&grid); cell++) {
        double lat_deg, lon_deg;
        dpl_grid_centre(&grid, cell, &lat_deg, &lon_deg);
        if (lat_deg <= area.north_deg && lon_deg <= area.east_deg)
            assert_int_equal(dpl_grid_cell_at(&grid, lat_deg, lon_deg), cell);
    }
    dpl_run_free(run);
}

static void the_box_is_closed_and_the_rest_is_outside(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_area area = area_at(48, 11);
    struct dpl_grid grid;
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    assert_int_equal(dpl_grid_cell_at(&grid, area.north_deg, area.east_deg),
                     dpl_grid_cells(&grid) - 1);
    assert_int_equal(dpl_grid_cell_at(&grid, nextafter(area.south_deg, -90), 11.1), -1);
    assert_int_equal(dpl_grid_cell_at(&grid, 48.1, nextafter(area.east_deg, 180)), -1);
    assert_int_equal(dpl_grid_cell_at(&grid, NAN, 11.1), -1);
    assert_int_equal(dpl_grid_cell_at(&grid, 48.1, INFINITY), -1);
    dpl_run_free(run);
}

static void presets_are_the_papers_boxes(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    for (size_t i = 0; dpl_area_preset_name(i); i++) {
        struct dpl_area area = dpl_area_defaults();
        struct dpl_grid grid;
        assert_ok(run, dpl_area_preset(run, dpl_area_preset_name(i), &area));
        assert_ok(run, dpl_grid_make(run, &area, &grid));
    }
    struct dpl_area porto = dpl_area_defaults();
    struct dpl_grid grid;
    assert_ok(run, dpl_area_preset(run, "porto", &porto));
    assert_ok(run, dpl_grid_make(run, &porto, &grid));
    double km2 = (porto.north_deg - porto.south_deg) * grid.m_per_deg_lat *
                 (porto.east_deg - porto.west_deg) * grid.m_per_deg_lon / 1e6;
    assert_true(km2 > 590 && km2 < 640); // the paper says 600
    assert_int_equal(dpl_area_preset(run, "atlantis", &porto), DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(run), "porto-downtown"));
    dpl_run_free(run);
}

static void senseless_areas_are_refused(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_area good = area_at(48, 11);
    struct dpl_area bad[12];
    for (int i = 0; i < 12; i++) bad[i] = good;
    bad[0].north_deg = 47, bad[1].east_deg = 10, bad[2].south_deg = NAN, bad[3].cell_m = 0,
    bad[4].cell_m = NAN, bad[5].cell_m = 1;
    bad[6].slot_s = 0, bad[7].periods = 7, bad[8].periods = 0, bad[9].zone[0] = '\0',
    bad[10].north_deg = 89, bad[11].speed_limit_kmh = -1;
    strcpy(bad[7].zone, "UTC");
    for (int i = 0; i < 12; i++) {
        struct dpl_grid grid;
        if (dpl_grid_make(run, &bad[i], &grid) != DPL_USAGE) fail_msg("area %d was accepted", i);
        assert_true(strlen(dpl_run_message(run)) > 20);
    }
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_degree_is_as_long_as_on_the_globe),
        cmocka_unit_test(cells_are_squares_from_the_south_west),
        cmocka_unit_test(the_box_is_closed_and_the_rest_is_outside),
        cmocka_unit_test(presets_are_the_papers_boxes),
        cmocka_unit_test(senseless_areas_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
