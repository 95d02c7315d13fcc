/* The table of formats and what they fill in: a block of lines becomes points and groups.
 *
 * A format is one file in this folder, which defines DPL_FORMAT_NAME, and one row of
 * DPL_FORMAT_LIST. No other place lists formats (tests/tables.sh).
 *
 * PRIVACY: how a row is read is a function of that row, of the header line, of file names and of
 * options, and of nothing else (docs/PRIVACY.md, "Reading"). `open` therefore sees the header lines
 * and no row, and `parse` sees rows that nothing but the layout connects. */
#ifndef DPL_INGEST_FORMAT_H
#define DPL_INGEST_FORMAT_H

#include "base/trips.h"
#include "ingest/identity.h"
#include "ingest/ingest.h"
#include "ingest/position.h"
#include "ingest/timestamp.h"

enum { MAX_COLUMNS = 64 };

enum role {
    ROLE_NONE,
    ROLE_TRIP,
    ROLE_USER,
    ROLE_TIME,
    ROLE_LAT,
    ROLE_LON,
    ROLE_DATE,
    ROLES,
    ROLE_POINT = ROLES /* lat and lon in one column: only where a column's role is looked up */
};
extern const char
    *const DPL_ROLE_NAMES[ROLES]; /* "", "trip", "user", "time", "lat", "lon", "date" */

/* A piece of a line, not terminated. */
struct field {
    const char *text;
    size_t length;
};

/* How a delimited member is written (csv, porto). */
struct columns {
    char delimiter;
    int count;                     /* fields a row must have at least: the last needed column + 1 */
    uint8_t role_at[MAX_COLUMNS];  /* enum role; porto keeps its own numbering */
    int column_of[8];              /* by role, -1: absent */
    const char *name[MAX_COLUMNS]; /* for messages */
    int header_count;              /* fields of the header line; 0: there is none */
    struct time_format time;
    int time_at;        /* the column with which a time is complete, -1: none */
    bool date_always;   /* every time has its date in the other column, not only times of day */
    bool time_optional; /* a row may leave its time empty */
    bool careful;       /* the quick scanner does not know the notation */
    struct coordinates coordinates;
};

/* One member as it is being read; immutable once opened. */
struct layout {
    const struct format *format;
    const char *member;  /* name, for messages */
    uint32_t number;     /* of the member: trip ids are its own */
    struct dpl_key user; /* the user that the member's name gives (cab, plt); zero: none */
    enum split split;
    int header_lines;
    bool timed;
    bool time_optional;             /* a point may have no time */
    bool no_users;                  /* a table without a column of users */
    bool by_user;                   /* the unit is the user: see row_key in csv.c */
    bool lat_first;                 /* adatrace: pairs are latitude, longitude */
    struct coordinates coordinates; /* adatrace */
    struct columns *columns;        /* csv, porto, tables in memory; else NULL */
    const struct table *table;      /* ingest/table.h; NULL: text */
};

/* Consecutive points with one key. A trip is all groups of its key, and its user is that of its
 * first row in the order of the file; where the unit is the user, all of its rows name it. */
struct group {
    struct dpl_key key;  /* zero: complete by itself, never continued */
    struct dpl_key user; /* of its first row; zero: unknown */
    struct dpl_key trip; /* its trip id, as its first row has it; zero: none */
    size_t first, n;
};

/* The first bad row of a kind in a block. */
struct example {
    int64_t line;       /* from the block's first */
    const char *column; /* borrowed from the layout, NULL: the row as a whole */
    char value[64];
};

/* Some rows of one chunk of a table (ingest/table.h). */
struct table_rows {
    size_t chunk;
    int64_t first, n;
};

struct block {
    struct dpl_run *run;
    const struct layout *layout;
    char *text; /* whole lines; text[length-1] is '\n' */
    size_t length, capacity;
    size_t cut_length; /* behind them: the member's last line, which has no line end; 0: none */
    struct table_rows table; /* in place of text: rows of a table in memory */
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
    int64_t line;        /* the line being read, from the block's first */
    int64_t lines, rows; /* all lines so far; those that should hold data */
    unsigned notations;  /* bit of each enum time_notation that was met */
    struct dpl_read_signs signs;
    int64_t rejected[DPL_REJECTS];
    struct example example[DPL_REJECTS];
};

/* What decides how a member is read. */
struct opening {
    struct dpl_run *run;
    struct dpl_arena *arena; /* for what the layout keeps */
    const struct dpl_read_options *options;
    const struct dpl_zone *zone; /* NULL: UTC */
    const char *name;
    struct field header; /* the format's header lines, each with its '\n' */
    bool schema; /* the lines were made from a table with a schema (ingest/parquet_lines.h) */
};

struct format {
    const char *name;
    const char *about; /* one line: what it is and where it comes from */
    bool one_person;   /* a member is one person's file, held in one block from end to end */
    bool document;     /* a member is one JSON text, unfolded into lines (ingest/unfold.h) */
    bool table;        /* its rows are points, in columns by role */
    bool schema;       /* its columns have names: the header is no line of the file */
    int header_lines;  /* csv has none with --columns: dpl_format_header_lines */
    /* Whether a file of this name is in this format; NULL: names do not tell. */
    bool (*named)(const char *base);
    /* Whether this first line is this format's header; NULL: there is none to tell by. */
    bool (*headed)(struct field first_line);
    /* For guesses alone: whether two first lines look like this format's; NULL: never guessed. */
    bool (*looks_like)(struct field first, struct field second);
    /* Checks --columns, before anything is opened; NULL: the format takes no such option. */
    enum dpl_status (*check_columns)(struct dpl_run *run, const struct dpl_read_options *options);
    /* Fills the layout in. On failure the message says what is missing. */
    enum dpl_status (*open)(const struct opening *opening, struct layout *layout);
    enum dpl_status (*parse)(struct block *block);
};

/* The only list of input formats, in the order in which names and headers are asked. csv, which
 * any table may be, is the last. */
#define DPL_FORMAT_LIST(ROW)                                                                       \
    ROW(PARQUET)                                                                                   \
    ROW(GEOJSONL)                                                                                  \
    ROW(GEOJSON)                                                                                   \
    ROW(PORTO)                                                                                     \
    ROW(GEOLIFE)                                                                                   \
    ROW(CABSPOTTING)                                                                               \
    ROW(ADATRACE)                                                                                  \
    ROW(OD)                                                                                        \
    ROW(CSV)
#define FORMAT_DECLARE(name) extern const struct format DPL_FORMAT_##name;
DPL_FORMAT_LIST(FORMAT_DECLARE)
#undef FORMAT_DECLARE

/* All names in one text, "geojsonl, porto, ..." */
enum { FORMAT_NAMES = 160 };
const char *dpl_format_names(char text[FORMAT_NAMES]);
/* By its own name, NULL if there is none. */
const struct format *dpl_format_called(const char *name);
/* By a member's name, NULL where it does not tell; compression endings do not count. */
const struct format *dpl_format_by_file_name(const char *name);
/* The format of a member: by option, by what the source made of it (`schema`), by name, by its
 * first line; csv if none of them tells. */
const struct format *dpl_format_choose(const struct dpl_read_options *options, const char *name,
                                       struct field first_line, bool schema);
/* Whether a member is one JSON text, by option or name. */
bool dpl_format_is_document(const struct dpl_read_options *options, const char *name);
int dpl_format_header_lines(const struct format *format, const struct dpl_read_options *options);
/* A format whose lines look like these two, NULL if there is none: for guesses alone. */
const struct format *dpl_format_guess(struct field first, struct field second);

/* Between columns: by option, or else what the header line has; 0 where it has none. */
char dpl_separator_given(const struct dpl_read_options *options, struct field header);
/* Whether a separator may be this word of the option. */
bool dpl_separator_known(const char *word);
/* The separator that occurs most often in a header line, 0 if none does. */
char dpl_find_delimiter(struct field line);
/* Under what word the option takes a separator: "tab", "space", or itself. */
const char *dpl_separator_word(char delimiter, char text[8]);

/* For `dploc inspect` alone, which is NOT PRIVATE: looks at the first rows of a member that says
 * nothing about itself. *found is set when `guessed`, a copy of the options, was completed so that
 * the member can be read; `advice` are then the options that private commands need. */
enum { GUESS_ADVICE = 256 };
enum dpl_status dpl_guess_options(const struct opening *opening, struct field sample,
                                  struct dpl_read_options *guessed, char advice[GUESS_ADVICE],
                                  bool *found);

/* ---- shared by the formats ---- */

static inline bool key_is_zero(struct dpl_key key) { return !(key.hi | key.lo); }
static inline bool keys_equal(struct dpl_key a, struct dpl_key b) {
    return a.hi == b.hi && a.lo == b.lo;
}
enum { SEED_USER = DPL_SEED_USER, SEED_TRIP = DPL_SEED_TRIP };

/* The next line that holds a row: without line end and byte order mark, neither blank nor with a
 * NUL byte (which is counted as a bad row). Moves *text on and counts; false at the block's end. */
bool dpl_block_next_row(struct block *block, const char **text, struct field *line);
/* Counts the present line as a bad row; column and value may be NULL/empty. */
void dpl_block_reject(struct block *block, enum dpl_reject reason, const char *column,
                      struct field value);
/* Checks the coordinates of one point; DPL_REJECTS when they are good. */
static inline enum dpl_reject check_position(double lat_deg, double lon_deg) {
    if (!(lat_deg >= -90 && lat_deg <= 90)) return DPL_REJECT_BAD_LATITUDE; // NaN fails it too
    if (!(lon_deg >= -180 && lon_deg <= 180)) return DPL_REJECT_BAD_LONGITUDE;
    return lat_deg == 0 && lon_deg == 0 ? DPL_REJECT_ZERO_COORDINATES : DPL_REJECTS;
}
static inline void block_note_time(struct block *block, enum time_notation notation) {
    block->notations |= 1u << notation;
}
/* Turns what was read as latitude and longitude into degrees and checks them; DPL_REJECTS when they
 * are good, otherwise the row is noted as a sign of other coordinates. */
enum dpl_reject dpl_block_settle(struct block *block, const struct coordinates *coordinates,
                                 struct point *point);
/* Appends a point to the last group. */
enum dpl_status dpl_block_add_point(struct block *block, struct point point);
enum dpl_status dpl_block_add_group(struct block *block, struct dpl_key key, struct dpl_key user);
/* Takes the last group back, with its points. */
void dpl_block_drop_group(struct block *block);
/* The ids that the rows to come have in the data itself, for its identity; zero: none. A new group
 * sets them to its user alone. */
void dpl_block_name_rows(struct block *block, struct dpl_key trip, struct dpl_key user);
/* Splits one line (without its '\n') at the delimiter, honouring quotes; fields lose quotes and
 * outer blanks. Returns the number of fields, at most MAX_COLUMNS; -1 on a quote that does not
 * close. */
int dpl_split_line(const char *line, size_t length, char delimiter,
                   struct field fields[MAX_COLUMNS]);
/* The line at the beginning of `text`, without its end and a byte order mark; *next is the rest. */
struct field dpl_take_line(struct field text, struct field *next);
bool dpl_field_is(struct field field, const char *word); /* in any case */
/* Without blanks and tabs at its ends. */
struct field dpl_trim(struct field field);
/* Whether a file's name ends so. */
bool dpl_name_ends(const char *base, const char *ending);
/* Of a path or "archive:member" name: what stands behind the last '/'. */
const char *dpl_base_name(const char *path);

#endif
