/* What DPT asks of the data. PRIVACY: measure.c and fit.c are the files of the method that see
 * trips. */
#ifndef DPL_METHOD_DPT_MEASURE_H
#define DPL_METHOD_DPT_MEASURE_H

#include "method/dpt/dpt.h"
#include "method/method.h"

/* Its own mechanisms; tables of orders 2, 3, ... follow each other. */
enum dpl_dpt_table {
    DPL_DPT_TABLE_LEVELS,
    DPL_DPT_TABLE_STARTS,
    DPL_DPT_TABLE_HEADINGS,
    DPL_DPT_TABLE_ORDER
};

/* What the counting function of a table must know. Public. */
struct dpl_dpt_about {
    enum dpl_dpt_table table;
    int order; /* of DPL_DPT_TABLE_ORDER */
    int32_t length_max;
    bool shares; /* Laplace noise: what a trip adds is divided by how much there is of it */
    const struct dpl_dpt_levels *levels;
};
struct dpl_shape dpl_dpt_shape(const struct dpl_dpt_about *about);
/* Counts the table; `about` is a struct dpl_dpt_about. */
dpl_counting dpl_dpt_count;

#endif
