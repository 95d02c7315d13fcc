/* GeoJSON: one FeatureCollection, a Feature a trip, each on a line of its own. */
#include "write/feature.h"

static enum dpl_status begin(struct dpl_run *run, const struct dpl_sheet *sheet,
                             struct dpl_text *text) {
    static const char OPENING[] = "{\"type\":\"FeatureCollection\",\"features\":[\n";
    char *to;
    (void)sheet;
    DPL_TRY(dpl_text_room(run, text, sizeof OPENING, &to));
    dpl_text_end(text, PUT(to, OPENING));
    return DPL_OK;
}

static enum dpl_status trip(struct dpl_run *run, const struct dpl_visits *visits,
                            struct dpl_text *text) {
    return dpl_put_feature(run, visits, visits->tid > 1 ? ",\n" : "", "", text); // 1 is the first
}

const struct dpl_writer dpl_writer_geojson = {.name = "geojson",
                                              .extension = ".geojson",
                                              .media = "application/geo+json",
                                              .renames = true,
                                              .begin = begin,
                                              .end = "\n]}\n",
                                              .trip = trip};
