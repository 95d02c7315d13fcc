/* dploc, Arrow: trips from and to other programs' memory, without a file and without a copy.
 *
 * The Arrow C data interface is three small structs that pandas, Polars, pyarrow, DuckDB and many
 * others speak. A stream of theirs becomes trips, and synthetic trips become a stream:
 *
 *     struct dpl_run *run = dpl_run_new(NULL);
 *     struct dpl_trips *trips, *again;
 *     dpl_trips_new(run, NULL, &trips);
 *     int64_t trip[] = {7, 7}, time_s[] = {1741000000, 1741000060};
 *     double lat_deg[] = {47.98, 47.99}, lon_deg[] = {11.50, 11.51};
 *     struct dpl_points points = dpl_points_defaults();
 *     points.n = 2, points.trip.number = trip, points.time = time_s;
 *     points.lat_deg = lat_deg, points.lon_deg = lon_deg;
 *     dpl_trips_append(run, trips, &points);
 *     struct ArrowArrayStream stream;
 *     if (dpl_trips_to_arrow(run, trips, DPL_TIMES_UTC, &stream) == DPL_OK &&
 *         dpl_trips_from_arrow(run, &stream, NULL, &again) == DPL_OK) {
 *         struct dpl_read_facts *facts = NULL;
 *         if (dpl_clean(run, again, NULL, NULL, &facts) == DPL_OK)
 *             printf("%lld points have come back\n", (long long)facts->points);
 *         dpl_read_facts_free(facts), dpl_trips_free(again);
 *     }
 *     dpl_run_free(run);
 *
 * Conventions as in dploc.h.
 */
#ifndef DPLOC_ARROW_H
#define DPLOC_ARROW_H

#include "dploc.h"
#include "dploc_data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The layout and the names are fixed by the interface, and so are the two guards: every program
 * declares the same. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *schema); /* NULL: released */
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *array);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *schema);
    int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *array);
    const char *(*get_last_error)(struct ArrowArrayStream *stream);
    void (*release)(struct ArrowArrayStream *stream);
    void *private_data;
};
#endif

/* Trips from a stream of tables, one point a row. All chunks are taken and held, as they are, until
 * dpl_trips_free; rows are read when the trips are used, by the rules for files: columns by name or
 * by `read.trip_column` and its like; whole numbers, numbers with a fraction, decimals, texts,
 * dictionaries of these, and timestamps, where one without a zone is local time. An id is its text,
 * of a number the decimal digits: 7, 7.0 and "7" are one. A missing value makes its row a bad one.
 * The stream is released in any case. DPL_USAGE when a column is missing or has a type that is not
 * read, DPL_BAD_DATA when lengths or offsets of the table contradict each other. */
DPL_API enum dpl_status dpl_trips_from_arrow(struct dpl_run *run, struct ArrowArrayStream *stream,
                                             const struct dpl_read_options *options,
                                             struct dpl_trips **trips);

/* Trips in memory as a stream with the columns uid (if users are known), tid, datetime, lat and
 * lng, one point a row. `times` says what datetime is: microseconds with the trips' own zone
 * (synthetic ones have the zone of their model; others UTC), with UTC, without a zone as local
 * clocks show, or whole seconds since 1970. It is null where trips have no times. The trips belong
 * to the stream, which frees them, also on failure. */
DPL_API enum dpl_status dpl_trips_to_arrow(struct dpl_run *run, struct dpl_trips *trips,
                                           enum dpl_times times, struct ArrowArrayStream *stream);

#ifdef __cplusplus
}
#endif
#endif
