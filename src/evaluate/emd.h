/* The earth mover's distance between two histograms: the least work, mass times distance, that
 * turns one into the other.
 *
 * Points are numbered 0 ... n_points-1; what they are, only the caller's ground distance knows.
 * Reuse one solver for many problems (one per thread): it keeps its memory. */
#ifndef DPL_EVALUATE_EMD_H
#define DPL_EVALUATE_EMD_H

#include "base/base.h"

struct dpl_emd_ground {
    /* The cost from point `from` to each of the `n` points in `to`: finite, not negative. */
    void (*row)(const void *context, uint32_t from, const uint32_t *to, size_t n, double *cost_m);
    const void *context;
    double cost_max_m; /* no cost is larger */
};

/* Working memory, zero-initialised; free with dpl_emd_free. */
struct dpl_emd_solver {
    unsigned char *memory;
    size_t memory_size;
    unsigned char *matrix; /* costs of all arcs, while they fit DPL_EMD_MATRIX_BYTES */
    size_t matrix_size;
    size_t n_pivots; /* of the last problem */
};

enum { DPL_EMD_MATRIX_BYTES = 24 << 20 };

void dpl_emd_free(struct dpl_emd_solver *solver);

/* Between two histograms over the same points, each taken as shares of its own total; both totals
 * must be positive. */
enum dpl_status dpl_emd(struct dpl_run *run, struct dpl_emd_solver *solver, const int64_t *a,
                        const int64_t *b, size_t n_points, const struct dpl_emd_ground *ground,
                        double *emd_m);
/* The least work that brings every balance to zero: positive ones are sources, negative ones sinks,
 * and they sum to zero. */
enum dpl_status dpl_emd_work(struct dpl_run *run, struct dpl_emd_solver *solver,
                             const int64_t *balance, size_t n_points,
                             const struct dpl_emd_ground *ground, double *work);

#endif
