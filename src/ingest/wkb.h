/* Points and lines in WKB, the binary form of geometries that GeoParquet has: where their
 * coordinates are. Little endian alone, as GeoParquet's writers write; of more coordinates than two
 * (Z, M) the first two are taken. */
#ifndef DPL_INGEST_WKB_H
#define DPL_INGEST_WKB_H

#include "base/base.h"

struct wkb {
    bool line;         /* a LineString, else a Point */
    uint32_t n;        /* positions */
    size_t step;       /* bytes from one to the next */
    const char *bytes; /* the first; borrowed */
};

/* False for any other geometry, and for bytes that do not hold what they promise. */
bool dpl_wkb_read(const char *bytes, size_t length, struct wkb *made);
/* Longitude and latitude of a position, or x and y. */
void dpl_wkb_position(const struct wkb *wkb, uint32_t i, double xy[2]);

#endif
