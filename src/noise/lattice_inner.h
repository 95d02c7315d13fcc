/* The inside of struct dpl_exact; for vector.c, mechanism.c and their test. */
#ifndef DPL_NOISE_LATTICE_INNER_H
#define DPL_NOISE_LATTICE_INNER_H

#include "noise/lattice.h"

__extension__ typedef unsigned __int128 dpl_wide;

struct dpl_exact {
    struct dpl_exact_options options;
    double lattice; /* steps a unit of the counts */
    int64_t *sum;   /* (n) in lattice steps */
    dpl_wide limit; /* on a unit's norm (L1) or its square (L2), in steps */
    uint64_t units, most_units;
    /* The unit being added, duplicates merged. */
    uint32_t *slot; /* (n) place in the lists below, plus 1; all 0 between units */
    size_t *index;  /* (merged) */
    double *value;  /* (merged) */
    int64_t *steps; /* (merged) */
    size_t merged, index_capacity, value_capacity, steps_capacity;
    struct dpl_exact_watch watch; /* see is NULL: nobody watches */
};

/* The norm (L1) or its square (L2) of some coordinates, in steps. */
dpl_wide dpl_exact_norm(enum dpl_norm norm, const int64_t *steps, size_t n);

#endif
