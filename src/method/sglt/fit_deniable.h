/* The published form of SGLT, for comparison: every synthetic trip is made from one real trip, its
 * seed, and released if enough other trips could as well have been the seed.
 *
 * NOT PRIVATE: plausible deniability, not differential privacy. docs/BASELINES.md says what that is
 * worth: the test sees how long a trip stays in its places, never where they are. */
#ifndef DPL_METHOD_SGLT_FIT_DENIABLE_H
#define DPL_METHOD_SGLT_FIT_DENIABLE_H

#include "fit/count.h"
#include "method/sglt/sglt.h"

/* k: so many other trips must be as like the fake as its seed is. (The certificate says both.) */
enum { DPL_SGLT_ALIKE = 10 };
/* delta: "as like" is within this. */
#define DPL_SGLT_AS_LIKE 0.1

/* Shares of a trip's visits in the places that it visits, the largest first: share (n). Returns the
 * number of places. */
size_t dpl_sglt_shares(const int32_t *cell, size_t n, float *share);
/* How alike two trips are: the largest sum, over all ways to match the places of one with those of
 * the other, of the lesser share. The lesser of two is supermodular, so that matching in order of
 * size is best, and no assignment problem has to be solved. */
double dpl_sglt_likeness(const float *a, size_t n_a, const float *b, size_t n_b);

/* What fakes are decoded with; raw counts. */
struct dpl_sglt_decoder {
    const struct dpl_grid *grid;
    const int32_t *cluster; /* (cells) */
    const int32_t *member;  /* (cells) by cluster */
    const size_t *first;    /* (DPL_SGLT_CLUSTERS + 1) into `member` */
    int32_t reach;          /* filled in by dpl_sglt_decoder_logs: */
    float *log_move;        /* (cells, window) logarithms of chances */
    float *log_far;         /* by the square of the distance in cells, beyond the window */
};
/* The logarithms of the chances of moves (cells, window); of moves beyond the speed limit they are
 * low, and fall with the distance. Free with dpl_sglt_decoder_free. */
enum dpl_status dpl_sglt_decoder_logs(struct dpl_run *run, const float *moves,
                                      struct dpl_sglt_decoder *decoder);
void dpl_sglt_decoder_free(struct dpl_sglt_decoder *decoder);
enum { DPL_SGLT_SET = 32 }; /* places that a slot is decoded from, at most */
/* Room for one thread, for trips of up to n visits. */
struct dpl_sglt_sets {
    int32_t *place; /* (n, DPL_SGLT_SET) */
    uint8_t *count; /* (n) */
    uint8_t *back;  /* (n, DPL_SGLT_SET) */
};
/* A fake of the seed (n visits): other places of the same meaning, and of them the most likely
 * path. */
void dpl_sglt_fake(const struct dpl_sglt_decoder *decoder, const int32_t *seed, size_t n,
                   struct dpl_sglt_sets *sets, struct dpl_stream *stream, int32_t *fake);
/* As many fakes as there are trips, into the model. */
enum dpl_status dpl_sglt_fit_deniable(struct dpl_run *run, struct dpl_parts *parts,
                                      const struct dpl_secret *secret, struct dpl_model *model);

#endif
