/* What a model of `bridge` wants, and what its walk does in expectation, from the noised tables
 * that it keeps: for who asks where error comes from. */
#ifndef DPL_METHOD_BRIDGE_MEASURE_STAGES_H
#define DPL_METHOD_BRIDGE_MEASURE_STAGES_H

#include "model/model.h"

/* Arrays owned; free with dpl_bridge_stages_free. Index 0: wanted, 1: expected. */
struct dpl_bridge_stages {
    size_t K, P, length_max, n_edges;
    double full_visits; /* for dpl_visit_weight */
    double *visits[2];  /* (P, K) by daypart, weighted by length as the tables are */
    double *steps[2];   /* (n_edges) likewise */
    double *lengths[2]; /* (length_max + 1) trips; the last with all longer ones */
    double *pairs;      /* (K, K) trips by source and destination, wanted and drawn alike */
    int32_t *from, *to; /* (n_edges) */
    int32_t *place;     /* (cells of the grid) the place that each is a part of */
    double *share;      /* (cells of the grid) of the place's visits, estimated */
    int32_t *centre;    /* (K) the cell that a place's centre is in */
};
/* Whether the model is one of this method. */
bool dpl_stages_known(const struct dpl_model *model);
enum dpl_status dpl_bridge_stages_make(struct dpl_run *run, const struct dpl_model *model,
                                       struct dpl_bridge_stages *stages);
void dpl_bridge_stages_free(struct dpl_bridge_stages *stages);
/* What a visit of a trip of that many visits counts. */
double dpl_visit_weight(double full_visits, size_t visits);

#endif
