/* Times as they stand in files, to seconds since 1970 UTC. */
#ifndef DPL_INGEST_TIMESTAMP_H
#define DPL_INGEST_TIMESTAMP_H

#include "base/zone.h"

enum time_kind { TIME_UNKNOWN, TIME_EPOCH, TIME_ISO };

/* How a time column is written. */
struct time_format {
    enum time_kind kind;
    int64_t units_per_s;         /* epoch: 1, 1000, 1000000, 1000000000 */
    const struct dpl_zone *zone; /* for times without an offset; NULL: UTC */
};

/* What one value looks like. Epoch units are told apart by size: 2001-2100 in seconds, milli-,
 * micro- and nanoseconds do not overlap. `has_offset` is set for ISO times. */
enum time_kind time_guess(const char *text, size_t length, int64_t *units_per_s, bool *has_offset);

enum time_result { TIME_OK, TIME_MALFORMED, TIME_OUT_OF_RANGE };
/* 1990-01-01 <= time < 2100-01-01; fractions of a second are cut off. */
enum time_result time_parse(const struct time_format *format, const char *text, size_t length,
                            int64_t *utc_s);
bool time_in_range(int64_t utc_s);

/* The fast form: "YYYY-MM-DD hh:mm:ss" (or 'T') at text; seconds as if UTC. Returns the end or
 * NULL. */
const char *scan_iso(const char *text, int64_t *seconds);

#endif
