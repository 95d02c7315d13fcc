/* A table in another program's memory, as its Arrow stream handed it over: held, not copied, and
 * given back when the trips are freed. */
#ifndef DPL_BASE_ARROW_H
#define DPL_BASE_ARROW_H

#include "base/base.h"
#include "dploc_arrow.h"

struct dpl_arrow {
    struct ArrowSchema schema;
    struct ArrowArray *chunk; /* (n_chunks) */
    size_t n_chunks, capacity;
    int64_t rows;
};

/* All of the stream, which is released in any case. Caller frees with dpl_arrow_free. Nothing is
 * known of the chunks but that none has a negative length. */
enum dpl_status dpl_arrow_take(struct dpl_run *run, struct ArrowArrayStream *stream,
                               struct dpl_arrow **table);
void dpl_arrow_free(struct dpl_arrow *table);

#endif
