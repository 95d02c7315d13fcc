/* Steps that several methods begin with: the longest trip and the chosen cells, from noised counts.
 */
#ifndef DPL_FIT_CHOOSE_H
#define DPL_FIT_CHOOSE_H

#include "model/model.h"
#include "fit/release.h"
#include "fit/sizes.h"

/* The mechanism "lengths": settles model->length_max. */
enum dpl_status dpl_choose_length(struct dpl_run *run, struct dpl_release *release,
                                  struct dpl_parts *parts, struct dpl_model *model);
/* The same, and the noised counts (DPL_LENGTH_BINS), made non-negative. */
enum dpl_status dpl_choose_lengths(struct dpl_run *run, struct dpl_release *release,
                                   struct dpl_parts *parts, struct dpl_model *model,
                                   double *counts);
/* All cells of the public grid as the model's. */
enum dpl_status dpl_choose_all_cells(struct dpl_run *run, struct dpl_model *model);

/* A noised table in doubles. Free `value` with dpl_free. */
struct dpl_values {
    size_t n;
    double *value;
    double deviation; /* of the noise of each */
    double reach;     /* what noise alone exceeds anywhere with a chance of 5 % */
};
/* Asks, counts, noises: dpl_release_measure. */
enum dpl_status dpl_measure_values(struct dpl_run *run, struct dpl_release *release,
                                   struct dpl_question question, struct dpl_parts *parts,
                                   struct dpl_values *values);
/* What "trips" asks of the budget. */
extern const struct dpl_mechanism dpl_choose_trips_mechanism;
/* The mechanism "trips", where the unit is the user: settles model->trips_estimated. */
enum dpl_status dpl_choose_trips(struct dpl_run *run, struct dpl_release *release,
                                 struct dpl_parts *parts, struct dpl_model *model);
/* The mechanism "topk": the noised visits of all cells of the grid. `number`: what its sensitivity
 * follows from, if from a released number. Caller frees with dpl_noised_free. */
enum dpl_status dpl_measure_visits(struct dpl_run *run, struct dpl_release *release,
                                   struct dpl_parts *parts, const struct dpl_grid *grid,
                                   const struct dpl_cut *cut, double number,
                                   struct dpl_noised **visits);
/* The chosen cells as the model's. */
enum dpl_status dpl_choose_store(struct dpl_run *run, const struct dpl_topk *topk,
                                 struct dpl_model *model);
/* The cells that hold the visits of trips of at most model->length_max, by "topk"; also as the
 * model's cells, and every part's trips reduced to them. */
enum dpl_status dpl_choose_cells(struct dpl_run *run, struct dpl_release *release,
                                 struct dpl_parts *parts, double number, struct dpl_model *model);
/* Says how many cells were chosen, and how many visits the longest trip may have. */
void dpl_choose_note(struct dpl_run *run, const struct dpl_model *model, int longest);

#endif
