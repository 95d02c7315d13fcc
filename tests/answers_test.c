/* Who answers a method's question in a fit in rounds: the plan, a worker's counts, the driver's
 * sums, or nobody yet. Whole fits in rounds are in rounds_test. */
#include "counted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/rounds.h"

enum { BINS = 3, UNITS = 4 };

struct scene {
    struct dpl_run *run;
    struct counted counted;
    struct dpl_parts parts;
    struct dpl_rounds rounds;
};

/* Some trips, and sums without a table; nothing was released. */
static void open_scene(struct scene *scene, bool counting) {
    static const struct dpl_shard_facts NOTHING;
    char plan[DPL_DIGEST_HEX] = "a";
    *scene = (struct scene){.run = test_run(1), .rounds = {.counting = counting}};
    counted_open(scene->run, 2000, &scene->counted);
    for (int32_t t = 0; t < UNITS; t++)
        counted_add(scene->run, &scene->counted, (int32_t[]){t, t + 1}, 2, -1);
    assert_ok(scene->run,
              dpl_parts_make(scene->run, scene->counted.trips, DPL_UNIT_TRIP, 1, 1, &scene->parts));
    assert_ok(scene->run,
              dpl_model_new(scene->run, "dpt", &scene->counted.grid, &scene->rounds.released));
    assert_ok(scene->run,
              dpl_sums_of_shard(scene->run, plan, 1, 0, 1, &NOTHING, &scene->rounds.sums));
}

static void close_scene(struct scene *scene) {
    dpl_sums_free(scene->rounds.sums);
    dpl_model_free(scene->rounds.released);
    dpl_parts_free(&scene->parts);
    counted_close(&scene->counted);
    dpl_run_free(scene->run);
}

/* How many trips there are, asked under that name. */
static struct dpl_question question_of(const char *name) {
    return (struct dpl_question){.name = name,
                                 .shape = dpl_shape1(1),
                                 .count = dpl_count_trips,
                                 .event = {.kind = DPL_EVENT_GAUSSIAN, .sensitivity = 1}};
}

static void release(struct scene *scene, const char *name, const char *kind, size_t n,
                    double deviation) {
    double *values;
    assert_ok(scene->run,
              dpl_model_add_noised(scene->run, scene->rounds.released, name, 1, &n,
                                   json_pack("{s:s, s:f}", "kind", kind, "deviation", deviation),
                                   &values));
    for (size_t i = 0; i < n; i++) values[i] = 10 + (double)i;
}

static enum dpl_status answer(struct scene *scene, const char *name, struct dpl_exact **sum,
                              struct dpl_noised **noised) {
    const struct dpl_question question = question_of(name);
    *noised = NULL;
    dpl_run_begin(scene->run);
    return dpl_rounds_answer(scene->run, &scene->rounds, &question, &scene->parts, sum, noised);
}

/* PRIVACY: what was released is never counted again, nor noised again: worker and driver take the
 * numbers of the plan, with the noise that it says. */
static void what_was_released_is_taken(void **state) {
    (void)state;
    for (int counting = 0; counting < 2; counting++) {
        struct scene scene;
        struct dpl_noised *noised;
        struct dpl_exact *sum = NULL;
        double reach[2];
        open_scene(&scene, counting);
        assert_int_equal(dpl_rounds_counts(&scene.rounds, "trips"), counting);
        release(&scene, "trips", "gaussian", 1, 3);
        release(&scene, "users", "laplace", 1, 3);
        assert_false(dpl_rounds_counts(&scene.rounds, "trips"));
        for (int laplace = 0; laplace < 2; laplace++) {
            assert_ok(scene.run, answer(&scene, laplace ? "users" : "trips", &sum, &noised));
            assert_non_null(noised);
            assert_null(sum);
            assert_int_equal(dpl_noised_count(noised), 1);
            assert_true(dpl_noised_value(noised, 0) == 10);
            assert_true(dpl_noised_deviation(noised) == 3);
            reach[laplace] = dpl_noised_reach(noised, 1e-6);
            dpl_noised_free(noised);
        }
        assert_true(reach[1] > 1.5 * reach[0]); // Laplace noise goes further
        assert_int_equal(scene.rounds.n_asks, 0);
        assert_int_equal(scene.rounds.sums->n_tables, 0);
        // A table of another shape is no answer.
        release(&scene, "odd", "gaussian", 2, 3);
        assert_int_not_equal(answer(&scene, "odd", &sum, &noised), DPL_OK);
        assert_null(noised);
        close_scene(&scene);
    }
}

static void a_worker_counts(void **state) {
    (void)state;
    struct scene scene;
    struct dpl_noised *noised;
    struct dpl_exact *sum = NULL;
    open_scene(&scene, true);
    assert_ok(scene.run, answer(&scene, "trips", &sum, &noised));
    assert_true(!sum && !noised); // it is the sums' now
    assert_int_equal(scene.rounds.sums->n_tables, 1);
    assert_int_equal(scene.rounds.n_asks, 0);
    sum = dpl_sums_take(scene.rounds.sums, "trips");
    assert_true(counted_value(sum, 0) == UNITS);
    // What was counted already is taken as it is.
    assert_ok(scene.run, answer(&scene, "again", &sum, &noised));
    assert_null(sum);
    sum = dpl_sums_take(scene.rounds.sums, "again");
    assert_true(counted_value(sum, 0) == UNITS);
    dpl_exact_free(sum);
    close_scene(&scene);
}

/* A question that cannot be counted is no table. */
static enum dpl_status fails(struct dpl_run *run, const void *about, const struct dpl_part *part,
                             struct dpl_exact *exact) {
    (void)about, (void)part, (void)exact;
    return dpl_fail(run, DPL_SYSTEM, "the disk is gone");
}

static void a_count_that_fails_is_no_table(void **state) {
    (void)state;
    struct scene scene;
    struct dpl_noised *noised = NULL;
    struct dpl_exact *sum = NULL;
    struct dpl_question question = question_of("trips");
    open_scene(&scene, true);
    question.count = fails;
    assert_int_equal(
        dpl_rounds_answer(scene.run, &scene.rounds, &question, &scene.parts, &sum, &noised),
        DPL_SYSTEM);
    assert_int_equal(scene.rounds.sums->n_tables, 0);
    close_scene(&scene);
}

static void a_driver_takes_sums_or_asks(void **state) {
    (void)state;
    struct scene scene;
    struct dpl_noised *noised;
    struct dpl_exact *sum, *counts = NULL;
    const struct dpl_question question = question_of("trips");
    open_scene(&scene, false);
    assert_ok(scene.run, dpl_count_all(scene.run, &question, 1, &scene.parts, &counts));
    assert_ok(scene.run, dpl_sums_put(scene.run, scene.rounds.sums, "trips", &counts));
    assert_ok(scene.run, answer(&scene, "trips", &sum, &noised));
    assert_non_null(sum);
    assert_null(noised);
    assert_true(counted_value(sum, 0) == UNITS);
    assert_int_equal(scene.rounds.n_asks, 0);
    // PRIVACY: counted to another sensitivity than the plan's.
    assert_ok(scene.run, dpl_sums_put(scene.run, scene.rounds.sums, "late", &sum));
    struct dpl_question other = question_of("late");
    other.event.sensitivity = 2;
    assert_int_equal(
        dpl_rounds_answer(scene.run, &scene.rounds, &other, &scene.parts, &sum, &noised),
        DPL_REFUSED);
    dpl_exact_free(sum);
    // Nobody has counted it: for the next plan, which has room for so many.
    for (int i = 0; i <= DPL_COUNTS_TABLES; i++) {
        char name[DPL_EVENT_NAME];
        snprintf(name, sizeof name, "q%d", i);
        enum dpl_status status = answer(&scene, name, &sum, &noised);
        assert_int_equal(status, i < DPL_COUNTS_TABLES ? DPL_OK : DPL_USAGE);
        assert_true(!sum && !noised);
        if (status == DPL_OK) assert_string_equal(scene.rounds.ask[i], name);
    }
    assert_int_equal(scene.rounds.n_asks, DPL_COUNTS_TABLES);
    close_scene(&scene);
}

static void what_is_noised_is_kept_once(void **state) {
    (void)state;
    struct scene scene;
    struct dpl_noised *noised;
    struct dpl_question question = question_of("visits");
    const double first[BINS] = {1, 2.5, -3}, second[BINS] = {7, 8, 9}, *kept;
    const size_t n = BINS;
    open_scene(&scene, false);
    question.shape = dpl_shape1(BINS);
    for (int again = 0; again < 2; again++) {
        assert_ok(scene.run, dpl_noised_again(scene.run, again ? second : first, BINS,
                                              DPL_COUNT_PLACES, 1, false, &noised));
        assert_ok(scene.run, dpl_rounds_keep(scene.run, &scene.rounds, &question,
                                             json_pack("{s:i}", "again", again), noised));
        dpl_noised_free(noised);
        assert_ok(scene.run, dpl_model_get(scene.run, scene.rounds.released, "noised.visits",
                                           DPL_TENSOR_F64, 1, &n, &kept));
        assert_memory_equal(kept, first, sizeof first);
        json_t *about = json_object_get(scene.rounds.released->noised, "visits");
        assert_int_equal(json_integer_value(json_object_get(about, "again")), 0);
    }
    assert_int_equal(scene.rounds.released->n_tensors, 1);
    assert_false(scene.rounds.ended);
    assert_int_equal(dpl_rounds_end(&scene.rounds), DPL_INTERRUPTED);
    assert_true(scene.rounds.ended);
    close_scene(&scene);
}

/* ---- trees ---- */

static const struct dpl_event TREE = {"tree", DPL_EVENT_GAUSSIAN, 2, 4, 1, 1};

static struct dpl_filter *plant(struct scene *scene, struct dpl_secret *secret,
                                struct dpl_rounds_tree *tree) {
    struct dpl_filter *filter;
    assert_ok(scene->run, dpl_secret_from_seed(scene->run, 1, secret));
    assert_ok(scene->run, dpl_filter_open(scene->run, secret, &TREE,
                                          (struct dpl_stream_id){DPL_PURPOSE_COUNTS, 0, 0}, false,
                                          BINS, &filter));
    assert_ok(scene->run, dpl_rounds_plant(scene->run, &scene->rounds, "tree", filter, tree));
    return filter;
}

/* The noised row of a node with that many walks in bin 1. */
static void noise(struct scene *scene, struct dpl_filter *filter, uint32_t node, int walks,
                  double row[BINS]) {
    struct dpl_bins *bins;
    struct dpl_random *random;
    assert_ok(scene->run, dpl_bins_new(scene->run, filter, &bins));
    assert_ok(scene->run, dpl_filter_random(scene->run, filter, &random));
    for (int i = 0; i < walks; i++) dpl_bins_add(bins, 1);
    assert_ok(scene->run, dpl_filter_noise(scene->run, filter, random, node, bins, row));
    dpl_random_free(random);
    dpl_bins_free(bins);
}

/* The driver without sums asks for the root; with a worker's it noises them, and asks for the level
 * below with all rows so far in the plan. */
static void a_tree_grows_by_levels(void **state) {
    (void)state;
    struct scene driver, worker;
    struct dpl_secret secret;
    struct dpl_rounds_tree tree;
    uint32_t node;
    double row[BINS], known[BINS];
    const double *rows;
    // Round 1: nothing is known.
    open_scene(&driver, false), open_scene(&worker, true);
    struct dpl_filter *filter = plant(&driver, &secret, &tree);
    assert_ok(driver.run,
              dpl_filter_grow(driver.run, filter, DPL_FILTER_NO_NODE, DPL_FILTER_WHOLE / 2, &node));
    assert_int_equal(dpl_filter_level(driver.run, filter, 0, 1), DPL_INTERRUPTED);
    assert_true(driver.rounds.ended);
    assert_int_equal(driver.rounds.n_asks, 1);
    assert_string_equal(driver.rounds.ask[0], "tree");
    assert_int_equal(driver.rounds.released->n_tensors, 0);
    dpl_rounds_tree_free(&tree), dpl_filter_close(filter), dpl_secret_wipe(&secret);
    // A worker counts the root's level and is done.
    filter = plant(&worker, &secret, &tree);
    assert_ok(worker.run,
              dpl_filter_grow(worker.run, filter, DPL_FILTER_NO_NODE, DPL_FILTER_WHOLE / 2, &node));
    assert_ok(worker.run, dpl_filter_level(worker.run, filter, 0, 1));
    noise(&worker, filter, node, 5, row);
    for (size_t i = 0; i < BINS; i++) assert_true(row[i] == 0); // it sees nothing of it
    assert_int_equal(dpl_filter_level_end(worker.run, filter, 2), DPL_INTERRUPTED);
    assert_true(worker.rounds.ended);
    dpl_rounds_tree_free(&tree), dpl_filter_close(filter), dpl_secret_wipe(&secret);
    // Round 2: the driver noises it, keeps the row, and asks for what is below.
    driver.rounds.ended = false, driver.rounds.n_asks = 0;
    struct dpl_exact *counts = dpl_sums_take(worker.rounds.sums, "tree");
    assert_int_equal(dpl_exact_units(counts), 2);
    assert_ok(driver.run, dpl_sums_put(driver.run, driver.rounds.sums, "tree", &counts));
    filter = plant(&driver, &secret, &tree);
    assert_ok(driver.run,
              dpl_filter_grow(driver.run, filter, DPL_FILTER_NO_NODE, DPL_FILTER_WHOLE / 2, &node));
    assert_ok(driver.run, dpl_filter_level(driver.run, filter, 0, 1));
    noise(&driver, filter, node, 0, known);
    assert_true(fabs(known[1] - 5) < 6 * dpl_filter_scale(filter, node));
    assert_ok(driver.run, dpl_filter_level_end(driver.run, filter, 2));
    assert_ok(driver.run, dpl_filter_grow(driver.run, filter, node, DPL_FILTER_WHOLE / 4, &node));
    assert_int_equal(dpl_filter_level(driver.run, filter, 1, 2), DPL_INTERRUPTED);
    assert_int_equal(driver.rounds.n_asks, 1);
    assert_ok(driver.run, dpl_model_get(driver.run, driver.rounds.released, "noised.tree",
                                        DPL_TENSOR_F64, 2, (size_t[]){1, BINS}, &rows));
    assert_memory_equal(rows, known, sizeof known);
    dpl_rounds_tree_free(&tree), dpl_filter_close(filter), dpl_secret_wipe(&secret);
    // Round 3: what is known is handed out as it was, and a second row comes to it.
    driver.rounds.ended = false, driver.rounds.n_asks = 0;
    filter = plant(&driver, &secret, &tree);
    assert_ok(driver.run,
              dpl_filter_grow(driver.run, filter, DPL_FILTER_NO_NODE, DPL_FILTER_WHOLE / 2, &node));
    assert_ok(driver.run, dpl_filter_level(driver.run, filter, 0, 1));
    noise(&driver, filter, node, 0, row);
    assert_memory_equal(row, known, sizeof known);
    assert_ok(driver.run, dpl_filter_level_end(driver.run, filter, 2));
    dpl_rounds_tree_free(&tree), dpl_filter_close(filter), dpl_secret_wipe(&secret);
    close_scene(&driver), close_scene(&worker);
}

/* Rows of another number of bins, or what is no table of rows, are not this tree's. */
static void rows_of_another_tree_are_refused(void **state) {
    (void)state;
    static const struct {
        int rank;
        size_t shape[2];
        enum dpl_status status;
    } CASES[] = {
        {2, {4, BINS}, DPL_OK}, {2, {4, BINS + 1}, DPL_BAD_DATA}, {1, {BINS}, DPL_BAD_DATA}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct scene scene;
        struct dpl_secret secret;
        struct dpl_filter *filter;
        struct dpl_rounds_tree tree = {0};
        double *values;
        open_scene(&scene, false);
        release(&scene, "before", "gaussian", 2, 1);
        assert_ok(scene.run,
                  dpl_model_add_noised(scene.run, scene.rounds.released, "tree", CASES[i].rank,
                                       CASES[i].shape, json_object(), &values));
        assert_ok(scene.run, dpl_secret_from_seed(scene.run, 1, &secret));
        assert_ok(scene.run, dpl_filter_open(scene.run, &secret, &TREE,
                                             (struct dpl_stream_id){DPL_PURPOSE_COUNTS, 0, 0},
                                             false, BINS, &filter));
        assert_int_equal(dpl_rounds_plant(scene.run, &scene.rounds, "tree", filter, &tree),
                         CASES[i].status);
        dpl_rounds_tree_free(&tree), dpl_filter_close(filter), dpl_secret_wipe(&secret);
        close_scene(&scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_released_is_taken),
        cmocka_unit_test(a_worker_counts),
        cmocka_unit_test(a_count_that_fails_is_no_table),
        cmocka_unit_test(a_driver_takes_sums_or_asks),
        cmocka_unit_test(what_is_noised_is_kept_once),
        cmocka_unit_test(a_tree_grows_by_levels),
        cmocka_unit_test(rows_of_another_tree_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
