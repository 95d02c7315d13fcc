/* An exact network simplex for the earth mover's distance.
 *
 * With a metric cost only the differences of two histograms have to move, so the points with too much are the sources of
 * a transportation problem and those with too little its sinks:
 *
 *     source i --flow, cost--> sink j          root 0: balances what no arc carries yet, at a cost above all others
 *
 * A basis is a spanning tree of sources, sinks and the root. Every arc leads from a source to a sink, from a source to the
 * root, or from the root to a sink, so the arc between a node and its parent points up if and only if the node is a source.
 *
 * Exactness. Shares a_i/A - b_i/B become the integers a_i*B - b_i*A: supplies and flows are int64 and never rounded. Costs
 * are rounded once to a lattice of max_cost / 2^30 (below 0.1 mm for a city); potentials are sums of fewer than 2^22 such
 * integers, held in doubles, which is exact up to 2^53. So reduced costs have true signs, no tolerance exists, and the tree
 * found is optimal for the rounded costs. The work is then summed with the costs as given.
 *
 * Termination. Trees are kept strongly feasible: an arc without flow points towards the root. The arc that leaves is the last
 * blocking one on the cycle, seen from its apex in the direction of the entering arc (Cunningham 1976). That keeps the
 * property, and every pivot then lowers the work or, without moving mass, the sum of potentials in one direction: no
 * basis returns.
 *
 * Speed. Nearly all pivots come from a short list of the nearest sinks of each source (the idea of Gottschlich and
 * Schuhmacher's shortlist method); whole rows are priced only afterwards. The first tree is greedy: the cheapest listed arcs first.
 * Memory: 4 bytes per arc up to DPL_EMD_MATRIX_BYTES, rows computed anew beyond; and about 350 bytes a node.
 */
#include "evaluate/emd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_LIST = 24, LATTICE_BITS = 30, NONE = -1 };

struct problem {
    const struct dpl_emd_ground *ground;
    size_t n_sources, n_sinks; /* nodes: sources, then sinks, then the root */
    double scale;              /* lattice steps per metre */
    uint32_t *point;           /* (n_sources + n_sinks) the caller's number of each node */
    /* the tree, per node */
    int32_t *parent, *first_child, *next, *before; /* (nodes) NONE: none */
    int32_t *depth;
    int64_t *flow;     /* of the arc to the parent */
    double *potential; /* integer-valued; an arc u->v of the tree has cost - potential[u] + potential[v] = 0 */
    /* costs */
    int32_t *matrix;     /* (n_sources, n_sinks), NULL when too large */
    int32_t *row;        /* (n_sinks) scratch when there is no matrix */
    double *metres;      /* (n_sinks) scratch */
    int64_t *left;       /* (n_sources + n_sinks) what the greedy start has still to place */
    uint32_t *list_sink; /* (n_sources, n_listed) nearest first */
    int32_t *list_cost;
    uint64_t *order; /* (n_sources * n_listed) for sorting */
    size_t n_listed, n_pivots;
};

/* ---- costs ---- */

static void compute_row(struct problem *p, size_t source, int32_t *row) {
    p->ground->row(p->ground->context, p->point[source], p->point + p->n_sources, p->n_sinks, p->metres);
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
        for (; at > 0 && near[at - 1] > cost[j]; at--) near[at] = near[at - 1], sink[at] = sink[at - 1];
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

static void link_under(struct problem *p, int32_t node, int32_t parent, int64_t flow) {
    p->parent[node] = parent;
    p->flow[node] = flow;
    p->before[node] = NONE;
    p->next[node] = p->first_child[parent];
    if (p->next[node] != NONE) p->before[p->next[node]] = node;
    p->first_child[parent] = node;
}

static void unlink_node(struct problem *p, int32_t node) {
    if (p->before[node] != NONE) p->next[p->before[node]] = p->next[node];
    else p->first_child[p->parent[node]] = p->next[node];
    if (p->next[node] != NONE) p->before[p->next[node]] = p->before[node];
}

/* The node after `node` in a walk through the subtree of `top`, parents first; NONE at its end. */
static int32_t walk(const struct problem *p, int32_t node, int32_t top) {
    if (p->first_child[node] != NONE) return p->first_child[node];
    while (node != top && p->next[node] == NONE) node = p->parent[node];
    return node == top ? NONE : p->next[node];
}

/* Hangs the subtree that `bottom` and `top` (an ancestor of it or itself) span under `parent` by `bottom`: the path between turns round. */
static void rehang(struct problem *p, int32_t bottom, int32_t top, int32_t parent, int64_t flow) {
    for (int32_t node = bottom;;) {
        int32_t above = p->parent[node];
        int64_t flow_above = p->flow[node];
        unlink_node(p, node);
        link_under(p, node, parent, flow);
        if (node == top) return;
        parent = node;
        flow = flow_above;
        node = above;
    }
}

static void shift_subtree(struct problem *p, int32_t top, double shift) {
    for (int32_t node = top; node != NONE; node = walk(p, node, top)) {
        p->depth[node] = p->depth[p->parent[node]] + 1;
        p->potential[node] += shift;
    }
}

static int32_t find_apex(const struct problem *p, int32_t a, int32_t b) {
    while (a != b) {
        if (p->depth[a] >= p->depth[b]) a = p->parent[a];
        else b = p->parent[b];
    }
    return a;
}

/* Lets the arc source->sink, of reduced cost `reduced` < 0, enter the tree. */
static void pivot(struct problem *p, int32_t source, int32_t sink, double reduced) {
    int32_t n_sources = (int32_t)p->n_sources, apex = find_apex(p, source, sink), leaving = NONE;
    int64_t most = INT64_MAX;
    bool source_side = true;
    // Mass goes round: apex -> source -> sink -> apex. Ties go to the arc seen last on that way, hence < and <=.
    for (int32_t v = source; v != apex; v = p->parent[v])
        if (v < n_sources && p->flow[v] < most) most = p->flow[v], leaving = v;
    for (int32_t v = sink; v != apex; v = p->parent[v])
        if (v >= n_sources && p->flow[v] <= most) most = p->flow[v], leaving = v, source_side = false;
    if (most > 0) {
        for (int32_t v = source; v != apex; v = p->parent[v]) p->flow[v] += v < n_sources ? -most : most;
        for (int32_t v = sink; v != apex; v = p->parent[v]) p->flow[v] += v < n_sources ? most : -most;
    }
    if (source_side) {
        rehang(p, source, leaving, sink, most);
        shift_subtree(p, source, reduced);
    } else {
        rehang(p, sink, leaving, source, most);
        shift_subtree(p, sink, -reduced);
    }
    p->n_pivots++;
}

/* ---- the first tree ---- */

static int compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sends as much as both ends still have. In the graph of such arcs each exhausts an end of its own, so it is a forest
 * whose trees hold at most one node with something left. The flow is noted in the order list's place until the tree is built. */
struct placed {
    uint32_t source, sink;
    int64_t flow;
};

static size_t place(struct problem *p, struct placed *placed, size_t n, size_t source, size_t sink) {
    int64_t *from = &p->left[source], *to = &p->left[p->n_sources + sink], flow = *from < *to ? *from : *to;
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

/* Cheapest listed arcs first, then each source that has something left to its nearest sinks with room. All mass finds a place. */
static size_t place_greedily(struct problem *p, struct placed *placed) {
    size_t n_arcs = p->n_sources * p->n_listed, n = 0;
    for (size_t arc = 0; arc < n_arcs; arc++) p->order[arc] = (uint64_t)(uint32_t)p->list_cost[arc] << 32 | arc;
    qsort(p->order, n_arcs, sizeof *p->order, compare_u64);
    for (size_t at = 0; at < n_arcs; at++) {
        size_t arc = (uint32_t)p->order[at];
        n = place(p, placed, n, arc / p->n_listed, p->list_sink[arc]);
    }
    for (size_t i = 0; i < p->n_sources; i++)
        while (p->left[i] > 0) n = place(p, placed, n, i, nearest_with_room(p, i));
    return n;
}

/* Turns the forest of placed arcs into a tree below the root: breadth first from one source of each of its trees. Everything
 * was placed, so each tree hangs on the root by an arc without flow, from a source and so towards the root: strongly feasible. */
static void build_tree(struct problem *p, const struct placed *placed, size_t n_placed, int32_t *arc_start, int32_t *arc_of, int32_t *queue) {
    size_t n_nodes = p->n_sources + p->n_sinks;
    int32_t root = (int32_t)n_nodes, n_sources = (int32_t)p->n_sources;
    memset(arc_start, 0, (n_nodes + 2) * sizeof *arc_start);
    for (size_t a = 0; a < n_placed; a++) arc_start[placed[a].source + 2]++, arc_start[placed[a].sink + p->n_sources + 2]++;
    for (size_t v = 2; v < n_nodes + 2; v++) arc_start[v] += arc_start[v - 1];
    for (size_t a = 0; a < n_placed; a++) {
        arc_of[arc_start[placed[a].source + 1]++] = (int32_t)a;
        arc_of[arc_start[placed[a].sink + p->n_sources + 1]++] = (int32_t)a;
    }
    for (int32_t v = 0; v <= root; v++) p->parent[v] = p->first_child[v] = p->next[v] = p->before[v] = NONE;
    p->depth[root] = 0;
    p->potential[root] = 0;
    for (int32_t start = 0; start < n_sources; start++) {
        if (p->parent[start] != NONE) continue;
        link_under(p, start, root, 0);
        p->potential[start] = (double)((int64_t)1 << LATTICE_BITS) + 1;
        size_t head = 0, tail = 0;
        for (queue[tail++] = start; head < tail; head++) {
            int32_t v = queue[head];
            p->depth[v] = p->depth[p->parent[v]] + 1;
            for (int32_t at = arc_start[v]; at < arc_start[v + 1]; at++) {
                const struct placed *arc = &placed[arc_of[at]];
                int32_t other = v < n_sources ? (int32_t)arc->sink + n_sources : (int32_t)arc->source;
                if (other == p->parent[v]) continue;
                link_under(p, other, v, arc->flow);
                double cost = cost_row(p, arc->source)[arc->sink];
                p->potential[other] = v < n_sources ? p->potential[v] - cost : p->potential[v] + cost;
                queue[tail++] = other;
            }
        }
    }
}

/* ---- pricing ---- */

/* Pivots on the best arc of each short list in turn until a whole round finds none. */
static void price_lists(struct problem *p) {
    const double *sink_potential = p->potential + p->n_sources;
    for (size_t i = 0, idle = 0; idle < p->n_sources; i = i + 1 < p->n_sources ? i + 1 : 0) {
        const uint32_t *sink = p->list_sink + i * p->n_listed;
        const int32_t *cost = p->list_cost + i * p->n_listed;
        double best = p->potential[i];
        size_t at = p->n_listed;
        for (size_t l = 0; l < p->n_listed; l++) {
            double here = cost[l] + sink_potential[sink[l]];
            if (here < best) best = here, at = l;
        }
        idle++;
        if (at == p->n_listed) continue;
        pivot(p, (int32_t)i, (int32_t)(p->n_sources + sink[at]), best - p->potential[i]);
        idle = 0;
    }
}

/* The least cost[j] + potential[j]. Lanes apart, so that the compiler can hold them in vector registers. */
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
        if (p->flow[v] == 0 || p->parent[v] == root) continue;
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
    size_t used = 0, inner = p->n_sources + p->n_sinks, nodes = inner + 1, listed = p->n_sources * p->n_listed;
    p->point = carve(memory, &used, inner, sizeof *p->point);
    p->parent = carve(memory, &used, nodes, sizeof *p->parent);
    p->first_child = carve(memory, &used, nodes, sizeof *p->first_child);
    p->next = carve(memory, &used, nodes, sizeof *p->next);
    p->before = carve(memory, &used, nodes, sizeof *p->before);
    p->depth = carve(memory, &used, nodes, sizeof *p->depth);
    p->flow = carve(memory, &used, nodes, sizeof *p->flow);
    p->potential = carve(memory, &used, nodes, sizeof *p->potential);
    p->row = carve(memory, &used, p->n_sinks, sizeof *p->row);
    p->metres = carve(memory, &used, p->n_sinks, sizeof *p->metres);
    p->left = carve(memory, &used, inner, sizeof *p->left);
    p->list_sink = carve(memory, &used, listed, sizeof *p->list_sink);
    p->list_cost = carve(memory, &used, listed, sizeof *p->list_cost);
    p->order = carve(memory, &used, listed, sizeof *p->order);
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

static enum dpl_status reserve(struct dpl_run *run, struct dpl_emd_solver *solver, struct problem *p, struct scratch *s) {
    size_t need = lay_out(p, s, NULL);
    DPL_TRY(dpl_grow(run, &solver->memory, &solver->memory_size, need, 1));
    lay_out(p, s, solver->memory);
    size_t matrix = p->n_sources * p->n_sinks * sizeof *p->matrix;
    if (matrix > DPL_EMD_MATRIX_BYTES) return DPL_OK;
    DPL_TRY(dpl_grow(run, &solver->matrix, &solver->matrix_size, matrix, 1));
    p->matrix = (int32_t *)(void *)solver->matrix;
    return DPL_OK;
}

enum dpl_status dpl_emd_work(struct dpl_run *run, struct dpl_emd_solver *solver, const int64_t *balance, size_t n_points,
                             const struct dpl_emd_ground *ground, double *work) {
    struct problem p = {.ground = ground};
    struct scratch s;
    for (size_t v = 0; v < n_points; v++) p.n_sources += balance[v] > 0, p.n_sinks += balance[v] < 0;
    solver->n_pivots = 0;
    if (p.n_sources == 0 || !(ground->cost_max_m > 0)) {
        *work = 0;
        return DPL_OK;
    }
    if (p.n_sources + p.n_sinks > DPL_MAX_CELLS)
        return dpl_fail(run, DPL_BAD_DATA, "an earth mover's distance over more than %d points; take larger cells (--cell)", DPL_MAX_CELLS);
    p.n_listed = p.n_sinks < SHORT_LIST ? p.n_sinks : SHORT_LIST;
    p.scale = (double)((int64_t)1 << LATTICE_BITS) / ground->cost_max_m;
    DPL_TRY(reserve(run, solver, &p, &s));
    number_nodes(&p, balance, n_points);
    prepare_costs(&p);
    build_tree(&p, s.placed, place_greedily(&p, s.placed), s.arc_start, s.arc_of, s.queue);
    price_lists(&p);
    DPL_TRY(price_rows(run, &p));
    solver->n_pivots = p.n_pivots;
    *work = total_work(&p);
    return DPL_OK;
}

/* a_p / A - b_p / B over the common denominator A * B, in integers. */
static enum dpl_status balance_of(struct dpl_run *run, const int64_t *a, const int64_t *b, size_t n_points, int64_t *balance, double *total) {
    int64_t total_a = 0, total_b = 0, product;
    for (size_t v = 0; v < n_points; v++) total_a += a[v], total_b += b[v];
    if (total_a <= 0 || total_b <= 0) return dpl_fail(run, DPL_BAD_DATA, "an empty histogram has no earth mover's distance");
    if (__builtin_mul_overflow(total_a, total_b, &product))
        return dpl_fail(run, DPL_BAD_DATA, "two histograms of %.3g and %.3g entries are too large to compare exactly", (double)total_a, (double)total_b);
    for (size_t v = 0; v < n_points; v++) balance[v] = a[v] * total_b - b[v] * total_a;
    *total = (double)product;
    return DPL_OK;
}

enum dpl_status dpl_emd(struct dpl_run *run, struct dpl_emd_solver *solver, const int64_t *a, const int64_t *b, size_t n_points,
                        const struct dpl_emd_ground *ground, double *emd_m) {
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
