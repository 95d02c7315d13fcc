/* A coarse grid over the public box, side x side cells numbered row by row from the south-west, and
 * king's moves on it: what AdaTrace and LDPTrace see of a trip. Public. */
#ifndef DPL_METHOD_COARSE_H
#define DPL_METHOD_COARSE_H

#include "sample/generator.h"

/* Level-1 cell of a point of the box, and its sub-cell when that cell is split so (split 1: 0). */
size_t dpl_coarse_at(const struct dpl_area *area, size_t side, double lat_deg, double lon_deg);
size_t dpl_coarse_sub_at(const struct dpl_area *area, size_t side, size_t split, double lat_deg,
                         double lon_deg);
/* The rectangle of a sub-cell. */
struct dpl_place dpl_coarse_place(const struct dpl_area *area, size_t side, size_t cell,
                                  size_t split, size_t sub);

size_t dpl_king_distance(size_t side, size_t a, size_t b);
/* One move from a towards b; a itself when they are the same. */
size_t dpl_king_move(size_t side, size_t a, size_t b);
/* A trip in cells: repeats dropped, one cell alone doubled, king moves put in
 * between cells that do not touch. `path` has room for max(2, n * side). Returns its length; 0 for
 * n = 0. */
size_t dpl_king_path(size_t side, const int32_t *cell, size_t n, int32_t *path);

#endif
