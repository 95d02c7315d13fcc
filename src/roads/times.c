/* When a trip is where on its path. See route.h.
 *
 * Positions l_1 <= ... <= l_n, each in the stretch of the path that lies in its slot's cell (its
 * window), no step longer than the limit; the first and the last are the ends of the path. Among
 * these their density is the product of the motion tables' ratios, of speeds along the path and of
 * turns between the places. It is sampled slot by slot:
 * given its neighbours a position lies in an interval; some proposals are drawn from a fixed
 * density q on it, half uniform and half near the neighbours, so that stops are found; one of them
 * or the current position is taken with probability ratio / q. That step leaves the target
 * unchanged whatever the number of proposals (iterated sampling importance resampling).
 *
 * Cost: 8 proposals a slot and sweep, eight table entries each; about 0.1 us. */
#include <math.h>
#include <string.h>

#include "roads/route_inner.h"

static const double MARGIN_M = 2;  /* from the edge of a cell: written positions are rounded */
enum { REPAIRED_MAX = 1000 };      /* slots; the repair takes the square of their number */
static const double GUIDE_M = 100; /* so far from where the guide is, a place counts half */
static const double NEAR_M = 30;   /* what counts as near a neighbour in proposals */

enum dpl_status dpl_times_room(struct route_scratch *s, size_t n) {
    DPL_TRY(dpl_grow(s->run, &s->slot_m, &s->slot_capacity, n, sizeof *s->slot_m));
    DPL_TRY(dpl_grow(s->run, &s->low_m, &s->low_capacity, n, sizeof *s->low_m));
    DPL_TRY(dpl_grow(s->run, &s->widen_m, &s->widen_capacity, n, sizeof *s->widen_m));
    DPL_TRY(dpl_grow(s->run, &s->near_m, &s->near_capacity, n, sizeof *s->near_m));
    DPL_TRY(dpl_grow(s->run, &s->start_m, &s->start_capacity, n, sizeof *s->start_m));
    DPL_TRY(dpl_grow(s->run, &s->held, &s->held_capacity, n, sizeof *s->held));
    DPL_TRY(dpl_grow(s->run, &s->spot, &s->spot_capacity, n, sizeof *s->spot));
    return dpl_grow(s->run, &s->high_m, &s->high_capacity, n, sizeof *s->high_m);
}

/* ---- a first solution ---- */

static void fill_windows(struct route_scratch *s, size_t n) {
    double length_m = s->at_m[s->n_points - 1];
    for (size_t i = 0; i < s->n_runs; i++) {
        const struct route_run *r = &s->run_of[i];
        size_t end = i + 1 < s->n_runs ? s->run_of[i + 1].first_slot : n;
        double margin_m = fmin(MARGIN_M, 0.3 * (r->to_m - r->from_m));
        for (size_t k = r->first_slot; k < end; k++) {
            // Where the cell is left out, the window is as wide as may be.
            double widen_m = r->missed ? 0 : s->widen_m[k];
            s->low_m[k] = fmax(0, r->from_m + margin_m - widen_m);
            s->high_m[k] = fmin(length_m, r->to_m - margin_m + widen_m);
            // Evenly over the window; this is only where the sweeps begin.
            double part = ((double)(k - r->first_slot) + 0.5) / (double)(end - r->first_slot);
            s->slot_m[k] = s->low_m[k] + part * (s->high_m[k] - s->low_m[k]);
        }
    }
}

/* How far slot k can be from the one before. */
static double reach_m(const struct route_scratch *s, size_t k, double limit_m) {
    return s->held[k] ? 0 : limit_m;
}

/* Narrows every window to what its neighbours leave possible, there and back; a chain of
 * differences has a solution through every point of what remains. */
static bool narrow_windows(struct route_scratch *s, size_t n, double limit_m) {
    double *low = s->low_m, *high = s->high_m;
    for (size_t k = 1; k < n; k++) {
        low[k] = fmax(low[k], low[k - 1]);
        high[k] = fmin(high[k], high[k - 1] + reach_m(s, k, limit_m));
    }
    for (size_t k = n - 1; k-- > 0;) {
        low[k] = fmax(low[k], low[k + 1] - reach_m(s, k + 1, limit_m));
        high[k] = fmin(high[k], high[k + 1]);
    }
    for (size_t k = 0; k < n; k++)
        if (!(low[k] <= high[k])) return false;
    return true;
}

/* Whether there is a solution with the windows as they are widened now. */
static bool solvable(struct route_scratch *s, size_t n, double limit_m) {
    fill_windows(s, n);
    return narrow_windows(s, n, limit_m);
}

static bool solvable_by(struct route_scratch *s, size_t n, double limit_m, double widen_m) {
    for (size_t k = 0; k < n; k++) s->widen_m[k] = widen_m;
    return solvable(s, n, limit_m);
}

/* The least widening of all windows, to a metre; then each that can do without loses it. */
static bool widen(struct route_scratch *s, size_t n, double limit_m, double most_m,
                  double *widened_m) {
    double low_m = 0, high_m = fmin(most_m, s->at_m[s->n_points - 1]);
    if (!solvable_by(s, n, limit_m, high_m)) return false;
    while (high_m - low_m > 1) {
        double middle_m = (low_m + high_m) / 2;
        if (solvable_by(s, n, limit_m, middle_m))
            high_m = middle_m;
        else
            low_m = middle_m;
    }
    solvable_by(s, n, limit_m, high_m);
    for (size_t k = 1; n <= REPAIRED_MAX && k + 1 < n; k++) {
        s->widen_m[k] = 0;
        if (!solvable(s, n, limit_m)) s->widen_m[k] = high_m;
    }
    *widened_m = high_m;
    return solvable(s, n, limit_m);
}

/* Where the guide stands still in a cell, so does the trip. */
static void hold_slots(struct route_scratch *s, size_t n) {
    memset(s->held, 0, n * sizeof *s->held);
    for (size_t i = 0; s->guide && i < s->n_runs; i++) {
        size_t end = i + 1 < s->n_runs ? s->run_of[i + 1].first_slot : n;
        for (size_t k = s->run_of[i].first_slot + 1; k < end; k++)
            s->held[k] = hypot(s->guide[k].x_m - s->guide[k - 1].x_m,
                               s->guide[k].y_m - s->guide[k - 1].y_m) < (double)s->upper_m[0];
    }
}

bool dpl_times_start(struct route_scratch *s, size_t n, double limit_m, double most_m,
                     double *widened_m) {
    *widened_m = 0;
    hold_slots(s, n);
    if (!solvable_by(s, n, limit_m, 0)) {
        memset(s->held, 0, n * sizeof *s->held);
        if (!solvable_by(s, n, limit_m, 0) && !widen(s, n, limit_m, most_m, widened_m))
            return false;
    }
    for (size_t k = 0; k < n; k++) {
        double low = k ? fmax(s->low_m[k], s->slot_m[k - 1]) : s->low_m[k],
               high =
                   k ? fmin(s->high_m[k], s->slot_m[k - 1] + reach_m(s, k, limit_m)) : s->high_m[k];
        s->slot_m[k] = fmax(low, fmin(high, s->slot_m[k]));
    }
    return true;
}

size_t dpl_times_conflict(struct route_scratch *s, size_t n, double limit_m, double widen_m) {
    size_t run = 0, slot = 0;
    solvable_by(s, n, limit_m, widen_m);
    fill_windows(s, n); // as they are before narrowing
    for (double reach_m = 0; slot + 1 < n; reach_m = fmin(reach_m + limit_m, s->high_m[slot]))
        if (s->low_m[++slot] > reach_m + limit_m) break;
    while (run + 1 < s->n_runs && s->run_of[run + 1].first_slot <= slot) run++;
    return run;
}

/* ---- sweeps ---- */

static int bin_of(const struct route_scratch *s, double step_m) {
    double range = step_m * (ROUTE_SPEEDS / s->limit_m);
    int bin = s->bin[range < 0 ? 0 : range < ROUTE_SPEEDS ? (int)range : ROUTE_SPEEDS - 1];
    while (bin + 1 < s->n_bins && step_m >= s->upper_m[bin]) bin++;
    return bin;
}

/* What does not change while one slot moves. */
struct around {
    size_t k, end, n;            /* the slot, the last one held to it, and how many there are */
    double before_m, after_m;    /* its neighbours */
    int step_before, step_after; /* bins of the steps beyond them */
};

/* Where a place of the path is, looked for from a segment near it. */
static struct route_spot spot_at(const struct route_scratch *s, size_t i, double m) {
    if (s->n_points < 2) return (struct route_spot){0, s->x_m[0], s->y_m[0]};
    while (i > 0 && s->at_m[i] > m) i--;
    while (i + 2 < s->n_points && s->at_m[i + 1] < m) i++;
    double length_m = s->at_m[i + 1] - s->at_m[i],
           part = length_m > 0 ? (m - s->at_m[i]) / length_m : 0;
    return (struct route_spot){i, s->x_m[i] + part * (s->x_m[i + 1] - s->x_m[i]),
                               s->y_m[i] + part * (s->y_m[i + 1] - s->y_m[i])};
}

/* The ratio of a turn between steps from a to b to c, by the bins of both. */
static double turn_ratio(const struct route_scratch *s, int in, int out, const struct route_spot *a,
                         const struct route_spot *b, const struct route_spot *c) {
    int row = s->turn_row[in < out ? in : out];
    if (row == ROUTE_NO_TURN) return 1;
    double ux = b->x_m - a->x_m, uy = b->y_m - a->y_m, vx = c->x_m - b->x_m, vy = c->y_m - b->y_m,
           square = (ux * ux + uy * uy) * (vx * vx + vy * vy);
    double cosine = square > 0 ? (ux * vx + uy * vy) / sqrt(square) : 1,
           part = (1 - cosine) * s->n_parts / 2;
    int at = part > 0 ? (int)part : 0;
    return (double)s->turn[row * s->n_turns + s->turn_bin[at < s->n_parts ? at : s->n_parts]];
}

/* The turns that change when a slot is at m. */
static double turns_at(const struct route_scratch *s, const struct around *a, int in, int out,
                       double m) {
    const struct route_spot *spot = s->spot + a->k, at = spot_at(s, spot->segment, m);
    double ratio = 1;
    const struct route_spot *end = s->spot + a->end;
    if (a->k > 1) ratio *= turn_ratio(s, a->step_before, in, spot - 2, spot - 1, &at);
    if (a->k > 0 && a->end == a->k && a->k + 1 < a->n)
        ratio *= turn_ratio(s, in, out, spot - 1, &at, spot + 1);
    if (a->end + 2 < a->n) ratio *= turn_ratio(s, out, a->step_after, &at, end + 1, end + 2);
    return ratio;
}

/* Slots that are held together are one place, with steps of no length between them. */
static double ratio_at(const struct route_scratch *s, const struct around *a, double m) {
    int in = 0, out = 0, n = s->n_bins;
    bool first = a->k == 0, last = a->end + 1 == a->n, held = a->end > a->k;
    double ratio = 1;
    if (!first) {
        in = bin_of(s, m - a->before_m);
        ratio *= (double)(a->k == 1 ? s->first[in] : s->next[a->step_before * n + in]);
        if (last && !held) ratio *= (double)s->last[in];
        if (held) ratio *= (double)s->next[in * n];
    }
    if (!last) {
        out = bin_of(s, a->after_m - m);
        ratio *= (double)(a->end + 2 == a->n ? s->last[out] : s->next[out * n + a->step_after]);
        if (first && !held) ratio *= (double)s->first[out];
        if (held) ratio *= (double)s->next[out];
    }
    if (s->guide) {
        double off = (m - s->near_m[a->k]) / GUIDE_M;
        ratio /= 1 + off * off;
    }
    if (s->n_turns > 0) ratio *= turns_at(s, a, in, out, m);
    return first || last || held ? ratio : ratio * (double)s->next[in * n + out];
}

struct proposal {
    double low_m, high_m, near_m; /* the interval; how far "near" its ends reaches */
};

static double propose(struct route_scratch *s, const struct proposal *p) {
    double choice = dpl_route_uniform(s), part = dpl_route_uniform(s);
    if (choice < 0.5) return p->low_m + part * (p->high_m - p->low_m);
    return choice < 0.75 ? p->low_m + part * p->near_m : p->high_m - part * p->near_m;
}

/* The density of propose(), times the interval's length. */
static double density(const struct proposal *p, double m) {
    double near = 0.25 * (p->high_m - p->low_m) / p->near_m;
    return 0.5 + (m <= p->low_m + p->near_m ? near : 0) + (m >= p->high_m - p->near_m ? near : 0);
}

/* Moves a slot, with those that are held to it; returns the next one. */
static size_t move_slot(struct route_scratch *s, size_t n, size_t k, double limit_m) {
    double *slot = s->slot_m;
    size_t end = k;
    while (end + 1 < n && s->held[end + 1]) end++;
    struct around a = {.k = k, .end = end, .n = n};
    struct proposal p = {s->low_m[k], s->high_m[k], NEAR_M};
    if (k > 0) {
        a.before_m = slot[k - 1];
        p.low_m = fmax(p.low_m, slot[k - 1]), p.high_m = fmin(p.high_m, slot[k - 1] + limit_m);
    }
    if (end + 1 < n) {
        a.after_m = slot[end + 1];
        p.low_m = fmax(p.low_m, slot[end + 1] - limit_m), p.high_m = fmin(p.high_m, slot[end + 1]);
    }
    if (p.high_m - p.low_m < 1e-3) return end + 1;
    p.near_m = fmin(NEAR_M, p.high_m - p.low_m);
    if (k > 1) a.step_before = bin_of(s, slot[k - 1] - slot[k - 2]);
    if (end + 2 < n) a.step_after = bin_of(s, slot[end + 2] - slot[end + 1]);
    double taken = slot[k], sum = ratio_at(s, &a, taken) / density(&p, taken);
    for (int i = 1; i < s->options.proposals; i++) {
        // One pass: each proposal replaces what was taken with its share of the sum so far.
        double m = propose(s, &p), weight = ratio_at(s, &a, m) / density(&p, m);
        sum += weight;
        if (dpl_route_uniform(s) * sum < weight) taken = m;
    }
    for (size_t i = k; i <= end; i++) {
        slot[i] = taken;
        if (s->n_turns > 0) s->spot[i] = spot_at(s, s->spot[i].segment, taken);
    }
    return end + 1;
}

/* The place of a segment of the path, from low_m to high_m at most, that is nearest to a point;
 * returns the square of its distance. */
static double nearest_on(const struct route_scratch *s, size_t i, struct dpl_position to,
                         double low_m, double high_m, double *at_m) {
    double dx = s->x_m[i + 1] - s->x_m[i], dy = s->y_m[i + 1] - s->y_m[i],
           x = (double)to.x_m - s->x_m[i], y = (double)to.y_m - s->y_m[i],
           length_m = s->at_m[i + 1] - s->at_m[i],
           along_m = length_m > 0 ? (x * dx + y * dy) / length_m : 0;
    along_m = fmax(fmin(along_m, high_m - s->at_m[i]), low_m - s->at_m[i]);
    along_m = fmax(fmin(along_m, length_m), 0);
    double part = length_m > 0 ? along_m / length_m : 0;
    *at_m = s->at_m[i] + along_m;
    return (x - part * dx) * (x - part * dx) + (y - part * dy) * (y - part * dy);
}

/* Where in its window each slot is nearest to its guide. */
void dpl_times_follow(struct route_scratch *s, size_t n) {
    for (size_t k = 0, first = 0; s->guide && k < n; k++) {
        double least = INFINITY;
        while (first + 2 < s->n_points && s->at_m[first + 1] < s->low_m[k]) first++;
        for (size_t i = first; i + 1 < s->n_points && s->at_m[i] <= s->high_m[k]; i++) {
            double at_m, square_m = nearest_on(s, i, s->guide[k], s->low_m[k], s->high_m[k], &at_m);
            if (square_m < least) least = square_m, s->near_m[k] = at_m;
        }
        if (isinf(least)) s->near_m[k] = s->slot_m[k];
    }
}

void dpl_times_draw(struct route_scratch *s, size_t n, double limit_m) {
    s->times_drawn = s->drawn, s->times_limit_m = limit_m;
    for (size_t k = 0; k < n; k++) {
        s->start_m[k] = s->slot_m[k];
        if (s->n_turns > 0) s->spot[k] = spot_at(s, k ? s->spot[k - 1].segment : 0, s->slot_m[k]);
    }
    for (int sweep = 0; sweep < s->options.sweeps; sweep++)
        for (size_t k = 0; k < n;) k = move_slot(s, n, k, limit_m);
}
