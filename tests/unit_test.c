/* What one unit is, and what one unit can do: nothing to other units, and nothing to how a run
 * ends.
 *
 * Data is made as bytes and read as a fit reads it, so that a unit is added and removed as rows of
 * a file, not as a trip in memory. Under one noise key a fit of D and one of D with a unit more may
 * differ in noised numbers only: both give a model, or end after the noise with a sentence that
 * says what was charged. */
#include "support.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"

enum { ROOM = 1 << 21, NOON = 1741003200, CELL_M = 500 };

/* About 4 km x 4 km: 8 x 8 cells. */
static struct dpl_area area(void) {
    struct dpl_area where = dpl_area_defaults();
    where.south_deg = 48, where.north_deg = 48.0355;
    where.west_deg = 11.5, where.east_deg = 11.553;
    strcpy(where.zone, "UTC");
    return where;
}

struct text {
    char bytes[ROOM];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text->length +=
        (size_t)vsnprintf(text->bytes + text->length, ROOM - text->length, format, arguments);
    va_end(arguments);
    assert_true(text->length < ROOM);
}

/* One row of a trip that goes to and fro between two cells. */
static void put_point(struct text *text, const char *trip, const char *user, long time, int step) {
    put(text, "%s,%s,%ld,%.5f,%.5f\n", trip, user, time, 48.01 + 0.005 * (step % 2), 11.52);
}

static void put_trip(struct text *text, const char *trip, const char *user, int n) {
    for (int i = 0; i < n; i++) put_point(text, trip, user, NOON + 60 * i, i);
}

static const char HEADER[] = "trip_id,user_id,timestamp,lat,lon\n";

/* ---- the key of a trip ---- */

static struct dpl_cleaned *read_text(struct dpl_run *run, const char *path,
                                     const struct text *text) {
    struct dpl_cleaned *trips = NULL;
    struct dpl_area where = area();
    struct dpl_read_options options = dpl_read_defaults();
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text->bytes, 1, text->length, file), text->length);
    fclose(file);
    assert_ok(run, dpl_cleaned_read(run, &path, 1, &options, &where, &trips, NULL));
    return trips;
}

/* Rows of one trip id that name many users: one trip, its first row's user's; together, scattered
 * among other trips, and whatever quotes make the careful reader take over. */
static void one_trip_id_is_one_trip(void **state) {
    (void)state;
    enum { USERS = 20 };
    struct dpl_run *run = test_run(1);
    char *directory = test_directory();
    struct text *text = malloc(sizeof *text);
    for (int form = 0; form < 4; form++) { // scattered, quoted
        text->length = 0;
        put(text, "%s", HEADER);
        put_trip(text, "before", "u0", 5);
        for (int i = 0; i < USERS; i++) {
            char user[16];
            snprintf(user, sizeof user, form & 2 ? "\"u%d\"" : "u%d", i + 1);
            put_point(text, "many", user, NOON + 60 * i, i);
            if (form & 1) put_point(text, "other", "u2", NOON + 60 * i, i);
        }
        put_trip(text, "after", "u1", 5);
        struct dpl_cleaned *trips = read_text(run, test_path(directory, "d.csv"), text);
        assert_int_equal(trips->n_trips, form & 1 ? 4 : 3);
        assert_int_equal(trips->start[2] - trips->start[1], USERS);
        // Of u1, as is the trip "after".
        assert_int_equal(trips->user[1], trips->user[trips->n_trips - 1]);
        assert_int_equal(trips->n_users, form & 1 ? 3 : 2);
        dpl_cleaned_free(trips);
    }
    free(text);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* The same id in another file is another trip; the same user there is the same person. */
static void a_trip_id_belongs_to_its_file(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    char *directory = test_directory(), first[256], second[256];
    struct text *text = calloc(1, sizeof *text);
    struct dpl_cleaned *trips = NULL;
    struct dpl_area where = area();
    struct dpl_read_options options = dpl_read_defaults();
    put(text, "%s", HEADER);
    put_trip(text, "7", "u", 5);
    snprintf(first, sizeof first, "%s", test_file(directory, "a.csv", text->bytes, text->length));
    snprintf(second, sizeof second, "%s", test_file(directory, "b.csv", text->bytes, text->length));
    assert_ok(run, dpl_cleaned_read(run, (const char *[]){first, second}, 2, &options, &where,
                                    &trips, NULL));
    assert_int_equal(trips->n_trips, 2);
    assert_int_equal(trips->n_users, 1);
    dpl_cleaned_free(trips);
    free(text);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* ---- runs of occupied records ---- */

static int by_start(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Cab records as "lat lon occupied time", newest first; without those of run `left_out`, -1: all.
 */
static struct dpl_cleaned *read_cab(struct dpl_run *run, const char *directory, const int *run_of,
                                    int n, int left_out) {
    struct text *text = calloc(1, sizeof *text);
    char path[256];
    for (int i = n; i-- > 0;)
        if (run_of[i] < 0 || run_of[i] != left_out)
            put(text, "%.5f %.5f %d %d\n", 48.01 + 0.0005 * (i % 9), 11.52, run_of[i] >= 0,
                NOON + 30 * i);
    snprintf(path, sizeof path, "%s", test_path(directory, "new_cab.txt"));
    struct dpl_cleaned *trips = read_text(run, path, text);
    free(text);
    return trips;
}

/* PRIVACY: taking the rows of one run away takes its trip away and leaves all others as they are:
 * the free records around it keep its neighbours apart. */
static void a_run_of_occupied_records_is_a_unit(void **state) {
    (void)state;
    enum { N = 400 };
    struct dpl_run *run = test_run(1);
    char *directory = test_directory();
    uint64_t random = 11;
    for (size_t round = 0; round < test_soak(20); round++) {
        int run_of[N], runs = 0;
        for (int i = 0; i < N; i++) { // runs of random lengths; at least one free record between
            bool before = i > 0 && run_of[i - 1] >= 0, occupied = test_uniform(&random) < 0.8;
            run_of[i] = !occupied ? -1 : before ? run_of[i - 1] : runs++;
        }
        struct dpl_cleaned *all = read_cab(run, directory, run_of, N, -1);
        for (int out = 0; out < runs; out++) {
            int first = 0, length = 0;
            for (int i = 0; i < N; i++)
                if (run_of[i] == out && length++ == 0) first = i;
            struct dpl_cleaned *rest = read_cab(run, directory, run_of, N, out);
            size_t gone = 0;
            for (size_t a = 0; a < all->n_trips; a++) {
                int64_t *found = bsearch(&all->utc_s[a], rest->utc_s, rest->n_trips,
                                         sizeof *rest->utc_s, by_start);
                if (!found) {
                    assert_int_equal(all->utc_s[a], NOON + 30 * first);
                    gone++;
                    continue;
                }
                size_t b = (size_t)(found - rest->utc_s), n = all->start[a + 1] - all->start[a];
                assert_int_equal(rest->start[b + 1] - rest->start[b], n);
                assert_memory_equal(rest->cell + rest->start[b], all->cell + all->start[a],
                                    n * sizeof *all->cell);
            }
            assert_int_equal(rest->n_trips + gone, all->n_trips);
            assert_true(gone <= 1); // 0: the run was too short to be a trip
            dpl_cleaned_free(rest);
        }
        dpl_cleaned_free(all);
    }
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* ---- fits of neighbours ---- */

struct outcome {
    enum dpl_status status;
    bool charged; /* a failure whose message says what was charged */
    char message[1024];
};

static struct outcome fit_text(const char *directory, const struct text *text, double cell_m,
                               const struct dpl_fit_options *options) {
    struct dpl_run *run = test_run(1);
    struct dpl_area where = area();
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_fit *fit = NULL;
    struct outcome outcome = {0};
    where.cell_m = cell_m;
    const char *path = test_file(directory, "fit.csv", text->bytes, text->length);
    outcome.status = test_fit(run, path, &read, &where, options, &fit);
    snprintf(outcome.message, sizeof outcome.message, "%s", dpl_run_message(run));
    outcome.charged = strstr(outcome.message, "is charged") != NULL;
    dpl_fit_free(fit);
    dpl_run_free(run);
    return outcome;
}

static struct dpl_fit_options fit_options(const char *method, enum dpl_unit unit, int64_t size) {
    struct dpl_fit_options options = dpl_fit_defaults();
    options.method = method;
    options.budget.epsilon = 8;
    options.budget.delta = 1e-6;
    options.budget.unit = unit;
    options.budget.trips_max = unit == DPL_UNIT_USER ? 3 : 1;
    options.budget.insecure_seed = true;
    options.insecure_seed = 1;
    options.size = size;
    options.ledger = "none";
    return options;
}

/* Trips to and fro that all visit one more cell each, so that cells stand out. */
static void put_city(struct text *text, int trips) {
    put(text, "%s", HEADER);
    for (int t = 0; t < trips; t++)
        for (int i = 0; i < 6; i++)
            put(text, "%d,%d,%d,%.5f,%.5f\n", t, t / 2, NOON + 600 * t + 60 * i,
                48.01 + 0.005 * (i % 2), 11.52 + 0.007 * ((t + i / 3) % 4));
}

enum hostile { OUTSIDE, MALFORMED, NO_USER, FOREIGN, ONE_POINT, LONG, TWICE, SCATTERED, HOSTILE };

/* A unit that means no good, at the end of the file. */
static void put_hostile(struct text *text, enum hostile kind, uint64_t *random) {
    const int n = 2 + (int)(test_random(random) % 30);
    switch (kind) {
    case OUTSIDE:
        for (int i = 0; i < n; i++) put(text, "x,y,%d,52.%d,13.4\n", NOON + 60 * i, i);
        break;
    case MALFORMED:
        put(text, "x,y,,,\nx\n\"x,y,1,2,3\nx,y,99,48.01,11.52\nx,y,%d,abc,11.5\n;;;;;;\n", NOON);
        break;
    case NO_USER: put_trip(text, "x", "", n); break;
    case FOREIGN:
        for (int i = 0; i < n; i++) {
            char user[16];
            snprintf(user, sizeof user, "%d", i);
            put_point(text, "x", user, NOON + 60 * i, i);
        }
        break;
    case ONE_POINT: put_point(text, "x", "y", NOON, 0); break;
    case LONG: put_trip(text, "x", "y", 10000); break;
    case TWICE:
        for (int i = 0; i < 20; i++) put_trip(text, "x", "y", n);
        break;
    case SCATTERED:
        for (int i = 0; i < n; i++) {
            put_point(text, "x", "y", NOON + 60 * (n - i), i);
            put_point(text, "x", "z", 99, i);
        }
        break;
    default: fail();
    }
}

static void assert_ends_well(const struct outcome *outcome, const char *what) {
    if (outcome->status != DPL_OK && !(outcome->status == DPL_BAD_DATA && outcome->charged))
        fail_msg("%s: status %d: %s", what, (int)outcome->status, outcome->message);
}

/* PRIVACY: what a unit can cause is its own drop. A unit that is dropped changes nothing at all. */
static void no_unit_changes_how_a_run_ends(void **state) {
    (void)state;
    static const struct {
        const char *method;
        enum dpl_unit unit;
        size_t rounds;
    } RUNS[] = {{"bridge", DPL_UNIT_TRIP, 3},    {"bridge", DPL_UNIT_USER, 3},
                {"adatrace", DPL_UNIT_TRIP, 3},  {"ngram", DPL_UNIT_TRIP, 3},
                {"dpt", DPL_UNIT_TRIP, 3},       {"dpt", DPL_UNIT_USER, 3},
                {"privtrace", DPL_UNIT_TRIP, 3}, {"ldptrace", DPL_UNIT_TRIP, 3},
                {"sglt", DPL_UNIT_TRIP, 3},      {"paper", DPL_UNIT_TRIP, 1},
                {"paper", DPL_UNIT_USER, 1}};
    static const int TRIPS[] = {0, 1, 40, 400};
    char *directory = test_directory();
    struct text *text = calloc(1, sizeof *text);
    uint64_t random = 5;
    for (size_t r = 0; r < sizeof RUNS / sizeof *RUNS; r++)
        for (size_t round = 0; round < test_soak(RUNS[r].rounds * 4); round++) {
            const int trips = TRIPS[round % 4];
            const enum hostile kind = (enum hostile)(test_random(&random) % HOSTILE);
            const int64_t size = (int64_t[]){0, 400, 8}[test_random(&random) % 3];
            struct dpl_fit_options options = fit_options(RUNS[r].method, RUNS[r].unit, size);
            char what[160];
            options.insecure_seed = test_random(&random);
            snprintf(what, sizeof what, "%s by %s, %d trips, size %lld, unit %d, key %llu",
                     RUNS[r].method, dpl_unit_name(RUNS[r].unit), trips, (long long)size, kind,
                     (unsigned long long)options.insecure_seed);
            text->length = 0;
            put_city(text, trips);
            struct outcome without = fit_text(directory, text, CELL_M, &options);
            put_hostile(text, kind, &random);
            struct outcome with = fit_text(directory, text, CELL_M, &options);
            assert_ends_well(&without, what);
            assert_ends_well(&with, what);
            if (kind <= MALFORMED || kind == ONE_POINT)
                if (with.status != without.status || strcmp(with.message, without.message))
                    fail_msg("%s: %s | %s", what, without.message, with.message);
        }
    free(text);
    test_directory_remove(directory);
}

/* Every trip ends in a cell of its own, kilometres from where all begin: cells stand out, and no
 * trip is left on them. Then nets are trained on nothing, and trees grow from nothing. */
static void a_plan_runs_on_nothing(void **state) {
    (void)state;
    enum { TRIPS = 900, SIDE = 30, SMALL_CELL_M = 50 };
    static const char *const METHODS[] = {"bridge", "paper",     "ngram",    "adatrace",
                                          "dpt",    "privtrace", "ldptrace", "sglt"};
    char *directory = test_directory();
    struct text *none = calloc(1, sizeof *none), *far = calloc(1, sizeof *far);
    put(none, "%s", HEADER);
    put(far, "%s", HEADER);
    for (int t = 0; t < TRIPS; t++)
        for (int i = 0; i < 8; i++) // four minutes between the last two points: filled in between
            put(far, "%d,%d,%d,%.5f,%.5f\n", t, t, NOON + 60 * i + 200 * (i == 7),
                i == 7 ? 48.0350 - 0.00045 * (t % SIDE) : 48.001 + 0.0005 * (i % 2),
                i == 7 ? 11.5525 - 0.00068 * (t / SIDE) : 11.501);
    for (size_t m = 0; m < sizeof METHODS / sizeof *METHODS; m++) {
        struct dpl_fit_options options = fit_options(METHODS[m], DPL_UNIT_TRIP, TRIPS);
        struct outcome outcome = fit_text(directory, none, CELL_M, &options);
        assert_ends_well(&outcome, METHODS[m]);
        outcome = fit_text(directory, far, SMALL_CELL_M, &options);
        assert_ends_well(&outcome, METHODS[m]);
        if (!strcmp(METHODS[m], "paper")) assert_int_equal(outcome.status, DPL_OK);
    }
    free(none);
    free(far);
    test_directory_remove(directory);
}

/* What the holder's notes beside a model count as dropped for want of a user. */
static int64_t count_no_user(struct dpl_run *run, const char *directory,
                             const struct dpl_fit *fit) {
    char path[256];
    snprintf(path, sizeof path, "%s", test_path(directory, "notes"));
    assert_ok(run, dpl_fit_write_private(run, fit, path, true));
    json_t *root = json_load_file(test_path(directory, "notes.PRIVATE.json"), 0, NULL);
    assert_non_null(root);
    int64_t n = json_integer_value(json_object_get(json_object_get(root, "dropped"), "no_user"));
    json_decref(root);
    return n;
}

/* A trip without a user is dropped where users are protected, and counted for the holder. */
static void trips_without_users_are_counted(void **state) {
    (void)state;
    static const char FEATURE[] =
        "{\"type\":\"Feature\",\"properties\":{%s},\"geometry\":{\"type\":\"LineString\","
        "\"coordinates\":[[11.51,48.01,0,%d],[11.51,48.015,0,%d],[11.51,48.01,0,%d]]}}\n";
    struct dpl_run *run = test_run(1);
    char *directory = test_directory();
    struct text *text = calloc(1, sizeof *text);
    struct dpl_area where = area();
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_fit_options options = fit_options("bridge", DPL_UNIT_USER, 200);
    struct dpl_fit *fit = NULL;
    for (int t = 0; t < 200; t++) {
        char user[24] = "";
        if (t % 10) snprintf(user, sizeof user, "\"uid\":%d", t);
        put(text, FEATURE, user, NOON + t, NOON + t + 60, NOON + t + 120);
    }
    const char *path = test_file(directory, "d.geojsonl", text->bytes, text->length);
    options.budget.epsilon = 100;
    assert_ok(run, test_fit(run, path, &read, &where, &options, &fit));
    assert_int_equal(count_no_user(run, directory, fit), 20);
    dpl_fit_free(fit);
    free(text);
    test_directory_remove(directory);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_trip_id_is_one_trip),
        cmocka_unit_test(a_trip_id_belongs_to_its_file),
        cmocka_unit_test(a_run_of_occupied_records_is_a_unit),
        cmocka_unit_test(no_unit_changes_how_a_run_ends),
        cmocka_unit_test(a_plan_runs_on_nothing),
        cmocka_unit_test(trips_without_users_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
