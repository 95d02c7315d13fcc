/* See choose.h. */
#include "fit/choose.h"

#include <string.h>

enum dpl_status dpl_choose_length(struct dpl_run *run, struct dpl_release *release,
                                  struct dpl_counted *counted, struct dpl_model *model) {
    struct dpl_noised *noised = NULL;
    DPL_TRY(dpl_release_measure(run, release, "lengths", 0, dpl_shape1(DPL_LENGTH_BINS),
                                dpl_count_lengths, counted, &noised));
    counted->length_max = model->length_max = dpl_length_max(run, noised);
    dpl_noised_free(noised);
    return DPL_OK;
}

enum dpl_status dpl_choose_cells(struct dpl_run *run, struct dpl_release *release,
                                 const struct dpl_counted *counted, double number,
                                 struct dpl_model *model, struct dpl_topk *topk) {
    struct dpl_noised *visits = NULL;
    const struct dpl_grid *grid = &counted->trips->grid;
    int32_t *cells;
    DPL_TRY(dpl_release_measure(run, release, "topk", number,
                                dpl_shape2((size_t)grid->rows, (size_t)grid->columns),
                                dpl_count_visits, counted, &visits));
    enum dpl_status status = dpl_topk_choose(run, grid, visits, release->options->coverage, topk);
    dpl_noised_free(visits);
    DPL_TRY(status);
    DPL_TRY(dpl_model_add(run, model, "cells", DPL_TENSOR_I32, 1, (size_t[]){(size_t)topk->n_cells},
                          &cells));
    memcpy(cells, topk->cell, (size_t)topk->n_cells * sizeof *cells);
    return DPL_OK;
}
