/* Hinnant's day count, in our wording: years begin in March, so that the leap day comes last. */
#include "base/date.h"

#include <string.h>

enum { FIRST_YEAR = 1990, LAST_YEAR = 2099 };

int64_t dpl_days_from_date(int64_t year, int month, int day) {
    year -= month <= 2; // the year starts in March, so that the leap day comes last
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void dpl_date_from_days(int64_t days, int64_t *year, int *month, int *day) {
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100),
            march_month = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * march_month + 2) / 5 + 1);
    *month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);
    *year = year_of_era + era * 400 + (*month <= 2);
}

/* "2025-03-03" at text, in the years that trips may be of. */
static bool parse_date(const char *text, int64_t *day) {
    return dpl_date_parse(text, '-', day) && *day >= dpl_days_from_date(FIRST_YEAR, 1, 1) &&
           *day < dpl_days_from_date(LAST_YEAR + 1, 1, 1);
}

enum dpl_status dpl_days_parse(struct dpl_run *run, const char *field, const char *text,
                               struct dpl_days *days) {
    int64_t first = 0, last = 0;
    size_t length = strlen(text);
    bool good = length >= 10 && parse_date(text, &first);
    last = first;
    if (good && length != 10)
        good = length == 22 && !memcmp(text + 10, "..", 2) && parse_date(text + 12, &last) &&
               first <= last;
    if (!good)
        return dpl_fail(run, DPL_USAGE,
                        "`%s` takes a day such as 2025-03-03 or days such as "
                        "2025-03-03..2025-03-09, from %d to %d, not '%.40s'",
                        field, FIRST_YEAR, LAST_YEAR, text);
    *days = (struct dpl_days){first, last - first + 1};
    return DPL_OK;
}

int64_t dpl_days_of(struct dpl_days days, int weekday) {
    int64_t wait = (weekday - dpl_weekday(days.first) + DPL_WEEKDAYS) % DPL_WEEKDAYS;
    return days.n > wait ? (days.n - wait - 1) / DPL_WEEKDAYS + 1 : 0;
}
