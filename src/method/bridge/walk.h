/* The walk: a second-order Markov bridge.
 *
 * It starts at cell s with r = visits - 1 steps left and is at its destination d when r is 0:
 *
 *      s ──> x ──> x ──> y ──────────> ... ──> d
 *      r     r-1   r-2   r-3                   0
 *            │     │     └ moved, m: into a sector of x, slowly or fast; the heading is now m
 *            │     └ stayed: the direction is kept, the heading is now the slow one, q'
 *            └ heading q: the last move, one of 16, or none yet
 *
 *                3  2  1                               11 10  9
 *       slow     4  x  0     (0 is east)      fast     12  x  8
 *                5  6  7                               13 14 15
 *
 * From x with heading q and r steps left, the next cell is chosen in proportion to
 *
 *      y, by move m:  turn[q][m]    * speed(x, y) * weight(x, y) * potential[y] * B[r-1](y, m)
 *      x again:       turn[q][stay] * speed(0)    * stay[x]      * potential[x] * B[r-1](x, q')
 *
 * where speed is a factor by daypart and length of the step, and B[r](x, q), the sum of all of
 * these, is the total weight of the ways to d in r steps, and B[0] is 1 at d and 0 elsewhere. One
 * sweep backward per destination and daypart fills in B. A walk drawn by it is at d on its last
 * visit, always, and a sweep forward with the same numbers gives the exact expectation of every
 * visit, step and turn of all trips to d.
 *
 * A sweep leads to a target D, a group of neighbouring cells: B[0] is terminal[d] at each of them.
 * B is linear in B[0], so that it is the weighted sum of the sweeps to all d of D, exactly; in
 * which of them the walk ends is the walk's to say, and the terminal weights are calibrated so that
 * each gets its trips. With one cell in each target this is the sweep by destination.
 *
 * Eight targets are swept at once, one per lane: every inner loop is eight floats wide, and no sum
 * runs across lanes, so that the bits do not depend on the width of the machine's registers.
 *
 * Cost: walk.c.
 */
#ifndef DPL_METHOD_BRIDGE_WALK_H
#define DPL_METHOD_BRIDGE_WALK_H

#include "base/random.h"
#include "method/bridge/bridge.h"

enum { DPL_LANES = 8 };

struct dpl_walk {
    size_t K, P, n_edges, length_max;
    const int32_t *start;   /* (K * DPL_MOVES + 1) */
    const int32_t *to;      /* (n_edges) */
    const uint8_t *band;    /* (n_edges) how long each step is */
    const float *weight;    /* (n_edges) */
    const float *stay;      /* (K) */
    const float *turn;      /* (DPL_HEADINGS, DPL_NEXT) */
    const float *speed;     /* (P, DPL_MOTION_SPEEDS) */
    const float *potential; /* (P, K) */
    const struct dpl_targets *targets;
    const float *terminal; /* (P, K) what ending in a cell weighs among those of its target */
};

/* What a walk can do in a cell: the headings that it can have there, rising, so that none is the
 * last, and the moves out of it. */
enum { DPL_HEADINGS_ABREAST = 4 };
struct dpl_around {
    int32_t first; /* state: a cell's states are its headings, side by side */
    uint8_t n_headings, n_moves;
    uint8_t heading[DPL_HEADINGS + DPL_HEADINGS_ABREAST - 1]; /* the last again, to a multiple */
    uint8_t rested[DPL_HEADINGS + DPL_HEADINGS_ABREAST - 1];  /* which of them it is after a stay */
    uint8_t move[DPL_MOVES];
};

/* Trips from one source to the targets of all lanes. */
struct dpl_demand {
    float trips[DPL_LANES]; /* over the chance of their length, once swept forward */
    int32_t state;          /* where they begin */
    uint8_t bin;            /* of distance */
};

/* Room for the sweep to eight targets. For one thread at a time. */
struct dpl_sweep {
    const struct dpl_walk *walk;
    void *block; /* what the arrays below point into */
    struct dpl_reverse back;
    size_t n_states;           /* of all cells */
    struct dpl_around *around; /* (K) */
    int32_t *into;             /* (n_edges) the state that a step leads to */
    float *B;       /* (length_max, n_states, DPL_LANES), each B[r] scaled so that its largest value
                       is always the same */
    float *scale;   /* (length_max, DPL_LANES) */
    float *weight;  /* (n_edges) times the speed and the potential of the daypart */
    float *stay;    /* (K) likewise */
    uint16_t *hops; /* (K) fewest steps to any of the eight */
    int32_t *queue;
    float *A[2];               /* (n_states, DPL_LANES) trips, forward, over B */
    struct dpl_demand *demand; /* (n_demand), room for (K, DPL_DISTANCE_BINS) */
    float *longer; /* (DPL_DISTANCE_BINS, length_max + 1) the chance of each length or more */
    size_t n_demand, daypart;
    float least; /* trips in a state, forward: fewer are left out */
};
/* `walk` is borrowed. Caller frees with dpl_sweep_free. */
enum dpl_status dpl_sweep_new(struct dpl_run *run, const struct dpl_walk *walk, bool forward,
                              struct dpl_sweep **sweep);
void dpl_sweep_free(struct dpl_sweep *sweep);
/* To targets first ... first+7 (as many as there are) in that daypart. There is no demand yet. */
void dpl_sweep_backward(struct dpl_sweep *sweep, size_t daypart, size_t first);
/* Whether a walk of that many visits leads from s to the target in that lane. */
bool dpl_sweep_possible(const struct dpl_sweep *sweep, size_t lane, size_t s, size_t visits);
/* path (visits) of such a walk. */
void dpl_sweep_draw(const struct dpl_sweep *sweep, size_t lane, size_t s, size_t visits,
                    struct dpl_stream *stream, int32_t *path);

/* How often things happen, in expectation; eight lanes each, to be summed up. */
struct dpl_tally {
    float *visits;   /* (K, DPL_LANES) */
    float *arrivals; /* (K) those of them that are the last */
    float *steps;    /* (n_edges, DPL_LANES); NULL: neither these nor turns are counted */
    float *stays;    /* (DPL_LANES) steps that stay */
    float *turns;   /* (DPL_HEADINGS, DPL_NEXT, DPL_LANES) still to be multiplied by the walk's turn
                       weights, stays after fast moves alone; NULL: not counted */
    float *lengths; /* (length_max + 1, DPL_LANES) trips of each length, each counted as 1 */
};
/* After a sweep backward: so many trips from s to the target of each lane, at a distance in that
 * bin. Once at most for each s and bin. */
void dpl_sweep_demand(struct dpl_sweep *sweep, size_t s, size_t bin, const float trips[DPL_LANES]);
/* Adds what these trips do, once: lengths (DPL_DISTANCE_BINS, length_max + 1), the chance of each
 * number of visits by bin; counts (length_max + 1): what all that a trip of so many visits does
 * counts. */
void dpl_sweep_forward(struct dpl_sweep *sweep, const float *lengths, const float *counts,
                       struct dpl_tally *tally);

/* ---- estimate_motion.c ---- */

struct dpl_model;
/* Stores the weights of motions and of sixteenths of cells in the model, which is complete but for
 * them, and the paces of slow movers. */
enum dpl_status dpl_motion_fit(struct dpl_run *run, const struct dpl_places *places,
                               const struct dpl_bridge_tables *tables, bool slow,
                               struct dpl_model *model);

/* ---- calibrate.c ---- */

/* What the calibration adjusts; freed with dpl_calibrated_free. */
struct dpl_calibrated {
    void *block;                                                /* what the arrays point into */
    float *weight, *stay, *turn, *speed, *potential, *terminal; /* as in struct dpl_walk */
    struct dpl_targets targets;
};
/* Adjusts weights, turns and potentials until the walk's expected steps, turns and visits are those
 * of the tables: visits (K) pooled, hour_visits (H, K); and lengths (P, DPL_DISTANCE_BINS,
 * length_max + 1), whose pooled histogram shifts where a walk of the drawn length is not possible.
 * Rounds sweep to so many targets at most, with as many as cells exactly; those that come out, to
 * draw with, are at most `drawn`, and no fewer. Flows are tilted within their noise. */
enum dpl_status dpl_calibrate(struct dpl_run *run, const struct dpl_places *places,
                              const struct dpl_bridge_tables *tables, const double *hour_visits,
                              const double *visits, const struct dpl_edges *edges,
                              struct dpl_flows_made *made, size_t swept, size_t drawn,
                              float *lengths, struct dpl_calibrated *calibrated);
/* What the walk with these weights does in expectation, by one round of sweeps: visits (P, K) and
 * steps (edges->n), weighted as the tables are, and trips by length (length_max + 1). */
enum dpl_status dpl_walk_expect(struct dpl_run *run, const struct dpl_places *places,
                                const struct dpl_bridge_tables *tables,
                                const struct dpl_edges *edges, const struct dpl_flows *flows,
                                const float *lengths, const struct dpl_calibrated *weights,
                                double *visits, double *steps, double *by_length);
void dpl_calibrated_free(struct dpl_calibrated *calibrated);

#endif
