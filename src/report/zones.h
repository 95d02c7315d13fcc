/* Districts of a public map as the places that flows go between.
 * PRIVACY: which cells a district has, and where its middle is, follow from the map and the grid,
 * both public; no trip is looked at. */
#ifndef DPL_REPORT_ZONES_H
#define DPL_REPORT_ZONES_H

#include "report/basemap.h"

struct zones {
    struct dpl_districts *districts;
    struct basemap outline;
    size_t n;         /* districts that hold the centre of a cell, in the order of the file */
    int32_t *which;   /* (n) of the districts */
    double *middle_m; /* (n, 2) the mean of its cells' centres, from the box's south-west corner */
    int32_t *of_cell; /* (cells of the grid) the number of the cell's district; -1: it has none */
};

/* DPL_BAD_DATA for what is no map of districts, or when none of them holds the centre of a cell, or
 * too many do. Caller frees with dpl_zones_free. */
enum dpl_status dpl_zones_read(struct dpl_run *run, const char *path, const struct dpl_grid *grid,
                               struct zones *zones);
void dpl_zones_free(struct zones *zones);
/* Members districts (name and middle, in whole metres) and outlines of an open object. */
void dpl_zones_write(const struct zones *zones, struct island *island);

#endif
