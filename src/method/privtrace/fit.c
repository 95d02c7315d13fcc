/* The method `privtrace` (Wang et al. 2023): a grid of two levels, a chain of first order
 * everywhere and of second order at busy states, starts and ends calibrated to each other.
 * docs/BASELINES.md says what it does, and where it differs from the published program.
 *
 *     lengths -> L_max, number of points    1 % of rho (2 % of epsilon)
 *     grid    -> levels of the grid        20 % of the rest
 *     first   -> moves, starts, ends       40 %
 *     second  -> moves by the state before 40 %
 *
 * PAPER: the published program takes box, number of points and of trips from the raw data. */
#include <math.h>
#include <string.h>

#include "fit/choose.h"
#include "method/privtrace/measure.h"

enum { SECOND_MOST = 6000000 }; /* entries: 48 MB in the model */
static const struct dpl_asked ASKED[] = {{"lengths", 0.01, 0.02, 1, 1},
                                         {"grid", 0.99 * 0.2, 0.98 * 0.2, 1, 1},
                                         {"first", 0.99 * 0.4, 0.98 * 0.4, 1, 1},
                                         {"second", 0.99 * 0.4, 0.98 * 0.4, 1, 1}};

static enum dpl_status plan(struct dpl_run *run, const struct dpl_fit_options *options,
                            struct dpl_mechanism *ask, size_t *n) {
    static const struct dpl_asked SUPPORT = {"support", 0.01, 0.01, 1, 1}; // taken as it is
    (void)run;
    dpl_method_ask_all(options, ASKED, sizeof ASKED / sizeof *ASKED, ask, n);
    if (options->as_published) ask[(*n)++] = dpl_method_ask(options, &SUPPORT);
    return DPL_OK;
}

/* Guesses for previews: trips of ten visits over a quarter of the cells, eight ways on from each.
 */
static double expect(const char *name, const struct dpl_grid *grid,
                     const struct dpl_fit_options *options, double units) {
    static const double VISITS = 10, WAYS = 8;
    double trips = units * (double)options->budget.trips_max,
           cells = fmax(dpl_grid_cells(grid) / 4.0, 2),
           moves = trips * (dpl_mechanism_laplace(options) ? 1 : sqrt(VISITS));
    if (!strcmp(name, "lengths")) return trips / DPL_LENGTH_BINS;
    if (!strcmp(name, "trips")) return trips;
    if (!strcmp(name, "first")) return moves / cells / WAYS;
    if (!strcmp(name, "second")) return moves / cells / WAYS / WAYS;
    return trips / fmin(cells, DPL_PRIVTRACE_SIDE_MOST * DPL_PRIVTRACE_SIDE_MOST);
}

/* The chain of second order, and trips between all states if each cell is one and all trips start
 * and end everywhere. */
static double table_mb(const struct dpl_grid *grid, int threads) {
    static const double ENTRY = 3 * sizeof(double) + 3 * sizeof(float), PAIR = 3 * sizeof(float);
    double cells = dpl_grid_cells(grid);
    (void)threads;
    return (SECOND_MOST * ENTRY + cells * cells * PAIR) * 1e-6;
}

/* ---- measuring ---- */

/* Whom is asked, and what every question is about. */
struct asking {
    struct dpl_parts *parts;
    struct dpl_release *release;
    struct dpl_privtrace_about about;
};

static enum dpl_status measure(struct dpl_run *run, const struct asking *asking, const char *name,
                               enum dpl_privtrace_table table, struct dpl_shape shape,
                               struct dpl_values *values) {
    struct dpl_privtrace_about about = asking->about;
    about.table = table;
    const struct dpl_question question = {
        .name = name, .shape = shape, .count = dpl_privtrace_count, .about = &about};
    return dpl_measure_values(run, asking->release, question, asking->parts, values);
}

/* Level 1, and level 2 by its density. */
static enum dpl_status fit_grid(struct dpl_run *run, struct asking *asking, size_t side,
                                struct dpl_model *model, struct dpl_privtrace_states *states) {
    size_t rows, columns, cells = (size_t)dpl_grid_cells(&model->grid);
    struct dpl_values density = {0};
    int32_t *split, *coarse = dpl_alloc(run, cells, sizeof *coarse);
    enum dpl_status status = coarse ? DPL_OK : DPL_SYSTEM;
    if (status != DPL_OK) goto done;
    dpl_privtrace_coarse(&model->grid, side, &rows, &columns);
    for (size_t i = 0; i < cells; i++)
        coarse[i] = dpl_privtrace_coarse_at(&model->grid, side, (int32_t)i);
    asking->about.coarse = coarse;
    DPL_GO(measure(run, asking, "grid", DPL_PRIVTRACE_GRID, dpl_shape2(rows, columns), &density));
    DPL_GO(dpl_model_add(run, model, "privtrace.split", DPL_TENSOR_I32, 1,
                         (size_t[]){rows * columns}, &split));
    DPL_GO(dpl_privtrace_settle(run, density.value, rows * columns));
    dpl_privtrace_split(density.value, rows * columns, (double)model->trips_estimated, split);
    DPL_GO(dpl_privtrace_states_make(run, &model->grid, side, split, states));
done:
    asking->about.coarse = NULL;
    dpl_free(density.value), dpl_free(coarse);
    return status;
}

static enum dpl_status settle_first(struct dpl_run *run, const struct dpl_privtrace_states *states,
                                    double *first) {
    DPL_TRY(dpl_privtrace_settle(run, first, states->n));
    for (size_t s = 0; s < states->n; s++)
        DPL_TRY(dpl_privtrace_settle(run, first + dpl_privtrace_row(states, s),
                                     dpl_privtrace_neighbours(states, s) + 1));
    return DPL_OK;
}

static enum dpl_status add_chances(struct dpl_run *run, struct dpl_model *model, const char *name,
                                   size_t n, float **chance) {
    return dpl_model_add(run, model, name, DPL_TENSOR_F32, 1, &n, chance);
}

/* The chain of first order, and the ends that belong together. */
static enum dpl_status fit_first(struct dpl_run *run, const struct asking *asking,
                                 struct dpl_model *model, const double *first,
                                 const double *support) {
    const struct dpl_privtrace_states *states = asking->about.states;
    size_t longest = (size_t)(model->grid.rows + model->grid.columns);
    float *chance, *inflow, *starts, *length;
    double sum = 0;
    DPL_TRY(add_chances(run, model, "privtrace.first", dpl_privtrace_first_size(states) - states->n,
                        &chance));
    DPL_TRY(add_chances(run, model, "privtrace.inflow", states->n, &inflow));
    dpl_privtrace_chances(states, first, chance, inflow);
    DPL_TRY(add_chances(run, model, "privtrace.starts", states->n, &starts));
    DPL_TRY(dpl_model_add(run, model, "privtrace.lengths", DPL_TENSOR_F32, 2,
                          (size_t[]){states->n, longest + 1}, &length));
    const struct dpl_privtrace_measured measured = {states, first, support, asking->about.shares,
                                                    (double)model->trips_estimated};
    DPL_TRY(dpl_privtrace_ends(run, &measured, longest, starts, length));
    for (size_t s = 0; s < states->n; s++) sum += (double)starts[s];
    if (!(sum > 0))
        return dpl_fail(run, DPL_BAD_DATA,
                        "no start and end of trips exceed the noise; ask for a larger "
                        "`budget.epsilon`, and see that the box is where the trips are");
    if (json_object_set_new(model->options, "privtrace_longest",
                            json_integer((json_int_t)longest)) != 0)
        return dpl_fail(run, DPL_SYSTEM, "out of memory");
    return DPL_OK;
}

static enum dpl_status fit_second(struct dpl_run *run, struct asking *asking,
                                  struct dpl_model *model, const struct dpl_values *first) {
    const struct dpl_privtrace_states *states = asking->about.states;
    struct dpl_values second = {0};
    float *chance;
    int32_t *guide;
    size_t entries, *at = dpl_alloc(run, states->n + 1, sizeof *at);
    enum dpl_status status = at ? DPL_OK : DPL_SYSTEM;
    if (status != DPL_OK) goto done;
    DPL_GO(dpl_model_add(run, model, "privtrace.guide", DPL_TENSOR_I32, 1, &states->n, &guide));
    DPL_GO(dpl_privtrace_guideposts(run, states, first->value, first->deviation, SECOND_MOST, guide,
                                    &entries));
    dpl_privtrace_second_layout(states, guide, at);
    asking->about.second_at = at;
    DPL_GO(measure(run, asking, "second", DPL_PRIVTRACE_SECOND, dpl_shape1(entries), &second));
    DPL_GO(add_chances(run, model, "privtrace.second", entries, &chance));
    DPL_GO(dpl_privtrace_second_chances(run, states, at, first->value, second.value, chance));
done:
    asking->about.second_at = NULL;
    dpl_free(second.value), dpl_free(at);
    return status;
}

/* ---- the fit ---- */

static enum dpl_status fit_chains(struct dpl_run *run, struct asking *asking, size_t side,
                                  struct dpl_model *model) {
    struct dpl_privtrace_states states = {0};
    struct dpl_values first = {0}, support = {0};
    enum dpl_status status;
    DPL_GO(fit_grid(run, asking, side, model, &states));
    asking->about.states = &states;
    const struct dpl_shape shape = dpl_shape1(dpl_privtrace_first_size(&states));
    DPL_GO(measure(run, asking, "first", DPL_PRIVTRACE_FIRST, shape, &first));
    if (asking->release->options->as_published)
        DPL_GO(measure(run, asking, "support", DPL_PRIVTRACE_FIRST, shape, &support));
    DPL_GO(settle_first(run, &states, first.value));
    DPL_GO(fit_first(run, asking, model, first.value, support.value));
    DPL_GO(fit_second(run, asking, model, &first));
done:
    dpl_free(first.value), dpl_free(support.value);
    dpl_privtrace_states_free(&states);
    return status;
}

static enum dpl_status fit(struct dpl_run *run, struct dpl_parts *parts,
                           struct dpl_release *release, struct dpl_model *model) {
    double lengths[DPL_LENGTH_BINS];
    struct asking asking = {.parts = parts,
                            .release = release,
                            .about = {.shares = dpl_mechanism_laplace(release->options)}};
    DPL_TRY(dpl_choose_trips(run, release, parts, model));
    DPL_TRY(dpl_choose_lengths(run, release, parts, model, lengths));
    DPL_TRY(dpl_choose_all_cells(run, model));
    DPL_TRY(dpl_generator_check_cells(run, model));
    asking.about.length_max = model->length_max;
    size_t side = dpl_privtrace_side((double)model->trips_estimated *
                                     dpl_length_mean(lengths, model->length_max));
    if (json_object_set_new(model->options, "privtrace_side", json_integer((json_int_t)side)) != 0)
        return dpl_fail(run, DPL_SYSTEM, "out of memory");
    DPL_TRY(fit_chains(run, &asking, side, model));
    // The longest that can be drawn; trips were cut at the measured length when they were counted.
    if (model->length_max < DPL_PRIVTRACE_LONGEST_NEAR)
        model->length_max = DPL_PRIVTRACE_LONGEST_NEAR;
    return DPL_OK;
}

/* PAPER: the published program takes the number of points and the support of its calibration
 * from the data. */
static const char *const RAW[] = {"lengths", "support", NULL};

const struct dpl_method dpl_method_privtrace = {.name = "privtrace",
                                                .has_time = false,
                                                .has_laplace = true,
                                                .raw = RAW,
                                                .coverage = 1,
                                                .table_mb = table_mb,
                                                .plan = plan,
                                                .expect = expect,
                                                .fit = fit};
