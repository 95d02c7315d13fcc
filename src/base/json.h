/* JSON that somebody else wrote, and what went wrong with it: the text, or the memory. */
#ifndef DPL_BASE_JSON_H
#define DPL_BASE_JSON_H

#include <jansson.h>

#include "base/base.h"

/* Parses a text. DPL_OK with *object NULL: it is not JSON, and `error` (may be NULL) says why.
 * DPL_SYSTEM: there was no memory; the text may be as good as any. */
enum dpl_status dpl_json_parse(struct dpl_run *run, const char *text, size_t length, size_t flags,
                               json_error_t *error, json_t **object);

/* The object as a text, which the caller frees with free; NULL: no object, or no memory. Where
 * memory is short while its own text grows, Jansson's json_dumps may lose a member's name. */
char *dpl_json_dump(const json_t *object, size_t flags);

/* Adds a value, which is taken over. What cannot be made whole becomes NULL, as if it could not
 * have been allocated: a list that lacks an item would pass for a shorter one. */
void dpl_json_append(json_t **list, json_t *value);
void dpl_json_set(json_t **object, const char *name, json_t *value);

/* The same with a value that stays its holder's; NULL is none to add. */
void dpl_json_share(json_t **object, const char *name, json_t *value);

/* The same with a text from outside. One that is not UTF-8 is left out: JSON cannot hold it. */
void dpl_json_set_text(json_t **object, const char *name, const char *text);

#endif
