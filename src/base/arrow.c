/* See arrow.h. */
#include "base/arrow.h"

#include <string.h>

static enum dpl_status stream_failed(struct dpl_run *run, struct ArrowArrayStream *stream,
                                     int error) {
    const char *why = stream->get_last_error ? stream->get_last_error(stream) : NULL;
    return dpl_fail(run, DPL_BAD_DATA, "the table's stream failed: %.600s",
                    why && *why ? why : strerror(error));
}

/* The next chunk into its place; *more is false at the end. */
static enum dpl_status take_chunk(struct dpl_run *run, struct ArrowArrayStream *stream,
                                  struct dpl_arrow *table, bool *more) {
    DPL_TRY(
        dpl_grow(run, &table->chunk, &table->capacity, table->n_chunks + 1, sizeof *table->chunk));
    struct ArrowArray *chunk = &table->chunk[table->n_chunks];
    memset(chunk, 0, sizeof *chunk);
    int error = stream->get_next(stream, chunk);
    if (error) return stream_failed(run, stream, error);
    *more = chunk->release != NULL;
    if (!*more) return DPL_OK;
    table->n_chunks++;
    if (chunk->length < 0 || chunk->length > INT64_MAX - table->rows)
        return dpl_fail(run, DPL_BAD_DATA, "the table has a chunk of %lld rows",
                        (long long)chunk->length);
    table->rows += chunk->length;
    return dpl_check_interrupt(run);
}

static enum dpl_status take_all(struct dpl_run *run, struct ArrowArrayStream *stream,
                                struct dpl_arrow *table) {
    int error = stream->get_schema(stream, &table->schema);
    if (error) return stream_failed(run, stream, error);
    for (bool more = true; more;) DPL_TRY(take_chunk(run, stream, table, &more));
    return DPL_OK;
}

enum dpl_status dpl_arrow_take(struct dpl_run *run, struct ArrowArrayStream *stream,
                               struct dpl_arrow **made) {
    if (!stream->release)
        return dpl_fail(run, DPL_USAGE, "the table's stream was read before; make a new one");
    struct dpl_arrow *table = dpl_alloc(run, 1, sizeof *table);
    enum dpl_status status = table ? take_all(run, stream, table) : DPL_SYSTEM;
    stream->release(stream);
    stream->release = NULL;
    if (status == DPL_OK)
        *made = table;
    else
        dpl_arrow_free(table);
    return status;
}

void dpl_arrow_free(struct dpl_arrow *table) {
    if (!table) return;
    for (size_t i = 0; i < table->n_chunks; i++)
        if (table->chunk[i].release) table->chunk[i].release(&table->chunk[i]);
    if (table->schema.release) table->schema.release(&table->schema);
    dpl_free(table->chunk);
    dpl_free(table);
}
