/* The protobuf wire format, as far as .osm.pbf needs it: a message is a run of fields, each a key
 * (number and kind) and a value. No length is believed before it was compared with what is left. */
#ifndef DPL_ROADS_WIRE_H
#define DPL_ROADS_WIRE_H

#include "base/base.h"

enum wire_kind { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* What is left of a message. `bad` is set, and the rest dropped, by the first thing that is wrong,
 * so that a caller may read to the end and look once. */
struct wire {
    const uint8_t *at, *end;
    bool bad;
};

struct wire_field {
    uint32_t number;
    enum wire_kind kind;
    uint64_t value;    /* WIRE_VARINT */
    struct wire bytes; /* WIRE_BYTES */
};

static inline struct wire wire_of(const uint8_t *bytes, size_t length) {
    return (struct wire){.at = bytes, .end = bytes + length};
}

static inline size_t wire_left(const struct wire *w) { return (size_t)(w->end - w->at); }

static inline uint64_t wire_spoil(struct wire *w) {
    w->at = w->end;
    w->bad = true;
    return 0;
}

static inline uint64_t wire_varint(struct wire *w) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (w->at == w->end) return wire_spoil(w);
        uint8_t byte = *w->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) return value;
    }
    return wire_spoil(w); // more than ten bytes
}

/* Signed numbers stand in zigzag form: 0, -1, 1, -2, ... */
static inline int64_t wire_unzigzag(uint64_t value) {
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

static inline int64_t wire_signed(struct wire *w) { return wire_unzigzag(wire_varint(w)); }

static inline void wire_skip(struct wire *w, size_t length) {
    if (length > wire_left(w))
        wire_spoil(w);
    else
        w->at += length;
}

/* The next field; false at the end, and when something is wrong (then w->bad). */
static inline bool wire_next(struct wire *w, struct wire_field *field) {
    if (w->at == w->end) return false;
    uint64_t key = wire_varint(w);
    *field = (struct wire_field){.number = (uint32_t)(key >> 3), .kind = (enum wire_kind)(key & 7)};
    if (key >> 35 || field->number == 0) wire_spoil(w);
    switch (field->kind) {
    case WIRE_VARINT: field->value = wire_varint(w); break;
    case WIRE_FIXED64: wire_skip(w, 8); break;
    case WIRE_FIXED32: wire_skip(w, 4); break;
    case WIRE_BYTES: {
        uint64_t length = wire_varint(w);
        if (w->bad || length > wire_left(w)) {
            wire_spoil(w);
            break;
        }
        field->bytes = wire_of(w->at, (size_t)length);
        w->at += length;
        break;
    }
    default: wire_spoil(w);
    }
    return !w->bad;
}

static inline bool wire_is(const struct wire_field *field, uint32_t number, enum wire_kind kind) {
    return field->number == number && field->kind == kind;
}

#endif
