/* Where error comes from: the same five measures of what the trips were at each stage, against the
 * real trips.
 *
 *     real -> projected -> wanted -> expected -> drawn -> placed
 *
 *   floor       one random half of the real trips against the other
 *   projected   real trips moved to the model's places, and spread over their cells
 *   wanted      what was estimated from the noised tables: here noise comes in
 *   expected    what the model's walk does on the average: what calibration could not reach
 *   drawn       the cells of drawn trips: chance
 *   placed      the cells of the points as written
 *
 * A figure that grows from one stage to the next says which of them to look at. Visits count by
 * their trip's length, as the tables do (docs/METHOD.md), by daypart; all that is compared are
 * shares, over the cells of the grid.
 *
 * PRIVACY: reads raw trips. NOT PRIVATE. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate/ready.h" // defines: dpl_shuffle, dpl_emd
#include "method/bridge/measure_stages.h"

enum { STEP_BINS = 64, LENGTHS = 1441, PAIRS_MOST = 2000 };
static const double PAIR_MASS = 0.8, UNITS = 1e8; /* a share of 1 in whole numbers */

struct pair_weight {
    uint64_t key; /* source << 32 | destination, cells of the grid */
    double trips;
};

/* What is known of a stage. */
struct stage {
    double *visits; /* (P, cells of the grid) */
    double *room;   /* (cells of the grid) */
    struct pair_weight *pair;
    size_t n_pairs;
    double steps[STEP_BINS], lengths[LENGTHS];
};

struct stages {
    const struct dpl_grid *grid;
    size_t n_grid, P, length_max;
    double full_visits;
};

static void stage_free(struct stage *stage) {
    dpl_free(stage->visits);
    dpl_free(stage->room);
    dpl_free(stage->pair);
}

static enum dpl_status stage_make(struct dpl_run *run, const struct stages *all, size_t pairs,
                                  struct stage *stage) {
    *stage = (struct stage){.visits = dpl_alloc(run, all->P * all->n_grid, sizeof(double)),
                            .room = dpl_alloc(run, all->n_grid, sizeof(double)),
                            .pair = dpl_alloc(run, pairs, sizeof(struct pair_weight))};
    return stage->visits && stage->room && stage->pair ? DPL_OK : DPL_SYSTEM;
}

static void count_step(const struct stages *all, int32_t from, int32_t to, double weight,
                       struct stage *stage) {
    double bin = dpl_grid_distance_m(all->grid, from, to) / all->grid->area.cell_m;
    if (from != to) stage->steps[bin < STEP_BINS ? (size_t)bin : STEP_BINS - 1] += weight;
}

/* Visits in the centres of places, spread over their cells as the model does; room (cells of the
 * grid). */
static void spread(const struct stages *all, const struct dpl_bridge_stages *places, double *room,
                   struct stage *stage) {
    for (size_t p = 0; p < all->P; p++) {
        double *visits = stage->visits + p * all->n_grid;
        memcpy(room, visits, all->n_grid * sizeof *room);
        for (size_t cell = 0; cell < all->n_grid; cell++)
            visits[cell] = room[places->centre[places->place[cell]]] * places->share[cell];
    }
}

static uint64_t pair_of(int32_t from, int32_t to) {
    return (uint64_t)(uint32_t)from << 32 | (uint32_t)to;
}

/* ---- stages that are trips ---- */

/* The cell that a trip is in when its slot begins; of its place the centre, unless that is NULL. */
static int32_t cell_at(const struct dpl_cleaned *trips, const struct dpl_bridge_stages *places,
                       size_t v) {
    int32_t cell = dpl_grid_cell_of(&trips->grid, (double)trips->position[v].x_m,
                                    (double)trips->position[v].y_m);
    return places ? places->centre[places->place[cell]] : cell;
}

static void count_trip(const struct stages *all, const struct dpl_cleaned *trips,
                       const struct dpl_bridge_stages *places, size_t trip, struct stage *stage) {
    size_t first = trips->start[trip], end = trips->start[trip + 1], n = end - first;
    size_t part = (size_t)trips->period[trip] * all->P / (size_t)all->grid->area.periods;
    double weight = dpl_visit_weight(all->full_visits, n);
    int32_t source = cell_at(trips, places, first), before = source;
    for (size_t v = first; v < end; v++) {
        int32_t here = cell_at(trips, places, v);
        stage->visits[part * all->n_grid + (size_t)here] += weight;
        count_step(all, before, here, weight, stage);
        before = here;
    }
    stage->lengths[n < all->length_max ? n : all->length_max]++;
    stage->pair[stage->n_pairs++] = (struct pair_weight){pair_of(source, before), 1};
}

/* Trips order[0] ... order[n-1]; NULL: the first n. */
static enum dpl_status stage_of_trips(struct dpl_run *run, const struct stages *all,
                                      const struct dpl_cleaned *trips,
                                      const struct dpl_bridge_stages *places, const uint32_t *order,
                                      size_t n, struct stage *stage) {
    DPL_TRY(stage_make(run, all, n, stage));
    for (size_t i = 0; i < n; i++) count_trip(all, trips, places, order ? order[i] : i, stage);
    if (places) spread(all, places, stage->room, stage);
    return DPL_OK;
}

/* ---- stages that are tables ---- */

static enum dpl_status stage_of_tables(struct dpl_run *run, const struct stages *all,
                                       const struct dpl_bridge_stages *b, size_t which,
                                       struct stage *stage) {
    DPL_TRY(stage_make(run, all, b->K * b->K, stage));
    for (size_t i = 0; i < b->P * b->K; i++)
        stage->visits[i / b->K * all->n_grid + (size_t)b->centre[i % b->K]] += b->visits[which][i];
    for (size_t e = 0; e < b->n_edges; e++)
        count_step(all, b->centre[b->from[e]], b->centre[b->to[e]], b->steps[which][e], stage);
    for (size_t l = 0; l <= b->length_max; l++) stage->lengths[l] = b->lengths[which][l];
    for (size_t i = 0; i < b->K * b->K; i++)
        if (b->pairs[i] > 0)
            stage->pair[stage->n_pairs++] = (struct pair_weight){
                pair_of(b->centre[i / b->K], b->centre[i % b->K]), b->pairs[i]};
    spread(all, b, stage->room, stage);
    return DPL_OK;
}

/* ---- measures ---- */

static void cell_row(const void *context, uint32_t from, const uint32_t *to, size_t n,
                     double *cost_m) {
    const struct dpl_grid *grid = context;
    for (size_t i = 0; i < n; i++)
        cost_m[i] = dpl_grid_distance_m(grid, (int32_t)from, (int32_t)to[i]);
}

static double sum_of(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += fmax(values[i], 0);
    return sum;
}

static enum dpl_status emd_of(struct dpl_run *run, const struct stages *all, const double *a,
                              const double *b, double *emd_m) {
    struct dpl_emd_solver solver = {0};
    struct dpl_emd_ground ground = {
        cell_row, all->grid, all->grid->area.cell_m * hypot(all->grid->columns, all->grid->rows)};
    double total_a = sum_of(a, all->n_grid), total_b = sum_of(b, all->n_grid);
    *emd_m = NAN;
    if (!(total_a > 0 && total_b > 0)) return DPL_OK;
    int64_t *count = dpl_alloc(run, 2 * all->n_grid, sizeof *count);
    if (!count) return DPL_SYSTEM;
    for (size_t i = 0; i < all->n_grid; i++) {
        count[i] = (int64_t)rint(fmax(a[i], 0) / total_a * UNITS);
        count[all->n_grid + i] = (int64_t)rint(fmax(b[i], 0) / total_b * UNITS);
    }
    enum dpl_status status =
        dpl_emd(run, &solver, count, count + all->n_grid, all->n_grid, &ground, emd_m);
    dpl_emd_free(&solver);
    dpl_free(count);
    return status;
}

static enum dpl_status densities(struct dpl_run *run, const struct stages *all,
                                 const struct stage *real, const struct stage *other,
                                 struct dpl_stage *figures) {
    double *pooled = dpl_alloc(run, 2 * all->n_grid, sizeof *pooled), sum = 0, parts = 0, emd_m;
    enum dpl_status status = pooled ? DPL_OK : DPL_SYSTEM;
    for (size_t p = 0; status == DPL_OK && p < all->P; p++) {
        const double *a = real->visits + p * all->n_grid, *b = other->visits + p * all->n_grid;
        for (size_t i = 0; i < all->n_grid; i++)
            pooled[i] += a[i], pooled[all->n_grid + i] += fmax(b[i], 0);
        status = emd_of(run, all, a, b, &emd_m);
        if (!isnan(emd_m)) sum += emd_m, parts++;
    }
    figures->density_parts_m = sum / parts;
    if (status == DPL_OK)
        status = emd_of(run, all, pooled, pooled + all->n_grid, &figures->density_m);
    dpl_free(pooled);
    return status;
}

static double js_distance(const double *a, const double *b, size_t n) {
    double total_a = sum_of(a, n), total_b = sum_of(b, n), sum = 0;
    for (size_t i = 0; i < n; i++) {
        double p = fmax(a[i], 0) / total_a, q = fmax(b[i], 0) / total_b;
        if (p > 0) sum += p * log2(2 * p / (p + q)) / 2;
        if (q > 0) sum += q * log2(2 * q / (p + q)) / 2;
    }
    return sqrt(fmax(sum, 0));
}

static int by_key(const void *a, const void *b) {
    const struct pair_weight *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static int heaviest_first(const void *a, const void *b) {
    const struct pair_weight *x = a, *y = b;
    if (x->trips != y->trips) return x->trips > y->trips ? -1 : 1;
    return by_key(a, b);
}

/* Equal pairs joined, the most frequent up to 80 % of the trips, at most 2000. */
static void reduce_pairs(struct stage *stage) {
    size_t n = 0, kept = 0;
    double all = 0, held = 0;
    qsort(stage->pair, stage->n_pairs, sizeof *stage->pair, by_key);
    for (size_t i = 0; i < stage->n_pairs; i++) {
        all += stage->pair[i].trips;
        if (n && stage->pair[n - 1].key == stage->pair[i].key)
            stage->pair[n - 1].trips += stage->pair[i].trips;
        else
            stage->pair[n++] = stage->pair[i];
    }
    qsort(stage->pair, n, sizeof *stage->pair, heaviest_first);
    while (kept < n && kept < PAIRS_MOST && held < PAIR_MASS * all)
        held += stage->pair[kept++].trips;
    stage->n_pairs = kept;
}

struct pair_points {
    const struct dpl_grid *grid;
    const uint64_t *key;
};

static void pair_row(const void *context, uint32_t from, const uint32_t *to, size_t n,
                     double *cost_m) {
    const struct pair_points *p = context;
    for (size_t i = 0; i < n; i++) {
        uint64_t a = p->key[from], b = p->key[to[i]];
        cost_m[i] =
            dpl_grid_distance_m(p->grid, (int32_t)(a >> 32), (int32_t)(b >> 32)) +
            dpl_grid_distance_m(p->grid, (int32_t)(a & UINT32_MAX), (int32_t)(b & UINT32_MAX));
    }
}

/* Points are the pairs of both sides; one that both hold is two points, 0 m apart. */
static enum dpl_status pairs_emd(struct dpl_run *run, const struct stages *all,
                                 const struct stage *real, const struct stage *other,
                                 double *emd_m) {
    size_t n = real->n_pairs + other->n_pairs;
    uint64_t *key = dpl_alloc(run, n, sizeof *key);
    int64_t *count = dpl_alloc(run, 2 * n, sizeof *count);
    struct dpl_emd_solver solver = {0};
    struct pair_points points = {all->grid, key};
    struct dpl_emd_ground ground = {
        pair_row, &points, 2 * all->grid->area.cell_m * hypot(all->grid->columns, all->grid->rows)};
    enum dpl_status status = key && count ? DPL_OK : DPL_SYSTEM;
    for (size_t i = 0; status == DPL_OK && i < n; i++) {
        bool mine = i < real->n_pairs;
        const struct pair_weight *pair = mine ? &real->pair[i] : &other->pair[i - real->n_pairs];
        key[i] = pair->key;
        count[(mine ? 0 : n) + i] = (int64_t)rint(pair->trips * 1000);
    }
    *emd_m = NAN;
    if (status == DPL_OK && real->n_pairs && other->n_pairs)
        status = dpl_emd(run, &solver, count, count + n, n, &ground, emd_m);
    dpl_emd_free(&solver);
    dpl_free(key);
    dpl_free(count);
    return status;
}

static enum dpl_status compare(struct dpl_run *run, const struct stages *all,
                               const struct stage *real, struct stage *other, const char *name,
                               struct dpl_stage *figures) {
    *figures = (struct dpl_stage){.name = name};
    DPL_TRY(dpl_check_interrupt(run));
    reduce_pairs(other);
    DPL_TRY(densities(run, all, real, other, figures));
    DPL_TRY(pairs_emd(run, all, real, other, &figures->od_m));
    figures->length_jsd = js_distance(real->lengths, other->lengths, all->length_max + 1);
    figures->step_jsd = js_distance(real->steps, other->steps, STEP_BINS);
    return DPL_OK;
}

/* ---- the call ---- */

struct judged {
    const struct stages *all;
    struct stage real;
    struct dpl_stage *list;
    size_t n;
};

static enum dpl_status judge_trips(struct dpl_run *run, struct judged *j,
                                   const struct dpl_cleaned *trips,
                                   const struct dpl_bridge_stages *places, const char *name) {
    struct stage stage = {.visits = NULL};
    enum dpl_status status =
        stage_of_trips(run, j->all, trips, places, NULL, trips->n_trips, &stage);
    if (status == DPL_OK) status = compare(run, j->all, &j->real, &stage, name, &j->list[j->n++]);
    stage_free(&stage);
    return status;
}

static enum dpl_status judge_tables(struct dpl_run *run, struct judged *j,
                                    const struct dpl_bridge_stages *b) {
    static const char *const NAME[2] = {"wanted", "expected"};
    enum dpl_status status = DPL_OK;
    for (size_t i = 0; status == DPL_OK && i < 2; i++) {
        struct stage stage = {.visits = NULL};
        status = stage_of_tables(run, j->all, b, i, &stage);
        if (status == DPL_OK)
            status = compare(run, j->all, &j->real, &stage, NAME[i], &j->list[j->n++]);
        stage_free(&stage);
    }
    return status;
}

/* One half of the real trips against the other. */
static enum dpl_status judge_floor(struct dpl_run *run, struct judged *j,
                                   const struct dpl_cleaned *real) {
    size_t half = real->n_trips / 2;
    struct stage side[2] = {{.visits = NULL}, {.visits = NULL}};
    uint32_t *order = dpl_alloc(run, real->n_trips, sizeof *order);
    enum dpl_status status = order ? DPL_OK : DPL_SYSTEM;
    if (order) dpl_shuffle(order, real->n_trips, real->n_trips, 1, 7000);
    for (size_t s = 0; status == DPL_OK && s < 2; s++)
        status = stage_of_trips(run, j->all, real, NULL, order + s * half, half, &side[s]);
    if (status == DPL_OK) reduce_pairs(&side[0]);
    if (status == DPL_OK)
        status = compare(run, j->all, &side[0], &side[1], "floor", &j->list[j->n++]);
    stage_free(&side[0]);
    stage_free(&side[1]);
    dpl_free(order);
    return status;
}

static enum dpl_status check(struct dpl_run *run, const struct dpl_cleaned *real,
                             const struct dpl_model *model, const struct dpl_cleaned *drawn,
                             const struct dpl_cleaned *placed) {
    const struct dpl_cleaned *set[3] = {real, drawn, placed};
    if (!dpl_stages_known(model))
        return dpl_fail(run, DPL_USAGE, "stages are those of the method bridge, not of %s",
                        model->method);
    for (size_t i = 0; i < 3; i++)
        if (set[i]->grid.columns != model->grid.columns || set[i]->grid.rows != model->grid.rows ||
            set[i]->grid.area.periods != model->grid.area.periods || !set[i]->position ||
            set[i]->n_trips < 2)
            return dpl_fail(run, DPL_USAGE,
                            "trips and model must be on the same grid, with positions");
    return DPL_OK;
}

enum dpl_status dpl_evaluate_stages(struct dpl_run *run, const struct dpl_cleaned *real,
                                    const struct dpl_model *model, const struct dpl_cleaned *drawn,
                                    const struct dpl_cleaned *placed,
                                    struct dpl_stage list[DPL_STAGES]) {
    struct dpl_bridge_stages tables = {.K = 0};
    dpl_run_begin(run);
    DPL_TRY(check(run, real, model, drawn, placed));
    DPL_TRY(dpl_bridge_stages_make(run, model, &tables));
    const struct stages all = {.grid = &real->grid,
                               .n_grid = (size_t)dpl_grid_cells(&real->grid),
                               .P = tables.P,
                               .length_max = tables.length_max,
                               .full_visits = tables.full_visits};
    struct judged j = {.all = &all, .list = list};
    enum dpl_status status;
    DPL_GO(stage_of_trips(run, &all, real, NULL, NULL, real->n_trips, &j.real));
    reduce_pairs(&j.real);
    DPL_GO(judge_floor(run, &j, real));
    DPL_GO(judge_trips(run, &j, real, &tables, "projected"));
    DPL_GO(judge_tables(run, &j, &tables));
    DPL_GO(judge_trips(run, &j, drawn, NULL, "drawn"));
    DPL_GO(judge_trips(run, &j, placed, NULL, "placed"));
done:
    stage_free(&j.real);
    dpl_bridge_stages_free(&tables);
    return status;
}
