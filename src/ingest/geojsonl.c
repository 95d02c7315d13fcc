/* GeoJSON lines: one Feature a line. */
#include <string.h>

#include "ingest/feature.h"

static bool named(const char *base) {
    static const char *const ENDINGS[] = {".geojsonl", ".geojsons", ".geojson.l", ".ndjson",
                                          ".jsonl"};
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++)
        if (dpl_name_ends(base, ENDINGS[i])) return true;
    return false;
}

static bool looks_like(struct field first, struct field second) {
    (void)second;
    first = dpl_feature_text(first);
    return first.length && *first.text == '{' && memmem(first.text, first.length, "\"Feature\"", 9);
}

const struct format DPL_FORMAT_GEOJSONL = {
    .name = "geojsonl",
    .about = "one GeoJSON Feature a line, a LineString of [longitude, latitude, altitude, time]",
    .named = named,
    .looks_like = looks_like,
    .open = dpl_features_open,
    .parse = dpl_features_parse};
