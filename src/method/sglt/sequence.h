/* Keys that keep the whole sequence of meanings: part of the day, the clusters that a trip goes
 * through (a run in one cluster counts once), and its length bin, in one number; and trips drawn by
 * them. */
#ifndef DPL_METHOD_SGLT_SEQUENCE_H
#define DPL_METHOD_SGLT_SEQUENCE_H

#include "method/sglt/sglt.h"

enum { DPL_SGLT_RUNS = 11 }; /* clusters of a key, at most */

struct dpl_sglt_sequence {
    int32_t part, length_bin, runs;
    int32_t cluster[DPL_SGLT_RUNS];
};
enum { DPL_SGLT_ROW = sizeof(struct dpl_sglt_sequence) / sizeof(int32_t) }; /* as a tensor's row */

/* The sequence of a trip's cells (n) as a number; false: it has too many runs to be kept. */
bool dpl_sglt_sequence_key(size_t part, const int32_t *cell, size_t n, const int32_t *cluster,
                           uint64_t *key);
struct dpl_sglt_sequence dpl_sglt_sequence_of(uint64_t key);

/* Chances that a walk goes through what is left of a sequence, for all sequences of a model. */
struct dpl_sglt_ahead;
/* `parts` must outlive it. Free with dpl_sglt_ahead_free. */
enum dpl_status dpl_sglt_ahead_new(struct dpl_run *run, const struct dpl_sglt_parts *parts,
                                   struct dpl_sglt_ahead **ahead);
void dpl_sglt_ahead_free(struct dpl_sglt_ahead *ahead);
/* The chance that a walk which is at the cell, in run `run` of sequence s, is in its last run after
 * exactly so many steps, having gone through all in between. */
double dpl_sglt_finishes(const struct dpl_sglt_ahead *ahead, size_t s, size_t run, size_t steps,
                         int32_t cell);
/* A trip in cells, 2 to length_max. Returns its length. */
size_t dpl_sglt_sequence_draw(const struct dpl_sglt_ahead *ahead, struct dpl_stream *stream,
                              int32_t *cell);

#endif
