/* IANA time zones: reads TZif files (RFC 8536) from the system's zoneinfo.
 *
 * glibc's localtime would need the TZ variable, which is global to the process. A TZif file is a
 * sorted list of moments at which the offset changes, followed by a POSIX rule ("PST8PDT,M3.2.0,
 * M11.1.0") for all later moments. Only version 2 and later (64-bit times) are read. */
#include "base/zone.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/file.h" // defines: dpl_system_fault

enum { MAX_CHANGES = 4096, CHANGE_BYTES = 9, MAX_FILE = 1 << 16, DAY_S = 86400 };

/* One end of daylight saving in a POSIX rule: day kind and local seconds after that day's midnight.
 */
struct rule_day {
    char kind; /* 'M' month.week.weekday, 'J' 1-365 without 29 February, '0' zero-based day */
    int month, week, day;
    int32_t at_s;
};

struct dpl_zone {
    size_t n_changes;
    int64_t *change_s;      /* (n_changes) */
    int32_t *offset_s;      /* (n_changes); at change_s[i] and after */
    int32_t first_offset_s; /* before the first change */
    bool has_rule, has_summer;
    int32_t standard_s, summer_s; /* offsets of the rule */
    struct rule_day begin, end;   /* of summer time */
};

/* ---- the POSIX rule behind the table ---- */

static const char *skip_name(const char *text) {
    if (*text == '<') {
        while (*text && *text != '>') text++;
        return *text ? text + 1 : text;
    }
    while (isalpha((unsigned char)*text)) text++;
    return text;
}

/* [+-]hh[:mm[:ss]] */
static const char *parse_hms(const char *text, int32_t *seconds) {
    int sign = 1, part[3] = {0};
    if (*text == '+' || *text == '-') sign = *text++ == '-' ? -1 : 1;
    for (int i = 0; i < 3; i++) {
        char *end;
        if (!isdigit((unsigned char)*text)) return NULL;
        part[i] = (int)strtol(text, &end, 10);
        text = end;
        if (part[i] > 167 || *text != ':') break;
        text++;
    }
    *seconds = sign * (part[0] * 3600 + part[1] * 60 + part[2]);
    return text;
}

static const char *parse_rule_day(const char *text, struct rule_day *rule) {
    int used = 0;
    *rule = (struct rule_day){.kind = '0', .at_s = 7200};
    if (*text == 'M') {
        rule->kind = 'M';
        if (sscanf(text, "M%2d.%1d.%1d%n", &rule->month, &rule->week, &rule->day, &used) != 3)
            return NULL;
        if (rule->month < 1 || rule->month > 12 || rule->week < 1 || rule->week > 5 ||
            rule->day < 0 || rule->day > 6)
            return NULL;
    } else {
        if (*text == 'J') rule->kind = 'J', text++;
        if (sscanf(text, "%3d%n", &rule->day, &used) != 1 || rule->day < 0 || rule->day > 365)
            return NULL;
    }
    text += used;
    return *text == '/' ? parse_hms(text + 1, &rule->at_s) : text;
}

static bool parse_rule(struct dpl_zone *zone, const char *text) {
    int32_t west_s;
    text = parse_hms(skip_name(text), &west_s); // POSIX counts west of Greenwich
    if (!text) return false;
    zone->standard_s = -west_s;
    zone->has_rule = true;
    if (!*text) return true;
    text = skip_name(text);
    zone->summer_s = zone->standard_s + 3600;
    if (*text && *text != ',') {
        text = parse_hms(text, &west_s);
        if (!text) return false;
        zone->summer_s = -west_s;
    }
    if (*text != ',') return false;
    text = parse_rule_day(text + 1, &zone->begin);
    if (!text || *text != ',') return false;
    text = parse_rule_day(text + 1, &zone->end);
    zone->has_summer = text && !*text;
    return zone->has_summer;
}

/* Seconds since 1970, local clock, at which the rule fires in that year. */
static int64_t rule_local_s(const struct rule_day *rule, int64_t year) {
    int64_t day;
    if (rule->kind == 'M') {
        day = dpl_days_from_date(year, rule->month, 1);
        int weekday = (int)((day % 7 + 11) % 7); // 1970-01-01 was a Thursday: (0 + 4) mod 7
        day += (rule->day - weekday + 7) % 7 + 7 * (rule->week - 1);
        int64_t next = rule->month == 12 ? dpl_days_from_date(year + 1, 1, 1)
                                         : dpl_days_from_date(year, rule->month + 1, 1);
        if (day >= next) day -= 7; // week 5 means the last one
    } else {
        day = dpl_days_from_date(year, 1, 1) + rule->day;
        if (rule->kind == 'J') day += -1 + (dpl_date_leap(year) && rule->day >= 60);
    }
    return day * DAY_S + rule->at_s;
}

static int32_t rule_offset_s(const struct dpl_zone *zone, int64_t utc_s) {
    if (!zone->has_summer) return zone->standard_s;
    int64_t local_s = utc_s + zone->standard_s, year;
    int month, day;
    dpl_date_from_days((local_s >= 0 ? local_s : local_s - DAY_S + 1) / DAY_S, &year, &month, &day);
    int64_t begin_s = rule_local_s(&zone->begin, year) - zone->standard_s,
            end_s = rule_local_s(&zone->end, year) - zone->summer_s;
    bool summer =
        begin_s < end_s ? utc_s >= begin_s && utc_s < end_s : utc_s >= begin_s || utc_s < end_s;
    return summer ? zone->summer_s : zone->standard_s;
}

/* ---- the file ---- */

static int64_t big_endian(const unsigned char *bytes, int count) {
    uint64_t value = bytes[0] & 0x80 ? UINT64_MAX : 0;
    for (int i = 0; i < count; i++) value = value << 8 | bytes[i];
    return (int64_t)value;
}

struct tzif_counts {
    size_t utc, standard, leaps, changes, types, letters;
};

static bool read_header(const unsigned char *bytes, size_t size, struct tzif_counts *counts) {
    if (size < 44 || memcmp(bytes, "TZif", 4) || bytes[4] < '2') return false;
    size_t *into[6] = {&counts->utc,     &counts->standard, &counts->leaps,
                       &counts->changes, &counts->types,    &counts->letters};
    for (int i = 0; i < 6; i++) {
        int64_t value = big_endian(bytes + 20 + 4 * i, 4);
        if (value < 0 || value > MAX_FILE) return false;
        *into[i] = (size_t)value;
    }
    return true;
}

static size_t body_size(const struct tzif_counts *c, size_t time_size) {
    return c->changes * (time_size + 1) + c->types * 6 + c->letters + c->leaps * (time_size + 4) +
           c->standard + c->utc;
}

static bool parse_tzif(struct dpl_zone *zone, unsigned char *bytes, size_t size) {
    struct tzif_counts c;
    if (!read_header(bytes, size, &c)) return false;
    size_t skip = 44 + body_size(&c, 4); // the version 1 block holds 32-bit times
    if (skip > size || !read_header(bytes + skip, size - skip, &c)) return false;
    const unsigned char *body = bytes + skip + 44;
    size_t room = size - skip - 44, length = body_size(&c, 8);
    if (length + 2 > room || c.changes > MAX_CHANGES || !c.types) return false;
    const unsigned char *kinds = body + 8 * c.changes, *types = kinds + c.changes;
    zone->n_changes = c.changes;
    zone->first_offset_s = (int32_t)big_endian(types, 4);
    for (size_t i = 0; i < c.changes; i++) {
        if (kinds[i] >= c.types) return false;
        zone->change_s[i] = big_endian(body + 8 * i, 8);
        zone->offset_s[i] = (int32_t)big_endian(types + 6 * kinds[i], 4);
    }
    char *footer = (char *)bytes + skip + 44 + length;
    if (*footer != '\n') return false;
    char *newline = memchr(footer + 1, '\n', room - length - 1);
    if (!newline) return false;
    *newline = '\0';
    return !footer[1] || parse_rule(zone, footer + 1);
}

/* With room for the changes that a file of that many bytes can hold. */
static struct dpl_zone *new_zone(struct dpl_run *run, size_t size) {
    const size_t n = size / CHANGE_BYTES < MAX_CHANGES ? size / CHANGE_BYTES : MAX_CHANGES;
    struct dpl_zone *zone;
    int64_t *change_s;
    int32_t *offset_s;
    const struct dpl_piece pieces[] = {{&zone, 1, sizeof *zone},
                                       {&change_s, n, sizeof *change_s},
                                       {&offset_s, n, sizeof *offset_s}};
    if (!dpl_alloc_pieces(run, pieces, sizeof pieces / sizeof *pieces)) return NULL;
    zone->change_s = change_s, zone->offset_s = offset_s;
    return zone;
}

/* A name is a path below zoneinfo: nothing that could lead out of it. */
static bool plausible_name(const char *name) {
    if (!*name || *name == '/' || strlen(name) >= DPL_ZONE_NAME || strstr(name, "..")) return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("/_+-", *c)) return false;
    return true;
}

static enum dpl_status read_zone_file(struct dpl_run *run, const char *name, unsigned char *bytes,
                                      size_t *size) {
    const char *folder = getenv("ZONEINFO");
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "/usr/share/zoneinfo", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return dpl_fail(run, errno == ENOENT || errno == ENOTDIR ? DPL_USAGE : DPL_SYSTEM,
                        "there is no time zone '%s' (use an IANA name such as Europe/Lisbon; the "
                        "tzdata package holds them)",
                        name);
    *size = fread(bytes, 1, MAX_FILE, file);
    bool failed = ferror(file) && dpl_system_fault(errno); // a folder has no bytes
    fclose(file);
    return failed ? dpl_fail(run, DPL_SYSTEM, "%s: cannot read", path) : DPL_OK;
}

enum dpl_status dpl_zone_open(struct dpl_run *run, const char *name, struct dpl_zone **zone) {
    if (!plausible_name(name))
        return dpl_fail(
            run, DPL_USAGE,
            "'%.64s' is not the name of a time zone (use an IANA name such as Europe/Lisbon)",
            name);
    enum dpl_status status = DPL_SYSTEM;
    size_t size = 0, capacity = 0;
    struct dpl_zone *made = NULL;
    unsigned char *bytes = NULL;
    DPL_GO(dpl_grow(run, &bytes, &capacity, MAX_FILE, 1));
    DPL_GO(read_zone_file(run, name, bytes, &size));
    made = new_zone(run, size);
    if (!made) {
        status = DPL_SYSTEM;
        goto done;
    }
    if (!parse_tzif(made, bytes, size)) {
        status =
            dpl_fail(run, DPL_USAGE,
                     "time zone '%s': its file is not a TZif file of version 2 or later", name);
        goto done;
    }
    *zone = made;
    made = NULL;
done:
    dpl_free(bytes);
    dpl_free(made);
    return status;
}

void dpl_zone_free(struct dpl_zone *zone) { dpl_free(zone); }

int32_t dpl_zone_offset_s(const struct dpl_zone *zone, int64_t utc_s) {
    size_t low = 0,
           high = zone->n_changes; // changes before `low` are past, `high` and later to come
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (zone->change_s[middle] <= utc_s)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == zone->n_changes && zone->has_rule) return rule_offset_s(zone, utc_s);
    return low ? zone->offset_s[low - 1] : zone->first_offset_s;
}

int64_t dpl_zone_day(const struct dpl_zone *zone, int64_t utc_s) {
    int64_t local_s = utc_s + dpl_zone_offset_s(zone, utc_s);
    return (local_s - (local_s % DAY_S + DAY_S) % DAY_S) / DAY_S;
}

int64_t dpl_zone_utc_s(const struct dpl_zone *zone, int64_t local_s) {
    // The offsets a day before and after are the only two candidates.
    int32_t before_s = dpl_zone_offset_s(zone, local_s - DAY_S),
            after_s = dpl_zone_offset_s(zone, local_s + DAY_S);
    int64_t early = local_s - before_s;
    if (dpl_zone_offset_s(zone, early) == before_s) return early;
    int64_t late = local_s - after_s;
    return dpl_zone_offset_s(zone, late) == after_s ? late : early;
}

/* ---- the period of a trip ---- */

/* Seconds since local midnight, for a moment and an offset. */
static int64_t second_of_day(int64_t utc_s, int32_t offset_s) {
    int64_t of_day_s = (utc_s + offset_s) % 86400;
    return of_day_s < 0 ? of_day_s + 86400 : of_day_s;
}

/* The general case: counts visit by visit, through clock changes and round the day. */
static uint8_t count_periods(const struct dpl_zone *zone, const struct dpl_area *area,
                             int64_t utc_s, size_t n_visits) {
    size_t count[DPL_MAX_PERIODS] = {0}, first[DPL_MAX_PERIODS] = {0};
    for (size_t visit = 0; visit < n_visits; visit++) {
        int64_t at_s = utc_s + (int64_t)visit * area->slot_s;
        int64_t period =
            second_of_day(at_s, dpl_zone_offset_s(zone, at_s)) / (86400 / area->periods);
        if (!count[period]++) first[period] = visit;
    }
    int best = 0;
    for (int p = 1; p < area->periods; p++) // the earliest of the trip wins a tie
        if (count[p] > count[best] ||
            (count[p] == count[best] && count[p] && first[p] < first[best]))
            best = p;
    return (uint8_t)best;
}

uint8_t dpl_zone_period(const struct dpl_zone *zone, const struct dpl_area *area, int64_t utc_s,
                        size_t n_visits) {
    const int64_t period_s = 86400 / area->periods, slot_s = area->slot_s, n = (int64_t)n_visits;
    const int32_t offset_s = dpl_zone_offset_s(zone, utc_s);
    const int64_t of_day_s = second_of_day(utc_s, offset_s), period = of_day_s / period_s;
    const int64_t left_s = (period + 1) * period_s - of_day_s,
                  here = (left_s + slot_s - 1) / slot_s; // visits that begin in this period
    if (here >= n) return (uint8_t)period;
    const bool two_periods =
        (n - 1) * slot_s < left_s + period_s; // nearly all trips: this one and the next
    if (!two_periods || area->periods < 2 ||
        dpl_zone_offset_s(zone, utc_s + n * slot_s) != offset_s)
        return count_periods(zone, area, utc_s, n_visits);
    return (uint8_t)(2 * here >= n ? period : (period + 1) % area->periods);
}
