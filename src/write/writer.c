/* Which layout, and what the layouts share. */
#include "write/writer.h"

#include <ctype.h>
#include <strings.h>

#include "base/date.h"
#include "base/zone.h"

#define WRITER_ADDRESS(name) &dpl_writer_##name,
static const struct dpl_writer *const WRITERS[] = {DPL_WRITER_LIST(WRITER_ADDRESS)};
enum { NAMES_ROOM = 160, N_WRITERS = sizeof WRITERS / sizeof *WRITERS, DAY_S = 86400 };

static bool ends_with(const char *text, size_t length, const char *end) {
    size_t n = strlen(end);
    return length >= n && !memcmp(text + length - n, end, n);
}

const char *dpl_output_name(size_t i) { return i < N_WRITERS ? WRITERS[i]->name : NULL; }

const char *dpl_output_ending(size_t i) { return i < N_WRITERS ? WRITERS[i]->extension : NULL; }

/* All names, or all endings, in one text: "porto, geojsonl, ..." */
static const char *list(const char *(*item)(size_t i), char text[NAMES_ROOM]) {
    size_t length = 0;
    for (size_t i = 0; item(i) != NULL && length < NAMES_ROOM; i++)
        length +=
            (size_t)snprintf(text + length, NAMES_ROOM - length, "%s%s", i ? ", " : "", item(i));
    return text;
}

enum dpl_status dpl_writer_find(struct dpl_run *run, const char *name, const char *path,
                                const struct dpl_writer **writer) {
    size_t length = strlen(path);
    char text[NAMES_ROOM];
    if (ends_with(path, length, ".gz"))
        length -= 3;
    else if (ends_with(path, length, ".zst"))
        length -= 4;
    if (name == NULL && !strcmp(path, "-")) name = dpl_writer_csv.name;
    for (size_t i = 0; i < N_WRITERS; i++)
        if (name != NULL ? !strcmp(name, WRITERS[i]->name)
                         : ends_with(path, length, WRITERS[i]->extension)) {
            *writer = WRITERS[i];
            return DPL_OK;
        }
    if (name != NULL)
        return dpl_fail(run, DPL_USAGE,
                        "there is no layout '%.40s' to write (`sample.to` takes %s)", name,
                        list(dpl_output_name, text));
    return dpl_fail(run, DPL_USAGE,
                    "%s: the name does not say in which layout to write: end it in one of %s (and "
                    ".gz or .zst), or use `sample.to`",
                    path, list(dpl_output_ending, text));
}

static const char *const COLUMN_NAMES[DPL_COLUMNS] = {"uid", "tid", "datetime", "lat", "lng"};

const char *dpl_column_name(const struct dpl_names *names, enum dpl_column column) {
    if (column == DPL_COLUMN_GEOMETRY) return "geometry";
    return names && names->of[column][0] ? names->of[column] : COLUMN_NAMES[column];
}

/* What needs no quotes in CSV, JSON or SQL. */
static bool is_name(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x80 && !isalnum(c) && !strchr("_-. ", c)) return false;
    }
    return length > 0 && length < DPL_COLUMN_NAME && text[0] != ' ' && text[length - 1] != ' ';
}

/* "tid=trip_id" */
static enum dpl_status parse_name(struct dpl_run *run, const char *text, size_t length,
                                  struct dpl_names *names) {
    const char *equals = memchr(text, '=', length);
    for (enum dpl_column i = 0; equals && i < DPL_COLUMNS; i++) {
        const size_t own = (size_t)(equals - text), rest = length - own - 1;
        if (strlen(COLUMN_NAMES[i]) != own || memcmp(COLUMN_NAMES[i], text, own) != 0) continue;
        if (!is_name(equals + 1, rest)) break;
        snprintf(names->of[i], DPL_COLUMN_NAME, "%.*s", (int)rest, equals + 1);
        return DPL_OK;
    }
    return dpl_fail(run, DPL_USAGE,
                    "`sample.columns_out` takes uid=NAME, tid=NAME, datetime=NAME, lat=NAME and "
                    "lng=NAME, with commas between them, of letters, digits and _-. (not '%.*s')",
                    length < 80 ? (int)length : 80, text);
}

enum dpl_status dpl_names_parse(struct dpl_run *run, const char *list, struct dpl_names *names) {
    *names = (struct dpl_names){0};
    for (const char *at = list; at && *at;) {
        size_t length = strcspn(at, ",");
        DPL_TRY(parse_name(run, at, length, names));
        at += length + (at[length] == ',');
    }
    for (enum dpl_column i = 0; i < DPL_COLUMNS; i++)
        for (enum dpl_column k = 0; k < i; k++)
            if (!strcasecmp(dpl_column_name(names, i), dpl_column_name(names, k)))
                return dpl_fail(run, DPL_USAGE, "`sample.columns_out` names two columns '%s'",
                                dpl_column_name(names, i));
    return DPL_OK;
}

/* "+01:00", "Z" or nothing. */
static char *put_offset(char *to, enum dpl_times times, int32_t offset_s) {
    int32_t size_s = offset_s < 0 ? -offset_s : offset_s;
    if (times == DPL_TIMES_NAIVE) return to;
    if (times == DPL_TIMES_UTC) return PUT(to, "Z");
    *to++ = offset_s < 0 ? '-' : '+';
    to = put_two(to, size_s / 3600);
    *to++ = ':';
    return put_two(to, size_s / 60 % 60);
}

char *dpl_put_datetime(char *to, const struct dpl_visits *visits, size_t i,
                       struct dpl_datetime *last) {
    int32_t offset_s = i < visits->change_at ? visits->offset_s : visits->offset_after_s;
    int64_t utc_s = visits->utc_s + (int64_t)i * visits->slot_s;
    if (visits->times == DPL_TIMES_EPOCH) return put_whole(to, utc_s);
    if (visits->times == DPL_TIMES_UTC) offset_s = 0;
    int64_t local_s = utc_s + offset_s;
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
    return put_offset(put_two(to, second % 60), visits->times, offset_s);
}
