/* JSON as an island in an HTML page. */
#include "report/island.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put(struct island *island, const char *bytes, size_t length) {
    if (island->status == DPL_OK) island->status = dpl_file_write(island->file, bytes, length);
}

static void begin_value(struct island *island) {
    if (island->comma) put(island, ",", 1);
    island->comma = true;
}

void dpl_island_open(struct island *island, char bracket) {
    begin_value(island);
    put(island, &bracket, 1);
    island->comma = false;
}

void dpl_island_close(struct island *island, char bracket) {
    put(island, &bracket, 1);
    island->comma = true;
}

/* The length of the UTF-8 sequence at `text`, 0 when it is none: continuation bytes, shortest form,
 * no surrogates, up to U+10FFFF. */
static size_t sequence(const unsigned char *text) {
    static const uint32_t LEAST[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = text[0] < 0x80   ? 1
               : text[0] < 0xC0 ? 0
               : text[0] < 0xE0 ? 2
               : text[0] < 0xF0 ? 3
               : text[0] < 0xF8 ? 4
                                : 0;
    if (n < 2) return n;
    uint32_t code = text[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xC0) != 0x80) return 0; // a NUL ends the loop here, too
        code = code << 6 | (text[i] & 0x3F);
    }
    return code < LEAST[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : n;
}

static void put_text(struct island *island, const char *text) {
    char escape[8];
    put(island, "\"", 1);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t n = sequence(at);
        bool plain = n > 1 || (n == 1 && *at >= 0x20 && *at != 0x7F && !strchr("\"\\<>&'", *at));
        if (n == 0)
            put(island, "\\ufffd", 6);
        else if (plain)
            put(island, (const char *)at, n);
        else
            put(island, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", *at));
        at += n ? n : 1;
    }
    put(island, "\"", 1);
}

void dpl_island_key(struct island *island, const char *key) {
    begin_value(island);
    put_text(island, key);
    put(island, ":", 1);
    island->comma = false;
}

void dpl_island_text(struct island *island, const char *text) {
    begin_value(island);
    put_text(island, text);
}

void dpl_island_whole(struct island *island, int64_t value) {
    char text[24];
    begin_value(island);
    put(island, text, (size_t)snprintf(text, sizeof text, "%" PRId64, value));
}

void dpl_island_real(struct island *island, double value) {
    char text[32];
    begin_value(island);
    put(island, text,
        (size_t)snprintf(text, sizeof text, isfinite(value) ? "%.10g" : "null", value));
}

void dpl_island_bool(struct island *island, bool value) {
    begin_value(island);
    put(island, value ? "true" : "false", value ? 4 : 5);
}

void dpl_island_json(struct island *island, const json_t *value) {
    const char *name;
    json_t *item;
    size_t i;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        dpl_island_open(island, '{');
        json_object_foreach((json_t *)value, name, item) {
            dpl_island_key(island, name);
            dpl_island_json(island, item);
        }
        dpl_island_close(island, '}');
        return;
    case JSON_ARRAY:
        dpl_island_open(island, '[');
        json_array_foreach(value, i, item) dpl_island_json(island, item);
        dpl_island_close(island, ']');
        return;
    case JSON_STRING: dpl_island_text(island, json_string_value(value)); return;
    case JSON_INTEGER: dpl_island_whole(island, json_integer_value(value)); return;
    case JSON_REAL: dpl_island_real(island, json_real_value(value)); return;
    case JSON_TRUE: dpl_island_bool(island, true); return;
    case JSON_FALSE: dpl_island_bool(island, false); return;
    case JSON_NULL: dpl_island_real(island, NAN); return;
    }
}
