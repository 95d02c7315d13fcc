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
 * A task is one family of measures for one comparison in one scope; tasks of a split run in
 * parallel and write to places of their own, and sums over splits and periods run in order: the
 * figures do not depend on the number of threads.
 *
 * PRIVACY: everything here reads raw trips. Nothing of it may enter a released file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate/table.h"
#include "base/options.h"

/* ---- one group of synthetic sets on one set of cells ---- */

enum { PAPER_TRIPS = 2000 };
static const double PAPER_REACH_M = 1000;

struct comparison {
    size_t a, b; /* sides */
    bool has_times, has_hours, has_positions;
};

struct group {
    const struct dpl_eval_options *options;
    const struct dpl_cleaned *real;
    const double *real_figure; /* (DPL_N_ROWS) of set families, for the real set */
    const bool *chosen;        /* (DPL_N_ROWS) */
    const struct dpl_eval_synthetic *synthetic;
    size_t n_synthetic;
    struct dpl_cells cells;
    struct dpl_index same;
    struct dpl_ready *ready; /* (n_synthetic + 1) the real set last */
    struct dpl_ready test;   /* the real trips to test tasks on, if they were given */
    /* sides: A and B of each size, then one per synthetic set */
    size_t *size;    /* (n_sizes) trips a side, distinct */
    size_t *size_of; /* (n_synthetic) which of them */
    size_t n_sizes;
    struct dpl_side *side;         /* (2 * n_sizes + n_synthetic) */
    struct comparison *comparison; /* (n_sizes + n_synthetic) floors first */
    uint32_t *order;               /* scratch, as long as the largest data set */
    double *value; /* (2 * splits, comparisons, periods + 1, DPL_N_ROWS) NAN: not measured */
    int periods;
};

static size_t n_comparisons(const struct group *g) { return g->n_sizes + g->n_synthetic; }

static double *value_at(const struct group *g, size_t split, size_t comparison, int scope) {
    size_t scopes = (size_t)g->periods + 1, at = scope == DPL_SCOPE_POOLED ? 0 : (size_t)scope + 1;
    return g->value + ((split * n_comparisons(g) + comparison) * scopes + at) * DPL_N_ROWS;
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
    if (!g->options->test) return DPL_OK;
    return dpl_ready_make(run, g->options->test, &g->cells, INFINITY, &g->same, &g->test);
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
        g->comparison[s] = (struct comparison){.a = 2 * s, .b = 2 * s + 1};
    }
    for (size_t k = 0; k < g->n_synthetic; k++) {
        size_t s = g->size_of[k], b = 2 * g->n_sizes + k;
        DPL_TRY(dpl_side_new(run, &g->ready[k], g->size[s], &g->side[b]));
        struct comparison *own = &g->comparison[g->n_sizes + k], *floor = &g->comparison[s];
        *own = (struct comparison){.a = 2 * s, .b = b};
        own->has_times = real->has_time && g->ready[k].has_time;
        own->has_hours = own->has_times && g->periods > 1;
        own->has_positions = g->real->position && g->synthetic[k].trips->position;
        floor->has_times |= own->has_times;
        floor->has_hours |= own->has_hours;
        floor->has_positions |= own->has_positions;
        longest = g->ready[k].trips.n_trips > longest ? g->ready[k].trips.n_trips : longest;
    }
    g->order = dpl_alloc(run, longest, sizeof *g->order);
    size_t n_values =
        2 * (size_t)g->options->splits * n_comparisons(g) * ((size_t)g->periods + 1) * DPL_N_ROWS;
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
    enum dpl_family family;
    int scope;
    size_t comparison;
};

/* Whether a family has a row that is to be shown. */
static bool family_offered(const struct group *g, enum dpl_family family) {
    for (size_t row = dpl_family_first(family); row < DPL_N_ROWS && DPL_ROWS[row].family == family;
         row++)
        if (g->chosen[row] &&
            (!g->options->paper_measures || (DPL_ROWS[row].flags & DPL_ROW_PAPER)))
            return true;
    return false;
}

static bool wanted(const struct group *g, const struct task *t, bool extra_split) {
    const struct comparison *c = &g->comparison[t->comparison];
    unsigned flags = DPL_ROWS[dpl_family_first(t->family)].flags;
    bool pooled = t->scope == DPL_SCOPE_POOLED;
    if (!family_offered(g, t->family)) return false;
    if (extra_split && (t->family != DPL_FAMILY_DENSITY || !pooled)) return false;
    if (g->options->paper_measures && c->has_hours && pooled)
        return false; // "overall" is the mean of hours
    if ((flags & DPL_ROW_POSITIONS) && !c->has_positions) return false;
    if ((flags & DPL_ROW_TIMES) && !c->has_times) return false;
    if (t->family == DPL_FAMILY_HOURS && !c->has_hours) return false;
    return pooled || (c->has_hours && !(flags & DPL_ROW_POOLED));
}

static size_t list_tasks(const struct group *g, bool extra_split, struct task *task) {
    size_t n = 0;
    for (int family = 0; family < DPL_PAIR_FAMILIES; family++)
        for (int scope = DPL_SCOPE_POOLED; scope < g->periods; scope++)
            for (size_t c = 0; c < n_comparisons(g); c++) {
                struct task t = {(enum dpl_family)family, scope, c};
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
    return dpl_family_pair(run, t->family, &a, &b,
                           value_at(g, split, t->comparison, t->scope) +
                               dpl_family_first(t->family));
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
    struct task *task = dpl_alloc(
        run, DPL_PAIR_FAMILIES * ((size_t)g->periods + 1) * n_comparisons(g), sizeof *task);
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
    dpl_ready_free(&g->test);
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

static double mean_of_periods(const struct group *g, size_t split, size_t comparison, size_t row) {
    struct mean mean = {0};
    for (int period = 0; period < g->periods; period++)
        mean_add(&mean, value_at(g, split, comparison, period)[row]);
    return mean_of(mean);
}

static double mean_of_splits(const struct group *g, size_t comparison, int scope, size_t row) {
    struct mean mean = {0};
    for (size_t split = 0; split < 2 * (size_t)g->options->splits; split++)
        mean_add(&mean, scope == DPL_SCOPE_HOURS ? mean_of_periods(g, split, comparison, row)
                                                 : value_at(g, split, comparison, scope)[row]);
    return mean_of(mean);
}

/* ---- cells that a model knows ---- */

static double outside_share(const struct dpl_cleaned *real, const struct dpl_cells *own) {
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

/* Whether the real trips have what the row needs: then it is shown, as null where the synthetic
 * set lacks it. */
static bool row_offered(const struct group *g, const struct dpl_row *row, int scope) {
    if (!g->chosen[row - DPL_ROWS]) return false;
    if (g->options->paper_measures && !(row->flags & DPL_ROW_PAPER)) return false;
    if (scope != DPL_SCOPE_POOLED && (row->flags & DPL_ROW_POOLED)) return false;
    if ((row->flags & DPL_ROW_POSITIONS) && !g->real->position) return false;
    if ((row->flags & DPL_ROW_TIMES) && !g->real->has_time) return false;
    if (row->family == DPL_FAMILY_HOURS && g->periods == 1) return false;
    if ((row->flags & DPL_ROW_ROADS) && !g->options->roads) return false;
    return !(row->flags & DPL_ROW_FACTS) || g->options->real_facts;
}

/* What families of whole sets and studies found, by row. */
struct whole {
    double value[DPL_ROWS_MAX], floor[DPL_ROWS_MAX];
};

static void add_rows(const struct group *g, size_t k, int scope, const struct whole *whole,
                     struct dpl_eval_result *result) {
    size_t floor = g->size_of[k], comparison = g->n_sizes + k;
    // The authors have no pooled figures by pairs where there are hours.
    bool hours_only = g->options->paper_measures && result->has_hours && scope == DPL_SCOPE_POOLED;
    for (size_t row = 0; row < DPL_N_ROWS; row++) {
        const struct dpl_row *r = &DPL_ROWS[row];
        bool pair = r->family < DPL_PAIR_FAMILIES;
        if (!row_offered(g, r, scope) || (pair && hours_only)) continue;
        if (pair)
            add_measure(result, r->name, scope, r->better,
                        mean_of_splits(g, comparison, scope, row),
                        mean_of_splits(g, floor, scope, row));
        else if (scope == DPL_SCOPE_POOLED)
            add_measure(result, r->name, scope, r->better, whole->value[row], whole->floor[row]);
    }
}

/* The figures of a whole set, by row; NAN where it lacks what they need. */
static enum dpl_status find_figures(struct dpl_run *run, const struct dpl_set *set,
                                    const bool *chosen, double *figure) {
    for (int f = DPL_PAIR_FAMILIES; f < DPL_SET_FAMILIES_END; f++) {
        size_t first = dpl_family_first((enum dpl_family)f);
        unsigned flags = DPL_ROWS[first].flags;
        if (!dpl_family_chosen(chosen, (enum dpl_family)f)) continue;
        if ((flags & DPL_ROW_POSITIONS) && !set->trips->position) continue;
        if ((flags & DPL_ROW_TIMES) && !set->trips->has_time) continue;
        if ((flags & DPL_ROW_FACTS) && !set->facts) continue;
        if ((flags & DPL_ROW_ROADS) && !set->roads) continue;
        DPL_TRY(dpl_family_set(run, (enum dpl_family)f, set, figure + first));
    }
    return DPL_OK;
}

static enum dpl_status do_studies(struct dpl_run *run, const struct group *g, size_t k,
                                  struct whole *whole) {
    struct dpl_study study = {.options = g->options,
                              .real = &g->ready[g->n_synthetic],
                              .synthetic = &g->ready[k],
                              .test = g->options->test ? &g->test : NULL};
    for (int f = DPL_SET_FAMILIES_END; f < DPL_FAMILIES; f++) {
        size_t first = dpl_family_first((enum dpl_family)f);
        bool placed = g->comparison[g->n_sizes + k].has_positions;
        if (!family_offered(g, (enum dpl_family)f)) continue;
        if ((DPL_ROWS[first].flags & DPL_ROW_POSITIONS) && !placed) continue;
        DPL_TRY(dpl_family_study(run, (enum dpl_family)f, &study, whole->value + first,
                                 whole->floor + first));
    }
    return DPL_OK;
}

static enum dpl_status find_whole(struct dpl_run *run, const struct group *g, size_t k,
                                  struct whole *whole) {
    struct dpl_set set = {g->synthetic[k].trips, g->synthetic[k].facts, &g->real->grid.area,
                          g->options->roads};
    for (size_t row = 0; row < DPL_N_ROWS; row++) {
        whole->value[row] = NAN;
        whole->floor[row] = g->real_figure[row];
    }
    DPL_TRY(find_figures(run, &set, g->chosen, whole->value));
    return do_studies(run, g, k, whole);
}

static enum dpl_status fill_result(struct dpl_run *run, const struct group *g, size_t k,
                                   struct dpl_eval_result *result) {
    struct whole whole;
    struct dpl_cells own = {0};
    size_t length = strlen(g->synthetic[k].name);
    DPL_TRY(own_cells(run, &g->synthetic[k], &own));
    result->outside_share = outside_share(g->real, &own);
    dpl_cells_free(&own);
    DPL_TRY(find_whole(run, g, k, &whole));
    result->name = dpl_alloc(run, length + 1, 1);
    result->measures =
        dpl_alloc(run, ((size_t)g->periods + 2) * DPL_N_ROWS, sizeof *result->measures);
    if (!result->name || !result->measures) return DPL_SYSTEM;
    memcpy(result->name, g->synthetic[k].name, length);
    result->n_trips = g->synthetic[k].trips->n_trips;
    result->n_visits = g->synthetic[k].trips->n_visits;
    result->n_compared = g->size[g->size_of[k]];
    result->has_hours = g->comparison[g->n_sizes + k].has_hours;
    add_rows(g, k, DPL_SCOPE_POOLED, &whole, result);
    if (!result->has_hours) return DPL_OK;
    add_rows(g, k, DPL_SCOPE_HOURS, &whole, result);
    for (int period = 0; period < g->periods; period++) add_rows(g, k, period, &whole, result);
    return DPL_OK;
}

/* Judges the synthetic sets of a group, whose cells are chosen; frees the group's insides. */
static enum dpl_status judge(struct dpl_run *run, struct group *g, struct dpl_eval_result *result) {
    enum dpl_status status;
    g->periods = g->real->grid.area.periods;
    DPL_GO(make_all_ready(run, g));
    DPL_GO(choose_sizes(run, g));
    DPL_GO(make_sides(run, g));
    DPL_GO(do_all_splits(run, g));
    for (size_t k = 0; k < g->n_synthetic; k++) DPL_GO(fill_result(run, g, k, &result[k]));
done:
    group_free(g);
    return status;
}

/* ---- checks and the call ---- */

static enum dpl_status check_trips(struct dpl_run *run, const struct dpl_cleaned *trips,
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

static enum dpl_status check_synthetic(struct dpl_run *run, const struct dpl_cleaned *real,
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

static enum dpl_status check_all(struct dpl_run *run, const struct dpl_cleaned *real,
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
    if (!(options->blur_m >= 0 && options->blur_m <= 1000))
        return dpl_fail(run, DPL_USAGE, "a blur of %g m is not between 0 and 1000",
                        options->blur_m);
    if (options->test) {
        struct dpl_eval_synthetic test = {.name = "the test data", .trips = options->test};
        DPL_TRY(check_synthetic(run, real, &test));
    }
    for (size_t k = 0; k < n; k++) DPL_TRY(check_synthetic(run, real, &synthetic[k]));
    return DPL_OK;
}

static enum dpl_status judge_all(struct dpl_run *run, const struct dpl_cleaned *real,
                                 const struct dpl_eval_synthetic *synthetic,
                                 const double *real_figure, const bool *chosen,
                                 struct dpl_evaluation *made) {
    // PAPER: the authors project the real trips onto each model's own cells, so each set is judged
    // apart there.
    size_t at_once = made->options.paper_measures ? 1 : made->n_synthetic;
    for (size_t k = 0; k < made->n_synthetic; k += at_once) {
        struct group g = {.options = &made->options,
                          .real = real,
                          .real_figure = real_figure,
                          .chosen = chosen,
                          .synthetic = synthetic + k,
                          .n_synthetic = at_once};
        if (made->options.paper_measures)
            DPL_TRY(own_cells(run, &synthetic[k], &g.cells));
        else
            DPL_TRY(dpl_cells_most_visited(run, real, made->options.cell_share, &g.cells));
        if (k == 0) made->n_cells = g.cells.n_cells;
        DPL_TRY(judge(run, &g, made->synthetic + k));
    }
    return DPL_OK;
}

struct dpl_eval_options dpl_eval_defaults(void) {
    return (struct dpl_eval_options){.struct_size = sizeof(struct dpl_eval_options),
                                     .splits = 5,
                                     .seed = 1,
                                     .cell_share = 0.99,
                                     .blur_m = 15};
}

enum dpl_status dpl_evaluate(struct dpl_run *run, const struct dpl_cleaned *real,
                             const struct dpl_eval_synthetic *synthetic, size_t n_synthetic,
                             const struct dpl_eval_options *options,
                             struct dpl_evaluation **evaluation) {
    dpl_run_begin(run);
    struct dpl_eval_options used = dpl_eval_defaults();
    DPL_TRY(dpl_options_take(run, "eval", options, &used));
    bool chosen[DPL_ROWS_MAX];
    double figure[DPL_ROWS_MAX];
    struct dpl_set set = {real, used.real_facts, &real->grid.area, used.roads};
    for (size_t row = 0; row < DPL_ROWS_MAX; row++) figure[row] = NAN;
    DPL_TRY(check_all(run, real, synthetic, n_synthetic, &used));
    DPL_TRY(dpl_rows_choose(run, used.only, used.peer_measures, chosen));
    struct dpl_evaluation *made = dpl_alloc(run, 1, sizeof *made);
    if (!made) return DPL_SYSTEM;
    enum dpl_status status = DPL_SYSTEM;
    *made = (struct dpl_evaluation){.n_trips = real->n_trips,
                                    .n_visits = real->n_visits,
                                    .periods = real->grid.area.periods,
                                    .options = used};
    made->synthetic = dpl_alloc(run, n_synthetic, sizeof *made->synthetic);
    if (!made->synthetic) goto done;
    made->n_synthetic = n_synthetic;
    DPL_GO(find_figures(run, &set, chosen, figure));
    DPL_GO(
        dpl_family_set(run, DPL_FAMILY_SIZES, &set, figure + dpl_family_first(DPL_FAMILY_SIZES)));
    made->jump_share = figure[dpl_row_of("jump_share")];
    DPL_GO(judge_all(run, real, synthetic, figure, chosen, made));
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
