/* Porto's table: one row a trip, POLYLINE with a point every 15 s from TIMESTAMP on. Visits are a
 * slot apart, so that points between them are made up:
 *
 *     0 s    15 s   30 s       45 s       60 s
 *     A      A      A+(B-A)/3  A+2(B-A)/3 B       one stays for the first half of the slot, then
 * goes straight on
 *
 * A reader that takes the most frequent cell of a slot (the first of equals) thus finds the visits
 * as they were. */
#include "write/writer.h"

enum { POINT_EVERY_S = 15, MAX_HEAD = 256, MAX_POINT = 32 };

static const char *header(bool users) {
    (void)users;
    return "\"TRIP_ID\",\"CALL_TYPE\",\"ORIGIN_CALL\",\"ORIGIN_STAND\",\"TAXI_ID\",\"TIMESTAMP\","
           "\"DAY_TYPE\",\"MISSING_DATA\",\"POLYLINE\"\n";
}

static char *put_point(char *to, int32_t lng_udeg, int32_t lat_udeg, bool first) {
    if (!first) *to++ = ',';
    *to++ = '[';
    to = put_udeg(to, lng_udeg);
    *to++ = ',';
    to = put_udeg(to, lat_udeg);
    *to++ = ']';
    return to;
}

static int32_t between(int32_t a, int32_t b, int part, int parts) {
    return a + (int32_t)(((int64_t)b - a) * part / parts);
}

static enum dpl_status trip(struct dpl_run *run, const struct dpl_visits *visits,
                            struct dpl_text *text) {
    if (visits->slot_s % POINT_EVERY_S != 0)
        return dpl_fail(run, DPL_USAGE,
                        "Porto's layout has a point every %d s, and %d s between visits is no "
                        "multiple of that (use --to csv)",
                        POINT_EVERY_S, visits->slot_s);
    int points = visits->slot_s / POINT_EVERY_S, still = (points + 1) / 2;
    const int32_t *lat = visits->lat_udeg, *lng = visits->lng_udeg;
    char *to;
    DPL_TRY(dpl_text_room(run, text, MAX_HEAD + visits->n * (size_t)points * MAX_POINT, &to));
    *to++ = '"';
    to = put_whole(to, visits->tid);
    to = PUT(to, "\",\"C\",\"\",\"\",\"");
    if (visits->uid > 0) to = put_whole(to, visits->uid);
    to = PUT(to, "\",\"");
    to = put_whole(to, visits->utc_s);
    to = PUT(to, "\",\"A\",\"False\",\"[");
    for (size_t i = 0; i + 1 < visits->n; i++)
        for (int p = 0; p < points; p++) {
            int part = p < still ? 0 : p - still + 1;
            to = put_point(to, between(lng[i], lng[i + 1], part, points - still + 1),
                           between(lat[i], lat[i + 1], part, points - still + 1), i == 0 && p == 0);
        }
    to = put_point(to, lng[visits->n - 1], lat[visits->n - 1], visits->n == 1);
    dpl_text_end(text, PUT(to, "]\"\n"));
    return DPL_OK;
}

const struct dpl_writer dpl_writer_porto = {"porto", ".porto.csv", true, header, trip};
