/* Hints from signs. See hint.h. Each looks at the first odd value, and is given when half of the
 * rows are like that. */
#include "ingest/hint.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ingest/position.h"
#include "ingest/timestamp.h"

static const double MERCATOR_MOST_M = 20037508.4, UTM_LEAST_M = 1e5, UTM_MOST_M = 1e7;

static void add(struct dpl_read_facts *facts, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(struct dpl_read_facts *facts, const char *format, ...) {
    va_list arguments;
    if (facts->n_hints == DPL_HINTS) return;
    va_start(arguments, format);
    vsnprintf(facts->hint[facts->n_hints++], DPL_HINT_TEXT, format, arguments);
    va_end(arguments);
}

/* ---- exchanged coordinates ---- */

/* "user,time,lon,lat" -> "user,time,lat,lon" */
static void exchange_words(const char *list, char *to, size_t size) {
    size_t length = 0;
    while (*list && length + 4 < size) {
        size_t word = strcspn(list, ",");
        bool lat = word == 3 && !memcmp(list, "lat", 3), lon = word == 3 && !memcmp(list, "lon", 3);
        length += (size_t)snprintf(to + length, size - length, "%.*s%s", (int)word,
                                   lat   ? "lon"
                                   : lon ? "lat"
                                         : list,
                                   list[word] ? "," : "");
        list += word + (list[word] == ',');
    }
}

/* The options that read latitude and longitude the other way round. */
static void exchange_advice(const struct dpl_read_options *options,
                            const struct dpl_read_facts *facts, char *text, size_t size) {
    enum { LAT = 3, LON = 4 }; // of dpl_reading's columns
    const struct dpl_reading *reading = &facts->reading;
    char list[128] = "";
    if (options->columns) {
        exchange_words(options->columns, list, sizeof list);
        snprintf(text, size, "`read.columns` %s", list);
    } else if (reading->settled && reading->column[LAT][0] &&
               strcmp(reading->column[LAT], reading->column[LON]) != 0) {
        snprintf(text, size, "`read.lat_column` %s `read.lon_column` %s", reading->column[LON],
                 reading->column[LAT]);
    } else {
        snprintf(text, size, "`read.lat_column` and `read.lon_column`, or `read.columns`");
    }
}

static void hint_exchanged(const struct dpl_read_options *options, struct dpl_read_facts *facts) {
    char advice[240];
    exchange_advice(options, facts, advice, sizeof advice);
    add(facts, "latitude and longitude look exchanged: %s reads them the other way round", advice);
}

/* ---- numbers that are no degrees ---- */

static bool in_box(const struct dpl_area *area, const char *word, double lat, double lon) {
    struct coordinates coordinates;
    if (!area || !dpl_coordinates_parse(word, &coordinates)) return false;
    dpl_to_degrees(&coordinates, &lat, &lon);
    return lat >= area->south_deg && lat <= area->north_deg && lon >= area->west_deg &&
           lon <= area->east_deg;
}

/* UTM's code where the middle of the area lies. */
static void utm_of(const struct dpl_area *area, char word[16]) {
    int zone = (int)floor(((area->west_deg + area->east_deg) / 2 + 180) / 6) + 1;
    bool south = area->south_deg + area->north_deg < 0;
    snprintf(word, 16, "EPSG:%d%02d", south ? 327 : 326, zone < 1 ? 1 : zone > 60 ? 60 : zone);
}

/* What would bring the position into the area, or else what its size suggests; NULL: nothing. */
static const char *coordinates_of(const struct dpl_area *area, double lat, double lon,
                                  char word[16]) {
    double most = fmax(fabs(lat), fabs(lon));
    bool degrees = most <= 360;
    if (area) utm_of(area, word);
    if (degrees || !isfinite(most)) return NULL;
    if (in_box(area, "e7", lat, lon)) return "e7";
    if (in_box(area, "EPSG:3857", lat, lon)) return "EPSG:3857";
    if (area && in_box(area, word, lat, lon)) return word;
    return most > MERCATOR_MOST_M && fabs(lat) <= 9e8 && fabs(lon) <= 1.8e9 ? "e7" : NULL;
}

static void hint_position(const struct dpl_read_options *options, const struct dpl_area *area,
                          struct dpl_read_facts *facts) {
    const double lat = facts->signs.odd_lat, lon = facts->signs.odd_lon;
    char utm[16];
    if (fabs(lat) > 90 && fabs(lat) <= 180 && fabs(lon) <= 90) {
        hint_exchanged(options, facts);
        return;
    }
    const char *word = coordinates_of(area, lat, lon, utm);
    if (word)
        add(facts, "positions like %.10g, %.10g look like %s, not degrees: `read.coordinates` %s",
            lat, lon, !strcmp(word, "e7") ? "degrees times 10^7" : "metres of a projection", word);
    else if (fabs(lat) <= MERCATOR_MOST_M && fabs(lon) <= MERCATOR_MOST_M &&
             fmax(fabs(lat), fabs(lon)) > 360)
        add(facts,
            "positions like %.10g, %.10g look like metres of a projection, not degrees: "
            "`read.coordinates` EPSG:3857 if it is web maps'%s",
            lat, lon,
            lon >= UTM_LEAST_M && lon < UTM_MOST_M && lat >= 0 && lat <= UTM_MOST_M
                ? ", EPSG:326NN if it is UTM of zone NN in the north (327NN in the south)"
                : "");
}

/* ---- times ---- */

/* "11/02/2008 10:15" -> "%s/%s/%Y %H:%M", the two open places being day and month; false when it is
 * not of that form. */
static bool slashed_pattern(const char *text, char *clock, size_t size, int *first, int *second) {
    int year, used = 0, parts[3];
    if (sscanf(text, "%2d/%2d/%4d%n", first, second, &year, &used) != 3 || !used) return false;
    const char *at = text + used;
    int n = sscanf(at, "%2d:%2d:%2d", &parts[0], &parts[1], &parts[2]);
    bool half = strpbrk(at, "aApP") != NULL;
    snprintf(clock, size, "%s%s%s%s", at[0] == 'T' ? "T" : " ", half ? "%I:%M" : "%H:%M",
             n == 3 ? ":%S" : "", half ? " %p" : "");
    return n >= 2;
}

static void hint_time(struct dpl_read_facts *facts) {
    const char *text = facts->signs.odd_time;
    char clock[32];
    int first, second;
    if (slashed_pattern(text, clock, sizeof clock, &first, &second)) {
        if (first > 12 || second > 12)
            add(facts, "times like '%s' are not ISO 8601: `read.time_format` '%s/%%Y%s'", text,
                first > 12 ? "%d/%m" : "%m/%d", clock);
        else
            add(facts,
                "times like '%s' may have the day or the month first: `read.time_format` "
                "'%%d/%%m/%%Y%s' or '%%m/%%d/%%Y%s'",
                text, clock, clock);
    } else if (dpl_time_is_clock(text, strlen(text))) {
        add(facts, "times like '%s' have no date: `read.date_column` names the column that has it",
            text);
    } else {
        add(facts,
            "times like '%s' are not understood: `read.time_format` says how they are written, "
            "such as '%%Y-%%m-%%d %%H:%%M:%%S'",
            text);
    }
}

/* ---- all ---- */

/* Control bytes would garble a terminal. */
static void make_printable(char *text) {
    for (; *text; text++)
        if (!isprint((unsigned char)*text)) *text = '?';
}

void dpl_hints_find(const struct dpl_read_options *options, const struct dpl_area *area,
                    struct dpl_read_facts *facts) {
    struct dpl_read_signs *signs = &facts->signs;
    const int64_t half = (facts->rows + 1) / 2;
    make_printable(signs->odd_time);
    facts->n_hints = 0;
    if (!facts->rows) return;
    if (signs->odd_positions >= half) hint_position(options, area, facts);
    if (signs->points_exchanged > 0 && 2 * signs->points_exchanged >= facts->points)
        hint_exchanged(options, facts);
    if (signs->odd_times >= half) hint_time(facts);
    if (signs->wide_rows >= half)
        add(facts, "rows have more fields than the header: decimal commas need another separator "
                   "than a comma between columns, or quotes around the numbers");
}
