/* Hours in watches.
 *
 * What a place sees hour by hour drowns in noise where trips are few, and so do sums of hours that
 * were noised one by one. So the tables of places are counted by watch, a few hours in a row: the
 * fewer trips, the longer. In rich data a watch is an hour. Within a watch the map of an hour is
 * drawn straight between the maps of the two watches whose middles it lies between; how many trips
 * each hour has, the tables of zones by hour say.
 *
 *     map of hour h = (1 - t) map of watch a + t map of watch b,   a map: shares of places
 *
 * PRIVACY: tables alone. */
#include <math.h>
#include <string.h>

#include "method/bridge/bridge.h"

void dpl_watches_sum(const struct dpl_places *places, const double *hours, size_t n, double *out) {
    memset(out, 0, places->W * n * sizeof *out);
    for (size_t h = 0; h < places->H; h++)
        dpl_add_rows(hours + h * n, 1, n, 1, out + dpl_places_watch(places, h) * n);
}

/* to (K) += times the map of a watch. */
static void add_map(const double *watch, size_t K, double times, double *to) {
    double sum = 0;
    dpl_add_columns(watch, 1, K, &sum);
    dpl_add_rows(watch, 1, K, times / fmax(sum, 1e-9), to);
}

/* room (2 W) */
void dpl_watches_spread(const struct dpl_places *places, const double *watches, const double *hours,
                        double *room, double *out) {
    size_t K = places->K, H = places->H, W = places->W;
    double *trips = room, *total = room + W;
    dpl_watches_sum(places, hours, 1, trips);
    memset(total, 0, W * sizeof *total);
    dpl_add_columns(watches, W, K, total);
    memset(out, 0, H * K * sizeof *out);
    for (size_t h = 0; h < H; h++) {
        double at = ((double)h + 0.5) * (double)W / (double)H - 0.5 + (double)W, t = at - floor(at);
        size_t a = (size_t)at % W, b = (a + 1) % W, w = dpl_places_watch(places, h);
        double volume = total[w] * hours[h] / trips[w];
        add_map(watches + a * K, K, volume * (1 - t), out + h * K);
        if (t > 0) add_map(watches + b * K, K, volume * t, out + h * K);
    }
}
