/* The most probable ways to a destination: for one (destination, period) the complete graph on the
 * K cells with weights -log P(y | x, destination, period), and its reverse shortest-path tree.
 * docs/SAMPLING.md has the algorithm.
 *
 *     struct dpl_routes *routes;                   tables of one model, shared by all threads
 *     dpl_routes_open(run, &shape, parameters, &routes);
 *     struct dpl_graph *graph;                     room for one graph at a time, one per thread
 *     dpl_graph_new(run, routes, &graph);
 *     dpl_graph_build(routes, destination, period, graph);
 *     for (x = source; x != destination; x = graph->next[x]) ...
 */
#ifndef DPL_METHOD_PAPER_ROUTES_H
#define DPL_METHOD_PAPER_ROUTES_H

#include "method/paper/nexthop_table.h"

/* More cells than this would make one graph larger than what all of sampling may use. */
enum { DPL_ROUTES_CELLS = 6000 };

struct dpl_routes;

/* `parameters` are copied as far as they are needed. Caller frees with dpl_routes_free. */
enum dpl_status dpl_routes_open(struct dpl_run *run, const struct dpl_nexthop_shape *shape,
                                const float *parameters, struct dpl_routes **routes);
void dpl_routes_free(struct dpl_routes *routes);

/* One graph. Everything is indexed by cells 0 ... K-1. */
struct dpl_graph {
    size_t n_cells;
    int32_t destination;
    float *logit;    /* (K, K): logit[y * K + x] of going from x to y; -infinity or NaN: never */
    float *norm;     /* (K): log of the sum over y of exp(logit) for each x */
    float *distance; /* (K): -log of the probability of the best path from x; infinity: there is
                        none */
    int32_t *next;   /* (K): the cell after x on it; -1 when there is none */
    float *closed, *scratch, *hidden; /* room: (K), (2K), (hidden + 1, K) */
};

/* Bytes that a graph takes. */
size_t dpl_graph_bytes(size_t n_cells, size_t hidden);
/* Caller frees with dpl_graph_free. */
enum dpl_status dpl_graph_new(struct dpl_run *run, size_t n_cells, size_t hidden,
                              struct dpl_graph **graph);
void dpl_graph_free(struct dpl_graph *graph);
/* Fills the logits from the net, then dpl_graph_solve. Never fails, allocates nothing. */
void dpl_graph_build(const struct dpl_routes *routes, int32_t destination, size_t period,
                     struct dpl_graph *graph);
/* From logits to norms, distances and the tree to `destination`. */
void dpl_graph_solve(struct dpl_graph *graph, int32_t destination);

/* log P(y | x); -infinity when there is no such edge. */
static inline double dpl_graph_log_p(const struct dpl_graph *graph, int32_t x, int32_t y) {
    double log_p =
        (double)graph->logit[(size_t)y * graph->n_cells + (size_t)x] - (double)graph->norm[x];
    return log_p > 0 ? 0 : log_p > -__builtin_inf() ? log_p : -__builtin_inf();
}

#endif
