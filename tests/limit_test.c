/* No written step of `bridge` is beyond the public speed limit, whatever the layout: also where
 * cells are wider than what the limit allows in a slot, so that crossing one takes several. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A way to look at a made-up city. */
struct layout {
    enum dpl_pace pace;
    double limit_kmh, cell_m;
    int slot_s;
    int64_t interval_s[2]; // of what is written, 0: every slot
};

static void fit_city(struct dpl_run *run, const char *directory, const struct layout *layout,
                     struct dpl_area *area, struct dpl_fit **fit) {
    struct dpl_simulate_options city = dpl_simulate_defaults();
    struct dpl_fit_options options = dpl_fit_defaults();
    char path[256];
    snprintf(path, sizeof path, "%s/city.csv", directory);
    remove(path);
    city.trips = 1000, city.pace = layout->pace;
    assert_ok(run, dpl_simulate(run, &city, path));
    *area = dpl_area_defaults();
    assert_ok(run, dpl_area_preset(run, "simulated", area));
    area->speed_limit_kmh = layout->limit_kmh, area->cell_m = layout->cell_m;
    area->slot_s = layout->slot_s;
    options.ledger = "none", options.budget.epsilon = 20;
    options.budget.insecure_seed = true, options.insecure_seed = 3;
    assert_ok(run, test_fit(run, path, NULL, area, &options, fit));
}

/* The longest written step over what the limit allows, and the metres of all. */
static double fastest(struct dpl_run *run, const struct dpl_area *area, const struct layout *layout,
                      int64_t written_s, const struct dpl_columns *columns, double *all_m) {
    struct dpl_grid grid;
    double most = 0, interval_s = (double)(written_s ? written_s : layout->slot_s),
           reach_m = area->speed_limit_kmh / 3.6 * interval_s;
    assert_ok(run, dpl_grid_make(run, area, &grid));
    for (size_t i = 0; i < columns->n_trips; i++)
        for (size_t p = columns->start[i] + 1; p < columns->start[i + 1]; p++) {
            double m = hypot((columns->lat_deg[p] - columns->lat_deg[p - 1]) * grid.m_per_deg_lat,
                             (columns->lon_deg[p] - columns->lon_deg[p - 1]) * grid.m_per_deg_lon);
            assert_true(columns->utc_s[p] - columns->utc_s[p - 1] == (int64_t)interval_s);
            assert_true(
                columns->lat_deg[p] >= area->south_deg && columns->lat_deg[p] <= area->north_deg &&
                columns->lon_deg[p] >= area->west_deg && columns->lon_deg[p] <= area->east_deg);
            most = fmax(most, m / reach_m);
            *all_m += m;
        }
    return most;
}

static void check_steps(struct dpl_run *run, const struct dpl_fit *fit, const struct dpl_area *area,
                        const struct layout *layout, int64_t interval_s) {
    struct dpl_trips *drawn;
    struct dpl_columns columns;
    struct dpl_sample_options sample = dpl_sample_defaults();
    double all_m = 0;
    sample.trips = 1000, sample.seed = 5, sample.interval_s = interval_s;
    assert_ok(run, dpl_sample(run, dpl_fit_model(fit), &sample, &drawn));
    assert_ok(run, dpl_trips_columns(run, drawn, &columns));
    double most = fastest(run, area, layout, interval_s, &columns, &all_m);
    print_message("%g km/h, cells of %g m, slots of %d s: the longest step is %.4f of the "
                  "limit's, a trip has %.0f m\n",
                  layout->limit_kmh, layout->cell_m, layout->slot_s, most,
                  all_m / (double)columns.n_trips);
    assert_true(most <= 1);
    assert_true(all_m / (double)columns.n_trips > 300); // they do move
    dpl_trips_free(drawn);
}

static void no_step_is_beyond_the_limit(void **state) {
    (void)state;
    static const struct layout LAYOUTS[] = {
        {DPL_PACE_DRIVE, 150, 1000, 60, {0}},   // as by default
        {DPL_PACE_DRIVE, 100, 1000, 15, {0}},   // cells twice as wide as a slot's way
        {DPL_PACE_WALK, 16, 1000, 60, {0, 30}}, // four times
        {DPL_PACE_WALK, 8, 500, 60, {0, 30}},   // the same on four times the cells: DPLOC_SOAK
    };
    const size_t n = sizeof LAYOUTS / sizeof *LAYOUTS - (test_soak(1) == 1);
    struct dpl_run *run = test_run(2);
    char *directory = test_directory();
    for (size_t i = 0; i < n; i++) {
        struct dpl_area area;
        struct dpl_fit *fit;
        fit_city(run, directory, &LAYOUTS[i], &area, &fit);
        for (int j = 0; j < 2 && (j == 0 || LAYOUTS[i].interval_s[j] > 0); j++)
            check_steps(run, fit, &area, &LAYOUTS[i], LAYOUTS[i].interval_s[j]);
        dpl_fit_free(fit);
    }
    test_directory_remove(directory);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_step_is_beyond_the_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
