/* CSV with scikit-mobility's column names: uid (when there are users), tid, datetime, lat, lng; one
 * row per visit. */
#include "write/writer.h"

enum { MAX_ROW = 112 };

static enum dpl_status begin(struct dpl_run *run, const struct dpl_sheet *sheet,
                             struct dpl_text *text) {
    char *to;
    DPL_TRY(dpl_text_room(run, text, DPL_COLUMNS * DPL_COLUMN_NAME, &to));
    for (enum dpl_column i = sheet->users ? 0 : DPL_COLUMN_TID; i < DPL_COLUMNS; i++) {
        const char *name = dpl_column_name(sheet->names, i);
        to = put_text(to, name, strlen(name));
        *to++ = i + 1 < DPL_COLUMNS ? ',' : '\n';
    }
    dpl_text_end(text, to);
    return DPL_OK;
}

static enum dpl_status trip(struct dpl_run *run, const struct dpl_visits *visits,
                            struct dpl_text *text) {
    struct dpl_datetime last = {.day = INT64_MIN};
    char *to, head[48], *head_end = head;
    DPL_TRY(dpl_text_room(run, text, visits->n * MAX_ROW, &to));
    if (visits->uid > 0) {
        head_end = put_whole(head_end, visits->uid);
        *head_end++ = ',';
    }
    head_end = put_whole(head_end, visits->tid);
    *head_end++ = ',';
    for (size_t i = 0; i < visits->n; i++) {
        to = put_text(to, head, (size_t)(head_end - head));
        if (visits->timed) to = dpl_put_datetime(to, visits, i, &last);
        *to++ = ',';
        to = put_udeg(to, visits->lat_udeg[i]);
        *to++ = ',';
        to = put_udeg(to, visits->lng_udeg[i]);
        *to++ = '\n';
    }
    dpl_text_end(text, to);
    return DPL_OK;
}

const struct dpl_writer dpl_writer_csv = {.name = "csv",
                                          .extension = ".csv",
                                          .media = "text/csv",
                                          .tabular = true,
                                          .renames = true,
                                          .begin = begin,
                                          .trip = trip};
