/* Units, lengths and reduced trips. See sizes.h.
 *
 * Invariant: nothing but n_units is global: what is kept of a unit, and what becomes of it, no
 * other unit can change.
 * Cost: a few passes over the trips; memory for one copy of the visits. */
#include "fit/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleaned.h"
#include "base/date.h"

static const double LENGTH_QUANTILE = 0.95;

/* ---- units ---- */

/* A trip among those of its user. */
struct ranked {
    struct dpl_key key;
    size_t trip, at; /* its number, and its place in the order of time */
};

struct timed {
    int64_t utc_s;
    struct dpl_key content;
    size_t trip;
};

static int by_key(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->key.hi != y->key.hi) return x->key.hi < y->key.hi ? -1 : 1;
    if (x->key.lo != y->key.lo) return x->key.lo < y->key.lo ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* PRIVACY: of one person's trips, by their own content alone; chance, but the same on every run. */
static struct dpl_key rank_of(const struct dpl_cleaned *trips, size_t trip) {
    size_t begin = trips->start[trip], n = trips->start[trip + 1] - begin;
    return dpl_hash(trips->cell + begin, n * sizeof *trips->cell,
                    dpl_mix64((uint64_t)trips->utc_s[trip]));
}

/* Of all (n) trips in the order of time; list (n) is room. */
static size_t keep_of_user(const struct dpl_cleaned *trips, const size_t *all, size_t n,
                           size_t most, struct ranked *list, size_t *into) {
    for (size_t i = 0; i < n; i++) list[i] = (struct ranked){.trip = all[i], .at = i};
    if (n > most) {
        for (size_t i = 0; i < n; i++) list[i].key = rank_of(trips, list[i].trip);
        qsort(list, n, sizeof *list, by_key);
        n = most;
    }
    for (size_t i = 0; i < n; i++) into[i] = list[i].trip;
    return n;
}

/* Trips sorted by user, in the order of trips within one: first (n_users + 1). Returns how many
 * have a user. */
static size_t sort_by_user(const struct dpl_cleaned *trips, size_t *first, struct ranked *list) {
    size_t n = 0;
    for (size_t i = 0; i < trips->n_trips; i++)
        if (trips->user[i] >= 0) first[trips->user[i] + 1]++, n++;
    for (size_t u = 0; u < trips->n_users; u++) first[u + 1] += first[u];
    for (size_t i = trips->n_trips; i-- > 0;)
        if (trips->user[i] >= 0) list[--first[trips->user[i] + 1]].trip = i;
    for (size_t u = 0; u < trips->n_users; u++) first[u] = first[u + 1];
    first[trips->n_users] = n;
    return n;
}

static int by_time(const void *a, const void *b) {
    const struct timed *x = a, *y = b;
    if (x->utc_s != y->utc_s) return x->utc_s < y->utc_s ? -1 : 1;
    if (x->content.hi != y->content.hi) return x->content.hi < y->content.hi ? -1 : 1;
    if (x->content.lo != y->content.lo) return x->content.lo < y->content.lo ? -1 : 1;
    return x->trip < y->trip ? -1 : x->trip > y->trip; // equal content: either will do
}

/* The user's trips in the order of time; room (n).
 * PRIVACY: of those that begin at once their content decides, not where they stand in the data:
 * rows of others may change that, and a checkpoint is not bound to it. */
static void order_by_time(const struct dpl_cleaned *trips, const struct ranked *list, size_t n,
                          struct timed *room, size_t *into) {
    for (size_t i = 0; i < n; i++)
        room[i] = (struct timed){trips->utc_s[list[i].trip],
                                 dpl_cleaned_hash(trips, list[i].trip, 0), list[i].trip};
    qsort(room, n, sizeof *room, by_time);
    for (size_t i = 0; i < n; i++) into[i] = room[i].trip;
}

static enum dpl_status keep_users(struct dpl_run *run, const struct dpl_cleaned *trips, size_t most,
                                  struct dpl_kept *kept) {
    size_t *first = dpl_alloc(run, trips->n_users + 2, sizeof *first);
    struct ranked *list = dpl_alloc(run, trips->n_trips, sizeof *list);
    kept->unit_start = dpl_alloc(run, trips->n_users + 1, sizeof *kept->unit_start);
    kept->trip = dpl_alloc(run, trips->n_trips, sizeof *kept->trip);
    kept->all_start = dpl_alloc(run, trips->n_users + 1, sizeof *kept->all_start);
    kept->all = dpl_alloc(run, trips->n_trips, sizeof *kept->all);
    struct timed *room = dpl_alloc(run, trips->n_trips, sizeof *room);
    bool got = first && list && kept->unit_start && kept->trip && kept->all_start && kept->all;
    enum dpl_status status = got && room ? DPL_OK : DPL_SYSTEM;
    // PRIVACY: a trip without a user is that trip's drop, counted for the holder; never an abort.
    if (status == DPL_OK) kept->n_no_user = trips->n_trips - sort_by_user(trips, first, list);
    for (size_t u = 0; status == DPL_OK && u < trips->n_users; u++) {
        size_t n = first[u + 1] - first[u];
        if (n == 0) continue; // nothing of this user was left after cleaning: as if not there
        size_t *all = kept->all + kept->all_start[kept->n_units];
        order_by_time(trips, list + first[u], n, room, all);
        kept->all_start[kept->n_units + 1] = kept->all_start[kept->n_units] + n;
        kept->n_trips +=
            keep_of_user(trips, all, n, most, list + first[u], kept->trip + kept->n_trips);
        kept->unit_start[++kept->n_units] = kept->n_trips;
    }
    dpl_free(room);
    dpl_free(list);
    dpl_free(first);
    return status;
}

enum dpl_status dpl_kept_make(struct dpl_run *run, const struct dpl_cleaned *trips,
                              enum dpl_unit unit, int64_t trips_max, struct dpl_kept *kept) {
    struct dpl_kept made = {.n_units = trips->n_trips, .n_trips = trips->n_trips};
    if (unit == DPL_UNIT_USER) {
        made = (struct dpl_kept){0};
        size_t most = trips_max > 0 ? (size_t)trips_max : DPL_TRIPS_KEPT;
        enum dpl_status status = keep_users(run, trips, most, &made);
        if (status != DPL_OK) {
            dpl_kept_free(&made);
            return status;
        }
    }
    *kept = made;
    return DPL_OK;
}

void dpl_kept_free(struct dpl_kept *kept) {
    dpl_free(kept->unit_start);
    dpl_free(kept->trip);
    dpl_free(kept->all_start);
    dpl_free(kept->all);
    *kept = (struct dpl_kept){0};
}

size_t dpl_trip_visits(const struct dpl_cleaned *trips, size_t trip, int32_t length_max) {
    size_t n = trips->start[trip + 1] - trips->start[trip];
    return length_max > 0 && n > (size_t)length_max ? (size_t)length_max : n;
}

uint8_t dpl_trip_period(const struct dpl_cleaned *trips, const struct dpl_zone *zone, size_t trip,
                        size_t n) {
    bool cut = n < dpl_trip_visits(trips, trip, 0) && trips->has_time;
    return cut ? dpl_zone_period(zone, &trips->grid.area, trips->utc_s[trip], n)
               : trips->period[trip];
}

/* ---- lengths ---- */

/* Lowering all values by the same amount and cutting at zero is the nearest point with a given
 * total; the amount is found by halving, until that changes nothing any more. */
void dpl_fit_counts(double *values, size_t n) {
    double total = 0, low = 0, high = 0;
    for (size_t i = 0; i < n; i++) {
        total += values[i];
        if (values[i] > high) high = values[i];
    }
    for (int round = 0; round < 200 && total > 0; round++) {
        double middle = (low + high) / 2, sum = 0;
        for (size_t i = 0; i < n; i++) {
            double over = values[i] - middle;
            sum += over > 0 ? over : 0;
        }
        double *end = sum > total ? &low : &high;
        if (*end == middle) break;
        *end = middle;
    }
    for (size_t i = 0; i < n; i++) values[i] = total > 0 ? fmax(0, values[i] - high) : 0;
}

bool dpl_counts_to_chances(double *values, size_t n, float *chance) {
    double sum = 0;
    dpl_fit_counts(values, n);
    for (size_t i = 0; i < n; i++) sum += values[i];
    for (size_t i = 0; i < n; i++) chance[i] = sum > 0 ? (float)(values[i] / sum) : 0;
    return sum > 0;
}

double dpl_length_mean(const double *counts, int32_t length_max) {
    double trips = 0, visits = 0;
    for (size_t bin = 0; bin < DPL_LENGTH_BINS; bin++) {
        trips += counts[bin];
        visits += counts[bin] * fmin(dpl_length_bin_top(bin), length_max);
    }
    return trips > 0 ? fmax(visits / trips, 2) : 2;
}

int32_t dpl_length_max(struct dpl_run *run, const struct dpl_noised *lengths) {
    double count[DPL_LENGTH_BINS], total = 0, sum = 0;
    for (size_t i = 0; i < DPL_LENGTH_BINS; i++) count[i] = dpl_noised_value(lengths, i);
    dpl_fit_counts(count, DPL_LENGTH_BINS);
    for (size_t i = 0; i < DPL_LENGTH_BINS; i++) total += count[i];
    for (size_t i = 0; i < DPL_LENGTH_BINS && total > 0; i++) {
        sum += count[i];
        if (sum >= LENGTH_QUANTILE * total) return dpl_length_bin_top(i);
    }
    dpl_note(run, "the lengths of trips drown in the noise: trips are cut at %d visits",
             DPL_LENGTH_SINGLE);
    return DPL_LENGTH_SINGLE;
}

/* ---- reduced trips ---- */

/* The trip's visits on chosen cells, at `into`; false when it is to be dropped. */
static bool project(const struct dpl_cleaned *trips, size_t trip, size_t n,
                    const struct dpl_topk *topk, int32_t *into) {
    for (size_t v = 0; v < n; v++) {
        into[v] = topk->nearest[trips->cell[trips->start[trip] + v]];
        if (into[v] < 0) return false;
    }
    return n >= 2;
}

static void reduce_trip(const struct dpl_cleaned *trips, const struct dpl_zone *zone, size_t trip,
                        int32_t length_max, const struct dpl_topk *topk,
                        struct dpl_reduced *reduced) {
    size_t n = dpl_trip_visits(trips, trip, length_max);
    if (!project(trips, trip, n, topk, reduced->cell + reduced->n_visits)) return;
    reduced->period[reduced->n_trips] = dpl_trip_period(trips, zone, trip, n);
    reduced->weekday[reduced->n_trips] =
        (uint8_t)dpl_weekday(dpl_zone_day(zone, trips->utc_s[trip]));
    if (reduced->position)
        memcpy(reduced->position + reduced->n_visits, trips->position + trips->start[trip],
               n * sizeof *reduced->position);
    reduced->n_visits += n;
    reduced->trip_start[++reduced->n_trips] = reduced->n_visits;
}

static enum dpl_status make_room(struct dpl_run *run, const struct dpl_cleaned *trips,
                                 const struct dpl_kept *kept, int32_t length_max,
                                 struct dpl_reduced *reduced) {
    size_t visits = 0;
    for (size_t i = 0; i < kept->n_trips; i++)
        visits += dpl_trip_visits(trips, dpl_kept_trip(kept, i), length_max);
    reduced->trip_start = dpl_alloc(run, kept->n_trips + 1, sizeof *reduced->trip_start);
    reduced->cell = dpl_alloc(run, visits, sizeof *reduced->cell);
    reduced->period = dpl_alloc(run, kept->n_trips, sizeof *reduced->period);
    reduced->weekday = dpl_alloc(run, kept->n_trips, sizeof *reduced->weekday);
    if (trips->position) reduced->position = dpl_alloc(run, visits, sizeof *reduced->position);
    if (kept->unit_start)
        reduced->unit_start = dpl_alloc(run, kept->n_units + 1, sizeof *reduced->unit_start);
    return reduced->trip_start && reduced->cell && reduced->period && reduced->weekday &&
                   (reduced->unit_start || !kept->unit_start) &&
                   (reduced->position || !trips->position)
               ? DPL_OK
               : DPL_SYSTEM;
}

enum dpl_status dpl_reduce(struct dpl_run *run, const struct dpl_cleaned *trips,
                           const struct dpl_kept *kept, int32_t length_max,
                           const struct dpl_topk *topk, struct dpl_reduced *into) {
    enum dpl_status status;
    struct dpl_reduced reduced = {0};
    struct dpl_zone *zone = NULL;
    DPL_GO(dpl_zone_open(run, trips->grid.area.zone, &zone));
    DPL_GO(make_room(run, trips, kept, length_max, &reduced));
    for (size_t u = 0; u < kept->n_units; u++) {
        for (size_t i = dpl_kept_begin(kept, u); i < dpl_kept_begin(kept, u + 1); i++)
            reduce_trip(trips, zone, dpl_kept_trip(kept, i), length_max, topk, &reduced);
        if (reduced.unit_start) reduced.unit_start[u + 1] = reduced.n_trips;
    }
    reduced.units =
        (struct dpl_units){.n_units = reduced.unit_start ? kept->n_units : reduced.n_trips,
                           .unit_start = reduced.unit_start,
                           .trip_start = reduced.trip_start,
                           .cell = reduced.cell,
                           .position = reduced.position,
                           .period = reduced.period,
                           .weekday = reduced.weekday};
    *into = reduced;
    reduced = (struct dpl_reduced){0};
done:
    dpl_reduced_free(&reduced);
    dpl_zone_free(zone);
    return status;
}

void dpl_reduced_free(struct dpl_reduced *reduced) {
    dpl_free(reduced->unit_start);
    dpl_free(reduced->trip_start);
    dpl_free(reduced->cell);
    dpl_free(reduced->position);
    dpl_free(reduced->period);
    dpl_free(reduced->weekday);
    *reduced = (struct dpl_reduced){0};
}
