/* Byte-level neighbours: does one unit's part of the input change how the rest of it is read?
 *
 * A set is the input as bytes: a table, or an archive of one file a person. Another unit's bytes x
 * are put into it; what comes out of reading and cleaning must be what came out of the set, and
 * what comes out of x alone, and nothing else. Shared by neighbours_test and neighbours_fuzz, so
 * without cmocka. */
#ifndef DPL_TEST_NEIGHBOURS_H
#define DPL_TEST_NEIGHBOURS_H

#include "ingest/identity.h"

enum shape {
    SHAPE_CSV,       /* header, trip and user */
    SHAPE_SEMICOLON, /* header, another order of columns, ISO times, CRLF */
    SHAPE_TRACKS,    /* header, users without trips: tracks are cut */
    SHAPE_COLUMNS,   /* --columns: every line is a row */
    SHAPE_TAB,       /* --columns --separator tab; a CR within each row */
    SHAPE_SPLIT,  /* header, lines end in CR; date and time apart, points as text; --drop points */
    SHAPE_BLANKS, /* header, blanks between columns, compact stamps, decimal commas */
    SHAPE_ADATRACE, /* no times, no users */
    SHAPE_PORTO,
    SHAPE_GEOJSONL,
    SHAPE_OD, /* a trip's two ends a row */
    SHAPE_CAB,
    SHAPE_GEOLIFE,
    SHAPES
};
extern const char *const SHAPE_NAMES[SHAPES];

/* Text that grows; memory that is short ends the process. */
struct bytes {
    char *text;
    size_t length, capacity;
};
void bytes_add(struct bytes *bytes, const void *text, size_t length);
void bytes_print(struct bytes *bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum { MEMBERS_MAX = 24, MEMBER_NAME = 96 };

struct member {
    char name[MEMBER_NAME];
    struct bytes bytes;
};

/* A table is one member without a name; one file a person is an archive of members. */
struct set {
    enum shape shape;
    struct member member[MEMBERS_MAX];
    size_t n;
};
void set_free(struct set *set);
/* Whether each member is one person's file. */
bool shape_has_files(enum shape shape);
/* What a member of the shape begins with, "" when it has no header. */
const char *shape_header(enum shape shape);
/* One good row (or trip, where a row is one) of a unit, with its line end. */
void shape_row(enum shape shape, struct bytes *into, const char *trip, const char *user,
               int64_t utc_s, double lat_deg, double lon_deg);

/* Where things are tried out: a directory for the file that is read, and limits. */
struct trial {
    const char *directory;
    struct ingest_limits limits;
    int threads;
    const char *time_unit; /* NULL: auto */
    bool identify;         /* the rows are identified, as a fit does, and compared, too */
    uint32_t shards;       /* where they are: of so many shards the first is read; 0: all */
};

/* What reading and cleaning gave, in an order of its own. */
struct outcome {
    enum dpl_status status;
    char message[512];
    uint64_t *recording, *trip; /* sorted hashes: of raw recordings with their user; of trips */
    size_t n_recordings, n_trips;
    struct dpl_identity identity; /* of the rows, under a key of zeros */
    int64_t rejected[DPL_REJECTS];
    size_t files_skipped;
};
void outcome_free(struct outcome *outcome);
struct outcome trial_read(const struct trial *trial, const struct set *set);
/* "" when `both` is `one` and `other` together, and ends as `one` does; else what is wrong. */
const char *outcome_compare(const struct outcome *one, const struct outcome *other,
                            const struct outcome *both);

#endif
