/* GeoParquet 1.1: one row a trip. Its path is a LineString of two dimensions as WKB (the format
 * knows no measure), its times are a list of as many values; uid (when there are users), tid. */
#include "base/duckdb.h"
#include "write/table.h"

/* WKB: byte order, type and count, then pairs of doubles. */
enum { WKB_HEAD = 9, WKB_POINT = 16, WKB_LITTLE = 1, WKB_LINE = 2 };

/* A trip in a chunk of records: this, its WKB, then its times (n). */
struct head {
    int64_t uid, tid;
    uint64_t n;
    bool timed;
};

static size_t wkb_size(uint64_t n) { return WKB_HEAD + (size_t)n * WKB_POINT; }

static size_t record_size(const struct head *head) {
    return sizeof *head + wkb_size(head->n) + (head->timed ? (size_t)head->n * 8 : 0);
}

/* A path of one point is a line from that point to itself. */
static char *put_line(char *to, const struct dpl_visits *visits, uint32_t n) {
    const uint32_t type = WKB_LINE;
    *to++ = WKB_LITTLE;
    to = put_text(to, (const char *)&type, sizeof type);
    to = put_text(to, (const char *)&n, sizeof n);
    for (uint32_t i = 0; i < n; i++) {
        size_t at = i < visits->n ? i : visits->n - 1;
        const double pair[] = {visits->lng_udeg[at] / 1e6, visits->lat_udeg[at] / 1e6};
        to = put_text(to, (const char *)pair, sizeof pair);
    }
    return to;
}

static enum dpl_status trip(struct dpl_run *run, const struct dpl_visits *visits,
                            struct dpl_text *text) {
    const struct head head = {.uid = visits->uid,
                              .tid = visits->tid,
                              .n = visits->n < 2 ? 2 : visits->n,
                              .timed = visits->timed};
    char *to;
    DPL_TRY(dpl_text_room(run, text, record_size(&head), &to));
    to = put_text(to, (const char *)&head, sizeof head);
    to = put_line(to, visits, (uint32_t)head.n);
    for (size_t i = 0; i < head.n && head.timed; i++) {
        int64_t time = dpl_table_time(visits, i < visits->n ? i : visits->n - 1);
        to = put_text(to, (const char *)&time, sizeof time);
    }
    dpl_text_end(text, to);
    return DPL_OK;
}

static size_t columns(const struct dpl_sheet *sheet, struct dpl_table_column *column) {
    size_t n = dpl_table_head(sheet, true, column);
    column[n++] = (struct dpl_table_column){DPL_COLUMN_GEOMETRY, DUCK_BLOB, false};
    return n;
}

/* Appends the trip's times to the list vector; *used of its elements are taken. */
static void put_times(const struct duck *duck, void *vector, size_t row, const char *times,
                      uint64_t n, uint64_t *used) {
    struct {
        uint64_t offset, length;
    } *entry = duck->vector_get_data(vector);
    duck->list_vector_reserve(vector, *used + n);
    int64_t *element = duck->vector_get_data(duck->list_vector_get_child(vector));
    memcpy(element + *used, times, (size_t)n * sizeof *element);
    entry[row].offset = *used, entry[row].length = n;
    *used += n;
    duck->list_vector_set_size(vector, *used);
}

static size_t fill(const struct duck *duck, void *const *vector, const struct dpl_sheet *sheet,
                   const char *bytes, size_t length, size_t room, size_t *rows) {
    const size_t first = sheet->users ? 1 : 0;
    size_t at = 0;
    uint64_t used = 0;
    for (*rows = 0; *rows < room && at < length; ++*rows) {
        struct head head;
        memcpy(&head, bytes + at, sizeof head);
        const char *wkb = bytes + at + sizeof head;
        if (first) ((int64_t *)duck->vector_get_data(vector[0]))[*rows] = head.uid;
        ((int64_t *)duck->vector_get_data(vector[first]))[*rows] = head.tid;
        if (head.timed)
            put_times(duck, vector[first + 1], *rows, wkb + wkb_size(head.n), head.n, &used);
        duck->vector_assign_string_element_len(vector[first + 2], *rows, wkb, wkb_size(head.n));
        at += record_size(&head);
    }
    if (!sheet->timed) dpl_table_set_null(duck, vector[first + 1], *rows);
    return at;
}

/* The coordinates are longitude and latitude of WGS 84, which is what no "crs" means. */
static const char METADATA[] =
    "{geo: '{\"version\":\"1.1.0\",\"primary_column\":\"geometry\",\"columns\":{\"geometry\":"
    "{\"encoding\":\"WKB\",\"geometry_types\":[\"LineString\"]}}}'}";

static const struct dpl_table_kind KIND = {.columns = columns, .fill = fill, .metadata = METADATA};
const struct dpl_writer dpl_writer_geoparquet = {.name = "geoparquet",
                                                 .extension = ".geoparquet",
                                                 .media = "application/vnd.apache.parquet",
                                                 .renames = true,
                                                 .table = &KIND,
                                                 .trip = trip};
