/* What PrivTrace asks of the data. PRIVACY: measure.c and fit.c are the files of the method that
 * see trips. */
#ifndef DPL_METHOD_PRIVTRACE_MEASURE_H
#define DPL_METHOD_PRIVTRACE_MEASURE_H

#include "method/method.h"
#include "method/privtrace/privtrace.h"

enum dpl_privtrace_table { DPL_PRIVTRACE_GRID, DPL_PRIVTRACE_FIRST, DPL_PRIVTRACE_SECOND };

/* What the counting function of a table must know. Public. */
struct dpl_privtrace_about {
    enum dpl_privtrace_table table;
    int32_t length_max;
    bool shares;                               /* Laplace noise: weights by L1 */
    const int32_t *coarse;                     /* of the grid: (cells) level-1 block of each */
    const struct dpl_privtrace_states *states; /* of the others */
    const size_t *second_at;                   /* of the second order: (n + 1) */
};
/* Counts the table; `about` is a struct dpl_privtrace_about. */
dpl_counting dpl_privtrace_count;

#endif
