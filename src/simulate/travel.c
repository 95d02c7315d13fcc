/* From a leg to GPS fixes: route, traffic, error.
 *
 * Routes. For a destination, a traffic level and a taste there is one shortest-path tree, made by
 * Dijkstra backwards from the destination with a bucket queue (costs are whole tenths of seconds,
 * so a bucket per cost modulo the largest edge cost does), and kept as one byte per node. Tastes
 * differ by street (each street is liked or disliked by up to a third), by piece, and by road (one
 * likes expressways, one avoids them): one pair of places has several routes, each of them
 * sensible. Trees are made when first needed, by whichever thread comes first: a tree depends on
 * nothing but its key, so threads cannot change the result. About 2 KB and 0.15 ms a tree.
 *
 * Traffic. `in` and `out` (see simulate.h) follow the clock; each piece of street takes its free
 * time times the slowdown at the moment it is entered, with noise, and crossings cost waiting.
 *
 * Fixes. Regular: every 15 s. Irregular: about every 15 s or 60 s by device, with jitter, missed
 * fixes and short outages, never more than MAX_GAP_S. The GPS error drifts (first-order
 * autoregression) and is bounded, so that no step looks faster than about 120 km/h. */
#include <math.h>
#include <string.h>

#include "simulate/simulate.h"

enum { BUCKETS = 8192, MAX_COST_DS = BUCKETS - 1, NOWHERE = -1, HOUR_S = 3600, DAY_S = 86400 };
enum { REGULAR_S = 15, MAX_GAP_S = 200, SHORTEST_S = 125 };

static const double WALK_MPS = 1.35, GPS_ERROR_M = 5;

/* ---- traffic ---- */

struct traffic {
    double in, out;
};

static const struct traffic LEVEL[DPL_SIM_LEVELS] = {{0, 0}, {0.4, 0.4}, {1, 0.5}, {0.5, 1}};

/* Per cent, at the full hours of a weekday and of a weekend day. */
static const uint8_t IN[24] = {0,  0,  0,  0,  0,  5,  30, 80, 100, 75, 45, 40,
                               40, 40, 40, 45, 55, 60, 55, 40, 25,  15, 10, 5};
static const uint8_t OUT[24] = {0,  0,  0,  0,  0,  5,   20, 45, 50, 45, 40, 40,
                                45, 45, 50, 65, 85, 100, 95, 60, 35, 20, 10, 5};
static const uint8_t WEEKEND[24] = {10, 5,  0,  0,  0,  0,  5,  5,  10, 20, 30, 35,
                                    40, 40, 40, 40, 40, 35, 30, 25, 20, 20, 20, 15};

static struct traffic traffic_at(int64_t local_s) {
    int64_t day = local_s / DAY_S, of_day = local_s % DAY_S; // 1970-01-01 was a Thursday
    bool weekend = (day + 3) % 7 >= 5;
    int64_t hour = of_day / HOUR_S, next = (hour + 1) % 24;
    double part = (double)(of_day % HOUR_S) / HOUR_S * 0.01, rest = 0.01 - part;
    const uint8_t *in = weekend ? WEEKEND : IN, *out = weekend ? WEEKEND : OUT;
    return (struct traffic){in[hour] * rest + in[next] * part, out[hour] * rest + out[next] * part};
}

static int level_of(struct traffic now) {
    if (now.in > 0.72 && now.in >= now.out) return 2;
    if (now.out > 0.72) return 3;
    return now.in + now.out > 0.4 ? 1 : 0;
}

static double edge_s(const struct dpl_sim_edge *edge, struct traffic now, bool walk) {
    return walk ? edge->length_m / WALK_MPS
                : edge->free_s * (1 + edge->k_in * now.in + edge->k_out * now.out);
}

/* ---- routes ---- */

/* How a taste sees a piece of street: 1 is fair. */
static double liking(const struct dpl_sim_edge *edge, int32_t number, int taste) {
    static const double ROAD[DPL_SIM_TASTES][DPL_SIM_ROADS] = {
        {1, 1, 1}, {1.25, 1, 0.8}, {0.8, 1, 1.8}, {0.8, 1.1, 1.25}};
    if (taste == 0) return 1; // the navigator's choice
    uint64_t key = dpl_sim_key(0x7A57E, (uint64_t)taste);
    int32_t piece = number < edge->twin ? number : edge->twin;
    double street = dpl_sim_unit(dpl_sim_key(key, (uint64_t)edge->line)),
           own = dpl_sim_unit(dpl_sim_key(key, (uint64_t)piece + (1u << 20)));
    return ROAD[taste][edge->road] * (0.7 + 0.6 * street) * (0.8 + 0.4 * own);
}

enum dpl_status dpl_sim_router_make(struct dpl_run *run, const struct dpl_sim_city *city, bool walk,
                                    struct dpl_sim_router *router) {
    *router = (struct dpl_sim_router){.city = city, .walk = walk};
    router->tree = dpl_alloc(run, (size_t)city->n_nodes * DPL_SIM_TREES, sizeof *router->tree);
    if (!router->tree) return DPL_SYSTEM;
    for (int t = 0; t < DPL_SIM_TREES; t++) {
        uint16_t *cost_ds = router->cost_ds[t] =
            dpl_alloc(run, (size_t)city->n_edges, sizeof *cost_ds);
        if (!cost_ds) return DPL_SYSTEM;
        for (int32_t e = 0; e < city->n_edges; e++) {
            double cost = 10 * edge_s(&city->edge[e], LEVEL[t / DPL_SIM_TASTES], walk) *
                          liking(&city->edge[e], e, t % DPL_SIM_TASTES);
            cost_ds[e] = (uint16_t)(cost < 1 ? 1 : cost > MAX_COST_DS ? MAX_COST_DS : cost);
        }
    }
    return DPL_OK;
}

void dpl_sim_router_free(struct dpl_sim_router *router) {
    for (int t = 0; t < DPL_SIM_TREES; t++) dpl_free(router->cost_ds[t]);
    if (router->tree)
        for (size_t i = 0; i < (size_t)router->city->n_nodes * DPL_SIM_TREES; i++)
            dpl_free(atomic_load(&router->tree[i]));
    dpl_free(router->tree);
}

/* ---- the bucket queue: doubly linked lists of nodes, one per cost modulo BUCKETS ---- */

static void queue_put(struct dpl_sim_scratch *q, int32_t node) {
    int32_t *head = &q->bucket[q->distance_ds[node] % BUCKETS];
    q->next[node] = *head;
    q->before[node] = NOWHERE;
    if (*head != NOWHERE) q->before[*head] = node;
    *head = node;
}

static void queue_take(struct dpl_sim_scratch *q, int32_t node) {
    int32_t next = q->next[node], before = q->before[node];
    if (before == NOWHERE)
        q->bucket[q->distance_ds[node] % BUCKETS] = next;
    else
        q->next[before] = next;
    if (next != NOWHERE) q->before[next] = before;
}

/* Dijkstra from `to` along reversed edges; tree[u] becomes the edge of u to take. */
static void grow_tree(const struct dpl_sim_city *city, const uint16_t *cost_ds, int32_t to,
                      struct dpl_sim_scratch *q, uint8_t *tree) {
    memset(q->distance_ds, 0xFF, (size_t)city->n_nodes * sizeof *q->distance_ds);
    memset(q->bucket, 0xFF, BUCKETS * sizeof *q->bucket); // NOWHERE
    q->distance_ds[to] = 0;
    queue_put(q, to);
    int32_t waiting = 1;
    for (uint32_t now_ds = 0; waiting > 0; now_ds++)
        while (q->bucket[now_ds % BUCKETS] != NOWHERE) {
            int32_t node = q->bucket[now_ds % BUCKETS];
            queue_take(q, node);
            waiting--;
            for (int32_t e = city->first[node]; e < city->first[node + 1]; e++) {
                int32_t other = city->edge[e].to, back = city->edge[e].twin;
                uint32_t distance_ds = now_ds + cost_ds[back];
                if (distance_ds >= q->distance_ds[other]) continue;
                if (q->distance_ds[other] == UINT32_MAX)
                    waiting++;
                else
                    queue_take(q, other);
                q->distance_ds[other] = distance_ds;
                tree[other] = (uint8_t)(back - city->first[other]);
                queue_put(q, other);
            }
        }
}

/* The tree, made if it is not there yet. Two threads may make the same one; the first to finish is
 * kept. */
static enum dpl_status find_tree(struct dpl_run *run, struct dpl_sim_router *router, int32_t to,
                                 int which, struct dpl_sim_scratch *scratch,
                                 const uint8_t **found) {
    _Atomic(uint8_t *) *place = &router->tree[(size_t)to * DPL_SIM_TREES + (size_t)which];
    uint8_t *tree = atomic_load_explicit(place, memory_order_acquire);
    if (!tree) {
        uint8_t *made = dpl_alloc(run, (size_t)router->city->n_nodes, 1);
        if (!made) return DPL_SYSTEM;
        grow_tree(router->city, router->cost_ds[which], to, scratch, made);
        if (atomic_compare_exchange_strong(place, &tree, made))
            tree = made;
        else
            dpl_free(made);
    }
    *found = tree;
    return DPL_OK;
}

enum dpl_status dpl_sim_scratch_make(struct dpl_run *run, const struct dpl_sim_city *city,
                                     struct dpl_sim_scratch *scratch) {
    size_t nodes = (size_t)city->n_nodes, path = 2 * nodes + 4;
    *scratch = (struct dpl_sim_scratch){0};
    scratch->x_m = dpl_alloc(run, path, sizeof *scratch->x_m);
    scratch->y_m = dpl_alloc(run, path, sizeof *scratch->y_m);
    scratch->at_s = dpl_alloc(run, path, sizeof *scratch->at_s);
    scratch->distance_ds = dpl_alloc(run, nodes, sizeof *scratch->distance_ds);
    scratch->next = dpl_alloc(run, nodes, sizeof *scratch->next);
    scratch->before = dpl_alloc(run, nodes, sizeof *scratch->before);
    scratch->bucket = dpl_alloc(run, BUCKETS, sizeof *scratch->bucket);
    bool ok = scratch->x_m && scratch->y_m && scratch->at_s && scratch->distance_ds &&
              scratch->next && scratch->before && scratch->bucket;
    return ok ? DPL_OK : DPL_SYSTEM;
}

void dpl_sim_scratch_free(struct dpl_sim_scratch *scratch) {
    dpl_free(scratch->bucket);
    dpl_free(scratch->before);
    dpl_free(scratch->next);
    dpl_free(scratch->distance_ds);
    dpl_free(scratch->at_s);
    dpl_free(scratch->y_m);
    dpl_free(scratch->x_m);
}

/* ---- driving ---- */

static void path_add(struct dpl_sim_scratch *path, double x_m, double y_m, double at_s) {
    path->x_m[path->n] = x_m, path->y_m[path->n] = y_m, path->at_s[path->n] = at_s;
    path->n++;
}

/* Seconds lost at the crossing between two pieces of street. */
static double waiting_s(int road, int road_after, struct traffic now, bool walk,
                        struct dpl_sim_stream *s) {
    double chance = dpl_sim_uniform(s), part = dpl_sim_uniform(s);
    if (walk) return chance < 0.2 ? 5 + 25 * part : 0;
    if (road == DPL_SIM_EXPRESS && road_after == DPL_SIM_EXPRESS) return 0;
    if (road == DPL_SIM_SIDE && road_after == DPL_SIM_SIDE) return chance < 0.1 ? 2 + 6 * part : 0;
    return chance < 0.2 + 0.15 * (now.in + now.out) ? 4 + 28 * part : 0;
}

/* How far from the corner a person's door is: a habit of person and place, a part of the street. */
static double door(const struct dpl_sim_person *person, int32_t node) {
    return 0.35 * dpl_sim_unit(dpl_sim_key(person->key, (uint64_t)node + (1u << 24)));
}

/* Fills the path from door to door. */
static void drive(const struct dpl_sim_router *router, const struct dpl_sim_person *person,
                  const struct dpl_sim_trip *trip, int64_t local_s, const uint8_t *tree,
                  struct dpl_sim_stream *s, struct dpl_sim_scratch *path) {
    const struct dpl_sim_city *city = router->city;
    double at_s = 0, hurry = person->pace * (1 + 0.08 * dpl_sim_bell(s)),
           skip = door(person, trip->from);
    if (dpl_sim_uniform(s) < 0.05)
        hurry *= 1.2 + 0.5 * dpl_sim_uniform(s); // road works, rain, no place to park
    path->n = 0;
    for (int32_t node = trip->from; node != trip->to;) {
        const struct dpl_sim_edge *edge = &city->edge[city->first[node] + tree[node]];
        struct traffic now = traffic_at(local_s + (int64_t)at_s);
        double x = city->x_m[node], y = city->y_m[node], dx = city->x_m[edge->to] - x,
               dy = city->y_m[edge->to] - y;
        double end = edge->to == trip->to ? 1 - door(person, trip->to) : 1;
        if (path->n == 0) path_add(path, x + skip * dx, y + skip * dy, 0);
        at_s += edge_s(edge, now, router->walk) * hurry * (0.88 + 0.24 * dpl_sim_uniform(s)) *
                (end - skip);
        path_add(path, x + end * dx, y + end * dy, at_s);
        skip = 0;
        node = edge->to;
        if (node == trip->to) break;
        double wait_s = waiting_s(edge->road, city->edge[city->first[node] + tree[node]].road, now,
                                  router->walk, s);
        if (wait_s <= 0) continue;
        at_s += wait_s;
        path_add(path, city->x_m[node], city->y_m[node], at_s);
    }
    if (at_s >= SHORTEST_S) return;
    double stretch = SHORTEST_S * (1 + 0.8 * dpl_sim_uniform(s)) / at_s; // parking takes its time
    for (size_t i = 0; i < path->n; i++) path->at_s[i] *= stretch;
}

/* ---- fixes ---- */

struct receiver {
    const struct dpl_grid *grid;
    const struct dpl_sim_scratch *path;
    size_t at;              /* the piece of the path that holds the last fix */
    double east_m, north_m; /* the error now */
};

static int32_t round_e5(double degrees) { return (int32_t)floor(degrees * 1e5 + 0.5); }

static void take_fix(struct receiver *r, int64_t start_s, int64_t after_s, struct dpl_sim_stream *s,
                     struct dpl_sim_log *log) {
    const struct dpl_sim_scratch *path = r->path;
    double t = (double)after_s;
    while (r->at + 2 < path->n && path->at_s[r->at + 1] <= t) r->at++;
    double from_s = path->at_s[r->at], span_s = path->at_s[r->at + 1] - from_s,
           part = span_s > 0 ? (t - from_s) / span_s : 1;
    if (part > 1) part = 1;
    double x = path->x_m[r->at] + part * (path->x_m[r->at + 1] - path->x_m[r->at]);
    double y = path->y_m[r->at] + part * (path->y_m[r->at + 1] - path->y_m[r->at]);
    r->east_m = 0.75 * r->east_m + 0.66 * GPS_ERROR_M * dpl_sim_bell(s);
    r->north_m = 0.75 * r->north_m + 0.66 * GPS_ERROR_M * dpl_sim_bell(s);
    log->fix[log->n_fixes++] = (struct dpl_sim_fix){
        .utc_s = start_s + after_s,
        .lat_e5 = round_e5(r->grid->area.south_deg + (y + r->north_m) / r->grid->m_per_deg_lat),
        .lon_e5 = round_e5(r->grid->area.west_deg + (x + r->east_m) / r->grid->m_per_deg_lon),
    };
}

static int64_t next_fix_s(bool slow_device, struct dpl_sim_stream *s) {
    double event = dpl_sim_uniform(s);
    int64_t step_s = slow_device ? 60 + (int64_t)floor(5 * dpl_sim_bell(s))
                                 : 12 + (int64_t)(dpl_sim_next(s) % 7);
    if (event < 0.06) step_s *= 2;                                     // a missed fix
    if (event > 0.997) step_s += 40 + (int64_t)(dpl_sim_next(s) % 80); // a tunnel
    return step_s < MAX_GAP_S ? step_s : MAX_GAP_S;
}

enum dpl_status dpl_sim_travel(struct dpl_run *run, struct dpl_sim_router *router,
                               const struct dpl_sim_person *person, const struct dpl_sim_trip *trip,
                               struct dpl_sim_stream *stream, struct dpl_sim_scratch *scratch,
                               struct dpl_sim_log *log) {
    enum {
        LAST_S = 10
    }; // the fix at the end is left out right after another one: its error would look like speed
    const struct dpl_sim_city *city = router->city;
    int64_t local_s = trip->utc_s + dpl_zone_offset_s(city->zone, trip->utc_s);
    int taste = dpl_sim_uniform(stream) < 0.5 ? person->taste
                                              : (int)(dpl_sim_next(stream) % DPL_SIM_TASTES);
    const uint8_t *tree;
    DPL_TRY(find_tree(run, router, trip->to, level_of(traffic_at(local_s)) * DPL_SIM_TASTES + taste,
                      scratch, &tree));
    drive(router, person, trip, local_s, tree, stream, scratch);

    int64_t end_s = (int64_t)scratch->at_s[scratch->n - 1], after_s = 0, last_s = 0;
    DPL_TRY(dpl_grow(run, &log->fix, &log->fix_capacity,
                     log->n_fixes + (size_t)(end_s / LAST_S) + 2, sizeof *log->fix));
    DPL_TRY(dpl_grow(run, &log->start, &log->start_capacity, log->n_trips + 2, sizeof *log->start));
    log->start[log->n_trips++] = log->n_fixes;
    struct receiver receiver = {.grid = &city->grid, .path = scratch};
    while (after_s <= end_s) {
        take_fix(&receiver, trip->utc_s, after_s, stream, log);
        last_s = after_s;
        after_s += trip->regular ? REGULAR_S : next_fix_s(person->slow_device, stream);
    }
    if (!trip->regular && end_s - last_s >= LAST_S)
        take_fix(&receiver, trip->utc_s, end_s, stream, log);
    log->start[log->n_trips] = log->n_fixes;
    return DPL_OK;
}
