/* Lines against the box that a map is cut to, and places against rows of squares. */
#ifndef DPL_ROADS_CLIP_H
#define DPL_ROADS_CLIP_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct clip_point {
    double x, y;
};

/* The part of p -> q inside 0 ... size, as parts of the way; false when there is none (Liang and
 * Barsky). */
static inline bool clip_line(struct clip_point p, struct clip_point q, struct clip_point size,
                             double *from, double *to) {
    const double step[4] = {p.x - q.x, q.x - p.x, p.y - q.y, q.y - p.y},
                 room[4] = {p.x, size.x - p.x, p.y, size.y - p.y};
    *from = 0, *to = 1;
    for (int edge = 0; edge < 4; edge++) {
        if (step[edge] < 0)
            *from = fmax(*from, room[edge] / step[edge]);
        else if (step[edge] > 0)
            *to = fmin(*to, room[edge] / step[edge]);
        else if (room[edge] < 0)
            return false;
    }
    return *from <= *to;
}

static inline struct clip_point clip_between(struct clip_point a, struct clip_point b,
                                             double part) {
    return (struct clip_point){a.x + part * (b.x - a.x), a.y + part * (b.y - a.y)};
}

/* The one of n squares in a row that holds a place, counted in squares. */
static inline int32_t clip_index(double place, int32_t n) {
    return place < 0 ? 0 : place >= n ? n - 1 : (int32_t)place;
}

#endif
