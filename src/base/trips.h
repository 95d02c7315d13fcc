/* The store of points behind struct dpl_trips. It knows nothing of where points come from: private
 * ones go through it to a fit, synthetic ones from a model to the caller.
 *
 * Points are kept in columns, in the order of appending. Points that follow each other with the
 * same trip and user are a stretch; a trip whose stretches do not follow each other is brought
 * together when the columns are asked for (dpl_trips_settle): a stable sort by trip.
 *
 *     appended   7 7 7 8 8 7      stretches  (7: 0-2) (8: 3-4) (7: 5)
 *     settled    7 7 7 7 8 8                 (7: 0-2) (7: 3)   (8: 4-5)
 *
 * Cost: 24 bytes a point and 56 a stretch. */
#ifndef DPL_BASE_TRIPS_H
#define DPL_BASE_TRIPS_H

#include "base/base.h"

/* Seeds of the hashes that ids are known by; an id is its text, of a number the decimal digits. */
enum { DPL_SEED_USER = 1, DPL_SEED_TRIP = 2 };

struct dpl_stretch {
    struct dpl_key trip_key, user_key; /* all zero: no id */
    uint32_t trip;                     /* 0 ... n_trips-1 */
    size_t first, n;                   /* points */
};

struct dpl_trips {
    struct dpl_read_options read;
    /* In files: borrowed; nothing of what follows is used. */
    bool in_files;
    const char *const *inputs; /* (n_inputs) */
    size_t n_inputs;
    /* In another program's memory, read when it is used: likewise. NULL: not. */
    struct dpl_arrow *table;

    bool named;       /* points have trip ids; otherwise they are tracks, by user */
    bool lacks_users; /* some points came without users */
    bool settled;     /* the points of each trip stand together */
    bool counted;     /* `start` and `first_stretch` are those of the points */
    size_t n_points, n_trips, n_stretches;
    int64_t *utc_s;              /* (n_points) 0: no time */
    double *lat_deg, *lon_deg;   /* (n_points) */
    struct dpl_stretch *stretch; /* (n_stretches) */
    size_t *start;               /* (n_trips + 1) once counted */
    size_t *first_stretch;       /* (n_trips + 1) likewise */
    int64_t *trip_id, *user_id;  /* (n_trips) as struct dpl_columns has them */
    struct dpl_index trips, users;
    char zone[DPL_ZONE_NAME];            /* of the model that synthetic trips are from; "": UTC */
    int64_t rows, rejected[DPL_REJECTS]; /* rows: with those that were rejected */
    size_t utc_capacity, lat_capacity, lon_capacity, stretch_capacity, start_capacity,
        first_stretch_capacity, trip_id_capacity, user_id_capacity;
};

/* The ids of a point. */
struct dpl_point_ids {
    struct dpl_key trip_key, user_key; /* all zero: none */
    int64_t trip, user;                /* where they are numbers */
    bool trip_is_number, user_is_number;
};

/* Room for that many more points. */
enum dpl_status dpl_trips_reserve(struct dpl_run *run, struct dpl_trips *trips, size_t more);
/* Appends one point, as it is. */
enum dpl_status dpl_trips_put(struct dpl_run *run, struct dpl_trips *trips,
                              const struct dpl_point_ids *ids, int64_t utc_s, double lat_deg,
                              double lon_deg);
/* Brings the points of each trip together. */
enum dpl_status dpl_trips_settle(struct dpl_run *run, struct dpl_trips *trips);

#endif
