/* Which options may stand in a certificate or a manifest. */
#ifndef DPL_BASE_PUBLIC_OPTIONS_H
#define DPL_BASE_PUBLIC_OPTIONS_H

#include <stdbool.h>

/* PRIVACY: a public choice, named as on the command line; nothing that depends on the data. */
bool dpl_option_public(const char *name);

/* Of maps of roads in OpenStreetMap's formats, in certificates and manifests. */
#define DPL_ROADS_LICENSE                                                                          \
    "roads from OpenStreetMap, (c) OpenStreetMap contributors, Open Database License (ODbL) 1.0"

#endif
