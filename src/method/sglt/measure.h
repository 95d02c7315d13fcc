/* What SGLT asks of the data. PRIVACY: measure.c and fit.c are the files of the method that see
 * trips. */
#ifndef DPL_METHOD_SGLT_MEASURE_H
#define DPL_METHOD_SGLT_MEASURE_H

#include "method/method.h"
#include "method/sglt/sglt.h"

enum dpl_sglt_table { DPL_SGLT_PROFILE, DPL_SGLT_MOVES, DPL_SGLT_STARTS, DPL_SGLT_KEY_COUNTS };

/* What the counting function of a table must know. Public. */
struct dpl_sglt_about {
    enum dpl_sglt_table table;
    int32_t length_max;
    bool shares;                 /* Laplace noise: moves are divided by their number */
    const int32_t *cluster;      /* of the keys: (cells of the grid) */
    const struct dpl_zone *zone; /* of the grid's area */
};
struct dpl_shape dpl_sglt_shape(const struct dpl_grid *grid, enum dpl_sglt_table table);
/* Puts the key of a trip's whole sequence, or nothing; `about` is a struct dpl_sglt_about. */
dpl_put_trip dpl_sglt_put_sequence;
/* Counts the table; `about` is a struct dpl_sglt_about. */
dpl_counting dpl_sglt_count;

#endif
