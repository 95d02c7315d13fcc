/* Clean: recordings to trips on the grid. Each rule looks at one recording alone (METHOD.md sec.
 * 1), so that filter(D with x) = filter(D) with filter(x): cleaning costs no privacy. */
#ifndef DPL_CLEAN_CLEAN_H
#define DPL_CLEAN_CLEAN_H

#include "base/cleaned.h"
#include "base/zone.h"
#include "ingest/ingest.h" // struct recording, struct sink

struct cleaner;

/* Trips are collected for `grid`, with positions if the options say so; drops are counted in facts.
 * Caller frees with dpl_cleaner_free. */
enum dpl_status dpl_cleaner_new(struct dpl_run *run, const struct dpl_grid *grid,
                                const struct dpl_read_options *options,
                                struct dpl_read_facts *facts, struct cleaner **cleaner);
void dpl_cleaner_free(struct cleaner *cleaner);
/* Where ingest sends recordings; borrowed from the cleaner. */
const struct sink *dpl_cleaner_sink(struct cleaner *cleaner);
/* Trips beyond so many bytes go to a file (base/cleaned.h). */
void dpl_cleaner_limit(struct cleaner *cleaner, size_t memory_bytes, bool by_user);
/* Hands the collected trips over; caller frees with dpl_cleaned_free. */
struct dpl_cleaned *dpl_cleaner_take_trips(struct cleaner *cleaner);

/* A sink that only lets facts be gathered. */
extern const struct sink DPL_SINK_NOTHING;

#endif
