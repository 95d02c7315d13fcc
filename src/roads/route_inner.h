/* What route.c (search), path.c (line and windows) and times.c share: one thread's room. */
#ifndef DPL_ROADS_ROUTE_INNER_H
#define DPL_ROADS_ROUTE_INNER_H

#include "roads/route.h"

/* Reached: a node in a layer, and how. */
struct route_record {
    int32_t node, before; /* before: record number, -1: the first */
    int32_t arc;          /* that led here; of the first: the piece on which the trip begins */
    int32_t layer;
    float cost;
    uint8_t heading; /* of that arc's end */
    bool at_edge;    /* a road leads out of the corridor here */
};

struct route_mark {
    uint32_t stamp; /* of the layer in which `record` is the node's */
    int32_t record;
};

enum { ROUTE_LAYERS = 3 }; /* what a road can lead to: its own layer, the next, the one after */

/* What a search asks of a node, side by side: it is fetched from memory at once. */
struct route_node {
    float x_m, y_m;
    struct route_mark mark[ROUTE_LAYERS]; /* of layers by number modulo these */
};

struct route_heap_item {
    float cost, guess; /* when it was reached; that and about what it takes to get on from there */
    int32_t record;
};

/* Slots of one cell after another, and the stretch of the path that lies in the cell. */
struct route_run {
    int32_t cell;
    bool via;    /* the path passes a place near the guide */
    bool cut;    /* a straight line leads here: by road it is too far for the slots */
    bool missed; /* the path leaves its cell out, and passes beside it */
    bool late;   /* the path to the next one was too long: its corridor begins wider */
    size_t first_slot;
    double from_m, to_m;     /* the longest such stretch */
    double again_m, until_m; /* the latest one */
};

struct route_place { /* a point on a piece */
    int32_t piece;
    double along_m;
};

struct route_spot { /* a place of the path, from its beginning */
    float x_m, y_m;
};

struct route_line { /* from a slot's guide to the next one's */
    float x_m, y_m, dx_m, dy_m;
    float per_square; /* 1 / square of its length, 0: it has none */
};

enum { ROUTE_TASTES = 1024, ROUTE_SPEEDS = 256 };

struct route_scratch {
    struct dpl_run *run;
    const struct dpl_roads *roads;
    struct route_options options;
    float taste[ROUTE_TASTES]; /* factors on seconds, by quantile */
    float per_stray_m;         /* 1 / options.stray_m */
    float turn_s[256];         /* what a turn costs, by its angle in 256ths of a full one */
    /* motion, as ratios */
    int n_bins, slot_s;
    double limit_m;               /* a slot */
    double still_m;               /* less is no step: where the first bin of several ends */
    float *upper_m;               /* (n_bins) metres a slot; the last is open */
    float *first, *last;          /* (n_bins) */
    float *next, *next_from;      /* (n_bins, n_bins) by the step before, by the step after */
    float *ones;                  /* (n_bins) where there is no step */
    double speeds_per_m;          /* parts of `bin` */
    int n_turns, n_parts;         /* bins of turns, and what they are looked up by; 0: none */
    uint8_t *turn_row, *turn_bin; /* (n_bins), (n_parts + 1) */
    float *turn;                  /* (rows + 1, n_turns) the last row is of steps without turns */
    uint8_t bin[ROUTE_SPEEDS];    /* bin at the lower end of each of equal ranges up to the limit */
    /* the trip */
    const struct dpl_position *guide; /* (slots) NULL: none */
    struct route_line *line;          /* (slots) of the guide */
    size_t n_slots, line_capacity;
    uint64_t key, drawn; /* drawn: random numbers so far */
    bool may_miss;       /* cells of single slots may be left out */
    struct route_run *run_of;
    size_t n_runs, run_capacity;
    /* search */
    struct route_node *node; /* (nodes) NULL: no trip yet */
    uint32_t *allowed;       /* (cells) stamp of the layer */
    uint32_t stamp;
    struct route_record *record;
    size_t n_records, record_capacity;
    struct route_heap_item *heap;
    size_t n_heap, heap_capacity;
    /* path */
    double *x_m, *y_m, *at_m;
    size_t n_points, x_capacity, y_capacity, at_capacity;
    int32_t *arc, *chain; /* chain: records of the path, last first */
    size_t n_arcs, arc_capacity, chain_capacity;
    double straight_m;
    /* times */
    double *slot_m, *low_m, *high_m, *widen_m; /* widen_m: how far a window is widened */
    double *near_m;                            /* where the path is nearest to the guide */
    bool *held;                                /* it stands still since the slot before */
    double *start_m;                           /* where the sweeps began */
    double times_limit_m;                      /* what they kept to ... */
    uint64_t times_drawn;                      /* ... and the random numbers before them */
    struct route_spot *spot;                   /* where slot_m are */
    struct route_spot *own_trace;
    const struct route_spot *trace; /* (n_trace) points of the path at even steps; borrowed */
    double trace_per_m;
    size_t n_trace, trace_capacity, slot_capacity, low_capacity, high_capacity, widen_capacity,
        near_capacity, start_capacity, spot_capacity, held_capacity;
};

static const uint64_t ROUTE_ODD = 0x9E3779B97F4A7C15u;

/* 64 random bits, the next of this trip. */
static inline uint64_t dpl_route_number(struct route_scratch *s) {
    return dpl_mix64(s->key + ++s->drawn * ROUTE_ODD);
}

/* A number in [0, 1), the next of this trip. */
static inline double dpl_route_uniform(struct route_scratch *s) {
    return (double)(dpl_route_number(s) >> 11) * 0x1p-53;
}

/* ---- path.c ---- */

void dpl_path_begin(struct route_scratch *s);
/* A straight line from the end of the path (if it has begun) to a point of `run`. */
enum dpl_status dpl_path_straight(struct route_scratch *s, size_t run, double x_m, double y_m);
/* The part of an arc between two places along it, for `run`. */
enum dpl_status dpl_path_arc(struct route_scratch *s, size_t run, int32_t arc, double from_m,
                             double to_m);

/* Whether a cell is that of a run or next to it. */
bool dpl_path_beside(const struct route_scratch *s, size_t run, int32_t cell);
/* Where a place is. */
void dpl_path_place(const struct dpl_roads *roads, const struct route_place *place, double *x_m,
                    double *y_m);

/* ---- times.c ---- */

enum dpl_status dpl_times_room(struct route_scratch *s, size_t n);
/* Finds positions that keep windows and limit, with the least widening of windows up to `most_m`
 * (*widened_m; 0: none). False when there are none; otherwise slot_m has some. */
bool dpl_times_start(struct route_scratch *s, size_t n, double limit_m, double most_m,
                     double *widened_m);
/* After a failure: the run of the first slot that cannot be reached in time. */
size_t dpl_times_conflict(struct route_scratch *s, size_t n, double limit_m, double widen_m);
/* Notes where the path is near the guide; windows as dpl_times_start left them. */
void dpl_times_follow(struct route_scratch *s, size_t n);
/* Fills `trace`, which dpl_times_draw needs. */
enum dpl_status dpl_times_trace(struct route_scratch *s);
/* Draws positions by the motion tables; windows and limit as dpl_times_start left them. */
void dpl_times_draw(struct route_scratch *s, size_t n, double limit_m);

#endif
