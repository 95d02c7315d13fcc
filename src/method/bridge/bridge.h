/* The method `bridge`, public side: noised tables, what is estimated from them, and the walk.
 *
 *     tables (noised) -> places, visits, edges, flows, lengths -> calibrated walk -> model -> trips
 *
 * A trip is a start hour, a source, a destination and a number of visits, drawn from the flows and
 * the lengths; and a walk of exactly that many visits from source to destination: a second-order
 * Markov bridge, whose next step depends on the cell, the heading of the last move, the destination
 * and the visits left. See docs/METHOD.md, "Method `bridge`".
 *
 * PRIVACY: nothing in here or in the files that include this header alone sees data. A struct
 * dpl_table is filled from a noised vector in measure.c and nowhere else; all the rest is
 * post-processing of tables and public numbers.
 */
#ifndef DPL_METHOD_BRIDGE_BRIDGE_H
#define DPL_METHOD_BRIDGE_BRIDGE_H

#include "base/base.h"
#include "sample/motion.h"

/* A move goes into one of 8 sectors of the compass, slowly or fast: 16 moves, the fast ones last. A
 * heading is the last move, or 16: none yet. What comes next is a move, or 16: to stay. */
enum { DPL_SECTORS = 8, DPL_MOVES = 16, DPL_HEADINGS = 17, DPL_NO_HEADING = 16 };
enum { DPL_STAY = 16, DPL_NEXT = 17 };
/* What is left of a heading after a stay: the direction, not the speed. */
static inline size_t dpl_rested(size_t heading) {
    return heading >= DPL_SECTORS && heading < DPL_MOVES ? heading - DPL_SECTORS : heading;
}
enum { DPL_DISTANCE_BINS = 20 };
enum { DPL_BRIDGE_LENGTH_MOST = 240 }; // visits of the longest trip that is made
/* Areas from coarse to fine; the last are the cells. */
enum { DPL_LEVEL_ZONES = 2, DPL_LEVELS = 4 };

/* ---- tables ---- */

/* Noised counts, as the mechanism released them. */
struct dpl_table {
    size_t n;
    double *value; /* (n) */
    double sigma;  /* standard deviation of the noise on each */
};
void dpl_table_free(struct dpl_table *table);

/* ---- places.c: where cells are ---- */

/* How fine the method looks, by public numbers and the number of units. */
struct dpl_resolution {
    size_t dayparts;
    double zone_m;      /* side of a zone */
    size_t watches;     /* 0: as many as periods */
    double wealth;      /* 0: few trips times epsilon, 1: many; between them by its logarithm */
    double full_visits; /* up to which a trip counts in full where visits are counted */
};
/* `trips` as noised or declared. */
struct dpl_resolution dpl_resolution_for(const struct dpl_area *area, double trips, double epsilon);
/* How many visits count in full, of trips with that many on the average. */
double dpl_full_visits_for(double mean_visits);
/* Whether motions are told apart finely. */
bool dpl_fine_motion_for(double trips, double epsilon);

/* Places are squares of 1, 2, 4, ... cells of the grid. */
struct dpl_places {
    size_t K, Z;        /* places, zones */
    size_t H, P;        /* periods of the day: hours, say; and dayparts, some hours each */
    size_t W;           /* watches: hours that places are counted by, some together in thin data */
    double full_visits; /* for dpl_visit_weight */
    struct dpl_grid grid;
    int32_t *cell;             /* (K) of the grid: the south-western one */
    int32_t *side;             /* (K) in cells */
    double *x_m, *y_m;         /* (K) the centre of what is inside the grid */
    int32_t *zone;             /* (K) 0 ... Z-1; the same as area[DPL_LEVEL_ZONES] */
    int32_t *zone_first;       /* (Z) a cell in each */
    int32_t *area[DPL_LEVELS]; /* (K) the block of 4 x 4 zones, of 2 x 2 zones, the zone, the cell
                                  itself */
    size_t n_areas[DPL_LEVELS];
    double step_limit_m;   /* between centres, no step is longer: the public speed limit, so that
                              every walk can be placed */
    double bin_m;          /* width of a distance bin */
    uint8_t *distance_bin; /* (K, K) by source and destination */
    struct dpl_motion_bins bands; /* of the lengths of steps */
    size_t *near_start; /* (K * DPL_SECTORS + 1) cells within the step limit, by cell and sector */
    int32_t *near;      /* (near_start[K * DPL_SECTORS]) */
};
/* The squares of n south-western cells and their sides; NULL: each is one cell. Caller frees with
 * dpl_places_free. */
enum dpl_status dpl_places_new(struct dpl_run *run, const struct dpl_grid *grid,
                               const int32_t *cell, const int32_t *side, size_t n,
                               struct dpl_resolution resolution, struct dpl_places **places);
void dpl_places_free(struct dpl_places *places);
/* What the speed limit allows in a slot. */
static inline double dpl_area_reach_m(const struct dpl_area *area) {
    return area->speed_limit_kmh / 3.6 * area->slot_s;
}
static inline double dpl_places_reach_m(const struct dpl_places *places) {
    return dpl_area_reach_m(&places->grid.area);
}
/* The longest step between two centres. */
double dpl_step_limit_m(const struct dpl_area *area);
double dpl_places_distance_m(const struct dpl_places *places, size_t a, size_t b);
/* Whether that is at most limit_m, without its root. */
bool dpl_places_within(const struct dpl_places *places, size_t a, size_t b, double limit_m);
static inline size_t dpl_places_distance_bin(const struct dpl_places *places, size_t a, size_t b) {
    return places->distance_bin[a * places->K + b];
}
size_t dpl_places_daypart(const struct dpl_places *places, size_t period);
size_t dpl_places_watch(const struct dpl_places *places, size_t period);
/* The sector of the step from a to b, a != b. */
size_t dpl_places_sector(const struct dpl_places *places, size_t a, size_t b);
/* The move from a to b, a != b. (estimate_edges.c) */
size_t dpl_places_move(const struct dpl_places *places, size_t a, size_t b);
/* How long the step from a to b is, of DPL_MOTION_SPEEDS bands; 0: it stays. */
size_t dpl_places_band(const struct dpl_places *places, size_t a, size_t b);
/* Where the step from a to b stands in `near`; SIZE_MAX: beyond the limit. */
size_t dpl_places_step(const struct dpl_places *places, size_t a, size_t b);

/* Runs of two or more steps that stand still, in bins that widen. */
enum { DPL_STOP_BINS = 12 };
size_t dpl_stop_bin(size_t steps);
/* The fewest steps of a bin, and of the one after it. */
size_t dpl_stop_bin_first(size_t bin);

/* Lengths 2 ... length_max in groups that widen: singly below 12, then a sixth of themselves. */
size_t dpl_length_group(size_t visits);

/* ---- estimate.c: noisy counts with a prior ---- */

/* How far the truth is from the prior: its variance is spread * prior^power. */
struct dpl_prior_error {
    double power, spread;
};
/* By what the noisy counts (n) vary beyond their noise sigma * sqrt(summed[i]) (summed NULL: all
 * 1). Spread 0: nothing beyond noise is seen. */
struct dpl_prior_error dpl_prior_error_of(const double *noisy, const double *prior, size_t n,
                                          double sigma, const double *summed);
double dpl_prior_error_variance(struct dpl_prior_error error, double prior);
/* The mean of truth given both, in place of the prior; never below a twentieth of it. */
void dpl_shrink_all(const double *noisy, double *prior, size_t n, double sigma,
                    const double *summed);
/* A count that is not negative behind a noisy one: next to nothing where noise prevails, nearly all
 * of it where it does not. */
double dpl_beyond_noise(double noisy, double sigma);
/* Adds `times` each row of values (rows, columns) to sum (columns). */
void dpl_add_rows(const double *values, size_t rows, size_t columns, double times, double *sum);
/* Adds up each row of values (rows, columns): to sum (rows). */
void dpl_add_columns(const double *values, size_t rows, size_t columns, double *sum);
/* Twice the logarithm of the likelihood of the noisy counts, with the error that suits them best.
 */
double dpl_prior_likelihood(const double *noisy, const double *prior, size_t n, double sigma);
/* What brings a sum to a total; 0 where there is nothing, or as little of it as rounds of fitting
 * leave of what nothing speaks for: that cannot be divided by. */
double dpl_scale_of(double total, double sum);
/* Scales values (n) to that total, unless they are all zero. */
void dpl_scale_to(double *values, size_t n, double total);

/* ---- estimate_sparse.c ---- */

/* The same for counts of which many are zero, each with its own variance; above 0 where the prior
 * is. */
void dpl_shrink_sparse(const double *noisy, const double *variance, double *prior, size_t n);

/* ---- estimate_mixed.c ---- */

/* What a map knows of a square: a road in it, none in it, or nothing, as it lies beyond the box
 * around all roads of the map. */
enum dpl_map_kind { DPL_MAP_ROAD, DPL_MAP_ROADLESS, DPL_MAP_BEYOND, DPL_MAP_KINDS };
struct dpl_two_priors {
    const double *even, *map; /* (n) */
    const uint8_t *kind;      /* (n) enum dpl_map_kind */
};
/* The same with two priors, which are believed as far as the counts say; out (n). */
void dpl_shrink_mixed(const double *noisy, const double *variance,
                      const struct dpl_two_priors *priors, double *out, size_t n);

/* ---- estimate_squares.c: visits of cells, and places ---- */

/* Visits are counted by squares of 1, 4 and 16 cells' side. */
enum { DPL_SQUARE_LEVELS = 3, DPL_SQUARE_WIDEST = 16 };
static inline int32_t dpl_square_side(size_t level) { return (int32_t)1 << 2 * level; }
/* How many squares of that side cover the grid. */
size_t dpl_squares_count(const struct dpl_grid *grid, int32_t side);
/* Visits of every cell of the grid, from counted (DPL_SQUARE_LEVELS): above 0, unless there is no
 * noise. roads (cells of the grid): metres of road in each, weighted; NULL: no map. */
enum dpl_status dpl_squares_estimate(struct dpl_run *run, const struct dpl_grid *grid,
                                     const struct dpl_table *counted, const float *roads,
                                     double *visits);

/* Squares of the grid, side by side, and the cells that belong to each. */
struct dpl_squares {
    size_t n;
    int32_t *cell, *side; /* (n) the south-western cell, rising; in cells: 1, 2, 4 ... */
    int32_t *of;          /* (cells of the grid) which square each belongs to */
};
/* By the visits of cells and the noise of one's count; they tile the grid, and none is wider than
 * step_m. Caller frees with dpl_squares_free. */
enum dpl_status dpl_squares_choose(struct dpl_run *run, const struct dpl_grid *grid,
                                   const double *visits, double sigma, double step_m,
                                   struct dpl_squares *squares);
/* estimate_squares_drop.c: leaves out the emptiest where there are more than `most`; their cells
 * belong to the nearest square that is left. */
enum dpl_status dpl_squares_drop(struct dpl_run *run, const struct dpl_grid *grid,
                                 const double *visits, size_t most, struct dpl_squares *squares);
void dpl_squares_free(struct dpl_squares *squares);
/* The share of each square's visits in each of its sixteenths: within (n, DPL_FINE), zero before.
 */
void dpl_squares_within(const struct dpl_grid *grid, const struct dpl_squares *squares,
                        const double *visits, double *within);

/* ---- estimate_levels.c: from coarse to fine ---- */

/* A measured table by cells and its sums by zone, measured apart; one of them may be NULL. */
struct dpl_measured {
    size_t rows;
    const double *cells; /* (rows, K) */
    double cells_sigma;
    const double *zones; /* (rows, Z) */
    double zones_sigma;
};
/* values (rows, K): a prior before, the estimate after. */
enum dpl_status dpl_refine(struct dpl_run *run, const struct dpl_places *places,
                           const struct dpl_measured *measured, double *values);
/* Brings values (n_rows, n_columns) to both margins; room (n_columns). */
void dpl_rake(double *values, size_t n_rows, size_t n_columns, const double *rows,
              const double *columns, double *room);

/* ---- estimate_watches.c ---- */

/* Rows of hours (H, n), added up by watch: out (W, n). */
void dpl_watches_sum(const struct dpl_places *places, const double *hours, size_t n, double *out);
/* Places by watch (W, K) to places by hour, out (H, K); hours (H): trips of each, above 0; room
 * (2 * W). */
void dpl_watches_spread(const struct dpl_places *places, const double *watches, const double *hours,
                        double *room, double *out);

/* ---- what is estimated ---- */

/* What a visit or step of a trip of that many visits counts. Long trips count less, so that
 * clipping hardly ever bites: what it takes away no model can undo, but a weight by length the
 * walk's expectations can carry, too. */
double dpl_visit_weight(double full_visits, size_t visits);

/* One end of trips, at three resolutions. */
struct dpl_ends {
    struct dpl_table cells; /* (W, K) */
    struct dpl_table zones; /* (H, Z) */
    struct dpl_table day;   /* (K) all hours together */
};

/* All measurements, in the layouts that measure.c gives them. */
struct dpl_bridge_tables {
    struct dpl_table squares[DPL_SQUARE_LEVELS]; /* visits by squares of each level */
    struct dpl_table visits;       /* (K) of each place, estimated from those; sigma: of a cell */
    double *cell_visits;           /* (cells of the grid) likewise */
    int32_t *place;                /* (cells of the grid) the place that each belongs to */
    double *within;                /* (K, DPL_FINE) shares of each sixteenth, likewise */
    float *road_seconds;           /* (near) by a public map, 0: not known; NULL: no map */
    struct dpl_table watch_visits; /* (W, K) */
    struct dpl_ends sources, destinations;
    struct dpl_table pairs;     /* (K, K) source, destination */
    struct dpl_table zones;     /* (P, Z, Z) source's, destination's */
    struct dpl_table durations; /* (P, DPL_DISTANCE_BINS, groups) lengths by distance */
    struct dpl_table steps;     /* (near) */
    struct dpl_table turns;     /* (DPL_HEADINGS, DPL_NEXT) stays: after fast moves alone */
    struct dpl_table speeds;    /* (P, DPL_MOTION_SPEEDS) steps by how far apart the centres are */
    struct dpl_table motion;    /* as sample/motion.h numbers them */
    struct dpl_table stops;     /* (DPL_STOP_BINS) runs of steps that stand still */
    struct dpl_table fine;      /* (K, DPL_FINE) visits */
    struct dpl_table weekdays;  /* (DPL_WEEKDAYS, H) trips by weekday and period */
    double
        *lengths; /* (length_max + 1) trips of each length, spread from the bins of the histogram */
    double *lengths_share; /* (length_max + 1) the share of its bin, and of the noise on it */
    double lengths_sigma;  /* of a bin */
    double tail_trips,
        tail_power; /* trips longer than length_max, up to DPL_BRIDGE_LENGTH_MOST, and the power of
                       length by which those still longer get fewer */
    size_t length_max;
    bool fine_motion; /* which bins motions are in */
    double trips;     /* T */
    double worth; /* as many trips, each a unit of its own, would stand out of the noise as much */
};
void dpl_bridge_tables_free(struct dpl_bridge_tables *tables);

/* estimate_visits.c: visits of each cell, pooled (K) and by hour, out (H, K), weighted as measured.
 */
enum dpl_status dpl_visits_estimate(struct dpl_run *run, const struct dpl_places *places,
                                    const struct dpl_bridge_tables *tables, double *pooled,
                                    double *out);

/* estimate_flows.c: trips by hour, source and destination, as factors: pooled * zone * source *
 * destination. A view. */
struct dpl_flows {
    size_t K, Z, H, P;
    const int32_t *zone;             /* (K) borrowed */
    const float *pooled;             /* (K, K) */
    const float *zone_factor;        /* (P, Z, Z) */
    const float *source_factor;      /* (H, K) */
    const float *destination_factor; /* (H, K) */
};
/* The same with what it points at; free with dpl_flows_free. */
struct dpl_flows_made {
    struct dpl_flows flows;
    void *block; /* what these point into */
    float *pooled, *zone_factor, *source_factor, *destination_factor;
};
/* Hour by source, or by destination, from its tables; visits (H, K) say where and when trips are at
 * all; out (H, K). */
enum dpl_status dpl_flows_ends(struct dpl_run *run, const struct dpl_places *places,
                               const struct dpl_ends *ends, const double *visits,
                               const double *hours, double *out);
/* Trips of each hour (H), by both tables of ends. */
void dpl_flows_hours(const struct dpl_places *places, const struct dpl_bridge_tables *tables,
                     double *hours);
struct dpl_edges;
/* Pairs that the edges cannot join within length_max visits get no trip. `made` is all zero before.
 */
enum dpl_status dpl_flows_estimate(struct dpl_run *run, const struct dpl_places *places,
                                   const struct dpl_bridge_tables *tables, const double *visits,
                                   const struct dpl_edges *edges, struct dpl_flows_made *made);
void dpl_flows_free(struct dpl_flows_made *made);
/* tilt.c: brings the flows of zones nearer to what visits say of them, within their noise: wanted
 * and expected visits (K), trips by destination (K); tilt (Z) so far, logarithms. *changed: by how
 * much of all trips. */
enum dpl_status dpl_flows_tilt(struct dpl_run *run, const struct dpl_places *places,
                               const struct dpl_bridge_tables *tables, const double *wanted,
                               const double *expected, const double *arrivals, double *tilt,
                               struct dpl_flows_made *made, double *changed);
/* Where (P, Z, Z) the zones of s and d in that hour's daypart are. */
static inline size_t dpl_flow_zones(const struct dpl_flows *flows, size_t hour, size_t s,
                                    size_t d) {
    size_t daypart = hour * flows->P / flows->H;
    return (daypart * flows->Z + (size_t)flows->zone[s]) * flows->Z + (size_t)flows->zone[d];
}
/* Trips from s to d at that hour. */
static inline double dpl_flow(const struct dpl_flows *flows, size_t hour, size_t s, size_t d) {
    return (double)flows->pooled[s * flows->K + d] *
           (double)flows->zone_factor[dpl_flow_zones(flows, hour, s, d)] *
           (double)flows->source_factor[hour * flows->K + s] *
           (double)flows->destination_factor[hour * flows->K + d];
}

/* estimate_lengths.c: fills in lengths, their shares and the tail from the noised histogram's bins,
 * count (DPL_LENGTH_BINS). length_max and lengths_sigma are set, and there is room. */
void dpl_lengths_spread(const double *count, struct dpl_bridge_tables *tables);
/* Trips of each length, smoothed: out (length_max + 1); the last with all longer ones. */
void dpl_lengths_histogram(const struct dpl_bridge_tables *tables, double *out);
/* Visits of a trip, on the average. */
double dpl_lengths_mean(const struct dpl_bridge_tables *tables);
/* Of the trips of length_max or more, the share that is longer. */
double dpl_lengths_tail_share(const struct dpl_bridge_tables *tables);
/* The chance of each length by daypart and distance, rows summing up to 1; out (P,
 * DPL_DISTANCE_BINS, length_max + 1). */
enum dpl_status dpl_lengths_estimate(struct dpl_run *run, const struct dpl_places *places,
                                     const struct dpl_bridge_tables *tables, float *out);

/* estimate_stops.c: steps that stand still after one that did, by how many did: standing (turns of
 * bins), as dpl_motion_standing has them. */
void dpl_stops_standing_on(const struct dpl_table *stops, const struct dpl_motion_bins *bins,
                           double *standing);

/* estimate_days.c: trips by weekday and period, out (DPL_WEEKDAYS, H). */
enum dpl_status dpl_weekdays_estimate(struct dpl_run *run, const struct dpl_places *places,
                                      const struct dpl_table *measured, float *out);

/* estimate_edges.c: the steps that a walk may take. */
struct dpl_edges {
    size_t n;
    void *block;    /* what the arrays below point into */
    int32_t *start; /* (K * DPL_MOVES + 1) by cell and move */
    int32_t *to;    /* (n) */
    double *steps;  /* (n) how often each is taken, estimated */
    uint8_t *band;  /* (n) how long each is */
    size_t P;
    double *speeds; /* (P, DPL_MOTION_SPEEDS) steps of each band by daypart, estimated */
    double *stay;   /* (K) share of visits at a cell that another visit there follows */
};
enum dpl_status dpl_edges_estimate(struct dpl_run *run, const struct dpl_places *places,
                                   const struct dpl_bridge_tables *tables, const double *visits,
                                   struct dpl_edges *edges);
void dpl_edges_free(struct dpl_edges *edges);
/* Fewest steps from every cell to any of those `to` (n_to): hops (K), UINT16_MAX where there is no
 * way. queue (K) is room. `back` are the edges reversed, from dpl_edges_reverse. */
struct dpl_reverse {
    int32_t *start, *from; /* (K + 1), (n) */
};
enum dpl_status dpl_edges_reverse(struct dpl_run *run, size_t n_cells, const int32_t *start,
                                  const int32_t *to, size_t n_edges, struct dpl_reverse *back);
void dpl_edges_hops(const struct dpl_reverse *back, size_t n_cells, const int32_t *to, size_t n_to,
                    uint16_t *hops, int32_t *queue);
/* Likewise from one cell to every other. */
void dpl_edges_hops_from(const struct dpl_edges *edges, size_t n_cells, int32_t from,
                         uint16_t *hops, int32_t *queue);
void dpl_reverse_free(struct dpl_reverse *back);

/* targets.c: what walks are led to, a cell or a group of neighbouring ones. */
struct dpl_targets {
    size_t G;
    void *block;    /* what the arrays below point into */
    int32_t *of;    /* (K) 0 ... G-1 */
    int32_t *start; /* (G + 1) */
    int32_t *cell;  /* (K) by target */
};
/* At most that many, small where many of trips (K) end. Caller frees with dpl_targets_free. */
enum dpl_status dpl_targets_choose(struct dpl_run *run, const struct dpl_places *places,
                                   const double *trips, size_t most, struct dpl_targets *targets);
/* From the target of each cell, of (K), which is checked. Likewise. */
enum dpl_status dpl_targets_make(struct dpl_run *run, const int32_t *of, size_t K,
                                 struct dpl_targets *targets);
/* Those of a model of K cells. Likewise. */
enum dpl_status dpl_targets_read(struct dpl_run *run, const struct dpl_model *model, size_t K,
                                 struct dpl_targets *targets);
void dpl_targets_free(struct dpl_targets *targets);

#endif
