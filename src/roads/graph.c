/* Ways to streets to pieces: nodes where nothing branches become points, and streets are cut at the
 * edges of cells and of the box. See roads.h for a drawing, graph.h for the calls.
 *
 * A segment is what lies between two places of a way. A node of the map is passed through when
 * exactly two segments meet there, of one class and usable in the same directions. A ring without
 * any other node begins somewhere. Cost: linear in segments and in crossings of cell edges. */
#include "roads/graph.h"

#include <math.h>

#include "roads/clip.h"

enum { PIECES_MAX = 1 << 24 };

struct segment {
    int32_t node[2]; /* of the map */
    int32_t way;
};

struct building {
    struct dpl_run *run;
    const struct map *map;
    struct dpl_roads *roads;
    struct clip_point size;  /* of the box */
    struct clip_point *at;   /* (map nodes) metres */
    struct segment *segment; /* (n_segments) */
    size_t n_segments, segment_capacity;
    uint32_t *meet_first; /* (map nodes + 1) segments that meet at a node */
    uint32_t *meet;       /* (2 * n_segments) */
    bool *used;           /* (n_segments) is part of a street already */
    int32_t *node_of;     /* (map nodes) node of the network, -1: none yet */
    size_t piece_capacity, xy_capacity;
    bool open; /* the last piece is not finished */
};

/* ---- segments ---- */

static bool beside(double a, double b, double size) {
    return (a < 0 && b < 0) || (a > size && b > size);
}

static enum dpl_status add_segments(struct building *b, size_t way) {
    const struct map *map = b->map;
    bool touches = false;
    for (size_t i = map->way[way].first; i + 1 < map->way[way + 1].first; i++) {
        int32_t from = map->place[i], to = map->place[i + 1];
        if (from == to || isnan(map->lat_deg[from]) || isnan(map->lat_deg[to])) continue;
        struct clip_point p = b->at[from], q = b->at[to];
        if (beside(p.x, q.x, b->size.x) || beside(p.y, q.y, b->size.y)) continue;
        DPL_TRY(dpl_grow(b->run, &b->segment, &b->segment_capacity, b->n_segments + 1,
                         sizeof *b->segment));
        b->segment[b->n_segments++] = (struct segment){{from, to}, (int32_t)way};
        touches = true;
    }
    b->roads->facts.ways += touches;
    return DPL_OK;
}

static void count_missing(struct building *b) {
    for (size_t i = 0; i < b->map->n_places; i++)
        b->roads->facts.nodes_missing += isnan(b->map->lat_deg[b->map->place[i]]) ? 1 : 0;
}

static enum dpl_status make_segments(struct building *b) {
    const struct map *map = b->map;
    const struct dpl_grid *grid = &b->roads->grid;
    b->at = dpl_alloc(b->run, map->n_nodes, sizeof *b->at);
    if (!b->at) return DPL_SYSTEM;
    for (size_t i = 0; i < map->n_nodes; i++) {
        b->at[i].x = (map->lon_deg[i] - grid->area.west_deg) * grid->m_per_deg_lon;
        b->at[i].y = (map->lat_deg[i] - grid->area.south_deg) * grid->m_per_deg_lat;
    }
    for (size_t way = 0; way < map->n_ways; way++) DPL_TRY(add_segments(b, way));
    count_missing(b);
    return DPL_OK;
}

static enum dpl_status make_meetings(struct building *b) {
    size_t nodes = b->map->n_nodes;
    b->meet_first = dpl_alloc(b->run, nodes + 2, sizeof *b->meet_first);
    b->meet = dpl_alloc(b->run, 2 * b->n_segments, sizeof *b->meet);
    b->used = dpl_alloc(b->run, b->n_segments, sizeof *b->used);
    b->node_of = dpl_alloc(b->run, nodes, sizeof *b->node_of);
    if (!b->meet_first || !b->meet || !b->used || !b->node_of) return DPL_SYSTEM;
    // Counts stand two places on; filling moves every start to where it belongs.
    uint32_t *next = b->meet_first + 1;
    for (size_t s = 0; s < b->n_segments; s++)
        for (int end = 0; end < 2; end++) next[b->segment[s].node[end] + 1]++;
    for (size_t i = 1; i <= nodes; i++) next[i] += next[i - 1];
    for (size_t s = 0; s < b->n_segments; s++)
        for (int end = 0; end < 2; end++) b->meet[next[b->segment[s].node[end]]++] = (uint32_t)s;
    for (size_t i = 0; i < nodes; i++) b->node_of[i] = -1;
    return DPL_OK;
}

/* ---- pieces ---- */

static enum dpl_status add_point(struct building *b, struct clip_point p) {
    struct dpl_roads *r = b->roads;
    DPL_TRY(dpl_grow(b->run, &r->xy_m, &b->xy_capacity, 2 * r->n_points + 2, sizeof *r->xy_m));
    r->xy_m[2 * r->n_points] = (float)p.x, r->xy_m[2 * r->n_points + 1] = (float)p.y;
    r->n_points++;
    return DPL_OK;
}

static int32_t new_node(struct building *b) { return (int32_t)b->roads->n_nodes++; }

/* The network's node at a node of the map. */
static int32_t node_at(struct building *b, int32_t map_node) {
    if (b->node_of[map_node] < 0) b->node_of[map_node] = new_node(b);
    return b->node_of[map_node];
}

static void close_piece(struct building *b, int32_t node) {
    b->roads->piece[b->roads->n_pieces - 1].node[1] = node;
    b->open = false;
}

static enum dpl_status open_piece(struct building *b, int32_t node, int32_t cell,
                                  const struct roads_use *use) {
    struct dpl_roads *r = b->roads;
    if (r->n_pieces >= PIECES_MAX)
        return dpl_fail(
            b->run, DPL_BAD_DATA,
            "the roads fall into more than %d pieces (take larger cells, `area.cell_m`, or a "
            "smaller box)",
            PIECES_MAX);
    // Room for one more: a piece ends where the next one's points begin.
    DPL_TRY(dpl_grow(b->run, &r->piece, &b->piece_capacity, r->n_pieces + 2, sizeof *r->piece));
    r->piece[r->n_pieces++] = (struct roads_piece){.node = {node, -1},
                                                   .cell = cell,
                                                   .point = (uint32_t)r->n_points,
                                                   .street = (int32_t)r->n_streets,
                                                   .class = use->class,
                                                   .directions = use->directions};
    b->open = true;
    return DPL_OK;
}

static int32_t cell_of(const struct dpl_grid *grid, struct clip_point p) {
    return clip_index(p.y / grid->area.cell_m, grid->rows) * grid->columns +
           clip_index(p.x / grid->area.cell_m, grid->columns);
}

/* A line from p to q inside one cell joins the open piece, or begins the next one. */
static enum dpl_status add_line(struct building *b, struct clip_point p, struct clip_point q,
                                int32_t first_node, const struct roads_use *use) {
    struct dpl_roads *r = b->roads;
    int32_t cell = cell_of(&r->grid, clip_between(p, q, 0.5)), node = first_node;
    if (!b->open || r->piece[r->n_pieces - 1].cell != cell) {
        if (b->open || node < 0) node = new_node(b);
        if (b->open) close_piece(b, node);
        DPL_TRY(open_piece(b, node, cell, use));
        DPL_TRY(add_point(b, p));
    }
    double length_m = hypot(q.x - p.x, q.y - p.y);
    r->piece[r->n_pieces - 1].length_m += (float)length_m;
    r->piece[r->n_pieces - 1].seconds += (float)(length_m / use->speed_mps);
    return add_point(b, q);
}

/* Where a line crosses the edges of cells in one coordinate, one after the other. */
struct crossing {
    double start, step, cell_m; /* coordinate at part 0, its change until part 1 */
    double edge;                /* the next edge, in cells */
};

static struct crossing crossings(double start, double end, double from, double cell_m) {
    struct crossing c = {.start = start, .step = end - start, .cell_m = cell_m};
    double at = (start + from * c.step) / cell_m;
    c.edge = c.step > 0 ? floor(at) + 1 : ceil(at) - 1;
    return c;
}

/* The part of the way at which the next edge is crossed; INFINITY: never. */
static double crossing_at(const struct crossing *c) {
    return c->step != 0 ? (c->edge * c->cell_m - c->start) / c->step : INFINITY;
}

static void crossing_pass(struct crossing *c, double part) {
    if (crossing_at(c) <= part) c->edge += c->step > 0 ? 1 : -1;
}

/* Adds a segment, cut at the box and at the edges of cells. first_node: the node at p when the
 * street begins there, otherwise -1. */
static enum dpl_status add_segment(struct building *b, struct clip_point p, struct clip_point q,
                                   int32_t first_node, const struct roads_use *use) {
    double from, to, cell_m = b->roads->grid.area.cell_m;
    if (!clip_line(p, q, b->size, &from, &to)) {
        if (b->open) close_piece(b, new_node(b));
        return DPL_OK;
    }
    struct crossing x = crossings(p.x, q.x, from, cell_m), y = crossings(p.y, q.y, from, cell_m);
    if (from > 0) first_node = -1;
    for (double at = from; at < to || at == from;) {
        double next = fmin(to, fmin(crossing_at(&x), crossing_at(&y)));
        crossing_pass(&x, next), crossing_pass(&y, next);
        if (next <= at && next < to) continue; // begins on an edge
        DPL_TRY(add_line(b, clip_between(p, q, at), clip_between(p, q, next), first_node, use));
        if (next >= to) break;
        at = next;
    }
    if (to < 1 && b->open) close_piece(b, new_node(b));
    return DPL_OK;
}

/* ---- streets ---- */

/* How a segment may be used when it is passed from its end `end` to the other. */
static uint8_t directions_from(const struct building *b, uint32_t s, int end) {
    uint8_t d = b->map->way[b->segment[s].way].use.directions;
    return end == 0 ? d : (uint8_t)((unsigned)d >> 1 | (d & 1u) << 1);
}

/* The one other segment that goes on from `node`, and its end there; false where a street ends. */
static bool goes_on(const struct building *b, uint32_t s, int end, uint32_t *next, int *next_end) {
    int32_t node = b->segment[s].node[1 - end];
    const uint32_t *meet = b->meet + b->meet_first[node];
    if (b->meet_first[node + 1] - b->meet_first[node] != 2 || meet[0] == meet[1]) return false;
    *next = meet[0] == s ? meet[1] : meet[0];
    *next_end = b->segment[*next].node[0] == node ? 0 : 1;
    return b->map->way[b->segment[s].way].use.class == b->map->way[b->segment[*next].way].use.class
           && directions_from(b, s, end) == directions_from(b, *next, *next_end);
}

static enum dpl_status add_street(struct building *b, uint32_t s, int end) {
    int32_t first_node = node_at(b, b->segment[s].node[end]);
    b->open = false;
    for (uint32_t next; !b->used[s]; s = next) {
        struct roads_use use = b->map->way[b->segment[s].way].use;
        int32_t from = b->segment[s].node[end], to = b->segment[s].node[1 - end];
        int next_end;
        b->used[s] = true;
        use.directions = directions_from(b, s, end);
        DPL_TRY(add_segment(b, b->at[from], b->at[to], first_node, &use));
        first_node = -1;
        bool more = goes_on(b, s, end, &next, &next_end) && !b->used[next];
        if (!more && b->open) close_piece(b, node_at(b, to));
        if (!more) break;
        end = next_end;
    }
    b->roads->n_streets++;
    return DPL_OK;
}

/* Streets begin where nothing goes on backwards; what is left after that are rings. */
static enum dpl_status add_streets(struct building *b) {
    for (int rings = 0; rings < 2; rings++)
        for (uint32_t s = 0; s < b->n_segments; s++)
            for (int end = 0; end < 2; end++) {
                uint32_t before;
                int before_end;
                if (b->used[s]) break;
                if (!rings && goes_on(b, s, 1 - end, &before, &before_end)) continue;
                DPL_TRY(add_street(b, s, end));
            }
    return DPL_OK;
}

enum dpl_status dpl_graph_make(struct dpl_run *run, const struct map *map,
                               struct dpl_roads *roads) {
    const struct dpl_grid *grid = &roads->grid;
    struct building b = {.run = run, .map = map, .roads = roads};
    enum dpl_status status;
    b.size.x = (grid->area.east_deg - grid->area.west_deg) * grid->m_per_deg_lon;
    b.size.y = (grid->area.north_deg - grid->area.south_deg) * grid->m_per_deg_lat;
    DPL_GO(make_segments(&b));
    DPL_GO(make_meetings(&b));
    DPL_GO(add_streets(&b));
    if (roads->n_pieces) status = dpl_graph_connect(run, roads);
done:
    dpl_free(b.node_of);
    dpl_free(b.used);
    dpl_free(b.meet);
    dpl_free(b.meet_first);
    dpl_free(b.segment);
    dpl_free(b.at);
    return status;
}
