/* Which data set it is, found while its rows are read.
 *
 *     row -> E1(id ^ place), E2(id ^ place)   added to two sums modulo 2^128
 *         -> E3(place)                        kept if it is among the least DPL_SKETCH
 *
 * where id = E0(E0(trip) ^ user), place = time in seconds and position in micro-degrees, and the Ei
 * are AES-256 under keys that follow from the ledger's. Sums know no order, so the same rows in
 * other files, another order or another notation are the same data set, and parts merge. A row that
 * is there twice counts twice (exclusive or would lose it). The sketch leaves the ids out: the same
 * places at the same times are found under other names, too.
 *
 * PRIVACY: without the key neither says anything about a row. Cost: three AES blocks a row, in
 * batches: about 40 ns on one core; DPL_SKETCH * 28 bytes per thread. */
#ifndef DPL_INGEST_IDENTITY_H
#define DPL_INGEST_IDENTITY_H

#include "ingest/ingest.h"

struct identifier;

/* One per thread. Caller frees with dpl_identifier_free. */
enum dpl_status dpl_identifier_new(struct dpl_run *run, const struct ingest_identity *wanted,
                                   struct identifier **identifier);
void dpl_identifier_free(struct identifier *identifier);
/* The ids of the rows to come; all zero: none. Rows of other shards are not of this data set. */
void dpl_identifier_name(struct identifier *identifier, struct dpl_key trip, struct dpl_key user);
void dpl_identifier_add(struct identifier *identifier, const struct point *point);
/* Forgets all rows: reading starts over. */
void dpl_identifier_clear(struct identifier *identifier);
/* Adds its rows to the data set. */
enum dpl_status dpl_identifier_end(struct dpl_run *run, struct identifier *identifier,
                                   struct dpl_identity *identity);
/* Adds the rows of one data set to another. */
void dpl_identity_merge(struct dpl_identity *into, const struct dpl_identity *from);

#endif
