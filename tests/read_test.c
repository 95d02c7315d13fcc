/* Reading: one small city in many disguises must give the same trips; broken rows must be counted.
 */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "ingest/number.h"
#include "ingest/position.h"
#include "ingest/sorter.h"
#include "ingest/timestamp.h"

enum { TRIPS = 400, FEW_TRIPS = 25, POINTS = 12, TEXT = 1 << 20 };

struct city {
    char *text;
    size_t length;
};

static struct dpl_area area(void) {
    struct dpl_area area = dpl_area_defaults();
    area.south_deg = 48, area.north_deg = 48.2, area.west_deg = 11, area.east_deg = 11.3;
    strcpy(area.zone, "Europe/Berlin");
    return area;
}

static void row(struct city *city, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void row(struct city *city, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(city->text + city->length, TEXT - city->length, format, arguments);
    va_end(arguments);
    assert_true(length > 0 && city->length + (size_t)length < TEXT);
    city->length += (size_t)length;
}

/* Point p of trip t: deterministic, plausible, five decimals. */
static void point_of(int t, int p, double *lat_deg, double *lon_deg, int64_t *utc_s) {
    uint64_t random = (uint64_t)t * 977 + 5;
    double lat = 48.02 + 0.15 * test_uniform(&random), lon = 11.02 + 0.25 * test_uniform(&random),
           heading = 6.28 * test_uniform(&random);
    *lat_deg = round((lat + 0.0011 * p * sin(heading)) * 1e5) / 1e5;
    *lon_deg = round((lon + 0.0015 * p * cos(heading)) * 1e5) / 1e5;
    *utc_s = 1741003200 + t * 613 + p * 20;
}

enum dialect {
    PLAIN,
    SEMICOLON_CRLF_BOM,
    TABS_QUOTED,
    ISO_OFFSET,
    ISO_LOCAL,
    MILLISECONDS,
    SCATTERED,
    BACKWARDS,
    OTHER_ORDER,
    FLOATING,
    COMMAS_DOTTED,
    TWO_COLUMNS,
    COMPACT,
    COMPACT_UTC,
    POINTS_AS_TEXT,
    E7,
    CR_LINES,
    BLANKS,
    DIALECTS
};

/* 48.02125 -> "48,02125" */
static const char *with_comma(double value, char text[16]) {
    snprintf(text, 16, "%.5f", value);
    *strchr(text, '.') = ',';
    return text;
}

static void write_row(struct city *city, enum dialect dialect, int t, int p) {
    char comma[2][16];
    double lat, lon;
    int64_t s;
    point_of(t, p, &lat, &lon, &s);
    int seconds = (int)((s - 1741003200) % 86400),
        day = 3 + (int)((s - 1741003200) / 86400); // from 2025-03-03 12:00 UTC on
    int clock = 43200 + seconds;
    if (clock >= 86400) clock -= 86400, day++;
    int hour = clock / 3600, minute = clock / 60 % 60, second = clock % 60;
    switch (dialect) {
    case SEMICOLON_CRLF_BOM:
        row(city, "%d;u%d;%lld;%.5f;%.5f\r\n", t, t % 7, (long long)s, lat, lon);
        break;
    case TABS_QUOTED:
        row(city, "\"%d\"\t\"u%d\"\t\"%lld\"\t\"%.5f\"\t\"%.5f\"\n", t, t % 7, (long long)s, lat,
            lon);
        break;
    case ISO_OFFSET:
        row(city, "%d,u%d,2025-03-%02dT%02d:%02d:%02d+00:00,%.5f,%.5f\n", t, t % 7, day, hour,
            minute, second, lat, lon);
        break;
    case COMMAS_DOTTED: // Berlin is an hour ahead
        if (++hour == 24) hour = 0, day++;
        row(city, "%d;u%d;%02d.03.2025 %02d:%02d:%02d;%s;%s\n", t, t % 7, day, hour, minute, second,
            with_comma(lat, comma[0]), with_comma(lon, comma[1]));
        break;
    case TWO_COLUMNS:
        row(city, "%d,u%d,2025-03-%02d,%02d:%02d:%02dZ,%.5f,%.5f\n", t, t % 7, day, hour, minute,
            second, lat, lon);
        break;
    case COMPACT:
        if (++hour == 24) hour = 0, day++;
        row(city, "%d,u%d,202503%02d%02d%02d%02d,%.5f,%.5f\n", t, t % 7, day, hour, minute, second,
            lat, lon);
        break;
    case COMPACT_UTC:
        row(city, "%d,u%d,202503%02dT%02d%02d%02dZ,%.5f,%.5f\n", t, t % 7, day, hour, minute,
            second, lat, lon);
        break;
    case POINTS_AS_TEXT:
        row(city, "%d,u%d,%lld,POINT (%.5f %.5f)\n", t, t % 7, (long long)s, lon, lat);
        break;
    case E7:
        row(city, "%d,u%d,%lld,%lld,%lld\n", t, t % 7, (long long)s, llround(lat * 1e7),
            llround(lon * 1e7));
        break;
    case CR_LINES: row(city, "%d,u%d,%lld,%.5f,%.5f\r", t, t % 7, (long long)s, lat, lon); break;
    case BLANKS: row(city, "%5d u%d   %lld %.5f  %.5f \n", t, t % 7, (long long)s, lat, lon); break;
    case ISO_LOCAL:
        if (++hour == 24) hour = 0, day++;
        row(city, "%d,u%d,2025-03-%02d %02d:%02d:%02d,%.5f,%.5f\n", t, t % 7, day, hour, minute,
            second, lat, lon);
        break;
    case MILLISECONDS:
        row(city, "%d,u%d,%lld123,%.5f,%.5f\n", t, t % 7, (long long)s, lat, lon);
        break;
    case OTHER_ORDER:
        row(city, "x,%.5f,%lld,%.5f,,u%d,%d\n", lon, (long long)s, lat, t % 7, t);
        break;
    case FLOATING:
        row(city, "%d, u%d ,%lld.75,%.5fe0,%.9f\n", t, t % 7, (long long)s, lat, lon);
        break;
    default: row(city, "%d,u%d,%lld,%.5f,%.5f\n", t, t % 7, (long long)s, lat, lon);
    }
}

static void write_trips(struct city *city, enum dialect dialect, int n_trips) {
    static const char *const HEADERS[DIALECTS] = {
        "trip_id,user_id,timestamp,lat,lon\n",
        "\xEF\xBB\xBFtid;uid;datetime;lat;lng\r\n",
        "\"tid\"\t\"uid\"\t\"datetime\"\t\"latitude\"\t\"longitude\"\n",
        "tid,uid,datetime,lat,lng\n",
        "traj,user,time,y,x\n",
        "trip,taxi_id,time,lat,long\n",
        "trip_id,user_id,timestamp,lat,lon\n",
        "trip_id,user_id,timestamp,lat,lon\n",
        "note,lon,t,lat,empty,uid,tid\n",
        "trip_id,user_id,timestamp,lat,lon\n",
        "tid;uid;datetime;lat;lng\n",
        "tid,uid,date,time,lat,lng\n",
        "tid,uid,datetime,lat,lng\n",
        "tid,uid,datetime,lat,lng\n",
        "tid,uid,datetime,geometry\n",
        "tid,uid,datetime,latitudeE7,longitudeE7\n",
        "tid,uid,datetime,lat,lng\r",
        "  tid uid datetime   lat lng\n",
    };
    city->length = 0;
    row(city, "%s", HEADERS[dialect]);
    if (dialect == SCATTERED) {
        for (int p = 0; p < POINTS; p++)
            for (int t = 0; t < n_trips; t++) write_row(city, dialect, t, p);
        return;
    }
    for (int t = 0; t < n_trips; t++)
        for (int p = 0; p < POINTS; p++)
            write_row(city, dialect, t, dialect == BACKWARDS ? (p * 5) % POINTS : p);
}

static void write_city(struct city *city, enum dialect dialect) {
    write_trips(city, dialect, TRIPS);
}

static struct dpl_cleaned *read_file(struct dpl_run *run, const char *path,
                                     const struct dpl_read_options *options,
                                     struct dpl_read_facts *facts) {
    struct dpl_cleaned *trips;
    struct dpl_read_facts *found;
    struct dpl_area where = area();
    assert_ok(run, dpl_cleaned_read(run, &path, 1, options, &where, &trips, &found));
    if (facts) *facts = *found;
    dpl_read_facts_free(found);
    return trips;
}

static void every_dialect_gives_the_same_trips(void **state) {
    (void)state;
    struct city city = {malloc(TEXT), 0};
    char *directory = test_directory();
    struct dpl_run *run = test_run(2);
    struct dpl_read_options options = dpl_read_defaults();
    struct dpl_cleaned *plain = NULL;
    options.memory_bytes = 5000; // the sorter must use its file
    for (enum dialect dialect = PLAIN; dialect < DIALECTS; dialect++) {
        struct dpl_read_facts facts;
        write_city(&city, dialect);
        const char *path = test_file(directory, "city.csv", city.text, city.length);
        struct dpl_cleaned *trips = read_file(run, path, &options, &facts);
        assert_int_equal(facts.trips_read, TRIPS);
        assert_int_equal(facts.rows, TRIPS * POINTS);
        assert_int_equal(facts.points, TRIPS * POINTS);
        assert_int_equal(facts.users, 7);
        assert_int_equal(facts.scattered, dialect == SCATTERED);
        if (!plain) {
            plain = trips;
            assert_true(plain->n_trips > TRIPS / 2);
        } else {
            assert_same_trips(plain, trips);
            dpl_cleaned_free(trips);
        }
    }
    dpl_cleaned_free(plain);
    dpl_run_free(run);
    test_directory_remove(directory);
    free(city.text);
}

/* Blocks are about 1 MB: a city of several makes trips cross their ends. */
static void block_ends_and_threads_do_not_matter(void **state) {
    (void)state;
    size_t copies = 12;
    struct city city = {malloc(TEXT), 0};
    char *directory = test_directory();
    write_city(&city, PLAIN);
    const char *path = test_path(directory, "big.csv");
    struct dpl_run *run = test_run(1), *two = test_run(2);
    struct dpl_file *file;
    assert_ok(run, dpl_file_create(run, path, &(struct dpl_file_options){0}, &file));
    const char *header_end = strchr(city.text, '\n') + 1;
    assert_ok(run, dpl_file_write(file, city.text, (size_t)(header_end - city.text)));
    for (size_t copy = 0; copy < copies; copy++) {
        const char *line = header_end, *end = city.text + city.length;
        while (line <
               end) { // new trip ids, so that trips stay apart; odd padding moves the block ends
            const char *next = strchr(line, '\n') + 1;
            char prefixed[256];
            int length = snprintf(prefixed, sizeof prefixed, "%0*zu-%.*s", (int)(60 + copy), copy,
                                  (int)(next - line), line);
            assert_ok(run, dpl_file_write(file, prefixed, (size_t)length));
            line = next;
        }
    }
    assert_ok(run, dpl_file_commit(file));
    struct dpl_read_options options = dpl_read_defaults();
    struct dpl_read_facts facts;
    struct dpl_cleaned *one_thread = read_file(run, path, &options, &facts),
                       *two_threads = read_file(two, path, &options, NULL);
    assert_true(facts.bytes > 4 << 20);
    assert_int_equal(facts.trips_read, (int64_t)(copies * TRIPS));
    assert_false(facts.scattered);
    assert_same_trips(one_thread, two_threads);
    const char *small = test_file(directory, "small.csv", city.text, city.length);
    struct dpl_cleaned *once = read_file(run, small, &options, NULL);
    assert_int_equal(one_thread->n_trips, copies * once->n_trips);
    for (size_t copy = 0; copy < copies; copy++)
        assert_memory_equal(one_thread->cell + copy * once->n_visits, once->cell,
                            once->n_visits * sizeof *once->cell);
    dpl_cleaned_free(once), dpl_cleaned_free(one_thread), dpl_cleaned_free(two_threads);
    dpl_run_free(run), dpl_run_free(two);
    test_directory_remove(directory);
    free(city.text);
}

static void the_cleaned_result_is_small(void **state) {
    (void)state;
    struct city city = {malloc(TEXT), 0};
    char *directory = test_directory();
    struct dpl_run *run = test_run(1);
    write_city(&city, PLAIN);
    struct dpl_read_options options = dpl_read_defaults();
    struct dpl_cleaned *t =
        read_file(run, test_file(directory, "c.csv", city.text, city.length), &options, NULL);
    size_t per_trip = sizeof *t->start + sizeof *t->utc_s + sizeof *t->user + sizeof *t->period;
    assert_true(t->n_visits * sizeof *t->cell + t->n_trips * per_trip <= 16 * t->n_visits);
    dpl_cleaned_free(t);
    dpl_run_free(run);
    test_directory_remove(directory);
    free(city.text);
}

/* ---- bad rows ---- */

static void bad_rows_are_counted_by_reason(void **state) {
    (void)state;
    static const char TEXT_BAD[] = "tid,uid,datetime,lat,lng\n"
                                   "1,a,1741003200,48.1,11.1\n"
                                   "1,a,1741003230,abc,11.1\n"    // bad number
                                   "1,a,1741003240,95,11.1\n"     // latitude
                                   "1,a,1741003240,48.1,361\n"    // longitude
                                   "1,a,1741003250,nan,11.1\n"    // latitude
                                   "1,a,1741003250,0,0.0\n"       // no fix
                                   "1,a,yesterday,48.1,11.1\n"    // time
                                   "1,a,0,48.1,11.1\n"            // 1970
                                   "1,a,9214646400,48.1,11.1\n"   // 2262
                                   "1,a,1741003260,48.1\n"        // a field is missing
                                   ",a,1741003260,48.1,11.1\n"    // no trip id
                                   "1,\"a,1741003260,48.1,11.1\n" // quote not closed
                                   "1,a,1741003260,48.1\0,11.1\n" // NUL
                                   "\n"
                                   "1,a,1741003270,48.1,11.1\n";
    static const int64_t EXPECTED[DPL_REJECTS] = {
        [DPL_REJECT_MISSING_FIELD] = 1,     [DPL_REJECT_BAD_NUMBER] = 1,
        [DPL_REJECT_BAD_LATITUDE] = 2,      [DPL_REJECT_BAD_LONGITUDE] = 1,
        [DPL_REJECT_ZERO_COORDINATES] = 1,  [DPL_REJECT_BAD_TIME] = 1,
        [DPL_REJECT_TIME_OUT_OF_RANGE] = 2, [DPL_REJECT_NO_ID] = 1,
        [DPL_REJECT_BAD_QUOTES] = 1,        [DPL_REJECT_NUL_BYTE] = 1,
    };
    char *directory = test_directory();
    struct dpl_run *run = test_run(1);
    struct dpl_read_options options = dpl_read_defaults();
    struct dpl_read_facts facts;
    const char *path = test_file(directory, "bad.csv", TEXT_BAD, sizeof TEXT_BAD - 1);
    struct dpl_cleaned *trips = read_file(run, path, &options, &facts);
    for (int i = 0; i < DPL_REJECTS; i++)
        if (facts.rows_rejected[i] != EXPECTED[i])
            fail_msg("%s: %lld, not %lld", dpl_reject_name((enum dpl_reject)i),
                     (long long)facts.rows_rejected[i], (long long)EXPECTED[i]);
    assert_int_equal(facts.rows, 14);
    assert_int_equal(facts.points, 2);
    assert_int_equal(trips->n_trips, 1);
    assert_non_null(
        strstr(facts.example[DPL_REJECT_BAD_NUMBER], "bad.csv:3: column 'lat': \"abc\""));
    assert_non_null(
        strstr(facts.example[DPL_REJECT_TIME_OUT_OF_RANGE], ":9: column 'datetime': \"0\""));
    dpl_cleaned_free(trips);

    options.strict = true;
    struct dpl_area where = area();
    assert_int_equal(dpl_cleaned_read(run, &path, 1, &options, &where, &trips, NULL), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "bad.csv:3: column 'lat': \"abc\""));
    dpl_run_free(run);
    test_directory_remove(directory);
}

static enum dpl_status read_text(struct dpl_run *run, const char *name, const char *text,
                                 size_t length, bool strict) {
    char *directory = test_directory();
    const char *path = test_file(directory, name, text, length);
    struct dpl_read_options options = dpl_read_defaults();
    struct dpl_area where = area();
    struct dpl_cleaned *trips = NULL;
    options.strict = strict;
    enum dpl_status status = dpl_cleaned_read(run, &path, 1, &options, &where, &trips, NULL);
    if (status == DPL_OK) dpl_cleaned_free(trips);
    test_directory_remove(directory);
    return status;
}

static void hopeless_files_say_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t length; /* 0: strlen */
        enum dpl_status status;
        const char *says;
    } CASES[] = {
        {"", 0, DPL_BAD_DATA, "empty"},
        {"tid,datetime,lng\n1,1741003200,11\n", 0, DPL_USAGE,
         "no latitude column among tid, datetime, lng (name it with `read.lat_column`"},
        {"tid,lat,lon\n1,48,11\n", 0, DPL_USAGE, "no time column"},
        {"tid,lat,lon,time\n1,48,11,soon\n", 0, DPL_BAD_DATA,
         "x.csv:2: column 'time': \"soon\" (bad_time)"},
        {"tid,lat,lon,time\n", 0, DPL_BAD_DATA, "no rows"},
        {"tid,lat,lon,time\n1,x,11,1741003200\n", 0, DPL_BAD_DATA,
         "none of the 1 rows can be used; the first:"},
        {"tid,lat,lon,time,timestamp\n1,48,11,1741003200,1\n", 0, DPL_USAGE,
         "both 'time' and 'timestamp' may be the time column; say which with `read.time_column`"},
        {"id,lat,lon,time\n1,48,11,1741003200\n", 0, DPL_USAGE, "is 'id' a trip or a user?"},
        {"7,1741003200,48.1,11.1\n", 0, DPL_USAGE, "`read.columns`"},
        {"tid,lat,lon,time\n1,52.5,13.4,1741003200\n1,52.5,13.4,1741003260\n", 0, DPL_BAD_DATA,
         "1 leave the box"},
        {"\x7f"
         "ELF\0\0\0\1\2\3\n",
         12, DPL_USAGE, "not in a known format"},
        {"just words\n", 0, DPL_USAGE, "not in a known format"},
        {"tid,lat,lon,time", 0, DPL_BAD_DATA, "the header is cut off"},
        {"a\x01,lat,lon,time\n1,48,11,1741003200\n", 0, DPL_USAGE, "has control bytes"},
    };
    struct dpl_run *run = test_run(1);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        enum dpl_status status =
            read_text(run, "x.csv", CASES[i].text,
                      CASES[i].length ? CASES[i].length : strlen(CASES[i].text), false);
        if (status != CASES[i].status || !strstr(dpl_run_message(run), CASES[i].says))
            fail_msg("case %zu: status %d: %s", i, (int)status, dpl_run_message(run));
    }
    dpl_run_free(run);
}

static void strict_refuses_time_that_runs_backwards(void **state) {
    (void)state;
    static const char ROWS[] = "tid,lat,lon,time\n1,48.1,11.1,1741003200\n1,48.1,11.1,"
                               "1741003260\n1,48.1,11.1,1741003230\n";
    struct dpl_run *run = test_run(1);
    assert_ok(run, read_text(run, "b.csv", ROWS, sizeof ROWS - 1, false));
    assert_int_equal(read_text(run, "b.csv", ROWS, sizeof ROWS - 1, true), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "b.csv:4: column 'time'"));
    dpl_run_free(run);
}

static void a_line_of_ten_megabytes_is_counted_and_skipped(void **state) {
    (void)state;
    enum { LONG = 10 << 20 };
    char *text = malloc(LONG + 400);
    size_t length = (size_t)sprintf(text, "tid,lat,lon,time\n1,48.1,11.1,1741003200\n");
    memset(text + length, '7', LONG);
    length += LONG;
    length += (size_t)sprintf(text + length, "\n1,48.1,11.1,1741003260\n");
    char *directory = test_directory();
    struct dpl_run *run = test_run(2);
    struct dpl_read_options options = dpl_read_defaults();
    struct dpl_read_facts facts;
    struct dpl_cleaned *trips =
        read_file(run, test_file(directory, "long.csv", text, length), &options, &facts);
    assert_int_equal(facts.rows_rejected[DPL_REJECT_LINE_TOO_LONG], 1);
    assert_int_equal(facts.points, 2);
    assert_int_equal(trips->n_trips, 1);
    dpl_cleaned_free(trips);
    dpl_run_free(run);
    test_directory_remove(directory);
    free(text);
}

static void several_files_keep_their_trip_ids_apart(void **state) {
    (void)state;
    static const char A[] =
        "tid,uid,lat,lon,time\n1,u,48.1,11.1,1741003200\n1,u,48.1,11.1,1741003260\n";
    static const char B[] =
        "tid,uid,lat,lon,time\n1,u,48.15,11.2,1741103200\n1,u,48.15,11.2,1741103260\n";
    char *directory = test_directory();
    test_file(directory, "a.csv", A, sizeof A - 1);
    test_file(directory, "b.csv", B, sizeof B - 1);
    test_file(directory, "README", "hello", 5);
    struct dpl_run *run = test_run(2);
    struct dpl_read_options options = dpl_read_defaults();
    struct dpl_read_facts facts;
    struct dpl_cleaned *trips = read_file(run, directory, &options, &facts);
    assert_int_equal(trips->n_trips, 2);
    assert_int_equal(trips->n_users, 1);
    assert_int_equal(facts.files, 2);
    assert_int_equal(facts.files_skipped, 1);
    dpl_cleaned_free(trips);
    dpl_run_free(run);
    test_directory_remove(directory);
}

static void trips_without_times_can_be_read_on_demand(void **state) {
    (void)state;
    static const char ROWS[] = "tid,datetime,lat,lng\na,,48.1,11.1\na,,48.11,11.1\nb,,48.1,11.1\nb,"
                               ",48.1,11.2\nb,,48.1,11.21\n";
    static const char BARE[] =
        "tid,lat,lng\na,48.1,11.1\na,48.11,11.1\nb,48.1,11.1\nb,48.1,11.2\nb,48.1,11.21\n";
    char *directory = test_directory();
    struct dpl_run *run = test_run(1);
    struct dpl_read_options options = dpl_read_defaults();
    options.time_optional = true;
    for (int i = 0; i < 2; i++) {
        struct dpl_cleaned *trips =
            read_file(run, test_file(directory, "f.csv", i ? BARE : ROWS, strlen(i ? BARE : ROWS)),
                      &options, NULL);
        assert_false(trips->has_time);
        assert_int_equal(trips->n_trips, 2);
        assert_int_equal(trips->n_visits, 5);
        dpl_cleaned_free(trips);
    }
    dpl_run_free(run);
    test_directory_remove(directory);
}

/* ---- parts ---- */

static void numbers_agree_with_strtod(void **state) {
    (void)state;
    uint64_t random = 11;
    for (size_t i = 0; i < test_soak(200000); i++) {
        char text[64 + NUMBER_PADDING] = {0};
        int digits = (int)(test_random(&random) % 12), length;
        double wide = (test_uniform(&random) - 0.5) * pow(10, (double)(test_random(&random) % 8));
        length = snprintf(text, 64, test_random(&random) % 16 ? "%.*f" : "%.*e", digits, wide);
        double value = NAN;
        assert_true(dpl_parse_number(text, (size_t)length, &value));
        assert_true(value == strtod(text, NULL));
    }
    static const char *const BAD[] = {"",   ".",   "-",   "1.2.3", "12a", "0x10",
                                      "1e", "--1", "1,5", " 1",    "1 ",  "9e"};
    double value;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_false(dpl_parse_number(BAD[i], strlen(BAD[i]), &value));
}

/* Each value tells by itself how it is written; the quick scanner agrees where it reads it. */
static void times_are_read_in_every_form(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum time_result result;
        enum time_notation notation;
        int64_t utc_s;
    } CASES[] = {
        {"1741003200", TIME_OK, TIME_S, 1741003200},
        {"1741003200.9", TIME_OK, TIME_S, 1741003200},
        {"1741003200999", TIME_OK, TIME_MS, 1741003200},
        {"1741003200999999", TIME_OK, TIME_US, 1741003200},
        {"1741003200000000000", TIME_OK, TIME_NS, 1741003200},
        {"741003200999999999", TIME_OK, TIME_NS, 741003200},
        {"2025-03-03T12:00:00Z", TIME_OK, TIME_ISO_OFFSET, 1741003200},
        {"2025-03-03 12:00:00", TIME_OK, TIME_ISO_LOCAL, 1741003200},
        {"2025-03-03 12:00", TIME_OK, TIME_ISO_LOCAL, 1741003200},
        {"2025/03/03 12:00:00", TIME_OK, TIME_ISO_LOCAL, 1741003200},
        {"2025-03-03T13:00:00.250+01:00", TIME_OK, TIME_ISO_OFFSET, 1741003200},
        {"2025-03-03T04:00:00-0800", TIME_OK, TIME_ISO_OFFSET, 1741003200},
        {"2025-03-03 12:00:00 UTC", TIME_OK, TIME_ISO_OFFSET, 1741003200},
        {"2025-03-03T12:00Z", TIME_OK, TIME_ISO_OFFSET, 1741003200},
        {"20250303T120000", TIME_OK, TIME_ISO_LOCAL, 1741003200},
        {"20250303T120000Z", TIME_OK, TIME_ISO_OFFSET, 1741003200},
        {"20250303T1300+0100", TIME_OK, TIME_ISO_OFFSET, 1741003200},
        {"20250303 12:00:00", TIME_OK, TIME_ISO_LOCAL, 1741003200},
        {"20250303120000", TIME_OK, TIME_ISO_LOCAL, 1741003200},
        {"202503031200", TIME_OK, TIME_ISO_LOCAL, 1741003200},
        {"20250230120000", TIME_MALFORMED, TIME_S, 0},
        {"20250303126000", TIME_MALFORMED, TIME_S, 0},
        {"631152000000", TIME_OK, TIME_MS, 631152000}, // the first that counts milliseconds
        {"19900101000000", TIME_OK, TIME_ISO_LOCAL, 631152000},
        {"03.03.2025 12:00:00", TIME_OK, TIME_DOTTED, 1741003200},
        {"03.03.2025 12:00", TIME_OK, TIME_DOTTED, 1741003200},
        {"03.03.2025T12:00:00.5+00:00", TIME_OK, TIME_ISO_OFFSET, 1741003200},
        {"31.02.2025 12:00", TIME_MALFORMED, TIME_S, 0},
        {"3.3.2025 12:00", TIME_MALFORMED, TIME_S, 0},
        {"03/03/2025 12:00:00", TIME_MALFORMED, TIME_S, 0}, // day or month first?
        {"2025-03-03120000", TIME_MALFORMED, TIME_S, 0},
        {"12:00:00", TIME_MALFORMED, TIME_S, 0},
        {"0", TIME_OUT_OF_RANGE, TIME_S, 0},
        {"1970-01-01T00:00:00Z", TIME_OUT_OF_RANGE, TIME_ISO_OFFSET, 0},
        {"2262-04-11T00:00:00Z", TIME_OUT_OF_RANGE, TIME_ISO_OFFSET, 0},
        {"2025-02-29 12:00:00", TIME_MALFORMED, TIME_S, 0},
        {"2025-13-01 12:00:00", TIME_MALFORMED, TIME_S, 0},
        {"2025-03-03 24:00:00", TIME_MALFORMED, TIME_S, 0},
        {"2025-03-03T12:00:00+1", TIME_MALFORMED, TIME_S, 0},
        {"noon", TIME_MALFORMED, TIME_S, 0},
        {"", TIME_MALFORMED, TIME_S, 0},
    };
    static const struct time_format AUTO = {0, NULL, NULL};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char padded[64] = "";
        enum time_notation notation = TIME_S, fast = TIME_S;
        int64_t utc_s = 0, fast_s = 0;
        size_t length = strlen(CASES[i].text);
        enum time_result result = dpl_time_parse(&AUTO, CASES[i].text, length, &utc_s, &notation);
        if (result != CASES[i].result || (result == TIME_OK && utc_s != CASES[i].utc_s) ||
            (result == TIME_OK && notation != CASES[i].notation))
            fail_msg("'%s': %d, %lld, %d", CASES[i].text, result, (long long)utc_s, notation);
        snprintf(padded, sizeof padded, "%s\n", CASES[i].text);
        const char *end = scan_time(&AUTO, padded, &fast_s, &fast);
        if (end == padded + length && result == TIME_OK && (fast_s != utc_s || fast != notation))
            fail_msg("'%s': scanned as %lld, %d", CASES[i].text, (long long)fast_s, fast);
    }
}

static void times_may_follow_a_pattern(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool good, has_offset;
    } CASES[] = {
        {"%d/%m/%Y %H:%M:%S", "03/03/2025 12:00:00", true, false},
        {"%d/%m/%Y %H:%M", "3/3/2025  12:00", true, false},
        {"%m/%d/%y %I:%M:%S %p", "03/03/25 12:00:00 PM", true, false},
        {"%m/%d/%y %I:%M:%S %p", "03/03/25 12:00:00 XM", false, false},
        {"%d %b %Y %H:%M", "03 March 2025 12:00", true, false},
        {"%d-%b-%Y %T", "3-MAR-2025 12:00:00", true, false},
        {"%FT%T.%f%z", "2025-03-03T13:00:00.25+01:00", true, true},
        {"%F %T%z", "2025-03-03 12:00:00Z", true, true},
        {"%F %T %z", "2025-03-03 04:00:00 -0800", true, true},
        {"%s", "1741003200", true, true},
        {"%Y%m%d%H%M%S", "20250303120000", true, false},
        {"%H:%M:%S on %d.%m.%Y", "12:00:00 on 03.03.2025", true, false},
        {"%d/%m/%Y %H:%M:%S", "03/13/2025 12:00:00", false, false},
        {"%d/%m/%Y %H:%M:%S", "03/03/2025 12:00:00 ", false, false},
        {"%d/%m/%Y %H:%M:%S", "03/03/2025 12:00", false, false},
        {"%d/%m/%Y %H:%M", "29/02/2025 12:00", false, false},
        {"%d/%m/%Y %H:%M", "03/03/2025 24:00", false, false},
        {"%d/%m/%Y %I:%M %p", "03/03/2025 13:00 PM", false, false},
        {"%d/%m/%Y %H:%M", "", false, false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        int64_t seconds = 0;
        bool has_offset = false;
        assert_true(dpl_time_pattern_good(CASES[i].pattern));
        bool good = dpl_time_by_pattern(CASES[i].pattern, CASES[i].text, strlen(CASES[i].text),
                                        &seconds, &has_offset);
        if (good != CASES[i].good || (good && seconds != 1741003200) ||
            (good && has_offset != CASES[i].has_offset))
            fail_msg("'%s' by '%s': %d, %lld", CASES[i].text, CASES[i].pattern, good,
                     (long long)seconds);
    }
    static const char *const BAD[] = {"", "%H:%M", "%d/%m/%Y", "%Q %F %T", "%F %T %", "2025"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_false(dpl_time_pattern_good(BAD[i]));
}

/* The tower of Toronto in four notations, and what is none. */
static void positions_are_read_in_every_notation(void **state) {
    (void)state;
    static const struct {
        const char *word;
        double y, x, lat, lon;
    } CASES[] = {{"degrees", 43.642567, -79.387139, 43.642567, -79.387139},
                 {"EPSG:4326", 43.642567, 280.612861, 43.642567, -79.387139},
                 {"E7", 436425670, -793871390, 43.642567, -79.387139},
                 {"EPSG:32617", 4833438, 630084, 43.642567, -79.387139},
                 {"EPSG:3857", 5410293, -8837336, 43.642567, -79.387139},
                 // Sydney's opera house, in the south: 334873 E, 6252266 N
                 {"EPSG:32756", 6252266, 334873, -33.857, 151.215}};
    struct coordinates coordinates;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        double lat = CASES[i].y, lon = CASES[i].x;
        assert_true(dpl_coordinates_parse(CASES[i].word, &coordinates));
        dpl_to_degrees(&coordinates, &lat, &lon);
        if (fabs(lat - CASES[i].lat) > 1e-3 || fabs(lon - CASES[i].lon) > 1e-3)
            fail_msg("%s: %.6f, %.6f", CASES[i].word, lat, lon);
    }
    static const char *const BAD[] = {"",           "auto",       "utm",        "EPSG:32600",
                                      "EPSG:32661", "EPSG:32833", "EPSG:3263x", "EPSG:326333"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_false(dpl_coordinates_parse(BAD[i], &coordinates));
    assert_int_equal(coordinates.kind, COORDINATES_DEGREES);
}

/* There and back again: forward formulas that the reader does not have, every degree of a zone. */
static void projections_turn_around(void **state) {
    (void)state;
    struct coordinates utm, mercator;
    assert_true(dpl_coordinates_parse("EPSG:32632", &utm));
    assert_true(dpl_coordinates_parse("EPSG:3857", &mercator));
    for (double lat = 0; lat <= 80; lat += 4)
        for (double lon = 6; lon <= 12; lon++) {
            const double to_rad = acos(-1) / 180, e2 = 0.0066943799901413165, ep2 = e2 / (1 - e2),
                         phi = lat * to_rad, s = sin(phi), c = cos(phi),
                         nu = 6378137 / sqrt(1 - e2 * s * s), t = tan(phi) * tan(phi),
                         g = ep2 * c * c, a = (lon - 9) * to_rad * c, a2 = a * a;
            // Snyder's series for transverse Mercator
            double m = 6378137 *
                       ((1 - e2 / 4 - 3 * e2 * e2 / 64 - 5 * e2 * e2 * e2 / 256) * phi -
                        (3 * e2 / 8 + 3 * e2 * e2 / 32 + 45 * e2 * e2 * e2 / 1024) * sin(2 * phi) +
                        (15 * e2 * e2 / 256 + 45 * e2 * e2 * e2 / 1024) * sin(4 * phi) -
                        35 * e2 * e2 * e2 / 3072 * sin(6 * phi));
            double x = 5e5 + 0.9996 * nu * a *
                                 (1 + (1 - t + g) * a2 / 6 +
                                  (5 - 18 * t + t * t + 72 * g - 58 * ep2) * a2 * a2 / 120),
                   y = 0.9996 *
                       (m + nu * tan(phi) * a2 *
                                (0.5 + (5 - t + 9 * g + 4 * g * g) * a2 / 24 +
                                 (61 - 58 * t + t * t + 600 * g - 330 * ep2) * a2 * a2 / 720));
            dpl_to_degrees(&utm, &y, &x);
            assert_true(fabs(y - lat) < 1e-7 && fabs(x - lon) < 1e-7);
            y = 6378137 * log(tan((90 + lat) * to_rad / 2)), x = 6378137 * lon * to_rad;
            dpl_to_degrees(&mercator, &y, &x);
            assert_true(fabs(y - lat) < 1e-9 && fabs(x - lon) < 1e-9);
        }
}

static void points_and_commas_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool good;
    } POINT[] = {{"POINT(11.5 48.1)", true},
                 {"point ( 11.5   48.1 )", true},
                 {"SRID=4326;POINT(11.5 48.1)", true},
                 {"POINT Z (11.5 48.1 520)", true},
                 {"POINT(11.5)", false},
                 {"POINT(11.5,48.1)", false},
                 {"POINT(11.5 48.1", false},
                 {"POINT(11.5 48.1) x", false},
                 {"LINESTRING(11.5 48.1)", false},
                 {"POINT EMPTY", false},
                 {"", false}};
    static const struct {
        const char *text;
        double value; /* NAN: no number */
    } DECIMAL[] = {{"48,137", 48.137}, {"-8,5", -8.5}, {"48.137", 48.137}, {"1.234,5", NAN},
                   {"1,234,5", NAN},   {"48,x", NAN},  {",5", 0.5},        {"", NAN},
                   {",", NAN},         {"4 8,1", NAN}};
    double x, y;
    for (size_t i = 0; i < sizeof POINT / sizeof *POINT; i++) {
        bool good = dpl_parse_point(POINT[i].text, strlen(POINT[i].text), &x, &y);
        if (good != POINT[i].good || (good && (fabs(x - 11.5) > 0 || fabs(y - 48.1) > 0)))
            fail_msg("%s", POINT[i].text);
    }
    for (size_t i = 0; i < sizeof DECIMAL / sizeof *DECIMAL; i++) {
        bool good = dpl_parse_decimal(DECIMAL[i].text, strlen(DECIMAL[i].text), &x);
        if (good == isnan(DECIMAL[i].value) || (good && fabs(x - DECIMAL[i].value) > 1e-15))
            fail_msg("%s", DECIMAL[i].text);
    }
}

static void a_given_unit_of_time_holds_for_every_number(void **state) {
    (void)state;
    int64_t utc_s;
    enum time_notation notation;
    struct time_format milliseconds = {dpl_time_units("ms"), NULL, NULL},
                       seconds = {dpl_time_units("s"), NULL, NULL};
    assert_int_equal(dpl_time_parse(&milliseconds, "741003200999", 12, &utc_s, &notation), TIME_OK);
    assert_int_equal(utc_s, 741003200);
    assert_int_equal(dpl_time_parse(&seconds, "1741003200999", 13, &utc_s, &notation),
                     TIME_OUT_OF_RANGE);
    assert_int_equal(dpl_time_parse(&seconds, "2025-03-03 12:00", 16, &utc_s, &notation), TIME_OK);
    assert_int_equal(dpl_time_units("minutes"), -1);
}

static void the_sorter_sorts_stably(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    for (size_t memory = 1000; memory <= 4000000; memory *= 60) {
        struct sorter *sorter;
        uint64_t random = 9;
        enum { N = 20000 };
        assert_ok(run, dpl_sorter_new(run, memory, &sorter));
        for (int i = 0; i < N; i++) {
            struct point point = {(int64_t)(test_random(&random) % 50), i, 0};
            assert_ok(run, dpl_sorter_add(sorter, (uint32_t)(test_random(&random) % 300), &point));
        }
        int64_t seen = 0, last_recording = -1;
        for (;;) {
            uint32_t recording;
            struct point *points;
            size_t n;
            assert_ok(run, dpl_sorter_next(sorter, &recording, &points, &n));
            if (!n) break;
            assert_true((int64_t)recording > last_recording);
            last_recording = recording;
            for (size_t i = 1; i < n; i++) {
                assert_true(points[i - 1].utc_s <= points[i].utc_s);
                if (points[i - 1].utc_s == points[i].utc_s)
                    assert_true(points[i - 1].lat_deg < points[i].lat_deg);
            }
            seen += (int64_t)n;
        }
        assert_int_equal(seen, N);
        dpl_sorter_free(sorter);
    }
    dpl_run_free(run);
}

/* Every allocation fails once: a clean error each time, and no leak (the sanitizers look). */
static void every_allocation_may_fail(void **state) {
    (void)state;
    static const enum dialect KINDS[] = {PLAIN, SCATTERED, TABS_QUOTED, BACKWARDS};
    struct city city = {malloc(TEXT), 0};
    char *directory = test_directory();
    struct dpl_area where = area();
    struct dpl_read_options options = dpl_read_defaults();
    options.memory_bytes = 200000;
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++) {
        write_trips(&city, KINDS[k], FEW_TRIPS);
        const char *path = test_file(directory, "oom.csv", city.text, city.length);
        bool ended = false;
        for (long n = 1; !ended; n++) {
            struct dpl_run *run = test_run(1);
            struct dpl_cleaned *trips = NULL;
            dpl_run_fail_allocation(run, n);
            enum dpl_status status =
                dpl_cleaned_read(run, &path, 1, &options, &where, &trips, NULL);
            ended = dpl_run_allocations(run) < n;
            if (status != (ended ? DPL_OK : DPL_SYSTEM))
                fail_msg("allocation %ld: status %d: %s", n, (int)status, dpl_run_message(run));
            if (!ended) assert_non_null(strstr(dpl_run_message(run), "out of memory"));
            if (status == DPL_OK)
                dpl_cleaned_free(trips);
            else
                assert_null(trips);
            dpl_run_free(run);
            assert_true(n < 5000);
        }
    }
    test_directory_remove(directory);
    free(city.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dialect_gives_the_same_trips),
        cmocka_unit_test(block_ends_and_threads_do_not_matter),
        cmocka_unit_test(the_cleaned_result_is_small),
        cmocka_unit_test(bad_rows_are_counted_by_reason),
        cmocka_unit_test(hopeless_files_say_what_is_wrong),
        cmocka_unit_test(strict_refuses_time_that_runs_backwards),
        cmocka_unit_test(a_line_of_ten_megabytes_is_counted_and_skipped),
        cmocka_unit_test(several_files_keep_their_trip_ids_apart),
        cmocka_unit_test(trips_without_times_can_be_read_on_demand),
        cmocka_unit_test(numbers_agree_with_strtod),
        cmocka_unit_test(times_are_read_in_every_form),
        cmocka_unit_test(times_may_follow_a_pattern),
        cmocka_unit_test(positions_are_read_in_every_notation),
        cmocka_unit_test(projections_turn_around),
        cmocka_unit_test(points_and_commas_are_read),
        cmocka_unit_test(a_given_unit_of_time_holds_for_every_number),
        cmocka_unit_test(the_sorter_sorts_stably),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
