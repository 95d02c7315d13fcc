/* One release while it is being made: the key, the ledger, the plan, the checkpoint. What a method
 * does with data it does through here, so that nothing is noised that was not reserved, and nothing
 * reserved twice.
 *
 *     open      checkpoint (fresh or resumed), key, ledger
 *     plan      number of units, then all mechanisms, charged at once
 *     measure   ask, count, merge, noise: for tables     \
 *     filter    reserve: for trees that grow as they go   } in the order the method likes
 *     train     reserve, DP-SGD, checkpoints: for nets   /
 */
#ifndef DPL_FIT_RELEASE_H
#define DPL_FIT_RELEASE_H

#include <jansson.h>

#include "fit/checkpoint.h"
#include "fit/count.h"
#include "noise/filter.h"
#include "noise/threshold.h"
#include "ledger/plan.h"
#include "noise/lattice.h"
#include "model/model.h"

struct dpl_replay;
struct dpl_roads;
struct dpl_rounds;

struct dpl_release {
    const struct dpl_fit_options *options;
    struct dpl_secret secret;
    struct dpl_ledger *ledger; /* NULL: none */
    struct dpl_checkpoint *checkpoint;
    struct dpl_plan *plan;
    int64_t trips_max;         /* chosen from a noised table (trips_max.h); 0: not yet, or never */
    struct dpl_model *model;   /* keeps every noised table; NULL: none does */
    struct dpl_replay *replay; /* NULL, but in a replay of an earlier release (replay.h) */
    struct dpl_rounds *rounds; /* NULL, but in a fit in rounds (rounds.h) */
    const struct dpl_roads *map; /* public, a prior of the method's; NULL: none */
    json_t *losses;              /* last loss of each net, with show_private_loss. NOT PRIVATE */
};

/* `binding`: all options that shape the result, as text; `identity`: of the raw rows, for the
 * ledger (NULL: not known yet, nothing can be charged); trips NULL: a fit in rounds. `release` must
 * be all zero; freed with dpl_release_close also after a failure. */
enum dpl_status dpl_release_open(struct dpl_run *run, const struct dpl_fit_options *options,
                                 const char *binding, const struct dpl_identity *identity,
                                 const struct dpl_cleaned *trips, struct dpl_release *release);
void dpl_release_close(struct dpl_release *release);
/* After an interrupt: saves the last state; the message says how to go on. Returns DPL_INTERRUPTED.
 */
enum dpl_status dpl_release_stop(struct dpl_run *run, struct dpl_release *release);

/* After a failure that follows from noised numbers: adds to its message what was charged for them.
 * Returns `status`. */
enum dpl_status dpl_release_spent(struct dpl_run *run, const struct dpl_release *release,
                                  enum dpl_status status);

/* Measures the number of units (or takes the declared one), makes the plan and charges it. */
enum dpl_status dpl_release_plan(struct dpl_run *run, struct dpl_release *release,
                                 const struct dpl_mechanism *ask, size_t n, size_t units);

/* PRIVACY: the reservation in the ledger, before anything is counted. Fills in the question's event
 * and place in the plan. */
enum dpl_status dpl_release_ask(struct dpl_run *run, struct dpl_release *release,
                                struct dpl_question *question);
/* The noised table that was asked for, which the model keeps, too. Takes the sum over: *sum is NULL
 * afterwards. Caller frees *noised with dpl_noised_free. */
enum dpl_status dpl_release_noise(struct dpl_run *run, struct dpl_release *release,
                                  const struct dpl_question *question, struct dpl_exact **sum,
                                  struct dpl_noised **noised);
/* Takes the i-th of several noised tables, which is freed afterwards. */
typedef enum dpl_status dpl_noised_taker(struct dpl_run *run, void *context, size_t i,
                                         const struct dpl_noised *noised);
/* Asks, counts all parts, merges and noises n tables that do not depend on each other: one round,
 * where parts are on many machines. */
enum dpl_status dpl_release_measure_all(struct dpl_run *run, struct dpl_release *release,
                                        struct dpl_question *questions, size_t n,
                                        struct dpl_parts *parts, dpl_noised_taker *take,
                                        void *context);
/* The same for one, which the caller frees. */
enum dpl_status dpl_release_measure(struct dpl_run *run, struct dpl_release *release,
                                    struct dpl_question question, struct dpl_parts *parts,
                                    struct dpl_noised **noised);
/* Counts of keys that nobody could list: `put` puts an entry for each key of a trip, whose index is
 * the key. On one machine. Caller frees *keys with dpl_keys_free. */
enum dpl_status dpl_release_keys(struct dpl_run *run, struct dpl_release *release, const char *name,
                                 dpl_put_trip *put, const void *about, struct dpl_parts *parts,
                                 struct dpl_keys *keys);
/* The noise of mechanism `name` for a tree of histograms of n_bins that is grown as it is released.
 * Caller frees with dpl_filter_close. */
enum dpl_status dpl_release_filter(struct dpl_run *run, struct dpl_release *release,
                                   const char *name, double number, size_t n_bins,
                                   struct dpl_filter **filter);
/* Trains the net as mechanism `name`, from the checkpoint if it was begun. The event of `options`
 * is replaced by the plan's. *parameters (net->n_parameters) is borrowed from the release. */
enum dpl_status dpl_release_train(struct dpl_run *run, struct dpl_release *release,
                                  const char *name, struct dpl_net *net,
                                  struct dpl_sgd_options options, const float **parameters);

#endif
