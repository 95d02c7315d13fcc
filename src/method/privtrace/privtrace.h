/* PrivTrace (Wang et al., USENIX Security 2023): what its fit and its synthesis have in common. All
 * of it is public, or made of released numbers.
 *
 * States are blocks of cells of the public grid: level 1 cuts the grid into about side x side
 * blocks, level 2 cuts busy blocks further. A trip is a sequence of states without repeats. A chain
 * of first order is known everywhere, one of second order at busy states ("guideposts").
 *
 *     first:   [ starts (n) | state 0: to its neighbours, end | state 1: ... ]
 *     second:  of each guidepost (neighbours + 1) x (neighbours + 1): from where it was entered
 *              (the last: it is the first state) and where it was left to (the last: it is the end)
 *
 * Neighbours of a state are the states that can be reached within one slot at the speed limit, and
 * those that touch it. */
#ifndef DPL_METHOD_PRIVTRACE_PRIVTRACE_H
#define DPL_METHOD_PRIVTRACE_PRIVTRACE_H

#include "sample/generator.h"

enum {
    DPL_PRIVTRACE_SIDE_MOST = 60,    /* of level 1, as in the published program */
    DPL_PRIVTRACE_LONGEST = 100,     /* states of a trip */
    DPL_PRIVTRACE_LONGEST_NEAR = 200 /* of one that stays within two level-1 blocks */
};

/* ---- states ---- */

/* Rows and columns of the grid, the ends not included. */
struct dpl_privtrace_block {
    int32_t south, north, west, east;
    int32_t coarse; /* level-1 block */
};
struct dpl_privtrace_states {
    size_t n;
    struct dpl_privtrace_block *block; /* (n) */
    int32_t *state_of;                 /* (cells of the grid) */
    size_t *first;                     /* (n + 1) into `to` */
    int32_t *to;                       /* neighbours, rising, the state itself not among them */
};
/* Level-1 rows and columns of a grid for a given side. */
void dpl_privtrace_coarse(const struct dpl_grid *grid, size_t side, size_t *rows, size_t *columns);
/* Level-1 block of a cell. */
int32_t dpl_privtrace_coarse_at(const struct dpl_grid *grid, size_t side, int32_t cell);
/* split (level-1 blocks): parts along each side of a block, at most its cells. Caller frees with
 * dpl_privtrace_states_free, also after a failure. */
enum dpl_status dpl_privtrace_states_make(struct dpl_run *run, const struct dpl_grid *grid,
                                          size_t side, const int32_t *split,
                                          struct dpl_privtrace_states *states);
void dpl_privtrace_states_free(struct dpl_privtrace_states *states);
static inline size_t dpl_privtrace_neighbours(const struct dpl_privtrace_states *states,
                                              size_t state) {
    return states->first[state + 1] - states->first[state];
}
/* Which of its neighbours `to` is; SIZE_MAX: none. */
size_t dpl_privtrace_slot(const struct dpl_privtrace_states *states, size_t from, size_t to);
/* Where the row of a state begins in the table `first`: its neighbours, then the end. */
static inline size_t dpl_privtrace_row(const struct dpl_privtrace_states *states, size_t state) {
    return states->n + states->first[state] + state;
}
static inline size_t dpl_privtrace_first_size(const struct dpl_privtrace_states *states) {
    return dpl_privtrace_row(states, states->n);
}
/* Where each guidepost's rows begin in the table `second`: at (n + 1); equal to the next where the
 * state is none. guide (n): whether it is one. */
void dpl_privtrace_second_layout(const struct dpl_privtrace_states *states, const int32_t *guide,
                                 size_t *at);
/* Numbers of states on a shortest way from `from` to all others over states that share a border,
 * both ends counted; 0: there is none. queue (n) is scratch. */
void dpl_privtrace_distances(const struct dpl_privtrace_states *states, size_t from,
                             int32_t *distance, int32_t *queue);

/* ---- from noised tables to a model ---- */

/* Level-1 blocks along a side for that many points. */
size_t dpl_privtrace_side(double points);
/* Level 2: blocks with more than a twentieth of the mean are cut into ceil(sqrt(d / 200)) parts.
 * density (blocks) noised trips, changed; split (blocks). */
void dpl_privtrace_split(double *density, size_t blocks, double trips, int32_t *split);
/* Takes the sum of what is negative away from the smallest of what is positive. */
enum dpl_status dpl_privtrace_settle(struct dpl_run *run, double *row, size_t n);
/* Which states get a chain of second order: by the first-order table, settled, whose noise has that
 * deviation. No more than fit into `room` entries, the busiest first. Returns the entries. */
enum dpl_status dpl_privtrace_guideposts(struct dpl_run *run,
                                         const struct dpl_privtrace_states *states,
                                         const double *first, double deviation, size_t room,
                                         int32_t *guide, size_t *entries);

/* What a trip of so many states adds to an entry of a chain of the given order. */
typedef double dpl_privtrace_weight(bool shares, size_t states);
dpl_privtrace_weight dpl_privtrace_first_weight, dpl_privtrace_second_weight;

/* Trips by first and last state: x (rows, columns), not negative, that minimises
 * |row sums of w x - start|^2 + |column sums of w x - end|^2 with a sum of `trips`, by
 * multiplicative updates; w (rows, columns) above 0. */
struct dpl_privtrace_ends {
    size_t rows, columns;
    const double *start, *end;
    const float *w;
    double trips;
};
enum dpl_status dpl_privtrace_calibrate(struct dpl_run *run, const struct dpl_privtrace_ends *ends,
                                        float *x);
/* What the calibration starts from. */
struct dpl_privtrace_measured {
    const struct dpl_privtrace_states *states;
    const double *first; /* the settled first-order table */
    const double
        *support; /* the same table without noise, as published; NULL: all pairs are fine */
    bool shares;
    double trips;
};
/* starts (n) of trips, and the chances of a trip's predicted length by its first state, length (n,
 * longest + 1). */
enum dpl_status dpl_privtrace_ends(struct dpl_run *run,
                                   const struct dpl_privtrace_measured *measured, size_t longest,
                                   float *starts, float *length);
/* Chances of the chains: rows that sum to 1, or to 0. The tables are settled; `first` has the
 * weights of ends as measured. inflow (n): how often a state is entered, of the most often. */
void dpl_privtrace_chances(const struct dpl_privtrace_states *states, const double *first,
                           float *chance, float *inflow);
enum dpl_status dpl_privtrace_second_chances(struct dpl_run *run,
                                             const struct dpl_privtrace_states *states,
                                             const size_t *at, const double *first, double *second,
                                             float *chance);

/* ---- drawing ---- */

/* What is released; all chances. */
struct dpl_privtrace_parts {
    struct dpl_privtrace_states states;
    const size_t *second_at; /* (n + 1) */
    size_t longest;          /* predicted length at most */
    const float *starts, *first, *second, *inflow, *length;
};
struct dpl_privtrace_walker;
/* `parts` must outlive it. Free with dpl_privtrace_walker_free. */
enum dpl_status dpl_privtrace_walker_new(struct dpl_run *run,
                                         const struct dpl_privtrace_parts *parts,
                                         struct dpl_privtrace_walker **walker);
void dpl_privtrace_walker_free(struct dpl_privtrace_walker *walker);
/* A trip in states: state (DPL_PRIVTRACE_LONGEST_NEAR). Returns its length, 2 and more. */
size_t dpl_privtrace_draw(const struct dpl_privtrace_walker *walker, struct dpl_stream *stream,
                          int32_t *state);
/* Whether a trip goes to and fro so much that it is drawn again: more than eight states, of which
 * the fifth that is visited most holds more than 60 % of the visits. */
bool dpl_privtrace_lingers(const int32_t *state, size_t n);

#endif
