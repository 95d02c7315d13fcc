/* An exact network simplex for the earth mover's distance.
 *
 * With a metric cost only the differences of two histograms have to move, so the points with too
 * much are the sources of a transportation problem and those with too little its sinks:
 *
 *     source i --flow, cost--> sink j
 *
 * A basis is a spanning tree of sources, sinks and a root that only ties trees together: its arcs
 * come from sources and never carry mass. So every arc starts at a source, and the arc between a
 * node and its parent points up if and only if the node is a source.
 *
 * Exactness. Shares a_i/A - b_i/B become the integers a_i*B - b_i*A: supplies and flows are int64
 * and never rounded. Costs are rounded once to a lattice of max_cost / 2^30 (below 0.1 mm for a
 * city); potentials are sums of fewer than 2^22 such integers, held in doubles, which is exact up
 * to 2^53. So reduced costs have true signs, no tolerance exists, and the tree found is optimal for
 * the rounded costs. The work is then summed with the costs as given.
 *
 * Termination. Trees are kept strongly feasible: an arc without flow points towards the root. The
 * arc that leaves is the last blocking one on the cycle, seen from its apex in the direction of the
 * entering arc (Cunningham 1976). That keeps the property, and every pivot then lowers the work or,
 * without moving mass, the sum of potentials in one direction: no basis returns.
 *
 * Speed. Nearly all pivots come from a short list of the nearest sinks of each source (the idea of
 * Gottschlich and Schuhmacher's shortlist method); whole rows are priced only afterwards. The first
 * tree is greedy: the cheapest listed arcs first. Memory: 4 bytes per arc up to
 * DPL_EMD_MATRIX_BYTES, rows computed anew beyond; and about 400 bytes per node.
 */
#include "evaluate/emd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_LIST = 32, GREEDY_LIST = 8, BLOCK = 8, LATTICE_BITS = 30, NONE = -1 };

struct problem {
    const struct dpl_emd_ground *ground;
    size_t n_sources, n_sinks; /* nodes: sources, then sinks, then the root */
    int32_t root;
    double scale;    /* lattice steps per metre */
    uint32_t *point; /* (n_sources + n_sinks) the caller's number of each node */
    /* The tree. Its nodes stand in a ring, parents first, so that a subtree is the stretch of ring
     * from its top to its last. */
    int32_t *parent;      /* (nodes) NONE: the root */
    int32_t *next, *prev; /* (nodes) along the ring */
    int32_t *last;        /* (nodes) the end of the subtree's stretch */
    int32_t *below;       /* (nodes) nodes of the subtree, itself included */
    int64_t *flow;        /* (nodes) of the arc to the parent */
    double *potential; /* (nodes) integer-valued; an arc u->v of the tree has cost - potential[u] +
                          potential[v] = 0 */
    /* costs */
    int32_t *matrix;     /* (n_sources, n_sinks), NULL when too large */
    int32_t *row;        /* (n_sinks) scratch when there is no matrix */
    double *metres;      /* (n_sinks) scratch */
    int64_t *left;       /* (n_sources + n_sinks) what the greedy start has still to place */
    uint32_t *list_sink; /* (n_sources, n_listed) nearest first */
    int32_t *list_cost;
    uint64_t *order; /* (n_sources * GREEDY_LIST) for sorting */
    size_t n_listed, n_pivots;
};

/* ---- costs ---- */

static void compute_row(struct problem *p, size_t source, int32_t *row) {
    p->ground->row(p->ground->context, p->point[source], p->point + p->n_sources, p->n_sinks,
                   p->metres);
    for (size_t j = 0; j < p->n_sinks; j++) row[j] = (int32_t)(p->metres[j] * p->scale + 0.5);
}

static const int32_t *cost_row(struct problem *p, size_t source) {
    if (p->matrix) return p->matrix + source * p->n_sinks;
    compute_row(p, source, p->row);
    return p->row;
}

/* The n_listed nearest sinks of a source, nearest first, ties by number. */
static void fill_list(struct problem *p, size_t source) {
    const int32_t *cost = cost_row(p, source);
    uint32_t *sink = p->list_sink + source * p->n_listed;
    int32_t *near = p->list_cost + source * p->n_listed;
    size_t held = 0;
    for (size_t j = 0; j < p->n_sinks; j++) {
        if (held == p->n_listed && cost[j] >= near[held - 1]) continue;
        size_t at = held < p->n_listed ? held++ : held - 1;
        for (; at > 0 && near[at - 1] > cost[j]; at--)
            near[at] = near[at - 1], sink[at] = sink[at - 1];
        near[at] = cost[j];
        sink[at] = (uint32_t)j;
    }
}

static void prepare_costs(struct problem *p) {
    for (size_t i = 0; i < p->n_sources; i++) {
        if (p->matrix) compute_row(p, i, p->matrix + i * p->n_sinks);
        fill_list(p, i);
    }
}

/* ---- the tree ---- */

static void join(struct problem *p, int32_t first, int32_t second) {
    p->next[first] = second;
    p->prev[second] = first;
}

/* Takes the stretch of `top` out of the ring. */
static void take_out(struct problem *p, int32_t top) {
    int32_t end = p->last[top], before = p->prev[top];
    for (int32_t v = p->parent[top]; v != NONE && p->last[v] == end; v = p->parent[v])
        p->last[v] = before;
    join(p, before, p->next[end]);
}

/* Puts the stretch from `top` to `end` into the ring behind `parent`: as its first child. */
static void put_in(struct problem *p, int32_t top, int32_t end, int32_t parent) {
    join(p, end, p->next[parent]);
    join(p, parent, top);
    for (int32_t v = parent; v != NONE && p->last[v] == parent; v = p->parent[v]) p->last[v] = end;
}

/* Turns the path from `bottom` up to `top` round, so that bottom is the top of that subtree,
 * hanging under `parent` with `flow`. Returns the end of the new stretch. The new order, v0 =
 * bottom, v1, ... being the path: the old stretch of v0, then v1 and what is left of its stretch
 * without v0's, then v2 ... */
static int32_t turn_path(struct problem *p, int32_t bottom, int32_t top, int32_t parent,
                         int64_t flow) {
    int32_t all = p->below[top], cut = 0, inner = bottom, end = p->last[bottom];
    int32_t inner_last = end, inner_next = p->next[end],
            inner_prev = p->prev[bottom]; // as they were before the turn
    for (;;) {
        int32_t above = p->parent[inner], below = p->below[inner];
        int64_t flow_above = p->flow[inner];
        p->parent[inner] = parent;
        p->flow[inner] = flow;
        p->below[inner] = all - cut;
        if (inner == top) break;
        int32_t last = p->last[above], next = last == inner_last ? inner_next : p->next[last],
                prev = p->prev[above];
        join(p, end, above);
        end = inner_prev;
        if (last != inner_last) {
            join(p, end, inner_next);
            end = last;
        }
        parent = inner, flow = flow_above, cut = below;
        inner = above, inner_last = last, inner_next = next, inner_prev = prev;
    }
    for (int32_t v = top;; v = p->parent[v]) {
        p->last[v] = end;
        if (v == bottom) return end;
    }
}

/* Adds to the potentials of a subtree or, what is the same to all reduced costs, takes from those
 * of the rest: the smaller one. */
static void shift_subtree(struct problem *p, int32_t top, double shift) {
    int32_t nodes = p->below[p->root], n = p->below[top], v = top;
    if (n > nodes - n) n = nodes - n, v = p->next[p->last[top]], shift = -shift;
    for (; n > 0; n--, v = p->next[v]) p->potential[v] += shift;
    double drift = p->potential[p->root];
    if (fabs(drift) > 0x1p50) // keep sums exact
        for (int32_t i = 0; i < nodes; i++) p->potential[i] -= drift;
}

/* The node with the smaller subtree is no ancestor of the other, so it climbs. */
static int32_t find_apex(const struct problem *p, int32_t a, int32_t b) {
    while (a != b) {
        if (p->below[a] <= p->below[b])
            a = p->parent[a];
        else
            b = p->parent[b];
    }
    return a;
}

/* Lets the arc source->sink, of reduced cost `reduced` < 0, enter the tree. */
static void pivot(struct problem *p, int32_t source, int32_t sink, double reduced) {
    int32_t n_sources = (int32_t)p->n_sources, apex = find_apex(p, source, sink), leaving = NONE;
    const int32_t *parent = p->parent;
    int64_t most = INT64_MAX;
    bool source_side = true;
    // Mass goes round: apex -> source -> sink -> apex. Ties go to the arc seen last on that way,
    // hence < and <=.
    for (int32_t v = source; v != apex; v = parent[v])
        if (v < n_sources && p->flow[v] < most) most = p->flow[v], leaving = v;
    for (int32_t v = sink; v != apex; v = parent[v])
        if (v >= n_sources && p->flow[v] <= most)
            most = p->flow[v], leaving = v, source_side = false;
    int32_t moved = source_side ? source : sink, goal = source_side ? sink : source,
            size = p->below[leaving];
    for (int32_t v = source; most > 0 && v != apex; v = parent[v])
        p->flow[v] += v < n_sources ? -most : most;
    for (int32_t v = sink; most > 0 && v != apex; v = parent[v])
        p->flow[v] += v < n_sources ? most : -most;
    for (int32_t v = parent[leaving]; v != apex; v = parent[v]) p->below[v] -= size;
    for (int32_t v = goal; v != apex; v = parent[v]) p->below[v] += size;
    take_out(p, leaving);
    int32_t end = turn_path(p, moved, leaving, goal, most);
    put_in(p, moved, end, goal);
    shift_subtree(p, moved, source_side ? reduced : -reduced);
    p->n_pivots++;
}

/* ---- the first tree ---- */

static int compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* An arc of the greedy start. Each exhausts an end of its own, so together they are a forest. */
struct placed {
    uint32_t source, sink;
    int64_t flow;
};

/* Sends as much as both ends still have. */
static size_t place(struct problem *p, struct placed *placed, size_t n, size_t source,
                    size_t sink) {
    int64_t *from = &p->left[source], *to = &p->left[p->n_sources + sink],
            flow = *from < *to ? *from : *to;
    if (flow == 0) return n;
    *from -= flow;
    *to -= flow;
    placed[n] = (struct placed){(uint32_t)source, (uint32_t)sink, flow};
    return n + 1;
}

static size_t nearest_with_room(struct problem *p, size_t source) {
    const int32_t *cost = cost_row(p, source);
    const int64_t *room = p->left + p->n_sources;
    size_t best = p->n_sinks;
    for (size_t j = 0; j < p->n_sinks; j++)
        if (room[j] > 0 && (best == p->n_sinks || cost[j] < cost[best])) best = j;
    return best;
}

/* Cheapest listed arcs first, then each source that has something left to its nearest sinks with
 * room. All mass finds a place. */
static size_t place_greedily(struct problem *p, struct placed *placed) {
    size_t taken = p->n_listed < GREEDY_LIST ? p->n_listed : GREEDY_LIST, n_arcs = 0, n = 0;
    for (size_t i = 0; i < p->n_sources; i++)
        for (size_t arc = i * p->n_listed; arc < i * p->n_listed + taken; arc++)
            p->order[n_arcs++] = (uint64_t)(uint32_t)p->list_cost[arc] << 32 | arc;
    qsort(p->order, n_arcs, sizeof *p->order, compare_u64);
    for (size_t at = 0; at < n_arcs; at++) {
        size_t arc = (uint32_t)p->order[at];
        n = place(p, placed, n, arc / p->n_listed, p->list_sink[arc]);
    }
    for (size_t i = 0; i < p->n_sources; i++)
        while (p->left[i] > 0) n = place(p, placed, n, i, nearest_with_room(p, i));
    return n;
}

/* Lists the arcs of each node: those of v are arc_of[arc_start[v]] ... */
static void list_arcs(const struct problem *p, const struct placed *placed, size_t n_placed,
                      int32_t *arc_start, int32_t *arc_of) {
    size_t n_nodes = p->n_sources + p->n_sinks;
    memset(arc_start, 0, (n_nodes + 2) * sizeof *arc_start);
    for (size_t a = 0; a < n_placed; a++)
        arc_start[placed[a].source + 2]++, arc_start[placed[a].sink + p->n_sources + 2]++;
    for (size_t v = 2; v < n_nodes + 2; v++) arc_start[v] += arc_start[v - 1];
    for (size_t a = 0; a < n_placed; a++) {
        arc_of[arc_start[placed[a].source + 1]++] = (int32_t)a;
        arc_of[arc_start[placed[a].sink + p->n_sources + 1]++] = (int32_t)a;
    }
}

static void add_leaf(struct problem *p, int32_t node, int32_t parent, int64_t flow,
                     double potential) {
    p->parent[node] = parent;
    p->flow[node] = flow;
    p->potential[node] = potential;
    join(p, node, p->next[parent]);
    join(p, parent, node);
}

/* Sizes from the leaves up, then ends of stretches from places in the ring. `queue`: all nodes but
 * the root, parents first. */
static void measure_tree(struct problem *p, int32_t *queue) {
    int32_t root = p->root;
    for (int32_t v = 0; v <= root; v++) p->below[v] = 1;
    for (int32_t i = root - 1; i >= 0; i--) p->below[p->parent[queue[i]]] += p->below[queue[i]];
    int32_t v = p->next[root];
    for (int32_t i = 0; i < root; i++, v = p->next[v]) queue[i] = v;
    for (int32_t i = 0; i < root; i++) p->last[queue[i]] = queue[i + p->below[queue[i]] - 1];
    p->last[root] = queue[root - 1];
}

/* Turns the forest of placed arcs into a tree below the root: breadth first from one source of each
 * of its trees. Everything was placed, so each tree hangs on the root by an arc without flow, from
 * a source and so towards the root: strongly feasible. */
static void build_tree(struct problem *p, const struct placed *placed, const int32_t *arc_start,
                       const int32_t *arc_of, int32_t *queue) {
    int32_t root = p->root, n_sources = (int32_t)p->n_sources;
    size_t head = 0, tail = 0;
    for (int32_t v = 0; v <= root; v++) p->parent[v] = NONE;
    p->next[root] = p->prev[root] = root;
    p->potential[root] = 0;
    for (int32_t start = 0; start < n_sources; start++) {
        if (p->parent[start] != NONE) continue;
        add_leaf(p, start, root, 0, (double)((int64_t)1 << LATTICE_BITS) + 1);
        for (queue[tail++] = start; head < tail; head++) {
            int32_t v = queue[head];
            for (int32_t at = arc_start[v]; at < arc_start[v + 1]; at++) {
                const struct placed *arc = &placed[arc_of[at]];
                int32_t other =
                    v < n_sources ? (int32_t)arc->sink + n_sources : (int32_t)arc->source;
                if (other == p->parent[v]) continue;
                double cost = cost_row(p, arc->source)[arc->sink];
                add_leaf(p, other, v, arc->flow,
                         v < n_sources ? p->potential[v] - cost : p->potential[v] + cost);
                queue[tail++] = other;
            }
        }
    }
    measure_tree(p, queue);
}

/* ---- pricing ---- */

/* The best arc of a source's short list, as `least` = cost + potential of the sink, and its place.
 */
static size_t best_in_list(const struct problem *p, size_t source, double *least) {
    const double *sink_potential = p->potential + p->n_sources;
    const uint32_t *sink = p->list_sink + source * p->n_listed;
    const int32_t *cost = p->list_cost + source * p->n_listed;
    size_t at = p->n_listed;
    *least = p->potential[source];
    for (size_t l = 0; l < p->n_listed; l++) {
        double here = cost[l] + sink_potential[sink[l]];
        if (here < *least) *least = here, at = l;
    }
    return at;
}

/* Pivots on the best arc of each block of short lists in turn until a whole round finds none. */
static void price_lists(struct problem *p) {
    size_t source = 0, idle = 0;
    while (idle < p->n_sources) {
        size_t best_source = p->n_sources, best_at = 0;
        double best = 0, least;
        for (size_t b = 0; b < BLOCK && idle < p->n_sources; b++, idle++) {
            size_t at = best_in_list(p, source, &least);
            if (at < p->n_listed && least - p->potential[source] < best)
                best = least - p->potential[source], best_source = source, best_at = at;
            source = source + 1 < p->n_sources ? source + 1 : 0;
        }
        if (best_source == p->n_sources) continue;
        pivot(p, (int32_t)best_source,
              (int32_t)(p->n_sources + p->list_sink[best_source * p->n_listed + best_at]), best);
        idle = 0;
    }
}

/* The least cost[j] + potential[j]. Lanes apart, so that the compiler can hold them in vector
 * registers. */
static double least_in_row(const int32_t *cost, const double *potential, size_t n) {
    enum { LANES = 8 };
    double lane[LANES];
    for (size_t l = 0; l < LANES; l++) lane[l] = INFINITY;
    size_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (size_t l = 0; l < LANES; l++) {
            double here = cost[j + l] + potential[j + l];
            lane[l] = here < lane[l] ? here : lane[l];
        }
    double least = INFINITY;
    for (size_t l = 0; l < LANES; l++) least = lane[l] < least ? lane[l] : least;
    for (; j < n; j++) {
        double here = cost[j] + potential[j];
        least = here < least ? here : least;
    }
    return least;
}

/* The same over whole rows: when a round finds nothing, the tree is optimal. */
static enum dpl_status price_rows(struct dpl_run *run, struct problem *p) {
    const double *sink_potential = p->potential + p->n_sources;
    for (size_t i = 0, idle = 0; idle < p->n_sources; i = i + 1 < p->n_sources ? i + 1 : 0) {
        const int32_t *cost = cost_row(p, i);
        double least = least_in_row(cost, sink_potential, p->n_sinks);
        idle++;
        if (least >= p->potential[i]) continue;
        size_t j = 0;
        while (cost[j] + sink_potential[j] > least) j++;
        pivot(p, (int32_t)i, (int32_t)(p->n_sources + j), least - p->potential[i]);
        idle = 0;
        if (p->n_pivots % 1024 == 0) DPL_TRY(dpl_check_interrupt(run));
    }
    return DPL_OK;
}

/* With the costs as the caller gave them, in the order of the nodes. */
static double total_work(struct problem *p) {
    double work = 0, cost_m;
    int32_t n_sources = (int32_t)p->n_sources, root = n_sources + (int32_t)p->n_sinks;
    for (int32_t v = 0; v < root; v++) {
        if (p->flow[v] == 0) continue; // arcs of the root among them: they end without flow
        int32_t source = v < n_sources ? v : p->parent[v], sink = v < n_sources ? p->parent[v] : v;
        p->ground->row(p->ground->context, p->point[source], &p->point[sink], 1, &cost_m);
        work += (double)p->flow[v] * cost_m;
    }
    return work;
}

/* ---- memory and the calls ---- */

/* Hands out `count` elements of `size` bytes at 64-byte steps; with memory NULL it only counts. */
static void *carve(unsigned char *memory, size_t *used, size_t count, size_t size) {
    void *piece = memory ? memory + *used : NULL;
    *used += (count * size + 63) / 64 * 64;
    return piece;
}

struct scratch {
    struct placed *placed;
    int32_t *arc_start, *arc_of, *queue;
};

static size_t lay_out(struct problem *p, struct scratch *s, unsigned char *memory) {
    size_t used = 0, inner = p->n_sources + p->n_sinks, nodes = inner + 1,
           listed = p->n_sources * p->n_listed;
    p->point = carve(memory, &used, inner, sizeof *p->point);
    p->parent = carve(memory, &used, nodes, sizeof *p->parent);
    p->next = carve(memory, &used, nodes, sizeof *p->next);
    p->prev = carve(memory, &used, nodes, sizeof *p->prev);
    p->last = carve(memory, &used, nodes, sizeof *p->last);
    p->below = carve(memory, &used, nodes, sizeof *p->below);
    p->flow = carve(memory, &used, nodes, sizeof *p->flow);
    p->potential = carve(memory, &used, nodes, sizeof *p->potential);
    p->row = carve(memory, &used, p->n_sinks, sizeof *p->row);
    p->metres = carve(memory, &used, p->n_sinks, sizeof *p->metres);
    p->left = carve(memory, &used, inner, sizeof *p->left);
    p->list_sink = carve(memory, &used, listed, sizeof *p->list_sink);
    p->list_cost = carve(memory, &used, listed, sizeof *p->list_cost);
    p->order = carve(memory, &used, p->n_sources * GREEDY_LIST, sizeof *p->order);
    s->placed = carve(memory, &used, inner, sizeof *s->placed);
    s->arc_start = carve(memory, &used, nodes + 1, sizeof *s->arc_start);
    s->arc_of = carve(memory, &used, 2 * inner, sizeof *s->arc_of);
    s->queue = carve(memory, &used, inner, sizeof *s->queue);
    return used;
}

static void number_nodes(struct problem *p, const int64_t *balance, size_t n_points) {
    size_t source = 0, sink = p->n_sources;
    for (size_t v = 0; v < n_points; v++) {
        if (balance[v] == 0) continue;
        size_t node = balance[v] > 0 ? source++ : sink++;
        p->point[node] = (uint32_t)v;
        p->left[node] = balance[v] > 0 ? balance[v] : -balance[v];
    }
}

static enum dpl_status reserve(struct dpl_run *run, struct dpl_emd_solver *solver,
                               struct problem *p, struct scratch *s) {
    size_t need = lay_out(p, s, NULL);
    DPL_TRY(dpl_grow(run, &solver->memory, &solver->memory_size, need, 1));
    lay_out(p, s, solver->memory);
    size_t matrix = p->n_sources * p->n_sinks * sizeof *p->matrix;
    if (matrix > DPL_EMD_MATRIX_BYTES) return DPL_OK;
    DPL_TRY(dpl_grow(run, &solver->matrix, &solver->matrix_size, matrix, 1));
    p->matrix = (int32_t *)(void *)solver->matrix;
    return DPL_OK;
}

enum dpl_status dpl_emd_work(struct dpl_run *run, struct dpl_emd_solver *solver,
                             const int64_t *balance, size_t n_points,
                             const struct dpl_emd_ground *ground, double *work) {
    struct problem p = {.ground = ground};
    struct scratch s;
    for (size_t v = 0; v < n_points; v++)
        p.n_sources += balance[v] > 0, p.n_sinks += balance[v] < 0;
    solver->n_pivots = 0;
    if (p.n_sources == 0 || !(ground->cost_max_m > 0)) {
        *work = 0;
        return DPL_OK;
    }
    if (p.n_sources + p.n_sinks > DPL_MAX_CELLS)
        return dpl_fail(
            run, DPL_BAD_DATA,
            "an earth mover's distance over more than %d points; take larger cells (`area.cell_m`)",
            DPL_MAX_CELLS);
    p.root = (int32_t)(p.n_sources + p.n_sinks);
    p.n_listed = p.n_sinks < SHORT_LIST ? p.n_sinks : SHORT_LIST;
    p.scale = (double)((int64_t)1 << LATTICE_BITS) / ground->cost_max_m;
    DPL_TRY(reserve(run, solver, &p, &s));
    number_nodes(&p, balance, n_points);
    prepare_costs(&p);
    list_arcs(&p, s.placed, place_greedily(&p, s.placed), s.arc_start, s.arc_of);
    build_tree(&p, s.placed, s.arc_start, s.arc_of, s.queue);
    price_lists(&p);
    DPL_TRY(price_rows(run, &p));
    solver->n_pivots = p.n_pivots;
    *work = total_work(&p);
    return DPL_OK;
}

/* a_p / A - b_p / B over the common denominator A * B, in integers. */
static enum dpl_status balance_of(struct dpl_run *run, const int64_t *a, const int64_t *b,
                                  size_t n_points, int64_t *balance, double *total) {
    int64_t total_a = 0, total_b = 0, product;
    for (size_t v = 0; v < n_points; v++) total_a += a[v], total_b += b[v];
    if (total_a <= 0 || total_b <= 0)
        return dpl_fail(run, DPL_BAD_DATA, "an empty histogram has no earth mover's distance");
    if (__builtin_mul_overflow(total_a, total_b, &product))
        return dpl_fail(run, DPL_BAD_DATA,
                        "two histograms of %.3g and %.3g entries are too large to compare exactly",
                        (double)total_a, (double)total_b);
    for (size_t v = 0; v < n_points; v++) balance[v] = a[v] * total_b - b[v] * total_a;
    *total = (double)product;
    return DPL_OK;
}

enum dpl_status dpl_emd(struct dpl_run *run, struct dpl_emd_solver *solver, const int64_t *a,
                        const int64_t *b, size_t n_points, const struct dpl_emd_ground *ground,
                        double *emd_m) {
    double total = 0, work = 0;
    int64_t *balance = dpl_alloc(run, n_points, sizeof *balance);
    if (!balance) return DPL_SYSTEM;
    enum dpl_status status;
    DPL_GO(balance_of(run, a, b, n_points, balance, &total));
    DPL_GO(dpl_emd_work(run, solver, balance, n_points, ground, &work));
    *emd_m = work / total;
done:
    dpl_free(balance);
    return status;
}

void dpl_emd_free(struct dpl_emd_solver *solver) {
    dpl_free(solver->memory);
    dpl_free(solver->matrix);
    *solver = (struct dpl_emd_solver){0};
}
