/* Epoch numbers and ISO 8601. See timestamp.h. */
#include "ingest/timestamp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/number.h"
#include "base/date.h"

static const int64_t EARLIEST_S = 631152000, LATEST_S = 4102444800; // 1990-01-01, 2100-01-01

bool dpl_time_in_range(int64_t utc_s) { return utc_s >= EARLIEST_S && utc_s < LATEST_S; }

bool dpl_parse_number(const char *text, size_t length, double *value) {
    char copy[64 + NUMBER_PADDING] = {0};
    if (length == 0 || length >= 64) return false;
    memcpy(copy, text, length);
    copy[length] = '\n';
    const char *fast_end = scan_decimal(copy, value);
    if (fast_end == copy + length) return true;
    copy[length] = '\0';
    for (size_t i = 0; i < length; i++) // strtod also takes hexadecimal and leading space
        if (copy[i] == 'x' || copy[i] == 'X' || copy[i] == ' ' || copy[i] == '\0') return false;
    char *end;
    *value = strtod(copy, &end);
    return end == copy + length;
}

static bool four_digits(const char *text, int64_t *value) {
    int high, low;
    if (!dpl_two_digits(text, &high) || !dpl_two_digits(text + 2, &low)) return false;
    *value = high * 100 + low;
    return true;
}

/* Stops at the first byte that does not fit, so the text only needs to end in one ('\n' or '\0').
 */
const char *dpl_scan_iso(const char *text, int64_t *seconds) {
    static const char SHAPE[] = "dddd-dd-ddTdd:dd:dd";
    for (int i = 0; i < 19; i++) {
        char c = text[i];
        bool fits = SHAPE[i] == 'd'   ? c >= '0' && c <= '9'
                    : SHAPE[i] == '-' ? c == '-' || c == '/'
                    : SHAPE[i] == 'T' ? c == 'T' || c == ' ' || c == 't'
                                      : c == ':';
        if (!fits) return NULL;
    }
    int64_t days;
    int hour, minute, second;
    if (!dpl_date_parse(text, text[4], &days)) return NULL;
    if (!dpl_two_digits(text + 11, &hour) || !dpl_two_digits(text + 14, &minute) ||
        !dpl_two_digits(text + 17, &second))
        return NULL;
    if (hour > 23 || minute > 59 || second > 60) return NULL;
    *seconds = days * 86400 + hour * 3600 + minute * 60 + second;
    return text + 19;
}

/* What stands behind the seconds: a fraction, then nothing, Z, or an offset. */
static bool parse_iso_tail(const char *text, int64_t *offset_s, bool *has_offset) {
    *has_offset = false;
    if (*text == '.' || *text == ',') {
        text++;
        if (*text < '0' || *text > '9') return false;
        while (*text >= '0' && *text <= '9') text++;
    }
    if (*text == ' ') text++;
    if (!*text) return true;
    *has_offset = true;
    *offset_s = 0;
    if (!strcmp(text, "Z") || !strcmp(text, "z") || !strcmp(text, "UTC")) return true;
    if (*text != '+' && *text != '-') return false;
    int sign = *text == '-' ? -1 : 1, hours, minutes = 0;
    if (!dpl_two_digits(text + 1, &hours)) return false;
    text += 3;
    if (*text == ':') text++;
    if (*text) {
        if (!dpl_two_digits(text, &minutes) || text[2]) return false;
    }
    if (hours > 15 || minutes > 59) return false;
    *offset_s = sign * (hours * 3600 + minutes * 60);
    return true;
}

/* "DD.MM.YYYY": the end, or NULL. */
static const char *take_dotted(const char *text, int64_t *days) {
    int64_t year;
    int day, month;
    if (!dpl_two_digits(text, &day) || text[2] != '.' || !dpl_two_digits(text + 3, &month) ||
        text[5] != '.' || !four_digits(text + 6, &year))
        return NULL;
    return dpl_date_to_days(year, month, day, days) ? text + 10 : NULL;
}

/* "YYYYMMDD": the end, or NULL. */
static const char *take_compact(const char *text, int64_t *days) {
    int64_t year;
    int month, day;
    if (!four_digits(text, &year) || !dpl_two_digits(text + 4, &month) ||
        !dpl_two_digits(text + 6, &day))
        return NULL;
    return dpl_date_to_days(year, month, day, days) ? text + 8 : NULL;
}

/* "hh:mm", "hh:mm:ss" or, `compact`, "hhmm", "hhmmss": the end, or NULL. */
static const char *take_clock(const char *text, bool compact, int64_t *seconds) {
    int hour, minute, second = 0;
    if (!dpl_two_digits(text, &hour)) return NULL;
    text += 2;
    bool colons = *text == ':';
    if (!colons && !compact) return NULL;
    if (!dpl_two_digits(text + colons, &minute)) return NULL;
    text += 2 + colons;
    if (colons ? *text == ':' : *text >= '0' && *text <= '9') {
        if (!dpl_two_digits(text + colons, &second)) return NULL;
        text += 2 + colons;
    }
    if (hour > 23 || minute > 59 || second > 60) return NULL;
    *seconds = hour * 3600 + minute * 60 + second;
    return text;
}

/* A date, 'T' or a blank, a clock, and what stands behind it. Digits alone need nothing between
 * date and clock. */
static bool parse_stamp(const char *text, size_t length, int64_t *seconds, int64_t *offset_s,
                        bool *has_offset, bool *dotted) {
    char copy[64] = {0}; // room behind the text: what is looked at ends in zeros
    int64_t days, clock_s;
    if (length < 12 || length > 48) return false;
    memcpy(copy, text, length);
    const char *at = take_dotted(copy, &days);
    *dotted = at != NULL;
    if (!at && (dpl_date_parse(copy, '-', &days) || dpl_date_parse(copy, '/', &days)))
        at = copy + 10;
    bool compact = !at && (at = take_compact(copy, &days)) != NULL;
    if (!at) return false;
    bool between = *at == 'T' || *at == 't' || *at == ' ';
    at += between;
    if (!between && !compact) return false;
    at = take_clock(at, compact, &clock_s);
    if (!at) return false;
    *seconds = days * 86400 + clock_s;
    return parse_iso_tail(at, offset_s, has_offset);
}

bool dpl_time_is_clock(const char *text, size_t length) {
    return length >= 4 && length <= 20 && (text[1] == ':' || text[2] == ':') &&
           !memchr(text, '-', length < 8 ? length : 8) && !memchr(text, '/', length);
}

/* ---- numbers ---- */

static const struct {
    const char *word;
    int64_t units_per_s;
} UNITS[] = {{"auto", 0}, {"s", 1}, {"ms", 1000}, {"us", 1000000}, {"ns", 1000000000}};

int64_t dpl_time_units(const char *word) {
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
        if (!strcmp(word, UNITS[i].word)) return UNITS[i].units_per_s;
    return -1;
}

/* The unit of a number of this size: from 1990 to 2100 seconds, milli-, micro- and nanoseconds do
 * not overlap. PRIVACY: the number itself decides, never another row's. */
static int64_t units_of(const struct time_format *format, double size) {
    if (format->units_per_s) return format->units_per_s;
    return size < TIME_SECONDS_BELOW ? 1 : size < 1e14 ? 1000 : size < 1e17 ? 1000000 : 1000000000;
}

static enum time_notation notation_of(int64_t units_per_s) {
    return units_per_s == 1         ? TIME_S
           : units_per_s == 1000    ? TIME_MS
           : units_per_s == 1000000 ? TIME_US
                                    : TIME_NS;
}

static int64_t seconds_of(const struct time_format *format, int64_t number,
                          enum time_notation *notation) {
    int64_t units_per_s = units_of(format, (double)number);
    *notation = notation_of(units_per_s);
    return units_per_s == 1 ? number : number / units_per_s; // a division costs as much as a field
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Digits and nothing else, up to what 64 bits hold: exact, as scan_time reads them. Nanoseconds
 * have 19 digits, which a double would round to the next second. */
static bool parse_whole(const char *text, size_t length, int64_t *number) {
    if (!length || length > NUMBER_DIGITS + 1) return false;
    *number = 0;
    for (size_t i = 0; i < length; i++)
        if (!is_digit(text[i]) || __builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, text[i] - '0', number))
            return false;
    return true;
}

static enum time_result parse_epoch(const struct time_format *format, double number, int64_t *utc_s,
                                    enum time_notation *notation) {
    if (!isfinite(number)) return TIME_MALFORMED;
    int64_t units_per_s = units_of(format, fabs(number));
    double seconds = floor(number / (double)units_per_s);
    if (!(fabs(seconds) < 1e15)) return TIME_OUT_OF_RANGE;
    *utc_s = (int64_t)seconds;
    *notation = notation_of(units_per_s);
    return dpl_time_in_range(*utc_s) ? TIME_OK : TIME_OUT_OF_RANGE;
}

/* Whether a number is a date and a clock without anything between them: as a count of anything
 * since 1970 it would not lie between 1990 and 2100. */
static bool is_compact(const struct time_format *format, int64_t number) {
    if (format->units_per_s) return false;
    return (number >= 199001010000 && number < 210001010000) ||
           (number >= 19900101000000 && number < 21000101000000);
}

/* ---- any value ---- */

static int64_t in_zone(const struct time_format *format, int64_t local_s) {
    return format->zone ? dpl_zone_utc_s(format->zone, local_s) : local_s;
}

static enum time_result parse_by_pattern(const struct time_format *format, const char *text,
                                         size_t length, int64_t *utc_s,
                                         enum time_notation *notation) {
    int64_t seconds;
    bool has_offset;
    if (!dpl_time_by_pattern(format->pattern, text, length, &seconds, &has_offset))
        return TIME_MALFORMED;
    if (!dpl_time_in_range(seconds)) return TIME_OUT_OF_RANGE;
    *notation = has_offset ? TIME_PATTERN : TIME_PATTERN_LOCAL;
    *utc_s = has_offset ? seconds : in_zone(format, seconds);
    return dpl_time_in_range(*utc_s) ? TIME_OK : TIME_OUT_OF_RANGE;
}

enum time_result dpl_time_of_count(const struct time_format *format, int64_t count, int64_t *utc_s,
                                   enum time_notation *notation) {
    *utc_s = seconds_of(format, count, notation);
    return dpl_time_in_range(*utc_s) ? TIME_OK : TIME_OUT_OF_RANGE;
}

bool dpl_time_is_count(const struct time_format *format, int64_t number) {
    return number >= 0 && !format->pattern && !is_compact(format, number);
}

enum time_result dpl_time_in_zone(const struct time_format *format, int64_t local_s,
                                  int64_t *utc_s) {
    if (!dpl_time_in_range(local_s)) return TIME_OUT_OF_RANGE;
    *utc_s = in_zone(format, local_s);
    return dpl_time_in_range(*utc_s) ? TIME_OK : TIME_OUT_OF_RANGE;
}

enum time_result dpl_time_parse(const struct time_format *format, const char *text, size_t length,
                                int64_t *utc_s, enum time_notation *notation) {
    double number;
    int64_t whole, local_s, offset_s = 0;
    bool has_offset, dotted;
    if (format->pattern) return parse_by_pattern(format, text, length, utc_s, notation);
    bool is_whole = parse_whole(text, length, &whole);
    if (is_whole && !is_compact(format, whole))
        return dpl_time_of_count(format, whole, utc_s, notation);
    if (!is_whole && dpl_parse_number(text, length, &number))
        return parse_epoch(format, number, utc_s, notation);
    if (!parse_stamp(text, length, &local_s, &offset_s, &has_offset, &dotted))
        return TIME_MALFORMED;
    if (!dpl_time_in_range(local_s)) return TIME_OUT_OF_RANGE;
    *notation = has_offset ? TIME_ISO_OFFSET : dotted ? TIME_DOTTED : TIME_ISO_LOCAL;
    *utc_s = has_offset ? local_s - offset_s : in_zone(format, local_s);
    return dpl_time_in_range(*utc_s) ? TIME_OK : TIME_OUT_OF_RANGE;
}

const char *dpl_scan_any_time(const struct time_format *format, const char *text, int64_t *utc_s,
                              enum time_notation *notation) {
    int64_t number, local_s = 0;
    const char *end = scan_whole(text, &number);
    if (!end) return NULL;
    if (*end != '-' && *end != '/') {
        if (is_compact(format, number)) return NULL; // for the careful reader
        *utc_s = seconds_of(format, number, notation);
        return end;
    }
    end = dpl_scan_iso(text, &local_s);
    // Far from any offset's reach: the zone's tables are not asked about other centuries.
    if (!end || !dpl_time_in_range(local_s)) return NULL;
    bool is_utc = *end == 'Z';
    *notation = is_utc ? TIME_ISO_OFFSET : TIME_ISO_LOCAL;
    *utc_s = is_utc ? local_s : in_zone(format, local_s);
    return end + is_utc; // an offset or a fraction makes the caller read the row carefully
}
