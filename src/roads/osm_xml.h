/* Nodes and ways of a plain .osm file (XML), in file order, one element in memory at a time. */
#ifndef DPL_ROADS_OSM_XML_H
#define DPL_ROADS_OSM_XML_H

#include "roads/pbf.h"

/* As dpl_pbf_read, for a file that begins with '<'. */
enum dpl_status dpl_osm_xml_read(struct blob_file *file, const struct pbf_sink *sink);

#endif
