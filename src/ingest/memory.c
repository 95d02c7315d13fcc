/* Points in memory as a source of trips: checked row by row as those of files are.
 *
 * PRIVACY: the same contract as for files (docs/PRIVACY.md, "Reading"): whether a point is taken
 * follows from that point and from options alone. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/options.h"
#include "base/trips.h"
#include "ingest/format.h"

/* What the points of one call share. */
struct appending {
    struct dpl_run *run;
    struct dpl_trips *trips;
    const struct dpl_points *points;
    struct dpl_point_ids ids;  /* of the point before */
    bool has_trips, has_users; /* columns that are there */
};

static bool has_ids(const struct dpl_ids *ids) { return ids->number || ids->offset; }

/* ---- ids ---- */

/* A number is known by its digits, so that it is the same id as in a file. */
static bool key_of(const struct dpl_ids *ids, size_t i, uint64_t seed, struct dpl_key *key) {
    char digits[24];
    const char *text = digits;
    size_t length;
    if (ids->number) {
        length = (size_t)snprintf(digits, sizeof digits, "%" PRId64, ids->number[i]);
    } else {
        text = ids->text + ids->offset[i];
        length = (size_t)(ids->offset[i + 1] - ids->offset[i]);
    }
    *key = dpl_hash(text, length, seed);
    return length > 0;
}

/* Ids repeat from point to point: the last key is kept. */
static bool same_number(const struct dpl_ids *ids, size_t i) {
    return i > 0 && ids->number && ids->number[i] == ids->number[i - 1];
}

static enum dpl_reject take_ids(struct appending *a, size_t i) {
    const struct dpl_ids *trip = &a->points->trip, *user = &a->points->user;
    bool known = true;
    if (a->has_trips && !same_number(trip, i))
        known &= key_of(trip, i, SEED_TRIP, &a->ids.trip_key);
    if (a->has_users && !same_number(user, i))
        known &= key_of(user, i, SEED_USER, &a->ids.user_key);
    if (trip->number) a->ids.trip = trip->number[i];
    if (user->number) a->ids.user = user->number[i];
    return known ? DPL_REJECTS : DPL_REJECT_NO_ID;
}

/* ---- times ---- */

/* Seconds, a fraction cut off towards the past as in files. */
static int64_t floor_divide(int64_t value, int64_t by) { return value / by - (value % by < 0); }

static enum dpl_reject take_time(const struct appending *a, size_t i, int64_t *utc_s) {
    const struct dpl_points *points = a->points;
    *utc_s = UNTIMED_S;
    if (points->time)
        *utc_s = floor_divide(points->time[i], points->per_second);
    else if (!points->time_s)
        return DPL_REJECTS;
    else if (isnan(points->time_s[i]))
        return DPL_REJECT_BAD_TIME;
    else if (!(fabs(points->time_s[i]) < 1e15))
        return DPL_REJECT_TIME_OUT_OF_RANGE;
    else
        *utc_s = (int64_t)floor(points->time_s[i]);
    return dpl_time_in_range(*utc_s) ? DPL_REJECTS : DPL_REJECT_TIME_OUT_OF_RANGE;
}

/* ---- points ---- */

static enum dpl_status reject(struct appending *a, size_t i, enum dpl_reject reason) {
    a->trips->rejected[reason]++;
    if (!a->trips->read.strict) return DPL_OK;
    return dpl_fail(a->run, DPL_BAD_DATA,
                    "point %zu cannot be used (%s); `read.strict` stops at the first bad row", i,
                    dpl_reject_name(reason));
}

static enum dpl_status append_point(struct appending *a, size_t i) {
    const double lat_deg = a->points->lat_deg[i], lon_deg = a->points->lon_deg[i];
    int64_t utc_s;
    enum dpl_reject id = take_ids(a, i), time = take_time(a, i, &utc_s),
                    position = check_position(lat_deg, lon_deg);
    a->trips->rows++;
    if (id != DPL_REJECTS) return reject(a, i, id);
    if (time != DPL_REJECTS) return reject(a, i, time);
    if (position != DPL_REJECTS) return reject(a, i, position);
    return dpl_trips_put(a->run, a->trips, &a->ids, utc_s, lat_deg, lon_deg);
}

static enum dpl_status check_columns(struct dpl_run *run, const struct dpl_trips *trips,
                                     const struct dpl_points *points) {
    if (trips->in_files || trips->table)
        return dpl_fail(run, DPL_USAGE, "points cannot be appended to trips in files or tables");
    if (points->n && (!points->lat_deg || !points->lon_deg))
        return dpl_fail(run, DPL_USAGE, "`points.lat_deg` and `points.lon_deg` are both needed");
    if (points->n && !points->time && !points->time_s && !trips->read.time_optional)
        return dpl_fail(run, DPL_USAGE,
                        "`points.time` is missing (trips without times need "
                        "`read.time_optional`)");
    if (points->per_second < 1)
        return dpl_fail(run, DPL_USAGE, "`points.per_second` is not above 0");
    if (trips->rows && trips->named != has_ids(&points->trip))
        return dpl_fail(run, DPL_USAGE,
                        "`points.trip`: either all points have trip ids or none has");
    return DPL_OK;
}

enum dpl_status dpl_trips_append(struct dpl_run *run, struct dpl_trips *trips,
                                 const struct dpl_points *given) {
    struct dpl_points points = dpl_points_defaults();
    dpl_run_begin(run);
    DPL_TRY(dpl_options_take(run, "points", given, &points));
    DPL_TRY(check_columns(run, trips, &points));
    struct appending a = {.run = run,
                          .trips = trips,
                          .points = &points,
                          .ids = {.trip_is_number = points.trip.number != NULL,
                                  .user_is_number = points.user.number != NULL},
                          .has_trips = has_ids(&points.trip),
                          .has_users = has_ids(&points.user)};
    if (points.n == 0) return DPL_OK;
    trips->named = a.has_trips;
    trips->lacks_users |= !a.has_users;
    DPL_TRY(dpl_trips_reserve(run, trips, points.n));
    for (size_t i = 0; i < points.n; i++) DPL_TRY(append_point(&a, i));
    return DPL_OK;
}
