/* SGLT (after Bindschaedler and Shokri, S&P 2016): what its fit and its synthesis have in common.
 * All of it is public, or made of released numbers.
 *
 * The meaning of a trip is kept and its places are replaced by others of the same meaning: cells
 * are clustered by how long trips stay there and at what part of the day; of a trip the part, the
 * clusters of its first and last cell and its length are kept; a synthetic trip has those, and goes
 * from one to the other as trips do in general.
 *
 * Steps from a cell lead into a square window of cells around it, `side` x `side`, row by row from
 * the south-west; those beyond the speed limit, or out of the box, have no chance. */
#ifndef DPL_METHOD_SGLT_SGLT_H
#define DPL_METHOD_SGLT_SGLT_H

#include "sample/generator.h"

enum {
    DPL_SGLT_PARTS = 4,     /* of the day */
    DPL_SGLT_CLUSTERS = 20, /* at most */
    DPL_SGLT_SHARES = 16,   /* steps of the share of a trip's visits */
    DPL_SGLT_LENGTHS = 16,  /* bins of lengths */
    DPL_SGLT_REACH_MOST = 60,
    DPL_SGLT_WINDOW_MOST = (2 * DPL_SGLT_REACH_MOST + 1) * (2 * DPL_SGLT_REACH_MOST + 1),
    DPL_SGLT_KEYS = DPL_SGLT_PARTS * DPL_SGLT_CLUSTERS * DPL_SGLT_CLUSTERS * DPL_SGLT_LENGTHS
};

/* ---- places and keys ---- */

/* Cells that a slot's way may reach at the speed limit: the half side of the window. */
int32_t dpl_sglt_reach(const struct dpl_grid *grid);
/* The cell that place w of the window around a cell is; -1: out of the box, or too far. */
int32_t dpl_sglt_to(const struct dpl_grid *grid, int32_t cell, size_t w);
/* Which place of the window a step is; SIZE_MAX: none. */
size_t dpl_sglt_place(const struct dpl_grid *grid, int32_t from, int32_t to);
static inline size_t dpl_sglt_window(const struct dpl_grid *grid) {
    size_t side = 2 * (size_t)dpl_sglt_reach(grid) + 1;
    return side * side;
}
/* Part of the day of a period. */
size_t dpl_sglt_part(const struct dpl_area *area, size_t period);
size_t dpl_sglt_length_bin(size_t visits);
size_t dpl_sglt_key(size_t part, size_t source, size_t destination, size_t length_bin);

/* ---- from noised tables to a model ---- */

/* Clusters of cells (n) by their profiles: profile (parts, n, shares) noised numbers of trips whose
 * share of visits there is at least (q + 1) / shares. Cells without a signal join the cluster of
 * the nearest cell that has one. Returns the number of clusters, at least 1. */
enum dpl_status dpl_sglt_clusters(struct dpl_run *run, const struct dpl_grid *grid,
                                  const double *profile, double deviation, int32_t *cluster,
                                  size_t *n_clusters);
/* Half of the measured chances of moves and half of a pull that falls with the square of the
 * distance. moves, chance (cells, window). */
void dpl_sglt_moves(const struct dpl_grid *grid, const double *moves, float *chance);

/* ---- drawing ---- */

/* What is released; all chances. */
struct dpl_sglt_parts {
    const struct dpl_grid *grid;
    size_t clusters, length_max;
    const int32_t *cluster; /* (cells) */
    const float *moves;     /* (cells, window) */
    const float *starts;    /* (parts, cells) */
    const float *keys;      /* (DPL_SGLT_KEYS) */
    const float *lengths;   /* (length_max + 1) */
    /* Where whole sequences are kept, in place of the keys (sequence.h). */
    size_t n_sequences;
    const struct dpl_sglt_sequence *sequence; /* (n_sequences) */
    const float *sequence_chance;             /* (n_sequences) */
};
/* The cells of each cluster, one cluster after the other: member (cells), first (DPL_SGLT_CLUSTERS
 * + 1); place (cells): of a cell among those of its cluster, or NULL. */
void dpl_sglt_list_members(const int32_t *cluster, size_t cells, int32_t *member, int32_t *place,
                           size_t *first);
/* Where all places of all windows lead to: to (cells, window), -1: nowhere. */
void dpl_sglt_ways(const struct dpl_grid *grid, int32_t *to);
/* A length of the bin by the released lengths; the first of the bin where there are none. */
size_t dpl_sglt_draw_length(const struct dpl_sglt_parts *parts, size_t bin,
                            struct dpl_stream *stream);
struct dpl_sglt_walker;
/* `parts` must outlive it. Free with dpl_sglt_walker_free. */
enum dpl_status dpl_sglt_walker_new(struct dpl_run *run, const struct dpl_sglt_parts *parts,
                                    struct dpl_sglt_walker **walker);
void dpl_sglt_walker_free(struct dpl_sglt_walker *walker);
/* The chance that a walk from the cell is in the cluster after that many steps. */
double dpl_sglt_arrives(const struct dpl_sglt_walker *walker, size_t cluster, size_t steps,
                        int32_t cell);
/* A trip in cells, 2 to length_max. Returns its length. */
size_t dpl_sglt_draw(const struct dpl_sglt_walker *walker, struct dpl_stream *stream,
                     int32_t *cell);

#endif
