/* A trip's cells to a path on the road network, and to positions along it.
 *
 *     struct route_scratch *scratch;                   one per thread
 *     dpl_route_scratch_new(run, roads, &motion, &options, &scratch);
 *     struct route route;
 *     dpl_route_trip(scratch, key, cell, n, &route);       key: a number made of (seed, trip)
 *     for (size_t k = 0; k < n; k++) dpl_route_at(&route, route.slot_m[k], &x_m, &y_m);
 *     dpl_route_scratch_free(scratch);
 *
 * The same (roads, motion, options, key, cells) give the same bits, on any thread. Public numbers
 * only: this side of the wall never sees a real trip. */
#ifndef DPL_ROADS_ROUTE_H
#define DPL_ROADS_ROUTE_H

#include "roads/roads.h"

/* How turns between two steps are preferred: logarithms of ratios, by rows of speed. */
enum { ROUTE_NO_TURN = 255 };
struct route_turns {
    int n_rows, n_bins;
    const uint8_t *row; /* (bins of speed) by the slower step; ROUTE_NO_TURN: it stands still */
    const uint8_t *bin; /* (n_parts + 1) by half of 1 - cosine */
    int n_parts;
    const float *log_ratio; /* (n_rows, n_bins) */
};

/* How speeds along a path are preferred: logarithms of ratios (wanted over what comes out without
 * preference), by bins of speed. */
struct route_motion {
    int n_bins;
    const float *upper_mps; /* (n_bins) where a bin ends; the last is open */
    const float *log_first; /* (n_bins) of the first step */
    const float *log_last;  /* (n_bins) of the last one */
    const float *log_next;  /* (n_bins, n_bins) a step's speed, the next one's */
    double limit_mps;       /* no step is faster */
    int slot_s;
    const struct route_turns *turns; /* NULL: any turn is as good */
};

struct route_options {
    double tau;    /* how far streets differ in taste: deviation of the logarithm of seconds, 0.2 */
    double detour; /* seconds outside the trip's own cells count (1 + detour) times, 0.5 */
    double turn_s; /* what a turn by 90 degrees costs, 20; turning round costs four times as much */
    double stray_m; /* so far from the guide a second counts twice, twice as far thrice, 100 */
    double miss_s;  /* what it costs to leave out the cell of one slot, where a guide leads, 45 */
    int sweeps;     /* over the times of a trip, 5 */
    const float *piece_weight; /* (pieces) where trips begin and end; NULL: metres times class */
};

struct route_options dpl_route_defaults(void);

enum route_fit {
    ROUTE_WITHIN,    /* every visit in its cell */
    ROUTE_WIDENED,   /* some visits within a cell of their own, for the speed limit or a detour */
    ROUTE_FAR,       /* some visits further away */
    ROUTE_OVER_LIMIT /* the cells themselves are too far apart for their slots */
};

/* Borrowed from the scratch until its next trip. */
struct route {
    const double *x_m, *y_m, *at_m; /* (n_points) the path, and its length up to each point */
    size_t n_points;
    const double *slot_m; /* (n) how far along the path each slot is: 0 ... length, ascending */
    size_t n;
    const int32_t *arc; /* (n_arcs) roads of the path: 2 * piece + (1: against); -1: a straight
                           line where the map has no way */
    size_t n_arcs;
    double straight_m; /* metres of straight lines */
    enum route_fit fit;
};

struct route_scratch;
struct route_kept;

/* motion and what it points to are copied; roads and options->piece_weight must stay. */
enum dpl_status dpl_route_scratch_new(struct dpl_run *run, const struct dpl_roads *roads,
                                      const struct route_motion *motion,
                                      const struct route_options *options,
                                      struct route_scratch **scratch);
void dpl_route_scratch_free(struct route_scratch *scratch);
/* n >= 1 cells, one a slot; guide (n): about where the trip is in them, NULL: anywhere. Allocates
 * only at the first trip and when one is larger than all before. */
enum dpl_status dpl_route_trip(struct route_scratch *scratch, uint64_t key, const int32_t *cell,
                               const struct dpl_position *guide, size_t n, struct route *route);
/* A copy of the scratch's last trip, along which times can be drawn again: by the tables of any
 * scratch of these roads the same as dpl_route_trip would have drawn. Caller frees; routes along it
 * borrow from it. */
enum dpl_status dpl_route_keep(const struct route_scratch *scratch, const struct route *route,
                               struct route_kept **kept);
enum dpl_status dpl_route_again(struct route_scratch *scratch, const struct route_kept *kept,
                                struct route *route);
void dpl_route_kept_free(struct route_kept *kept);
/* The point `m` metres along the path. */
void dpl_route_at(const struct route *route, double m, double *x_m, double *y_m);
/* How far along the path the trip is t_s seconds after its first slot: through all slots, without
 * jumps of speed and never backwards (monotone cubic). */
double dpl_route_metres_at(const struct route *route, int slot_s, double t_s);

#endif
