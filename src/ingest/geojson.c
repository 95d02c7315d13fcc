/* GeoJSON: one FeatureCollection, which ingest/unfold.c turns into a line a Feature. */
#include "ingest/feature.h"

static bool named(const char *base) { return dpl_name_ends(base, ".geojson"); }

const struct format DPL_FORMAT_GEOJSON = {.name = "geojson",
                                          .about = "a GeoJSON FeatureCollection of such Features",
                                          .document = true,
                                          .named = named,
                                          .open = dpl_features_open,
                                          .parse = dpl_features_parse};
