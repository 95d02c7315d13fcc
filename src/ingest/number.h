/* Numbers from text, quickly and exactly.
 *
 * Coordinates have few digits: the mantissa fits 53 bits and the power of ten is exact, so one
 * division rounds correctly (Clinger's fast path). Everything else goes to strtod. Digits are taken
 * eight at a time. The scanners stop at the first byte that is no part of the number; the text must
 * end in a byte that is no digit (every line ends in '\n'), and NUMBER_PADDING bytes behind that
 * must be readable. */
#ifndef DPL_INGEST_NUMBER_H
#define DPL_INGEST_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { NUMBER_PADDING = 8, NUMBER_DIGITS = 18 };

static const uint64_t NUMBER_TENS[] = {1,      10,      100,      1000,     10000,
                                       100000, 1000000, 10000000, 100000000};
static const double NUMBER_POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                       1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};

/* Up to eight digits at text: how many, and their value. */
static inline unsigned take_digits(const char *text, uint64_t *value) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t chunk;
    memcpy(&chunk, text, sizeof chunk);
    // The high bit of a byte is set where it is no digit; a carry can only disturb later bytes.
    uint64_t other =
        ((chunk + 0x4646464646464646u) | (chunk - 0x3030303030303030u)) & 0x8080808080808080u;
    unsigned count = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
    if (!count) return 0;
    chunk <<= 8 * (8 - count); // the digits move to the end, zeros fill up in front
    chunk = (chunk & 0x0F0F0F0F0F0F0F0Fu) * 2561 >> 8;
    chunk = (chunk & 0x00FF00FF00FF00FFu) * 6553601 >> 16;
    *value = (chunk & 0x0000FFFF0000FFFFu) * 42949672960001 >> 32;
    return count;
#else
    unsigned count = 0;
    for (*value = 0; count < 8 && text[count] >= '0' && text[count] <= '9'; count++)
        *value = *value * 10 + (uint64_t)(text[count] - '0');
    return count;
#endif
}

/* A run of digits, one by one; *value continues from what it holds. For the short parts of numbers.
 */
static inline const char *scan_few_digits(const char *text, uint64_t *value) {
    for (unsigned digit; (digit = (unsigned)(unsigned char)*text - '0') < 10; text++)
        *value = *value * 10 + digit;
    return text;
}

/* The same, for parts that are usually longer. */
static inline const char *scan_digits(const char *text, uint64_t *value) {
    uint64_t part = 0;
    unsigned count = take_digits(text, &part);
    *value = *value * NUMBER_TENS[count] + part;
    return count < 8 ? text + count : scan_few_digits(text + count, value);
}

/* "-122.39724": digits, at most one point, no exponent, at most 18 digits in all and below 2^53.
 * Returns the end, or NULL where the general reader must look. */
static inline const char *scan_decimal(const char *text, double *value) {
    bool negative = *text == '-';
    text += negative;
    uint64_t mantissa = 0;
    const char *end = scan_few_digits(text, &mantissa);
    ptrdiff_t whole = end - text, fraction = 0;
    if (*end == '.') {
        const char *point = end;
        end = scan_digits(point + 1, &mantissa);
        fraction = end - point - 1;
    }
    ptrdiff_t digits = whole + fraction;
    // More digits may have wrapped around; they are refused here.
    if (digits < 1 || digits > NUMBER_DIGITS || mantissa >= (uint64_t)1 << 53 || *end == 'e' ||
        *end == 'E' || *end == '.')
        return NULL;
    double number = (double)mantissa / NUMBER_POWERS[fraction];
    *value = negative ? -number : number;
    return end;
}

/* "1211035870": 1 to 18 digits. */
static inline const char *scan_whole(const char *text, int64_t *value) {
    uint64_t number = 0;
    const char *end = scan_digits(text, &number);
    if (end == text || end - text > NUMBER_DIGITS) return NULL;
    *value = (int64_t)number;
    return end;
}

/* Any number in [text, text+length), the whole of it; false when it is none. inf and nan are
 * numbers. */
bool dpl_parse_number(const char *text, size_t length, double *value);

#endif
