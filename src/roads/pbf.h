/* Nodes and ways of an .osm.pbf file, in file order, one block in memory at a time. Relations and
 * what else may be in the file are passed over. */
#ifndef DPL_ROADS_PBF_H
#define DPL_ROADS_PBF_H

#include "roads/blob.h"

/* Not terminated. */
struct pbf_text {
    const char *bytes;
    size_t length;
};

struct pbf_tag {
    struct pbf_text key, value;
};

/* Borrowed until the callback returns. */
struct pbf_way {
    int64_t id;
    const int64_t *ref; /* (n_refs) ids of its nodes */
    size_t n_refs;
    const struct pbf_tag *tag; /* (n_tags) */
    size_t n_tags;
};

/* Whom to tell; NULL: not interested. A status other than DPL_OK ends the reading with it. */
struct pbf_sink {
    void *user;
    enum dpl_status (*node)(void *user, int64_t id, double lat_deg, double lon_deg);
    enum dpl_status (*way)(void *user, const struct pbf_way *way);
};

/* Reads the whole file, from its beginning. DPL_BAD_DATA for whatever is not as it should be. */
enum dpl_status dpl_pbf_read(struct blob_file *file, const struct pbf_sink *sink);

bool dpl_pbf_is(const struct pbf_text *text, const char *word);
/* The value of a tag; an empty text when there is none. */
struct pbf_text dpl_pbf_tag_of(const struct pbf_way *way, const char *key);

#endif
