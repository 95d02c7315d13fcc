/* The informed attacker: knows the model's noised tables, everybody's trips but the target's, and
 * what the target would add to each table. It is the strongest there is against Gaussian tables:
 * by Neyman and Pearson no other statistic of them tells more than the likelihood ratio,
 *
 *     sum over tables of (<v, y - x> - |v|^2 / 2) / s^2
 *
 * y: the noised table, x: the exact counts of all others, v: what the target adds, s: the noise.
 *
 * Thresholds come from the declared noise, not from other units: all targets meet the same noise,
 * so that units known to be out would give it away. Under the declared noise a unit that is out
 * exceeds t with the chance Q(t / m + m / 2), m^2 = sum |v|^2 / s^2. Scores are therefore turned
 * into minus the share of units that would exceed them if all were out.
 *
 * For the same reason hits are not independent. Scores of units whose tables overlap go together;
 * all entries are positive, and a threshold lowers a positive correlation, so that the variance of
 * a count of hits is at most the design effect (that of the sum of scores) times the binomial one.
 *
 * PRIVACY: everything here reads raw trips and knows who is a member. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleaned.h"
#include "evaluate/attack.h"
#include "fit/replay.h"

enum { QUANTILES = 256 };
static const uint32_t NO_TARGET = UINT32_MAX;

struct contribution {
    uint32_t target, index;
    double value;
};

struct target {
    double ratio, strength; /* log likelihood ratio; m^2 */
    bool member;
};

struct informed {
    struct dpl_run *run;
    bool bare;              /* as if the tables had no noise */
    struct dpl_parts parts; /* one */
    const struct dpl_kept *kept;
    struct dpl_cleaned *trips; /* all members, then the others that are asked about */
    size_t n_members;          /* trips */
    size_t first_other;        /* unit */
    uint32_t *target_of;       /* (units) */
    struct target *target;     /* (n_targets) */
    size_t n_targets;
    /* the table being counted */
    double *exact, *together[2]; /* (n of the table) of members; of the targets, by side */
    struct contribution *list;
    size_t n_list, list_capacity;
    enum dpl_status status;
    double common[2], alone[2]; /* variance of the sum of scores, and the sum of variances */
    bool quiet;                 /* a table has less noise than declared */
};

/* ---- whose trips ---- */

static enum dpl_status append(struct dpl_run *run, const struct dpl_cleaned *from, size_t trip,
                              int32_t user_shift, struct dpl_cleaned *into) {
    size_t first = from->start[trip];
    int32_t user = from->user[trip];
    struct dpl_cleaned_trip one = {.cell = from->cell + first,
                                   .n_visits = from->start[trip + 1] - first,
                                   .utc_s = from->utc_s[trip],
                                   .user = user < 0 ? user : user + user_shift,
                                   .period = from->period[trip],
                                   .position = from->position ? from->position + first : NULL};
    DPL_TRY(dpl_cleaned_append(run, into, &one));
    return from->ends ? dpl_cleaned_append_ends(run, into, from->ends[trip]) : DPL_OK;
}

static enum dpl_status join_trips(struct dpl_run *run, const struct dpl_attack_view *view,
                                  struct informed *a) {
    const struct dpl_cleaned *members = view->target[1].trips, *others = view->target[0].trips;
    DPL_TRY(dpl_cleaned_new(run, &members->grid, &a->trips));
    a->trips->has_time = members->has_time;
    a->trips->n_users = members->n_users + others->n_users;
    a->n_members = members->n_trips;
    for (size_t i = 0; i < members->n_trips; i++) DPL_TRY(append(run, members, i, 0, a->trips));
    for (size_t i = 0; i < view->target[0].n; i++)
        DPL_TRY(append(run, others, view->target[0].trip[i], (int32_t)members->n_users, a->trips));
    return DPL_OK;
}

static size_t first_trip(const struct dpl_kept *kept, size_t unit) {
    return dpl_kept_trip(kept, dpl_kept_begin(kept, unit));
}

/* The unit of each trip of a->trips, NO_TARGET where it has none: by its user, or itself. */
static enum dpl_status find_units(struct dpl_run *run, const struct informed *a,
                                  uint32_t **unit_of) {
    const struct dpl_kept *kept = a->kept;
    uint32_t *by_user = dpl_alloc(run, a->trips->n_users, sizeof *by_user),
             *made = dpl_alloc(run, a->trips->n_trips, sizeof *made);
    *unit_of = made;
    if (!by_user || !made) {
        dpl_free(by_user);
        return DPL_SYSTEM;
    }
    memset(by_user, 0xFF, a->trips->n_users * sizeof *by_user);
    for (size_t u = 0; kept->unit_start && u < kept->n_units; u++)
        by_user[a->trips->user[first_trip(kept, u)]] = (uint32_t)u;
    for (size_t i = 0; i < a->trips->n_trips; i++) {
        int32_t user = a->trips->user[i];
        made[i] = !kept->unit_start ? (uint32_t)i : user < 0 ? NO_TARGET : by_user[user];
    }
    dpl_free(by_user);
    return DPL_OK;
}

/* The trip's place in a->trips. */
static size_t place_of(const struct informed *a, const struct dpl_attack_view *view, size_t side,
                       size_t i) {
    return side ? view->target[1].trip[i] : a->n_members + i;
}

static enum dpl_status choose_targets(struct dpl_run *run, const struct dpl_attack_view *view,
                                      const uint32_t *unit_of, struct informed *a) {
    a->target_of = dpl_alloc(run, a->kept->n_units, sizeof *a->target_of);
    a->target = dpl_alloc(run, a->kept->n_units, sizeof *a->target);
    if (!a->target_of || !a->target) return DPL_SYSTEM;
    memset(a->target_of, 0xFF, a->kept->n_units * sizeof *a->target_of);
    while (a->first_other < a->kept->n_units && first_trip(a->kept, a->first_other) < a->n_members)
        a->first_other++;
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < view->target[side].n; i++) {
            uint32_t unit = unit_of[place_of(a, view, side, i)];
            if (unit == NO_TARGET || a->target_of[unit] != NO_TARGET) continue;
            a->target[a->n_targets].member = side == 1;
            a->target_of[unit] = (uint32_t)a->n_targets++;
        }
    return DPL_OK;
}

/* ---- one table ---- */

static enum dpl_status make_room(struct informed *a, size_t n) {
    a->exact = dpl_alloc(a->run, n, sizeof *a->exact);
    for (size_t s = 0; s < 2; s++) a->together[s] = dpl_alloc(a->run, n, sizeof *a->together[s]);
    return a->exact && a->together[0] && a->together[1] ? DPL_OK : DPL_SYSTEM;
}

static void free_room(struct informed *a) {
    dpl_free(a->exact), dpl_free(a->together[0]), dpl_free(a->together[1]);
    a->exact = a->together[0] = a->together[1] = NULL;
    a->n_list = 0;
}

static void see_unit(void *context, const struct dpl_replay_table *table, size_t unit,
                     const size_t *index, const int64_t *steps, size_t n) {
    struct informed *a = context;
    if (a->status == DPL_OK && !a->exact) a->status = make_room(a, table->n);
    if (a->status == DPL_OK)
        a->status = dpl_grow(a->run, &a->list, &a->list_capacity, a->n_list + n, sizeof *a->list);
    if (a->status != DPL_OK || unit >= a->kept->n_units) return;
    uint32_t target = a->target_of[unit];
    for (size_t i = 0; i < n; i++) {
        double value = ldexp((double)steps[i], -DPL_COUNT_PLACES);
        if (unit < a->first_other) a->exact[index[i]] += value;
        if (target == NO_TARGET) continue;
        a->list[a->n_list++] = (struct contribution){target, (uint32_t)index[i], value};
        a->together[a->target[target].member][index[i]] += value;
    }
}

/* Of a sum of n squares of standard Gaussians, the chance to be at most `sum` (Wilson and
 * Hilferty). */
static double chi_squared_below(double sum, double n) {
    double z = (cbrt(sum / n) - (1 - 2 / (9 * n))) / sqrt(2 / (9 * n));
    return 0.5 * erfc(-z / sqrt(2));
}

static enum dpl_status weigh_table(void *context, const struct dpl_replay_table *table) {
    struct informed *a = context;
    bool noiseless = a->bare || table->deviation == 0;
    double s2 = table->deviation > 0 ? table->deviation * table->deviation : 1, squares = 0;
    if (a->status != DPL_OK || !table->gaussian || !a->exact) goto done;
    for (size_t i = 0; i < a->n_list; i++) {
        const struct contribution *c = &a->list[i];
        struct target *t = &a->target[c->target];
        double noise = a->bare ? 0 : table->noised[c->index] - a->exact[c->index],
               residual = noise + (t->member ? c->value : 0); // all others' counts taken away
        t->ratio += c->value * (residual - c->value / 2) / s2;
        t->strength += c->value * c->value / s2;
        a->alone[t->member] += c->value * c->value / s2;
    }
    for (size_t i = 0; i < table->n; i++) {
        double noise = table->noised[i] - a->exact[i];
        squares += noise * noise / s2;
        for (size_t s = 0; s < 2; s++) a->common[s] += a->together[s][i] * a->together[s][i] / s2;
    }
    a->quiet |= !noiseless && chi_squared_below(squares, (double)table->n) < DPL_ATTACK_DOUBT / 64;
done:
    free_room(a);
    return a->status;
}

/* ---- scores ---- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* m of the targets at evenly spread ranks. */
static enum dpl_status strengths(struct dpl_run *run, const struct informed *a,
                                 double quantile[QUANTILES]) {
    double *m = dpl_alloc(run, a->n_targets, sizeof *m);
    if (!m) return DPL_SYSTEM;
    for (size_t i = 0; i < a->n_targets; i++) m[i] = sqrt(a->target[i].strength);
    qsort(m, a->n_targets, sizeof *m, ascending);
    for (size_t q = 0; q < QUANTILES; q++)
        quantile[q] = m[(2 * q + 1) * a->n_targets / (2 * QUANTILES)];
    dpl_free(m);
    return DPL_OK;
}

/* The share of units that would score more if all were out. */
static double false_share(const double quantile[QUANTILES], double ratio) {
    double sum = 0;
    for (size_t q = 0; q < QUANTILES; q++) {
        double m = quantile[q];
        sum += m > 0 ? 0.5 * erfc((ratio / m + m / 2) / sqrt(2)) : ratio < 0;
    }
    return sum / QUANTILES;
}

static enum dpl_status fill_scores(struct dpl_run *run, const struct dpl_attack_view *view,
                                   const uint32_t *unit_of, const struct informed *a,
                                   double *const score[2]) {
    double quantile[QUANTILES];
    if (a->n_targets == 0) return DPL_OK;
    DPL_TRY(strengths(run, a, quantile));
    for (size_t side = 0; side < 2; side++)
#pragma omp parallel for schedule(static) num_threads(dpl_run_threads(run))
        for (size_t i = 0; i < view->target[side].n; i++) {
            uint32_t unit = unit_of[place_of(a, view, side, i)];
            double ratio = unit == NO_TARGET ? 0 : a->target[a->target_of[unit]].ratio;
            score[side][i] = -false_share(quantile, ratio);
        }
    return DPL_OK;
}

enum dpl_status dpl_attack_informed(struct dpl_run *run, const struct dpl_attack_view *view,
                                    double *const score[2]) {
    struct informed a = {.run = run, .bare = view->bare};
    const struct dpl_replay_watch watch = {&a, see_unit, weigh_table};
    uint32_t *unit_of = NULL;
    enum dpl_status status;
    DPL_GO(join_trips(run, view, &a));
    DPL_GO(dpl_replay_parts(run, view->model, a.trips, &a.parts));
    a.kept = &a.parts.part[0].kept;
    DPL_GO(find_units(run, &a, &unit_of));
    DPL_GO(choose_targets(run, view, unit_of, &a));
    DPL_GO(dpl_replay(run, view->model, &a.parts, &watch));
    DPL_GO(fill_scores(run, view, unit_of, &a, score));
    for (size_t s = 0; s < 2; s++)
        view->calibration->design[s] = a.alone[s] > 0 ? fmax(1, a.common[s] / a.alone[s]) : 1;
    view->calibration->quiet = a.quiet;
done:
    free_room(&a);
    dpl_free(unit_of);
    dpl_free(a.target_of);
    dpl_free(a.target);
    dpl_free(a.list);
    dpl_parts_free(&a.parts);
    dpl_cleaned_free(a.trips);
    return status;
}
