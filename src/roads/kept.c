/* A trip's route, kept so that times can be drawn along it again. See route.h.
 *
 * The search takes most of a trip's time and does not depend on the motion tables: who looks for
 * tables (sample/on_roads.c) searches once and draws times many times. */
#include <string.h>

#include "roads/route_inner.h"

/* In one block: what the path and what the slots have, one array after another, which slots are
 * held, and the path's trace. */
enum { PATH = 3, SLOTS = 4 };
struct route_kept {
    struct route route; /* what it points to is in `value`, but for slots and arcs */
    uint64_t key, drawn;
    double limit_m, trace_per_m;
    const struct route_spot *trace;
    bool guided;
    double value[];
};

_Static_assert(sizeof(struct route_spot) == sizeof(double), "a spot takes the place of a number");

enum dpl_status dpl_route_keep(const struct route_scratch *s, const struct route *route,
                               struct route_kept **made) {
    size_t n = route->n_points * PATH + route->n * (SLOTS + 1) + s->n_trace;
    struct route_kept *kept = dpl_alloc(s->run, 1, sizeof *kept + n * sizeof *kept->value);
    if (!kept) return DPL_SYSTEM;
    kept->route = *route;
    kept->key = s->key, kept->drawn = s->times_drawn;
    kept->limit_m = s->times_limit_m, kept->guided = s->guide != NULL;
    kept->trace_per_m = s->trace_per_m;
    double *at = kept->value;
    const double *const path[PATH] = {s->x_m, s->y_m, s->at_m},
                        *const slots[SLOTS] = {s->start_m, s->low_m, s->high_m, s->near_m},
                        **const kept_path[PATH] = {&kept->route.x_m, &kept->route.y_m,
                                                   &kept->route.at_m};
    for (int i = 0; i < SLOTS; i++, at += route->n) memcpy(at, slots[i], route->n * sizeof *at);
    for (size_t k = 0; k < route->n; k++) *at++ = s->held[k];
    for (int i = 0; i < PATH; i++, at += route->n_points)
        *kept_path[i] = memcpy(at, path[i], route->n_points * sizeof *at);
    kept->trace = memcpy(at, s->trace, s->n_trace * sizeof *s->trace);
    *made = kept;
    return DPL_OK;
}

enum dpl_status dpl_route_again(struct route_scratch *s, const struct route_kept *kept,
                                struct route *route) {
    static const struct dpl_position SOMEWHERE; // near_m says where the guide leads
    size_t n = kept->route.n;
    DPL_TRY(dpl_times_room(s, n));
    const double *at = kept->value;
    double *const slots[SLOTS] = {s->slot_m, s->low_m, s->high_m, s->near_m};
    for (int i = 0; i < SLOTS; i++, at += n) memcpy(slots[i], at, n * sizeof *at);
    for (size_t k = 0; k < n; k++) s->held[k] = at[k] > 0;
    s->key = kept->key, s->drawn = kept->drawn;
    s->guide = kept->guided ? &SOMEWHERE : NULL;
    s->n_slots = n, s->trace = kept->trace, s->trace_per_m = kept->trace_per_m;
    dpl_times_draw(s, n, kept->limit_m);
    *route = kept->route;
    route->slot_m = s->slot_m, route->arc = NULL, route->n_arcs = 0;
    return DPL_OK;
}

void dpl_route_kept_free(struct route_kept *kept) { dpl_free(kept); }
