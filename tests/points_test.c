/* Measures of points, flows and tasks, and the classifier, against what numpy, scipy and
 * scikit-learn find on the same made-up trips (tests/oracles/evaluate.py wrote the figures). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleaned.h"
#include "evaluate/boost.h"
#include "evaluate/shape.h"
#include "evaluate/table.h"
#include "support.h"

/* ---- made-up trips, as tests/oracles/city.py draws them ---- */

enum { VISITS_MAX = 16 };
static const int64_t BASE_UTC_S = 1741003200; // 2025-03-03 12:00 UTC, a Monday

static double clamp(double value) { return fmin(fmax(value, 0), 12000); }

static void add_trip(struct dpl_run *run, struct dpl_cleaned *trips, uint64_t *seed,
                     double restless_m) {
    struct dpl_position at[VISITS_MAX];
    int32_t cell[VISITS_MAX];
    size_t visits = 2 + test_random(seed) % 14, stop_at = test_random(seed) % 24;
    double x = 2000 + 6000 * test_uniform(seed), y = 2000 + 6000 * test_uniform(seed),
           vx = 1200 * (test_uniform(seed) - 0.5), vy = 1200 * (test_uniform(seed) - 0.5);
    for (size_t v = 0; v < visits; v++) {
        at[v] = (struct dpl_position){(float)x, (float)y};
        cell[v] = (int32_t)floor((double)at[v].y_m / 500) * trips->grid.columns +
                  (int32_t)floor((double)at[v].x_m / 500);
        vx = 0.75 * vx + restless_m * (test_uniform(seed) - 0.5);
        vy = 0.75 * vy + restless_m * (test_uniform(seed) - 0.5);
        double still = v >= stop_at && v < stop_at + 4 ? 0.02 : 1;
        x = clamp(x + still * vx), y = clamp(y + still * vy);
    }
    struct dpl_cleaned_trip trip = {.cell = cell, .n_visits = visits, .position = at};
    trip.utc_s = BASE_UTC_S + (int64_t)(test_random(seed) % (14 * 86400));
    trip.user = (int32_t)(test_random(seed) % 40);
    trip.period = (uint8_t)(test_random(seed) % 24);
    assert_ok(run, dpl_cleaned_append(run, trips, &trip));
}

static struct dpl_cleaned *city(struct dpl_run *run, uint64_t seed, size_t n, double restless_m) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    struct dpl_cleaned *trips = NULL;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    assert_ok(run, dpl_cleaned_new(run, &grid, &trips));
    for (size_t i = 0; i < n; i++) add_trip(run, trips, &seed, restless_m);
    return trips;
}

/* ---- the oracles' figures ---- */

/* A program of its own wrote the figures of dp_mobility_report. */
static double golden(const char *prefix, const char *name) {
    char path[1024], line[256], wanted[128];
    double value = NAN;
    snprintf(path, sizeof path, "%.*s/golden/%s.csv", (int)(strrchr(__FILE__, '/') - __FILE__),
             __FILE__,
             strncmp(name, "dpmr_", 5) || strstr(name, "_emd_m") ? "evaluate" : "mobility");
    size_t length = (size_t)snprintf(wanted, sizeof wanted, "%s.%s,", prefix, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (!strncmp(line, wanted, length)) value = strtod(line + length, NULL);
    fclose(file);
    if (isnan(value)) fail_msg("the oracle has no figure %s.%s", prefix, name);
    return value;
}

/* dp_mobility_report moves shares on a sphere, and rounds hours between trips to seconds. */
static double tolerance_of(const char *name) {
    if (strstr(name, "_emd_coded")) return 0.003;
    return strcmp(name, "dpmr_user_gap_smape") ? 1e-6 : 1e-4;
}

static void assert_rows(enum dpl_family family, const double *figure, const char *prefix) {
    size_t first = dpl_family_first(family), n = 0;
    for (size_t row = first; row < DPL_N_ROWS && DPL_ROWS[row].family == family; row++, n++) {
        double expected = golden(prefix, DPL_ROWS[row].name), found = figure[row - first];
        const char *name = DPL_ROWS[row].name;
        if (!(fabs(found - expected) <= tolerance_of(name) * fmax(1, fabs(expected))))
            fail_msg("%s.%s: %.9g, the oracle has %.9g", prefix, name, found, expected);
    }
    assert_true(n > 0);
}

/* Three cities on one set of cells, whole. */
struct bench {
    struct dpl_run *run;
    struct dpl_cleaned *trips[3];
    struct dpl_cells cells;
    struct dpl_index same;
    struct dpl_ready ready[3];
    uint32_t order[400];
};

static void bench_open(struct bench *b) {
    *b = (struct bench){.run = test_run(2)};
    b->trips[0] = city(b->run, 1, 400, 600);
    b->trips[1] = city(b->run, 2, 400, 800);
    b->trips[2] = city(b->run, 3, 300, 600);
    size_t n = 0;
    for (size_t i = 0; i < 3; i++) n += b->trips[i]->n_visits;
    int32_t *cell = dpl_alloc(b->run, n, sizeof *cell), *at = cell;
    for (size_t i = 0; i < 3; at += b->trips[i++]->n_visits)
        memcpy(at, b->trips[i]->cell, b->trips[i]->n_visits * sizeof *cell);
    assert_ok(b->run, dpl_cells_given(b->run, &b->trips[0]->grid, cell, n, &b->cells));
    dpl_free(cell);
    for (size_t i = 0; i < 3; i++)
        assert_ok(b->run,
                  dpl_ready_make(b->run, b->trips[i], &b->cells, INFINITY, &b->same, &b->ready[i]));
    for (uint32_t i = 0; i < 400; i++) b->order[i] = i;
}

static void bench_close(struct bench *b) {
    for (size_t i = 0; i < 3; i++) {
        dpl_ready_free(&b->ready[i]);
        dpl_cleaned_free(b->trips[i]);
    }
    dpl_cells_free(&b->cells);
    dpl_index_free(&b->same);
    dpl_run_free(b->run);
}

/* ---- tests ---- */

static void figures_of_a_set_equal_the_oracle(void **state) {
    (void)state;
    struct bench b;
    double figure[DPL_ROWS_MAX];
    bench_open(&b);
    struct dpl_set set = {.trips = b.trips[0], .area = &b.trips[0]->grid.area};
    assert_ok(b.run, dpl_family_set(b.run, DPL_FAMILY_POINTS, &set, figure));
    assert_rows(DPL_FAMILY_POINTS, figure, "a");
    assert_ok(b.run, dpl_family_set(b.run, DPL_FAMILY_DAYS, &set, figure));
    assert_rows(DPL_FAMILY_DAYS, figure, "a");
    assert_ok(b.run, dpl_family_set(b.run, DPL_FAMILY_SIZES, &set, figure));
    assert_rows(DPL_FAMILY_SIZES, figure, "a");
    bench_close(&b);
}

static void figures_of_a_pair_equal_the_oracle(void **state) {
    (void)state;
    static const enum dpl_family families[] = {DPL_FAMILY_MOTION, DPL_FAMILY_OFF_TRACK,
                                               DPL_FAMILY_CLOCK,  DPL_FAMILY_FLOWS,
                                               DPL_FAMILY_PEERS,  DPL_FAMILY_MOBILITY};
    struct bench b;
    double figure[DPL_ROWS_MAX];
    bench_open(&b);
    struct dpl_part a = {&b.ready[0], b.order, 400}, other = {&b.ready[1], b.order, 400};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        assert_ok(b.run, dpl_family_pair(b.run, families[i], &a, &other, figure));
        assert_rows(families[i], figure, "ab");
    }
    bench_close(&b);
}

/* Two parts that share most of their trips have patterns and routes in common. */
static void figures_of_parts_equal_the_oracle(void **state) {
    (void)state;
    static const enum dpl_family families[] = {
        DPL_FAMILY_LENGTHS, DPL_FAMILY_PATTERNS, DPL_FAMILY_SETS,     DPL_FAMILY_DENSITY,
        DPL_FAMILY_OD,      DPL_FAMILY_ROUTE,    DPL_FAMILY_SAMENESS, DPL_FAMILY_HOURS};
    struct bench b;
    double figure[DPL_ROWS_MAX];
    bench_open(&b);
    struct dpl_part a = {&b.ready[0], b.order, 300}, other = {&b.ready[0], b.order + 100, 300};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        assert_ok(b.run, dpl_family_pair(b.run, families[i], &a, &other, figure));
        assert_rows(families[i], figure, "aa");
    }
    bench_close(&b);
}

static void tasks_equal_the_oracle(void **state) {
    (void)state;
    struct bench b;
    double value[DPL_ROWS_MAX], base[DPL_ROWS_MAX];
    struct dpl_eval_options options = dpl_eval_defaults();
    bench_open(&b);
    struct dpl_study study = {&options, &b.ready[0], &b.ready[1], &b.ready[2]};
    assert_ok(b.run, dpl_study_tasks(b.run, &study, value, base));
    assert_rows(DPL_FAMILY_TASKS, value, "b_on_c");
    assert_rows(DPL_FAMILY_TASKS, base, "a_on_c");
    bench_close(&b);
}

/* All trips of a user are trained on, or none: where every user has one way of their own, nothing
 * learnt from other users helps. */
static void tasks_split_by_user(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *real = city(run, 5, 0, 0);
    for (int32_t user = 0; user < 30; user++)
        for (int i = 0; i < 20; i++) {
            int32_t cell[3] = {3 * user, 3 * user + 1, 3 * user + 2};
            struct dpl_cleaned_trip trip = {.cell = cell, .n_visits = 3, .user = user};
            assert_ok(run, dpl_cleaned_append(run, real, &trip));
        }
    struct dpl_eval_synthetic same = {.name = "same", .trips = real};
    struct dpl_eval_options options = dpl_eval_defaults();
    options.only = "next_hit1";
    options.cell_share = 1;
    struct dpl_evaluation *e = NULL;
    assert_ok(run, dpl_evaluate(run, real, &same, 1, &options, &e));
    const struct dpl_measure *m = dpl_evaluation_find(e, 0, "next_hit1", DPL_SCOPE_POOLED);
    assert_int_equal(e->synthetic[0].n_measures, 1);
    assert_near(m->floor, 0, 0.05);  // only other users' ways were seen
    assert_near(m->value, 1, 0.001); // half of all trips: everybody's way was seen
    dpl_evaluation_free(e);
    dpl_cleaned_free(real);
    dpl_run_free(run);
}

/* The rows of the oracle's classifier: the first half of each side, then the second. */
static void shape_rows(struct dpl_run *run, float *x, uint8_t *label, size_t half) {
    static const double RESTLESS_M[2] = {600, 750};
    for (size_t s = 0; s < 2; s++) {
        struct dpl_cleaned *trips = city(run, 11 + s, 2500, RESTLESS_M[s]);
        double scratch[VISITS_MAX];
        for (size_t i = 0, n = 0; n < 2 * half; i++) {
            struct dpl_track track = dpl_track_of(trips, i);
            if (track.n < DPL_SHAPE_POINTS_MIN) continue;
            size_t row = n < half ? s * half + n : half + s * half + n;
            label[row] = (uint8_t)s;
            dpl_shape_features(&track, 60, scratch, x + row * DPL_SHAPE_FEATURES);
            n++;
        }
        dpl_cleaned_free(trips);
    }
}

static void shapes_and_boosting_equal_the_oracle(void **state) {
    (void)state;
    enum { HALF = 1000, ROWS = 4 * HALF };
    struct dpl_run *run = test_run(2), *one = test_run(1);
    static float x[ROWS * DPL_SHAPE_FEATURES];
    static uint8_t label[ROWS];
    static double score[ROWS / 2];
    struct dpl_boost_options options = dpl_boost_defaults();
    struct dpl_boost *boost = NULL, *again = NULL;
    double auc;
    shape_rows(run, x, label, HALF);
    for (size_t f = 0; f < DPL_SHAPE_FEATURES; f++) {
        char name[16];
        double mean = 0;
        for (size_t i = 0; i < ROWS; i++) mean += (double)x[i * DPL_SHAPE_FEATURES + f] / ROWS;
        snprintf(name, sizeof name, "feature_%zu", f);
        assert_near(mean / golden("shape", name), 1, 1e-6);
    }
    assert_ok(run, dpl_boost_fit(run, x, label, ROWS / 2, DPL_SHAPE_FEATURES, &options, &boost));
    assert_ok(one, dpl_boost_fit(one, x, label, ROWS / 2, DPL_SHAPE_FEATURES, &options, &again));
    for (size_t i = 0; i < ROWS / 2; i++) {
        const float *row = x + (i + ROWS / 2) * DPL_SHAPE_FEATURES;
        score[i] = dpl_boost_score(boost, row);
        assert_true(score[i] == dpl_boost_score(again, row)); // whatever the number of threads
    }
    assert_ok(run, dpl_auc(run, score, label + ROWS / 2, ROWS / 2, &auc));
    assert_near(auc, golden("shape", "boost_auc"), 0.005);
    dpl_boost_free(boost);
    dpl_boost_free(again);
    dpl_run_free(run);
    dpl_run_free(one);
}

static void auc_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    double auc;
    // Pairs (1, 0): 3 > 1, 3 = 3 half, 2 > 1, 2 < 3: 2.5 of 4.
    assert_ok(run, dpl_auc(run, (double[]){3, 2, 1, 3}, (uint8_t[]){1, 1, 0, 0}, 4, &auc));
    assert_near(auc, 0.625, 1e-12);
    assert_ok(run, dpl_auc(run, (double[]){3, 2}, (uint8_t[]){1, 1}, 2, &auc));
    assert_true(isnan(auc));
    dpl_run_free(run);
}

/* What restless trips look like is told apart; another sample of the same city is not, and blur
 * hides what is smaller than it. */
static void shape_auc_tells_restless_trips_apart(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct dpl_cleaned *real = city(run, 21, 3000, 600), *twin = city(run, 22, 3000, 600),
                       *restless = city(run, 23, 3000, 1000), *noisy = city(run, 24, 3000, 600);
    for (size_t v = 0; v < noisy->n_visits; v++) { // a receiver that rounds
        noisy->position[v].x_m = roundf(noisy->position[v].x_m / 8) * 8;
        noisy->position[v].y_m = roundf(noisy->position[v].y_m / 8) * 8;
    }
    struct dpl_eval_synthetic sets[3] = {{.name = "twin", .trips = twin},
                                         {.name = "restless", .trips = restless},
                                         {.name = "noisy", .trips = noisy}};
    struct dpl_eval_options options = dpl_eval_defaults();
    options.only = "shape_auc";
    struct dpl_evaluation *e = NULL;
    assert_ok(run, dpl_evaluate(run, real, sets, 3, &options, &e));
    const struct dpl_measure *m[3];
    for (size_t k = 0; k < 3; k++) m[k] = dpl_evaluation_find(e, k, "shape_auc", DPL_SCOPE_POOLED);
    assert_near(m[0]->value, 0.5, 0.04);
    assert_near(m[0]->floor, 0.5, 0.04);
    assert_true(m[1]->value > 0.85);
    assert_near(m[2]->value, 0.5, 0.05);
    dpl_evaluation_free(e);
    dpl_cleaned_free(real);
    dpl_cleaned_free(twin);
    dpl_cleaned_free(restless);
    dpl_cleaned_free(noisy);
    dpl_run_free(run);
}

/* The worked example of the manual: two minutes along, one back, one still. */
static void a_trip_by_hand(void **state) {
    (void)state;
    const struct dpl_position at[] = {{0, 0}, {600, 0}, {600, 800}, {600, 300}, {600, 310}};
    struct dpl_track track = {at, 5};
    double stopped_s = 0;
    assert_near(dpl_track_path_m(&track), 600 + 800 + 500 + 10, 1e-9);
    assert_near(dpl_track_straight_m(&track), sqrt(600 * 600 + 310 * 310), 1e-9);
    assert_near(dpl_track_turn_deg(&track, 1), 90, 1e-9);
    assert_near(dpl_track_turn_deg(&track, 2), 180, 1e-9);
    assert_true(dpl_track_turn_deg(&track, 3) < 0); // the step after it is 10 m: no direction
    assert_int_equal(dpl_track_stops(&track, 60, &stopped_s), 0); // one minute only
    assert_int_equal(dpl_track_stops(&track, 120, &stopped_s), 1);
    assert_near(stopped_s, 120, 0);
}

static void reading_counts_by_the_rule_of_cleaning(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned trips = {.has_time = true};
    struct dpl_read_facts facts = {.trips_cut_into = 200, .too_fast_kept = 15};
    facts.trips_dropped[DPL_DROP_TOO_FAST] = 5;
    facts.trips_dropped[DPL_DROP_GAP] = 30;
    struct dpl_set set = {.trips = &trips, .facts = &facts};
    double figure[2] = {NAN, NAN};
    assert_ok(run, dpl_figures_reading(run, &set, figure));
    assert_near(figure[0], 0.1, 1e-12);  // (5 + 15) / 200
    assert_near(figure[1], 0.75, 1e-12); // 200 less 5, 30 and 15
    dpl_run_free(run);
}

static void a_wrong_name_is_refused(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    bool chosen[DPL_ROWS_MAX];
    assert_int_equal(dpl_rows_choose(run, "shape_auc,shape", false, chosen), DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(run), "'shape'"));
    assert_ok(run, dpl_rows_choose(run, "od_cpc,jump_share", false, chosen));
    for (size_t row = 0; row < DPL_N_ROWS; row++)
        assert_int_equal(chosen[row],
                         row == dpl_row_of("od_cpc") || row == dpl_row_of("jump_share"));
    dpl_run_free(run);
}

/* The worst rule of a question decides, and says why. */
static void fitness_is_what_the_worst_figure_says(void **state) {
    (void)state;
    struct dpl_measure m[] = {
        {"density_emd_m", DPL_SCOPE_POOLED, DPL_BETTER_LOWER, 27.5, 23, 27.5 / 23},
        {"od_emd_m", DPL_SCOPE_POOLED, DPL_BETTER_LOWER, 290, 200, 1.45},
        {"od_cpc", DPL_SCOPE_POOLED, DPL_BETTER_HIGHER, 0.6, 0.75, 0.8},
        {"route_emd_m", DPL_SCOPE_POOLED, DPL_BETTER_LOWER, 800, 250, 3.2},
        {"path_km_mean", DPL_SCOPE_POOLED, DPL_BETTER_NEAR_FLOOR, 4.1, 4.2, 4.1 / 4.2},
        {"too_fast_share", DPL_SCOPE_POOLED, DPL_BETTER_LOWER, 0.146, 0.022, 6.6},
        {"weekday_tv", DPL_SCOPE_POOLED, DPL_BETTER_LOWER, NAN, 0.01, NAN},
    };
    struct dpl_eval_result result = {.n_measures = sizeof m / sizeof *m, .measures = m};
    struct dpl_evaluation e = {.n_synthetic = 1, .synthetic = &result};
    struct dpl_fitness list[DPL_FITNESS_MAX];
    static const enum dpl_fit_word expected[] = {DPL_FIT_YES,     DPL_FIT_UNKNOWN, DPL_FIT_UNKNOWN,
                                                 DPL_FIT_ROUGHLY, DPL_FIT_NO,      DPL_FIT_NO,
                                                 DPL_FIT_UNKNOWN, DPL_FIT_UNKNOWN};
    size_t n = dpl_evaluation_fitness(&e, 0, list);
    assert_int_equal(n, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < n; i++) assert_int_equal(list[i].word, expected[i]);
    assert_string_equal(list[0].reason, "visits lie 28 m off; two halves of the real trips 23 m");
    assert_non_null(strstr(list[3].reason, "60 % of the flows")); // the cell distance alone: yes
    assert_non_null(strstr(list[5].reason, "14.6 % of the trips have a step over the speed limit"));
    assert_string_equal(dpl_fit_word_name(DPL_FIT_ROUGHLY), "roughly");
}

/* Every measure is defined in the manual, and rows of a family stand together. */
static void the_table_is_whole(void **state) {
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%.*s/../docs/EVALUATION.md",
             (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    static char text[1 << 17];
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (size_t row = 0; row < DPL_N_ROWS; row++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "`%s`", DPL_ROWS[row].name);
        bool inside = !strncmp(DPL_ROWS[row].name, "fp", 2); // fp_20: "`fp_10` ... `fp_200`"
        if (!inside && !strstr(text, quoted)) fail_msg("%s is not in the manual", quoted);
        assert_int_equal(dpl_row_of(DPL_ROWS[row].name), row);
        for (size_t before = 0; before < row; before++)
            if (DPL_ROWS[before].family == DPL_ROWS[row].family)
                assert_int_equal(DPL_ROWS[row - 1].family, DPL_ROWS[row].family);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_a_set_equal_the_oracle),
        cmocka_unit_test(figures_of_a_pair_equal_the_oracle),
        cmocka_unit_test(figures_of_parts_equal_the_oracle),
        cmocka_unit_test(tasks_equal_the_oracle),
        cmocka_unit_test(tasks_split_by_user),
        cmocka_unit_test(shapes_and_boosting_equal_the_oracle),
        cmocka_unit_test(auc_by_hand),
        cmocka_unit_test(shape_auc_tells_restless_trips_apart),
        cmocka_unit_test(a_trip_by_hand),
        cmocka_unit_test(reading_counts_by_the_rule_of_cleaning),
        cmocka_unit_test(a_wrong_name_is_refused),
        cmocka_unit_test(fitness_is_what_the_worst_figure_says),
        cmocka_unit_test(the_table_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
