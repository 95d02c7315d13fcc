/* Four attackers.
 *
 *   density      log p(trip | synthetic) - log p(trip | reference), both by the same chain
 *   classifier   boosted trees that learnt to tell synthetic from reference trips by landmarks
 *   linkage      distance to the nearest synthetic trip: the legacy check
 *   presence     do the target's cells and hours appear more often than in the reference?
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate/attack.h"
#include "evaluate/boost.h"
#include "evaluate/chain.h"
#include "evaluate/ready.h" // defines: dpl_shuffle
#include "evaluate/track.h"

/* ---- density ratio (of the DOMIAS type) ---- */

static enum dpl_status chains_make(struct dpl_run *run, const struct dpl_attack_view *view,
                                   struct dpl_chain chain[2]) {
    for (size_t i = 0; i < 2; i++)
        chain[i].n_cells = (double)dpl_grid_cells(&view->synthetic->grid);
    for (size_t i = 0; i < view->synthetic->n_trips; i++)
        DPL_TRY(dpl_chain_add(run, &chain[0], view->synthetic, i));
    for (size_t i = 0; i < view->reference.n; i++)
        DPL_TRY(dpl_chain_add(run, &chain[1], view->reference.trips, view->reference.trip[i]));
    return DPL_OK;
}

enum dpl_status dpl_attack_density(struct dpl_run *run, const struct dpl_attack_view *view,
                                   double *const score[2]) {
    struct dpl_chain chain[2] = {{.n_trips = 0}, {.n_trips = 0}};
    enum dpl_status status = chains_make(run, view, chain);
    for (size_t t = 0; status == DPL_OK && t < 2; t++) {
        const struct dpl_pick *pick = &view->target[t];
#pragma omp parallel for schedule(static) num_threads(dpl_run_threads(run))
        for (size_t i = 0; i < pick->n; i++)
            score[t][i] = dpl_chain_log(&chain[0], pick->trips, pick->trip[i]) -
                          dpl_chain_log(&chain[1], pick->trips, pick->trip[i]);
    }
    dpl_chain_free(&chain[0]);
    dpl_chain_free(&chain[1]);
    return status;
}

/* ---- landmarks ---- */

/* `n` places of a trip, evenly spread over its visits: where it is, or its cells' centres. */
static void landmarks(const struct dpl_cleaned *trips, size_t trip, size_t n, float *xy) {
    size_t first = trips->start[trip], visits = trips->start[trip + 1] - first;
    double cell_m = trips->grid.area.cell_m;
    for (size_t k = 0; k < n; k++) {
        size_t v = first + (visits - 1) * k / (n - 1);
        int32_t cell = trips->cell[v];
        xy[2 * k] = trips->position ? trips->position[v].x_m
                                    : (float)((cell % trips->grid.columns + 0.5) * cell_m);
        xy[2 * k + 1] = trips->position ? trips->position[v].y_m
                                        : (float)((cell / trips->grid.columns + 0.5) * cell_m);
    }
}

/* ---- classifier ---- */

enum { MARKS = 8, COLUMNS = 2 * MARKS + 2, TRAINED = 10000 };

static void classifier_row(const struct dpl_cleaned *trips, size_t trip, float row[COLUMNS]) {
    landmarks(trips, trip, MARKS, row);
    row[2 * MARKS] = (float)(trips->start[trip + 1] - trips->start[trip]);
    row[2 * MARKS + 1] = trips->period[trip];
}

static enum dpl_status train_classifier(struct dpl_run *run, const struct dpl_attack_view *view,
                                        struct dpl_boost **boost) {
    size_t n = view->synthetic->n_trips;
    if (n > view->reference.n) n = view->reference.n;
    if (n > TRAINED) n = TRAINED;
    uint32_t *order = dpl_alloc(run, view->synthetic->n_trips, sizeof *order);
    float *x = dpl_alloc(run, 2 * n * COLUMNS, sizeof *x);
    uint8_t *label = dpl_alloc(run, 2 * n, sizeof *label);
    enum dpl_status status = order && x && label ? DPL_OK : DPL_SYSTEM;
    if (status == DPL_OK) {
        struct dpl_boost_options options = dpl_boost_defaults();
        dpl_shuffle(order, view->synthetic->n_trips, n, view->seed, 5000);
        for (size_t i = 0; i < n; i++) {
            classifier_row(view->synthetic, order[i], x + 2 * i * COLUMNS);
            classifier_row(view->reference.trips, view->reference.trip[i],
                           x + (2 * i + 1) * COLUMNS);
            label[2 * i] = 1;
        }
        status = dpl_boost_fit(run, x, label, 2 * n, COLUMNS, &options, boost);
    }
    dpl_free(order);
    dpl_free(x);
    dpl_free(label);
    return status;
}

enum dpl_status dpl_attack_classifier(struct dpl_run *run, const struct dpl_attack_view *view,
                                      double *const score[2]) {
    struct dpl_boost *boost = NULL;
    DPL_TRY(train_classifier(run, view, &boost));
    for (size_t t = 0; t < 2; t++)
        for (size_t i = 0; i < view->target[t].n; i++) {
            float row[COLUMNS];
            classifier_row(view->target[t].trips, view->target[t].trip[i], row);
            score[t][i] = dpl_boost_score(boost, row);
        }
    dpl_boost_free(boost);
    return DPL_OK;
}

/* ---- nearest trip ---- */

enum { LINK_MARKS = 16 };
static const double NEIGHBOURHOOD_M = 1000;

/* Synthetic trips by the square in which they start. */
struct starts {
    float *xy;       /* (n, 2 * LINK_MARKS) */
    uint32_t *order; /* (n) by square */
    size_t *first;   /* (squares + 1) */
    int64_t columns, rows;
};

static int64_t start_square(const struct starts *s, const float *xy, int64_t dx, int64_t dy) {
    int64_t column = (int64_t)floor((double)xy[0] / NEIGHBOURHOOD_M) + dx,
            row = (int64_t)floor((double)xy[1] / NEIGHBOURHOOD_M) + dy;
    bool inside = column >= 0 && row >= 0 && column < s->columns && row < s->rows;
    return inside ? row * s->columns + column : -1;
}

static void sort_starts(struct starts *s, size_t n) {
    int64_t squares = s->columns * s->rows;
    for (size_t i = 0; i < n; i++)
        s->first[start_square(s, s->xy + i * 2 * LINK_MARKS, 0, 0) + 1]++;
    for (int64_t q = 0; q < squares; q++) s->first[q + 1] += s->first[q];
    for (size_t i = n; i-- > 0;) // from the back: each square's end moves down to its start
        s->order[--s->first[start_square(s, s->xy + i * 2 * LINK_MARKS, 0, 0) + 1]] = (uint32_t)i;
    for (int64_t q = 0; q < squares; q++) s->first[q] = s->first[q + 1];
    s->first[squares] = n;
}

static enum dpl_status starts_make(struct dpl_run *run, const struct dpl_cleaned *trips,
                                   struct starts *s) {
    const struct dpl_grid *grid = &trips->grid;
    s->columns = (int64_t)(grid->columns * grid->area.cell_m / NEIGHBOURHOOD_M) + 2;
    s->rows = (int64_t)(grid->rows * grid->area.cell_m / NEIGHBOURHOOD_M) + 2;
    s->xy = dpl_alloc(run, trips->n_trips * 2 * LINK_MARKS, sizeof *s->xy);
    s->order = dpl_alloc(run, trips->n_trips, sizeof *s->order);
    s->first = dpl_alloc(run, (size_t)(s->columns * s->rows) + 1, sizeof *s->first);
    if (!s->xy || !s->order || !s->first) return DPL_SYSTEM;
    for (size_t i = 0; i < trips->n_trips; i++)
        landmarks(trips, i, LINK_MARKS, s->xy + i * 2 * LINK_MARKS);
    sort_starts(s, trips->n_trips);
    return DPL_OK;
}

static double mean_distance_m(const float *a, const float *b) {
    double sum = 0;
    for (size_t k = 0; k < LINK_MARKS; k++) {
        double dx = (double)a[2 * k] - (double)b[2 * k],
               dy = (double)a[2 * k + 1] - (double)b[2 * k + 1];
        sum += sqrt(dx * dx + dy * dy);
    }
    return sum / LINK_MARKS;
}

/* Among the trips that start in the square around or next to it. */
static double nearest_m(const struct starts *s, const float *xy) {
    double nearest = 1e6;
    for (int64_t dy = -1; dy <= 1; dy++)
        for (int64_t dx = -1; dx <= 1; dx++) {
            int64_t square = start_square(s, xy, dx, dy);
            if (square < 0) continue;
            for (size_t i = s->first[square]; i < s->first[square + 1]; i++)
                nearest = fmin(nearest,
                               mean_distance_m(xy, s->xy + (size_t)s->order[i] * 2 * LINK_MARKS));
        }
    return nearest;
}

enum dpl_status dpl_attack_linkage(struct dpl_run *run, const struct dpl_attack_view *view,
                                   double *const score[2]) {
    struct starts s = {0};
    enum dpl_status status = starts_make(run, view->synthetic, &s);
    for (size_t t = 0; status == DPL_OK && t < 2; t++) {
        const struct dpl_pick *pick = &view->target[t];
#pragma omp parallel for schedule(dynamic, 64) num_threads(dpl_run_threads(run))
        for (size_t i = 0; i < pick->n; i++) {
            float xy[2 * LINK_MARKS];
            landmarks(pick->trips, pick->trip[i], LINK_MARKS, xy);
            score[t][i] = -nearest_m(&s, xy);
        }
    }
    dpl_free(s.xy);
    dpl_free(s.order);
    dpl_free(s.first);
    return status;
}

/* ---- presence by cell and hour (of the Knock-Knock type) ---- */

static uint64_t presence_key(const struct dpl_cleaned *trips, size_t trip, size_t visit) {
    return dpl_mix64((uint64_t)(uint32_t)trips->cell[visit] << 8 | trips->period[trip]);
}

static enum dpl_status count_presence(struct dpl_run *run, const struct dpl_cleaned *trips,
                                      size_t trip, struct dpl_tally *tally, double *total) {
    for (size_t v = trips->start[trip]; v < trips->start[trip + 1]; v++, ++*total)
        DPL_TRY(dpl_tally_add(run, tally, presence_key(trips, trip, v)));
    return DPL_OK;
}

/* How much more often a trip's cells and hours are synthetic than they are in the reference, in
 * standard deviations of the reference's counts. */
static double presence_score(const struct dpl_tally tally[2], const double total[2],
                             const struct dpl_cleaned *trips, size_t trip) {
    double sum = 0;
    for (size_t v = trips->start[trip]; v < trips->start[trip + 1]; v++) {
        uint64_t key = presence_key(trips, trip, v);
        double expected = (dpl_tally_count(&tally[1], key) + 0.5) * total[0] / total[1];
        sum += (dpl_tally_count(&tally[0], key) - expected) / sqrt(expected);
    }
    return sum / sqrt((double)(trips->start[trip + 1] - trips->start[trip]));
}

enum dpl_status dpl_attack_presence(struct dpl_run *run, const struct dpl_attack_view *view,
                                    double *const score[2]) {
    struct dpl_tally tally[2] = {{.count = NULL}, {.count = NULL}};
    double total[2] = {0, 0};
    enum dpl_status status = DPL_OK;
    for (size_t i = 0; i < view->synthetic->n_trips; i++)
        DPL_GO(count_presence(run, view->synthetic, i, &tally[0], &total[0]));
    for (size_t i = 0; i < view->reference.n; i++)
        DPL_GO(count_presence(run, view->reference.trips, view->reference.trip[i], &tally[1],
                              &total[1]));
    for (size_t t = 0; t < 2; t++)
        for (size_t i = 0; i < view->target[t].n; i++)
            score[t][i] =
                presence_score(tally, total, view->target[t].trips, view->target[t].trip[i]);
done:
    dpl_tally_free(&tally[0]);
    dpl_tally_free(&tally[1]);
    return status;
}

/* ---- unicity ---- */

enum { UNICITY_TRIPS = 1000, UNICITY_POINTS = 8 };

static bool visits(const struct dpl_cleaned *trips, size_t trip, int32_t cell) {
    for (size_t v = trips->start[trip]; v < trips->start[trip + 1]; v++)
        if (trips->cell[v] == cell) return true;
    return false;
}

/* Whether no other trip of that period passes all those cells. */
static bool unique(const struct dpl_cleaned *trips, size_t trip, const int32_t *cell, size_t n) {
    for (size_t i = 0; i < trips->n_trips; i++) {
        size_t held = 0;
        if (i == trip || trips->period[i] != trips->period[trip]) continue;
        while (held < n && visits(trips, i, cell[held])) held++;
        if (held == n) return false;
    }
    return true;
}

enum dpl_status dpl_unicity(struct dpl_run *run, const struct dpl_cleaned *trips, size_t points,
                            uint64_t seed, double *share) {
    size_t n = trips->n_trips < UNICITY_TRIPS ? trips->n_trips : UNICITY_TRIPS, found = 0;
    if (points > UNICITY_POINTS) points = UNICITY_POINTS;
    uint32_t *order = dpl_alloc(run, trips->n_trips, sizeof *order);
    if (!order) return DPL_SYSTEM;
    dpl_shuffle(order, trips->n_trips, n, seed, 6000);
#pragma omp parallel for schedule(dynamic) reduction(+ : found) num_threads(dpl_run_threads(run))
    for (size_t i = 0; i < n; i++) {
        int32_t cell[UNICITY_POINTS];
        size_t first = trips->start[order[i]], length = trips->start[order[i] + 1] - first;
        for (size_t p = 0; p < points; p++)
            cell[p] = trips->cell[first + (size_t)(dpl_mix64(seed + i * 8 + p) % length)];
        found += unique(trips, order[i], cell, points);
    }
    *share = (double)found / (double)n;
    dpl_free(order);
    return DPL_OK;
}
