/* See feature.h. */
#include "write/feature.h"

enum { MAX_HEAD = 256 + 3 * DPL_COLUMN_NAME, MAX_POINT = 64 };

/* "name": with a comma in front unless it is the first. */
static char *put_member(char *to, const struct dpl_visits *visits, enum dpl_column column,
                        bool first) {
    const char *name = dpl_column_name(visits->names, column);
    if (!first) *to++ = ',';
    *to++ = '"';
    to = put_text(to, name, strlen(name));
    return PUT(to, "\":");
}

static char *put_properties(char *to, const struct dpl_visits *visits) {
    struct dpl_datetime last = {.day = INT64_MIN};
    if (visits->uid > 0) {
        to = put_member(to, visits, DPL_COLUMN_UID, true);
        to = put_whole(to, visits->uid);
    }
    to = put_member(to, visits, DPL_COLUMN_TID, visits->uid <= 0);
    to = put_whole(to, visits->tid);
    if (!visits->timed) return to;
    to = PUT(put_member(to, visits, DPL_COLUMN_DATETIME, false), "\"");
    to = dpl_put_datetime(to, visits, 0, &last);
    return PUT(to, "\"");
}

enum dpl_status dpl_put_feature(struct dpl_run *run, const struct dpl_visits *visits,
                                const char *before, const char *after, struct dpl_text *text) {
    char *to;
    const size_t around = strlen(before) + strlen(after);
    DPL_TRY(dpl_text_room(run, text, around + MAX_HEAD + visits->n * MAX_POINT, &to));
    to = put_text(to, before, strlen(before));
    to = PUT(to, "{\"type\":\"Feature\",\"properties\":{");
    to = put_properties(to, visits);
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
    to = PUT(to, "]}}");
    dpl_text_end(text, put_text(to, after, strlen(after)));
    return DPL_OK;
}
