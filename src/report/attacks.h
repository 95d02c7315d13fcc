/* What `dploc attack --json` found, and what the ledger says: for the holder's report alone. */
#ifndef DPL_REPORT_ATTACKS_H
#define DPL_REPORT_ATTACKS_H

#include "report/island.h"

/* The text of `dploc attack --json`, checked. Caller frees with json_decref. */
enum dpl_status dpl_attacks_read(struct dpl_run *run, const char *text, json_t **attacks);
/* The member attack: figures and curves; paths stay out. */
void dpl_attacks_write(const json_t *attacks, struct island *island);

/* The JSON that dpl_ledger_summary writes. *ledger is set on failure, too; caller frees with
 * json_decref. */
enum dpl_status dpl_attacks_ledger_read(struct dpl_run *run, const char *text, json_t **ledger);
/* The member ledger: its sums and limits, without mechanisms. */
void dpl_attacks_ledger_write(const json_t *ledger, struct island *island);

#endif
