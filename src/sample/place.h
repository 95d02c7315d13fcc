/* Where in its cells a trip is: positions drawn jointly, given the cells.
 *
 *     dpl_placer_new(run, grid, place, n_places, motion, reach_m, &placer)     once
 *     dpl_place_trip(placer, stream, cells, n, position)                       for each trip
 *
 * A trip's positions have a density in proportion to the product of the weights of its motions and
 * of the parts of cells they lie in (motion.h), over all positions inside the cells with no step
 * beyond the reach. A taut string through the cells is the first guess; sweeps of Gibbs sampling
 * follow, each of which leaves that density as it is.
 *
 * PRIVACY: sees the released model and the seed.
 */
#ifndef DPL_SAMPLE_PLACE_H
#define DPL_SAMPLE_PLACE_H

#include "sample/generator.h"

enum { DPL_PLACE_SWEEPS = 10 };

struct dpl_placer;
/* `place` (n_places) rectangles that stays are in, copied; what `motion` points at is borrowed;
 * reach_m: no step is longer, where the centres' is not. Caller frees with dpl_placer_free. */
enum dpl_status dpl_placer_new(struct dpl_run *run, const struct dpl_grid *grid,
                               const struct dpl_place *place, size_t n_places,
                               const struct dpl_motion *motion, double reach_m,
                               struct dpl_placer **placer);
/* To be called when weights of motions that the placer was made with have changed. */
void dpl_placer_weigh(struct dpl_placer *placer);
void dpl_placer_free(struct dpl_placer *placer);

/* position (n) of a trip whose visits are in those places (n), in metres east and north of the
 * box's corner. A function of the stream and the places alone; for any number of threads at once.
 */
void dpl_place_trip(const struct dpl_placer *placer, struct dpl_stream *stream,
                    const uint16_t *place, size_t n, struct dpl_position *position);
/* The same with that many sweeps: for tests. */
void dpl_place_sweeps(const struct dpl_placer *placer, struct dpl_stream *stream,
                      const uint16_t *place, size_t n, int sweeps, struct dpl_position *position);
/* The whole millionths of a degree nearest to a position: within the place, always. */
void dpl_place_round(const struct dpl_placer *placer, uint16_t place, struct dpl_position position,
                     int32_t *lat_udeg, int32_t *lng_udeg);

#endif
