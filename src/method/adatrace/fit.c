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
    if (options->budget.unit != DPL_UNIT_TRIP)
        return dpl_fail(
            run, DPL_USAGE,
            "the method adatrace protects single trips: its tables hold each trip "
            "once, not all trips of a user (`budget.unit` trip, or `fit.method` bridge)");
    for (*n = 0; *n < DPL_ADATRACE_TABLES; ++*n) {
        bool lengths = *n == DPL_ADATRACE_LENGTHS;
        ask[*n] = dpl_method_ask(
            options, &(struct dpl_asked){dpl_adatrace_table_name((enum dpl_adatrace_table) * n),
                                         lengths ? 0.01 : PART[*n] * (1 - 0.01),
                                         lengths ? 0.02 : PART[*n] * (1 - 0.02), 1, 1});
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
    struct dpl_parts *parts;
    struct dpl_release *release;
    struct dpl_adatrace_about about;
};

static enum dpl_status measure(struct dpl_run *run, const struct asking *asking,
                               enum dpl_adatrace_table table, size_t sub_cells,
                               struct dpl_values *values) {
    struct dpl_adatrace_about about = asking->about;
    about.table = table;
    const struct dpl_question question = {
        .name = dpl_adatrace_table_name(table),
        .shape = dpl_adatrace_table_shape(table, about.side, sub_cells),
        .count = dpl_adatrace_count,
        .about = &about};
    return dpl_measure_values(run, asking->release, question, asking->parts, values);
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

/* Level 1, the splits that follow from it, level 2. */
static enum dpl_status fit_grid(struct dpl_run *run, struct asking *asking,
                                struct dpl_model *model) {
    size_t cells = asking->about.side * asking->about.side;
    struct dpl_values grid = {0}, subgrid = {0};
    int32_t *split, *fine = NULL;
    float *chance;
    enum dpl_status status;
    DPL_GO(dpl_model_add(run, model, "adatrace.split", DPL_TENSOR_I32, 1, &cells, &split));
    DPL_GO(measure(run, asking, DPL_ADATRACE_GRID, 0, &grid));
    size_t n = dpl_adatrace_split(grid.value, cells, (double)dpl_plan_units(asking->release->plan),
                                  dpl_plan_bound(asking->release->plan)->epsilon, split);
    DPL_GO(map_cells(run, &model->grid, asking->about.side, split, &fine));
    asking->about.fine = fine;
    DPL_GO(measure(run, asking, DPL_ADATRACE_SUBGRID, n, &subgrid));
    DPL_GO(add_chances(run, model, "adatrace.subgrid", 1, n, &chance));
    dpl_adatrace_subgrid(subgrid.value, split, cells, chance);
done:
    dpl_free(grid.value), dpl_free(subgrid.value), dpl_free(fine);
    asking->about.fine = NULL;
    return status;
}

static enum dpl_status fit_moves(struct dpl_run *run, const struct asking *asking,
                                 struct dpl_model *model) {
    size_t side = asking->about.side, cells = side * side, bins = DPL_ADATRACE_EXTRA + 1;
    struct dpl_values markov = {0}, pairs = {0}, steps = {0};
    float *chance;
    enum dpl_status status;
    DPL_GO(measure(run, asking, DPL_ADATRACE_MARKOV, 0, &markov));
    DPL_GO(add_chances(run, model, "adatrace.markov", cells, cells, &chance));
    dpl_adatrace_markov(markov.value, side, chance);
    DPL_GO(measure(run, asking, DPL_ADATRACE_PAIRS, 0, &pairs));
    DPL_GO(add_chances(run, model, "adatrace.pairs", cells, cells, &chance));
    if (!dpl_adatrace_pairs(pairs.value, side, chance)) {
        status = dpl_fail(run, DPL_BAD_DATA,
                          "no start and end of trips exceed the noise; ask for a larger "
                          "`budget.epsilon`, and see that the box is where the trips are");
        goto done;
    }
    DPL_GO(measure(run, asking, DPL_ADATRACE_STEPS, 0, &steps));
    DPL_GO(add_chances(run, model, "adatrace.steps", side, bins, &chance));
    for (size_t d = 0; d < side; d++)
        dpl_adatrace_steps(steps.value + d * bins, steps.reach, chance + d * bins);
done:
    dpl_free(markov.value), dpl_free(pairs.value), dpl_free(steps.value);
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
    DPL_GO(dpl_choose_all_cells(run, model)); // every cell may be visited
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

/* PAPER: the published program takes the weights of sub-cells, the largest extra length and
 * the family of lengths from the data; L_max, which it does not have, is the longest trip. */
static const char *const RAW[] = {"lengths", "subgrid", "steps", NULL};

const struct dpl_method dpl_method_adatrace = {.name = "adatrace",
                                               .has_time = false,
                                               .has_laplace = true,
                                               .raw = RAW,
                                               .coverage = 1,
                                               .plan = plan,
                                               .expect = expect,
                                               .fit = fit};
