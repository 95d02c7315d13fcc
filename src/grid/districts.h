/* Public polygons with names, districts of a city, from a GeoJSON FeatureCollection: in which of
 * them a place is.
 * PRIVACY: a public input, as a map of roads is; nothing of the private data chooses it. */
#ifndef DPL_GRID_DISTRICTS_H
#define DPL_GRID_DISTRICTS_H

#include "base/base.h"

struct dpl_districts;

/* Polygons and MultiPolygons in degrees; a name is the property "name", or "NAME", "id", or the
 * Feature's "id", or its place in the file. Caller frees with dpl_districts_free. */
enum dpl_status dpl_districts_read(struct dpl_run *run, const char *path,
                                   struct dpl_districts **made);
void dpl_districts_free(struct dpl_districts *districts);
size_t dpl_districts_count(const struct dpl_districts *districts);
const char *dpl_districts_name(const struct dpl_districts *districts, size_t i);
/* The first that holds the place; -1: none does. */
int32_t dpl_districts_at(const struct dpl_districts *districts, double lat_deg, double lon_deg);

#endif
