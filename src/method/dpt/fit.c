/* The method `dpt` (after He et al. 2015): nested grids, counts of short grams of tokens, a walk
 * that keeps its direction. docs/BASELINES.md says what it does, and what of it is ours.
 *
 *     lengths  -> L_max                              1 % of rho
 *     topk     -> visits, for places in coarse cells 5 %
 *     levels   -> moves by level: which are used     2 % of the rest
 *     starts   -> first nodes                       12 %
 *     headings -> moves by turn                      4 %
 *     order2, order3 -> tokens by node and last move  41 % each
 *
 * PAPER?: box, sampling interval, speed range, longest trip, number of trips and the choice of
 * levels come from raw data in programs of this kind; here all but public numbers is noised. */
#include <math.h>
#include <string.h>

#include "fit/choose.h"
#include "method/dpt/measure.h"

enum { ORDERS = DPL_DPT_ORDER - 1, ASKED_LEVELS = 2, ASKED_ORDER2 = 5 };
static const struct dpl_asked ASKED[] = {{"lengths", 0.01, 0.02, 1, 1},
                                         {"topk", 0.05, 0.05, 4, 1},
                                         {"levels", 0.94 * 0.02, 0.93 * 0.02, 4, 1},
                                         {"starts", 0.94 * 0.12, 0.93 * 0.12, 1, 1},
                                         {"headings", 0.94 * 0.04, 0.93 * 0.04, 7, 1},
                                         {"order2", 0.94 * 0.41, 0.93 * 0.41, 4, 1},
                                         {"order3", 0.94 * 0.41, 0.93 * 0.41, 4, 1}};
_Static_assert(sizeof ASKED / sizeof *ASKED == ASKED_ORDER2 + ORDERS, "a row for each order");

static enum dpl_status plan(struct dpl_run *run, const struct dpl_fit_options *options,
                            struct dpl_mechanism *ask, size_t *n) {
    (void)run;
    dpl_method_ask_all(options, ASKED, sizeof ASKED / sizeof *ASKED, ask, n);
    return DPL_OK;
}

/* Guesses for previews: trips of ten visits, over a quarter of the cells. */
static double expect(const char *name, const struct dpl_grid *grid,
                     const struct dpl_fit_options *options, double units) {
    static const double VISITS = 10;
    double trips = units * (double)options->budget.trips_max,
           cells = fmax(dpl_grid_cells(grid) / 4.0, 2),
           tokens = trips * (dpl_mechanism_laplace(options) ? 1 : VISITS);
    if (!strcmp(name, "lengths")) return trips / DPL_LENGTH_BINS;
    if (!strcmp(name, "trips")) return trips;
    if (!strcmp(name, "levels")) return tokens / (dpl_dpt_levels_make(grid).top + 1);
    if (!strcmp(name, "starts")) return trips / cells;
    if (!strcmp(name, "headings")) return tokens / DPL_DPT_HEADINGS;
    if (!strcmp(name, "order3")) return tokens / cells / DPL_DPT_TOKENS / DPL_DPT_MOVES;
    return tokens / cells / (strcmp(name, "order2") ? 1 : DPL_DPT_TOKENS);
}

/* Counts, noised values (twice: the model keeps them) and chances of all tokens. */
static double table_mb(const struct dpl_grid *grid, int threads) {
    static const double BYTES = 3 * sizeof(double) + 2 * sizeof(float);
    const struct dpl_dpt_levels levels = dpl_dpt_levels_make(grid);
    double rows = 0;
    (void)threads;
    for (int j = 2; j <= DPL_DPT_ORDER; j++) rows += (double)dpl_dpt_rows(j);
    return (double)levels.first[levels.top + 1] * rows * DPL_DPT_TOKENS * BYTES * 1e-6;
}

/* ---- measuring ---- */

/* Whom is asked, and what every question is about. */
struct asking {
    struct dpl_parts *parts;
    struct dpl_release *release;
    struct dpl_dpt_about about;
};

static enum dpl_status measure(struct dpl_run *run, const struct asking *asking, const char *name,
                               enum dpl_dpt_table table, int order, struct dpl_values *values) {
    struct dpl_dpt_about about = asking->about;
    about.table = table, about.order = order;
    const struct dpl_question question = {
        .name = name, .shape = dpl_dpt_shape(&about), .count = dpl_dpt_count, .about = &about};
    return dpl_measure_values(run, asking->release, question, asking->parts, values);
}

static double share_of_visit(double full_visits, size_t visits) {
    (void)full_visits;
    return 1 / (double)visits;
}

/* Where visits are, as chances. */
static enum dpl_status fit_visits(struct dpl_run *run, const struct asking *asking,
                                  struct dpl_model *model) {
    const struct dpl_cut cut = {.length_max = model->length_max,
                                .weight = asking->about.shares ? share_of_visit : NULL};
    struct dpl_noised *noised = NULL;
    float *chance;
    size_t n = (size_t)dpl_grid_cells(&model->grid);
    double *visits = dpl_alloc(run, n, sizeof *visits);
    enum dpl_status status = visits ? DPL_OK : DPL_SYSTEM;
    if (status != DPL_OK) goto done;
    DPL_GO(dpl_measure_visits(run, asking->release, asking->parts, &model->grid, &cut, 0, &noised));
    DPL_GO(dpl_model_add(run, model, "dpt.visits", DPL_TENSOR_F32, 1, &n, &chance));
    for (size_t i = 0; i < n; i++) visits[i] = dpl_noised_value(noised, i);
    dpl_counts_to_chances(visits, n, chance);
done:
    dpl_noised_free(noised);
    dpl_free(visits);
    return status;
}

/* PAPER?: which levels are used is a released table, too; the trips are read by it afterwards. */
static enum dpl_status fit_levels(struct dpl_run *run, const struct asking *asking, double tokens,
                                  struct dpl_model *model, struct dpl_dpt_levels *levels) {
    struct dpl_values moves = {0};
    int32_t *kept;
    size_t n = (size_t)levels->top + 1;
    const struct dpl_asked *here = &ASKED[ASKED_LEVELS], *there = &ASKED[ASKED_ORDER2];
    double relative = asking->about.shares
                          ? here->of_epsilon / there->of_epsilon
                          : sqrt(here->of_rho / there->of_rho) * there->clip_l2 / here->clip_l2;
    DPL_TRY(measure(run, asking, "levels", DPL_DPT_TABLE_LEVELS, 0, &moves));
    dpl_dpt_levels_choose(moves.value, tokens, moves.deviation * relative, levels);
    dpl_free(moves.value);
    DPL_TRY(dpl_model_add(run, model, "dpt.levels", DPL_TENSOR_I32, 1, &n, &kept));
    for (size_t m = 0; m < n; m++) kept[m] = levels->kept[m];
    return DPL_OK;
}

static enum dpl_status fit_starts(struct dpl_run *run, const struct asking *asking,
                                  struct dpl_model *model, struct dpl_dpt_parts *parts) {
    struct dpl_values starts = {0};
    float *chance;
    enum dpl_status status;
    DPL_GO(measure(run, asking, "starts", DPL_DPT_TABLE_STARTS, 0, &starts));
    DPL_GO(dpl_model_add(run, model, "dpt.starts", DPL_TENSOR_F32, 1, &starts.n, &chance));
    if (!dpl_counts_to_chances(starts.value, starts.n, chance))
        status = dpl_fail(run, DPL_BAD_DATA,
                          "no start of a trip exceeds the noise; ask for a larger "
                          "`budget.epsilon`, and see that the box is where the trips are");
    parts->starts = chance;
done:
    dpl_free(starts.value);
    return status;
}

static enum dpl_status fit_orders(struct dpl_run *run, const struct asking *asking,
                                  struct dpl_model *model, struct dpl_dpt_parts *parts) {
    const struct dpl_dpt_levels *levels = asking->about.levels;
    size_t nodes = levels->first[levels->top + 1];
    struct dpl_values values[DPL_DPT_ORDER + 1] = {{0}};
    struct dpl_dpt_noised noised[DPL_DPT_ORDER + 1] = {{0}};
    float *chance[DPL_DPT_ORDER + 1] = {0};
    enum dpl_status status;
    for (int j = 2; j <= DPL_DPT_ORDER; j++) {
        char name[16];
        DPL_GO(measure(run, asking, ASKED[ASKED_ORDER2 + j - 2].name, DPL_DPT_TABLE_ORDER, j,
                       &values[j]));
        noised[j] =
            (struct dpl_dpt_noised){values[j].value, values[j].deviation, asking->about.shares};
        snprintf(name, sizeof name, "dpt.order%d", j);
        DPL_GO(dpl_model_add(run, model, name, DPL_TENSOR_F32, 3,
                             (size_t[]){nodes, dpl_dpt_rows(j), DPL_DPT_TOKENS}, &chance[j]));
        parts->order_chance[j] = chance[j];
    }
    dpl_dpt_estimate(levels, DPL_DPT_ORDER, noised, chance);
done:
    for (int j = 2; j <= DPL_DPT_ORDER; j++) dpl_free(values[j].value);
    return status;
}

static enum dpl_status fit_turns(struct dpl_run *run, const struct asking *asking,
                                 struct dpl_model *model, struct dpl_dpt_parts *parts) {
    struct dpl_values headings = {0};
    float *turn;
    enum dpl_status status;
    DPL_GO(measure(run, asking, "headings", DPL_DPT_TABLE_HEADINGS, 0, &headings));
    DPL_GO(dpl_dpt_estimate_turns(run, headings.value, (size_t)model->length_max, parts));
    DPL_GO(dpl_model_add(run, model, "dpt.turns", DPL_TENSOR_F32, 1, (size_t[]){DPL_DPT_HEADINGS},
                         &turn));
    memcpy(turn, parts->turn, sizeof parts->turn);
done:
    dpl_free(headings.value);
    return status;
}

/* ---- the fit ---- */

static enum dpl_status fit_tables(struct dpl_run *run, struct asking *asking, double tokens,
                                  struct dpl_model *model) {
    struct dpl_dpt_parts parts = {.levels = dpl_dpt_levels_make(&model->grid),
                                  .order = DPL_DPT_ORDER};
    asking->about.levels = &parts.levels;
    DPL_TRY(fit_visits(run, asking, model));
    DPL_TRY(fit_levels(run, asking, tokens, model, &parts.levels));
    DPL_TRY(fit_starts(run, asking, model, &parts));
    DPL_TRY(fit_orders(run, asking, model, &parts));
    DPL_TRY(dpl_model_get(run, model, "dpt.visits", DPL_TENSOR_F32, 1,
                          (size_t[]){(size_t)dpl_grid_cells(&model->grid)}, &parts.visits));
    return fit_turns(run, asking, model, &parts);
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
    double tokens = (double)model->trips_estimated *
                    (asking.about.shares ? 1 : dpl_length_mean(lengths, model->length_max));
    DPL_TRY(fit_tables(run, &asking, tokens, model));
    if (json_object_set_new(model->options, "dpt_order", json_integer(DPL_DPT_ORDER)) != 0)
        return dpl_fail(run, DPL_SYSTEM, "out of memory");
    return DPL_OK;
}

/* PAPER: programs of its kind take the longest trip and the levels worth having from the data. */
static const char *const RAW[] = {"lengths", "levels", NULL};

const struct dpl_method dpl_method_dpt = {.name = "dpt",
                                          .has_time = false,
                                          .has_laplace = true,
                                          .raw = RAW,
                                          .coverage = 1,
                                          .table_mb = table_mb,
                                          .plan = plan,
                                          .expect = expect,
                                          .fit = fit};
