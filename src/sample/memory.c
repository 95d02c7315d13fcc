/* Synthetic trips into memory. Threads decode chunks of trips as they do for files; what a writer
 * would turn into text is kept as it is, and put into the store in order. */
#include "base/trips.h"
#include "sample/sample.h"

/* One trip in a chunk: this, then latitudes and longitudes in millionths of a degree (n each). */
struct packed {
    int64_t tid, uid, utc_s;
    size_t n;
    int slot_s;
    bool timed;
};

static enum dpl_status pack(struct dpl_run *run, const struct dpl_visits *visits,
                            struct dpl_text *text) {
    const struct packed packed = {visits->tid, visits->uid,    visits->utc_s,
                                  visits->n,   visits->slot_s, visits->timed};
    const size_t column = visits->n * sizeof *visits->lat_udeg;
    char *to;
    DPL_TRY(dpl_text_room(run, text, sizeof packed + 2 * column, &to));
    to = put_text(to, (const char *)&packed, sizeof packed);
    to = put_text(to, (const char *)visits->lat_udeg, column);
    dpl_text_end(text, put_text(to, (const char *)visits->lng_udeg, column));
    return DPL_OK;
}

struct keeping {
    struct dpl_run *run;
    struct dpl_trips *trips;
};

static struct dpl_key key_of(int64_t id, uint64_t seed) {
    char digits[20];
    return dpl_hash(digits, (size_t)(put_whole(digits, id) - digits), seed);
}

static double degrees(const char *column, size_t i) {
    int32_t udeg;
    memcpy(&udeg, column + i * sizeof udeg, sizeof udeg);
    return udeg / 1e6;
}

static enum dpl_status unpack(const struct keeping *keeping, const struct packed *trip,
                              const char *lat_udeg) {
    const char *lng_udeg = lat_udeg + trip->n * sizeof(int32_t);
    const struct dpl_point_ids ids = {.trip_key = key_of(trip->tid, DPL_SEED_TRIP),
                                      .user_key = trip->uid > 0 ? key_of(trip->uid, DPL_SEED_USER)
                                                                : (struct dpl_key){0, 0},
                                      .trip = trip->tid,
                                      .user = trip->uid,
                                      .trip_is_number = true,
                                      .user_is_number = true};
    DPL_TRY(dpl_trips_reserve(keeping->run, keeping->trips, trip->n));
    for (size_t i = 0; i < trip->n; i++)
        DPL_TRY(dpl_trips_put(keeping->run, keeping->trips, &ids,
                              trip->timed ? trip->utc_s + (int64_t)i * trip->slot_s : 0,
                              degrees(lat_udeg, i), degrees(lng_udeg, i)));
    keeping->trips->rows += (int64_t)trip->n;
    keeping->trips->lacks_users |= trip->uid <= 0;
    return DPL_OK;
}

static enum dpl_status keep(void *state, const char *bytes, size_t length) {
    for (size_t at = 0; at < length;) {
        struct packed trip;
        memcpy(&trip, bytes + at, sizeof trip);
        at += sizeof trip;
        DPL_TRY(unpack(state, &trip, bytes + at));
        at += 2 * trip.n * sizeof(int32_t);
    }
    return DPL_OK;
}

enum dpl_status dpl_drawing_keep(struct dpl_run *run, const struct dpl_drawing *sampling,
                                 struct dpl_trips *trips) {
    static const struct dpl_writer MEMORY = {.name = "memory", .trip = pack};
    struct dpl_drawing drawing = *sampling;
    struct keeping keeping = {run, trips};
    drawing.writer = &MEMORY;
    trips->named = true;
    return dpl_drawing_put(run, &drawing, &(struct dpl_outlet){&keeping, keep});
}
