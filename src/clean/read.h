/* From trips, in memory or in files, to cleaned trips: ingest, clean, grid in one call. */
#ifndef DPL_CLEAN_READ_H
#define DPL_CLEAN_READ_H

#include "ingest/ingest.h"

/* How many cleaned trips are kept in memory (base/cleaned.h). */
struct dpl_room {
    size_t memory_bytes; /* 0: all */
    bool by_user;        /* the unit is the user */
};

/* As dpl_clean, with other options than the trips' own, without the question whether anything is
 * left, with a limit on memory, and with the identity of the rows (NULL: not wanted). */
enum dpl_status dpl_clean_rows(struct dpl_run *run, struct dpl_trips *trips,
                               const struct dpl_read_options *options, const struct dpl_area *area,
                               struct dpl_room room, struct ingest_identity *identity,
                               struct dpl_cleaned **cleaned, struct dpl_read_facts **facts);
/* As dpl_clean, with other options than the trips' own. */
enum dpl_status dpl_clean_with(struct dpl_run *run, struct dpl_trips *trips,
                               const struct dpl_read_options *options, const struct dpl_area *area,
                               struct dpl_cleaned **cleaned, struct dpl_read_facts **facts);

#endif
