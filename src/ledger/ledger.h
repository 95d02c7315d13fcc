/* The ledger: what was spent on one raw data set, over all runs. A line that is on the disk before
 * the first noise of a mechanism says what the mechanism is; a release that would exceed the limits
 * is refused before any noise. It guards against mistakes, not against its owner (docs/LEDGER.md).
 *
 * A release is a handful of charges ("size", "plan"), each an (epsilon, delta) that covers the
 * mechanisms reserved under it. All calls take a NULL ledger (--ledger none) and then do nothing.
 */
#ifndef DPL_LEDGER_LEDGER_H
#define DPL_LEDGER_LEDGER_H

#include "base/base.h"
#include "base/identity.h"

/* ---- opening ---- */

struct dpl_ledger_options {
    enum dpl_unit
        unit;   /* a ledger counts for one unit: guarantees per trip and per user do not add up */
    bool local; /* units noise their own reports: one unit replaced is hidden, none added. Such
                   guarantees and others do not add up either */
    double total_epsilon; /* limits over all releases; 0: as the ledger has them, none if it has
                             none */
    double total_delta;
    const char *dataset; /* the data set's name: its ledger is found by it, whatever the rows, and
                            all rows ever used under it count together. NULL: found by the rows */
    bool new_data; /* data that overlaps a known data set is counted apart: the holder says that
                      it is new */
    const char *resume; /* the release to go on with: what it reserved before is not charged again.
                           NULL: a new one */
};

struct dpl_ledger_totals {
    double epsilon, delta; /* the sum over all releases: holds however later ones were chosen */
    double limit_epsilon, limit_delta; /* INFINITY when there is none */
    size_t releases, mechanisms;       /* releases that reserved something; mechanisms reserved */
    bool named;                        /* the ledger counts by a name, not by the rows */
    bool new_data; /* some of its data overlapped another data set, and was declared new */
};

struct dpl_ledger;

struct dpl_ledger_options dpl_ledger_defaults(void);
/* The secret key that data sets are known under: of the state directory (`path` NULL) or FILE.key
 * beside a ledger of the caller's own. Made (mode 0600) when it is not there. */
enum dpl_status dpl_ledger_key(struct dpl_run *run, const char *path, uint8_t key[32]);
/* Opens or makes the ledger of the data set; `path` NULL: in $XDG_STATE_HOME/dploc/ledgers (or
 * ~/.local/state/...), where the other ledgers are searched for data that overlaps it. DPL_REFUSED:
 * edited, cut, in use, of another data set, unit or model (local or not); or, with a question that
 * names `fit.new_data`, the data is not known and more than half of it, or of a known data set, is
 * in the other. */
enum dpl_status dpl_ledger_open(struct dpl_run *run, const char *path,
                                const struct dpl_identity *identity,
                                const struct dpl_ledger_options *options,
                                struct dpl_ledger **ledger);
/* DPL_REFUSED when a release of this size would exceed the limits. Spends nothing. */
enum dpl_status dpl_ledger_afford(struct dpl_ledger *ledger, double epsilon, double delta);
struct dpl_ledger_totals dpl_ledger_totals(const struct dpl_ledger *ledger);
/* The id of the release that this opening writes; borrowed. */
const char *dpl_ledger_release(const struct dpl_ledger *ledger);
void dpl_ledger_close(struct dpl_ledger *ledger);

/* ---- charge, then reserve ---- */

/* Charges one part of the current release: `events` (n) together cost at most (epsilon, delta).
 * DPL_REFUSED when that exceeds the limits, when the part was charged before in this opening, or
 * when a resumed release had charged something else for it. */
enum dpl_status dpl_ledger_charge(struct dpl_ledger *ledger, const char *part, double epsilon,
                                  double delta, const struct dpl_event *events, size_t n);
/* Must return DPL_OK before the first noise of the mechanism is drawn: its line is then on the
 * disk. The event must be one of the part's, reserved once. An event charged with sensitivity 0
 * takes the one given here (it came from a released number). */
enum dpl_status dpl_ledger_reserve(struct dpl_ledger *ledger, const char *part,
                                   const struct dpl_event *event);
/* Whether the release has charged anything: what was stopped before that has spent nothing and
 * starts anew. */
bool dpl_ledger_knows(const struct dpl_ledger *ledger, const char *release);
/* Whether the event's line is there, for a release of any run. For tests and for resuming. */
bool dpl_ledger_covers(const struct dpl_ledger *ledger, const char *release,
                       const struct dpl_event *event);

#endif
