/* Plans, parts and cleaned shards: any bytes as they are, and once more with their hash and the
 * name of their plan made right, so that what stands behind these is reached too. */
#include "fuzz.h"

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

static void read_plan(struct dpl_run *run, struct dpl_view view) {
    struct dpl_task *task = NULL;
    struct dpl_bytes again = {0};
    enum dpl_status status = dpl_task_load(run, "plan", view, &task);
    check_said(run, status);
    if ((status == DPL_OK) != (task != NULL)) abort();
    if (task && dpl_task_make(run, task, &again) != DPL_OK) abort();
    dpl_bytes_free(&again);
    dpl_task_free(task);
}

/* Cleaned trips, counted for the plan of a round that asks for their number. */
static void read_shard(struct dpl_run *run, struct dpl_view view) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_task *task = NULL;
    struct dpl_shard shard = {0};
    struct dpl_sums *counts = NULL;
    struct dpl_bytes again = {0};
    char *text = NULL;
    options.budget.trips_max = 1;
    if (dpl_area_preset(run, "simulated", &area) != DPL_OK ||
        dpl_option_shared(run, &read, &area, &options, &text) != DPL_OK ||
        dpl_task_new(run, "fuzz", text, &task) != DPL_OK)
        abort();
    strcpy(task->id, PLAN_ID);
    enum dpl_status status = dpl_shard_load(run, task, view, &shard);
    check_said(run, status);
    if (status == DPL_OK && (dpl_shard_count(run, task, &shard, &counts) != DPL_OK ||
                             dpl_shard_make(run, &shard, &again) != DPL_OK))
        abort();
    dpl_bytes_free(&again);
    dpl_sums_free(counts);
    dpl_shard_free(&shard);
    dpl_task_free(task);
    dpl_text_free(text);
}

static void read_all(struct dpl_run *run, const uint8_t *bytes, size_t length) {
    const struct dpl_view view = {bytes, length};
    read_part(run, view);
    read_plan(run, view);
    read_shard(run, view);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct dpl_run *run = dpl_run_new(NULL);
    uint8_t *copy = malloc(length + 1);
    if (!copy) abort();
    memcpy(copy, bytes, length);
    put_id(copy, length);
    put_hash(copy, length);
    read_all(run, bytes, length);
    read_all(run, copy, length);
    free(copy);
    dpl_run_free(run);
    return 0;
}
