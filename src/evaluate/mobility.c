/* What the Python program dp_mobility_report shows of two data sets, by its definitions, so that
 * both reports can be put side by side: of a trip it looks at the first and the last point alone.
 * Jensen-Shannon figures are distances (roots) in nats, as scipy gives them; SMAPE is the mean of
 * |a - b| / ((|a| + |b|) / 2) over the five or eight numbers that describe a distribution.
 *
 * Tiles are the cells of the public grid. A trip without a user is its own user.
 *
 * Cost: one pass over the ends of trips, sorting, and 26 earth mover's distances. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/zone.h"
#include "evaluate/table.h"
#include "evaluate/track.h"

enum mobility_figure {
    VISITS_EMD,
    VISITS_EMD_CODED,
    VISITS_SMAPE,
    OD_JSD,
    OD_SMAPE,
    JUMP_JSD,
    JUMP_SMAPE,
    TIME_JSD,
    TIME_SMAPE,
    DAYS_JSD,
    WEEKDAYS_JSD,
    HOURS_JSD,
    WINDOWS_EMD,
    WINDOWS_EMD_CODED,
    USER_TRIPS_EMD,
    USER_TRIPS_SMAPE,
    USER_GAP_JSD,
    USER_GAP_SMAPE,
    GYRATION_JSD,
    GYRATION_SMAPE,
    USER_TILES_JSD,
    USER_TILES_SMAPE,
    ENTROPY_JSD,
    ENTROPY_SMAPE
};

enum { DAY_S = 86400, HOUR_S = 3600, WINDOWS = 6, WINDOW_HOURS = 4, WINDOW_FIRST = 2 };
enum { DAYS_FOR_WEEKS = 90, DAYS_FOR_MONTHS = 712 };

/* ---- trips ---- */

struct journey {
    double lat_deg[2], lon_deg[2];
    int64_t local_s[2];
    int32_t tile[2];
    uint64_t user;
};

/* One side: trips by user, and by start within one. */
struct crowd {
    struct journey *trip; /* (n) */
    size_t n;
    const struct dpl_cleaned *source;
};

static int by_user_and_start(const void *a, const void *b) {
    const struct journey *x = a, *y = b;
    if (x->user != y->user) return x->user < y->user ? -1 : 1;
    return (x->local_s[0] > y->local_s[0]) - (x->local_s[0] < y->local_s[0]);
}

static struct journey journey_of(const struct dpl_cleaned *trips, size_t trip,
                                 const struct dpl_zone *zone) {
    const struct dpl_grid *grid = &trips->grid;
    struct dpl_track track = dpl_track_of(trips, trip);
    struct journey j = {.user = trips->user[trip] >= 0 ? (uint64_t)trips->user[trip]
                                                       : ((uint64_t)1 << 40) + trip};
    for (size_t end = 0; end < 2; end++) {
        struct dpl_position p = track.at[end ? track.n - 1 : 0];
        int64_t utc_s = trips->utc_s[trip] + (end ? (int64_t)(track.n - 1) * grid->area.slot_s : 0);
        j.lat_deg[end] = grid->area.south_deg + (double)p.y_m / grid->m_per_deg_lat;
        j.lon_deg[end] = grid->area.west_deg + (double)p.x_m / grid->m_per_deg_lon;
        j.tile[end] = dpl_grid_cell_of(grid, (double)p.x_m, (double)p.y_m);
        j.local_s[end] = utc_s + dpl_zone_offset_s(zone, utc_s);
    }
    return j;
}

static enum dpl_status crowd_make(struct dpl_run *run, const struct dpl_part *part,
                                  const struct dpl_zone *zone, struct crowd *crowd) {
    crowd->source = part->ready->source;
    crowd->n = part->n;
    crowd->trip = dpl_alloc(run, part->n, sizeof *crowd->trip);
    if (!crowd->trip) return DPL_SYSTEM;
    for (size_t i = 0; i < part->n; i++)
        crowd->trip[i] = journey_of(crowd->source, part->ready->origin[part->trip[i]], zone);
    qsort(crowd->trip, crowd->n, sizeof *crowd->trip, by_user_and_start);
    return DPL_OK;
}

/* The first trip of the next user. */
static size_t user_end(const struct crowd *crowd, size_t first) {
    size_t end = first;
    while (end < crowd->n && crowd->trip[end].user == crowd->trip[first].user) end++;
    return end;
}

/* Great circle on a sphere of the mean radius. */
static double haversine_km(double lat1, double lon1, double lat2, double lon2) {
    const double RADIUS_KM = 6371.0088, RADIAN = acos(-1) / 180;
    double dy = sin((lat2 - lat1) * RADIAN / 2), dx = sin((lon2 - lon1) * RADIAN / 2);
    return 2 * RADIUS_KM * asin(sqrt(dy * dy + cos(lat1 * RADIAN) * cos(lat2 * RADIAN) * dx * dx));
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
static int64_t day_of(int64_t local_s) { return floor_div(local_s, DAY_S); }
static int64_t weekday_of(int64_t day) { return (day % 7 + 10) % 7; } // 0: Monday
static int64_t hour_of(int64_t local_s) { return (local_s - day_of(local_s) * DAY_S) / HOUR_S; }
static bool at_weekend(int64_t local_s) { return weekday_of(day_of(local_s)) > 4; }

/* ---- two lists of bins ---- */

/* Room for keys of both sides, and for numbers of both. */
struct room {
    uint64_t *key[2];
    double *number[2];
    size_t n[2];
};

static enum dpl_status room_make(struct dpl_run *run, const struct crowd crowd[2],
                                 struct room *room) {
    for (size_t s = 0; s < 2; s++) {
        room->key[s] = dpl_alloc(run, 2 * crowd[s].n, sizeof *room->key[s]);
        room->number[s] = dpl_alloc(run, 2 * crowd[s].n, sizeof *room->number[s]);
        if (!room->key[s] || !room->number[s]) return DPL_SYSTEM;
    }
    return DPL_OK;
}

static void room_free(struct room *room) {
    for (size_t s = 0; s < 2; s++) dpl_free(room->key[s]), dpl_free(room->number[s]);
}

/* Jensen-Shannon distance, nats, of the histograms of both lists of keys; sorts them. */
static double key_distance(struct room *r) {
    if (r->n[0] == 0 || r->n[1] == 0) return NAN;
    return sqrt(dpl_jsd(r->key[0], r->n[0], r->key[1], r->n[1]) * log(2));
}

/* ---- SMAPE ---- */

static double symmetric_error(double a, double b) {
    return fabs(a) + fabs(b) > 0 ? fabs(a - b) / ((fabs(a) + fabs(b)) / 2) : 0;
}

/* Least, quartiles and largest value. */
static void five_numbers(double *list, size_t n, double out[5]) {
    for (size_t q = 0; q < 5; q++) out[q] = dpl_quantile(list, n, (double)q / 4);
}

static double quartiles_smape(struct room *r) {
    double a[5], b[5], sum = 0;
    five_numbers(r->number[0], r->n[0], a);
    five_numbers(r->number[1], r->n[1], b);
    for (size_t i = 0; i < 5; i++) sum += symmetric_error(a[i], b[i]);
    return sum / 5;
}

/* As pandas describes a column: also its length, mean and standard deviation. */
static void eight_numbers(double *list, size_t n, double out[8]) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++) mean += list[i] / (double)n;
    for (size_t i = 0; i < n; i++) squares += (list[i] - mean) * (list[i] - mean);
    five_numbers(list, n, out);
    out[5] = (double)n, out[6] = mean, out[7] = sqrt(squares / ((double)n - 1));
}

static double describe_smape(double *list_a, size_t n_a, double *list_b, size_t n_b) {
    double a[8], b[8], sum = 0;
    if (n_a < 2 || n_b < 2) return NAN;
    eight_numbers(list_a, n_a, a);
    eight_numbers(list_b, n_b, b);
    for (size_t i = 0; i < 8; i++) sum += symmetric_error(a[i], b[i]);
    return sum / 8;
}

/* ---- histograms of numbers ---- */

/* Bins of that width; what lies beyond `most` is one open bin. A value of exactly `most` counts for
 * the last closed bin unless larger ones are there. */
static void bin_numbers(struct room *r, double width, double most) {
    for (size_t s = 0; s < 2; s++) {
        double largest = -INFINITY;
        for (size_t i = 0; i < r->n[s]; i++) largest = fmax(largest, r->number[s][i]);
        double last = largest > most ? most / width : most / width - 1;
        for (size_t i = 0; i < r->n[s]; i++) {
            double bin = fmin(floor(r->number[s][i] / width), last);
            r->key[s][i] = (uint64_t)(bin + 0x1p40); // gaps may be negative
        }
    }
}

/* Both figures of a list of numbers; reorders them. */
static void number_figures(struct room *r, double width, double most, double *jsd, double *smape) {
    if (r->n[0] == 0 || r->n[1] == 0) return;
    bin_numbers(r, width, most);
    *jsd = key_distance(r);
    *smape = quartiles_smape(r);
}

/* ---- places ---- */

/* Points are the cells of the grid, and one more that is nowhere: no way from or to it. */
static void tile_row(const void *context, uint32_t from, const uint32_t *to, size_t n,
                     double *cost_m) {
    const struct dpl_grid *grid = context;
    uint32_t nowhere = (uint32_t)dpl_grid_cells(grid);
    for (size_t i = 0; i < n; i++)
        cost_m[i] = from == nowhere || to[i] == nowhere
                        ? 0
                        : dpl_grid_distance_m(grid, (int32_t)from, (int32_t)to[i]);
}

static struct dpl_emd_ground tile_ground(const struct dpl_grid *grid) {
    return (struct dpl_emd_ground){tile_row, grid,
                                   grid->area.cell_m * hypot(grid->columns, grid->rows)};
}

/* Which of the 6 time windows, on a weekday or at the weekend. */
static size_t window_of(int64_t local_s) {
    size_t window = (size_t)((hour_of(local_s) + 24 - WINDOW_FIRST) % 24) / WINDOW_HOURS;
    return window + (at_weekend(local_s) ? WINDOWS : 0);
}

/* window SIZE_MAX: both ends of all trips; otherwise the last points within it. */
static int64_t count_tiles(const struct crowd *crowd, size_t window, int64_t *count) {
    int64_t all = 0;
    for (size_t i = 0; i < crowd->n; i++)
        for (size_t end = window == SIZE_MAX ? 0 : 1; end < 2; end++) {
            const struct journey *j = &crowd->trip[i];
            if (window != SIZE_MAX && window_of(j->local_s[end]) != window) continue;
            count[j->tile[end]]++, all++;
        }
    return all;
}

/* Counts of both sides by cell, and room. */
struct tile_counts {
    int64_t *count[2], *balance; /* (cells), (cells + 1) */
    size_t n;
};

/* As coded: in hundredths of a per cent, rounded; what rounding adds to one side comes from
 * nowhere, and the larger side is the whole. */
static enum dpl_status coded_emd(struct dpl_run *run, const struct tile_counts *c,
                                 const int64_t all[2], const struct dpl_emd_ground *ground,
                                 struct dpl_emd_solver *solver, double *emd_m) {
    int64_t sum[2] = {0, 0};
    double work;
    for (size_t i = 0; i < c->n; i++) {
        int64_t part[2];
        for (size_t s = 0; s < 2; s++) {
            part[s] = (int64_t)rint((double)c->count[s][i] / (double)all[s] * 100 * 100);
            sum[s] += part[s];
        }
        c->balance[i] = part[0] - part[1];
    }
    c->balance[c->n] = sum[1] - sum[0];
    DPL_TRY(dpl_emd_work(run, solver, c->balance, c->n + 1, ground, &work));
    *emd_m = work / (double)(sum[0] > sum[1] ? sum[0] : sum[1]);
    return DPL_OK;
}

/* Exactly, and as coded; NAN when there is nothing on one side. */
static enum dpl_status tiles_emd(struct dpl_run *run, const struct crowd crowd[2], size_t window,
                                 const struct tile_counts *c, double emd_m[2]) {
    struct dpl_emd_solver solver = {0};
    struct dpl_emd_ground ground = tile_ground(&crowd[0].source->grid);
    int64_t all[2];
    for (size_t s = 0; s < 2; s++) {
        memset(c->count[s], 0, c->n * sizeof *c->count[s]);
        all[s] = count_tiles(&crowd[s], window, c->count[s]);
    }
    emd_m[0] = emd_m[1] = NAN;
    if (all[0] == 0 || all[1] == 0) return DPL_OK;
    enum dpl_status status =
        dpl_emd(run, &solver, c->count[0], c->count[1], c->n, &ground, &emd_m[0]);
    if (status == DPL_OK) status = coded_emd(run, c, all, &ground, &solver, &emd_m[1]);
    dpl_emd_free(&solver);
    return status;
}

/* Means over the windows in which both sides have trips. */
static enum dpl_status windows_emd(struct dpl_run *run, const struct crowd crowd[2],
                                   const struct tile_counts *c, double mean_m[2]) {
    double n = 0, emd_m[2], sum[2] = {0, 0};
    for (size_t window = 0; window < 2 * WINDOWS; window++) {
        DPL_TRY(tiles_emd(run, crowd, window, c, emd_m));
        if (!isnan(emd_m[0])) sum[0] += emd_m[0], sum[1] += emd_m[1], n++;
    }
    for (size_t i = 0; i < 2; i++) mean_m[i] = n > 0 ? sum[i] / n : NAN;
    return DPL_OK;
}

static enum dpl_status place_figures(struct dpl_run *run, const struct crowd crowd[2],
                                     bool has_times, double *figures) {
    size_t n = (size_t)dpl_grid_cells(&crowd[0].source->grid);
    int64_t *memory = dpl_alloc(run, 3 * n + 1, sizeof *memory);
    double *number = dpl_alloc(run, 2 * n, sizeof *number);
    enum dpl_status status = DPL_SYSTEM;
    if (!memory || !number) goto done;
    struct tile_counts c = {{memory, memory + n}, memory + 2 * n, n};
    DPL_GO(tiles_emd(run, crowd, SIZE_MAX, &c, &figures[VISITS_EMD]));
    for (size_t i = 0; i < 2 * n; i++) number[i] = (double)memory[i];
    figures[VISITS_SMAPE] = describe_smape(number, n, number + n, n);
    if (has_times) DPL_GO(windows_emd(run, crowd, &c, &figures[WINDOWS_EMD]));
done:
    dpl_free(memory);
    dpl_free(number);
    return status;
}

/* How many keys are equal to the one at `from`. */
static size_t run_of(const uint64_t *key, size_t from, size_t n) {
    size_t end = from;
    while (end < n && key[end] == key[from]) end++;
    return end - from;
}

static void flow_figures(const struct crowd crowd[2], struct room *r, double *figures) {
    size_t flows[2] = {0, 0};
    for (size_t s = 0; s < 2; s++) {
        r->n[s] = crowd[s].n;
        for (size_t i = 0; i < r->n[s]; i++) {
            const int32_t *tile = crowd[s].trip[i].tile;
            r->key[s][i] = (uint64_t)tile[0] << 32 | (uint64_t)tile[1];
        }
    }
    figures[OD_JSD] = key_distance(r); // sorts
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < r->n[s]; flows[s]++) {
            size_t trips = run_of(r->key[s], i, r->n[s]);
            r->number[s][flows[s]] = (double)trips;
            i += trips;
        }
    figures[OD_SMAPE] = describe_smape(r->number[0], flows[0], r->number[1], flows[1]);
}

static void jump_figures(const struct crowd crowd[2], struct room *r, double *figures) {
    for (size_t s = 0; s < 2; s++) {
        r->n[s] = crowd[s].n;
        for (size_t i = 0; i < r->n[s]; i++) {
            const struct journey *j = &crowd[s].trip[i];
            r->number[s][i] =
                haversine_km(j->lat_deg[0], j->lon_deg[0], j->lat_deg[1], j->lon_deg[1]);
        }
    }
    number_figures(r, 1, 10, &figures[JUMP_JSD], &figures[JUMP_SMAPE]);
}

/* ---- times ---- */

/* Days, weeks that end on a Monday, or months, by how many days the longer side spans. */
static uint64_t date_key(int64_t day, int64_t span) {
    int64_t year;
    int month, of_month;
    if (span <= DAYS_FOR_WEEKS) return (uint64_t)(day + DAY_S);
    if (span <= DAYS_FOR_MONTHS) return (uint64_t)(floor_div(day - 5, 7) + DAY_S);
    dpl_date_from_days(day, &year, &month, &of_month);
    return (uint64_t)(year * 12 + month);
}

static int64_t span_of(const struct crowd *crowd) {
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < crowd->n; i++) {
        int64_t day = day_of(crowd->trip[i].local_s[1]);
        if (day < first) first = day;
        if (day > last) last = day;
    }
    return last - first;
}

static uint64_t weekday_key(const struct journey *j, size_t end) {
    (void)end;
    return (uint64_t)weekday_of(day_of(j->local_s[1]));
}

/* Starts and ends are told apart, weekdays and weekends too. */
static uint64_t hour_key(const struct journey *j, size_t end) {
    return (uint64_t)hour_of(j->local_s[end]) * 4 + (at_weekend(j->local_s[end]) ? 2 : 0) + end;
}

static double clock_distance(const struct crowd crowd[2], struct room *r, size_t ends,
                             uint64_t (*key)(const struct journey *, size_t)) {
    for (size_t s = 0; s < 2; s++) {
        r->n[s] = 0;
        for (size_t i = 0; i < crowd[s].n; i++)
            for (size_t end = 0; end < ends; end++)
                r->key[s][r->n[s]++] = key(&crowd[s].trip[i], end);
    }
    return key_distance(r);
}

static void time_figures(const struct crowd crowd[2], struct room *r, double *figures) {
    int64_t span[2] = {span_of(&crowd[0]), span_of(&crowd[1])},
            longer = span[0] > span[1] ? span[0] : span[1];
    figures[WEEKDAYS_JSD] = clock_distance(crowd, r, 1, weekday_key);
    figures[HOURS_JSD] = clock_distance(crowd, r, 2, hour_key);
    for (size_t s = 0; s < 2; s++) {
        r->n[s] = crowd[s].n;
        for (size_t i = 0; i < r->n[s]; i++)
            r->key[s][i] = date_key(day_of(crowd[s].trip[i].local_s[1]), longer);
    }
    figures[DAYS_JSD] = key_distance(r);
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < r->n[s]; i++) {
            const int64_t *local_s = crowd[s].trip[i].local_s;
            r->number[s][i] = (double)((local_s[1] - local_s[0]) % DAY_S) / 60;
        }
    number_figures(r, 5, 120, &figures[TIME_JSD], &figures[TIME_SMAPE]);
}

/* ---- users ---- */

typedef void user_number(const struct crowd *crowd, size_t first, size_t end, double *into,
                         size_t *n);

static void trips_of_user(const struct crowd *crowd, size_t first, size_t end, double *into,
                          size_t *n) {
    (void)crowd;
    into[(*n)++] = (double)(end - first);
}

/* Hours from the end of a trip to the start of the next. */
static void gaps_of_user(const struct crowd *crowd, size_t first, size_t end, double *into,
                         size_t *n) {
    const struct journey *last = crowd->trip + end;
    for (const struct journey *j = crowd->trip + first + 1; j < last; j++)
        into[(*n)++] = (double)(j[0].local_s[0] - j[-1].local_s[1]) / HOUR_S;
}

/* The centre is the mean of degrees. */
static void gyration_of_user(const struct crowd *crowd, size_t first, size_t end, double *into,
                             size_t *n) {
    double points = 2 * (double)(end - first), lat = 0, lon = 0, squares = 0;
    for (size_t i = 2 * first; i < 2 * end; i++) {
        lat += crowd->trip[i / 2].lat_deg[i % 2] / points;
        lon += crowd->trip[i / 2].lon_deg[i % 2] / points;
    }
    for (size_t i = 2 * first; i < 2 * end; i++) {
        double km = haversine_km(crowd->trip[i / 2].lat_deg[i % 2],
                                 crowd->trip[i / 2].lon_deg[i % 2], lat, lon);
        squares += km * km;
    }
    into[(*n)++] = sqrt(squares / points);
}

/* How often tile t occurs among the points of a user before place `at`, and in all. */
static size_t same_tile(const struct crowd *crowd, size_t first, size_t end, size_t at,
                        size_t *before) {
    int32_t tile = crowd->trip[at / 2].tile[at % 2];
    size_t all = 0;
    *before = 0;
    for (size_t i = 2 * first; i < 2 * end; i++) {
        if (crowd->trip[i / 2].tile[i % 2] != tile) continue;
        all++, *before += i < at;
    }
    return all;
}

static void tiles_of_user(const struct crowd *crowd, size_t first, size_t end, double *into,
                          size_t *n) {
    size_t distinct = 0, before;
    for (size_t i = 2 * first; i < 2 * end; i++) {
        same_tile(crowd, first, end, i, &before);
        distinct += before == 0;
    }
    into[(*n)++] = (double)distinct;
}

/* Of the tiles, over the largest that so many tiles could have. */
static void entropy_of_user(const struct crowd *crowd, size_t first, size_t end, double *into,
                            size_t *n) {
    double points = 2 * (double)(end - first), entropy = 0;
    size_t distinct = 0, before;
    for (size_t i = 2 * first; i < 2 * end; i++) {
        double share = (double)same_tile(crowd, first, end, i, &before) / points;
        if (before == 0) distinct++, entropy -= share * log2(share);
    }
    into[(*n)++] = distinct > 1 ? fmin(1, entropy / log2((double)distinct)) : 0; // 1 + 2^-52
}

static void user_numbers(const struct crowd crowd[2], struct room *r, user_number *number) {
    for (size_t s = 0; s < 2; s++) {
        r->n[s] = 0;
        for (size_t first = 0, end; first < crowd[s].n; first = end) {
            end = user_end(&crowd[s], first);
            number(&crowd[s], first, end, r->number[s], &r->n[s]);
        }
    }
}

/* ---- trips per user ---- */

enum { USER_BINS = 10 };

/* Weight and place of the bins of one side: single numbers, or ten ranges whose edges are cut to
 * whole numbers when they are drawn. */
struct user_bins {
    double at[USER_BINS + 1], weight[USER_BINS + 1];
    size_t n;
};

static struct user_bins bin_users(const double *trips, size_t n) {
    struct user_bins bins = {.n = 0};
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < n; i++) least = fmin(least, trips[i]), most = fmax(most, trips[i]);
    bool single = most - least < USER_BINS;
    double width = single ? 1 : (most - least) / USER_BINS;
    bins.n = single ? (size_t)(most - least) + 1 : USER_BINS;
    for (size_t b = 0; b < bins.n; b++)
        bins.at[b] = single ? least + (double)b
                            : (floor(least + (double)b * width) +
                               floor(least + ((double)b + 1) * width + 1e-9)) /
                                  2;
    for (size_t i = 0; i < n; i++)
        bins.weight[(size_t)fmin((trips[i] - least) / width, (double)bins.n - 1)] += 1 / (double)n;
    return bins;
}

/* The area between the two cumulative distributions. */
static double line_emd(const struct user_bins *a, const struct user_bins *b) {
    double work = 0, lead = 0, before = 0;
    for (size_t i = 0, j = 0; i < a->n || j < b->n;) {
        bool left = i < a->n && (j == b->n || a->at[i] <= b->at[j]);
        double at = left ? a->at[i] : b->at[j];
        work += fabs(lead) * (at - before);
        lead += left ? a->weight[i++] : -b->weight[j++];
        before = at;
    }
    return work;
}

static void user_figures(const struct crowd crowd[2], struct room *r, bool has_times,
                         double *figures) {
    user_numbers(crowd, r, trips_of_user);
    struct user_bins a = bin_users(r->number[0], r->n[0]), b = bin_users(r->number[1], r->n[1]);
    figures[USER_TRIPS_EMD] = line_emd(&a, &b);
    figures[USER_TRIPS_SMAPE] = quartiles_smape(r);
    user_numbers(crowd, r, gyration_of_user);
    number_figures(r, 0.5, 5, &figures[GYRATION_JSD], &figures[GYRATION_SMAPE]);
    user_numbers(crowd, r, tiles_of_user);
    number_figures(r, 1, 11, &figures[USER_TILES_JSD], &figures[USER_TILES_SMAPE]);
    user_numbers(crowd, r, entropy_of_user);
    number_figures(r, 0.1, 1, &figures[ENTROPY_JSD], &figures[ENTROPY_SMAPE]);
    if (!has_times) return;
    user_numbers(crowd, r, gaps_of_user);
    number_figures(r, 4, 48, &figures[USER_GAP_JSD], &figures[USER_GAP_SMAPE]);
}

/* ---- the call ---- */

enum dpl_status dpl_measure_mobility(struct dpl_run *run, const struct dpl_part *a,
                                     const struct dpl_part *b, double *figures) {
    const struct dpl_part *const part[2] = {a, b};
    bool has_times = a->ready->has_time && b->ready->has_time;
    struct crowd crowd[2] = {{0}, {0}};
    struct room room = {0};
    struct dpl_zone *zone = NULL;
    enum dpl_status status;
    if (a->n == 0 || b->n == 0) return DPL_OK;
    DPL_TRY(dpl_zone_open(run, a->ready->source->grid.area.zone, &zone));
    for (size_t s = 0; s < 2; s++) DPL_GO(crowd_make(run, part[s], zone, &crowd[s]));
    DPL_GO(room_make(run, crowd, &room));
    DPL_GO(place_figures(run, crowd, has_times, figures));
    flow_figures(crowd, &room, figures);
    jump_figures(crowd, &room, figures);
    if (has_times) time_figures(crowd, &room, figures);
    // Users on one side alone cannot be compared.
    if (!crowd[0].source->n_users == !crowd[1].source->n_users)
        user_figures(crowd, &room, has_times, figures);
done:
    room_free(&room);
    dpl_free(crowd[0].trip);
    dpl_free(crowd[1].trip);
    dpl_zone_free(zone);
    return status;
}
