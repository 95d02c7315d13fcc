/* Public polygons: in which of them a place is, against a second way to find out; files that are
 * none. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grid/districts.h"

static struct dpl_districts *read_text(struct dpl_run *run, const char *directory,
                                       const char *text) {
    struct dpl_districts *districts;
    const char *path = test_file(directory, "d.geojson", text, strlen(text));
    assert_ok(run, dpl_districts_read(run, path, &districts));
    return districts;
}

#define SQUARE(w, s, e, n)                                                                         \
    "[[" #w "," #s "],[" #e "," #s "],[" #e "," #n "],[" #w "," #n "],[" #w "," #s "]]"
#define POLYGON(properties, rings)                                                                 \
    "{\"type\":\"Feature\",\"properties\":" properties                                             \
    ",\"geometry\":{\"type\":\"Polygon\",\"coordinates\":[" rings "]}}"
#define COLLECTION(features) "{\"type\":\"FeatureCollection\",\"features\":[" features "]}"

static void places_are_found(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    char *directory = test_directory();
    struct dpl_districts *d = read_text(
        run, directory,
        COLLECTION(POLYGON(
            "{\"name\":\"ring \\\"a\\\"\"}",
            SQUARE(0, 0, 4, 4) "," SQUARE(
                1, 1, 2,
                2)) "," POLYGON("{\"name\":\"\",\"id\":12}",
                                SQUARE(0, 0, 9,
                                       9)) ","
                                           "{\"type\":\"Feature\",\"id\":\"far\",\"geometry\":{"
                                           "\"type\":\"MultiPolygon\","
                                           "\"coordinates\":[[" SQUARE(20, 0, 21, 1) "],[" SQUARE(
                                               30, 0, 31,
                                               1) "]]}}," POLYGON("null", SQUARE(40, 0, 41, 1))));
    assert_int_equal(dpl_districts_count(d), 4);
    assert_string_equal(dpl_districts_name(d, 0), "ring  a ");
    assert_string_equal(dpl_districts_name(d, 1), "12");
    assert_string_equal(dpl_districts_name(d, 2), "far");
    assert_string_equal(dpl_districts_name(d, 3), "4");
    assert_int_equal(dpl_districts_at(d, 0.5, 0.5), 0);
    assert_int_equal(dpl_districts_at(d, 1.5, 1.5), 1); // in the hole of the first
    assert_int_equal(dpl_districts_at(d, 8, 8), 1);
    assert_int_equal(dpl_districts_at(d, 0.5, 20.5), 2);
    assert_int_equal(dpl_districts_at(d, 0.5, 30.5), 2);
    assert_int_equal(dpl_districts_at(d, 0.5, 25), -1);
    assert_int_equal(dpl_districts_at(d, NAN, 0.5), -1);
    dpl_districts_free(d);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* A star: inside where the place is nearer to the centre than the edge in its direction, which the
 * turn of two vectors tells. */
enum { CORNERS = 14 };

static bool in_star(const double *x, const double *y, double px, double py) {
    for (int i = 0; i < CORNERS; i++) {
        int k = (i + 1) % CORNERS;
        bool after = x[i] * py - y[i] * px >= 0, before = x[k] * py - y[k] * px < 0;
        if (after && before) // the place is in this wedge, which is less than half a turn wide
            return (x[k] - x[i]) * (py - y[i]) - (y[k] - y[i]) * (px - x[i]) > 0;
    }
    return false;
}

static void random_stars_agree(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    char *directory = test_directory(), text[4096];
    uint64_t seed = 3;
    for (size_t round = 0; round < test_soak(50); round++) {
        double x[CORNERS], y[CORNERS];
        size_t used = (size_t)snprintf(text, sizeof text,
                                       "{\"features\":[{\"geometry\":{\"type\":"
                                       "\"Polygon\",\"coordinates\":[[");
        for (int i = 0; i <= CORNERS; i++) {
            if (i < CORNERS) {
                double angle = 2 * 3.14159265358979 * i / CORNERS,
                       radius = 1 + 9 * test_uniform(&seed);
                x[i] = radius * cos(angle), y[i] = radius * sin(angle);
            }
            used += (size_t)snprintf(text + used, sizeof text - used, "%s[%.17g,%.17g]",
                                     i ? "," : "", x[i % CORNERS], y[i % CORNERS]);
        }
        snprintf(text + used, sizeof text - used, "]]}}]}");
        struct dpl_districts *d = read_text(run, directory, text);
        for (int i = 0; i < 400; i++) {
            double px = 20 * test_uniform(&seed) - 10, py = 20 * test_uniform(&seed) - 10;
            assert_int_equal(dpl_districts_at(d, py, px), in_star(x, y, px, py) ? 0 : -1);
        }
        dpl_districts_free(d);
    }
    test_directory_remove(directory);
    dpl_run_free(run);
}

static void what_is_none_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
    } CASES[] = {
        {"", "cannot be read as GeoJSON"},
        {"{\"features\":[", "cannot be read as GeoJSON"},
        {"{}", "not a GeoJSON FeatureCollection of 1 to"},
        {"[]", "not a GeoJSON FeatureCollection of 1 to"},
        {COLLECTION(""), "not a GeoJSON FeatureCollection of 1 to"},
        {COLLECTION("null"), "Feature 1 is none"},
        {COLLECTION("{\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2]}}"),
         "Feature 1 is none"},
        {COLLECTION(POLYGON("{}", "")), "has a polygon without rings"},
        {COLLECTION(POLYGON("{}", "[[0,0],[1,1],[0,0]]")), "fewer than four positions"},
        {COLLECTION(POLYGON("{}", "[[0,0],[1,\"x\"],[1,1],[0,0]]")), "a position that is none"},
        {COLLECTION(POLYGON("{}", "[[0,0],[1000,0],[1,1],[0,0]]")), "a position that is none"},
    };
    struct dpl_run *run = test_run(1);
    char *directory = test_directory();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct dpl_districts *d = NULL;
        const char *path = test_file(directory, "d.geojson", CASES[i].text, strlen(CASES[i].text));
        dpl_run_begin(run);
        assert_int_equal(dpl_districts_read(run, path, &d), DPL_BAD_DATA);
        assert_null(d);
        if (!strstr(dpl_run_message(run), CASES[i].part)) fail_msg("%s", dpl_run_message(run));
    }
    test_directory_remove(directory);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_found),
        cmocka_unit_test(random_stars_agree),
        cmocka_unit_test(what_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
