/* The measures that AdaTrace, DP-Star, PrivTrace, LDPTrace and RetraSyn report, by the definitions
 * in their programs, on positions one slot apart; where those have a known mistake, once corrected
 * and once as coded. Divergences are in nats, without a root; grids divide the public box.
 *
 * Cost: 200 queries over all segments of both sides; sorting of all runs of cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate/table.h"
#include "evaluate/track.h"

enum peer_figure {
    QUERY,
    QUERY_CODED,
    QUERY_POINTS,
    TAU_CODED,
    TAU_B,
    FP_F1,
    FP_SUPPORT,
    TRIP,
    DIAMETER,
    DIAMETER_CODED,
    LENGTH,
    LENGTH_CODED,
    DENSITY,
    DENSITY_16,
    TRANSITION,
    NDCG_5,
    NDCG_10
};

enum { QUERIES = 200, COARSE = 6, FINE = 16, PASSED = 15, BINS = 20, TOP = 100, RUN_MAX = 8 };

/* ---- the box ---- */

struct box {
    double width_m, height_m;
};

static struct box box_of(const struct dpl_grid *grid) {
    const struct dpl_area *area = &grid->area;
    return (struct box){(area->east_deg - area->west_deg) * grid->m_per_deg_lon,
                        (area->north_deg - area->south_deg) * grid->m_per_deg_lat};
}

static size_t index_of(double part, size_t side) {
    double at = floor(part * (double)side);
    return at < 0 ? 0 : at >= (double)side ? side - 1 : (size_t)at;
}

/* The square of a side x side grid over the box. */
static size_t square_of(const struct box *box, struct dpl_position p, size_t side) {
    return index_of((double)p.y_m / box->height_m, side) * side +
           index_of((double)p.x_m / box->width_m, side);
}

static struct dpl_track track_at(const struct dpl_part *part, size_t i) {
    return dpl_track_of(part->ready->source, part->ready->origin[part->trip[i]]);
}

static double nats(const int64_t *a, const int64_t *b, size_t n) {
    return dpl_jsd_counts(a, b, n) * log(2);
}

/* ---- queries ---- */

static double uniform_of(uint64_t number) { return (double)(dpl_mix64(number) >> 11) * 0x1p-53; }

static struct dpl_position centre_of(const struct box *box, size_t query) {
    return (struct dpl_position){(float)(box->width_m * uniform_of(2 * query + 1)),
                                 (float)(box->height_m * uniform_of(2 * query + 2))};
}

static double segment_distance_m(struct dpl_position a, struct dpl_position b,
                                 struct dpl_position p) {
    double dx = (double)b.x_m - (double)a.x_m, dy = (double)b.y_m - (double)a.y_m,
           px = (double)p.x_m - (double)a.x_m, py = (double)p.y_m - (double)a.y_m,
           square = dx * dx + dy * dy,
           part = square > 0 ? fmin(1, fmax(0, (px * dx + py * dy) / square)) : 0;
    return hypot(px - part * dx, py - part * dy);
}

static bool meets(const struct dpl_track *track, struct dpl_position centre, double radius_m) {
    for (size_t i = 0; i + 1 < track->n; i++)
        if (segment_distance_m(track->at[i], track->at[i + 1], centre) <= radius_m) return true;
    return false;
}

/* As coded, a step of length 0 divides by zero and the trip matches every query. */
static bool stands_still(const struct dpl_track *track) {
    for (size_t i = 0; i + 1 < track->n; i++)
        if (dpl_track_step_m(track, i) == 0) return true;
    return false;
}

struct query_counts {
    double met[QUERIES], met_coded[QUERIES], inside[QUERIES], trips, points;
};

/* The box around a trip: most queries hold all of it, or none. */
struct around {
    double least[2], most[2];
};

static struct around around_of(const struct dpl_track *track) {
    struct around a = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    for (size_t p = 0; p < track->n; p++) {
        double at[2] = {(double)track->at[p].x_m, (double)track->at[p].y_m};
        for (size_t d = 0; d < 2; d++) { // fmin and fmax here break gcc 12 for ARM64
            if (at[d] < a.least[d]) a.least[d] = at[d];
            if (at[d] > a.most[d]) a.most[d] = at[d];
        }
    }
    return a;
}

/* Distance from the centre to the nearest and to the furthest place of the box. */
static void reach_of(const struct around *a, const double centre[2], double *nearest_m,
                     double *furthest_m) {
    double near[2], far[2];
    for (size_t d = 0; d < 2; d++) {
        near[d] = fmax(0, fmax(a->least[d] - centre[d], centre[d] - a->most[d]));
        far[d] = fmax(fabs(a->least[d] - centre[d]), fabs(a->most[d] - centre[d]));
    }
    *nearest_m = hypot(near[0], near[1]);
    *furthest_m = hypot(far[0], far[1]);
}

static size_t points_within(const struct dpl_track *track, const struct around *a,
                            const double centre[2], const double half[2]) {
    bool all = true, none = false;
    size_t inside = 0;
    for (size_t d = 0; d < 2; d++) {
        all &= centre[d] - a->least[d] <= half[d] && a->most[d] - centre[d] <= half[d];
        none |= a->least[d] - centre[d] > half[d] || centre[d] - a->most[d] > half[d];
    }
    if (all || none) return all ? track->n : 0;
    for (size_t p = 0; p < track->n; p++)
        inside += fabs((double)track->at[p].x_m - centre[0]) <= half[0] &&
                  fabs((double)track->at[p].y_m - centre[1]) <= half[1];
    return inside;
}

static void count_trip(const struct dpl_track *track, const struct box *box,
                       const struct dpl_position centres[QUERIES], struct query_counts *c) {
    const double radius_m = fmax(box->width_m, box->height_m) / 3,
                 half[2] = {box->width_m / 6, box->height_m / 6};
    const struct around a = around_of(track);
    bool still = stands_still(track);
    for (size_t q = 0; q < QUERIES; q++) {
        const double centre[2] = {(double)centres[q].x_m, (double)centres[q].y_m};
        double nearest_m, furthest_m;
        reach_of(&a, centre, &nearest_m, &furthest_m);
        bool met = track->n > 1 && nearest_m <= radius_m &&
                   (furthest_m <= radius_m || meets(track, centres[q], radius_m));
        c->met[q] += met;
        c->met_coded[q] += met || still;
        c->inside[q] += (double)points_within(track, &a, centre, half);
    }
    c->trips++;
    c->points += (double)track->n;
}

/* Mean relative error; `scale` brings the other side to the size of the real one. */
static double query_error(const double *real, const double *other, double scale, double least) {
    double sum = 0;
    for (size_t q = 0; q < QUERIES; q++)
        sum += fabs(other[q] * scale - real[q]) / fmax(real[q], least);
    return sum / QUERIES;
}

static enum dpl_status peer_queries(struct dpl_run *run, const struct dpl_part *const part[2],
                                    const struct box *box, double *figures) {
    struct query_counts *c = dpl_alloc(run, 2, sizeof *c);
    struct dpl_position centres[QUERIES];
    if (!c) return DPL_SYSTEM;
    for (size_t q = 0; q < QUERIES; q++) centres[q] = centre_of(box, q);
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < part[s]->n; i++) {
            struct dpl_track track = track_at(part[s], i);
            count_trip(&track, box, centres, &c[s]);
        }
    figures[QUERY] = query_error(c[0].met, c[1].met, c[0].trips / c[1].trips, 0.01 * c[0].trips);
    figures[QUERY_CODED] = query_error(c[0].met_coded, c[1].met_coded, 1, 0.01 * c[0].trips);
    figures[QUERY_POINTS] =
        query_error(c[0].inside, c[1].inside, c[0].points / c[1].points, 0.01 * c[0].points);
    dpl_free(c);
    return DPL_OK;
}

/* ---- places: Kendall's tau, hotspots, density, trips, transitions ---- */

struct place_counts {
    int64_t passed[PASSED * PASSED], coarse[COARSE * COARSE], fine[FINE * FINE],
        ends[COARSE * COARSE * COARSE * COARSE], moves[COARSE * COARSE * COARSE * COARSE];
};

static void count_places(const struct dpl_track *track, const struct box *box,
                         struct place_counts *c) {
    bool seen[PASSED * PASSED] = {false};
    size_t n = COARSE * COARSE, before = n;
    for (size_t p = 0; p < track->n; p++) {
        size_t here = square_of(box, track->at[p], COARSE);
        seen[square_of(box, track->at[p], PASSED)] = true;
        c->coarse[here]++;
        c->fine[square_of(box, track->at[p], FINE)]++;
        if (before < n && before != here) c->moves[before * n + here]++;
        before = here;
    }
    for (size_t i = 0; i < PASSED * PASSED; i++) c->passed[i] += seen[i];
    c->ends[square_of(box, track->at[0], COARSE) * n + before]++;
}

/* As coded: pairs that tie on the real side are left out, ties of the other side count as agreeing
 * or not by their order. */
static void kendall(const int64_t *real, const int64_t *other, size_t n, double *coded,
                    double *tau_b) {
    double agree = 0, differ = 0, score = 0, tied_real = 0, tied_other = 0;
    double pairs = (double)(n * (n - 1)) / 2;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            int a = (real[i] > real[j]) - (real[i] < real[j]),
                b = (other[i] > other[j]) - (other[i] < other[j]);
            tied_real += a == 0, tied_other += b == 0;
            agree += a * b > 0, differ += a * b < 0;
            if (a) score += (a > 0) == (b > 0) ? 1 : -1;
        }
    *coded = score / pairs;
    *tau_b = (agree - differ) / sqrt((pairs - tied_real) * (pairs - tied_other));
}

/* The k squares with the most visits, ties to the lower number. */
static void hottest(const int64_t *count, size_t n, size_t k, size_t *top) {
    for (size_t r = 0; r < k; r++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++) {
            bool taken = false;
            for (size_t t = 0; t < r; t++) taken |= top[t] == i;
            if (!taken && (best == n || count[i] > count[best])) best = i;
        }
        top[r] = best;
    }
}

/* Discounted gain of the other side's k hottest squares, each worth 1/(its place on the real side),
 * over the best that could be had. */
static double ndcg(const int64_t *real, const int64_t *other, size_t n, size_t k) {
    size_t right[10], found[10];
    double gain = 0, best = 0;
    hottest(real, n, k, right);
    hottest(other, n, k, found);
    for (size_t r = 0; r < k; r++) {
        best += 1 / (double)(r + 1) / log2((double)r + 2);
        for (size_t t = 0; t < k; t++)
            if (right[t] == found[r]) gain += 1 / (double)(t + 1) / log2((double)r + 2);
    }
    return gain / best;
}

static enum dpl_status peer_places(struct dpl_run *run, const struct dpl_part *const part[2],
                                   const struct box *box, double *figures) {
    struct place_counts *c = dpl_alloc(run, 2, sizeof *c);
    if (!c) return DPL_SYSTEM;
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < part[s]->n; i++) {
            struct dpl_track track = track_at(part[s], i);
            count_places(&track, box, &c[s]);
        }
    size_t n = COARSE * COARSE;
    kendall(c[0].passed, c[1].passed, PASSED * PASSED, &figures[TAU_CODED], &figures[TAU_B]);
    figures[TRIP] = nats(c[0].ends, c[1].ends, n * n);
    figures[TRANSITION] = nats(c[0].moves, c[1].moves, n * n);
    figures[DENSITY] = nats(c[0].coarse, c[1].coarse, n);
    figures[DENSITY_16] = nats(c[0].fine, c[1].fine, FINE * FINE);
    figures[NDCG_5] = ndcg(c[0].fine, c[1].fine, FINE * FINE, 5);
    figures[NDCG_10] = ndcg(c[0].fine, c[1].fine, FINE * FINE, 10);
    dpl_free(c);
    return DPL_OK;
}

/* ---- lengths of trips: diameter and way ---- */

static double diameter_m(const struct dpl_track *track) {
    double largest = 0;
    for (size_t i = 0; i < track->n; i++)
        for (size_t j = i + 1; j < track->n; j++)
            largest = fmax(largest, dpl_track_distance_m(track->at[i], track->at[j]));
    return largest;
}

/* 20 bins from the least to the largest real value, open at both ends; as coded they start at
 * 0, and what lies above the last is lost. */
static void length_errors(const double *real, size_t n_real, const double *other, size_t n_other,
                          double *corrected, double *coded) {
    int64_t count[2][2][BINS] = {{{0}}};
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < n_real; i++) least = fmin(least, real[i]), most = fmax(most, real[i]);
    double width = most > least ? (most - least) / BINS : 1;
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < (s ? n_other : n_real); i++) {
            double value = s ? other[i] : real[i];
            count[0][s][index_of((value - least) / width / BINS, BINS)]++;
            if (value / width < BINS) count[1][s][(size_t)(value / width)]++;
        }
    *corrected = nats(count[0][0], count[0][1], BINS);
    *coded = nats(count[1][0], count[1][1], BINS);
}

static enum dpl_status peer_lengths(struct dpl_run *run, const struct dpl_part *const part[2],
                                    double *figures) {
    size_t n = part[0]->n, all = n + part[1]->n;
    double *diameter = dpl_alloc(run, 2 * all, sizeof *diameter);
    if (!diameter) return DPL_SYSTEM;
    double *way = diameter + all;
    for (size_t i = 0; i < all; i++) {
        struct dpl_track track = i < n ? track_at(part[0], i) : track_at(part[1], i - n);
        diameter[i] = diameter_m(&track);
        way[i] = dpl_track_path_m(&track);
    }
    length_errors(diameter, n, diameter + n, all - n, &figures[DIAMETER], &figures[DIAMETER_CODED]);
    length_errors(way, n, way + n, all - n, &figures[LENGTH], &figures[LENGTH_CODED]);
    dpl_free(diameter);
    return DPL_OK;
}

/* ---- frequent runs of cells ---- */

/* Runs of 2 to 8 squares, repeats collapsed; a run is a number to the base 37. */
struct runs {
    uint64_t *run;
    size_t n, capacity;
};

static enum dpl_status add_runs(struct dpl_run *run, const struct dpl_track *track,
                                const struct box *box, struct runs *runs) {
    uint64_t recent[RUN_MAX];
    size_t held = 0;
    for (size_t p = 0; p < track->n; p++) {
        uint64_t here = square_of(box, track->at[p], COARSE) + 1;
        if (held && recent[held - 1] == here) continue;
        if (held == RUN_MAX) memmove(recent, recent + 1, --held * sizeof *recent);
        recent[held++] = here;
        DPL_TRY(dpl_grow(run, &runs->run, &runs->capacity, runs->n + RUN_MAX, sizeof *runs->run));
        for (size_t length = 2; length <= held; length++) {
            uint64_t packed = 0;
            for (size_t i = held - length; i < held; i++)
                packed = packed * (COARSE * COARSE + 1) + recent[i];
            runs->run[runs->n++] = packed;
        }
    }
    return DPL_OK;
}

struct frequent {
    uint64_t run;
    size_t count;
};

static bool ranks_before(struct frequent a, struct frequent b) {
    return a.count != b.count ? a.count > b.count : a.run < b.run;
}

/* Sorts the runs; returns how many of the TOP there are. */
static size_t most_frequent(struct runs *runs, struct frequent top[TOP]) {
    size_t n = 0;
    if (runs->n) qsort(runs->run, runs->n, sizeof *runs->run, dpl_compare_u64);
    for (size_t i = 0, end; i < runs->n; i = end) {
        for (end = i; end < runs->n && runs->run[end] == runs->run[i];) end++;
        struct frequent found = {runs->run[i], end - i};
        size_t at = n < TOP ? n++ : TOP - 1;
        if (at == TOP - 1 && n == TOP && top[at].count && !ranks_before(found, top[at])) continue;
        for (; at > 0 && ranks_before(found, top[at - 1]); at--) top[at] = top[at - 1];
        top[at] = found;
    }
    return n;
}

/* How often a run occurs; the runs are sorted. */
static size_t count_of(const struct runs *runs, uint64_t run) {
    size_t bound[2];
    for (uint64_t side = 0; side < 2; side++) {
        size_t low = 0, high = runs->n;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (runs->run[middle] < run + side)
                low = middle + 1;
            else
                high = middle;
        }
        bound[side] = low;
    }
    return bound[1] - bound[0];
}

static enum dpl_status peer_patterns(struct dpl_run *run, const struct dpl_part *const part[2],
                                     const struct box *box, double *figures) {
    struct runs runs[2] = {{0}, {0}};
    struct frequent top[2][TOP] = {{{0}}};
    size_t n[2], common = 0;
    double error = 0;
    enum dpl_status status = DPL_OK;
    for (size_t s = 0; s < 2; s++) {
        for (size_t i = 0; i < part[s]->n; i++) {
            struct dpl_track track = track_at(part[s], i);
            DPL_GO(add_runs(run, &track, box, &runs[s]));
        }
        n[s] = most_frequent(&runs[s], top[s]);
    }
    for (size_t i = 0; i < n[0]; i++) {
        double count = (double)top[0][i].count, scale = (double)part[0]->n / (double)part[1]->n;
        for (size_t j = 0; j < n[1]; j++) common += top[0][i].run == top[1][j].run;
        error += fabs((double)count_of(&runs[1], top[0][i].run) * scale - count) / count;
    }
    figures[FP_F1] = (double)common / TOP;
    figures[FP_SUPPORT] = n[0] ? error / (double)n[0] : NAN;
done:
    dpl_free(runs[0].run);
    dpl_free(runs[1].run);
    return status;
}

enum dpl_status dpl_measure_peers(struct dpl_run *run, const struct dpl_part *a,
                                  const struct dpl_part *b, double *figures) {
    const struct dpl_part *const part[2] = {a, b};
    struct box box = box_of(&a->ready->source->grid);
    if (a->n == 0 || b->n == 0) return DPL_OK;
    DPL_TRY(peer_queries(run, part, &box, figures));
    DPL_TRY(peer_places(run, part, &box, figures));
    DPL_TRY(peer_lengths(run, part, figures));
    return peer_patterns(run, part, &box, figures);
}
