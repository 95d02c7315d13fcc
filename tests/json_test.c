/* JSON for which memory runs out: what is written is whole or is not written. Each allocation that
 * Jansson makes fails in turn, once; either the call says so or the text is the same as without. */
#include "support.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "model/model.h"
#include "sample/datapackage.h"
#include "sample/publish.h"

enum { ALLOCATIONS_MAX = 5000 };

static size_t allocations, failing; // the n-th fails; 0: none

static bool for_good; // so do all after it

static void *failing_malloc(size_t size) {
    allocations++;
    bool fails = failing > 0 && (for_good ? allocations >= failing : allocations == failing);
    return fails ? NULL : malloc(size);
}

static struct dpl_model *small_model(struct dpl_run *run) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    struct dpl_model *model;
    int32_t *cells;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    assert_ok(run, dpl_model_new(run, "bridge", &grid, &model));
    assert_ok(run, dpl_model_add(run, model, "cells", DPL_TENSOR_I32, 1, (size_t[]){1}, &cells));
    cells[0] = 3;
    model->length_max = 20;
    model->trips_estimated = 12345;
    model->not_private = true;
    json_object_set_new(model->options, "region", json_string("simulated"));
    json_object_set_new(model->options, "coverage", json_real(0.9));
    json_object_set_new(model->certificate, "epsilon", json_real(0.1));
    json_object_set_new(model->certificate, "unit", json_string("trip"));
    return model;
}

/* ---- what is tried: each returns a text, which the caller frees, or NULL ---- */

static char *text_of(json_t *object) {
    char *text = object ? dpl_json_dump(object, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(object);
    return text;
}

static char *manifest_of(struct dpl_run *run, const struct dpl_model *model) {
    (void)run;
    json_t *options = json_pack("{s:i, s:s}", "seed", 7, "to", "csv");
    char *text = options ? text_of(dpl_manifest(model, options)) : NULL;
    json_decref(options);
    return text;
}

static char *package_of(struct dpl_run *run, const struct dpl_model *model) {
    (void)run;
    return text_of(dpl_package_new(model, "trips", "Trips", "CC0-1.0"));
}

/* The file's header without its digests, which are the same when all else is. */
static char *written_of(struct dpl_run *run, const struct dpl_model *model) {
    char *directory = test_directory();
    const char *path = test_path(directory, "m.dploc");
    char *text = NULL;
    dpl_run_begin(run);
    enum dpl_status status = dpl_model_write(run, model, path, false);
    FILE *file = fopen(path, "rb");
    assert_true((status == DPL_OK) == (file != NULL));
    if (file) {
        text = calloc(1, 1 << 16);
        assert_non_null(text);
        size_t got = fread(text, 1, (1 << 16) - 1, file);
        memmove(text, text + 8, got - 8); // the length in front has zeros
        fclose(file);
    } else {
        if (status != DPL_SYSTEM) fail_msg("%d: %s", (int)status, dpl_run_message(run));
        assert_non_null(strstr(dpl_run_message(run), "memory"));
    }
    test_directory_remove(directory);
    return text;
}

static void try_all(char *(*made_of)(struct dpl_run *, const struct dpl_model *)) {
    struct dpl_run *run = test_run(1);
    struct dpl_model *model = small_model(run);
    size_t refused = 0;
    allocations = failing = 0;
    char *whole = made_of(run, model);
    assert_non_null(whole);
    for (failing = 1; failing < ALLOCATIONS_MAX; failing++) {
        allocations = 0;
        char *made = made_of(run, model);
        if (made)
            assert_string_equal(made, whole);
        else
            refused++;
        free(made);
        if (allocations < failing) break;
    }
    assert_in_range(failing, 20, ALLOCATIONS_MAX - 1);
    assert_true(refused + 5 > failing); // Jansson goes on without a few of them, and loses nothing
    failing = 0;
    free(whole);
    dpl_model_free(model);
    dpl_run_free(run);
}

static void a_manifest_is_whole(void **state) {
    (void)state;
    try_all(manifest_of);
}

static void a_package_is_whole(void **state) {
    (void)state;
    try_all(package_of);
}

static void a_model_is_whole(void **state) {
    (void)state;
    try_all(written_of);
}

static void texts_from_outside(void **state) {
    (void)state;
    static const char *const BAD[] = {"\xFF", "\xC3", "a\xE2\x82", "\x80", "\xF5\x80\x80\x80"};
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) dpl_json_set_text(&object, "bad", BAD[i]);
    dpl_json_set_text(&object, "good", "Köln, 東京, \xF0\x9F\x9A\xB2");
    assert_non_null(object);
    assert_int_equal(json_object_size(object), 1);
    dpl_json_share(&object, "none", NULL);
    assert_int_equal(json_object_size(object), 1);
    json_decref(object);
}

/* A text that is right is never told as wrong, nor the other way about. */
static void memory_is_no_damage(void **state) {
    (void)state;
    static const char RIGHT[] = "{\"epsilon\":[1,2.5],\"unit\":\"trip\"}", WRONG[] = "{\"unit\":}";
    struct dpl_run *run = test_run(1);
    json_t *object = NULL;
    size_t n = 0;
    for_good = true;
    while (!object && n < ALLOCATIONS_MAX) {
        failing = ++n, allocations = 0;
        enum dpl_status status = dpl_json_parse(run, RIGHT, sizeof RIGHT - 1, 0, NULL, &object);
        assert_int_equal(status, object ? DPL_OK : DPL_SYSTEM);
        dpl_run_begin(run);
    }
    failing = 0, for_good = false;
    assert_true(n > 5 && object);
    json_decref(object);
    assert_ok(run, dpl_json_parse(run, WRONG, sizeof WRONG - 1, 0, NULL, &object));
    assert_null(object);
    dpl_run_free(run);
}

int main(void) {
    json_set_alloc_funcs(failing_malloc, free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_manifest_is_whole), cmocka_unit_test(a_package_is_whole),
        cmocka_unit_test(a_model_is_whole),    cmocka_unit_test(texts_from_outside),
        cmocka_unit_test(memory_is_no_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
