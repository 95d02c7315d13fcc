/* Traces.
 *
 *   source o--o--o--o destination   the best path of the tree
 *             |  x                  a transition: one interior cell may become one of its
 * neighbours source o--o--x--o destination   ... and so on, mh_steps times source ooo-oo-x-oooo
 * looping: each cell is repeated as often as the net would stay
 *
 * The walk is a Metropolis-Hastings chain on the paths of that many cells between these ends, with
 * the path's probability as its target: an interior place is chosen uniformly, then one of the
 * deg(x) neighbours of its cell x. Proposing y from x has chance 1/deg(x) and the way back
 * 1/deg(y), hence the correction deg(x)/deg(y). Only the two edges at the place change, so that a
 * transition costs four lookups.
 *
 * PAPER: section 4.4 has the walk without the correction and leaves the neighbours open; without it
 * the chain's long-run distribution is tilted towards cells with many neighbours.
 */
#include "method/paper/trace.h"

#include <math.h>
#include <string.h>

/* ---- neighbours ---- */

struct candidate {
    double distance_m;
    int32_t cell;
};

static bool nearer(const struct candidate *a, const struct candidate *b) {
    return a->distance_m < b->distance_m || (!(b->distance_m < a->distance_m) && a->cell < b->cell);
}

/* The nearest of x by insertion into a short sorted list; returns how many there are. */
static size_t find_nearest(const struct dpl_grid *grid, const int32_t *cell, size_t n_cells,
                           size_t x, struct candidate list[DPL_NEAREST]) {
    size_t n = 0;
    for (size_t y = 0; y < n_cells; y++) {
        if (y == x) continue;
        struct candidate here = {dpl_grid_distance_m(grid, cell[x], cell[y]), (int32_t)y};
        if (n == DPL_NEAREST && !nearer(&here, &list[n - 1])) continue;
        size_t at = n < DPL_NEAREST ? n++ : n - 1;
        for (; at > 0 && nearer(&here, &list[at - 1]); at--) list[at] = list[at - 1];
        list[at] = here;
    }
    return n;
}

/* (x, y) pairs, both ways, as one number each: sorted and made unique they are the relation. */
static void sort_pairs(uint64_t *pair, size_t n, uint64_t *room) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
        size_t count[257] = {0};
        for (size_t i = 0; i < n; i++) count[(pair[i] >> shift & 255) + 1]++;
        for (size_t b = 0; b < 256; b++) count[b + 1] += count[b];
        for (size_t i = 0; i < n; i++) room[count[pair[i] >> shift & 255]++] = pair[i];
        memcpy(pair, room, n * sizeof *pair);
    }
}

enum dpl_status dpl_neighbours_find(struct dpl_run *run, const struct dpl_grid *grid,
                                    const int32_t *cell, size_t n_cells,
                                    struct dpl_neighbours *neighbours) {
    enum dpl_status status = DPL_SYSTEM;
    size_t most = 2 * DPL_NEAREST * n_cells, n = 0, kept = 0;
    struct dpl_neighbours made = {dpl_alloc(run, n_cells + 1, sizeof *made.start),
                                  dpl_alloc(run, most, sizeof *made.cell)};
    uint64_t *pair = dpl_alloc(run, 2 * most, sizeof *pair);
    if (made.start == NULL || made.cell == NULL || pair == NULL) goto done;
    for (size_t x = 0; x < n_cells; x++) {
        struct candidate list[DPL_NEAREST];
        size_t found = find_nearest(grid, cell, n_cells, x, list);
        for (size_t i = 0; i < found; i++) {
            uint64_t y = (uint64_t)list[i].cell;
            pair[n++] = (uint64_t)x << 16 | y;
            pair[n++] = y << 16 | (uint64_t)x;
        }
    }
    sort_pairs(pair, n, pair + most);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && pair[i] == pair[i - 1]) continue;
        made.cell[kept++] = (int32_t)(pair[i] & 0xFFFF);
        made.start[(pair[i] >> 16) + 1] = kept;
    }
    for (size_t x = 0; x < n_cells; x++) // a single cell has none
        if (made.start[x + 1] < made.start[x]) made.start[x + 1] = made.start[x];
    *neighbours = made;
    made = (struct dpl_neighbours){0};
    status = DPL_OK;
done:
    dpl_free(pair);
    dpl_neighbours_free(&made);
    return status;
}

void dpl_neighbours_free(struct dpl_neighbours *neighbours) {
    dpl_free(neighbours->cell);
    dpl_free(neighbours->start);
    *neighbours = (struct dpl_neighbours){0};
}

/* ---- one trip ---- */

size_t dpl_trace_path(const struct dpl_graph *graph, int32_t source, size_t room, int32_t *path) {
    size_t n = 0;
    for (int32_t x = source; x >= 0 && x != graph->destination && n + 1 < room; x = graph->next[x])
        path[n++] = x;
    path[n++] = graph->destination; // a path longer than the room goes straight from where it is
    return n;
}

static size_t degree(const struct dpl_neighbours *neighbours, int32_t x) {
    return neighbours->start[x + 1] - neighbours->start[x];
}

/* The logarithm of how much more probable the path is with y in place of path[i]. NaN: neither way
 * is possible. */
static double log_ratio(const struct dpl_graph *graph, const int32_t *path, size_t i, int32_t y) {
    double now =
        dpl_graph_log_p(graph, path[i - 1], path[i]) + dpl_graph_log_p(graph, path[i], path[i + 1]);
    double then = dpl_graph_log_p(graph, path[i - 1], y) + dpl_graph_log_p(graph, y, path[i + 1]);
    return then - now;
}

void dpl_trace_walk(const struct dpl_graph *graph, const struct dpl_neighbours *neighbours,
                    int64_t steps, struct dpl_stream *stream, int32_t *path, size_t n) {
    if (n < 3) return;
    for (int64_t step = 0; step < steps; step++) {
        size_t i = 1 + (size_t)dpl_stream_below(stream, n - 2), ways = degree(neighbours, path[i]);
        int32_t x = path[i],
                y = neighbours->cell[neighbours->start[x] + (size_t)dpl_stream_below(stream, ways)];
        double uniform = dpl_stream_uniform(stream);
        if (y == path[i - 1] || y == path[i + 1])
            continue; // a cell does not follow itself: that is looping's business
        double hastings = (double)ways / (double)degree(neighbours, y);
        if (uniform < exp(log_ratio(graph, path, i, y)) * hastings) path[i] = y;
    }
}

/* PAPER: sec. 4.4 lets looping run on and says nothing of the longest length; its net says "stay"
 * 19 times in 20 at the destination, because the data has no step that leaves it, so trips cut off
 * at the limit would pile up there. The geometric number is conditioned on its room instead. */
uint32_t dpl_trace_stay(const struct dpl_graph *graph, int32_t x, uint32_t room,
                        struct dpl_stream *stream) {
    const double log_p = dpl_graph_log_p(graph, x, x),
                 uniform = dpl_stream_uniform(stream); // in [0, 1)
    if (room < 2 || log_p < -700) return 1;
    double more = floor(uniform * room); // the limit of p = 1: each number alike
    if (log_p * room < -1e-9) more = floor(log1p(uniform * expm1(log_p * room)) / log_p);
    return more < (double)room - 1 ? 1 + (uint32_t)more : room;
}

size_t dpl_trace_trip(const struct dpl_graph *graph, const struct dpl_neighbours *neighbours,
                      const struct dpl_trace_options *options, int32_t source,
                      struct dpl_stream *stream, int32_t *path, struct dpl_stay *stay) {
    uint32_t left = options->length_max;
    if (source == graph->destination) { // one visit is no trip: the geometric number from 2 up
        uint32_t more = options->looping ? dpl_trace_stay(graph, source, left - 1, stream) : 1;
        stay[0] = (struct dpl_stay){(uint16_t)source, (uint16_t)(1 + more)};
        return 1;
    }
    size_t n = dpl_trace_path(graph, source, left, path);
    dpl_trace_walk(graph, neighbours, options->mh_steps, stream, path, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t room = left - (uint32_t)(n - 1 - i); // what is still to come needs one visit each
        uint32_t visits = options->looping ? dpl_trace_stay(graph, path[i], room, stream) : 1;
        stay[i] = (struct dpl_stay){(uint16_t)path[i], (uint16_t)visits};
        left -= visits;
    }
    return n;
}
