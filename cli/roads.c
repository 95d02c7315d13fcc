/* What inspect says about a map of roads. */
#include "roads.h"

#include <math.h>
#include <string.h>

enum dpl_status roads_travel(struct cli *cli, const char *name, enum dpl_travel *travel) {
    int way = 0;
    while (dpl_choice_name("travel", way) && strcmp(dpl_choice_name("travel", way), name)) way++;
    if (!dpl_choice_name("travel", way))
        return cli_usage(cli, "--travel takes one of drive, bike, walk, not '%s'", name);
    *travel = (enum dpl_travel)way;
    return DPL_OK;
}

enum dpl_status roads_read(struct cli *cli, const char *path, const char *travel,
                           const struct dpl_area *area, struct dpl_roads **roads) {
    enum dpl_travel way = DPL_TRAVEL_DRIVE;
    struct dpl_grid grid;
    enum dpl_status status = roads_travel(cli, travel, &way);
    if (status == DPL_OK) status = dpl_grid_make(cli->run, area, &grid);
    if (status != DPL_OK) return status;
    return dpl_roads_read(cli->run, path, &grid, way, roads);
}

enum dpl_status on_roads_read(struct cli *cli, const struct data_options *data, bool has_area,
                              struct on_roads *on) {
    if (!has_area)
        return cli_usage(cli, "--roads needs a region too (--region NAME, or --bbox and --tz)");
    for (size_t i = 0; i < cli->n_inputs; i++)
        if (!strcmp(cli->inputs[i], "-"))
            return cli_usage(cli, "--roads reads the data twice: give a file instead of '-'");
    enum dpl_status status = roads_read(cli, on->path, on->travel, &data->area, &on->roads);
    if (status != DPL_OK) return status;
    return dpl_roads_fit(cli->run, cli->inputs, cli->n_inputs, &data->read, &data->area, on->roads,
                         &on->share);
}

/* Why the points may be shifted against the map; NULL: they do not seem to be. */
static const char *shift_advice(const struct dpl_roads_share *s) {
    if (s->within_30m_gcj02_points > s->within_30m + 0.2)
        return "the points seem to be in GCJ-02: convert them to WGS 84 before fitting";
    if (s->within_30m_gcj02_map > s->within_30m + 0.2)
        return "the map seems to be in GCJ-02: take one in WGS 84";
    return NULL;
}

void on_roads_print(const struct on_roads *on) {
    const struct dpl_roads_facts *f = dpl_roads_facts(on->roads);
    const struct dpl_roads_share *s = &on->share;
    printf("\nroads     %s: %zu ways, %.0f km (%.0f km connected), %zu parts\n", on->path, f->ways,
           f->km, f->km_connected, f->components);
    printf("on roads  %.1f %% of the points within 15 m, %.1f %% within 30 m (NOT PRIVATE)\n",
           100 * s->within_15m, 100 * s->within_30m);
    if (!shift_advice(s)) return;
    printf("shifted   %.1f %% are within 30 m when GCJ-02 is taken out: %s\n",
           100 * fmax(s->within_30m_gcj02_points, s->within_30m_gcj02_map), shift_advice(s));
}

json_t *on_roads_json(const struct on_roads *on) {
    const struct dpl_roads_facts *f = dpl_roads_facts(on->roads);
    const struct dpl_roads_share *s = &on->share;
    const char *advice = shift_advice(s);
    return json_pack("{s:{s:i, s:f, s:f, s:i, s:i, s:s}, s:f, s:f, s:f, s:f, s:s?}", "roads",
                     "ways", (int)f->ways, "km", f->km, "km_connected", f->km_connected,
                     "components", (int)f->components, "nodes_missing", (int)f->nodes_missing,
                     "sha256", f->digest, "road_share_15m", s->within_15m, "road_share_30m",
                     s->within_30m, "road_share_30m_gcj02_points", s->within_30m_gcj02_points,
                     "road_share_30m_gcj02_map", s->within_30m_gcj02_map, "shifted", advice);
}
