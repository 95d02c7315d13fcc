/* The methods to compare with from end to end: models, certificates, what is drawn from them,
 * damaged models, and the paper's picture on real data. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleaned.h"
#include "sample/generator.h"
#include "method/method.h"

enum { CITY_TRIPS = 6000, ROOM = 1 << 22 };

struct city {
    char *directory, trips[512], model[512], synthetic[512];
    struct dpl_area area;
    struct dpl_fit_options options;
};

static void make_city(struct city *city, const char *method, const char *mechanism) {
    struct dpl_run *run = test_run(2);
    struct dpl_simulate_options how = dpl_simulate_defaults();
    *city = (struct city){
        .directory = test_directory(), .area = dpl_area_defaults(), .options = dpl_fit_defaults()};
    snprintf(city->trips, sizeof city->trips, "%s/city.csv", city->directory);
    snprintf(city->model, sizeof city->model, "%s/m.dploc", city->directory);
    snprintf(city->synthetic, sizeof city->synthetic, "%s/s.csv", city->directory);
    how.trips = CITY_TRIPS;
    assert_ok(run, dpl_simulate(run, &how, city->trips));
    assert_ok(run, dpl_area_preset(run, "simulated", &city->area));
    city->area.cell_m = 1500;
    city->options.method = method;
    city->options.mechanism = mechanism;
    city->options.ledger = "none";
    city->options.budget.epsilon = 5;
    city->options.budget.delta = 1e-6;
    city->options.budget.insecure_seed = true;
    city->options.insecure_seed = 7;
    dpl_run_free(run);
}

static enum dpl_status try_fit(struct dpl_run *run, const struct city *city, struct dpl_fit **fit) {
    const struct dpl_read_options read = dpl_read_defaults();
    return test_fit(run, city->trips, &read, &city->area, &city->options, fit);
}

/* Fits and draws with that many threads. */
static void fit_city(const struct city *city, int threads) {
    struct dpl_run *run = test_run(threads);
    struct dpl_sample_options sample = dpl_sample_defaults();
    struct dpl_fit *fit;
    assert_ok(run, try_fit(run, city, &fit));
    assert_ok(run, dpl_fit_write(run, fit, city->model, true));
    sample.seed = 1;
    sample.overwrite = true;
    assert_ok(run, dpl_sample_write(run, dpl_fit_model(fit), &sample, city->synthetic));
    dpl_fit_free(fit);
    dpl_run_free(run);
}

static size_t read_bytes(const char *path, char *into) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(into, 1, ROOM, file);
    fclose(file);
    assert_true(n > 0 && n < ROOM);
    return n;
}

static const struct {
    const char *method;
    size_t mechanisms; /* besides the size */
    bool users;        /* it can protect them */
    bool local;        /* its trips noise their own reports: one form, of its own kind */
} METHODS[] = {{"ngram", 3, false, false},   {"adatrace", 6, false, false},
               {"dpt", 7, true, false},      {"privtrace", 4, true, false},
               {"ldptrace", 2, false, true}, {"sglt", 5, true, false}};
enum { N_METHODS = sizeof METHODS / sizeof *METHODS };
static const char *const MECHANISMS[] = {"gaussian", "laplace"};

static json_t *mechanisms_of(const struct dpl_model *model) {
    return json_object_get(model->certificate, "mechanisms");
}

/* Every mechanism is there and of that kind; with Laplace noise all of it is pure: delta buys next
 * to nothing. */
static void check_mechanisms(const struct dpl_model *model, size_t n, const char *kind,
                             double epsilon) {
    json_t *mechanism;
    size_t i;
    double pure = 0;
    assert_int_equal(json_array_size(mechanisms_of(model)), 1 + n);
    json_array_foreach(mechanisms_of(model), i, mechanism) {
        if (i > 0) assert_string_equal(json_string_value(json_object_get(mechanism, "kind")), kind);
        pure += 1 / json_number_value(json_object_get(mechanism, "sigma"));
    }
    if (strcmp(kind, "gaussian")) assert_near(pure, epsilon, 0.01 * epsilon);
}

static void check_certificate(const struct city *city, size_t n, const char *kind) {
    struct dpl_run *run = test_run(1);
    struct dpl_verdict verdict;
    struct dpl_model *model;
    double epsilon = city->options.budget.epsilon;
    assert_ok(run, dpl_model_verify(run, city->model, &verdict));
    for (size_t r = 0; r < verdict.n_reasons; r++)
        assert_non_null(strstr(verdict.reasons[r], "NOT PRIVATE")); // and nothing else is wrong
    assert_int_equal(verdict.local, !strcmp(kind, "local"));
    assert_true(verdict.epsilon <= epsilon && verdict.epsilon > 0.998 * epsilon);
    assert_ok(run, dpl_model_read(run, city->model, &model));
    check_mechanisms(model, n, kind, epsilon);
    assert_false(model->has_time);
    dpl_model_free(model);
    dpl_run_free(run);
}

/* The same key gives the same model and trips with any number of threads; the certificate lists
 * every mechanism, of one kind, and holds. */
static void the_same_bytes_and_true_certificates(void **state) {
    (void)state;
    static char bytes[4][ROOM];
    for (size_t f = 0; f < 2 * N_METHODS; f++) {
        struct city city;
        size_t length[4];
        if (METHODS[f / 2].local && f % 2) continue;
        make_city(&city, METHODS[f / 2].method, MECHANISMS[f % 2]);
        for (int i = 0; i < 2; i++) {
            fit_city(&city, i ? 3 : 1);
            length[2 * i] = read_bytes(city.model, bytes[2 * i]);
            length[2 * i + 1] = read_bytes(city.synthetic, bytes[2 * i + 1]);
        }
        for (int i = 0; i < 2; i++)
            assert_true(length[i] == length[i + 2] && !memcmp(bytes[i], bytes[i + 2], length[i]));
        check_certificate(&city, METHODS[f / 2].mechanisms,
                          METHODS[f / 2].local ? "local" : MECHANISMS[f % 2]);
        test_directory_remove(city.directory);
    }
}

/* Where users are protected, a table's sensitivity is that of one trip times the root of their
 * number with Gaussian noise, times their number with Laplace noise. */
static void users_weigh_as_their_trips(void **state) {
    (void)state;
    enum { TRIPS_OF_A_USER = 4 };
    for (size_t f = 0; f < 2 * N_METHODS; f++) {
        if (!METHODS[f / 2].users) continue;
        struct city city;
        struct dpl_run *run = test_run(2);
        json_t *mechanism;
        size_t i;
        bool laplace = f % 2;
        make_city(&city, METHODS[f / 2].method, MECHANISMS[f % 2]);
        city.options.budget.unit = DPL_UNIT_USER;
        city.options.budget.trips_max = TRIPS_OF_A_USER;
        city.options.budget.epsilon = 50;
        fit_city(&city, 2);
        check_certificate(&city, METHODS[f / 2].mechanisms + 1,
                          MECHANISMS[f % 2]); // the number of trips, too
        struct dpl_model *model;
        assert_ok(run, dpl_model_read(run, city.model, &model));
        json_array_foreach(mechanisms_of(model), i, mechanism) {
            bool linear = laplace || i + 1 == json_array_size(mechanisms_of(model));
            double clip =
                json_number_value(json_object_get(json_object_get(mechanism, "request"), "clip"));
            if (i > 0)
                assert_near(json_number_value(json_object_get(mechanism, "sensitivity")),
                            clip * (linear ? TRIPS_OF_A_USER : sqrt(TRIPS_OF_A_USER)), 1e-9);
        }
        dpl_model_free(model);
        test_directory_remove(city.directory);
        dpl_run_free(run);
    }
}

/* ---- Laplace vectors ---- */

enum { COORDINATES = 50 };

/* One unit that weighs 1 everywhere; `data` says whether it is there. */
static enum dpl_status count_everywhere(struct dpl_run *run, const void *data,
                                        const struct dpl_part *part, struct dpl_exact *exact) {
    (void)part;
    struct dpl_entry entry[COORDINATES];
    for (size_t i = 0; i < COORDINATES; i++) entry[i] = (struct dpl_entry){i, 1};
    return *(const bool *)data ? dpl_exact_add(run, exact, entry, COORDINATES) : DPL_OK;
}

static void measure_laplace(struct dpl_run *run, bool there, double value[COORDINATES],
                            double *reach) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    struct dpl_cleaned *trips;
    struct dpl_release release = {0};
    struct dpl_parts parts;
    struct dpl_noised *noised;
    struct dpl_fit_options options = dpl_fit_defaults();
    const struct dpl_mechanism ask = {
        .name = "table", .kind = DPL_EVENT_LAPLACE, .share = 1, .clip = 3};
    const struct dpl_identity identity = {0};
    options.ledger = "none", options.size = 1000, options.budget.trips_max = 1;
    options.budget.insecure_seed = true, options.insecure_seed = 5;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    assert_ok(run, dpl_cleaned_new(run, &grid, &trips));
    assert_ok(run, dpl_release_open(run, &options, "test", &identity, trips, &release));
    assert_ok(run, dpl_release_plan(run, &release, &ask, 1, 1000));
    assert_near(dpl_plan_event(release.plan, 0)->sigma, 1, 0.002); // epsilon 1, pure
    const struct dpl_question question = {.name = "table",
                                          .shape = dpl_shape1(COORDINATES),
                                          .count = count_everywhere,
                                          .about = &there};
    assert_ok(run, dpl_parts_make(run, trips, DPL_UNIT_TRIP, 1, 1, &parts));
    assert_ok(run, dpl_release_measure(run, &release, question, &parts, &noised));
    dpl_parts_free(&parts);
    for (size_t i = 0; i < COORDINATES; i++) value[i] = dpl_noised_value(noised, i);
    *reach = dpl_noised_reach(noised, 0.05);
    dpl_noised_free(noised);
    dpl_release_close(&release);
    dpl_cleaned_free(trips);
}

/* The same noise with and without a unit: what differs is the unit, and its L1 norm is what the
 * noise was scaled to. */
static void laplace_vectors_are_held_by_l1(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    double without[COORDINATES], with[COORDINATES], moved = 0, noise = 0, reach;
    measure_laplace(run, false, without, &reach);
    measure_laplace(run, true, with, &reach);
    for (size_t i = 0; i < COORDINATES; i++)
        moved += fabs(with[i] - without[i]), noise += fabs(without[i]);
    assert_true(moved <= 3 && moved > 2.99);
    assert_near(noise / COORDINATES, 3,
                5 * 3 / sqrt(COORDINATES)); // the mean of |noise| is the scale
    assert_near(reach, 3 * log(COORDINATES / 0.1), 0.01 * reach);
    dpl_run_free(run);
}

/* ---- what is refused ---- */

static void refuses_what_it_cannot_do(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_fit *fit = NULL;
    struct city city;
    make_city(&city, "ngram", "gaussian");
    city.options.budget.unit = DPL_UNIT_USER;
    city.options.budget.trips_max = 5;
    for (size_t m = 0; m < N_METHODS; m++) {
        if (METHODS[m].users) continue;
        city.options.method = METHODS[m].method;
        assert_int_equal(try_fit(run, &city, &fit), DPL_USAGE);
        assert_non_null(strstr(dpl_run_message(run), "protects single trips"));
    }
    city.options.budget.unit = DPL_UNIT_TRIP;
    city.options.budget.trips_max = 1;
    city.options.method = "bridge";
    city.options.mechanism = "laplace";
    assert_int_equal(try_fit(run, &city, &fit), DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(run), "`fit.mechanism` laplace belongs to"));
    city.options.method = "ngram";
    city.options.mechanism = "cauchy";
    assert_int_equal(try_fit(run, &city, &fit), DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(run), "gaussian or laplace"));
    test_directory_remove(city.directory);
    dpl_run_free(run);
}

/* ---- published forms ---- */

/* What each published program takes from the data as it is. */
static const struct {
    const char *method, *table[3];
} RAW[] = {{"ngram", {"lengths", "topk"}},
           {"adatrace", {"lengths", "subgrid", "steps"}},
           {"dpt", {"lengths", "levels"}},
           {"privtrace", {"lengths", "support"}}};
enum { N_RAW = sizeof RAW / sizeof *RAW };

/* The model's table as it was released; caller frees the model. */
static const double *table_of(struct dpl_model *model, const char *name, size_t *n) {
    char full[64];
    snprintf(full, sizeof full, "noised.%s", name);
    for (size_t t = 0; t < model->n_tensors; t++) {
        if (strcmp(model->tensor[t].name, full)) continue;
        *n = 1;
        for (int i = 0; i < model->tensor[t].rank; i++) *n *= model->tensor[t].shape[i];
        return model->tensor[t].data;
    }
    fail_msg("the model keeps no table %s", name);
    return NULL;
}

static struct dpl_model *fit_with_key(struct dpl_run *run, struct city *city, uint64_t key) {
    struct dpl_model *model;
    city->options.insecure_seed = key;
    fit_city(city, 2);
    assert_ok(run, dpl_model_read(run, city->model, &model));
    return model;
}

static bool same_table(struct dpl_model *a, struct dpl_model *b, const char *name) {
    size_t n = 0, m = 0;
    const double *left = table_of(a, name, &n), *right = table_of(b, name, &m);
    return n == m && !memcmp(left, right, n * sizeof *left);
}

/* The leak in the original form: two runs with other noise release the very same numbers, and how
 * many trips there are; in our form they differ. Whoever knows all trips but one reads that one
 * off. */
static void published_forms_release_raw_numbers(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    for (size_t r = 0; r < N_RAW; r++)
        for (int published = 0; published < 2; published++) {
            struct city city;
            make_city(&city, RAW[r].method, "gaussian");
            city.options.as_published = published;
            struct dpl_model *a = fit_with_key(run, &city, 1), *b = fit_with_key(run, &city, 2);
            for (size_t t = 0; t < 3 && RAW[r].table[t]; t++)
                if (published || strcmp(RAW[r].table[t], "support")) // ours has none
                    assert_int_equal(same_table(a, b, RAW[r].table[t]), published);
            if (strcmp(RAW[r].method, "ngram")) // whose number of trips follows from its tree
                assert_int_equal(a->trips_estimated == b->trips_estimated, published);
            dpl_model_free(a), dpl_model_free(b);
            test_directory_remove(city.directory);
        }
    dpl_run_free(run);
}

static void check_not_private(struct dpl_run *run, struct city *city, const char *reason) {
    struct dpl_verdict verdict;
    struct dpl_model *model;
    city->options.budget.insecure_seed = false;
    fit_city(city, 2);
    assert_ok(run, dpl_model_verify(run, city->model, &verdict));
    assert_false(verdict.valid);
    assert_true(verdict.not_private && isinf(verdict.epsilon));
    assert_int_equal(verdict.n_reasons, 1);
    assert_non_null(strstr(verdict.reasons[0], reason));
    assert_ok(run, dpl_model_read(run, city->model, &model));
    assert_true(model->not_private);
    assert_true(json_is_false(json_object_get(model->certificate, "private")));
    assert_non_null(json_object_get(model->certificate, "warning"));
    dpl_model_free(model);
}

/* PRIVACY: secret noise and an epsilon that was asked for do not make them private. */
static void published_forms_are_never_called_private(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    for (size_t r = 0; r <= N_RAW; r++) {
        struct city city;
        bool deniable = r == N_RAW;
        make_city(&city, deniable ? "sglt" : RAW[r].method, "gaussian");
        city.options.as_published = !deniable;
        city.options.sglt_form = deniable ? "deniable" : "private";
        check_not_private(run, &city,
                          deniable ? "plausible deniability, NOT differential privacy"
                                   : "not everything was noised");
        test_directory_remove(city.directory);
    }
    dpl_run_free(run);
}

/* Fakes are as many as there are trips, each as long as a real one; they differ with the key. */
static void fakes_are_as_many_as_trips(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct city city;
    const int32_t *start[2], *cell[2];
    make_city(&city, "sglt", "gaussian");
    city.options.sglt_form = "deniable";
    struct dpl_model *model[2] = {fit_with_key(run, &city, 1), fit_with_key(run, &city, 2)};
    for (int i = 0; i < 2; i++) {
        size_t n = (size_t)json_integer_value(json_object_get(model[i]->options, "sglt_fakes")),
               visits = (size_t)json_integer_value(
                   json_object_get(model[i]->options, "sglt_fake_visits"));
        assert_true(n > CITY_TRIPS * 0.9 && n <= CITY_TRIPS);
        assert_int_equal(model[i]->trips_estimated, n);
        assert_ok(run, dpl_model_get(run, model[i], "sglt.fake_start", DPL_TENSOR_I32, 1,
                                     (size_t[]){n + 1}, &start[i]));
        assert_ok(run, dpl_model_get(run, model[i], "sglt.fake_cell", DPL_TENSOR_I32, 1, &visits,
                                     &cell[i]));
    }
    assert_true(memcmp(cell[0], cell[1], 1000 * sizeof(int32_t)) != 0);
    assert_false(dpl_model_has(model[0], "sglt.keys")); // nor which trip was whose seed
    dpl_model_free(model[0]), dpl_model_free(model[1]);
    test_directory_remove(city.directory);
    dpl_run_free(run);
}

/* Whole sequences: delta has a part for the threshold, the certificate holds, and the model names
 * no sequence below it. */
static void sequences_are_paid_by_delta(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct city city;
    struct dpl_verdict verdict;
    struct dpl_model *model;
    json_t *mechanism;
    size_t i, found = 0;
    make_city(&city, "sglt", "gaussian");
    city.options.keep = "sequence";
    city.options.budget.insecure_seed = false;
    fit_city(&city, 2);
    assert_ok(run, dpl_model_verify(run, city.model, &verdict));
    assert_true(verdict.valid && verdict.epsilon <= 5 && verdict.epsilon > 4.99);
    assert_ok(run, dpl_model_read(run, city.model, &model));
    json_array_foreach(mechanisms_of(model), i, mechanism) {
        if (strcmp(json_string_value(json_object_get(mechanism, "name")), "keys")) continue;
        assert_string_equal(json_string_value(json_object_get(mechanism, "kind")), "threshold");
        assert_near(json_number_value(json_object_get(mechanism, "rate")), 1e-7, 1e-12);
        found++;
    }
    assert_int_equal(found, 1);
    dpl_model_free(model);
    test_directory_remove(city.directory);
    dpl_run_free(run);
}

static void forms_belong_to_their_methods(void **state) {
    (void)state;
    static const struct {
        const char *method, *mechanism, *form, *keep;
        bool published;
        const char *words;
    } WRONG[] = {{"bridge", "gaussian", "private", "ends", true, "`fit.as_published` belongs to"},
                 {"ldptrace", "gaussian", "private", "ends", true, "`fit.as_published` belongs to"},
                 {"sglt", "gaussian", "private", "ends", true, "`fit.sglt_form` deniable has"},
                 {"dpt", "gaussian", "deniable", "ends", false, "belong to `fit.method` sglt"},
                 {"dpt", "gaussian", "private", "sequence", false, "belong to `fit.method` sglt"},
                 {"sglt", "gaussian", "private", "all", false, "ends or sequence"},
                 {"sglt", "gaussian", "public", "ends", false, "private or deniable"},
                 {"sglt", "laplace", "private", "sequence", false, "costs a part of delta"},
                 {"sglt", "gaussian", "deniable", "sequence", false, "takes single trips"}};
    struct dpl_run *run = test_run(1);
    struct dpl_fit *fit = NULL;
    struct city city;
    make_city(&city, "sglt", "gaussian");
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        city.options.method = WRONG[i].method, city.options.mechanism = WRONG[i].mechanism;
        city.options.sglt_form = WRONG[i].form, city.options.keep = WRONG[i].keep;
        city.options.as_published = WRONG[i].published;
        assert_int_equal(try_fit(run, &city, &fit), DPL_USAGE);
        assert_non_null(strstr(dpl_run_message(run), WRONG[i].words));
    }
    test_directory_remove(city.directory);
    dpl_run_free(run);
}

/* ---- drawing ---- */

/* A model of each method, and of each form of sglt. */
static const struct form {
    const char *method, *keep, *form, *option; /* a number that the generator goes by */
} FORMS[] = {{"ngram", "ends", "private", "ngram_trips"},
             {"adatrace", "ends", "private", "adatrace_side"},
             {"dpt", "ends", "private", "dpt_order"},
             {"privtrace", "ends", "private", "privtrace_side"},
             {"ldptrace", "ends", "private", "ldptrace_side"},
             {"sglt", "ends", "private", "sglt_clusters"},
             {"sglt", "sequence", "private", "sglt_sequences"},
             {"sglt", "ends", "deniable", "sglt_fakes"}};
enum { N_FORMS = sizeof FORMS / sizeof *FORMS };

static struct dpl_model *model_of(struct dpl_run *run, const struct form *form) {
    struct city city;
    struct dpl_model *model;
    make_city(&city, form->method, "gaussian");
    city.options.keep = form->keep, city.options.sglt_form = form->form;
    fit_city(&city, 2);
    assert_ok(run, dpl_model_read(run, city.model, &model));
    test_directory_remove(city.directory);
    return model;
}

/* The list's entry that is this very trip, SIZE_MAX: none. */
static size_t entry_of(const struct dpl_stay *stay, size_t n, const int32_t *start,
                       const int32_t *cell, size_t entries) {
    int32_t path[64];
    int32_t visits = 0;
    for (size_t i = 0; i < n; i++)
        for (int v = 0; v < stay[i].visits; v++) path[visits++] = stay[i].cell;
    for (size_t e = 0; e < entries; e++)
        if (start[e + 1] - start[e] == visits &&
            !memcmp(cell + start[e], path, (size_t)visits * sizeof *path))
            return e;
    return SIZE_MAX;
}

/* As many trips as the synthesis gave are exactly those; twice as many are each of them twice;
 * another seed has another order. */
static void ngram_draws_what_was_synthesised(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct dpl_model *model = model_of(run, &FORMS[0]);
    size_t total = (size_t)model->trips_estimated,
           entries = (size_t)json_integer_value(json_object_get(model->options, "ngram_trips"));
    size_t visits = (size_t)json_integer_value(json_object_get(model->options, "ngram_visits"));
    const int32_t *start, *count, *cell;
    uint64_t order[2] = {0};
    assert_true(total > 100 && entries > 5);
    assert_ok(run, dpl_model_get(run, model, "ngram.start", DPL_TENSOR_I32, 1,
                                 (size_t[]){entries + 1}, &start));
    assert_ok(run, dpl_model_get(run, model, "ngram.count", DPL_TENSOR_I32, 1, &entries, &count));
    assert_ok(run, dpl_model_get(run, model, "ngram.cell", DPL_TENSOR_I32, 1, &visits, &cell));
    int64_t *seen = calloc(entries, sizeof *seen);
    for (uint64_t seed = 0; seed < 2; seed++) {
        struct dpl_generator *generator;
        struct dpl_round *round;
        memset(seen, 0, entries * sizeof *seen);
        assert_ok(run, dpl_generator_open(run, model, &(struct dpl_draw_options){.seed = seed},
                                          &generator));
        assert_ok(run, dpl_round_new(run, total, 2, total * 64, &round));
        for (uint64_t lap = 0; lap < 2; lap++) {
            dpl_round_begin(round, lap * total, total);
            assert_ok(run, generator->draw(run, generator, round));
            for (size_t i = 0; i < total; i++) {
                size_t n;
                const struct dpl_stay *stay = dpl_round_get(round, i, &n);
                size_t e = entry_of(stay, n, start, cell, entries);
                assert_true(e != SIZE_MAX);
                seen[e]++;
                if (lap == 0 && i < 50) order[seed] = dpl_mix64(order[seed] + e);
            }
        }
        for (size_t e = 0; e < entries; e++) assert_int_equal(seen[e], 2 * count[e]);
        dpl_round_free(round);
        generator->free(generator);
    }
    assert_true(order[0] != order[1]);
    free(seen);
    dpl_model_free(model);
    dpl_run_free(run);
}

/* Any number in any tensor changed to nonsense, or an option: refused with a sentence, or trips
 * within bounds. */
static void damaged_models_never_crash(void **state) {
    (void)state;
    static const float ODD[] = {-1, 0, 0.5f, 2, 1e30f, -1e30f};
    static const int32_t ODD_WHOLE[] = {-1, 0, 1, 21, 1000000, INT32_MAX, INT32_MIN};
    struct dpl_run *run = test_run(2);
    uint64_t seed = 21;
    for (size_t m = 0; m < N_FORMS; m++) {
        struct dpl_model *model = model_of(run, &FORMS[m]);
        size_t refused = 0, rounds = test_soak(300);
        for (size_t r = 0; r < rounds; r++) {
            struct dpl_tensor *tensor =
                &model->tensor[1 + test_random(&seed) %
                                       (model->n_tensors - 1)]; // reading checks the cells
            size_t n = 1, at;
            for (int i = 0; i < tensor->rank; i++) n *= tensor->shape[i];
            at = test_random(&seed) % n;
            uint32_t *word = (uint32_t *)tensor->data + at, before = *word;
            int32_t length_max = model->length_max;
            json_t *options = json_deep_copy(model->options);
            if (r % 10 == 9)
                model->length_max = 3;
            else if (r % 10 == 8)
                json_object_set_new(model->options, FORMS[m].option,
                                    json_integer(ODD_WHOLE[r / 10 % 7]));
            else if (tensor->type == DPL_TENSOR_F32)
                memcpy(word, &ODD[test_random(&seed) % 6], sizeof *word);
            else
                memcpy(word, &ODD_WHOLE[test_random(&seed) % 7], sizeof *word);
            struct dpl_generator *generator = NULL;
            struct dpl_round *round;
            enum dpl_status status =
                dpl_generator_open(run, model, &(struct dpl_draw_options){.seed = 1}, &generator);
            assert_true(status == DPL_OK || (status == DPL_BAD_DATA && dpl_run_message(run)[0]));
            dpl_run_begin(run);
            refused += status != DPL_OK;
            if (status == DPL_OK) {
                size_t places = generator->place ? generator->n_places : (size_t)model->n_cells;
                assert_ok(run, dpl_round_new(run, 200, 2, 200 * 64, &round));
                dpl_round_begin(round, 0, 200);
                assert_ok(run, generator->draw(run, generator, round));
                for (size_t i = 0; i < 200; i++) {
                    size_t stays, visits = 0;
                    const struct dpl_stay *stay = dpl_round_get(round, i, &stays);
                    for (size_t s = 0; s < stays; s++)
                        assert_true(stay[s].cell < places), visits += stay[s].visits;
                    assert_true(visits >= 2 && visits <= (size_t)model->length_max);
                }
                dpl_round_free(round);
                generator->free(generator);
            }
            *word = before;
            model->length_max = length_max;
            json_decref(model->options);
            model->options = options;
        }
        assert_true(refused > rounds / 10 && refused < rounds);
        dpl_model_free(model);
    }
    dpl_run_free(run);
}

/* Whichever allocation fails while a generator is opened. */
static void generators_survive_failing_allocations(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    for (size_t m = 0; m < N_FORMS; m++) {
        struct dpl_model *model = model_of(run, &FORMS[m]);
        enum dpl_status status = DPL_SYSTEM;
        for (long n = 1; status != DPL_OK; n++) {
            struct dpl_generator *generator = NULL;
            dpl_run_begin(run);
            dpl_run_fail_allocation(run, n);
            status =
                dpl_generator_open(run, model, &(struct dpl_draw_options){.seed = 1}, &generator);
            dpl_run_fail_allocation(run, 0);
            assert_true(status == DPL_OK ||
                        (status == DPL_SYSTEM && !generator && dpl_run_message(run)[0]));
            if (generator) generator->free(generator);
            assert_true(n < 100);
        }
        dpl_model_free(model);
    }
    dpl_run_free(run);
}

/* ---- the paper's picture ---- */

static double measure_of(const struct dpl_evaluation *evaluation, size_t synthetic,
                         const char *name) {
    const struct dpl_measure *measure =
        dpl_evaluation_find(evaluation, synthetic, name, DPL_SCOPE_POOLED);
    if (!measure) fail_msg("no measure %s", name);
    return measure->value;
}

static struct dpl_cleaned *read_trips(struct dpl_run *run, const struct city *city,
                                      const char *path, bool synthetic) {
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_cleaned *trips;
    read.time_optional = synthetic;
    assert_ok(run, dpl_cleaned_read(run, &path, 1, &read, &city->area, &trips, NULL));
    return trips;
}

enum { PICTURE_MOST = 4 };
struct picture {
    struct dpl_run *run;
    struct city city;
    struct dpl_evaluation *evaluation;
};

/* San Francisco at epsilon 1; skips the test without the data. */
static void open_picture(struct picture *picture) {
    const char *folder = getenv("DPLOC_DATA");
    struct city *city = &picture->city;
    if (!folder) {
        print_message("skipped: DPLOC_DATA is not set\n");
        skip();
    }
    picture->run = test_run(2);
    make_city(city, "ngram", "gaussian");
    snprintf(city->trips, sizeof city->trips, "%s/sf/sf_trips_dev.csv.xz", folder);
    city->area = dpl_area_defaults();
    assert_ok(picture->run, dpl_area_preset(picture->run, "sf", &city->area));
    city->options.budget.epsilon = 1;
    city->options.budget.delta = 5e-6;
}

static void close_picture(struct picture *picture) {
    test_directory_remove(picture->city.directory);
    dpl_run_free(picture->run);
}

/* Fits, draws and judges the methods; free the evaluation. */
static void paint(struct picture *picture, const char *const *methods, size_t n,
                  const char *mechanism) {
    struct dpl_run *run = picture->run;
    struct city *city = &picture->city;
    struct dpl_cleaned *real = read_trips(run, city, city->trips, false), *drawn[PICTURE_MOST];
    struct dpl_eval_synthetic synthetic[PICTURE_MOST];
    struct dpl_eval_options options = dpl_eval_defaults();
    city->options.mechanism = mechanism;
    for (size_t i = 0; i < n; i++) {
        city->options.method = methods[i];
        fit_city(city, 2);
        drawn[i] = read_trips(run, city, city->synthetic, true);
        synthetic[i] = (struct dpl_eval_synthetic){.name = methods[i], .trips = drawn[i]};
    }
    options.splits = 1;
    assert_ok(run, dpl_evaluate(run, real, synthetic, n, &options, &picture->evaluation));
    for (size_t i = 0; i < n; i++) {
        const struct dpl_evaluation *e = picture->evaluation;
        print_message("%s, %s: %.2f visits a trip, JS distance of length %.3f, density %.0f m, "
                      "ends %.0f m, patterns %.2f\n",
                      methods[i], mechanism, measure_of(e, i, "length_mean"),
                      measure_of(e, i, "length_jsd_distance"), measure_of(e, i, "density_emd_m"),
                      measure_of(e, i, "od_emd_m"), measure_of(e, i, "fp_50"));
        dpl_cleaned_free(drawn[i]);
    }
    dpl_cleaned_free(real);
}

/* What the DP-Loc paper found: trips of about three visits, and Ngram's density is better. */
static void the_papers_picture_on_real_data(void **state) {
    (void)state;
    static const char *const METHODS_THERE[] = {"ngram", "adatrace"};
    struct picture picture;
    open_picture(&picture);
    for (size_t k = 0; k < 2; k++) {
        paint(&picture, METHODS_THERE, 2, MECHANISMS[k]);
        const struct dpl_evaluation *e = picture.evaluation;
        for (size_t i = 0; i < 2; i++) {
            double length = measure_of(e, i, "length_mean");
            assert_true(length > 2 && length < 4 && measure_of(e, i, "length_jsd_distance") > 0.6);
        }
        assert_true(measure_of(e, 0, "density_emd_m") < 0.67 * measure_of(e, 1, "density_emd_m"));
        dpl_evaluation_free(picture.evaluation);
    }
    close_picture(&picture);
}

/* What is known of the others, with wide margins. DPT: good density, geometric lengths, and ends
 * ten times as far off as two halves of the real trips (some 180 m); PrivTrace: better patterns
 * than AdaTrace; LDPTrace: without a curator hardly anything is left. */
static void the_rivals_picture_on_real_data(void **state) {
    (void)state;
    enum { ADATRACE, DPT, PRIVTRACE, LDPTRACE, N };
    static const char *const METHODS_THERE[] = {"adatrace", "dpt", "privtrace", "ldptrace"};
    struct picture picture;
    open_picture(&picture);
    paint(&picture, METHODS_THERE, N, "gaussian");
    const struct dpl_evaluation *e = picture.evaluation;
    double density[N];
    for (size_t i = 0; i < N; i++) density[i] = measure_of(e, i, "density_emd_m");
    assert_true(density[DPT] < 0.67 * density[ADATRACE]);
    assert_true(density[DPT] < 0.67 * density[PRIVTRACE]);
    double length = measure_of(e, DPT, "length_jsd_distance");
    assert_true(length > 0.2 && length < 0.5);
    assert_true(measure_of(e, DPT, "od_emd_m") > 5 * 180);
    assert_true(measure_of(e, PRIVTRACE, "fp_50") > measure_of(e, ADATRACE, "fp_50") + 0.5);
    for (size_t i = 0; i < LDPTRACE; i++) assert_true(density[LDPTRACE] > 1.5 * density[i]);
    assert_true(measure_of(e, LDPTRACE, "fp_50") < 0.1);
    dpl_evaluation_free(picture.evaluation);
    close_picture(&picture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_and_true_certificates),
        cmocka_unit_test(users_weigh_as_their_trips),
        cmocka_unit_test(laplace_vectors_are_held_by_l1),
        cmocka_unit_test(refuses_what_it_cannot_do),
        cmocka_unit_test(published_forms_release_raw_numbers),
        cmocka_unit_test(published_forms_are_never_called_private),
        cmocka_unit_test(fakes_are_as_many_as_trips),
        cmocka_unit_test(sequences_are_paid_by_delta),
        cmocka_unit_test(forms_belong_to_their_methods),
        cmocka_unit_test(ngram_draws_what_was_synthesised),
        cmocka_unit_test(damaged_models_never_crash),
        cmocka_unit_test(generators_survive_failing_allocations),
        cmocka_unit_test(the_papers_picture_on_real_data),
        cmocka_unit_test(the_rivals_picture_on_real_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
