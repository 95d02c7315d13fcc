/* Fit and sample in memory: private points in, synthetic points out. No file is needed; the model
 * is kept in one, to draw from it again later.
 *
 *     cc memory.c $(pkg-config --cflags --libs dploc) -lm && ./a.out
 */
#include <dploc.h>
#include <math.h>
#include <stdlib.h>

enum { TRIPS = 3000, POINTS = 12 };

/* Columns of points, as a data frame has them: commuters between two quarters. */
struct table {
    int64_t trip[TRIPS * POINTS], time_s[TRIPS * POINTS];
    double lat_deg[TRIPS * POINTS], lon_deg[TRIPS * POINTS];
};

static double uniform(void) { return rand() / (RAND_MAX + 1.0); }

static void make_up(struct table *table) {
    for (int t = 0, i = 0; t < TRIPS; t++) {
        double from = 0.02 * uniform(), offset = 0.01 * uniform();
        int64_t start_s = 1741000000 + (int64_t)(86400 * uniform());
        for (int p = 0; p < POINTS; p++, i++) {
            table->trip[i] = t;
            table->time_s[i] = start_s + 60 * p;
            table->lat_deg[i] = 47.95 + from + 0.004 * p;
            table->lon_deg[i] = 11.45 + offset + 0.006 * sin(p / 4.0);
        }
    }
}

static int failed(struct dpl_run *run) {
    fprintf(stderr, "%s\n", dpl_run_message(run));
    return 1;
}

int main(void) {
    static struct table table;
    struct dpl_run *run = dpl_run_new(NULL);
    struct dpl_area area = dpl_area_defaults();
    struct dpl_trips *trips = NULL, *synthetic = NULL;
    struct dpl_fit *fit = NULL;
    if (!run || dpl_area_preset(run, "simulated", &area) != DPL_OK) return 1;
    area.cell_m = 1000;

    make_up(&table);
    struct dpl_points points = dpl_points_defaults();
    points.n = TRIPS * POINTS, points.trip.number = table.trip, points.time = table.time_s;
    points.lat_deg = table.lat_deg, points.lon_deg = table.lon_deg;
    if (dpl_trips_new(run, NULL, &trips) != DPL_OK) return failed(run);
    if (dpl_trips_append(run, trips, &points) != DPL_OK) return failed(run);

    struct dpl_fit_options options = dpl_fit_defaults();
    options.budget.epsilon = 2;
    options.ledger = "none"; // made-up data; for real data leave this out
    if (dpl_fit(run, trips, &area, &options, &fit) != DPL_OK) return failed(run);
    if (dpl_sample(run, dpl_fit_model(fit), NULL, &synthetic) != DPL_OK) return failed(run);

    struct dpl_columns columns;
    if (dpl_trips_columns(run, synthetic, &columns) != DPL_OK) return failed(run);
    printf("%zu synthetic trips with %zu points; the first begins at %.5f, %.5f\n", columns.n_trips,
           columns.n_points, columns.lat_deg[0], columns.lon_deg[0]);
    printf("what is promised: %.60s...\n", dpl_fit_certificate(fit));
    if (dpl_model_write(run, dpl_fit_model(fit), "example.dploc", true) != DPL_OK)
        return failed(run);
    dpl_trips_free(synthetic);
    dpl_fit_free(fit);
    dpl_trips_free(trips);
    dpl_run_free(run);
    return 0;
}
