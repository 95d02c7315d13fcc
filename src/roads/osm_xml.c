/* OpenStreetMap's XML, as much of it as roads need. See osm_xml.h.
 *
 *     <osm> <node id="1" lat="48.1" lon="11.5"/> ...
 *           <way id="7"> <nd ref="1"/> <nd ref="2"/> <tag k="highway" v="primary"/> </way> </osm>
 *
 * The file is read through a window that holds at least one whole element, a '<' up to its '>'.
 * Text between elements, comments, relations and what else there may be is passed over.
 *
 * Invariants: an element is at most ELEMENT_MAX bytes long, a way's nodes and tags what the format
 * allows in the other reader's block; a file that does not end with its own end is refused. */
#include "roads/osm_xml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WINDOW = 256 << 10, ELEMENT_MAX = 1 << 20, WAY_MAX = 32 << 20, NUMBER_ROOM = 40 };

struct xml {
    struct blob_file *file;
    const struct pbf_sink *sink;
    size_t begin, end; /* of what is unread in file->packed */
    bool in_way, ended;
    int64_t way_id;
    int64_t *ref;
    size_t n_refs, ref_capacity;
    struct pbf_tag *tag;
    size_t n_tags, tag_capacity, used; /* used: of file->room, by keys and values */
};

static enum dpl_status bad(const struct xml *x, const char *what) {
    uint64_t at = x->file->offset - (x->end - x->begin);
    return dpl_fail(x->file->run, DPL_BAD_DATA,
                    "%s: near byte %llu: %s (is the download complete? fetch the .osm again)",
                    x->file->path, (unsigned long long)at, what);
}

/* ---- elements ---- */

/* More of the file behind what is unread; *more is false at its end. */
static enum dpl_status refill(struct xml *x, bool *more) {
    struct blob_file *file = x->file;
    if (x->end > x->begin) memmove(file->packed, file->packed + x->begin, x->end - x->begin);
    x->end -= x->begin, x->begin = 0;
    DPL_TRY(dpl_check_interrupt(file->run));
    DPL_TRY(dpl_grow(file->run, &file->packed, &file->packed_capacity, x->end + WINDOW, 1));
    ssize_t got;
    do got = pread(file->fd, file->packed + x->end, WINDOW, (off_t)file->offset);
    while (got < 0 && errno == EINTR);
    if (got < 0) return dpl_fail_errno(file->run, DPL_SYSTEM, "%s: cannot read", file->path);
    x->end += (size_t)got, file->offset += (uint64_t)got;
    *more = got > 0;
    return DPL_OK;
}

/* How long the element at the beginning of the window is, 0: it is not whole. Quotes may hold a
 * '>', and a comment anything but its end. */
static size_t element_length(const char *text, size_t length) {
    if (length >= 4 && !memcmp(text, "<!--", 4)) {
        const char *end = memmem(text + 4, length - 4, "-->", 3);
        return end ? (size_t)(end - text) + 3 : 0;
    }
    char quote = '\0';
    for (size_t i = 1; i < length; i++) {
        if (quote ? text[i] == quote : text[i] == '"' || text[i] == '\'')
            quote = quote ? '\0' : text[i];
        else if (!quote && text[i] == '>')
            return i + 1;
    }
    return 0;
}

/* The next element, borrowed until the next call; its length is 0 at the end of the file. */
static enum dpl_status next_element(struct xml *x, struct pbf_text *element) {
    bool more = true;
    for (;;) {
        const char *text = (const char *)x->file->packed, *start = NULL; // no text before the first
        if (x->end > x->begin) start = memchr(text + x->begin, '<', x->end - x->begin);
        x->begin = start ? (size_t)(start - text) : x->end;
        size_t left = x->end - x->begin, length = start ? element_length(start, left) : 0;
        if (length > 0) {
            *element = (struct pbf_text){start, length};
            x->begin += length;
            return DPL_OK;
        }
        if (left > ELEMENT_MAX) return bad(x, "an element is longer than 1 MiB");
        if (!more && left > 0) return bad(x, "the file ends within an element");
        *element = (struct pbf_text){NULL, 0};
        if (!more) return DPL_OK;
        DPL_TRY(refill(x, &more));
    }
}

static bool is_name(char c) { return c > ' ' && !strchr("=/>\"'<", c); }

/* The value of an attribute, between its quotes; no bytes when there is none. */
static struct pbf_text attribute(struct pbf_text element, const char *name) {
    const char *at = element.bytes + 1, *end = element.bytes + element.length - 1;
    size_t length = strlen(name);
    while (at < end && is_name(*at)) at++; // the element's own name
    while (at < end) {
        while (at < end && !is_name(*at)) at++;
        const char *begin = at;
        while (at < end && is_name(*at)) at++;
        bool found = (size_t)(at - begin) == length && !memcmp(begin, name, length);
        while (at < end && *at != '"' && *at != '\'' && !is_name(*at)) at++;
        if (at >= end || is_name(*at)) continue; // it has no value
        const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
        if (!close) break;
        if (found) return (struct pbf_text){at + 1, (size_t)(close - at - 1)};
        at = close + 1;
    }
    return (struct pbf_text){NULL, 0};
}

static bool opens(struct pbf_text element, const char *name) {
    size_t length = strlen(name);
    return element.length > length + 1 && !memcmp(element.bytes + 1, name, length) &&
           !is_name(element.bytes[1 + length]);
}

static bool closes(struct pbf_text element, const char *name) {
    size_t length = strlen(name);
    return element.length > length + 2 && element.bytes[1] == '/' &&
           !memcmp(element.bytes + 2, name, length) && !is_name(element.bytes[2 + length]);
}

static bool is_empty(struct pbf_text element) {
    return element.length > 2 && element.bytes[element.length - 2] == '/';
}

/* ---- values ---- */

static enum dpl_status get_whole(const struct xml *x, struct pbf_text element, const char *name,
                                 int64_t *number) {
    struct pbf_text text = attribute(element, name);
    char digits[NUMBER_ROOM] = "", *end = NULL;
    if (text.length > 0 && text.length < sizeof digits) memcpy(digits, text.bytes, text.length);
    errno = 0;
    *number = strtoll(digits, &end, 10);
    if (end == digits || *end || errno) return bad(x, "an id is not a whole number");
    return DPL_OK;
}

static enum dpl_status get_degrees(const struct xml *x, struct pbf_text element, const char *name,
                                   double most, double *degrees) {
    struct pbf_text text = attribute(element, name);
    char digits[NUMBER_ROOM] = "", *end = NULL;
    if (text.length > 0 && text.length < sizeof digits) memcpy(digits, text.bytes, text.length);
    *degrees = strtod(digits, &end);
    if (end == digits || *end || !(*degrees >= -most && *degrees <= most))
        return bad(x, "a node's latitude or longitude is none");
    return DPL_OK;
}

/* The character that an entity stands for, if it is one that tags of roads have; *length: how much
 * of the text it takes. */
static char entity(const char *text, size_t left, size_t *length) {
    static const struct {
        const char *name;
        char means;
    } KNOWN[] = {{"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&lt;", '<'}, {"&gt;", '>'}};
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        *length = strlen(KNOWN[i].name);
        if (*length <= left && !memcmp(text, KNOWN[i].name, *length)) return KNOWN[i].means;
    }
    *length = 1;
    return *text;
}

/* Copies a key or value into file->room, with entities put in. */
static enum dpl_status keep_text(struct xml *x, struct pbf_text text, struct pbf_text *kept) {
    struct blob_file *file = x->file;
    DPL_TRY(dpl_grow(file->run, &file->room, &file->room_capacity, x->used + text.length + 1, 1));
    char *to = (char *)file->room + x->used;
    size_t n = 0;
    for (size_t i = 0, length; i < text.length; i += length)
        to[n++] = entity(text.bytes + i, text.length - i, &length);
    *kept = (struct pbf_text){NULL, n}; // its bytes may move until the way is whole
    x->used += n;
    return x->used <= WAY_MAX ? DPL_OK : bad(x, "a way has more tags than can be");
}

/* ---- nodes and ways ---- */

static enum dpl_status take_node(struct xml *x, struct pbf_text element) {
    struct pbf_text visible = attribute(element, "visible");
    double lat_deg, lon_deg;
    int64_t id;
    if (!x->sink->node || dpl_pbf_is(&visible, "false")) return DPL_OK;
    DPL_TRY(get_whole(x, element, "id", &id));
    DPL_TRY(get_degrees(x, element, "lat", 90, &lat_deg));
    DPL_TRY(get_degrees(x, element, "lon", 180, &lon_deg));
    return x->sink->node(x->sink->user, id, lat_deg, lon_deg);
}

static enum dpl_status begin_way(struct xml *x, struct pbf_text element) {
    if (x->in_way) return bad(x, "a way begins within a way");
    x->in_way = !is_empty(element);
    x->n_refs = x->n_tags = x->used = 0;
    return get_whole(x, element, "id", &x->way_id);
}

static enum dpl_status add_ref(struct xml *x, struct pbf_text element) {
    if (x->n_refs >= WAY_MAX / sizeof *x->ref) return bad(x, "a way has more nodes than can be");
    DPL_TRY(dpl_grow(x->file->run, &x->ref, &x->ref_capacity, x->n_refs + 1, sizeof *x->ref));
    return get_whole(x, element, "ref", &x->ref[x->n_refs++]);
}

static enum dpl_status add_tag(struct xml *x, struct pbf_text element) {
    DPL_TRY(dpl_grow(x->file->run, &x->tag, &x->tag_capacity, x->n_tags + 1, sizeof *x->tag));
    struct pbf_tag *tag = &x->tag[x->n_tags++];
    DPL_TRY(keep_text(x, attribute(element, "k"), &tag->key));
    return keep_text(x, attribute(element, "v"), &tag->value);
}

static enum dpl_status end_way(struct xml *x) {
    if (!x->in_way) return bad(x, "a way ends that has not begun");
    x->in_way = false;
    const char *at = (const char *)x->file->room;
    for (size_t i = 0; i < x->n_tags; i++) {
        x->tag[i].key.bytes = at, at += x->tag[i].key.length;
        x->tag[i].value.bytes = at, at += x->tag[i].value.length;
    }
    const struct pbf_way way = {
        .id = x->way_id, .ref = x->ref, .n_refs = x->n_refs, .tag = x->tag, .n_tags = x->n_tags};
    return x->sink->way(x->sink->user, &way);
}

static enum dpl_status take_way_part(struct xml *x, struct pbf_text element) {
    if (opens(element, "way")) return begin_way(x, element);
    if (closes(element, "way")) return end_way(x);
    if (x->in_way && opens(element, "nd")) return add_ref(x, element);
    if (x->in_way && opens(element, "tag")) return add_tag(x, element);
    return DPL_OK;
}

static enum dpl_status read_elements(struct xml *x) {
    bool begun = false;
    for (;;) {
        struct pbf_text element;
        DPL_TRY(next_element(x, &element));
        if (!element.length) break;
        begun |= opens(element, "osm");
        x->ended |= closes(element, "osm");
        if (opens(element, "node")) DPL_TRY(take_node(x, element));
        if (x->sink->way) DPL_TRY(take_way_part(x, element));
    }
    if (!begun) return bad(x, "this is XML, but not OpenStreetMap's");
    return x->ended ? DPL_OK : bad(x, "the file has no end");
}

enum dpl_status dpl_osm_xml_read(struct blob_file *file, const struct pbf_sink *sink) {
    struct xml x = {.file = file, .sink = sink};
    dpl_blob_rewind(file);
    enum dpl_status status = read_elements(&x);
    dpl_free(x.ref);
    dpl_free(x.tag);
    return status;
}
