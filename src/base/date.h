/* Dates of the proleptic Gregorian calendar, as days since 1970-01-01. */
#ifndef DPL_BASE_DATE_H
#define DPL_BASE_DATE_H

#include "base/base.h"

/* Month 1-12, day 1-31. */
int64_t dpl_days_from_date(int64_t year, int month, int day);
void dpl_date_from_days(int64_t days, int64_t *year, int *month, int *day);

static inline bool dpl_date_leap(int64_t year) {
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Two decimal digits; reads no byte behind the first non-digit. */
static inline bool dpl_two_digits(const char *text, int *value) {
    unsigned tens = (unsigned)(unsigned char)text[0] - '0';
    if (tens > 9) return false;
    unsigned ones = (unsigned)(unsigned char)text[1] - '0';
    if (ones > 9) return false;
    *value = (int)(tens * 10 + ones);
    return true;
}

/* False when there is no such day. */
static inline bool dpl_date_to_days(int64_t year, int month, int day, int64_t *days) {
    static const int DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1) return false;
    if (day > DAYS[month - 1] + (month == 2 && dpl_date_leap(year))) return false;
    *days = dpl_days_from_date(year, month, day);
    return true;
}

/* "YYYY-MM-DD" with that separator, a day that exists; what is behind is not looked at. In the
 * header because every row with a written time passes here. */
static inline bool dpl_date_parse(const char *text, char separator, int64_t *days) {
    int century, years, month, day;
    if (!dpl_two_digits(text, &century) || !dpl_two_digits(text + 2, &years) ||
        text[4] != separator || !dpl_two_digits(text + 5, &month) || text[7] != separator ||
        !dpl_two_digits(text + 8, &day))
        return false;
    return dpl_date_to_days(century * 100 + years, month, day, days);
}

/* 0 Monday ... 6 Sunday; 1970 began on a Thursday. */
enum { DPL_WEEKDAYS = 7 };
static inline int dpl_weekday(int64_t day) {
    return (int)(((day + 3) % DPL_WEEKDAYS + DPL_WEEKDAYS) % DPL_WEEKDAYS);
}

/* Days in a row: the first since 1970, and how many. */
struct dpl_days {
    int64_t first, n;
};
/* "2025-03-03", or "2025-03-03..2025-03-09", both ends included; `field` is the option's name in
 * the message. */
enum dpl_status dpl_days_parse(struct dpl_run *run, const char *field, const char *text,
                               struct dpl_days *days);
/* How many of the days are that weekday. */
int64_t dpl_days_of(struct dpl_days days, int weekday);

#endif
