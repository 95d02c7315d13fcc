/* Numbers from text, quickly and exactly.
 *
 * Coordinates have few digits: the mantissa fits 53 bits and the power of ten is exact, so one
 * division rounds correctly (Clinger's fast path). Everything else goes to strtod. The scanners
 * stop at the first byte that is no part of the number; the text must end in a byte that is none
 * (every line ends in '\n'). */
#ifndef DPL_INGEST_NUMBER_H
#define DPL_INGEST_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

static const double NUMBER_POWERS[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};

/* "-122.39724": digits, at most one point, no exponent, at most 18 digits in all and below 2^53.
 * Returns the end, or NULL where the general reader must look. */
static inline const char *scan_decimal(const char *text, double *value) {
    bool negative = *text == '-';
    text += negative;
    uint64_t mantissa = 0;
    const char *begin = text, *point = 0;
    for (;; text++) {
        unsigned digit = (unsigned)(unsigned char)*text - '0';
        if (digit < 10) mantissa = mantissa * 10 + digit;
        else if (*text == '.' && !point) point = text;
        else break;
    }
    long digits = text - begin - (point != 0), fraction = point ? text - point - 1 : 0;
    if (digits < 1 || digits > 18 || mantissa >= (uint64_t)1 << 53 || *text == 'e' || *text == 'E') return 0;
    double number = (double)mantissa / NUMBER_POWERS[fraction];
    *value = negative ? -number : number;
    return text;
}

/* "1211035870": 1 to 18 digits. */
static inline const char *scan_whole(const char *text, int64_t *value) {
    const char *begin = text;
    int64_t number = 0;
    for (;; text++) {
        unsigned digit = (unsigned)(unsigned char)*text - '0';
        if (digit >= 10) break;
        if (text - begin >= 18) return 0;
        number = number * 10 + digit;
    }
    if (text == begin) return 0;
    *value = number;
    return text;
}

/* Any number in [text, text+length), the whole of it; false when it is none. inf and nan are numbers. */
bool parse_number(const char *text, size_t length, double *value);

#endif
