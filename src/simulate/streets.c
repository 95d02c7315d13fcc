/* The streets of a made-up city as a public map: what a real city's data comes with. */
#include "roads/pbf_write.h"
#include "simulate/simulate.h"

static const char *const SIDE[] = {"highway", "residential", "maxspeed", "30", NULL};
static const char *const ARTERIAL[] = {"highway", "secondary", "maxspeed", "50", NULL};
static const char *const EXPRESS[] = {"highway", "trunk", "maxspeed", "80", NULL};
static const char *const *const TAGS[DPL_SIM_ROADS] = {SIDE, ARTERIAL, EXPRESS};

/* One way for both directions of a piece of street; returns their number. */
static size_t list_lines(const struct dpl_sim_city *city, int64_t *ref, struct pbf_line *line) {
    size_t n = 0;
    for (int32_t node = 0; node < city->n_nodes; node++)
        for (int32_t e = city->first[node]; e < city->first[node + 1]; e++) {
            const struct dpl_sim_edge *edge = &city->edge[e];
            if (edge->twin < e) continue;
            ref[2 * n] = node + 1, ref[2 * n + 1] = edge->to + 1;
            line[n] = (struct pbf_line){ref + 2 * n, 2, TAGS[edge->road]};
            n++;
        }
    return n;
}

enum dpl_status dpl_sim_write_streets(struct dpl_run *run, const struct dpl_sim_city *city,
                                      const char *path, bool overwrite) {
    size_t nodes = (size_t)city->n_nodes, edges = (size_t)city->n_edges;
    const struct dpl_grid *grid = &city->grid;
    double *lat_deg = dpl_alloc(run, nodes, sizeof *lat_deg),
           *lon_deg = dpl_alloc(run, nodes, sizeof *lon_deg);
    int64_t *ref = dpl_alloc(run, 2 * edges, sizeof *ref);
    struct pbf_line *line = dpl_alloc(run, edges, sizeof *line);
    enum dpl_status status = DPL_SYSTEM;
    if (!lat_deg || !lon_deg || !ref || !line) goto done;
    for (size_t i = 0; i < nodes; i++) {
        lat_deg[i] = grid->area.south_deg + city->y_m[i] / grid->m_per_deg_lat;
        lon_deg[i] = grid->area.west_deg + city->x_m[i] / grid->m_per_deg_lon;
    }
    struct pbf_map map = {.lat_deg = lat_deg, .lon_deg = lon_deg, .n_nodes = nodes, .line = line};
    map.n_lines = list_lines(city, ref, line);
    status = dpl_pbf_write(run, &map, path, overwrite);
done:
    dpl_free(line);
    dpl_free(ref);
    dpl_free(lon_deg);
    dpl_free(lat_deg);
    return status;
}
