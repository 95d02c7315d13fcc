/* Roads inside: the network that routes and placement run on.
 *
 * - wire, blob, pbf: a file to nodes and ways; pbf_write: the way back, for made-up cities
 * - rules: tags to class, directions, speed
 * - map: usable ways and their nodes; graph, connect: lines to the network below
 * - nearest: distance to the next road; seconds: how long it is from square to square
 * - route, path, times: a trip's cells to a path on the network, and to positions along it
 * - gcj: the shifted coordinates of Chinese maps
 *
 * The network. Lines that run on without a choice are one street; a street is cut where it crosses
 * the edge of a grid cell, so that every piece lies in one cell:
 *
 *        a ------ o ------ b          o  a node of the map where nothing branches: a point, no node
 *             |                       +  a new node where the street crosses the edge of a cell
 *        a ---+-- o ------ b
 *
 * Metres count from the south-west corner of the box, on the grid's own projection. Everything
 * here is public; nothing includes a header of the private side. */
#ifndef DPL_ROADS_ROADS_H
#define DPL_ROADS_ROADS_H

#include <jansson.h>

#include "base/base.h"

/* A piece of road inside one cell. */
struct roads_piece {
    int32_t node[2]; /* where it begins and ends */
    int32_t cell;
    uint32_t point; /* its points are point ... (point of the next piece) - 1, at least two */
    int32_t street;
    float length_m, seconds;
    uint8_t class, directions; /* ROADS_ALONG: node[0] to node[1] */
    bool connected;            /* both ends are in the largest strongly connected part */
};

/* A piece in one direction, as it leaves a node. */
struct roads_arc {
    int32_t to, cell, street;
    int32_t piece; /* 2 * piece + (1: against) */
    float seconds;
    uint8_t leaves, arrives; /* its heading at either end, in 256ths of a turn */
};

struct roads_buckets {
    double side_m;
    int32_t columns, rows;
    uint32_t *first; /* (columns * rows + 1) */
    uint32_t *point; /* segments from this point to the next that touch the bucket */
    uint8_t *apart;  /* (columns * rows) rings to the nearest bucket that is not empty, 255: more */
};

struct dpl_roads {
    struct dpl_grid grid;
    enum dpl_travel travel;
    struct dpl_roads_facts facts;
    size_t n_nodes, n_pieces, n_points, n_arcs, n_streets;
    struct roads_piece *piece; /* (n_pieces + 1) by cell, the connected ones of a cell first */
    float *xy_m;               /* (n_points, 2) */
    uint32_t *cell_first;      /* (cells + 1) pieces of a cell */
    uint32_t *cell_connected;  /* (cells) where its connected pieces end */
    float *cell_weight;        /* (cells) metres of road times the weight of their class */
    uint32_t *arc_first;       /* (n_nodes + 1) */
    struct roads_arc *arc;     /* (n_arcs) */
    int32_t *component;        /* (n_nodes) 0: the largest */
    float *node_xy_m;          /* (n_nodes, 2) */
    struct roads_buckets buckets;
};

/* What a certificate and a manifest say of the map: the file's digest, the way of travelling and
 * the licence. Caller owns; NULL: memory is short. */
json_t *dpl_roads_json(const struct dpl_roads *roads);

/* Metres of the length of a piece's line up to each of its points are not kept: they are few. */
static inline size_t roads_points(const struct dpl_roads *roads, size_t piece) {
    return roads->piece[piece + 1].point - roads->piece[piece].point;
}

/* The heading of an arc (2 * piece + (1: against)) at its end or its beginning, in 256ths of a
 * turn. */
uint8_t dpl_roads_heading(const struct dpl_roads *roads, int32_t arc, bool end);

#endif
