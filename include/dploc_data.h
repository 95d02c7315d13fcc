/* dploc, data: for programs that look at trips rather than publish them.
 *
 *   read and clean   files in detail, and what was found in them
 *   cleaned trips    on the grid, one cell per time slot
 *   evaluate         several synthetic sets at once, in words, too
 *   attack           was this person in the data?
 *   roads            a public map as a network
 *   simulate         a made-up city: public data without limit
 *   paths            no output may be an input
 *
 * Conventions as in dploc.h. The examples follow each other: together they are a program, which a
 * test runs.
 */
#ifndef DPLOC_DATA_H
#define DPLOC_DATA_H

#include "dploc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------------
 * Simulate
 *
 * A made-up city in the box of the region "simulated": streets, rush hours, habits, GPS error.
 * Public data without limit, for demos, tests and tuning. The same options give the same bytes,
 * whatever the number of threads; docs/SIMULATE.md says how the city is made.
 *
 *     struct dpl_run *run = dpl_run_new(NULL);
 *     struct dpl_simulate_options made_up = dpl_simulate_defaults();
 *     made_up.trips = 500, made_up.roads_out = "city.osm.pbf", made_up.overwrite = true;
 *     if (dpl_simulate(run, &made_up, "city.csv") != DPL_OK) puts(dpl_run_message(run));
 */

enum dpl_layout { DPL_LAYOUT_CSV, DPL_LAYOUT_PORTO, DPL_LAYOUT_CABSPOTTING, DPL_LAYOUT_GEOLIFE };
enum dpl_sampling { DPL_SAMPLING_IRREGULAR, DPL_SAMPLING_REGULAR /* every 15 s */ };
enum dpl_pace { DPL_PACE_DRIVE, DPL_PACE_WALK };

struct dpl_simulate_options {
    size_t struct_size;
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
 * Regions and the grid
 *
 * The grid cuts an area's box into squares of true local metres.
 *
 *     struct dpl_area area = dpl_area_defaults();
 *     dpl_area_preset(run, "simulated", &area);
 *     struct dpl_grid grid;
 *     dpl_grid_make(run, &area, &grid);
 *     int32_t cell = dpl_grid_cell_at(&grid, 47.99, 11.5);
 *     double lat_deg, lon_deg;
 *     dpl_grid_centre(&grid, cell, &lat_deg, &lon_deg);
 *     printf("cell %d of %d, %.0f m from the first\n", cell, dpl_grid_cells(&grid),
 *            dpl_grid_distance_m(&grid, 0, cell));
 *     printf("cell %d is 2 km east and 1 km north of the corner\n",
 *            dpl_grid_cell_of(&grid, 2000, 1000));
 */

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
 * Read and clean
 *
 * From files as people download them to cleaned trips: plain CSV, Porto's POLYLINE table, the
 * Cabspotting files, GeoLife's .plt tree; a file, a directory, an archive (.gz .xz .zst .zip
 * .tar.*) or "-" for standard input. Memory does not grow with the raw file. Each rule looks at one
 * trip alone, so cleaning costs no privacy. What was found, and what was dropped and why, comes
 * back as facts, which are NOT PRIVATE: for the data holder only.
 *
 *     for (size_t i = 0; dpl_format_name(i); i++)
 *         printf("%s: %s\n", dpl_format_name(i), dpl_format_about(i));
 *     struct dpl_read_options read = dpl_read_defaults();
 *     read.strict = true; // stop at the first malformed row
 *     const char *inputs[] = {"city.csv"};
 *     struct dpl_trips *trips;
 *     dpl_trips_open(run, inputs, 1, &read, &trips);
 *     struct dpl_cleaned *cleaned;
 *     struct dpl_read_facts *facts;
 *     if (dpl_clean(run, trips, &area, &cleaned, &facts) != DPL_OK) puts(dpl_run_message(run));
 *     printf("%lld rows, %zu trips left\n", (long long)facts->rows, cleaned->n_trips);
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
    DPL_REJECT_BACKWARDS,    /* a trip's end is before its start; with `strict` also of points */
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
    DPL_DROP_OTHER_DAYS,  /* begins outside the declared period, `dates` */
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
    size_t struct_size;
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
    bool own_phase;          /* visits, and positions, are where a trip is at its own phase of its
                                slots, one moment a slot: when it mostly is in their most frequent
                                cells. Otherwise visits are these cells, and positions at each
                                slot's instant. Fits and dpl_compare set it */
    bool keep_too_fast;      /* keep trips that break the speed rule, and count them */
    int gap_limit_s;         /* longer silence drops a trip, or cuts a track, 300; up to 3 hours */
    bool drop_points;        /* drop points that are outside the box or too fast to reach instead of
                                their whole trip */
    bool strict;             /* stop at the first malformed row */
    bool time_optional;      /* accept trips without times: rows in order, one visit each; a fit
                                refuses it */
    bool guess;              /* NOT PRIVATE: let the first rows tell what names, header and options
                                leave open. Never set it where the result is to be published */
    bool need_trips;         /* DPL_REFUSED for a file of tracks, which would be cut into trips */
    bool need_users;         /* DPL_REFUSED for a table without a column of users */
    struct dpl_hold_out hold_out;
    size_t memory_bytes; /* for sorting scattered trips before a temporary file is used, 32 MB */
    const char *dates;   /* the public period of the data, "2025-03-03..2025-03-16": trips that
                            begin on other days, by local time, are dropped; NULL: all days */
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
    bool settled;                  /* false: several files, or one person's: they are not public */
    char format[16], separator[8]; /* "": a table in memory has none */
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
    int64_t recordings;    /* as they were read: trips, or tracks that were cut into trips */
    int64_t elsewhere;     /* recordings of other shards, which their workers count */
};

DPL_API struct dpl_read_options dpl_read_defaults(void);
/* The i-th format's name, and what it is in one line; NULL past the last. */
DPL_API const char *dpl_format_name(size_t i);
DPL_API const char *dpl_format_about(size_t i);
/* Cleans the trips and puts them onto the area's grid. With area NULL only facts are gathered and
 * *cleaned is untouched. cleaned and facts may be NULL. Facts are given on failure too, as far as
 * they go (*facts is NULL when there are none). Caller frees with dpl_cleaned_free,
 * dpl_read_facts_free. */
DPL_API enum dpl_status dpl_clean(struct dpl_run *run, struct dpl_trips *trips,
                                  const struct dpl_area *area, struct dpl_cleaned **cleaned,
                                  struct dpl_read_facts **facts);
/* The same of trips in files, which need not be opened before. */
DPL_API enum dpl_status dpl_cleaned_read(struct dpl_run *run, const char *const *inputs,
                                         size_t n_inputs, const struct dpl_read_options *options,
                                         const struct dpl_area *area, struct dpl_cleaned **cleaned,
                                         struct dpl_read_facts **facts);
DPL_API void dpl_read_facts_free(struct dpl_read_facts *facts);

/* --------------------------------------------------------------------------------------------
 * Cleaned trips
 *
 * Cleaned trips, in columns: a trip is a run of visits, one cell per time slot. About 6 bytes a
 * visit, 14 with positions. Trips keep the order in which they first appeared in the input.
 *
 *     for (size_t v = cleaned->start[0]; v < cleaned->start[1]; v++)
 *         printf("%d ", cleaned->cell[v]);
 *     dpl_cleaned_free(cleaned), dpl_read_facts_free(facts), dpl_trips_free(trips);
 */

/* Where a trip is at the instant that a slot begins, or at its own phase of the slot, on the
 * straight line between its points. */
struct dpl_position {
    float x_m, y_m; /* east and north of the box's south-west corner */
};

struct dpl_instant {
    int64_t utc_s;
    float x_m, y_m;
};
/* The first and the last point of a trip; the last may lie behind the instant of its last slot. */
struct dpl_trip_ends {
    struct dpl_instant begin, end;
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
    struct dpl_trip_ends *ends; /* (n_trips) kept where positions are; NULL: not kept */
};

DPL_API void dpl_cleaned_free(struct dpl_cleaned *trips);

/* --------------------------------------------------------------------------------------------
 * Evaluate several sets
 *
 * As dpl_compare does with one: trips on the grid of the real ones, each set with its name.
 */

struct dpl_eval_synthetic {
    const char *name;
    const struct dpl_cleaned *trips; /* on the grid of the real ones */
    const int32_t
        *own_cells; /* (n_own_cells) the cells its model knows; NULL: those that its trips visit */
    size_t n_own_cells;
    const struct dpl_read_facts *facts; /* how it was read; NULL: not known */
};

/* Caller frees with dpl_evaluation_free. */
DPL_API enum dpl_status dpl_evaluate(struct dpl_run *run, const struct dpl_cleaned *real,
                                     const struct dpl_eval_synthetic *synthetic, size_t n_synthetic,
                                     const struct dpl_eval_options *options,
                                     struct dpl_evaluation **evaluation);
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

/* --------------------------------------------------------------------------------------------
 * Attack
 *
 * Was this trip (or this person) in the data? Attackers who see the synthetic trips, and real trips
 * of others, score trips that were fitted on (members) and trips that were not; the promise bounds
 * how well they can do: TPR <= e^epsilon * FPR + delta at every threshold. NOT PRIVATE: for the
 * data holder. An attack that fails proves nothing; one that exceeds the bound shows a defect. Each
 * is also run against a generator that copies the members, to show that it works at all.
 */

enum { DPL_ATTACKS_MAX = 8, DPL_ATTACK_POINTS = 2, DPL_ROC_POINTS = 200 };

struct dpl_attack_options {
    size_t struct_size;
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
 * Roads
 *
 * A public map, from any OpenStreetMap extract (.osm.pbf, .osm): the roads of the area's box as a
 * network with one-ways and speeds. Nothing of it is private, and none of it is believed: a damaged
 * file is DPL_BAD_DATA with a sentence. docs/ROADS.md says what is read and by which rules.
 *
 *     struct dpl_roads *roads;
 *     if (dpl_roads_read(run, "city.osm.pbf", &grid, DPL_TRAVEL_DRIVE, &roads) == DPL_OK)
 *         printf("%.0f m to the next road\n", dpl_roads_distance_m(roads, 47.99, 11.5));
 *     dpl_roads_free(roads);
 */

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
 * Paths
 *
 * Private originals cannot be had again, so no output may be one of them, whatever it is called.
 * Files are compared by device and inode, links are followed, directories are walked. Ask before
 * anything is read or spent.
 *
 *     const char *const in[] = {"city.csv"}, *const out[] = {"./city.csv"};
 *     struct dpl_paths paths = {.inputs = in, .n_inputs = 1, .outputs = out, .n_outputs = 1};
 *     if (dpl_paths_check(run, &paths) != DPL_OK) puts(dpl_run_message(run)); // the same file
 *     dpl_run_free(run);
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

#ifdef __cplusplus
}
#endif
#endif
