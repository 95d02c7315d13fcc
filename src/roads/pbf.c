/* Blocks of an .osm.pbf file to nodes and ways. See pbf.h.
 *
 *     PrimitiveBlock  1 string table   2 groups   17 granularity   19, 20 offsets (nanodegrees)
 *     PrimitiveGroup  1 nodes   2 dense nodes   3 ways
 *     DenseNodes      1 ids   8 latitudes   9 longitudes: each the difference to the one before
 *     Way             1 id   2 keys   3 values (places in the string table)   8 refs (differences)
 *
 * A position is 1e-9 * (offset + granularity * number) degrees. Sums of differences wrap around
 * instead of overflowing: hostile ones give wrong numbers, which are then out of range or ids of
 * nodes that do not exist. */
#include "roads/pbf.h"

#include <math.h>
#include <string.h>

#include "roads/wire.h"

struct reading {
    struct blob_file *file;
    const struct pbf_sink *sink;
    struct pbf_text *text; /* (n_texts) string table of the block */
    size_t n_texts, text_capacity;
    int64_t *ref;
    size_t ref_capacity;
    struct pbf_tag *tag;
    size_t tag_capacity;
    double granularity, lat_offset, lon_offset;
};

bool dpl_pbf_is(const struct pbf_text *text, const char *word) {
    return text->length == strlen(word) && !memcmp(text->bytes, word, text->length);
}

struct pbf_text dpl_pbf_tag_of(const struct pbf_way *way, const char *key) {
    for (size_t i = 0; i < way->n_tags; i++)
        if (dpl_pbf_is(&way->tag[i].key, key)) return way->tag[i].value;
    return (struct pbf_text){.bytes = "", .length = 0};
}

static enum dpl_status damaged(struct reading *r) {
    return dpl_blob_fail(r->file, "a length or a number in it makes no sense");
}

/* ---- nodes ---- */

static enum dpl_status give_node(struct reading *r, int64_t id, int64_t lat, int64_t lon) {
    double lat_deg = 1e-9 * (r->lat_offset + r->granularity * (double)lat);
    double lon_deg = 1e-9 * (r->lon_offset + r->granularity * (double)lon);
    if (!(fabs(lat_deg) <= 90 && fabs(lon_deg) <= 180))
        return dpl_blob_fail(r->file, "a node lies outside the Earth's degrees");
    return r->sink->node(r->sink->user, id, lat_deg, lon_deg);
}

/* a + b, wrapping around. */
static int64_t step(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

static enum dpl_status read_dense(struct reading *r, struct wire w) {
    struct wire id = {0}, lat = {0}, lon = {0};
    for (struct wire_field f; wire_next(&w, &f);) {
        if (wire_is(&f, 1, WIRE_BYTES)) id = f.bytes;
        if (wire_is(&f, 8, WIRE_BYTES)) lat = f.bytes;
        if (wire_is(&f, 9, WIRE_BYTES)) lon = f.bytes;
    }
    int64_t at_id = 0, at_lat = 0, at_lon = 0;
    while (wire_left(&id)) {
        at_id = step(at_id, wire_signed(&id));
        at_lat = step(at_lat, wire_signed(&lat));
        at_lon = step(at_lon, wire_signed(&lon));
        if (id.bad || lat.bad || lon.bad) return damaged(r);
        DPL_TRY(give_node(r, at_id, at_lat, at_lon));
    }
    return w.bad || wire_left(&lat) || wire_left(&lon) ? damaged(r) : DPL_OK;
}

static enum dpl_status read_node(struct reading *r, struct wire w) {
    int64_t id = 0, lat = 0, lon = 0;
    for (struct wire_field f; wire_next(&w, &f);) {
        if (wire_is(&f, 1, WIRE_VARINT)) id = wire_unzigzag(f.value);
        if (wire_is(&f, 8, WIRE_VARINT)) lat = wire_unzigzag(f.value);
        if (wire_is(&f, 9, WIRE_VARINT)) lon = wire_unzigzag(f.value);
    }
    return w.bad ? damaged(r) : give_node(r, id, lat, lon);
}

/* ---- ways ---- */

static enum dpl_status read_refs(struct reading *r, struct wire w, struct pbf_way *way) {
    int64_t at = 0;
    // A number takes at least one byte, so this is room for all of them.
    DPL_TRY(dpl_grow(r->file->run, &r->ref, &r->ref_capacity, wire_left(&w) + 1, sizeof *r->ref));
    while (wire_left(&w)) {
        at = step(at, wire_signed(&w));
        if (w.bad) return damaged(r);
        r->ref[way->n_refs++] = at;
    }
    way->ref = r->ref;
    return DPL_OK;
}

static enum dpl_status read_tags(struct reading *r, struct wire keys, struct wire values,
                                 struct pbf_way *way) {
    DPL_TRY(
        dpl_grow(r->file->run, &r->tag, &r->tag_capacity, wire_left(&keys) + 1, sizeof *r->tag));
    while (wire_left(&keys)) {
        uint64_t key = wire_varint(&keys), value = wire_varint(&values);
        if (keys.bad || values.bad || key >= r->n_texts || value >= r->n_texts) return damaged(r);
        r->tag[way->n_tags++] = (struct pbf_tag){r->text[key], r->text[value]};
    }
    way->tag = r->tag;
    return wire_left(&values) ? damaged(r) : DPL_OK;
}

static enum dpl_status read_way(struct reading *r, struct wire w) {
    struct pbf_way way = {0};
    struct wire keys = {0}, values = {0}, refs = {0};
    for (struct wire_field f; wire_next(&w, &f);) {
        if (wire_is(&f, 1, WIRE_VARINT)) way.id = (int64_t)f.value;
        if (wire_is(&f, 2, WIRE_BYTES)) keys = f.bytes;
        if (wire_is(&f, 3, WIRE_BYTES)) values = f.bytes;
        if (wire_is(&f, 8, WIRE_BYTES)) refs = f.bytes;
    }
    if (w.bad) return damaged(r);
    DPL_TRY(read_tags(r, keys, values, &way));
    DPL_TRY(read_refs(r, refs, &way));
    return r->sink->way(r->sink->user, &way);
}

/* ---- blocks ---- */

static enum dpl_status read_group(struct reading *r, struct wire w) {
    enum { NODES = 1, DENSE = 2, WAYS = 3 };
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.kind != WIRE_BYTES) continue;
        if (f.number == NODES && r->sink->node) DPL_TRY(read_node(r, f.bytes));
        if (f.number == DENSE && r->sink->node) DPL_TRY(read_dense(r, f.bytes));
        if (f.number == WAYS && r->sink->way) DPL_TRY(read_way(r, f.bytes));
    }
    return w.bad ? damaged(r) : DPL_OK;
}

static enum dpl_status read_texts(struct reading *r, struct wire w) {
    for (struct wire_field f; wire_next(&w, &f);) {
        if (!wire_is(&f, 1, WIRE_BYTES)) continue;
        DPL_TRY(
            dpl_grow(r->file->run, &r->text, &r->text_capacity, r->n_texts + 1, sizeof *r->text));
        r->text[r->n_texts++] = (struct pbf_text){(const char *)f.bytes.at, wire_left(&f.bytes)};
    }
    return w.bad ? damaged(r) : DPL_OK;
}

/* Twice over the block's fields: the order in which they stand is not fixed. */
static enum dpl_status read_block(struct reading *r, const struct blob *blob) {
    enum { TEXTS = 1, GROUP = 2, GRANULARITY = 17, LAT_OFFSET = 19, LON_OFFSET = 20 };
    struct wire w = wire_of(blob->bytes, blob->length);
    r->n_texts = 0;
    r->granularity = 100, r->lat_offset = r->lon_offset = 0;
    for (struct wire_field f; wire_next(&w, &f);) {
        if (wire_is(&f, TEXTS, WIRE_BYTES)) DPL_TRY(read_texts(r, f.bytes));
        if (wire_is(&f, GRANULARITY, WIRE_VARINT)) r->granularity = (double)(int64_t)f.value;
        if (wire_is(&f, LAT_OFFSET, WIRE_VARINT)) r->lat_offset = (double)(int64_t)f.value;
        if (wire_is(&f, LON_OFFSET, WIRE_VARINT)) r->lon_offset = (double)(int64_t)f.value;
    }
    if (w.bad) return damaged(r);
    w = wire_of(blob->bytes, blob->length);
    for (struct wire_field f; wire_next(&w, &f);)
        if (wire_is(&f, GROUP, WIRE_BYTES)) DPL_TRY(read_group(r, f.bytes));
    return DPL_OK;
}

/* What a reader must know to understand the file is listed in it; we know two such features. */
static enum dpl_status read_header(struct reading *r, const struct blob *blob) {
    enum { REQUIRED = 4 };
    struct wire w = wire_of(blob->bytes, blob->length);
    for (struct wire_field f; wire_next(&w, &f);) {
        if (!wire_is(&f, REQUIRED, WIRE_BYTES)) continue;
        struct pbf_text name = {(const char *)f.bytes.at, wire_left(&f.bytes)};
        if (dpl_pbf_is(&name, "OsmSchema-V0.6") || dpl_pbf_is(&name, "DenseNodes")) continue;
        return dpl_fail(r->file->run, DPL_BAD_DATA,
                        "%s: it wants readers that know \"%.*s\"; this one does not (convert with: "
                        "osmium cat %s -o city.osm.pbf)",
                        r->file->path, (int)(name.length < 64 ? name.length : 64), name.bytes,
                        r->file->path);
    }
    return w.bad ? damaged(r) : DPL_OK;
}

enum dpl_status dpl_pbf_read(struct blob_file *file, const struct pbf_sink *sink) {
    struct reading r = {.file = file, .sink = sink};
    struct blob blob = {0};
    enum dpl_status status;
    bool done = false;
    dpl_blob_rewind(file);
    for (;;) {
        DPL_GO(dpl_blob_next(file, &blob, &done));
        if (done) break;
        DPL_GO(blob.header ? read_header(&r, &blob) : read_block(&r, &blob));
    }
done:
    dpl_free(r.text);
    dpl_free(r.ref);
    dpl_free(r.tag);
    return status;
}
