/* The report's data: what gets into the island, what does not, and that no text can break out of
 * it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "base/cleaned.h"
#include "report/basemap.h"
#include "roads/pbf_write.h"
#include "report/gather.h"
#include "support.h"
#include "ledger/certificate.h"

/* ---- helpers ---- */

static struct dpl_grid city_grid(struct dpl_run *run, double cell_m) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    area.cell_m = cell_m;
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    return grid;
}

/* Random walks; `first` moves the city. */
static struct dpl_cleaned *city(struct dpl_run *run, const struct dpl_grid *grid, size_t n,
                                int32_t first, uint64_t seed) {
    struct dpl_cleaned *trips = NULL;
    assert_ok(run, dpl_cleaned_new(run, grid, &trips));
    for (size_t i = 0; i < n; i++) {
        int32_t cell[16], column = first + (int32_t)(test_random(&seed) % 9),
                          row = first + (int32_t)(test_random(&seed) % 9);
        size_t length = 2 + test_random(&seed) % 12;
        for (size_t v = 0; v < length; v++) {
            cell[v] = row * grid->columns + column;
            column = first + (column - first + (int32_t)(test_random(&seed) % 2)) % 9;
            row = first + (row - first + (int32_t)(test_random(&seed) % 2)) % 9;
        }
        uint8_t period = (uint8_t)(test_random(&seed) % 24);
        assert_ok(run, dpl_cleaned_append(run, trips,
                                          &(struct dpl_cleaned_trip){cell, length,
                                                                     1740960000 + 3600 * period, -1,
                                                                     period, NULL}));
    }
    return trips;
}

static char *read_all(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(*size + 1, 1);
    assert_int_equal(fread(text, 1, *size, file), *size);
    fclose(file);
    return text;
}

/* The island of a report, parsed. */
static json_t *island_of(const char *path) {
    static const char BEGIN[] = "<script type=\"application/json\" id=\"island\">";
    size_t size;
    json_error_t error;
    char *page = read_all(path, &size), *begin = strstr(page, BEGIN);
    assert_non_null(begin);
    begin += sizeof BEGIN - 1;
    char *end = strstr(begin, "</script>");
    assert_non_null(end);
    json_t *island = json_loadb(begin, (size_t)(end - begin), 0, &error);
    if (!island) fail_msg("island: %s at %d", error.text, error.position);
    free(page);
    return island;
}

/* A true certificate: one Gaussian on a declared number of trips. */
static char *certificate(struct dpl_run *run, bool insecure) {
    struct dpl_budget budget = dpl_budget_defaults();
    struct dpl_mechanism ask = {
        .name = "visits", .kind = DPL_EVENT_GAUSSIAN, .share = 1, .clip = 1};
    struct dpl_size *size = NULL;
    struct dpl_plan *plan = NULL;
    char *text = NULL;
    budget.insecure_seed = insecure;
    assert_ok(run, dpl_size_declare(run, 1000, &size));
    assert_ok(run, dpl_plan_make(run, &budget, size, &ask, 1, &plan));
    struct dpl_certificate made = {.plan = plan, .method = "test"};
    assert_ok(run, dpl_certificate_text(run, &made, &text));
    dpl_plan_free(plan);
    dpl_size_free(size);
    return text;
}

static double at3(json_t *array, size_t i, size_t j, size_t k) {
    return json_number_value(json_array_get(json_array_get(json_array_get(array, i), j), k));
}

/* ---- the whole file ---- */

static void counts_are_those_of_the_trips(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 500);
    struct dpl_cleaned *real = city(run, &grid, 300, 5, 1), *made = city(run, &grid, 200, 6, 2);
    char *directory = test_directory();
    const char *path = test_path(directory, "report.html");
    struct dpl_report_set a = {.name = "real.csv", .trips = real},
                          b = {.name = "made.csv", .trips = made};
    assert_ok(run, dpl_report(run, &a, &b, 1, NULL, path));
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    json_t *island = island_of(path), *map = json_object_get(island, "map"),
           *place = json_object_get(map, "place");
    assert_true(json_is_true(json_object_get(island, "not_private")));
    assert_int_equal(json_integer_value(json_object_get(map, "block")), 1);
    const struct dpl_cleaned *const set[2] = {real, made};
    for (size_t s = 0; s < 2; s++) {
        double visits = 0;
        for (size_t p = 0; p < 24; p++)
            for (size_t i = 0; i < json_array_size(place); i++) {
                size_t expected = 0;
                int32_t cell = (int32_t)json_integer_value(json_array_get(place, i));
                for (size_t t = 0; t < set[s]->n_trips; t++)
                    for (size_t v = set[s]->start[t]; v < set[s]->start[t + 1]; v++)
                        expected += set[s]->period[t] == p && set[s]->cell[v] == cell;
                assert_near(at3(json_object_get(map, "visits"), s, p, i), expected, 0);
                visits += (double)expected;
            }
        assert_near(visits, set[s]->n_visits, 0);
    }
    json_decref(island);
    dpl_cleaned_free(real);
    dpl_cleaned_free(made);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* A report on one made-up city. */
struct page {
    struct dpl_run *run;
    struct dpl_grid grid;
    struct dpl_cleaned *made;
    char *directory, *certificate;
    json_t *island; /* what the page holds, once it is written */
};

static struct page open_page(size_t n_trips, uint64_t seed) {
    struct page page = {.run = test_run(1), .directory = test_directory()};
    page.grid = city_grid(page.run, 500);
    page.made = city(page.run, &page.grid, n_trips, 5, seed);
    page.certificate = certificate(page.run, false);
    return page;
}

static void write_page(struct page *page, const struct dpl_report_options *options) {
    const char *path = test_path(page->directory, "report.html");
    struct dpl_report_set set = {
        .name = "made.csv", .trips = page->made, .certificate = page->certificate};
    assert_ok(page->run, dpl_report(page->run, NULL, &set, 1, options, path));
    page->island = island_of(path);
}

static void close_page(struct page *page) {
    json_decref(page->island);
    dpl_text_free(page->certificate);
    dpl_cleaned_free(page->made);
    test_directory_remove(page->directory);
    dpl_run_free(page->run);
}

/* Flows counted again, plainly; the strongest pair of each set must be listed with its count. */
static void flows_are_those_of_the_trips(void **state) {
    (void)state;
    struct page page = open_page(400, 3);
    const struct dpl_grid grid = page.grid;
    const struct dpl_cleaned *made = page.made;
    write_page(&page, NULL);
    json_t *flows = json_object_get(page.island, "flows"), *place = json_object_get(flows, "place");
    int64_t block = json_integer_value(json_object_get(flows, "block")),
            columns = json_integer_value(json_object_get(flows, "columns"));
    size_t listed = json_array_size(json_object_get(flows, "pairs")), staying = 0;
    assert_int_equal(listed, 25);
    for (size_t i = 0; i < listed; i++) {
        json_t *pair = json_array_get(json_object_get(flows, "pairs"), i);
        size_t expected = 0;
        staying = 0;
        assert_int_not_equal(json_integer_value(json_array_get(pair, 0)),
                             json_integer_value(json_array_get(pair, 1)));
        for (size_t t = 0; t < made->n_trips; t++) {
            int32_t ends[2] = {made->cell[made->start[t]], made->cell[made->start[t + 1] - 1]};
            int64_t square[2];
            for (int e = 0; e < 2; e++)
                square[e] =
                    ends[e] / grid.columns / block * columns + ends[e] % grid.columns / block;
            expected +=
                square[0] == json_integer_value(json_array_get(
                                 place, (size_t)json_integer_value(json_array_get(pair, 0)))) &&
                square[1] == json_integer_value(json_array_get(
                                 place, (size_t)json_integer_value(json_array_get(pair, 1))));
            staying += square[0] == square[1];
        }
        assert_true(expected > 0);
        assert_int_equal(json_integer_value(
                             json_array_get(json_array_get(json_object_get(flows, "trips"), 0), i)),
                         expected);
    }
    assert_int_equal(json_integer_value(json_array_get(json_object_get(flows, "staying"), 0)),
                     staying);
    close_page(&page);
}

/* Districts: strips of the box from west to east; what lies east of the last is in none of them. */
enum { STRIPS = 3 };

static const char *strips_file(const char *directory, const struct dpl_area *area,
                               double width_deg) {
    char text[2048];
    size_t used = (size_t)snprintf(text, sizeof text, "{\"features\":[");
    for (int i = 0; i < STRIPS; i++) {
        double west = area->west_deg + i * width_deg, east = west + width_deg,
               south = area->south_deg - 1, north = area->north_deg + 1;
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "%s{\"properties\":{\"name\":\"<strip> %d\"},\"geometry\":{\"type\":\"Polygon\","
            "\"coordinates\":[[[%.9f,%.9f],[%.9f,%.9f],[%.9f,%.9f],[%.9f,%.9f],[%.9f,%.9f]]]}}",
            i ? "," : "", i, west, south, east, south, east, north, west, north, west, south);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "]}");
    return test_file(directory, "strips.geojson", text, used);
}

/* The strip that holds a cell's centre; -1: none. */
static int strip_of(const struct dpl_grid *grid, int32_t cell, double width_deg) {
    double x_m = (cell % grid->columns + 0.5) * grid->area.cell_m;
    int strip = (int)(x_m / grid->m_per_deg_lon / width_deg);
    return strip < STRIPS ? strip : -1;
}

static void flows_go_between_districts(void **state) {
    (void)state;
    struct page page = open_page(400, 3);
    const struct dpl_grid grid = page.grid;
    const struct dpl_cleaned *made = page.made;
    struct dpl_report_options options = dpl_report_defaults();
    const double width_deg = 4 * grid.area.cell_m / grid.m_per_deg_lon; // trips go on beyond
    options.zones = strips_file(page.directory, &grid.area, width_deg);
    write_page(&page, &options);
    int64_t expected[STRIPS][STRIPS] = {{0}}, outside = 0, staying = 0;
    for (size_t t = 0; t < made->n_trips; t++) {
        int from = strip_of(&grid, made->cell[made->start[t]], width_deg),
            to = strip_of(&grid, made->cell[made->start[t + 1] - 1], width_deg);
        if (from < 0 || to < 0)
            outside++;
        else
            expected[from][to]++;
        staying += from >= 0 && from == to;
    }
    json_t *flows = json_object_get(page.island, "flows"),
           *districts = json_object_get(flows, "districts"),
           *pairs = json_object_get(flows, "pairs"),
           *trips = json_array_get(json_object_get(flows, "trips"), 0);
    assert_int_equal(json_array_size(districts), STRIPS);
    assert_string_equal(json_string_value(json_array_get(json_array_get(districts, 2), 0)),
                        "<strip> 2");
    for (size_t i = 0; i < STRIPS; i++) // its middle, in metres, is about that of the strip
        assert_near(json_integer_value(json_array_get(json_array_get(districts, i), 1)),
                    ((double)i + 0.5) * width_deg * grid.m_per_deg_lon, grid.area.cell_m);
    assert_int_equal(json_array_size(json_object_get(flows, "outlines")), STRIPS * 2); // sides
    assert_true(outside > 0 && staying > 0);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(flows, "outside"), 0)),
                     outside);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(flows, "staying"), 0)),
                     staying);
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        json_t *pair = json_array_get(pairs, i);
        int64_t *count = &expected[json_integer_value(json_array_get(pair, 0))]
                                  [json_integer_value(json_array_get(pair, 1))];
        assert_int_equal(json_integer_value(json_array_get(trips, i)), *count);
        *count = 0;
    }
    for (int from = 0; from < STRIPS; from++) // all pairs that there are were listed
        for (int to = 0; to < STRIPS; to++)
            if (from != to) assert_int_equal(expected[from][to], 0);
    close_page(&page);
}

/* A map of another town, and one of so many districts that no page could show them. */
static void districts_must_be_of_the_region(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 500);
    char *directory = test_directory();
    const char *path = test_path(directory, "report.html");
    struct dpl_report_options options = dpl_report_defaults();
    struct dpl_area other = grid.area;
    other.west_deg += 10, other.east_deg += 10;
    options.zones = strips_file(directory, &other, 0.1);
    assert_int_equal(dpl_report_check(run, &grid.area, &options, path), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "none of its districts holds the centre"));
    options.zones = strips_file(directory, &grid.area, 0.1);
    assert_ok(run, dpl_report_check(run, &grid.area, &options, path));
    options.zones = path;
    assert_int_equal(dpl_report_check(run, &grid.area, &options, path), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "cannot be read as GeoJSON"));
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* The support of a listed pattern is the number of trips that hold it. */
static void patterns_are_those_of_the_trips(void **state) {
    (void)state;
    struct page page = open_page(300, 4);
    const struct dpl_cleaned *made = page.made;
    struct dpl_report_options options = dpl_report_defaults();
    struct dpl_eval_options measures = dpl_eval_defaults();
    measures.cell_share = 1;
    options.eval = &measures; // no visit is moved
    write_page(&page, &options);
    json_t *patterns = json_object_get(page.island, "patterns"),
           *cells = json_object_get(patterns, "cells");
    assert_int_equal(json_array_size(cells), 20);
    for (size_t i = 0; i < json_array_size(cells); i++) {
        json_t *pattern = json_array_get(cells, i);
        size_t expected = 0, n = json_array_size(pattern);
        assert_in_range(n, 2, 5);
        for (size_t t = 0; t < made->n_trips; t++) {
            int32_t collapsed[16];
            size_t m = 0;
            bool found = false;
            for (size_t v = made->start[t]; v < made->start[t + 1]; v++)
                if (!m || collapsed[m - 1] != made->cell[v]) collapsed[m++] = made->cell[v];
            for (size_t at = 0; at + n <= m && !found; at++) {
                found = true;
                for (size_t j = 0; j < n; j++)
                    found = found &&
                            json_integer_value(json_array_get(pattern, j)) == collapsed[at + j];
            }
            expected += found;
        }
        assert_int_equal(json_integer_value(json_array_get(
                             json_array_get(json_object_get(patterns, "support"), 0), i)),
                         expected);
    }
    close_page(&page);
}

/* ---- what is public ---- */

static void a_public_report_needs_certificates(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 500);
    struct dpl_cleaned *made = city(run, &grid, 50, 5, 5);
    char *directory = test_directory(), *good = certificate(run, false),
         *seeded = certificate(run, true);
    const char *path = test_path(directory, "report.html");
    struct dpl_report_set set = {.name = "made.csv", .trips = made};
    assert_int_equal(dpl_report(run, NULL, &set, 1, NULL, path), DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(run), "has no certificate"));
    set.certificate = seeded;
    assert_int_equal(dpl_report(run, NULL, &set, 1, NULL, path), DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(run), "NOT PRIVATE"));
    char *claim = strstr(good, "\"epsilon\": 1.0");
    assert_non_null(claim);
    memcpy(claim + 11, "0.5", 3); // a promise that its noise does not keep
    set.certificate = good;
    assert_int_equal(dpl_report(run, NULL, &set, 1, NULL, path), DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(run), "does not hold"));
    set.certificate = "{}";
    assert_int_equal(dpl_report(run, NULL, &set, 1, NULL, path), DPL_BAD_DATA);
    struct stat info;
    assert_int_not_equal(stat(path, &info), 0);
    memcpy(claim + 11, "1.0", 3);
    set.certificate = good;
    assert_ok(run, dpl_report(run, NULL, &set, 1, NULL, path));
    json_t *island = island_of(path);
    assert_false(json_is_true(json_object_get(island, "not_private")));
    assert_null(json_object_get(island, "evaluation"));
    assert_int_equal(json_array_size(json_object_get(island, "sets")), 1);
    json_decref(island);
    dpl_text_free(good);
    dpl_text_free(seeded);
    dpl_cleaned_free(made);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* Points all over the cells of a trip's walk; a trip every three hours and seven minutes. */
static struct dpl_cleaned *pointed(struct dpl_run *run, const struct dpl_grid *grid, size_t n,
                                   int32_t first, uint64_t seed) {
    struct dpl_cleaned *walks = city(run, grid, n, first, seed), *trips = NULL;
    struct dpl_position at[16];
    assert_ok(run, dpl_cleaned_new(run, grid, &trips));
    for (size_t i = 0; i < n; i++) {
        size_t begin = walks->start[i], length = walks->start[i + 1] - begin;
        for (size_t v = 0; v < length; v++) {
            int32_t cell = walks->cell[begin + v];
            double part = (double)(test_random(&seed) % 100) / 100;
            at[v] = (struct dpl_position){
                (float)((cell % grid->columns + part) * grid->area.cell_m),
                (float)((cell / grid->columns + 0.5 * part) * grid->area.cell_m)};
        }
        struct dpl_cleaned_trip trip = {walks->cell + begin, length, 11220 * (int64_t)i, -1, 0, at};
        assert_ok(run, dpl_cleaned_append(run, trips, &trip));
    }
    dpl_cleaned_free(walks);
    return trips;
}

/* The points of a drawn trip are those that were written, to the metre; of which trip: at[0]. */
static bool drawn(json_t *steps, const struct dpl_cleaned *trips, size_t i) {
    const struct dpl_position *at = trips->position + trips->start[i];
    int64_t x = 0, y = 0;
    size_t n = trips->start[i + 1] - trips->start[i];
    if (json_array_size(steps) != 2 * n) return false;
    for (size_t v = 0; v < n; v++) {
        x += json_integer_value(json_array_get(steps, 2 * v));
        y += json_integer_value(json_array_get(steps, 2 * v + 1));
        if (fabs((double)x - at[v].x_m) > 0.51 || fabs((double)y - at[v].y_m) > 0.51) return false;
    }
    return true;
}

static size_t count_drawn(json_t *list, const struct dpl_cleaned *trips) {
    size_t found = 0;
    for (size_t k = 0; k < json_array_size(list); k++) {
        json_t *steps = json_object_get(json_array_get(list, k), "steps_m");
        bool any = false;
        for (size_t i = 0; i < trips->n_trips && !any; i++) any = drawn(steps, trips, i);
        found += any;
    }
    return found;
}

/* Only synthetic trips are drawn, by their written points; real ones when asked for. */
static void no_real_trip_is_drawn_unless_asked_for(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 500);
    struct dpl_cleaned *real = pointed(run, &grid, 100, 2, 6),
                       *made = pointed(run, &grid, 100, 22, 7);
    char *directory = test_directory();
    const char *path = test_path(directory, "report.html");
    struct dpl_report_options options = dpl_report_defaults();
    struct dpl_report_set a = {.name = "real.csv", .trips = real},
                          b = {.name = "made.csv", .trips = made};
    options.overwrite = true;
    for (int wished = 0; wished <= 5; wished += 5) {
        options.real_trips_shown = wished;
        assert_ok(run, dpl_report(run, &a, &b, 1, &options, path));
        json_t *island = island_of(path), *trips = json_object_get(island, "trips"),
               *shown = json_object_get(island, "real_trips");
        assert_int_equal(json_array_size(trips), 1);
        assert_int_equal(count_drawn(json_array_get(trips, 0), made), 12);
        assert_int_equal(count_drawn(json_array_get(trips, 0), real), 0);
        assert_int_equal(shown != NULL, wished > 0);
        assert_int_equal(count_drawn(shown, real), wished);
        json_decref(island);
    }
    dpl_cleaned_free(real);
    dpl_cleaned_free(made);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* ---- how trips move ---- */

static int64_t sum_of(json_t *row) {
    int64_t sum = 0;
    for (size_t i = 0; i < json_array_size(row); i++)
        sum += json_integer_value(json_array_get(row, i));
    return sum;
}

static json_t *motion_row(json_t *island, const char *name, size_t set) {
    json_t *motion = json_object_get(json_object_get(island, "motion"), name);
    return json_array_get(json_object_get(motion, "count"), set);
}

static int64_t bin_of(json_t *row, size_t bin) {
    return json_integer_value(json_array_get(row, bin));
}

/* One trip made by hand: 1.5 km east in steps of 500 m a minute (30 km/h), a turn of 90 degrees,
 * 300 m north (18 km/h), then three minutes in one place; and one without points or times beside
 * it. */
static void motion_is_that_of_the_points(void **state) {
    (void)state;
    static const struct dpl_position AT[] = {{0, 10},     {500, 10},   {1000, 10},  {1500, 10},
                                             {1500, 310}, {1500, 310}, {1500, 310}, {1500, 310}};
    int32_t cell[8] = {0, 1, 2, 3, 3, 3, 3, 3};
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 500);
    struct dpl_cleaned *real = NULL, *bare = NULL;
    char *directory = test_directory();
    const char *path = test_path(directory, "report.html");
    assert_ok(run, dpl_cleaned_new(run, &grid, &real));
    assert_ok(run, dpl_cleaned_new(run, &grid, &bare));
    // Saturday 2025-03-01, 08:17 in Berlin
    struct dpl_cleaned_trip trip = {cell, 8, 1740813420, -1, 8, AT},
                            without = {cell, 8, 0, -1, 0, NULL};
    for (size_t i = 0; i < 40; i++) {
        assert_ok(run, dpl_cleaned_append(run, real, &trip));
        assert_ok(run, dpl_cleaned_append(run, bare, &without));
    }
    bare->has_time = false;
    struct dpl_report_set a = {.name = "real.csv", .trips = real},
                          b = {.name = "bare.csv", .trips = bare};
    assert_ok(run, dpl_report(run, &a, &b, 1, NULL, path));
    json_t *island = island_of(path);
    assert_int_equal(bin_of(motion_row(island, "speed_kmh", 0), 12), 3 * 40); // 30 km/h
    assert_int_equal(bin_of(motion_row(island, "speed_kmh", 0), 7), 40);      // 18 km/h
    assert_int_equal(bin_of(motion_row(island, "speed_kmh", 0), 0), 3 * 40);
    assert_int_equal(bin_of(motion_row(island, "path_km", 0), 3), 40); // 1.8 km
    assert_int_equal(bin_of(motion_row(island, "turn_deg", 0), 18), 40);
    assert_int_equal(bin_of(motion_row(island, "turn_deg", 0), 0), 2 * 40);
    assert_int_equal(sum_of(motion_row(island, "turn_deg", 0)), 3 * 40);
    assert_int_equal(bin_of(motion_row(island, "stops", 0), 1), 40);
    assert_int_equal(bin_of(motion_row(island, "stopped_min", 0), 3), 40);
    assert_int_equal(bin_of(motion_row(island, "weekday", 0), 6), 40);
    assert_int_equal(bin_of(motion_row(island, "start_minute", 0), 17), 40);
    assert_true(json_is_null(motion_row(island, "speed_kmh", 1)));
    assert_true(json_is_null(motion_row(island, "weekday", 1)));
    json_decref(island);
    dpl_cleaned_free(real);
    dpl_cleaned_free(bare);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* ---- attacks and the ledger: for the holder alone ---- */

static const char ATTACK[] =
    "{\"not_private\":true,\"split\":\"files given\",\"shadow\":false,\"unit\":\"trip\","
    "\"epsilon\":1.0,\"delta\":1e-8,\"attacks\":[{\"name\":\"density_ratio\",\"synthetic\":"
    "\"/home/somebody/made.csv\",\"auc\":0.52,\"tpr_at_fpr_1e2\":0.012,\"bound_at_1e2\":0.027,"
    "\"exceeds\":false,\"roc\":[[0,0],[0.5,0.52],[1,1]],\"other\":7}]}";
static const char LEDGER[] = "{\"unit\":\"trip\",\"epsilon\":3.0,\"delta\":3e-8,\"releases\":3,"
                             "\"total_epsilon\":5.0,\"mechanisms\":[{\"name\":\"size\"}]}";

static void attacks_and_the_ledger_are_the_holders_own(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 500);
    struct dpl_cleaned *real = city(run, &grid, 60, 5, 5), *made = city(run, &grid, 50, 5, 6);
    char *directory = test_directory(), *text = certificate(run, false);
    const char *path = test_path(directory, "report.html");
    struct dpl_report_options options = dpl_report_defaults();
    struct dpl_report_set a = {.name = "real.csv", .trips = real},
                          b = {.name = "made.csv", .trips = made, .certificate = text};
    const struct {
        const char *attack, *ledger;
        int real_trips;
    } PARTS[] = {{ATTACK, NULL, 0}, {NULL, LEDGER, 0}, {NULL, NULL, 3}};
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        options.attack = PARTS[i].attack, options.ledger = PARTS[i].ledger;
        options.real_trips_shown = PARTS[i].real_trips;
        assert_int_equal(dpl_report(run, NULL, &b, 1, &options, path), DPL_REFUSED);
        assert_non_null(strstr(dpl_run_message(run), "no place in a public report"));
    }
    options.attack = ATTACK, options.ledger = LEDGER;
    assert_ok(run, dpl_report(run, &a, &b, 1, &options, path));
    json_t *island = island_of(path), *attack = json_object_get(island, "attack"),
           *first = json_array_get(json_object_get(attack, "attacks"), 0),
           *ledger = json_object_get(island, "ledger");
    assert_string_equal(json_string_value(json_object_get(first, "synthetic")), "made.csv");
    assert_int_equal(json_array_size(json_object_get(first, "roc")), 3);
    assert_null(json_object_get(first, "other"));
    assert_near(json_number_value(json_object_get(ledger, "epsilon")), 3, 0);
    assert_null(json_object_get(ledger, "mechanisms"));
    json_decref(island);
    dpl_text_free(text);
    dpl_cleaned_free(real);
    dpl_cleaned_free(made);
    test_directory_remove(directory);
    dpl_run_free(run);
}

static void bad_attacks_are_explained(void **state) {
    (void)state;
    static const struct {
        const char *attack, *ledger, *says;
    } CASES[] = {
        {"{", NULL, "line 1: not JSON"},
        {"{\"epsilon\":1}", NULL, "has no \"attacks\""},
        {"{\"attacks\":[{\"auc\":1}]}", NULL, "attacks[0] has no \"name\""},
        {"{\"attacks\":[{\"name\":\"a\",\"synthetic\":\"b\",\"auc\":\"x\"}]}", NULL,
         "attacks[0].auc is not a number"},
        {NULL, "{\"unit\":\"trip\"}", "is not the JSON of dpl_ledger_summary"},
    };
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 500);
    struct dpl_cleaned *real = city(run, &grid, 60, 5, 5);
    char *directory = test_directory();
    const char *path = test_path(directory, "report.html");
    struct dpl_report_set set = {.name = "real.csv", .trips = real};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct dpl_report_options options = dpl_report_defaults();
        options.attack = CASES[i].attack, options.ledger = CASES[i].ledger;
        assert_int_equal(dpl_report(run, &set, &set, 1, &options, path), DPL_BAD_DATA);
        if (!strstr(dpl_run_message(run), CASES[i].says))
            fail_msg("'%s' does not say '%s'", dpl_run_message(run), CASES[i].says);
    }
    dpl_cleaned_free(real);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* ---- one size of squares ---- */

static int64_t block_in(const char *path, const char *part) {
    json_t *island = island_of(path);
    int64_t block = json_integer_value(json_object_get(json_object_get(island, part), "block"));
    json_decref(island);
    return block;
}

/* Two trips of random cells anywhere in the first `rows` rows for each of n. */
static struct dpl_cleaned *scattered(struct dpl_run *run, const struct dpl_grid *grid, size_t n,
                                     int32_t rows, uint64_t seed) {
    struct dpl_cleaned *trips = NULL;
    assert_ok(run, dpl_cleaned_new(run, grid, &trips));
    for (size_t i = 0; i < n; i++) {
        int32_t cell[4];
        for (size_t v = 0; v < 4; v++)
            cell[v] = (int32_t)(test_random(&seed) % (uint64_t)(rows * grid->columns));
        struct dpl_cleaned_trip trip = {cell, 4, 0, -1, (uint8_t)(i % 24), NULL};
        assert_ok(run, dpl_cleaned_append(run, trips, &trip));
    }
    return trips;
}

/* The real trips go to twice as many cells; the squares stay those of the public report. */
static void real_trips_do_not_change_the_squares(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 200);
    struct dpl_cleaned *real = scattered(run, &grid, 6000, grid.rows, 1),
                       *made = scattered(run, &grid, 6000, grid.rows / 2, 2);
    char *directory = test_directory(), *text = certificate(run, false);
    const char *with = test_path(directory, "with.html");
    struct dpl_report_set a = {.name = "real.csv", .trips = real},
                          b = {.name = "made.csv", .trips = made, .certificate = text};
    struct dpl_report_options options = dpl_report_defaults();
    struct dpl_eval_options eval = dpl_eval_defaults();
    eval.splits = 1, options.eval = &eval; // measures take longest, and are not looked at
    assert_ok(run, dpl_report(run, &a, &b, 1, &options, with));
    int64_t map = block_in(with, "map"), flows = block_in(with, "flows");
    const char *without = test_path(directory, "without.html");
    assert_ok(run, dpl_report(run, NULL, &b, 1, NULL, without));
    assert_true(flows > 1);
    assert_int_equal(block_in(without, "map"), map);
    assert_int_equal(block_in(without, "flows"), flows);
    dpl_text_free(text);
    dpl_cleaned_free(real);
    dpl_cleaned_free(made);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* ---- size, names, files ---- */

static void a_fine_grid_and_many_sets_stay_small(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 20);
    uint64_t seed = 8;
    struct dpl_cleaned *made = NULL;
    char *directory = test_directory(), *text = certificate(run, false);
    const char *path = test_path(directory, "report.html");
    assert_ok(run, dpl_cleaned_new(run, &grid, &made));
    for (size_t i = 0; i < 60000; i++) { // visits all over a grid of a million cells
        int32_t cell[4];
        for (size_t v = 0; v < 4; v++)
            cell[v] = (int32_t)(test_random(&seed) % (uint64_t)dpl_grid_cells(&grid));
        assert_ok(run, dpl_cleaned_append(
                           run, made,
                           &(struct dpl_cleaned_trip){cell, 4, 0, -1, (uint8_t)(i % 24), NULL}));
    }
    struct dpl_report_set set[8];
    for (size_t k = 0; k < 8; k++)
        set[k] = (struct dpl_report_set){.name = "made.csv", .trips = made, .certificate = text};
    assert_ok(run, dpl_report(run, NULL, set, 8, NULL, path));
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_size < 4000000);
    json_t *island = island_of(path);
    assert_true(json_integer_value(json_object_get(json_object_get(island, "map"), "block")) > 1);
    json_decref(island);
    assert_int_equal(dpl_report(run, NULL, set, 9, NULL, path), DPL_USAGE);
    dpl_text_free(text);
    dpl_cleaned_free(made);
    test_directory_remove(directory);
    dpl_run_free(run);
}

static void texts_cannot_leave_the_island(void **state) {
    (void)state;
    static const char NAME[] = "</script><!--<script>alert('x')&\"\\\n\x01 \xc3\xa9 \xff\xc3";
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 500);
    struct dpl_cleaned *made = city(run, &grid, 20, 5, 9);
    char *directory = test_directory(), *text = certificate(run, false);
    const char *path = test_path(directory, "report.html");
    struct dpl_read_facts facts = {.format = "csv", .columns = "trip=<script>"};
    struct dpl_report_set set = {.name = NAME, .trips = made, .facts = &facts, .certificate = text};
    assert_ok(run, dpl_report(run, NULL, &set, 1, NULL, path));
    json_t *island = island_of(path), *shown = json_array_get(json_object_get(island, "sets"), 0);
    assert_string_equal(
        json_string_value(json_object_get(shown, "name")),
        "</script><!--<script>alert('x')&\"\\\n\x01 \xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(json_string_value(json_object_get(shown, "read_columns")), "trip=<script>");
    json_decref(island);
    size_t size, scripts = 0;
    char *page = read_all(path, &size);
    for (const char *at = page; (at = strstr(at, "</script")); at++) scripts++;
    assert_int_equal(scripts, 2); // the island's and the script's
    free(page);
    dpl_text_free(text);
    dpl_cleaned_free(made);
    test_directory_remove(directory);
    dpl_run_free(run);
}

static void an_existing_file_is_refused(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 500), other = city_grid(run, 250);
    struct dpl_cleaned *real = city(run, &grid, 50, 5, 1), *made = city(run, &grid, 50, 5, 2),
                       *finer = city(run, &other, 50, 5, 2);
    char *directory = test_directory();
    const char *path = test_file(directory, "report.html", "mine", 4);
    struct dpl_report_options options = dpl_report_defaults();
    struct dpl_report_set a = {.name = "real.csv", .trips = real},
                          b = {.name = "made.csv", .trips = made},
                          c = {.name = "finer.csv", .trips = finer};
    assert_int_equal(dpl_report(run, &a, &b, 1, &options, path), DPL_USAGE);
    options.overwrite = true; // a report takes the place of a report, and of nothing else
    assert_int_equal(dpl_report(run, &a, &b, 1, &options, path), DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(run), "not a file that this program wrote"));
    assert_int_equal(unlink(path), 0);
    assert_ok(run, dpl_report(run, &a, &b, 1, &options, path));
    assert_ok(run, dpl_report(run, &a, &b, 1, &options, path));
    assert_int_equal(dpl_report(run, &a, &c, 1, &options, path), DPL_USAGE);
    assert_int_equal(dpl_report(run, &a, &b, 0, &options, path), DPL_USAGE);
    dpl_cleaned_free(real);
    dpl_cleaned_free(made);
    dpl_cleaned_free(finer);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* Every allocation that fails ends in an error, and no file. */
static void memory_may_run_out_anywhere(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 1000);
    struct dpl_cleaned *made = city(run, &grid, 20, 3, 10);
    char *directory = test_directory(), *text = certificate(run, false);
    static const char LINE[] =
        "{\"type\":\"LineString\",\"coordinates\":[[11.4,47.95],[11.5,48.0]]}";
    const char *map = test_file(directory, "map.json", LINE, sizeof LINE - 1);
    const char *path = test_path(directory, "report.html");
    struct dpl_report_options options = dpl_report_defaults();
    options.basemap = map;
    struct dpl_report_set set = {.name = "made.csv", .trips = made, .certificate = text};
    struct stat info;
    long failures = 0;
    for (long n = 1;; n++) {
        dpl_run_fail_allocation(run, n);
        enum dpl_status status = dpl_report(run, NULL, &set, 1, &options, path);
        dpl_run_fail_allocation(run, 0);
        if (status == DPL_OK) break;
        assert_int_equal(status, DPL_SYSTEM);
        assert_int_not_equal(stat(path, &info), 0);
        failures++;
    }
    assert_true(failures > 20);
    dpl_text_free(text);
    dpl_cleaned_free(made);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* ---- the backdrop ---- */

static enum dpl_status read_map(struct dpl_run *run, const char *directory,
                                const struct dpl_grid *grid, const char *text,
                                struct basemap *map) {
    return dpl_basemap_read(run, test_file(directory, "map.geojson", text, strlen(text)), grid,
                            map);
}

static void lines_are_cut_at_the_box(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 500);
    const struct dpl_area *area = &grid.area;
    double width_m = (area->east_deg - area->west_deg) * grid.m_per_deg_lon,
           height_m = (area->north_deg - area->south_deg) * grid.m_per_deg_lat;
    char *directory = test_directory(), text[1024];
    struct basemap map = {0};
    // West to east through the middle, out and in again; then a polygon around the whole box, of
    // which nothing is inside.
    double middle = (area->south_deg + area->north_deg) / 2;
    snprintf(text, sizeof text,
             "{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"properties\":{"
             "\"name\":\"<script>\"},\"geometry\":{"
             "\"type\":\"MultiLineString\",\"coordinates\":"
             "[[[%f,%f],[%f,%f],[%f,%f],[%f,%f]]]}},{\"type\":\"Feature\",\"geometry\":null},{"
             "\"type\":\"Feature\",\"geometry\":{\"type\":"
             "\"Polygon\",\"coordinates\":"
             "[[[10,47],[13,47],[13,49],[10,49],[10,47]]]}}]}",
             area->west_deg - 1, middle, area->east_deg + 1, middle, area->east_deg + 1,
             area->north_deg - 0.01, area->west_deg - 1, area->north_deg - 0.01);
    assert_ok(run, read_map(run, directory, &grid, text, &map));
    assert_int_equal(map.n_lines, 2);
    assert_int_equal(map.n_points, 4);
    const double expected[8] = {0,       height_m / 2,
                                width_m, height_m / 2,
                                width_m, height_m - 0.01 * grid.m_per_deg_lat,
                                0,       height_m - 0.01 * grid.m_per_deg_lat};
    for (int i = 0; i < 8; i++) assert_near(map.xy_m[i], expected[i], 0.5);
    dpl_basemap_free(&map);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* The roads of a map are lines, too; a way whose node is missing is cut there. */
static void roads_are_lines(void **state) {
    (void)state;
    static const char *const TAGS[] = {"highway", "primary", NULL};
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 500);
    const double lat_deg[] = {47.95, 47.95, 48.0, 48.0}, lon_deg[] = {11.4, 11.5, 11.5, 12.5};
    const int64_t ref[] = {1, 2, 77, 3, 4};
    const struct pbf_line line = {ref, 5, TAGS};
    const struct pbf_map made = {lat_deg, lon_deg, 4, &line, 1};
    char *directory = test_directory();
    const char *path = test_path(directory, "map.osm.pbf");
    struct basemap map = {0};
    assert_ok(run, dpl_pbf_write(run, &made, path, false));
    assert_ok(run, dpl_basemap_read(run, path, &grid, &map));
    assert_true(map.openstreetmap);
    assert_int_equal(map.n_lines, 2);
    assert_int_equal(map.n_points, 4);
    assert_near(map.xy_m[0], (11.4 - grid.area.west_deg) * grid.m_per_deg_lon, 0.1);
    assert_near(map.xy_m[6], (grid.area.east_deg - grid.area.west_deg) * grid.m_per_deg_lon, 0.1);
    dpl_basemap_free(&map);
    assert_int_equal(
        dpl_basemap_read(run, test_file(directory, "bad.osm.pbf", "{}", 2), &grid, &map),
        DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "this is JSON"));
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* What is left is nowhere further from the line than the tolerance, and a straight line keeps its
 * ends alone. */
static void lines_are_thinned(void **state) {
    (void)state;
    enum { N = 20000 };
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 500);
    char *directory = test_directory(), *text = malloc(N * 40 + 200);
    struct basemap map = {0};
    size_t used = (size_t)sprintf(text, "{\"type\":\"LineString\",\"coordinates\":[");
    for (int i = 0; i < N; i++)
        used += (size_t)sprintf(text + used, "%s[%.7f,%.7f]", i ? "," : "", 11.4 + 0.2 * i / N,
                                47.95 + 0.02 * sin(40.0 * i / N));
    strcpy(text + used, "]}");
    assert_ok(run, read_map(run, directory, &grid, text, &map));
    assert_int_equal(map.n_lines, 1);
    assert_in_range(map.n_points, 50, 2000);
    double tolerance_m = 28000 / 4000.0 + 1;
    for (int i = 0; i < N; i += 37) {
        double x = (11.4 + 0.2 * i / N - grid.area.west_deg) * grid.m_per_deg_lon,
               y = (47.95 + 0.02 * sin(40.0 * i / N) - grid.area.south_deg) * grid.m_per_deg_lat,
               best = INFINITY;
        for (size_t j = 0; j + 1 < map.n_points; j++) {
            const double *a = map.xy_m + 2 * j, *b = a + 2;
            double dx = b[0] - a[0], dy = b[1] - a[1],
                   t = fmin(1, fmax(0, ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy)));
            best = fmin(best, hypot(x - a[0] - t * dx, y - a[1] - t * dy));
        }
        assert_true(best <= tolerance_m);
    }
    dpl_basemap_free(&map);
    used = (size_t)sprintf(text, "{\"type\":\"LineString\",\"coordinates\":[");
    for (int i = 0; i < 1000; i++)
        used += (size_t)sprintf(text + used, "%s[%.7f,48]", i ? "," : "", 11.4 + 0.0002 * i);
    strcpy(text + used, "]}");
    assert_ok(run, read_map(run, directory, &grid, text, &map));
    assert_int_equal(map.n_points, 2);
    dpl_basemap_free(&map);
    free(text);
    test_directory_remove(directory);
    dpl_run_free(run);
}

static void bad_backdrops_are_explained(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } CASES[] = {
        {"{", "not JSON"},
        {"[]", "not an object with a \"type\""},
        {"{\"type\":\"Circle\"}", "none of GeoJSON's"},
        {"{\"type\":\"FeatureCollection\"}", "features: there is no such array"},
        {"{\"type\":\"LineString\",\"coordinates\":[[1,2]]}",
         "coordinates: a line is not an array of two or more"},
        {"{\"type\":\"LineString\",\"coordinates\":[[1,2],[3]]}",
         "coordinates[1]: a position is not"},
        {"{\"type\":\"LineString\",\"coordinates\":[[1,2],[3,\"x\"]]}",
         "coordinates[1]: a position is not"},
        {"{\"type\":\"LineString\",\"coordinates\":[[4000000,5000000],[4000100,5000000]]}",
         "coordinates[0]: a position is not in degrees"},
        {"{\"type\":\"MultiPolygon\",\"coordinates\":[[[1,2],[3,4]]]}",
         "coordinates[0][0][0]: a position is not"},
        {"{\"type\":\"Polygon\",\"coordinates\":7}", "not as deep"},
        {"{\"type\":\"Point\",\"coordinates\":[11.5,48]}", "no lines or polygons"},
        {"{\"type\":\"LineString\",\"coordinates\":[[1,2],[3,4]]}", "none of its 1 lines crosses"},
        {"{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"geometry\":{"
         "\"type\":\"GeometryCollection\",\"geometries\":"
         "[3]}}]}",
         "features[0].geometry.geometries[0]: not an object"},
    };
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = city_grid(run, 500);
    char *directory = test_directory();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct basemap map = {0};
        dpl_run_begin(run);
        assert_int_equal(read_map(run, directory, &grid, CASES[i].text, &map), DPL_BAD_DATA);
        if (!strstr(dpl_run_message(run), CASES[i].says))
            fail_msg("'%s' does not say '%s'", dpl_run_message(run), CASES[i].says);
        assert_null(map.xy_m);
    }
    struct basemap map = {0};
    dpl_run_begin(run);
    assert_int_equal(dpl_basemap_read(run, "nowhere.geojson", &grid, &map), DPL_BAD_DATA);
    test_directory_remove(directory);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_trips),
        cmocka_unit_test(flows_are_those_of_the_trips),
        cmocka_unit_test(flows_go_between_districts),
        cmocka_unit_test(districts_must_be_of_the_region),
        cmocka_unit_test(patterns_are_those_of_the_trips),
        cmocka_unit_test(a_public_report_needs_certificates),
        cmocka_unit_test(no_real_trip_is_drawn_unless_asked_for),
        cmocka_unit_test(motion_is_that_of_the_points),
        cmocka_unit_test(attacks_and_the_ledger_are_the_holders_own),
        cmocka_unit_test(bad_attacks_are_explained),
        cmocka_unit_test(real_trips_do_not_change_the_squares),
        cmocka_unit_test(a_fine_grid_and_many_sets_stay_small),
        cmocka_unit_test(texts_cannot_leave_the_island),
        cmocka_unit_test(an_existing_file_is_refused),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(lines_are_cut_at_the_box),
        cmocka_unit_test(roads_are_lines),
        cmocka_unit_test(lines_are_thinned),
        cmocka_unit_test(bad_backdrops_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
