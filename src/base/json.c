/* See json.h. */
#include "base/json.h"

#include <stdlib.h>
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

char *dpl_json_dump(const json_t *object, size_t flags) {
    size_t length = json_dumpb(object, NULL, 0, flags);
    char *text = length > 0 ? malloc(length + 1) : NULL;
    if (!text) return NULL;
    if (json_dumpb(object, text, length, flags) != length) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
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

void dpl_json_share(json_t **object, const char *name, json_t *value) {
    if (value) dpl_json_set(object, name, json_incref(value));
}

/* How many bytes follow a first one; -1: it is none. */
static int bytes_after(unsigned char first) {
    if (first < 0x80) return 0;
    if (first < 0xC2 || first > 0xF4) return -1;
    return first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
}

static bool is_utf8(const char *text) {
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        int more = bytes_after(*at);
        if (more < 0) return false;
        for (; more > 0; more--)
            if ((*++at & 0xC0) != 0x80) return false;
    }
    return true;
}

void dpl_json_set_text(json_t **object, const char *name, const char *text) {
    if (is_utf8(text)) dpl_json_set(object, name, json_string(text));
}
