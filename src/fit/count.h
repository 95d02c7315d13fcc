/* Counting, merging and noising: three calls between three types.
 *
 *     struct dpl_part     PRIVATE   cleaned trips of some whole units
 *        |  dpl_count               any worker: a function of the public question and the part
 *     struct dpl_exact    PRIVATE   sums of whole numbers (noise/lattice.h)
 *        |  dpl_exact_merge         whole numbers add up to the same bits in any order
 *     struct dpl_exact    PRIVATE   the sum over all parts
 *        |  dpl_release_noise       the driver alone, after the ledger was charged (release.h)
 *     struct dpl_noised             released numbers
 *
 * A method is written in these calls once, for one machine, which has one part, and for many.
 *
 * PRIVACY: struct dpl_exact is opaque, and only src/noise can look into it: the numbers of a vector
 * that was not noised cannot be read, stored or released. (A replay, replay.h, watches what units
 * add; what is watched cannot be released.) A unit is whole in one part, so that its one clipped
 * contribution is the same whatever the parts are. */
#ifndef DPL_FIT_COUNT_H
#define DPL_FIT_COUNT_H

#include "account/event.h"
#include "fit/sizes.h"
#include "model/model.h"
#include "noise/lattice.h"

/* ---- parts ---- */

/* PRIVATE. Some whole units of the cleaned trips, and what a method's rounds made of them. Of trips
 * that are in a file (base/spill.h) it is filled while it is open (dpl_part_open). */
struct dpl_part {
    const struct dpl_cleaned *trips; /* borrowed */
    struct dpl_cleaned *loaded;      /* from the file; NULL: in memory */
    struct dpl_kept kept;
    struct dpl_reduced reduced; /* after dpl_parts_reduce */
};

struct dpl_parts {
    size_t n;
    struct dpl_part *part; /* (n) */
    size_t n_units;
    size_t n_no_user; /* trips dropped because they name no user. NOT PRIVATE */
    /* Of trips in a file: where they are, and what is to be done with a part that is loaded. */
    const struct dpl_cleaned *spilled; /* borrowed; NULL: in memory */
    enum dpl_unit unit;
    int64_t trips_max;
    int32_t length_max;
    struct dpl_topk topk; /* a copy; n_cells 0: trips are not reduced yet */
};

/* The trips in n parts, whole units in their order; 1 on one machine. Trips in a file are in as
 * many parts as the file has. `trips` is borrowed. Caller frees with dpl_parts_free. */
enum dpl_status dpl_parts_make(struct dpl_run *run, const struct dpl_cleaned *trips,
                               enum dpl_unit unit, int64_t trips_max, size_t n,
                               struct dpl_parts *parts);
void dpl_parts_free(struct dpl_parts *parts);
/* Trips of at most length_max visits on the chosen cells, in each part's `reduced`. */
enum dpl_status dpl_parts_reduce(struct dpl_run *run, struct dpl_parts *parts, int32_t length_max,
                                 const struct dpl_topk *topk);

/* Around every use of a part: loads it if it is in a file, and forgets it again. */
enum dpl_status dpl_part_open(struct dpl_run *run, struct dpl_parts *parts, size_t i);
void dpl_part_close(struct dpl_parts *parts, size_t i);

/* ---- counting ---- */

/* Of a table: `rank` sizes, row-major. */
struct dpl_shape {
    int rank;
    size_t size[DPL_TENSOR_RANK];
};
static inline struct dpl_shape dpl_shape1(size_t n) { return (struct dpl_shape){1, {n}}; }
static inline struct dpl_shape dpl_shape2(size_t rows, size_t columns) {
    return (struct dpl_shape){2, {rows, columns}};
}
static inline size_t dpl_shape_size(struct dpl_shape shape) {
    size_t n = 1;
    for (int i = 0; i < shape.rank; i++) n *= shape.size[i];
    return n;
}

/* Adds all units of the part to an exact vector, one dpl_exact_add each. `about` is public. */
typedef enum dpl_status dpl_counting(struct dpl_run *run, const void *about,
                                     const struct dpl_part *part, struct dpl_exact *exact);

/* What one table asks of every part. Public. */
struct dpl_question {
    const char *name; /* of the mechanism in the plan */
    double number;    /* the released number that its sensitivity follows from, if it does */
    struct dpl_shape shape;
    dpl_counting *count;
    const void *about; /* what `count` must know; public */
    json_t *axes;      /* what the table is counted by, for its readers; NULL: not said; borrowed */
    /* Of a DPL_EVENT_LOCAL: what each unit reports; NULL otherwise. */
    const struct dpl_local_section *local; /* (n_local) */
    size_t n_local;
    /* Set by dpl_release_ask: */
    struct dpl_event event;
    size_t place; /* of the event in the plan */
};

enum { DPL_COUNT_PLACES = 16 }; /* the lattice step of all tables is 2^-16 */

/* The vector that it is counted into, once it was asked. */
struct dpl_exact_options dpl_question_vector(const struct dpl_question *question);
/* The counts of one part. Caller frees with dpl_exact_free, or gives them to a release. */
enum dpl_status dpl_count(struct dpl_run *run, const struct dpl_question *question,
                          const struct dpl_part *part, struct dpl_exact **counts);
/* The counts of all parts, merged, of n questions: sums (n), all NULL after a failure. One pass
 * over the parts. */
enum dpl_status dpl_count_all(struct dpl_run *run, const struct dpl_question *questions, size_t n,
                              struct dpl_parts *parts, struct dpl_exact **sums);

/* Puts what one trip adds into the list; `about` is the question's. */
typedef enum dpl_status dpl_put_trip(struct dpl_run *run, const void *about,
                                     const struct dpl_cleaned *trips, size_t trip,
                                     struct dpl_entries *list);
/* Takes all that one unit puts. */
typedef enum dpl_status dpl_take_unit(struct dpl_run *run, void *into,
                                      const struct dpl_entry *entries, size_t n);
/* For each unit of the part, what all of its trips put, as one call of `take`. */
enum dpl_status dpl_units_each(struct dpl_run *run, const void *about, const struct dpl_part *part,
                               dpl_put_trip *put_one, dpl_take_unit *take, void *into);
/* A counting function in terms of one trip: for each unit of the part, what all of its trips put,
 * as one dpl_exact_add. */
enum dpl_status dpl_count_units(struct dpl_run *run, const void *about, const struct dpl_part *part,
                                dpl_put_trip *put_one, struct dpl_exact *exact);

/* How trips are cut and weighed where their visits are counted. Public. */
struct dpl_cut {
    int32_t length_max; /* visits beyond are not counted; 0 where lengths themselves are */
    /* Of each visit of a trip that long; NULL: 1. */
    double (*weight)(double full_visits, size_t visits);
    double full_visits; /* for `weight` */
    double scale;       /* of all weights; 0: 1 */
    int32_t side;       /* visits are counted by squares of that many cells' side; 0: by cells */
};

/* Counts of lengths (DPL_LENGTH_BINS), trips (1) and visits (all cells of the grid). `about` is a
 * struct dpl_cut, of which lengths and trips look at nothing. */
dpl_counting dpl_count_lengths, dpl_count_trips, dpl_count_visits;

#endif
