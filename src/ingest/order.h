/* Points in order of time. */
#ifndef DPL_INGEST_ORDER_H
#define DPL_INGEST_ORDER_H

#include "ingest/ingest.h"

/* Sorts by time; equal times keep their order (a strictly newest-first file is turned around).
 * Costs one pass when the points are in order already, in either direction. */
enum dpl_status dpl_order_points(struct dpl_run *run, struct point *points, size_t n);
bool dpl_points_in_order(const struct point *points, size_t n);

#endif
