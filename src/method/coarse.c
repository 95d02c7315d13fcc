/* Cells and king's moves. See coarse.h. */
#include <math.h>

#include "method/coarse.h"

/* Which of `parts` equal parts of low ... high. */
static size_t part_of(double value, double low, double high, size_t parts) {
    double at = floor((value - low) / (high - low) * (double)parts);
    return at > 0 ? (at < (double)parts ? (size_t)at : parts - 1) : 0;
}

/* PAPER: of the public box, not of the box that the data fills. */
size_t dpl_coarse_at(const struct dpl_area *area, size_t side, double lat_deg, double lon_deg) {
    return part_of(lat_deg, area->south_deg, area->north_deg, side) * side +
           part_of(lon_deg, area->west_deg, area->east_deg, side);
}

size_t dpl_coarse_sub_at(const struct dpl_area *area, size_t side, size_t split, double lat_deg,
                         double lon_deg) {
    size_t row = part_of(lat_deg, area->south_deg, area->north_deg, side * split),
           column = part_of(lon_deg, area->west_deg, area->east_deg, side * split);
    return row % split * split + column % split;
}

/* Part i of n of low ... high in whole millionths, both ends within. */
static void cut(double low, double high, size_t n, size_t i, int32_t *from, int32_t *to) {
    double step = (high - low) / (double)n * 1e6, begin = ceil(low * 1e6 + step * (double)i),
           end = ceil(low * 1e6 + step * (double)(i + 1)) - 1;
    double least = ceil(low * 1e6), most = floor(high * 1e6);
    *from = (int32_t)fmin(fmax(begin, least), most);
    *to = (int32_t)fmin(fmax(end, *from), most);
}

struct dpl_place dpl_coarse_place(const struct dpl_area *area, size_t side, size_t cell,
                                  size_t split, size_t sub) {
    struct dpl_place place;
    cut(area->south_deg, area->north_deg, side * split, cell / side * split + sub / split,
        &place.south, &place.north);
    cut(area->west_deg, area->east_deg, side * split, cell % side * split + sub % split,
        &place.west, &place.east);
    place.lat = place.south + (place.north - place.south) / 2;
    place.lng = place.west + (place.east - place.west) / 2;
    return place;
}

static size_t gap(size_t a, size_t b) { return a > b ? a - b : b - a; }

size_t dpl_king_distance(size_t side, size_t a, size_t b) {
    size_t rows = gap(a / side, b / side), columns = gap(a % side, b % side);
    return rows > columns ? rows : columns;
}

static size_t nearer(size_t a, size_t b) { return a < b ? a + 1 : a > b ? a - 1 : a; }

size_t dpl_king_move(size_t side, size_t a, size_t b) {
    return nearer(a / side, b / side) * side + nearer(a % side, b % side);
}

size_t dpl_king_path(size_t side, const int32_t *cell, size_t n, int32_t *path) {
    size_t length = 0;
    if (n == 0) return 0;
    path[length++] = cell[0];
    for (size_t i = 1; i < n; i++)
        while (path[length - 1] != cell[i]) {
            path[length] = (int32_t)dpl_king_move(side, (size_t)path[length - 1], (size_t)cell[i]);
            length++;
        }
    if (length == 1) path[length++] = cell[0];
    return length;
}
