/* A stable sort by time. Most recordings are in order already or turned around; the rest goes
 * through a bottom-up merge sort. */
#include "ingest/order.h"

#include <string.h>

bool dpl_points_in_order(const struct point *points, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (points[i].utc_s < points[i - 1].utc_s) return false;
    return true;
}

static bool newest_first(const struct point *points, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (points[i].utc_s >= points[i - 1].utc_s) return false;
    return true;
}

static void turn_around(struct point *points, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        struct point swap = points[i];
        points[i] = points[n - 1 - i];
        points[n - 1 - i] = swap;
    }
}

/* Merges the sorted [0, middle) and [middle, n) of `from` into `to`. */
static void merge(const struct point *from, size_t middle, size_t n, struct point *to) {
    size_t a = 0, b = middle;
    for (size_t i = 0; i < n; i++) {
        bool left = a < middle && (b == n || from[a].utc_s <= from[b].utc_s); // <=: stable
        to[i] = from[left ? a++ : b++];
    }
}

enum dpl_status dpl_order_points(struct dpl_run *run, struct point *points, size_t n) {
    if (dpl_points_in_order(points, n)) return DPL_OK;
    if (newest_first(points, n)) {
        turn_around(points, n);
        return DPL_OK;
    }
    struct point *other = dpl_alloc(run, n, sizeof *other);
    if (!other) return DPL_SYSTEM;
    struct point *from = points, *to = other;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            size_t left = n - i, size = 2 * width < left ? 2 * width : left;
            merge(from + i, width < left ? width : left, size, to + i);
        }
        struct point *swap = from;
        from = to, to = swap;
    }
    if (from != points) memcpy(points, from, n * sizeof *points);
    dpl_free(other);
    return DPL_OK;
}
