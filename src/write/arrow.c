/* Trips in memory as an Arrow stream: chunks of columns that are made when they are asked for. */
#include <errno.h>
#include <string.h>

#include "base/trips.h"
#include "base/zone.h"
#include "dploc_arrow.h"

enum { CHUNK_POINTS = 1 << 16, BUFFERS = 2 };
enum column { COLUMN_UID, COLUMN_TID, COLUMN_DATETIME, COLUMN_LAT, COLUMN_LNG, COLUMNS_MAX };

static const char *const NAMES[COLUMNS_MAX] = {"uid", "tid", "datetime", "lat", "lng"};

/* What the stream holds. */
struct export {
    struct dpl_run *run; /* its own: the caller's may be gone when chunks are asked for */
    struct dpl_trips *trips;
    struct dpl_zone *zone; /* NULL: UTC */
    enum dpl_times times;
    enum column column[COLUMNS_MAX];
    int64_t n_columns;
    char stamp_format[DPL_ZONE_NAME + 8];
    size_t trip, point; /* the next to be given away */
};

/* ---- schema ---- */

/* A parent and its children in one block, which goes with the parent. */
struct schema_block {
    struct ArrowSchema child[COLUMNS_MAX], *children[COLUMNS_MAX];
    char stamp_format[DPL_ZONE_NAME + 8];
};

static void release_child_schema(struct ArrowSchema *schema) { schema->release = NULL; }

static void release_schema(struct ArrowSchema *schema) {
    struct schema_block *block = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++)
        if (block->child[i].release) block->child[i].release(&block->child[i]);
    dpl_free(block);
    schema->release = NULL;
}

static const char *format_of(const struct export *export, const struct schema_block *block,
                             enum column column) {
    if (column == COLUMN_LAT || column == COLUMN_LNG) return "g";
    return column == COLUMN_DATETIME && export->times != DPL_TIMES_EPOCH ? block->stamp_format
                                                                         : "l";
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema) {
    struct export *export = stream->private_data;
    struct schema_block *block = dpl_alloc(export->run, 1, sizeof *block);
    if (!block) return ENOMEM;
    memcpy(block->stamp_format, export->stamp_format, sizeof block->stamp_format);
    for (int64_t i = 0; i < export->n_columns; i++) {
        enum column column = export->column[i];
        block->children[i] = &block->child[i];
        block->child[i] =
            (struct ArrowSchema){.format = format_of(export, block, column),
                                 .name = NAMES[column],
                                 .flags = column == COLUMN_DATETIME ? ARROW_FLAG_NULLABLE : 0,
                                 .release = release_child_schema};
    }
    *schema = (struct ArrowSchema){.format = "+s",
                                   .name = "",
                                   .n_children = export->n_columns,
                                   .children = block->children,
                                   .release = release_schema,
                                   .private_data = block};
    return 0;
}

/* ---- chunks ---- */

struct chunk_block {
    struct ArrowArray child[COLUMNS_MAX], *children[COLUMNS_MAX];
    const void *buffers[COLUMNS_MAX][BUFFERS];
    const void *no_nulls[1];
    int64_t *uid, *tid, *datetime; /* (n) */
    double *lat, *lng;             /* (n) */
    uint8_t *timed;                /* bits, (n + 7) / 8 */
    void *columns;                 /* these */
};

static void release_child_array(struct ArrowArray *array) { array->release = NULL; }

static void release_chunk(struct ArrowArray *array) {
    struct chunk_block *block = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (block->child[i].release) block->child[i].release(&block->child[i]);
    dpl_free(block->columns);
    dpl_free(block);
    array->release = NULL;
}

static int64_t datetime_of(const struct export *export, int64_t utc_s) {
    static const int64_t MICROSECONDS = 1000000;
    if (export->times == DPL_TIMES_EPOCH) return utc_s;
    bool naive = export->times == DPL_TIMES_NAIVE && export->zone;
    return (utc_s + (naive ? dpl_zone_offset_s(export->zone, utc_s) : 0)) * MICROSECONDS;
}

/* The next n points; returns how many of them have no time. */
static int64_t fill(struct export *export, const struct chunk_block *block, size_t n) {
    const struct dpl_trips *trips = export->trips;
    int64_t untimed = 0;
    for (size_t i = 0; i < n; i++, export->point++) {
        while (export->point == trips->start[export->trip + 1]) export->trip++;
        const size_t p = export->point;
        const bool timed = trips->utc_s[p] != 0;
        block->uid[i] = trips->user_id[export->trip];
        block->tid[i] = trips->trip_id[export->trip];
        block->datetime[i] = timed ? datetime_of(export, trips->utc_s[p]) : 0;
        block->timed[i >> 3] |= (uint8_t)(timed << (i & 7));
        block->lat[i] = trips->lat_deg[p];
        block->lng[i] = trips->lon_deg[p];
        untimed += !timed;
    }
    return untimed;
}

static const void *data_of(const struct chunk_block *block, enum column column) {
    const void *const data[COLUMNS_MAX] = {block->uid, block->tid, block->datetime, block->lat,
                                           block->lng};
    return data[column];
}

static void describe_chunk(const struct export *export, struct chunk_block *block, size_t n,
                           int64_t untimed, struct ArrowArray *array) {
    for (int64_t i = 0; i < export->n_columns; i++) {
        const bool times = export->column[i] == COLUMN_DATETIME;
        block->buffers[i][0] = times ? block->timed : NULL;
        block->buffers[i][1] = data_of(block, export->column[i]);
        block->children[i] = &block->child[i];
        block->child[i] = (struct ArrowArray){.length = (int64_t)n,
                                              .null_count = times ? untimed : 0,
                                              .n_buffers = BUFFERS,
                                              .buffers = block->buffers[i],
                                              .release = release_child_array};
    }
    *array = (struct ArrowArray){.length = (int64_t)n,
                                 .n_buffers = 1,
                                 .n_children = export->n_columns,
                                 .buffers = block->no_nulls,
                                 .children = block->children,
                                 .release = release_chunk,
                                 .private_data = block};
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *array) {
    struct export *export = stream->private_data;
    const struct dpl_trips *trips = export->trips;
    size_t left = trips->n_points - export->point, n = left < CHUNK_POINTS ? left : CHUNK_POINTS;
    array->release = NULL;
    if (n == 0) return 0;
    struct chunk_block *block = dpl_alloc(export->run, 1, sizeof *block);
    if (!block) return ENOMEM;
    block->columns = DPL_BLOCK(export->run, DPL_PIECE(block->uid, n), DPL_PIECE(block->tid, n),
                               DPL_PIECE(block->datetime, n), DPL_PIECE(block->lat, n),
                               DPL_PIECE(block->lng, n), DPL_PIECE(block->timed, n / 8 + 1));
    if (!block->columns) {
        dpl_free(block);
        return ENOMEM;
    }
    describe_chunk(export, block, n, fill(export, block, n), array);
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
    struct export *export = stream->private_data;
    return dpl_run_message(export->run);
}

static void free_export(struct export *export) {
    dpl_trips_free(export->trips);
    dpl_zone_free(export->zone);
    dpl_run_free(export->run);
    dpl_free(export);
}

static void release_stream(struct ArrowArrayStream *stream) {
    free_export(stream->private_data);
    stream->release = NULL;
}

/* ---- the public call ---- */

static bool knows_users(const struct dpl_trips *trips) {
    for (size_t i = 0; i < trips->n_trips; i++)
        if (trips->user_id[i] >= 0) return true;
    return false;
}

static enum dpl_status settle(struct dpl_run *run, struct export *export) {
    struct dpl_trips *trips = export->trips;
    struct dpl_columns columns;
    DPL_TRY(dpl_trips_columns(run, trips, &columns)); // refuses what is not in memory
    if (trips->zone[0]) DPL_TRY(dpl_zone_open(run, trips->zone, &export->zone));
    for (enum column i = knows_users(trips) ? COLUMN_UID : COLUMN_TID; i < COLUMNS_MAX; i++)
        export->column[export->n_columns++] = i;
    const char *zone = trips->zone[0] && export->times == DPL_TIMES_LOCAL ? trips->zone : "UTC";
    snprintf(export->stamp_format, sizeof export->stamp_format, "tsu:%s",
             export->times == DPL_TIMES_NAIVE ? "" : zone);
    export->run = dpl_run_new(NULL);
    return export->run ? DPL_OK : dpl_fail(run, DPL_SYSTEM, "out of memory");
}

enum dpl_status dpl_trips_to_arrow(struct dpl_run *run, struct dpl_trips *trips,
                                   enum dpl_times times, struct ArrowArrayStream *stream) {
    dpl_run_begin(run);
    struct export *export = dpl_alloc(run, 1, sizeof *export);
    if (!export) {
        dpl_trips_free(trips);
        return DPL_SYSTEM;
    }
    *export = (struct export){.trips = trips, .times = times};
    enum dpl_status status = settle(run, export);
    if (status != DPL_OK) {
        free_export(export);
        return status;
    }
    *stream = (struct ArrowArrayStream){.get_schema = get_schema,
                                        .get_next = get_next,
                                        .get_last_error = get_last_error,
                                        .release = release_stream,
                                        .private_data = export};
    return DPL_OK;
}
