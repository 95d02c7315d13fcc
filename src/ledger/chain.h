/* An append-only file of JSON lines, each holding the hash of the one before, with a second file
 * (FILE.tip) that says how long it is and how it ends.
 *
 *     FILE       {"n":1,"prev":"000...","type":...}\n   <- hash of these bytes is prev of line 2
 *                {"n":2,"prev":"5be...","type":...}\n
 *     FILE.tip   {"tip":1,"lines":2,"length":L,"hash":"...","pending":null,"check":"..."}
 *
 * An append takes three steps, each on the disk before the next begins:
 *
 *     1. FILE.tip replaced: as before, and "pending" holds the whole line to come
 *     2. the line written to FILE, fsync
 *     3. FILE.tip replaced: one line more, nothing pending
 *
 * Invariants
 *  - After dpl_chain_append returned DPL_OK, the line is on the disk and any shorter or changed
 * FILE is refused when it is next opened.
 *  - A crash leaves: nothing (before 1), or a pending line (1 to 3) that the next opening
 * completes. So a torn line is never lost and never guessed: its text stands in the tip.
 *  - One process at a time: the file is locked (flock) from open to close.
 * It notices accidents and careless edits. Whoever rewrites both files, or puts older copies of
 * both back, is not noticed. Cost: three fsyncs a line; opening reads the file once.
 */
#ifndef DPL_LEDGER_CHAIN_H
#define DPL_LEDGER_CHAIN_H

#include <jansson.h>

#include "base/base.h"

struct dpl_chain;

enum { DPL_CHAIN_LINE = 32768 }; /* no line is longer */

/* Opens and checks the whole chain, completing a pending line. A file that is not there is made,
 * unless `read_only` (then nothing is changed, and a pending line is counted but not completed).
 * DPL_REFUSED: edited, cut, without its tip, or in use by another process. */
enum dpl_status dpl_chain_open(struct dpl_run *run, const char *path, bool read_only,
                               struct dpl_chain **chain);
size_t dpl_chain_lines(const struct dpl_chain *chain);
/* Line i as an object; borrowed until the chain is closed. */
json_t *dpl_chain_line(const struct dpl_chain *chain, size_t i);
/* Takes ownership of `object` (also on failure), adds "n" and "prev" in front, and makes it
 * durable. After a failure the chain takes no more lines. */
enum dpl_status dpl_chain_append(struct dpl_chain *chain, json_t *object);
void dpl_chain_close(struct dpl_chain *chain);

#endif
