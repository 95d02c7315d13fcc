/* dploc: publish synthetic trips instead of private ones, with a true epsilon.
 *
 * Private trips in, a model that may be published, synthetic trips out, without any file:
 *
 *     struct dpl_run *run = dpl_run_new(NULL);
 *     struct dpl_area area = dpl_area_defaults(); // where: public, never taken from the data
 *     dpl_area_preset(run, "simulated", &area);
 *
 *     struct dpl_trips *trips, *synthetic;
 *     dpl_trips_new(run, NULL, &trips);
 *     int64_t trip[] = {7, 7, 7, 8, 8}, time_s[] = {1741000000, 1741000060, 1741000120,
 *                                                   1741000000, 1741000060};
 *     double lat_deg[] = {47.98, 47.99, 48.00, 48.01, 48.01};
 *     double lon_deg[] = {11.50, 11.50, 11.51, 11.45, 11.44};
 *     struct dpl_points points = dpl_points_defaults();
 *     points.n = 5, points.trip.number = trip, points.time = time_s;
 *     points.lat_deg = lat_deg, points.lon_deg = lon_deg;
 *     dpl_trips_append(run, trips, &points); // as often as you like
 *
 *     struct dpl_fit_options options = dpl_fit_defaults();
 *     options.budget.epsilon = 1;
 *     options.ledger = "none"; // for real data leave this out: the ledger adds up what you spend
 *     struct dpl_fit *fit = NULL;
 *     if (dpl_fit(run, trips, &area, &options, &fit) == DPL_OK &&
 *         dpl_sample(run, dpl_fit_model(fit), NULL, &synthetic) == DPL_OK)
 *         dpl_trips_free(synthetic), dpl_fit_finish(run, fit);
 *     else
 *         printf("%s\n", dpl_run_message(run)); // two trips are too few for any model
 *     dpl_fit_free(fit);
 *
 * The examples of this header follow each other: together they are a program, which a test runs.
 * Trips in files are as easy (dpl_trips_open), and dpl_synth does the whole job in one call.
 *
 * Conventions. Whatever can fail returns `enum dpl_status`, takes the run first and gives results
 * through its last pointers, which are untouched on failure; dpl_run_message() then says what went
 * wrong, where, and what to do, and names the member at fault in backquotes (`area.cell_m`).
 * Options are structs: begin with dpl_..._defaults() and change what you need; NULL means the
 * defaults. Angles are degrees (WGS84), distances metres, times seconds since 1970 UTC; the unit is
 * in the name. (n) beside a pointer is how many it points at. Who frees what is said where it is
 * made; all dpl_..._free take NULL. The library never prints, never exits, keeps no global state.
 *
 * What else there is: dploc_privacy.h (accountant, ledger, certificate) and dploc_data.h (reading
 * files in detail, cleaned trips on the grid, roads, made-up cities, attacks).
 *
 * Stability. Versions are MAJOR.MINOR.PATCH. Within one MAJOR version a program that compiles goes
 * on compiling, a program that is linked goes on working (new members are added at the end of
 * option structs, whose first member says how much of them a caller knows), and model files and
 * certificates stay readable. While MAJOR is 0 that holds within one MINOR version.
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

/* Of this header; dpl_version() is the library's, "0.1.0". */
#define DPL_VERSION_MAJOR 0
#define DPL_VERSION_MINOR 1
#define DPL_VERSION_PATCH 0

DPL_API const char *dpl_version(void);

/* --------------------------------------------------------------------------------------------
 * Run
 *
 * A run is the context that every call takes first: it holds the message, the number of threads,
 * and whom to tell about progress. One run per thread of the caller, for any number of calls.
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
    size_t struct_size; /* set by dpl_run_defaults, as in all option structs */
    int threads;        /* 0: all cores */
    /* Called at most a few times a second, and once at the end of each phase; may be NULL. */
    void (*on_progress)(void *user, const struct dpl_progress *progress);
    /* Called with one sentence about a choice that was made or a thing to know; may be NULL. */
    void (*on_note)(void *user, const char *sentence);
    void *user; /* passed on to both */
};

struct dpl_run;

DPL_API struct dpl_run_options dpl_run_defaults(void);
/* NULL when memory is short, or when options lack their size. Caller frees with dpl_run_free. */
DPL_API struct dpl_run *dpl_run_new(const struct dpl_run_options *options);
DPL_API void dpl_run_free(struct dpl_run *run);
/* The message of the last failure, "" if there was none. Borrowed until the next call. */
DPL_API const char *dpl_run_message(const struct dpl_run *run);
/* Makes the call in progress return DPL_INTERRUPTED at its next safe point. Safe to call from a
 * signal handler or another thread. */
DPL_API void dpl_run_interrupt(struct dpl_run *run);
/* Frees a text that a call made. */
DPL_API void dpl_text_free(char *text);

/* Enumerations by name, for command lines and other languages: the value that `name` has in that
 * field ("budget.unit", "sample.points", ...); DPL_USAGE with the names it takes otherwise. */
DPL_API enum dpl_status dpl_choice(struct dpl_run *run, const char *field, const char *name,
                                   int *value);
/* The other way round; NULL past the last value, or when there is no such field. */
DPL_API const char *dpl_choice_name(const char *field, int value);

/* --------------------------------------------------------------------------------------------
 * Area
 *
 * Where and how finely to look: a box, a cell size, a time zone. These are public choices, taken
 * from a map or a preset and never from the private data, because a box read off the data gives
 * away its outermost trip.
 *
 *     area.cell_m = 1000;
 */

enum { DPL_MAX_CELLS = 1 << 22, DPL_MAX_PERIODS = 96, DPL_ZONE_NAME = 64 };

struct dpl_area {
    size_t struct_size;
    double south_deg, west_deg, north_deg, east_deg;
    double cell_m;            /* side of a cell, 500 */
    double speed_limit_kmh;   /* no real trip is faster, 150 */
    int slot_s;               /* one visit per slot, 60 */
    int periods;              /* time slots of a day, 24: hours */
    char zone[DPL_ZONE_NAME]; /* IANA name; the period of a trip is local */
};

/* Cell 500 m, 60 s slots, 24 periods, 150 km/h; box and zone are still to be given. */
DPL_API struct dpl_area dpl_area_defaults(void);
/* Box and zone of a named region, in any case; names come from dpl_region_at (dploc_data.h). */
DPL_API enum dpl_status dpl_area_preset(struct dpl_run *run, const char *name,
                                        struct dpl_area *area);

/* --------------------------------------------------------------------------------------------
 * Trips
 *
 * Trips as they were recorded: points with times, in memory or in files. Rows that cannot be right
 * (no number, off the globe, before 1990) are rejected one by one and counted, and a fit cleans
 * what is left: both by the same rules wherever the trips come from, and the same rows are the same
 * data set to the ledger. A trip is all points with its id, in order of time; trips keep the order
 * in which they first appeared.
 *
 *     struct dpl_columns columns;
 *     dpl_trips_columns(run, trips, &columns);
 *     for (size_t i = 0; i < columns.n_trips; i++)
 *         printf("trip %lld has %zu points\n", (long long)columns.trip[i],
 *                columns.start[i + 1] - columns.start[i]);
 */

/* Ids, one per point: numbers, or texts in Arrow's layout. The number 7 and the text "7" are the
 * same id. Neither: the data has none. */
struct dpl_ids {
    const int64_t *number; /* (n) */
    const int32_t *offset; /* (n + 1) text i is the bytes offset[i] ... offset[i + 1] - 1 of ... */
    const char *text;      /* ... this */
};

/* Columns of points, as a data frame or an Arrow table has them. Borrowed during the call only. */
struct dpl_points {
    size_t struct_size;
    size_t n;
    struct dpl_ids trip;   /* neither: tracks, to be cut into trips (fit.trips_as_cut) */
    struct dpl_ids user;   /* neither: the data names no users */
    const int64_t *time;   /* (n) since 1970 UTC, in units of 1 / per_second ... */
    int64_t per_second;    /* ... 1: seconds; 1000, 1000000, 1000000000 */
    const double *time_s;  /* (n) or as seconds with a fraction, which is cut off */
    const double *lat_deg; /* (n) WGS84 */
    const double *lon_deg; /* (n) */
};

/* Trips in memory, read-only: the points of trip i are start[i] ... start[i + 1] - 1. */
struct dpl_columns {
    size_t n_trips, n_points;
    const size_t *start;   /* (n_trips + 1) */
    const int64_t *trip;   /* (n_trips) its id; of texts: their number in order of appearance */
    const int64_t *user;   /* (n_trips) likewise, of its first point; -1: not known */
    const int64_t *utc_s;  /* (n_points); 0 throughout where trips have no times */
    const double *lat_deg; /* (n_points) */
    const double *lon_deg; /* (n_points) */
};

struct dpl_trips;
struct dpl_read_options; /* dploc_data.h, as is: */
struct dpl_read_facts;

/* No points, one unit of time per second. */
DPL_API struct dpl_points dpl_points_defaults(void);
/* An empty store in memory, 24 bytes a point. Of the options only those about cleaning matter; NULL
 * for a fit. Caller frees with dpl_trips_free. */
DPL_API enum dpl_status dpl_trips_new(struct dpl_run *run, const struct dpl_read_options *options,
                                      struct dpl_trips **trips);
/* Copies the points. Those of one trip may come in several calls and in any order. */
DPL_API enum dpl_status dpl_trips_append(struct dpl_run *run, struct dpl_trips *trips,
                                         const struct dpl_points *points);
/* Trips in files: CSV, Parquet, GeoJSON, Porto, Cabspotting, GeoLife; a file, a directory, an
 * archive, a pattern ("part-*.parquet"), a query of Parquet files ("sql:select ...") or "-" for
 * standard input. They are read when they are
 * used, in memory that does not grow with the files, so that there are no columns to look at. All
 * arguments are borrowed until dpl_trips_free. */
DPL_API enum dpl_status dpl_trips_open(struct dpl_run *run, const char *const *inputs,
                                       size_t n_inputs, const struct dpl_read_options *options,
                                       struct dpl_trips **trips);
DPL_API void dpl_trips_free(struct dpl_trips *trips);
/* Borrowed until the next append; DPL_USAGE for trips in files. */
DPL_API enum dpl_status dpl_trips_columns(struct dpl_run *run, struct dpl_trips *trips,
                                          struct dpl_columns *columns);

/* --------------------------------------------------------------------------------------------
 * Fit
 *
 * From private trips to a model that may be published: clean, measure with noise, estimate. A fit
 * that is stopped leaves a checkpoint and goes on bit-identically with `resume`. What a ledger
 * cannot afford is refused before any noise is drawn. docs/METHOD.md says what is computed.
 *
 *     char *plan;
 *     options.size = 100000; // declared: then nothing has to be read to know the plan
 *     if (dpl_fit_preview(run, NULL, &area, &options, false, &plan) == DPL_OK) puts(plan);
 *     dpl_text_free(plan);
 */

enum dpl_unit { DPL_UNIT_TRIP, DPL_UNIT_USER };

/* What may be spent, and on what. A part of dpl_fit_options that stays as it is. */
struct dpl_budget {
    double epsilon;    /* of the whole release, 1; INFINITY: no noise anywhere, NOT PRIVATE */
    double delta;      /* 1e-8; fixed before any noise */
    double size_share; /* of epsilon, for the number of units: 0.02 */
    enum dpl_unit unit;
    int64_t trips_max;  /* trips that one unit counts as at most; 0: 1 of a trip; of a user what a
                           noised table says (bridge), or 20 (the other methods) */
    bool insecure_seed; /* the noise follows from a seed: NOT PRIVATE */
};

/* A promise beyond either is refused unless `accept_weak` is set. */
#define DPL_WEAK_EPSILON 100.0 /* largest */
#define DPL_WEAK_DELTA 0.01    /* less than this */

/* By what means trips travel: which roads of a map they may take, in which direction, how fast. */
enum dpl_travel { DPL_TRAVEL_DRIVE, DPL_TRAVEL_BIKE, DPL_TRAVEL_WALK };

struct dpl_fit_options {
    size_t struct_size;
    const char *method;    /* "bridge"; or "paper", or one to compare with: dpl_method_name */
    const char *mechanism; /* of the methods to compare with: "gaussian", or "laplace" */
    struct dpl_budget budget;
    bool trips_as_cut; /* a trip as unit: accept trips cut out of tracks by the public rule; without
                          it such data is DPL_REFUSED (docs/PRIVACY.md, "The unit") */
    bool accept_weak;  /* accept a promise beyond DPL_WEAK_EPSILON or DPL_WEAK_DELTA; without it
                          DPL_REFUSED. The certificate says so */
    int64_t size;      /* units, declared public; 0: measured */
    double coverage;   /* part of all visits that the chosen cells hold; 0: the method's own (bridge
                          1, paper and ngram 0.95) */
    double kl_weight;  /* paper: of the VAE's KL divergence, 1 */
    bool no_destination; /* paper: transitions do not depend on where a trip goes */
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
    double hold_out;  /* share of the units that is not fitted on, for attacks; its key goes to
                         PATH.PRIVATE.json alone. Cannot be resumed */
    double memory_mb; /* the most memory that tables and trips may take, in millions of bytes, 8000;
                         a fit that might need more is DPL_USAGE before anything is spent */
    bool as_published; /* what the published program of a method to compare with takes from raw data
                          is taken without noise. NOT PRIVATE (docs/BASELINES.md) */
    const char *sglt_form;  /* sglt: "private"; or "deniable", the published notion. NOT PRIVATE */
    const char *keep;       /* sglt: what is kept of a trip, its "ends" or its "sequence" */
    const char *roads;      /* bridge: a public map (.osm.pbf) of the area, whose roads say where
                               visits are likely; NULL: none */
    enum dpl_travel travel; /* DPL_TRAVEL_DRIVE */
};

struct dpl_fit;
struct dpl_model;

DPL_API struct dpl_fit_options dpl_fit_defaults(void);
/* The i-th method's name, NULL past the last. */
DPL_API const char *dpl_method_name(size_t i);
/* How a fit with this method reads visits: dpl_read_options.own_phase. */
DPL_API bool dpl_method_own_phase(const char *method);
/* Caller frees with dpl_fit_free. After DPL_INTERRUPTED the checkpoint is on the disk. */
DPL_API enum dpl_status dpl_fit(struct dpl_run *run, struct dpl_trips *trips,
                                const struct dpl_area *area, const struct dpl_fit_options *options,
                                struct dpl_fit **fit);
DPL_API void dpl_fit_free(struct dpl_fit *fit);
/* What may be published; borrowed from the fit. */
DPL_API const struct dpl_model *dpl_fit_model(const struct dpl_fit *fit);
/* The certificate's text (JSON, docs/certificate.schema.json); borrowed from the fit. */
DPL_API const char *dpl_fit_certificate(const struct dpl_fit *fit);
/* What was read, exactly; borrowed. NOT PRIVATE: for the holder's eyes. */
DPL_API const struct dpl_read_facts *dpl_fit_facts(const struct dpl_fit *fit);
/* Whether dpl_fit_write could write: call before fitting, it spends nothing. With `overwrite` a
 * model takes the place of a model, and nothing else is replaced. */
DPL_API enum dpl_status dpl_fit_check_path(struct dpl_run *run, const char *path, bool overwrite);
/* Writes PATH (the model, last), PATH.certificate.json, PATH.manifest.json and PATH.PRIVATE.json
 * (mode 0600, for the holder alone), then deletes the checkpoint. At no moment does a certificate
 * stand beside a model that it was not made with. */
DPL_API enum dpl_status dpl_fit_write(struct dpl_run *run, struct dpl_fit *fit, const char *path,
                                      bool overwrite);
/* For a fit whose model stays in memory: deletes the checkpoint and leaves the ledger to others.
 * Writing does that, too, and is still possible. */
DPL_API enum dpl_status dpl_fit_finish(struct dpl_run *run, struct dpl_fit *fit);
/* The plan before anything is spent: split, noise, expected counts, as a table or as JSON. Without
 * a declared size the units are counted, and what it says is NOT PRIVATE; with one, trips may be
 * NULL. Free with dpl_text_free. */
DPL_API enum dpl_status dpl_fit_preview(struct dpl_run *run, struct dpl_trips *trips,
                                        const struct dpl_area *area,
                                        const struct dpl_fit_options *options, bool json,
                                        char **text);

/* --------------------------------------------------------------------------------------------
 * Model
 *
 * What a fit releases, and all that sampling ever sees. Its file is in safetensors' format and has
 * the certificate in it.
 */

/* Caller frees with dpl_model_free; a fit's own model goes with the fit. */
DPL_API enum dpl_status dpl_model_read(struct dpl_run *run, const char *path,
                                       struct dpl_model **model);
/* The model's file alone; dpl_fit_write also writes what belongs beside it. */
DPL_API enum dpl_status dpl_model_write(struct dpl_run *run, const struct dpl_model *model,
                                        const char *path, bool overwrite);
DPL_API void dpl_model_free(struct dpl_model *model);
/* What a model file holds, as words or as one JSON object; free with dpl_text_free. */
DPL_API enum dpl_status dpl_model_summary(struct dpl_run *run, const char *path, bool json,
                                          char **text);

/* --------------------------------------------------------------------------------------------
 * Sample
 *
 * Synthetic trips from a released model: no private data is needed, and none is looked at, so it
 * costs no privacy however often it is done. The same model, seed and options give the same trips,
 * whatever the number of threads (docs/SAMPLING.md). Files can be written in these formats:
 *
 *     for (size_t i = 0; dpl_output_name(i); i++)
 *         printf("%s: *%s\n", dpl_output_name(i), dpl_output_ending(i));
 */

/* Where in its cell a visit is: such that the trip moves as trips do, anywhere, or at the centre.
 */
enum dpl_points_kind { DPL_POINTS_DRAWN, DPL_POINTS_UNIFORM, DPL_POINTS_CENTRE };

/* How times are written, where the layout leaves that open (csv, GeoJSON's datetime). */
enum dpl_times {
    DPL_TIMES_LOCAL, /* 2025-03-03T08:15:00+01:00: the offset of the first day's beginning for all
                        rows, so that a column has one offset also when clocks change */
    DPL_TIMES_UTC,   /* 2025-03-03T07:15:00Z */
    DPL_TIMES_NAIVE, /* 2025-03-03T08:15:00: what local clocks show, an hour twice in autumn */
    DPL_TIMES_EPOCH  /* 1740986100: seconds since 1970 */
};

struct dpl_sample_options {
    size_t struct_size;
    int64_t
        trips; /* -1: as many as the model estimates; with ngram: as many as its synthesis gave */
    int64_t seed;                /* -1: a fresh one, which the manifest tells */
    int64_t mh_steps;            /* method paper: random changes of each path, 10 */
    bool no_looping;             /* method paper: no cell is repeated */
    enum dpl_points_kind points; /* DPL_POINTS_DRAWN */
    int64_t interval_s;          /* seconds between two points, a part of the slot; 0: as far apart
                                    as visits are, or as the layout asks for */
    double gps_error_m;          /* of a receiver, added to every point: half of the trips have an
                                    error of less deviation; -1: 8 with roads, else none */
    const char *date; /* "2025-03-03..2025-03-09", or one day: each trip draws its day by weekday
                         and hour; NULL: the period that the fit declared, or a typical week */
    int64_t block, blocks; /* this block alone, from 0 on, of so many: any machine can draw any
                              block, and all in a row are the trips drawn at once. 0, 0: all */
    /* For files alone: */
    enum dpl_times times;      /* DPL_TIMES_LOCAL */
    const char *to;            /* a name of dpl_output_name; NULL: by the ending of the path */
    bool overwrite;            /* otherwise existing files are refused; of what is there, only
                                  what this program wrote is replaced */
    const char *release;       /* a directory to put what may be published into; NULL: none */
    const char *release_model; /* the model's file, to be put there too; NULL: not */
    const char *columns_out;   /* other names of columns, "tid=trip_id,lat=latitude"; NULL: none */
    const char *license;       /* of the release, for its datapackage.json, "CC-BY-4.0"; NULL: not
                                  given */
    /* For files and memory again: */
    const char *roads;      /* a public map (.osm.pbf) of the area, whose roads trips follow; NULL:
                               none. Needs DPL_POINTS_DRAWN */
    enum dpl_travel travel; /* DPL_TRAVEL_DRIVE */
};

DPL_API struct dpl_sample_options dpl_sample_defaults(void);
/* The i-th output format's name, and the ending of files in it; NULL past the last. */
DPL_API const char *dpl_output_name(size_t i);
DPL_API const char *dpl_output_ending(size_t i);
/* Into memory. Caller frees with dpl_trips_free. */
DPL_API enum dpl_status dpl_sample(struct dpl_run *run, const struct dpl_model *model,
                                   const struct dpl_sample_options *options,
                                   struct dpl_trips **trips);
/* To `path` ("-": standard output; .gz and .zst are compressed) and, beside it,
 * PATH.certificate.json and PATH.manifest.json. Each appears whole or not at all, and never a
 * certificate beside trips that it was not made with. */
DPL_API enum dpl_status dpl_sample_write(struct dpl_run *run, const struct dpl_model *model,
                                         const struct dpl_sample_options *options,
                                         const char *path);

/* --------------------------------------------------------------------------------------------
 * Tables
 *
 * The noised tables that a fit paid for, as they were released, before anything was estimated from
 * them: counts with noise whose deviation stands beside each. For those who want origins and
 * destinations, visits by hour, lengths or speeds, and no trips. No private data is needed.
 *
 *     struct dpl_tables_options tables = dpl_tables_defaults();
 *     tables.license = "CC-BY-4.0";
 *     struct dpl_model *released;
 *     if (dpl_model_read(run, "city.dploc", &released) == DPL_OK)
 *         dpl_tables_write(run, released, &tables, "tables"), dpl_model_free(released);
 */

struct dpl_tables_options {
    size_t struct_size;
    const char *zones;   /* a GeoJSON file of public polygons: tables by cell are summed up by
                            them, too; NULL: none */
    const char *license; /* for the datapackage.json; NULL: not given */
    bool overwrite;      /* otherwise an existing directory is refused; of what is there, only what
                            this program wrote is replaced */
};

DPL_API struct dpl_tables_options dpl_tables_defaults(void);
/* A directory with a CSV file for each table (and, where DuckDB's library is, a Parquet file),
 * cells.csv, the certificate and a datapackage.json. Appears whole or not at all. DPL_REFUSED for a
 * model that is not private. */
DPL_API enum dpl_status dpl_tables_write(struct dpl_run *run, const struct dpl_model *model,
                                         const struct dpl_tables_options *options,
                                         const char *directory);

/* --------------------------------------------------------------------------------------------
 * Synth: the whole job
 *
 * Private trips in, a file of synthetic trips out: check everything that can be wrong before any
 * privacy is spent, read, fit, write, sample, finish. Beside PATH: PATH.certificate.json and
 * PATH.manifest.json (public), PATH.PRIVATE.json (for the holder alone).
 *
 *     struct dpl_simulate_options city = dpl_simulate_defaults(); // dploc_data.h: a made-up city
 *     city.trips = 2000;
 *     dpl_simulate(run, &city, "city.csv");
 *     const char *files[] = {"city.csv"};
 *     struct dpl_trips *real;
 *     dpl_trips_open(run, files, 1, NULL, &real);
 *     struct dpl_synth_options job = dpl_synth_defaults();
 *     options = dpl_fit_defaults(), options.ledger = "none", job.fit = &options;
 *     if (dpl_synth(run, real, &area, &job, "synthetic.csv", NULL) != DPL_OK)
 *         printf("%s\n", dpl_run_message(run));
 */

struct dpl_synth_options {
    size_t struct_size;
    const struct dpl_fit_options *fit;       /* NULL: defaults */
    const struct dpl_sample_options *sample; /* NULL: defaults; its `overwrite` is set by ... */
    bool overwrite;    /* ... this one: files of an earlier run are replaced, and nothing else */
    const char *model; /* keep the model here, too; NULL: nowhere */
};

DPL_API struct dpl_synth_options dpl_synth_defaults(void);
/* *fit (if not NULL) is what was fitted, for its certificate; free with dpl_fit_free. */
DPL_API enum dpl_status dpl_synth(struct dpl_run *run, struct dpl_trips *trips,
                                  const struct dpl_area *area,
                                  const struct dpl_synth_options *options, const char *path,
                                  struct dpl_fit **fit);

/* --------------------------------------------------------------------------------------------
 * Evaluate
 *
 * How close synthetic trips are to the real ones, in the measures of docs/EVALUATION.md, each
 * beside its floor: what one random half of the real trips scores against the other half. A perfect
 * generator has ratio 1. The figures are computed from private data: they are NOT PRIVATE, and
 * choosing between runs by them is outside any epsilon. dploc_data.h compares several sets at once.
 *
 *     const char *drawn[] = {"synthetic.csv"};
 *     dpl_trips_open(run, drawn, 1, NULL, &synthetic);
 *     struct dpl_evaluation *evaluation = NULL;
 *     dpl_compare(run, real, synthetic, &area, NULL, &evaluation);
 *     const struct dpl_measure *density =
 *         dpl_evaluation_find(evaluation, 0, "density_emd_m", DPL_SCOPE_POOLED);
 *     printf("density: %.0f m, at best %.0f m\n", density->value, density->floor);
 *     dpl_evaluation_free(evaluation), dpl_trips_free(synthetic), dpl_trips_free(real);
 *     dpl_trips_free(trips), dpl_run_free(run);
 */

enum {
    DPL_SCOPE_POOLED = -1,
    DPL_SCOPE_HOURS = -2
}; /* all trips at once; mean over the periods of the day; 0, 1, ...: one period */

enum dpl_better { DPL_BETTER_LOWER, DPL_BETTER_HIGHER, DPL_BETTER_NEAR_FLOOR };

struct dpl_cleaned; /* dploc_data.h */

struct dpl_eval_options {
    size_t struct_size;
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
    const struct dpl_roads *roads;  /* a map of the area, for road_share_15m; NULL: none */
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
    size_t n_synthetic;
    struct dpl_eval_result *synthetic; /* (n_synthetic) */
    struct dpl_eval_options options;   /* last: it may grow */
};

DPL_API struct dpl_eval_options dpl_eval_defaults(void);
/* Caller frees with dpl_evaluation_free. */
DPL_API enum dpl_status dpl_compare(struct dpl_run *run, struct dpl_trips *real,
                                    struct dpl_trips *synthetic, const struct dpl_area *area,
                                    const struct dpl_eval_options *options,
                                    struct dpl_evaluation **evaluation);
DPL_API void dpl_evaluation_free(struct dpl_evaluation *evaluation);
/* NULL when there is no such measure for that synthetic set. Borrowed. */
DPL_API const struct dpl_measure *dpl_evaluation_find(const struct dpl_evaluation *evaluation,
                                                      size_t synthetic, const char *name,
                                                      int scope);

/* Where the error of a model's trips comes from: the same measures, against the real trips, of two
 * real halves (floor), of real trips on the model's cells (projected), of what was estimated from
 * the noised tables (wanted), of what the walk does on the average (expected), of drawn trips'
 * cells, and of points as written. Method bridge. NOT PRIVATE. */
enum { DPL_STAGES = 6 };
struct dpl_stage {
    const char *name;
    double density_m, density_parts_m; /* earth mover's distance of visits, pooled; by daypart */
    double od_m;                       /* of source and destination, most frequent pairs */
    double length_jsd, step_jsd; /* Jensen-Shannon distance of visits a trip, of step lengths */
};
/* `drawn` are trips of the model at the centres of their cells, `placed` with their points; both
 * with positions. */
DPL_API enum dpl_status dpl_evaluate_stages(struct dpl_run *run, const struct dpl_cleaned *real,
                                            const struct dpl_model *model,
                                            const struct dpl_cleaned *drawn,
                                            const struct dpl_cleaned *placed,
                                            struct dpl_stage list[DPL_STAGES]);

/* --------------------------------------------------------------------------------------------
 * Report
 *
 * One HTML file to look at before releasing: what the trips are fit for, whether they are safe to
 * release, maps, distributions, flows (docs/REPORT.md). It opens offline in any browser and holds
 * aggregates of the real trips, never a point of one unless real_trips_shown asks for it. With real
 * trips it is NOT PRIVATE and says so at its top; without them it is made from the synthetic trips
 * and their certificates alone and may be published.
 */

struct dpl_report_set {
    const char *name; /* as the page shows it */
    const struct dpl_cleaned *trips;
    const struct dpl_read_facts *facts; /* how it was read; NULL: not said */
    const char *certificate;            /* its certificate's text; NULL: none */
};

struct dpl_report_options {
    size_t struct_size;
    const char *basemap; /* a public GeoJSON file of lines, or an .osm.pbf map; NULL: none */
    int trips_shown;     /* synthetic trips drawn of each set, 12 */
    /* For a report with real trips alone; a public one with any of these is refused: */
    int real_trips_shown; /* real trips drawn beside them, 0: their points are in the file then */
    const char *attack;   /* the text that `dploc attack --json` writes; NULL: none */
    const char *ledger; /* the JSON of dpl_ledger_summary, of the ledger of the data; NULL: none */
    const struct dpl_eval_options *eval; /* for the measures; NULL: defaults */
    bool overwrite;                      /* otherwise an existing file is refused */
    const char *zones; /* a GeoJSON file of public polygons: flows go between them; NULL: squares */
};

DPL_API struct dpl_report_options dpl_report_defaults(void);
/* Whether the options make sense, the public maps can be read and the file may be written: to be
 * asked before anything is spent. */
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
