/* Hints: what else the data may be, where much of it could not be used, and which option says so.
 *
 * PRIVACY: for the holder alone. A hint follows from rows, so that it changes nothing: neither how
 * a row is read, nor a file that is written, nor how the run ends. */
#ifndef DPL_INGEST_HINT_H
#define DPL_INGEST_HINT_H

#include "ingest/ingest.h"

/* Fills facts->hint from the signs in the facts; area may be NULL. */
void dpl_hints_find(const struct dpl_read_options *options, const struct dpl_area *area,
                    struct dpl_read_facts *facts);

#endif
