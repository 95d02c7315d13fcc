/* A randomised shortest route through the cells of a trip. See route.h.
 *
 * A trip is a row of runs: slots in one cell, then in the next. The search goes through layers, one
 * a run. In layer j the trip has been in the first j cells; roads in cell j and in the corridor
 * from it to cell j+1 stay in the layer, a road in cell j+1 leads to the next one:
 *
 *      layer 0            layer 1            layer 2
 *      [c0] corridor --> [c1] corridor -->  [c2] ... the piece of road where the trip ends
 *
 * Layers are finished one after the other (no road leads back), so each is a small Dijkstra search
 * whose marks fit the processor's cache. Where a guide leads, a road in cell j+2 may lead to layer
 * j+2 for a price: the cell of one slot is left out where the detour to it is large. A corridor
 * that leads nowhere is widened by one cell, two, and WIDEST; then the two cells are joined by a
 * straight line. The cost of a road is its seconds, times exp(tau z) with z normal and fixed for a
 * street and trip: two trips choose differently, one trip does not zigzag.
 *
 * When a path is too long for the trip's slots, visits may lie up to a cell's side off (along the
 * path). When that is not enough, other ends are drawn and the corridors there begin one cell
 * wider; then the two cells between which the path is too long are joined by a straight line, up to
 * four times; at last straight lines join a place in every cell. */
#include "roads/route.h"

#include <math.h>
#include <string.h>

#include "roads/route_inner.h"
#include "roads/rules.h"

static const int WIDENINGS[] = {0, 1, 2, 8};
enum { N_WIDENINGS = 4, N_ATTEMPTS = 6, LIMITED_FROM = 1, LATE_RUNS = 3 };
/* A widened corridor is searched this much further than the first way through it. */
static const double FURTHER_S = 60, FURTHER_SHARE = 0.5;
static const double GUIDED_S = 10; /* instead of FURTHER_S, in any corridor, where a guide leads */
/* Cells whose middle is nearer than this to the line between two cells, in cells: a diagonal step
 * has both cells beside the corner. */
static const double CORRIDOR = 0.75;
/* How near the guide places are drawn. */
static const double NEAR_M = 40;
/* A cell is grazed where the path in it is shorter than this part of the guide's. */
static const double GRAZED = 0.8;
static const float GUESS_MPS = 10; /* by which it is guessed how long it takes to get on */

struct route_options dpl_route_defaults(void) {
    return (struct route_options){
        .tau = 0.2, .detour = 0.5, .turn_s = 20, .stray_m = 100, .miss_s = 45, .sweeps = 5};
}

/* ---- the heap: what may lead on for least first ---- */

static bool heap_before(struct route_heap_item a, struct route_heap_item b) {
    return a.guess < b.guess || (a.guess == b.guess && a.record < b.record);
}

static enum dpl_status heap_push(struct route_scratch *s, struct route_heap_item item) {
    DPL_TRY(dpl_grow(s->run, &s->heap, &s->heap_capacity, s->n_heap + 1, sizeof *s->heap));
    size_t at = s->n_heap++;
    for (; at && heap_before(item, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        s->heap[at] = s->heap[(at - 1) / 2];
    s->heap[at] = item;
    return DPL_OK;
}

static struct route_heap_item heap_pop(struct route_scratch *s) {
    struct route_heap_item top = s->heap[0], item = s->heap[--s->n_heap];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < s->n_heap; at = child) {
        if (child + 1 < s->n_heap && heap_before(s->heap[child + 1], s->heap[child])) child++;
        if (!heap_before(s->heap[child], item)) break;
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = item;
    return top;
}

/* ---- one search ---- */

/* From a place in the cell of run `first` to one in that of run `last`. */
struct search {
    size_t first, last;
    struct route_place from, to;
    int32_t came;           /* the arc on which `from` was reached, -1: the path begins there */
    size_t layer;           /* the run whose layer is searched */
    uint32_t stamp;         /* of layer `first`; those of the next ones follow */
    size_t layer_begin;     /* no record of the layer is before this one */
    float x_m, y_m, half_m; /* the square that the layer leads to: middle, half a side */
    size_t entered;         /* the last layer that was entered */
    double miss_s;          /* price of leaving the next layer out; INFINITY: it may not be */
    double entry_cost;      /* least cost at which the next layer was entered; INFINITY: not yet */
    double stop_cost;       /* what leads on for more is not looked at */
    double end_cost;        /* least cost of a whole route; INFINITY: none yet */
    int32_t end_record, end_arc; /* its last node (-1: it stays on one piece) and last arc */
};

static float taste_of(const struct route_scratch *s, int32_t street) {
    return s->taste[dpl_mix64(s->key ^ ((uint64_t)street + 1) * ROUTE_ODD) % ROUTE_TASTES];
}

/* About how many seconds it is from a node to where the layer leads. Where a guide leads, routes
 * need not be the very shortest, and a guess that is seldom too high halves the search. */
static float guess_s(const struct route_scratch *s, const struct search *q, int32_t node) {
    const struct route_node *n = &s->node[node];
    float dx_m = fabsf(n->x_m - q->x_m) - q->half_m, dy_m = fabsf(n->y_m - q->y_m) - q->half_m;
    dx_m = dx_m > 0 ? dx_m : 0, dy_m = dy_m > 0 ? dy_m : 0;
    return s->guide ? sqrtf(dx_m * dx_m + dy_m * dy_m) / GUESS_MPS : 0;
}

static enum dpl_status push(struct route_scratch *s, const struct search *q, int32_t record) {
    const struct route_record *r = &s->record[record];
    float guess = r->cost + guess_s(s, q, r->node);
    if (guess > q->stop_cost) return DPL_OK;
    // Most trips come to streets that no trip just before went to, and wait for memory.
    __builtin_prefetch(&s->roads->arc[s->roads->arc_first[r->node]]);
    return heap_push(s, (struct route_heap_item){r->cost, guess, record});
}

/* Notes that `node` is reached in a layer, if that is cheaper than before. */
static enum dpl_status reach(struct route_scratch *s, const struct search *q,
                             struct route_record reached) {
    struct route_mark *mark = &s->node[reached.node].mark[reached.layer % ROUTE_LAYERS];
    uint32_t stamp = q->stamp + (uint32_t)reached.layer;
    if (mark->stamp == stamp && s->record[mark->record].cost <= reached.cost) return DPL_OK;
    if (mark->stamp != stamp) {
        DPL_TRY(
            dpl_grow(s->run, &s->record, &s->record_capacity, s->n_records + 1, sizeof *s->record));
        *mark = (struct route_mark){stamp, (int32_t)s->n_records++};
    }
    s->record[mark->record] = reached;
    // The next layer's are pushed when it is searched.
    if ((size_t)reached.layer != q->layer) return DPL_OK;
    return push(s, q, mark->record);
}

/* The last arc: from `record`'s node to the end, which must be on a piece that begins there. */
static void try_end(const struct route_scratch *s, struct search *q, int32_t record) {
    const struct roads_piece *piece = &s->roads->piece[q->to.piece];
    const struct route_record *r = &s->record[record];
    for (int back = 0; back < 2; back++) {
        if (!(piece->directions >> back & 1) || piece->node[back] != r->node) continue;
        double part = q->to.along_m / fmax(piece->length_m, 1e-3);
        double cost =
            r->cost + piece->seconds * taste_of(s, piece->street) * (back ? 1 - part : part);
        if (cost < q->end_cost)
            q->end_cost = cost, q->end_record = record, q->end_arc = 2 * q->to.piece + back;
    }
}

static double square(double x) { return x * x; }

/* Square of the distance from (x, y) to the line from 0, 0 to (dx, dy). */
static double square_off(double x, double y, double dx, double dy) {
    double length = dx * dx + dy * dy, along = length > 0 ? (x * dx + y * dy) / length : 0;
    along = fmin(1, fmax(0, along));
    return square(x - along * dx) + square(y - along * dy);
}

/* The guide's lines, so that the distance to one takes no division. */
static enum dpl_status trace_guide(struct route_scratch *s) {
    const struct dpl_position *g = s->guide;
    if (!g) return DPL_OK;
    DPL_TRY(dpl_grow(s->run, &s->line, &s->line_capacity, s->n_slots, sizeof *s->line));
    for (size_t k = 0; k < s->n_slots; k++) {
        size_t next = k + 1 < s->n_slots ? k + 1 : k;
        float dx = g[next].x_m - g[k].x_m, dy = g[next].y_m - g[k].y_m, length = dx * dx + dy * dy;
        s->line[k] = (struct route_line){g[k].x_m, g[k].y_m, dx, dy, length > 0 ? 1 / length : 0};
    }
    return DPL_OK;
}

/* How far a place is from the guide between the slots of a run and the next run's first. */
static float stray_m(const struct route_scratch *s, size_t run, const struct route_node *node) {
    size_t first = s->run_of[run].first_slot,
           last = run + 1 < s->n_runs ? s->run_of[run + 1].first_slot : s->n_slots - 1;
    float least = INFINITY;
    for (size_t k = first; k < last || (k == first && k == last); k++) {
        const struct route_line *l = &s->line[k];
        float x = node->x_m - l->x_m, y = node->y_m - l->y_m,
              along = (x * l->dx_m + y * l->dy_m) * l->per_square;
        along = along < 0 ? 0 : along > 1 ? 1 : along;
        x -= along * l->dx_m, y -= along * l->dy_m;
        float square_m = x * x + y * y;
        least = square_m < least ? square_m : least;
    }
    return sqrtf(least);
}

/* Whether a node was reached in a layer for no more than that. */
static bool reached_for(const struct route_scratch *s, const struct search *q, int32_t node,
                        size_t layer, float cost) {
    const struct route_mark *mark = &s->node[node].mark[layer % ROUTE_LAYERS];
    return mark->stamp == q->stamp + (uint32_t)layer && s->record[mark->record].cost <= cost;
}

/* What an arc costs that begins in a heading, and lies in a cell of the trip's own or not. */
static float cost_of(const struct route_scratch *s, const struct search *q,
                     const struct roads_arc *arc, uint8_t heading, bool own) {
    float seconds = arc->seconds * taste_of(s, arc->street);
    if (s->guide) seconds *= 1 + stray_m(s, q->layer, &s->node[arc->to]) * s->per_stray_m;
    seconds += s->turn_s[(uint8_t)(arc->leaves - heading)];
    return own ? seconds : seconds * (float)(1 + s->options.detour);
}

/* What it costs to leave out the cell of the next run: one slot, on the way, and its cell is beside
 * that of a neighbour, so that the slot has a place within one cell of its own. Not where the trip
 * goes there and back: it would stand still instead. */
static double miss_price(const struct route_scratch *s, const struct search *q) {
    size_t run = q->layer + 1;
    if (!s->may_miss || run >= q->last || s->run_of[run].via) return INFINITY;
    if (s->run_of[run - 1].cell == s->run_of[run + 1].cell) return INFINITY;
    if (s->run_of[run + 1].first_slot - s->run_of[run].first_slot > 1) return INFINITY;
    bool beside = dpl_path_beside(s, run, s->run_of[run - 1].cell) ||
                  dpl_path_beside(s, run, s->run_of[run + 1].cell);
    return beside ? s->options.miss_s : INFINITY;
}

/* An arc leads into a layer, for that much on top of its cost. */
static enum dpl_status lead_to(struct route_scratch *s, struct search *q, int32_t record,
                               const struct roads_arc *arc, size_t layer, bool own, double more_s) {
    struct route_record at = s->record[record];
    // Most arcs lead back to what is reached already: what they cost need not be known.
    if (reached_for(s, q, arc->to, layer, at.cost + (float)more_s)) return DPL_OK;
    struct route_record reached = {.node = arc->to,
                                   .before = record,
                                   .arc = arc->piece,
                                   .heading = arc->arrives,
                                   .cost = at.cost + cost_of(s, q, arc, at.heading, own),
                                   .layer = (int32_t)layer};
    reached.cost += (float)more_s;
    if (layer > q->layer && reached.cost < q->entry_cost) q->entry_cost = reached.cost;
    if (layer > q->entered) q->entered = layer;
    return reach(s, q, reached);
}

/* Arcs out of a record's node. */
static enum dpl_status relax(struct route_scratch *s, struct search *q, int32_t record) {
    const struct dpl_roads *roads = s->roads;
    int32_t node = s->record[record].node, here = s->run_of[q->layer].cell,
            next = q->layer < q->last ? s->run_of[q->layer + 1].cell : -1,
            after = isfinite(q->miss_s) ? s->run_of[q->layer + 2].cell : -1;
    for (uint32_t a = roads->arc_first[node]; a < roads->arc_first[node + 1]; a++) {
        const struct roads_arc *arc = &roads->arc[a];
        bool enters = arc->cell == next, misses = arc->cell == after,
             own = enters || misses || arc->cell == here;
        if (!own && s->allowed[arc->cell] != s->stamp) {
            s->record[record].at_edge = true;
            continue;
        }
        if (misses) DPL_TRY(lead_to(s, q, record, arc, q->layer + 2, own, q->miss_s));
        DPL_TRY(lead_to(s, q, record, arc, q->layer + enters, own, 0));
    }
    return DPL_OK;
}

/* ---- layers ---- */

/* Marks the cells of the corridor from a cell to the next. */
static void allow_corridor(struct route_scratch *s, int32_t from, int32_t to, int wider) {
    const struct dpl_grid *grid = &s->roads->grid;
    int32_t x = from % grid->columns, y = from / grid->columns, dx = to % grid->columns - x,
            dy = to / grid->columns - y;
    int32_t left = (dx < 0 ? dx : 0) - wider - 1, right = (dx > 0 ? dx : 0) + wider + 1;
    int32_t bottom = (dy < 0 ? dy : 0) - wider - 1, top = (dy > 0 ? dy : 0) + wider + 1;
    s->stamp++;
    for (int32_t v = bottom; v <= top; v++)
        for (int32_t u = left; u <= right; u++) {
            if (x + u < 0 || y + v < 0 || x + u >= grid->columns || y + v >= grid->rows) continue;
            if (square_off(u, v, dx, dy) < square(CORRIDOR + wider))
                s->allowed[(y + v) * grid->columns + x + u] = s->stamp;
        }
}

/* Settles the layer inside its corridor. */
static enum dpl_status settle(struct route_scratch *s, struct search *q, int wider) {
    while (s->n_heap) {
        struct route_heap_item item = heap_pop(s);
        if (item.cost > s->record[item.record].cost) continue; // reached for less since
        if (item.guess >= q->end_cost || item.guess > q->stop_cost) break;
        if (q->layer + 1 >= q->last) try_end(s, q, item.record);
        DPL_TRY(relax(s, q, item.record));
        if ((s->guide || wider >= LIMITED_FROM) && isinf(q->stop_cost) && isfinite(q->entry_cost))
            q->stop_cost = q->entry_cost + (s->guide ? GUIDED_S : FURTHER_S) +
                           FURTHER_SHARE * (q->entry_cost - item.cost);
    }
    return DPL_OK;
}

/* The layer leads to the next run's cell, the last one to the trip's end. */
static void look_ahead(const struct route_scratch *s, struct search *q, int32_t next) {
    const struct dpl_grid *grid = &s->roads->grid;
    double cell_m = grid->area.cell_m, x_m = (next % grid->columns + 0.5) * cell_m,
           y_m = (next / grid->columns + 0.5) * cell_m;
    q->half_m = (float)(cell_m / 2);
    if (q->layer == q->last) q->half_m = 0, dpl_path_place(s->roads, &q->to, &x_m, &y_m);
    q->x_m = (float)x_m, q->y_m = (float)y_m;
}

/* Searches the layer in corridors wider and wider, until it leads on. */
static enum dpl_status search_layer(struct route_scratch *s, struct search *q) {
    int first = s->run_of[q->layer].late;
    int32_t here = s->run_of[q->layer].cell,
            next = q->layer < q->last ? s->run_of[q->layer + 1].cell : here;
    look_ahead(s, q, next);
    q->entry_cost = q->stop_cost = INFINITY;
    q->miss_s = miss_price(s, q);
    for (int w = first; w < N_WIDENINGS; w++) {
        allow_corridor(s, here, next, WIDENINGS[w]);
        s->n_heap = 0;
        // Then what was reached at the edge may lead on into what is allowed now.
        for (size_t i = q->layer_begin; i < s->n_records; i++)
            if ((size_t)s->record[i].layer == q->layer && (w == first || s->record[i].at_edge))
                DPL_TRY(push(s, q, (int32_t)i));
        DPL_TRY(settle(s, q, WIDENINGS[w]));
        if (isfinite(q->entry_cost) || isfinite(q->end_cost)) break;
    }
    return DPL_OK;
}

/* The first arcs: from the place where the trip begins to the ends of its piece. */
static enum dpl_status leave(struct route_scratch *s, struct search *q) {
    const struct roads_piece *piece = &s->roads->piece[q->from.piece];
    float seconds = piece->seconds * taste_of(s, piece->street);
    double part = q->from.along_m / fmax(piece->length_m, 1e-3);
    for (int back = 0; back < 2; back++) {
        if (!(piece->directions >> back & 1)) continue;
        struct route_record reached = {.node = piece->node[1 - back],
                                       .before = -1,
                                       .arc = 2 * q->from.piece + back,
                                       .layer = (int32_t)q->first};
        reached.heading = dpl_roads_heading(s->roads, reached.arc, true);
        reached.cost = (float)(seconds * (back ? part : 1 - part));
        if (q->came >= 0 && q->came != reached.arc) reached.cost += s->turn_s[128];
        DPL_TRY(reach(s, q, reached));
        // Begin and end on one piece, in its direction.
        bool ahead = back ? q->to.along_m <= q->from.along_m : q->to.along_m >= q->from.along_m;
        if (q->first == q->last && q->from.piece == q->to.piece && ahead)
            q->end_cost = 0, q->end_record = -1, q->end_arc = 2 * q->from.piece + back;
    }
    return DPL_OK;
}

/* Stamps of layers and corridors come from one counter, each used once. */
static void take_stamps(struct route_scratch *s, struct search *q) {
    uint32_t layers = (uint32_t)(q->last - q->first + 2);
    if (s->stamp > UINT32_MAX - (N_WIDENINGS + 1) * layers) {
        for (size_t i = 0; i < s->roads->n_nodes; i++)
            memset(s->node[i].mark, 0, sizeof s->node[i].mark);
        memset(s->allowed, 0, (size_t)dpl_grid_cells(&s->roads->grid) * sizeof *s->allowed);
        s->stamp = 0;
    }
    q->stamp = s->stamp + 1 - (uint32_t)q->first;
    s->stamp += layers;
}

/* Without a route q->end_cost is INFINITY, and q->layer the last layer that was entered. */
static enum dpl_status search(struct route_scratch *s, struct search *q) {
    s->n_records = 0;
    take_stamps(s, q);
    q->end_cost = INFINITY, q->layer_begin = 0, q->layer = q->entered = q->first;
    DPL_TRY(leave(s, q));
    for (size_t before = 0;; q->layer++) {
        size_t begin = s->n_records;
        DPL_TRY(search_layer(s, q));
        if (q->layer == q->last || q->entered == q->layer) return DPL_OK;
        q->layer_begin = before, before = begin; // those that leave one layer out are before
    }
}

/* ---- places ---- */

static double weight_of(const struct route_scratch *s, uint32_t piece) {
    const struct roads_piece *p = &s->roads->piece[piece];
    if (s->options.piece_weight) return s->options.piece_weight[piece];
    return p->length_m * dpl_roads_class_weight(p->class);
}

/* Weight of a piece at a slot: less, the farther it is from the guide. */
static double weight_at(const struct route_scratch *s, uint32_t piece, size_t slot) {
    const struct roads_piece *p = &s->roads->piece[piece];
    double least = INFINITY, weight = weight_of(s, piece);
    if (!s->guide) return weight;
    for (uint32_t i = p->point; i + 1 < p[1].point; i++) {
        const float *xy = s->roads->xy_m + 2 * (size_t)i;
        least = fmin(least, square_off(s->guide[slot].x_m - xy[0], s->guide[slot].y_m - xy[1],
                                       xy[2] - xy[0], xy[3] - xy[1]));
    }
    return weight / square(1 + least / square(NEAR_M));
}

static bool has_road(const struct route_scratch *s, int32_t cell) {
    return s->roads->cell_first[cell] < s->roads->cell_connected[cell];
}

static size_t last_slot(const struct route_scratch *s, size_t run) {
    return (run + 1 < s->n_runs ? s->run_of[run + 1].first_slot : s->n_slots) - 1;
}

/* A place on a connected road of a cell that has one. */
static struct route_place draw_place(struct route_scratch *s, int32_t cell, size_t slot) {
    uint32_t first = s->roads->cell_first[cell], end = s->roads->cell_connected[cell];
    double sum = 0, part = dpl_route_uniform(s);
    for (uint32_t p = first; p < end; p++) sum += weight_at(s, p, slot);
    double target = dpl_route_uniform(s) * sum;
    uint32_t chosen = first;
    for (; chosen + 1 < end; chosen++) {
        target -= weight_at(s, chosen, slot);
        if (target < 0) break;
    }
    double length_m = s->roads->piece[chosen].length_m, margin_m = fmin(2, length_m / 4);
    return (struct route_place){(int32_t)chosen, margin_m + part * (length_m - 2 * margin_m)};
}

/* A point in the run's cell: on a road if it has one, else anywhere. */
static void draw_point(struct route_scratch *s, size_t run, double *x_m, double *y_m) {
    const struct dpl_grid *grid = &s->roads->grid;
    int32_t cell = s->run_of[run].cell;
    if (has_road(s, cell)) {
        struct route_place place = draw_place(s, cell, s->run_of[run].first_slot);
        dpl_path_place(s->roads, &place, x_m, y_m);
        return;
    }
    double u = dpl_route_uniform(s), v = dpl_route_uniform(s);
    *x_m = (cell % grid->columns + 0.1 + 0.8 * u) * grid->area.cell_m;
    *y_m = (cell / grid->columns + 0.1 + 0.8 * v) * grid->area.cell_m;
    // The last row and column may reach past the box; written points may not.
    *x_m = fmin(*x_m, (grid->area.east_deg - grid->area.west_deg) * grid->m_per_deg_lon);
    *y_m = fmin(*y_m, (grid->area.north_deg - grid->area.south_deg) * grid->m_per_deg_lat);
}

/* ---- the path ---- */

/* How far along an arc a place of its piece is. */
static double along(const struct route_scratch *s, const struct route_place *place, int32_t arc) {
    return arc & 1 ? s->roads->piece[place->piece].length_m - place->along_m : place->along_m;
}

/* Adds the route that a search found to the path. */
static enum dpl_status add_route(struct route_scratch *s, const struct search *q) {
    size_t n = 0;
    for (int32_t r = q->end_record; r >= 0; r = s->record[r].before) {
        DPL_TRY(dpl_grow(s->run, &s->chain, &s->chain_capacity, n + 1, sizeof *s->chain));
        s->chain[n++] = r;
    }
    int32_t layer = (int32_t)q->first;
    for (size_t i = n; i-- > 0; layer = s->record[s->chain[i]].layer)
        if (s->record[s->chain[i]].layer > layer + 1) s->run_of[layer + 1].missed = true;
    double from_m = along(s, &q->from, n ? s->record[s->chain[n - 1]].arc : q->end_arc);
    for (size_t i = n; i-- > 0; from_m = 0) {
        const struct route_record *r = &s->record[s->chain[i]];
        DPL_TRY(dpl_path_arc(s, (size_t)r->layer, r->arc, from_m, INFINITY));
    }
    return dpl_path_arc(s, q->last, q->end_arc, from_m, along(s, &q->to, q->end_arc));
}

static enum dpl_status add_straight(struct route_scratch *s, size_t run) {
    double x_m, y_m;
    draw_point(s, run, &x_m, &y_m);
    return dpl_path_straight(s, run, x_m, y_m);
}

/* Where a path has got to by road. */
struct joint {
    size_t run;
    int32_t arc; /* -1: nowhere by road */
    struct route_place at;
};

/* The slot of a run whose guide is farthest from that of another slot: there the path has its end,
 * so that the run's slots have room on it. */
static size_t far_slot(const struct route_scratch *s, size_t run, size_t from) {
    const struct dpl_position *g = s->guide;
    size_t far = s->run_of[run].first_slot;
    double most = -1;
    for (size_t k = far; g && k <= last_slot(s, run); k++) {
        double square_m = square(g[k].x_m - g[from].x_m) + square(g[k].y_m - g[from].y_m);
        if (square_m > most) most = square_m, far = k;
    }
    return far;
}

/* A place in the cell of the first or the last run. Where an earlier path was too short there for
 * what its slots have to go (`via`), the farthest of some that are drawn anywhere in the cell. */
static struct route_place end_place(struct route_scratch *s, size_t run, size_t from) {
    enum { TRIES = 6 };
    const struct dpl_position *guide = s->guide;
    struct route_place best = draw_place(s, s->run_of[run].cell, far_slot(s, run, from));
    double most_m = -1;
    if (!guide || !s->run_of[run].via) return best;
    s->guide = NULL;
    for (int i = 0; i < TRIES; i++) {
        struct route_place place = draw_place(s, s->run_of[run].cell, 0);
        double x_m, y_m;
        dpl_path_place(s->roads, &place, &x_m, &y_m);
        double m = hypot(x_m - (double)guide[from].x_m, y_m - (double)guide[from].y_m);
        if (m > most_m) most_m = m, best = place;
    }
    s->guide = guide;
    return best;
}

/* A new path, or a straight line to where one goes on by road. */
static enum dpl_status begin_stretch(struct route_scratch *s, struct search *q) {
    double x_m, y_m;
    size_t next = s->n_runs > 1 ? s->run_of[1].first_slot : s->n_slots - 1;
    q->from = q->first == 0
                  ? end_place(s, 0, next)
                  : draw_place(s, s->run_of[q->first].cell, s->run_of[q->first].first_slot);
    dpl_path_place(s->roads, &q->from, &x_m, &y_m);
    return dpl_path_straight(s, q->first, x_m, y_m);
}

/* Where a route through a run has its end, or passes: near the guide of the middle slot of a run on
 * the way. */
static struct route_place aim(struct route_scratch *s, size_t run) {
    size_t first = s->run_of[run].first_slot, last = last_slot(s, run);
    if (run + 1 == s->n_runs) return end_place(s, run, first > 0 ? first - 1 : 0);
    return draw_place(s, s->run_of[run].cell, first + (last - first) / 2);
}

/* Routes through runs first ... last, all of which have roads, or as far as roads lead. From
 * `joint`, if that is in the first run; it is then where the route has got to. */
static enum dpl_status add_stretch(struct route_scratch *s, size_t first, size_t last,
                                   struct joint *joint) {
    struct search q = {.first = first, .last = last, .from = joint->at, .came = joint->arc};
    if (q.came < 0) DPL_TRY(begin_stretch(s, &q));
    *joint = (struct joint){.run = first, .arc = -1};
    for (;; q.last = q.layer < q.last ? q.layer : q.last - 1) {
        if (q.came >= 0 && q.last == first) return DPL_OK; // it is there already
        q.to = aim(s, q.last);
        DPL_TRY(search(s, &q));
        if (isfinite(q.end_cost)) {
            *joint = (struct joint){q.last, q.end_arc, q.to};
            return add_route(s, &q);
        }
        if (q.last == first) return DPL_OK;
    }
}

/* Whether the roads of run i's cell lead on from those of the run before. */
static bool leads_on(const struct route_scratch *s, size_t i) {
    return i < s->n_runs && !s->run_of[i].cut && has_road(s, s->run_of[i].cell);
}

static size_t slots_of(const struct route_scratch *s, size_t run, size_t n) {
    return (run + 1 < s->n_runs ? s->run_of[run + 1].first_slot : n) - s->run_of[run].first_slot;
}

static enum dpl_status make_path(struct route_scratch *s, size_t n, bool by_road) {
    struct joint joint = {.arc = -1};
    dpl_path_begin(s);
    for (size_t i = 0; i < s->n_runs;) {
        size_t last = i;
        while (leads_on(s, last + 1) && (last == i || !s->run_of[last].via)) last++;
        // One slot between straight lines is a place, not a way.
        bool way = last > i || slots_of(s, i, n) > 1;
        if (by_road && way && has_road(s, s->run_of[i].cell)) {
            DPL_TRY(add_stretch(s, i, last, &joint));
        } else {
            DPL_TRY(add_straight(s, i));
            joint = (struct joint){.run = i, .arc = -1};
        }
        bool goes_on = joint.arc >= 0 && joint.run > i && leads_on(s, joint.run + 1);
        i = goes_on ? joint.run : joint.run + 1;
        if (!goes_on) joint.arc = -1;
    }
    return DPL_OK;
}

/* Finds runs whose cells the path only grazes, though by its guide the trip goes some
 * way in them: it would stand still there. They get a place to pass. */
static bool find_grazed(struct route_scratch *s) {
    bool found = false;
    for (size_t i = 0; s->guide && i < s->n_runs; i++) {
        struct route_run *r = &s->run_of[i];
        double length_m = 0;
        for (size_t k = r->first_slot; k < last_slot(s, i); k++)
            length_m +=
                hypot(s->guide[k + 1].x_m - s->guide[k].x_m, s->guide[k + 1].y_m - s->guide[k].y_m);
        if (r->via || r->missed || r->to_m - r->from_m >= GRAZED * length_m) continue;
        r->via = found = true;
    }
    return found;
}

/* ---- a trip ---- */

static enum dpl_status list_runs(struct route_scratch *s, const int32_t *cell, size_t n) {
    s->n_runs = 0;
    for (size_t k = 0; k < n; k++) {
        if (k && cell[k] == cell[k - 1]) continue;
        DPL_TRY(dpl_grow(s->run, &s->run_of, &s->run_capacity, s->n_runs + 1, sizeof *s->run_of));
        s->run_of[s->n_runs++] = (struct route_run){.cell = cell[k], .first_slot = k};
    }
    return DPL_OK;
}

/* The path to a run is too long: corridors to it begin wider, or a straight line leads to it. */
static void help_run(struct route_scratch *s, size_t run, bool cut) {
    for (size_t i = run > LATE_RUNS ? run - LATE_RUNS : 0; i <= run; i++) s->run_of[i].late = true;
    if (cut) s->run_of[run].cut = true;
}

/* A path on which the trip's slots have room, and positions to begin with; *limit_m is what they
 * keep. */
static enum dpl_status place_slots(struct route_scratch *s, size_t n, enum route_fit *fit,
                                   double *limit_m) {
    double cell_m = s->roads->grid.area.cell_m, widened_m = 0;
    bool placed = false;
    *limit_m = s->limit_m;
    for (int attempt = 0; attempt <= N_ATTEMPTS && !placed; attempt++) {
        bool by_road = attempt < N_ATTEMPTS;
        s->may_miss = s->guide && attempt == 0;
        if (attempt > 0) help_run(s, dpl_times_conflict(s, n, s->limit_m, cell_m), attempt > 1);
        DPL_TRY(make_path(s, n, by_road));
        if (attempt == 0 && find_grazed(s)) DPL_TRY(make_path(s, n, by_road));
        placed = dpl_times_start(s, n, s->limit_m, by_road ? cell_m : INFINITY, &widened_m);
    }
    *fit = widened_m <= 0 ? ROUTE_WITHIN : widened_m <= cell_m ? ROUTE_WIDENED : ROUTE_FAR;
    for (size_t i = 0; i < s->n_runs && *fit == ROUTE_WITHIN; i++)
        if (s->run_of[i].missed) *fit = ROUTE_WIDENED;
    if (placed) return DPL_OK;
    *fit = ROUTE_OVER_LIMIT;
    *limit_m = s->at_m[s->n_points - 1] / (double)(n - 1) * (1 + 1e-9);
    dpl_times_start(s, n, *limit_m, INFINITY, &widened_m);
    return DPL_OK;
}

/* Room for a search, which not every scratch needs: times are drawn again without one. */
static enum dpl_status make_nodes(struct route_scratch *s) {
    if (s->node) return DPL_OK;
    s->node = dpl_alloc(s->run, s->roads->n_nodes, sizeof *s->node);
    if (!s->node) return DPL_SYSTEM;
    for (size_t i = 0; i < s->roads->n_nodes; i++)
        s->node[i].x_m = s->roads->node_xy_m[2 * i],
        s->node[i].y_m = s->roads->node_xy_m[2 * i + 1];
    return DPL_OK;
}

enum dpl_status dpl_route_trip(struct route_scratch *s, uint64_t key, const int32_t *cell,
                               const struct dpl_position *guide, size_t n, struct route *route) {
    double limit_m;
    enum route_fit fit;
    s->key = dpl_mix64(key + ROUTE_ODD), s->drawn = 0;
    s->guide = guide, s->n_slots = n;
    DPL_TRY(make_nodes(s));
    DPL_TRY(list_runs(s, cell, n));
    DPL_TRY(trace_guide(s));
    DPL_TRY(dpl_times_room(s, n));
    DPL_TRY(place_slots(s, n, &fit, &limit_m));
    dpl_times_follow(s, n);
    DPL_TRY(dpl_times_trace(s));
    dpl_times_draw(s, n, limit_m);
    *route = (struct route){.x_m = s->x_m,
                            .y_m = s->y_m,
                            .at_m = s->at_m,
                            .n_points = s->n_points,
                            .slot_m = s->slot_m,
                            .n = n,
                            .arc = s->arc,
                            .n_arcs = s->n_arcs,
                            .straight_m = s->straight_m,
                            .fit = fit};
    return DPL_OK;
}

/* ---- scratch ---- */

static enum dpl_status copy_motion(struct route_scratch *s, const struct route_motion *m) {
    size_t n = (size_t)m->n_bins;
    s->n_bins = m->n_bins, s->slot_s = m->slot_s;
    s->limit_m = m->limit_mps * m->slot_s;
    s->speeds_per_m = ROUTE_SPEEDS / s->limit_m;
    s->upper_m = dpl_alloc(s->run, n, sizeof *s->upper_m);
    s->first = dpl_alloc(s->run, n, sizeof *s->first);
    s->last = dpl_alloc(s->run, n, sizeof *s->last);
    s->next = dpl_alloc(s->run, n * n, sizeof *s->next);
    s->next_from = dpl_alloc(s->run, n * n, sizeof *s->next_from);
    s->ones = dpl_alloc(s->run, n, sizeof *s->ones);
    if (!s->upper_m || !s->first || !s->last || !s->next || !s->next_from || !s->ones)
        return DPL_SYSTEM;
    for (size_t i = 0; i < n; i++) {
        s->ones[i] = 1;
        s->upper_m[i] = i + 1 < n ? m->upper_mps[i] * (float)m->slot_s : INFINITY;
        s->first[i] = expf(m->log_first[i]);
        s->last[i] = expf(m->log_last[i]);
    }
    s->still_m = n > 1 ? (double)s->upper_m[0] : 0;
    for (size_t i = 0; i < n * n; i++)
        s->next[i] = s->next_from[i % n * n + i / n] = expf(m->log_next[i]);
    for (int range = 0; range < ROUTE_SPEEDS; range++) {
        double step_m = s->limit_m / ROUTE_SPEEDS * range;
        int bin = 0;
        while (bin + 1 < m->n_bins && step_m >= s->upper_m[bin]) bin++;
        s->bin[range] = (uint8_t)bin;
    }
    return DPL_OK;
}

static enum dpl_status copy_turns(struct route_scratch *s, const struct route_turns *t) {
    size_t n = (size_t)t->n_rows * (size_t)t->n_bins, n_parts = (size_t)t->n_parts + 1;
    s->turn = dpl_alloc(s->run, n + (size_t)t->n_bins, sizeof *s->turn);
    s->turn_row = dpl_alloc(s->run, (size_t)s->n_bins, sizeof *s->turn_row);
    s->turn_bin = dpl_alloc(s->run, n_parts, sizeof *s->turn_bin);
    if (!s->turn || !s->turn_row || !s->turn_bin) return DPL_SYSTEM;
    for (size_t i = 0; i < n; i++) s->turn[i] = expf(t->log_ratio[i]);
    for (size_t i = n; i < n + (size_t)t->n_bins; i++) s->turn[i] = 1;
    for (int i = 0; i < s->n_bins; i++)
        s->turn_row[i] = t->row[i] == ROUTE_NO_TURN ? (uint8_t)t->n_rows : t->row[i];
    memcpy(s->turn_bin, t->bin, n_parts);
    s->n_turns = t->n_bins, s->n_parts = t->n_parts;
    return DPL_OK;
}

/* Factors on seconds: exp(tau z) at the quantiles of a logistic z with deviation 1, which is nearly
 * normal and has a closed form. */
static void fill_tastes(struct route_scratch *s) {
    double power = s->options.tau * sqrt(3) / acos(-1);
    for (int i = 0; i < ROUTE_TASTES; i++)
        s->taste[i] = (float)pow((i + 0.5) / (ROUTE_TASTES - i - 0.5), power);
}

/* Up to 30 degrees nothing, at 90 turn_s, and more the sharper. */
static void fill_turns(struct route_scratch *s) {
    for (int i = 0; i < 256; i++) {
        double angle = (i < 128 ? i : 256 - i) / 128.0 * acos(-1);
        s->turn_s[i] =
            angle < acos(-1) / 6 ? 0 : (float)(s->options.turn_s * 4 * pow(sin(angle / 2), 4));
    }
}

enum dpl_status dpl_route_scratch_new(struct dpl_run *run, const struct dpl_roads *roads,
                                      const struct route_motion *motion,
                                      const struct route_options *options,
                                      struct route_scratch **made) {
    if (motion->n_bins < 1 || motion->n_bins > ROUTE_SPEEDS)
        return dpl_fail(run, DPL_USAGE, "motion has %d bins of speed; 1 to %d can be used",
                        motion->n_bins, ROUTE_SPEEDS);
    struct route_scratch *s = dpl_alloc(run, 1, sizeof *s);
    if (!s) return DPL_SYSTEM;
    s->run = run, s->roads = roads, s->options = *options;
    s->per_stray_m = (float)(1 / options->stray_m);
    fill_tastes(s);
    fill_turns(s);
    s->allowed = dpl_alloc(run, (size_t)dpl_grid_cells(&roads->grid), sizeof *s->allowed);
    enum dpl_status status = s->allowed ? DPL_OK : DPL_SYSTEM;
    if (status == DPL_OK) status = copy_motion(s, motion);
    if (status == DPL_OK && motion->turns) status = copy_turns(s, motion->turns);
    if (status == DPL_OK)
        *made = s;
    else
        dpl_route_scratch_free(s);
    return status;
}

void dpl_route_scratch_free(struct route_scratch *s) {
    if (!s) return;
    void *const all[] = {s->upper_m,   s->first,   s->last,      s->next,     s->run_of,
                         s->node,      s->allowed, s->record,    s->heap,     s->x_m,
                         s->y_m,       s->at_m,    s->arc,       s->chain,    s->slot_m,
                         s->low_m,     s->high_m,  s->widen_m,   s->near_m,   s->start_m,
                         s->spot,      s->turn,    s->turn_row,  s->turn_bin, s->held,
                         s->next_from, s->ones,    s->own_trace, s->line};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) dpl_free(all[i]);
    dpl_free(s);
}
