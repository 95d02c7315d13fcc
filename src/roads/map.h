/* The usable ways of a map and where their nodes are. */
#ifndef DPL_ROADS_MAP_H
#define DPL_ROADS_MAP_H

#include "roads/pbf.h"
#include "roads/rules.h"

struct map_way {
    size_t first; /* its places are first ... (first of the next way) - 1 */
    struct roads_use use;
};

struct map {
    struct map_way *way; /* (n_ways + 1) */
    size_t n_ways, way_capacity;
    int64_t *id;               /* (n_nodes) ascending */
    double *lat_deg, *lon_deg; /* (n_nodes) NAN: not in the file */
    size_t n_nodes;
    int32_t *place; /* (n_places) nodes of the ways, one after the other */
    size_t n_places;
};

/* Two passes over the file: ways, then the nodes they name, so that memory is that of the roads
 * and not of the file. Zero-initialise; free with dpl_map_free, on failure too. */
enum dpl_status dpl_map_read(struct blob_file *file, enum dpl_travel travel, struct map *map);
void dpl_map_free(struct map *map);

#endif
