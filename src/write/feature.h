/* A trip as one GeoJSON Feature: a LineString of [longitude, latitude, 0, unix seconds], which is
 * what kepler.gl animates; others read the first two. Without times the positions have two numbers.
 * For the layouts that are made of Features. */
#ifndef DPL_WRITE_FEATURE_H
#define DPL_WRITE_FEATURE_H

#include "write/writer.h"

/* `before`, the Feature, `after`. */
enum dpl_status dpl_put_feature(struct dpl_run *run, const struct dpl_visits *visits,
                                const char *before, const char *after, struct dpl_text *text);

#endif
