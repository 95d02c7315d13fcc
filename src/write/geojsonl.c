/* GeoJSON lines: one Feature a trip, a LineString of [longitude, latitude, 0, unix seconds], which
 * is what kepler.gl animates; others read the first two. Without times the positions have two
 * numbers. */
#include "write/writer.h"

enum { MAX_HEAD = 256, MAX_POINT = 64 };

static const char *header(bool users) {
    (void)users;
    return NULL;
}

static enum dpl_status trip(struct dpl_run *run, const struct dpl_visits *visits,
                            struct dpl_text *text) {
    struct dpl_datetime last = {.day = INT64_MIN};
    char *to;
    DPL_TRY(dpl_text_room(run, text, MAX_HEAD + visits->n * MAX_POINT, &to));
    to = PUT(to, "{\"type\":\"Feature\",\"properties\":{");
    if (visits->uid > 0) {
        to = PUT(to, "\"uid\":");
        to = put_whole(to, visits->uid);
        *to++ = ',';
    }
    to = PUT(to, "\"tid\":");
    to = put_whole(to, visits->tid);
    if (visits->timed) {
        to = PUT(to, ",\"datetime\":\"");
        to = dpl_put_datetime(to, visits, 0, &last);
        *to++ = '"';
    }
    to = PUT(to, "},\"geometry\":{\"type\":\"LineString\",\"coordinates\":[");
    for (size_t i = 0; i < visits->n; i++) {
        if (i > 0) *to++ = ',';
        *to++ = '[';
        to = put_udeg(to, visits->lng_udeg[i]);
        *to++ = ',';
        to = put_udeg(to, visits->lat_udeg[i]);
        if (visits->timed) {
            to = PUT(to, ",0,");
            to = put_whole(to, visits->utc_s + (int64_t)i * visits->slot_s);
        }
        *to++ = ']';
    }
    dpl_text_end(text, PUT(to, "]}}\n"));
    return DPL_OK;
}

const struct dpl_writer dpl_writer_geojsonl = {
    .name = "geojsonl", .extension = ".geojsonl", .header = header, .trip = trip};
