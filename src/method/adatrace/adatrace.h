/* AdaTrace (Gursoy et al. 2018): what its fit and its synthesis have in common. All of it is
 * public, or made of released numbers.
 *
 * Level 1 cuts the public box into side x side cells, row by row from the south-west; level 2 cuts
 * each of them into split x split sub-cells, numbered through all cells:
 *
 *     +-----+-----+
 *     |  2  |  3  |       side 2; cell 1 with a split of 2 has four sub-cells,
 *     +-----+--+--+       the others, with a split of 1, one each:
 *     |     |3 |4 |
 *     |  0  +--+--+       first: 0 1 5 6 7
 *     |     |1 |2 |
 *     +-----+--+--+
 *
 * Trips move as a king does at chess. */
#ifndef DPL_METHOD_ADATRACE_ADATRACE_H
#define DPL_METHOD_ADATRACE_ADATRACE_H

#include "method/coarse.h"

enum {
    DPL_ADATRACE_SIDE = 6,   /* of level 1, as in the published program */
    DPL_ADATRACE_SPLIT = 20, /* most sub-cells along a cell's side */
    DPL_ADATRACE_EXTRA = 20, /* most steps beyond the king's distance that are told apart */
    DPL_ADATRACE_SIDE_MOST = 32
};

/* ---- from noised tables to a model ---- */

/* What is released; all chances. */
struct dpl_adatrace_parts {
    const int32_t *split; /* (cells) */
    const float *subgrid; /* (sub-cells) within their cell */
    const float *markov;  /* (cells, cells) */
    const float *pairs;   /* (cells, cells) */
    const float *steps;   /* (side, DPL_ADATRACE_EXTRA + 1) */
};

/* Level-2 splits: ceil(5 d / (n epsilon)), from 1 to DPL_ADATRACE_SPLIT. Returns the number of
 * sub-cells. */
size_t dpl_adatrace_split(const double *grid, size_t cells, double units, double epsilon,
                          int32_t *split);
void dpl_adatrace_subgrid(const double *noised, const int32_t *split, size_t cells, float *subgrid);
void dpl_adatrace_markov(const double *noised, size_t side, float *markov);
/* False when no pair is left. */
bool dpl_adatrace_pairs(const double *noised, size_t side, float *pairs);

/* Which family the extra steps of one king's distance follow, by the earth mover's distance to the
 * noised histogram. */
enum dpl_adatrace_family { DPL_FAMILY_UNIFORM, DPL_FAMILY_GEOMETRIC, DPL_FAMILY_POISSON };
enum dpl_adatrace_family dpl_adatrace_steps(const double *noised, double reach, float *chance);

/* ---- drawing ---- */

struct dpl_adatrace_walker;
/* `parts` must outlive it. Free with dpl_adatrace_walker_free. */
enum dpl_status dpl_adatrace_walker_new(struct dpl_run *run, size_t side,
                                        const struct dpl_adatrace_parts *parts,
                                        struct dpl_adatrace_walker **walker);
void dpl_adatrace_walker_free(struct dpl_adatrace_walker *walker);
/* The chances of the next cells (9: king's moves row by row from the south-west, the middle one is
 * staying): cell i of a trip of n (0 < i < n) from `at` to `end`. False: they are too small, and a
 * king's move towards the end is due. */
bool dpl_adatrace_next(const struct dpl_adatrace_walker *walker, size_t at, size_t end, size_t i,
                       size_t n, double weight[9]);
/* A trip in sub-cells: at most DPL_ADATRACE_EXTRA + side. Returns its length. */
size_t dpl_adatrace_draw(const struct dpl_adatrace_walker *walker, struct dpl_stream *stream,
                         uint16_t *sub);

#endif
