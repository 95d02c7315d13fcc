/* Tables in memory: the same rows in any representation are the same trips, the same data set and
 * the same model as in a file; what is missing is rejected by itself; what is damaged is an error.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arrow_build.h"
#include "base/trips.h"
#include "fit_bench.h"

enum { TRIPS = 300 };

/* ---- a city's rows in any representation ---- */

/* How each column is represented: formats of the interface, "@" in front: as a dictionary. */
struct representation {
    const char *id, *time, *position;
    int64_t chunk; /* rows of one, 0: all; every second chunk is a slice, and empty ones between */
};

static const struct representation REPRESENTATIONS[] = {
    {"l", "l", "g", 0},
    {"l", "tss:UTC", "g", 1000},
    {"i", "tsm:", "g", 777}, // without a zone: what clocks in the area show, which is UTC here
    {"g", "tsu:Europe/Berlin", "g", 4096},
    {"L", "tsn:UTC", "g", 0},
    {"u", "u", "u", 3000},
    {"U", "U", "U", 0},
    {"vu", "vu", "vu", 500},
    {"@u", "l", "g", 1000},
    {"@l", "@tss:UTC", "@g", 2000},
    {"S", "g", "g", 0},
    {"d:18,0", "l", "d:18,6", 0},
};
enum { N_REPRESENTATIONS = sizeof REPRESENTATIONS / sizeof *REPRESENTATIONS };

static struct ArrowArrayStream stream_of(const struct rows *rows,
                                         const struct representation *how) {
    struct table_builder table = {0};
    builder_whole(&table, "trip_id", how->id, rows->trip, rows->n);
    builder_whole(&table, "user_id", how->id, rows->user, rows->n);
    builder_time(&table, "timestamp", how->time, rows->time, rows->n);
    builder_real(&table, "lat", how->position, rows->lat, rows->n);
    builder_real(&table, "lon", how->position, rows->lon, rows->n);
    return builder_stream(&table, how->chunk);
}

static struct dpl_trips *table_of(struct dpl_run *run, const struct rows *rows,
                                  const struct representation *how) {
    struct ArrowArrayStream stream = stream_of(rows, how);
    struct dpl_trips *trips = NULL;
    assert_ok(run, dpl_trips_from_arrow(run, &stream, NULL, &trips));
    assert_null(stream.release);
    return trips;
}

/* ---- the same rows ---- */

static void any_representation_is_the_file(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    strcpy(bench.area.zone, "UTC");
    struct dpl_run *run = test_run(2);
    struct rows rows = read_rows(bench.city);
    const char *paths[] = {bench.city};
    struct dpl_trips *file;
    struct dpl_cleaned *expected, *made;
    assert_ok(run, dpl_trips_open(run, paths, 1, NULL, &file));
    assert_ok(run, dpl_clean(run, file, &bench.area, &expected, NULL));
    struct dpl_identity identity = identity_of(run, file);
    for (size_t i = 0; i < N_REPRESENTATIONS; i++) {
        struct dpl_trips *table = table_of(run, &rows, &REPRESENTATIONS[i]);
        struct dpl_identity own = identity_of(run, table);
        assert_memory_equal(&own, &identity, sizeof own);
        assert_ok(run, dpl_clean(run, table, &bench.area, &made, NULL));
        assert_same_trips(made, expected);
        dpl_cleaned_free(made), dpl_trips_free(table);
    }
    dpl_cleaned_free(expected), dpl_trips_free(file);
    free_rows(&rows);
    dpl_run_free(run);
    tear_down(&bench);
}

static struct bytes fit_to_bytes(struct dpl_run *run, const struct bench *bench,
                                 struct dpl_trips *trips, const char *name) {
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_fit *fit = NULL;
    char path[PATH_ROOM];
    options.ledger = "none", options.budget.epsilon = 50;
    options.budget.insecure_seed = true, options.insecure_seed = 11;
    snprintf(path, sizeof path, "%s/%s", bench->directory, name);
    assert_ok(run, dpl_fit(run, trips, &bench->area, &options, &fit));
    assert_ok(run, dpl_fit_write(run, fit, path, true));
    dpl_fit_free(fit);
    return read_all(path, "");
}

/* The first half of every trip after the second: no trip's rows stand together. */
static struct rows scatter(const struct rows *rows) {
    struct rows mixed = {.n = rows->n,
                         .trip = calloc(rows->n, 8),
                         .user = calloc(rows->n, 8),
                         .time = calloc(rows->n, 8),
                         .lat = calloc(rows->n, 8),
                         .lon = calloc(rows->n, 8)};
    size_t at = 0;
    for (size_t odd = 0; odd < 2; odd++)
        for (size_t i = odd; i < rows->n; i += 2, at++) {
            mixed.trip[at] = rows->trip[i], mixed.user[at] = rows->user[i];
            mixed.time[at] = rows->time[i];
            mixed.lat[at] = rows->lat[i], mixed.lon[at] = rows->lon[i];
        }
    return mixed;
}

static void a_table_gives_the_model_of_the_file(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    struct dpl_run *run = test_run(2);
    struct rows rows = read_rows(bench.city), mixed = scatter(&rows);
    const char *paths[] = {bench.city};
    struct dpl_trips *trips[3];
    assert_ok(run, dpl_trips_open(run, paths, 1, NULL, &trips[0]));
    trips[1] = table_of(run, &rows, &REPRESENTATIONS[5]);
    trips[2] = table_of(run, &mixed, &REPRESENTATIONS[1]);
    struct bytes file = fit_to_bytes(run, &bench, trips[0], "file.dploc");
    for (size_t i = 1; i < 3; i++) {
        struct bytes made = fit_to_bytes(run, &bench, trips[i], "table.dploc");
        assert_int_equal(made.length, file.length);
        assert_memory_equal(made.data, file.data, file.length);
        free(made.data);
    }
    // The manifest says how the table was read.
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/table.dploc", bench.directory);
    struct bytes manifest = read_all(path, ".manifest.json");
    assert_non_null(strstr((char *)manifest.data, "\"trip-column\": \"trip_id\""));
    free(manifest.data), free(file.data);
    for (size_t i = 0; i < 3; i++) dpl_trips_free(trips[i]);
    free_rows(&rows), free_rows(&mixed);
    dpl_run_free(run);
    tear_down(&bench);
}

/* PRIVACY: rows in memory are sorted there, whatever `memory_bytes` says, and not through a file:
 * here there is no place for one. */
static void scattered_rows_stay_in_memory(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    struct dpl_run *run = test_run(1);
    struct rows rows = read_rows(bench.city), mixed = scatter(&rows);
    struct dpl_read_options options = dpl_read_defaults();
    struct ArrowArrayStream stream = stream_of(&mixed, &REPRESENTATIONS[0]);
    struct dpl_trips *trips = NULL;
    struct dpl_read_facts *facts = NULL;
    const char *before = getenv("TMPDIR");
    setenv("TMPDIR", "/nowhere/at/all", 1);
    options.memory_bytes = 4096;
    assert_ok(run, dpl_trips_from_arrow(run, &stream, &options, &trips));
    assert_ok(run, dpl_clean(run, trips, NULL, NULL, &facts));
    assert_true(facts->scattered);
    assert_int_equal(facts->points, rows.n);
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    dpl_read_facts_free(facts), dpl_trips_free(trips);
    free_rows(&rows), free_rows(&mixed);
    dpl_run_free(run);
    tear_down(&bench);
}

/* ---- values ---- */

/* Reads five rows of one trip and gives the facts. */
static struct dpl_read_facts *facts_of(struct dpl_run *run, struct table_builder *table,
                                       const struct dpl_read_options *options,
                                       enum dpl_status expected) {
    struct ArrowArrayStream stream = builder_stream(table, 0);
    struct dpl_trips *trips = NULL;
    struct dpl_read_facts *facts = NULL;
    assert_ok(run, dpl_trips_from_arrow(run, &stream, options, &trips));
    enum dpl_status status = dpl_clean(run, trips, NULL, NULL, &facts);
    if (status != expected) fail_msg("status %d: %s", (int)status, dpl_run_message(run));
    dpl_trips_free(trips);
    return facts;
}

static const int64_t FIVE_IDS[] = {7, 7, 7, 7, 7},
                     FIVE_TIMES[] = {1741000000, 1741000060, 1741000120, 1741000180, 1741000240};
static const double FIVE_LATS[] = {48, 48.001, 48.002, 48.003, 48.004},
                    FIVE_LONS[] = {11, 11.001, 11.002, 11.003, 11.004};

static void missing_values_reject_their_row_alone(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const double lats[] = {48, NAN, 48.002, 91, 48.004};
    struct table_builder table = {0};
    builder_whole(&table, "tid", "l", FIVE_IDS, 5);
    builder_missing(&table, 0); // no id in the first row
    builder_time(&table, "datetime", "tsu:UTC", FIVE_TIMES, 5);
    builder_missing(&table, 2); // no time in the third
    builder_real(&table, "lat", "g", lats, 5);
    builder_real(&table, "lng", "u", FIVE_LONS, 5);
    struct dpl_read_facts *facts = facts_of(run, &table, NULL, DPL_OK);
    assert_int_equal(facts->rows, 5);
    assert_int_equal(facts->points, 1);
    assert_int_equal(facts->rows_rejected[DPL_REJECT_NO_ID], 1);
    assert_int_equal(facts->rows_rejected[DPL_REJECT_MISSING_FIELD], 1);
    assert_int_equal(facts->rows_rejected[DPL_REJECT_BAD_TIME], 1);
    assert_int_equal(facts->rows_rejected[DPL_REJECT_BAD_LATITUDE], 1);
    assert_string_equal(facts->example[DPL_REJECT_BAD_LATITUDE],
                        "the table:4: column 'lat': \"91\" (bad_latitude)");
    dpl_read_facts_free(facts);
    dpl_run_free(run);
}

/* An id that comes back after rejected rows is the same id, and another one is another. */
static void rejected_rows_do_not_join_trips(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const int64_t ids[] = {1, 2, 3, 1, 3};
    const double lats[] = {48, NAN, 48.002, NAN, 48.004};
    struct table_builder table = {0};
    builder_whole(&table, "tid", "l", ids, 5);
    builder_time(&table, "datetime", "l", FIVE_TIMES, 5);
    builder_real(&table, "lat", "g", lats, 5);
    builder_real(&table, "lng", "g", FIVE_LONS, 5);
    struct dpl_read_facts *facts = facts_of(run, &table, NULL, DPL_OK);
    assert_int_equal(facts->trips_read, 2);
    assert_int_equal(facts->points, 3);
    dpl_read_facts_free(facts);
    dpl_run_free(run);
}

/* PRIVACY: two ids of 19 digits are one number with a fraction. */
static void ids_that_lost_digits_are_no_ids(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const int64_t ids[] = {1372636858620000589, 1372636858620000590, 7, 8, 9007199254740992};
    for (int i = 0; i < 2; i++) {
        struct table_builder table = {0};
        builder_whole(&table, "tid", i ? "g" : "l", ids, 5);
        builder_time(&table, "datetime", "l", FIVE_TIMES, 5);
        builder_real(&table, "lat", "g", FIVE_LATS, 5);
        builder_real(&table, "lng", "g", FIVE_LONS, 5);
        struct dpl_read_facts *facts = facts_of(run, &table, NULL, DPL_OK);
        assert_int_equal(facts->trips_read, i ? 2 : 5);
        assert_int_equal(facts->rows_rejected[DPL_REJECT_BAD_NUMBER], i ? 3 : 0);
        dpl_read_facts_free(facts);
    }
    dpl_run_free(run);
}

static void times_in_any_unit_are_one_time(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static const char *const FORMATS[] = {"tss:UTC", "tsm:UTC", "tsu:UTC", "tsn:UTC", "l",
                                          "g",       "u",       "vu",      "d:18,0"};
    const int64_t nanoseconds[] = {1741000000999999999, 1741000060000000001, 1741000120000000000,
                                   1741000180000000000, 1741000240000000000};
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS + 2; i++) {
        struct table_builder table = {0};
        builder_whole(&table, "tid", "l", FIVE_IDS, 5);
        if (i < sizeof FORMATS / sizeof *FORMATS)
            builder_time(&table, "datetime", FORMATS[i], FIVE_TIMES, 5);
        else // counts of nanoseconds: the fraction is cut off, as a number and as text
            builder_whole(&table, "datetime", i % 2 ? "l" : "u", nanoseconds, 5);
        builder_real(&table, "lat", "g", FIVE_LATS, 5);
        builder_real(&table, "lng", "g", FIVE_LONS, 5);
        struct dpl_read_facts *facts = facts_of(run, &table, NULL, DPL_OK);
        assert_int_equal(facts->points, 5);
        assert_int_equal(facts->first_utc_s, FIVE_TIMES[0]);
        assert_int_equal(facts->last_utc_s, FIVE_TIMES[4]);
        dpl_read_facts_free(facts);
    }
    dpl_run_free(run);
}

/* ---- schemas ---- */

static void assert_refused(struct dpl_run *run, struct table_builder *table,
                           const struct dpl_read_options *options, enum dpl_status expected,
                           const char *part) {
    struct ArrowArrayStream stream = builder_stream(table, 0);
    struct dpl_trips *trips = NULL;
    assert_int_equal(dpl_trips_from_arrow(run, &stream, options, &trips), expected);
    assert_null(trips);
    assert_null(stream.release);
    if (!strstr(dpl_run_message(run), part)) fail_msg("no '%s': %s", part, dpl_run_message(run));
}

static void columns_are_found_or_named(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_read_options options = dpl_read_defaults();
    struct table_builder table = {0};
    builder_whole(&table, "fahrt", "l", FIVE_IDS, 5);
    builder_time(&table, "datetime", "l", FIVE_TIMES, 5);
    builder_real(&table, "lat", "g", FIVE_LATS, 5);
    builder_real(&table, "lng", "g", FIVE_LONS, 5);
    struct table_builder again = table;
    options.trip_column = "fahrt";
    struct dpl_read_facts *facts = facts_of(run, &again, &options, DPL_OK);
    assert_false(facts->trips_cut);
    assert_string_equal(facts->columns, "trip=fahrt, time=datetime, lat=lat, lon=lng");
    dpl_read_facts_free(facts);
    options.trip_column = "ride";
    assert_refused(run, &table, &options, DPL_USAGE,
                   "the table: there is no column 'ride' (`read.trip_column`); the columns are "
                   "fahrt, datetime, lat, lng");
    struct table_builder few = {0};
    builder_whole(&few, "tid", "l", FIVE_IDS, 5);
    builder_real(&few, "lat", "g", FIVE_LATS, 5);
    builder_real(&few, "lng", "g", FIVE_LONS, 5);
    assert_refused(run, &few, NULL, DPL_USAGE,
                   "no time column among tid, lat, lng (name it with `read.time_column`)");
    dpl_run_free(run);
}

static void types_that_are_not_read_are_named(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static const char *const FORMATS[] = {"tdD", "w:16", "+l", "z", "tsx:", "d:50,2", "", NULL};
    for (size_t i = 0; FORMATS[i]; i++) {
        struct table_builder table = {0};
        builder_whole(&table, "tid", "l", FIVE_IDS, 5);
        builder_time(&table, "datetime", "l", FIVE_TIMES, 5);
        builder_real(&table, "lat", "g", FIVE_LATS, 5);
        builder_real(&table, "lng", "g", FIVE_LONS, 5);
        table.column[1].format = FORMATS[i];
        assert_refused(run, &table, NULL, DPL_USAGE,
                       "column 'datetime' has a type that is not read");
    }
    struct dpl_read_options options = dpl_read_defaults();
    options.separator = ",";
    struct table_builder table = {0};
    builder_whole(&table, "tid", "l", FIVE_IDS, 5);
    assert_refused(run, &table, &options, DPL_USAGE, "`read.separator` is for files");
    dpl_run_free(run);
}

/* PRIVACY: as for files: what a unit is must be settled by the holder. */
static void tracks_are_refused_by_a_fit(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, 20);
    struct dpl_run *run = test_run(1);
    struct dpl_trips *trips = NULL;
    struct dpl_fit *fit = NULL;
    struct dpl_fit_options options = dpl_fit_defaults();
    struct table_builder table = {0};
    builder_whole(&table, "uid", "l", FIVE_IDS, 5);
    builder_time(&table, "datetime", "l", FIVE_TIMES, 5);
    builder_real(&table, "lat", "g", FIVE_LATS, 5);
    builder_real(&table, "lng", "g", FIVE_LONS, 5);
    struct ArrowArrayStream stream = builder_stream(&table, 0);
    options.ledger = "none";
    assert_ok(run, dpl_trips_from_arrow(run, &stream, NULL, &trips));
    assert_int_equal(dpl_fit(run, trips, &bench.area, &options, &fit), DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(run), "`fit.trips_as_cut`"));
    dpl_trips_free(trips);
    dpl_run_free(run);
    tear_down(&bench);
}

/* ---- damage ---- */

/* A table of five rows whose texts are ids; the caller breaks one thing of the chunk. */
static struct ArrowArrayStream five_rows(const char *id_format) {
    struct table_builder table = {0};
    builder_whole(&table, "tid", id_format, FIVE_IDS, 5);
    builder_time(&table, "datetime", "l", FIVE_TIMES, 5);
    builder_real(&table, "lat", "g", FIVE_LATS, 5);
    builder_real(&table, "lng", "g", FIVE_LONS, 5);
    return builder_stream(&table, 0);
}

static void negative_length(struct ArrowArray *chunk) { chunk->length = -1; }
static void longer_than_columns(struct ArrowArray *chunk) { chunk->length = 6; }
static void slice_beyond_columns(struct ArrowArray *chunk) { chunk->offset = 1; }
static void huge_offset(struct ArrowArray *chunk) { chunk->offset = INT64_MAX; }
static void lost_child(struct ArrowArray *chunk) { chunk->children[0] = NULL; }
static void fewer_children(struct ArrowArray *chunk) { chunk->n_children = 3; }
static void lost_buffer(struct ArrowArray *chunk) { chunk->children[2]->buffers[1] = NULL; }
static void missing_buffers(struct ArrowArray *chunk) { chunk->children[2]->n_buffers = 1; }
static void negative_child_offset(struct ArrowArray *chunk) { chunk->children[2]->offset = -3; }
static void huge_child_length(struct ArrowArray *chunk) {
    chunk->children[2]->length = INT64_MAX, chunk->children[2]->offset = INT64_MAX;
}
static void nulls_without_bits(struct ArrowArray *chunk) { chunk->children[3]->null_count = 2; }
static void falling_offsets(struct ArrowArray *chunk) {
    ((int32_t *)(uintptr_t)chunk->children[0]->buffers[1])[2] = 100;
}
static void negative_offsets(struct ArrowArray *chunk) {
    ((int32_t *)(uintptr_t)chunk->children[0]->buffers[1])[0] = -5;
}
/* The rows that are read end beyond the text, those behind them do not. */
static void offset_beyond_text(struct ArrowArray *chunk) {
    chunk->length = 3;
    ((int32_t *)(uintptr_t)chunk->children[0]->buffers[1])[3] = 1 << 20;
}
static void lost_text(struct ArrowArray *chunk) { chunk->children[0]->buffers[2] = NULL; }
static void index_too_large(struct ArrowArray *chunk) {
    ((int32_t *)(uintptr_t)chunk->children[0]->buffers[1])[3] = 1;
}
static void negative_index(struct ArrowArray *chunk) {
    ((int32_t *)(uintptr_t)chunk->children[0]->buffers[1])[3] = -1;
}
static void lost_dictionary(struct ArrowArray *chunk) { chunk->children[0]->dictionary = NULL; }
static void view_too_long(struct ArrowArray *chunk) {
    ((int32_t *)(uintptr_t)chunk->children[0]->buffers[1])[0] = 1000;
}

static void damaged_tables_are_errors(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static const struct {
        const char *id;
        void (*damage)(struct ArrowArray *chunk);
    } CASES[] = {
        {"l", negative_length},    {"l", longer_than_columns}, {"l", slice_beyond_columns},
        {"l", huge_offset},        {"l", lost_child},          {"l", fewer_children},
        {"l", lost_buffer},        {"l", missing_buffers},     {"l", negative_child_offset},
        {"l", huge_child_length},  {"l", nulls_without_bits},  {"u", falling_offsets},
        {"u", negative_offsets},   {"u", lost_text},           {"@u", index_too_large},
        {"@u", negative_index},    {"@u", lost_dictionary},    {"vu", view_too_long},
        {"u", offset_beyond_text},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct ArrowArrayStream stream = five_rows(CASES[i].id);
        struct dpl_trips *trips = NULL;
        builder_damage(&stream, CASES[i].damage);
        enum dpl_status status = dpl_trips_from_arrow(run, &stream, NULL, &trips);
        if (status != DPL_BAD_DATA) fail_msg("case %zu: status %d", i, (int)status);
        assert_null(stream.release);
        assert_non_null(dpl_run_message(run)[0] ? dpl_run_message(run) : NULL);
    }
    dpl_run_free(run);
}

static void a_stream_that_fails_says_why(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_trips *trips = NULL;
    struct ArrowArrayStream stream = five_rows("l");
    builder_fail(&stream, "the disk is gone");
    assert_int_equal(dpl_trips_from_arrow(run, &stream, NULL, &trips), DPL_BAD_DATA);
    assert_string_equal(dpl_run_message(run), "the table's stream failed: the disk is gone");
    assert_int_equal(dpl_trips_from_arrow(run, &stream, NULL, &trips), DPL_USAGE); // it is gone
    dpl_run_free(run);
}

/* Every allocation fails once; nothing is lost or released twice (sanitizers). */
static void memory_may_be_short(void **state) {
    (void)state;
    enum dpl_status status = DPL_SYSTEM;
    for (long n = 1; status != DPL_OK; n++) {
        struct dpl_run *run = test_run(1);
        struct dpl_trips *trips = NULL;
        struct dpl_read_facts *facts = NULL;
        struct ArrowArrayStream stream = five_rows("u");
        dpl_run_fail_allocation(run, n);
        status = dpl_trips_from_arrow(run, &stream, NULL, &trips);
        assert_null(stream.release);
        if (status == DPL_OK) status = dpl_clean(run, trips, NULL, NULL, &facts);
        assert_true(status == DPL_OK || status == DPL_SYSTEM);
        dpl_read_facts_free(facts);
        dpl_trips_free(trips);
        dpl_run_free(run);
    }
}

/* ---- out ---- */

/* The chunks of a stream, one after the other, into arrays (n). */
struct drawn {
    size_t n;
    int64_t tid[64], datetime[64];
    double lat[64], lng[64];
    bool timed[64];
};

static const void *column_data(const struct ArrowArray *chunk, int64_t i) {
    return chunk->children[i]->buffers[1];
}

static void drain(struct ArrowArrayStream *stream, struct drawn *drawn) {
    struct ArrowArray chunk;
    for (;;) {
        assert_int_equal(stream->get_next(stream, &chunk), 0);
        if (!chunk.release) break;
        int64_t first = chunk.n_children - 4; // uid may be in front
        const uint8_t *bits = chunk.children[first + 1]->buffers[0];
        for (int64_t i = 0; i < chunk.length; i++, drawn->n++) {
            drawn->tid[drawn->n] = ((const int64_t *)column_data(&chunk, first))[i];
            drawn->datetime[drawn->n] = ((const int64_t *)column_data(&chunk, first + 1))[i];
            drawn->timed[drawn->n] = bits[i >> 3] >> (i & 7) & 1;
            drawn->lat[drawn->n] = ((const double *)column_data(&chunk, first + 2))[i];
            drawn->lng[drawn->n] = ((const double *)column_data(&chunk, first + 3))[i];
        }
        chunk.release(&chunk);
    }
    stream->release(stream);
}

static struct ArrowArrayStream export_five(struct dpl_run *run, enum dpl_times times, bool users,
                                           const char *zone) {
    struct dpl_trips *trips;
    struct dpl_points points = dpl_points_defaults();
    struct ArrowArrayStream stream;
    points.n = 5, points.trip.number = FIVE_IDS, points.time = FIVE_TIMES;
    points.lat_deg = FIVE_LATS, points.lon_deg = FIVE_LONS;
    if (users) points.user.number = FIVE_IDS;
    assert_ok(run, dpl_trips_new(run, NULL, &trips));
    assert_ok(run, dpl_trips_append(run, trips, &points));
    strcpy(trips->zone, zone);
    assert_ok(run, dpl_trips_to_arrow(run, trips, times, &stream));
    return stream;
}

static void trips_come_out_as_columns(void **state) {
    (void)state;
    static const struct {
        enum dpl_times times;
        const char *zone, *format;
        int64_t factor, shift_s;
    } CASES[] = {{DPL_TIMES_LOCAL, "Europe/Berlin", "tsu:Europe/Berlin", 1000000, 0},
                 {DPL_TIMES_LOCAL, "", "tsu:UTC", 1000000, 0},
                 {DPL_TIMES_UTC, "Europe/Berlin", "tsu:UTC", 1000000, 0},
                 {DPL_TIMES_NAIVE, "Europe/Berlin", "tsu:", 1000000, 3600},
                 {DPL_TIMES_EPOCH, "Europe/Berlin", "l", 1, 0}};
    struct dpl_run *run = test_run(1);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct ArrowArrayStream stream = export_five(run, CASES[i].times, i == 1, CASES[i].zone);
        struct ArrowSchema schema;
        struct drawn drawn = {0};
        assert_int_equal(stream.get_schema(&stream, &schema), 0);
        assert_int_equal(schema.n_children, i == 1 ? 5 : 4);
        assert_string_equal(schema.children[0]->name, i == 1 ? "uid" : "tid");
        assert_string_equal(schema.children[schema.n_children - 3]->format, CASES[i].format);
        schema.release(&schema);
        drain(&stream, &drawn);
        assert_int_equal(drawn.n, 5);
        for (size_t p = 0; p < 5; p++) {
            assert_int_equal(drawn.tid[p], 7);
            assert_true(drawn.timed[p]);
            assert_int_equal(drawn.datetime[p],
                             (FIVE_TIMES[p] + CASES[i].shift_s) * CASES[i].factor);
            assert_true(drawn.lat[p] == FIVE_LATS[p] && drawn.lng[p] == FIVE_LONS[p]);
        }
    }
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_representation_is_the_file),
        cmocka_unit_test(a_table_gives_the_model_of_the_file),
        cmocka_unit_test(scattered_rows_stay_in_memory),
        cmocka_unit_test(missing_values_reject_their_row_alone),
        cmocka_unit_test(rejected_rows_do_not_join_trips),
        cmocka_unit_test(ids_that_lost_digits_are_no_ids),
        cmocka_unit_test(times_in_any_unit_are_one_time),
        cmocka_unit_test(columns_are_found_or_named),
        cmocka_unit_test(types_that_are_not_read_are_named),
        cmocka_unit_test(tracks_are_refused_by_a_fit),
        cmocka_unit_test(damaged_tables_are_errors),
        cmocka_unit_test(a_stream_that_fails_says_why),
        cmocka_unit_test(memory_may_be_short),
        cmocka_unit_test(trips_come_out_as_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
