/* The network's order: arcs by node, strongly connected components, pieces by cell. See graph.h.
 *
 * Components by Tarjan's algorithm with a stack of its own: a map may hold a street of a million
 * nodes, and the machine's stack does not. Pieces are sorted by cell, the connected ones first, and
 * nodes are numbered in the order in which pieces name them: what lies together in the city lies
 * together in memory. */
#include <math.h>
#include <string.h>

#include "roads/graph.h"

/* ---- arcs ---- */

uint8_t dpl_roads_heading(const struct dpl_roads *r, int32_t arc, bool end) {
    uint32_t first = r->piece[arc >> 1].point, last = r->piece[(arc >> 1) + 1].point - 1;
    bool back = arc & 1;
    const float *p = r->xy_m + 2 * (size_t)(end != back ? last - 1 : first), *q = p + 2;
    double turns = atan2(q[1] - p[1], q[0] - p[0]) / (2 * acos(-1)) + (back ? 1.5 : 1);
    return (uint8_t)((int)(turns * 256 + 0.5) & 255);
}

/* Arcs of connected pieces only: routes never leave the largest component. */
static bool usable(const struct roads_piece *piece, int back) {
    return piece->connected && (piece->directions >> back & 1);
}

static enum dpl_status make_arcs(struct dpl_run *run, struct dpl_roads *r) {
    dpl_free(r->arc_first), dpl_free(r->arc);
    r->arc_first = dpl_alloc(run, r->n_nodes + 2, sizeof *r->arc_first);
    r->arc = dpl_alloc(run, 2 * r->n_pieces, sizeof *r->arc);
    if (!r->arc_first || !r->arc) return DPL_SYSTEM;
    uint32_t *next = r->arc_first + 1;
    for (size_t p = 0; p < r->n_pieces; p++)
        for (int back = 0; back < 2; back++)
            if (usable(&r->piece[p], back)) next[r->piece[p].node[back] + 1]++;
    for (size_t i = 1; i <= r->n_nodes; i++) next[i] += next[i - 1];
    for (size_t p = 0; p < r->n_pieces; p++)
        for (int back = 0; back < 2; back++) {
            const struct roads_piece *piece = &r->piece[p];
            if (!usable(piece, back)) continue;
            r->arc[next[piece->node[back]]++] = (struct roads_arc){.to = piece->node[1 - back],
                                                                   .cell = piece->cell,
                                                                   .street = piece->street,
                                                                   .piece = (int32_t)(2 * p) + back,
                                                                   .seconds = piece->seconds};
        }
    r->n_arcs = r->arc_first[r->n_nodes];
    return DPL_OK;
}

/* ---- components ---- */

struct search {
    const struct dpl_roads *roads;
    uint32_t *number, *low; /* (n_nodes) in order of discovery, from 1; least one reached */
    uint32_t *next_arc;     /* (n_nodes) where the search of a node goes on */
    int32_t *path, *stack;  /* (n_nodes) nodes being searched; nodes without a component */
    size_t n_path, n_stack;
    uint32_t found;
    int32_t *component; /* (n_nodes) -1: none yet */
    int32_t n_components;
};

static void discover(struct search *s, int32_t node) {
    s->number[node] = s->low[node] = ++s->found;
    s->next_arc[node] = s->roads->arc_first[node];
    s->path[s->n_path++] = s->stack[s->n_stack++] = node;
}

/* The node at the end of the path has no arc left: is it the root of a component? */
static void finish(struct search *s) {
    int32_t node = s->path[--s->n_path], member;
    if (s->n_path) {
        int32_t before = s->path[s->n_path - 1];
        if (s->low[node] < s->low[before]) s->low[before] = s->low[node];
    }
    if (s->low[node] != s->number[node]) return;
    do {
        member = s->stack[--s->n_stack];
        s->component[member] = s->n_components;
    } while (member != node);
    s->n_components++;
}

static void search_from(struct search *s, int32_t start) {
    discover(s, start);
    while (s->n_path) {
        int32_t node = s->path[s->n_path - 1];
        if (s->next_arc[node] == s->roads->arc_first[node + 1]) {
            finish(s);
            continue;
        }
        int32_t to = s->roads->arc[s->next_arc[node]++].to;
        if (!s->number[to])
            discover(s, to);
        else if (s->component[to] < 0 && s->number[to] < s->low[node])
            s->low[node] = s->number[to];
    }
}

/* Makes the component with most metres of road number 0. */
static enum dpl_status largest_first(struct dpl_run *run, struct dpl_roads *r, int32_t n) {
    double *length_m = dpl_alloc(run, (size_t)n, sizeof *length_m);
    int32_t most = 0;
    if (!length_m) return DPL_SYSTEM;
    for (size_t p = 0; p < r->n_pieces; p++) {
        int32_t a = r->component[r->piece[p].node[0]], b = r->component[r->piece[p].node[1]];
        if (a == b) length_m[a] += r->piece[p].length_m;
    }
    for (int32_t c = 1; c < n; c++)
        if (length_m[c] > length_m[most]) most = c;
    for (size_t i = 0; i < r->n_nodes; i++)
        r->component[i] = r->component[i] == most ? 0
                          : r->component[i] == 0  ? most
                                                  : r->component[i];
    dpl_free(length_m);
    return DPL_OK;
}

static enum dpl_status make_components(struct dpl_run *run, struct dpl_roads *r) {
    size_t n = r->n_nodes;
    uint32_t *room = dpl_alloc(run, 5 * n, sizeof *room);
    r->component = dpl_alloc(run, n, sizeof *r->component);
    if (!room || !r->component) {
        dpl_free(room);
        return DPL_SYSTEM;
    }
    struct search s = {.roads = r,
                       .number = room,
                       .low = room + n,
                       .next_arc = room + 2 * n,
                       .path = (int32_t *)(room + 3 * n),
                       .stack = (int32_t *)(room + 4 * n),
                       .component = r->component};
    for (size_t i = 0; i < n; i++) r->component[i] = -1;
    for (size_t i = 0; i < n; i++)
        if (!s.number[i]) search_from(&s, (int32_t)i);
    dpl_free(room);
    r->facts.components = (size_t)s.n_components;
    return largest_first(run, r, s.n_components);
}

/* ---- order ---- */

/* Where a piece goes: by cell, the connected ones first. */
static size_t sort_key(const struct roads_piece *piece) {
    return 2 * (size_t)piece->cell + !piece->connected;
}

/* Piece p goes to place[p]; also fills cell_first and cell_connected. */
static enum dpl_status plan_order(struct dpl_run *run, struct dpl_roads *r, uint32_t *place) {
    size_t cells = (size_t)dpl_grid_cells(&r->grid);
    uint32_t *start = dpl_alloc(run, 2 * cells + 2, sizeof *start);
    r->cell_first = dpl_alloc(run, cells + 1, sizeof *r->cell_first);
    r->cell_connected = dpl_alloc(run, cells, sizeof *r->cell_connected);
    r->cell_weight = dpl_alloc(run, cells, sizeof *r->cell_weight);
    if (!start || !r->cell_first || !r->cell_connected || !r->cell_weight) {
        dpl_free(start);
        return DPL_SYSTEM;
    }
    for (size_t p = 0; p < r->n_pieces; p++) start[sort_key(&r->piece[p]) + 1]++;
    for (size_t k = 1; k < 2 * cells + 2; k++) start[k] += start[k - 1];
    for (size_t c = 0; c < cells; c++)
        r->cell_first[c] = start[2 * c], r->cell_connected[c] = start[2 * c + 1];
    r->cell_first[cells] = start[2 * cells];
    for (size_t p = 0; p < r->n_pieces; p++) place[p] = start[sort_key(&r->piece[p])]++;
    dpl_free(start);
    return DPL_OK;
}

/* Moves pieces and their points into the order of `from`: piece i comes from from[i]. */
static enum dpl_status move_pieces(struct dpl_run *run, struct dpl_roads *r, const uint32_t *from) {
    struct roads_piece *piece = dpl_alloc(run, r->n_pieces + 1, sizeof *piece);
    float *xy_m = dpl_alloc(run, 2 * r->n_points, sizeof *xy_m);
    if (!piece || !xy_m) {
        dpl_free(piece), dpl_free(xy_m);
        return DPL_SYSTEM;
    }
    uint32_t point = 0;
    r->piece[r->n_pieces].point = (uint32_t)r->n_points;
    for (size_t i = 0; i < r->n_pieces; i++) {
        uint32_t first = r->piece[from[i]].point, n = r->piece[from[i] + 1].point - first;
        memcpy(xy_m + 2 * (size_t)point, r->xy_m + 2 * (size_t)first, 2 * n * sizeof *xy_m);
        piece[i] = r->piece[from[i]];
        piece[i].point = point;
        point += n;
    }
    piece[r->n_pieces].point = point;
    dpl_free(r->piece), dpl_free(r->xy_m);
    r->piece = piece, r->xy_m = xy_m;
    return DPL_OK;
}

static enum dpl_status number_nodes(struct dpl_run *run, struct dpl_roads *r) {
    int32_t *number = dpl_alloc(run, r->n_nodes, sizeof *number); // 0: none yet
    int32_t *component = dpl_alloc(run, r->n_nodes, sizeof *component), n = 0;
    if (!number || !component) {
        dpl_free(number), dpl_free(component);
        return DPL_SYSTEM;
    }
    for (size_t p = 0; p < r->n_pieces; p++)
        for (int end = 0; end < 2; end++) {
            int32_t old = r->piece[p].node[end];
            if (!number[old]) component[n] = r->component[old], number[old] = ++n;
            r->piece[p].node[end] = number[old] - 1;
        }
    r->n_nodes = (size_t)n;
    dpl_free(number), dpl_free(r->component);
    r->component = component;
    return DPL_OK;
}

static enum dpl_status sort_pieces(struct dpl_run *run, struct dpl_roads *r) {
    uint32_t *place = dpl_alloc(run, r->n_pieces, sizeof *place),
             *from = dpl_alloc(run, r->n_pieces, sizeof *from);
    enum dpl_status status = DPL_SYSTEM;
    if (!place || !from) goto done;
    DPL_GO(plan_order(run, r, place));
    for (size_t p = 0; p < r->n_pieces; p++) from[place[p]] = (uint32_t)p;
    DPL_GO(move_pieces(run, r, from));
    status = number_nodes(run, r);
done:
    dpl_free(place);
    dpl_free(from);
    return status;
}

static enum dpl_status place_nodes(struct dpl_run *run, struct dpl_roads *r) {
    r->node_xy_m = dpl_alloc(run, 2 * r->n_nodes, sizeof *r->node_xy_m);
    if (!r->node_xy_m) return DPL_SYSTEM;
    for (size_t p = 0; p < r->n_pieces; p++)
        for (int end = 0; end < 2; end++) {
            size_t point = end ? r->piece[p + 1].point - 1 : r->piece[p].point,
                   node = (size_t)r->piece[p].node[end];
            memcpy(r->node_xy_m + 2 * node, r->xy_m + 2 * point, 2 * sizeof *r->xy_m);
        }
    return DPL_OK;
}

static void sum_up(struct dpl_roads *r) {
    for (size_t p = 0; p < r->n_pieces; p++) {
        const struct roads_piece *piece = &r->piece[p];
        r->cell_weight[piece->cell] +=
            (float)(piece->length_m * dpl_roads_class_weight(piece->class));
        r->facts.km += piece->length_m / 1000;
        if (piece->connected) r->facts.km_connected += piece->length_m / 1000;
    }
    r->facts.nodes = r->n_nodes;
    r->facts.pieces = r->n_pieces;
}

enum dpl_status dpl_graph_connect(struct dpl_run *run, struct dpl_roads *r) {
    for (size_t p = 0; p < r->n_pieces; p++) r->piece[p].connected = true; // not known yet
    DPL_TRY(make_arcs(run, r));
    DPL_TRY(make_components(run, r));
    for (size_t p = 0; p < r->n_pieces; p++)
        r->piece[p].connected =
            !r->component[r->piece[p].node[0]] && !r->component[r->piece[p].node[1]];
    DPL_TRY(sort_pieces(run, r));
    DPL_TRY(make_arcs(run, r));
    for (size_t a = 0; a < r->n_arcs; a++) {
        r->arc[a].leaves = dpl_roads_heading(r, r->arc[a].piece, false);
        r->arc[a].arrives = dpl_roads_heading(r, r->arc[a].piece, true);
    }
    DPL_TRY(place_nodes(run, r));
    sum_up(r);
    return DPL_OK;
}
