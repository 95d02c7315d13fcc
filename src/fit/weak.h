/* What the holder should know before anything is spent: promises that protect little (refused
 * unless accepted, or told), and data that is mostly dropped. */
#ifndef DPL_FIT_WEAK_H
#define DPL_FIT_WEAK_H

#include "base/base.h"
#include "base/cleaned.h"

/* DPL_REFUSED for a private fit that would promise more than DPL_WEAK_EPSILON, or at least
 * DPL_WEAK_DELTA, and whose options do not accept that. `epsilon` is what the release costs. */
enum dpl_status dpl_weak_check(struct dpl_run *run, const struct dpl_fit_options *options,
                               double epsilon);
/* With a trip as unit: notes what the promise comes to for the user with the most trips, when that
 * is little. PRIVACY: exact, and for the holder's eyes, as what reading notes is: nothing follows
 * from it. */
enum dpl_status dpl_weak_tell_users(struct dpl_run *run, const struct dpl_cleaned *trips,
                                    const struct dpl_budget *budget);
/* Notes it when much of the data is dropped by cleaning. PRIVACY: likewise. */
void dpl_weak_tell_dropped(struct dpl_run *run, const struct dpl_read_facts *facts);

#endif
