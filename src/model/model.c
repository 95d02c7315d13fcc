/* Models in memory and as safetensors files. See model.h.
 *
 *     8 bytes   length H of the header, little-endian
 *     H bytes   {"__metadata__": {...texts...}, "cells": {"dtype": "I32", "shape": [K],
 * "data_offsets": [0, 4K]}, ...} the rest  the tensors, one behind the other, without gaps
 *
 * Two hashes stand in the metadata: "sha256" of the tensors' bytes, and "header_sha256" of the
 * header with the digits of that very hash set to '0'. So a file with any bit changed is refused,
 * and so is one cut anywhere, because the tensors must end exactly where the file does.
 *
 * Nothing that is read is believed: lengths are compared with the size of the file before memory is
 * asked for, and what memory is asked for is never more than the file is long. Numbers in the
 * metadata are texts, as safetensors wants them; grid, options and certificate are JSON texts.
 * Cost: one pass over the bytes for reading and one for hashing. */
#include "model/model.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/json.h"

enum { VERSION = 2, LENGTH_BYTES = 8, HEADER_MAX = 1 << 22, ALIGN = 8, LENGTH_MAX = 1 << 20 };
static const int64_t TRIPS_MAX = (int64_t)1 << 40;

static const char METADATA[] = "__metadata__", FORMAT[] = DPL_MODEL_FORMAT,
                  HEADER_HASH[] = "header_sha256";
static const char NOT_PRIVATE[] =
    "NOT PRIVATE: made without noise, or with noise that a seed gives away";

static const struct {
    const char *name;
    size_t bytes; /* of one number */
} TYPES[] = {
    [DPL_TENSOR_F32] = {"F32", 4}, [DPL_TENSOR_I32] = {"I32", 4}, [DPL_TENSOR_F64] = {"F64", 8}};
enum { N_TYPES = sizeof TYPES / sizeof *TYPES };
_Static_assert(sizeof(float) == 4 && sizeof(int32_t) == 4 && sizeof(double) == 8,
               "numbers are stored as memory holds them");

/* ---- in memory ---- */

enum dpl_status dpl_model_new(struct dpl_run *run, const char *method, const struct dpl_grid *grid,
                              struct dpl_model **made) {
    struct dpl_model *model = dpl_alloc(run, 1, sizeof *model);
    if (!model) return DPL_SYSTEM;
    snprintf(model->method, sizeof model->method, "%s", method);
    model->grid = *grid;
    model->has_time = true;
    model->options = json_object();
    model->certificate = json_object();
    model->noised = json_object();
    if (!model->options || !model->certificate || !model->noised) {
        dpl_model_free(model);
        return dpl_fail(run, DPL_SYSTEM, "out of memory");
    }
    *made = model;
    return DPL_OK;
}

void dpl_model_free(struct dpl_model *model) {
    if (!model) return;
    for (size_t i = 0; i < model->n_tensors; i++) dpl_free(model->tensor[i].data);
    json_decref(model->options);
    json_decref(model->certificate);
    json_decref(model->noised);
    dpl_free(model);
}

/* Elements of a shape; false when there are more than a file could hold. */
static bool elements_of(int rank, const size_t *shape, size_t *elements) {
    size_t n = 1;
    for (int i = 0; i < rank; i++) {
        if (shape[i] != 0 && n > (SIZE_MAX / 64) / shape[i]) return false;
        n *= shape[i];
    }
    *elements = n;
    return true;
}

/* Room for one more, behind those of its size: eight-byte numbers go first, so that each number in
 * a file lies at a multiple of its size. */
static struct dpl_tensor *make_place(struct dpl_model *model, enum dpl_tensor_type type) {
    size_t at = model->n_tensors++;
    for (; at > 0 && TYPES[model->tensor[at - 1].type].bytes < TYPES[type].bytes; at--)
        model->tensor[at] = model->tensor[at - 1];
    return &model->tensor[at];
}

static const struct dpl_tensor *find_tensor(const struct dpl_model *model, const char *name) {
    for (size_t i = 0; i < model->n_tensors; i++)
        if (!strcmp(model->tensor[i].name, name)) return &model->tensor[i];
    return NULL;
}

bool dpl_model_has(const struct dpl_model *model, const char *name) {
    return find_tensor(model, name) != NULL;
}

enum dpl_status dpl_model_add(struct dpl_run *run, struct dpl_model *model, const char *name,
                              enum dpl_tensor_type type, int rank, const size_t *shape,
                              void *data) {
    size_t elements;
    if (strlen(name) == 0 || strlen(name) >= DPL_MODEL_NAME || !strcmp(name, METADATA))
        return dpl_fail(run, DPL_USAGE, "'%.60s' cannot be a tensor's name", name);
    if (rank < 1 || rank > DPL_TENSOR_RANK || !elements_of(rank, shape, &elements))
        return dpl_fail(run, DPL_USAGE, "tensor '%s': a shape that cannot be", name);
    if (find_tensor(model, name))
        return dpl_fail(run, DPL_USAGE, "tensor '%s' is there already", name);
    if (model->n_tensors == DPL_MODEL_TENSORS)
        return dpl_fail(run, DPL_USAGE, "more than %d tensors", DPL_MODEL_TENSORS);
    void *values = dpl_alloc(run, elements, TYPES[type].bytes);
    if (!values) return DPL_SYSTEM;
    struct dpl_tensor *tensor = make_place(model, type);
    *tensor = (struct dpl_tensor){.type = type, .rank = rank, .data = values};
    strcpy(tensor->name, name);
    memcpy(tensor->shape, shape, (size_t)rank * sizeof *shape);
    if (!strcmp(name, "cells") && type == DPL_TENSOR_I32 && rank == 1) {
        model->n_cells = (int32_t)shape[0];
        model->cell = tensor->data;
    }
    if (!strcmp(name, "sides") && type == DPL_TENSOR_I32 && rank == 1) model->side = tensor->data;
    if (data) memcpy(data, &tensor->data, sizeof tensor->data);
    return DPL_OK;
}

enum dpl_status dpl_model_add_noised(struct dpl_run *run, struct dpl_model *model, const char *name,
                                     int rank, const size_t *shape, json_t *about,
                                     double **values) {
    char full[DPL_MODEL_NAME];
    snprintf(full, sizeof full, "noised.%s", name);
    if (json_object_set_new(model->noised, name, about) != 0)
        return dpl_fail(run, DPL_SYSTEM, "out of memory");
    return dpl_model_add(run, model, full, DPL_TENSOR_F64, rank, shape, values);
}

void dpl_model_drop_noised(struct dpl_model *model, const char *name) {
    char full[DPL_MODEL_NAME];
    snprintf(full, sizeof full, "noised.%s", name);
    json_object_del(model->noised, name);
    for (size_t i = 0; i < model->n_tensors; i++) {
        if (strcmp(model->tensor[i].name, full) != 0) continue;
        dpl_free(model->tensor[i].data);
        memmove(&model->tensor[i], &model->tensor[i + 1],
                (--model->n_tensors - i) * sizeof *model->tensor);
    }
}

static void describe_shape(int rank, const size_t *shape, char *text, size_t size) {
    size_t used = 0;
    for (int i = 0; i < rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, i ? " x %zu" : "%zu", shape[i]);
}

enum dpl_status dpl_model_get(struct dpl_run *run, const struct dpl_model *model, const char *name,
                              enum dpl_tensor_type type, int rank, const size_t *shape,
                              void *data) {
    const struct dpl_tensor *tensor = find_tensor(model, name);
    char want[128] = "", have[128] = "";
    if (!tensor)
        return dpl_fail(run, DPL_BAD_DATA, "the model has no tensor '%s', which method %s needs",
                        name, model->method);
    describe_shape(rank, shape, want, sizeof want);
    describe_shape(tensor->rank, tensor->shape, have, sizeof have);
    if (tensor->type != type || tensor->rank != rank ||
        memcmp(tensor->shape, shape, (size_t)rank * sizeof *shape) != 0)
        return dpl_fail(run, DPL_BAD_DATA,
                        "the model's tensor '%s' is %s of %s, not %s of %s as its options say",
                        name, TYPES[tensor->type].name, have, TYPES[type].name, want);
    memcpy(data, &tensor->data, sizeof tensor->data);
    return DPL_OK;
}

/* ---- writing ---- */

static enum dpl_status no_memory(struct dpl_run *run) {
    return dpl_fail(run, DPL_SYSTEM, "out of memory");
}

static size_t tensor_bytes(const struct dpl_tensor *tensor) {
    size_t elements = 0;
    elements_of(tensor->rank, tensor->shape, &elements);
    return elements * TYPES[tensor->type].bytes;
}

/* Numbers between memory and safetensors, which is little-endian. */
static void turn_bytes(uint8_t *bytes, const struct dpl_tensor *tensor) {
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) return;
    const size_t each = TYPES[tensor->type].bytes, length = tensor_bytes(tensor);
    for (uint8_t *number = bytes; number < bytes + length; number += each)
        for (size_t i = 0; i < each / 2; i++) {
            const uint8_t kept = number[i];
            number[i] = number[each - 1 - i];
            number[each - 1 - i] = kept;
        }
}

/* The tensors as the file has them, one behind the other. Caller frees with dpl_free. */
static enum dpl_status gather(struct dpl_run *run, const struct dpl_model *model, uint8_t **made,
                              size_t *length) {
    size_t total = 0, at = 0;
    for (size_t i = 0; i < model->n_tensors; i++) total += tensor_bytes(&model->tensor[i]);
    uint8_t *all = dpl_alloc(run, total, 1);
    if (!all) return DPL_SYSTEM;
    for (size_t i = 0; i < model->n_tensors; i++) {
        memcpy(all + at, model->tensor[i].data, tensor_bytes(&model->tensor[i]));
        turn_bytes(all + at, &model->tensor[i]);
        at += tensor_bytes(&model->tensor[i]);
    }
    *made = all;
    *length = total;
    return DPL_OK;
}

/* The digest of the tensors' own digests would not be what anyone computes from the file. */
static enum dpl_status hash_tensors(struct dpl_run *run, const struct dpl_model *model,
                                    char hex[DPL_DIGEST_HEX]) {
    uint8_t *all;
    size_t length;
    DPL_TRY(gather(run, model, &all, &length));
    enum dpl_status status = dpl_sha256_hex(run, all, length, hex);
    dpl_free(all);
    return status;
}

static json_t *text_number(int64_t number) { return json_sprintf("%" PRId64, number); }

/* An object as a JSON text within JSON: safetensors allows texts only. */
static json_t *text_object(json_t *object) {
    char *text = dpl_json_dump(object, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_t *value = text ? json_string(text) : NULL;
    free(text);
    return value;
}

static json_t *grid_to_json(const struct dpl_grid *grid) {
    const struct dpl_area *area = &grid->area;
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:i, s:i, s:s, s:i, s:i}", "south_deg",
                     area->south_deg, "west_deg", area->west_deg, "north_deg", area->north_deg,
                     "east_deg", area->east_deg, "cell_m", area->cell_m, "speed_limit_kmh",
                     area->speed_limit_kmh, "slot_s", area->slot_s, "periods", area->periods,
                     "zone", area->zone, "columns", grid->columns, "rows", grid->rows);
}

static json_t *metadata_to_json(const struct dpl_model *model, const char *hash) {
    json_t *grid = grid_to_json(&model->grid), *metadata = json_object();
    if (model->not_private) dpl_json_set(&metadata, "warning", json_string(NOT_PRIVATE));
    const struct {
        const char *name;
        json_t *value;
    } members[] = {
        {"format", json_string(FORMAT)},
        {"version", text_number(VERSION)},
        {"program", json_sprintf("dploc %s", dpl_version())},
        {"private", json_string(model->not_private ? "false" : "true")},
        {"method", json_string(model->method)},
        {"grid", text_object(grid)},
        {"length_max", text_number(model->length_max)},
        {"trips_estimated", text_number(model->trips_estimated)},
        {"per_user", json_string(model->per_user ? "true" : "false")},
        {"has_time", json_string(model->has_time ? "true" : "false")},
        {"options", text_object(model->options)},
        {"certificate", text_object(model->certificate)},
        {"noised", text_object(model->noised)},
        {"sha256", json_string(hash)},
        {HEADER_HASH,
         json_string("0000000000000000000000000000000000000000000000000000000000000000")},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        dpl_json_set(&metadata, members[i].name, members[i].value);
    json_decref(grid);
    return metadata;
}

static json_t *tensor_to_json(const struct dpl_tensor *tensor, size_t offset) {
    json_t *shape = json_array();
    for (int i = 0; shape && i < tensor->rank; i++)
        dpl_json_append(&shape, json_integer((json_int_t)tensor->shape[i]));
    return json_pack("{s:s, s:o, s:[I,I]}", "dtype", TYPES[tensor->type].name, "shape", shape,
                     "data_offsets", (json_int_t)offset,
                     (json_int_t)(offset + tensor_bytes(tensor)));
}

/* The place of the header's own hash in the text: 64 digits. NULL when it is not there exactly
 * once. */
static char *find_header_hash(char *text, size_t length) {
    static const char MARK[] = "\"header_sha256\":\"";
    const size_t mark = sizeof MARK - 1;
    char *at = memmem(text, length, MARK, mark);
    if (!at || (size_t)(text + length - at) < mark + 2 * DPL_DIGEST + 1) return NULL;
    if (memmem(at + 1, (size_t)(text + length - at) - 1, MARK, mark)) return NULL;
    return at + mark;
}

/* The header's text, padded by spaces to a multiple of 8, with its hash filled in. Caller frees
 * with dpl_free. */
static enum dpl_status header_text(struct dpl_run *run, const struct dpl_model *model, char **made,
                                   size_t *made_length) {
    enum dpl_status status;
    char hash[DPL_DIGEST_HEX], *dumped = NULL, *text = NULL;
    size_t offset = 0;
    DPL_TRY(hash_tensors(run, model, hash));
    json_t *root = json_object();
    dpl_json_set(&root, METADATA, metadata_to_json(model, hash));
    for (size_t i = 0; root && i < model->n_tensors; i++) {
        dpl_json_set(&root, model->tensor[i].name, tensor_to_json(&model->tensor[i], offset));
        offset += tensor_bytes(&model->tensor[i]);
    }
    dumped = root ? dpl_json_dump(root, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    size_t plain = dumped ? strlen(dumped) : 0, length = (plain + ALIGN - 1) / ALIGN * ALIGN;
    text = dumped ? dpl_alloc(run, length + 1, 1) : NULL;
    if (!text || length > HEADER_MAX) {
        status = text ? dpl_fail(run, DPL_USAGE,
                                 "the model's options and certificate are longer than %d bytes",
                                 HEADER_MAX)
                      : no_memory(run);
        goto done;
    }
    memset(text, ' ', length);
    memcpy(text, dumped, plain);
    DPL_GO(dpl_sha256_hex(run, text, length, hash));
    char *place = find_header_hash(text, length);
    if (!place) {
        status = dpl_fail(run, DPL_USAGE, "the model's options name %s, which is the file's own",
                          HEADER_HASH);
        goto done;
    }
    memcpy(place, hash, 2 * (size_t)DPL_DIGEST);
    *made = text;
    *made_length = length;
    text = NULL;
done:
    dpl_free(text);
    free(dumped);
    json_decref(root);
    return status;
}

enum dpl_status dpl_model_put(struct dpl_run *run, const struct dpl_model *model,
                              struct dpl_file *file) {
    enum dpl_status status;
    char *header = NULL;
    size_t length = 0, n_bytes = 0;
    uint8_t prefix[LENGTH_BYTES], *bytes = NULL;
    DPL_TRY(header_text(run, model, &header, &length));
    for (int i = 0; i < LENGTH_BYTES; i++) prefix[i] = (uint8_t)(length >> (8 * i));
    DPL_GO(dpl_file_write(file, prefix, sizeof prefix));
    DPL_GO(dpl_file_write(file, header, length));
    DPL_GO(gather(run, model, &bytes, &n_bytes));
    status = dpl_file_write(file, bytes, n_bytes);
done:
    dpl_free(bytes);
    dpl_free(header);
    return status;
}

enum dpl_status dpl_model_write(struct dpl_run *run, const struct dpl_model *model,
                                const char *path, bool overwrite) {
    dpl_run_begin(run);
    struct dpl_file *file = NULL;
    const struct dpl_file_options options = {.overwrite = overwrite, .mark = DPL_MODEL_MARK};
    DPL_TRY(dpl_file_create(run, path, &options, &file));
    enum dpl_status status = dpl_model_put(run, model, file);
    if (status == DPL_OK) return dpl_file_commit(file);
    dpl_file_abort(file);
    return status;
}

/* ---- reading ---- */

/* A file being read: what is wrong with it is said with its name in front. */
struct reading {
    struct dpl_run *run;
    const char *path;
    int fd;
    size_t size;  /* of the file */
    char *header; /* (header_length + 1) */
    size_t header_length;
    json_t *root, *metadata; /* metadata is borrowed from root */
    struct dpl_model *model;
};

static enum dpl_status bad(const struct reading *r, const char *what) {
    return dpl_fail(r->run, DPL_BAD_DATA, "%s: %s", r->path, what);
}

static enum dpl_status read_exactly(const struct reading *r, void *into, size_t length,
                                    size_t from) {
    uint8_t *next = into;
    while (length > 0) {
        ssize_t got = pread(r->fd, next, length, (off_t)from);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return dpl_fail_errno(r->run, DPL_SYSTEM, "%s: cannot read", r->path);
        if (got == 0) return bad(r, "the file became shorter while it was read");
        next += got;
        from += (size_t)got;
        length -= (size_t)got;
    }
    return DPL_OK;
}

static enum dpl_status open_file(struct reading *r) {
    struct stat info;
    r->fd = open(r->path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0) return dpl_fail_errno(r->run, DPL_SYSTEM, "%s: cannot open", r->path);
    if (fstat(r->fd, &info) != 0)
        return dpl_fail_errno(r->run, DPL_SYSTEM, "%s: cannot read", r->path);
    if (!S_ISREG(info.st_mode)) return bad(r, "not a file (a model is read from a file on disk)");
    r->size = (size_t)info.st_size;
    return DPL_OK;
}

static enum dpl_status read_header(struct reading *r) {
    uint8_t prefix[LENGTH_BYTES];
    uint64_t length = 0;
    if (r->size < LENGTH_BYTES + 2) return bad(r, "too short for a model file; was it cut?");
    DPL_TRY(read_exactly(r, prefix, sizeof prefix, 0));
    for (int i = 0; i < LENGTH_BYTES; i++) length |= (uint64_t)prefix[i] << (8 * i);
    if (length > HEADER_MAX)
        return dpl_fail(r->run, DPL_BAD_DATA,
                        "%s: not a model file: its header would be %" PRIu64
                        " bytes long (at most %d)",
                        r->path, length, HEADER_MAX);
    if (length > r->size - LENGTH_BYTES)
        return bad(r, "the file ends within its header; it was cut");
    r->header_length = (size_t)length;
    r->header = dpl_alloc(r->run, r->header_length + 1, 1);
    if (!r->header) return DPL_SYSTEM;
    return read_exactly(r, r->header, r->header_length, LENGTH_BYTES);
}

static enum dpl_status meta_text(const struct reading *r, const char *name, const char **text) {
    *text = json_string_value(json_object_get(r->metadata, name));
    return *text
               ? DPL_OK
               : dpl_fail(r->run, DPL_BAD_DATA,
                          "%s: not a dploc model: its metadata has no text \"%s\"", r->path, name);
}

static enum dpl_status meta_number(const struct reading *r, const char *name, int64_t least,
                                   int64_t most, int64_t *number) {
    const char *text;
    char *end;
    DPL_TRY(meta_text(r, name, &text));
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < least || value > most)
        return dpl_fail(r->run, DPL_BAD_DATA,
                        "%s: \"%s\" is not a whole number from %" PRId64 " to %" PRId64, r->path,
                        name, least, most);
    *number = value;
    return DPL_OK;
}

static enum dpl_status meta_flag(const struct reading *r, const char *name, bool *flag) {
    const char *text;
    DPL_TRY(meta_text(r, name, &text));
    *flag = !strcmp(text, "true");
    return *flag || !strcmp(text, "false")
               ? DPL_OK
               : dpl_fail(r->run, DPL_BAD_DATA, "%s: \"%s\" is neither true nor false", r->path,
                          name);
}

/* An object within a text; caller frees with json_decref. */
static enum dpl_status meta_object(const struct reading *r, const char *name, json_t **object) {
    const char *text;
    DPL_TRY(meta_text(r, name, &text));
    DPL_TRY(dpl_json_parse(r->run, text, strlen(text), JSON_REJECT_DUPLICATES, NULL, object));
    if (json_is_object(*object)) return DPL_OK;
    json_decref(*object);
    *object = NULL;
    return dpl_fail(r->run, DPL_BAD_DATA, "%s: \"%s\" is not a JSON object", r->path, name);
}

/* Version before hash: a newer version may hash otherwise, and its reader deserves the better
 * sentence. */
static enum dpl_status parse_header(struct reading *r) {
    const char *format;
    int64_t version;
    DPL_TRY(dpl_json_parse(r->run, r->header, r->header_length, JSON_REJECT_DUPLICATES, NULL,
                           &r->root));
    if (!json_is_object(r->root))
        return bad(r, "not a model file, or damaged: its header is not a JSON object");
    r->metadata = json_object_get(r->root, METADATA);
    if (!json_is_object(r->metadata))
        return bad(r, "a safetensors file without metadata, not a dploc model");
    DPL_TRY(meta_text(r, "format", &format));
    if (strcmp(format, FORMAT)) return bad(r, "a safetensors file, but not a dploc model");
    DPL_TRY(meta_number(r, "version", 1, INT32_MAX, &version));
    if (version > VERSION)
        return dpl_fail(r->run, DPL_BAD_DATA,
                        "%s: a model of version %" PRId64
                        "; this program reads up to version %d (use a newer dploc)",
                        r->path, version, VERSION);
    return DPL_OK;
}

static enum dpl_status check_header_hash(struct reading *r) {
    char claimed[DPL_DIGEST_HEX] = "", found[DPL_DIGEST_HEX];
    char *place = find_header_hash(r->header, r->header_length);
    if (!place)
        return bad(r, "its header has no hash of its own; the file is damaged or was rewritten by "
                      "another program");
    memcpy(claimed, place, 2 * (size_t)DPL_DIGEST);
    memset(place, '0', 2 * (size_t)DPL_DIGEST);
    DPL_TRY(dpl_sha256_hex(r->run, r->header, r->header_length, found));
    if (strcmp(claimed, found))
        return bad(r, "its header does not match its hash; the file is damaged or was edited");
    return DPL_OK;
}

static enum dpl_status number_of(const struct reading *r, json_t *object, const char *name,
                                 double *number) {
    json_t *value = json_object_get(object, name);
    if (!json_is_number(value))
        return dpl_fail(r->run, DPL_BAD_DATA, "%s: the grid has no number \"%s\"", r->path, name);
    *number = json_number_value(value);
    return DPL_OK;
}

static enum dpl_status whole_of(const struct reading *r, json_t *object, const char *name,
                                int *number) {
    json_t *value = json_object_get(object, name);
    json_int_t whole = json_integer_value(value);
    if (!json_is_integer(value) || whole < INT32_MIN || whole > INT32_MAX)
        return dpl_fail(r->run, DPL_BAD_DATA, "%s: the grid has no whole number \"%s\"", r->path,
                        name);
    *number = (int)whole;
    return DPL_OK;
}

static enum dpl_status parse_grid(struct reading *r, struct dpl_grid *grid) {
    enum dpl_status status;
    struct dpl_area area = dpl_area_defaults();
    json_t *object = NULL;
    int columns, rows;
    DPL_TRY(meta_object(r, "grid", &object));
    DPL_GO(number_of(r, object, "south_deg", &area.south_deg));
    DPL_GO(number_of(r, object, "west_deg", &area.west_deg));
    DPL_GO(number_of(r, object, "north_deg", &area.north_deg));
    DPL_GO(number_of(r, object, "east_deg", &area.east_deg));
    DPL_GO(number_of(r, object, "cell_m", &area.cell_m));
    DPL_GO(number_of(r, object, "speed_limit_kmh", &area.speed_limit_kmh));
    DPL_GO(whole_of(r, object, "slot_s", &area.slot_s));
    DPL_GO(whole_of(r, object, "periods", &area.periods));
    DPL_GO(whole_of(r, object, "columns", &columns));
    DPL_GO(whole_of(r, object, "rows", &rows));
    const char *zone = json_string_value(json_object_get(object, "zone"));
    if (!zone || strlen(zone) >= sizeof area.zone) {
        status = bad(r, "the grid has no time zone");
        goto done;
    }
    strcpy(area.zone, zone);
    status = dpl_grid_make(r->run, &area, grid);
    if (status == DPL_USAGE) status = DPL_BAD_DATA; // the grid's sentence says what makes no sense
    if (status == DPL_OK && (grid->columns != columns || grid->rows != rows))
        status = bad(r, "its grid has another number of cells than its box implies");
done:
    json_decref(object);
    return status;
}

static enum dpl_status parse_metadata(struct reading *r) {
    const char *method;
    struct dpl_grid grid;
    int64_t length_max, trips;
    bool private;
    DPL_TRY(meta_text(r, "method", &method));
    if (strlen(method) == 0 || strlen(method) >= sizeof r->model->method)
        return bad(r, "its method has no possible name");
    DPL_TRY(parse_grid(r, &grid));
    DPL_TRY(dpl_model_new(r->run, method, &grid, &r->model));
    DPL_TRY(meta_number(r, "length_max", 2, LENGTH_MAX, &length_max));
    DPL_TRY(meta_number(r, "trips_estimated", 1, TRIPS_MAX, &trips));
    DPL_TRY(meta_flag(r, "per_user", &r->model->per_user));
    DPL_TRY(meta_flag(r, "has_time", &r->model->has_time));
    DPL_TRY(meta_flag(r, "private", &private));
    r->model->length_max = (int32_t)length_max;
    r->model->trips_estimated = trips;
    r->model->not_private = !private;
    json_decref(r->model->options);
    json_decref(r->model->certificate);
    json_decref(r->model->noised);
    r->model->options = r->model->certificate = r->model->noised = NULL;
    DPL_TRY(meta_object(r, "options", &r->model->options));
    DPL_TRY(meta_object(r, "noised", &r->model->noised));
    return meta_object(r, "certificate", &r->model->certificate);
}

static enum dpl_status parse_shape(const struct reading *r, const char *name, json_t *shape,
                                   int *rank, size_t dimension[DPL_TENSOR_RANK]) {
    size_t i, n = json_array_size(shape);
    json_t *item;
    if (!json_is_array(shape) || n < 1 || n > DPL_TENSOR_RANK)
        return dpl_fail(r->run, DPL_BAD_DATA,
                        "%s: tensor '%.60s' has no shape of 1 to %d dimensions", r->path, name,
                        DPL_TENSOR_RANK);
    json_array_foreach(shape, i, item) {
        if (!json_is_integer(item) || json_integer_value(item) < 0 ||
            (uint64_t)json_integer_value(item) > r->size)
            return dpl_fail(r->run, DPL_BAD_DATA,
                            "%s: tensor '%.60s' has a dimension that the file has no room for",
                            r->path, name);
        dimension[i] = (size_t)json_integer_value(item);
    }
    *rank = (int)n;
    return DPL_OK;
}

/* One tensor, which must begin at *offset (no gaps, no overlaps) and lie within the file. */
static enum dpl_status read_tensor(struct reading *r, const char *name, json_t *entry,
                                   size_t *offset) {
    size_t shape[DPL_TENSOR_RANK] = {0}, elements;
    int rank = 0, type = 0;
    void *data;
    json_int_t begin, end;
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    while (type < N_TYPES && (!dtype || strcmp(dtype, TYPES[type].name))) type++;
    if (type == N_TYPES)
        return dpl_fail(r->run, DPL_BAD_DATA,
                        "%s: tensor '%.60s' is of a type that models do not have", r->path, name);
    DPL_TRY(parse_shape(r, name, json_object_get(entry, "shape"), &rank, shape));
    json_t *offsets = json_object_get(entry, "data_offsets");
    if (json_array_size(offsets) != 2 || !json_is_integer(json_array_get(offsets, 0)) ||
        !json_is_integer(json_array_get(offsets, 1)))
        return dpl_fail(r->run, DPL_BAD_DATA, "%s: tensor '%.60s' has no data_offsets", r->path,
                        name);
    begin = json_integer_value(json_array_get(offsets, 0));
    end = json_integer_value(json_array_get(offsets, 1));
    size_t room = r->size - LENGTH_BYTES - r->header_length;
    if (begin < 0 || end < begin || (uint64_t)end > room)
        return dpl_fail(
            r->run, DPL_BAD_DATA,
            "%s: tensor '%.60s' reaches beyond the end of the file; it was cut, or claims too much",
            r->path, name);
    if ((size_t)begin != *offset)
        return dpl_fail(r->run, DPL_BAD_DATA,
                        "%s: tensor '%.60s' overlaps another one, or leaves a gap", r->path, name);
    if (!elements_of(rank, shape, &elements) || elements > room / TYPES[type].bytes ||
        elements * TYPES[type].bytes != (size_t)(end - begin))
        return dpl_fail(r->run, DPL_BAD_DATA, "%s: tensor '%.60s' has another size than its shape",
                        r->path, name);
    enum dpl_status status =
        dpl_model_add(r->run, r->model, name, (enum dpl_tensor_type)type, rank, shape, &data);
    if (status != DPL_OK) return status == DPL_USAGE ? DPL_BAD_DATA : status;
    *offset = (size_t)end;
    DPL_TRY(read_exactly(r, data, elements * TYPES[type].bytes,
                         LENGTH_BYTES + r->header_length + (size_t)begin));
    turn_bytes(data, &r->model->tensor[r->model->n_tensors - 1]);
    return DPL_OK;
}

static enum dpl_status read_tensors(struct reading *r) {
    const char *name, *claimed;
    json_t *entry;
    size_t offset = 0;
    char found[DPL_DIGEST_HEX];
    json_object_foreach(r->root, name, entry) {
        if (strcmp(name, METADATA)) DPL_TRY(read_tensor(r, name, entry, &offset));
    }
    if (offset != r->size - LENGTH_BYTES - r->header_length)
        return bad(r, "there are bytes behind its last tensor; it is damaged");
    DPL_TRY(meta_text(r, "sha256", &claimed));
    DPL_TRY(hash_tensors(r->run, r->model, found));
    if (strcmp(claimed, found))
        return bad(r, "its tensors do not match their hash; the file is damaged or was edited");
    return DPL_OK;
}

static bool all_finite(const struct dpl_tensor *tensor) {
    size_t n = tensor_bytes(tensor) / TYPES[tensor->type].bytes;
    const float *narrow = tensor->data;
    const double *wide = tensor->data;
    for (size_t i = 0; i < n; i++)
        if ((tensor->type == DPL_TENSOR_F32 && !isfinite(narrow[i])) ||
            (tensor->type == DPL_TENSOR_F64 && !isfinite(wide[i])))
            return false;
    return true;
}

/* Squares of 1, 2, 4, ... cells, each where squares of its side lie. */
static enum dpl_status check_sides(const struct reading *r) {
    const struct dpl_model *model = r->model;
    const struct dpl_tensor *sides = find_tensor(model, "sides");
    if (!sides) return DPL_OK;
    if (!model->side || sides->shape[0] != (size_t)model->n_cells)
        return bad(r, "its sides are not one for each place");
    for (int32_t i = 0; i < model->n_cells; i++) {
        int32_t side = model->side[i], columns = model->grid.columns, cell = model->cell[i];
        if (side < 1 || (side & (side - 1)) != 0 || cell / columns % side != 0 ||
            cell % columns % side != 0)
            return bad(r, "its sides are not those of squares of 1, 2, 4 ... cells");
    }
    return DPL_OK;
}

/* What every method relies on. */
static enum dpl_status check_cells(const struct reading *r) {
    const struct dpl_model *model = r->model;
    if (!model->cell || model->n_cells < 1) return bad(r, "it names no cells");
    for (int32_t i = 0; i < model->n_cells; i++) {
        int32_t cell = model->cell[i];
        if (cell < 0 || cell >= dpl_grid_cells(&model->grid) ||
            (i > 0 && cell <= model->cell[i - 1]))
            return bad(r, "its cells are not rising numbers of cells of its grid");
    }
    DPL_TRY(check_sides(r));
    for (size_t t = 0; t < model->n_tensors; t++)
        if (!all_finite(&model->tensor[t]))
            return dpl_fail(r->run, DPL_BAD_DATA,
                            "%s: tensor '%s' holds a number that is not finite", r->path,
                            model->tensor[t].name);
    return DPL_OK;
}

enum dpl_status dpl_model_read(struct dpl_run *run, const char *path, struct dpl_model **model) {
    dpl_run_begin(run);
    enum dpl_status status;
    struct reading r = {.run = run, .path = path, .fd = -1};
    DPL_GO(open_file(&r));
    DPL_GO(read_header(&r));
    DPL_GO(parse_header(&r));
    DPL_GO(check_header_hash(&r));
    DPL_GO(parse_metadata(&r));
    DPL_GO(read_tensors(&r));
    DPL_GO(check_cells(&r));
    *model = r.model;
    r.model = NULL;
done:
    dpl_model_free(r.model);
    json_decref(r.root);
    dpl_free(r.header);
    if (r.fd >= 0) close(r.fd);
    return status;
}
