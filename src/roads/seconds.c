/* How long it takes by road between squares. See seconds.h.
 *
 * A square is represented by the middles of PLACES pieces of road, at even parts of its metres
 * times the weight of their class. From each a search by Dijkstra's algorithm goes as far as most_s
 * leads; what it has reached of the other squares' pieces is added up.
 *
 * Cost: n * PLACES searches, of some thousand nodes each in a city: a millisecond. */
#include "roads/seconds.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "roads/rules.h"

enum { PLACES = 4, NONE = -1 };

struct reached { // a node, and when
    float seconds;
    int32_t node;
};

/* One thread's room. */
struct room {
    struct dpl_run *run;
    float *seconds;   // (nodes) INFINITY: not reached
    int32_t *touched; // (n_touched) nodes that were
    size_t n_touched, touched_capacity;
    struct reached *heap;
    size_t n_heap, heap_capacity;
};

struct all {
    const struct dpl_roads *roads;
    const struct dpl_roads_pairs *pairs;
    int32_t *piece; // (n, PLACES) NONE: there is no road
    float most_s;
};

/* ---- pieces of a square ---- */

static double weight_of(const struct roads_piece *piece) {
    return (double)piece->length_m * dpl_roads_class_weight(piece->class);
}

/* Calls of both passes over a square's pieces: their total weight (piece NULL), or which lie at
 * even parts of it. */
static double walk_square(const struct all *all, size_t square, double total, int32_t *piece) {
    const struct dpl_roads *roads = all->roads;
    const struct dpl_grid *grid = &roads->grid;
    int32_t side = all->pairs->side[square], row = all->pairs->cell[square] / grid->columns,
            column = all->pairs->cell[square] % grid->columns;
    double sum = 0;
    int found = 0;
    for (int32_t y = row; y < row + side && y < grid->rows; y++)
        for (int32_t x = column; x < column + side && x < grid->columns; x++) {
            int32_t cell = y * grid->columns + x;
            for (uint32_t p = roads->cell_first[cell]; p < roads->cell_connected[cell]; p++) {
                sum += weight_of(&roads->piece[p]);
                for (; piece && found < PLACES && (found + 0.5) * total < PLACES * sum; found++)
                    piece[found] = (int32_t)p;
            }
        }
    return sum;
}

static void choose_pieces(const struct all *all) {
    for (size_t k = 0; k < all->pairs->n; k++) {
        int32_t *piece = all->piece + k * PLACES;
        for (int i = 0; i < PLACES; i++) piece[i] = NONE;
        double total = walk_square(all, k, 0, NULL);
        if (total > 0) walk_square(all, k, total, piece);
    }
}

/* ---- a search ---- */

static bool before(struct reached a, struct reached b) {
    return a.seconds < b.seconds || (a.seconds == b.seconds && a.node < b.node);
}

static enum dpl_status push(struct room *room, struct reached item) {
    DPL_TRY(dpl_grow(room->run, &room->heap, &room->heap_capacity, room->n_heap + 1, sizeof item));
    size_t at = room->n_heap++;
    for (; at && before(item, room->heap[(at - 1) / 2]); at = (at - 1) / 2)
        room->heap[at] = room->heap[(at - 1) / 2];
    room->heap[at] = item;
    return DPL_OK;
}

static struct reached pop(struct room *room) {
    struct reached top = room->heap[0], item = room->heap[--room->n_heap];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < room->n_heap; at = child) {
        if (child + 1 < room->n_heap && before(room->heap[child + 1], room->heap[child])) child++;
        if (!before(room->heap[child], item)) break;
        room->heap[at] = room->heap[child];
    }
    room->heap[at] = item;
    return top;
}

static enum dpl_status reach(struct room *room, int32_t node, float seconds) {
    if (!(seconds < room->seconds[node])) return DPL_OK;
    if (isinf(room->seconds[node])) {
        DPL_TRY(dpl_grow(room->run, &room->touched, &room->touched_capacity, room->n_touched + 1,
                         sizeof *room->touched));
        room->touched[room->n_touched++] = node;
    }
    room->seconds[node] = seconds;
    return push(room, (struct reached){seconds, node});
}

/* All nodes within most_s of the middle of a piece. */
static enum dpl_status search(const struct all *all, int32_t from, struct room *room) {
    const struct dpl_roads *roads = all->roads;
    const struct roads_piece *piece = &roads->piece[from];
    for (size_t i = 0; i < room->n_touched; i++) room->seconds[room->touched[i]] = INFINITY;
    room->n_touched = room->n_heap = 0;
    for (int back = 0; back < 2; back++)
        if (piece->directions >> back & 1)
            DPL_TRY(reach(room, piece->node[1 - back], piece->seconds / 2));
    while (room->n_heap) {
        struct reached at = pop(room);
        if (at.seconds > room->seconds[at.node]) continue; // reached sooner since
        if (at.seconds > all->most_s) break;
        for (uint32_t a = roads->arc_first[at.node]; a < roads->arc_first[at.node + 1]; a++)
            DPL_TRY(reach(room, roads->arc[a].to, at.seconds + roads->arc[a].seconds));
    }
    return DPL_OK;
}

/* To the middle of a piece. */
static float seconds_to(const struct all *all, const struct room *room, int32_t to) {
    const struct roads_piece *piece = &all->roads->piece[to];
    float least = all->most_s;
    for (int back = 0; back < 2; back++)
        if (piece->directions >> back & 1)
            least = fminf(least, room->seconds[piece->node[back]] + piece->seconds / 2);
    return least;
}

static enum dpl_status from_square(const struct all *all, size_t from, struct room *room,
                                   float *out) {
    const struct dpl_roads_pairs *pairs = all->pairs;
    size_t begin = pairs->start[from * pairs->stride],
           end = pairs->start[(from + 1) * pairs->stride];
    memset(out + begin, 0, (end - begin) * sizeof *out);
    for (int a = 0; a < PLACES && all->piece[from * PLACES] != NONE; a++) {
        DPL_TRY(search(all, all->piece[from * PLACES + (size_t)a], room));
        for (size_t i = begin; i < end; i++) {
            const int32_t *to = all->piece + (size_t)pairs->to[i] * PLACES;
            for (int b = 0; b < PLACES && *to != NONE; b++)
                out[i] += seconds_to(all, room, to[b]) / (float)(PLACES * PLACES);
        }
    }
    return DPL_OK;
}

/* ---- all of them ---- */

static enum dpl_status room_new(struct dpl_run *run, size_t n_nodes, struct room *room) {
    room->run = run;
    room->seconds = dpl_alloc(run, n_nodes, sizeof *room->seconds);
    if (!room->seconds) return DPL_SYSTEM;
    for (size_t i = 0; i < n_nodes; i++) room->seconds[i] = INFINITY;
    return DPL_OK;
}

static void room_free(struct room *room) {
    dpl_free(room->seconds), dpl_free(room->touched), dpl_free(room->heap);
}

enum dpl_status dpl_roads_seconds(struct dpl_run *run, const struct dpl_roads *roads,
                                  const struct dpl_roads_pairs *pairs, double most_s, float *out) {
    struct all all = {roads, pairs, NULL, (float)most_s};
    int threads = dpl_run_threads(run);
    enum dpl_status worst = DPL_OK;
    all.piece = dpl_alloc(run, pairs->n * PLACES, sizeof *all.piece);
    if (!all.piece) return DPL_SYSTEM;
    choose_pieces(&all);
#pragma omp parallel num_threads(threads)
    {
        struct room room = {.run = NULL};
        enum dpl_status status = room_new(run, roads->n_nodes, &room);
#pragma omp for schedule(dynamic, 8)
        for (size_t k = 0; k < pairs->n; k++)
            if (status == DPL_OK) status = from_square(&all, k, &room, out);
#pragma omp critical
        if (status != DPL_OK) worst = status;
        room_free(&room);
    }
    dpl_free(all.piece);
    return worst;
}
