/* Counting in parts: a fit of trips in several parts, whole units each, gives the same noised
 * tables and the same model as a fit of all trips at once, for every method and both units. All
 * tables of all methods pass through here, since the methods themselves do the counting. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "method/method.h"
#include "model/people.h"
#include "noise/lattice_inner.h" // defines: struct dpl_exact

enum { TRIPS = 1500, USERS = 90 };

static struct {
    struct dpl_run *run;
    struct dpl_cleaned *trips;
} city;

static int read_city(void **state) {
    (void)state;
    char *directory = test_directory();
    const char *path = test_path(directory, "city.csv");
    struct dpl_simulate_options options = dpl_simulate_defaults();
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_area area = dpl_area_defaults();
    city.run = test_run(2);
    options.trips = TRIPS;
    read.positions = true;
    assert_ok(city.run, dpl_simulate(city.run, &options, path));
    assert_ok(city.run, dpl_area_preset(city.run, "simulated", &area));
    area.cell_m = 2000;
    assert_ok(city.run, dpl_cleaned_read(city.run, (const char *[]){path}, 1, &read, &area,
                                         &city.trips, NULL));
    for (size_t i = 0; i < city.trips->n_trips; i++) city.trips->user[i] = (int32_t)(i % USERS);
    city.trips->n_users = USERS;
    test_directory_remove(directory);
    return 0;
}

static int free_city(void **state) {
    (void)state;
    dpl_cleaned_free(city.trips);
    dpl_run_free(city.run);
    return 0;
}

/* PRIVACY: the tables were noised by the sensitivities that the chosen number of trips implies, and
 * that it is chosen from by one that does not grow. */
static void assert_noised_as_chosen(const struct dpl_release *release,
                                    const struct dpl_model *model) {
    static const char *const NAMES[] = {"users", "lengths", "trips", "chains", "sources"};
    const double m = (double)release->trips_max, grown[] = {1, sqrt(m), m, 1, sqrt(m)};
    assert_true(m > 1 && dpl_trips_possible(release->trips_max));
    assert_true(json_number_value(json_object_get(model->options, DPL_MODEL_TRIPS_MAX)) == m);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        json_t *about = json_object_get(model->noised, NAMES[i]);
        double sensitivity = json_number_value(json_object_get(about, "sensitivity")),
               deviation = json_number_value(json_object_get(about, "deviation")),
               sigma = json_number_value(json_object_get(about, "sigma"));
        assert_true(fabs(sensitivity - grown[i]) < 1e-9 * m);
        assert_true(fabs(deviation / (sigma * sensitivity) - 1) < 1e-6);
    }
}

/* The method's model of the city in that many parts. Caller frees with dpl_model_free. */
static struct dpl_model *fit_in_parts(const struct dpl_method *method, enum dpl_unit unit,
                                      const char *mechanism, bool chosen, size_t n_parts) {
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_mechanism ask[DPL_METHOD_MECHANISMS];
    struct dpl_release release = {0};
    struct dpl_parts parts;
    struct dpl_model *model;
    const struct dpl_identity identity = {0};
    size_t n;
    options.coverage = method->coverage;
    options.mechanism = mechanism;
    options.budget.epsilon = 8;
    options.budget.unit = unit;
    options.budget.trips_max = chosen ? 0 : unit == DPL_UNIT_USER ? 10 : 1;
    options.budget.insecure_seed = true, options.insecure_seed = 3;
    options.ledger = "none";
    assert_ok(city.run, dpl_method_requests(city.run, method, &options, ask, &n));
    assert_ok(city.run, dpl_parts_make(city.run, city.trips, unit, options.budget.trips_max,
                                       n_parts, &parts));
    assert_ok(city.run, dpl_release_open(city.run, &options, "", &identity, city.trips, &release));
    assert_ok(city.run, dpl_release_plan(city.run, &release, ask, n, parts.n_units));
    assert_ok(city.run, dpl_model_new(city.run, method->name, &city.trips->grid, &model));
    model->per_user = unit == DPL_UNIT_USER;
    release.model = model;
    assert_ok(city.run, method->fit(city.run, &parts, &release, model));
    if (chosen) assert_noised_as_chosen(&release, model);
    dpl_release_close(&release);
    dpl_parts_free(&parts);
    return model;
}

static size_t bytes_of(const struct dpl_tensor *tensor) {
    size_t n = tensor->type == DPL_TENSOR_F64 ? sizeof(double) : sizeof(float);
    for (int i = 0; i < tensor->rank; i++) n *= tensor->shape[i];
    return n;
}

static void assert_same_models(const struct dpl_model *a, const struct dpl_model *b) {
    size_t noised = 0;
    assert_int_equal(a->n_tensors, b->n_tensors);
    for (size_t i = 0; i < a->n_tensors; i++) {
        const struct dpl_tensor *x = &a->tensor[i], *y = &b->tensor[i];
        assert_string_equal(x->name, y->name);
        assert_int_equal(bytes_of(x), bytes_of(y));
        if (memcmp(x->data, y->data, bytes_of(x)) != 0) fail_msg("%s differs", x->name);
        noised += !strncmp(x->name, "noised.", 7);
    }
    assert_true(noised >= 2);
    assert_true(a->trips_estimated == b->trips_estimated && a->length_max == b->length_max);
}

static void parts_make_the_same_model(void **state) {
    (void)state;
    static const struct {
        const struct dpl_method *method;
        enum dpl_unit unit;
        const char *mechanism;
        bool chosen; // how many trips a user counts as
    } CASES[] = {{&dpl_method_bridge, DPL_UNIT_TRIP, NULL, false},
                 {&dpl_method_bridge, DPL_UNIT_USER, NULL, false},
                 {&dpl_method_bridge, DPL_UNIT_USER, NULL, true},
                 {&dpl_method_ngram, DPL_UNIT_TRIP, "gaussian", false},
                 {&dpl_method_ngram, DPL_UNIT_TRIP, "laplace", false},
                 {&dpl_method_adatrace, DPL_UNIT_TRIP, "gaussian", false},
                 {&dpl_method_adatrace, DPL_UNIT_TRIP, "laplace", false},
                 {&dpl_method_dpt, DPL_UNIT_TRIP, "laplace", false},
                 {&dpl_method_dpt, DPL_UNIT_USER, "gaussian", false},
                 {&dpl_method_privtrace, DPL_UNIT_TRIP, "gaussian", false},
                 {&dpl_method_privtrace, DPL_UNIT_USER, "laplace", false},
                 {&dpl_method_ldptrace, DPL_UNIT_TRIP, NULL, false},
                 {&dpl_method_sglt, DPL_UNIT_USER, "gaussian", false}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct dpl_model *whole =
            fit_in_parts(CASES[i].method, CASES[i].unit, CASES[i].mechanism, CASES[i].chosen, 1);
        for (size_t n_parts = 2; n_parts <= 5; n_parts += 3) {
            struct dpl_model *made = fit_in_parts(CASES[i].method, CASES[i].unit,
                                                  CASES[i].mechanism, CASES[i].chosen, n_parts);
            assert_same_models(whole, made);
            dpl_model_free(made);
        }
        dpl_model_free(whole);
    }
}

/* `paper` counts in parts, too, but its nets are trained on one machine, and it says so. */
static void paper_wants_one_part(void **state) {
    (void)state;
    struct dpl_parts parts;
    struct dpl_release release = {0};
    const struct dpl_fit_options options = dpl_fit_defaults();
    release.options = &options;
    assert_ok(city.run, dpl_parts_make(city.run, city.trips, DPL_UNIT_TRIP, 1, 2, &parts));
    assert_int_equal(dpl_method_paper.fit(city.run, &parts, &release, NULL), DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(city.run), "one machine"));
    dpl_run_begin(city.run);
    dpl_parts_free(&parts);
}

/* Every unit is whole in one part, in the same order, with the same trips. */
static void parts_hold_whole_units(void **state) {
    (void)state;
    for (int user = 0; user < 2; user++)
        for (size_t n_parts = 1; n_parts <= 7; n_parts++) {
            struct dpl_parts parts;
            struct dpl_kept all;
            enum dpl_unit unit = user ? DPL_UNIT_USER : DPL_UNIT_TRIP;
            size_t u = 0;
            assert_ok(city.run, dpl_kept_make(city.run, city.trips, unit, 10, &all));
            assert_ok(city.run, dpl_parts_make(city.run, city.trips, unit, 10, n_parts, &parts));
            for (size_t p = 0; p < n_parts; p++) {
                const struct dpl_kept *kept = &parts.part[p].kept;
                for (size_t v = 0; v < kept->n_units; v++, u++) {
                    size_t a = dpl_kept_begin(kept, v), b = dpl_kept_begin(&all, u);
                    size_t n = dpl_kept_begin(kept, v + 1) - a;
                    assert_int_equal(n, dpl_kept_begin(&all, u + 1) - b);
                    for (size_t i = 0; i < n; i++)
                        assert_int_equal(dpl_kept_trip(kept, a + i), dpl_kept_trip(&all, b + i));
                }
            }
            assert_int_equal(u, all.n_units);
            assert_int_equal(parts.n_units, all.n_units);
            dpl_kept_free(&all);
            dpl_parts_free(&parts);
        }
}

/* The counts themselves, before any noise: in any grouping and order the same whole numbers. */
static void counts_add_up_in_any_order(void **state) {
    (void)state;
    enum { PARTS = 4 };
    static const size_t ORDERS[][PARTS] = {{0, 1, 2, 3}, {3, 1, 0, 2}, {2, 3, 1, 0}};
    const struct dpl_cut cut = {.length_max = 12};
    const size_t cells = (size_t)dpl_grid_cells(&city.trips->grid);
    const struct dpl_question question = {
        .name = "topk",
        .shape = dpl_shape1(cells),
        .count = dpl_count_visits,
        .about = &cut,
        .event = {.kind = DPL_EVENT_GAUSSIAN, .sensitivity = 2.5}}; // clips many
    struct dpl_parts whole, parts;
    struct dpl_exact *expected = NULL;
    assert_ok(city.run, dpl_parts_make(city.run, city.trips, DPL_UNIT_USER, 10, 1, &whole));
    assert_ok(city.run, dpl_parts_make(city.run, city.trips, DPL_UNIT_USER, 10, PARTS, &parts));
    assert_ok(city.run, dpl_count(city.run, &question, &whole.part[0], &expected));
    for (size_t o = 0; o < sizeof ORDERS / sizeof *ORDERS; o++) {
        struct dpl_exact *sum = NULL, *counts = NULL;
        assert_ok(city.run, dpl_count(city.run, &question, &parts.part[ORDERS[o][0]], &sum));
        for (size_t i = 1; i < PARTS; i++) {
            assert_ok(city.run, dpl_count(city.run, &question, &parts.part[ORDERS[o][i]], &counts));
            assert_ok(city.run, dpl_exact_merge(city.run, sum, counts));
            dpl_exact_free(counts);
        }
        assert_memory_equal(sum->sum, expected->sum, cells * sizeof *sum->sum);
        assert_int_equal(sum->units, expected->units);
        dpl_exact_free(sum);
    }
    dpl_exact_free(expected);
    dpl_parts_free(&whole);
    dpl_parts_free(&parts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_hold_whole_units),
        cmocka_unit_test(counts_add_up_in_any_order),
        cmocka_unit_test(parts_make_the_same_model),
        cmocka_unit_test(paper_wants_one_part),
    };
    return cmocka_run_group_tests(tests, read_city, free_city);
}
