/* Trips of a round in groups: those that share something costly, a graph or a sweep, are drawn by
 * one thread, one after the other.
 *
 *     dpl_groups_room -> fill in source, destination, period -> dpl_groups_draw
 */
#ifndef DPL_SAMPLE_GROUPS_H
#define DPL_SAMPLE_GROUPS_H

#include "sample/generator.h"

struct dpl_groups {
    size_t n_groups, capacity;
    int32_t *source, *destination; /* (capacity) */
    uint8_t *period;               /* (capacity) */
    uint32_t *order;               /* (capacity) trips by group, ascending within each */
    size_t *begin;                 /* (n_groups + 1) where each group begins in `order` */
};
/* Free with dpl_groups_free. */
enum dpl_status dpl_groups_new(struct dpl_run *run, size_t n_groups, struct dpl_groups *groups);
void dpl_groups_free(struct dpl_groups *groups);
/* Room for n trips; what was there is lost. */
enum dpl_status dpl_groups_room(struct dpl_run *run, struct dpl_groups *groups, size_t n);

/* What a generator knows of its groups: which a trip belongs to, what they share, and how one trip
 * is drawn. */
struct dpl_grouping {
    size_t (*group)(const struct dpl_generator *generator, size_t period, size_t destination);
    void (*prepare)(struct dpl_generator *generator, size_t group, int thread);
    /* Trip i of the round, into it by dpl_round_put. */
    enum dpl_status (*draw)(struct dpl_run *run, struct dpl_generator *generator,
                            struct dpl_round *round, size_t i, int thread);
};
/* All trips of the round, whose sources, destinations and periods are filled in; stops early once
 * the round is full. */
enum dpl_status dpl_groups_draw(struct dpl_run *run, struct dpl_groups *groups,
                                const struct dpl_grouping *grouping,
                                struct dpl_generator *generator, int n_threads,
                                struct dpl_round *round);

#endif
