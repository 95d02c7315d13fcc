/* A map to blocks of at most BLOCK nodes or ways, packed by zlib. See pbf_write.h; the fields
 * are those that pbf.c reads. A message needs its length in front, so each is put together in a
 * buffer of its own: strings, the columns of nodes or one way, the group, the block. */
#include "roads/pbf_write.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"
#include "roads/wire.h"

enum { BLOCK = 8000, TEXTS_MAX = 256 };

struct bytes {
    uint8_t *at;
    size_t used, capacity;
};

struct writing {
    struct dpl_run *run;
    struct dpl_file *file;
    const char *text[TEXTS_MAX]; /* string table of the block; the first is empty */
    size_t n_texts;
    struct bytes column[3], way, group, texts, block, blob;
    bool failed; /* memory was short: the message is set */
};

/* ---- bytes ---- */

static void put(struct writing *w, struct bytes *b, const void *bytes, size_t n) {
    if (w->failed || !n) return;
    w->failed = dpl_grow(w->run, &b->at, &b->capacity, b->used + n, 1) != DPL_OK;
    if (w->failed) return;
    memcpy(b->at + b->used, bytes, n);
    b->used += n;
}

static void put_varint(struct writing *w, struct bytes *b, uint64_t value) {
    uint8_t digits[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7) digits[n++] = (uint8_t)(value | 0x80);
    digits[n++] = (uint8_t)value;
    put(w, b, digits, n);
}

static void put_signed(struct writing *w, struct bytes *b, int64_t value) {
    put_varint(w, b, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_number(struct writing *w, struct bytes *b, uint32_t field, uint64_t value) {
    put_varint(w, b, (uint64_t)field << 3 | WIRE_VARINT);
    put_varint(w, b, value);
}

static void put_field(struct writing *w, struct bytes *b, uint32_t field, const void *bytes,
                      size_t n) {
    put_varint(w, b, (uint64_t)field << 3 | WIRE_BYTES);
    put_varint(w, b, n);
    put(w, b, bytes, n);
}

/* Moves a finished message into another as a field. */
static void put_message(struct writing *w, struct bytes *b, uint32_t field, struct bytes *message) {
    put_field(w, b, field, message->at, message->used);
    message->used = 0;
}

/* ---- blocks ---- */

/* Packs w->block and writes it with its header. */
static enum dpl_status write_block(struct writing *w, const char *type) {
    uLongf packed = compressBound((uLong)w->block.used);
    struct bytes *blob = &w->blob;
    put_number(w, blob, 2, w->block.used);
    if (w->failed) return DPL_SYSTEM;
    DPL_TRY(dpl_grow(w->run, &w->group.at, &w->group.capacity, packed, 1));
    if (compress2(w->group.at, &packed, w->block.at, (uLong)w->block.used, 9) != Z_OK)
        return dpl_fail(w->run, DPL_SYSTEM, "out of memory");
    put_field(w, blob, 3, w->group.at, packed);
    w->block.used = 0;
    put_field(w, &w->block, 1, type, strlen(type));
    put_number(w, &w->block, 3, blob->used);
    if (w->failed) return DPL_SYSTEM;
    uint8_t length[4] = {0, 0, (uint8_t)(w->block.used >> 8), (uint8_t)w->block.used};
    DPL_TRY(dpl_file_write(w->file, length, sizeof length));
    DPL_TRY(dpl_file_write(w->file, w->block.at, w->block.used));
    DPL_TRY(dpl_file_write(w->file, blob->at, blob->used));
    w->block.used = blob->used = 0;
    return DPL_OK;
}

static enum dpl_status write_header(struct writing *w) {
    static const char *const FEATURES[] = {"OsmSchema-V0.6", "DenseNodes"};
    for (size_t i = 0; i < 2; i++) put_field(w, &w->block, 4, FEATURES[i], strlen(FEATURES[i]));
    put_field(w, &w->block, 16, "dploc", 5);
    return write_block(w, "OSMHeader");
}

/* The group is complete: strings, then the group. */
static enum dpl_status write_data(struct writing *w) {
    for (size_t i = 0; i < w->n_texts; i++)
        put_field(w, &w->texts, 1, w->text[i], strlen(w->text[i]));
    put_message(w, &w->block, 1, &w->texts);
    put_message(w, &w->block, 2, &w->group);
    w->n_texts = 1;
    return write_block(w, "OSMData");
}

static enum dpl_status write_nodes(struct writing *w, const struct pbf_map *map, size_t first,
                                   size_t end) {
    int64_t before[3] = {0, 0, 0};
    static const uint32_t FIELD[3] = {1, 8, 9};
    for (size_t i = first; i < end; i++) {
        int64_t now[3] = {(int64_t)i + 1, llround(map->lat_deg[i] * 1e7),
                          llround(map->lon_deg[i] * 1e7)};
        for (int k = 0; k < 3; k++)
            put_signed(w, &w->column[k], now[k] - before[k]), before[k] = now[k];
    }
    for (int k = 0; k < 3; k++) put_message(w, &w->way, FIELD[k], &w->column[k]);
    put_message(w, &w->group, 2, &w->way);
    return write_data(w);
}

/* The place of a text in the block's table. */
static enum dpl_status place_of(struct writing *w, const char *text, uint64_t *place) {
    for (*place = 1; *place < w->n_texts; ++*place)
        if (!strcmp(w->text[*place], text)) return DPL_OK;
    if (w->n_texts == TEXTS_MAX)
        return dpl_fail(w->run, DPL_USAGE, "more than %d different tags", TEXTS_MAX);
    w->text[w->n_texts++] = text;
    return DPL_OK;
}

static enum dpl_status put_way(struct writing *w, const struct pbf_line *line, size_t id) {
    int64_t before = 0;
    for (size_t i = 0; line->tags[i]; i++) {
        uint64_t place;
        DPL_TRY(place_of(w, line->tags[i], &place));
        put_varint(w, &w->column[i % 2], place);
    }
    for (size_t i = 0; i < line->n_refs; i++)
        put_signed(w, &w->column[2], line->ref[i] - before), before = line->ref[i];
    put_number(w, &w->way, 1, id);
    put_message(w, &w->way, 2, &w->column[0]);
    put_message(w, &w->way, 3, &w->column[1]);
    put_message(w, &w->way, 8, &w->column[2]);
    put_message(w, &w->group, 3, &w->way);
    return DPL_OK;
}

static enum dpl_status write_all(struct writing *w, const struct pbf_map *map) {
    w->text[0] = "", w->n_texts = 1;
    DPL_TRY(write_header(w));
    for (size_t first = 0; first < map->n_nodes; first += BLOCK)
        DPL_TRY(write_nodes(w, map, first,
                            first + BLOCK < map->n_nodes ? first + BLOCK : map->n_nodes));
    for (size_t i = 0; i < map->n_lines; i++) {
        DPL_TRY(put_way(w, &map->line[i], i + 1));
        if ((i + 1) % BLOCK == 0 || i + 1 == map->n_lines) DPL_TRY(write_data(w));
    }
    return DPL_OK;
}

enum dpl_status dpl_pbf_write(struct dpl_run *run, const struct pbf_map *map, const char *path,
                              bool overwrite) {
    struct writing w = {.run = run};
    const struct dpl_file_options options = {.overwrite = overwrite};
    struct bytes *const all[] = {&w.column[0], &w.column[1], &w.column[2], &w.way,
                                 &w.group,     &w.texts,     &w.block,     &w.blob};
    enum dpl_status status;
    DPL_GO(dpl_file_create(run, path, &options, &w.file));
    DPL_GO(write_all(&w, map));
    struct dpl_file *file = w.file;
    w.file = NULL;
    status = dpl_file_commit(file);
done:
    dpl_file_abort(w.file);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) dpl_free(all[i]->at);
    return status;
}
