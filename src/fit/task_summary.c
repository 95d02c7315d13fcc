/* What a plan is, and a part as far as it may be said. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fit/task.h"

static json_t *names_of(const json_t *noised) {
    json_t *list = json_array(), *about;
    const char *name;
    json_object_foreach((json_t *)noised, name, about) dpl_json_append(&list, json_string(name));
    return list;
}

static enum dpl_status describe_plan(struct dpl_run *run, const char *path, struct dpl_view bytes,
                                     json_t **object) {
    struct dpl_task *task = NULL;
    DPL_TRY(dpl_task_load(run, path, bytes, &task));
    json_t *asks = json_array();
    for (size_t i = 0; i < task->n_asks; i++) dpl_json_append(&asks, json_string(task->ask[i]));
    *object = json_pack("{s:s, s:i, s:s, s:s, s:o, s:o, s:s}", "plan", task->id, "round",
                        task->number, "method", task->set.fit.method, "unit",
                        dpl_unit_name(task->set.fit.budget.unit), "asks", asks, "released",
                        names_of(task->released->noised), "sha256", task->digest);
    dpl_task_free(task);
    return DPL_OK;
}

/* PRIVACY: of what is exact, nothing. */
static enum dpl_status describe_part(struct dpl_run *run, const char *path, struct dpl_view bytes,
                                     json_t **object) {
    struct dpl_sums *sums = NULL;
    DPL_TRY(dpl_sums_new(run, &sums));
    enum dpl_status status = dpl_sums_add(run, sums, path, bytes);
    uint32_t have = 0;
    for (uint32_t i = 0; status == DPL_OK && i < sums->shards; i++) have += sums->have[i];
    if (status == DPL_OK)
        *object = json_pack("{s:b, s:I, s:s, s:I, s:I}", "not_private", 1, "round",
                            (json_int_t)sums->round, "plan_sha256", sums->plan, "shards",
                            (json_int_t)sums->shards, "counted", (json_int_t)have);
    dpl_sums_free(sums);
    return status;
}

static void write_words(json_t *object, FILE *out) {
    const char *name, *word;
    json_t *value, *item;
    size_t i;
    json_object_foreach(object, name, value) {
        fprintf(out, "%-12s", name);
        if ((word = json_string_value(value))) fprintf(out, "%s", word);
        if (json_is_integer(value)) fprintf(out, "%lld", (long long)json_integer_value(value));
        if (json_is_true(value)) fprintf(out, "yes: exact counts, for their owner alone");
        json_array_foreach(value, i, item)
            fprintf(out, "%s%s", i ? ", " : "", json_string_value(item));
        if (json_is_array(value) && json_array_size(value) == 0) fprintf(out, "nothing yet");
        fputc('\n', out);
    }
}

static enum dpl_status write_text(struct dpl_run *run, json_t *object, bool json, char **text) {
    char *made = NULL;
    size_t length = 0;
    FILE *out = json ? NULL : open_memstream(&made, &length);
    if (out) {
        write_words(object, out);
        if (fclose(out) == 0 && length > 0) made[length - 1] = '\0'; // the last line end
    } else if (object) {
        made = dpl_json_dump(object, JSON_COMPACT);
    }
    enum dpl_status status =
        made ? dpl_text_copy(run, made, text) : dpl_fail(run, DPL_SYSTEM, "out of memory");
    free(made);
    return status;
}

bool dpl_task_recognise(const char *bytes, size_t length) {
    return length >= DPL_FRAME_MAGIC && (!memcmp(bytes, dpl_plan_kind.magic, DPL_FRAME_MAGIC) ||
                                         !memcmp(bytes, dpl_part_kind.magic, DPL_FRAME_MAGIC));
}

enum dpl_status dpl_task_summary(struct dpl_run *run, const char *path, bool json, char **text) {
    struct dpl_bytes bytes = {0};
    json_t *object = NULL;
    dpl_run_begin(run);
    DPL_TRY(dpl_bytes_read(run, path, &bytes));
    const struct dpl_view view = {bytes.data, bytes.n};
    bool part =
        bytes.n >= DPL_FRAME_MAGIC && !memcmp(bytes.data, dpl_part_kind.magic, DPL_FRAME_MAGIC);
    enum dpl_status status =
        part ? describe_part(run, path, view, &object) : describe_plan(run, path, view, &object);
    if (status == DPL_OK) status = write_text(run, object, json, text);
    json_decref(object);
    dpl_bytes_free(&bytes);
    return status;
}
