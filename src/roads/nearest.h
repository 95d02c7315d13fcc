/* The distance to the nearest road. */
#ifndef DPL_ROADS_NEAREST_H
#define DPL_ROADS_NEAREST_H

#include "roads/roads.h"

enum dpl_status dpl_nearest_make(struct dpl_run *run, struct dpl_roads *roads);

#endif
