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
 * Cost: 8 places a slot and sweep, seven table entries each; about 0.1 us for all of them. The
 * loops over them are without branches that depend on numbers drawn: a wrong guess costs as much as
 * all there is to reckon for a place. */
#include <math.h>
#include <string.h>

#include "roads/route_inner.h"

static const double MARGIN_M = 2;  /* from the edge of a cell: written positions are rounded */
enum { REPAIRED_MAX = 1000 };      /* slots; the repair takes the square of their number */
static const double GUIDE_M = 100; /* so far from where the guide is, a place counts half */
static const double NEAR_M = 30;   /* what counts as near a neighbour in proposals */
enum { TRIED = 8 };                /* places for a slot in a sweep: two registers of floats */
static const double TRACE_M = 12;  /* between points of the path in sweeps, at most */

static double square(double x) { return x * x; }

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
            // Evenly over the window; this is only where the sweeps begin. A single slot not in the
            // middle: a way there and back turns there, and may do so on the edge of the cell.
            double part = ((double)(k - r->first_slot) + 0.45) / (double)(end - r->first_slot);
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
                               s->guide[k].y_m - s->guide[k - 1].y_m) < s->still_m;
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
    double *slot = s->slot_m;
    for (size_t k = 0; k < n; k++) {
        double low = k ? fmax(s->low_m[k], slot[k - 1]) : s->low_m[k],
               high = k ? fmin(s->high_m[k], slot[k - 1] + reach_m(s, k, limit_m)) : s->high_m[k];
        slot[k] = fmax(low, fmin(high, slot[k]));
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

/* Points of the path at even steps, so that a place is found without a search. Between them it is
 * straight: corners are cut by a few metres, which no step's heading shows. */
enum dpl_status dpl_times_trace(struct route_scratch *s) {
    double length_m = s->at_m[s->n_points - 1], step_m;
    size_t n = (size_t)(length_m / TRACE_M) + 2, j = 0;
    DPL_TRY(dpl_grow(s->run, &s->own_trace, &s->trace_capacity, n + 1, sizeof *s->own_trace));
    step_m = length_m / (double)(n - 1);
    for (size_t i = 0; i + 1 < s->n_points; i++) {
        double from_m = s->at_m[i], to_m = s->at_m[i + 1], per_m = 1 / fmax(to_m - from_m, 1e-9),
               x_m = s->x_m[i] - s->x_m[0], y_m = s->y_m[i] - s->y_m[0],
               dx = (s->x_m[i + 1] - s->x_m[i]) * per_m, dy = (s->y_m[i + 1] - s->y_m[i]) * per_m;
        for (double m; j < n && (m = step_m * (double)j) <= to_m; j++)
            s->own_trace[j] = (struct route_spot){(float)(x_m + (m - from_m) * dx),
                                                  (float)(y_m + (m - from_m) * dy)};
    }
    size_t last = s->n_points - 1;
    for (; j <= n; j++) // where rounding leads beyond the end
        s->own_trace[j] = (struct route_spot){(float)(s->x_m[last] - s->x_m[0]),
                                              (float)(s->y_m[last] - s->y_m[0])};
    s->trace = s->own_trace, s->n_trace = n + 1, s->trace_per_m = step_m > 0 ? 1 / step_m : 0;
    return DPL_OK;
}

static struct route_spot spot_at(const struct route_scratch *s, double m) {
    double at = m * s->trace_per_m;
    int j = (int)at;
    const struct route_spot *p = s->trace + j, *q = p + 1;
    float part = (float)(at - j);
    return (struct route_spot){p->x_m + part * (q->x_m - p->x_m),
                               p->y_m + part * (q->y_m - p->y_m)};
}

/* Parts of the limit are so fine that there is seldom more than one end of a bin in one. */
static int bin_of(const struct route_scratch *s, double step_m) {
    int range = (int)(step_m * s->speeds_per_m);
    range = range < 0 ? 0 : range;
    range = range < ROUTE_SPEEDS ? range : ROUTE_SPEEDS - 1;
    int bin = s->bin[range];
    bin += step_m >= (double)s->upper_m[bin];
    while (step_m >= (double)s->upper_m[bin]) bin++;
    return bin;
}

/* What does not change while one slot moves, with those that are held to it. */
struct around {
    size_t k, end, n;             /* the slot, the last one held to it, and how many there are */
    double before_m, after_m;     /* its neighbours */
    double low_m, high_m, near_m; /* where it may be, and how far "near" these ends reaches */
    int step_before, step_after;  /* bins of the steps beyond the neighbours */
    bool alone;                   /* a step leads to it, one from it, and none stands between */
    /* (n_bins) ratios of the step to it and of the step from it: with the step beyond or as the
     * trip's first or last, and with a step that stands still or the trip's end on this side */
    const float *in, *in_too, *out, *out_too;
};

/* Steps to the places that are tried, from them, or one step that stays as it is. */
struct steps {
    float x[TRIED], y[TRIED]; /* its direction: of length 1 */
    uint8_t bin[TRIED];
};

/* The places that are tried for a slot, the one where it is first. */
struct tried {
    double m[TRIED], weight[TRIED];
    float x_m[TRIED], y_m[TRIED];
    struct steps in, out;
};

/* Half of them are even over the interval, a quarter is near either end. No branch: it would be
 * guessed wrongly half of the time. */
static void propose(struct route_scratch *s, const struct around *a, double *m) {
    double length_m = a->high_m - a->low_m;
    const double from_m[4] = {a->low_m, a->low_m, a->low_m, a->high_m - a->near_m},
                 over_m[4] = {length_m, length_m, a->near_m, a->near_m};
    for (int i = 1; i < TRIED; i++) {
        uint64_t number = dpl_route_number(s);
        m[i] = from_m[number & 3] + (double)(number >> 11) * 0x1p-53 * over_m[number & 3];
    }
}

/* Ratios of speeds, over the density of the proposals; and the guide's. */
static void weigh_speeds(const struct route_scratch *s, const struct around *a, struct tried *t) {
    double nearer = 0.25 * (a->high_m - a->low_m) / a->near_m;
    for (int i = 0; i < TRIED; i++) {
        double m = t->m[i], density = 0.5;
        int in = a->k > 0 ? bin_of(s, m - a->before_m) : 0,
            out = a->end + 1 < a->n ? bin_of(s, a->after_m - m) : 0;
        t->in.bin[i] = (uint8_t)in, t->out.bin[i] = (uint8_t)out;
        density += nearer * ((m <= a->low_m + a->near_m) + (m >= a->high_m - a->near_m));
        double ratio = (double)a->in[in] * (double)a->in_too[in] * (double)a->out[out] *
                       (double)a->out_too[out];
        if (a->alone) ratio *= (double)s->next[in * s->n_bins + out];
        if (s->guide) density *= 1 + square((m - s->near_m[a->k]) / GUIDE_M);
        t->weight[i] = ratio / density;
    }
}

/* Makes directions of differences; none of where a step ends where it began. */
static void direct(struct steps *steps) {
    for (int i = 0; i < TRIED; i++) {
        float per_m = 1 / sqrtf(steps->x[i] * steps->x[i] + steps->y[i] * steps->y[i] + 1e-9f);
        steps->x[i] *= per_m, steps->y[i] *= per_m;
    }
}

static struct steps same_step(const struct route_spot *from, const struct route_spot *to, int bin) {
    struct steps steps;
    for (int i = 0; i < TRIED; i++) {
        steps.x[i] = to->x_m - from->x_m, steps.y[i] = to->y_m - from->y_m;
        steps.bin[i] = (uint8_t)bin;
    }
    direct(&steps);
    return steps;
}

/* Ratios of turns between steps, by half of 1 - cosine and by the slower one's row. */
static void weigh_turns(const struct route_scratch *s, const struct steps *u, const struct steps *v,
                        double *weight) {
    float part[TRIED], half = (float)s->n_parts / 2, last = (float)s->n_parts;
    int at[TRIED];
    for (int i = 0; i < TRIED; i++) {
        part[i] = (1 - (u->x[i] * v->x[i] + u->y[i] * v->y[i])) * half;
        part[i] = part[i] < last ? part[i] : last;
        at[i] = (int)part[i];
    }
    for (int i = 0; i < TRIED; i++) {
        uint8_t slower = u->bin[i] < v->bin[i] ? u->bin[i] : v->bin[i];
        weight[i] *= (double)s->turn[s->turn_row[slower] * s->n_turns + s->turn_bin[at[i]]];
    }
}

/* The turns that change when the slot moves. */
static void weigh_all_turns(const struct route_scratch *s, const struct around *a,
                            struct tried *t) {
    const struct route_spot *spot = s->spot + a->k, *end = s->spot + a->end;
    bool in = a->k > 0, out = a->end + 1 < a->n;
    for (int i = 0; i < TRIED; i++) {
        struct route_spot at = spot_at(s, t->m[i]);
        t->x_m[i] = at.x_m, t->y_m[i] = at.y_m;
        t->in.x[i] = in ? at.x_m - spot[-1].x_m : 0;
        t->in.y[i] = in ? at.y_m - spot[-1].y_m : 0;
        t->out.x[i] = out ? end[1].x_m - at.x_m : 0;
        t->out.y[i] = out ? end[1].y_m - at.y_m : 0;
    }
    direct(&t->in), direct(&t->out);
    if (a->k > 1) {
        struct steps before = same_step(spot - 2, spot - 1, a->step_before);
        weigh_turns(s, &before, &t->in, t->weight);
    }
    if (a->alone) weigh_turns(s, &t->in, &t->out, t->weight);
    if (a->end + 2 < a->n) {
        struct steps after = same_step(end + 1, end + 2, a->step_after);
        weigh_turns(s, &t->out, &after, t->weight);
    }
}

/* One of them by their weights: each proposal replaces what was taken with its share of the sum. */
static int choose(struct route_scratch *s, const double *weight) {
    double sum = 0;
    for (int i = 0; i < TRIED; i++) sum += weight[i];
    double left = dpl_route_uniform(s) * sum;
    for (int i = TRIED; --i > 0; left -= weight[i])
        if (left < weight[i]) return i;
    return 0;
}

/* Where a slot may be, by its window and the neighbours of those held to it. */
static void bound(const struct route_scratch *s, double limit_m, struct around *a) {
    const double *slot = s->slot_m;
    a->low_m = s->low_m[a->k], a->high_m = s->high_m[a->k];
    if (a->k > 0) {
        a->before_m = slot[a->k - 1];
        a->low_m = fmax(a->low_m, a->before_m), a->high_m = fmin(a->high_m, a->before_m + limit_m);
    }
    if (a->end + 1 < a->n) {
        a->after_m = slot[a->end + 1];
        a->low_m = fmax(a->low_m, a->after_m - limit_m), a->high_m = fmin(a->high_m, a->after_m);
    }
    a->near_m = fmin(NEAR_M, a->high_m - a->low_m);
}

/* Slots that are held together are one place, with steps of no length between them. */
static void look_up(const struct route_scratch *s, struct around *a) {
    const double *slot = s->slot_m;
    const float *ones = s->ones, *still = s->next, *to_still = s->next_from;
    bool first = a->k == 0, last = a->end + 1 == a->n, held = a->end > a->k;
    if (a->k > 1) a->step_before = bin_of(s, slot[a->k - 1] - slot[a->k - 2]);
    if (a->end + 2 < a->n) a->step_after = bin_of(s, slot[a->end + 2] - slot[a->end + 1]);
    a->alone = !first && !last && !held;
    a->in = first ? ones : a->k == 1 ? s->first : s->next + a->step_before * s->n_bins;
    a->in_too = first ? ones : held ? to_still : last ? s->last : ones;
    a->out = last ? ones : a->end + 2 == a->n ? s->last : s->next_from + a->step_after * s->n_bins;
    a->out_too = last ? ones : held ? still : first ? s->first : ones;
}

/* Moves a slot, with those that are held to it; returns the next one. */
static size_t move_slot(struct route_scratch *s, size_t n, size_t k, double limit_m) {
    struct around a = {.k = k, .end = k, .n = n};
    struct tried t;
    while (a.end + 1 < n && s->held[a.end + 1]) a.end++;
    bound(s, limit_m, &a);
    if (a.high_m - a.low_m < 1e-3) return a.end + 1;
    look_up(s, &a);
    t.m[0] = s->slot_m[k];
    propose(s, &a, t.m);
    weigh_speeds(s, &a, &t);
    if (s->n_turns > 0) weigh_all_turns(s, &a, &t);
    int taken = choose(s, t.weight);
    for (size_t i = k; i <= a.end; i++) {
        s->slot_m[i] = t.m[taken];
        if (s->n_turns > 0) s->spot[i] = (struct route_spot){t.x_m[taken], t.y_m[taken]};
    }
    return a.end + 1;
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
    memcpy(s->start_m, s->slot_m, n * sizeof *s->start_m);
    for (size_t k = 0; s->n_turns > 0 && k < n; k++) s->spot[k] = spot_at(s, s->slot_m[k]);
    for (int sweep = 0; sweep < s->options.sweeps; sweep++)
        for (size_t k = 0; k < n;) k = move_slot(s, n, k, limit_m);
}
