/* Ways and their nodes. See map.h. */
#include "roads/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "roads/osm_xml.h"

static const size_t PLACES_MAX =
    40000000; /* nodes of ways: any region, most countries; about 1 GB */

struct collecting {
    struct dpl_run *run;
    const char *path;
    enum dpl_travel travel;
    struct map *map;
    int64_t *ref; /* (n_places) ids in the order of the ways */
    size_t ref_capacity;
    size_t at; /* the node that was found last */
};

/* ---- ways ---- */

static enum dpl_status take_way(void *user, const struct pbf_way *way) {
    struct collecting *c = user;
    struct map *map = c->map;
    struct roads_use use = dpl_roads_rule(way, c->travel);
    if (!use.directions || way->n_refs < 2) return DPL_OK;
    if (map->n_places + way->n_refs > PLACES_MAX)
        return dpl_fail(c->run, DPL_BAD_DATA,
                        "%s: too many roads for one map (cut it to the region first: osmium "
                        "extract -b W,S,E,N)",
                        c->path);
    DPL_TRY(dpl_grow(c->run, &map->way, &map->way_capacity, map->n_ways + 2, sizeof *map->way));
    DPL_TRY(
        dpl_grow(c->run, &c->ref, &c->ref_capacity, map->n_places + way->n_refs, sizeof *c->ref));
    map->way[map->n_ways++] = (struct map_way){map->n_places, use};
    memcpy(c->ref + map->n_places, way->ref, way->n_refs * sizeof *way->ref);
    map->n_places += way->n_refs;
    map->way[map->n_ways] = (struct map_way){.first = map->n_places};
    return DPL_OK;
}

/* ---- nodes ---- */

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The first place in low ... high-1 whose id is not below. */
static size_t lower_bound(const int64_t *id, size_t low, size_t high, int64_t wanted) {
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (id[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum dpl_status list_nodes(struct collecting *c) {
    struct map *map = c->map;
    map->id = dpl_alloc(c->run, map->n_places, sizeof *map->id);
    if (!map->id) return DPL_SYSTEM;
    memcpy(map->id, c->ref, map->n_places * sizeof *c->ref);
    qsort(map->id, map->n_places, sizeof *map->id, by_value);
    for (size_t i = 0; i < map->n_places; i++)
        if (!map->n_nodes || map->id[map->n_nodes - 1] != map->id[i])
            map->id[map->n_nodes++] = map->id[i];
    map->lat_deg = dpl_alloc(c->run, map->n_nodes, sizeof *map->lat_deg);
    map->lon_deg = dpl_alloc(c->run, map->n_nodes, sizeof *map->lon_deg);
    map->place = dpl_alloc(c->run, map->n_places, sizeof *map->place);
    if (!map->lat_deg || !map->lon_deg || !map->place) return DPL_SYSTEM;
    for (size_t i = 0; i < map->n_nodes; i++) map->lat_deg[i] = map->lon_deg[i] = NAN;
    for (size_t i = 0; i < map->n_places; i++)
        map->place[i] = (int32_t)lower_bound(map->id, 0, map->n_nodes, c->ref[i]);
    return DPL_OK;
}

/* Files are nearly always in the order of ids: the search begins where the last one ended and
 * doubles its stride. */
static enum dpl_status take_node(void *user, int64_t id, double lat_deg, double lon_deg) {
    struct collecting *c = user;
    const struct map *map = c->map;
    size_t low = c->at < map->n_nodes && map->id[c->at] <= id ? c->at : 0, high = low + 1;
    while (high < map->n_nodes && map->id[high] < id) high += high - low;
    if (high > map->n_nodes) high = map->n_nodes;
    c->at = lower_bound(map->id, low, high, id);
    if (c->at < map->n_nodes && map->id[c->at] == id)
        map->lat_deg[c->at] = lat_deg, map->lon_deg[c->at] = lon_deg;
    return DPL_OK;
}

static enum dpl_status read_file(struct blob_file *file, const struct pbf_sink *sink) {
    return file->xml ? dpl_osm_xml_read(file, sink) : dpl_pbf_read(file, sink);
}

enum dpl_status dpl_map_read(struct blob_file *file, enum dpl_travel travel, struct map *map) {
    struct collecting c = {.run = file->run, .path = file->path, .travel = travel, .map = map};
    const struct pbf_sink ways = {.user = &c, .way = take_way}, nodes = {&c, take_node, NULL};
    enum dpl_status status;
    DPL_GO(read_file(file, &ways));
    if (!map->n_ways) {
        status = dpl_fail(file->run, DPL_BAD_DATA,
                          "%s: there is no road in it that one may use to %s (`travel`; is it a "
                          "map of roads?)",
                          file->path, dpl_choice_name("travel", (int)travel));
        goto done;
    }
    DPL_GO(list_nodes(&c));
    status = read_file(file, &nodes);
done:
    dpl_free(c.ref);
    return status;
}

void dpl_map_free(struct map *map) {
    dpl_free(map->way);
    dpl_free(map->id);
    dpl_free(map->lat_deg);
    dpl_free(map->lon_deg);
    dpl_free(map->place);
    *map = (struct map){0};
}
