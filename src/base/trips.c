/* See trips.h. */
#include "base/trips.h"

#include <string.h>

#include "base/options.h"
#include "base/arrow.h"

struct dpl_read_options dpl_read_defaults(void) {
    return (struct dpl_read_options){.struct_size = sizeof(struct dpl_read_options),
                                     .format = "auto",
                                     .time_unit = "auto",
                                     .coordinates = "auto",
                                     .gap_limit_s = 300,
                                     .memory_bytes = (size_t)32 << 20};
}

struct dpl_points dpl_points_defaults(void) {
    return (struct dpl_points){.struct_size = sizeof(struct dpl_points), .per_second = 1};
}

static enum dpl_status make(struct dpl_run *run, const struct dpl_read_options *options,
                            struct dpl_trips **made) {
    dpl_run_begin(run);
    struct dpl_trips *trips = dpl_alloc(run, 1, sizeof *trips);
    if (!trips) return DPL_SYSTEM;
    trips->read = dpl_read_defaults();
    enum dpl_status status = dpl_options_take(run, "read", options, &trips->read);
    if (status == DPL_OK)
        *made = trips;
    else
        dpl_trips_free(trips);
    return status;
}

enum dpl_status dpl_trips_new(struct dpl_run *run, const struct dpl_read_options *options,
                              struct dpl_trips **trips) {
    return make(run, options, trips);
}

enum dpl_status dpl_trips_open(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                               const struct dpl_read_options *options, struct dpl_trips **trips) {
    DPL_TRY(make(run, options, trips));
    (*trips)->inputs = inputs;
    (*trips)->n_inputs = n_inputs;
    (*trips)->in_files = true;
    return DPL_OK;
}

void dpl_trips_free(struct dpl_trips *trips) {
    if (!trips) return;
    dpl_free(trips->utc_s);
    dpl_free(trips->lat_deg);
    dpl_free(trips->lon_deg);
    dpl_free(trips->stretch);
    dpl_free(trips->start);
    dpl_free(trips->first_stretch);
    dpl_free(trips->trip_id);
    dpl_free(trips->user_id);
    dpl_index_free(&trips->trips);
    dpl_index_free(&trips->users);
    dpl_arrow_free(trips->table);
    dpl_free(trips);
}

/* ---- appending ---- */

static bool is_zero(struct dpl_key key) { return !(key.hi | key.lo); }

static bool same(struct dpl_key a, struct dpl_key b) { return a.hi == b.hi && a.lo == b.lo; }

/* The user's number in order of appearance. */
static enum dpl_status number_user(struct dpl_run *run, struct dpl_trips *trips,
                                   const struct dpl_point_ids *ids, int64_t *user) {
    uint32_t number = 0;
    *user = -1;
    if (is_zero(ids->user_key)) return DPL_OK;
    DPL_TRY(dpl_index_put(run, &trips->users, ids->user_key, &number, NULL));
    *user = ids->user_is_number ? ids->user : (int64_t)number;
    return DPL_OK;
}

/* A trip's user is that of its first point. */
static enum dpl_status begin_trip(struct dpl_run *run, struct dpl_trips *trips,
                                  const struct dpl_point_ids *ids, uint32_t number) {
    size_t need = (size_t)number + 1;
    int64_t user;
    DPL_TRY(number_user(run, trips, ids, &user));
    DPL_TRY(dpl_grow(run, &trips->trip_id, &trips->trip_id_capacity, need, sizeof(int64_t)));
    DPL_TRY(dpl_grow(run, &trips->user_id, &trips->user_id_capacity, need, sizeof(int64_t)));
    trips->trip_id[number] = ids->trip_is_number ? ids->trip : (int64_t)number;
    trips->user_id[number] = user;
    trips->n_trips = need;
    return DPL_OK;
}

/* The key that a trip's points share: of its id; of a track, where there are none, of its user.
 * PRIVACY: users are no part of a trip's key: points of one trip id that name twenty users are one
 * trip and one unit, not twenty. */
static struct dpl_key group_key(const struct dpl_trips *trips, const struct dpl_point_ids *ids) {
    struct dpl_key id = trips->named ? ids->trip_key : ids->user_key;
    return dpl_hash(&id, sizeof id, DPL_SEED_TRIP);
}

static enum dpl_status begin_stretch(struct dpl_run *run, struct dpl_trips *trips,
                                     const struct dpl_point_ids *ids) {
    uint32_t number;
    bool fresh;
    DPL_TRY(dpl_index_put(run, &trips->trips, group_key(trips, ids), &number, &fresh));
    if (fresh) DPL_TRY(begin_trip(run, trips, ids, number));
    const struct dpl_stretch *last =
        trips->n_stretches ? &trips->stretch[trips->n_stretches - 1] : NULL;
    if (!fresh && last && last->trip != number) trips->settled = false;
    DPL_TRY(dpl_grow(run, &trips->stretch, &trips->stretch_capacity, trips->n_stretches + 1,
                     sizeof *trips->stretch));
    trips->stretch[trips->n_stretches++] = (struct dpl_stretch){.trip_key = ids->trip_key,
                                                                .user_key = ids->user_key,
                                                                .trip = number,
                                                                .first = trips->n_points};
    return DPL_OK;
}

enum dpl_status dpl_trips_reserve(struct dpl_run *run, struct dpl_trips *trips, size_t more) {
    size_t need = trips->n_points + more;
    DPL_TRY(dpl_grow(run, &trips->utc_s, &trips->utc_capacity, need, sizeof *trips->utc_s));
    DPL_TRY(dpl_grow(run, &trips->lat_deg, &trips->lat_capacity, need, sizeof *trips->lat_deg));
    return dpl_grow(run, &trips->lon_deg, &trips->lon_capacity, need, sizeof *trips->lon_deg);
}

enum dpl_status dpl_trips_put(struct dpl_run *run, struct dpl_trips *trips,
                              const struct dpl_point_ids *ids, int64_t utc_s, double lat_deg,
                              double lon_deg) {
    const struct dpl_stretch *last =
        trips->n_stretches ? &trips->stretch[trips->n_stretches - 1] : NULL;
    if (trips->n_points == 0) trips->settled = true;
    if (!last || !same(last->trip_key, ids->trip_key) || !same(last->user_key, ids->user_key))
        DPL_TRY(begin_stretch(run, trips, ids));
    DPL_TRY(dpl_trips_reserve(run, trips, 1));
    trips->utc_s[trips->n_points] = utc_s;
    trips->lat_deg[trips->n_points] = lat_deg;
    trips->lon_deg[trips->n_points] = lon_deg;
    trips->n_points++;
    trips->stretch[trips->n_stretches - 1].n++;
    trips->counted = false;
    return DPL_OK;
}

/* ---- bringing trips together ---- */

/* start (n_trips + 1) and first_stretch (n_trips + 1), by counting. */
static enum dpl_status count_trips(struct dpl_run *run, struct dpl_trips *trips) {
    size_t need = trips->n_trips + 1;
    DPL_TRY(dpl_grow(run, &trips->start, &trips->start_capacity, need, sizeof *trips->start));
    DPL_TRY(dpl_grow(run, &trips->first_stretch, &trips->first_stretch_capacity, need,
                     sizeof *trips->first_stretch));
    memset(trips->start, 0, need * sizeof *trips->start);
    memset(trips->first_stretch, 0, need * sizeof *trips->first_stretch);
    for (size_t s = 0; s < trips->n_stretches; s++) {
        trips->start[trips->stretch[s].trip + 1] += trips->stretch[s].n;
        trips->first_stretch[trips->stretch[s].trip + 1]++;
    }
    for (size_t i = 0; i < trips->n_trips; i++) {
        trips->start[i + 1] += trips->start[i];
        trips->first_stretch[i + 1] += trips->first_stretch[i];
    }
    trips->counted = true;
    return DPL_OK;
}

/* A column of 8-byte values in the order of the sorted stretches, in place of the old one. */
static enum dpl_status arrange_column(struct dpl_run *run, const struct dpl_trips *trips,
                                      const struct dpl_stretch *sorted, void *column_pointer,
                                      size_t *capacity) {
    enum { WIDTH = 8 };
    char *column, *made = dpl_alloc(run, trips->n_points, WIDTH);
    if (!made) return DPL_SYSTEM;
    memcpy(&column, column_pointer, sizeof column);
    size_t at = 0;
    for (size_t s = 0; s < trips->n_stretches; at += sorted[s++].n)
        memcpy(made + at * WIDTH, column + sorted[s].first * WIDTH, sorted[s].n * WIDTH);
    dpl_free(column);
    memcpy(column_pointer, &made, sizeof made);
    *capacity = trips->n_points;
    return DPL_OK;
}

/* A stable counting sort of the stretches, then of the points by it. */
static enum dpl_status arrange(struct dpl_run *run, struct dpl_trips *trips) {
    enum dpl_status status = DPL_SYSTEM;
    struct dpl_stretch *sorted = dpl_alloc(run, trips->n_stretches, sizeof *sorted);
    size_t *next = dpl_alloc(run, trips->n_trips, sizeof *next), at = 0;
    if (!sorted || !next) goto done;
    memcpy(next, trips->first_stretch, trips->n_trips * sizeof *next);
    for (size_t s = 0; s < trips->n_stretches; s++)
        sorted[next[trips->stretch[s].trip]++] = trips->stretch[s];
    DPL_GO(arrange_column(run, trips, sorted, &trips->utc_s, &trips->utc_capacity));
    DPL_GO(arrange_column(run, trips, sorted, &trips->lat_deg, &trips->lat_capacity));
    DPL_GO(arrange_column(run, trips, sorted, &trips->lon_deg, &trips->lon_capacity));
    for (size_t s = 0; s < trips->n_stretches; at += sorted[s++].n) sorted[s].first = at;
    memcpy(trips->stretch, sorted, trips->n_stretches * sizeof *sorted);
    trips->settled = true;
done:
    dpl_free(next);
    dpl_free(sorted);
    return status;
}

enum dpl_status dpl_trips_settle(struct dpl_run *run, struct dpl_trips *trips) {
    if (!trips->counted) DPL_TRY(count_trips(run, trips));
    return trips->settled || trips->n_points == 0 ? DPL_OK : arrange(run, trips);
}

enum dpl_status dpl_trips_columns(struct dpl_run *run, struct dpl_trips *trips,
                                  struct dpl_columns *columns) {
    dpl_run_begin(run);
    if (trips->in_files || trips->table)
        return dpl_fail(run, DPL_USAGE,
                        "trips in files and tables are read when they are used: there are no "
                        "columns of them in memory");
    DPL_TRY(dpl_trips_settle(run, trips));
    *columns = (struct dpl_columns){.n_trips = trips->n_trips,
                                    .n_points = trips->n_points,
                                    .start = trips->start,
                                    .trip = trips->trip_id,
                                    .user = trips->user_id,
                                    .utc_s = trips->utc_s,
                                    .lat_deg = trips->lat_deg,
                                    .lon_deg = trips->lon_deg};
    return DPL_OK;
}
