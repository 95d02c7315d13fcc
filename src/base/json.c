/* See json.h. */
#include "base/json.h"

#include <string.h>

static bool same_error(const json_error_t *a, const json_error_t *b) {
    return a->text[0] && a->position == b->position && !strcmp(a->text, b->text);
}

/* Where memory is short, Jansson says nothing, or that the text is wrong where it stands. A text
 * that is wrong is so twice, at the same place. */
enum dpl_status dpl_json_parse(struct dpl_run *run, const char *text, size_t length, size_t flags,
                               json_error_t *error, json_t **object) {
    json_error_t first, own;
    if (!error) error = &own;
    *object = json_loadb(text, length, flags, &first);
    if (!*object) *object = json_loadb(text, length, flags, error);
    if (*object || same_error(&first, error)) return DPL_OK;
    return dpl_fail(run, DPL_SYSTEM, "out of memory (to parse %.1f MB of JSON)",
                    (double)length / 1e6);
}

void dpl_json_append(json_t **list, json_t *value) {
    if (json_array_append_new(*list, value) == 0) return;
    json_decref(*list);
    *list = NULL;
}

void dpl_json_set(json_t **object, const char *name, json_t *value) {
    if (json_object_set_new(*object, name, value) == 0) return;
    json_decref(*object);
    *object = NULL;
}
