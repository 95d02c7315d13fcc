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

/* What the counting function of a table must know. Public. */
struct dpl_adatrace_about {
    enum dpl_adatrace_table table; /* DPL_ADATRACE_GRID or later */
    int32_t length_max;
    size_t side;
    const int32_t *coarse; /* (cells of the grid) level-1 cell of each */
    const int32_t *fine;   /* (cells of the grid) level-2 cell of each; for DPL_ADATRACE_SUBGRID */
};
/* Coordinates of such a table; sub_cells: of level 2. */
struct dpl_shape dpl_adatrace_table_shape(enum dpl_adatrace_table table, size_t side,
                                          size_t sub_cells);
/* Counts the table; `about` is a struct dpl_adatrace_about. */
dpl_counting dpl_adatrace_count;

#endif
