/* What generators share: reading chances out of a model, drawing by them, and a round's trips by
 * several threads.
 *
 * PRIVACY: sees the released model and the seed. */
#ifndef DPL_SAMPLE_DRAWING_H
#define DPL_SAMPLE_DRAWING_H

#include "sample/generator.h"

/* ---- chances of a model ---- */

/* A tensor of numbers from 0 to 1; DPL_BAD_DATA with a message otherwise. Borrowed. */
enum dpl_status dpl_model_chances(struct dpl_run *run, const struct dpl_model *model,
                                  const char *name, int rank, const size_t *shape,
                                  const float **chance);
/* Rows that something is drawn from must hold something: DPL_BAD_DATA unless each sums to about 1.
 */
enum dpl_status dpl_model_check_rows(struct dpl_run *run, const char *name, const float *chance,
                                     size_t rows, size_t columns);
/* A whole number among the model's options, from `least` to `most`. */
enum dpl_status dpl_model_whole(struct dpl_run *run, const struct dpl_model *model,
                                const char *name, int64_t least, int64_t most, size_t *value);

/* A list of trips, start (n + 1) into cell (visits): DPL_BAD_DATA naming the tensor unless each has
 * from 2 to length_max visits, all in the model's cells. */
enum dpl_status dpl_model_check_trips(struct dpl_run *run, const struct dpl_model *model,
                                      const char *name, size_t n, const int32_t *start,
                                      size_t visits, const int32_t *cell);

/* ---- drawing ---- */

/* sums (n): running sums of chance (n). */
void dpl_sum_up(const float *chance, size_t n, double *sums);
/* The first whose running sum exceeds a uniform draw; the last that has a chance where rounding
 * left none. */
size_t dpl_draw_from(const double *sums, size_t n, struct dpl_stream *stream);

/* Visits in the model's cells (n) as stays: stay has room for n. Returns their number. */
size_t dpl_stays_of(const int32_t *cell, size_t n, struct dpl_stay *stay);

/* One cipher a thread. */
struct dpl_drawers {
    int n;
    struct dpl_random **random; /* (n) */
};
/* As many as the run has threads. Free with dpl_drawers_close, also after a failure. */
enum dpl_status dpl_drawers_open(struct dpl_run *run, uint64_t seed, struct dpl_drawers *drawers);
void dpl_drawers_close(struct dpl_drawers *drawers);

/* Draws trip i of the round from its stream and puts it there. */
typedef enum dpl_status dpl_draw_one(struct dpl_run *run, struct dpl_generator *generator,
                                     struct dpl_round *round, int thread, size_t i,
                                     struct dpl_stream *stream);
/* All trips of the round, each from a stream of its own; stops early once the round is full. */
enum dpl_status dpl_drawers_fill(struct dpl_run *run, const struct dpl_drawers *drawers,
                                 struct dpl_generator *generator, dpl_draw_one *one,
                                 struct dpl_round *round);

#endif
