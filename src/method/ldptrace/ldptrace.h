/* LDPTrace (Du et al., PVLDB 16(8), 2023): what its fit and its synthesis have in common. All of it
 * is public, or made of released numbers.
 *
 * A trip is a path of king's moves on a coarse grid of side x side cells, without repeats. The
 * table `routes` has, of every cell, how many trips start there, how many make each of eight moves
 * from there (row by row from the south-west, staying left out), and how many end there:
 *
 *     [ starts (cells) | moves (cells, 8) | ends (cells) ]
 */
#ifndef DPL_METHOD_LDPTRACE_LDPTRACE_H
#define DPL_METHOD_LDPTRACE_LDPTRACE_H

#include "method/coarse.h"

enum {
    DPL_LDPTRACE_SIDE = 6, /* as in the published program */
    DPL_LDPTRACE_SIDE_MOST = 32,
    DPL_LDPTRACE_WAYS = 8
};

/* The cell that a move leads to; SIZE_MAX: out of the box. */
size_t dpl_ldptrace_to(size_t side, size_t cell, size_t way);
/* Which of the eight moves leads from a cell to one beside it. */
size_t dpl_ldptrace_way(size_t side, size_t from, size_t to);

/* ---- from noised tables to a model ---- */

/* The length that nine of ten trips do not exceed, 2 at least. counts (n) of lengths 1 ... n, made
 * non-negative. */
size_t dpl_ldptrace_longest(double *counts, size_t n);
/* Chances (n): what is negative is 0, the rest divided by its sum. False: nothing is left. */
bool dpl_ldptrace_chances(const double *noised, size_t n, float *chance);
/* Rows of eight moves and the end, (cells, 9), from the table `routes`; moves out of the box are
 * none. */
void dpl_ldptrace_moves(const double *routes, size_t side, float *moves);

/* ---- drawing ---- */

struct dpl_ldptrace_parts {
    size_t side, longest;
    const float *lengths; /* (longest) */
    const float *starts;  /* (cells) */
    const float *moves;   /* (cells, 9) */
};
/* A trip of 2 to max(2, longest) visits in cells. Returns their number. */
size_t dpl_ldptrace_draw(const struct dpl_ldptrace_parts *parts, struct dpl_stream *stream,
                         int32_t *cell);

#endif
