/* The method `adatrace` (Gursoy et al. 2018): a coarse grid, a Markov chain on it, ends and lengths
 * of trips; no TOP-K. docs/BASELINES.md says what it does, and where it differs from the published
 * program.
 *
 *     lengths -> L_max                          2 % of epsilon (1 % of rho)
 *     grid    -> density of 6 x 6 cells        \  5 % of the rest, half each
 *     subgrid -> density of their sub-cells    /
 *     markov  -> moves between touching cells     35 %
 *     pairs   -> first and last cells             50 %
 *     steps   -> lengths by king's distance       10 %
 *
 * PAPER: the published program takes the box, the sub-cell weights, the number of pairs, the
 * largest extra length and the histogram that picks the family of lengths from the raw data. Here
 * the box is public and everything else noised. */
#include <math.h>
#include <string.h>

#include "method/adatrace/measure.h"
#include "fit/choose.h"

static enum dpl_status plan(struct dpl_run *run, const struct dpl_fit_options *options,
                            struct dpl_mechanism *ask, size_t *n) {
    static const double PART[DPL_ADATRACE_TABLES] = {[DPL_ADATRACE_GRID] = 0.025,
                                                     [DPL_ADATRACE_SUBGRID] = 0.025,
                                                     [DPL_ADATRACE_MARKOV] = 0.35,
                                                     [DPL_ADATRACE_PAIRS] = 0.50,
                                                     [DPL_ADATRACE_STEPS] = 0.10};
    bool laplace = dpl_mechanism_laplace(options);
    const double lengths = laplace ? 0.02 : 0.01;
    if (options->budget.unit != DPL_UNIT_TRIP)
        return dpl_fail(
            run, DPL_USAGE,
            "the method adatrace protects single trips: its tables hold each trip "
            "once, not all trips of a user (`budget.unit` trip, or `fit.method` bridge)");
    for (*n = 0; *n < DPL_ADATRACE_TABLES; ++*n) {
        double part = *n == DPL_ADATRACE_LENGTHS ? lengths : PART[*n] * (1 - lengths);
        // Shares count for the squared budget: of epsilon itself with Laplace noise they are the
        // roots.
        ask[*n] = (struct dpl_mechanism){.kind = laplace ? DPL_EVENT_LAPLACE : DPL_EVENT_GAUSSIAN,
                                         .share = laplace ? part * part : part,
                                         .clip = 1};
        strcpy(ask[*n].name, dpl_adatrace_table_name((enum dpl_adatrace_table) * n));
    }
    return DPL_OK;
}

static double expect(const char *name, const struct dpl_grid *grid,
                     const struct dpl_fit_options *options, double units) {
    (void)grid, (void)options;
    for (int table = 0; table < DPL_ADATRACE_TABLES; table++)
        if (!strcmp(name, dpl_adatrace_table_name((enum dpl_adatrace_table)table)) &&
            table != DPL_ADATRACE_SUBGRID)
            return units / (double)dpl_shape_size(dpl_adatrace_table_shape(
                               (enum dpl_adatrace_table)table, DPL_ADATRACE_SIDE, 0));
    return NAN;
}

/* ---- measuring ---- */

/* Whom is asked, and what every question is about. */
struct asking {
    const struct dpl_parts *parts;
    struct dpl_release *release;
    struct dpl_adatrace_about about;
};

/* The values of a noised table, in doubles; free with dpl_free. *reach may be NULL. */
static enum dpl_status measure(struct dpl_run *run, const struct asking *asking,
                               enum dpl_adatrace_table table, size_t sub_cells, double *reach,
                               double **values) {
    static const double RISK = 0.05;
    struct dpl_noised *noised = NULL;
    struct dpl_adatrace_about about = asking->about;
    about.table = table;
    const struct dpl_question question = {
        .name = dpl_adatrace_table_name(table),
        .shape = dpl_adatrace_table_shape(table, about.side, sub_cells),
        .count = dpl_adatrace_count,
        .about = &about};
    size_t n = dpl_shape_size(question.shape);
    DPL_TRY(dpl_release_measure(run, asking->release, question, asking->parts, &noised));
    double *made = dpl_alloc(run, n, sizeof *made);
    for (size_t i = 0; made && i < n; i++) made[i] = dpl_noised_value(noised, i);
    if (reach) *reach = dpl_noised_reach(noised, RISK);
    dpl_noised_free(noised);
    *values = made;
    return made ? DPL_OK : DPL_SYSTEM;
}

/* Where the centre of each cell of the public grid lies in level 1, and in level 2 once `split` is
 * known. */
static enum dpl_status map_cells(struct dpl_run *run, const struct dpl_grid *grid, size_t side,
                                 const int32_t *split, int32_t **made) {
    size_t cells = side * side, *first = dpl_alloc(run, cells + 1, sizeof *first);
    int32_t *map = dpl_alloc(run, (size_t)dpl_grid_cells(grid), sizeof *map);
    *made = map;
    if (!first || !map) {
        dpl_free(first);
        return DPL_SYSTEM;
    }
    for (size_t c = 0; split && c < cells; c++)
        first[c + 1] = first[c] + (size_t)split[c] * (size_t)split[c];
    for (int32_t i = 0; i < dpl_grid_cells(grid); i++) {
        double lat, lon;
        dpl_grid_centre(grid, i, &lat, &lon);
        size_t cell = dpl_coarse_at(&grid->area, side, lat, lon);
        map[i] = (int32_t)(split ? first[cell] + dpl_coarse_sub_at(&grid->area, side,
                                                                   (size_t)split[cell], lat, lon)
                                 : cell);
    }
    dpl_free(first);
    return DPL_OK;
}

/* ---- parts of the model ---- */

static enum dpl_status add_chances(struct dpl_run *run, struct dpl_model *model, const char *name,
                                   size_t rows, size_t columns, float **chance) {
    return dpl_model_add(run, model, name, DPL_TENSOR_F32, 2, (size_t[]){rows, columns}, chance);
}

/* Every cell of the public grid may be visited. */
static enum dpl_status add_cells(struct dpl_run *run, struct dpl_model *model) {
    int32_t *cell;
    size_t n = (size_t)dpl_grid_cells(&model->grid);
    DPL_TRY(dpl_model_add(run, model, "cells", DPL_TENSOR_I32, 1, &n, &cell));
    for (size_t i = 0; i < n; i++) cell[i] = (int32_t)i;
    return DPL_OK;
}

/* Level 1, the splits that follow from it, level 2. */
static enum dpl_status fit_grid(struct dpl_run *run, struct asking *asking,
                                struct dpl_model *model) {
    size_t cells = asking->about.side * asking->about.side;
    double *grid = NULL, *subgrid = NULL;
    int32_t *split, *fine = NULL;
    float *chance;
    enum dpl_status status;
    DPL_GO(dpl_model_add(run, model, "adatrace.split", DPL_TENSOR_I32, 1, &cells, &split));
    DPL_GO(measure(run, asking, DPL_ADATRACE_GRID, 0, NULL, &grid));
    size_t n = dpl_adatrace_split(grid, cells, (double)dpl_plan_units(asking->release->plan),
                                  dpl_plan_bound(asking->release->plan)->epsilon, split);
    DPL_GO(map_cells(run, &model->grid, asking->about.side, split, &fine));
    asking->about.fine = fine;
    DPL_GO(measure(run, asking, DPL_ADATRACE_SUBGRID, n, NULL, &subgrid));
    DPL_GO(add_chances(run, model, "adatrace.subgrid", 1, n, &chance));
    dpl_adatrace_subgrid(subgrid, split, cells, chance);
done:
    dpl_free(grid), dpl_free(subgrid), dpl_free(fine);
    asking->about.fine = NULL;
    return status;
}

static enum dpl_status fit_moves(struct dpl_run *run, const struct asking *asking,
                                 struct dpl_model *model) {
    size_t side = asking->about.side, cells = side * side, bins = DPL_ADATRACE_EXTRA + 1;
    double *markov = NULL, *pairs = NULL, *steps = NULL, reach;
    float *chance;
    enum dpl_status status;
    DPL_GO(measure(run, asking, DPL_ADATRACE_MARKOV, 0, NULL, &markov));
    DPL_GO(add_chances(run, model, "adatrace.markov", cells, cells, &chance));
    dpl_adatrace_markov(markov, side, chance);
    DPL_GO(measure(run, asking, DPL_ADATRACE_PAIRS, 0, NULL, &pairs));
    DPL_GO(add_chances(run, model, "adatrace.pairs", cells, cells, &chance));
    if (!dpl_adatrace_pairs(pairs, side, chance)) {
        status = dpl_fail(run, DPL_BAD_DATA,
                          "no start and end of trips exceed the noise; ask for a larger "
                          "`budget.epsilon`, and see that the box is where the trips are");
        goto done;
    }
    DPL_GO(measure(run, asking, DPL_ADATRACE_STEPS, 0, &reach, &steps));
    DPL_GO(add_chances(run, model, "adatrace.steps", side, bins, &chance));
    for (size_t d = 0; d < side; d++)
        dpl_adatrace_steps(steps + d * bins, reach, chance + d * bins);
done:
    dpl_free(markov), dpl_free(pairs), dpl_free(steps);
    return status;
}

static enum dpl_status fit(struct dpl_run *run, struct dpl_parts *parts,
                           struct dpl_release *release, struct dpl_model *model) {
    struct asking asking = {
        .parts = parts, .release = release, .about = {.side = DPL_ADATRACE_SIDE}};
    int32_t *coarse = NULL;
    enum dpl_status status;
    DPL_GO(dpl_choose_length(run, release, parts, model));
    DPL_GO(map_cells(run, &model->grid, DPL_ADATRACE_SIDE, NULL, &coarse));
    asking.about.length_max = model->length_max;
    asking.about.coarse = coarse;
    DPL_GO(add_cells(run, model));
    DPL_GO(fit_grid(run, &asking, model));
    DPL_GO(fit_moves(run, &asking, model));
    // The longest trip that can be drawn; trips were cut at the measured length before they were
    // counted.
    if (model->length_max < DPL_ADATRACE_SIDE + DPL_ADATRACE_EXTRA)
        model->length_max = DPL_ADATRACE_SIDE + DPL_ADATRACE_EXTRA;
    model->trips_estimated = dpl_plan_units(
        release->plan); // PAPER: the noised number, not that of the data's trips or pairs
    if (json_object_set_new(model->options, "adatrace_side", json_integer(DPL_ADATRACE_SIDE)) != 0)
        status = dpl_fail(run, DPL_SYSTEM, "out of memory");
done:
    dpl_free(coarse);
    return status;
}

const struct dpl_method dpl_method_adatrace = {.name = "adatrace",
                                               .has_time = false,
                                               .has_laplace = true,
                                               .coverage = 1,
                                               .plan = plan,
                                               .expect = expect,
                                               .fit = fit};
