/* A whole number as digits without printf, whose parsing of formats takes longer than the number.
 */
#ifndef DPL_BASE_DIGITS_H
#define DPL_BASE_DIGITS_H

#include <stdint.h>

/* At most 20 bytes at `to`; returns where they end. */
static inline char *put_whole(char *to, int64_t value) {
    char reversed[20];
    int n = 0;
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (value < 0) *to++ = '-';
    do reversed[n++] = (char)('0' + size % 10);
    while ((size /= 10) != 0);
    while (n > 0) *to++ = reversed[--n];
    return to;
}

#endif
