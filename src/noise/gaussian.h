/* The exactly rounded Gaussian: round(sigma * Z) for a standard normal Z that the coordinate's own
 * random bits determine, rounded as if computed with infinitely many digits. docs/PRIVACY.md, "The
 * exactly rounded Gaussian", has the definition and the proof. */
#ifndef DPL_NOISE_GAUSSIAN_H
#define DPL_NOISE_GAUSSIAN_H

#include "base/random.h"

/* sigma in lattice steps; within these bounds no draw exceeds 2^52. */
#define DPL_GAUSSIAN_MIN 0x1p-30
#define DPL_GAUSSIAN_MAX 0x1p46
/* Coordinates of one stream are below 2^36. */
#define DPL_GAUSSIAN_COORDINATES ((uint64_t)1 << 36)

/* Adds noise to vector[0 ... n-1], which are the coordinates first ... first+n-1 of stream `id`.
 * The same (key, id, coordinate, sigma) always gives the same noise, however a vector is cut into
 * calls and threads. Sums wrap modulo 2^64. Allocates nothing; one `random` per thread.
 * On failure the vector holds the exact sum in part and must not be released. */
enum dpl_status dpl_gaussian_add(struct dpl_run *run, struct dpl_random *random,
                                 struct dpl_stream_id id, uint64_t first, int64_t *vector, size_t n,
                                 double sigma_steps);

/* ---- for tests and the bench: which instructions, and how cautious ---- */

enum dpl_gaussian_path {
    DPL_GAUSSIAN_PLAIN,
    DPL_GAUSSIAN_AVX2,
    DPL_GAUSSIAN_AVX512,
    DPL_GAUSSIAN_PATHS
};

struct dpl_gaussian_how {
    enum dpl_gaussian_path path;
    double
        inflation;  /* factor on the error bound, >= 1: more draws go the exact way, none changes */
    size_t *redone; /* counts the pairs that went the exact way; may be NULL */
};

const char *dpl_gaussian_path_name(enum dpl_gaussian_path path);
/* Whether this build and this processor have it. */
bool dpl_gaussian_path_exists(enum dpl_gaussian_path path);
enum dpl_gaussian_path dpl_gaussian_path_best(void);
enum dpl_status dpl_gaussian_add_with(struct dpl_run *run, struct dpl_random *random,
                                      const struct dpl_gaussian_how *how, struct dpl_stream_id id,
                                      uint64_t first, int64_t *vector, size_t n,
                                      double sigma_steps);

#endif
