/* What draws trips from a model: the interface that every method implements, and the store for a
 * round of them.
 *
 *     dpl_generator_open(run, model, &options, &generator)    by the model's method
 *     for each round: dpl_round_begin, generator->draw, then read the round in trip order
 *
 * PRIVACY: a generator sees the released model and the seed, nothing else; whatever it does is
 * post-processing.
 *
 * A trip is a function of (model, seed, options, its number) alone. So rounds may be cut anywhere,
 * trips may be drawn in any order by any thread, and the result is the same.
 */
#ifndef DPL_SAMPLE_GENERATOR_H
#define DPL_SAMPLE_GENERATOR_H

#include <stdatomic.h>

#include "base/random.h"
#include "method/list.h"
#include "model/model.h"
#include "sample/motion.h"

/* Consecutive visits to one cell (0 ... K-1), or to one of the generator's own places. */
struct dpl_stay {
    uint16_t cell, visits;
};
enum { DPL_STAY_MAX = UINT16_MAX };

/* Second index of a trip's streams (purpose DPL_PURPOSE_SYNTHESIS, first index: the trip). */
enum { DPL_SYNTHESIS_KEYS, DPL_SYNTHESIS_TRACE, DPL_SYNTHESIS_DECODE, DPL_SYNTHESIS_DIARY };

/* ---- a round of trips ---- */

struct dpl_span {
    uint32_t first; /* stay within its pool */
    uint16_t n, pool;
};
struct dpl_pool {
    struct dpl_stay *stay;
    size_t used, capacity;
    char apart[64]; /* keeps the counters of two threads off one cache line */
};
struct dpl_round {
    uint64_t first; /* number of its first trip */
    size_t n_trips, capacity;
    uint8_t *period;       /* (capacity) */
    struct dpl_span *span; /* (capacity) */
    struct dpl_pool *pool; /* (n_pools), one per thread */
    int n_pools;
    size_t limit; /* stays in all pools together */
    _Atomic size_t used;
    atomic_bool full; /* the limit was reached: the round is to be drawn again with fewer trips */
};

/* Room for `capacity` trips from n_pools threads, of at most `limit` stays in all. Free with
 * dpl_round_free. */
enum dpl_status dpl_round_new(struct dpl_run *run, size_t capacity, int n_pools, size_t limit,
                              struct dpl_round **round);
void dpl_round_free(struct dpl_round *round);
void dpl_round_begin(struct dpl_round *round, uint64_t first, size_t n_trips);
/* Trip `first + i` of the round; by one thread per pool. Sets `full` instead of growing past the
 * limit. */
enum dpl_status dpl_round_put(struct dpl_run *run, struct dpl_round *round, int pool, size_t i,
                              size_t period, const struct dpl_stay *stay, size_t n);
/* The stays of a trip, borrowed. */
const struct dpl_stay *dpl_round_get(const struct dpl_round *round, size_t i, size_t *n);

/* ---- generators ---- */

struct dpl_draw_options {
    uint64_t seed;
    int64_t mh_steps;
    bool looping;
};

/* A rectangle, in millionths of a degree, ends included. */
struct dpl_place {
    int32_t south, north, west, east;
    int32_t lat, lng; /* its centre */
};

struct dpl_generator {
    /* Where stays are, for a generator whose stays are not in the model's cells: within the box;
     * NULL: in the model's cells. */
    const struct dpl_place *place; /* (n_places) */
    size_t n_places;
    /* How trips move, for the drawing of positions; NULL: as in made-up cities. */
    const struct dpl_motion *motion;
    /* Fills the round; stops early once it is full. Reports n_trips of progress. */
    enum dpl_status (*draw)(struct dpl_run *run, struct dpl_generator *generator,
                            struct dpl_round *round);
    void (*free)(struct dpl_generator *generator);
};

/* `model` is borrowed until the generator is freed with generator->free. */
typedef enum dpl_status dpl_generator_open_function(struct dpl_run *run,
                                                    const struct dpl_model *model,
                                                    const struct dpl_draw_options *options,
                                                    struct dpl_generator **generator);
/* For generators whose stays are in the model's cells: that stays can number them. */
enum dpl_status dpl_generator_check_cells(struct dpl_run *run, const struct dpl_model *model);
/* The one that belongs to model->method. */
dpl_generator_open_function dpl_generator_open;
/* One per method: dpl_bridge_generator ... */
#define DPL_DECLARE_GENERATOR(name) dpl_generator_open_function dpl_##name##_generator;
DPL_METHODS(DPL_DECLARE_GENERATOR)

#endif
