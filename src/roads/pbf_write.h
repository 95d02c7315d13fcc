/* Writes a map of our own making as .osm.pbf: the simulated city's streets, and maps for tests. */
#ifndef DPL_ROADS_PBF_WRITE_H
#define DPL_ROADS_PBF_WRITE_H

#include "base/base.h"

/* A way to be written. */
struct pbf_line {
    const int64_t *ref; /* (n_refs) ids of nodes */
    size_t n_refs;
    const char *const *tags; /* key, value, key, value, ..., NULL */
};

/* A map to be written: node i has id i + 1; positions are rounded to 1e-7 degrees. */
struct pbf_map {
    const double *lat_deg, *lon_deg; /* (n_nodes) */
    size_t n_nodes;
    const struct pbf_line *line; /* (n_lines) way i has id i + 1 */
    size_t n_lines;
};

/* The file appears whole or not at all. */
enum dpl_status dpl_pbf_write(struct dpl_run *run, const struct pbf_map *map, const char *path,
                              bool overwrite);

#endif
