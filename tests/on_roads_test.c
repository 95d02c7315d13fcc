/* Trips on the roads of a map: where they are, how fast, and what is said of the map. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "dploc_data.h"
#include "dploc_privacy.h"
#include "model/model.h"
#include "roads/pbf_write.h"
#include "roads/roads.h"
#include "sample/decode.h"
#include "sample/on_roads.h"

enum { TRIPS = 400, INTERVAL_S = 10 };

/* A made-up city, its map, and a model of it. */
static struct {
    char *folder;
    char city[512], map[512];
    struct dpl_area area;
    struct dpl_run *run;
    struct dpl_fit *fit;
    struct dpl_roads *roads;
    struct dpl_grid grid;
} town;

static struct dpl_fit *fit_by(const char *method) {
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_fit *fit = NULL;
    options.method = method, options.ledger = "none", options.size = 3000;
    options.budget.epsilon = 10;
    options.budget.insecure_seed = true, options.insecure_seed = 3;
    assert_ok(town.run, test_fit(town.run, town.city, NULL, &town.area, &options, &fit));
    return fit;
}

static int set_up(void **state) {
    (void)state;
    struct dpl_simulate_options simulate = dpl_simulate_defaults();
    town.run = test_run(2);
    town.folder = test_directory();
    snprintf(town.city, sizeof town.city, "%s", test_path(town.folder, "city.csv"));
    snprintf(town.map, sizeof town.map, "%s", test_path(town.folder, "city.osm.pbf"));
    simulate.trips = 3000, simulate.roads_out = town.map;
    assert_ok(town.run, dpl_simulate(town.run, &simulate, town.city));
    town.area = dpl_area_defaults();
    assert_ok(town.run, dpl_area_preset(town.run, "simulated", &town.area));
    town.area.cell_m = 1000;
    assert_ok(town.run, dpl_grid_make(town.run, &town.area, &town.grid));
    assert_ok(town.run,
              dpl_roads_read(town.run, town.map, &town.grid, DPL_TRAVEL_DRIVE, &town.roads));
    town.fit = fit_by("bridge");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    dpl_fit_free(town.fit);
    dpl_roads_free(town.roads);
    test_directory_remove(town.folder);
    dpl_run_free(town.run);
    return 0;
}

/* Exactly on the map's lines: without a receiver's error. */
static struct dpl_sample_options on_roads(void) {
    struct dpl_sample_options options = dpl_sample_defaults();
    options.trips = TRIPS, options.seed = 5, options.roads = town.map, options.gps_error_m = 0;
    return options;
}

static struct dpl_trips *draw(struct dpl_run *run, const struct dpl_fit *fit,
                              const struct dpl_sample_options *options,
                              struct dpl_columns *columns) {
    struct dpl_trips *trips = NULL;
    assert_ok(run, dpl_sample(run, dpl_fit_model(fit), options, &trips));
    assert_ok(run, dpl_trips_columns(run, trips, columns));
    return trips;
}

static double step_m(const struct dpl_columns *c, size_t i) {
    return hypot((c->lat_deg[i] - c->lat_deg[i - 1]) * town.grid.m_per_deg_lat,
                 (c->lon_deg[i] - c->lon_deg[i - 1]) * town.grid.m_per_deg_lon);
}

/* No step is beyond the limit, no point outside of the box; the share of points within 15 m of a
 * road. */
static double check_points(const struct dpl_columns *c, double seconds) {
    double limit_m = town.area.speed_limit_kmh / 3.6 * seconds, near = 0;
    for (size_t t = 0; t < c->n_trips; t++)
        for (size_t i = c->start[t]; i < c->start[t + 1]; i++) {
            assert_true(dpl_grid_cell_at(&town.grid, c->lat_deg[i], c->lon_deg[i]) >= 0);
            if (i > c->start[t]) assert_true(step_m(c, i) <= limit_m);
            near += dpl_roads_distance_m(town.roads, c->lat_deg[i], c->lon_deg[i]) <= 15;
        }
    return near / (double)c->n_points;
}

/* How many cells a cell is away from those, first to last, of a row or column. */
static int32_t cells_away(int32_t at, int32_t first, int32_t last) {
    return at < first ? first - at : at > last ? at - last : 0;
}

/* How many cells a point is away from the place that another one lies in: 0 is within. Places are
 * squares of cells, and of a wide one a trip on roads keeps to the cells that have some. */
static int32_t cells_from_place(const struct dpl_model *model, int32_t at, int32_t within) {
    const int32_t columns = town.grid.columns, row = within / columns, column = within % columns;
    for (int32_t k = 0; k < model->n_cells; k++) {
        int32_t south = model->cell[k] / columns, west = model->cell[k] % columns,
                north = south + model->side[k] - 1, east = west + model->side[k] - 1;
        if (cells_away(row, south, north) || cells_away(column, west, east)) continue;
        int32_t rows = cells_away(at / columns, south, north),
                aside = cells_away(at % columns, west, east);
        return rows > aside ? rows : aside;
    }
    fail_msg("cell %d is in no place", (int)within);
    return -1;
}

/* With an error of that size 97 % of the visits are in their places, and all within one cell of
 * them; returns the share of points within 15 m of a road. */
static double check_visits(double gps_error_m) {
    struct dpl_sample_options options = on_roads(), centres = on_roads();
    struct dpl_columns placed, cells;
    options.gps_error_m = gps_error_m;
    centres.roads = NULL, centres.points = DPL_POINTS_CENTRE;
    struct dpl_trips *a = draw(town.run, town.fit, &options, &placed),
                     *b = draw(town.run, town.fit, &centres, &cells);
    size_t inside = 0;
    assert_int_equal(placed.n_points, cells.n_points);
    for (size_t i = 0; i < placed.n_points; i++) {
        int32_t at = dpl_grid_cell_at(&town.grid, placed.lat_deg[i], placed.lon_deg[i]),
                cell = dpl_grid_cell_at(&town.grid, cells.lat_deg[i], cells.lon_deg[i]),
                away = cells_from_place(dpl_fit_model(town.fit), at, cell);
        inside += away == 0;
        assert_true(away <= 1);
    }
    assert_true((double)inside >= 0.97 * (double)placed.n_points);
    double near = check_points(&placed, town.area.slot_s);
    dpl_trips_free(a), dpl_trips_free(b);
    return near;
}

static void visits_are_on_roads_and_in_their_cells(void **state) {
    (void)state;
    assert_true(check_visits(0) > 0.95);
    // A receiver's error is the default; even a large one moves no visit out of its cell.
    assert_in_range((int)(100 * check_visits(-1)), 80, 94);
    assert_true(check_visits(40) < 0.6);
}

/* Sizes differ from trip to trip, half of them being smaller than asked for, and last for minutes:
 * what is drawn anew for every point would make trips zigzag. */
static void errors_are_of_a_receiver(void **state) {
    (void)state;
    enum { ERROR_M = 8 };
    struct dpl_sample_options exact = on_roads(), blurred = on_roads();
    struct dpl_columns a, b;
    blurred.gps_error_m = ERROR_M;
    exact.roads = blurred.roads = NULL; // on roads the error is reckoned with: other places
    struct dpl_trips *first = draw(town.run, town.fit, &exact, &a),
                     *second = draw(town.run, town.fit, &blurred, &b);
    double product = 0, squares = 0, small = 0, squares_all = 0;
    for (size_t t = 0; t < a.n_trips; t++) {
        double trip = 0, trip_product = 0, trip_squares = 0, before[2] = {0};
        for (size_t i = a.start[t]; i < a.start[t + 1]; i++) {
            double error[2] = {(b.lon_deg[i] - a.lon_deg[i]) * town.grid.m_per_deg_lon,
                               (b.lat_deg[i] - a.lat_deg[i]) * town.grid.m_per_deg_lat};
            trip += (error[0] * error[0] + error[1] * error[1]) / 2;
            trip_product += error[0] * before[0] + error[1] * before[1];
            if (i > a.start[t]) trip_squares += before[0] * before[0] + before[1] * before[1];
            memcpy(before, error, sizeof before);
        }
        trip /= (double)(a.start[t + 1] - a.start[t]);
        small += trip < ERROR_M * ERROR_M, squares_all += trip;
        // Each trip by its own size, or the few with the largest errors would decide.
        if (trip > 0) product += trip_product / trip, squares += trip_squares / trip;
    }
    double n = (double)a.n_trips;
    assert_near(small / n, 0.5, 0.1);
    assert_true(squares_all / n > 2 * ERROR_M * ERROR_M);
    assert_in_range((int)(100 * product / squares), 60, 90);
    dpl_trips_free(first), dpl_trips_free(second);
}

/* Degrees between the steps to and from a point, of moves; below 0: there is no turn. */
static double turn_deg(const struct dpl_columns *c, size_t i) {
    double before = atan2((c->lat_deg[i] - c->lat_deg[i - 1]) * town.grid.m_per_deg_lat,
                          (c->lon_deg[i] - c->lon_deg[i - 1]) * town.grid.m_per_deg_lon),
           after = atan2((c->lat_deg[i + 1] - c->lat_deg[i]) * town.grid.m_per_deg_lat,
                         (c->lon_deg[i + 1] - c->lon_deg[i]) * town.grid.m_per_deg_lon);
    if (step_m(c, i) < 30 || step_m(c, i + 1) < 30) return -1;
    return fabs(remainder(after - before, 2 * acos(-1))) * 180 / acos(-1);
}

/* Speeds and turns are those of trips without roads: that is what the calibration is for. */
static void trips_move_as_they_do_without_roads(void **state) {
    (void)state;
    double still[2] = {0}, fast[2] = {0}, mean_m[2] = {0}, straight[2] = {0}, sharp[2] = {0};
    for (int with = 0; with < 2; with++) {
        struct dpl_sample_options options = on_roads();
        struct dpl_columns c;
        options.trips = 1500;
        if (!with) options.roads = NULL;
        struct dpl_trips *trips = draw(town.run, town.fit, &options, &c);
        double steps = (double)(c.n_points - c.n_trips);
        for (size_t t = 0; t < c.n_trips; t++)
            for (size_t i = c.start[t] + 1; i < c.start[t + 1]; i++) {
                double m = step_m(&c, i);
                still[with] += (m < 25) / steps, fast[with] += (m > 700) / steps;
                mean_m[with] += m / steps;
                double turn = i + 1 < c.start[t + 1] ? turn_deg(&c, i) : -1;
                straight[with] += (turn >= 0 && turn < 10) / steps;
                sharp[with] += (turn > 50) / steps;
            }
        dpl_trips_free(trips);
    }
    assert_near(still[1], still[0], 0.02); // .010 and .021; .034 where it falls no farther
    assert_near(fast[1], fast[0], 0.03);
    assert_near(mean_m[1], mean_m[0], 0.08 * mean_m[0]);
    assert_near(straight[1], straight[0], 0.04); // .33 and .36; .30 where turns are not counted
    assert_near(sharp[1], sharp[0], 0.03);
}

/* The share of steps that go straight on, of trips with an error. */
static double straight_on(bool roads, double gps_error_m) {
    struct dpl_sample_options options = on_roads();
    struct dpl_columns c;
    options.trips = 1500, options.gps_error_m = gps_error_m;
    if (!roads) options.roads = NULL;
    struct dpl_trips *trips = draw(town.run, town.fit, &options, &c);
    double straight = 0;
    for (size_t t = 0; t < c.n_trips; t++)
        for (size_t i = c.start[t] + 1; i + 1 < c.start[t + 1]; i++) {
            double turn = turn_deg(&c, i);
            straight += (turn >= 0 && turn < 10) / (double)c.n_points;
        }
    dpl_trips_free(trips);
    return straight;
}

/* The model's trips were measured with a receiver's error: what is written with one moves as they
 * do. */
static void errors_are_reckoned_with(void **state) {
    (void)state;
    double without = straight_on(false, 0), with = straight_on(true, 30);
    assert_near(with, without, 0.065); // .27 and .32; .24 where the error is not reckoned with
}

static void threads_do_not_show_on_roads(void **state) {
    (void)state;
    struct dpl_sample_options options = on_roads();
    struct dpl_run *one = test_run(1), *three = test_run(3);
    struct dpl_columns a, b;
    struct dpl_trips *first = draw(one, town.fit, &options, &a),
                     *second = draw(three, town.fit, &options, &b);
    assert_int_equal(a.n_points, b.n_points);
    assert_memory_equal(a.lat_deg, b.lat_deg, a.n_points * sizeof *a.lat_deg);
    assert_memory_equal(a.lon_deg, b.lon_deg, a.n_points * sizeof *a.lon_deg);
    dpl_trips_free(first), dpl_trips_free(second);
    dpl_run_free(one), dpl_run_free(three);
}

static void points_between_visits_follow_the_roads(void **state) {
    (void)state;
    struct dpl_sample_options options = on_roads();
    struct dpl_columns c;
    options.interval_s = INTERVAL_S;
    struct dpl_trips *trips = draw(town.run, town.fit, &options, &c);
    assert_true(check_points(&c, INTERVAL_S) > 0.95);
    dpl_trips_free(trips);
}

/* Whatever the steps, the way between two visits is as long as it must be and never too fast. */
static void between_is_smooth_within_the_reach(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 2000; i++) {
        double slot_m[6] = {100}, along_m[12], reach_m = 1000, longest = 0;
        size_t pieces = 2 + test_random(&seed) % 11;
        for (size_t v = 1; v < 6; v++)
            slot_m[v] = slot_m[v - 1] + reach_m * fmin(1, 1.2 * test_uniform(&seed));
        const struct route route = {.slot_m = slot_m, .n = 6};
        for (size_t v = 0; v < 5; v++) {
            dpl_on_roads_between(&route, v, pieces, reach_m, along_m);
            assert_near(along_m[0], slot_m[v], 1e-9);
            for (size_t p = 0; p < pieces; p++) {
                double next_m = p + 1 < pieces ? along_m[p + 1] : slot_m[v + 1];
                longest = fmax(longest, next_m - along_m[p]);
                assert_true(next_m >= along_m[p] - 1e-9);
            }
        }
        assert_true(longest <= reach_m / (double)pieces + 1e-6);
    }
}

static json_t *read_json(const char *name, const char *ending) {
    char path[600];
    snprintf(path, sizeof path, "%s%s", name, ending);
    json_t *object = json_load_file(path, 0, NULL);
    assert_non_null(object);
    return object;
}

static void certificates_name_the_map(void **state) {
    (void)state;
    static const char *const ENDING[] = {".certificate.json", ".manifest.json"};
    struct dpl_sample_options options = on_roads();
    char out[512];
    snprintf(out, sizeof out, "%s", test_path(town.folder, "syn.csv"));
    options.trips = 10;
    assert_ok(town.run, dpl_sample_write(town.run, dpl_fit_model(town.fit), &options, out));
    for (int i = 0; i < 2; i++) {
        json_t *object = read_json(out, ENDING[i]), *roads = json_object_get(object, "roads");
        assert_string_equal(json_string_value(json_object_get(roads, "sha256")),
                            dpl_roads_facts(town.roads)->digest);
        assert_string_equal(json_string_value(json_object_get(roads, "travel")), "drive");
        assert_non_null(strstr(json_string_value(json_object_get(roads, "license")), "ODbL"));
        char *text = json_dumps(object, 0), *summary = NULL;
        if (i == 0) { // it can still be read and checked
            assert_ok(town.run,
                      dpl_certificate_summary(town.run, text, strlen(text), false, &summary));
            assert_non_null(strstr(summary, "OpenStreetMap"));
        }
        dpl_text_free(summary);
        free(text);
        json_decref(object);
    }
}

/* The town's map with some streets of it: one in `of`. */
static struct dpl_roads *some_streets(size_t of) {
    const struct dpl_roads *r = town.roads;
    static const char *const TAGS[] = {"highway", "residential", NULL};
    double *lat = calloc(2 * r->n_pieces, sizeof *lat), *lon = calloc(2 * r->n_pieces, sizeof *lon);
    int64_t(*ref)[2] = calloc(r->n_pieces, sizeof *ref);
    struct pbf_line *line = calloc(r->n_pieces, sizeof *line);
    struct dpl_roads *roads = NULL;
    char path[512];
    size_t n = 0;
    for (size_t i = 0; i < r->n_nodes; i++) {
        lon[i] = town.area.west_deg + (double)r->node_xy_m[2 * i] / town.grid.m_per_deg_lon;
        lat[i] = town.area.south_deg + (double)r->node_xy_m[2 * i + 1] / town.grid.m_per_deg_lat;
    }
    for (size_t i = 0; i < r->n_pieces; i++) {
        if ((size_t)r->piece[i].street % of) continue;
        ref[n][0] = r->piece[i].node[0] + 1, ref[n][1] = r->piece[i].node[1] + 1;
        line[n] = (struct pbf_line){ref[n], 2, TAGS};
        n++;
    }
    snprintf(path, sizeof path, "%s",
             test_path(town.folder, of > 1 ? "few.osm.pbf" : "all.osm.pbf"));
    const struct pbf_map map = {lat, lon, r->n_nodes, line, n};
    assert_ok(town.run, dpl_pbf_write(town.run, &map, path, true));
    assert_ok(town.run, dpl_roads_read(town.run, path, &town.grid, DPL_TRAVEL_DRIVE, &roads));
    free(lat), free(lon), free(ref), free(line);
    return roads;
}

static bool leaves_out(const struct dpl_roads *roads) {
    const struct dpl_model *model = dpl_fit_model(town.fit);
    const struct dpl_draw_options draw = {.seed = 1, .looping = true};
    const struct dpl_decode_options options = {.roads = roads};
    struct dpl_generator *generator = NULL;
    struct dpl_decoder *decoder = NULL;
    assert_ok(town.run, dpl_generator_open(town.run, model, &draw, &generator));
    assert_ok(town.run, dpl_decoder_new(town.run, model, generator, &options, &decoder));
    bool may = dpl_on_roads_leaves_out(decoder->on_roads);
    dpl_decoder_free(decoder);
    generator->free(generator);
    return may;
}

/* Where more than 2.8 % of visits would miss their cells, none may be left out. */
static void sparse_maps_leave_no_cell_out(void **state) {
    (void)state;
    struct dpl_roads *all = some_streets(1), *few = some_streets(2);
    assert_true(leaves_out(all));
    assert_false(leaves_out(few));
    dpl_roads_free(all), dpl_roads_free(few);
}

/* A certificate's words about a map are believed no more than the rest. */
static void strange_maps_in_certificates_are_refused(void **state) {
    (void)state;
    static const char *const WRONG[] = {
        "{\"sha256\": \"12\", \"travel\": \"drive\"}",
        "{\"travel\": \"fly\"}",
        "{\"license\": \"none\"}",
        "{\"owner\": \"me\"}",
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        json_t *object = json_loads(dpl_fit_certificate(town.fit), 0, NULL),
               *roads = dpl_roads_json(town.roads), *wrong = json_loads(WRONG[i], 0, NULL);
        char *summary = NULL;
        json_object_update(roads, wrong);
        json_object_set_new(object, "roads", roads);
        char *text = json_dumps(object, 0);
        assert_int_equal(dpl_certificate_summary(town.run, text, strlen(text), false, &summary),
                         DPL_BAD_DATA);
        free(text);
        json_decref(wrong), json_decref(object);
    }
}

/* AdaTrace's places are no cells: its trips are placed first, and then follow roads. */
static void places_that_are_no_cells_work_too(void **state) {
    (void)state;
    struct dpl_fit *fit = fit_by("adatrace");
    struct dpl_sample_options options = on_roads();
    struct dpl_columns c;
    size_t near = 0;
    struct dpl_trips *trips = draw(town.run, fit, &options, &c);
    for (size_t i = 0; i < c.n_points; i++)
        near += dpl_roads_distance_m(town.roads, c.lat_deg[i], c.lon_deg[i]) <= 15;
    assert_true((double)near > 0.5 * (double)c.n_points);
    dpl_trips_free(trips);
    dpl_fit_free(fit);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    struct dpl_trips *trips = NULL;
    struct dpl_sample_options options = on_roads();
    options.points = DPL_POINTS_UNIFORM;
    assert_int_equal(dpl_sample(town.run, dpl_fit_model(town.fit), &options, &trips), DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(town.run), "`sample.points`"));
    options = on_roads(), options.travel = (enum dpl_travel)7;
    assert_int_equal(dpl_sample(town.run, dpl_fit_model(town.fit), &options, &trips), DPL_USAGE);
    options = on_roads(), options.roads = town.city;
    assert_int_equal(dpl_sample(town.run, dpl_fit_model(town.fit), &options, &trips), DPL_BAD_DATA);
    assert_null(trips);
}

/* A map that is no map is found before anything is spent. */
static void synth_looks_at_the_map_first(void **state) {
    (void)state;
    struct dpl_synth_options job = dpl_synth_defaults();
    struct dpl_fit_options fit = dpl_fit_defaults();
    struct dpl_sample_options sample = on_roads();
    struct dpl_trips *trips = NULL;
    const char *files[] = {town.city};
    char ledger[512], out[512];
    snprintf(ledger, sizeof ledger, "%s", test_path(town.folder, "ledger"));
    snprintf(out, sizeof out, "%s", test_path(town.folder, "never.csv"));
    sample.roads = town.city, fit.ledger = ledger, job.fit = &fit, job.sample = &sample;
    assert_ok(town.run, dpl_trips_open(town.run, files, 1, NULL, &trips));
    assert_int_equal(dpl_synth(town.run, trips, &town.area, &job, out, NULL), DPL_BAD_DATA);
    assert_null(fopen(ledger, "r"));
    dpl_trips_free(trips);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visits_are_on_roads_and_in_their_cells),
        cmocka_unit_test(errors_are_of_a_receiver),
        cmocka_unit_test(trips_move_as_they_do_without_roads),
        cmocka_unit_test(errors_are_reckoned_with),
        cmocka_unit_test(threads_do_not_show_on_roads),
        cmocka_unit_test(points_between_visits_follow_the_roads),
        cmocka_unit_test(between_is_smooth_within_the_reach),
        cmocka_unit_test(certificates_name_the_map),
        cmocka_unit_test(sparse_maps_leave_no_cell_out),
        cmocka_unit_test(strange_maps_in_certificates_are_refused),
        cmocka_unit_test(places_that_are_no_cells_work_too),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(synth_looks_at_the_map_first),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
