/* The API as a caller of the library sees it: trips in memory are the same trips as in files, old
 * callers' structs work, names stand for numbers, the whole job is one call. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/trips.h"
#include "fit_bench.h"

enum { TRIPS = 400 };

/* ---- a city's rows as columns ---- */

static struct dpl_points points_of(const struct rows *rows, size_t first, size_t n) {
    struct dpl_points points = dpl_points_defaults();
    points.n = n;
    points.trip.number = rows->trip + first, points.user.number = rows->user + first;
    points.time = rows->time + first;
    points.lat_deg = rows->lat + first, points.lon_deg = rows->lon + first;
    return points;
}

/* All rows, the even ones first: the points of every trip are scattered. */
static struct dpl_trips *scattered(struct dpl_run *run, const struct rows *rows) {
    struct dpl_trips *trips;
    assert_ok(run, dpl_trips_new(run, NULL, &trips));
    for (size_t odd = 0; odd < 2; odd++)
        for (size_t i = odd; i < rows->n; i += 2) {
            struct dpl_points one = points_of(rows, i, 1);
            assert_ok(run, dpl_trips_append(run, trips, &one));
        }
    return trips;
}

static struct dpl_trips *in_memory(struct dpl_run *run, const struct rows *rows) {
    struct dpl_trips *trips;
    struct dpl_points points = points_of(rows, 0, rows->n);
    assert_ok(run, dpl_trips_new(run, NULL, &trips));
    assert_ok(run, dpl_trips_append(run, trips, &points));
    return trips;
}

/* ---- memory and files ---- */

static void the_same_rows_are_the_same_data_set(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    struct dpl_run *run = test_run(2);
    struct rows rows = read_rows(bench.city);
    const char *paths[] = {bench.city};
    struct dpl_trips *trips[3];
    assert_ok(run, dpl_trips_open(run, paths, 1, NULL, &trips[0]));
    trips[1] = in_memory(run, &rows), trips[2] = scattered(run, &rows);
    struct dpl_identity file = identity_of(run, trips[0]);
    assert_int_equal(file.rows, rows.n);
    for (int i = 1; i < 3; i++) {
        struct dpl_identity memory = identity_of(run, trips[i]);
        assert_memory_equal(&memory, &file, sizeof file);
    }
    rows.lat[7] += 2e-6; // one row that differs is another data set
    struct dpl_trips *other = in_memory(run, &rows);
    struct dpl_identity changed = identity_of(run, other);
    assert_memory_not_equal(changed.sum, file.sum, sizeof file.sum);
    dpl_trips_free(other);
    for (int i = 0; i < 3; i++) dpl_trips_free(trips[i]);
    free_rows(&rows);
    dpl_run_free(run);
    tear_down(&bench);
}

/* The city in two files: what is public about reading is then the same as of memory. */
static void split_file(const struct bench *bench, const char *names[2]) {
    struct bytes file = read_all(bench->city, "");
    char *text = (char *)file.data, *body = strchr(text, '\n') + 1;
    char *middle = strchr(body + (file.length - (size_t)(body - text)) / 2, '\n') + 1;
    // A trip is its file and its id: cut between two trips.
    for (char *line = middle;; line = strchr(line, '\n') + 1)
        if (strtoll(line, NULL, 10) != strtoll(middle, NULL, 10)) {
            middle = line;
            break;
        }
    size_t head = (size_t)(body - text), first = (size_t)(middle - text);
    static char path[2][PATH_ROOM];
    snprintf(path[0], PATH_ROOM, "%s", test_file(bench->directory, "first.csv", text, first));
    char *second = calloc(1, file.length);
    memcpy(second, text, head);
    memcpy(second + head, middle, file.length - first);
    snprintf(path[1], PATH_ROOM, "%s",
             test_file(bench->directory, "second.csv", second, head + file.length - first));
    names[0] = path[0], names[1] = path[1];
    free(second), free(file.data);
}

static struct bytes fit_to_bytes(struct dpl_run *run, const struct bench *bench,
                                 struct dpl_trips *trips, const char *method, const char *name) {
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_fit *fit = NULL;
    char path[PATH_ROOM];
    options.method = method, options.ledger = "none", options.budget.epsilon = 100;
    options.budget.insecure_seed = true, options.insecure_seed = 11;
    snprintf(path, sizeof path, "%s/%s", bench->directory, name);
    assert_ok(run, dpl_fit(run, trips, &bench->area, &options, &fit));
    assert_ok(run, dpl_model_write(run, dpl_fit_model(fit), path, true));
    dpl_fit_free(fit);
    return read_all(path, "");
}

static void a_fit_in_memory_is_the_fit_of_the_files(void **state) {
    (void)state;
    static const char *const METHODS[] = {"bridge", "paper"};
    struct bench bench;
    const char *names[2];
    set_up(&bench, TRIPS);
    split_file(&bench, names);
    struct dpl_run *run = test_run(2);
    struct rows rows = read_rows(bench.city);
    struct dpl_trips *files, *memory = in_memory(run, &rows), *mixed = scattered(run, &rows);
    assert_ok(run, dpl_trips_open(run, names, 2, NULL, &files));
    for (size_t m = 0; m < 2; m++) {
        struct bytes expected = fit_to_bytes(run, &bench, files, METHODS[m], "files.dploc");
        struct dpl_trips *const others[] = {memory, mixed};
        for (size_t i = 0; i < 2; i++) {
            struct bytes made = fit_to_bytes(run, &bench, others[i], METHODS[m], "memory.dploc");
            assert_int_equal(made.length, expected.length);
            assert_memory_equal(made.data, expected.data, expected.length);
            free(made.data);
        }
        free(expected.data);
    }
    dpl_trips_free(files), dpl_trips_free(memory), dpl_trips_free(mixed);
    free_rows(&rows);
    dpl_run_free(run);
    tear_down(&bench);
}

/* A limit that one release exhausts refuses the second, though it comes from memory. */
static void both_ways_are_charged_to_one_ledger(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    struct dpl_run *run = test_run(1);
    struct rows rows = read_rows(bench.city);
    const char *paths[] = {bench.city};
    struct dpl_trips *files, *memory = in_memory(run, &rows);
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_fit *fit = NULL;
    options.ledger = bench.ledger, options.budget.epsilon = 100, options.total_epsilon = 150;
    assert_ok(run, dpl_trips_open(run, paths, 1, NULL, &files));
    assert_ok(run, dpl_fit(run, files, &bench.area, &options, &fit));
    dpl_fit_free(fit);
    fit = NULL;
    options.total_epsilon = 0; // the ledger keeps the limit
    assert_int_equal(dpl_fit(run, memory, &bench.area, &options, &fit), DPL_REFUSED);
    assert_null(fit);
    assert_non_null(strstr(dpl_run_message(run), "`fit.total_epsilon`"));
    dpl_trips_free(files), dpl_trips_free(memory);
    free_rows(&rows);
    dpl_run_free(run);
    tear_down(&bench);
}

/* ---- sampling ---- */

static void trips_drawn_into_memory_are_those_of_the_file(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    struct dpl_run *run = test_run(2);
    struct dpl_sample_options sample = dpl_sample_defaults();
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_fit *fit = NULL;
    struct dpl_trips *drawn;
    struct dpl_columns columns;
    char path[PATH_ROOM];
    options.ledger = "none", options.budget.epsilon = 100;
    options.budget.insecure_seed = true;
    sample.trips = 300, sample.seed = 5, sample.times = DPL_TIMES_EPOCH;
    snprintf(path, sizeof path, "%s/drawn.csv", bench.directory);
    assert_ok(run, test_fit(run, bench.city, NULL, &bench.area, &options, &fit));
    assert_ok(run, dpl_sample_write(run, dpl_fit_model(fit), &sample, path));
    assert_ok(run, dpl_sample(run, dpl_fit_model(fit), &sample, &drawn));
    assert_ok(run, dpl_trips_columns(run, drawn, &columns));
    assert_int_equal(columns.n_trips, 300);
    struct bytes file = read_all(path, "");
    char *line = strchr((char *)file.data, '\n') + 1;
    for (size_t i = 0; i < columns.n_trips; i++) {
        assert_int_equal(columns.user[i], -1);
        for (size_t p = columns.start[i]; p < columns.start[i + 1]; p++) {
            assert_int_equal(strtoll(line, &line, 10), columns.trip[i]);
            assert_int_equal(strtoll(line + 1, &line, 10), columns.utc_s[p]);
            assert_true(strtod(line + 1, &line) == columns.lat_deg[p]);
            assert_true(strtod(line + 1, &line) == columns.lon_deg[p]);
            line++;
        }
    }
    assert_int_equal(*line, 0);
    free(file.data);
    dpl_trips_free(drawn), dpl_fit_free(fit), dpl_run_free(run);
    tear_down(&bench);
}

/* ---- appending ---- */

static void bad_points_are_rejected_one_by_one(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const int64_t trip[] = {1, 1, 1, 1, 1, 1};
    const double time_s[] = {1741000000.9, NAN, 12, 1741000060, 1741000060, 1741000061};
    const double lat[] = {48, 48, 48, 91, 0, NAN}, lon[] = {11, 11, 11, 11, 0, 11};
    struct dpl_points points = dpl_points_defaults();
    struct dpl_columns columns;
    struct dpl_trips *trips;
    points.n = 6, points.trip.number = trip, points.time_s = time_s;
    points.lat_deg = lat, points.lon_deg = lon;
    assert_ok(run, dpl_trips_new(run, NULL, &trips));
    assert_ok(run, dpl_trips_append(run, trips, &points));
    assert_ok(run, dpl_trips_columns(run, trips, &columns));
    assert_int_equal(columns.n_points, 1);
    assert_int_equal(columns.utc_s[0], 1741000000); // the fraction is cut off
    assert_int_equal(trips->rejected[DPL_REJECT_BAD_TIME], 1);
    assert_int_equal(trips->rejected[DPL_REJECT_TIME_OUT_OF_RANGE], 1);
    assert_int_equal(trips->rejected[DPL_REJECT_BAD_LATITUDE], 2);
    assert_int_equal(trips->rejected[DPL_REJECT_ZERO_COORDINATES], 1);
    dpl_trips_free(trips);
    struct dpl_read_options strict = dpl_read_defaults();
    strict.strict = true;
    assert_ok(run, dpl_trips_new(run, &strict, &trips));
    assert_int_equal(dpl_trips_append(run, trips, &points), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "point 1 cannot be used (bad_time)"));
    dpl_trips_free(trips);
    dpl_run_free(run);
}

static void texts_and_numbers_are_the_same_ids(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const int64_t number[] = {7, -12, 7};
    const int32_t offset[] = {0, 1, 4, 5};
    const int64_t time_ms[] = {1741000000500, 1741000060000, 1741000120999};
    const double lat[] = {48, 48.1, 48.2}, lon[] = {11, 11.1, 11.2};
    struct dpl_trips *trips[2];
    struct dpl_identity identity[2];
    for (int i = 0; i < 2; i++) {
        struct dpl_points points = dpl_points_defaults();
        struct dpl_columns columns;
        points.n = 3, points.time = time_ms, points.per_second = 1000;
        points.lat_deg = lat, points.lon_deg = lon;
        if (i == 0)
            points.trip.number = number;
        else
            points.trip.offset = offset, points.trip.text = "7-127";
        assert_ok(run, dpl_trips_new(run, NULL, &trips[i]));
        assert_ok(run, dpl_trips_append(run, trips[i], &points));
        identity[i] = identity_of(run, trips[i]);
        assert_ok(run, dpl_trips_columns(run, trips[i], &columns));
        assert_int_equal(columns.n_trips, 2);
        assert_int_equal(columns.start[1], 2); // the trip 7 was brought together
        assert_int_equal(columns.utc_s[1], 1741000120);
        assert_int_equal(columns.trip[1], i == 0 ? -12 : 1);
        dpl_trips_free(trips[i]);
    }
    assert_memory_equal(&identity[0], &identity[1], sizeof *identity);
    dpl_run_free(run);
}

/* How many trips a reader sees. */
static int64_t trips_read(struct dpl_run *run, struct dpl_trips *trips) {
    struct dpl_read_facts *facts = NULL;
    assert_ok(run, dpl_clean(run, trips, NULL, NULL, &facts));
    const int64_t n = facts->trips_read;
    dpl_read_facts_free(facts);
    return n;
}

/* PRIVACY: points of one trip id that name two users are one trip, of the first one's user; but
 * where the unit is the user, a trip of each. */
static void users_divide_a_trip_where_they_are_units(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const int64_t trip[] = {3, 3, 3}, user[] = {5, 6, 5};
    const int64_t time[] = {1741000000, 1741000060, 1741000120};
    const double lat[] = {48, 48.1, 48.2}, lon[] = {11, 11.1, 11.2};
    struct dpl_points points = dpl_points_defaults();
    struct dpl_columns columns;
    struct dpl_trips *trips;
    points.n = 3, points.trip.number = trip, points.user.number = user, points.time = time;
    points.lat_deg = lat, points.lon_deg = lon;
    struct dpl_read_options options = dpl_read_defaults();
    for (int user_unit = 0; user_unit < 2; user_unit++) {
        options.need_users = user_unit;
        assert_ok(run, dpl_trips_new(run, &options, &trips));
        assert_ok(run, dpl_trips_append(run, trips, &points));
        assert_ok(run, dpl_trips_columns(run, trips, &columns));
        assert_int_equal(columns.n_trips, 1);
        assert_int_equal(columns.user[0], 5);
        assert_int_equal(trips_read(run, trips), user_unit ? 2 : 1);
        dpl_trips_free(trips);
    }
    dpl_run_free(run);
}

/* PRIVACY: what a unit is must be settled where the data does not settle it. */
static void units_must_be_settled(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    struct dpl_run *run = test_run(1);
    struct rows rows = read_rows(bench.city);
    struct dpl_points tracks = points_of(&rows, 0, rows.n), nameless = tracks;
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_trips *trips;
    struct dpl_fit *fit = NULL;
    options.ledger = "none", options.budget.epsilon = 100;
    tracks.trip.number = NULL, nameless.user.number = NULL;
    assert_ok(run, dpl_trips_new(run, NULL, &trips));
    assert_ok(run, dpl_trips_append(run, trips, &tracks));
    assert_int_equal(dpl_trips_append(run, trips, &nameless), DPL_USAGE); // with and without ids
    assert_int_equal(dpl_fit(run, trips, &bench.area, &options, &fit), DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(run), "`fit.trips_as_cut`"));
    dpl_trips_free(trips);
    options.budget.unit = DPL_UNIT_USER;
    assert_ok(run, dpl_trips_new(run, NULL, &trips));
    assert_ok(run, dpl_trips_append(run, trips, &nameless));
    assert_int_equal(dpl_fit(run, trips, &bench.area, &options, &fit), DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(run), "`points.user`"));
    dpl_trips_free(trips);
    free_rows(&rows);
    dpl_run_free(run);
    tear_down(&bench);
}

/* ---- options ---- */

static void an_older_callers_struct_works(void **state) {
    (void)state;
    struct dpl_run_options options = dpl_run_defaults();
    options.threads = 1, options.user = (void *)(uintptr_t)1;
    options.struct_size = offsetof(struct dpl_run_options, user);
    struct dpl_run *run = dpl_run_new(&options);
    assert_non_null(run);
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    area.struct_size += 8; // a newer one does not
    assert_int_equal(dpl_grid_make(run, &area, &grid), DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(run), "newer"));
    dpl_run_free(run);
    options.struct_size = 0;
    assert_null(dpl_run_new(&options));
}

static void choices_go_by_name(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    int value = -1;
    assert_ok(run, dpl_choice(run, "budget.unit", "user", &value));
    assert_int_equal(value, DPL_UNIT_USER);
    assert_ok(run, dpl_choice(run, "sample.points", "centre", &value));
    assert_int_equal(value, DPL_POINTS_CENTRE);
    assert_string_equal(dpl_choice_name("sample.times", DPL_TIMES_EPOCH), "epoch");
    assert_string_equal(dpl_choice_name("travel", DPL_TRAVEL_WALK), "walk");
    assert_string_equal(dpl_choice_name("simulate.layout", DPL_LAYOUT_GEOLIFE), "geolife");
    assert_null(dpl_choice_name("travel", 3));
    assert_int_equal(dpl_choice(run, "budget.unit", "cab", &value), DPL_USAGE);
    assert_string_equal(dpl_run_message(run), "`budget.unit` takes trip or user, not 'cab'");
    assert_int_equal(dpl_choice(run, "budget.size", "x", &value), DPL_USAGE);
    dpl_run_free(run);
}

static void the_version_is_the_headers(void **state) {
    (void)state;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", DPL_VERSION_MAJOR, DPL_VERSION_MINOR,
             DPL_VERSION_PATCH);
    assert_string_equal(dpl_version(), version);
}

/* ---- the whole job ---- */

static void synth_checks_first_and_leaves_what_belongs_together(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    struct dpl_run *run = test_run(1);
    const char *paths[] = {bench.city};
    struct dpl_trips *trips;
    struct dpl_fit_options fit = dpl_fit_defaults();
    struct dpl_synth_options options = dpl_synth_defaults();
    struct dpl_verdict verdict;
    struct dpl_fit *made = NULL;
    char out[PATH_ROOM], private[PATH_ROOM + 16];
    snprintf(out, sizeof out, "%s/out.csv", bench.directory);
    snprintf(private, sizeof private, "%s.PRIVATE.json", out);
    fit.ledger = bench.ledger, fit.budget.epsilon = 100, options.fit = &fit;
    assert_ok(run, dpl_trips_open(run, paths, 1, NULL, &trips));
    // An input is never replaced, and nothing was spent on finding that out.
    options.overwrite = true;
    assert_int_equal(dpl_synth(run, trips, &bench.area, &options, bench.city, NULL), DPL_USAGE);
    options.model = bench.city;
    assert_int_equal(dpl_synth(run, trips, &bench.area, &options, out, NULL), DPL_USAGE);
    assert_false(exists(bench.ledger));
    options.model = NULL, options.overwrite = false;
    assert_ok(run, dpl_synth(run, trips, &bench.area, &options, out, &made));
    const char *certificate = dpl_fit_certificate(made);
    assert_ok(run, dpl_certificate_verify(run, certificate, strlen(certificate), &verdict));
    assert_true(verdict.valid);
    assert_true(exists(private));
    assert_int_equal(dpl_synth(run, trips, &bench.area, &options, out, NULL), DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(run), "`overwrite`"));
    // What was made can be written once more.
    char again[PATH_ROOM], ledger[PATH_ROOM], release[PATH_ROOM];
    snprintf(again, sizeof again, "%s/again.dploc", bench.directory);
    snprintf(ledger, sizeof ledger, "%s/other", bench.directory);
    snprintf(release, sizeof release, "%s/public", bench.directory);
    assert_ok(run, dpl_fit_write(run, made, again, false));
    // What cannot be written as asked is found out before anything is spent.
    struct dpl_sample_options sample = dpl_sample_defaults();
    fit.method = "ngram", fit.ledger = ledger, options.overwrite = true;
    sample.to = "porto", options.sample = &sample;
    assert_int_equal(dpl_synth(run, trips, &bench.area, &options, out, NULL), DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(run), "has no times"));
    sample.to = NULL, sample.release = release, fit.budget.epsilon = INFINITY;
    assert_int_equal(dpl_synth(run, trips, &bench.area, &options, out, NULL), DPL_REFUSED);
    assert_false(exists(ledger));
    options.sample = NULL, fit.budget.epsilon = 100;
    // Nor is an input replaced that dploc wrote itself.
    dpl_trips_free(trips);
    paths[0] = out, options.overwrite = true;
    assert_ok(run, dpl_trips_open(run, paths, 1, NULL, &trips));
    assert_int_equal(dpl_synth(run, trips, &bench.area, &options, out, NULL), DPL_USAGE);
    dpl_fit_free(made), dpl_trips_free(trips), dpl_run_free(run);
    tear_down(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_rows_are_the_same_data_set),
        cmocka_unit_test(a_fit_in_memory_is_the_fit_of_the_files),
        cmocka_unit_test(both_ways_are_charged_to_one_ledger),
        cmocka_unit_test(trips_drawn_into_memory_are_those_of_the_file),
        cmocka_unit_test(bad_points_are_rejected_one_by_one),
        cmocka_unit_test(texts_and_numbers_are_the_same_ids),
        cmocka_unit_test(users_divide_a_trip_where_they_are_units),
        cmocka_unit_test(units_must_be_settled),
        cmocka_unit_test(an_older_callers_struct_works),
        cmocka_unit_test(choices_go_by_name),
        cmocka_unit_test(the_version_is_the_headers),
        cmocka_unit_test(synth_checks_first_and_leaves_what_belongs_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
