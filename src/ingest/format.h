/* The table of formats and what they fill in: a block of lines becomes points and groups. */
#ifndef DPL_INGEST_FORMAT_H
#define DPL_INGEST_FORMAT_H

#include "ingest/identity.h"
#include "ingest/ingest.h"
#include "ingest/timestamp.h"

enum { MAX_COLUMNS = 64 };

enum role { ROLE_NONE, ROLE_TRIP, ROLE_USER, ROLE_TIME, ROLE_LAT, ROLE_LON, ROLES };

/* A piece of a line, not terminated. */
struct field {
    const char *text;
    size_t length;
};

/* How a delimited member is written (csv, porto). */
struct columns {
    char delimiter;
    bool has_header;
    int count;                     /* fields a row must have at least: the last needed column + 1 */
    uint8_t role_at[MAX_COLUMNS];  /* enum role; porto keeps its own numbering */
    int column_of[8];              /* by role, -1: absent */
    const char *name[MAX_COLUMNS]; /* for messages */
    struct time_format time;
    bool iso_without_offset; /* times were read in a zone that the file does not name */
};

/* One member as it is being read; immutable once detected. */
struct layout {
    const struct format *format;
    const char *member;  /* name, for messages */
    uint32_t number;     /* of the member: trip ids are its own */
    struct dpl_key user; /* the user that the member's name gives (cab, plt); zero: none */
    enum split split;
    bool timed;
    bool no_users;           /* a table without a column of users */
    struct columns *columns; /* csv, porto; else NULL */
};

/* Consecutive points with one key. A trip is all groups of its key, and its user is that of its
 * first row in the order of the file. */
struct group {
    struct dpl_key key;  /* zero: complete by itself, never continued */
    struct dpl_key user; /* of its first row; zero: unknown */
    size_t first, n;
};

/* The first bad row of a kind in a block. */
struct example {
    int64_t line;       /* from the block's first */
    const char *column; /* borrowed from the layout, NULL: the row as a whole */
    char value[64];
};

struct block {
    struct dpl_run *run;
    const struct layout *layout;
    char *text; /* whole lines; text[length-1] is '\n' */
    size_t length, capacity;
    bool opens_member;
    bool line_too_long;            /* the text is empty: one line was longer than a block */
    bool strict;                   /* time that runs backwards is a bad row */
    struct identifier *identifier; /* gets every point that is added; NULL: not wanted */

    struct point *points; /* (n_points) */
    size_t n_points, points_capacity;
    uint8_t *flags; /* scratch, (n_points): cab occupancy */
    size_t flags_capacity;
    struct group *groups; /* (n_groups) */
    size_t n_groups, groups_capacity;
    int64_t lines, rows; /* all lines; those that should hold data */
    int64_t rejected[DPL_REJECTS];
    struct example example[DPL_REJECTS];
};

/* What detection works on: the beginning of a member. */
struct sample {
    struct dpl_run *run;
    struct dpl_arena *arena; /* for what the layout keeps */
    const struct dpl_read_options *options;
    const struct dpl_zone *zone; /* NULL: UTC */
    const char *name;
    const char *text;
    size_t length; /* ends in '\n' */
};

struct format {
    const char *name;
    bool whole_member; /* a block holds a member from beginning to end */
    /* Whether the name and first lines are this format's. */
    bool (*matches)(const struct sample *sample);
    /* Fills the layout in. On failure the message says what is missing. */
    enum dpl_status (*open)(const struct sample *sample, struct layout *layout);
    enum dpl_status (*parse)(struct block *block);
};

extern const struct format FORMAT_CSV, FORMAT_PORTO, FORMAT_CABSPOTTING, FORMAT_GEOLIFE,
    FORMAT_GEOJSONL;
/* By name, NULL if there is none. */
const struct format *format_named(const char *name);
/* By looking, NULL if it is none of ours. */
const struct format *format_detect(const struct sample *sample);

/* ---- shared by the formats ---- */

static inline bool key_is_zero(struct dpl_key key) { return !(key.hi | key.lo); }
static inline bool keys_equal(struct dpl_key a, struct dpl_key b) {
    return a.hi == b.hi && a.lo == b.lo;
}
enum { SEED_USER = 1, SEED_TRIP = 2 };

/* Counts a bad row; `line` counts from the block's first; column and value may be NULL/empty. */
void block_reject(struct block *block, enum dpl_reject reason, int64_t line, const char *column,
                  struct field value);
/* Checks the coordinates of one point; DPL_REJECTS when they are good. */
static inline enum dpl_reject check_position(double lat_deg, double lon_deg) {
    if (!(lat_deg >= -90 && lat_deg <= 90)) return DPL_REJECT_BAD_LATITUDE; // NaN fails it too
    if (!(lon_deg >= -180 && lon_deg <= 180)) return DPL_REJECT_BAD_LONGITUDE;
    return lat_deg == 0 && lon_deg == 0 ? DPL_REJECT_ZERO_COORDINATES : DPL_REJECTS;
}
/* Appends a point to the last group. */
enum dpl_status block_add_point(struct block *block, struct point point);
enum dpl_status block_add_group(struct block *block, struct dpl_key key, struct dpl_key user);
/* The ids that the rows to come have in the data itself, for its identity; zero: none. A new group
 * sets them to its user alone. */
void block_name_rows(struct block *block, struct dpl_key trip, struct dpl_key user);
/* Splits one line (without its '\n') at the delimiter, honouring quotes; fields lose quotes and
 * outer blanks. Returns the number of fields, at most MAX_COLUMNS; -1 on a quote that does not
 * close. */
int split_line(const char *line, size_t length, char delimiter, struct field fields[MAX_COLUMNS]);
/* The line at `text` without '\n' and '\r'; *next is where the following one starts. */
struct field take_line(const char *text, const char **next);
/* Of a path or "archive:member" name: what stands behind the last '/'. */
const char *base_name(const char *path);

#endif
