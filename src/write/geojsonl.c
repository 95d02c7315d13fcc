/* GeoJSON lines: one Feature a trip and line. */
#include "write/feature.h"

static enum dpl_status trip(struct dpl_run *run, const struct dpl_visits *visits,
                            struct dpl_text *text) {
    return dpl_put_feature(run, visits, "", "\n", text);
}

const struct dpl_writer dpl_writer_geojsonl = {.name = "geojsonl",
                                               .extension = ".geojsonl",
                                               .media = "application/geo+json-seq",
                                               .renames = true,
                                               .trip = trip};
