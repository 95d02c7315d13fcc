/* The format of AdaTrace, PrivTrace and LDPTrace: "#7:" and ">0:x,y;x,y;...;", x the longitude. It
 * has no times and no users. */
#include "write/writer.h"

enum { MAX_HEAD = 64, MAX_POINT = 32 };

static enum dpl_status trip(struct dpl_run *run, const struct dpl_visits *visits,
                            struct dpl_text *text) {
    char *to;
    DPL_TRY(dpl_text_room(run, text, MAX_HEAD + visits->n * MAX_POINT, &to));
    *to++ = '#';
    to = put_whole(to, visits->tid);
    to = PUT(to, ":\n>0:");
    for (size_t i = 0; i < visits->n; i++) {
        to = put_udeg(to, visits->lng_udeg[i]);
        *to++ = ',';
        to = put_udeg(to, visits->lat_udeg[i]);
        *to++ = ';';
    }
    dpl_text_end(text, PUT(to, "\n"));
    return DPL_OK;
}

const struct dpl_writer dpl_writer_adatrace = {
    .name = "adatrace", .extension = ".dat", .media = "text/plain", .trip = trip};
