/* The model keeps every noised table: by the certificate's names and noise, and unseen by sampling.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"

enum { TRIPS = 600, NOON = 1741003200 };

static const char *write_city(const char *directory) {
    char *text = malloc(1 << 20);
    size_t n = (size_t)sprintf(text, "trip_id,timestamp,lat,lon\n");
    for (int t = 0; t < TRIPS; t++)
        for (int i = 0; i < 6; i++)
            n += (size_t)sprintf(text + n, "%d,%d,%.5f,%.5f\n", t, NOON + 600 * t + 60 * i,
                                 48.01 + 0.005 * (i % 2), 11.52 + 0.007 * ((t + i / 3) % 4));
    const char *path = test_file(directory, "city.csv", text, n);
    free(text);
    return path;
}

static struct dpl_fit *fit_city(struct dpl_run *run, const char *path, const char *method,
                                const char *mechanism) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_fit *fit = NULL;
    area.south_deg = 48, area.north_deg = 48.0355;
    area.west_deg = 11.5, area.east_deg = 11.553;
    strcpy(area.zone, "UTC");
    options.method = method;
    options.mechanism = mechanism;
    options.budget.epsilon = 20;
    options.budget.insecure_seed = true;
    options.size = TRIPS;
    options.ledger = "none";
    assert_ok(run, test_fit(run, path, &read, &area, &options, &fit));
    return fit;
}

static const struct dpl_tensor *find(const struct dpl_model *model, const char *name) {
    for (size_t i = 0; i < model->n_tensors; i++)
        if (!strcmp(model->tensor[i].name, name)) return &model->tensor[i];
    return NULL;
}

static double number(json_t *object, const char *name) {
    return json_number_value(json_object_get(object, name));
}

/* With noise on it hardly any number is exactly 0: none was left out. Of `tree` and `keys` some may
 * be, but not the first. */
static void check_numbers(const struct dpl_tensor *tensor, bool all) {
    const double *value = tensor->data;
    size_t n = 1;
    for (int i = 0; i < tensor->rank && all; i++) n *= tensor->shape[i];
    for (size_t i = 0; i < n; i++)
        if (value[i] == 0) fail_msg("number %zu of %s is 0", i, tensor->name);
}

/* What the certificate says about each mechanism stands beside its table; but for nets. */
static size_t check_tables(const struct dpl_model *model) {
    json_t *mechanism;
    size_t i, n = 0;
    json_array_foreach(json_object_get(model->certificate, "mechanisms"), i, mechanism) {
        const char *name = json_string_value(json_object_get(mechanism, "name"));
        if (!strcmp(json_string_value(json_object_get(mechanism, "kind")), "poisson")) continue;
        char full[DPL_MODEL_NAME];
        snprintf(full, sizeof full, "noised.%s", name);
        const struct dpl_tensor *tensor = find(model, full);
        if (!tensor) fail_msg("%s is not kept", full);
        assert_int_equal(tensor->type, DPL_TENSOR_F64);
        check_numbers(tensor, strcmp(name, "tree") != 0 && strcmp(name, "keys") != 0);
        json_t *about = json_object_get(model->noised, name);
        assert_string_equal(json_string_value(json_object_get(about, "kind")),
                            json_string_value(json_object_get(mechanism, "kind")));
        assert_near(number(about, "sensitivity"), number(mechanism, "sensitivity"), 0);
        if (strcmp(name, "tree")) // whose nodes have noise of their own
            assert_near(number(about, "sigma"), number(mechanism, "sigma"), 0);
        n++;
    }
    return n;
}

static void every_method_keeps_its_tables(void **state) {
    (void)state;
    static const struct {
        const char *method, *mechanism;
        size_t tables;
    } ALL[] = {{"bridge", "gaussian", 21}, {"paper", "gaussian", 2},    {"ngram", "gaussian", 3},
               {"ngram", "laplace", 3},    {"adatrace", "gaussian", 6}, {"adatrace", "laplace", 6},
               {"dpt", "gaussian", 7},     {"privtrace", "laplace", 4}, {"ldptrace", "gaussian", 2},
               {"sglt", "laplace", 5}};
    struct dpl_run *run = test_run(2);
    char *directory = test_directory(), path[256];
    snprintf(path, sizeof path, "%s", write_city(directory));
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
        struct dpl_fit *fit = fit_city(run, path, ALL[i].method, ALL[i].mechanism);
        const struct dpl_model *model = dpl_fit_model(fit);
        assert_int_equal(check_tables(model), ALL[i].tables);
        // The grid's cells, row by row: four of them hold all visits.
        const struct dpl_tensor *topk = find(model, "noised.topk");
        if (!topk) topk = find(model, "noised.squares");
        if (topk) {
            assert_int_equal(topk->shape[0], model->grid.rows);
            assert_int_equal(topk->shape[1], model->grid.columns);
        }
        dpl_fit_free(fit);
    }
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* The tree of ngram: each node's row, its parent and the symbol that leads to it. */
static void the_tree_of_grams_is_whole(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    char *directory = test_directory();
    struct dpl_fit *fit = fit_city(run, write_city(directory), "ngram", "gaussian");
    const struct dpl_model *model = dpl_fit_model(fit);
    const struct dpl_tensor *tree = find(model, "noised.tree"),
                            *scales = find(model, "noised.tree_scale"),
                            *nodes = find(model, "noised.tree_node");
    assert_non_null(tree);
    assert_int_equal(tree->shape[1], model->n_cells + 1);
    assert_int_equal(nodes->shape[0], tree->shape[0]);
    const double *noised = tree->data, *scale = scales->data;
    const int32_t *node = nodes->data;
    assert_true(tree->shape[0] > 1);
    assert_int_equal(node[0], -1);
    for (size_t v = 0; v < tree->shape[0]; v++) {
        assert_true(scale[v] > 0);
        if (v == 0) continue;
        assert_in_range(node[2 * v], 0, v - 1);
        // It grew because its bin in its parent stood out.
        assert_true(noised[(size_t)node[2 * v] * tree->shape[1] + (size_t)node[2 * v + 1]] > 0);
    }
    dpl_fit_free(fit);
    test_directory_remove(directory);
    dpl_run_free(run);
}

static char *sample_text(struct dpl_run *run, const struct dpl_model *model, const char *path) {
    struct dpl_sample_options options = dpl_sample_defaults();
    options.seed = 1;
    options.overwrite = true;
    assert_ok(run, dpl_sample_write(run, model, &options, path));
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 100);
    fclose(file);
    return text;
}

/* PRIVACY: not that it would matter: they are noised. But samples are made of the estimates. */
static void sampling_looks_at_none_of_them(void **state) {
    (void)state;
    static const char *const METHODS[] = {"bridge",    "ngram",    "adatrace", "dpt",
                                          "privtrace", "ldptrace", "sglt"};
    struct dpl_run *run = test_run(2);
    char *directory = test_directory(), city[256], out[256];
    snprintf(city, sizeof city, "%s", write_city(directory));
    snprintf(out, sizeof out, "%s", test_path(directory, "out.csv"));
    for (size_t m = 0; m < sizeof METHODS / sizeof *METHODS; m++) {
        struct dpl_fit *fit = fit_city(run, city, METHODS[m], "gaussian");
        char *before = sample_text(run, fit->model, out);
        for (size_t i = 0; i < fit->model->n_tensors; i++) {
            const struct dpl_tensor *tensor = &fit->model->tensor[i];
            double *value = tensor->data;
            if (tensor->type == DPL_TENSOR_F64) value[0] += 1e6;
        }
        char *after = sample_text(run, fit->model, out);
        assert_string_equal(before, after);
        free(before), free(after);
        dpl_fit_free(fit);
    }
    test_directory_remove(directory);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_keeps_its_tables),
        cmocka_unit_test(the_tree_of_grams_is_whole),
        cmocka_unit_test(sampling_looks_at_none_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
