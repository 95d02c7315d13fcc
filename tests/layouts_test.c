/* One simulated city in four layouts must give the same cleaned trips; and the real samples must be
 * recognised where DPLOC_DATA points at them. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void four_layouts_give_the_same_trips(void **state) {
    (void)state;
    static const struct {
        enum dpl_layout layout;
        const char *name, *format;
    } LAYOUTS[] = {{DPL_LAYOUT_CSV, "city.csv.gz", "csv"},
                   {DPL_LAYOUT_PORTO, "porto.csv.zst", "porto"},
                   {DPL_LAYOUT_CABSPOTTING, "cabs", "cabspotting"},
                   {DPL_LAYOUT_GEOLIFE, "geolife", "geolife"}};
    struct dpl_run *run = test_run(2);
    char *directory = test_directory();
    struct dpl_cleaned *first = NULL;
    for (size_t i = 0; i < sizeof LAYOUTS / sizeof *LAYOUTS; i++) {
        struct dpl_simulate_options options = dpl_simulate_defaults();
        struct dpl_read_facts facts;
        char path[256];
        options.trips = 2000;
        options.layout = LAYOUTS[i].layout;
        options.sampling = DPL_SAMPLING_REGULAR;
        snprintf(path, sizeof path, "%s/%s", directory, LAYOUTS[i].name);
        assert_ok(run, dpl_simulate(run, &options, path));
        struct dpl_cleaned *trips = test_read_city(run, path, &facts);
        assert_string_equal(facts.format, LAYOUTS[i].format);
        assert_int_equal(facts.trips_read, 2000);
        for (int r = 0; r < DPL_REJECTS; r++) assert_int_equal(facts.rows_rejected[r], 0);
        if (!first) {
            first = trips;
            assert_int_equal(first->n_trips, 2000);
            continue;
        }
        assert_same_trips(trips, first);
        dpl_cleaned_free(trips);
    }
    dpl_cleaned_free(first);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* The samples of real data, as they were downloaded. */
static void real_samples_are_recognised(void **state) {
    (void)state;
    static const struct {
        const char *path, *format, *columns;
        int64_t trips;
        size_t users;
    } SAMPLES[] = {
        {"porto/porto_all.csv.gz", "porto", NULL, 9542, 435},
        {"geolife/geolife_plt_5users.tar.xz", "geolife", NULL, 237, 5},
        {"tdrive/tdrive_13taxis.tar.xz", "csv", "user,time,lon,lat", 13, 13},
        {"chengdu/chengdu_didi_trips_15s.csv.gz", "csv", NULL, 9890, 9727},
    };
    const char *folder = getenv("DPLOC_DATA");
    if (!folder) {
        print_message("skipped: DPLOC_DATA is not set\n");
        skip();
    }
    struct dpl_run *run = test_run(2);
    for (size_t i = 0; i < sizeof SAMPLES / sizeof *SAMPLES; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, SAMPLES[i].path);
        const char *inputs[] = {path};
        struct dpl_read_options options = dpl_read_defaults();
        struct dpl_read_facts *facts;
        options.columns = SAMPLES[i].columns;
        assert_ok(run, dpl_cleaned_read(run, inputs, 1, &options, NULL, NULL, &facts));
        assert_string_equal(facts->format, SAMPLES[i].format);
        assert_int_equal(facts->trips_read, SAMPLES[i].trips);
        assert_int_equal(facts->users, SAMPLES[i].users);
        dpl_read_facts_free(facts);
    }
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_layouts_give_the_same_trips),
        cmocka_unit_test(real_samples_are_recognised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
