/* See choose.h. */
#include "fit/choose.h"

#include <math.h>
#include <string.h>

enum dpl_status dpl_choose_lengths(struct dpl_run *run, struct dpl_release *release,
                                   struct dpl_parts *parts, struct dpl_model *model,
                                   double *counts) {
    struct dpl_noised *noised = NULL;
    const struct dpl_question lengths = {
        .name = "lengths", .shape = dpl_shape1(DPL_LENGTH_BINS), .count = dpl_count_lengths};
    DPL_TRY(dpl_release_measure(run, release, lengths, parts, &noised));
    model->length_max = dpl_length_max(run, noised);
    for (size_t i = 0; i < DPL_LENGTH_BINS; i++) counts[i] = dpl_noised_value(noised, i);
    dpl_noised_free(noised);
    dpl_fit_counts(counts, DPL_LENGTH_BINS);
    return DPL_OK;
}

enum dpl_status dpl_choose_length(struct dpl_run *run, struct dpl_release *release,
                                  struct dpl_parts *parts, struct dpl_model *model) {
    double counts[DPL_LENGTH_BINS];
    return dpl_choose_lengths(run, release, parts, model, counts);
}

enum dpl_status dpl_choose_all_cells(struct dpl_run *run, struct dpl_model *model) {
    int32_t *cell;
    size_t n = (size_t)dpl_grid_cells(&model->grid);
    DPL_TRY(dpl_model_add(run, model, "cells", DPL_TENSOR_I32, 1, &n, &cell));
    for (size_t i = 0; i < n; i++) cell[i] = (int32_t)i;
    return DPL_OK;
}

enum dpl_status dpl_measure_values(struct dpl_run *run, struct dpl_release *release,
                                   struct dpl_question question, struct dpl_parts *parts,
                                   struct dpl_values *values) {
    static const double RISK = 0.05;
    struct dpl_noised *noised = NULL;
    DPL_TRY(dpl_release_measure(run, release, question, parts, &noised));
    size_t n = dpl_noised_count(noised);
    *values = (struct dpl_values){.n = n,
                                  .value = dpl_alloc(run, n, sizeof *values->value),
                                  .deviation = dpl_noised_deviation(noised),
                                  .reach = dpl_noised_reach(noised, RISK)};
    for (size_t i = 0; values->value && i < n; i++) values->value[i] = dpl_noised_value(noised, i);
    dpl_noised_free(noised);
    return values->value ? DPL_OK : DPL_SYSTEM;
}

const struct dpl_mechanism dpl_choose_trips_mechanism = {.name = "trips",
                                                         .kind = DPL_EVENT_GAUSSIAN,
                                                         .share = 0.005,
                                                         .clip = 1,
                                                         .growth = DPL_GROWTH_LINEAR};

enum dpl_status dpl_choose_trips(struct dpl_run *run, struct dpl_release *release,
                                 struct dpl_parts *parts, struct dpl_model *model) {
    struct dpl_noised *noised = NULL;
    const struct dpl_question trips = {
        .name = "trips", .shape = dpl_shape1(1), .count = dpl_count_trips};
    model->trips_estimated = dpl_plan_units(release->plan);
    if (!model->per_user) return DPL_OK;
    DPL_TRY(dpl_release_measure(run, release, trips, parts, &noised));
    model->trips_estimated = (int64_t)fmin(fmax(1, rint(dpl_noised_value(noised, 0))), 0x1p40);
    dpl_noised_free(noised);
    return DPL_OK;
}

enum dpl_status dpl_measure_visits(struct dpl_run *run, struct dpl_release *release,
                                   struct dpl_parts *parts, const struct dpl_grid *grid,
                                   const struct dpl_cut *cut, double number,
                                   struct dpl_noised **visits) {
    const struct dpl_question topk = {.name = "topk",
                                      .number = number,
                                      .shape =
                                          dpl_shape2((size_t)grid->rows, (size_t)grid->columns),
                                      .count = dpl_count_visits,
                                      .about = cut};
    return dpl_release_measure(run, release, topk, parts, visits);
}

enum dpl_status dpl_choose_store(struct dpl_run *run, const struct dpl_topk *topk,
                                 struct dpl_model *model) {
    int32_t *cells;
    size_t n = (size_t)topk->n_cells;
    DPL_TRY(dpl_model_add(run, model, "cells", DPL_TENSOR_I32, 1, &n, &cells));
    memcpy(cells, topk->cell, n * sizeof *cells);
    return DPL_OK;
}

enum dpl_status dpl_choose_cells(struct dpl_run *run, struct dpl_release *release,
                                 struct dpl_parts *parts, double number, struct dpl_model *model) {
    struct dpl_noised *visits = NULL;
    struct dpl_topk topk = {0};
    const struct dpl_cut cut = {.length_max = model->length_max};
    enum dpl_status status;
    DPL_GO(dpl_measure_visits(run, release, parts, &model->grid, &cut, number, &visits));
    DPL_GO(dpl_topk_choose(run, &model->grid, visits, release->options->coverage, &topk));
    DPL_GO(dpl_choose_store(run, &topk, model));
    DPL_GO(dpl_parts_reduce(run, parts, model->length_max, &topk));
done:
    dpl_topk_free(&topk);
    dpl_noised_free(visits);
    return status;
}

void dpl_choose_note(struct dpl_run *run, const struct dpl_model *model, int longest) {
    dpl_note(run, "%d of %d cells stand out of the noise; trips have at most %d visits",
             model->n_cells, dpl_grid_cells(&model->grid), longest);
}
