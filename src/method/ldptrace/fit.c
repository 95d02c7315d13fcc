/* The method `ldptrace` (Du et al. 2023): what "no trusted curator" costs. Every trip reports its
 * length, start, moves and end itself, noised by itself; only sums of noised reports are used.
 * docs/BASELINES.md says what it does, and where it differs from the published program.
 *
 *     lengths -> L, which nine of ten paths do not exceed     10 % of epsilon, one report
 *     routes  -> starts, moves, ends                          90 %, in L + 1 equal reports
 *
 * PAPER: the published program takes the box from the data and writes as many trips as there were.
 */
#include <math.h>
#include <string.h>

#include "fit/choose.h"
#include "method/ldptrace/measure.h"

enum { CELLS = DPL_LDPTRACE_SIDE * DPL_LDPTRACE_SIDE, ROUTES = CELLS * (DPL_LDPTRACE_WAYS + 2) };

static enum dpl_status plan(struct dpl_run *run, const struct dpl_fit_options *options,
                            struct dpl_mechanism *ask, size_t *n) {
    if (options->budget.unit != DPL_UNIT_TRIP)
        return dpl_fail(run, DPL_USAGE,
                        "the method ldptrace protects single trips: each of them reports, and all "
                        "trips of a user would report more (`budget.unit` trip, or `fit.method` "
                        "bridge)");
    // Shares count for the squared budget: of epsilon itself they are the roots.
    ask[0] = (struct dpl_mechanism){
        .name = "lengths", .kind = DPL_EVENT_LOCAL, .share = 0.1 * 0.1, .clip = 1};
    ask[1] = (struct dpl_mechanism){.name = "routes",
                                    .kind = DPL_EVENT_LOCAL,
                                    .share = 0.9 * 0.9,
                                    .clip_from = "length_max"}; // the number of reports
    *n = 2;
    return DPL_OK;
}

static double expect(const char *name, const struct dpl_grid *grid,
                     const struct dpl_fit_options *options, double units) {
    (void)grid, (void)options;
    return units / (strcmp(name, "lengths") ? CELLS * DPL_LDPTRACE_WAYS : CELLS);
}

/* Where the centre of each cell of the public grid lies. */
static enum dpl_status map_cells(struct dpl_run *run, const struct dpl_grid *grid, int32_t **made) {
    int32_t *coarse = dpl_alloc(run, (size_t)dpl_grid_cells(grid), sizeof *coarse);
    *made = coarse;
    if (!coarse) return DPL_SYSTEM;
    for (int32_t i = 0; i < dpl_grid_cells(grid); i++) {
        double lat, lon;
        dpl_grid_centre(grid, i, &lat, &lon);
        coarse[i] = (int32_t)dpl_coarse_at(&grid->area, DPL_LDPTRACE_SIDE, lat, lon);
    }
    return DPL_OK;
}

/* Whom is asked, and what about. */
struct asking {
    struct dpl_parts *parts;
    struct dpl_release *release;
    struct dpl_ldptrace_about about;
};

static enum dpl_status fit_lengths(struct dpl_run *run, struct asking *asking,
                                   struct dpl_model *model) {
    static const struct dpl_local_section ONE = {0, CELLS, 1};
    const struct dpl_question question = {.name = "lengths",
                                          .shape = dpl_shape1(CELLS),
                                          .count = dpl_ldptrace_count_lengths,
                                          .about = &asking->about,
                                          .local = &ONE,
                                          .n_local = 1};
    struct dpl_values values = {0};
    float *chance;
    enum dpl_status status;
    DPL_GO(dpl_measure_values(run, asking->release, question, asking->parts, &values));
    size_t longest = dpl_ldptrace_longest(values.value, CELLS);
    asking->about.longest = longest;
    model->length_max = (int32_t)longest + 1;
    DPL_GO(dpl_model_add(run, model, "ldptrace.lengths", DPL_TENSOR_F32, 1, &longest, &chance));
    for (size_t i = longest; i < CELLS; i++) values.value[longest - 1] += values.value[i];
    if (!dpl_ldptrace_chances(values.value, longest, chance)) chance[longest - 1] = 1;
done:
    dpl_free(values.value);
    return status;
}

static enum dpl_status fit_routes(struct dpl_run *run, const struct asking *asking,
                                  struct dpl_model *model) {
    const struct dpl_local_section section[] = {
        {0, CELLS, 1},
        {CELLS, CELLS * DPL_LDPTRACE_WAYS, asking->about.longest - 1},
        {CELLS * (DPL_LDPTRACE_WAYS + 1), CELLS, 1}};
    const struct dpl_question question = {.name = "routes",
                                          .number = model->length_max,
                                          .shape = dpl_shape1(ROUTES),
                                          .count = dpl_ldptrace_count_routes,
                                          .about = &asking->about,
                                          .local = section,
                                          .n_local = sizeof section / sizeof *section};
    struct dpl_values values = {0};
    float *starts, *moves;
    size_t cells = CELLS;
    enum dpl_status status;
    DPL_GO(dpl_measure_values(run, asking->release, question, asking->parts, &values));
    DPL_GO(dpl_model_add(run, model, "ldptrace.starts", DPL_TENSOR_F32, 1, &cells, &starts));
    DPL_GO(dpl_model_add(run, model, "ldptrace.moves", DPL_TENSOR_F32, 2,
                         (size_t[]){CELLS, DPL_LDPTRACE_WAYS + 1}, &moves));
    dpl_ldptrace_moves(values.value, DPL_LDPTRACE_SIDE, moves);
    if (!dpl_ldptrace_chances(values.value, CELLS, starts))
        status = dpl_fail(run, DPL_BAD_DATA,
                          "no start of a trip exceeds the noise of the reports; ask for a larger "
                          "`budget.epsilon`, and see that the box is where the trips are");
done:
    dpl_free(values.value);
    return status;
}

static enum dpl_status fit(struct dpl_run *run, struct dpl_parts *parts,
                           struct dpl_release *release, struct dpl_model *model) {
    struct asking asking = {
        .parts = parts, .release = release, .about = {.side = DPL_LDPTRACE_SIDE}};
    int32_t *coarse = NULL;
    enum dpl_status status;
    DPL_GO(map_cells(run, &model->grid, &coarse));
    asking.about.coarse = coarse;
    DPL_GO(dpl_choose_all_cells(run, model));
    DPL_GO(fit_lengths(run, &asking, model));
    DPL_GO(fit_routes(run, &asking, model));
    model->trips_estimated = dpl_plan_units(release->plan);
    if (json_object_set_new(model->options, "ldptrace_side", json_integer(DPL_LDPTRACE_SIDE)) != 0)
        status = dpl_fail(run, DPL_SYSTEM, "out of memory");
done:
    dpl_free(coarse);
    return status;
}

const struct dpl_method dpl_method_ldptrace = {.name = "ldptrace",
                                               .has_time = false,
                                               .local = true,
                                               .coverage = 1,
                                               .plan = plan,
                                               .expect = expect,
                                               .fit = fit};
