/* Where error comes from: stages of a model without noise, and sets whose distance is known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleaned.h"
#include "fit/fit.h"
#include "support.h"

struct bench {
    struct dpl_run *run;
    char *directory;
    struct dpl_area area;
    struct dpl_cleaned *real, *drawn;
    struct dpl_fit *fit;
};

static struct dpl_cleaned *read_trips(struct bench *b, const char *path) {
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_cleaned *trips = NULL;
    read.positions = read.own_phase = read.keep_too_fast = read.time_optional = true;
    assert_ok(b->run, dpl_cleaned_read(b->run, &path, 1, &read, &b->area, &trips, NULL));
    return trips;
}

static void bench_open(struct bench *b, const char *method, double epsilon) {
    struct dpl_simulate_options city = dpl_simulate_defaults();
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_sample_options sample = dpl_sample_defaults();
    *b = (struct bench){.run = test_run(2), .area = dpl_area_defaults()};
    b->directory = test_directory();
    assert_ok(b->run, dpl_area_preset(b->run, "simulated", &b->area));
    b->area.cell_m = 2500;
    city.trips = 3000;
    const char *path = test_path(b->directory, "city.csv");
    assert_ok(b->run, dpl_simulate(b->run, &city, path));
    b->real = read_trips(b, path);
    options.method = method;
    options.budget.epsilon = epsilon;
    options.budget.delta = 1e-6;
    options.budget.insecure_seed = true;
    options.insecure_seed = 3;
    options.ledger = "none";
    assert_ok(b->run, test_fit(b->run, path, &read, &b->area, &options, &b->fit));
    sample.points = DPL_POINTS_CENTRE;
    sample.seed = 1;
    path = test_path(b->directory, "drawn.csv");
    assert_ok(b->run, dpl_sample_write(b->run, dpl_fit_model(b->fit), &sample, path));
    b->drawn = read_trips(b, path);
}

static void bench_close(struct bench *b) {
    dpl_cleaned_free(b->real);
    dpl_cleaned_free(b->drawn);
    dpl_fit_free(b->fit);
    test_directory_remove(b->directory);
    dpl_run_free(b->run);
}

static void assert_names(const struct dpl_stage *list) {
    static const char *const NAME[DPL_STAGES] = {"floor",    "projected", "wanted",
                                                 "expected", "drawn",     "placed"};
    for (size_t i = 0; i < DPL_STAGES; i++) assert_string_equal(list[i].name, NAME[i]);
}

/* The real trips, a cell further east. */
static struct dpl_cleaned *shifted(struct bench *b) {
    struct dpl_cleaned *moved = NULL;
    const struct dpl_cleaned *real = b->real;
    assert_ok(b->run, dpl_cleaned_new(b->run, &real->grid, &moved));
    struct dpl_position at[2000];
    for (size_t i = 0; i < real->n_trips; i++) {
        size_t first = real->start[i], n = real->start[i + 1] - first;
        assert_true(n < sizeof at / sizeof *at);
        for (size_t v = 0; v < n; v++) {
            at[v] = real->position[first + v];
            at[v].x_m += 2500;
        }
        struct dpl_cleaned_trip trip = {.cell = real->cell + first,
                                        .n_visits = n,
                                        .period = real->period[i],
                                        .user = -1,
                                        .position = at};
        assert_ok(b->run, dpl_cleaned_append(b->run, moved, &trip));
    }
    return moved;
}

/* Without noise the tables say what the trips do: projection moves nothing, what is wanted is what
 * there is, and the walk can do it. */
static void without_noise_every_stage_is_near(void **state) {
    (void)state;
    struct bench b;
    struct dpl_stage list[DPL_STAGES];
    bench_open(&b, "bridge", INFINITY);
    assert_ok(b.run,
              dpl_evaluate_stages(b.run, b.real, dpl_fit_model(b.fit), b.drawn, b.real, list));
    assert_names(list);
    assert_true(list[0].density_m > 20 && list[0].od_m > 50 && list[0].length_jsd > 0.01);
    assert_true(list[1].density_m < 5 && list[1].od_m < 5 && list[1].step_jsd < 0.01);
    for (size_t i = 2; i < 4; i++) {
        assert_true(list[i].density_m < list[0].density_m && list[i].od_m < list[0].od_m);
        assert_true(list[i].density_parts_m < 2 * list[0].density_parts_m);
        assert_true(list[i].length_jsd < 0.05 && list[i].step_jsd < 0.1);
    }
    assert_true(list[4].density_m < 2 * list[0].density_m && list[4].od_m < 2 * list[0].od_m);
    // As placed: the real trips themselves.
    assert_near(list[5].density_m, 0, 1e-6);
    assert_near(list[5].density_parts_m, 0, 1e-6);
    assert_near(list[5].od_m, 0, 1e-6);
    assert_near(list[5].length_jsd, 0, 1e-6);
    assert_near(list[5].step_jsd, 0, 1e-6);
    bench_close(&b);
}

static void a_shift_is_its_length(void **state) {
    (void)state;
    struct bench b;
    struct dpl_stage list[DPL_STAGES];
    bench_open(&b, "bridge", 2);
    struct dpl_cleaned *moved = shifted(&b);
    assert_ok(b.run,
              dpl_evaluate_stages(b.run, b.real, dpl_fit_model(b.fit), b.drawn, moved, list));
    assert_near(list[5].density_m, 2500, 25); // but for who drives along the eastern edge
    assert_near(list[5].od_m, 5000, 50);
    assert_near(list[5].length_jsd, 0, 1e-6);
    assert_true(list[2].density_m > list[1].density_m); // the noise
    dpl_cleaned_free(moved);
    bench_close(&b);
}

static void other_methods_have_no_stages(void **state) {
    (void)state;
    struct bench b;
    struct dpl_stage list[DPL_STAGES];
    bench_open(&b, "adatrace", 2);
    assert_int_equal(dpl_evaluate_stages(b.run, b.real, dpl_fit_model(b.fit), b.real, b.real, list),
                     DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(b.run), "adatrace"));
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_noise_every_stage_is_near),
        cmocka_unit_test(a_shift_is_its_length),
        cmocka_unit_test(other_methods_have_no_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
