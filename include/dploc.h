/* dploc: publish synthetic trips instead of private ones, with a true epsilon.
 *
 * This header is the manual. Its sections stand in the order in which data moves:
 *
 *     run -> area and grid -> read and clean -> fit -> sample -> evaluate -> report
 *
 * Conventions. Whatever can fail returns `enum dpl_status`; DPL_OK is 0. Results come through the
 * last pointers and are untouched on failure; dpl_run_message() then says what went wrong, where,
 * and what to do. Angles are degrees (WGS84), distances metres, times seconds since 1970 UTC; the
 * unit stands in the name. The library never prints, never exits and keeps no global state.
 */
#ifndef DPLOC_H
#define DPLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DPL_API __attribute__((visibility("default")))
#else
#define DPL_API
#endif

DPL_API const char *dpl_version(void);

/* --------------------------------------------------------------------------------------------
 * Status and run
 *
 * A run is the context every call takes first: it holds the error message, the number of threads,
 * and whom to tell about progress. One run per thread of the caller; a run may be used for any
 * number of calls. Interrupting a run (from a signal handler, too) makes the call in progress
 * return DPL_INTERRUPTED at its next safe point.
 *
 *     struct dpl_run_options options = dpl_run_defaults();
 *     struct dpl_run *run = dpl_run_new(&options);
 *     if (dpl_...(run, ...) != DPL_OK) fprintf(stderr, "%s\n", dpl_run_message(run));
 *     dpl_run_free(run);
 */

enum dpl_status {
    DPL_OK = 0,
    DPL_BAD_DATA = 1,     /* what was read is not what it should be */
    DPL_USAGE = 2,        /* the caller asked for something that makes no sense */
    DPL_SYSTEM = 3,       /* memory, disk, permissions */
    DPL_REFUSED = 4,      /* it would break the privacy promise */
    DPL_INTERRUPTED = 130 /* dpl_run_interrupt() was called */
};

struct dpl_progress {
    const char *phase;   /* "reading", "training", ... */
    const char *unit;    /* what `done` counts: "MB", "trips", "steps" */
    double done, total;  /* total is 0 when unknown */
    double seconds;      /* since the phase began */
    double rate;         /* done per second */
    double seconds_left; /* negative when unknown */
    double epsilon;      /* spent so far by this release; 0: not known, or nothing */
    bool finished;       /* the last call of the phase */
};

struct dpl_run_options {
    int threads; /* 0: all cores */
    /* Called at most a few times a second, and once at the end of each phase; may be NULL. */
    void (*on_progress)(void *user, const struct dpl_progress *progress);
    /* Called with one sentence about a choice that was made or a thing to know; may be NULL. */
    void (*on_note)(void *user, const char *sentence);
    void *user;
};

struct dpl_run;

DPL_API struct dpl_run_options dpl_run_defaults(void);
/* NULL only when memory is short. Caller frees with dpl_run_free. */
DPL_API struct dpl_run *dpl_run_new(const struct dpl_run_options *options);
DPL_API void dpl_run_free(struct dpl_run *run);
/* The message of the last failure, "" if there was none. Borrowed until the next call. */
DPL_API const char *dpl_run_message(const struct dpl_run *run);
/* Safe to call from a signal handler or another thread. */
DPL_API void dpl_run_interrupt(struct dpl_run *run);
/* The number of threads the run uses. */
DPL_API int dpl_run_threads(const struct dpl_run *run);

/* --------------------------------------------------------------------------------------------
 * Paths
 *
 * Private originals cannot be had again, so no output may be one of them, whatever it is called.
 * Files are compared by device and inode, links are followed, directories are walked. Ask before
 * anything is read or spent.
 *
 *     const char *const in[] = {"trips.csv"}, *const out[] = {"city.dploc"};
 *     struct dpl_paths paths = {.inputs = in, .n_inputs = 1, .outputs = out, .n_outputs = 1};
 *     if (dpl_paths_check(run, &paths) != DPL_OK) ...
 */

struct dpl_paths {
    const char *const *inputs; /* files, directories (all that is below), "-" (standard input) */
    size_t n_inputs;
    const char *const *outputs; /* files to be written or replaced */
    size_t n_outputs;
    const char *directory; /* to be replaced as a whole; NULL: none */
};

/* DPL_USAGE when an output is an input, or two outputs are one file, or one of either lies in the
 * directory. */
DPL_API enum dpl_status dpl_paths_check(struct dpl_run *run, const struct dpl_paths *paths);

/* --------------------------------------------------------------------------------------------
 * Area and grid
 *
 * Where and how finely to look: a box, a cell size, a time zone. These are public choices, taken
 * from a map or a preset and never from the private data, because a box read off the data gives
 * away its outermost trip. The grid cuts the box into squares of true local metres.
 *
 *     struct dpl_area area = dpl_area_defaults();
 *     dpl_area_preset(run, "sf", &area);
 *     struct dpl_grid grid;
 *     dpl_grid_make(run, &area, &grid);
 *     int32_t cell = dpl_grid_cell_at(&grid, 37.77, -122.42);
 */

enum { DPL_MAX_CELLS = 1 << 22, DPL_MAX_PERIODS = 96, DPL_ZONE_NAME = 64 };

struct dpl_area {
    double south_deg, west_deg, north_deg, east_deg;
    double cell_m;            /* side of a cell, 500 */
    double speed_limit_kmh;   /* no real trip is faster, 150 */
    int slot_s;               /* one visit per slot, 60 */
    int periods;              /* time slots of a day, 24: hours */
    char zone[DPL_ZONE_NAME]; /* IANA name; the period of a trip is local */
};

/* Cell 500 m, 60 s slots, 24 periods, 150 km/h; box and zone are still to be given. */
DPL_API struct dpl_area dpl_area_defaults(void);
/* Box and zone of a named region, in any case; names come from dpl_area_preset_name. */
DPL_API enum dpl_status dpl_area_preset(struct dpl_run *run, const char *name,
                                        struct dpl_area *area);
/* The i-th named region's name, NULL past the last. */
DPL_API const char *dpl_area_preset_name(size_t i);

/* A region that everybody may know: a box on a public map. */
struct dpl_region {
    const char *name;
    double south_deg, west_deg, north_deg, east_deg;
    const char *zone; /* IANA */
    const char *data; /* open data sets that lie there */
};
/* The i-th named region, NULL past the last. Borrowed; lives as long as the program. */
DPL_API const struct dpl_region *dpl_region_at(size_t i);
/* Box and zone of a region in a file of lines "name,south,west,north,east,zone". */
DPL_API enum dpl_status dpl_area_from_file(struct dpl_run *run, const char *path, const char *name,
                                           struct dpl_area *area);

struct dpl_grid {
    struct dpl_area area;
    int32_t columns, rows; /* west to east, south to north; cell = row * columns + column */
    double m_per_deg_lat, m_per_deg_lon; /* at the middle of the box */
};

/* Checks the area (order of the box, sizes, a known zone, at most DPL_MAX_CELLS) and lays the grid.
 */
DPL_API enum dpl_status dpl_grid_make(struct dpl_run *run, const struct dpl_area *area,
                                      struct dpl_grid *grid);
DPL_API int32_t dpl_grid_cells(const struct dpl_grid *grid);
/* The cell that holds the point, -1 when it lies outside the box or is not finite. */
DPL_API int32_t dpl_grid_cell_at(const struct dpl_grid *grid, double lat_deg, double lon_deg);
/* The cell that holds a place of the box, in metres from its south-west corner. */
DPL_API int32_t dpl_grid_cell_of(const struct dpl_grid *grid, double x_m, double y_m);
DPL_API void dpl_grid_centre(const struct dpl_grid *grid, int32_t cell, double *lat_deg,
                             double *lon_deg);
/* Between the centres of two cells. */
DPL_API double dpl_grid_distance_m(const struct dpl_grid *grid, int32_t a, int32_t b);

/* --------------------------------------------------------------------------------------------
 * Trips
 *
 * Cleaned trips, in columns: a trip is a run of visits, one cell per time slot. About 6 bytes a
 * visit, 14 with positions. Trips keep the order in which they first appeared in the input.
 *
 *     for (size_t i = 0; i < trips->n_trips; i++)
 *         for (size_t v = trips->start[i]; v < trips->start[i + 1]; v++)
 *             use(trips->cell[v]);
 */

/* Where a trip is at the instant that a slot begins, on the straight line between its points. */
struct dpl_position {
    float x_m, y_m; /* east and north of the box's south-west corner */
};

struct dpl_cleaned {
    struct dpl_grid grid;
    size_t n_trips, n_visits;
    size_t n_users;                /* distinct users; 0 when the data names none */
    size_t *start;                 /* (n_trips + 1) first visit of each trip */
    int32_t *cell;                 /* (n_visits) */
    struct dpl_position *position; /* (n_visits) NULL: not kept */
    struct dpl_position *later;    /* (n_visits) the same `position_phase_s` later, NAN once the
                                      trip is over; NULL: not kept */
    int64_t *utc_s;                /* (n_trips) when the first slot begins */
    int32_t *user;                 /* (n_trips) 0 ... n_users-1, -1: unknown */
    uint8_t *period;               /* (n_trips) local period that holds most of its visits */
    bool has_time; /* false: the source had no times (another program's output); utc_s and period
                      are 0 */
};

DPL_API void dpl_cleaned_free(struct dpl_cleaned *trips);

/* --------------------------------------------------------------------------------------------
 * Read and clean
 *
 * From files as people download them to cleaned trips: plain CSV, Porto's POLYLINE table, the
 * Cabspotting files, GeoLife's .plt tree; a file, a directory, an archive (.gz .xz .zst .zip
 * .tar.*) or "-" for standard input. Memory does not grow with the raw file. Each rule looks at one
 * trip alone, so cleaning costs no privacy. What was found, and what was dropped and why, comes
 * back as facts, which are NOT PRIVATE: for the data holder only.
 *
 *     struct dpl_read_options options = dpl_read_defaults();
 *     struct dpl_cleaned *trips;
 *     struct dpl_read_facts *facts;
 *     if (dpl_cleaned_read(run, (const char *[]){"trips.csv.gz"}, 1, &options, &area, &trips,
 * &facts)) ... dpl_cleaned_free(trips), dpl_read_facts_free(facts);
 */

/* Why a row was not used. */
enum dpl_reject {
    DPL_REJECT_MISSING_FIELD,
    DPL_REJECT_BAD_NUMBER,
    DPL_REJECT_BAD_LATITUDE,
    DPL_REJECT_BAD_LONGITUDE,
    DPL_REJECT_ZERO_COORDINATES, /* 0,0: a receiver without a fix */
    DPL_REJECT_BAD_TIME,
    DPL_REJECT_TIME_OUT_OF_RANGE, /* before 1990 or after 2099: a wrong unit or an unset clock */
    DPL_REJECT_NO_ID,             /* the trip or user column is empty */
    DPL_REJECT_BAD_QUOTES,
    DPL_REJECT_NUL_BYTE,
    DPL_REJECT_LINE_TOO_LONG,
    DPL_REJECT_MISSING_DATA, /* Porto: the source itself marks the row */
    DPL_REJECT_BAD_POLYLINE, /* Porto */
    DPL_REJECT_BACKWARDS,    /* only with `strict`: time runs backwards within a trip */
    DPL_REJECT_CUT_OFF,      /* a file's last line has no line end: it may be half a row */
    DPL_REJECTS
};
/* Why a trip was not kept. */
enum dpl_drop {
    DPL_DROP_OUTSIDE_BOX, /* a point lies outside the box */
    DPL_DROP_TOO_FAST,    /* a step is faster than the speed limit */
    DPL_DROP_GAP,         /* `gap_limit_s` or more between two points */
    DPL_DROP_TOO_SHORT,   /* fewer than two visits */
    DPL_DROP_NO_USER,     /* names no user, where the user is what is protected: fits only */
    DPL_DROPS
};
/* Names as they appear in JSON: "bad_number", "outside_box". */
DPL_API const char *dpl_reject_name(enum dpl_reject reason);
DPL_API const char *dpl_drop_name(enum dpl_drop reason);

/* Units set aside before anything else looks at them, by a keyed hash of each alone. */
struct dpl_hold_out {
    double share;    /* of the units; 0: none */
    bool by_user;    /* a user's recordings are set aside together; otherwise one by one */
    bool only;       /* read those that were set aside, and no others */
    uint8_t key[32]; /* secret: who knows it knows who was in */
};

struct dpl_read_options {
    const char *format; /* a name of dpl_format_name; "auto": by the file's name or its header line,
                           never by a row */
    const char *trip_column, *user_column, *time_column, *lat_column,
        *lon_column;         /* NULL: found by name. One column that is both lat and lon holds
                                points as text, POINT(lon lat) */
    const char *date_column; /* put in front of the time column's value, with a blank; NULL: one
                                called date, for times of day alone */
    const char *columns;     /* roles in order, "user,time,lon,lat,-"; every line is then a row, and
                                without it the first line is the header */
    const char *separator;   /* one character, "tab" or "space"; NULL: the header line's, or ',' */
    const char *time_unit;   /* of numeric times: "s", "ms", "us", "ns"; "auto": each by its size */
    const char *time_format; /* of all times, as strftime's, "%d/%m/%Y %H:%M:%S"; NULL: each value
                                says by itself how it is written */
    const char *coordinates; /* "degrees", "e7" (times 10^7), "EPSG:3857", "EPSG:326NN" or
                                "EPSG:327NN" (UTM); "auto": degrees, or e7 if the header says so */
    const char *zone;        /* for times without an offset when there is no area; NULL: UTC */
    bool positions;          /* keep where trips are at each slot's instant, too */
    double position_phase_s; /* above 0, with positions: also this long after each instant */
    bool keep_too_fast;      /* keep trips that break the speed rule, and count them */
    int gap_limit_s;         /* longer silence drops a trip, or cuts a track, 300; up to 3 hours */
    bool drop_points;        /* drop points that are outside the box or too fast to reach instead of
                                their whole trip */
    bool strict;             /* stop at the first malformed row */
    bool time_optional;      /* accept CSV without times: rows in file order, one visit each */
    bool guess;              /* NOT PRIVATE: let the first rows tell what names, header and options
                                leave open. Never set it where the result is to be published */
    bool need_trips;         /* DPL_REFUSED for a file of tracks, which would be cut into trips */
    bool need_users;         /* DPL_REFUSED for a table without a column of users */
    struct dpl_hold_out hold_out;
    size_t memory_bytes; /* for sorting scattered trips before a temporary file is used, 32 MB */
};

enum {
    DPL_FACT_TEXT = 1024,
    DPL_EXAMPLE_TEXT = 320,
    DPL_INTERVALS = 600,
    DPL_HINTS = 4,
    DPL_HINT_TEXT = 320
};

/* How one table was read: what its name, header line and options settled. Public, like them, and
 * the one part of the facts that a manifest repeats. */
struct dpl_reading {
    bool settled; /* false: several files, or one person's: they are not public */
    char format[16], separator[8];
    char column[6][72]; /* names of the trip, user, time, lat, lon and date column; "": none */
};

/* Rows that look as if they were read in the wrong way; what hints are made from. */
struct dpl_read_signs {
    int64_t odd_positions; /* rows with numbers that are no degrees, and the first of them */
    double odd_lat, odd_lon;
    int64_t odd_times; /* rows with a time that is not understood, and the first of them */
    char odd_time[48];
    int64_t wide_rows;        /* rows with more fields than the header */
    int64_t points_exchanged; /* outside the box, and inside if lat and lon change places */
};

struct dpl_read_facts {
    struct dpl_reading reading;
    struct dpl_read_signs signs;
    size_t n_hints;
    char hint[DPL_HINTS][DPL_HINT_TEXT]; /* what else the data may be, and which option says so */
    char options_needed[256];    /* by `guess`: the options to read this file with, else "" */
    char format[64];             /* "csv", or several joined by '+' */
    char columns[DPL_FACT_TEXT]; /* which columns were taken for what; CSV only */
    char time_format[128]; /* "epoch seconds", "ISO 8601 without offset, read as Europe/Lisbon" */
    bool scattered;        /* rows of a trip were not together: sorted through a temporary file */
    bool trips_cut;        /* no trip column: users' points were cut into trips */
    size_t files, files_skipped; /* members of archives count as files */
    int64_t bytes, rows;
    int64_t rows_rejected[DPL_REJECTS];
    char example[DPL_REJECTS]
                [DPL_EXAMPLE_TEXT]; /* the first row of each kind: file, line, column, value */
    int64_t trips_read, points;
    size_t users; /* distinct; 0: the data names none */
    int64_t first_utc_s, last_utc_s;
    double south_deg, west_deg, north_deg, east_deg;
    int64_t interval_s[DPL_INTERVALS]; /* how often two points of a trip are that many seconds
                                          apart; last: or more */
    /* after cleaning; 0 without an area */
    bool cleaned;
    int gap_limit_s;        /* as it was read with */
    int64_t points_dropped; /* with `drop_points` */
    int64_t trips_cut_into; /* trips before the rules: recordings may have been cut */
    int64_t trips_dropped[DPL_DROPS];
    int64_t held_out;      /* recordings set aside, or left out because they were not */
    int64_t too_fast_kept; /* trips that break the speed rule, kept on request */
};

DPL_API struct dpl_read_options dpl_read_defaults(void);
/* The i-th format's name, and what it is in one line; NULL past the last. */
DPL_API const char *dpl_format_name(size_t i);
DPL_API const char *dpl_format_about(size_t i);
/* Reads, cleans and maps onto the area's grid. With area NULL only facts are gathered and *trips is
 * untouched. trips and facts may be NULL. Facts are given on failure too, as far as they go
 * (*facts is NULL when there are none). Caller frees with dpl_cleaned_free, dpl_read_facts_free. */
DPL_API enum dpl_status dpl_cleaned_read(struct dpl_run *run, const char *const *inputs,
                                         size_t n_inputs, const struct dpl_read_options *options,
                                         const struct dpl_area *area, struct dpl_cleaned **trips,
                                         struct dpl_read_facts **facts);
DPL_API void dpl_read_facts_free(struct dpl_read_facts *facts);

/* --------------------------------------------------------------------------------------------
 * Roads
 *
 * A public map, from any OpenStreetMap extract (.osm.pbf): the roads of the area's box as a network
 * with one-ways and speeds. Nothing of it is private, and none of it is believed: a damaged file is
 * DPL_BAD_DATA with a sentence. docs/ROADS.md says what is read and by which rules.
 *
 *     struct dpl_roads *roads;
 *     if (dpl_roads_read(run, "city.osm.pbf", &grid, DPL_TRAVEL_DRIVE, &roads) == DPL_OK)
 *         printf("%.0f m to the next road\n", dpl_roads_distance_m(roads, 37.77, -122.42));
 *     dpl_roads_free(roads);
 */

enum dpl_travel { DPL_TRAVEL_DRIVE, DPL_TRAVEL_BIKE, DPL_TRAVEL_WALK };

/* "drive", "bike", "walk"; NULL past the last. */
DPL_API const char *dpl_travel_name(size_t i);

enum { DPL_ROADS_DIGEST = 65 };

struct dpl_roads_facts {
    size_t ways; /* of the file that the traveller may use and that touch the box */
    size_t nodes,
        pieces;        /* of the network: pieces of road between nodes, none over a cell's edge */
    size_t components; /* strongly connected parts */
    double km, km_connected;       /* all, and those of the largest part, which routes use */
    size_t nodes_missing;          /* places of ways whose node is not in the file: cut there */
    char digest[DPL_ROADS_DIGEST]; /* SHA-256 of the file, hexadecimal */
};

struct dpl_roads;

/* Reads the roads inside the grid's box. Caller frees with dpl_roads_free. */
DPL_API enum dpl_status dpl_roads_read(struct dpl_run *run, const char *path,
                                       const struct dpl_grid *grid, enum dpl_travel travel,
                                       struct dpl_roads **roads);
DPL_API void dpl_roads_free(struct dpl_roads *roads);
/* Borrowed. */
DPL_API const struct dpl_roads_facts *dpl_roads_facts(const struct dpl_roads *roads);
/* To the nearest road of the map, less than a microsecond in a city; INFINITY for a position that
 * is not finite. */
DPL_API double dpl_roads_distance_m(const struct dpl_roads *roads, double lat_deg, double lon_deg);

/* How well raw points lie on the roads: shares within 15 and 30 m. NOT PRIVATE. Where data is in
 * GCJ-02 (China) and the map is not, or the other way round, the share within 30 m is low and
 * jumps when the shift is taken out. */
struct dpl_roads_share {
    size_t points; /* looked at: every fourth of those inside the box */
    double within_15m, within_30m;
    double within_30m_gcj02_points; /* if the points are in GCJ-02 and the map is not */
    double within_30m_gcj02_map;    /* if the map is and the points are not */
};
DPL_API enum dpl_status dpl_roads_fit(struct dpl_run *run, const char *const *inputs,
                                      size_t n_inputs, const struct dpl_read_options *options,
                                      const struct dpl_area *area, const struct dpl_roads *roads,
                                      struct dpl_roads_share *share);

/* --------------------------------------------------------------------------------------------
 * Simulate
 *
 * A made-up city in the box of the region "simulated": streets, rush hours, habits, GPS error.
 * Public data without limit, for demos, tests and tuning. The same options give the same bytes,
 * whatever the number of threads; docs/SIMULATE.md says how the city is made.
 *
 *     struct dpl_simulate_options options = dpl_simulate_defaults();
 *     options.trips = 5000;
 *     if (dpl_simulate(run, &options, "city.csv") != DPL_OK) ...
 */

enum dpl_layout { DPL_LAYOUT_CSV, DPL_LAYOUT_PORTO, DPL_LAYOUT_CABSPOTTING, DPL_LAYOUT_GEOLIFE };
enum dpl_sampling { DPL_SAMPLING_IRREGULAR, DPL_SAMPLING_REGULAR /* every 15 s */ };
enum dpl_pace { DPL_PACE_DRIVE, DPL_PACE_WALK };

struct dpl_simulate_options {
    int64_t trips; /* 100000 */
    int64_t users; /* 0: one per 40 trips, at least 50 */
    int64_t days;  /* 28 */
    const char
        *date; /* the first day, "2025-03-03": a Monday; daylight saving begins on the 28th day */
    uint64_t seed;              /* who makes which trips, 1 */
    uint64_t city;              /* which city: network and land use, 1 */
    enum dpl_layout layout;     /* csv */
    enum dpl_sampling sampling; /* irregular; the Porto layout implies regular */
    enum dpl_pace pace;         /* drive */
    bool dirty;                 /* adds rows a reader must reject or survive; csv only */
    bool overwrite;             /* otherwise an existing path is refused */
    const char *roads_out;      /* where to write the city's streets (.osm.pbf); NULL: nowhere */
};

DPL_API struct dpl_simulate_options dpl_simulate_defaults(void);
/* Writes the city's trips to `path`: a file for csv and Porto ("-": standard output; .gz and .zst
 * are compressed), a directory for Cabspotting and GeoLife. It appears whole or not at all. */
DPL_API enum dpl_status dpl_simulate(struct dpl_run *run,
                                     const struct dpl_simulate_options *options, const char *path);

/* --------------------------------------------------------------------------------------------
 * Privacy accounting
 *
 * What a release costs. An event is one mechanism as the accountant sees it; a list of events is
 * composed into one epsilon at a given delta, under add/remove of one unit.
 */

enum dpl_event_kind {
    DPL_EVENT_GAUSSIAN, /* one release with Gaussian noise */
    DPL_EVENT_POISSON,  /* `steps` releases, each on a Poisson sample of rate `rate`, Gaussian noise
                         */
    DPL_EVENT_LAPLACE   /* one release with (discrete) Laplace noise: pure epsilon = 1 / sigma */
};

enum { DPL_EVENT_NAME = 32 };

struct dpl_event {
    char name[DPL_EVENT_NAME]; /* "topk", "length", "train", ... */
    enum dpl_event_kind kind;
    double sigma; /* noise over sensitivity: standard deviation (Gaussian) or scale (Laplace) */
    double sensitivity; /* L2 (Gaussian) or L1 (Laplace) in units of the released vector; for the
                           record */
    double rate;   /* DPL_EVENT_POISSON: chance of a unit to be in a step's sample, in (0, 1] */
    int64_t steps; /* DPL_EVENT_POISSON: number of steps */
};

/* Which of the bounds is the least: the exact formula for Gaussians alone, that for one pure event
 * alone, the privacy loss distribution, or Renyi differential privacy. */
enum dpl_bound_kind {
    DPL_BOUND_NONE,
    DPL_BOUND_GAUSSIAN,
    DPL_BOUND_PURE,
    DPL_BOUND_PLD,
    DPL_BOUND_RDP
};

struct dpl_bound {
    double epsilon, delta;
    enum dpl_bound_kind kind;        /* DPL_BOUND_NONE: nothing was released, or without noise */
    double epsilon_pld, epsilon_rdp; /* INFINITY where not available */
};

/* "none", "gaussian", "pure", "pld", "rdp". */
DPL_API const char *dpl_bound_name(enum dpl_bound_kind kind);

/* The least valid bound on epsilon for the composition of n events at delta, rounded up. The order
 * of events does not matter. No events, or no steps: 0; sigma = 0: INFINITY.
 *
 *     struct dpl_event events[] = {{.kind = DPL_EVENT_GAUSSIAN, .sigma = 3.8},
 *                                  {.kind = DPL_EVENT_POISSON, .sigma = 1.5, .rate = 0.00044,
 * .steps = 33750}}; struct dpl_bound bound; if (dpl_account(run, events, 2, 1e-6, &bound) ==
 * DPL_OK) printf("epsilon %g by %s\n", bound.epsilon, dpl_bound_name(bound.kind));
 */
DPL_API enum dpl_status dpl_account(struct dpl_run *run, const struct dpl_event *events, size_t n,
                                    double delta, struct dpl_bound *bound);

/* The inverse: fills events[i].sigma so that the composition is (epsilon, delta)-DP, from below and
 * within 0.1 %. Event i gets the part share[i] / (sum of shares) of one squared budget, in which a
 * Gaussian counts 1/sigma^2, a Poisson event rate^2 steps (e^{1/sigma^2} - 1), a Laplace event
 * 1/scale^2. A share of 0 leaves that event's sigma as it is. DPL_USAGE when no noise meets the
 * target. */
DPL_API enum dpl_status dpl_account_solve(struct dpl_run *run, struct dpl_event *events,
                                          const double *share, size_t n, double epsilon,
                                          double delta);

/* The privacy profile: epsilon[i] at delta[i], for plots. */
DPL_API enum dpl_status dpl_account_profile(struct dpl_run *run, const struct dpl_event *events,
                                            size_t n, const double *delta, size_t n_delta,
                                            double *epsilon);

/* What the DP-Loc paper claims and what its settings give: one row per claimed epsilon. */
enum { DPL_PAPER_ROWS = 3 };

struct dpl_paper_row {
    double claimed;             /* epsilon in the paper */
    struct dpl_event events[3]; /* topk, ti, tpg, as its options say */
    double delta;               /* 1 / trips */
    double printed;             /* its formula as printed: |B|/|D| steps an epoch, 4 sigma^2 */
    double corrected;           /* its formula with |D|/|B| steps and 2 sigma^2 */
    struct dpl_bound bound;     /* what holds */
};

/* data: "porto", "sf" or "geolife"; *trips gets its |D|. */
DPL_API enum dpl_status dpl_account_paper(struct dpl_run *run, const char *data, int64_t *trips,
                                          struct dpl_paper_row rows[DPL_PAPER_ROWS]);

/* --------------------------------------------------------------------------------------------
 * Ledger
 *
 * What was spent on one raw data set, over all runs. A line that is on the disk before the first
 * noise of a mechanism says what the mechanism is; a release that would exceed the limits is
 * refused before any noise. It guards against mistakes, not against its owner (docs/LEDGER.md).
 *
 * dpl_fit finds out which data set it reads, and opens the ledger itself; by hand:
 *
 *     struct dpl_ledger_options options = dpl_ledger_defaults();
 *     dpl_ledger_open(run, NULL, &identity, &options, &ledger);
 */

enum dpl_unit { DPL_UNIT_TRIP, DPL_UNIT_USER };

DPL_API const char *dpl_unit_name(enum dpl_unit unit);
/* Frees a text that one of the calls below made. */
DPL_API void dpl_text_free(char *text);

/* What a data set is known by: a sum over its rows (trip, user, time, position in micro-degrees)
 * under the ledger's key, the same in any order, notation or number of files; and a sketch by which
 * data that shares rows with it is found. NOT PRIVATE. */
enum { DPL_SKETCH = 1024 };

struct dpl_identity {
    uint64_t rows;
    uint64_t sum[4]; /* two sums modulo 2^128, low word first */
    size_t n_sketch;
    uint64_t sketch[DPL_SKETCH]; /* (n_sketch) the least keyed values of (time, position), rising */
};

struct dpl_ledger_options {
    enum dpl_unit
        unit; /* a ledger counts for one unit: guarantees per trip and per user do not add up */
    double total_epsilon; /* limits over all releases; 0: as the ledger has them, none if it has
                             none */
    double total_delta;
    const char *dataset; /* the data set's name: its ledger is found by it, whatever the rows, and
                            all rows ever used under it count together. NULL: found by the rows */
    bool new_data; /* data that overlaps a known data set is counted apart: the holder says that
                      it is new */
    const char *resume; /* the release to go on with: what it reserved before is not charged again.
                           NULL: a new one */
};

struct dpl_ledger_totals {
    double epsilon, delta; /* the sum over all releases: holds however later ones were chosen */
    double limit_epsilon, limit_delta; /* INFINITY when there is none */
    size_t releases, mechanisms;       /* releases that reserved something; mechanisms reserved */
    bool named;                        /* the ledger counts by a name, not by the rows */
    bool new_data; /* some of its data overlapped another data set, and was declared new */
};

struct dpl_ledger;

DPL_API struct dpl_ledger_options dpl_ledger_defaults(void);
/* The secret key that data sets are known under: of the state directory (`path` NULL) or FILE.key
 * beside a ledger of the caller's own. Made (mode 0600) when it is not there. */
DPL_API enum dpl_status dpl_ledger_key(struct dpl_run *run, const char *path, uint8_t key[32]);
/* Opens or makes the ledger of the data set; `path` NULL: in $XDG_STATE_HOME/dploc/ledgers (or
 * ~/.local/state/...), where the other ledgers are searched for data that overlaps it. DPL_REFUSED:
 * edited, cut, in use, of another data set or unit; or, with a question that names --new-data, the
 * data is not known and more than half of it, or of a known data set, is in the other. */
DPL_API enum dpl_status dpl_ledger_open(struct dpl_run *run, const char *path,
                                        const struct dpl_identity *identity,
                                        const struct dpl_ledger_options *options,
                                        struct dpl_ledger **ledger);
/* DPL_REFUSED when a release of this size would exceed the limits. Spends nothing. */
DPL_API enum dpl_status dpl_ledger_afford(struct dpl_ledger *ledger, double epsilon, double delta);
DPL_API struct dpl_ledger_totals dpl_ledger_totals(const struct dpl_ledger *ledger);
/* The id of the release that this opening writes; borrowed. */
DPL_API const char *dpl_ledger_release(const struct dpl_ledger *ledger);
DPL_API void dpl_ledger_close(struct dpl_ledger *ledger);
/* Where the ledger of the data set with this fingerprint (of OUT.PRIVATE.json) is by default. */
DPL_API enum dpl_status dpl_ledger_place(struct dpl_run *run, const char *fingerprint, char *path,
                                         size_t size);
/* What a ledger holds, as text or as one JSON object; changes nothing. Free with dpl_text_free. */
DPL_API enum dpl_status dpl_ledger_summary(struct dpl_run *run, const char *path, bool json,
                                           char **text);
/* True when a file's first bytes look like a ledger's. */
DPL_API bool dpl_ledger_recognise(const char *bytes, size_t length);

/* --------------------------------------------------------------------------------------------
 * Plan
 *
 * How one (epsilon, delta) is spent. First the number of units becomes known, by noise or because
 * the holder declares it public; then, from that and public numbers alone, all mechanisms with
 * their noise are fixed at once. A plan cannot be changed: there are only calls to read it.
 *
 *     struct dpl_budget budget = dpl_budget_defaults();
 *     struct dpl_size *size;
 *     dpl_size_declare(run, 450000, &size);
 *     struct dpl_mechanism ask[] = {{.name = "topk", .kind = DPL_EVENT_GAUSSIAN, .share = 0.1,
 * .clip = 4}, ...}; dpl_plan_make(run, &budget, size, ask, 2, &plan); dpl_plan_event(plan,
 * 0)->sigma;
 */

struct dpl_budget {
    double epsilon;    /* of the whole release; INFINITY: no noise anywhere, NOT PRIVATE */
    double delta;      /* 1e-8; fixed before any noise */
    double size_share; /* of epsilon, for the number of units: 0.02 */
    enum dpl_unit unit;
    int64_t trips_max;  /* trips kept of one unit: 1 for a trip, 20 for a user */
    bool insecure_seed; /* the noise follows from a seed: NOT PRIVATE */
};

/* How a sensitivity grows with the m trips of a unit: clip, clip*sqrt(m) or clip*m. */
enum dpl_growth { DPL_GROWTH_NONE, DPL_GROWTH_ROOT, DPL_GROWTH_LINEAR };

/* What a method asks for, in public numbers. Sensitivity, rate, steps and sigma follow from it. */
struct dpl_mechanism {
    char name[DPL_EVENT_NAME];
    enum dpl_event_kind kind;
    double share; /* of the squared budget, relative to the other shares (dpl_account_solve) */
    double
        sigma;   /* given instead of solved for: then of all mechanisms, and shares do not matter */
    double clip; /* norm that a trip's contribution is clipped to; 0: the released number
                    `clip_from` */
    char clip_from[DPL_EVENT_NAME];
    enum dpl_growth growth;
    double batch;  /* POISSON: expected units in a step; rate = min(1, batch / units) */
    double epochs; /* POISSON: steps = ceil(epochs * units / batch), at least ceil(epochs) ... */
    int64_t steps; /* ... or this number */
};

struct dpl_size;
struct dpl_plan;

/* epsilon 1, delta 1e-8, 2 % for the size, unit trip. */
DPL_API struct dpl_budget dpl_budget_defaults(void);
/* Reads "train=0.6,topk=0.05" into the shares of the mechanisms so named; the others stay. */
DPL_API enum dpl_status dpl_budget_shares(struct dpl_run *run, const char *text,
                                          struct dpl_mechanism *mechanisms, size_t n);
/* The holder declares the number of units public (--size): it costs nothing. */
DPL_API enum dpl_status dpl_size_declare(struct dpl_run *run, int64_t units,
                                         struct dpl_size **size);
DPL_API int64_t dpl_size_units(const struct dpl_size *size);
DPL_API void dpl_size_free(struct dpl_size *size);
/* Fixes all n mechanisms: sigmas solved for (epsilon - cost of the size, delta) in one composition;
 * or as given, and epsilon is then what they cost. Caller frees with dpl_plan_free; `size` is
 * copied. */
DPL_API enum dpl_status dpl_plan_make(struct dpl_run *run, const struct dpl_budget *budget,
                                      const struct dpl_size *size,
                                      const struct dpl_mechanism *mechanisms, size_t n,
                                      struct dpl_plan **plan);
DPL_API void dpl_plan_free(struct dpl_plan *plan);
DPL_API size_t dpl_plan_events(const struct dpl_plan *plan);
/* Event i < dpl_plan_events, in the order asked for; what sampler, noise and accountant all use. */
DPL_API const struct dpl_event *dpl_plan_event(const struct dpl_plan *plan, size_t i);
DPL_API const struct dpl_mechanism *dpl_plan_mechanism(const struct dpl_plan *plan, size_t i);
/* Of all of the release, the size included. */
DPL_API double dpl_plan_epsilon(const struct dpl_plan *plan);
DPL_API double dpl_plan_delta(const struct dpl_plan *plan);
/* The cost of the size, and the number of units it gave. */
DPL_API double dpl_plan_epsilon_size(const struct dpl_plan *plan);
DPL_API int64_t dpl_plan_units(const struct dpl_plan *plan);
/* What the accountant says of the events without the size. */
DPL_API const struct dpl_bound *dpl_plan_bound(const struct dpl_plan *plan);
DPL_API const struct dpl_budget *dpl_plan_budget(const struct dpl_plan *plan);

/* --------------------------------------------------------------------------------------------
 * Certificate
 *
 * What a release promises, beside it as JSON (docs/certificate.schema.json): epsilon and delta,
 * every mechanism, and the public choices they follow from. Verifying recomputes epsilon and checks
 * that the choices imply the mechanisms: consistency, not proof that the program ran that way.
 */

/* A public option or a released number: a text, or a number when `text` is NULL. */
struct dpl_public_value {
    const char *name, *text;
    double number;
};

struct dpl_certificate {
    const struct dpl_plan *plan;
    const struct dpl_ledger *ledger; /* NULL: "not composed with other runs" */
    bool
        insecure; /* the key of the noise follows from a seed: NOT PRIVATE, whatever the budget says
                   */
    const char *method;
    bool no_time;      /* the release has no times */
    bool trips_as_cut; /* of a trip as unit: it may be cut from a track */
    bool accept_weak;  /* the holder accepted that the promise is weak */
    const struct dpl_public_value
        *options; /* only names that dpl_certificate_option_public knows */
    size_t n_options;
    const struct dpl_public_value
        *numbers; /* numbers the release contains anyway: length_max, cells, trips_estimated */
    size_t n_numbers;
};

enum { DPL_REASONS = 16, DPL_REASON_SIZE = 256 };

struct dpl_verdict {
    bool valid;
    double epsilon, delta; /* recomputed epsilon (INFINITY without noise); delta as claimed */
    size_t n_reasons;      /* why it is not valid */
    char reasons[DPL_REASONS][DPL_REASON_SIZE];
};

/* Whether an option may stand in a certificate: a public choice, nothing that depends on the data.
 */
DPL_API bool dpl_certificate_option_public(const char *name);
/* The certificate as JSON text; free with dpl_text_free. */
DPL_API enum dpl_status
dpl_certificate_text(struct dpl_run *run, const struct dpl_certificate *certificate, char **text);
/* Checks a certificate's text. DPL_BAD_DATA when it is not a certificate; DPL_OK otherwise,
 * whatever the verdict. */
DPL_API enum dpl_status dpl_certificate_verify(struct dpl_run *run, const char *text, size_t length,
                                               struct dpl_verdict *verdict);
/* Whether the trips or the model at `path`, its manifest and its certificate are of one making: the
 * manifest beside `path` has the digests of both. `certificate` is a file; NULL: the one beside
 * `path`. What does not fit is added to the verdict, which is not valid then. */
DPL_API enum dpl_status dpl_released_verify(struct dpl_run *run, const char *path,
                                            const char *certificate, struct dpl_verdict *verdict);
/* What a certificate says, as words or as one JSON object; free with dpl_text_free. */
DPL_API enum dpl_status dpl_certificate_summary(struct dpl_run *run, const char *text,
                                                size_t length, bool json, char **summary);
/* True when a file's first bytes look like a certificate's. */
DPL_API bool dpl_certificate_recognise(const char *bytes, size_t length);

/* --------------------------------------------------------------------------------------------
 * Fit
 *
 * From private trips to a model that may be published: read, clean, measure with noise, train with
 * noise. A fit that is stopped leaves a checkpoint and goes on bit-identically with `resume`. What
 * a ledger cannot afford is refused before any noise is drawn. docs/METHOD.md says what is
 * computed.
 *
 *     struct dpl_fit_options options = dpl_fit_defaults();
 *     options.budget.epsilon = 1;
 *     struct dpl_fit *fit = NULL;
 *     if (dpl_fit(run, inputs, n, &read, &area, &options, &fit) == DPL_OK) dpl_fit_write(run, fit,
 * "city.dploc", false); dpl_fit_free(fit);
 */

/* A promise beyond either is refused unless `accept_weak` is set. */
#define DPL_WEAK_EPSILON 100.0 /* largest */
#define DPL_WEAK_DELTA 0.01    /* less than this */

struct dpl_fit_options {
    const char *method; /* "bridge"; or "paper", "ngram", "adatrace" */
    const char
        *mechanism; /* of ngram and adatrace: "gaussian", or "laplace"; the others are Gaussian */
    struct dpl_budget budget; /* epsilon, delta, unit, trips of a unit, insecure_seed */
    bool trips_as_cut; /* a trip as unit: accept trips cut out of tracks by the public rule; without
                          it such data is DPL_REFUSED (docs/PRIVACY.md, "The unit") */
    bool accept_weak;  /* accept a promise beyond DPL_WEAK_EPSILON or DPL_WEAK_DELTA; without it
                          DPL_REFUSED. The certificate says so */
    int64_t size;      /* units, declared public; 0: measured */
    double coverage;   /* part of all visits that the chosen cells hold; 0: the method's own (bridge
                          1, paper and ngram 0.95) */
    double kl_weight;  /* paper: of the VAE's KL divergence, 1 */
    bool no_destination; /* paper: transitions do not depend on where a trip goes; to see what that
                            is worth */
    const char *shares;  /* of the squared budget, "ti=0.3,tpg=0.6"; NULL: the method's own */
    const char *
        sigmas; /* noise given instead of solved for, "topk=3.8,ti=1.5,tpg=1.6"; NULL: solved for */
    uint64_t insecure_seed; /* with budget.insecure_seed: what the secret streams follow from. NOT
                               PRIVATE */
    const char *ledger;     /* NULL: the data set's own in the state directory; "none"; or a file */
    const char *dataset; /* the data set's name, for data that grows or changes; NULL: its rows */
    bool new_data;       /* the holder says that data which overlaps a known data set is new */
    double total_epsilon, total_delta; /* limits over all releases; 0: as the ledger has them */
    const char *checkpoint; /* where to keep the state of an unfinished fit; NULL: nowhere */
    double checkpoint_s;    /* seconds of training between two checkpoints, 5 */
    bool resume;            /* go on from the checkpoint */
    bool restart;           /* throw an old checkpoint away: a fresh key, everything charged anew */
    bool show_private_loss; /* notes the training loss. NOT PRIVATE */
    double hold_out; /* share of the units that is not fitted on, for attacks; its key goes to
                        PATH.PRIVATE.json alone. Cannot be resumed */
};

struct dpl_fit;
struct dpl_model;

DPL_API struct dpl_fit_options dpl_fit_defaults(void);
/* The i-th method's name, NULL past the last. */
DPL_API const char *dpl_method_name(size_t i);
/* Caller frees with dpl_fit_free. After DPL_INTERRUPTED the checkpoint is on the disk. */
DPL_API enum dpl_status dpl_fit(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                                const struct dpl_read_options *read, const struct dpl_area *area,
                                const struct dpl_fit_options *options, struct dpl_fit **fit);
DPL_API void dpl_fit_free(struct dpl_fit *fit);
/* What may be published; borrowed from the fit. */
DPL_API const struct dpl_model *dpl_fit_model(const struct dpl_fit *fit);
/* The certificate's text; borrowed. */
DPL_API const char *dpl_fit_certificate(const struct dpl_fit *fit);
/* What was read, exactly; borrowed. NOT PRIVATE: for the holder's eyes. */
DPL_API const struct dpl_read_facts *dpl_fit_facts(const struct dpl_fit *fit);
/* Whether PATH and its companions are free to be written: to be asked before anything is spent.
 * With `overwrite` a model takes the place of a model, and nothing else is replaced. */
DPL_API enum dpl_status dpl_fit_check_path(struct dpl_run *run, const char *path, bool overwrite);
/* Writes PATH (the model, last), PATH.certificate.json, PATH.manifest.json and PATH.PRIVATE.json
 * (mode 0600), then deletes the checkpoint. At no moment does a certificate stand beside a model
 * that it was not made with. */
DPL_API enum dpl_status dpl_fit_write(struct dpl_run *run, struct dpl_fit *fit, const char *path,
                                      bool overwrite);
/* Writes PATH.PRIVATE.json (mode 0600) alone, beside other outputs than the model; whether it may
 * be written is to be asked before. */
DPL_API enum dpl_status dpl_fit_check_private(struct dpl_run *run, const char *path,
                                              bool overwrite);
DPL_API enum dpl_status dpl_fit_write_private(struct dpl_run *run, const struct dpl_fit *fit,
                                              const char *path, bool overwrite);
/* For callers that write other outputs instead: overwrites and deletes the checkpoint. */
DPL_API enum dpl_status dpl_fit_finish(struct dpl_run *run, struct dpl_fit *fit);
/* The plan before anything is spent: split, noise, expected counts, as a table or as JSON. Without
 * a declared size the units are counted, and what it says is NOT PRIVATE. Free with dpl_text_free.
 */
DPL_API enum dpl_status dpl_fit_preview(struct dpl_run *run, const char *const *inputs,
                                        size_t n_inputs, const struct dpl_read_options *read,
                                        const struct dpl_area *area,
                                        const struct dpl_fit_options *options, bool json,
                                        char **text);

/* A model from its file, everything in it checked. Caller frees with dpl_model_free. */
DPL_API enum dpl_status dpl_model_read(struct dpl_run *run, const char *path,
                                       struct dpl_model **model);
DPL_API void dpl_model_free(struct dpl_model *model);
/* True when a file's first bytes look like a model's. */
DPL_API bool dpl_model_recognise(const char *bytes, size_t length);
/* What a model file holds, as words or as one JSON object; free with dpl_text_free. */
DPL_API enum dpl_status dpl_model_summary(struct dpl_run *run, const char *path, bool json,
                                          char **text);
/* Checks a model's hashes, and its certificate as dpl_certificate_verify does. */
DPL_API enum dpl_status dpl_model_verify(struct dpl_run *run, const char *path,
                                         struct dpl_verdict *verdict);

/* --------------------------------------------------------------------------------------------
 * Sample
 *
 * Synthetic trips from a released model: no private data is needed, and none is looked at, so it
 * costs no privacy however often it is done. The same model, seed and options give the same bytes,
 * whatever the number of threads. Beside the trips appear their certificate and a manifest
 * (docs/SAMPLING.md).
 *
 *     struct dpl_sample_options options = dpl_sample_defaults();
 *     options.trips = 100000;
 *     if (dpl_sample(run, "city.dploc", &options, "synthetic.csv") != DPL_OK) ...
 */

/* Where in its cell a visit is: such that the trip moves as trips do, anywhere, or at the centre.
 */
enum dpl_points { DPL_POINTS_DRAWN, DPL_POINTS_UNIFORM, DPL_POINTS_CENTRE };

/* How times are written, where the layout leaves that open (csv, GeoJSON's datetime). */
enum dpl_times {
    DPL_TIMES_LOCAL, /* 2025-03-03T08:15:00+01:00: the offset of the first day's beginning for all
                        rows, so that a column has one offset also when clocks change */
    DPL_TIMES_UTC,   /* 2025-03-03T07:15:00Z */
    DPL_TIMES_NAIVE, /* 2025-03-03T08:15:00: what local clocks show, an hour twice in autumn */
    DPL_TIMES_EPOCH  /* 1740986100: seconds since 1970 */
};
/* "local", "utc", "naive", "epoch"; NULL past the last. */
DPL_API const char *dpl_times_name(size_t i);

struct dpl_sample_options {
    int64_t
        trips; /* -1: as many as the model estimates; with ngram: as many as its synthesis gave */
    int64_t seed;           /* -1: a fresh one, which the manifest tells */
    int64_t mh_steps;       /* method paper: random changes of each path, 10 */
    bool no_looping;        /* method paper: no cell is repeated */
    enum dpl_points points; /* DPL_POINTS_DRAWN */
    int64_t interval_s;     /* seconds between two written points, a part of the slot; 0: as far
                               apart as visits are, or as the layout asks for */
    double gps_error_m;     /* deviation of an error added to every written point, 0: none */
    enum dpl_times times;   /* DPL_TIMES_LOCAL */
    const char
        *date; /* "2025-03-03" (a Monday), or "2025-03-03..2025-03-09": each trip draws its day */
    const char *to;            /* a name of dpl_output_name; NULL: by the ending of the path */
    bool overwrite;            /* otherwise existing files are refused; of what is there, only
                                  what this program wrote is replaced */
    const char *release;       /* a directory to put what may be published into; NULL: none */
    const char *release_model; /* the model's file, to be put there too; NULL: not */
};

DPL_API struct dpl_sample_options dpl_sample_defaults(void);
/* The i-th output format's name, and the ending of files in it; NULL past the last. */
DPL_API const char *dpl_output_name(size_t i);
DPL_API const char *dpl_output_ending(size_t i);
/* Whether the options make sense and the files may be written: to be asked before anything is spent
 * on a model. */
DPL_API enum dpl_status
dpl_sample_check(struct dpl_run *run, const struct dpl_sample_options *options, const char *path);
/* Draws from the model file and writes to `path` ("-": standard output; .gz and .zst are
 * compressed) and, beside it, PATH.certificate.json and PATH.manifest.json. Each appears whole or
 * not at all, and never a certificate beside trips that it was not made with. */
DPL_API enum dpl_status dpl_sample(struct dpl_run *run, const char *model_path,
                                   const struct dpl_sample_options *options, const char *path);
/* The same from a model in memory. */
DPL_API enum dpl_status dpl_sample_model(struct dpl_run *run, const struct dpl_model *model,
                                         const struct dpl_sample_options *options,
                                         const char *path);

/* --------------------------------------------------------------------------------------------
 * Evaluate
 *
 * How close synthetic trips are to the real ones, in the measures of docs/EVALUATION.md, each
 * beside its floor: what one random half of the real trips scores against the other half. A perfect
 * generator has ratio 1. The figures are computed from private data: they are NOT PRIVATE, and
 * choosing between runs by them is outside any epsilon.
 *
 *     struct dpl_eval_options options = dpl_eval_defaults();
 *     struct dpl_eval_synthetic candidate = {.name = "run 1", .trips = synthetic};
 *     struct dpl_evaluation *evaluation;
 *     dpl_evaluate(run, real, &candidate, 1, &options, &evaluation);
 *     const struct dpl_measure *m = dpl_evaluation_find(evaluation, 0, "density_emd_m",
 * DPL_SCOPE_POOLED);
 */

enum {
    DPL_SCOPE_POOLED = -1,
    DPL_SCOPE_HOURS = -2
}; /* all trips at once; mean over the periods of the day; 0, 1, ...: one period */

enum dpl_better { DPL_BETTER_LOWER, DPL_BETTER_HIGHER, DPL_BETTER_NEAR_FLOOR };

struct dpl_eval_options {
    int splits;    /* random halvings that are averaged, 5; pooled density takes twice as many */
    uint64_t seed; /* of the halvings, 1: the same figures every time */
    double cell_share; /* the most visited cells with this share of the real visits are compared on,
                          0.99 */
    bool paper_measures; /* as the authors measured: 2000 trips a side and hour, on the model's own
                            cells */
    bool peer_measures;  /* also what AdaTrace, LDPTrace and others report, by their definitions */
    const char *only;    /* names of measures, separated by commas; NULL: all */
    double blur_m;       /* Gaussian blur on positions before shape_auc, 15 */
    const struct dpl_read_facts *real_facts; /* how the real trips were read; NULL: not known */
    const struct dpl_cleaned *test; /* real trips that the fit never saw, on the same grid, to test
                                     tasks on; NULL: a half of the real ones, by unit */
};

struct dpl_eval_synthetic {
    const char *name;
    const struct dpl_cleaned *trips; /* on the grid of the real ones */
    const int32_t
        *own_cells; /* (n_own_cells) the cells its model knows; NULL: those that its trips visit */
    size_t n_own_cells;
    const struct dpl_read_facts *facts; /* how it was read; NULL: not known */
};

struct dpl_measure {
    const char *name; /* "density_emd_m", ...; lives as long as the program */
    int scope;        /* DPL_SCOPE_POOLED, DPL_SCOPE_HOURS, or a period */
    enum dpl_better better;
    double value, floor, ratio; /* NAN: not defined. Of a quantity (length_mean, path_km_mean) the
                                   floor is the real trips' own figure */
};

struct dpl_eval_result {
    char *name;
    size_t n_trips, n_visits;
    size_t n_compared;    /* trips a side in each comparison */
    double outside_share; /* real visits in cells that its model does not know */
    bool has_hours;       /* false: it has no times, so there are pooled figures only */
    size_t n_measures;
    struct dpl_measure *measures; /* (n_measures) */
};

struct dpl_evaluation {
    size_t n_trips, n_visits; /* of the real side, as are: */
    int32_t n_cells; /* cells compared on; under paper_measures those of the first synthetic set */
    int periods;
    double jump_share; /* steps beyond the speed limit */
    struct dpl_eval_options options;
    size_t n_synthetic;
    struct dpl_eval_result *synthetic; /* (n_synthetic) */
};

DPL_API struct dpl_eval_options dpl_eval_defaults(void);
/* Caller frees with dpl_evaluation_free. */
DPL_API enum dpl_status dpl_evaluate(struct dpl_run *run, const struct dpl_cleaned *real,
                                     const struct dpl_eval_synthetic *synthetic, size_t n_synthetic,
                                     const struct dpl_eval_options *options,
                                     struct dpl_evaluation **evaluation);
DPL_API void dpl_evaluation_free(struct dpl_evaluation *evaluation);

/* What the synthetic trips are fit for, question by question, in words that a reader can act on. */
enum dpl_fit_word { DPL_FIT_YES, DPL_FIT_ROUGHLY, DPL_FIT_NO, DPL_FIT_UNKNOWN };

enum { DPL_FITNESS_MAX = 8, DPL_FITNESS_REASON = 200 };

struct dpl_fitness {
    const char *question; /* "where", "when", "from-to", ... */
    enum dpl_fit_word word;
    char reason[DPL_FITNESS_REASON]; /* the measure that decided, as a sentence */
};

/* "yes", "roughly", "no", "not measured". */
DPL_API const char *dpl_fit_word_name(enum dpl_fit_word word);
/* Fills the list for one synthetic set; returns how many questions there are. */
DPL_API size_t dpl_evaluation_fitness(const struct dpl_evaluation *evaluation, size_t synthetic,
                                      struct dpl_fitness list[DPL_FITNESS_MAX]);

/* What a measure is. */
struct dpl_measure_about {
    const char *name, *meaning; /* one sentence */
    enum dpl_better better;
    bool needs_times, needs_positions;
};
/* The i-th measure; false past the last. */
DPL_API bool dpl_measure_about(size_t i, struct dpl_measure_about *about);
/* NULL when there is no such measure for that synthetic set. Borrowed. */
DPL_API const struct dpl_measure *dpl_evaluation_find(const struct dpl_evaluation *evaluation,
                                                      size_t synthetic, const char *name,
                                                      int scope);

/* --------------------------------------------------------------------------------------------
 * Attack
 *
 * Was this trip (or this person) in the data? Attackers who see the synthetic trips, and real trips
 * of others, score trips that were fitted on (members) and trips that were not; the promise bounds
 * how well they can do: TPR <= e^epsilon * FPR + delta at every threshold. NOT PRIVATE: for the
 * data holder. An attack that fails proves nothing; one that exceeds the bound shows a defect. Each
 * is also run against a generator that copies the members, to show that it works at all.
 *
 *     struct dpl_attack_options options = dpl_attack_defaults();
 *     struct dpl_attack_input input = {.members = in, .others = out, .synthetic = synthetic};
 *     struct dpl_attack_report report;
 *     dpl_attack(run, &input, &options, &report);
 */

enum { DPL_ATTACKS_MAX = 8, DPL_ATTACK_POINTS = 2, DPL_ROC_POINTS = 200 };

struct dpl_attack_options {
    double epsilon, delta; /* of the promise; 1 and 1e-8 */
    enum dpl_unit unit;    /* whose membership is asked for */
    uint64_t seed;         /* which trips are scored, 1 */
};

struct dpl_attack_input {
    const struct dpl_cleaned *members, *others, *synthetic; /* on one grid */
    const struct dpl_cleaned
        *control;                  /* drawn from a model of the members without noise; NULL: none */
    const struct dpl_model *model; /* what SYNTHETIC was drawn from, for the informed attacker, who
                                      looks at its noised tables; NULL: not known */
    const struct dpl_model *control_model; /* of the members without noise; NULL: none */
};

/* One threshold: shares of others and of members above it, and what the promise allows there. */
struct dpl_roc_point {
    double fpr, tpr, bound;
};

struct dpl_attack {
    const char *name, *meaning;
    bool sanity_only;       /* legacy: says nothing about the promise */
    size_t members, others; /* units that were scored; half of the others set the thresholds */
    double auc;
    double tpr[DPL_ATTACK_POINTS];   /* at FPR 1 % and 0.1 %; NAN: too few units to say */
    double bound[DPL_ATTACK_POINTS]; /* e^epsilon * FPR + delta there, at most 1 */
    double control_auc;              /* against a copy of the members */
    double control_inf_auc;          /* against input.control */
    bool exceeds; /* beyond the bound with 99.9 % confidence, over all attacks and thresholds; of
                     the informed attacker also: a table has less noise than declared */
    size_t n_roc;
    struct dpl_roc_point roc[DPL_ROC_POINTS]; /* (n_roc) by rising share of others */
};

struct dpl_attack_report {
    size_t n;
    struct dpl_attack attack[DPL_ATTACKS_MAX];
    /* Share of trips that 2 and 4 of their (cell, period) tell from all others of the set. */
    double unicity_real[2], unicity_synthetic[2];
    bool exceeds; /* one of them does, sanity checks aside */
};

DPL_API struct dpl_attack_options dpl_attack_defaults(void);
DPL_API enum dpl_status dpl_attack(struct dpl_run *run, const struct dpl_attack_input *input,
                                   const struct dpl_attack_options *options,
                                   struct dpl_attack_report *report);

/* --------------------------------------------------------------------------------------------
 * Report
 *
 * One HTML file to look at before releasing: what the trips are fit for, whether they are safe to
 * release, maps, distributions, flows (docs/REPORT.md). It opens offline in any browser and holds
 * aggregates of the real trips, never a point of one unless real_trips_shown asks for it. With real
 * trips it is NOT PRIVATE and says so at its top; without them it is made from the synthetic trips
 * and their certificates alone and may be published.
 *
 *     struct dpl_report_options options = dpl_report_defaults();
 *     struct dpl_report_set private_side = {.name = "trips.csv", .trips = real};
 *     struct dpl_report_set shown = {.name = "synthetic.csv", .trips = synthetic, .certificate =
 * text}; dpl_report(run, &private_side, &shown, 1, &options, "report.html"); dpl_report(run, NULL,
 * &shown, 1, &options, "public.html");
 */

struct dpl_report_set {
    const char *name; /* as the page shows it */
    const struct dpl_cleaned *trips;
    const struct dpl_read_facts *facts; /* how it was read; NULL: not said */
    const char *certificate;            /* its certificate's text; NULL: none */
};

struct dpl_report_options {
    const char *basemap; /* a public GeoJSON file of lines, or an .osm.pbf map; NULL: none */
    int trips_shown;     /* synthetic trips drawn of each set, 12 */
    /* For a report with real trips alone; a public one with any of these is refused: */
    int real_trips_shown; /* real trips drawn beside them, 0: their points are in the file then */
    const char *attack;   /* the text that `dploc attack --json` writes; NULL: none */
    const char *ledger; /* the JSON of dpl_ledger_summary, of the ledger of the data; NULL: none */
    struct dpl_eval_options eval; /* for the measures */
    bool overwrite;               /* otherwise an existing file is refused */
};

DPL_API struct dpl_report_options dpl_report_defaults(void);
/* Whether the options make sense, the backdrop can be read and the file may be written: to be asked
 * before anything is spent. */
DPL_API enum dpl_status dpl_report_check(struct dpl_run *run, const struct dpl_area *area,
                                         const struct dpl_report_options *options,
                                         const char *path);
/* Writes the page to `path`. real NULL: a public report; a set without a valid certificate of a
 * private release is then refused (DPL_REFUSED). With real trips only the owner can read the file
 * (mode 0600). At most 8 synthetic sets, all on one grid. */
DPL_API enum dpl_status dpl_report(struct dpl_run *run, const struct dpl_report_set *real,
                                   const struct dpl_report_set *synthetic, size_t n_synthetic,
                                   const struct dpl_report_options *options, const char *path);

#ifdef __cplusplus
}
#endif
#endif
