/* The line of a path, and which stretch of it lies in each cell of the trip. See route.h. */
#include <math.h>
#include <stdlib.h>

#include "roads/route_inner.h"

/* As hypot(), which is slow for the sake of numbers that metres never are. */
static double length_of(double dx, double dy) { return sqrt(dx * dx + dy * dy); }

static enum dpl_status add_point(struct route_scratch *s, double x_m, double y_m) {
    size_t n = s->n_points;
    double step_m = n ? length_of(x_m - s->x_m[n - 1], y_m - s->y_m[n - 1]) : 0;
    DPL_TRY(dpl_grow(s->run, &s->x_m, &s->x_capacity, n + 1, sizeof *s->x_m));
    DPL_TRY(dpl_grow(s->run, &s->y_m, &s->y_capacity, n + 1, sizeof *s->y_m));
    DPL_TRY(dpl_grow(s->run, &s->at_m, &s->at_capacity, n + 1, sizeof *s->at_m));
    s->x_m[n] = x_m, s->y_m[n] = y_m;
    s->at_m[n] = n ? s->at_m[n - 1] + step_m : 0;
    s->n_points++;
    return DPL_OK;
}

static enum dpl_status add_arc(struct route_scratch *s, int32_t arc) {
    if (s->n_arcs && arc >= 0 && s->arc[s->n_arcs - 1] == arc) return DPL_OK; // it goes on
    DPL_TRY(dpl_grow(s->run, &s->arc, &s->arc_capacity, s->n_arcs + 1, sizeof *s->arc));
    s->arc[s->n_arcs++] = arc;
    return DPL_OK;
}

static double end_m(const struct route_scratch *s) { return s->at_m[s->n_points - 1]; }

/* A stretch of the path lies in the run's cell. Roads along the edge of a cell leave it and come
 * back; the longest stretch counts. */
static void note_stretch(struct route_scratch *s, size_t run, double from_m, double to_m) {
    struct route_run *r = &s->run_of[run];
    if (!(from_m <= r->until_m + 1e-6)) r->again_m = from_m;
    r->until_m = to_m;
    if (to_m - r->again_m >= r->to_m - r->from_m) r->from_m = r->again_m, r->to_m = to_m;
}

void dpl_path_begin(struct route_scratch *s) {
    s->n_points = s->n_arcs = 0;
    s->straight_m = 0;
    for (size_t i = 0; i < s->n_runs; i++) {
        s->run_of[i].missed = false;
        s->run_of[i].from_m = INFINITY, s->run_of[i].to_m = s->run_of[i].until_m = -INFINITY;
    }
}

/* ---- straight lines ---- */

/* Narrows part ... of a line to where low <= start + part * step <= high. */
static void narrow(double start, double step, double low, double high, double *from, double *to) {
    if (fabs(step) < 1e-9) {
        if (start < low || start > high) *to = -1;
        return;
    }
    double a = (low - start) / step, b = (high - start) / step;
    *from = fmax(*from, fmin(a, b));
    *to = fmin(*to, fmax(a, b));
}

/* The part of the last line that lies in the cell of a run belongs to the run. */
static void note_line(struct route_scratch *s, size_t run) {
    const struct dpl_grid *grid = &s->roads->grid;
    size_t n = s->n_points;
    double cell_m = grid->area.cell_m, from = 0, to = 1;
    double left = s->run_of[run].cell % grid->columns * cell_m,
           bottom = s->run_of[run].cell / grid->columns * cell_m;
    narrow(s->x_m[n - 2], s->x_m[n - 1] - s->x_m[n - 2], left, left + cell_m, &from, &to);
    narrow(s->y_m[n - 2], s->y_m[n - 1] - s->y_m[n - 2], bottom, bottom + cell_m, &from, &to);
    double begin_m = s->at_m[n - 2], length_m = end_m(s) - begin_m;
    if (from <= to) note_stretch(s, run, begin_m + from * length_m, begin_m + to * length_m);
}

enum dpl_status dpl_path_straight(struct route_scratch *s, size_t run, double x_m, double y_m) {
    bool begins = s->n_points == 0;
    double before_m = begins ? 0 : end_m(s);
    DPL_TRY(add_point(s, x_m, y_m));
    note_stretch(s, run, end_m(s), end_m(s));
    if (begins) return DPL_OK;
    s->straight_m += end_m(s) - before_m;
    if (run > 0) note_line(s, run - 1);
    note_line(s, run);
    return add_arc(s, -1);
}

/* ---- roads ---- */

/* Point i of an arc, counted in its direction. */
static const float *arc_point(const struct dpl_roads *r, int32_t arc, size_t i, size_t n) {
    const struct roads_piece *piece = &r->piece[arc >> 1];
    return r->xy_m + 2 * (piece->point + (arc & 1 ? n - 1 - i : i));
}

/* Adds what lies between two places of one segment, of which `passed_m` metres are behind. */
static enum dpl_status add_part(struct route_scratch *s, const float *p, const float *q,
                                double length_m, double passed_m, double from_m, double to_m) {
    double dx = q[0] - p[0], dy = q[1] - p[1];
    double a = from_m - passed_m, b = to_m - passed_m;
    if (b <= 0 || a >= length_m || length_m <= 0) return DPL_OK;
    double begin = fmax(a, 0) / length_m, end = fmin(b / length_m, 1);
    if (!s->n_points) DPL_TRY(add_point(s, p[0] + begin * dx, p[1] + begin * dy));
    return add_point(s, p[0] + end * dx, p[1] + end * dy);
}

bool dpl_path_beside(const struct route_scratch *s, size_t run, int32_t cell) {
    int32_t columns = s->roads->grid.columns, own = s->run_of[run].cell;
    return abs(cell % columns - own % columns) <= 1 && abs(cell / columns - own / columns) <= 1;
}

/* The last stretch of the path, an arc of a run, belongs to that run if it is in its cell, and to a
 * neighbour that is left out if it is beside that one's. */
static void note_arc(struct route_scratch *s, size_t run, int32_t cell, double before_m) {
    if (cell == s->run_of[run].cell) note_stretch(s, run, before_m, end_m(s));
    for (size_t i = run > 0 ? run - 1 : 0; i <= run + 1 && i < s->n_runs; i++)
        if (s->run_of[i].missed && dpl_path_beside(s, i, cell))
            note_stretch(s, i, before_m, end_m(s));
}

enum dpl_status dpl_path_arc(struct route_scratch *s, size_t run, int32_t arc, double from_m,
                             double to_m) {
    const struct dpl_roads *r = s->roads;
    size_t n = roads_points(r, (size_t)(arc >> 1));
    double passed_m = 0, before_m = s->n_points ? end_m(s) : 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const float *p = arc_point(r, arc, i, n), *q = arc_point(r, arc, i + 1, n);
        double length_m = length_of(q[0] - p[0], q[1] - p[1]);
        DPL_TRY(add_part(s, p, q, length_m, passed_m, from_m, to_m));
        passed_m += length_m;
    }
    if (s->n_points) note_arc(s, run, r->piece[arc >> 1].cell, before_m);
    return add_arc(s, arc);
}

void dpl_path_place(const struct dpl_roads *r, const struct route_place *place, double *x_m,
                    double *y_m) {
    size_t n = roads_points(r, (size_t)place->piece), i = 0;
    double left_m = place->along_m, length_m = 0, part;
    const float *p = NULL, *q = NULL;
    for (; i + 1 < n; i++) {
        p = arc_point(r, 2 * place->piece, i, n), q = arc_point(r, 2 * place->piece, i + 1, n);
        length_m = length_of(q[0] - p[0], q[1] - p[1]);
        if (left_m <= length_m || i + 2 == n) break;
        left_m -= length_m;
    }
    part = length_m > 0 ? fmin(1, left_m / length_m) : 0;
    *x_m = p[0] + part * (q[0] - p[0]), *y_m = p[1] + part * (q[1] - p[1]);
}

/* ---- asking ---- */

void dpl_route_at(const struct route *route, double m, double *x_m, double *y_m) {
    size_t low = 0, high = route->n_points - 1;
    while (low + 1 < high) { // the last point that is not beyond
        size_t middle = (low + high) / 2;
        if (route->at_m[middle] <= m)
            low = middle;
        else
            high = middle;
    }
    double length_m = route->at_m[high] - route->at_m[low];
    double part = length_m > 0 ? fmin(1, fmax(0, (m - route->at_m[low]) / length_m)) : 0;
    *x_m = route->x_m[low] + part * (route->x_m[high] - route->x_m[low]);
    *y_m = route->y_m[low] + part * (route->y_m[high] - route->y_m[low]);
}

/* Speed at a slot, from the steps before and after it: their harmonic mean keeps the cubic
 * monotone (Fritsch and Butland). At the ends, and beside a stop: 0 or the step's own. */
static double slope(const struct route *route, size_t k) {
    if (k == 0) return route->slot_m[1] - route->slot_m[0];
    if (k + 1 == route->n) return route->slot_m[k] - route->slot_m[k - 1];
    double before = route->slot_m[k] - route->slot_m[k - 1],
           after = route->slot_m[k + 1] - route->slot_m[k];
    return before > 0 && after > 0 ? 2 * before * after / (before + after) : 0;
}

double dpl_route_metres_at(const struct route *route, int slot_s, double t_s) {
    double slots = t_s / slot_s, last = (double)(route->n - 1);
    if (!(slots > 0)) return route->slot_m[0];
    if (slots >= last) return route->slot_m[route->n - 1];
    size_t k = (size_t)slots;
    double u = slots - (double)k, v = 1 - u, a = route->slot_m[k], b = route->slot_m[k + 1];
    return a * v * v * (1 + 2 * u) + b * u * u * (1 + 2 * v) + slope(route, k) * u * v * v -
           slope(route, k + 1) * u * u * v;
}
