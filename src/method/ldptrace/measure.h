/* What LDPTrace asks of the data. PRIVACY: measure.c and fit.c are the files of the method that see
 * trips. */
#ifndef DPL_METHOD_LDPTRACE_MEASURE_H
#define DPL_METHOD_LDPTRACE_MEASURE_H

#include "method/ldptrace/ldptrace.h"
#include "method/method.h"

/* What the counting functions must know. Public. */
struct dpl_ldptrace_about {
    size_t side;
    const int32_t *coarse; /* (cells of the grid) coarse cell of each */
    size_t longest;        /* cells of a path that are told of; of routes */
};
/* Lengths of paths, 1 ... side^2; and what happens in which cell. `about` is a struct
 * dpl_ldptrace_about. */
dpl_counting dpl_ldptrace_count_lengths, dpl_ldptrace_count_routes;

#endif
