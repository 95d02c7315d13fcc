/* Geometry of one trip on the plane of the grid. */
#include "evaluate/track.h"

#include <math.h>

struct dpl_track dpl_track_of(const struct dpl_cleaned *trips, size_t trip) {
    size_t first = trips->start[trip];
    return (struct dpl_track){trips->position + first, trips->start[trip + 1] - first};
}

struct dpl_track dpl_track_later(const struct dpl_cleaned *trips, size_t trip) {
    size_t first = trips->start[trip], n = trips->start[trip + 1] - first;
    while (n && isnan(trips->later[first + n - 1].x_m)) n--;
    return (struct dpl_track){trips->later + first, n};
}

double dpl_track_distance_m(struct dpl_position a, struct dpl_position b) {
    double dx = (double)b.x_m - (double)a.x_m, dy = (double)b.y_m - (double)a.y_m;
    return sqrt(dx * dx + dy * dy);
}

double dpl_track_step_m(const struct dpl_track *track, size_t i) {
    return dpl_track_distance_m(track->at[i], track->at[i + 1]);
}

double dpl_track_path_m(const struct dpl_track *track) {
    double path_m = 0;
    for (size_t i = 0; i + 1 < track->n; i++) path_m += dpl_track_step_m(track, i);
    return path_m;
}

double dpl_track_straight_m(const struct dpl_track *track) {
    return dpl_track_distance_m(track->at[0], track->at[track->n - 1]);
}

double dpl_track_gyration_m(const struct dpl_track *track) {
    double x = 0, y = 0, squares = 0, n = (double)track->n;
    for (size_t i = 0; i < track->n; i++)
        x += (double)track->at[i].x_m / n, y += (double)track->at[i].y_m / n;
    for (size_t i = 0; i < track->n; i++) {
        double dx = (double)track->at[i].x_m - x, dy = (double)track->at[i].y_m - y;
        squares += dx * dx + dy * dy;
    }
    return sqrt(squares / n);
}

double dpl_track_turn_deg(const struct dpl_track *track, size_t i) {
    const struct dpl_position *p = track->at + i;
    if (dpl_track_step_m(track, i - 1) <= DPL_MOVE_MIN_M ||
        dpl_track_step_m(track, i) <= DPL_MOVE_MIN_M)
        return -1;
    double x1 = (double)p[0].x_m - (double)p[-1].x_m, y1 = (double)p[0].y_m - (double)p[-1].y_m,
           x2 = (double)p[1].x_m - (double)p[0].x_m, y2 = (double)p[1].y_m - (double)p[0].y_m;
    return fabs(atan2(x1 * y2 - y1 * x2, x1 * x2 + y1 * y2)) * (180 / acos(-1));
}

size_t dpl_track_stops(const struct dpl_track *track, double slot_s, double *stopped_s) {
    size_t stops = 0;
    for (size_t i = 0; i < track->n;) {
        size_t end = i + 1;
        while (end < track->n &&
               dpl_track_distance_m(track->at[i], track->at[end]) <= DPL_STOP_RADIUS_M)
            end++;
        double length_s = (double)(end - i - 1) * slot_s;
        if (length_s < DPL_STOP_MIN_S) {
            i++;
            continue;
        }
        stops++;
        *stopped_s += length_s;
        i = end;
    }
    return stops;
}
