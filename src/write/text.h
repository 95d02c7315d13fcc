/* Text in the making: a growing buffer, and numbers as digits without printf, whose parsing of
 * formats would take longer than everything else about writing a row. The put_ functions write at
 * `to` and return where it ends. */
#ifndef DPL_WRITE_TEXT_H
#define DPL_WRITE_TEXT_H

#include <string.h>

#include "base/base.h"
#include "base/digits.h"

struct dpl_text {
    char *bytes;
    size_t used, capacity;
};

/* Room for `more` bytes behind what is there; *at is where they go. Then set `used` by
 * dpl_text_end. */
static inline enum dpl_status dpl_text_room(struct dpl_run *run, struct dpl_text *text, size_t more,
                                            char **at) {
    DPL_TRY(dpl_grow(run, &text->bytes, &text->capacity, text->used + more, 1));
    *at = text->bytes + text->used;
    return DPL_OK;
}
static inline void dpl_text_end(struct dpl_text *text, const char *end) {
    text->used = (size_t)(end - text->bytes);
}

static inline char *put_text(char *to, const char *text, size_t length) {
    memcpy(to, text, length);
    return to + length;
}
/* A literal. */
#define PUT(to, literal) put_text(to, literal, sizeof(literal) - 1)

/* Exactly two digits. */
static inline char *put_two(char *to, int value) {
    to[0] = (char)('0' + value / 10);
    to[1] = (char)('0' + value % 10);
    return to + 2;
}

static inline char *put_fixed(char *to, uint32_t value, int digits) {
    for (int i = digits - 1; i >= 0; i--, value /= 10) to[i] = (char)('0' + value % 10);
    return to + digits;
}

/* Millionths of a degree, with all six decimals: 11.500000. */
static inline char *put_udeg(char *to, int32_t udeg) {
    uint32_t size = udeg < 0 ? 0 - (uint32_t)udeg : (uint32_t)udeg, whole = size / 1000000;
    if (udeg < 0) *to++ = '-';
    if (whole >= 100) *to++ = (char)('0' + whole / 100);
    if (whole >= 10) *to++ = (char)('0' + whole / 10 % 10);
    *to++ = (char)('0' + whole % 10);
    *to++ = '.';
    return put_fixed(to, size % 1000000, 6);
}

#endif
