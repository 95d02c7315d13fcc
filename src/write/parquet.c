/* Parquet with the columns of csv: uid (when there are users), tid, datetime, lat, lng; one row per
 * visit, packed with zstd. A time is a timestamp with zone, or as `times` says. */
#include "base/duckdb.h"
#include "write/table.h"

struct row {
    int64_t uid, tid, time;
    double lat_deg, lng_deg;
};

static enum dpl_status trip(struct dpl_run *run, const struct dpl_visits *visits,
                            struct dpl_text *text) {
    char *to;
    DPL_TRY(dpl_text_room(run, text, visits->n * sizeof(struct row), &to));
    for (size_t i = 0; i < visits->n; i++) {
        const struct row row = {.uid = visits->uid,
                                .tid = visits->tid,
                                .time = visits->timed ? dpl_table_time(visits, i) : 0,
                                .lat_deg = visits->lat_udeg[i] / 1e6,
                                .lng_deg = visits->lng_udeg[i] / 1e6};
        to = put_text(to, (const char *)&row, sizeof row);
    }
    dpl_text_end(text, to);
    return DPL_OK;
}

static size_t columns(const struct dpl_sheet *sheet, struct dpl_table_column *column) {
    size_t n = dpl_table_head(sheet, false, column);
    column[n++] = (struct dpl_table_column){DPL_COLUMN_LAT, DUCK_DOUBLE, false};
    column[n++] = (struct dpl_table_column){DPL_COLUMN_LNG, DUCK_DOUBLE, false};
    return n;
}

static size_t fill(const struct duck *duck, void *const *vector, const struct dpl_sheet *sheet,
                   const char *bytes, size_t length, size_t room, size_t *rows) {
    const size_t at = sheet->users ? 1 : 0;
    int64_t *uid = sheet->users ? duck->vector_get_data(vector[0]) : NULL,
            *tid = duck->vector_get_data(vector[at]), *time = duck->vector_get_data(vector[at + 1]);
    double *lat_deg = duck->vector_get_data(vector[at + 2]),
           *lng_deg = duck->vector_get_data(vector[at + 3]);
    size_t n = length / sizeof(struct row);
    if (n > room) n = room;
    for (size_t i = 0; i < n; i++) {
        struct row row;
        memcpy(&row, bytes + i * sizeof row, sizeof row);
        if (uid) uid[i] = row.uid;
        tid[i] = row.tid, time[i] = row.time;
        lat_deg[i] = row.lat_deg, lng_deg[i] = row.lng_deg;
    }
    if (!sheet->timed) dpl_table_set_null(duck, vector[at + 1], n);
    *rows = n;
    return n * sizeof(struct row);
}

static const struct dpl_table_kind KIND = {.columns = columns, .fill = fill};
const struct dpl_writer dpl_writer_parquet = {.name = "parquet",
                                              .extension = ".parquet",
                                              .media = "application/vnd.apache.parquet",
                                              .tabular = true,
                                              .renames = true,
                                              .table = &KIND,
                                              .trip = trip};
