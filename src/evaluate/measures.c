/* Trip size, patterns, density, source-destination, route: the definitions, one function each.
 *
 * Every earth mover's distance is between shares over a common denominator, in integers (emd.c).
 * Sums run in the order of cells or keys, so a measure is the same whatever the number of threads.
 * Cost: one pass over the trips of both parts each, plus the network simplex; source-destination,
 * at most 2000 against 2000 pairs, is the dearest. */
#include "evaluate/measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const int DPL_TOPS[DPL_N_TOPS] = {10, 20, 50, 100, 200};

enum { MOST_PAIRS = 2000 };
static const double PAIR_MASS = 0.8, SET_SUPPORT = 0.05;

/* ---- Jensen-Shannon ---- */

int dpl_compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The length of the run of equal values at the front. */
static size_t run_length(const uint64_t *sorted, size_t n) {
    size_t length = 1;
    while (length < n && sorted[length] == sorted[0]) length++;
    return length;
}

/* p log2(2p / (p + q)) / 2, the share of one bin in the divergence from its side. */
static double half_term(double p, double q) { return p > 0 ? p * log2(2 * p / (p + q)) / 2 : 0; }

double dpl_jsd(uint64_t *a, size_t n_a, uint64_t *b, size_t n_b) {
    if (n_a == 0 || n_b == 0) return n_a == n_b ? 0 : 1;
    qsort(a, n_a, sizeof *a, dpl_compare_u64);
    qsort(b, n_b, sizeof *b, dpl_compare_u64);
    double sum = 0;
    for (size_t i = 0, j = 0; i < n_a || j < n_b;) {
        bool in_a = i < n_a && (j == n_b || a[i] <= b[j]),
             in_b = j < n_b && (i == n_a || b[j] <= a[i]);
        size_t run_a = in_a ? run_length(a + i, n_a - i) : 0,
               run_b = in_b ? run_length(b + j, n_b - j) : 0;
        double p = (double)run_a / (double)n_a, q = (double)run_b / (double)n_b;
        sum += half_term(p, q) + half_term(q, p);
        i += run_a;
        j += run_b;
    }
    return fmin(1, fmax(0, sum));
}

double dpl_jsd_counts(const int64_t *a, const int64_t *b, size_t bins) {
    double total_a = 0, total_b = 0, sum = 0;
    for (size_t i = 0; i < bins; i++) total_a += (double)a[i], total_b += (double)b[i];
    if (total_a == 0 || total_b == 0) return total_a == total_b ? 0 : 1;
    for (size_t i = 0; i < bins; i++) {
        double p = (double)a[i] / total_a, q = (double)b[i] / total_b;
        sum += half_term(p, q) + half_term(q, p);
    }
    return fmin(1, fmax(0, sum));
}

static size_t length_of(const struct dpl_part *part, size_t i) {
    const size_t *start = part->ready->trips.start + part->trip[i];
    return start[1] - start[0];
}

/* Divergence of one number per trip. */
static enum dpl_status jsd_of_values(struct dpl_run *run, const struct dpl_part *a,
                                     const struct dpl_part *b,
                                     uint64_t (*value)(const struct dpl_part *, size_t),
                                     double *divergence) {
    uint64_t *list = dpl_alloc(run, a->n + b->n, sizeof *list);
    if (!list) return DPL_SYSTEM;
    for (size_t i = 0; i < a->n; i++) list[i] = value(a, i);
    for (size_t i = 0; i < b->n; i++) list[a->n + i] = value(b, i);
    *divergence = dpl_jsd(list, a->n, list + a->n, b->n);
    dpl_free(list);
    return DPL_OK;
}

static uint64_t visits_value(const struct dpl_part *part, size_t i) { return length_of(part, i); }

static uint64_t period_value(const struct dpl_part *part, size_t i) {
    return part->ready->period[part->trip[i]];
}

enum dpl_status dpl_measure_lengths(struct dpl_run *run, const struct dpl_part *a,
                                    const struct dpl_part *b, double *divergence) {
    return jsd_of_values(run, a, b, visits_value, divergence);
}

enum dpl_status dpl_measure_hours(struct dpl_run *run, const struct dpl_part *a,
                                  const struct dpl_part *b, double *divergence) {
    return jsd_of_values(run, a, b, period_value, divergence);
}

/* ---- patterns ---- */

static void common_tops(const struct dpl_top top[2], double common[DPL_N_TOPS]) {
    for (size_t i = 0; i < DPL_N_TOPS; i++)
        common[i] = dpl_top_common(&top[0], &top[1], (size_t)DPL_TOPS[i]);
}

enum dpl_status dpl_measure_patterns(struct dpl_run *run, const struct dpl_part *a,
                                     const struct dpl_part *b, double common[DPL_N_TOPS]) {
    const struct dpl_part *const part[2] = {a, b};
    size_t most = a->ready->patterns.n_patterns > b->ready->patterns.n_patterns
                      ? a->ready->patterns.n_patterns
                      : b->ready->patterns.n_patterns;
    uint32_t *support = dpl_alloc(run, most, sizeof *support);
    struct dpl_top *top = dpl_alloc(run, 2, sizeof *top);
    enum dpl_status status = support && top ? DPL_OK : DPL_SYSTEM;
    if (status == DPL_OK) {
        for (size_t s = 0; s < 2; s++)
            dpl_patterns_top(&part[s]->ready->patterns, part[s]->trip, part[s]->n, support,
                             &top[s]);
        common_tops(top, common);
    }
    dpl_free(support);
    dpl_free(top);
    return status;
}

enum dpl_status dpl_measure_sets(struct dpl_run *run, const struct dpl_part *a,
                                 const struct dpl_part *b, double common[DPL_N_TOPS]) {
    const struct dpl_part *const part[2] = {a, b};
    struct dpl_top *top = dpl_alloc(run, 2, sizeof *top);
    if (!top) return DPL_SYSTEM;
    enum dpl_status status = DPL_OK;
    for (size_t s = 0; s < 2; s++)
        DPL_GO(dpl_sets_top(run, &part[s]->ready->trips, part[s]->trip, part[s]->n, SET_SUPPORT,
                            &top[s]));
    common_tops(top, common);
done:
    dpl_free(top);
    return status;
}

/* ---- ground distances ---- */

static double between(const struct dpl_cells *cells, uint32_t a, uint32_t b) {
    double dx = cells->column[a] - cells->column[b], dy = cells->row[a] - cells->row[b];
    return sqrt(dx * dx + dy * dy) * cells->grid.area.cell_m;
}

/* Points are cells, or places in a list of cells. */
struct cell_points {
    const struct dpl_cells *cells;
    const uint32_t *cell; /* NULL: point = cell */
};

static void cell_row(const void *context, uint32_t from, const uint32_t *to, size_t n,
                     double *cost_m) {
    const struct cell_points *p = context;
    uint32_t here = p->cell ? p->cell[from] : from;
    for (size_t i = 0; i < n; i++)
        cost_m[i] = between(p->cells, here, p->cell ? p->cell[to[i]] : to[i]);
}

/* Points are source-destination pairs. */
struct pair_points {
    const struct dpl_cells *cells;
    const uint32_t *source, *destination;
};

static void pair_row(const void *context, uint32_t from, const uint32_t *to, size_t n,
                     double *cost_m) {
    const struct pair_points *p = context;
    for (size_t i = 0; i < n; i++)
        cost_m[i] = between(p->cells, p->source[from], p->source[to[i]]) +
                    between(p->cells, p->destination[from], p->destination[to[i]]);
}

/* ---- density ---- */

static void count_visits(const struct dpl_part *part, int64_t *visits) {
    const struct dpl_sequences *trips = &part->ready->trips;
    for (size_t i = 0; i < part->n; i++)
        for (size_t v = trips->start[part->trip[i]]; v < trips->start[part->trip[i] + 1]; v++)
            visits[trips->cell[v]]++;
}

/* True when at least one part is empty; the measure is then known. */
static bool empty(const struct dpl_part *a, const struct dpl_part *b, double furthest_m,
                  double *emd_m) {
    if (a->n && b->n) return false;
    *emd_m = a->n == b->n ? NAN : furthest_m;
    return true;
}

enum dpl_status dpl_measure_density(struct dpl_run *run, const struct dpl_part *a,
                                    const struct dpl_part *b, double *emd_m) {
    const struct dpl_cells *cells = a->ready->cells;
    if (empty(a, b, cells->diagonal_m, emd_m)) return DPL_OK;
    size_t n_cells = (size_t)cells->n_cells;
    struct dpl_emd_solver solver = {0};
    struct cell_points points = {cells, NULL};
    struct dpl_emd_ground ground = {cell_row, &points, cells->diagonal_m};
    int64_t *visits = dpl_alloc(run, 2 * n_cells, sizeof *visits);
    if (!visits) return DPL_SYSTEM;
    count_visits(a, visits);
    count_visits(b, visits + n_cells);
    enum dpl_status status =
        dpl_emd(run, &solver, visits, visits + n_cells, n_cells, &ground, emd_m);
    dpl_emd_free(&solver);
    dpl_free(visits);
    return status;
}

/* ---- pairs of source and destination ---- */

struct pair {
    uint64_t key;
    int64_t count;
    size_t first; /* of its trips in the sorted list */
};

/* The trips of a part by pair, and its pairs by key. */
struct pairs {
    uint64_t *key;     /* (n_trips) the pair of each trip of the part */
    uint64_t *trip;    /* (n_trips) packed pair rank and place in the part; see list_trips */
    struct pair *pair; /* (n) by key, ascending */
    size_t n, n_trips;
};

static void pairs_free(struct pairs *pairs) {
    dpl_free(pairs->key);
    dpl_free(pairs->trip);
    dpl_free(pairs->pair);
}

static uint64_t pair_key(const struct dpl_part *part, size_t i) {
    const struct dpl_sequences *trips = &part->ready->trips;
    size_t first = trips->start[part->trip[i]], last = trips->start[part->trip[i] + 1] - 1;
    return (uint64_t)trips->cell[first] * (uint64_t)trips->n_cells + (uint64_t)trips->cell[last];
}

static enum dpl_status find_pairs(struct dpl_run *run, const struct dpl_part *part,
                                  struct pairs *pairs) {
    *pairs = (struct pairs){.n_trips = part->n};
    pairs->key = dpl_alloc(run, part->n, sizeof *pairs->key);
    pairs->pair = dpl_alloc(run, part->n, sizeof *pairs->pair);
    if (!pairs->key || !pairs->pair) return DPL_SYSTEM;
    for (size_t i = 0; i < part->n; i++) pairs->key[i] = pair_key(part, i);
    qsort(pairs->key, part->n, sizeof *pairs->key, dpl_compare_u64);
    for (size_t i = 0; i < part->n; i++) {
        if (i == 0 || pairs->key[i] != pairs->key[i - 1])
            pairs->pair[pairs->n++] = (struct pair){.key = pairs->key[i], .first = i};
        pairs->pair[pairs->n - 1].count++;
    }
    return DPL_OK;
}

static int most_frequent_first(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

/* Moves the most frequent pairs that hold 80 % of the trips (at most 2000, ties by key) to the
 * front; returns their number. PAPER: sec. 5.3 approximates the source-destination distance the
 * same way. */
static size_t most_frequent_pairs(struct pair *pair, size_t n, size_t n_trips) {
    qsort(pair, n, sizeof *pair, most_frequent_first);
    int64_t held = 0;
    size_t kept = 0;
    while (kept < n && kept < MOST_PAIRS && (double)held < PAIR_MASS * (double)n_trips)
        held += pair[kept++].count;
    return kept;
}

/* The pairs of both sides as one list of points, with the counts of each side. */
struct pair_histograms {
    size_t n;
    uint64_t key[2 * MOST_PAIRS];
    uint32_t source[2 * MOST_PAIRS], destination[2 * MOST_PAIRS];
    int64_t count[2][2 * MOST_PAIRS];
};

static void merge_pairs(struct pair_histograms *h, const struct pair *const pair[2],
                        const size_t n[2], uint64_t n_cells) {
    size_t all = 0;
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < n[s]; i++) h->key[all++] = pair[s][i].key;
    qsort(h->key, all, sizeof *h->key, dpl_compare_u64);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || h->key[i] != h->key[i - 1]) h->key[h->n++] = h->key[i];
    for (size_t i = 0; i < h->n; i++)
        h->source[i] = (uint32_t)(h->key[i] / n_cells),
        h->destination[i] = (uint32_t)(h->key[i] % n_cells);
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < n[s]; i++) {
            const uint64_t *at =
                bsearch(&pair[s][i].key, h->key, h->n, sizeof *at, dpl_compare_u64);
            h->count[s][at - h->key] = pair[s][i].count;
        }
}

enum dpl_status dpl_measure_od(struct dpl_run *run, const struct dpl_part *a,
                               const struct dpl_part *b, double *emd_m) {
    const struct dpl_cells *cells = a->ready->cells;
    if (empty(a, b, 2 * cells->diagonal_m, emd_m)) return DPL_OK;
    struct pairs pairs_a = {0}, pairs_b = {0};
    struct dpl_emd_solver solver = {0};
    struct pair_histograms *h = dpl_alloc(run, 1, sizeof *h);
    if (!h) return DPL_SYSTEM;
    struct pair_points points = {cells, h->source, h->destination};
    struct dpl_emd_ground ground = {pair_row, &points, 2 * cells->diagonal_m};
    enum dpl_status status;
    DPL_GO(find_pairs(run, a, &pairs_a));
    DPL_GO(find_pairs(run, b, &pairs_b));
    size_t n[2] = {most_frequent_pairs(pairs_a.pair, pairs_a.n, a->n),
                   most_frequent_pairs(pairs_b.pair, pairs_b.n, b->n)};
    merge_pairs(h, (const struct pair *const[2]){pairs_a.pair, pairs_b.pair}, n,
                (uint64_t)cells->n_cells);
    status = dpl_emd(run, &solver, h->count[0], h->count[1], h->n, &ground, emd_m);
done:
    dpl_emd_free(&solver);
    pairs_free(&pairs_a);
    pairs_free(&pairs_b);
    dpl_free(h);
    return status;
}

/* ---- route ---- */

static int by_key(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Fills pairs->trip so that the trips of pair p are the places trip[p.first] ... of the part. Pairs
 * must be in order of keys. */
static enum dpl_status list_trips(struct dpl_run *run, const struct dpl_part *part,
                                  struct pairs *pairs) {
    pairs->trip = dpl_alloc(run, part->n, sizeof *pairs->trip);
    size_t *next = dpl_alloc(run, pairs->n, sizeof *next);
    if (!pairs->trip || !next) {
        dpl_free(next);
        return DPL_SYSTEM;
    }
    for (size_t i = 0; i < part->n; i++) {
        struct pair wanted = {.key = pair_key(part, i)};
        size_t p = (size_t)((const struct pair *)bsearch(&wanted, pairs->pair, pairs->n,
                                                         sizeof wanted, by_key) -
                            pairs->pair);
        pairs->trip[pairs->pair[p].first + next[p]++] = i;
    }
    dpl_free(next);
    return DPL_OK;
}

/* The cells that one pair's trips touch, and how often, on either side. */
struct touched {
    uint32_t *cell;    /* (n) */
    int64_t *count[2]; /* (n) */
    int32_t *place;    /* (n_cells) -1: not touched yet */
    size_t n;
    size_t cell_capacity, count_capacity[2];
};

static void touched_free(struct touched *t) {
    dpl_free(t->cell);
    dpl_free(t->count[0]);
    dpl_free(t->count[1]);
    dpl_free(t->place);
}

static enum dpl_status touch(struct dpl_run *run, struct touched *t, int32_t cell, size_t side,
                             int64_t times) {
    if (t->place[cell] < 0) {
        DPL_TRY(dpl_grow(run, &t->cell, &t->cell_capacity, t->n + 1, sizeof *t->cell));
        for (size_t s = 0; s < 2; s++) {
            DPL_TRY(
                dpl_grow(run, &t->count[s], &t->count_capacity[s], t->n + 1, sizeof *t->count[s]));
            t->count[s][t->n] = 0;
        }
        t->cell[t->n] = (uint32_t)cell;
        t->place[cell] = (int32_t)t->n++;
    }
    t->count[side][t->place[cell]] += times;
    return DPL_OK;
}

/* Visits between the first and the last. Trips that have none between them go straight: half at the
 * source, half at the destination. */
static enum dpl_status touch_route(struct dpl_run *run, struct touched *t,
                                   const struct dpl_part *part, const struct pairs *pairs,
                                   const struct pair *pair, size_t side) {
    const struct dpl_sequences *trips = &part->ready->trips;
    bool any = false;
    for (int64_t i = 0; i < pair->count; i++) {
        uint32_t trip = part->trip[pairs->trip[pair->first + (size_t)i]];
        for (size_t v = trips->start[trip] + 1; v + 1 < trips->start[trip + 1]; v++, any = true)
            DPL_TRY(touch(run, t, trips->cell[v], side, 1));
    }
    if (any) return DPL_OK;
    DPL_TRY(touch(run, t, (int32_t)(pair->key / (uint64_t)trips->n_cells), side, 1));
    return touch(run, t, (int32_t)(pair->key % (uint64_t)trips->n_cells), side, 1);
}

struct routes {
    const struct dpl_part *part[2];
    struct pairs pairs[2];
    struct touched touched;
    struct dpl_emd_solver solver;
};

static enum dpl_status route_of_pair(struct dpl_run *run, struct routes *r, const struct pair *a,
                                     const struct pair *b, double *emd_m) {
    struct touched *t = &r->touched;
    const struct dpl_cells *cells = r->part[0]->ready->cells;
    t->n = 0;
    enum dpl_status status = touch_route(run, t, r->part[0], &r->pairs[0], a, 0);
    if (status == DPL_OK) status = touch_route(run, t, r->part[1], &r->pairs[1], b, 1);
    struct cell_points points = {cells, t->cell};
    struct dpl_emd_ground ground = {cell_row, &points, cells->diagonal_m};
    if (status == DPL_OK)
        status = dpl_emd(run, &r->solver, t->count[0], t->count[1], t->n, &ground, emd_m);
    for (size_t i = 0; i < t->n; i++) t->place[t->cell[i]] = -1;
    return status;
}

/* Over the pairs of `asked` (n, frequent first) that the other side holds. */
static enum dpl_status mean_route(struct dpl_run *run, struct routes *r, const struct pair *asked,
                                  size_t n, struct dpl_route *route) {
    double weighted = 0, plain = 0, weight = 0, all = 0, emd_m = 0;
    size_t held = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pair *other =
            bsearch(&asked[i], r->pairs[1].pair, r->pairs[1].n, sizeof *other, by_key);
        all += (double)asked[i].count;
        if (!other) continue;
        DPL_TRY(route_of_pair(run, r, &asked[i], other, &emd_m));
        weighted += emd_m * (double)asked[i].count;
        weight += (double)asked[i].count;
        plain += emd_m;
        held++;
    }
    *route = (struct dpl_route){held ? weighted / weight : NAN, held ? plain / (double)held : NAN,
                                all > 0 ? weight / all : NAN};
    return DPL_OK;
}

enum dpl_status dpl_measure_route(struct dpl_run *run, const struct dpl_part *a,
                                  const struct dpl_part *b, struct dpl_route *route) {
    struct routes r = {.part = {a, b}};
    size_t n_cells = (size_t)a->ready->cells->n_cells;
    enum dpl_status status = DPL_SYSTEM;
    r.touched.place = dpl_alloc(run, n_cells, sizeof *r.touched.place);
    if (!r.touched.place) goto done;
    memset(r.touched.place, 0xFF, n_cells * sizeof *r.touched.place);
    for (size_t s = 0; s < 2; s++) {
        DPL_GO(find_pairs(run, r.part[s], &r.pairs[s]));
        DPL_GO(list_trips(run, r.part[s], &r.pairs[s]));
    }
    size_t n = most_frequent_pairs(r.pairs[0].pair, r.pairs[0].n, a->n);
    status = mean_route(run, &r, r.pairs[0].pair, n, route);
done:
    dpl_emd_free(&r.solver);
    touched_free(&r.touched);
    pairs_free(&r.pairs[0]);
    pairs_free(&r.pairs[1]);
    return status;
}

/* ---- verbatim and distinct trips ---- */

enum dpl_status dpl_measure_sameness(struct dpl_run *run, const struct dpl_part *a,
                                     const struct dpl_part *b, size_t n_same,
                                     struct dpl_sameness *sameness) {
    bool *held = dpl_alloc(run, n_same, sizeof *held);
    if (!held) return DPL_SYSTEM;
    size_t distinct = 0, verbatim = 0;
    for (size_t i = 0; i < b->n; i++) {
        bool *mark = &held[b->ready->same[b->trip[i]]];
        distinct += !*mark;
        *mark = true;
    }
    for (size_t i = 0; i < a->n; i++) verbatim += held[a->ready->same[a->trip[i]]];
    *sameness = (struct dpl_sameness){a->n ? (double)verbatim / (double)a->n : NAN,
                                      b->n ? (double)distinct / (double)b->n : NAN};
    dpl_free(held);
    return DPL_OK;
}
