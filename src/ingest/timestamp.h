/* Times as they stand in files, to seconds since 1970 UTC. Each value says by itself how it is
 * written: a number by its size, anything else as ISO 8601. */
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
    TIME_NOTATIONS
};

/* A number below this, up to the year 5138, counts seconds. */
#define TIME_SECONDS_BELOW 100000000000

/* What options say about a time column. */
struct time_format {
    int64_t units_per_s;         /* of numbers: 1, 1000, ...; 0: each number's size tells */
    const struct dpl_zone *zone; /* for times without an offset; NULL: UTC */
};

/* "s", "ms", "us", "ns", or "auto" (0); -1 for any other word. */
int64_t dpl_time_units(const char *word);

enum time_result { TIME_OK, TIME_MALFORMED, TIME_OUT_OF_RANGE };
/* 1990-01-01 <= time < 2100-01-01; fractions of a second are cut off. */
enum time_result dpl_time_parse(const struct time_format *format, const char *text, size_t length,
                                int64_t *utc_s, enum time_notation *notation);
bool dpl_time_in_range(int64_t utc_s);

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
/* "YYYY-MM-DD hh:mm:ss" at text; seconds as if UTC. Returns the end or NULL. */
const char *dpl_scan_iso(const char *text, int64_t *seconds);

#endif
