/* The made-up city, inside: a network, people with habits, trips along streets, four layouts.
 *
 *     city.c     streets, river, land use             depends on --city alone
 *     streets.c  the streets as a map file
 *     people.c   who lives and works where, and the day's legs (from, to, when)
 *     travel.c   routes by shortest-path trees, traffic, GPS fixes of one trip
 *     layout.c   csv, porto, cabspotting, geolife
 *     simulate.c options, blocks of users over the threads, output in block order
 *
 * Every random number is a hash of (seed, user, purpose, counter), so a block of users can be made
 * by any thread at any time and comes out the same. No function of libm but sqrt and floor is used,
 * both exactly rounded. */
#ifndef DPL_SIMULATE_SIMULATE_H
#define DPL_SIMULATE_SIMULATE_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/zone.h"

/* ---- random streams ---- */

struct dpl_sim_stream {
    uint64_t key, counter;
};

static const uint64_t DPL_SIM_ODD = 0x9E3779B97F4A7C15u;

static inline uint64_t dpl_sim_key(uint64_t a, uint64_t b) {
    return dpl_mix64(dpl_mix64(a + DPL_SIM_ODD) ^ (b * DPL_SIM_ODD + 1));
}
static inline uint64_t dpl_sim_next(struct dpl_sim_stream *s) {
    return dpl_mix64(s->key + ++s->counter * DPL_SIM_ODD);
}
/* In [0, 1). */
static inline double dpl_sim_unit(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }
static inline double dpl_sim_uniform(struct dpl_sim_stream *s) {
    return dpl_sim_unit(dpl_sim_next(s));
}
/* Mean 0, variance 1, nearly normal, never beyond 3.47: four 16-bit uniforms. */
static inline double dpl_sim_bell(struct dpl_sim_stream *s) {
    uint64_t bits = dpl_sim_next(s);
    uint64_t sum = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48);
    return ((double)sum - 131070.0) * (1.7320508075688772 / 65536.0);
}

/* ---- the city ---- */

enum dpl_sim_kind {
    DPL_SIM_HOME,
    DPL_SIM_JOB,
    DPL_SIM_SHOP,
    DPL_SIM_NIGHT,
    DPL_SIM_HUB,
    DPL_SIM_KINDS
};
enum dpl_sim_road { DPL_SIM_SIDE, DPL_SIM_ARTERIAL, DPL_SIM_EXPRESS, DPL_SIM_ROADS };

/* A directed piece of street. Its time at traffic (in, out) is free_s * (1 + k_in*in + k_out*out):
 * `in` is the traffic towards the centre, `out` the one away from it, both 0 at night, 1 at the
 * peak. */
struct dpl_sim_edge {
    int32_t to, twin; /* twin: the same piece the other way */
    float length_m, free_s, k_in, k_out;
    int32_t line; /* the street it belongs to, both directions alike */
    uint8_t road;
};

struct dpl_sim_city {
    struct dpl_grid grid;
    struct dpl_zone *zone;
    int32_t n_nodes, n_edges;
    double *x_m, *y_m;         /* (n_nodes) from the south-west corner of the box */
    int32_t *first;            /* (n_nodes + 1) edges leaving a node; at most 8 */
    struct dpl_sim_edge *edge; /* (n_edges) */
    uint64_t
        *reach[DPL_SIM_KINDS]; /* (n_nodes) summed weights of a land use up to and with the node */
};

/* Lays out city number `number`. Caller frees with dpl_sim_city_free, on failure too. */
enum dpl_status dpl_sim_city_make(struct dpl_run *run, uint64_t number, struct dpl_sim_city *city);
void dpl_sim_city_free(struct dpl_sim_city *city);
/* A node drawn by the weights of a land use. */
int32_t dpl_sim_draw(const struct dpl_sim_city *city, enum dpl_sim_kind kind, uint64_t bits);
double dpl_sim_distance_m(const struct dpl_sim_city *city, int32_t a, int32_t b);

/* Writes the streets as .osm.pbf (streets.c). */
enum dpl_status dpl_sim_write_streets(struct dpl_run *run, const struct dpl_sim_city *city,
                                      const char *path, bool overwrite);

/* ---- people ---- */

enum { DPL_SIM_FAVOURITES = 3 };

struct dpl_sim_person {
    uint64_t key;
    bool cab; /* drives all day wherever people want to go; the others follow their habits */
    int32_t home, job, shop[DPL_SIM_FAVOURITES], night[DPL_SIM_FAVOURITES];
    int32_t leave_s, return_s; /* usual times of the commute */
    double pace;               /* time factor, about 1 */
    uint8_t taste;             /* the usual way of choosing routes */
    bool slow_device;          /* a fix about every minute instead of every 15 s */
};

/* A trip to be made: local seconds since the start of the simulated days. */
struct dpl_sim_leg {
    int64_t local_s;
    int32_t from, to;
};

struct dpl_sim_legs {
    struct dpl_sim_leg *leg;
    size_t count, capacity;
};

/* How far people go: the typical distance, and the least worth a trip. */
struct dpl_sim_range {
    double typical_m, least_m;
};

void dpl_sim_person_make(const struct dpl_sim_city *city, const struct dpl_sim_range *range,
                         uint64_t seed, int64_t user, bool cab, struct dpl_sim_person *person);
/* Replaces *legs by the `count` trips the person makes on a day, by time. weekday: 0 is Monday. */
enum dpl_status dpl_sim_day(struct dpl_run *run, const struct dpl_sim_city *city,
                            const struct dpl_sim_range *range, const struct dpl_sim_person *person,
                            int day, int weekday, size_t count, struct dpl_sim_legs *legs);

/* ---- travel ---- */

enum { DPL_SIM_LEVELS = 4, DPL_SIM_TASTES = 4, DPL_SIM_TREES = DPL_SIM_LEVELS * DPL_SIM_TASTES };

/* Shortest-path trees towards a node, by traffic level and taste: made when first asked for, kept.
 */
struct dpl_sim_router {
    const struct dpl_sim_city *city;
    bool walk;
    uint16_t *cost_ds[DPL_SIM_TREES]; /* (n_edges) tenths of seconds, at least 1 */
    _Atomic(uint8_t *)
        *tree; /* (n_nodes * DPL_SIM_TREES) which edge of a node to take; NULL: not made yet */
};

enum dpl_status dpl_sim_router_make(struct dpl_run *run, const struct dpl_sim_city *city, bool walk,
                                    struct dpl_sim_router *router);
void dpl_sim_router_free(struct dpl_sim_router *router);

/* A point as it is written in every layout: coordinates in 1e-5 degrees. */
struct dpl_sim_fix {
    int64_t utc_s;
    int32_t lat_e5, lon_e5;
};

/* The trips of one user, in time order. */
struct dpl_sim_log {
    int64_t user, first_trip; /* both from 1 */
    struct dpl_sim_fix *fix;
    size_t n_fixes, fix_capacity;
    size_t *start; /* (n_trips + 1) */
    size_t n_trips, start_capacity;
};

/* One thread's room: the path of a trip, and the queue of a tree in the making. */
struct dpl_sim_scratch {
    double *x_m, *y_m, *at_s; /* (2 * n_nodes + 4) path: where, and when since the start */
    size_t n;
    uint32_t *distance_ds;           /* (n_nodes) */
    int32_t *next, *before, *bucket; /* (n_nodes) links of lists of nodes, (buckets) their heads */
};

enum dpl_status dpl_sim_scratch_make(struct dpl_run *run, const struct dpl_sim_city *city,
                                     struct dpl_sim_scratch *scratch);
void dpl_sim_scratch_free(struct dpl_sim_scratch *scratch);

struct dpl_sim_trip {
    int32_t from, to;
    int64_t utc_s; /* start */
    bool regular;  /* a fix every 15 s exactly */
};

/* Drives the trip and appends its fixes to the log. The log's last fix is when it ended. */
enum dpl_status dpl_sim_travel(struct dpl_run *run, struct dpl_sim_router *router,
                               const struct dpl_sim_person *person, const struct dpl_sim_trip *trip,
                               struct dpl_sim_stream *stream, struct dpl_sim_scratch *scratch,
                               struct dpl_sim_log *log);

/* ---- layouts ---- */

struct dpl_sim_text {
    char *bytes;
    size_t used, capacity;
};

struct dpl_sim_output;

/* Checks the path and opens what will appear under it; ends with commit or abort (NULL is allowed).
 */
enum dpl_status dpl_sim_output_open(struct dpl_run *run, const struct dpl_simulate_options *options,
                                    const char *path, int64_t users,
                                    struct dpl_sim_output **output);
/* Adds a user's trips: into `text` (csv, porto), or into files of the user's own (the other two).
 * May be called by several threads at once, each with a text of its own. */
enum dpl_status dpl_sim_output_add(const struct dpl_sim_output *output,
                                   const struct dpl_sim_log *log, struct dpl_sim_text *text);
/* Writes a finished text and empties it; the caller keeps the order. */
enum dpl_status dpl_sim_output_write(struct dpl_sim_output *output, struct dpl_sim_text *text);
enum dpl_status dpl_sim_output_commit(struct dpl_sim_output *output);
void dpl_sim_output_abort(struct dpl_sim_output *output);

#endif
