/* Times written as a pattern says, in the letters of strftime: %d/%m/%Y %H:%M:%S. Numbers may leave
 * out leading zeros; a blank stands for any number of blanks, also none. Month names are English.
 */
#include <string.h>
#include <strings.h>

#include "base/date.h"
#include "ingest/timestamp.h"

struct parts {
    int year, month, day, hour, minute, second;
    bool afternoon, twelve_hours, has_offset, has_epoch;
    int64_t offset_s, epoch_s;
};

static const char KNOWN[] = "YymbdHIMSfpzsTF%";

bool dpl_time_pattern_good(const char *pattern) {
    bool year = false, month = false, day = false, hour = false, epoch = false;
    for (const char *at = pattern; *at; at++) {
        if (*at != '%') continue;
        at++;
        if (!*at || !strchr(KNOWN, *at)) return false;
        year |= *at == 'Y' || *at == 'y' || *at == 'F';
        month |= *at == 'm' || *at == 'b' || *at == 'F';
        day |= *at == 'd' || *at == 'F';
        hour |= *at == 'H' || *at == 'I' || *at == 'T';
        epoch |= *at == 's';
    }
    return epoch || (year && month && day && hour);
}

/* One to `most` digits. */
static const char *take_digits_of(const char *text, int most, int64_t *value) {
    const char *at = text;
    *value = 0;
    for (; at < text + most && *at >= '0' && *at <= '9'; at++) *value = *value * 10 + (*at - '0');
    return at > text ? at : NULL;
}

static const char *take_part(const char *text, int most, int *part) {
    int64_t value = 0;
    const char *end = take_digits_of(text, most, &value);
    if (end) *part = (int)value;
    return end;
}

/* "Nov", "November" */
static const char *take_month(const char *text, int *month) {
    static const char *const NAMES[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};
    for (int i = 0; i < 12; i++) {
        if (strncasecmp(text, NAMES[i], 3) != 0) continue;
        size_t whole = strlen(NAMES[i]);
        *month = i + 1;
        return text + (strncasecmp(text, NAMES[i], whole) == 0 ? whole : 3);
    }
    return NULL;
}

/* "Z", "+01", "+0100", "+01:00" */
static const char *take_offset(const char *text, struct parts *parts) {
    int64_t hours, minutes = 0;
    parts->has_offset = true;
    if (*text == 'Z' || *text == 'z') return text + 1;
    int sign = *text == '-' ? -1 : 1;
    if (*text != '+' && *text != '-') return NULL;
    const char *at = take_digits_of(text + 1, 2, &hours);
    if (!at) return NULL;
    if (*at == ':') at++;
    if (*at >= '0' && *at <= '9') at = take_digits_of(at, 2, &minutes);
    if (hours > 15 || minutes > 59) return NULL;
    parts->offset_s = sign * (hours * 3600 + minutes * 60);
    return at;
}

static const char *take_clock(const char *text, struct parts *parts) {
    text = take_part(text, 2, &parts->hour);
    if (!text || *text++ != ':' || !(text = take_part(text, 2, &parts->minute))) return NULL;
    return *text == ':' ? take_part(text + 1, 2, &parts->second) : NULL;
}

static const char *take_date(const char *text, struct parts *parts) {
    text = take_part(text, 4, &parts->year);
    if (!text || *text++ != '-' || !(text = take_part(text, 2, &parts->month))) return NULL;
    return *text == '-' ? take_part(text + 1, 2, &parts->day) : NULL;
}

static const char *take_half(const char *text, struct parts *parts) {
    parts->afternoon = *text == 'p' || *text == 'P';
    bool good = (parts->afternoon || *text == 'a' || *text == 'A') && strchr("mM", text[1]);
    return good && text[1] ? text + 2 : NULL;
}

static const char *take_short_year(const char *text, struct parts *parts) {
    text = take_part(text, 2, &parts->year);
    parts->year += parts->year < 70 ? 2000 : 1900;
    return text;
}

/* What a letter stands for; where it ends, or NULL. */
static const char *take(char letter, const char *text, struct parts *parts) {
    int64_t ignored;
    switch (letter) {
    case 'Y': return take_part(text, 4, &parts->year);
    case 'y': return take_short_year(text, parts);
    case 'm': return take_part(text, 2, &parts->month);
    case 'b': return take_month(text, &parts->month);
    case 'd': return take_part(text, 2, &parts->day);
    case 'I': parts->twelve_hours = true; // fall through
    case 'H': return take_part(text, 2, &parts->hour);
    case 'M': return take_part(text, 2, &parts->minute);
    case 'S': return take_part(text, 2, &parts->second);
    case 'f': return take_digits_of(text, 9, &ignored);
    case 'p': return take_half(text, parts);
    case 'z': return take_offset(text, parts);
    case 's': parts->has_epoch = true; return take_digits_of(text, 12, &parts->epoch_s);
    case 'T': return take_clock(text, parts);
    case 'F': return take_date(text, parts);
    default: return *text == letter ? text + 1 : NULL;
    }
}

static bool take_all(const char *pattern, const char *text, struct parts *parts) {
    for (; *pattern; pattern++) {
        if (*pattern == ' ') {
            text += strspn(text, " ");
            continue;
        }
        text = *pattern == '%'     ? take(*++pattern, text, parts)
               : *text == *pattern ? text + 1
                                   : NULL;
        if (!text) return false;
    }
    return !*text;
}

bool dpl_time_by_pattern(const char *pattern, const char *text, size_t length, int64_t *seconds,
                         bool *has_offset) {
    char copy[64];
    struct parts parts = {.month = 1, .day = 1};
    if (length >= sizeof copy || memchr(text, '\0', length)) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (!take_all(pattern, copy, &parts)) return false;
    *has_offset = parts.has_offset || parts.has_epoch;
    *seconds = parts.epoch_s;
    if (parts.has_epoch) return true;
    if (parts.twelve_hours) {
        if (parts.hour < 1 || parts.hour > 12) return false;
        parts.hour = parts.hour % 12 + (parts.afternoon ? 12 : 0);
    }
    int64_t days;
    if (!dpl_date_to_days(parts.year, parts.month, parts.day, &days)) return false;
    if (parts.hour > 23 || parts.minute > 59 || parts.second > 60) return false;
    *seconds = days * 86400 + parts.hour * 3600 + parts.minute * 60 + parts.second - parts.offset_s;
    return true;
}
