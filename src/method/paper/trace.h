/* From the best path to a trip: a Metropolis-Hastings walk over paths, then looping.
 * docs/SAMPLING.md has the algorithm. */
#ifndef DPL_METHOD_PAPER_TRACE_H
#define DPL_METHOD_PAPER_TRACE_H

#include "base/random.h"
#include "sample/generator.h"
#include "method/paper/routes.h"

/* Cells that may stand for each other: y is a neighbour of x when it is among the DPL_NEAREST
 * nearest of x, or x among those of y. Symmetric, so that every move has its way back; degrees
 * differ. */
enum { DPL_NEAREST = 20 };
struct dpl_neighbours {
    size_t *start; /* (K + 1) */
    int32_t *cell; /* (start[K]) ascending for each cell */
};
/* For the model's cells (n_cells, of the grid). Ties go to the smaller number. Free with
 * dpl_neighbours_free. */
enum dpl_status dpl_neighbours_find(struct dpl_run *run, const struct dpl_grid *grid,
                                    const int32_t *cell, size_t n_cells,
                                    struct dpl_neighbours *neighbours);
void dpl_neighbours_free(struct dpl_neighbours *neighbours);

/* The best path from source to the graph's destination, at most `room` cells of it: both ends
 * included, or source and destination alone when no path has a probability above 0. source !=
 * destination. Returns its cells. */
size_t dpl_trace_path(const struct dpl_graph *graph, int32_t source, size_t room, int32_t *path);

/* `steps` Metropolis-Hastings transitions on the interior of path (n). */
void dpl_trace_walk(const struct dpl_graph *graph, const struct dpl_neighbours *neighbours,
                    int64_t steps, struct dpl_stream *stream, int32_t *path, size_t n);

/* How long a trip stays at x: geometric, P(eta = k) in proportion to p^(k-1), p = P(x | x),
 * conditioned on 1 ... room. */
uint32_t dpl_trace_stay(const struct dpl_graph *graph, int32_t x, uint32_t room,
                        struct dpl_stream *stream);

struct dpl_trace_options {
    int64_t mh_steps;
    bool looping;
    uint32_t length_max; /* at least 2 */
};
/* A whole trip to the graph's destination: stays (length_max) are filled, their number is returned.
 * path (length_max) is room. At least 2 visits, at most length_max, and the last one is the
 * destination. */
size_t dpl_trace_trip(const struct dpl_graph *graph, const struct dpl_neighbours *neighbours,
                      const struct dpl_trace_options *options, int32_t source,
                      struct dpl_stream *stream, int32_t *path, struct dpl_stay *stay);

#endif
