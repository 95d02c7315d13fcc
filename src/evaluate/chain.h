/* How likely a trip is under a set of trips: counts by the two cells before, smoothed to one and to
 * none, start and end included, and whole trips counted as such. For attacks. */
#ifndef DPL_EVALUATE_CHAIN_H
#define DPL_EVALUATE_CHAIN_H

#include "base/base.h"

/* Counts of 64-bit keys. Zero-initialise; free with dpl_tally_free. */
struct dpl_tally {
    struct dpl_index index;
    uint32_t *count; /* (index.count) by the key's number */
    size_t capacity;
};
enum dpl_status dpl_tally_add(struct dpl_run *run, struct dpl_tally *tally, uint64_t key);
uint32_t dpl_tally_count(const struct dpl_tally *tally, uint64_t key);
void dpl_tally_free(struct dpl_tally *tally);

struct dpl_chain {
    struct dpl_tally tally;
    double n_trips, n_visits, n_cells;
};

/* Adds trip i of a set. */
enum dpl_status dpl_chain_add(struct dpl_run *run, struct dpl_chain *chain,
                              const struct dpl_cleaned *trips, size_t i);
/* Logarithm of the chance of trip i; chain->n_cells must be set. */
double dpl_chain_log(const struct dpl_chain *chain, const struct dpl_cleaned *trips, size_t i);
void dpl_chain_free(struct dpl_chain *chain);

#endif
