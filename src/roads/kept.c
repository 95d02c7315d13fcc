/* A trip's route, kept so that times can be drawn along it again. See route.h.
 *
 * The search takes most of a trip's time and does not depend on the motion tables: who looks for
 * tables (sample/on_roads.c) searches once and draws times many times. */
#include <string.h>

#include "roads/route_inner.h"

/* In one block: what the path and what the slots have, one array after another, and which slots are
 * held. */
enum { PATH = 3, SLOTS = 4 };
struct route_kept {
    struct route route; /* what it points to is not there */
    uint64_t key, drawn;
    double limit_m;
    bool guided;
    double value[];
};

enum dpl_status dpl_route_keep(const struct route_scratch *s, const struct route *route,
                               struct route_kept **made) {
    size_t n = route->n_points * PATH + route->n * (SLOTS + 1);
    struct route_kept *kept = dpl_alloc(s->run, 1, sizeof *kept + n * sizeof *kept->value);
    if (!kept) return DPL_SYSTEM;
    kept->route = *route;
    kept->key = s->key, kept->drawn = s->times_drawn;
    kept->limit_m = s->times_limit_m, kept->guided = s->guide != NULL;
    double *at = kept->value, *const path[PATH] = {s->x_m, s->y_m, s->at_m},
           *const slots[SLOTS] = {s->start_m, s->low_m, s->high_m, s->near_m};
    for (int i = 0; i < PATH; i++, at += route->n_points)
        memcpy(at, path[i], route->n_points * sizeof *at);
    for (int i = 0; i < SLOTS; i++, at += route->n) memcpy(at, slots[i], route->n * sizeof *at);
    for (size_t k = 0; k < route->n; k++) at[k] = s->held[k];
    *made = kept;
    return DPL_OK;
}

static enum dpl_status grow_path(struct route_scratch *s, size_t n) {
    DPL_TRY(dpl_grow(s->run, &s->x_m, &s->x_capacity, n, sizeof *s->x_m));
    DPL_TRY(dpl_grow(s->run, &s->y_m, &s->y_capacity, n, sizeof *s->y_m));
    return dpl_grow(s->run, &s->at_m, &s->at_capacity, n, sizeof *s->at_m);
}

enum dpl_status dpl_route_again(struct route_scratch *s, const struct route_kept *kept,
                                struct route *route) {
    static const struct dpl_position SOMEWHERE; // near_m says where the guide leads
    size_t n = kept->route.n, n_points = kept->route.n_points;
    DPL_TRY(grow_path(s, n_points));
    DPL_TRY(dpl_times_room(s, n));
    const double *at = kept->value;
    double *const path[PATH] = {s->x_m, s->y_m, s->at_m}, *const slots[SLOTS] = {
                                                              s->slot_m, s->low_m, s->high_m,
                                                              s->near_m};
    for (int i = 0; i < PATH; i++, at += n_points) memcpy(path[i], at, n_points * sizeof *at);
    for (int i = 0; i < SLOTS; i++, at += n) memcpy(slots[i], at, n * sizeof *at);
    for (size_t k = 0; k < n; k++) s->held[k] = at[k] > 0;
    s->key = kept->key, s->drawn = kept->drawn;
    s->guide = kept->guided ? &SOMEWHERE : NULL;
    s->n_points = n_points, s->n_slots = n;
    dpl_times_draw(s, n, kept->limit_m);
    *route = kept->route;
    route->x_m = s->x_m, route->y_m = s->y_m, route->at_m = s->at_m, route->slot_m = s->slot_m;
    route->arc = NULL, route->n_arcs = 0;
    return DPL_OK;
}

void dpl_route_kept_free(struct route_kept *kept) { dpl_free(kept); }
