/* What AdaTrace asks of the data. PRIVACY: measure.c and fit.c are the files of the method that see
 * trips. */
#ifndef DPL_METHOD_ADATRACE_MEASURE_H
#define DPL_METHOD_ADATRACE_MEASURE_H

#include "method/adatrace/adatrace.h"
#include "method/method.h"

/* The mechanisms, in the order in which they are measured. */
enum dpl_adatrace_table {
    DPL_ADATRACE_LENGTHS,
    DPL_ADATRACE_GRID,
    DPL_ADATRACE_SUBGRID,
    DPL_ADATRACE_MARKOV,
    DPL_ADATRACE_PAIRS,
    DPL_ADATRACE_STEPS,
    DPL_ADATRACE_TABLES
};
const char *dpl_adatrace_table_name(enum dpl_adatrace_table table);

/* What the counting function of a table looks at. */
struct dpl_adatrace_counted {
    enum dpl_adatrace_table table; /* from DPL_ADATRACE_GRID on */
    struct dpl_counted trips;
    size_t side;
    const int32_t *coarse; /* (cells of the grid) level-1 cell of each */
    const int32_t *fine;   /* (cells of the grid) level-2 cell of each; for DPL_ADATRACE_SUBGRID */
};
/* Coordinates of such a table; sub_cells: of level 2. */
struct dpl_shape dpl_adatrace_table_shape(enum dpl_adatrace_table table, size_t side,
                                          size_t sub_cells);
/* Adds all units to the exact vector of the table; `counted` is a struct dpl_adatrace_counted. */
enum dpl_status dpl_adatrace_count(struct dpl_run *run, const void *counted,
                                   struct dpl_exact *exact);

#endif
