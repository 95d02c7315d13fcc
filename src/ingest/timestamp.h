/* Times as they stand in files, to seconds since 1970 UTC. Each value says by itself how it is
 * written: a number by its size; ISO 8601, also without its dashes and colons (20081102T101500,
 * 20081102101500); DD.MM.YYYY, where the dots tell that the day comes first. A pattern, if one is
 * given, holds for all values instead. */
#ifndef DPL_INGEST_TIMESTAMP_H
#define DPL_INGEST_TIMESTAMP_H

#include "base/zone.h"
#include "ingest/number.h"

enum time_notation {
    TIME_S, /* numbers since 1970 */
    TIME_MS,
    TIME_US,
    TIME_NS,
    TIME_ISO_OFFSET,
    TIME_ISO_LOCAL, /* without offset: read in the format's zone */
    TIME_GMT,       /* GeoLife's date and time */
    TIME_DOTTED,    /* DD.MM.YYYY without offset */
    TIME_PATTERN,   /* by the pattern, with an offset */
    TIME_PATTERN_LOCAL,
    TIME_NOTATIONS
};

/* A number below this, up to the year 5138, counts seconds. */
#define TIME_SECONDS_BELOW 100000000000

/* What options say about a time column. */
struct time_format {
    int64_t units_per_s;         /* of numbers: 1, 1000, ...; 0: each number's size tells */
    const struct dpl_zone *zone; /* for times without an offset; NULL: UTC */
    const char *pattern;         /* as strftime's, for all values; NULL: each says by itself */
};

/* "s", "ms", "us", "ns", or "auto" (0); -1 for any other word. */
int64_t dpl_time_units(const char *word);

enum time_result { TIME_OK, TIME_MALFORMED, TIME_OUT_OF_RANGE };
/* 1990-01-01 <= time < 2100-01-01; fractions of a second are cut off. */
enum time_result dpl_time_parse(const struct time_format *format, const char *text, size_t length,
                                int64_t *utc_s, enum time_notation *notation);
bool dpl_time_in_range(int64_t utc_s);
/* The same of values that are no text. A whole number counts units since 1970, unless it is a date
 * and a clock in digits, or there is a pattern: such numbers are read as text. */
bool dpl_time_is_count(const struct time_format *format, int64_t number);
enum time_result dpl_time_of_count(const struct time_format *format, int64_t count, int64_t *utc_s,
                                   enum time_notation *notation);
/* What local clocks show, in seconds. */
enum time_result dpl_time_in_zone(const struct time_format *format, int64_t local_s,
                                  int64_t *utc_s);

/* The fast form: up to 18 digits, or "YYYY-MM-DD hh:mm:ss" (or 'T'), with a 'Z' or nothing behind.
 * Returns where it ends, or NULL; the range is not checked. Agrees with dpl_time_parse. */
const char *dpl_scan_any_time(const struct time_format *format, const char *text, int64_t *utc_s,
                              enum time_notation *notation);
/* The same, with the case of seconds, which most files have, in place. */
static inline const char *scan_time(const struct time_format *format, const char *text,
                                    int64_t *utc_s, enum time_notation *notation) {
    const char *end = scan_whole(text, utc_s);
    bool seconds = end && *utc_s < TIME_SECONDS_BELOW && format->units_per_s <= 1 && *end != '-' &&
                   *end != '/';
    if (!seconds) return dpl_scan_any_time(format, text, utc_s, notation);
    *notation = TIME_S;
    return end;
}
/* Whether a value is a time of day alone: 9:05, 10:15:00.5 */
bool dpl_time_is_clock(const char *text, size_t length);

/* Whether a pattern is one: letters that are known, and a whole date and an hour among them. */
bool dpl_time_pattern_good(const char *pattern);
/* The whole value by the pattern; seconds as if UTC if it has no offset. */
bool dpl_time_by_pattern(const char *pattern, const char *text, size_t length, int64_t *seconds,
                         bool *has_offset);
/* "YYYY-MM-DD hh:mm:ss" at text; seconds as if UTC. Returns the end or NULL. */
const char *dpl_scan_iso(const char *text, int64_t *seconds);

#endif
