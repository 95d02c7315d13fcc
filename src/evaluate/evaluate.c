/* Every measure for every synthetic set, beside its floor.
 *
 *     real trips --random halves--> A | B        floor: A against B
 *     synthetic  --random sample--> S, |S|=|A|   value: A against S
 *
 * All three are of one size, so sampling costs both comparisons the same and a perfect generator
 * has ratio 1. A synthetic set smaller than half the real one sets the size of its own floor. Value
 * and floor are means over the splits (pooled density: twice as many, since its floor is the
 * smallest figure of all).
 *
 * A task is one kind of measure for one comparison in one scope; tasks of a split run in parallel
 * and write to places of their own, and sums over splits and periods run in order: the figures do
 * not depend on the number of threads.
 *
 * PRIVACY: everything here reads raw trips. Nothing of it may enter a released file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate/ready.h"

/* ---- what is measured ---- */

enum slot {
    LENGTH_DISTANCE,
    LENGTH_DIVERGENCE,
    FP_FIRST,
    SET_FIRST = FP_FIRST + DPL_N_TOPS,
    DENSITY = SET_FIRST + DPL_N_TOPS,
    OD,
    ROUTE,
    ROUTE_PLAIN,
    ROUTE_SHARE,
    HOUR,
    VERBATIM,
    DISTINCT,
    N_SLOTS
};

static const struct {
    const char *name;
    enum dpl_better better;
    bool pooled_only, in_paper;
} SLOTS[N_SLOTS] = {
    {"length_jsd_distance", DPL_BETTER_LOWER, false, true},
    {"length_jsd_divergence", DPL_BETTER_LOWER, false, false},
    {"fp_10", DPL_BETTER_HIGHER, false, false},
    {"fp_20", DPL_BETTER_HIGHER, false, false},
    {"fp_50", DPL_BETTER_HIGHER, false, false},
    {"fp_100", DPL_BETTER_HIGHER, false, false},
    {"fp_200", DPL_BETTER_HIGHER, false, false},
    {"fpset_10", DPL_BETTER_HIGHER, false, true},
    {"fpset_20", DPL_BETTER_HIGHER, false, true},
    {"fpset_50", DPL_BETTER_HIGHER, false, true},
    {"fpset_100", DPL_BETTER_HIGHER, false, true},
    {"fpset_200", DPL_BETTER_HIGHER, false, true},
    {"density_emd_m", DPL_BETTER_LOWER, false, true},
    {"od_emd_m", DPL_BETTER_LOWER, false, true},
    {"route_emd_m", DPL_BETTER_LOWER, false, true},
    {"route_emd_plain_m", DPL_BETTER_LOWER, false, true},
    {"route_share", DPL_BETTER_HIGHER, false, false},
    {"hour_jsd", DPL_BETTER_LOWER, true, false},
    {"verbatim_share", DPL_BETTER_NEAR_FLOOR, true, false},
    {"distinct_share", DPL_BETTER_NEAR_FLOOR, true, false},
};

/* Kinds, the dearest first so that the last tasks to start are short. */
enum kind {
    KIND_OD,
    KIND_ROUTE,
    KIND_SETS,
    KIND_PATTERNS,
    KIND_DENSITY,
    KIND_LENGTHS,
    KIND_SAMENESS,
    KIND_HOURS,
    N_KINDS
};

static enum dpl_status measure(struct dpl_run *run, enum kind kind, const struct dpl_part *a,
                               const struct dpl_part *b, size_t n_same, double *slot) {
    double divergence = 0;
    struct dpl_route route = {0};
    struct dpl_sameness sameness = {0};
    switch (kind) {
    case KIND_OD: return dpl_measure_od(run, a, b, &slot[OD]);
    case KIND_SETS: return dpl_measure_sets(run, a, b, &slot[SET_FIRST]);
    case KIND_PATTERNS: return dpl_measure_patterns(run, a, b, &slot[FP_FIRST]);
    case KIND_DENSITY: return dpl_measure_density(run, a, b, &slot[DENSITY]);
    case KIND_ROUTE:
        DPL_TRY(dpl_measure_route(run, a, b, &route));
        slot[ROUTE] = route.weighted_m, slot[ROUTE_PLAIN] = route.plain_m,
        slot[ROUTE_SHARE] = route.held_share;
        return DPL_OK;
    case KIND_LENGTHS:
        DPL_TRY(dpl_measure_lengths(run, a, b, &divergence));
        slot[LENGTH_DISTANCE] = sqrt(divergence), slot[LENGTH_DIVERGENCE] = divergence;
        return DPL_OK;
    case KIND_SAMENESS:
        DPL_TRY(dpl_measure_sameness(run, a, b, n_same, &sameness));
        slot[VERBATIM] = sameness.verbatim_share, slot[DISTINCT] = sameness.distinct_share;
        return DPL_OK;
    case KIND_HOURS:
        DPL_TRY(dpl_measure_hours(run, a, b, &divergence));
        slot[HOUR] = sqrt(divergence);
        return DPL_OK;
    case N_KINDS: break;
    }
    return DPL_OK;
}

/* ---- one group of synthetic sets on one set of cells ---- */

enum { PAPER_TRIPS = 2000 };
static const double PAPER_REACH_M = 1000;

struct comparison {
    size_t a, b; /* sides */
    bool has_hours;
};

struct group {
    const struct dpl_eval_options *options;
    const struct dpl_trips *real;
    const struct dpl_eval_synthetic *synthetic;
    size_t n_synthetic;
    struct dpl_cells cells;
    struct dpl_index same;
    struct dpl_ready *ready; /* (n_synthetic + 1) the real set last */
    /* sides: A and B of each size, then one per synthetic set */
    size_t *size;    /* (n_sizes) trips a side, distinct */
    size_t *size_of; /* (n_synthetic) which of them */
    size_t n_sizes;
    struct dpl_side *side;         /* (2 * n_sizes + n_synthetic) */
    struct comparison *comparison; /* (n_sizes + n_synthetic) floors first */
    uint32_t *order;               /* scratch, as long as the largest data set */
    double *value; /* (2 * splits, comparisons, periods + 1, N_SLOTS) NAN: not measured */
    int periods;
};

static size_t n_comparisons(const struct group *g) { return g->n_sizes + g->n_synthetic; }

static double *value_at(const struct group *g, size_t split, size_t comparison, int scope) {
    size_t scopes = (size_t)g->periods + 1, at = scope == DPL_SCOPE_POOLED ? 0 : (size_t)scope + 1;
    return g->value + ((split * n_comparisons(g) + comparison) * scopes + at) * N_SLOTS;
}

static enum dpl_status make_all_ready(struct dpl_run *run, struct group *g) {
    double reach_m = g->options->paper_measures ? PAPER_REACH_M : INFINITY;
    g->ready = dpl_alloc(run, g->n_synthetic + 1, sizeof *g->ready);
    if (!g->ready) return DPL_SYSTEM;
    for (size_t k = 0; k < g->n_synthetic; k++)
        DPL_TRY(dpl_ready_make(run, g->synthetic[k].trips, &g->cells, INFINITY, &g->same,
                               &g->ready[k]));
    DPL_TRY(dpl_ready_make(run, g->real, &g->cells, reach_m, &g->same, &g->ready[g->n_synthetic]));
    if (g->ready[g->n_synthetic].trips.n_trips < 2)
        return dpl_fail(
            run, DPL_BAD_DATA,
            "fewer than 2 real trips are left to compare with; a floor needs two halves");
    return DPL_OK;
}

/* Each synthetic set is compared on as many trips as it has, at most half the real ones. */
static enum dpl_status choose_sizes(struct dpl_run *run, struct group *g) {
    size_t half = g->ready[g->n_synthetic].trips.n_trips / 2;
    g->size = dpl_alloc(run, g->n_synthetic, sizeof *g->size);
    g->size_of = dpl_alloc(run, g->n_synthetic, sizeof *g->size_of);
    if (!g->size || !g->size_of) return DPL_SYSTEM;
    for (size_t k = 0; k < g->n_synthetic; k++) {
        size_t n = g->ready[k].trips.n_trips < half ? g->ready[k].trips.n_trips : half, s = 0;
        while (s < g->n_sizes && g->size[s] != n) s++;
        if (s == g->n_sizes) g->size[g->n_sizes++] = n;
        g->size_of[k] = s;
    }
    return DPL_OK;
}

static enum dpl_status make_sides(struct dpl_run *run, struct group *g) {
    const struct dpl_ready *real = &g->ready[g->n_synthetic];
    size_t longest = real->trips.n_trips;
    g->side = dpl_alloc(run, 2 * g->n_sizes + g->n_synthetic, sizeof *g->side);
    g->comparison = dpl_alloc(run, n_comparisons(g), sizeof *g->comparison);
    if (!g->side || !g->comparison) return DPL_SYSTEM;
    for (size_t s = 0; s < g->n_sizes; s++) {
        DPL_TRY(dpl_side_new(run, real, g->size[s], &g->side[2 * s]));
        DPL_TRY(dpl_side_new(run, real, g->size[s], &g->side[2 * s + 1]));
        g->comparison[s] = (struct comparison){2 * s, 2 * s + 1, false};
    }
    for (size_t k = 0; k < g->n_synthetic; k++) {
        size_t s = g->size_of[k], b = 2 * g->n_sizes + k;
        DPL_TRY(dpl_side_new(run, &g->ready[k], g->size[s], &g->side[b]));
        bool has_hours = real->has_time && g->ready[k].has_time && g->periods > 1;
        g->comparison[g->n_sizes + k] = (struct comparison){2 * s, b, has_hours};
        g->comparison[s].has_hours |= has_hours;
        longest = g->ready[k].trips.n_trips > longest ? g->ready[k].trips.n_trips : longest;
    }
    g->order = dpl_alloc(run, longest, sizeof *g->order);
    size_t n_values =
        2 * (size_t)g->options->splits * n_comparisons(g) * ((size_t)g->periods + 1) * N_SLOTS;
    g->value = dpl_alloc(run, n_values, sizeof *g->value);
    if (!g->order || !g->value) return DPL_SYSTEM;
    for (size_t i = 0; i < n_values; i++) g->value[i] = NAN;
    return DPL_OK;
}

/* The halves and samples of one split. A sample does not depend on what else is judged beside it.
 */
static void draw_split(struct group *g, size_t split) {
    size_t n_real = g->ready[g->n_synthetic].trips.n_trips,
           most = g->options->paper_measures ? PAPER_TRIPS : SIZE_MAX;
    dpl_shuffle(g->order, n_real, n_real, g->options->seed, 2 * split);
    for (size_t s = 0; s < g->n_sizes; s++) {
        dpl_side_fill(&g->side[2 * s], g->order, g->size[s], most);
        dpl_side_fill(&g->side[2 * s + 1], g->order + n_real / 2, g->size[s], most);
    }
    for (size_t k = 0; k < g->n_synthetic; k++) {
        size_t n = g->size[g->size_of[k]];
        dpl_shuffle(g->order, g->ready[k].trips.n_trips, n, g->options->seed, 2 * split + 1);
        dpl_side_fill(&g->side[2 * g->n_sizes + k], g->order, n, most);
    }
}

struct task {
    enum kind kind;
    int scope;
    size_t comparison;
};

static bool wanted(const struct group *g, const struct task *t, bool extra_split) {
    bool has_hours = g->comparison[t->comparison].has_hours;
    if (extra_split)
        return t->kind == KIND_DENSITY && t->scope == DPL_SCOPE_POOLED &&
               !(g->options->paper_measures && has_hours);
    if (g->options->paper_measures && (t->kind >= KIND_SAMENESS || t->kind == KIND_PATTERNS))
        return false;
    if (g->options->paper_measures && has_hours && t->scope == DPL_SCOPE_POOLED)
        return false; // "overall" is the mean of hours
    if (t->kind == KIND_HOURS) return t->scope == DPL_SCOPE_POOLED && has_hours;
    if (t->kind == KIND_SAMENESS) return t->scope == DPL_SCOPE_POOLED;
    return t->scope == DPL_SCOPE_POOLED || has_hours;
}

static size_t list_tasks(const struct group *g, bool extra_split, struct task *task) {
    size_t n = 0;
    for (int kind = 0; kind < N_KINDS; kind++)
        for (int scope = DPL_SCOPE_POOLED; scope < g->periods; scope++)
            for (size_t c = 0; c < n_comparisons(g); c++) {
                struct task t = {(enum kind)kind, scope, c};
                if (wanted(g, &t, extra_split)) task[n++] = t;
            }
    return n;
}

static enum dpl_status do_task(struct dpl_run *run, const struct group *g, size_t split,
                               const struct task *t) {
    const struct comparison *c = &g->comparison[t->comparison];
    struct dpl_part a = dpl_side_part(&g->side[c->a], t->scope),
                    b = dpl_side_part(&g->side[c->b], t->scope);
    DPL_TRY(dpl_check_interrupt(run));
    if (a.n == 0 && b.n == 0) return DPL_OK; // a period without trips on either side is not counted
    return measure(run, t->kind, &a, &b, g->same.count,
                   value_at(g, split, t->comparison, t->scope));
}

static enum dpl_status do_split(struct dpl_run *run, struct group *g, size_t split,
                                struct task *task) {
    draw_split(g, split);
    size_t n = list_tasks(g, split >= (size_t)g->options->splits, task);
    enum dpl_status status = DPL_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(dpl_run_threads(run))
    for (size_t i = 0; i < n; i++) {
        enum dpl_status before, mine;
#pragma omp atomic read
        before = status;
        if (before != DPL_OK) continue;
        mine = do_task(run, g, split, &task[i]);
        if (mine != DPL_OK) {
#pragma omp atomic write
            status = mine;
        }
    }
    dpl_progress_add(run, 1);
    return status;
}

static enum dpl_status do_all_splits(struct dpl_run *run, struct group *g) {
    size_t n_splits = 2 * (size_t)g->options->splits;
    struct task *task =
        dpl_alloc(run, N_KINDS * ((size_t)g->periods + 1) * n_comparisons(g), sizeof *task);
    if (!task) return DPL_SYSTEM;
    enum dpl_status status = DPL_OK;
    dpl_progress_begin(run, "evaluating", "splits", (double)n_splits);
    for (size_t split = 0; split < n_splits && status == DPL_OK; split++)
        status = do_split(run, g, split, task);
    dpl_progress_end(run);
    dpl_free(task);
    return status;
}

static void group_free(struct group *g) {
    for (size_t s = 0; g->side && s < 2 * g->n_sizes + g->n_synthetic; s++)
        dpl_side_free(&g->side[s]);
    for (size_t k = 0; g->ready && k <= g->n_synthetic; k++) dpl_ready_free(&g->ready[k]);
    dpl_free(g->side);
    dpl_free(g->ready);
    dpl_free(g->size);
    dpl_free(g->size_of);
    dpl_free(g->comparison);
    dpl_free(g->order);
    dpl_free(g->value);
    dpl_index_free(&g->same);
    dpl_cells_free(&g->cells);
}

/* ---- means ---- */

struct mean {
    double sum;
    size_t n;
};

static void mean_add(struct mean *mean, double value) {
    if (isnan(value)) return;
    mean->sum += value;
    mean->n++;
}

static double mean_of(struct mean mean) { return mean.n ? mean.sum / (double)mean.n : NAN; }

static double mean_of_periods(const struct group *g, size_t split, size_t comparison, size_t slot) {
    struct mean mean = {0};
    for (int period = 0; period < g->periods; period++)
        mean_add(&mean, value_at(g, split, comparison, period)[slot]);
    return mean_of(mean);
}

static double mean_of_splits(const struct group *g, size_t comparison, int scope, size_t slot) {
    struct mean mean = {0};
    for (size_t split = 0; split < 2 * (size_t)g->options->splits; split++)
        mean_add(&mean, scope == DPL_SCOPE_HOURS ? mean_of_periods(g, split, comparison, slot)
                                                 : value_at(g, split, comparison, scope)[slot]);
    return mean_of(mean);
}

/* ---- figures of a whole data set ---- */

struct facts {
    double length_mean, length_sd, length_mode, jump_share;
};

/* Steps longer than the real area's speed limit allows in one slot, plus the diagonal of a cell,
 * since only cells are known. */
static double jump_share(const struct dpl_trips *trips, const struct dpl_area *area) {
    double reach_m = area->speed_limit_kmh / 3.6 * area->slot_s + sqrt(2) * area->cell_m;
    size_t steps = 0, jumps = 0;
    for (size_t i = 0; i < trips->n_trips; i++)
        for (size_t v = trips->start[i] + 1; v < trips->start[i + 1]; v++, steps++)
            jumps +=
                dpl_grid_distance_m(&trips->grid, trips->cell[v - 1], trips->cell[v]) > reach_m;
    return steps ? (double)jumps / (double)steps : 0;
}

static int compare_size(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* The shortest of the most frequent lengths. */
static size_t mode_of_sorted(const size_t *sorted, size_t n) {
    size_t best = 0, mode = 0;
    for (size_t i = 0, run = 0; i < n; i++) {
        run = i && sorted[i] == sorted[i - 1] ? run + 1 : 1;
        if (run > best) best = run, mode = sorted[i];
    }
    return mode;
}

static enum dpl_status find_facts(struct dpl_run *run, const struct dpl_trips *trips,
                                  const struct dpl_area *area, struct facts *facts) {
    size_t n = trips->n_trips, *length = dpl_alloc(run, n, sizeof *length);
    if (!length) return DPL_SYSTEM;
    double mean = (double)trips->n_visits / (double)n, squares = 0;
    for (size_t i = 0; i < n; i++) {
        length[i] = trips->start[i + 1] - trips->start[i];
        squares += ((double)length[i] - mean) * ((double)length[i] - mean);
    }
    qsort(length, n, sizeof *length, compare_size);
    *facts = (struct facts){mean, sqrt(squares / (double)n), (double)mode_of_sorted(length, n),
                            jump_share(trips, area)};
    dpl_free(length);
    return DPL_OK;
}

static double outside_share(const struct dpl_trips *real, const struct dpl_cells *own) {
    size_t outside = 0;
    for (size_t v = 0; v < real->n_visits; v++) outside += own->number[real->cell[v]] < 0;
    return (double)outside / (double)real->n_visits;
}

/* The cells its model knows: as given, or all that its trips visit. */
static enum dpl_status own_cells(struct dpl_run *run, const struct dpl_eval_synthetic *s,
                                 struct dpl_cells *cells) {
    if (s->own_cells)
        return dpl_cells_given(run, &s->trips->grid, s->own_cells, s->n_own_cells, cells);
    return dpl_cells_given(run, &s->trips->grid, s->trips->cell, s->trips->n_visits, cells);
}

/* ---- results ---- */

static void add_measure(struct dpl_eval_result *result, const char *name, int scope,
                        enum dpl_better better, double value, double floor) {
    double ratio = floor > 0 ? value / floor : NAN;
    result->measures[result->n_measures++] =
        (struct dpl_measure){name, scope, better, value, floor, ratio};
}

static void add_facts(struct dpl_eval_result *result, const struct facts *value,
                      const struct facts *real) {
    add_measure(result, "length_mean", DPL_SCOPE_POOLED, DPL_BETTER_NEAR_FLOOR, value->length_mean,
                real->length_mean);
    add_measure(result, "length_sd", DPL_SCOPE_POOLED, DPL_BETTER_NEAR_FLOOR, value->length_sd,
                real->length_sd);
    add_measure(result, "length_mode", DPL_SCOPE_POOLED, DPL_BETTER_NEAR_FLOOR, value->length_mode,
                real->length_mode);
    add_measure(result, "jump_share", DPL_SCOPE_POOLED, DPL_BETTER_LOWER, value->jump_share,
                real->jump_share);
}

static void add_slots(const struct group *g, size_t k, int scope, struct dpl_eval_result *result) {
    size_t floor = g->size_of[k], comparison = g->n_sizes + k;
    for (size_t slot = 0; slot < N_SLOTS; slot++) {
        if (g->options->paper_measures && !SLOTS[slot].in_paper) continue;
        if (scope != DPL_SCOPE_POOLED && SLOTS[slot].pooled_only) continue;
        if (slot == HOUR && !result->has_hours) continue;
        add_measure(result, SLOTS[slot].name, scope, SLOTS[slot].better,
                    mean_of_splits(g, comparison, scope, slot),
                    mean_of_splits(g, floor, scope, slot));
    }
}

static enum dpl_status fill_result(struct dpl_run *run, const struct group *g, size_t k,
                                   const struct facts *real, struct dpl_eval_result *result) {
    struct facts facts = {0};
    struct dpl_cells own = {0};
    size_t length = strlen(g->synthetic[k].name);
    DPL_TRY(own_cells(run, &g->synthetic[k], &own));
    result->outside_share = outside_share(g->real, &own);
    dpl_cells_free(&own);
    DPL_TRY(find_facts(run, g->synthetic[k].trips, &g->real->grid.area, &facts));
    result->name = dpl_alloc(run, length + 1, 1);
    result->measures =
        dpl_alloc(run, 4 + ((size_t)g->periods + 2) * N_SLOTS, sizeof *result->measures);
    if (!result->name || !result->measures) return DPL_SYSTEM;
    memcpy(result->name, g->synthetic[k].name, length);
    result->n_trips = g->synthetic[k].trips->n_trips;
    result->n_visits = g->synthetic[k].trips->n_visits;
    result->n_compared = g->size[g->size_of[k]];
    result->has_hours = g->comparison[g->n_sizes + k].has_hours;
    if (!(g->options->paper_measures && result->has_hours))
        add_slots(g, k, DPL_SCOPE_POOLED, result);
    add_facts(result, &facts, real);
    if (!result->has_hours) return DPL_OK;
    add_slots(g, k, DPL_SCOPE_HOURS, result);
    for (int period = 0; period < g->periods; period++) add_slots(g, k, period, result);
    return DPL_OK;
}

/* Judges the synthetic sets of a group, whose cells are chosen; frees the group's insides. */
static enum dpl_status judge(struct dpl_run *run, struct group *g, const struct facts *real,
                             struct dpl_eval_result *result) {
    enum dpl_status status;
    g->periods = g->real->grid.area.periods;
    DPL_GO(make_all_ready(run, g));
    DPL_GO(choose_sizes(run, g));
    DPL_GO(make_sides(run, g));
    DPL_GO(do_all_splits(run, g));
    for (size_t k = 0; k < g->n_synthetic; k++) DPL_GO(fill_result(run, g, k, real, &result[k]));
done:
    group_free(g);
    return status;
}

/* ---- checks and the call ---- */

static enum dpl_status check_trips(struct dpl_run *run, const struct dpl_trips *trips,
                                   const char *name) {
    int32_t n_cells = dpl_grid_cells(&trips->grid);
    if (trips->n_trips == 0)
        return dpl_fail(run, DPL_BAD_DATA, "%s holds no trips in the region: nothing to compare",
                        name);
    if (trips->n_trips > UINT32_MAX / 2)
        return dpl_fail(run, DPL_BAD_DATA, "%s holds more than 2 billion trips", name);
    for (size_t i = 0; i < trips->n_trips; i++) {
        if (trips->start[i + 1] <= trips->start[i])
            return dpl_fail(run, DPL_BAD_DATA, "%s: trip %zu has no visits", name, i);
        if (trips->period[i] >= trips->grid.area.periods)
            return dpl_fail(run, DPL_BAD_DATA, "%s: trip %zu lies in no period of the day", name,
                            i);
    }
    for (size_t v = 0; v < trips->n_visits; v++)
        if (trips->cell[v] < 0 || trips->cell[v] >= n_cells)
            return dpl_fail(run, DPL_BAD_DATA, "%s: visit %zu lies outside the grid", name, v);
    return DPL_OK;
}

static bool same_grid(const struct dpl_grid *a, const struct dpl_grid *b) {
    return a->columns == b->columns && a->rows == b->rows && a->area.periods == b->area.periods &&
           a->area.cell_m == b->area.cell_m && a->area.south_deg == b->area.south_deg &&
           a->area.west_deg == b->area.west_deg;
}

static enum dpl_status check_synthetic(struct dpl_run *run, const struct dpl_trips *real,
                                       const struct dpl_eval_synthetic *s) {
    DPL_TRY(check_trips(run, s->trips, s->name));
    if (!same_grid(&real->grid, &s->trips->grid))
        return dpl_fail(run, DPL_USAGE,
                        "%s is on another grid than the real trips; read both with the same box, "
                        "cell and periods",
                        s->name);
    for (size_t i = 0; s->own_cells && i < s->n_own_cells; i++)
        if (s->own_cells[i] < 0 || s->own_cells[i] >= dpl_grid_cells(&real->grid))
            return dpl_fail(run, DPL_USAGE, "%s: its own cell %zu lies outside the grid", s->name,
                            i);
    if (s->own_cells && s->n_own_cells == 0)
        return dpl_fail(run, DPL_BAD_DATA, "%s: its model knows no cells", s->name);
    return DPL_OK;
}

static enum dpl_status check_all(struct dpl_run *run, const struct dpl_trips *real,
                                 const struct dpl_eval_synthetic *synthetic, size_t n,
                                 const struct dpl_eval_options *options) {
    if (n == 0) return dpl_fail(run, DPL_USAGE, "no synthetic trips to evaluate");
    if (options->splits < 1 || options->splits > 1000)
        return dpl_fail(run, DPL_USAGE, "%d splits are not between 1 and 1000", options->splits);
    if (!(options->cell_share > 0 && options->cell_share <= 1))
        return dpl_fail(run, DPL_USAGE, "a share of %g of the visits is not between 0 and 1",
                        options->cell_share);
    DPL_TRY(check_trips(run, real, "the real data"));
    if (real->n_trips < 2)
        return dpl_fail(run, DPL_BAD_DATA,
                        "the real data holds one trip; a floor needs two halves");
    for (size_t k = 0; k < n; k++) DPL_TRY(check_synthetic(run, real, &synthetic[k]));
    return DPL_OK;
}

static enum dpl_status judge_all(struct dpl_run *run, const struct dpl_trips *real,
                                 const struct dpl_eval_synthetic *synthetic,
                                 const struct facts *facts, struct dpl_evaluation *made) {
    // PAPER: the authors project the real trips onto each model's own cells, so each set is judged
    // apart there.
    size_t at_once = made->options.paper_measures ? 1 : made->n_synthetic;
    for (size_t k = 0; k < made->n_synthetic; k += at_once) {
        struct group g = {.options = &made->options,
                          .real = real,
                          .synthetic = synthetic + k,
                          .n_synthetic = at_once};
        if (made->options.paper_measures)
            DPL_TRY(own_cells(run, &synthetic[k], &g.cells));
        else
            DPL_TRY(dpl_cells_most_visited(run, real, made->options.cell_share, &g.cells));
        if (k == 0) made->n_cells = g.cells.n_cells;
        DPL_TRY(judge(run, &g, facts, made->synthetic + k));
    }
    return DPL_OK;
}

struct dpl_eval_options dpl_eval_defaults(void) {
    return (struct dpl_eval_options){.splits = 5, .seed = 1, .cell_share = 0.99};
}

enum dpl_status dpl_evaluate(struct dpl_run *run, const struct dpl_trips *real,
                             const struct dpl_eval_synthetic *synthetic, size_t n_synthetic,
                             const struct dpl_eval_options *options,
                             struct dpl_evaluation **evaluation) {
    dpl_run_begin(run);
    struct facts facts = {0};
    struct dpl_eval_options chosen = options ? *options : dpl_eval_defaults();
    DPL_TRY(check_all(run, real, synthetic, n_synthetic, &chosen));
    struct dpl_evaluation *made = dpl_alloc(run, 1, sizeof *made);
    if (!made) return DPL_SYSTEM;
    enum dpl_status status = DPL_SYSTEM;
    *made = (struct dpl_evaluation){.n_trips = real->n_trips,
                                    .n_visits = real->n_visits,
                                    .periods = real->grid.area.periods,
                                    .options = chosen};
    made->synthetic = dpl_alloc(run, n_synthetic, sizeof *made->synthetic);
    if (!made->synthetic) goto done;
    made->n_synthetic = n_synthetic;
    DPL_GO(find_facts(run, real, &real->grid.area, &facts));
    made->jump_share = facts.jump_share;
    DPL_GO(judge_all(run, real, synthetic, &facts, made));
    *evaluation = made;
    made = NULL;
done:
    dpl_evaluation_free(made);
    return status;
}

void dpl_evaluation_free(struct dpl_evaluation *evaluation) {
    if (!evaluation) return;
    for (size_t k = 0; k < evaluation->n_synthetic; k++) {
        dpl_free(evaluation->synthetic[k].name);
        dpl_free(evaluation->synthetic[k].measures);
    }
    dpl_free(evaluation->synthetic);
    dpl_free(evaluation);
}

const struct dpl_measure *dpl_evaluation_find(const struct dpl_evaluation *evaluation,
                                              size_t synthetic, const char *name, int scope) {
    if (synthetic >= evaluation->n_synthetic) return NULL;
    const struct dpl_eval_result *result = &evaluation->synthetic[synthetic];
    for (size_t i = 0; i < result->n_measures; i++)
        if (result->measures[i].scope == scope && !strcmp(result->measures[i].name, name))
            return &result->measures[i];
    return NULL;
}
