/* A release once more: what units add to the noised tables of a model that exists already.
 *
 * The method runs on trips as it does in a fit, but every table it asks for is counted with a
 * watcher, and the method goes on with the noised table that the model keeps. So everything that
 * follows from tables (cells, lengths, zones) is as it was in the fit, and the watcher learns what
 * each unit would add to, or has added to, each table. No noise is drawn, nothing is charged,
 * nothing is released.
 *
 * PRIVACY: for attacks and audits by the data holder. What the watcher sees is NOT PRIVATE. */
#ifndef DPL_FIT_REPLAY_H
#define DPL_FIT_REPLAY_H

#include "fit/count.h"
#include "fit/release.h"

/* A table as it was released. */
struct dpl_replay_table {
    const char *name;
    const double *noised; /* (n) */
    size_t n;
    double deviation; /* of the noise; 0: none */
    bool gaussian;    /* otherwise Laplace */
};

struct dpl_replay_watch {
    void *context;
    /* What unit `unit` adds, clipped, in steps of 2^-DPL_COUNT_PLACES. */
    void (*unit)(void *context, const struct dpl_replay_table *table, size_t unit,
                 const size_t *index, const int64_t *steps, size_t n);
    /* All units of the table were shown. */
    enum dpl_status (*done)(void *context, const struct dpl_replay_table *table);
};

/* The units of trips as the model's fit defines them, in one part; free with dpl_parts_free. */
enum dpl_status dpl_replay_parts(struct dpl_run *run, const struct dpl_model *model,
                                 const struct dpl_cleaned *trips, struct dpl_parts *parts);
/* Shows the units of all tables up to the first thing that is no table (a tree, a net). The trips
 * must be on the model's grid, with positions where its method looks at them. */
enum dpl_status dpl_replay(struct dpl_run *run, const struct dpl_model *model,
                           struct dpl_parts *parts, const struct dpl_replay_watch *watch);

/* For who needs the tables alone: a release that hands out those of the model and counts nothing.
 * `release` is all zero before; close it also after a failure. */
enum dpl_status dpl_replay_open(struct dpl_run *run, const struct dpl_model *model,
                                struct dpl_release *release);
void dpl_replay_close(struct dpl_release *release);

/* ---- for release.c ---- */

enum dpl_status dpl_replay_measure(struct dpl_run *run, struct dpl_replay *replay,
                                   const struct dpl_question *question, struct dpl_parts *parts,
                                   struct dpl_noised **noised);
/* There is no more to replay: a status that ends the method. */
enum dpl_status dpl_replay_end(struct dpl_replay *replay);

#endif
