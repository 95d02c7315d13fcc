/* From PrivTrace's noised tables to chances. Everything here is post-processing.
 *
 * PAPER: the published program takes N and the number of points from the raw data, and the support
 * of the calibration from the transitions as they are, without noise: one trip's own transition
 * changes what is released. Here N is the noised number, and all pairs of states are candidates.
 * The factors 1.3 and 1.5 on the ends are the published ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/privtrace/privtrace.h"

static const double POINTS_PER_BLOCK = 600, TRIPS_PER_PART = 200, BUSY = 0.05;
static const double ENDS_FIRST = 1.3, ENDS_SECOND = 1.5;
static const double LARGE_PART = 0.02, ONE_WAY = 5;

/* ---- grids ---- */

size_t dpl_privtrace_side(double points) {
    double side = floor(sqrt(fmax(points, 0) / POINTS_PER_BLOCK));
    return side < 2 ? 2 : side < DPL_PRIVTRACE_SIDE_MOST ? (size_t)side : DPL_PRIVTRACE_SIDE_MOST;
}

void dpl_privtrace_split(double *density, size_t blocks, double trips, int32_t *split) {
    for (size_t i = 0; i < blocks; i++) {
        bool busy = density[i] > BUSY * trips / (double)blocks;
        split[i] = busy ? (int32_t)fmin(ceil(sqrt(density[i] / TRIPS_PER_PART)), INT16_MAX) : 1;
    }
}

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* How much of the smallest positive values `debt` takes: all below the bound, and a part of the
 * first that is not. */
static double find_bound(double *positive, size_t n, double debt, double *rest) {
    qsort(positive, n, sizeof *positive, rising);
    for (size_t i = 0; i < n; i++) {
        if (positive[i] > debt) {
            *rest = debt;
            return positive[i];
        }
        debt -= positive[i];
    }
    *rest = 0;
    return INFINITY;
}

enum dpl_status dpl_privtrace_settle(struct dpl_run *run, double *row, size_t n) {
    double debt = 0, rest = 0, *positive = dpl_alloc(run, n, sizeof *positive);
    size_t found = 0;
    if (!positive) return DPL_SYSTEM;
    for (size_t i = 0; i < n; i++) {
        if (row[i] > 0)
            positive[found++] = row[i];
        else
            debt -= row[i];
    }
    double bound = find_bound(positive, found, debt, &rest);
    for (size_t i = 0; i < n; i++) {
        bool first = row[i] == bound && rest > 0;
        row[i] = row[i] < bound ? 0 : first ? row[i] - rest : row[i];
        if (first) rest = 0;
    }
    dpl_free(positive);
    return DPL_OK;
}

/* ---- guideposts ---- */

struct candidate {
    double out;
    size_t state;
};

static int busiest_first(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->out != y->out) return x->out > y->out ? -1 : 1;
    return x->state < y->state ? -1 : x->state > y->state;
}

/* What leaves a state; *one_way: nearly all of it to one neighbour. */
static double outflow(const double *row, size_t n, bool *one_way) {
    double sum = 0, most = 0, next = 0;
    for (size_t i = 0; i < n; i++) {
        sum += row[i];
        if (row[i] > most)
            next = most, most = row[i];
        else if (row[i] > next)
            next = row[i];
    }
    *one_way = !(most < ONE_WAY * next);
    return sum;
}

/* Sums over all states of what starts, leaves and ends there. */
struct totals {
    double starts, out, ends;
};

static struct totals sum_all(const struct dpl_privtrace_states *states, const double *first) {
    struct totals all = {0};
    for (size_t s = 0; s < states->n; s++) {
        const double *row = first + dpl_privtrace_row(states, s);
        size_t n = dpl_privtrace_neighbours(states, s);
        bool one_way;
        all.starts += first[s], all.out += outflow(row, n, &one_way), all.ends += row[n];
    }
    return all;
}

static bool is_candidate(const struct dpl_privtrace_states *states, const double *first, size_t s,
                         double deviation, const struct totals *all, double *out) {
    const double *row = first + dpl_privtrace_row(states, s);
    size_t n = dpl_privtrace_neighbours(states, s);
    bool one_way;
    *out = outflow(row, n, &one_way);
    return (*out > deviation * (double)(n + 1) && !one_way) || *out > LARGE_PART * all->out ||
           first[s] > LARGE_PART * all->starts || row[n] > LARGE_PART * all->ends;
}

enum dpl_status dpl_privtrace_guideposts(struct dpl_run *run,
                                         const struct dpl_privtrace_states *states,
                                         const double *first, double deviation, size_t room,
                                         int32_t *guide, size_t *entries) {
    const struct totals all = sum_all(states, first);
    struct candidate *list = dpl_alloc(run, states->n, sizeof *list);
    size_t n = 0;
    if (!list) return DPL_SYSTEM;
    for (size_t s = 0; s < states->n; s++) {
        guide[s] = 0;
        list[n].state = s;
        n += is_candidate(states, first, s, deviation, &all, &list[n].out);
    }
    if (n == 0) n = 1; // the last state, so that the table is never empty
    qsort(list, n, sizeof *list, busiest_first);
    *entries = 0;
    for (size_t i = 0; i < n; i++) {
        size_t side = dpl_privtrace_neighbours(states, list[i].state) + 1;
        if (*entries + side * side > room) continue;
        *entries += side * side;
        guide[list[i].state] = 1;
    }
    dpl_free(list);
    return DPL_OK;
}

/* ---- chains ---- */

/* Divides by the sum, with that factor on the last entry, the end. */
static void normalise(const double *row, size_t n, double end_factor, float *chance) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += row[i] * (i + 1 < n ? 1 : end_factor);
    for (size_t i = 0; i < n; i++)
        chance[i] = sum > 0 ? (float)(row[i] * (i + 1 < n ? 1 : end_factor) / sum) : 0;
}

void dpl_privtrace_chances(const struct dpl_privtrace_states *states, const double *first,
                           float *chance, float *inflow) {
    float most = 0;
    for (size_t s = 0; s < states->n; s++) {
        size_t row = dpl_privtrace_row(states, s), n = dpl_privtrace_neighbours(states, s);
        normalise(first + row, n + 1, ENDS_FIRST, chance + row - states->n);
        for (size_t i = 0; i < n; i++)
            inflow[states->to[states->first[s] + i]] += (float)first[row + i];
    }
    for (size_t s = 0; s < states->n; s++) most = fmaxf(most, inflow[s]);
    for (size_t s = 0; s < states->n; s++) inflow[s] = most > 0 ? inflow[s] / most : 0;
}

/* Counts of one guidepost: settled row by row, rounded down, its ends scaled to what the chain of
 * first order says. */
static enum dpl_status settle_guidepost(struct dpl_run *run, double *second, size_t side,
                                        double first_end) {
    double ends = 0;
    for (size_t r = 0; r < side; r++) {
        double *row = second + r * side;
        DPL_TRY(dpl_privtrace_settle(run, row, side));
        for (size_t i = 0; i < side; i++) row[i] = floor(row[i]);
        ends += row[side - 1];
    }
    for (size_t r = 0; r < side && ends > 0; r++)
        second[r * side + side - 1] *= ENDS_SECOND * first_end / ends;
    return DPL_OK;
}

enum dpl_status dpl_privtrace_second_chances(struct dpl_run *run,
                                             const struct dpl_privtrace_states *states,
                                             const size_t *at, const double *first, double *second,
                                             float *chance) {
    for (size_t s = 0; s < states->n; s++) {
        size_t n = dpl_privtrace_neighbours(states, s), side = n + 1;
        if (at[s] == at[s + 1]) continue;
        DPL_TRY(
            settle_guidepost(run, second + at[s], side, first[dpl_privtrace_row(states, s) + n]));
        for (size_t r = 0; r < side; r++)
            normalise(second + at[s] + r * side, side, 1, chance + at[s] + r * side);
    }
    return DPL_OK;
}
