/* From the ways of a map to the network. */
#ifndef DPL_ROADS_GRAPH_H
#define DPL_ROADS_GRAPH_H

#include "roads/map.h"
#include "roads/roads.h"

/* Fills pieces, points, nodes, arcs, components and cells of `roads`, whose grid is set. */
enum dpl_status dpl_graph_make(struct dpl_run *run, const struct map *map, struct dpl_roads *roads);
/* connect.c: arcs by node, components, pieces by cell. */
enum dpl_status dpl_graph_connect(struct dpl_run *run, struct dpl_roads *roads);

#endif
