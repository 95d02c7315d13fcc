/* Which ways of the map a traveller may use, in which direction and how fast: docs/ROADS.md has the
 * table. */
#ifndef DPL_ROADS_RULES_H
#define DPL_ROADS_RULES_H

#include "roads/pbf.h"

/* Directions in which a piece of road may be used, along and against the order of its nodes. */
enum { ROADS_ALONG = 1, ROADS_AGAINST = 2, ROADS_BOTH = 3 };

struct roads_use {
    uint8_t class;      /* number of the kind of highway */
    uint8_t directions; /* 0: not usable */
    double speed_mps;
};

/* How the traveller may use the way. */
struct roads_use dpl_roads_rule(const struct pbf_way *way, enum dpl_travel travel);
/* How many visits a metre of a class draws, against a metre of residential street. */
double dpl_roads_class_weight(uint8_t class);

#endif
