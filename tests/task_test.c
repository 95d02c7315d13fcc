/* Plans of a round as bytes and back: all that workers are told is there, and what is damaged or
 * points out of its folder is refused. That rounds come to the model of one machine, rounds_test
 * shows. */
#include "support.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "fit/task.h"

static const size_t SHAPE[] = {2, 3};
enum { NUMBERS = 6, HASH = 16 };

struct scene {
    struct dpl_run *run;
    struct dpl_task *task;
    char *directory;
};

static struct dpl_view view_of(struct dpl_bytes bytes) {
    return (struct dpl_view){bytes.data, bytes.n};
}

/* A plan of round 3 with two released tables, a budget and two questions. */
static void open_scene(struct scene *scene) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_read_options read = dpl_read_defaults();
    double *values;
    char *text;
    *scene = (struct scene){.run = test_run(1), .directory = test_directory()};
    options.method = "dpt", options.budget.unit = DPL_UNIT_USER, options.budget.trips_max = 5;
    read.gap_limit_s = 77;
    assert_ok(scene->run, dpl_area_preset(scene->run, "simulated", &area));
    assert_ok(scene->run, dpl_option_shared(scene->run, &read, &area, &options, &text));
    assert_ok(scene->run, dpl_task_new(scene->run, "test", text, &scene->task));
    dpl_text_free(text);
    struct dpl_task *task = scene->task;
    assert_int_equal(task->number, 1);
    task->number = 3;
    strcpy(task->id, "0123456789abcdef0123456789abcdef");
    strcpy(task->key_name, "plan.key"), strcpy(task->checkpoint_name, "plan.checkpoint");
    memset(task->key_digest, 'e', DPL_DIGEST_HEX - 1);
    task->budget = json_pack("{s:i}", "units", 12);
    strcpy(task->ask[0], "visits"), strcpy(task->ask[1], "lengths"), task->n_asks = 2;
    for (int t = 0; t < 2; t++) {
        assert_ok(scene->run, dpl_model_add_noised(scene->run, task->released, t ? "b" : "a", 2 - t,
                                                   SHAPE, json_pack("{s:i}", "t", t), &values));
        for (size_t i = 0; i < (t ? 2 : NUMBERS); i++) values[i] = 100 * t + (double)i + 0.5;
    }
}

static void close_scene(struct scene *scene) {
    dpl_task_free(scene->task);
    test_directory_remove(scene->directory);
    dpl_run_free(scene->run);
}

static struct dpl_bytes bytes_of(struct scene *scene) {
    struct dpl_bytes bytes = {0};
    assert_ok(scene->run, dpl_task_make(scene->run, scene->task, &bytes));
    return bytes;
}

static const double *table_of(const struct dpl_task *task, const char *name, int rank) {
    for (size_t i = 0; i < task->released->n_tensors; i++) {
        const struct dpl_tensor *tensor = &task->released->tensor[i];
        if (strcmp(tensor->name, name) != 0) continue;
        assert_int_equal(tensor->rank, rank);
        for (int r = 0; r < rank; r++) assert_int_equal(tensor->shape[r], SHAPE[r]);
        return tensor->data;
    }
    fail_msg("no table %s", name);
    return NULL;
}

static void what_is_written_is_read(void **state) {
    (void)state;
    struct scene scene;
    struct dpl_task *read = NULL;
    char digest[DPL_DIGEST_HEX];
    open_scene(&scene);
    struct dpl_bytes bytes = bytes_of(&scene), again = {0};
    assert_ok(scene.run, dpl_sha256_hex(scene.run, bytes.data, bytes.n, digest));
    assert_string_equal(scene.task->digest, digest);
    assert_ok(scene.run, dpl_task_load(scene.run, "plan", view_of(bytes), &read));
    assert_string_equal(read->digest, digest);
    assert_int_equal(dpl_task_round(read), 3);
    assert_string_equal(read->id, scene.task->id);
    assert_string_equal(read->key_name, "plan.key");
    assert_string_equal(read->checkpoint_name, "plan.checkpoint");
    assert_string_equal(read->key_digest, scene.task->key_digest);
    assert_string_equal(read->text, scene.task->text);
    assert_string_equal(read->set.fit.method, "dpt");
    assert_int_equal(read->set.fit.budget.trips_max, 5);
    assert_int_equal(dpl_task_reading(read)->gap_limit_s, 77);
    assert_int_equal(dpl_task_seed(read), dpl_task_seed(scene.task));
    assert_true(json_equal(read->budget, scene.task->budget));
    assert_int_equal(read->n_asks, 2);
    assert_string_equal(read->ask[0], "visits");
    assert_string_equal(read->ask[1], "lengths");
    assert_int_equal(read->released->n_tensors, 2);
    assert_true(json_equal(read->released->noised, scene.task->released->noised));
    for (size_t i = 0; i < NUMBERS; i++)
        assert_true(table_of(read, "noised.a", 2)[i] == (double)i + 0.5);
    for (size_t i = 0; i < 2; i++)
        assert_true(table_of(read, "noised.b", 1)[i] == 100 + (double)i + 0.5);
    assert_ok(scene.run, dpl_task_make(scene.run, read, &again));
    assert_int_equal(again.n, bytes.n);
    assert_memory_equal(again.data, bytes.data, bytes.n);
    dpl_bytes_free(&again), dpl_bytes_free(&bytes);
    dpl_task_free(read);
    close_scene(&scene);
}

/* Before the number of units is known there is no budget and no table. */
static void a_first_plan_has_no_budget(void **state) {
    (void)state;
    struct scene scene;
    struct dpl_task *read = NULL;
    open_scene(&scene);
    json_decref(scene.task->budget), scene.task->budget = NULL;
    dpl_model_drop_noised(scene.task->released, "a");
    dpl_model_drop_noised(scene.task->released, "b");
    struct dpl_bytes bytes = bytes_of(&scene);
    assert_ok(scene.run, dpl_task_load(scene.run, "plan", view_of(bytes), &read));
    assert_null(read->budget);
    assert_int_equal(read->released->n_tensors, 0);
    dpl_bytes_free(&bytes);
    dpl_task_free(read);
    close_scene(&scene);
}

/* The same bytes with one text of the header replaced by one as long, under a right hash. */
static enum dpl_status load_edited(struct scene *scene, struct dpl_bytes bytes, const char *from,
                                   const char *to) {
    struct dpl_task *read = NULL;
    uint8_t *copy = malloc(bytes.n);
    assert_non_null(copy);
    memcpy(copy, bytes.data, bytes.n);
    uint8_t *at = memmem(copy, bytes.n, from, strlen(from));
    if (!at) fail_msg("no %s", from);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    const struct dpl_key key = dpl_hash(copy, bytes.n - HASH, 0);
    for (size_t i = 0; i < HASH / 2; i++) {
        copy[bytes.n - HASH + i] = (uint8_t)(key.hi >> (8 * i));
        copy[bytes.n - HASH / 2 + i] = (uint8_t)(key.lo >> (8 * i));
    }
    dpl_run_begin(scene->run);
    enum dpl_status status =
        dpl_task_load(scene->run, "plan", (struct dpl_view){copy, bytes.n}, &read);
    dpl_task_free(read);
    free(copy);
    return status;
}

static void what_is_damaged_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
        enum dpl_status status;
        const char *says;
    } CASES[] = {{"\"round\":3", "\"round\":4", DPL_OK, ""},
                 {"\"round\":3", "\"round\":0", DPL_BAD_DATA, "the plan is damaged"},
                 {"\"round\":3,\"id\":\"0123456789abcdef0123456789abcdef", // 2^32 + 1 is no 1
                  "\"round\":4294967297,\"id\":\"0123456789abcdef0123456", DPL_BAD_DATA,
                  "the plan is damaged"},
                 {"\"format\":1", "\"format\":2", DPL_REFUSED, "need the same version"},
                 {"\"version\":\"0.", "\"version\":\"9.", DPL_REFUSED, "need the same version"},
                 {"dpt", "d.t", DPL_BAD_DATA, "options are not those of this version"},
                 // A plan cannot point out of its folder.
                 {"plan.key", "../a.key", DPL_BAD_DATA, "the plan is damaged"},
                 {"plan.checkpoint", "/etc/checkpoint", DPL_BAD_DATA, "the plan is damaged"},
                 {"\"key\":", "\"kez\":", DPL_BAD_DATA, "the plan is damaged"},
                 {"\"asks\":", "\"askz\":", DPL_BAD_DATA, "the plan is damaged"},
                 {"\"visits\"", "       7", DPL_BAD_DATA, "the plan is damaged"},
                 {"\"id\":", "\"ie\":", DPL_BAD_DATA, "the plan is damaged"},
                 // Tables: as large as the file, each once, and said what they are.
                 {"\"shape\":[2,3]", "\"shape\":[3,2]", DPL_OK, ""},
                 {"\"shape\":[2,3]", "\"shape\":[2,2]", DPL_BAD_DATA, "the plan is damaged"},
                 {"\"shape\":[2,3]", "\"shape\":[2,9]", DPL_BAD_DATA, "the plan is damaged"},
                 {"\"shape\":[2,3]", "\"shape\":[0,3]", DPL_BAD_DATA, "the plan is damaged"},
                 {"\"shape\":[2,3]", "\"shape\":   []", DPL_BAD_DATA, "the plan is damaged"},
                 {"\"name\":\"b\"", "\"name\":\"a\"", DPL_BAD_DATA, "the plan is damaged"},
                 {"\"about\":{", "\"abouz\":{", DPL_BAD_DATA, "the plan is damaged"}};
    struct scene scene;
    open_scene(&scene);
    struct dpl_bytes bytes = bytes_of(&scene);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        enum dpl_status status = load_edited(&scene, bytes, CASES[i].from, CASES[i].to);
        if (status != CASES[i].status || !strstr(dpl_run_message(scene.run), CASES[i].says))
            fail_msg("%s: %d, %s", CASES[i].to, (int)status, dpl_run_message(scene.run));
    }
    dpl_bytes_free(&bytes);
    close_scene(&scene);
}

static void too_many_questions_are_refused(void **state) {
    (void)state;
    struct scene scene;
    struct dpl_task *read = NULL;
    open_scene(&scene);
    for (size_t i = 0; i < DPL_COUNTS_TABLES; i++)
        snprintf(scene.task->ask[i], DPL_EVENT_NAME, "q%zu", i);
    scene.task->n_asks = DPL_COUNTS_TABLES;
    struct dpl_bytes bytes = bytes_of(&scene);
    assert_ok(scene.run, dpl_task_load(scene.run, "plan", view_of(bytes), &read));
    assert_int_equal(read->n_asks, DPL_COUNTS_TABLES);
    assert_int_equal(load_edited(&scene, bytes, "\"q0\",\"q1\"", "\"\",\"\",\"\" "), DPL_BAD_DATA);
    dpl_task_free(read);
    dpl_bytes_free(&bytes);
    scene.task->n_asks = 0;
    bytes = bytes_of(&scene);
    assert_int_equal(load_edited(&scene, bytes, "3", "3"), DPL_BAD_DATA);
    dpl_bytes_free(&bytes);
    close_scene(&scene);
}

static void names_are_those_beside_the_plan(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    char beside[DPL_PATH_ROOM], folder[DPL_PATH_ROOM + 8];
    assert_ok(run, dpl_task_beside(run, "plan", "a.key", beside));
    assert_string_equal(beside, "a.key");
    assert_ok(run, dpl_task_beside(run, "some/folder/plan", "a.key", beside));
    assert_string_equal(beside, "some/folder/a.key");
    // A path that just fits, and one that is a byte too long.
    memset(folder, 'x', sizeof folder);
    folder[DPL_PATH_ROOM - 7] = '/', folder[DPL_PATH_ROOM - 6] = '\0';
    assert_ok(run, dpl_task_beside(run, folder, "a.key", beside));
    assert_int_equal(strlen(beside), DPL_PATH_ROOM - 1);
    assert_int_equal(dpl_task_beside(run, folder, "ab.key", beside), DPL_USAGE);
    dpl_run_free(run);
}

static void a_plan_can_be_shown(void **state) {
    (void)state;
    struct scene scene;
    char *text = NULL;
    open_scene(&scene);
    struct dpl_bytes bytes = bytes_of(&scene);
    assert_true(dpl_task_recognise(bytes.data, bytes.n));
    assert_false(dpl_task_recognise(bytes.data, DPL_FRAME_MAGIC - 1));
    assert_false(dpl_task_recognise("not a plan, nor a part", 22));
    const char *path = test_file(scene.directory, "plan", bytes.data, bytes.n);
    assert_ok(scene.run, dpl_task_summary(scene.run, path, true, &text));
    json_t *object = json_loads(text, 0, NULL),
           *expected =
               json_pack("{s:s, s:i, s:s, s:s, s:[s,s], s:[s,s], s:s}", "plan", scene.task->id,
                         "round", 3, "method", "dpt", "unit", "user", "asks", "visits", "lengths",
                         "released", "a", "b", "sha256", scene.task->digest);
    assert_true(object && expected && json_equal(object, expected));
    json_decref(object), json_decref(expected);
    dpl_text_free(text);
    assert_ok(scene.run, dpl_task_summary(scene.run, path, false, &text));
    assert_non_null(strstr(text, "round       3\n"));
    assert_non_null(strstr(text, "asks        visits, lengths\n"));
    assert_null(strstr(text, "nothing yet"));
    assert_true(text[strlen(text) - 1] != '\n');
    dpl_text_free(text);
    dpl_bytes_free(&bytes);
    close_scene(&scene);
}

/* PRIVACY: of a part, which is exact, what it is of and nothing that it holds. */
static void a_part_is_shown_without_its_numbers(void **state) {
    (void)state;
    static const struct dpl_shard_facts FACTS = {.units = 4711, .recordings = 4712};
    const struct dpl_exact_options about = {
        .n = 2, .norm = DPL_NORM_L2, .sensitivity = 1, .places = 0};
    struct scene scene;
    struct dpl_sums *sums = NULL;
    struct dpl_exact *counts = NULL;
    struct dpl_bytes bytes = {0};
    char plan[DPL_DIGEST_HEX], *text = NULL;
    open_scene(&scene);
    memset(plan, 'a', sizeof plan - 1), plan[sizeof plan - 1] = '\0';
    assert_ok(scene.run, dpl_sums_of_shard(scene.run, plan, 2, 1, 3, &FACTS, &sums));
    assert_ok(scene.run, dpl_exact_new(scene.run, &about, &counts));
    assert_ok(scene.run, dpl_sums_put(scene.run, sums, "visits", &counts));
    assert_ok(scene.run, dpl_sums_make(scene.run, sums, &bytes));
    assert_true(dpl_task_recognise(bytes.data, bytes.n));
    const char *path = test_file(scene.directory, "part", bytes.data, bytes.n);
    assert_ok(scene.run, dpl_task_summary(scene.run, path, true, &text));
    json_t *object = json_loads(text, 0, NULL),
           *expected = json_pack("{s:b, s:i, s:s, s:i, s:i}", "not_private", 1, "round", 2,
                                 "plan_sha256", plan, "shards", 3, "counted", 1);
    assert_true(object && expected && json_equal(object, expected));
    json_decref(object), json_decref(expected);
    dpl_text_free(text);
    assert_ok(scene.run, dpl_task_summary(scene.run, path, false, &text));
    assert_non_null(strstr(text, "exact counts, for their owner alone"));
    assert_null(strstr(text, "471"));
    dpl_text_free(text);
    dpl_bytes_free(&bytes);
    dpl_sums_free(sums);
    close_scene(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_first_plan_has_no_budget),
        cmocka_unit_test(what_is_damaged_is_refused),
        cmocka_unit_test(too_many_questions_are_refused),
        cmocka_unit_test(names_are_those_beside_the_plan),
        cmocka_unit_test(a_plan_can_be_shown),
        cmocka_unit_test(a_part_is_shown_without_its_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
