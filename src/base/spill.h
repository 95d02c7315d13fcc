/* Cleaned trips beyond memory: columns in a file without a name, mode 0600, gone when it is closed.
 *
 *     append ... append | full: all to the file | append ... | the rest to the file
 *
 * Trips are told apart into PARTS by a hash of their user (or evenly, where users do not matter),
 * and written part by part, a segment each; a part is loaded whole, all its segments together, so
 * that a user's trips are in one part. Cost: one write and, for every pass over the trips, one read
 * of the columns; memory for the trips below the limit, or for one part of DPL_SPILL_PARTS. */
#ifndef DPL_BASE_SPILL_H
#define DPL_BASE_SPILL_H

#include "base/cleaned.h"

enum { DPL_SPILL_PARTS = 256 };

struct dpl_spill;

/* An empty one. Caller frees with dpl_spill_free. */
enum dpl_status dpl_spill_new(struct dpl_run *run, bool by_user, struct dpl_spill **spill);
void dpl_spill_free(struct dpl_spill *spill);
/* Adds all trips. */
enum dpl_status dpl_spill_put(struct dpl_run *run, struct dpl_spill *spill,
                              const struct dpl_cleaned *trips);
/* One part. Caller frees with dpl_cleaned_free. `like`: grid and number of users. */
enum dpl_status dpl_spill_load(struct dpl_run *run, const struct dpl_spill *spill, size_t part,
                               const struct dpl_cleaned *like, struct dpl_cleaned **trips);

#endif
