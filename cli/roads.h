/* Options and words about a map of roads. */
#ifndef DPLOC_CLI_ROADS_H
#define DPLOC_CLI_ROADS_H

#include <jansson.h>

#include "data.h"

/* A map and how well the points of the inputs lie on it. */
struct on_roads {
    const char *path, *travel; /* --roads (NULL: not given), --travel */
    struct dpl_roads *roads;   /* caller frees with dpl_roads_free */
    struct dpl_roads_share share;
};

/* --travel */
enum dpl_status roads_travel(struct cli *cli, const char *name, enum dpl_travel *travel);
/* Reads the map for the area; caller frees with dpl_roads_free. */
enum dpl_status roads_read(struct cli *cli, const char *path, const char *travel,
                           const struct dpl_area *area, struct dpl_roads **roads);
/* Reads the map for the area, and the inputs' points against it. */
enum dpl_status on_roads_read(struct cli *cli, const struct data_options *data, bool has_area,
                              struct on_roads *on);
void on_roads_print(const struct on_roads *on);
/* Members for inspect's object; caller owns. */
json_t *on_roads_json(const struct on_roads *on);

#endif
