/* Checkpoints by themselves: what is written is read, and what one is bound to it stays bound to.
 * Fits that are stopped and go on are in fit_test, resume_test and rounds_test. */
#include "counted.h"
#include "fit_bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fit/checkpoint.h"

enum { NUMBERS = 100, OTHER_SLOT = 3 };
static const char OPTIONS[] = "a=1\nb=\"%22\"\n";

struct scene {
    struct dpl_run *run;
    char *directory;
    char path[512];
    struct dpl_secret secret;
};

static void open_scene(struct scene *scene) {
    *scene = (struct scene){.run = test_run(1), .directory = test_directory()};
    snprintf(scene->path, sizeof scene->path, "%s",
             test_path(scene->directory, "a*b[c].checkpoint"));
    assert_ok(scene->run, dpl_secret_from_seed(scene->run, 5, &scene->secret));
}

static void close_scene(struct scene *scene) {
    dpl_secret_wipe(&scene->secret);
    test_directory_remove(scene->directory);
    dpl_run_free(scene->run);
}

static struct dpl_checkpoint *fresh(struct scene *scene, const struct dpl_cleaned *trips,
                                    bool ordered) {
    struct dpl_checkpoint *made = NULL;
    assert_ok(scene->run, dpl_checkpoint_new(scene->run, scene->path, OPTIONS, &scene->secret,
                                             trips, ordered, &made));
    return made;
}

static enum dpl_status resume(struct scene *scene, const char *options,
                              const struct dpl_cleaned *trips, bool ordered,
                              struct dpl_checkpoint **made) {
    struct dpl_secret secret = {0};
    dpl_run_begin(scene->run);
    enum dpl_status status =
        dpl_checkpoint_resume(scene->run, scene->path, options, trips, ordered, &secret, made);
    if (status == DPL_OK) {
        assert_memory_equal(secret.key, scene->secret.key, sizeof secret.key);
        assert_int_equal(secret.insecure, scene->secret.insecure);
    }
    dpl_secret_wipe(&secret);
    return status;
}

static void says(const struct scene *scene, const char *part) {
    if (!strstr(dpl_run_message(scene->run), part))
        fail_msg("'%s' is not in: %s", part, dpl_run_message(scene->run));
}

static void refused(struct scene *scene, enum dpl_status status, const char *part) {
    assert_int_equal(status, DPL_REFUSED);
    says(scene, part);
    dpl_run_begin(scene->run);
}

/* ---- rounds ---- */

/* A digest of one digit. */
static const char *digest(char digit) {
    static char text[4][DPL_DIGEST_HEX];
    static int next;
    next = (next + 1) % 4;
    memset(text[next], digit, DPL_DIGEST_HEX - 1);
    return text[next];
}

static struct dpl_view piece(const char *text) { return (struct dpl_view){text, strlen(text)}; }

static enum dpl_status bind_sums(struct scene *scene, struct dpl_checkpoint *checkpoint, int round,
                                 const char *a, const char *b) {
    const struct dpl_view pieces[] = {piece(a), piece(b)};
    return dpl_checkpoint_bind_sums(scene->run, checkpoint, round, pieces, 2);
}

/* PRIVACY: the same noise meets the same sums, whatever has been stopped and gone on with. */
static void look_at_rounds(struct scene *scene, struct dpl_checkpoint *checkpoint) {
    static const char PLAN[] = "not the plan that the fit wrote", SUMS[] = "other sums than these";
    struct dpl_run *run = scene->run;
    assert_ok(run, dpl_checkpoint_bind_plan(run, checkpoint, 1, digest('1')));
    assert_ok(run, dpl_checkpoint_bind_plan(run, checkpoint, 2, digest('2')));
    assert_ok(run, bind_sums(scene, checkpoint, 1, "ab", "c"));
    assert_ok(run, bind_sums(scene, checkpoint, 2, "ab", ""));
    assert_ok(run, dpl_checkpoint_bind_data(run, checkpoint, piece("data")));
    refused(scene, dpl_checkpoint_bind_plan(run, checkpoint, 1, digest('2')), PLAN);
    refused(scene, dpl_checkpoint_bind_plan(run, checkpoint, 2, digest('1')), PLAN);
    refused(scene, bind_sums(scene, checkpoint, 1, "a", "bc"),
            SUMS); // the same bytes, cut elsewhere
    refused(scene, bind_sums(scene, checkpoint, 1, "ab", "d"), SUMS);
    refused(scene, bind_sums(scene, checkpoint, 1, "ac", "c"), SUMS);
    refused(scene, bind_sums(scene, checkpoint, 2, "ab", "c"), SUMS);
    refused(scene, dpl_checkpoint_bind_data(run, checkpoint, piece("date")),
            "counted from other data");
    refused(scene, dpl_checkpoint_bind_data(run, checkpoint, piece("dat")),
            "counted from other data");
}

static void rounds_are_bound(void **state) {
    (void)state;
    struct scene scene;
    open_scene(&scene);
    struct dpl_checkpoint *checkpoint = fresh(&scene, NULL, false), *again = NULL;
    look_at_rounds(&scene, checkpoint);
    dpl_checkpoint_set_release(checkpoint, "release-7");
    assert_ok(scene.run, dpl_checkpoint_save(scene.run, checkpoint));
    dpl_checkpoint_free(checkpoint);
    assert_ok(scene.run, resume(&scene, OPTIONS, NULL, false, &again));
    look_at_rounds(&scene, again);
    assert_string_equal(dpl_checkpoint_release(again), "release-7");
    assert_string_equal(dpl_checkpoint_options(again), OPTIONS);
    dpl_checkpoint_free(again), again = NULL;
    assert_ok(scene.run, resume(&scene, NULL, NULL, false, &again)); // as it has them
    assert_string_equal(dpl_checkpoint_options(again), OPTIONS);
    dpl_checkpoint_free(again);
    close_scene(&scene);
}

/* Sums under another key have another print: the file tells nothing about them without the key. */
static void sums_are_hashed_under_the_key(void **state) {
    (void)state;
    struct scene scene;
    char rounds[2][12 + 64 + 3 + 64];
    open_scene(&scene);
    for (uint64_t i = 0; i < 2; i++) {
        assert_ok(scene.run, dpl_secret_from_seed(scene.run, i, &scene.secret));
        struct dpl_checkpoint *checkpoint = fresh(&scene, NULL, false);
        assert_ok(scene.run, dpl_checkpoint_bind_plan(scene.run, checkpoint, 1, digest('1')));
        assert_ok(scene.run, bind_sums(&scene, checkpoint, 1, "ab", "c"));
        assert_ok(scene.run, dpl_checkpoint_save(scene.run, checkpoint));
        dpl_checkpoint_free(checkpoint);
        struct bytes file = read_all(scene.path, "");
        const char *at = memmem(file.data, file.length, "\"rounds\":[[\"", 12);
        assert_non_null(at);
        memcpy(rounds[i], at, sizeof rounds[i]);
        free(file.data);
    }
    assert_memory_equal(rounds[0], rounds[1], 12 + 64);              // the plan, which is public
    assert_memory_not_equal(rounds[0], rounds[1], sizeof rounds[0]); // the sums
    close_scene(&scene);
}

/* The saved file with a text put into its header behind another, and all else made right. */
static void put_into_header(struct scene *scene, const char *behind, const char *text) {
    enum { MAGIC = 16, PREFIX = MAGIC + 8 };
    struct bytes file = read_all(scene->path, "");
    const size_t more = strlen(text), end = file.length - DPL_DIGEST;
    uint8_t *made = calloc(file.length + more, 1), *at;
    assert_non_null(made);
    assert_non_null(at = memmem(file.data, end, behind, strlen(behind)));
    const size_t before = (size_t)(at - file.data) + strlen(behind);
    uint64_t header = more;
    for (int i = 0; i < 8; i++) header += (uint64_t)file.data[MAGIC + i] << (8 * i);
    memcpy(made, file.data, before);
    memcpy(made + before, text, more);
    memcpy(made + before + more, file.data + before, end - before);
    for (int i = 0; i < 8; i++) made[MAGIC + i] = (uint8_t)(header >> (8 * i));
    assert_ok(scene->run, dpl_sha256(scene->run, made, end + more, made + end + more));
    test_file(scene->directory, "a*b[c].checkpoint", made, file.length + more);
    free(made), free(file.data);
}

static void there_is_a_last_round(void **state) {
    (void)state;
    struct scene scene;
    open_scene(&scene);
    struct dpl_run *run = scene.run;
    struct dpl_checkpoint *checkpoint = fresh(&scene, NULL, false), *again = NULL;
    const int beyond[] = {0, -1, DPL_CHECKPOINT_ROUNDS + 1};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(dpl_checkpoint_bind_plan(run, checkpoint, beyond[i], digest('1')),
                         DPL_USAGE);
        assert_int_equal(bind_sums(&scene, checkpoint, beyond[i], "a", "b"), DPL_USAGE);
    }
    for (int round = 1; round <= DPL_CHECKPOINT_ROUNDS; round++) {
        char digit = (char)('0' + round % 10);
        assert_ok(run, dpl_checkpoint_bind_plan(run, checkpoint, round, digest(digit)));
        assert_ok(run, bind_sums(&scene, checkpoint, round, "a", round % 2 ? "b" : "c"));
    }
    assert_ok(run,
              dpl_checkpoint_bind_data(run, checkpoint, piece("data"))); // it stands behind them
    assert_ok(run, dpl_checkpoint_save(run, checkpoint));
    dpl_checkpoint_free(checkpoint);
    assert_ok(run, resume(&scene, OPTIONS, NULL, false, &again));
    for (int round = 1; round <= DPL_CHECKPOINT_ROUNDS; round++)
        refused(&scene, bind_sums(&scene, again, round, "a", round % 2 ? "c" : "b"), "other sums");
    dpl_checkpoint_free(again), again = NULL;
    put_into_header(&scene, "\"rounds\":[", " ");
    assert_ok(run, resume(&scene, OPTIONS, NULL, false, &again));
    dpl_checkpoint_free(again), again = NULL;
    put_into_header(&scene, "\"rounds\":[", "[\"\",\"\"],"); // one more than there may be
    refused(&scene, resume(&scene, OPTIONS, NULL, false, &again), "the checkpoint is damaged");
    close_scene(&scene);
}

/* ---- trips ---- */

/* The trips of a small city, in this order: numbers of cells. */
static void add_trips(struct dpl_run *run, struct counted *city, const int32_t *cell, size_t n) {
    for (size_t i = 0; i < n; i++)
        counted_add(run, city, (int32_t[]){cell[i], cell[i] + 1}, 2, (int32_t)(i % 2));
}

static void trips_are_bound(void **state) {
    (void)state;
    static const int32_t HERE[] = {3, 5, 7, 5}, SWAPPED[] = {7, 5, 3, 5},
                         ELSEWHERE[] = {3, 5, 7, 6}, FEWER[] = {3, 5, 7};
    struct scene scene;
    struct counted city, swapped, elsewhere, fewer;
    open_scene(&scene);
    struct counted *const all[] = {&city, &swapped, &elsewhere, &fewer};
    const int32_t *const cells[] = {HERE, SWAPPED, ELSEWHERE, FEWER};
    for (size_t i = 0; i < 4; i++) {
        counted_open(scene.run, 2000, all[i]);
        add_trips(scene.run, all[i], cells[i], i == 3 ? 3 : 4);
    }
    for (int ordered = 0; ordered < 2; ordered++) {
        static const char DATA[] = "made from other data";
        struct dpl_checkpoint *checkpoint = fresh(&scene, city.trips, ordered), *again = NULL;
        assert_ok(scene.run, dpl_checkpoint_save(scene.run, checkpoint));
        dpl_checkpoint_free(checkpoint);
        assert_ok(scene.run, resume(&scene, OPTIONS, city.trips, ordered, &again));
        dpl_checkpoint_free(again), again = NULL;
        refused(&scene, resume(&scene, OPTIONS, elsewhere.trips, ordered, &again), DATA);
        refused(&scene, resume(&scene, OPTIONS, fewer.trips, ordered, &again), DATA);
        refused(&scene, resume(&scene, OPTIONS, NULL, ordered, &again), DATA);
        refused(&scene, resume(&scene, "a=2\n", city.trips, ordered, &again), "other options");
        // Trips of one user in another order: another thing only where order counts.
        enum dpl_status status = resume(&scene, OPTIONS, swapped.trips, ordered, &again);
        if (ordered) refused(&scene, status, DATA);
        if (!ordered) assert_int_equal(status, DPL_OK);
        dpl_checkpoint_free(again);
    }
    for (size_t i = 0; i < 4; i++) counted_close(all[i]);
    close_scene(&scene);
}

/* ---- states ---- */

static void states_are_kept(void **state) {
    (void)state;
    struct scene scene;
    struct dpl_sgd_state *net = NULL, *other = NULL;
    bool is_fresh = false;
    open_scene(&scene);
    struct dpl_run *run = scene.run;
    struct dpl_checkpoint *checkpoint = fresh(&scene, NULL, false), *again = NULL;
    assert_int_equal(dpl_checkpoint_state(run, checkpoint, DPL_CHECKPOINT_NETS, 1, &net, &is_fresh),
                     DPL_USAGE);
    assert_ok(run, dpl_checkpoint_state(run, checkpoint, 0, NUMBERS, &net, &is_fresh));
    assert_true(is_fresh);
    assert_ok(run, dpl_checkpoint_state(run, checkpoint, OTHER_SLOT, 1, &other, &is_fresh));
    assert_true(is_fresh);
    for (size_t i = 0; i < NUMBERS; i++) net->parameters[i] = (float)i / 8;
    net->step = 12, other->step = 7, other->parameters[0] = -1;
    assert_ok(run, dpl_checkpoint_save(run, checkpoint));
    dpl_checkpoint_free(checkpoint);
    assert_ok(run, resume(&scene, OPTIONS, NULL, false, &again));
    refused(&scene, dpl_checkpoint_state(run, again, 0, NUMBERS + 1, &net, &is_fresh),
            "net of another size");
    assert_ok(run, dpl_checkpoint_state(run, again, 0, NUMBERS, &net, &is_fresh));
    assert_false(is_fresh);
    assert_ok(run, dpl_checkpoint_state(run, again, OTHER_SLOT, 1, &other, &is_fresh));
    assert_false(is_fresh);
    for (size_t i = 0; i < NUMBERS; i++) assert_true(net->parameters[i] == (float)i / 8);
    assert_true(net->step == 12 && other->step == 7 && other->parameters[0] == -1);
    dpl_checkpoint_free(again);
    close_scene(&scene);
}

/* ---- files ---- */

static void damage_is_found(void **state) {
    (void)state;
    struct scene scene;
    open_scene(&scene);
    struct dpl_checkpoint *checkpoint = fresh(&scene, NULL, false), *again = NULL;
    struct stat info;
    assert_ok(scene.run, dpl_checkpoint_save(scene.run, checkpoint));
    dpl_checkpoint_free(checkpoint);
    assert_int_equal(stat(scene.path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600); // it holds the key of the noise
    FILE *file = fopen(scene.path, "r+b");
    assert_non_null(file);
    for (off_t at = 0; at < info.st_size; at += 7) {
        assert_true(fseeko(file, at, SEEK_SET) == 0);
        int byte = fgetc(file);
        for (int change = 1; change >= 0; change--) { // and back
            assert_true(fseeko(file, at, SEEK_SET) == 0);
            assert_true(fputc(byte ^ change, file) != EOF && fflush(file) == 0);
            enum dpl_status status = resume(&scene, OPTIONS, NULL, false, &again);
            assert_int_equal(status, change ? DPL_REFUSED : DPL_OK);
            if (!change) dpl_checkpoint_free(again), again = NULL;
        }
    }
    fclose(file);
    for (off_t length = info.st_size - 1; length >= 0; length -= 11) {
        assert_int_equal(truncate(scene.path, length), 0);
        assert_int_equal(resume(&scene, OPTIONS, NULL, false, &again), DPL_REFUSED);
    }
    unlink(scene.path);
    assert_int_equal(resume(&scene, OPTIONS, NULL, false, &again), DPL_USAGE);
    says(&scene, "no checkpoint to resume from");
    close_scene(&scene);
}

/* Gone with what a crash has left of its making, and nothing else with it. */
static void it_is_removed(void **state) {
    (void)state;
    static const char *const LEFT[] = {".part-12-3", ".part-gone"}, *const STAYS[] = {".part-x",
                                                                                      ".other"};
    struct scene scene;
    char path[600];
    open_scene(&scene);
    assert_ok(scene.run, dpl_checkpoint_check(scene.run, NULL));
    assert_ok(scene.run, dpl_checkpoint_check(scene.run, scene.path));
    struct dpl_checkpoint *checkpoint = fresh(&scene, NULL, false);
    assert_ok(scene.run, dpl_checkpoint_save(scene.run, checkpoint));
    dpl_checkpoint_free(checkpoint);
    assert_true(dpl_checkpoint_exists(scene.path));
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "a*b[c].checkpoint%s", LEFT[i]);
        test_file(scene.directory, path, "dploc checkpoint", 16);
        snprintf(path, sizeof path, "a*b[c].checkpoint%s", STAYS[i]);
        test_file(scene.directory, path, "dploc checkpoint", 16);
    }
    test_file(scene.directory, "aXbc.checkpoint.part-1-1", "dploc checkpoint", 16);
    assert_ok(scene.run, dpl_checkpoint_remove(scene.run, scene.path));
    assert_false(dpl_checkpoint_exists(scene.path));
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", scene.path, LEFT[i]);
        assert_int_equal(access(path, F_OK), -1);
        snprintf(path, sizeof path, "%s%s", scene.path, STAYS[i]);
        assert_int_equal(access(path, F_OK), 0);
    }
    assert_int_equal(access(test_path(scene.directory, "aXbc.checkpoint.part-1-1"), F_OK), 0);
    assert_ok(scene.run, dpl_checkpoint_remove(scene.run, scene.path)); // nothing is there any more
    // What is no checkpoint is nobody's to remove.
    test_file(scene.directory, "a*b[c].checkpoint", "the year's accounts", 19);
    assert_int_not_equal(dpl_checkpoint_remove(scene.run, scene.path), DPL_OK);
    assert_true(dpl_checkpoint_exists(scene.path));
    close_scene(&scene);
}

/* PRIVACY: in a folder where anybody writes, somebody may put another's key into its place. */
static void a_folder_for_all_is_refused(void **state) {
    (void)state;
    struct scene scene;
    struct dpl_checkpoint *again = NULL;
    open_scene(&scene);
    struct dpl_checkpoint *checkpoint = fresh(&scene, NULL, false);
    assert_ok(scene.run, dpl_checkpoint_save(scene.run, checkpoint));
    dpl_checkpoint_free(checkpoint);
    assert_int_equal(chmod(scene.directory, 0777), 0);
    assert_int_equal(dpl_checkpoint_check(scene.run, scene.path), DPL_REFUSED);
    assert_int_equal(resume(&scene, OPTIONS, NULL, false, &again), DPL_REFUSED);
    assert_int_equal(chmod(scene.directory, 0700), 0);
    assert_ok(scene.run, resume(&scene, OPTIONS, NULL, false, &again));
    dpl_checkpoint_free(again);
    close_scene(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_are_bound),      cmocka_unit_test(sums_are_hashed_under_the_key),
        cmocka_unit_test(there_is_a_last_round), cmocka_unit_test(trips_are_bound),
        cmocka_unit_test(states_are_kept),       cmocka_unit_test(damage_is_found),
        cmocka_unit_test(it_is_removed),         cmocka_unit_test(a_folder_for_all_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
