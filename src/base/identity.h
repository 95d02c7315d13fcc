/* What a data set is known by, to those who read it and to the ledger. */
#ifndef DPL_BASE_IDENTITY_H
#define DPL_BASE_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

/* What a data set is known by: a sum over its rows (trip, user, time, position in micro-degrees)
 * under the ledger's key, the same in any order, notation or number of files; and a sketch by which
 * data that shares rows with it is found. NOT PRIVATE. */
enum { DPL_SKETCH = 1024 };

struct dpl_identity {
    uint64_t rows;
    uint64_t sum[4]; /* two sums modulo 2^128, low word first */
    size_t n_sketch;
    uint64_t sketch[DPL_SKETCH]; /* (n_sketch) the least keyed values of (time, position), rising */
};

#endif
