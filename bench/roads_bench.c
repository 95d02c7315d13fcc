/* Speed of roads: a map of 300,000 segments read, the distance to the nearest road, routes for the
 * cells of trips, a whole synth with a map against one without. With DPLOC_DATA the trips and the
 * map are San Francisco's, otherwise a simulated city's. Prints lines "name value unit goal
 * ok|MISSED", and what routes are like as comments. */
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "roads/pbf_write.h"
#include "roads/route.h"

enum { SIDE = 388, TRIPS_MAX = 60000, ASKED = 1000000, BINS = 6 };

static struct dpl_grid grid_of(struct dpl_run *run, const char *region) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    must(run, dpl_area_preset(run, region, &area));
    must(run, dpl_grid_make(run, &area, &grid));
    return grid;
}

/* ---- a large map ---- */

/* A lattice of SIDE x SIDE nodes: 2 * SIDE * (SIDE - 1) segments, bent and one-way here and there.
 */
static void write_lattice(struct dpl_run *run, const struct dpl_grid *grid, const char *path) {
    static const char *const TWO[] = {"highway", "residential", NULL};
    static const char *const ONE[] = {"highway", "tertiary", "oneway", "yes", NULL};
    size_t n = (size_t)SIDE * SIDE;
    double *lat_deg = malloc(n * sizeof *lat_deg), *lon_deg = malloc(n * sizeof *lon_deg);
    int64_t *ref = malloc(2 * n * sizeof *ref);
    struct pbf_line *line = malloc(2 * SIDE * sizeof *line);
    uint64_t state = 1;
    if (!lat_deg || !lon_deg || !ref || !line) exit(1);
    for (size_t i = 0; i < n; i++) {
        state = dpl_mix64(state + i);
        double row = (double)(i / SIDE) + 0.3 * (double)(state >> 40) * 0x1p-24,
               column = (double)(i % SIDE) + 0.3 * (double)(state & 0xFFFFFF) * 0x1p-24;
        lat_deg[i] = grid->area.south_deg +
                     (grid->area.north_deg - grid->area.south_deg) * (row + 0.5) / (SIDE + 1);
        lon_deg[i] = grid->area.west_deg +
                     (grid->area.east_deg - grid->area.west_deg) * (column + 0.5) / (SIDE + 1);
    }
    for (size_t l = 0; l < 2 * SIDE; l++) {
        for (size_t i = 0; i < SIDE; i++)
            ref[l * SIDE + i] = (int64_t)(l < SIDE ? l * SIDE + i : i * SIDE + l - SIDE) + 1;
        line[l] = (struct pbf_line){ref + l * SIDE, SIDE, l % 5 ? TWO : ONE};
    }
    struct pbf_map map = {lat_deg, lon_deg, n, line, 2 * SIDE};
    must(run, dpl_pbf_write(run, &map, path, true));
    free(line), free(ref), free(lon_deg), free(lat_deg);
}

static void bench_reading(struct dpl_run *run) {
    struct dpl_grid grid = grid_of(run, "simulated");
    struct dpl_roads *roads = NULL;
    char path[] = "/tmp/dploc-lattice-XXXXXX";
    close(mkstemp(path));
    write_lattice(run, &grid, path);
    double began = cpu_s();
    must(run, dpl_roads_read(run, path, &grid, DPL_TRAVEL_DRIVE, &roads));
    report_at_most("read_300000_segments", cpu_s() - began, "s", 10);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    report_at_most("read_300000_segments_memory", (double)usage.ru_maxrss / 1e3, "MB", 150);
    dpl_roads_free(roads);
    unlink(path);
}

/* ---- distances and routes ---- */

/* Trips in a file, and a map of where they are. */
struct data {
    char file[4096], map[4096];
    struct dpl_area area;
};

static struct data find_data(struct dpl_run *run, const char *folder) {
    struct data data = {"/tmp/dploc-roads-bench.csv", "/tmp/dploc-roads-bench.osm.pbf",
                        dpl_area_defaults()};
    must(run, dpl_area_preset(run, folder ? "sf" : "simulated", &data.area));
    if (folder) {
        snprintf(data.file, sizeof data.file, "%s/sf/sf_trips_dev.csv.xz", folder);
        snprintf(data.map, sizeof data.map, "%s/roads/sf.osm.pbf", folder);
    } else {
        struct dpl_simulate_options simulate = dpl_simulate_defaults();
        simulate.trips = TRIPS_MAX, simulate.overwrite = true, simulate.roads_out = data.map;
        must(run, dpl_simulate(run, &simulate, data.file));
    }
    return data;
}

static struct dpl_cleaned *load(struct dpl_run *run, const struct data *data,
                                struct dpl_roads **roads) {
    struct dpl_read_options options = dpl_read_defaults();
    struct dpl_cleaned *trips = NULL;
    const char *files[] = {data->file};
    must(run, dpl_cleaned_read(run, files, 1, &options, &data->area, &trips, NULL));
    must(run, dpl_roads_read(run, data->map, &trips->grid, DPL_TRAVEL_DRIVE, roads));
    return trips;
}

/* Points near the cells that trips visit: where one asks. */
static void bench_distance(const struct dpl_cleaned *trips, const struct dpl_roads *roads) {
    const struct dpl_grid *grid = &trips->grid;
    uint64_t state = 1;
    double sum = 0, began = cpu_s();
    for (size_t i = 0; i < ASKED; i++) {
        double lat_deg, lon_deg;
        state = dpl_mix64(state + i);
        dpl_grid_centre(grid, trips->cell[state % trips->n_visits], &lat_deg, &lon_deg);
        lat_deg +=
            ((double)(state >> 40) * 0x1p-24 - 0.5) * grid->area.cell_m / grid->m_per_deg_lat;
        lon_deg +=
            ((double)(state & 0xFFFFFF) * 0x1p-24 - 0.5) * grid->area.cell_m / grid->m_per_deg_lon;
        sum += dpl_roads_distance_m(roads, lat_deg, lon_deg);
    }
    report_at_most("distance_to_road", (cpu_s() - began) / ASKED * 1e6, "us", 1);
    printf("# mean distance %.1f m\n", sum / ASKED);
}

struct tally {
    size_t trips, visits, in_cell, beside, fit[4], points;
    double straight_m, path_m;
};

static void add_trip(const struct dpl_grid *grid, const int32_t *cell, const struct route *route,
                     struct tally *t) {
    for (size_t k = 0; k < route->n; k++) {
        double x_m, y_m;
        dpl_route_at(route, route->slot_m[k], &x_m, &y_m);
        int32_t at = dpl_grid_cell_at(grid, grid->area.south_deg + y_m / grid->m_per_deg_lat,
                                      grid->area.west_deg + x_m / grid->m_per_deg_lon);
        t->in_cell += at == cell[k];
        t->beside += at >= 0 && abs(at % grid->columns - cell[k] % grid->columns) <= 1 &&
                     abs(at / grid->columns - cell[k] / grid->columns) <= 1;
    }
    t->trips++, t->visits += route->n, t->fit[route->fit]++, t->points += route->n_points;
    t->straight_m += route->straight_m, t->path_m += route->at_m[route->n_points - 1];
}

static void bench_routes(struct dpl_run *run, const struct dpl_cleaned *trips,
                         const struct dpl_roads *roads) {
    static const float UPPER[BINS] = {1, 4, 8, 14, 22, 100}, NONE[BINS * BINS];
    struct route_motion motion = {BINS,
                                  UPPER,
                                  NONE,
                                  NONE,
                                  NONE,
                                  trips->grid.area.speed_limit_kmh / 3.6,
                                  trips->grid.area.slot_s,
                                  NULL};
    struct route_options options = dpl_route_defaults();
    struct route_scratch *scratch = NULL;
    struct tally t = {0};
    must(run, dpl_route_scratch_new(run, roads, &motion, &options, &scratch));
    size_t n = trips->n_trips < TRIPS_MAX ? trips->n_trips : TRIPS_MAX;
    double began = cpu_s();
    for (size_t i = 0; i < n; i++) {
        const int32_t *cell = trips->cell + trips->start[i];
        struct route route;
        must(run,
             dpl_route_trip(scratch, i, cell, NULL, trips->start[i + 1] - trips->start[i], &route));
        add_trip(&trips->grid, cell, &route, &t);
    }
    report_at_most("route_and_times", (cpu_s() - began) / (double)n * 1e3, "ms/trip", 0.15);
    report_at_most("visits_not_in_their_cell", 1 - (double)t.in_cell / (double)t.visits, "share",
                   0.03);
    report_at_most("visits_over_one_cell_off", 1 - (double)t.beside / (double)t.visits, "share",
                   0.001);
    printf("# %zu trips, %.1f visits a trip; within %.4f, widened %.4f, far %.4f, over the limit "
           "%.4f; straight %.4f of %.2f km a trip\n",
           t.trips, (double)t.visits / (double)n, (double)t.fit[0] / (double)n,
           (double)t.fit[1] / (double)n, (double)t.fit[2] / (double)n, (double)t.fit[3] / (double)n,
           t.straight_m / t.path_m, t.path_m / (double)n / 1e3);
    dpl_route_scratch_free(scratch);
}

/* ---- a whole synth ---- */

/* Processor time of a fit and of as many trips as there are, with or without the map. */
static double synth_s(struct dpl_run *run, const struct data *data, const char *map) {
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_sample_options drawing = dpl_sample_defaults();
    struct dpl_trips *real = NULL, *synthetic = NULL;
    struct dpl_fit *fit = NULL;
    const char *files[] = {data->file};
    options.ledger = "none", options.budget.epsilon = 1, options.budget.delta = 5e-6;
    options.budget.insecure_seed = true, options.insecure_seed = 5, options.roads = map;
    drawing.seed = 5, drawing.roads = map;
    double began = cpu_s();
    must(run, dpl_trips_open(run, files, 1, NULL, &real));
    must(run, dpl_fit(run, real, &data->area, &options, &fit));
    double fitted = cpu_s();
    must(run, dpl_sample(run, dpl_fit_model(fit), &drawing, &synthetic));
    double ended = cpu_s();
    printf("# %s: fit %.1f s, trips %.1f s\n", map ? "with roads" : "without", fitted - began,
           ended - fitted);
    dpl_trips_free(synthetic);
    dpl_fit_free(fit);
    dpl_trips_free(real);
    return ended - began;
}

static void bench_synth(struct dpl_run *run, const struct data *data) {
    double without = synth_s(run, data, NULL);
    report_at_most("synth_with_roads_over_without", synth_s(run, data, data->map) / without,
                   "times", 2);
}

int main(void) {
    struct dpl_run *run = dpl_run_new(NULL);
    struct dpl_roads *roads = NULL;
    if (!run) return 1;
    bench_reading(run);
    struct data data = find_data(run, getenv("DPLOC_DATA"));
    struct dpl_cleaned *trips = load(run, &data, &roads);
    bench_distance(trips, roads);
    bench_routes(run, trips, roads);
    bench_synth(run, &data);
    if (!getenv("DPLOC_DATA")) unlink(data.file), unlink(data.map);
    dpl_roads_free(roads);
    dpl_cleaned_free(trips);
    dpl_run_free(run);
    return 0;
}
