/* Porto's table: one row per trip, POLYLINE with a point every 15 s after TIMESTAMP. */
#include "write/writer.h"

enum { POINT_EVERY_S = 15, MAX_HEAD = 256, MAX_POINT = 32 };

static enum dpl_status begin(struct dpl_run *run, const struct dpl_sheet *sheet,
                             struct dpl_text *text) {
    static const char HEADER[] =
        "\"TRIP_ID\",\"CALL_TYPE\",\"ORIGIN_CALL\",\"ORIGIN_STAND\",\"TAXI_ID\",\"TIMESTAMP\","
        "\"DAY_TYPE\",\"MISSING_DATA\",\"POLYLINE\"\n";
    char *to;
    (void)sheet;
    DPL_TRY(dpl_text_room(run, text, sizeof HEADER, &to));
    dpl_text_end(text, PUT(to, HEADER));
    return DPL_OK;
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

static enum dpl_status trip(struct dpl_run *run, const struct dpl_visits *visits,
                            struct dpl_text *text) {
    if (visits->slot_s != POINT_EVERY_S)
        return dpl_fail(
            run, DPL_USAGE,
            "Porto's layout has a point every %d s, not every %d s (use `sample.to` csv)",
            POINT_EVERY_S, visits->slot_s);
    char *to;
    DPL_TRY(dpl_text_room(run, text, MAX_HEAD + visits->n * MAX_POINT, &to));
    *to++ = '"';
    to = put_whole(to, visits->tid);
    to = PUT(to, "\",\"C\",\"\",\"\",\"");
    if (visits->uid > 0) to = put_whole(to, visits->uid);
    to = PUT(to, "\",\"");
    to = put_whole(to, visits->utc_s);
    to = PUT(to, "\",\"A\",\"False\",\"[");
    for (size_t i = 0; i < visits->n; i++)
        to = put_point(to, visits->lng_udeg[i], visits->lat_udeg[i], i == 0);
    dpl_text_end(text, PUT(to, "]\"\n"));
    return DPL_OK;
}

const struct dpl_writer dpl_writer_porto = {.name = "porto",
                                            .extension = ".porto.csv",
                                            .media = "text/csv",
                                            .needs_time = true,
                                            .interval_s = POINT_EVERY_S,
                                            .begin = begin,
                                            .trip = trip};
