/* Trips beyond memory: a fit whose trips are in a file makes the same bytes, for both units; it is
 * resumed by one whose trips are in memory; and no file is left, nor had a name. */
#include "fit_bench.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleaned.h"
#include "base/spill.h"
#include "method/method.h"

enum { TRIPS = 6000 };

static double least_mb(const struct bench *bench, const char *method) {
    const struct dpl_method *found;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid;
    assert_ok(run, dpl_method_find(run, method, &found));
    assert_ok(run, dpl_grid_make(run, &bench->area, &grid));
    double need = found->table_mb ? found->table_mb(&grid, 1) : 0.1;
    dpl_run_free(run);
    return need; // nothing is left for trips but the least
}

static size_t files_in(const char *folder) {
    size_t n = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) n += entry->d_name[0] != '.';
    closedir(directory);
    return n;
}

static void trips_in_a_file_make_the_same_model(void **state) {
    (void)state;
    static const struct {
        const char *method;
        enum dpl_unit unit;
        bool chosen; // how many trips a user counts as
    } CASES[] = {{"bridge", DPL_UNIT_TRIP, false},
                 {"bridge", DPL_UNIT_USER, false},
                 {"bridge", DPL_UNIT_USER, true},
                 {"ngram", DPL_UNIT_TRIP, false},
                 {"adatrace", DPL_UNIT_TRIP, false}};
    struct bench bench;
    set_up(&bench, TRIPS);
    bench.options.sigmas = NULL, bench.options.budget.epsilon = 5;
    setenv("TMPDIR", bench.directory, 1);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        bench.options.method = CASES[i].method, bench.options.budget.unit = CASES[i].unit;
        bench.options.budget.trips_max = CASES[i].unit == DPL_UNIT_USER ? 5 : 1;
        if (CASES[i].chosen) bench.options.budget.trips_max = 0;
        bench.options.memory_mb = 8000;
        fit_ok(&bench);
        struct released whole = read_released(&bench);
        size_t files = files_in(bench.directory);
        bench.options.memory_mb = least_mb(&bench, CASES[i].method);
        fit_ok(&bench);
        struct released spilled = read_released(&bench);
        assert_same(&whole, &spilled);
        assert_int_equal(files_in(bench.directory), files);
        free_released(&whole), free_released(&spilled);
    }
    unsetenv("TMPDIR");
    tear_down(&bench);
}

/* The checkpoint knows the trips wherever they are. */
static void a_fit_goes_on_with_another_limit(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    bench.options.sigmas = NULL, bench.options.budget.epsilon = 5;
    bench.options.method = "bridge";
    fit_ok(&bench);
    struct released whole = read_released(&bench);
    interrupt_at(&bench, "calibrating");
    assert_true(exists(bench.checkpoint));
    bench.options.resume = true, bench.options.memory_mb = least_mb(&bench, "bridge");
    fit_ok(&bench);
    struct released gone_on = read_released(&bench);
    assert_same(&whole, &gone_on);
    free_released(&whole), free_released(&gone_on);
    tear_down(&bench);
}

/* Parts hold every trip once, as it was, and all trips of a user together. */
struct seen {
    const struct dpl_cleaned *all;
    uint8_t *found; /* (trips of all) */
    int *part_of;   /* (users) */
    int part;
};

static enum dpl_status see(struct dpl_run *run, void *context, const struct dpl_cleaned *part) {
    struct seen *seen = context;
    const struct dpl_cleaned *all = seen->all;
    (void)run;
    seen->part++;
    for (size_t i = 0; i < part->n_trips; i++) {
        size_t number = (size_t)part->utc_s[i], n = part->start[i + 1] - part->start[i];
        assert_int_equal(seen->found[number]++, 0);
        assert_int_equal(n, all->start[number + 1] - all->start[number]);
        assert_memory_equal(part->cell + part->start[i], all->cell + all->start[number], 4 * n);
        assert_memory_equal(part->position + part->start[i], all->position + all->start[number],
                            8 * n);
        assert_int_equal(part->user[i], all->user[number]);
        assert_int_equal(part->period[i], all->period[number]);
        int *home = &seen->part_of[part->user[i]];
        if (*home == 0) *home = seen->part;
        assert_int_equal(*home, seen->part);
    }
    return DPL_OK;
}

static void append_trips(struct dpl_run *run, struct dpl_cleaned *trips, bool relieve) {
    uint64_t seed = 5;
    for (int64_t i = 0; i < TRIPS; i++) {
        int32_t cell[40];
        struct dpl_position position[40];
        size_t n = test_random(&seed) % 40;
        for (size_t v = 0; v < n; v++) {
            cell[v] = (int32_t)(test_random(&seed) % 100);
            position[v] = (struct dpl_position){(float)test_uniform(&seed), (float)i};
        }
        const struct dpl_cleaned_trip trip = {
            cell, n, i, (int32_t)(test_random(&seed) % 300), (uint8_t)(i % 24), position};
        assert_ok(run, dpl_cleaned_append(run, trips, &trip));
        if (relieve && i % 50 == 0) assert_ok(run, dpl_cleaned_relieve(run, trips, false));
    }
    if (relieve) assert_ok(run, dpl_cleaned_relieve(run, trips, true));
}

static void parts_hold_every_trip_once(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    struct dpl_cleaned *all, *spilled;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    assert_ok(run, dpl_cleaned_new(run, &grid, &all));
    assert_ok(run, dpl_cleaned_new(run, &grid, &spilled));
    dpl_cleaned_limit(spilled, 100000, true);
    append_trips(run, all, false), append_trips(run, spilled, true);
    assert_true(dpl_cleaned_spilled(spilled) && !dpl_cleaned_spilled(all));
    assert_int_equal(dpl_cleaned_parts(spilled), DPL_SPILL_PARTS);
    struct seen seen = {.all = all, .found = calloc(TRIPS, 1), .part_of = calloc(300, sizeof(int))};
    assert_ok(run, dpl_cleaned_each(run, spilled, see, &seen));
    for (size_t i = 0; i < TRIPS; i++) assert_int_equal(seen.found[i], 1);
    free(seen.found), free(seen.part_of);
    dpl_cleaned_free(all), dpl_cleaned_free(spilled);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_hold_every_trip_once),
        cmocka_unit_test(trips_in_a_file_make_the_same_model),
        cmocka_unit_test(a_fit_goes_on_with_another_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
