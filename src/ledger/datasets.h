/* Which data sets are known: the "data" lines of ledgers, and how much of one data set is in
 * another.
 *
 * Two data sets are compared by their sketches, the least keyed values of their (time, place)
 * pairs: below the lesser of their two ends both are complete, so what they share there, over what
 * the smaller has there, estimates the shared part of the smaller. It takes a few values of the
 * smaller: a part of less than about 1/200 of a known data set may go unnoticed. */
#ifndef DPL_LEDGER_DATASETS_H
#define DPL_LEDGER_DATASETS_H

#include <jansson.h>

#include "base/digest.h"
#include "base/identity.h"

enum { DPL_DATASET_NAME = 128 };

/* The digest of the sum over its rows, as 64 digits. */
enum dpl_status dpl_identity_hex(struct dpl_run *run, const struct dpl_identity *identity,
                                 char hex[DPL_DIGEST_HEX]);
/* The part of the smaller one that is in the other, about; 0 to 1. */
double dpl_identity_overlap(const struct dpl_identity *a, const struct dpl_identity *b);

/* A "data" line: fingerprint, rows, sketch. NULL when memory is short. */
json_t *dpl_data_to_json(const char *fingerprint, const struct dpl_identity *identity,
                         bool new_data);
/* Rows and sketch of such a line; DPL_BAD_DATA with `where` in front when it is not one. */
enum dpl_status dpl_data_from_json(struct dpl_run *run, const char *where, json_t *line,
                                   struct dpl_identity *identity);

/* Looks through all ledgers of a folder. *question is empty when the data set is in the ledger
 * `own` or overlaps no other one by more than half; else a sentence that says which one, or which
 * ledger keeps this from being told. */
enum { DPL_QUESTION = 700 };
enum dpl_status dpl_datasets_search(struct dpl_run *run, const char *folder, const char *own,
                                    const struct dpl_identity *identity,
                                    char question[DPL_QUESTION]);

#endif
