/* Files of plans. See round.h. A file is a frame (base/frame.h); its payload is the released
 * tables' numbers, one table behind the other, 8 bytes each. */
#include "fit/task.h"

#include <string.h>

#include "account/event.h"
#include "base/json.h"

const struct dpl_frame_kind dpl_plan_kind = {"dploc plan\n\n\n\n\n\n", "a plan of a round"};

enum { FORMAT = 1 };

/* ---- in memory ---- */

enum dpl_status dpl_task_new(struct dpl_run *run, const char *where, const char *text,
                             struct dpl_task **made) {
    struct dpl_grid grid;
    enum dpl_status status;
    struct dpl_task *task = dpl_alloc(run, 1, sizeof *task);
    if (!task) return DPL_SYSTEM;
    task->number = 1;
    DPL_GO(dpl_text_copy(run, text, &task->text));
    DPL_GO(dpl_option_read(run, where, text, &task->set));
    DPL_GO(dpl_grid_make(run, &task->set.area, &grid));
    DPL_GO(dpl_model_new(run, task->set.fit.method, &grid, &task->released));
    *made = task;
    task = NULL;
done:
    dpl_task_free(task);
    return status;
}

void dpl_task_free(struct dpl_task *task) {
    if (!task) return;
    dpl_model_free(task->released);
    json_decref(task->budget);
    dpl_option_set_free(&task->set);
    dpl_text_free(task->text);
    dpl_wipe(task->key, sizeof task->key);
    dpl_free(task);
}

int dpl_task_round(const struct dpl_task *task) { return task->number; }

const struct dpl_read_options *dpl_task_reading(const struct dpl_task *task) {
    return &task->set.read;
}

uint64_t dpl_task_seed(const struct dpl_task *task) {
    return dpl_hash(task->id, strlen(task->id), 0).lo;
}

enum dpl_status dpl_task_beside(struct dpl_run *run, const char *path, const char *name,
                                char beside[DPL_PATH_ROOM]) {
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash + 1 - path) : 0;
    if (snprintf(beside, DPL_PATH_ROOM, "%.*s%s", folder, path, name) < DPL_PATH_ROOM)
        return DPL_OK;
    return dpl_fail(run, DPL_USAGE, "%.60s...: the name is too long", path);
}

/* ---- as bytes ---- */

static const struct dpl_tensor *tensor_of(const struct dpl_model *model, const char *name) {
    char full[DPL_MODEL_NAME];
    snprintf(full, sizeof full, "noised.%s", name);
    for (size_t i = 0; i < model->n_tensors; i++)
        if (!strcmp(model->tensor[i].name, full)) return &model->tensor[i];
    return NULL;
}

static size_t count_of(const struct dpl_tensor *tensor) {
    size_t n = 1;
    for (int i = 0; i < tensor->rank; i++) n *= tensor->shape[i];
    return n;
}

/* The tables in the order of their names, and their numbers. */
static json_t *tables_to_json(const struct dpl_model *released, struct dpl_view *piece, size_t *n) {
    json_t *list = json_array(), *about;
    const char *name;
    *n = 0;
    json_object_foreach(released->noised, name, about) {
        const struct dpl_tensor *tensor = tensor_of(released, name);
        json_t *shape = json_array();
        for (int i = 0; i < tensor->rank; i++)
            dpl_json_append(&shape, json_integer((json_int_t)tensor->shape[i]));
        dpl_json_append(&list,
                        json_pack("{s:s, s:o, s:O}", "name", name, "shape", shape, "about", about));
        piece[(*n)++] = (struct dpl_view){tensor->data, 8 * count_of(tensor)};
    }
    return list;
}

static json_t *asks_to_json(const struct dpl_task *task) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < task->n_asks; i++)
        dpl_json_append(&list, json_string(task->ask[i]));
    return list;
}

enum dpl_status dpl_task_make(struct dpl_run *run, struct dpl_task *task, struct dpl_bytes *bytes) {
    struct dpl_view piece[DPL_MODEL_TENSORS];
    size_t n;
    json_t *tables = tables_to_json(task->released, piece, &n);
    json_t *header = json_pack("{s:i, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "format",
                               FORMAT, "version", dpl_version(), "round", task->number, "id",
                               task->id, "options", task->text, "key", task->key_name, "key_sha256",
                               task->key_digest, "checkpoint", task->checkpoint_name, "budget",
                               task->budget ? json_incref(task->budget) : json_null(), "asks",
                               asks_to_json(task), "released", tables);
    enum dpl_status status = dpl_frame_make(run, &dpl_plan_kind, header, piece, n, bytes);
    json_decref(header);
    if (status != DPL_OK) return status;
    return dpl_sha256_hex(run, bytes->data, bytes->n, task->digest);
}

/* ---- from bytes ---- */

static enum dpl_status damaged(struct dpl_run *run, const char *where) {
    return dpl_fail(run, DPL_BAD_DATA, "%s: the plan is damaged; make it anew", where);
}

/* A name without folders, so that a plan cannot point anywhere else. */
static bool take_name(json_t *from, char *into, size_t size) {
    const char *text = json_string_value(from);
    if (!text || strlen(text) >= size || strchr(text, '/')) return false;
    strcpy(into, text);
    return true;
}

static enum dpl_status take_table(struct dpl_run *run, const char *where, json_t *object,
                                  struct dpl_task *task, const struct dpl_frame *frame,
                                  size_t *at) {
    json_t *shape = json_object_get(object, "shape"), *about = json_object_get(object, "about");
    size_t rank = json_array_size(shape), size[DPL_TENSOR_RANK], n = 1;
    const size_t room = (frame->n_payload - *at) / 8;
    const char *name;
    double *values;
    DPL_TRY(dpl_text_from_json(run, where, object, "name", &name));
    if (rank < 1 || rank > DPL_TENSOR_RANK || !json_is_object(about) ||
        strlen(name) >= DPL_EVENT_NAME || tensor_of(task->released, name) ||
        task->released->n_tensors == DPL_MODEL_TENSORS)
        return damaged(run, where);
    for (size_t i = 0; i < rank; i++) {
        json_int_t here = json_integer_value(json_array_get(shape, i));
        if (here < 1 || (size_t)here > room / n) return damaged(run, where);
        size[i] = (size_t)here, n *= size[i];
    }
    DPL_TRY(dpl_model_add_noised(run, task->released, name, (int)rank, size, json_deep_copy(about),
                                 &values));
    memcpy(values, frame->payload + *at, 8 * n);
    *at += 8 * n;
    return DPL_OK;
}

static enum dpl_status take_tables(struct dpl_run *run, const char *where,
                                   const struct dpl_frame *frame, struct dpl_task *task) {
    size_t at = 0, i;
    json_t *object;
    json_array_foreach(json_object_get(frame->header, "released"), i, object)
        DPL_TRY(take_table(run, where, object, task, frame, &at));
    return at == frame->n_payload ? DPL_OK : damaged(run, where);
}

static bool take_asks(json_t *list, struct dpl_task *task) {
    size_t i;
    json_t *name;
    if (json_array_size(list) < 1 || json_array_size(list) > DPL_COUNTS_TABLES) return false;
    json_array_foreach(list, i, name) if (!take_name(name, task->ask[task->n_asks++],
                                                     DPL_EVENT_NAME)) return false;
    return true;
}

static enum dpl_status check_version(struct dpl_run *run, const char *where, json_t *header) {
    const char *version;
    DPL_TRY(dpl_text_from_json(run, where, header, "version", &version));
    if (!strcmp(version, dpl_version()) &&
        json_integer_value(json_object_get(header, "format")) == FORMAT)
        return DPL_OK;
    return dpl_fail(run, DPL_REFUSED,
                    "%s: the plan was made by dploc %.32s, and this is %s: all machines of one fit "
                    "need the same version",
                    where, version, dpl_version());
}

static enum dpl_status load_frame(struct dpl_run *run, const char *where,
                                  const struct dpl_frame *frame, struct dpl_task **made) {
    json_t *header = frame->header, *budget = json_object_get(header, "budget");
    const json_int_t number = json_integer_value(json_object_get(header, "round"));
    const char *text;
    struct dpl_task *task = NULL;
    enum dpl_status status;
    DPL_TRY(check_version(run, where, header));
    DPL_TRY(dpl_text_from_json(run, where, header, "options", &text));
    DPL_TRY(dpl_task_new(run, where, text, &task));
    if (json_is_object(budget)) task->budget = json_deep_copy(budget);
    task->number = number >= 1 && number < INT32_MAX ? (int)number : 0;
    bool good =
        task->number >= 1 && take_asks(json_object_get(header, "asks"), task) &&
        take_name(json_object_get(header, "id"), task->id, sizeof task->id) &&
        take_name(json_object_get(header, "key"), task->key_name, DPL_TASK_NAME) &&
        take_name(json_object_get(header, "key_sha256"), task->key_digest, DPL_DIGEST_HEX) &&
        take_name(json_object_get(header, "checkpoint"), task->checkpoint_name, DPL_TASK_NAME);
    status = good ? take_tables(run, where, frame, task) : damaged(run, where);
    if (status == DPL_OK)
        *made = task;
    else
        dpl_task_free(task);
    return status;
}

enum dpl_status dpl_task_load(struct dpl_run *run, const char *where, struct dpl_view bytes,
                              struct dpl_task **made) {
    struct dpl_frame frame = {0};
    struct dpl_task *task = NULL;
    DPL_TRY(dpl_frame_open(run, &dpl_plan_kind, where, bytes, &frame));
    enum dpl_status status = load_frame(run, where, &frame, &task);
    dpl_frame_close(&frame);
    if (status == DPL_OK) status = dpl_sha256_hex(run, bytes.data, bytes.n, task->digest);
    if (status == DPL_OK)
        *made = task;
    else
        dpl_task_free(task);
    return status;
}
