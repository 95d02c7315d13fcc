/* The informed attacker, and the replay of a release that it stands on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"
#include "fit/replay.h"
#include "support.h"

enum { TRIPS = 3000 };

struct bench {
    struct dpl_run *run;
    char *directory;
    struct dpl_area area;
    struct dpl_cleaned *members, *others;
    const char *path;  /* of the members */
    uint64_t key;      // of the noise
    int64_t trips_max; // of a user; 0: chosen
};

static const char *simulate(struct bench *b, const char *name, uint64_t seed) {
    struct dpl_simulate_options options = dpl_simulate_defaults();
    const char *path = test_path(b->directory, name);
    options.trips = TRIPS;
    options.users = 300;
    options.seed = seed;
    assert_ok(b->run, dpl_simulate(b->run, &options, path));
    return path;
}

static struct dpl_cleaned *read_trips(struct bench *b, const char *path) {
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_cleaned *trips = NULL;
    read.positions = read.own_phase = true;
    assert_ok(b->run, dpl_cleaned_read(b->run, &path, 1, &read, &b->area, &trips, NULL));
    return trips;
}

static void bench_open(struct bench *b) {
    *b = (struct bench){.run = test_run(2), .area = dpl_area_defaults(), .key = 1, .trips_max = 10};
    b->directory = test_directory();
    assert_ok(b->run, dpl_area_preset(b->run, "simulated", &b->area));
    b->area.cell_m = 2500; // few cells: fits of a second
    b->others = read_trips(b, simulate(b, "others.csv", 2));
    b->path = strdup(simulate(b, "members.csv", 1));
    b->members = read_trips(b, b->path);
}

static void bench_close(struct bench *b) {
    dpl_cleaned_free(b->members);
    dpl_cleaned_free(b->others);
    free((char *)b->path);
    test_directory_remove(b->directory);
    dpl_run_free(b->run);
}

static struct dpl_fit *fit(struct bench *b, const char *method, double epsilon,
                           enum dpl_unit unit) {
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_fit *made = NULL;
    options.method = method;
    options.budget.epsilon = epsilon;
    options.budget.delta = 1e-6;
    options.budget.unit = unit;
    options.budget.trips_max = unit == DPL_UNIT_USER ? b->trips_max : 1;
    options.ledger = "none";
    options.budget.insecure_seed = true; // the same noise every time: one release has one
    options.insecure_seed = b->key;
    assert_ok(b->run, test_fit(b->run, b->path, &read, &b->area, &options, &made));
    return made;
}

/* ---- the replay ---- */

struct sums {
    double exact[1 << 16], squares[32], all[32];
    char name[32][32];
    size_t tables, units;
};

static void add_unit(void *context, const struct dpl_replay_table *table, size_t unit,
                     const size_t *index, const int64_t *steps, size_t n) {
    struct sums *sums = context;
    assert_true(table->n <= sizeof sums->exact / sizeof *sums->exact);
    for (size_t i = 0; i < n; i++)
        sums->exact[index[i]] += ldexp((double)steps[i], -DPL_COUNT_PLACES);
    sums->units = unit + 1;
}

static enum dpl_status compare_table(void *context, const struct dpl_replay_table *table) {
    struct sums *sums = context;
    size_t t = sums->tables++;
    snprintf(sums->name[t], sizeof sums->name[t], "%s", table->name);
    for (size_t i = 0; i < table->n; i++) {
        double noise = table->noised[i] - sums->exact[i];
        sums->squares[t] += noise * noise / (table->deviation > 0 ? pow(table->deviation, 2) : 1);
    }
    sums->all[t] = (double)table->n;
    memset(sums->exact, 0, sizeof sums->exact);
    return DPL_OK;
}

/* Noised tables less what is counted once more leave the noise: as much as was declared, or none. A
 * count that differs from the fit's would stand out by hundreds. */
static size_t replay_leaves_noise(struct bench *b, const char *method, double epsilon,
                                  enum dpl_unit unit) {
    static struct sums sums;
    struct dpl_fit *made = fit(b, method, epsilon, unit);
    const struct dpl_model *model = dpl_fit_model(made);
    const struct dpl_replay_watch watch = {&sums, add_unit, compare_table};
    struct dpl_parts parts = {0};
    sums = (struct sums){.tables = 0};
    assert_ok(b->run, dpl_replay_parts(b->run, model, b->members, &parts));
    assert_ok(b->run, dpl_replay(b->run, model, &parts, &watch));
    assert_int_equal(sums.units, parts.n_units);
    for (size_t t = 0; t < sums.tables; t++) {
        double n = sums.all[t], z = (sums.squares[t] - n) / sqrt(2 * n);
        if (isinf(epsilon) ? sums.squares[t] > 1e-18 : fabs(z) > 8)
            fail_msg("%s %s: %g squares in %g entries", method, sums.name[t], sums.squares[t], n);
    }
    dpl_parts_free(&parts);
    dpl_fit_free(made);
    return sums.tables;
}

static void a_replay_counts_as_the_fit_did(void **state) {
    (void)state;
    struct bench b;
    bench_open(&b);
    assert_int_equal(replay_leaves_noise(&b, "bridge", 2, DPL_UNIT_TRIP), 21);
    assert_int_equal(replay_leaves_noise(&b, "bridge", INFINITY, DPL_UNIT_TRIP), 21);
    assert_int_equal(replay_leaves_noise(&b, "bridge", 8, DPL_UNIT_USER), 25);
    assert_int_equal(replay_leaves_noise(&b, "adatrace", 2, DPL_UNIT_TRIP), 6);
    assert_int_equal(replay_leaves_noise(&b, "dpt", 2, DPL_UNIT_TRIP), 7);
    assert_int_equal(replay_leaves_noise(&b, "dpt", 8, DPL_UNIT_USER), 8);
    assert_int_equal(replay_leaves_noise(&b, "privtrace", 2, DPL_UNIT_TRIP), 4);
    assert_int_equal(replay_leaves_noise(&b, "sglt", 2, DPL_UNIT_TRIP), 5);
    assert_int_equal(replay_leaves_noise(&b, "ngram", 2, DPL_UNIT_TRIP), 2); // the tree is none
    bench_close(&b);
}

/* ---- the attacker ---- */

static struct dpl_attack attack_of(const struct dpl_attack_report *r, const char *name) {
    for (size_t i = 0; i < r->n; i++)
        if (!strcmp(r->attack[i].name, name)) return r->attack[i];
    fail_msg("no attack %s", name);
    return r->attack[0];
}

static struct dpl_attack attack(struct bench *b, const struct dpl_model *model,
                                const struct dpl_model *control, double epsilon,
                                enum dpl_unit unit) {
    struct dpl_attack_options options = dpl_attack_defaults();
    struct dpl_attack_input input = {.members = b->members,
                                     .others = b->others,
                                     .synthetic = b->others,
                                     .model = model,
                                     .control_model = control};
    static struct dpl_attack_report report;
    options.epsilon = epsilon, options.delta = 1e-6, options.unit = unit;
    assert_ok(b->run, dpl_attack(b->run, &input, &options, &report));
    return attack_of(&report, "informed");
}

/* AUC of two Gaussians of unit variance, mu apart. */
static double gaussian_auc(double mu) { return 0.5 * erfc(-mu / 2); }

/* By the noise alone: no trip is further from its absence than mu, whatever it is. */
static double largest_mu(const struct dpl_model *model) {
    const char *name;
    json_t *about;
    double sum = 0;
    json_object_foreach(model->noised, name, about) {
        double sigma = json_number_value(json_object_get(about, "sigma"));
        sum += 1 / (sigma * sigma);
    }
    return sqrt(sum);
}

/* One release has one noise, which all its trips share: its AUC lies .1 off the mean of all
 * releases as a rule, in either direction. The mean of KEYS of them is what the noise bounds. */
enum { KEYS = 8 };

static void noise_holds_the_informed_attacker_off(void **state) {
    (void)state;
    struct bench b;
    bench_open(&b);
    double mean = 0, most = 0;
    for (b.key = 1; b.key <= KEYS; b.key++) {
        struct dpl_fit *made = fit(&b, "bridge", 2, DPL_UNIT_TRIP);
        struct dpl_attack a = attack(&b, made->model, NULL, 2, DPL_UNIT_TRIP);
        most = gaussian_auc(largest_mu(made->model));
        mean += a.auc / KEYS;
        assert_false(a.exceeds);
        dpl_fit_free(made);
    }
    print_message("informed: AUC %.3f, %.3f at most\n", mean, most);
    assert_true(mean > 0.5 + (most - 0.5) / 3 && mean < most + 0.05);
    bench_close(&b);
}

static void noise_that_is_missing_is_found_out(void **state) {
    (void)state;
    struct bench b;
    bench_open(&b);
    struct dpl_fit *made = fit(&b, "bridge", 2, DPL_UNIT_TRIP),
                   *bare = fit(&b, "bridge", INFINITY, DPL_UNIT_TRIP);
    struct dpl_model *model = made->model;
    struct dpl_attack a = attack(&b, model, dpl_fit_model(bare), 2, DPL_UNIT_TRIP);
    assert_true(a.control_auc > 0.99);     // the same tables, their noise taken away
    assert_true(a.control_inf_auc > 0.99); // a model without noise
    // A hundredth of the 120 that are judged is one of them.
    assert_true(a.tpr[0] > 0.005 && a.tpr[0] < a.bound[0]);
    // Half the noise that one table of the model declares: found out.
    json_t *about = json_object_get(model->noised, "pairs");
    double deviation = json_number_value(json_object_get(about, "deviation"));
    json_object_set_new(about, "deviation", json_real(2 * deviation));
    a = attack(&b, model, NULL, 2, DPL_UNIT_TRIP);
    assert_true(a.exceeds);
    assert_true(isnan(a.control_inf_auc));
    dpl_fit_free(made);
    dpl_fit_free(bare);
    bench_close(&b);
}

static void attack_users(int64_t trips_max) {
    struct bench b;
    struct dpl_fit *made = NULL;
    double mean = 0, most = 0;
    bench_open(&b);
    for (b.trips_max = trips_max; b.key <= KEYS; b.key++) {
        dpl_fit_free(made);
        made = fit(&b, "bridge", 8, DPL_UNIT_USER);
        struct dpl_attack a = attack(&b, dpl_fit_model(made), NULL, 8, DPL_UNIT_USER);
        assert_int_equal(a.members, b.members->n_users);
        most = gaussian_auc(largest_mu(dpl_fit_model(made)));
        mean += a.auc / KEYS;
        assert_false(a.exceeds);
    }
    print_message("informed, users: AUC %.3f, %.3f at most\n", mean, most);
    assert_true(mean > 0.5 + (most - 0.5) / 4 && mean < most + 0.05);
    struct dpl_attack_options options = dpl_attack_defaults();
    struct dpl_attack_report report;
    struct dpl_attack_input input = {.members = b.members,
                                     .others = b.others,
                                     .synthetic = b.others,
                                     .model = dpl_fit_model(made)};
    assert_int_equal(dpl_attack(b.run, &input, &options, &report), DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(b.run), "`attack.unit` to user"));
    dpl_fit_free(made);
    bench_close(&b);
}

static void users_are_attacked_by_all_they_add(void **state) {
    (void)state;
    attack_users(10);
}

/* Where how many trips they count as was chosen from a noised table, the noise bounds it as well.
 */
static void users_of_a_chosen_bound_are_attacked(void **state) {
    (void)state;
    attack_users(0);
}

/* The curve rises from nothing to everything, beside the bound at the same shares. */
static void curves_rise(void **state) {
    (void)state;
    struct bench b;
    bench_open(&b);
    struct dpl_fit *made = fit(&b, "adatrace", 2, DPL_UNIT_TRIP);
    struct dpl_attack a = attack(&b, dpl_fit_model(made), NULL, 2, DPL_UNIT_TRIP);
    double area = 0;
    assert_in_range(a.n_roc, 50, DPL_ROC_POINTS);
    assert_near(a.roc[0].fpr, 0, 0);
    assert_near(a.roc[a.n_roc - 1].fpr, 1, 0);
    assert_near(a.roc[a.n_roc - 1].tpr, 1, 0);
    for (size_t i = 1; i < a.n_roc; i++) {
        assert_true(a.roc[i].fpr > a.roc[i - 1].fpr && a.roc[i].tpr >= a.roc[i - 1].tpr);
        assert_near(a.roc[i].bound, fmin(1, exp(2) * a.roc[i].fpr + 1e-6), 1e-12);
        area += (a.roc[i].fpr - a.roc[i - 1].fpr) * (a.roc[i].tpr + a.roc[i - 1].tpr) / 2;
    }
    assert_near(area, a.auc, 0.005);
    dpl_fit_free(made);
    bench_close(&b);
}

static void ignore(void *context, uint64_t unit, const size_t *index, const int64_t *steps,
                   size_t n) {
    (void)context, (void)unit, (void)index, (void)steps, (void)n;
}

static void a_watched_vector_is_not_released(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_exact *exact = NULL;
    struct dpl_noised *noised = NULL;
    const struct dpl_exact_options shape = {.n = 1, .norm = DPL_NORM_L2, .sensitivity = 1};
    const struct dpl_event event = {
        .name = "e", .kind = DPL_EVENT_GAUSSIAN, .sensitivity = 1, .rate = 1, .steps = 1};
    assert_ok(run, dpl_exact_new(run, &shape, &exact));
    dpl_exact_watch(exact, (struct dpl_exact_watch){ignore, NULL});
    assert_int_equal(dpl_bare_release(run, &event, &exact, &noised), DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(run), "watched"));
    dpl_exact_free(exact);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_counts_as_the_fit_did),
        cmocka_unit_test(noise_holds_the_informed_attacker_off),
        cmocka_unit_test(noise_that_is_missing_is_found_out),
        cmocka_unit_test(users_are_attacked_by_all_they_add),
        cmocka_unit_test(users_of_a_chosen_bound_are_attacked),
        cmocka_unit_test(curves_rise),
        cmocka_unit_test(a_watched_vector_is_not_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
