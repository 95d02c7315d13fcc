/* The layouts in which synthetic trips are written. A writer turns one decoded trip into text; it
 * neither opens files nor knows models, so that many trips can be written by many threads at once.
 * PRIVACY: what is written comes from struct dpl_visits alone. */
#ifndef DPL_WRITE_WRITER_H
#define DPL_WRITE_WRITER_H

#include "write/text.h"

/* Columns of a table, or properties of a Feature. */
enum dpl_column {
    DPL_COLUMN_UID,
    DPL_COLUMN_TID,
    DPL_COLUMN_DATETIME,
    DPL_COLUMN_LAT,
    DPL_COLUMN_LNG,
    DPL_COLUMNS,
    DPL_COLUMN_GEOMETRY = DPL_COLUMNS /* of a table of whole trips; keeps its name */
};

enum { DPL_COLUMN_NAME = 64 };

/* Other names for them; "": its own. */
struct dpl_names {
    char of[DPL_COLUMNS][DPL_COLUMN_NAME];
};
/* `names` may be NULL. */
const char *dpl_column_name(const struct dpl_names *names, enum dpl_column column);
/* Reads "tid=trip_id,lat=latitude"; NULL and "" rename nothing. */
enum dpl_status dpl_names_parse(struct dpl_run *run, const char *list, struct dpl_names *names);

/* What all trips of a file have in common. */
struct dpl_sheet {
    const struct dpl_names *names; /* NULL: their own */
    bool users, timed;
    enum dpl_times times;
};

/* A synthetic trip: where and when. */
struct dpl_visits {
    const struct dpl_names *names; /* of the sheet */
    int64_t tid, uid;              /* 1 and more; uid 0: the release has no users */
    size_t n;
    const int32_t *lat_udeg, *lng_udeg; /* (n) millionths of a degree */
    bool timed;
    int64_t utc_s; /* of the first visit; the others follow every slot_s */
    int slot_s;
    enum dpl_times times;
    int32_t offset_s,
        offset_after_s; /* local time less UTC, before visit `change_at`, and at and after it */
    size_t change_at;
};

struct dpl_writer {
    const char *name;      /* for --to */
    const char *extension; /* with its dot */
    bool needs_time;
    const char *media; /* its media type, before compression */
    bool tabular;      /* one row a point, in columns */
    bool renames;      /* it has columns, or properties, that can have other names */
    int interval_s;    /* seconds between two points of the layout; 0: any */
    /* What stands before the first trip and behind the last; NULL: nothing. */
    enum dpl_status (*begin)(struct dpl_run *run, const struct dpl_sheet *sheet,
                             struct dpl_text *text);
    const char *end;
    const struct dpl_table_kind *table; /* what `trip` makes are records of it; NULL: text */
    /* Appends one trip. */
    enum dpl_status (*trip)(struct dpl_run *run, const struct dpl_visits *visits,
                            struct dpl_text *text);
};

/* The only list of output formats (tests/tables.sh), each in a file of its own: porto's .porto.csv
 * stands before .csv. */
#define DPL_WRITER_LIST(ROW)                                                                       \
    ROW(porto)                                                                                     \
    ROW(parquet)                                                                                   \
    ROW(geoparquet)                                                                                \
    ROW(geojson)                                                                                   \
    ROW(geojsonl)                                                                                  \
    ROW(adatrace)                                                                                  \
    ROW(csv)
#define DPL_WRITER_DECLARE(name) extern const struct dpl_writer dpl_writer_##name;
DPL_WRITER_LIST(DPL_WRITER_DECLARE)
#undef DPL_WRITER_DECLARE

/* By name, or with name NULL by the path's ending before .gz or .zst; "-" is csv. */
enum dpl_status dpl_writer_find(struct dpl_run *run, const char *name, const char *path,
                                const struct dpl_writer **writer);

enum { DPL_DATETIME_SIZE = 25 };
/* The time of visit i as `times` says, 2025-03-03T08:15:00+01:00 at most. `day` and `date` remember
 * the last date written; begin with day INT64_MIN. */
struct dpl_datetime {
    int64_t day;
    char date[11]; /* 2025-03-03T */
};
char *dpl_put_datetime(char *to, const struct dpl_visits *visits, size_t i,
                       struct dpl_datetime *last);

#endif
