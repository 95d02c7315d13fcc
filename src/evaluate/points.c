/* Measures of points: how trips move, where their points lie, when they start; and figures of whole
 * data sets. All are taken on positions one slot apart, on both sides alike.
 *
 * Cost: one pass over the positions each; off_track_share looks into a hash of squares of 50 m. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/zone.h"
#include "evaluate/table.h"
#include "evaluate/track.h"

/* ---- histograms of motion ---- */

enum motion { SPEED, TURN, ACCELERATION, PATH, DURATION, GYRATION, FIRST_STEP, LAST_STEP, MOTIONS };
enum { MOTION_BINS = 64 };

/* Width of a bin; the last one is open. Public numbers, the same for every data set. */
static const double BIN_WIDTH[MOTIONS] = {
    [SPEED] = 2.5 /* km/h */,  [TURN] = 5 /* degrees */, [ACCELERATION] = 0.01 /* m/s^2 */,
    [PATH] = 500 /* m */,      [DURATION] = 60 /* s */,  [GYRATION] = 250 /* m */,
    [FIRST_STEP] = 50 /* m */, [LAST_STEP] = 50 /* m */,
};

struct motion_counts {
    int64_t bin[MOTIONS][MOTION_BINS];
};

static void tally(struct motion_counts *counts, enum motion motion, double value) {
    double bin = floor(value / BIN_WIDTH[motion]);
    counts->bin[motion][bin < MOTION_BINS - 1 ? (size_t)bin : MOTION_BINS - 1]++;
}

static void tally_trip(struct motion_counts *counts, const struct dpl_track *track, double slot_s) {
    double before_m = 0;
    for (size_t i = 0; i + 1 < track->n; i++) {
        double step_m = dpl_track_step_m(track, i);
        tally(counts, SPEED, step_m / slot_s * 3.6);
        if (i) tally(counts, ACCELERATION, fabs(step_m - before_m) / (slot_s * slot_s));
        double turn_deg = i ? dpl_track_turn_deg(track, i) : -1;
        if (turn_deg >= 0) tally(counts, TURN, turn_deg);
        before_m = step_m;
    }
    tally(counts, PATH, dpl_track_path_m(track));
    tally(counts, DURATION, (double)(track->n - 1) * slot_s);
    tally(counts, GYRATION, dpl_track_gyration_m(track));
    if (track->n < 2) return;
    tally(counts, FIRST_STEP, dpl_track_step_m(track, 0));
    tally(counts, LAST_STEP, dpl_track_step_m(track, track->n - 2));
}

static void tally_part(struct motion_counts *counts, const struct dpl_part *part) {
    const struct dpl_cleaned *trips = part->ready->source;
    for (size_t i = 0; i < part->n; i++) {
        struct dpl_track track = dpl_track_of(trips, part->ready->origin[part->trip[i]]);
        tally_trip(counts, &track, trips->grid.area.slot_s);
    }
}

enum dpl_status dpl_measure_motion(struct dpl_run *run, const struct dpl_part *a,
                                   const struct dpl_part *b, double *distance) {
    struct motion_counts *counts = dpl_alloc(run, 2, sizeof *counts);
    if (!counts) return DPL_SYSTEM;
    tally_part(&counts[0], a);
    tally_part(&counts[1], b);
    for (int m = 0; m < MOTIONS; m++)
        distance[m] = sqrt(dpl_jsd_counts(counts[0].bin[m], counts[1].bin[m], MOTION_BINS));
    dpl_free(counts);
    return DPL_OK;
}

/* ---- when trips start ---- */

enum { HOUR_S = 3600, DAY_S = 86400, MINUTES = 60, WEEKDAYS = 7 };

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

struct clock_counts {
    int64_t minute[MINUTES], weekday[WEEKDAYS];
};

static void count_starts(const struct dpl_part *part, const struct dpl_zone *zone,
                         struct clock_counts *counts) {
    for (size_t i = 0; i < part->n; i++) {
        int64_t utc_s = part->ready->source->utc_s[part->ready->origin[part->trip[i]]],
                local_s = utc_s + dpl_zone_offset_s(zone, utc_s), day = floor_div(local_s, DAY_S);
        counts->minute[(local_s - floor_div(local_s, HOUR_S) * HOUR_S) / 60]++;
        counts->weekday[day + 4 -
                        floor_div(day + 4, WEEKDAYS) * WEEKDAYS]++; // 1970 began on a Thursday
    }
}

/* Half the sum of the differences of shares. */
static double total_variation(const int64_t *a, size_t n_a, const int64_t *b, size_t n_b,
                              size_t bins) {
    double sum = 0;
    for (size_t i = 0; i < bins; i++)
        sum += fabs((double)a[i] / (double)n_a - (double)b[i] / (double)n_b);
    return sum / 2;
}

enum dpl_status dpl_measure_clock(struct dpl_run *run, const struct dpl_part *a,
                                  const struct dpl_part *b, double *variation) {
    struct dpl_zone *zone = NULL;
    struct clock_counts counts[2] = {{{0}, {0}}, {{0}, {0}}};
    if (a->n == 0 || b->n == 0) return DPL_OK;
    DPL_TRY(dpl_zone_open(run, a->ready->source->grid.area.zone, &zone));
    count_starts(a, zone, &counts[0]);
    count_starts(b, zone, &counts[1]);
    variation[0] = total_variation(counts[0].minute, a->n, counts[1].minute, b->n, MINUTES);
    variation[1] = total_variation(counts[0].weekday, a->n, counts[1].weekday, b->n, WEEKDAYS);
    dpl_zone_free(zone);
    return DPL_OK;
}

/* ---- points off the tracks of the other side ---- */

static const double OFF_TRACK_M = 50;

/* Points by the square of 50 m that they lie in. Squares share buckets: that only adds points that
 * are looked at in vain. */
struct point_hash {
    uint32_t *start; /* (buckets + 1) */
    struct dpl_position *point;
    size_t mask; /* buckets - 1, a power of two less one */
};

static size_t bucket_of(const struct point_hash *hash, int64_t column, int64_t row) {
    return (size_t)dpl_mix64((uint64_t)column * 0x9E3779B97F4A7C15u + (uint64_t)row) & hash->mask;
}

static int64_t square_of(float metres) { return (int64_t)floor((double)metres / OFF_TRACK_M); }

static size_t points_of(const struct dpl_part *part) {
    size_t points = 0;
    for (size_t i = 0; i < part->n; i++) {
        size_t trip = part->ready->origin[part->trip[i]];
        points += part->ready->source->start[trip + 1] - part->ready->source->start[trip];
    }
    return points;
}

/* Calls for every point of a part. */
static void for_each_point(const struct dpl_part *part, void (*call)(void *, struct dpl_position),
                           void *context) {
    for (size_t i = 0; i < part->n; i++) {
        struct dpl_track track =
            dpl_track_of(part->ready->source, part->ready->origin[part->trip[i]]);
        for (size_t p = 0; p < track.n; p++) call(context, track.at[p]);
    }
}

static void count_point(void *context, struct dpl_position p) {
    struct point_hash *hash = context;
    hash->start[bucket_of(hash, square_of(p.x_m), square_of(p.y_m)) + 1]++;
}

static void place_point(void *context, struct dpl_position p) {
    struct point_hash *hash = context;
    hash->point[hash->start[bucket_of(hash, square_of(p.x_m), square_of(p.y_m))]++] = p;
}

static enum dpl_status hash_points(struct dpl_run *run, const struct dpl_part *part,
                                   struct point_hash *hash) {
    size_t n = points_of(part), buckets = 1;
    while (buckets < n) buckets *= 2;
    hash->mask = buckets - 1;
    hash->start = dpl_alloc(run, buckets + 2, sizeof *hash->start);
    hash->point = dpl_alloc(run, n, sizeof *hash->point);
    if (!hash->start || !hash->point) return DPL_SYSTEM;
    for_each_point(part, count_point, hash);
    for (size_t b = 0; b < buckets; b++) hash->start[b + 1] += hash->start[b];
    for_each_point(part, place_point, hash); // moves each bucket's start to its end ...
    memmove(hash->start + 1, hash->start, buckets * sizeof *hash->start); // ... and back
    hash->start[0] = 0;
    return DPL_OK;
}

static bool near_in_bucket(const struct point_hash *hash, size_t bucket, struct dpl_position p) {
    for (size_t i = hash->start[bucket]; i < hash->start[bucket + 1]; i++)
        if (dpl_track_distance_m(hash->point[i], p) <= OFF_TRACK_M) return true;
    return false;
}

static bool has_near_point(const struct point_hash *hash, struct dpl_position p) {
    int64_t column = square_of(p.x_m), row = square_of(p.y_m);
    if (near_in_bucket(hash, bucket_of(hash, column, row), p)) return true; // nearly always
    for (int64_t dy = -1; dy <= 1; dy++)
        for (int64_t dx = -1; dx <= 1; dx++)
            if ((dx || dy) && near_in_bucket(hash, bucket_of(hash, column + dx, row + dy), p))
                return true;
    return false;
}

struct off_track {
    struct point_hash hash;
    size_t points, off;
};

static void judge_point(void *context, struct dpl_position p) {
    struct off_track *off = context;
    off->points++;
    off->off += !has_near_point(&off->hash, p);
}

enum dpl_status dpl_measure_off_track(struct dpl_run *run, const struct dpl_part *a,
                                      const struct dpl_part *b, double *share) {
    struct off_track off = {0};
    enum dpl_status status = hash_points(run, a, &off.hash);
    if (status == DPL_OK) {
        for_each_point(b, judge_point, &off);
        if (off.points) *share = (double)off.off / (double)off.points;
    }
    dpl_free(off.hash.start);
    dpl_free(off.hash.point);
    return status;
}

/* ---- figures of a whole set: points ---- */

enum points_figure {
    SPEED_Q50,
    SPEED_Q90,
    SPEED_Q99,
    PATH_KM,
    PATH_OVER_STRAIGHT,
    TURN_SHARP,
    TURN_MEDIAN,
    ACCELERATION_Q90,
    STOPS,
    STOP_MINUTES,
    DURATION_MINUTES,
    GYRATION_KM,
    FIRST_STEP_M,
    LAST_STEP_M,
    RETURNS
};

/* Lists to take quantiles of, and sums. */
struct point_sums {
    double *speed_kmh, *turn_deg, *acceleration; /* (n_visits) */
    size_t n_speeds, n_turns, n_accelerations, sharp, stops, returns;
    double path_m, straight_m, stopped_s, slots, gyration_m, first_m, last_m;
};

static void add_trip(struct point_sums *s, const struct dpl_track *track, double slot_s) {
    for (size_t i = 0; i + 1 < track->n; i++) {
        double step_m = dpl_track_step_m(track, i),
               turn_deg = i ? dpl_track_turn_deg(track, i) : -1;
        s->speed_kmh[s->n_speeds++] = step_m / slot_s * 3.6;
        s->path_m += step_m;
        if (turn_deg >= 0) s->turn_deg[s->n_turns++] = turn_deg, s->sharp += turn_deg > 90;
        if (i)
            s->acceleration[s->n_accelerations++] =
                fabs(step_m - dpl_track_step_m(track, i - 1)) / (slot_s * slot_s);
    }
    s->straight_m += dpl_track_straight_m(track);
    s->stops += dpl_track_stops(track, slot_s, &s->stopped_s);
    s->slots += (double)(track->n - 1);
    s->gyration_m += dpl_track_gyration_m(track);
    if (track->n < 2) return;
    s->first_m += dpl_track_step_m(track, 0);
    s->last_m += dpl_track_step_m(track, track->n - 2);
}

/* Whether a trip comes back to a cell that it left. */
static bool returns(const int32_t *cell, size_t n) {
    for (size_t i = 2; i < n; i++)
        for (size_t j = 0; cell[i] != cell[i - 1] && j + 1 < i; j++)
            if (cell[j] == cell[i]) return true;
    return false;
}

/* The k-th smallest value; reorders the list so that none after place k is smaller. */
static double select_value(double *list, size_t n, size_t k) {
    size_t low = 0, high = n - 1;
    while (low < high) {
        double pivot = list[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (list[i] < pivot) i++;
            while (list[j] > pivot) j--;
            if (i >= j) break;
            double swapped = list[i];
            list[i++] = list[j], list[j--] = swapped;
        }
        if (list[j] > pivot) j--;
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return list[k];
}

double dpl_quantile(double *list, size_t n, double share) {
    if (n == 0) return NAN;
    double place = share * (double)(n - 1), part = place - floor(place);
    size_t k = (size_t)place;
    double low = select_value(list, n, k), high = INFINITY;
    if (part == 0 || k + 1 == n) return low;
    for (size_t i = k + 1; i < n; i++) high = list[i] < high ? list[i] : high;
    return low + part * (high - low);
}

static void fill_points(struct point_sums *s, double n_trips, double slot_s, double *figures) {
    figures[SPEED_Q50] = dpl_quantile(s->speed_kmh, s->n_speeds, .5);
    figures[SPEED_Q90] = dpl_quantile(s->speed_kmh, s->n_speeds, .9);
    figures[SPEED_Q99] = dpl_quantile(s->speed_kmh, s->n_speeds, .99);
    figures[PATH_KM] = s->path_m / n_trips / 1000;
    figures[PATH_OVER_STRAIGHT] = s->straight_m > 0 ? s->path_m / s->straight_m : NAN;
    figures[TURN_SHARP] = s->n_turns ? (double)s->sharp / (double)s->n_turns : NAN;
    figures[TURN_MEDIAN] = dpl_quantile(s->turn_deg, s->n_turns, .5);
    figures[ACCELERATION_Q90] = dpl_quantile(s->acceleration, s->n_accelerations, .9);
    figures[STOPS] = (double)s->stops / n_trips;
    figures[STOP_MINUTES] = s->stops ? s->stopped_s / (double)s->stops / 60 : NAN;
    figures[DURATION_MINUTES] = s->slots * slot_s / n_trips / 60;
    figures[GYRATION_KM] = s->gyration_m / n_trips / 1000;
    figures[FIRST_STEP_M] = s->first_m / n_trips;
    figures[LAST_STEP_M] = s->last_m / n_trips;
    figures[RETURNS] = (double)s->returns / n_trips;
}

enum dpl_status dpl_figures_points(struct dpl_run *run, const struct dpl_set *set,
                                   double *figures) {
    const struct dpl_cleaned *trips = set->trips;
    double slot_s = trips->grid.area.slot_s;
    double *list = dpl_alloc(run, 3 * trips->n_visits, sizeof *list);
    if (!list) return DPL_SYSTEM;
    struct point_sums sums = {.speed_kmh = list,
                              .turn_deg = list + trips->n_visits,
                              .acceleration = list + 2 * trips->n_visits};
    for (size_t i = 0; i < trips->n_trips; i++) {
        struct dpl_track track = dpl_track_of(trips, i);
        add_trip(&sums, &track, slot_s);
        sums.returns += returns(trips->cell + trips->start[i], track.n);
    }
    fill_points(&sums, (double)trips->n_trips, slot_s, figures);
    dpl_free(list);
    return DPL_OK;
}

/* ---- figures of a whole set: roads ---- */

enum dpl_status dpl_figures_roads(struct dpl_run *run, const struct dpl_set *set, double *figures) {
    const struct dpl_cleaned *trips = set->trips;
    const struct dpl_grid *grid = &trips->grid;
    size_t near_15m = 0, near_30m = 0;
    DPL_TRY(dpl_check_interrupt(run));
#pragma omp parallel for schedule(static) reduction(+ : near_15m, near_30m)                        \
    num_threads(dpl_run_threads(run))
    for (size_t v = 0; v < trips->n_visits; v++) {
        double away_m = dpl_roads_distance_m(
            set->roads, grid->area.south_deg + (double)trips->position[v].y_m / grid->m_per_deg_lat,
            grid->area.west_deg + (double)trips->position[v].x_m / grid->m_per_deg_lon);
        near_15m += away_m <= 15, near_30m += away_m <= 30;
    }
    figures[0] = (double)near_15m / (double)trips->n_visits;
    figures[1] = (double)near_30m / (double)trips->n_visits;
    return DPL_OK;
}

/* ---- figures of a whole set: days and reading ---- */

static int compare_days(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

enum dpl_status dpl_figures_days(struct dpl_run *run, const struct dpl_set *set, double *figures) {
    const struct dpl_cleaned *trips = set->trips;
    struct dpl_zone *zone = NULL;
    size_t days = 0;
    DPL_TRY(dpl_zone_open(run, trips->grid.area.zone, &zone));
    int64_t *day = dpl_alloc(run, trips->n_trips, sizeof *day);
    if (day) {
        for (size_t i = 0; i < trips->n_trips; i++) {
            int64_t utc_s = trips->utc_s[i];
            day[i] = floor_div(utc_s + dpl_zone_offset_s(zone, utc_s), DAY_S);
        }
        qsort(day, trips->n_trips, sizeof *day, compare_days);
        for (size_t i = 0; i < trips->n_trips; i++) days += i == 0 || day[i] != day[i - 1];
        figures[0] = (double)trips->n_trips / (double)days;
    }
    enum dpl_status status = day ? DPL_OK : DPL_SYSTEM;
    dpl_free(day);
    dpl_zone_free(zone);
    return status;
}

/* By the rule that cleaning uses, on what the file holds: kept trips may be too fast, dropped ones
 * are counted. */
enum dpl_status dpl_figures_reading(struct dpl_run *run, const struct dpl_set *set,
                                    double *figures) {
    (void)run;
    const struct dpl_read_facts *facts = set->facts;
    int64_t all = facts->trips_cut_into,
            too_fast = facts->trips_dropped[DPL_DROP_TOO_FAST] + facts->too_fast_kept,
            kept = all - facts->too_fast_kept;
    for (int i = 0; i < DPL_DROPS; i++) kept -= facts->trips_dropped[i];
    if (all == 0) return DPL_OK;
    if (set->trips->has_time) figures[0] = (double)too_fast / (double)all;
    figures[1] = (double)kept / (double)all;
    return DPL_OK;
}
