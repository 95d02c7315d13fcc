/* Points of scattered recordings brought together, through a temporary file when memory would not
 * do. */
#ifndef DPL_INGEST_SORTER_H
#define DPL_INGEST_SORTER_H

#include "ingest/ingest.h"

struct sorter;

/* `memory_bytes` bounds what it holds in memory (and so how long a sorted run is). */
enum dpl_status dpl_sorter_new(struct dpl_run *run, size_t memory_bytes, struct sorter **sorter);
/* What so many points need to stay in memory. */
size_t dpl_sorter_bytes(size_t n_points);
void dpl_sorter_free(struct sorter *sorter);
enum dpl_status dpl_sorter_add(struct sorter *sorter, uint32_t recording,
                               const struct point *point);
/* After the last add: groups come out in order of their number, points in order of time (equal
 * times in order of adding). *n is 0 at the end; *points is borrowed until the next call. */
enum dpl_status dpl_sorter_next(struct sorter *sorter, uint32_t *recording, struct point **points,
                                size_t *n);

#endif
