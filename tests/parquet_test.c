/* Parquet in and out, by DuckDB's library: the same rows as CSV give the same trips, the same data
 * set and the same model; what a value means follows from the schema and the row. Skipped, and says
 * so, where there is no library (the build installs one for the tests: cmake/duckdb.cmake). */
#include "fit_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/duckdb.h"
#include "clean/clean.h"
#include "ingest/ingest.h"
#include "ingest/wkb.h"

enum { QUERY_ROOM = 4096, TRIPS = 400 };

static bool no_library(void) {
    const char *library = getenv("DPLOC_DUCKDB");
    bool missing = !library || access(library, R_OK) != 0;
    if (missing) print_message("skipped: no libduckdb (DPLOC_DUCKDB)\n");
    return missing;
}

static __attribute__((format(printf, 2, 3))) void duck(struct dpl_run *run, const char *form, ...) {
    struct duck *session;
    char query[QUERY_ROOM];
    va_list arguments;
    va_start(arguments, form);
    assert_in_range(vsnprintf(query, sizeof query, form, arguments), 1, QUERY_ROOM - 1);
    va_end(arguments);
    assert_ok(run, dpl_duck_open(run, 1, &session));
    assert_ok(run, dpl_duck_do(run, session, "test", query));
    dpl_duck_close(session);
}

/* The city of the bench as a Parquet file; `columns` says how. */
static const char *city_as(struct dpl_run *run, const struct bench *bench, const char *name,
                           const char *columns, const char *rest) {
    const char *path = test_path(bench->directory, name);
    duck(run,
         "COPY (SELECT %s FROM read_csv('%s', all_varchar = true) %s) TO '%s' (FORMAT parquet)",
         columns, bench->city, rest, path);
    return path;
}

static struct dpl_cleaned *clean(struct dpl_run *run, const struct bench *bench,
                                 const char *const *paths, size_t n, struct dpl_read_facts *facts) {
    struct dpl_cleaned *cleaned;
    struct dpl_read_facts *found = NULL;
    const struct dpl_read_options options = dpl_read_defaults();
    assert_ok(run, dpl_cleaned_read(run, paths, n, &options, &bench->area, &cleaned, &found));
    if (facts) *facts = *found;
    dpl_read_facts_free(found);
    return cleaned;
}

static struct dpl_identity identity_in(struct dpl_run *run, const char *path) {
    struct dpl_trips *trips;
    assert_ok(run, dpl_trips_open(run, &path, 1, NULL, &trips));
    struct dpl_identity identity = identity_of(run, trips);
    dpl_trips_free(trips);
    return identity;
}

/* Every type that a column of the role may have. */
static const char *const SPELLINGS[] = {
    "*",
    "trip_id::BIGINT AS tid, user_id::INTEGER AS uid, timestamp::BIGINT AS time, "
    "lat::DOUBLE AS lat, lon::DOUBLE AS lng",
    "lon::DECIMAL(9, 6) AS lng, lat::DECIMAL(9, 6) AS lat, "
    "make_timestamp(timestamp::BIGINT * 1000000) AT TIME ZONE 'UTC' AS datetime, "
    "trip_id::UINTEGER AS trip, user_id AS \"user\"",
    "[1, 2] AS list, trip_id::DOUBLE AS trip, user_id AS \"user id\", "
    "(timestamp::BIGINT * 1000) AS t, lat::DOUBLE AS lat, lon::DOUBLE AS lon, "
    "{'a': 1} AS nested, 'x'::BLOB AS blob, 'a, \"b\"' AS \"odd, \"\"name\"\"\"",
};

static void rows_are_those_of_csv(void **state) {
    (void)state;
    if (no_library()) skip();
    struct bench bench;
    set_up(&bench, TRIPS);
    struct dpl_run *run = test_run(2);
    struct dpl_read_facts facts, expected_facts;
    const char *csv = bench.city;
    struct dpl_cleaned *expected = clean(run, &bench, &csv, 1, &expected_facts);
    struct dpl_identity identity = identity_in(run, csv);
    for (size_t i = 0; i < sizeof SPELLINGS / sizeof *SPELLINGS; i++) {
        const char *path = city_as(run, &bench, "city.parquet", SPELLINGS[i], "");
        struct dpl_cleaned *cleaned = clean(run, &bench, &path, 1, &facts);
        assert_string_equal(facts.format, "parquet");
        assert_int_equal(facts.rows, expected_facts.rows);
        assert_int_equal(facts.users, expected_facts.users);
        assert_same_trips(cleaned, expected);
        dpl_cleaned_free(cleaned);
        struct dpl_identity same = identity_in(run, path);
        assert_memory_equal(&same, &identity, sizeof same);
    }
    dpl_cleaned_free(expected);
    dpl_run_free(run);
    tear_down(&bench);
}

/* PRIVACY: files of one table are cut by size, so that a trip may lie in two of them: it is one
 * unit all the same. */
static void a_trip_in_two_parts_is_one_trip(void **state) {
    (void)state;
    if (no_library()) skip();
    struct bench bench;
    set_up(&bench, TRIPS);
    struct dpl_run *run = test_run(2);
    const char *csv = bench.city, *pattern = test_path(bench.directory, "part-*.parquet");
    struct dpl_cleaned *expected = clean(run, &bench, &csv, 1, NULL);
    static const char *const HALVES[] = {"WHERE timestamp::BIGINT % 2 = 0",
                                         "WHERE timestamp::BIGINT % 2 = 1"};
    city_as(run, &bench, "part-0.parquet", "*", HALVES[0]);
    city_as(run, &bench, "part-1.parquet", "*, 1 AS more", HALVES[1]);
    struct dpl_read_facts facts;
    struct dpl_cleaned *cleaned = clean(run, &bench, &pattern, 1, &facts);
    assert_int_equal(facts.files, 2);
    assert_true(facts.scattered);
    assert_int_equal(facts.trips_read, TRIPS);
    assert_int_equal(cleaned->n_visits, expected->n_visits);
    const char *folder = bench.directory; // with other files in it, which are not of the table
    assert_int_equal(unlink(bench.city), 0);
    struct dpl_cleaned *walked = clean(run, &bench, &folder, 1, NULL);
    assert_same_trips(walked, cleaned);
    dpl_cleaned_free(expected), dpl_cleaned_free(cleaned), dpl_cleaned_free(walked);
    dpl_run_free(run);
    tear_down(&bench);
}

static void a_model_does_not_show_the_format(void **state) {
    (void)state;
    if (no_library()) skip();
    struct bench bench;
    set_up(&bench, TRIPS);
    struct dpl_run *run = test_run(2);
    struct bytes model[2];
    city_as(run, &bench, "city.parquet", "*", "");
    bench.options.checkpoint = NULL;
    // Of two files of CSV nothing is said about how they were read, as of Parquet.
    duck(run, "COPY (SELECT * FROM read_csv('%s', all_varchar = true) LIMIT 0) TO '%s/more.csv'",
         bench.city, bench.directory);
    char csv[2][PATH_ROOM], parquet[PATH_ROOM];
    snprintf(csv[0], PATH_ROOM, "%s", bench.city);
    snprintf(csv[1], PATH_ROOM, "%s/more.csv", bench.directory);
    snprintf(parquet, sizeof parquet, "%s/city.parquet", bench.directory);
    for (int i = 0; i < 2; i++) {
        const char *const inputs[2][2] = {{csv[0], csv[1]}, {parquet, NULL}};
        struct dpl_trips *trips;
        struct dpl_fit *fit = NULL;
        assert_ok(run, dpl_trips_open(run, inputs[i], i ? 1 : 2, NULL, &trips));
        assert_ok(run, dpl_fit(run, trips, &bench.area, &bench.options, &fit));
        assert_ok(run, dpl_model_write(run, dpl_fit_model(fit), bench.model, true));
        model[i] = read_all(bench.model, "");
        dpl_fit_free(fit);
        dpl_trips_free(trips);
    }
    assert_int_equal(model[0].length, model[1].length);
    assert_memory_equal(model[0].data, model[1].data, model[0].length);
    free(model[0].data), free(model[1].data);
    dpl_run_free(run);
    tear_down(&bench);
}

/* ---- one row's trouble is that row's ---- */

static const char BAD_ROWS[] =
    "COPY (SELECT * FROM (VALUES "
    "('a', TIMESTAMPTZ '2025-03-03 07:00:00+00', 48.0::DOUBLE, 11.5::DOUBLE), "
    "('a', TIMESTAMPTZ '2025-03-03 07:01:00+00', 48.001, 11.5), "
    "(NULL, TIMESTAMPTZ '2025-03-03 07:02:00+00', 48.0, 11.5), "
    "('b', NULL, 48.0, 11.5), "
    "('b', TIMESTAMPTZ 'infinity', 48.0, 11.5), "
    "('b', TIMESTAMPTZ '1970-01-02 00:00:00+00', 48.0, 11.5), "
    "('b', TIMESTAMPTZ '2025-03-03 07:03:00+00', NULL, 11.5), "
    "('b', TIMESTAMPTZ '2025-03-03 07:03:00+00', 'nan'::DOUBLE, 11.5), "
    "('b', TIMESTAMPTZ '2025-03-03 07:03:00+00', 48.0, 'inf'::DOUBLE), "
    "('line\nbreak', TIMESTAMPTZ '2025-03-03 07:03:00+00', 48.0, 11.5), "
    "('a', TIMESTAMPTZ '2025-03-03 07:02:00.999+00', 48.002, 11.5)) "
    "AS t(tid, datetime, lat, lng)) TO '%s' (FORMAT parquet)";

static void bad_rows_are_counted_one_by_one(void **state) {
    (void)state;
    if (no_library()) skip();
    struct bench bench;
    set_up(&bench, 1);
    struct dpl_run *run = test_run(1);
    const char *path = test_path(bench.directory, "bad.parquet");
    struct dpl_read_facts facts;
    duck(run, BAD_ROWS, path);
    struct dpl_cleaned *cleaned = clean(run, &bench, &path, 1, &facts);
    assert_int_equal(facts.rows, 11);
    assert_int_equal(facts.points, 3);
    assert_int_equal(facts.rows_rejected[DPL_REJECT_NO_ID], 1);
    assert_int_equal(facts.rows_rejected[DPL_REJECT_BAD_TIME], 2);
    assert_int_equal(facts.rows_rejected[DPL_REJECT_TIME_OUT_OF_RANGE], 1);
    assert_int_equal(facts.rows_rejected[DPL_REJECT_BAD_NUMBER], 1);
    assert_int_equal(facts.rows_rejected[DPL_REJECT_BAD_LATITUDE], 1);
    assert_int_equal(facts.rows_rejected[DPL_REJECT_BAD_LONGITUDE], 1);
    assert_int_equal(facts.rows_rejected[DPL_REJECT_BAD_QUOTES], 1);
    assert_int_equal(cleaned->n_trips, 1);
    assert_int_equal(cleaned->start[1], 3); // a second's fraction is cut off: 07:02:00
    dpl_cleaned_free(cleaned);
    dpl_run_free(run);
    tear_down(&bench);
}

/* Local clocks are read in the area's zone, as in CSV. */
static void a_time_without_zone_is_local(void **state) {
    (void)state;
    if (no_library()) skip();
    struct bench bench;
    set_up(&bench, 1);
    struct dpl_run *run = test_run(1);
    const char *path = test_path(bench.directory, "local.parquet");
    duck(run,
         "COPY (SELECT 1 AS tid, TIMESTAMP '2025-03-03 08:00:00' + to_minutes(i) AS datetime, "
         "48.0 AS lat, 11.5 AS lng FROM range(5) AS t(i)) TO '%s' (FORMAT parquet)",
         path);
    struct dpl_cleaned *cleaned = clean(run, &bench, &path, 1, NULL);
    assert_int_equal(cleaned->n_trips, 1);
    assert_int_equal(cleaned->utc_s[0], 1740985200); // 07:00 in UTC: the region is an hour ahead
    dpl_cleaned_free(cleaned);
    dpl_run_free(run);
    tear_down(&bench);
}

/* ---- a row a trip ---- */

/* Hexadecimal WKB of a LineString of n points from 11.5, 48 on northwards, with `more` coordinates
 * beside x and y. */
static const char *line_hex(uint32_t type, uint32_t n, int more) {
    static char text[1024];
    uint8_t bytes[512] = {1};
    size_t used = 1;
    memcpy(bytes + used, &type, sizeof type), used += sizeof type;
    memcpy(bytes + used, &n, sizeof n), used += sizeof n;
    for (uint32_t i = 0; i < n; i++) {
        const double position[] = {11.5, 48 + i * 0.001, -1, -1};
        memcpy(bytes + used, position, (size_t)(2 + more) * sizeof *position);
        used += (size_t)(2 + more) * sizeof *position;
    }
    for (size_t i = 0; i < used; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

/* One trip of GeoParquet: `hex`, and times a minute apart as the SQL expression `time` says of i.
 */
static const char *path_file(struct dpl_run *run, const struct bench *bench, const char *hex,
                             const char *name, const char *time, int n_times) {
    const char *path = test_path(bench->directory, "path.geoparquet");
    duck(run,
         "COPY (SELECT 7 AS tid, coalesce((SELECT list(%s ORDER BY i) FROM range(%d) AS t(i)), []) "
         "AS %s, unhex('%s') AS geometry) TO '%s' (FORMAT parquet)",
         time, n_times, name, hex, path);
    return path;
}

/* PRIVACY: the schema says that rows are trips; a trip whose times are not as many as its points is
 * that trip's trouble alone. */
static void a_row_may_be_a_trip(void **state) {
    (void)state;
    static const char *const TIMES[][2] = {
        {"datetime", "TIMESTAMPTZ '2025-03-03 07:00:00+00' + to_minutes(i)"},
        {"wann", "TIMESTAMPTZ '2025-03-03 07:00:00+00' + to_minutes(i)"},
        {"datetime", "TIMESTAMP '2025-03-03 08:00:00' + to_minutes(i)"},
        {"datetime", "(TIMESTAMP '2025-03-03 08:00:00' + to_minutes(i))::TIMESTAMP_NS"},
        {"datetime", "1740985200 + 60 * i"},
        {"datetime", "strftime(TIMESTAMP '2025-03-03 08:00:00' + to_minutes(i), '%Y-%m-%d %H:%M')"},
    };
    if (no_library()) skip();
    struct bench bench;
    set_up(&bench, 1);
    struct dpl_run *run = test_run(1);
    struct dpl_read_facts facts;
    struct dpl_read_options options = dpl_read_defaults();
    for (size_t i = 0; i < sizeof TIMES / sizeof *TIMES; i++)
        for (int more = 0; more < 3; more++) {
            const char *hex = line_hex(more == 2 ? 3002 : more ? 0x80000002 : 2, 4, more);
            const char *path = path_file(run, &bench, hex, TIMES[i][0], TIMES[i][1], 4);
            struct dpl_cleaned *cleaned;
            struct dpl_read_facts *found = NULL;
            options.time_column = TIMES[i][0];
            assert_ok(run,
                      dpl_cleaned_read(run, &path, 1, &options, &bench.area, &cleaned, &found));
            assert_int_equal(found->rows, 4);
            assert_int_equal(found->points, 4);
            assert_int_equal(cleaned->n_trips, 1);
            assert_int_equal(cleaned->utc_s[0], 1740985200);
            dpl_read_facts_free(found);
            dpl_cleaned_free(cleaned);
        }
    static const struct {
        uint32_t type, n;
        int times, rows;
    } BAD[] = {{2, 3, 4, 4}, {2, 4, 3, 3}, {3, 4, 4, 4}, {2, 4, 0, 1}, {0x20000002, 4, 4, 4}};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        const char *odd = path_file(run, &bench, line_hex(BAD[i].type, BAD[i].n, 0), "datetime",
                                    TIMES[0][1], BAD[i].times);
        const char *both[] = {odd, bench.city};
        struct dpl_cleaned *cleaned = clean(run, &bench, both, 2, &facts);
        assert_int_equal(cleaned->n_trips, 1); // the other file's
        int64_t rejected = 0;
        for (int r = 0; r < DPL_REJECTS; r++) rejected += facts.rows_rejected[r];
        assert_int_equal(rejected, BAD[i].rows);
        dpl_cleaned_free(cleaned);
    }
    dpl_run_free(run);
    tear_down(&bench);
}

/* A geometry says how many positions it has; bytes that end before are none. */
static void geometries_hold_what_they_promise(void **state) {
    (void)state;
    uint8_t bytes[5 + 4 + 3 * 16] = {1, 2};
    const uint32_t counts[] = {3, 4, 1000, UINT32_MAX};
    struct wkb wkb;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t length = 0; length <= sizeof bytes; length++) {
            memcpy(bytes + 5, &counts[i], sizeof counts[i]);
            uint8_t *cut = malloc(length + 1); // a byte too far is found by ASan
            memcpy(cut + 1, bytes, length);
            bool whole = i == 0 && length == sizeof bytes;
            assert_int_equal(dpl_wkb_read((const char *)cut + 1, length, &wkb), whole);
            free(cut);
        }
    bytes[1] = 1; // a point, whose coordinates begin where a line's number is
    assert_true(dpl_wkb_read((const char *)bytes, 5 + 16, &wkb));
    assert_int_equal(wkb.n, 1);
    assert_false(dpl_wkb_read((const char *)bytes, 5 + 15, &wkb));
    bytes[0] = 0; // the other order of bytes
    assert_false(dpl_wkb_read((const char *)bytes, sizeof bytes, &wkb));
}

/* ---- files that are none ---- */

static void assert_refused(struct dpl_run *run, const struct bench *bench, const char *path,
                           enum dpl_status expected, const char *part) {
    struct dpl_cleaned *cleaned = NULL;
    struct dpl_read_options options = dpl_read_defaults();
    enum dpl_status status =
        dpl_cleaned_read(run, &path, 1, &options, &bench->area, &cleaned, NULL);
    if (status != expected || !strstr(dpl_run_message(run), part))
        fail_msg("status %d: %s", (int)status, dpl_run_message(run));
}

static void damaged_files_are_refused(void **state) {
    (void)state;
    if (no_library()) skip();
    struct bench bench;
    set_up(&bench, 50);
    struct dpl_run *run = test_run(1);
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s", city_as(run, &bench, "city.parquet", "*", ""));
    struct bytes whole = read_all(path, "");
    for (size_t i = 0; i < test_soak(40); i++) { // cut off anywhere
        const char *cut =
            test_file(bench.directory, "cut.parquet", whole.data, whole.length * i / test_soak(40));
        assert_refused(run, &bench, cut, DPL_BAD_DATA, "cut.parquet: cannot be read: ");
    }
    uint64_t seed = 5;
    for (size_t i = 0; i < test_soak(60); i++) { // any byte may be any other: no crash
        size_t at = test_random(&seed) % whole.length;
        uint8_t old = whole.data[at];
        whole.data[at] = (uint8_t)test_random(&seed);
        const char *odd = test_file(bench.directory, "odd.parquet", whole.data, whole.length);
        struct dpl_cleaned *cleaned = NULL;
        struct dpl_read_options options = dpl_read_defaults();
        enum dpl_status status =
            dpl_cleaned_read(run, &odd, 1, &options, &bench.area, &cleaned, NULL);
        assert_true(status == DPL_OK || status == DPL_BAD_DATA || status == DPL_USAGE);
        if (status == DPL_OK) dpl_cleaned_free(cleaned);
        whole.data[at] = old;
    }
    assert_refused(run, &bench, test_file(bench.directory, "text.parquet", "tid,lat\n", 8),
                   DPL_BAD_DATA, "cannot be read");
    assert_refused(run, &bench, test_file(bench.directory, "PAR", "PAR1PAR1PAR1", 12), DPL_BAD_DATA,
                   "cannot be read");
    free(whole.data);
    dpl_run_free(run);
    tear_down(&bench);
}

static void a_missing_library_is_named(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, 1);
    struct dpl_run *run = test_run(1);
    char *kept = getenv("DPLOC_DUCKDB") ? strdup(getenv("DPLOC_DUCKDB")) : NULL;
    const char *path = test_file(bench.directory, "x.parquet", "PAR1PAR1", 8);
    setenv("DPLOC_DUCKDB", "/nowhere/libduckdb.so", 1);
    assert_refused(run, &bench, path, DPL_USAGE, "DPLOC_DUCKDB: /nowhere/libduckdb.so");
    setenv("DPLOC_DUCKDB", "libarchive.so.13", 1); // a library, but another
    assert_refused(run, &bench, path, DPL_USAGE, "has no duckdb_");
    if (kept)
        setenv("DPLOC_DUCKDB", kept, 1);
    else
        unsetenv("DPLOC_DUCKDB");
    free(kept);
    dpl_run_free(run);
    tear_down(&bench);
}

/* PRIVACY: private rows must not be spilled to a disk, nor anything be fetched from elsewhere. */
static void a_session_is_closed_in(void **state) {
    (void)state;
    if (no_library()) skip();
    struct dpl_run *run = test_run(1);
    duck(run, "SELECT error(name || ' is ' || value) FROM duckdb_settings() WHERE "
              "(name = 'temp_directory' AND value != '') OR "
              "(name IN ('autoload_known_extensions', 'autoinstall_known_extensions', "
              "'allow_community_extensions', 'allow_unsigned_extensions') AND value != 'false')");
    struct duck *session;
    assert_ok(run, dpl_duck_open(run, 1, &session));
    assert_int_equal(
        dpl_duck_do(run, session, "it", "SELECT * FROM 'https://example.org/trips.parquet'"),
        DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "it: "));
    dpl_duck_close(session);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_csv),
        cmocka_unit_test(a_trip_in_two_parts_is_one_trip),
        cmocka_unit_test(a_model_does_not_show_the_format),
        cmocka_unit_test(bad_rows_are_counted_one_by_one),
        cmocka_unit_test(a_time_without_zone_is_local),
        cmocka_unit_test(a_row_may_be_a_trip),
        cmocka_unit_test(geometries_hold_what_they_promise),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(a_missing_library_is_named),
        cmocka_unit_test(a_session_is_closed_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
