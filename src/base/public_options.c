/* See public_options.h. */
#include "base/public_options.h"

#include <stddef.h>
#include <string.h>

/* PRIVACY: choices made before the data was seen. Nothing here depends on the data. */
static const char *const PUBLIC_OPTIONS[] = {
    "region",     "bbox",      "cell",        "tz",          "slot",        "periods",
    "epsilon",    "delta",     "unit",        "trips-max",   "method",      "mechanism",
    "size",       "shares",    "coverage",    "kl-weight",   "seed",        "trips",
    "dates",      "points",    "mh-steps",    "format",      "columns",     "separator",
    "times",      "max-speed", "date-column", "time-format", "coordinates", "max-gap",
    "drop",       "time-unit", "trip-column", "user-column", "time-column", "lat-column",
    "lon-column", "sglt-form", "keep"};

bool dpl_option_public(const char *name) {
    for (size_t i = 0; i < sizeof PUBLIC_OPTIONS / sizeof *PUBLIC_OPTIONS; i++)
        if (!strcmp(PUBLIC_OPTIONS[i], name)) return true;
    return false;
}
