/* Plans, parts and cleaned shards: any bytes as they are, and once more with their hash and the
 * name of their plan made right, so that what stands behind these is reached too. */
#include "fuzz.h"

#include <dploc_rounds.h>
#include <stddef.h>
#include <string.h>

#include "fit/counts.h"
#include "fit/shard.h"
#include "fit/task.h"

enum { HASH = 16 };
static const char PLAN_ID[] = "00000000000000000000000000000000";

static void put_id(uint8_t *bytes, size_t length) {
    static const char MARK[] = "\"id\":\"";
    uint8_t *at = memmem(bytes, length, MARK, sizeof MARK - 1);
    if (!at || (size_t)(bytes + length - at) < sizeof MARK + sizeof PLAN_ID) return;
    memcpy(at + sizeof MARK - 1, PLAN_ID, sizeof PLAN_ID - 1);
}

static void put_hash(uint8_t *bytes, size_t length) {
    if (length < HASH) return;
    const struct dpl_key key = dpl_hash(bytes, length - HASH, 0);
    for (int i = 0; i < 8; i++) {
        bytes[length - HASH + (size_t)i] = (uint8_t)(key.hi >> (8 * i));
        bytes[length - HASH / 2 + (size_t)i] = (uint8_t)(key.lo >> (8 * i));
    }
}

/* Replaces the character behind the mark, if both are there. */
static void put_behind(uint8_t *bytes, size_t length, const char *mark, char with) {
    uint8_t *at = memmem(bytes, length, mark, strlen(mark));
    if (at && (size_t)(bytes + length - at) > strlen(mark)) at[strlen(mark)] = (uint8_t)with;
}

/* The same part of two shards, as the first or the second of them: it says so in two digits. */
static uint8_t *half_of(struct dpl_view view, char digit) {
    static const char HAVE[] = "\"have\":[[";
    uint8_t *copy = malloc(view.n + 1);
    if (!copy) abort();
    memcpy(copy, view.data, view.n);
    put_behind(copy, view.n, "\"shards\":", '2');
    uint8_t *at = memmem(copy, view.n, HAVE, sizeof HAVE - 1);
    if (at && copy + view.n - at > (ptrdiff_t)sizeof HAVE + 2)
        at[sizeof HAVE - 1] = at[sizeof HAVE + 1] = (uint8_t)digit;
    put_hash(copy, view.n);
    return copy;
}

/* Makes a half one of something else: what differs, is the number's to say; 0: nothing. */
enum { DIFFERENCES = 6 };
static void make_strange(uint8_t *bytes, size_t length, int number) {
    static const char *const MARK[DIFFERENCES] = {
        NULL,          "\"round\":",     "\"shards\":",
        "\"plan\":\"", "\"version\":\"", "\"tables\":[{\"name\":\""};
    if (!MARK[number]) return;
    put_behind(bytes, length, MARK[number], '7');
    put_hash(bytes, length);
}

static void check_said(struct dpl_run *run, enum dpl_status status) {
    if (status != DPL_OK && !dpl_run_message(run)[0]) abort();
    dpl_run_begin(run);
}

/* A part, alone and twice: the second time its shards are there already. */
static void read_part(struct dpl_run *run, struct dpl_view view) {
    struct dpl_sums *sums = NULL;
    struct dpl_bytes again = {0};
    if (dpl_sums_new(run, &sums) != DPL_OK) abort();
    enum dpl_status status = dpl_sums_add(run, sums, "part", view);
    check_said(run, status);
    if (status == DPL_OK) {
        if (dpl_sums_add(run, sums, "part", view) == DPL_OK) abort();
        check_said(run, dpl_sums_check_whole(run, sums));
    }
    dpl_sums_free(sums);
    if (dpl_sums_new(run, &sums) != DPL_OK) abort();
    if (status == DPL_OK && (dpl_sums_add(run, sums, "part", view) != DPL_OK ||
                             dpl_sums_make(run, sums, &again) != DPL_OK))
        abort();
    dpl_sums_free(sums);
    dpl_bytes_free(&again);
}

/* The plan of a round that asks for the number of trips: made once. */
static const struct dpl_task *the_task(struct dpl_run *run) {
    static struct dpl_task *task;
    struct dpl_area area = dpl_area_defaults();
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_read_options read = dpl_read_defaults();
    char *text = NULL;
    if (task) return task;
    options.budget.trips_max = 1;
    if (dpl_area_preset(run, "simulated", &area) != DPL_OK ||
        dpl_option_shared(run, &read, &area, &options, &text) != DPL_OK ||
        dpl_task_new(run, "fuzz", text, &task) != DPL_OK)
        abort();
    strcpy(task->id, PLAN_ID);
    dpl_text_free(text);
    return task;
}

/* Every table is there once, by its name. */
static void take_tables(struct dpl_sums *sums) {
    (void)dpl_sums_lost(sums);
    for (size_t i = 0; i < sums->n_tables; i++) {
        struct dpl_exact *sum = dpl_sums_take(sums, sums->table[i].name);
        dpl_exact_free(sum);
        if (i == 0 && !sum) abort();
    }
    if (dpl_sums_take(sums, "no such table")) abort();
}

/* Two parts that may belong together, and perhaps what is made of them. */
static void read_halves(struct dpl_run *run, struct dpl_view view, int way) {
    struct dpl_sums *sums = NULL;
    struct dpl_bytes again = {0};
    uint8_t *first = half_of(view, '0'), *second = half_of(view, '1');
    make_strange(second, view.n, way % DIFFERENCES);
    if (dpl_sums_new(run, &sums) != DPL_OK) abort();
    enum dpl_status status = dpl_sums_add(run, sums, "first", (struct dpl_view){first, view.n});
    check_said(run, status);
    if (status == DPL_OK) {
        check_said(run, dpl_sums_check_whole(run, sums));
        status = dpl_sums_add(run, sums, "second", (struct dpl_view){second, view.n});
        check_said(run, status);
    }
    if (status == DPL_OK && dpl_sums_make(run, sums, &again) != DPL_OK) abort();
    if (status == DPL_OK) take_tables(sums);
    dpl_bytes_free(&again);
    dpl_sums_free(sums);
    free(first), free(second);
}

/* Through files: what is read is what was written. */
static void through_files(struct dpl_run *run, struct dpl_view view, uint32_t shards) {
    struct dpl_bytes bytes = {0};
    struct dpl_shard shard = {0};
    char path[FUZZ_PATH];
    const char *file = fuzz_file(view.data, view.n);
    enum dpl_status status = dpl_part_read(run, file, &bytes);
    check_said(run, status);
    if (dpl_part_read(run, fuzz_folder(), &bytes) == DPL_OK) abort();
    dpl_run_begin(run);
    if (status == DPL_OK &&
        (bytes.n != view.n || (view.n && memcmp(bytes.data, view.data, view.n) != 0)))
        abort();
    dpl_bytes_free(&bytes);
    snprintf(path, sizeof path, "%s/dploc-fuzz-%d.part", fuzz_folder(), (int)getpid());
    check_said(run, dpl_part_check(run, path, false));
    check_said(run, dpl_part_write(run, view, path, true));
    unlink(path);
    status = dpl_shard_open(run, the_task(run), file, 0, shards, &shard);
    check_said(run, status);
    if (status == DPL_OK && dpl_shard_save(run, &shard, path) != DPL_OK) abort();
    dpl_shard_free(&shard);
    unlink(path);
}

/* What it names lies beside it. */
static void look_at(struct dpl_run *run, const struct dpl_task *task) {
    static const char FOLDER[] = "folder/";
    char path[DPL_PATH_ROOM];
    enum dpl_status status = dpl_task_beside(run, "folder/plan", task->key_name, path);
    check_said(run, status);
    if (status == DPL_OK && (strncmp(path, FOLDER, sizeof FOLDER - 1) != 0 ||
                             strchr(path + sizeof FOLDER - 1, '/') != NULL))
        abort();
    if (dpl_task_round(task) < 1 || !dpl_task_reading(task)->format) abort();
    (void)dpl_task_seed(task);
}

static void read_plan(struct dpl_run *run, struct dpl_view view) {
    struct dpl_task *task = NULL;
    struct dpl_bytes again = {0};
    enum dpl_status status = dpl_task_load(run, "plan", view, &task);
    check_said(run, status);
    if ((status == DPL_OK) != (task != NULL)) abort();
    if (task) look_at(run, task);
    if (task && dpl_task_make(run, task, &again) != DPL_OK) abort();
    dpl_bytes_free(&again);
    dpl_task_free(task);
}

/* Cleaned trips, counted. */
static void read_shard(struct dpl_run *run, struct dpl_view view) {
    const struct dpl_task *task = the_task(run);
    struct dpl_shard shard = {0};
    struct dpl_sums *counts = NULL;
    struct dpl_bytes again = {0};
    enum dpl_status status = dpl_shard_load(run, task, view, &shard);
    check_said(run, status);
    if (status == DPL_OK && (dpl_shard_count(run, task, &shard, &counts) != DPL_OK ||
                             dpl_shard_make(run, &shard, &again) != DPL_OK))
        abort();
    dpl_bytes_free(&again);
    dpl_sums_free(counts);
    dpl_shard_free(&shard);
}

static void read_all(struct dpl_run *run, const uint8_t *bytes, size_t length, int way) {
    const struct dpl_view view = {bytes, length};
    read_part(run, view);
    read_plan(run, view);
    read_shard(run, view);
    if (way % 4 == 0) through_files(run, view, 1 + (uint32_t)way / 4 % 2);
    if (way % 4 == 1) read_halves(run, view, way / 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct dpl_run *run = fuzz_run();
    uint8_t *copy = malloc(length + 1);
    if (!copy) abort();
    memcpy(copy, bytes, length);
    put_id(copy, length);
    put_hash(copy, length);
    const int way = length ? bytes[length - 1] : 0; // of the hash, which is made right
    read_all(run, copy, length, way);
    if (memcmp(bytes, copy, length) != 0) read_all(run, bytes, length, way);
    free(copy);
    dpl_run_free(run);
    return 0;
}
