/* A GeoJSON Feature on a line, for the formats that are made of them. */
#ifndef DPL_INGEST_FEATURE_H
#define DPL_INGEST_FEATURE_H

#include "ingest/format.h"

enum dpl_status dpl_features_open(const struct opening *opening, struct layout *layout);
enum dpl_status dpl_features_parse(struct block *block);
/* The line without the separator that RFC 8142 puts in front of it. */
struct field dpl_feature_text(struct field line);

#endif
