/* JSON as an island in an HTML page: written piece by piece to a file, safe between <script> tags.
 *
 * Whatever a text holds, the output has no '<', '>', '&' or control character, so no name of a file
 * or column can end the island or begin a comment or tag. Bytes that are not UTF-8 become U+FFFD.
 * Commas come by themselves. Errors stick: the first failure of the file is kept and everything
 * after it is dropped, so callers check once, at the end. */
#ifndef DPL_REPORT_ISLAND_H
#define DPL_REPORT_ISLAND_H

#include <jansson.h>

#include "base/file.h"

struct island {
    struct dpl_file *file;
    enum dpl_status status;
    bool comma; /* the next value needs one before it */
};

void dpl_island_open(struct island *island, char bracket);  /* '{' or '[' */
void dpl_island_close(struct island *island, char bracket); /* '}' or ']' */
void dpl_island_key(struct island *island, const char *key);
void dpl_island_text(struct island *island, const char *text);
void dpl_island_whole(struct island *island, int64_t value);
void dpl_island_real(struct island *island,
                     double value); /* ten digits, as `dploc eval --json`; null unless finite */
void dpl_island_bool(struct island *island, bool value);
/* A value made by jansson, all of it. */
void dpl_island_json(struct island *island, const json_t *value);

#endif
