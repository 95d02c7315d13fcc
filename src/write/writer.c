/* Which layout, and what the layouts share. */
#include "write/writer.h"

#include "base/zone.h"

static const struct dpl_writer *const WRITERS[] = {&dpl_writer_porto, &dpl_writer_geojsonl,
                                                   &dpl_writer_csv}; // .porto.csv before .csv
enum { N_WRITERS = sizeof WRITERS / sizeof *WRITERS, DAY_S = 86400 };

static bool ends_with(const char *text, size_t length, const char *end) {
    size_t n = strlen(end);
    return length >= n && !memcmp(text + length - n, end, n);
}

enum dpl_status dpl_writer_find(struct dpl_run *run, const char *name, const char *path,
                                const struct dpl_writer **writer) {
    size_t length = strlen(path);
    if (ends_with(path, length, ".gz"))
        length -= 3;
    else if (ends_with(path, length, ".zst"))
        length -= 4;
    if (name == NULL && !strcmp(path, "-")) name = "csv";
    for (size_t i = 0; i < N_WRITERS; i++)
        if (name != NULL ? !strcmp(name, WRITERS[i]->name)
                         : ends_with(path, length, WRITERS[i]->extension)) {
            *writer = WRITERS[i];
            return DPL_OK;
        }
    if (name != NULL)
        return dpl_fail(run, DPL_USAGE,
                        "there is no layout '%.40s' to write (`sample.to` csv, geojsonl or porto)",
                        name);
    return dpl_fail(run, DPL_USAGE,
                    "%s: the name does not say in which layout to write: end it in .csv, .geojsonl "
                    "or .porto.csv (and .gz or .zst), or use `sample.to`",
                    path);
}

char *dpl_put_datetime(char *to, const struct dpl_visits *visits, size_t i,
                       struct dpl_datetime *last) {
    int32_t offset_s = i < visits->change_at ? visits->offset_s : visits->offset_after_s,
            west_s = offset_s < 0 ? -offset_s : offset_s;
    int64_t local_s = visits->utc_s + (int64_t)i * visits->slot_s + offset_s;
    int64_t day = (local_s >= 0 ? local_s : local_s - DAY_S + 1) / DAY_S;
    if (day != last->day) {
        int64_t year;
        int month, date;
        dpl_date_from_days(day, &year, &month, &date);
        char *end = put_fixed(last->date, (uint32_t)year, 4);
        *end++ = '-';
        end = put_two(end, month);
        *end++ = '-';
        end = put_two(end, date);
        *end = 'T';
        last->day = day;
    }
    int second = (int)(local_s - day * DAY_S);
    to = put_text(to, last->date, sizeof last->date);
    to = put_two(to, second / 3600);
    *to++ = ':';
    to = put_two(to, second / 60 % 60);
    *to++ = ':';
    to = put_two(to, second % 60);
    *to++ = offset_s < 0 ? '-' : '+';
    to = put_two(to, west_s / 3600);
    *to++ = ':';
    return put_two(to, west_s / 60 % 60);
}
