/* Trips on the roads of a public map: a route through the cells of a trip (roads/route.h), and
 * positions along it that move as the model's trips do.
 *
 *     dpl_on_roads_new(run, roads, cell, n_places, motion, reach_m, &on)      once, ...
 *     dpl_on_roads_calibrate(run, on, generator, ...)                         ... with this
 *     dpl_on_roads_scratch(run, on, &scratch)                                 for each thread
 *     dpl_on_roads_trip(scratch, key, cell, n, &route, &found)                for each trip
 *
 * Where one is along a route is drawn by ratios of speeds and turns (roads/times.c). With all of
 * them 1 both would be what windows and routes make of them. What is wanted is what the same trips
 * do when they are placed without roads, by the model's own motions: so some trips are drawn both
 * ways, and each ratio is multiplied by wanted over counted, round after round, along the same
 * routes.
 *
 * PRIVACY: sees the released model, the seed and a public map: post-processing.
 */
#ifndef DPL_SAMPLE_ON_ROADS_H
#define DPL_SAMPLE_ON_ROADS_H

#include "roads/route.h"
#include "sample/place.h"

struct dpl_on_roads;

/* cell, side (n_places): the squares of the grid that stays are in, as a model has them; side NULL:
 * each is one cell; both NULL: places are no squares of the grid. The
 * motion is that of positions without roads; reach_m as of dpl_placer_new. All is borrowed. Caller
 * frees with dpl_on_roads_free. */
enum dpl_status dpl_on_roads_new(struct dpl_run *run, const struct dpl_roads *roads,
                                 const int32_t *cell, const int32_t *side, size_t n_places,
                                 const struct dpl_motion *motion, double reach_m,
                                 struct dpl_on_roads **on);
void dpl_on_roads_free(struct dpl_on_roads *on);
/* With trips of at most length_max visits that the generator draws, and that are written with a
 * receiver's error. The same for any number of threads. */
enum dpl_status dpl_on_roads_calibrate(struct dpl_run *run, struct dpl_on_roads *on,
                                       struct dpl_generator *generator, size_t length_max,
                                       const struct dpl_placer *placer, double gps_error_m);
/* Whether a route may leave out the cell of a slot: not on a map that is so sparse that too many
 * would be missed. For tests. */
bool dpl_on_roads_leaves_out(const struct dpl_on_roads *on);
/* Room for one thread; freed with dpl_route_scratch_free. */
enum dpl_status dpl_on_roads_scratch(struct dpl_run *run, const struct dpl_on_roads *on,
                                     struct route_scratch **scratch);
/* cell (n) of each visit: its place's, or where places are not cells, that of its position; of a
 * wide square one with a road, if there is one. */
void dpl_on_roads_cells(const struct dpl_on_roads *on, const uint16_t *place,
                        const struct dpl_position *position, size_t n, int32_t *cell);
/* A route for visits in those cells (n), borrowed from the scratch until its next trip. *found is
 * false when no route has every visit within a cell of its own and no step beyond the reach. */
enum dpl_status dpl_on_roads_trip(struct route_scratch *scratch, uint64_t key, const int32_t *cell,
                                  const struct dpl_position *guide, size_t n, struct route *route,
                                  bool *found);

/* Metres along the route (n_pieces) at even times from visit v to the next, without that one: as
 * smooth as the reach allows, in which no piece may be longer than its share of reach_m. */
void dpl_on_roads_between(const struct route *route, size_t v, size_t n_pieces, double reach_m,
                          double *along_m);

#endif
