/* The cleaning rules, one by one, on trips worked by hand. The plane is laid out in metres: x east
 * and y north of the box's corner, cells of 500 m. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "clean/clean.h"

enum { N_MAX = 4000 };
static const int64_t NOON_S = 1741003200; // 2025-03-03 12:00 UTC, a Monday

struct bench {
    struct dpl_run *run;
    struct dpl_grid grid;
    struct dpl_read_facts facts;
    struct cleaner *cleaner;
    void *batch;
    struct point points[N_MAX];
    size_t n;
};

/* A bench that cleans by the given options and speed limit. */
static void open_bench_by(struct bench *b, const char *zone, double limit_kmh,
                          struct dpl_read_options options) {
    memset(b, 0, sizeof *b);
    b->run = test_run(1);
    struct dpl_area area = dpl_area_defaults();
    area.south_deg = 48, area.north_deg = 48.2, area.west_deg = 11, area.east_deg = 11.3;
    area.speed_limit_kmh = limit_kmh;
    snprintf(area.zone, sizeof area.zone, "%s", zone);
    assert_ok(b->run, dpl_grid_make(b->run, &area, &b->grid));
    options.positions |= !options.own_phase;
    options.position_phase_s = 30;
    assert_ok(b->run, dpl_cleaner_new(b->run, &b->grid, &options, &b->facts, &b->cleaner));
    assert_ok(b->run, dpl_cleaner_sink(b->cleaner)->batch_new(b->cleaner, &b->batch));
}

static void open_bench(struct bench *b, const char *zone) {
    open_bench_by(b, zone, dpl_area_defaults().speed_limit_kmh, dpl_read_defaults());
}

/* A point at x, y metres, `s` seconds after noon. */
static void add(struct bench *b, double x_m, double y_m, int64_t s) {
    b->points[b->n++] = (struct point){NOON_S + s, 48 + y_m / b->grid.m_per_deg_lat,
                                       11 + x_m / b->grid.m_per_deg_lon};
}

static void take(struct bench *b, enum split split) {
    const struct recording r = {{1, 2}, b->points, b->n, split, true};
    assert_ok(b->run, dpl_cleaner_sink(b->cleaner)->take(b->cleaner, b->batch, &r));
    assert_ok(b->run, dpl_cleaner_sink(b->cleaner)->commit(b->cleaner, b->batch));
    b->n = 0;
}

/* Ends the bench and gives the trips. */
static struct dpl_cleaned *close_bench(struct bench *b) {
    struct dpl_cleaned *trips = dpl_cleaner_take_trips(b->cleaner);
    dpl_cleaner_sink(b->cleaner)->batch_free(b->batch);
    dpl_cleaner_free(b->cleaner);
    dpl_run_free(b->run);
    return trips;
}

/* The trips must be exactly these visits; each list of columns (row 0) ends with -1, the whole with
 * -2. */
static void assert_visits(struct bench *b, const int32_t *expected) {
    struct dpl_cleaned *trips = close_bench(b);
    size_t trip = 0;
    for (; *expected != -2; expected++, trip++) {
        assert_true(trip < trips->n_trips);
        size_t at = trips->start[trip];
        for (; *expected != -1; expected++, at++) {
            assert_true(at < trips->start[trip + 1]);
            assert_int_equal(trips->cell[at], *expected);
        }
        assert_int_equal(at, trips->start[trip + 1]);
    }
    assert_int_equal(trip, trips->n_trips);
    dpl_cleaned_free(trips);
}

static void one_visit_per_slot_the_most_frequent_cell(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, "UTC");
    add(&b, 100, 10, 0), add(&b, 600, 10, 20), add(&b, 700, 10, 40); // cell 1 twice, cell 0 once
    add(&b, 1100, 10, 60), add(&b, 900, 10, 119);                    // a tie: cell 2 was first
    add(&b, 880, 10, 120);
    take(&b, SPLIT_NONE);
    assert_visits(&b, (int32_t[]){1, 2, 1, -1, -2});
}

static void crowded_slots_follow_the_same_rule(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, "UTC");
    // 90 points in the first slot: 20 in cell 0, 35 in cell 1, 35 in cell 2; cell 2 is seen before
    // cell 1.
    for (int i = 0; i < 20; i++) add(&b, 490, 10, 0);
    for (int i = 0; i < 35; i++) add(&b, 1001, 10, 20), add(&b, 999, 10, 20);
    add(&b, 999, 10, 70);
    take(&b, SPLIT_NONE);
    assert_visits(&b, (int32_t[]){2, 1, -1, -2});
}

static void empty_slots_are_interpolated_in_metres(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, "UTC");
    add(&b, 0, 10, 0);
    add(&b, 2410, 10, 240); // the middles of the slots between lie at 904, 1506 and 2109 m
    take(&b, SPLIT_NONE);
    assert_visits(&b, (int32_t[]){0, 1, 3, 4, 4, -1, -2});
}

static void positions_are_where_the_trip_is_when_a_slot_begins(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, "UTC");
    add(&b, 100, 10, 0), add(&b, 400, 40, 30), add(&b, 430, 40, 30); // the later row of one second
    add(&b, 800, 40, 90), add(&b, 800, 340, 240), add(&b, 810, 340, 250);
    take(&b, SPLIT_NONE);
    struct dpl_cleaned *trips = close_bench(&b);
    const float expected[][2] = {{100, 10}, {615, 40}, {800, 100}, {800, 220}, {800, 340}};
    assert_int_equal(trips->n_visits, 5);
    for (size_t v = 0; v < 5; v++) {
        assert_near(trips->position[v].x_m, expected[v][0], 0.01);
        assert_near(trips->position[v].y_m, expected[v][1], 0.01);
    }
    const float later[][2] = {{430, 40}, {800, 40}, {800, 160}, {800, 280}};
    for (size_t v = 0; v < 4; v++) {
        assert_near(trips->later[v].x_m, later[v][0], 0.01);
        assert_near(trips->later[v].y_m, later[v][1], 0.01);
    }
    assert_true(isnan(trips->later[4].x_m) && isnan(trips->later[4].y_m)); // over after 250 s
    dpl_cleaned_free(trips);
}

/* A trip east at 10 m/s, seen at these times; where it is at its own phase of each slot. */
static void check_phase_of(const int64_t *seen_s, size_t n, const float *expected_x_m,
                           bool positions) {
    struct bench b;
    struct dpl_read_options options = dpl_read_defaults();
    options.own_phase = true, options.positions = positions;
    open_bench_by(&b, "UTC", dpl_area_defaults().speed_limit_kmh, options);
    for (size_t i = 0; i < n; i++) add(&b, 5 + 10 * (double)seen_s[i], 10, seen_s[i]);
    take(&b, SPLIT_NONE);
    struct dpl_cleaned *trips = close_bench(&b);
    assert_int_equal(trips->n_visits, (size_t)(seen_s[n - 1] / 60) + 1);
    for (size_t v = 0; v < trips->n_visits; v++) {
        assert_int_equal(trips->cell[v], (int32_t)(expected_x_m[v] / 500)); // its visit is there
        if (positions) assert_near(trips->position[v].x_m, expected_x_m[v], 0.01);
    }
    assert_true((trips->position != NULL) == positions);
    // It begins and ends where it is seen first and last, whatever its phase.
    if (positions) {
        assert_near(dpl_cleaned_begin(trips, 0).x_m, 5, 0.01);
        assert_int_equal(dpl_cleaned_begin(trips, 0).utc_s, NOON_S);
        assert_near(dpl_cleaned_end(trips, 0).x_m, 5 + 10 * (double)seen_s[n - 1], 0.01);
    }
    dpl_cleaned_free(trips);
}

/* Whether positions are kept or not: visits are the same. */
static void check_own_phase(const int64_t *seen_s, size_t n, const float *expected_x_m) {
    check_phase_of(seen_s, n, expected_x_m, true);
    check_phase_of(seen_s, n, expected_x_m, false);
}

static void a_trip_has_a_phase_of_its_own(void **state) {
    (void)state;
    // Every 15 s: in its cells of 500 m at 22.5 s of the first slot, at 15, 7.5 and 7.5 s of the
    // next three, so at 10 s of each, and at the beginning of the last.
    const int64_t often_s[] = {0,   15,  30,  45,  60,  75,  90,  105, 120,
                               135, 150, 165, 180, 195, 210, 225, 240};
    check_own_phase(often_s, 17, (float[]){105, 705, 1305, 1905, 2405});
    // Once a slot: as it begins, so does every slot.
    check_own_phase((int64_t[]){0, 70, 140, 230}, 4, (float[]){5, 605, 1205, 1805});
    // The first slot's cell is left early, so is every other's.
    check_own_phase((int64_t[]){0, 8, 110, 170}, 4, (float[]){45, 645, 1245});
}

/* Reads 400 trips of 40 users under a split; marks in `read` whose trips were kept. */
static size_t read_part(const struct dpl_hold_out *split, bool read[400]) {
    struct bench b;
    memset(&b, 0, sizeof b);
    b.run = test_run(1);
    struct dpl_area area = dpl_area_defaults();
    struct dpl_read_options options = dpl_read_defaults();
    area.south_deg = 48, area.north_deg = 48.2, area.west_deg = 11, area.east_deg = 11.3;
    snprintf(area.zone, sizeof area.zone, "UTC");
    options.hold_out = *split;
    assert_ok(b.run, dpl_grid_make(b.run, &area, &b.grid));
    assert_ok(b.run, dpl_cleaner_new(b.run, &b.grid, &options, &b.facts, &b.cleaner));
    assert_ok(b.run, dpl_cleaner_sink(b.cleaner)->batch_new(b.cleaner, &b.batch));
    size_t kept = 0;
    for (size_t i = 0; i < 400; i++) {
        add(&b, 100 + (double)i, 10, (int64_t)i), add(&b, 900, 10, (int64_t)i + 60);
        const struct recording r = {{1 + i % 40, 2}, b.points, b.n, SPLIT_NONE, true};
        int64_t before = b.facts.held_out;
        assert_ok(b.run, dpl_cleaner_sink(b.cleaner)->take(b.cleaner, b.batch, &r));
        assert_ok(b.run, dpl_cleaner_sink(b.cleaner)->commit(b.cleaner, b.batch));
        read[i] = b.facts.held_out == before;
        kept += read[i];
        b.n = 0;
    }
    struct dpl_cleaned *trips = close_bench(&b);
    assert_int_equal(trips->n_trips, kept);
    dpl_cleaned_free(trips);
    return kept;
}

/* PRIVACY: what is fitted on and what is set aside share no unit, and the key decides. */
static void units_are_set_aside_by_a_keyed_hash_of_each(void **state) {
    (void)state;
    static bool in[400], out[400], other[400];
    for (int by_user = 0; by_user < 2; by_user++) {
        struct dpl_hold_out split = {.share = 0.3, .by_user = by_user, .key = {7}};
        size_t kept = read_part(&split, in), same = 0;
        split.only = true;
        assert_int_equal(read_part(&split, out), 400 - kept);
        split.only = false, split.key[31] = 1;
        read_part(&split, other);
        for (size_t i = 0; i < 400; i++) {
            assert_true(in[i] != out[i]);
            if (by_user) assert_true(in[i] == in[i % 40]); // all of a user's trips
            same += in[i] == other[i];
        }
        assert_true(kept > 200 && kept < 340);
        assert_true(same < 340); // another key, another split
    }
}

static void a_trip_that_is_too_fast_may_be_kept_and_counted(void **state) {
    (void)state;
    struct bench b;
    struct dpl_read_options options = dpl_read_defaults();
    options.keep_too_fast = true;
    open_bench_by(&b, "UTC", 150, options);
    add(&b, 100, 10, 0), add(&b, 2610, 10, 60); // 2510 m in a minute: over 150 km/h
    take(&b, SPLIT_NONE);
    add(&b, 100, 10, 0), add(&b, 2590, 10, 60);
    take(&b, SPLIT_NONE);
    add(&b, 100, 10, 0), add(&b, 2610, 10, 60), add(&b, 2610, 10, 360); // and a gap: dropped
    take(&b, SPLIT_NONE);
    assert_int_equal(b.facts.too_fast_kept, 1);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_TOO_FAST], 1);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_GAP], 0);
    struct dpl_cleaned *trips = close_bench(&b);
    assert_int_equal(trips->n_trips, 2);
    dpl_cleaned_free(trips);
}

static void a_point_outside_drops_the_trip(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, "UTC");
    add(&b, 100, 10, 0), add(&b, 200, 10, 60), add(&b, 200, -1, 90), add(&b, 200, 10, 120);
    take(&b, SPLIT_NONE);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_OUTSIDE_BOX], 1);
    assert_visits(&b, (int32_t[]){-2});
}

static void a_step_beyond_150_kmh_drops_the_trip(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, "UTC");
    add(&b, 0, 10, 0), add(&b, 2499, 10, 60); // 149.9 km/h
    take(&b, SPLIT_NONE);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_TOO_FAST], 0);
    add(&b, 0, 10, 0), add(&b, 2501, 10, 60); // 150.1 km/h
    take(&b, SPLIT_NONE);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_TOO_FAST], 1);
    add(&b, 0, 10, 0), add(&b, 40, 10, 0), add(&b, 40, 10, 60); // the same second: GPS jitter
    take(&b, SPLIT_NONE);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_TOO_FAST], 1);
    add(&b, 0, 10, 0), add(&b, 50, 10, 0), add(&b, 50, 10, 60); // but not this far
    take(&b, SPLIT_NONE);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_TOO_FAST], 2);
    dpl_cleaned_free(close_bench(&b));
}

static void the_limits_are_options(void **state) {
    (void)state;
    struct bench b;
    struct dpl_read_options options = dpl_read_defaults();
    options.gap_limit_s = 90;
    open_bench_by(&b, "UTC", 60, options);
    add(&b, 0, 10, 0), add(&b, 999, 10, 60); // 59.9 km/h
    take(&b, SPLIT_NONE);
    add(&b, 0, 10, 0), add(&b, 1001, 10, 60);
    take(&b, SPLIT_NONE);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_TOO_FAST], 1);
    add(&b, 0, 10, 0), add(&b, 100, 10, 89);
    take(&b, SPLIT_NONE);
    add(&b, 0, 10, 0), add(&b, 100, 10, 90);
    take(&b, SPLIT_NONE);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_GAP], 1);
    add(&b, 0, 10, 0), add(&b, 100, 10, 60), add(&b, 100, 10, 150), add(&b, 100, 10, 210);
    take(&b, SPLIT_GAPS_AND_STAYS);
    assert_int_equal(b.facts.trips_cut_into, 6);
    struct dpl_cleaned *trips = close_bench(&b);
    assert_int_equal(trips->n_trips, 4);
    dpl_cleaned_free(trips);
}

/* By local time: Berlin's 3 March begins at 23:00 UTC of the 2nd. Each trip is asked alone. */
static void trips_of_other_days_are_dropped(void **state) {
    (void)state;
    enum { HOUR_S = 3600 };
    struct bench b;
    struct dpl_read_options options = dpl_read_defaults();
    options.dates = "2025-03-03..2025-03-04";
    open_bench_by(&b, "Europe/Berlin", 150, options);
    const int starts[] = {-13 * HOUR_S - 1, -13 * HOUR_S, 0, 35 * HOUR_S - 1, 35 * HOUR_S};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        add(&b, 0, 10, starts[i]), add(&b, 100, 10, starts[i] + 90);
        take(&b, SPLIT_NONE);
    }
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_OTHER_DAYS], 2);
    struct dpl_cleaned *trips = close_bench(&b);
    assert_int_equal(trips->n_trips, 3);
    for (size_t i = 0; i < 3; i++) assert_int_equal(trips->utc_s[i], NOON_S + starts[i + 1]);
    dpl_cleaned_free(trips);
}

static void limits_that_make_no_sense_are_refused(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, "UTC");
    for (int i = 0; i < 3; i++) {
        struct dpl_read_options options = dpl_read_defaults();
        struct cleaner *cleaner = NULL;
        options.gap_limit_s = (int[]){0, -1, 10801}[i];
        dpl_run_begin(b.run);
        assert_int_equal(dpl_cleaner_new(b.run, &b.grid, &options, &b.facts, &cleaner), DPL_USAGE);
        assert_non_null(strstr(dpl_run_message(b.run), "`read.gap_limit_s`"));
    }
    struct dpl_read_options options = dpl_read_defaults();
    struct cleaner *cleaner = NULL;
    options.dates = "2025-03-04..2025-03-03";
    dpl_run_begin(b.run);
    assert_int_equal(dpl_cleaner_new(b.run, &b.grid, &options, &b.facts, &cleaner), DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(b.run), "`read.dates`"));
    dpl_cleaned_free(close_bench(&b));
}

/* Outliers alone go: outside the box, too fast to reach, in front, in the middle, at the end. */
static void outliers_may_be_dropped_instead_of_trips(void **state) {
    (void)state;
    struct bench b;
    struct dpl_read_options options = dpl_read_defaults();
    options.drop_points = true;
    open_bench_by(&b, "UTC", 150, options);
    add(&b, 9000, 10, 0), add(&b, 0, 10, 30), add(&b, 600, 10, 90); // in front
    take(&b, SPLIT_NONE);
    add(&b, 0, 10, 0), add(&b, 9000, 10, 30), add(&b, 600, 10, 60); // right behind the first
    take(&b, SPLIT_NONE);
    add(&b, 0, 10, 0), add(&b, 600, 10, 60), add(&b, 600, -90, 90), add(&b, 1200, 10, 120);
    take(&b, SPLIT_NONE);
    add(&b, 0, 10, 0), add(&b, 600, 10, 60), add(&b, 9000, 10, 90), add(&b, 9100, 10, 100);
    take(&b, SPLIT_NONE);
    assert_int_equal(b.facts.points_dropped, 5);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_TOO_FAST], 0);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_OUTSIDE_BOX], 0);
    add(&b, 0, 10, 0), add(&b, 0, 10, 60), add(&b, 0, -90, 200), add(&b, 0, 10, 360); // a gap now
    take(&b, SPLIT_NONE);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_GAP], 1);
    add(&b, 0, -90, 0), add(&b, 0, -90, 60); // nothing is left
    take(&b, SPLIT_NONE);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_TOO_SHORT], 1);
    assert_int_equal(b.facts.points_dropped, 8);
    assert_visits(&b, (int32_t[]){0, 1, -1, 0, 1, -1, 0, 1, 2, -1, 0, 1, -1, -2});
}

static void a_gap_of_five_minutes_drops_the_trip(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, "UTC");
    add(&b, 0, 10, 0), add(&b, 100, 10, 299);
    take(&b, SPLIT_NONE);
    add(&b, 0, 10, 0), add(&b, 100, 10, 300);
    take(&b, SPLIT_NONE);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_GAP], 1);
    assert_visits(&b, (int32_t[]){0, 0, 0, 0, 0, -1, -2});
}

static void fewer_than_two_visits_drop_the_trip(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, "UTC");
    take(&b, SPLIT_NONE); // no point at all
    add(&b, 0, 10, 0);
    take(&b, SPLIT_NONE);
    add(&b, 0, 10, 0), add(&b, 0, 10, 59);
    take(&b, SPLIT_NONE);
    add(&b, 0, 10, 0), add(&b, 0, 10, 60);
    take(&b, SPLIT_NONE);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_TOO_SHORT], 3);
    assert_int_equal(b.facts.trips_cut_into, 4);
    assert_visits(&b, (int32_t[]){0, 0, -1, -2});
}

/* A walk to a place, a stay of 16 minutes there, and a walk on. */
static void add_walk_with_stay(struct bench *b, int64_t stay_s) {
    for (int i = 0; i < 5; i++)
        add(b, 210 + 300 * i, 10, 60 * i); // 210 ... 1410 m, cells 0 1 1 2 2
    int64_t left_s = 180 + stay_s;         // cell 2 was reached at 180 s
    for (int64_t s = 300; s < left_s; s += 60) add(b, 1300, 10, s);
    add(b, 1300, 10, left_s);
    add(b, 1700, 10, left_s + 60), add(b, 2100, 10, left_s + 120);
}

static void stays_over_fifteen_minutes_cut(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, "UTC");
    add_walk_with_stay(&b, 960);
    take(&b, SPLIT_STAYS);
    assert_int_equal(b.facts.trips_cut_into, 2);
    // The first trip ends as the stay begins, the second starts as it ends.
    assert_visits(&b, (int32_t[]){0, 1, 1, 2, -1, 2, 3, 4, -1, -2});
}

static void stays_of_fifteen_minutes_do_not(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, "UTC");
    add_walk_with_stay(&b, 900);
    take(&b, SPLIT_STAYS);
    assert_int_equal(b.facts.trips_cut_into, 1);
    dpl_cleaned_free(close_bench(&b));
}

static void without_trips_gaps_cut(void **state) {
    (void)state;
    struct bench b;
    open_bench(&b, "UTC");
    add(&b, 100, 10, 0), add(&b, 600, 10, 60), add(&b, 1100, 10, 120);
    add(&b, 1600, 10, 420), add(&b, 2100, 10, 480); // 300 s later
    take(&b, SPLIT_GAPS_AND_STAYS);
    assert_int_equal(b.facts.trips_dropped[DPL_DROP_GAP], 0);
    assert_visits(&b, (int32_t[]){0, 1, 2, -1, 3, 4, -1, -2});
}

static uint8_t hour_of(const char *zone_name, int64_t utc_s, size_t visits) {
    struct dpl_run *run = test_run(1);
    struct dpl_zone *zone;
    struct dpl_area area = dpl_area_defaults();
    assert_ok(run, dpl_zone_open(run, zone_name, &zone));
    uint8_t period = dpl_zone_period(zone, &area, utc_s, visits);
    dpl_zone_free(zone);
    dpl_run_free(run);
    return period;
}

static void the_hour_holds_most_visits_and_is_local(void **state) {
    (void)state;
    assert_int_equal(hour_of("UTC", NOON_S, 10), 12);
    assert_int_equal(hour_of("Asia/Shanghai", NOON_S, 10), 20);
    assert_int_equal(hour_of("America/Los_Angeles", NOON_S, 10), 4);
    assert_int_equal(hour_of("UTC", NOON_S - 300, 10), 11);             // 5 and 5: the first
    assert_int_equal(hour_of("UTC", NOON_S - 240, 10), 12);             // 4 and 6
    assert_int_equal(hour_of("UTC", NOON_S + 11 * 3600 + 3540, 10), 0); // across midnight
    // 2008-03-09: at 02:00 the clocks in Los Angeles jump to 03:00.
    assert_int_equal(hour_of("America/Los_Angeles", 1205056800 - 120, 10), 3);
    assert_int_equal(hour_of("America/Los_Angeles", 1205056800 - 480, 10), 1);
}

/* The shortcut for short trips against counting visit by visit, clock changes and midnight
 * included. */
static void the_period_is_what_counting_gives(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_zone *zone;
    uint64_t random = 21;
    assert_ok(run, dpl_zone_open(run, "America/Los_Angeles", &zone));
    for (size_t i = 0; i < test_soak(100000); i++) {
        static const int PERIODS[] = {1, 2, 6, 24, 96}, SLOTS[] = {60, 60, 1, 300, 3600};
        struct dpl_area area = dpl_area_defaults();
        area.periods = PERIODS[test_random(&random) % 5],
        area.slot_s = SLOTS[test_random(&random) % 5];
        int64_t near_change_s = 1205056800 - 7200 + (int64_t)(test_random(&random) % 14400),
                any_s = NOON_S + (int64_t)(test_random(&random) % 86400);
        int64_t utc_s = test_random(&random) % 4 ? any_s : near_change_s;
        size_t n = 1 + test_random(&random) % (test_random(&random) % 8 ? 40 : 400),
               count[96] = {0}, first[96] = {0};
        for (size_t v = 0; v < n; v++) {
            int64_t at_s = utc_s + (int64_t)v * area.slot_s,
                    p = (at_s + dpl_zone_offset_s(zone, at_s)) % 86400 * area.periods / 86400;
            if (!count[p]++) first[p] = v;
        }
        int best = 0;
        for (int p = 1; p < area.periods; p++)
            if (count[p] > count[best] ||
                (count[p] && count[p] == count[best] && first[p] < first[best]))
                best = p;
        if (dpl_zone_period(zone, &area, utc_s, n) != best)
            fail_msg("%d periods, slot %d, %zu visits from %lld: %d, not %d", area.periods,
                     area.slot_s, n, (long long)utc_s, dpl_zone_period(zone, &area, utc_s, n),
                     best);
    }
    dpl_zone_free(zone);
    dpl_run_free(run);
}

static void the_periods_divide_the_day(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_zone *zone;
    struct dpl_area area = dpl_area_defaults();
    assert_ok(run, dpl_zone_open(run, "UTC", &zone));
    area.periods = 1;
    assert_int_equal(dpl_zone_period(zone, &area, NOON_S, 5), 0);
    area.periods = 96;
    assert_int_equal(dpl_zone_period(zone, &area, NOON_S + 15 * 60, 5), 49);
    dpl_zone_free(zone);
    dpl_run_free(run);
}

/* A random recording, sometimes broken. */
static void add_random(struct bench *b, uint64_t *random) {
    double x_m = test_uniform(random) * 20000, y_m = test_uniform(random) * 20000;
    int64_t s = (int64_t)(test_random(random) % 86400);
    for (size_t i = 0, n = test_random(random) % 40; i < n; i++) {
        add(b, x_m, y_m, s);
        s += (int64_t)(test_random(random) % (test_random(random) % 20 ? 90 : 1500));
        x_m += (test_uniform(random) - 0.5) * 900, y_m += (test_uniform(random) - 0.5) * 900;
    }
}

/* filter(D with x) = filter(D) with filter(x), for every split, dropping trips or points. */
static void cleaning_looks_at_one_recording_alone(void **state) {
    (void)state;
    static struct bench all, one;
    struct dpl_read_options options = dpl_read_defaults();
    for (int mode = 0; mode < 2 * (SPLIT_GAPS_AND_STAYS + 1); mode++) {
        enum split split = (enum split)(mode / 2);
        uint64_t random = 40 + split, single = random;
        double limit_kmh = mode % 2 ? 20 : 150; // many points are outliers
        options.drop_points = mode % 2;
        open_bench_by(&all, "Europe/Berlin", limit_kmh, options);
        for (int i = 0; i < 200; i++) add_random(&all, &random), take(&all, split);
        struct dpl_cleaned *together = close_bench(&all);
        size_t trip = 0;
        for (int i = 0; i < 200; i++) {
            open_bench_by(&one, "Europe/Berlin", limit_kmh, options);
            add_random(&one, &single), take(&one, split);
            struct dpl_cleaned *alone = close_bench(&one);
            for (size_t t = 0; t < alone->n_trips; t++, trip++) {
                size_t n = alone->start[t + 1] - alone->start[t];
                assert_int_equal(together->start[trip + 1] - together->start[trip], n);
                assert_memory_equal(together->cell + together->start[trip],
                                    alone->cell + alone->start[t], n * sizeof *alone->cell);
                assert_int_equal(together->utc_s[trip], alone->utc_s[t]);
                assert_int_equal(together->period[trip], alone->period[t]);
            }
            dpl_cleaned_free(alone);
        }
        assert_int_equal(trip, together->n_trips);
        assert_true(trip > 20);
        dpl_cleaned_free(together);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_visit_per_slot_the_most_frequent_cell),
        cmocka_unit_test(crowded_slots_follow_the_same_rule),
        cmocka_unit_test(empty_slots_are_interpolated_in_metres),
        cmocka_unit_test(positions_are_where_the_trip_is_when_a_slot_begins),
        cmocka_unit_test(a_trip_has_a_phase_of_its_own),
        cmocka_unit_test(a_trip_that_is_too_fast_may_be_kept_and_counted),
        cmocka_unit_test(units_are_set_aside_by_a_keyed_hash_of_each),
        cmocka_unit_test(a_point_outside_drops_the_trip),
        cmocka_unit_test(a_step_beyond_150_kmh_drops_the_trip),
        cmocka_unit_test(a_gap_of_five_minutes_drops_the_trip),
        cmocka_unit_test(the_limits_are_options),
        cmocka_unit_test(trips_of_other_days_are_dropped),
        cmocka_unit_test(limits_that_make_no_sense_are_refused),
        cmocka_unit_test(outliers_may_be_dropped_instead_of_trips),
        cmocka_unit_test(fewer_than_two_visits_drop_the_trip),
        cmocka_unit_test(stays_over_fifteen_minutes_cut),
        cmocka_unit_test(stays_of_fifteen_minutes_do_not),
        cmocka_unit_test(without_trips_gaps_cut),
        cmocka_unit_test(the_hour_holds_most_visits_and_is_local),
        cmocka_unit_test(the_period_is_what_counting_gives),
        cmocka_unit_test(the_periods_divide_the_day),
        cmocka_unit_test(cleaning_looks_at_one_recording_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
