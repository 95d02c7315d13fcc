/* The calls of the public header: a file to a network. See roads.h. */
#include "roads/roads.h"

#include "base/digest.h"
#include "base/public_options.h"
#include "roads/graph.h"
#include "roads/nearest.h"

static enum dpl_status fill(struct dpl_run *run, struct blob_file *file, struct map *map,
                            struct dpl_roads *roads) {
    uint8_t digest[DPL_DIGEST];
    DPL_TRY(dpl_sha256_file(run, file->fd, file->path, digest));
    dpl_hex(digest, sizeof digest, roads->facts.digest);
    DPL_TRY(dpl_map_read(file, roads->travel, map));
    DPL_TRY(dpl_graph_make(run, map, roads));
    if (!roads->n_pieces)
        return dpl_fail(run, DPL_BAD_DATA,
                        "%s: none of its %zu roads runs through the region's box%s", file->path,
                        map->n_ways,
                        roads->facts.nodes_missing ? " (nodes of them are not in the file)" : "");
    return dpl_nearest_make(run, roads);
}

enum dpl_status dpl_roads_read(struct dpl_run *run, const char *path, const struct dpl_grid *grid,
                               enum dpl_travel travel, struct dpl_roads **made) {
    struct blob_file file = {0};
    struct map map = {0};
    enum dpl_status status = DPL_SYSTEM;
    dpl_run_begin(run);
    if (!dpl_choice_name("travel", (int)travel))
        return dpl_fail(run, DPL_USAGE, "the travel mode is none of drive, bike, walk");
    struct dpl_roads *roads = dpl_alloc(run, 1, sizeof *roads);
    if (!roads) goto done;
    roads->grid = *grid;
    roads->travel = travel;
    DPL_GO(dpl_blob_open(run, path, &file));
    DPL_GO(fill(run, &file, &map, roads));
    if (roads->facts.nodes_missing)
        dpl_note(run, "%s: %zu nodes of roads are not in the file; the roads are cut there.", path,
                 roads->facts.nodes_missing);
    *made = roads;
    roads = NULL;
done:
    dpl_map_free(&map);
    dpl_blob_close(&file);
    dpl_roads_free(roads);
    return status;
}

void dpl_roads_free(struct dpl_roads *roads) {
    if (!roads) return;
    dpl_free(roads->buckets.first);
    dpl_free(roads->buckets.point);
    dpl_free(roads->buckets.apart);
    dpl_free(roads->component);
    dpl_free(roads->node_xy_m);
    dpl_free(roads->arc);
    dpl_free(roads->arc_first);
    dpl_free(roads->cell_weight);
    dpl_free(roads->cell_connected);
    dpl_free(roads->cell_first);
    dpl_free(roads->xy_m);
    dpl_free(roads->piece);
    dpl_free(roads);
}

const struct dpl_roads_facts *dpl_roads_facts(const struct dpl_roads *roads) {
    return &roads->facts;
}

json_t *dpl_roads_json(const struct dpl_roads *roads) {
    return json_pack("{s:s, s:s, s:s}", "sha256", roads->facts.digest, "travel",
                     dpl_choice_name("travel", (int)roads->travel), "license", DPL_ROADS_LICENSE);
}
