/* Epoch numbers and ISO 8601. See timestamp.h. */
#include "ingest/timestamp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/number.h"

static const int64_t EARLIEST_S = 631152000, LATEST_S = 4102444800; // 1990-01-01, 2100-01-01

bool time_in_range(int64_t utc_s) { return utc_s >= EARLIEST_S && utc_s < LATEST_S; }

bool parse_number(const char *text, size_t length, double *value) {
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

static bool two_digits(const char *text, int *value) {
    unsigned tens = (unsigned)(unsigned char)text[0] - '0',
             ones = (unsigned)(unsigned char)text[1] - '0';
    if (tens > 9 || ones > 9) return false;
    *value = (int)(tens * 10 + ones);
    return true;
}

static int days_in_month(int64_t year, int month) {
    static const int DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return DAYS[month - 1] + (month == 2 && leap);
}

/* "YYYY-MM-DD" or "YYYY/MM/DD" to days; the bytes behind are not looked at. */
static bool parse_date(const char *text, int64_t *days) {
    int century, years, month, day;
    if (!two_digits(text, &century) || !two_digits(text + 2, &years)) return false;
    if ((text[4] != '-' && text[4] != '/') || text[7] != text[4]) return false;
    if (!two_digits(text + 5, &month) || !two_digits(text + 8, &day)) return false;
    int64_t year = century * 100 + years;
    if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) return false;
    *days = dpl_days_from_date(year, month, day);
    return true;
}

/* Stops at the first byte that does not fit, so the text only needs to end in one ('\n' or '\0').
 */
const char *scan_iso(const char *text, int64_t *seconds) {
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
    if (!parse_date(text, &days)) return NULL;
    if (!two_digits(text + 11, &hour) || !two_digits(text + 14, &minute) ||
        !two_digits(text + 17, &second))
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
    if (!two_digits(text + 1, &hours)) return false;
    text += 3;
    if (*text == ':') text++;
    if (*text) {
        if (!two_digits(text, &minutes) || text[2]) return false;
    }
    if (hours > 15 || minutes > 59) return false;
    *offset_s = sign * (hours * 3600 + minutes * 60);
    return true;
}

static bool parse_iso(const char *text, size_t length, int64_t *seconds, int64_t *offset_s,
                      bool *has_offset) {
    char copy[48] = {0};
    if (length < 16 || length >= sizeof copy) return false;
    memcpy(copy, text, length);
    if (length == 16) memcpy(copy + 16, ":00", 4); // "YYYY-MM-DD hh:mm"
    const char *end = scan_iso(copy, seconds);
    return end && parse_iso_tail(end, offset_s, has_offset);
}

enum time_kind time_guess(const char *text, size_t length, int64_t *units_per_s, bool *has_offset) {
    double number;
    int64_t seconds, offset_s;
    *units_per_s = 1;
    *has_offset = false;
    if (parse_number(text, length, &number)) {
        if (!isfinite(number)) return TIME_UNKNOWN;
        double size = fabs(number);
        *units_per_s = size < 1e11 ? 1 : size < 1e14 ? 1000 : size < 1e17 ? 1000000 : 1000000000;
        return TIME_EPOCH;
    }
    return parse_iso(text, length, &seconds, &offset_s, has_offset) ? TIME_ISO : TIME_UNKNOWN;
}

enum time_result time_parse(const struct time_format *format, const char *text, size_t length,
                            int64_t *utc_s) {
    if (format->kind == TIME_EPOCH) {
        double number;
        if (!parse_number(text, length, &number) || !isfinite(number)) return TIME_MALFORMED;
        double seconds = floor(number / (double)format->units_per_s);
        if (!(fabs(seconds) < 1e15)) return TIME_OUT_OF_RANGE;
        *utc_s = (int64_t)seconds;
        return time_in_range(*utc_s) ? TIME_OK : TIME_OUT_OF_RANGE;
    }
    int64_t local_s, offset_s = 0;
    bool has_offset;
    if (!parse_iso(text, length, &local_s, &offset_s, &has_offset)) return TIME_MALFORMED;
    if (!time_in_range(local_s)) return TIME_OUT_OF_RANGE;
    if (has_offset)
        *utc_s = local_s - offset_s;
    else
        *utc_s = format->zone ? dpl_zone_utc_s(format->zone, local_s) : local_s;
    return time_in_range(*utc_s) ? TIME_OK : TIME_OUT_OF_RANGE;
}
