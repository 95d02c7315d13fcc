/* A backdrop for the maps: lines of a public GeoJSON file (roads, coasts, borders) or the roads of
 * an .osm.pbf map, cut to the box and made small. */
#ifndef DPL_REPORT_BASEMAP_H
#define DPL_REPORT_BASEMAP_H

#include "grid/districts.h"
#include "report/island.h"

struct basemap {
    double *xy_m;  /* (n_points, 2) metres east and north of the box's south-west corner */
    size_t *start; /* (n_lines + 1) */
    size_t n_points, n_lines, xy_capacity, start_capacity;
    bool openstreetmap; /* read from .osm.pbf: the page must name the source */
};

/* DPL_BAD_DATA, with the place in the file, for what is neither GeoJSON in degrees nor a map; also
 * when no line crosses the box. Caller frees with dpl_basemap_free. */
enum dpl_status dpl_basemap_read(struct dpl_run *run, const char *path, const struct dpl_grid *grid,
                                 struct basemap *map);
/* The outlines of districts, as far as they are in the box: none, if it is all inside of one. */
enum dpl_status dpl_basemap_outline(struct dpl_run *run, const struct dpl_districts *districts,
                                    const struct dpl_grid *grid, struct basemap *map);
void dpl_basemap_free(struct basemap *map);
/* An array of lines in whole metres, each point after the first as a step from the one before. */
void dpl_basemap_lines(const struct basemap *map, struct island *island);
/* The members basemap, of its lines, and openstreetmap. */
void dpl_basemap_write(const struct basemap *map, struct island *island);

#endif
