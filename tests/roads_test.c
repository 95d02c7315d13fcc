/* Roads: rules, the network, distances, routes and times, each against the slow and obvious way on
 * small random maps, and on the simulated city's streets. The reader has a test of its own
 * (roads_reader_test.py). */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleaned.h"
#include "evaluate/table.h"
#include "roads/gcj.h"
#include "roads/pbf_write.h"
#include "roads/route_inner.h"
#include "roads/rules.h"
#include "roads/seconds.h"

enum { SIDE = 7, NODES = SIDE * SIDE, LINES_MAX = 2 * SIDE * SIDE, BINS = 4 };

/* ---- rules ---- */

static struct roads_use use_of(enum dpl_travel travel, const char *const *words) {
    struct pbf_tag tag[8];
    size_t n = 0;
    for (; words[2 * n]; n++) {
        tag[n].key = (struct pbf_text){words[2 * n], strlen(words[2 * n])};
        tag[n].value = (struct pbf_text){words[2 * n + 1], strlen(words[2 * n + 1])};
    }
    struct pbf_way way = {.tag = tag, .n_tags = n};
    return dpl_roads_rule(&way, travel);
}

static const struct {
    enum dpl_travel travel;
    const char *words[7];
    int directions;
    double kmh;
} CASES[] = {
    {DPL_TRAVEL_DRIVE, {"highway", "residential"}, ROADS_BOTH, 30},
    {DPL_TRAVEL_DRIVE, {"highway", "residential", "oneway", "yes"}, ROADS_ALONG, 30},
    {DPL_TRAVEL_DRIVE, {"highway", "residential", "oneway", "-1"}, ROADS_AGAINST, 30},
    {DPL_TRAVEL_DRIVE, {"highway", "primary", "junction", "roundabout"}, ROADS_ALONG, 60},
    {DPL_TRAVEL_DRIVE, {"highway", "motorway"}, ROADS_ALONG, 100},
    {DPL_TRAVEL_DRIVE, {"highway", "motorway", "oneway", "no"}, ROADS_BOTH, 100},
    {DPL_TRAVEL_DRIVE, {"highway", "primary", "maxspeed", "30 mph"}, ROADS_BOTH, 48.28032},
    {DPL_TRAVEL_DRIVE, {"highway", "primary", "maxspeed", "70"}, ROADS_BOTH, 70},
    {DPL_TRAVEL_DRIVE, {"highway", "primary", "maxspeed", "RU:urban"}, ROADS_BOTH, 60},
    {DPL_TRAVEL_DRIVE, {"highway", "primary", "maxspeed", "9999999"}, ROADS_BOTH, 60},
    {DPL_TRAVEL_DRIVE, {"highway", "service", "access", "private"}, 0, 0},
    {DPL_TRAVEL_DRIVE, {"highway", "service", "access", "no", "motorcar", "yes"}, ROADS_BOTH, 15},
    {DPL_TRAVEL_DRIVE, {"highway", "footway"}, 0, 0},
    {DPL_TRAVEL_DRIVE, {"highway", "footway", "motorcar", "yes"}, 0, 0},
    {DPL_TRAVEL_DRIVE, {"highway", "pedestrian", "area", "yes"}, 0, 0},
    {DPL_TRAVEL_DRIVE, {"highway", "proposed"}, 0, 0},
    {DPL_TRAVEL_DRIVE, {"building", "yes"}, 0, 0},
    {DPL_TRAVEL_BIKE, {"highway", "motorway"}, 0, 0},
    {DPL_TRAVEL_BIKE, {"highway", "primary", "maxspeed", "70"}, ROADS_BOTH, 18},
    {DPL_TRAVEL_BIKE, {"highway", "footway"}, 0, 0},
    {DPL_TRAVEL_BIKE, {"highway", "footway", "bicycle", "yes"}, ROADS_BOTH, 10},
    {DPL_TRAVEL_BIKE, {"highway", "residential", "oneway", "yes"}, ROADS_ALONG, 18},
    {DPL_TRAVEL_BIKE,
     {"highway", "residential", "oneway", "yes", "oneway:bicycle", "no"},
     ROADS_BOTH,
     18},
    {DPL_TRAVEL_BIKE,
     {"highway", "residential", "oneway", "yes", "cycleway", "opposite_lane"},
     ROADS_BOTH,
     18},
    {DPL_TRAVEL_WALK, {"highway", "residential", "oneway", "yes"}, ROADS_BOTH, 5},
    {DPL_TRAVEL_WALK, {"highway", "steps"}, ROADS_BOTH, 3},
    {DPL_TRAVEL_WALK, {"highway", "footway", "foot", "no"}, 0, 0},
};

static void rules_of_the_road(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct roads_use use = use_of(CASES[i].travel, CASES[i].words);
        if (use.directions != CASES[i].directions ||
            fabs(use.speed_mps * 3.6 - CASES[i].kmh) > 1e-9)
            fail_msg("case %zu: directions %d, %.2f km/h", i, use.directions, use.speed_mps * 3.6);
    }
}

/* ---- a small random map ---- */

static const char *const TWO_WAYS[] = {"highway", "residential", NULL};
static const char *const ONE_WAY[] = {"highway", "residential", "oneway", "yes", NULL};
static const char *const BACKWARDS[] = {"highway", "tertiary", "oneway", "-1", NULL};

struct town {
    struct dpl_grid grid;
    double lat_deg[NODES], lon_deg[NODES], x_m[NODES], y_m[NODES];
    int64_t ref[LINES_MAX][3];
    struct pbf_line line[LINES_MAX];
    int directions[LINES_MAX];
    size_t n_lines;
};

static struct dpl_grid small_grid(struct dpl_run *run, double cell_m) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    area.south_deg = 48, area.west_deg = 11, area.north_deg = 48.018, area.east_deg = 11.027;
    area.cell_m = cell_m;
    snprintf(area.zone, sizeof area.zone, "UTC");
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    return grid;
}

static void add_line(struct town *t, int64_t from, int64_t to, uint64_t choice) {
    size_t n = t->n_lines++;
    const char *const *tags = choice % 4 == 0 ? ONE_WAY : choice % 8 == 1 ? BACKWARDS : TWO_WAYS;
    t->ref[n][0] = from + 1, t->ref[n][1] = to + 1;
    t->line[n] = (struct pbf_line){t->ref[n], 2, tags};
    t->directions[n] = tags == ONE_WAY     ? ROADS_ALONG
                       : tags == BACKWARDS ? ROADS_AGAINST
                                           : ROADS_BOTH;
}

/* A jittered lattice with gaps and one-ways. */
static void make_town(struct dpl_run *run, uint64_t seed, double cell_m, struct town *t) {
    *t = (struct town){.grid = small_grid(run, cell_m)};
    for (int i = 0; i < NODES; i++) {
        t->x_m[i] = 150 + 270 * (i % SIDE) + 100 * test_uniform(&seed);
        t->y_m[i] = 150 + 270 * (i / SIDE) + 100 * test_uniform(&seed);
        // As the file holds them.
        t->lat_deg[i] = round((48 + t->y_m[i] / t->grid.m_per_deg_lat) * 1e7) * 1e-7;
        t->lon_deg[i] = round((11 + t->x_m[i] / t->grid.m_per_deg_lon) * 1e7) * 1e-7;
        t->x_m[i] = (t->lon_deg[i] - 11) * t->grid.m_per_deg_lon;
        t->y_m[i] = (t->lat_deg[i] - 48) * t->grid.m_per_deg_lat;
    }
    for (int i = 0; i < NODES; i++)
        for (int up = 0; up < 2; up++) {
            if (up ? i / SIDE == SIDE - 1 : i % SIDE == SIDE - 1) continue;
            if (test_uniform(&seed) < 0.15) continue;
            add_line(t, i, up ? i + SIDE : i + 1, test_random(&seed));
        }
}

static struct dpl_roads *read_town(struct dpl_run *run, const struct town *t) {
    char *folder = test_directory();
    const char *path = test_path(folder, "town.osm.pbf");
    struct pbf_map map = {t->lat_deg, t->lon_deg, NODES, t->line, t->n_lines};
    struct dpl_roads *roads = NULL;
    assert_ok(run, dpl_pbf_write(run, &map, path, false));
    assert_ok(run, dpl_roads_read(run, path, &t->grid, DPL_TRAVEL_DRIVE, &roads));
    test_directory_remove(folder);
    return roads;
}

/* ---- the network ---- */

/* reach[a][b]: whether a path leads from a to b. */
static void all_reach(const struct town *t, bool reach[NODES][NODES]) {
    memset(reach, 0, NODES * sizeof *reach);
    for (int i = 0; i < NODES; i++) reach[i][i] = true;
    for (size_t l = 0; l < t->n_lines; l++) {
        int64_t a = t->ref[l][0] - 1, b = t->ref[l][1] - 1;
        if (t->directions[l] & ROADS_ALONG) reach[a][b] = true;
        if (t->directions[l] & ROADS_AGAINST) reach[b][a] = true;
    }
    for (int k = 0; k < NODES; k++)
        for (int i = 0; i < NODES; i++)
            for (int j = 0; reach[i][k] && j < NODES; j++) reach[i][j] |= reach[k][j];
}

static double line_m(const struct town *t, size_t l) {
    int64_t a = t->ref[l][0] - 1, b = t->ref[l][1] - 1;
    return hypot(t->x_m[a] - t->x_m[b], t->y_m[a] - t->y_m[b]);
}

/* Kilometres of the strongly connected part with most of them, by the table of what reaches what.
 */
static double connected_km(const struct town *t) {
    static bool reach[NODES][NODES];
    double most = 0;
    all_reach(t, reach);
    for (int root = 0; root < NODES; root++) {
        double sum = 0;
        for (size_t l = 0; l < t->n_lines; l++) {
            int64_t a = t->ref[l][0] - 1, b = t->ref[l][1] - 1;
            if (reach[root][a] && reach[a][root] && reach[root][b] && reach[b][root])
                sum += line_m(t, l) / 1000;
        }
        most = fmax(most, sum);
    }
    return most;
}

static void pieces_lie_in_their_cells(const struct dpl_roads *r) {
    double cell_m = r->grid.area.cell_m;
    for (size_t p = 0; p < r->n_pieces; p++) {
        double left = r->piece[p].cell % r->grid.columns * cell_m,
               bottom = r->piece[p].cell / r->grid.columns * cell_m;
        assert_true(roads_points(r, p) >= 2);
        for (uint32_t i = r->piece[p].point; i < r->piece[p + 1].point; i++) {
            assert_true(r->xy_m[2 * i] >= left - 0.01 && r->xy_m[2 * i] <= left + cell_m + 0.01);
            assert_true(r->xy_m[2 * i + 1] >= bottom - 0.01 &&
                        r->xy_m[2 * i + 1] <= bottom + cell_m + 0.01);
        }
    }
    for (int32_t c = 0; c < dpl_grid_cells(&r->grid); c++)
        for (uint32_t p = r->cell_first[c]; p < r->cell_first[c + 1]; p++) {
            assert_int_equal(r->piece[p].cell, c);
            assert_int_equal(r->piece[p].connected, p < r->cell_connected[c]);
        }
}

static void network_is_the_map(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct town t;
    for (uint64_t seed = 1; seed <= test_soak(20); seed++) {
        make_town(run, seed, seed % 2 ? 150 : 500, &t);
        struct dpl_roads *r = read_town(run, &t);
        double km = 0, weight = 0;
        for (size_t l = 0; l < t.n_lines; l++) km += line_m(&t, l) / 1000;
        for (int32_t c = 0; c < dpl_grid_cells(&t.grid); c++) weight += r->cell_weight[c];
        assert_int_equal(r->facts.ways, t.n_lines);
        assert_near(r->facts.km, km, 1e-4);
        assert_near(r->facts.km_connected, connected_km(&t), 1e-4);
        assert_true(weight >= km * 1000 * 0.999 && weight <= 2001 * km);
        pieces_lie_in_their_cells(r);
        dpl_roads_free(r);
    }
    dpl_run_free(run);
}

static double distance_by_hand(const struct town *t, double x, double y) {
    double least = INFINITY;
    for (size_t l = 0; l < t->n_lines; l++) {
        int64_t a = t->ref[l][0] - 1, b = t->ref[l][1] - 1;
        double dx = t->x_m[b] - t->x_m[a], dy = t->y_m[b] - t->y_m[a];
        double u = ((x - t->x_m[a]) * dx + (y - t->y_m[a]) * dy) / (dx * dx + dy * dy);
        u = fmin(1, fmax(0, u));
        least = fmin(least, hypot(x - t->x_m[a] - u * dx, y - t->y_m[a] - u * dy));
    }
    return least;
}

static void distance_is_the_least(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct town t;
    uint64_t seed = 5;
    make_town(run, 3, 500, &t);
    struct dpl_roads *r = read_town(run, &t);
    for (size_t i = 0; i < test_soak(3000); i++) {
        // A third of them outside the box.
        double x = -500 + 3500 * test_uniform(&seed), y = -500 + 3500 * test_uniform(&seed);
        double got =
            dpl_roads_distance_m(r, 48 + y / t.grid.m_per_deg_lat, 11 + x / t.grid.m_per_deg_lon);
        assert_near(got, distance_by_hand(&t, x, y), 0.01);
    }
    assert_true(isinf(dpl_roads_distance_m(r, NAN, 11)));
    dpl_roads_free(r);
    dpl_run_free(run);
}

/* What eval --roads says of trips: the shares of their points by hand. */
static void shares_are_of_distances(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    static struct town t;
    struct dpl_cleaned *trips = NULL;
    uint64_t seed = 6;
    double near[2] = {0, 0}, figures[2];
    make_town(run, 3, 500, &t);
    struct dpl_roads *r = read_town(run, &t);
    assert_ok(run, dpl_cleaned_new(run, &t.grid, &trips));
    for (size_t i = 0; i < 500; i++) {
        struct dpl_position at[2];
        for (size_t v = 0; v < 2; v++) {
            at[v] = (struct dpl_position){(float)(2000 * test_uniform(&seed)),
                                          (float)(2000 * test_uniform(&seed))};
            double away_m = distance_by_hand(&t, (double)at[v].x_m, (double)at[v].y_m);
            near[0] += away_m <= 15, near[1] += away_m <= 30;
        }
        struct dpl_cleaned_trip trip = {.cell = (int32_t[]){0, 0}, .n_visits = 2, .position = at};
        assert_ok(run, dpl_cleaned_append(run, trips, &trip));
    }
    struct dpl_set set = {.trips = trips, .area = &t.grid.area, .roads = r};
    assert_ok(run, dpl_family_set(run, DPL_FAMILY_ROADS, &set, figures));
    assert_true(near[0] > 20 && near[1] > near[0] && near[1] < 900);
    for (size_t i = 0; i < 2; i++) assert_near(figures[i], near[i] / 1000, 1e-12);
    dpl_cleaned_free(trips);
    dpl_roads_free(r);
    dpl_run_free(run);
}

/* ---- maps that are not as they should be ---- */

struct heard {
    char text[512];
};

static void hear(void *user, const char *sentence) {
    snprintf(((struct heard *)user)->text, sizeof((struct heard *)user)->text, "%s", sentence);
}

/* Reads ways with given refs over four nodes at the corners of a square. */
static enum dpl_status read_ways(struct dpl_run *run, const struct pbf_line *line, size_t n,
                                 double north_deg, struct dpl_roads **roads) {
    struct dpl_grid grid = small_grid(run, 500);
    double lat_deg[4] = {.002, .002, .004, .004}, lon_deg[4] = {11.002, 11.004, 11.004, 11.002};
    char *folder = test_directory();
    const char *path = test_path(folder, "odd.osm.pbf");
    for (int i = 0; i < 4; i++) lat_deg[i] += north_deg;
    struct pbf_map map = {lat_deg, lon_deg, 4, line, n};
    assert_ok(run, dpl_pbf_write(run, &map, path, false));
    enum dpl_status status = dpl_roads_read(run, path, &grid, DPL_TRAVEL_DRIVE, roads);
    test_directory_remove(folder);
    return status;
}

static void odd_maps(void **state) {
    (void)state;
    struct heard heard = {""};
    struct dpl_run_options options = dpl_run_defaults();
    options.threads = 1, options.on_note = hear, options.user = &heard;
    struct dpl_run *run = dpl_run_new(&options);
    struct dpl_roads *r = NULL;
    const int64_t ring[] = {1, 2, 3, 4, 1}, gap[] = {1, 2, 99, 3, 4}, same[] = {1, 1, 1, 2, 2};
    const struct pbf_line ring_line = {ring, 5, ONE_WAY}, gap_line = {gap, 5, TWO_WAYS},
                          same_line = {same, 5, TWO_WAYS}, lone = {gap + 2, 1, TWO_WAYS};
    // A ring of one way is one strongly connected part.
    assert_ok(run, read_ways(run, &ring_line, 1, 48, &r));
    assert_int_equal(r->facts.components, 1);
    assert_near(r->facts.km_connected, r->facts.km, 1e-9);
    assert_int_equal(r->n_streets, 1);
    dpl_roads_free(r);
    // A missing node cuts the way, and is told.
    assert_ok(run, read_ways(run, &gap_line, 1, 48, &r));
    assert_int_equal(r->facts.nodes_missing, 1);
    assert_int_equal(r->n_streets, 2);
    assert_non_null(strstr(heard.text, "1 nodes of roads are not in the file"));
    dpl_roads_free(r);
    // A node after itself is no road.
    assert_ok(run, read_ways(run, &same_line, 1, 48, &r));
    assert_int_equal(r->n_pieces, 1);
    dpl_roads_free(r);
    r = NULL;
    assert_int_equal(read_ways(run, &lone, 1, 48, &r), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "no road in it that one may use to drive"));
    assert_int_equal(read_ways(run, &ring_line, 1, 47, &r), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "none of its 1 roads runs through"));
    assert_null(r);
    dpl_run_free(run);
}

/* ---- plain .osm ---- */

static enum dpl_status read_xml(struct dpl_run *run, const char *text, size_t length,
                                const struct dpl_grid *grid, struct dpl_roads **roads) {
    char *folder = test_directory();
    const char *path = test_file(folder, "town.osm", text, length);
    enum dpl_status status = dpl_roads_read(run, path, grid, DPL_TRAVEL_DRIVE, roads);
    test_directory_remove(folder);
    return status;
}

/* The town as XML, ways first, in both kinds of quotes, with what else such files hold. */
static char *town_as_xml(const struct town *t, size_t *length) {
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    assert_non_null(out);
    fprintf(out, "<?xml version='1.0' encoding='UTF-8'?>\n<osm version=\"0.6\">\n"
                 "<!-- <way id='3'> a comment with > and <node in it -->\n"
                 "<bounds minlat=\"47\" minlon=\"10\" maxlat=\"49\" maxlon=\"12\"/>\n");
    for (size_t l = 0; l < t->n_lines; l++) {
        fprintf(out, "<way id='%zu' visible='true'>\n", l + 1);
        for (size_t i = 0; i < t->line[l].n_refs; i++)
            fprintf(out, " <nd ref=\"%lld\"/>\n", (long long)t->line[l].ref[i]);
        for (const char *const *tag = t->line[l].tags; *tag; tag += 2)
            if (l % 2)
                fprintf(out, " <tag k='%s' v='%s'/>\n", tag[0], tag[1]);
            else
                fprintf(out, " <tag v=\"%s\" k=\"%s\" />\n", tag[1], tag[0]);
        fprintf(out, " <tag k=\"name\" v=\"a &gt; b &amp; 'c'>d\"/>\n</way>\n");
    }
    for (int i = 0; i < NODES; i++)
        fprintf(out, "<node lon=\"%.7f\" id=\"%d\" lat=\"%.7f\">%s\n", t->lon_deg[i], i + 1,
                t->lat_deg[i], "<tag k='highway' v='stop'/></node>");
    fprintf(out, "<relation id=\"1\"><member type=\"way\" ref=\"1\"/></relation>\n</osm>\n");
    assert_int_equal(fclose(out), 0);
    return text;
}

static void xml_is_the_same_map(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct town t;
    for (uint64_t map = 1; map <= 5; map++) {
        make_town(run, map, 400, &t);
        size_t length;
        struct dpl_roads *a = read_town(run, &t), *b = NULL;
        char *text = town_as_xml(&t, &length);
        assert_ok(run, read_xml(run, text, length, &t.grid, &b));
        assert_int_equal(a->n_pieces, b->n_pieces);
        assert_int_equal(a->n_nodes, b->n_nodes);
        assert_int_equal(a->n_arcs, b->n_arcs);
        assert_near(a->facts.km_connected, b->facts.km_connected, 1e-9);
        for (size_t i = 0; i < 2 * a->n_points; i++) assert_near(a->xy_m[i], b->xy_m[i], 1e-2);
        dpl_roads_free(a), dpl_roads_free(b);
        free(text);
    }
    dpl_run_free(run);
}

/* Cut anywhere, or wrong in one place: a sentence. */
static void damaged_xml_gives_sentences(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } WRONG[] = {
        {"<html><body></body></html>", "not OpenStreetMap's"},
        {"<osm><way id='1'><nd ref='x'/></way></osm>", "an id is not a whole number"},
        {"<osm><way id='1'><way id='2'></way></osm>", "a way begins within a way"},
        {"<osm></way></osm>", "a way ends that has not begun"},
        {"<osm><way id='99999999999999999999'></way></osm>", "an id is not a whole number"},
        {"<osm><way id='1'><nd ref='1'/><nd ref='2'/><tag k='highway' v='primary'/></way>"
         "<node id='1' lat='700' lon='11'/></osm>",
         "latitude or longitude is none"},
        {"<osm><way id='1'></way></osm>", "there is no road in it"},
    };
    struct dpl_run *run = test_run(1);
    static struct town t;
    struct dpl_roads *r = NULL;
    make_town(run, 1, 400, &t);
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        assert_int_equal(read_xml(run, WRONG[i].text, strlen(WRONG[i].text), &t.grid, &r),
                         DPL_BAD_DATA);
        if (!strstr(dpl_run_message(run), WRONG[i].says)) fail_msg("%s", dpl_run_message(run));
    }
    size_t length;
    char *text = town_as_xml(&t, &length);
    for (size_t cut = 1; cut < length - 8; cut += 997) {
        assert_int_equal(read_xml(run, text, cut, &t.grid, &r), DPL_BAD_DATA);
        assert_true(dpl_run_message(run)[0]);
    }
    // Whole elements, all of them, but the last: only the missing end tells.
    const char *end = strstr(text, "</osm>");
    assert_non_null(end);
    assert_int_equal(read_xml(run, text, (size_t)(end - text), &t.grid, &r), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "the file has no end"));
    char *endless = malloc(3 << 20);
    assert_non_null(endless);
    memset(endless, 'a', 3 << 20);
    memcpy(endless, "<osm><way ", 10);
    assert_int_equal(read_xml(run, endless, 3 << 20, &t.grid, &r), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "longer than 1 MiB"));
    assert_null(r);
    free(endless), free(text);
    dpl_run_free(run);
}

/* A road across the box is cut at its edges; what lies outside is left out. */
static void roads_end_at_the_box(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = small_grid(run, 500);
    const double lat_deg[] = {48.009, 48.009}, lon_deg[] = {10.9, 11.1};
    const int64_t ref[] = {1, 2};
    const struct pbf_line line = {ref, 2, TWO_WAYS};
    struct pbf_map map = {lat_deg, lon_deg, 2, &line, 1};
    struct dpl_roads *r = NULL;
    char *folder = test_directory();
    const char *path = test_path(folder, "long.osm.pbf");
    assert_ok(run, dpl_pbf_write(run, &map, path, false));
    assert_ok(run, dpl_roads_read(run, path, &grid, DPL_TRAVEL_DRIVE, &r));
    assert_near(r->facts.km, 0.027 * grid.m_per_deg_lon / 1000, 1e-6);
    assert_int_equal(r->n_pieces, grid.columns);
    dpl_roads_free(r);
    test_directory_remove(folder);
    dpl_run_free(run);
}

static void no_memory(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct town t;
    make_town(run, 1, 500, &t);
    char *folder = test_directory();
    const char *path = test_path(folder, "town.osm.pbf");
    struct pbf_map map = {t.lat_deg, t.lon_deg, NODES, t.line, t.n_lines};
    enum dpl_status status = DPL_SYSTEM;
    for (long n = 1; status != DPL_OK; n++) {
        dpl_run_begin(run);
        dpl_run_fail_allocation(run, n);
        status = dpl_pbf_write(run, &map, path, true);
        assert_true(status == DPL_OK || status == DPL_SYSTEM);
    }
    status = DPL_SYSTEM;
    for (long n = 1; status != DPL_OK; n++) {
        struct dpl_roads *r = NULL;
        dpl_run_fail_allocation(run, n);
        status = dpl_roads_read(run, path, &t.grid, DPL_TRAVEL_DRIVE, &r);
        assert_true(status == DPL_OK ? r != NULL : r == NULL && status == DPL_SYSTEM);
        assert_true(status == DPL_OK || dpl_run_message(run)[0]);
        dpl_roads_free(r);
    }
    test_directory_remove(folder);
    dpl_run_free(run);
}

/* ---- routes ---- */

static const float UPPER[BINS] = {2, 6, 12, 1000};
static const float FLAT[BINS * BINS];

static struct route_motion motion_with(double limit_mps) {
    return (struct route_motion){BINS, UPPER, FLAT, FLAT, FLAT, limit_mps, 60, NULL};
}

/* A wandering row of cells: stays, steps to neighbours, now and then a jump, seldom to a cell
 * without a road. */
static size_t draw_cells(const struct dpl_roads *r, uint64_t *seed, int32_t *cell, size_t most) {
    const struct dpl_grid *grid = &r->grid;
    size_t n = 1 + test_random(seed) % most;
    cell[0] = r->piece[test_random(seed) % r->n_pieces].cell;
    for (size_t k = 1; k < n;) {
        uint64_t reach = test_uniform(seed) < 0.1 ? 3 : 1;
        int32_t x = cell[k - 1] % grid->columns, y = cell[k - 1] / grid->columns;
        x += (int32_t)(test_random(seed) % (2 * reach + 1)) - (int32_t)reach;
        y += (int32_t)(test_random(seed) % (2 * reach + 1)) - (int32_t)reach;
        if (x < 0 || y < 0 || x >= grid->columns || y >= grid->rows) continue;
        cell[k] = y * grid->columns + x;
        bool road = r->cell_first[cell[k]] < r->cell_connected[cell[k]];
        k += road || test_uniform(seed) < 0.05;
    }
    return n;
}

/* Whether the map lets one drive from p to q, both on one of its lines. */
static bool allowed_on_map(const struct town *t, const float *p, const float *q) {
    for (size_t l = 0; l < t->n_lines; l++) {
        int64_t a = t->ref[l][0] - 1, b = t->ref[l][1] - 1;
        double dx = t->x_m[b] - t->x_m[a], dy = t->y_m[b] - t->y_m[a], length = hypot(dx, dy);
        double off_p = fabs(dx * (p[1] - t->y_m[a]) - dy * (p[0] - t->x_m[a])) / length,
               off_q = fabs(dx * (q[1] - t->y_m[a]) - dy * (q[0] - t->x_m[a])) / length;
        double at_p = (dx * (p[0] - t->x_m[a]) + dy * (p[1] - t->y_m[a])) / length,
               at_q = (dx * (q[0] - t->x_m[a]) + dy * (q[1] - t->y_m[a])) / length;
        if (off_p > 0.01 || off_q > 0.01 || fmin(at_p, at_q) < -0.01 ||
            fmax(at_p, at_q) > length + 0.01)
            continue;
        if (t->directions[l] & (at_q > at_p ? ROADS_ALONG : ROADS_AGAINST)) return true;
    }
    return false;
}

static void check_legal(const struct town *t, const struct dpl_roads *r,
                        const struct route *route) {
    for (size_t i = 0; i < route->n_arcs; i++) {
        int32_t arc = route->arc[i];
        if (arc < 0) continue;
        const struct roads_piece *piece = &r->piece[arc >> 1];
        assert_true(piece->connected && (piece->directions >> (arc & 1) & 1));
        for (uint32_t k = piece->point; k + 1 < r->piece[(arc >> 1) + 1].point; k++) {
            const float *p = r->xy_m + 2 * k, *q = p + 2;
            if (hypot(p[0] - q[0], p[1] - q[1]) > 0.1)
                assert_true(arc & 1 ? allowed_on_map(t, q, p) : allowed_on_map(t, p, q));
        }
        if (i + 1 < route->n_arcs && route->arc[i + 1] >= 0 && route->arc[i + 1] != (arc ^ 1)) {
            int32_t next = route->arc[i + 1];
            assert_int_equal(piece->node[1 - (arc & 1)], r->piece[next >> 1].node[next & 1]);
        }
    }
}

/* Ascending along the path, within the limit; *inside counts visits in their cells. */
static void check_times(const struct dpl_grid *grid, const struct route *route, const int32_t *cell,
                        double limit_m, size_t *inside) {
    assert_true(route->slot_m[0] >= 0);
    assert_true(route->slot_m[route->n - 1] <= route->at_m[route->n_points - 1] + 1e-6);
    for (size_t k = 0; k < route->n; k++) {
        double x_m, y_m, step_m = k ? route->slot_m[k] - route->slot_m[k - 1] : 0;
        assert_true(step_m >= 0 && (step_m <= limit_m + 1e-6 || route->fit == ROUTE_OVER_LIMIT));
        dpl_route_at(route, route->slot_m[k], &x_m, &y_m);
        int32_t at = dpl_grid_cell_at(grid, grid->area.south_deg + y_m / grid->m_per_deg_lat,
                                      grid->area.west_deg + x_m / grid->m_per_deg_lon);
        *inside += at == cell[k];
        if (route->fit == ROUTE_WITHIN) assert_int_equal(at, cell[k]);
        if (route->fit > ROUTE_WIDENED) continue;
        assert_true(abs(at % grid->columns - cell[k] % grid->columns) <= 1);
        assert_true(abs(at / grid->columns - cell[k] / grid->columns) <= 1);
    }
}

/* The line between points of the path is as long as it says, and never backwards in time. */
static void check_line(const struct route *route) {
    for (size_t i = 1; i < route->n_points; i++)
        assert_near(route->at_m[i] - route->at_m[i - 1],
                    hypot(route->x_m[i] - route->x_m[i - 1], route->y_m[i] - route->y_m[i - 1]),
                    1e-6);
    double before_m = 0;
    for (int t_s = 0; t_s <= 60 * (int)(route->n - 1); t_s += 7) {
        double m = dpl_route_metres_at(route, 60, t_s);
        assert_true(m >= before_m - 1e-9);
        before_m = m;
    }
    for (size_t k = 0; k < route->n; k++)
        assert_near(dpl_route_metres_at(route, 60, 60.0 * (double)k), route->slot_m[k], 1e-6);
}

static struct dpl_position anywhere(const struct dpl_grid *grid, int32_t cell, uint64_t *seed) {
    double x = cell % grid->columns + test_uniform(seed),
           y = cell / grid->columns + test_uniform(seed);
    return (struct dpl_position){(float)(x * grid->area.cell_m), (float)(y * grid->area.cell_m)};
}

static void routes_are_legal(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct town t;
    uint64_t seed = 77;
    int32_t cell[30];
    struct dpl_position guide[30];
    size_t by_road = 0, trips = 0;
    for (uint64_t map = 1; map <= test_soak(10); map++) {
        make_town(run, map, map % 2 ? 250 : 400, &t);
        struct dpl_roads *r = read_town(run, &t);
        struct route_motion motion = motion_with(map % 3 ? 40 : 12);
        struct route_options options = dpl_route_defaults();
        struct route_scratch *scratch = NULL;
        assert_ok(run, dpl_route_scratch_new(run, r, &motion, &options, &scratch));
        for (size_t i = 0; i < 200; i++) {
            struct route route;
            size_t n = draw_cells(r, &seed, cell, 30), inside = 0;
            for (size_t k = 0; k < n; k++) guide[k] = anywhere(&t.grid, cell[k], &seed);
            assert_ok(run, dpl_route_trip(scratch, i, cell, i % 2 ? guide : NULL, n, &route));
            check_legal(&t, r, &route);
            check_times(&t.grid, &route, cell, motion.limit_mps * 60, &inside);
            check_line(&route);
            by_road += route.straight_m <= 0 && n > 1, trips++;
        }
        dpl_route_scratch_free(scratch);
        dpl_roads_free(r);
    }
    assert_true(2 * by_road > trips);
    dpl_run_free(run);
}

/* ---- routes against all routes ---- */

static double along_of(const struct dpl_roads *r, int32_t piece, double x, double y) {
    double passed = 0, least = INFINITY, best = 0;
    for (uint32_t i = r->piece[piece].point; i + 1 < r->piece[piece + 1].point; i++) {
        const float *p = r->xy_m + 2 * i;
        double dx = p[2] - p[0], dy = p[3] - p[1], length = hypot(dx, dy);
        double u = fmin(1, fmax(0, ((x - p[0]) * dx + (y - p[1]) * dy) / (length * length)));
        double off = hypot(x - p[0] - u * dx, y - p[1] - u * dy);
        if (off < least) least = off, best = passed + u * length;
        passed += length;
    }
    return best;
}

/* What an arc costs in run j: its seconds, more in the corridor, INFINITY where it may not be used.
 * *next: the run it leads to. */
static double arc_cost(const struct dpl_roads *r, const int32_t *run_cell, size_t runs, size_t j,
                       int32_t cell, double seconds, size_t *next) {
    int32_t columns = r->grid.columns, from = run_cell[j], to = run_cell[j + 1 < runs ? j + 1 : j];
    *next = j;
    if (j + 1 < runs && cell == to) {
        ++*next;
        return seconds;
    }
    if (cell == from) return seconds;
    double x = cell % columns - from % columns, y = cell / columns - from / columns,
           dx = to % columns - from % columns, dy = to / columns - from / columns, least = INFINITY;
    for (int i = 0; i <= 1000; i++) // the nearest point of the line between the cells
        least = fmin(least, hypot(x - dx * i / 1000, y - dy * i / 1000));
    return least < 0.75 ? 1.5 * seconds : INFINITY;
}

/* The least cost over all routes between the ends, by relaxing every arc in every run until nothing
 * changes. `only`: the arcs that may be used, NULL: all. */
static double least_cost(const struct dpl_roads *r, const int32_t *run_cell, size_t runs,
                         struct route_place from, struct route_place to, const bool *only) {
    static double cost[30][4000];
    double best = INFINITY;
    assert_true(r->n_nodes <= 4000 && runs <= 30);
    for (size_t j = 0; j < runs; j++)
        for (size_t i = 0; i < r->n_nodes; i++) cost[j][i] = INFINITY;
    for (int back = 0; back < 2; back++) {
        const struct roads_piece *p = &r->piece[from.piece];
        double part = from.along_m / p->length_m;
        if ((p->directions >> back & 1) && (!only || only[2 * from.piece + back]))
            cost[0][p->node[1 - back]] =
                fmin(cost[0][p->node[1 - back]], p->seconds * (back ? part : 1 - part));
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t j = 0; j < runs; j++)
            for (size_t i = 0; i < r->n_nodes; i++)
                for (uint32_t a = r->arc_first[i]; isfinite(cost[j][i]) && a < r->arc_first[i + 1];
                     a++) {
                    const struct roads_arc *arc = &r->arc[a];
                    size_t next;
                    double c =
                        cost[j][i] + arc_cost(r, run_cell, runs, j, arc->cell, arc->seconds, &next);
                    if (only && !only[arc->piece]) continue;
                    if (c < cost[next][arc->to] - 1e-9) cost[next][arc->to] = c, changed = true;
                }
    }
    for (size_t j = runs > 1 ? runs - 2 : 0; j < runs; j++)
        for (int back = 0; back < 2; back++) {
            const struct roads_piece *p = &r->piece[to.piece];
            double part = to.along_m / p->length_m;
            if (p->directions >> back & 1)
                best = fmin(best, cost[j][p->node[back]] + p->seconds * (back ? 1 - part : part));
        }
    return best;
}

static size_t runs_of(const int32_t *cell, size_t n, int32_t *run_cell) {
    size_t runs = 0;
    for (size_t k = 0; k < n; k++)
        if (!k || cell[k] != cell[k - 1]) run_cell[runs++] = cell[k];
    return runs;
}

/* Without differences of taste and with turns for nothing the route costs what the best of all
 * routes does. */
static void routes_are_shortest(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct town t;
    static bool used[20000];
    uint64_t seed = 99;
    size_t compared = 0;
    for (uint64_t map = 1; map <= test_soak(6); map++) {
        make_town(run, map, 400, &t);
        struct dpl_roads *r = read_town(run, &t);
        struct route_motion motion = motion_with(1000);
        struct route_options options = dpl_route_defaults();
        struct route_scratch *scratch = NULL;
        options.tau = options.turn_s = 0;
        assert_ok(run, dpl_route_scratch_new(run, r, &motion, &options, &scratch));
        assert_true(2 * r->n_pieces < 20000);
        for (size_t i = 0; i < 200; i++) {
            int32_t cell[6], run_cell[6];
            struct route route;
            size_t n = draw_cells(r, &seed, cell, 6), runs = runs_of(cell, n, run_cell);
            assert_ok(run, dpl_route_trip(scratch, i, cell, NULL, n, &route));
            if (runs < 2 || route.straight_m > 0) continue;
            int32_t first = route.arc[0] >> 1, last = route.arc[route.n_arcs - 1] >> 1;
            size_t end = route.n_points - 1;
            struct route_place from = {first, along_of(r, first, route.x_m[0], route.y_m[0])},
                               to = {last, along_of(r, last, route.x_m[end], route.y_m[end])};
            double best = least_cost(r, run_cell, runs, from, to, NULL);
            if (!isfinite(best)) continue; // its corridors had to be widened
            memset(used, 0, sizeof used);
            for (size_t a = 0; a < route.n_arcs; a++) used[route.arc[a]] = true;
            assert_near(least_cost(r, run_cell, runs, from, to, used), best, 1e-2);
            compared++;
        }
        dpl_route_scratch_free(scratch);
        dpl_roads_free(r);
    }
    assert_true(compared > 200);
    dpl_run_free(run);
}

/* The same bits from another scratch, after other trips; other keys choose otherwise. */
static void routes_follow_their_key(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct town t;
    make_town(run, 2, 250, &t);
    struct dpl_roads *r = read_town(run, &t);
    struct route_motion motion = motion_with(40);
    struct route_options options = dpl_route_defaults();
    struct route_scratch *a = NULL, *b = NULL;
    uint64_t seed = 4;
    size_t different = 0;
    assert_ok(run, dpl_route_scratch_new(run, r, &motion, &options, &a));
    for (uint64_t i = 0; i < 100; i++) {
        int32_t cell[20];
        struct route one, two;
        size_t n = draw_cells(r, &seed, cell, 20);
        assert_ok(run, dpl_route_scratch_new(run, r, &motion, &options, &b));
        assert_ok(run, dpl_route_trip(a, i, cell, NULL, n, &one));
        assert_ok(run, dpl_route_trip(b, i, cell, NULL, n, &two));
        assert_int_equal(one.n_points, two.n_points);
        assert_memory_equal(one.x_m, two.x_m, one.n_points * sizeof *one.x_m);
        assert_memory_equal(one.slot_m, two.slot_m, n * sizeof *one.slot_m);
        assert_ok(run, dpl_route_trip(b, i + 1000, cell, NULL, n, &two));
        different +=
            one.n_points != two.n_points || one.x_m[0] != two.x_m[0] || one.y_m[0] != two.y_m[0];
        dpl_route_scratch_free(b);
    }
    assert_true(different > 95);
    long before = dpl_run_allocations(run);
    int32_t again[3] = {r->piece[0].cell, r->piece[0].cell, r->piece[0].cell};
    struct route route;
    assert_ok(run, dpl_route_trip(a, 5, again, NULL, 3, &route));
    assert_int_equal(dpl_run_allocations(run), before); // all room was there
    dpl_route_scratch_free(a);
    dpl_roads_free(r);
    dpl_run_free(run);
}

/* Degrees that a path turns, in corners of more than 30, and its mean distance from a guide. */
static void look_at(const struct route *route, const struct dpl_position *guide, double *turned_deg,
                    double *off_m) {
    for (size_t i = 1; i + 1 < route->n_points; i++) {
        double a = atan2(route->y_m[i] - route->y_m[i - 1], route->x_m[i] - route->x_m[i - 1]),
               b = atan2(route->y_m[i + 1] - route->y_m[i], route->x_m[i + 1] - route->x_m[i]),
               turn_deg = fabs(remainder(b - a, 2 * acos(-1))) * 180 / acos(-1);
        if (turn_deg > 30) *turned_deg += turn_deg;
    }
    for (size_t k = 0; k < route->n; k++) {
        double x_m, y_m;
        dpl_route_at(route, route->slot_m[k], &x_m, &y_m);
        *off_m += hypot(x_m - guide[k].x_m, y_m - guide[k].y_m);
    }
}

/* The same trips with and without a guide, with turns that cost something and turns that do not. */
/* How far the points of a path are from the guide's lines, in the mean. */
static double strayed_m(const struct route *route, const struct dpl_position *guide, size_t n) {
    double sum_m = 0;
    for (size_t i = 0; i < route->n_points; i++) {
        double least_m = INFINITY;
        for (size_t k = 0; k + 1 < n; k++) {
            double x = route->x_m[i] - (double)guide[k].x_m,
                   y = route->y_m[i] - (double)guide[k].y_m,
                   dx = (double)guide[k + 1].x_m - (double)guide[k].x_m,
                   dy = (double)guide[k + 1].y_m - (double)guide[k].y_m,
                   along = (x * dx + y * dy) / fmax(dx * dx + dy * dy, 1e-9);
            along = fmin(1, fmax(0, along));
            least_m = fmin(least_m, hypot(x - along * dx, y - along * dy));
        }
        sum_m += least_m;
    }
    return sum_m / (double)route->n_points;
}

/* Between the same ends a route for which straying is dear is nearer to the guide's lines. */
static void routes_stray_little(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct town t;
    uint64_t seed = 12;
    double off_m[2] = {0};
    make_town(run, 2, 900, &t);
    struct dpl_roads *r = read_town(run, &t);
    struct route_motion motion = motion_with(1000);
    for (int dear = 0; dear < 2; dear++) {
        struct route_options options = dpl_route_defaults();
        struct route_scratch *scratch = NULL;
        seed = 12, options.tau = 0, options.turn_s = 0, options.stray_m = dear ? 20 : INFINITY;
        assert_ok(run, dpl_route_scratch_new(run, r, &motion, &options, &scratch));
        for (uint64_t i = 0; i < 300; i++) {
            int32_t cell[6];
            struct dpl_position guide[6];
            struct route route;
            size_t n = draw_cells(r, &seed, cell, 6);
            for (size_t k = 0; k < n; k++) guide[k] = anywhere(&t.grid, cell[k], &seed);
            assert_ok(run, dpl_route_trip(scratch, i, cell, guide, n, &route));
            if (n > 1 && route.straight_m <= 0) off_m[dear] += strayed_m(&route, guide, n);
        }
        dpl_route_scratch_free(scratch);
    }
    assert_true(off_m[1] < 0.965 * off_m[0]); // .947; .984 with lines from where the guide begins
    dpl_roads_free(r);
    dpl_run_free(run);
}

static void guides_and_turns_shape_routes(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct town t;
    uint64_t seed = 11;
    double turned_deg[3] = {0}, off_m[3] = {0};
    for (uint64_t map = 1; map <= 3; map++) {
        make_town(run, map, 400, &t);
        struct dpl_roads *r = read_town(run, &t);
        struct route_motion motion = motion_with(1000);
        struct route_scratch *scratch[2] = {NULL};
        for (int dear = 0; dear < 2; dear++) {
            struct route_options options = dpl_route_defaults();
            options.turn_s = dear ? 200 : 0, options.miss_s = INFINITY;
            assert_ok(run, dpl_route_scratch_new(run, r, &motion, &options, &scratch[dear]));
        }
        for (uint64_t i = 0; i < 200; i++) {
            int32_t cell[12];
            struct dpl_position guide[12];
            struct route route;
            size_t n = draw_cells(r, &seed, cell, 12);
            for (size_t k = 0; k < n; k++) {
                uint32_t piece = r->cell_first[cell[k]];
                const float *on = r->xy_m + 2 * (size_t)r->piece[piece].point;
                guide[k] = (struct dpl_position){on[0], on[1]};
            }
            for (int which = 0; which < 3; which++) {
                assert_ok(run, dpl_route_trip(scratch[which == 1], i, cell,
                                              which == 2 ? guide : NULL, n, &route));
                look_at(&route, guide, &turned_deg[which], &off_m[which]);
            }
        }
        dpl_route_scratch_free(scratch[0]), dpl_route_scratch_free(scratch[1]);
        dpl_roads_free(r);
    }
    assert_true(turned_deg[1] < 0.97 * turned_deg[0]);
    assert_true(off_m[2] < 0.75 * off_m[0]); // .68; .86 when only the route follows the guide
    dpl_run_free(run);
}

/* Visits of a route that are not in their cells; *others counts those that do not stand alone on
 * the way, which no route may leave out. */
static size_t left_out(const struct dpl_grid *grid, const struct route *route, const int32_t *cell,
                       size_t *others) {
    size_t out = 0;
    for (size_t k = 0; k < route->n; k++) {
        double x_m, y_m, cell_m = grid->area.cell_m;
        dpl_route_at(route, route->slot_m[k], &x_m, &y_m);
        if (fabs(x_m / cell_m - cell[k] % grid->columns - 0.5) < 0.5 + 1e-6 &&
            fabs(y_m / cell_m - cell[k] / grid->columns - 0.5) < 0.5 + 1e-6)
            continue;
        out++;
        *others += k == 0 || k + 1 == route->n || cell[k - 1] == cell[k] || cell[k + 1] == cell[k];
    }
    return out;
}

/* A route leaves out cells where it pays: not at any price, and not without a guide. */
static void cells_are_left_out_for_a_detour(void **state) {
    (void)state;
    enum { CHEAP, NEVER, DEAR, UNGUIDED, WAYS };
    static const double PRICE_S[WAYS] = {45, INFINITY, 450, 45};
    struct dpl_run *run = test_run(1);
    static struct town t;
    uint64_t seed = 21;
    size_t out[WAYS] = {0}, others[WAYS] = {0}, visits = 0;
    double path_m[WAYS] = {0};
    for (uint64_t map = 1; map <= 3; map++) {
        make_town(run, map, 250, &t);
        struct dpl_roads *r = read_town(run, &t);
        struct route_motion motion = motion_with(1000);
        struct route_scratch *scratch[WAYS] = {NULL};
        for (int way = 0; way < WAYS; way++) {
            struct route_options options = dpl_route_defaults();
            options.miss_s = PRICE_S[way];
            assert_ok(run, dpl_route_scratch_new(run, r, &motion, &options, &scratch[way]));
        }
        for (uint64_t i = 0; i < 200; i++) {
            int32_t cell[12];
            struct dpl_position guide[12];
            size_t n = draw_cells(r, &seed, cell, 12);
            for (size_t k = 0; k < n; k++) guide[k] = anywhere(&t.grid, cell[k], &seed);
            for (int way = 0; way < WAYS; way++) {
                struct route route;
                assert_ok(run, dpl_route_trip(scratch[way], i, cell, way == UNGUIDED ? NULL : guide,
                                              n, &route));
                out[way] += left_out(&t.grid, &route, cell, &others[way]);
                path_m[way] += route.at_m[route.n_points - 1];
            }
            visits += n;
        }
        for (int way = 0; way < WAYS; way++) dpl_route_scratch_free(scratch[way]);
        dpl_roads_free(r);
    }
    assert_true(out[CHEAP] > out[DEAR] && out[DEAR] > out[NEVER]);
    assert_true(out[CHEAP] > visits / 20 && out[NEVER] < visits / 200);
    assert_true(out[UNGUIDED] < visits / 200);
    assert_true(others[CHEAP] <= others[NEVER] + visits / 500);
    assert_true(path_m[CHEAP] < 0.9 * path_m[NEVER]);
    dpl_run_free(run);
}

/* ---- times against their exact distribution ---- */

enum { SLOTS = 5 };

static int bin_by_hand(double step_m) {
    int bin = 0;
    while (bin + 1 < BINS && step_m / 60 >= (double)UPPER[bin]) bin++;
    return bin;
}

/* The logarithm of the ratio of a turn on a road that goes 1500 m east, then north: of steps of l
 * metres along it, by the slower one's row. */
static double turn_by_hand(const struct route_turns *t, const double *l) {
    double x[3], y[3];
    int in = bin_by_hand(l[1] - l[0]), out = bin_by_hand(l[2] - l[1]),
        row = t->row[in < out ? in : out];
    if (row == ROUTE_NO_TURN) return 0;
    for (int i = 0; i < 3; i++) x[i] = fmin(l[i], 1500), y[i] = fmax(l[i] - 1500, 0);
    double turn = atan2(y[2] - y[1], x[2] - x[1]) - atan2(y[1] - y[0], x[1] - x[0]),
           part = (1 - cos(turn)) / 2 * t->n_parts;
    return (double)t->log_ratio[row * t->n_bins + t->bin[(int)fmin(part, t->n_parts)]];
}

/* Five slots on a road of 3000 m, the middle one in 500 ... 2000 m: distribution of each over ten
 * bins, by the weights of positions drawn evenly and put in order. */
static void exact_times(const struct route_motion *m, double limit_m, double chance[SLOTS][10]) {
    uint64_t seed = 6;
    double sum = 0;
    memset(chance, 0, SLOTS * sizeof *chance);
    for (int i = 0; i < 400000; i++) {
        double l[SLOTS], log_weight = 0;
        int before = -1;
        for (int k = 0; k < SLOTS; k++) {
            int at = k;
            double drawn = 3000 * test_uniform(&seed);
            for (; at > 0 && l[at - 1] > drawn; at--) l[at] = l[at - 1];
            l[at] = drawn;
        }
        bool fits = l[2] >= 500 && l[2] <= 2000;
        for (int k = 1; k < SLOTS && fits; k++) {
            int bin = bin_by_hand(l[k] - l[k - 1]);
            fits = l[k] - l[k - 1] <= limit_m;
            log_weight += (double)(k == 1 ? m->log_first[bin] : m->log_next[before * BINS + bin]);
            if (k > 1 && m->turns) log_weight += turn_by_hand(m->turns, l + k - 2);
            before = bin;
        }
        if (!fits) continue;
        double weight = exp(log_weight + (double)m->log_last[before]);
        for (int k = 0; k < SLOTS; k++) chance[k][(int)(l[k] / 300)] += weight;
        sum += weight;
    }
    for (int k = 0; k < SLOTS; k++)
        for (int i = 0; i < 10; i++) chance[k][i] /= sum;
}

static void compare_times(const struct route_turns *turns) {
    struct dpl_run *run = test_run(1);
    static struct town t;
    float log_first[BINS] = {0.9f, -0.5f, 0.2f, 0.6f}, log_last[BINS] = {-0.7f, 0.4f, 0.8f, 0},
          log_next[BINS * BINS];
    uint64_t seed = 8;
    for (int i = 0; i < BINS * BINS; i++) log_next[i] = (float)(2 * test_uniform(&seed) - 1);
    make_town(run, 1, 500, &t);
    struct dpl_roads *r = read_town(run, &t);
    struct route_motion motion = {BINS, UPPER, log_first, log_last, log_next, 20, 60, turns};
    struct route_options options = dpl_route_defaults();
    struct route_scratch *s = NULL;
    options.sweeps = 40;
    assert_ok(run, dpl_route_scratch_new(run, r, &motion, &options, &s));
    struct route_run runs[3] = {{.first_slot = 0, .from_m = 0, .to_m = 3000},
                                {.first_slot = 2, .from_m = 498, .to_m = 2002},
                                {.first_slot = 3, .from_m = 0, .to_m = 3000}};
    double x[3] = {0, 1500, 1500}, y[3] = {0, 0, 1500}, at[3] = {0, 1500, 3000},
           count[SLOTS][10] = {{0}}, chance[SLOTS][10];
    size_t n = test_soak(20000);
    assert_ok(run, dpl_times_room(s, SLOTS));
    s->run_of = runs, s->n_runs = 3, s->x_m = x, s->y_m = y, s->at_m = at, s->n_points = 3;
    assert_ok(run, dpl_times_trace(s));
    for (size_t i = 0; i < n; i++) {
        double widened_m;
        s->key = dpl_mix64(i + 1), s->drawn = 0;
        assert_true(dpl_times_start(s, SLOTS, s->limit_m, 0, &widened_m));
        dpl_times_draw(s, SLOTS, s->limit_m);
        for (int k = 0; k < SLOTS; k++) count[k][(int)fmin(9, s->slot_m[k] / 300)]++;
    }
    exact_times(&motion, s->limit_m, chance);
    for (int k = 0; k < SLOTS; k++)
        for (int i = 0; i < 10; i++) assert_near(count[k][i] / (double)n, chance[k][i], 0.015);
    s->run_of = NULL, s->x_m = s->y_m = s->at_m = NULL;
    dpl_route_scratch_free(s);
    dpl_roads_free(r);
    dpl_run_free(run);
}

static const uint8_t ROW[BINS] = {ROUTE_NO_TURN, 0, 1, 1}, BIN[9] = {0, 1, 1, 1, 1, 1, 1, 1, 1};
static const float RATIO[4] = {-0.8f, 0.9f, 1.2f, -1.1f};
static const struct route_turns TURNS = {2, 2, ROW, BIN, 8, RATIO};

static void times_follow_the_tables(void **state) {
    (void)state;
    compare_times(NULL);
    compare_times(&TURNS);
}

/* Where its guide stands still, so does a trip; kept routes give the same times again, by any
 * scratch. */
static void stops_are_held_and_routes_kept(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static struct town t;
    make_town(run, 2, 250, &t);
    struct dpl_roads *r = read_town(run, &t);
    struct route_motion motion = motion_with(40);
    motion.turns = &TURNS;
    struct route_options options = dpl_route_defaults();
    struct route_scratch *a = NULL, *b = NULL;
    uint64_t seed = 14;
    size_t stands = 0, held = 0, still = 0, moves = 0;
    assert_ok(run, dpl_route_scratch_new(run, r, &motion, &options, &a));
    assert_ok(run, dpl_route_scratch_new(run, r, &motion, &options, &b));
    for (uint64_t i = 0; i < 300; i++) {
        enum { STAY = 3 };
        int32_t drawn[6], cell[6 * STAY];
        struct dpl_position guide[6 * STAY];
        struct route one, two;
        struct route_kept *kept = NULL;
        size_t n = STAY * draw_cells(r, &seed, drawn, 6);
        for (size_t k = 0; k < n; k++) cell[k] = drawn[k / STAY];
        for (size_t k = 0; k < n; k++)
            guide[k] = k > 0 && cell[k] == cell[k - 1] && test_uniform(&seed) < 0.5
                           ? guide[k - 1]
                           : anywhere(&t.grid, cell[k], &seed);
        assert_ok(run, dpl_route_trip(a, i, cell, i % 4 ? guide : NULL, n, &one));
        assert_ok(run, dpl_route_keep(a, &one, &kept));
        assert_ok(run, dpl_route_again(b, kept, &two));
        assert_int_equal(two.n, n);
        assert_memory_equal(one.slot_m, two.slot_m, n * sizeof *one.slot_m);
        assert_memory_equal(one.x_m, two.x_m, one.n_points * sizeof *one.x_m);
        for (size_t k = 1; i % 4 && one.fit == ROUTE_WITHIN && k < n; k++) {
            bool stand = guide[k].x_m == guide[k - 1].x_m && guide[k].y_m == guide[k - 1].y_m,
                 same = one.slot_m[k] <= one.slot_m[k - 1];
            stands += stand, held += stand && same, moves += !stand, still += !stand && same;
        }
        dpl_route_kept_free(kept);
    }
    assert_true(stands > 100 && (double)held > 0.95 * (double)stands);
    assert_true((double)still < 0.4 * (double)moves); // the rest is where a path only grazes a cell
    dpl_route_scratch_free(a), dpl_route_scratch_free(b);
    dpl_roads_free(r);
    dpl_run_free(run);
}

/* ---- a whole city ---- */

static void visits_stay_in_their_cells(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    char *folder = test_directory();
    char city[512], map[512];
    snprintf(city, sizeof city, "%s", test_path(folder, "city.csv"));
    snprintf(map, sizeof map, "%s", test_path(folder, "city.osm.pbf"));
    struct dpl_simulate_options simulate = dpl_simulate_defaults();
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_area area = dpl_area_defaults();
    struct dpl_cleaned *trips = NULL;
    struct dpl_roads *r = NULL;
    simulate.trips = 2000, simulate.roads_out = map;
    assert_ok(run, dpl_simulate(run, &simulate, city));
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    assert_ok(run, dpl_cleaned_read(run, (const char *[]){city}, 1, &read, &area, &trips, NULL));
    assert_ok(run, dpl_roads_read(run, map, &trips->grid, DPL_TRAVEL_DRIVE, &r));
    assert_int_equal(r->facts.components, 1);
    struct route_motion motion = motion_with(area.speed_limit_kmh / 3.6);
    struct route_options options = dpl_route_defaults();
    struct route_scratch *scratch = NULL;
    size_t inside = 0;
    double straight_m = 0, path_m = 0;
    assert_ok(run, dpl_route_scratch_new(run, r, &motion, &options, &scratch));
    for (size_t i = 0; i < trips->n_trips; i++) {
        const int32_t *cell = trips->cell + trips->start[i];
        struct route route;
        assert_ok(run, dpl_route_trip(scratch, i, cell, NULL, trips->start[i + 1] - trips->start[i],
                                      &route));
        check_times(&trips->grid, &route, cell, motion.limit_mps * 60, &inside);
        straight_m += route.straight_m, path_m += route.at_m[route.n_points - 1];
    }
    assert_true((double)inside >= 0.97 * (double)trips->n_visits);
    assert_true(straight_m < 0.02 * path_m);
    dpl_route_scratch_free(scratch);
    dpl_roads_free(r);
    dpl_cleaned_free(trips);
    test_directory_remove(folder);
    dpl_run_free(run);
}

/* ---- shifted coordinates ---- */

/* Known pairs of the public transform, the way back, and nothing outside China. */
static void gcj_by_known_points(void **state) {
    (void)state;
    double lat = 39.915, lon = 116.404;
    dpl_gcj_shift(&lat, &lon);
    assert_near(lat, 39.91640428150164, 1e-9);
    assert_near(lon, 116.41024449916938, 1e-9);
    dpl_gcj_unshift(&lat, &lon);
    assert_near(lat, 39.915, 1e-8);
    assert_near(lon, 116.404, 1e-8);
    lat = 48, lon = 11;
    dpl_gcj_shift(&lat, &lon);
    assert_true(lat == 48 && lon == 11);
}

enum { STREETS = 6, POINTS = 400 };

/* Streets about 400 m apart in Chengdu. */
static struct dpl_roads *chengdu_roads(struct dpl_run *run, const char *folder,
                                       struct dpl_area *area) {
    double lat_deg[4 * STREETS], lon_deg[4 * STREETS];
    int64_t ref[4 * STREETS];
    struct pbf_line line[2 * STREETS];
    struct dpl_grid grid;
    struct dpl_roads *roads = NULL;
    *area = dpl_area_defaults();
    area->south_deg = 30.6, area->north_deg = 30.63, area->west_deg = 104, area->east_deg = 104.03;
    snprintf(area->zone, sizeof area->zone, "UTC");
    assert_ok(run, dpl_grid_make(run, area, &grid));
    for (size_t i = 0; i < 2 * STREETS; i++)
        for (size_t end = 0; end < 2; end++) {
            double across = 0.0025 + 0.0037 * (double)(i % STREETS), far = end ? 0.0295 : 0.0005;
            size_t node = 2 * i + end;
            lat_deg[node] = 30.6 + (i < STREETS ? across : far);
            lon_deg[node] = 104 + (i < STREETS ? far : across);
            ref[node] = (int64_t)node + 1;
            line[i] = (struct pbf_line){ref + 2 * i, 2, TWO_WAYS};
        }
    struct pbf_map map = {lat_deg, lon_deg, 4 * STREETS, line, 2 * STREETS};
    const char *path = test_path(folder, "chengdu.osm.pbf");
    assert_ok(run, dpl_pbf_write(run, &map, path, false));
    assert_ok(run, dpl_roads_read(run, path, &grid, DPL_TRAVEL_DRIVE, &roads));
    return roads;
}

static void shifted_points_are_found_out(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    char *folder = test_directory(), text[POINTS * 64];
    struct dpl_area area;
    struct dpl_roads *roads = chengdu_roads(run, folder, &area);
    struct dpl_read_options read = dpl_read_defaults();
    for (int shift = -1; shift <= 1; shift++) {
        size_t used = (size_t)sprintf(text, "trip_id,timestamp,lat,lon\n");
        struct dpl_roads_share share;
        for (int i = 0; i < POINTS; i++) {
            double lat_deg = 30.6025 + 0.0037 * (i % STREETS),
                   lon_deg = 104.002 + 0.02 * i / POINTS;
            if (shift > 0) dpl_gcj_shift(&lat_deg, &lon_deg);
            if (shift < 0) dpl_gcj_unshift(&lat_deg, &lon_deg);
            used += (size_t)sprintf(text + used, "%d,%d,%.7f,%.7f\n", i / 5, 1700000000 + 60 * i,
                                    lat_deg, lon_deg);
        }
        char path[512];
        snprintf(path, sizeof path, "%s", test_file(folder, "points.csv", text, used));
        assert_ok(run, dpl_roads_fit(run, (const char *[]){path}, 1, &read, &area, roads, &share));
        assert_true(share.points > POINTS / 8);
        assert_true(shift ? share.within_30m < 0.4 : share.within_15m > 0.999);
        assert_true(shift > 0 ? share.within_30m_gcj02_points > 0.999
                              : share.within_30m_gcj02_points < 0.4);
        assert_true(shift < 0 ? share.within_30m_gcj02_map > 0.999
                              : share.within_30m_gcj02_map < 0.4);
    }
    dpl_roads_free(roads);
    test_directory_remove(folder);
    dpl_run_free(run);
}

/* ---- seconds between squares ---- */

enum { WAYS_MOST = 700, PER_SQUARE = 4 };

/* Seconds between all nodes, by the table of all ways. */
static void all_seconds(const struct dpl_roads *r, double *between) {
    size_t n = r->n_nodes;
    for (size_t i = 0; i < n * n; i++) between[i] = i / n == i % n ? 0 : INFINITY;
    for (size_t p = 0; p < r->n_pieces; p++)
        for (int back = 0; back < 2; back++) {
            const struct roads_piece *piece = &r->piece[p];
            if (!piece->connected || !(piece->directions >> back & 1)) continue;
            double *way = &between[(size_t)piece->node[back] * n + (size_t)piece->node[1 - back]];
            *way = fmin(*way, piece->seconds);
        }
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; isfinite(between[i * n + k]) && j < n; j++)
                between[i * n + j] =
                    fmin(between[i * n + j], between[i * n + k] + between[k * n + j]);
}

/* Pieces of a square at even parts of metres times weight; false: there is none. */
static bool even_pieces(const struct dpl_roads *r, int32_t cell, int32_t side,
                        const struct roads_piece *piece[PER_SQUARE]) {
    double total = 0, sum = 0;
    int found = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t c = 0; c < dpl_grid_cells(&r->grid); c++) {
            int32_t dx = c % r->grid.columns - cell % r->grid.columns,
                    dy = c / r->grid.columns - cell / r->grid.columns;
            if (dx < 0 || dy < 0 || dx >= side || dy >= side) continue;
            for (uint32_t p = r->cell_first[c]; p < r->cell_first[c + 1]; p++) {
                if (!r->piece[p].connected) continue;
                double weight =
                    (double)r->piece[p].length_m * dpl_roads_class_weight(r->piece[p].class);
                *(pass ? &sum : &total) += weight;
                while (pass && found < PER_SQUARE && sum > total * (found + 0.5) / PER_SQUARE)
                    piece[found++] = &r->piece[p];
            }
        }
    return total > 0;
}

static double middle_seconds(const struct dpl_roads *r, const double *between,
                             const struct roads_piece *a, const struct roads_piece *b,
                             double most_s) {
    double least = most_s;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if ((a->directions >> i & 1) && (b->directions >> j & 1))
                least = fmin(
                    least,
                    (a->seconds + b->seconds) / 2 +
                        between[(size_t)a->node[1 - i] * (size_t)r->n_nodes + (size_t)b->node[j]]);
    return least;
}

static double square_seconds(const struct dpl_roads *r, const double *between,
                             const struct dpl_roads_pairs *pairs, size_t x, size_t y,
                             double most_s) {
    const struct roads_piece *from[PER_SQUARE], *to[PER_SQUARE];
    double sum = 0;
    if (!even_pieces(r, pairs->cell[x], pairs->side[x], from)) return NAN;
    if (!even_pieces(r, pairs->cell[y], pairs->side[y], to)) return NAN;
    for (int i = 0; i < PER_SQUARE; i++)
        for (int j = 0; j < PER_SQUARE; j++)
            sum += middle_seconds(r, between, from[i], to[j], most_s);
    return sum / (PER_SQUARE * PER_SQUARE);
}

/* All pairs of squares of random towns, some wide, some without a road, against all ways. */
static void seconds_are_of_shortest_ways(void **state) {
    (void)state;
    static struct town t;
    struct dpl_run *run = test_run(1), *three = test_run(3);
    for (uint64_t seed = 1; seed < 4; seed++) {
        make_town(run, seed, 300, &t);
        struct dpl_roads *r = read_town(run, &t);
        assert_true(r->n_nodes < WAYS_MOST);
        double *between = calloc(r->n_nodes * r->n_nodes, sizeof *between);
        all_seconds(r, between);
        enum { SQUARES_MOST = 100 };
        int32_t cell[SQUARES_MOST], wide[SQUARES_MOST];
        static int32_t to[SQUARES_MOST * SQUARES_MOST];
        static size_t start[2 * SQUARES_MOST + 1];
        static float out[SQUARES_MOST * SQUARES_MOST], again[SQUARES_MOST * SQUARES_MOST];
        size_t n = 0, n_pairs = 0, unknown = 0, far = 0;
        for (int32_t c = 0; c < dpl_grid_cells(&r->grid) && n < SQUARES_MOST; c++)
            if ((c + c / r->grid.columns) % 2 == 0) cell[n] = c, wide[n] = 1 + c % 3 / 2, n++;
        for (size_t row = 0; row < 2 * n; row++) { // in two rows each: odd ones, even ones
            start[row] = n_pairs;
            for (size_t y = row % 2; y < n; y += 2)
                if (y != row / 2) to[n_pairs++] = (int32_t)y;
        }
        start[2 * n] = n_pairs;
        const struct dpl_roads_pairs pairs = {n, cell, wide, start, 2, to};
        const double most_s = 250;
        assert_ok(run, dpl_roads_seconds(run, r, &pairs, most_s, out));
        assert_ok(three, dpl_roads_seconds(three, r, &pairs, most_s, again));
        assert_memory_equal(out, again, n_pairs * sizeof *out);
        for (size_t row = 0; row < 2 * n; row++)
            for (size_t i = start[row]; i < start[row + 1]; i++) {
                double want = square_seconds(r, between, &pairs, row / 2, (size_t)to[i], most_s);
                if (isnan(want))
                    unknown++;
                else if (want >= most_s)
                    far++;
                assert_near(out[i], isnan(want) ? 0 : want, 0.01);
            }
        assert_true(unknown > 0 && far > 0 && far + unknown < n_pairs / 2);
        free(between);
        dpl_roads_free(r);
    }
    dpl_run_free(run), dpl_run_free(three);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_of_the_road),
        cmocka_unit_test(network_is_the_map),
        cmocka_unit_test(distance_is_the_least),
        cmocka_unit_test(shares_are_of_distances),
        cmocka_unit_test(odd_maps),
        cmocka_unit_test(xml_is_the_same_map),
        cmocka_unit_test(damaged_xml_gives_sentences),
        cmocka_unit_test(roads_end_at_the_box),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(routes_are_legal),
        cmocka_unit_test(routes_are_shortest),
        cmocka_unit_test(routes_follow_their_key),
        cmocka_unit_test(guides_and_turns_shape_routes),
        cmocka_unit_test(routes_stray_little),
        cmocka_unit_test(cells_are_left_out_for_a_detour),
        cmocka_unit_test(seconds_are_of_shortest_ways),
        cmocka_unit_test(times_follow_the_tables),
        cmocka_unit_test(stops_are_held_and_routes_kept),
        cmocka_unit_test(visits_stay_in_their_cells),
        cmocka_unit_test(gcj_by_known_points),
        cmocka_unit_test(shifted_points_are_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
