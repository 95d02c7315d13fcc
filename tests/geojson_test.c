/* GeoJSON documents: the lines that they are unfolded into, whatever their layout, wherever a read
 * ends; what one Feature holds never changes how another is read. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/unfold.h"

/* The document fed in pieces of `step` bytes; "!" when it is no JSON. */
static const char *unfolded(const char *document, size_t step) {
    static char lines[4096];
    struct unfold unfold = {0};
    size_t used = 0, length = strlen(document);
    for (size_t at = 0; at < length; at += step) {
        size_t made, take = length - at < step ? length - at : step;
        assert_true(used + take < sizeof lines);
        if (!dpl_unfold(&unfold, document + at, take, lines + used, &made)) return "!";
        assert_true(made <= take);
        used += made;
    }
    lines[used] = '\0';
    return lines;
}

static void features_become_lines(void **state) {
    (void)state;
    static const struct {
        const char *document, *lines;
    } CASES[] = {
        {"{\"features\":[{\"a\":1},{\"b\":[2]}]}", "{\"a\":1}\n{\"b\":[2]}\n"},
        {"{\"features\":[]}", ""},
        {" {\"type\" : \"FeatureCollection\",\n\"features\": [\n {\"a\":\n1}\n,\r\n {} ] }\n",
         "{\"a\": 1} \n{} \n"},
        // brackets, quotes and names in texts; names of other members
        {"{\"x\":[1,[2]],\"features\":[{\"a\":\"]}\\\"{,\\\\\"},{\"features\":[{},{}]}],\"y\":[3]}",
         "{\"a\":\"]}\\\"{,\\\\\"}\n{\"features\":[{},{}]}\n"},
        {"{\"note\":\"features\",\"bbox\":[1,2],\"features\":[{}]}", "{}\n"},
        {"{\"features2\":[1],\"featuresfeatures\":[2],\"features\":[{}]}", "{}\n"},
        {"{\"a\":{\"features\":[1]},\"features\":[{}],\"features\":[{\"twice\":1}]}", "{}\n"},
        // elements that are no Features are lines all the same: bad rows
        {"{\"features\":[null,1,\"text\",[{}],{}]}", "null\n1\n\"text\"\n[{}]\n{}\n"},
        // cut off within an element: a line without its end
        {"{\"features\":[{\"a\":1},{\"b\":", "{\"a\":1}\n{\"b\":"},
        // no JSON
        {"{\"features\":[{\"a\":]}]}", "!"},
        {"{\"features\":[{}]}]", "!"},
        {"[{\"features\":[]}]", "!"},
        {"{\"features\":[}", "!"},
        {"x{\"features\":[]}", "!"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        for (size_t step = 1; step < 80; step++)
            assert_string_equal(unfolded(CASES[i].document, step), CASES[i].lines);
}

/* ---- through the reader ---- */

enum { TRIPS = 12 };

static void put_trip(FILE *file, int trip, const char *between) {
    fprintf(file, "%s{\"type\":\"Feature\",%s\"properties\":{\"uid\":%d},\"geometry\":{", between,
            between[0] ? "\n  " : "", trip % 5);
    fprintf(file, "\"type\":\"LineString\",\"coordinates\":[");
    for (int i = 0; i < 4; i++)
        fprintf(file, "%s[%.4f,%.4f,0,%d%s]", i ? "," : "", 11.5 + trip * 0.002, 48 + i * 0.001,
                1741000000 + trip * 600 + i * 60, trip % 2 ? "000" : "");
    fprintf(file, "]}}");
}

/* A document of the trips, with `odd` put in front of the trip of that number. */
static const char *write_document(const char *directory, const char *between, int at,
                                  const char *odd) {
    const char *path = test_path(directory, "t.geojson");
    FILE *file = fopen(path, "w");
    fprintf(file, "{\"type\":\"FeatureCollection\",\"features\":[");
    for (int i = 0; i < TRIPS; i++) {
        if (i) fprintf(file, ",");
        if (i == at) fprintf(file, "%s,", odd);
        put_trip(file, i, between);
    }
    fprintf(file, "]}");
    fclose(file);
    return path;
}

/* PRIVACY: any JSON value in place of a Feature is one bad row, and all others are as they were. */
static void one_feature_leaves_the_others_alone(void **state) {
    (void)state;
    enum { DEEP = 3000 }; // more than any reader of JSON follows
    static char deep[2 * DEEP + 1];
    memset(deep, '[', DEEP), memset(deep + DEEP, ']', DEEP);
    static const char *const ODD[] = {
        "null",
        "{}",
        deep,
        "\"]}}]\"",
        "[[[[{}]]]]",
        "{\"features\":[{\"type\":\"Feature\"},{}]}",
        "{\"type\":\"Feature\",\"geometry\":{\"coordinates\":[[11.5,\"x\",0,1741000000]]}}",
        "{\"type\":\"Feature\",\"geometry\":{\"coordinates\":[[11.5,48,0,1e300]]}}",
        "{\"type\":\"Feature\",\"properties\":{\"uid\":\"\\\\\\\"\"},\"geometry\":null}",
    };
    struct dpl_run *run = test_run(2);
    char *directory = test_directory();
    struct dpl_read_facts facts;
    struct dpl_cleaned *expected =
        test_read_city(run, write_document(directory, "", -1, NULL), &facts);
    assert_int_equal(facts.rows, TRIPS);
    assert_int_equal(expected->n_trips, TRIPS);
    assert_int_equal(facts.users, 5);
    assert_string_equal(facts.time_format, "epoch seconds and epoch milliseconds");
    for (size_t i = 0; i < sizeof ODD / sizeof *ODD; i++)
        for (int at = 0; at < TRIPS; at += 5) {
            const char *path = write_document(directory, i % 2 ? "\n" : "", at, ODD[i]);
            struct dpl_cleaned *trips = test_read_city(run, path, &facts);
            assert_int_equal(facts.rows, TRIPS + 1);
            assert_same_trips(trips, expected);
            dpl_cleaned_free(trips);
        }
    dpl_cleaned_free(expected);
    test_directory_remove(directory);
    dpl_run_free(run);
}

static void what_is_none_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
    } CASES[] = {{"{\"type\":\"Feature\"}", "it has no \"features\""},
                 {"", "it has no \"features\""},
                 {"{\"features\":[{]}", "its brackets do not match"}};
    struct dpl_run *run = test_run(1);
    char *directory = test_directory();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *path = test_file(directory, "n.geojson", CASES[i].text, strlen(CASES[i].text));
        struct dpl_read_options options = dpl_read_defaults();
        assert_int_equal(dpl_cleaned_read(run, &path, 1, &options, NULL, NULL, NULL), DPL_BAD_DATA);
        assert_non_null(strstr(dpl_run_message(run), CASES[i].part));
    }
    // Beside a good one it is passed over, as any other file that cannot be used.
    write_document(directory, "", -1, NULL);
    const char *folder = directory;
    struct dpl_read_facts facts;
    struct dpl_cleaned *trips = test_read_city(run, folder, &facts);
    assert_int_equal(trips->n_trips, TRIPS);
    assert_int_equal(facts.files_skipped, 1);
    dpl_cleaned_free(trips);
    test_directory_remove(directory);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_become_lines),
        cmocka_unit_test(one_feature_leaves_the_others_alone),
        cmocka_unit_test(what_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
