/* Steps that several methods begin with: the longest trip and the chosen cells, from noised counts.
 */
#ifndef DPL_FIT_CHOOSE_H
#define DPL_FIT_CHOOSE_H

#include "model/model.h"
#include "fit/release.h"
#include "fit/sizes.h"

/* The mechanism "lengths": settles counted->length_max and model->length_max. */
enum dpl_status dpl_choose_length(struct dpl_run *run, struct dpl_release *release,
                                  struct dpl_counted *counted, struct dpl_model *model);
/* The mechanism "topk": the cells that hold the visits, also as the model's cells. `number`: what
 * its sensitivity follows from, if from a released number. Caller frees with dpl_topk_free. */
enum dpl_status dpl_choose_cells(struct dpl_run *run, struct dpl_release *release,
                                 const struct dpl_counted *counted, double number,
                                 struct dpl_model *model, struct dpl_topk *topk);

#endif
