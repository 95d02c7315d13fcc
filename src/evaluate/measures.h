/* The measures of utility between two sets of trips. Each is a pure function of the two: which
 * halves and samples are compared, and how often, is evaluate.c's business. NAN: not defined for
 * these two. */
#ifndef DPL_EVALUATE_MEASURES_H
#define DPL_EVALUATE_MEASURES_H

#include "evaluate/emd.h"
#include "evaluate/patterns.h"

/* The cells that trips are compared on: a few of the grid's, numbered from 0. */
struct dpl_cells {
    struct dpl_grid grid;
    int32_t n_cells;
    int32_t *grid_cell;    /* (n_cells) ascending */
    int32_t *column, *row; /* (n_cells) */
    int32_t *number;       /* (cells of the grid) -1: not one of them */
    double diagonal_m;     /* of the box around them; no two are further apart */
};

/* The most visited cells that hold `share` of the visits, ties by index. Caller frees with
 * dpl_cells_free. */
enum dpl_status dpl_cells_most_visited(struct dpl_run *run, const struct dpl_cleaned *trips,
                                       double share, struct dpl_cells *cells);
/* The `n` cells given, in any order, repeats allowed. */
enum dpl_status dpl_cells_given(struct dpl_run *run, const struct dpl_grid *grid,
                                const int32_t *cell, size_t n, struct dpl_cells *cells);
void dpl_cells_free(struct dpl_cells *cells);
/* The number of the nearest of the cells, the lower one on a tie; any cell of the grid may be asked
 * for. */
int32_t dpl_cells_nearest(const struct dpl_cells *cells, int32_t grid_cell);

/* A data set made ready: its visits on the cells, its patterns numbered. */
struct dpl_ready {
    struct dpl_cells *cells;    /* borrowed */
    struct dpl_sequences trips; /* on the cells */
    size_t *start;              /* owned; trips.start */
    int32_t *cell;              /* owned; trips.cell */
    uint8_t *period;            /* (n_trips) owned */
    uint32_t *same; /* (n_trips) equal numbers: visit for visit the same trip on the grid */
    struct dpl_patterns patterns;
    int periods;
    bool has_time;
    const struct dpl_cleaned *source; /* borrowed: the trips as they were read */
    uint32_t *origin;                 /* (n_trips) which of them each trip is; owned */
    const struct dpl_index *index;    /* borrowed: has the numbers in `same` */
};

/* Some of its trips. */
struct dpl_part {
    const struct dpl_ready *ready;
    const uint32_t *trip; /* (n) */
    size_t n;
};

enum { DPL_N_TOPS = 5 };
extern const int DPL_TOPS[DPL_N_TOPS]; /* 10, 20, 50, 100, 200 */

/* For qsort and bsearch. */
int dpl_compare_u64(const void *a, const void *b);
/* Jensen-Shannon divergence in bits of two lists of values, each list taken as a histogram; 1 when
 * one is empty. Sorts the lists. */
double dpl_jsd(uint64_t *a, size_t n_a, uint64_t *b, size_t n_b);
/* The same of two histograms over the same bins. */
double dpl_jsd_counts(const int64_t *a, const int64_t *b, size_t bins);
/* A quantile, linear between neighbours; NAN of an empty list. Reorders the list. */
double dpl_quantile(double *list, size_t n, double share);

enum dpl_status dpl_measure_lengths(struct dpl_run *run, const struct dpl_part *a,
                                    const struct dpl_part *b, double *divergence);
enum dpl_status dpl_measure_hours(struct dpl_run *run, const struct dpl_part *a,
                                  const struct dpl_part *b, double *divergence);
enum dpl_status dpl_measure_patterns(struct dpl_run *run, const struct dpl_part *a,
                                     const struct dpl_part *b, double common[DPL_N_TOPS]);
enum dpl_status dpl_measure_sets(struct dpl_run *run, const struct dpl_part *a,
                                 const struct dpl_part *b, double common[DPL_N_TOPS]);
/* An empty part counts as the diagonal of the cells away (source-destination: twice). */
enum dpl_status dpl_measure_density(struct dpl_run *run, const struct dpl_part *a,
                                    const struct dpl_part *b, double *emd_m);
enum dpl_status dpl_measure_od(struct dpl_run *run, const struct dpl_part *a,
                               const struct dpl_part *b, double *emd_m);

struct dpl_route {
    double weighted_m, plain_m; /* NAN when no pair is held by both */
    double held_share; /* of a's trips on its frequent pairs: those whose pair b holds too */
};
/* a is the real side: its pairs are asked for, its counts are the weights. */
enum dpl_status dpl_measure_route(struct dpl_run *run, const struct dpl_part *a,
                                  const struct dpl_part *b, struct dpl_route *route);

struct dpl_sameness {
    double verbatim_share; /* of a's trips: those that b holds visit for visit */
    double distinct_share; /* distinct trips of b over trips of b */
};
/* `n_same`: numbers in ready->same are below it. */
enum dpl_status dpl_measure_sameness(struct dpl_run *run, const struct dpl_part *a,
                                     const struct dpl_part *b, size_t n_same,
                                     struct dpl_sameness *sameness);

#endif
