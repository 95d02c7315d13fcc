/* Public polygons with names, districts of a city, from a GeoJSON FeatureCollection: in which of
 * them a place is.
 * PRIVACY: a public input, as a map of roads is; nothing of the private data chooses it. */
#ifndef DPL_GRID_DISTRICTS_H
#define DPL_GRID_DISTRICTS_H

#include "base/base.h"

struct dpl_districts;

struct dpl_corner {
    double x_deg, y_deg; /* longitude, latitude */
};

/* Polygons and MultiPolygons in degrees; a name is the property "name", or "NAME", "id", or the
 * Feature's "id", or its place in the file. Caller frees with dpl_districts_free. */
enum dpl_status dpl_districts_read(struct dpl_run *run, const char *path,
                                   struct dpl_districts **made);
void dpl_districts_free(struct dpl_districts *districts);
size_t dpl_districts_count(const struct dpl_districts *districts);
const char *dpl_districts_name(const struct dpl_districts *districts, size_t i);
/* The first that holds the place; -1: none does. */
int32_t dpl_districts_at(const struct dpl_districts *districts, double lat_deg, double lon_deg);
/* The one that holds the centre of a cell; -1: none does. */
int32_t dpl_districts_of_cell(const struct dpl_districts *districts, const struct dpl_grid *grid,
                              int32_t cell);
/* The rings of all districts; a ring of n corners ends where it began. */
size_t dpl_districts_rings(const struct dpl_districts *districts);
const struct dpl_corner *dpl_districts_ring(const struct dpl_districts *districts, size_t i,
                                            size_t *n);

#endif
