/* What the plan does with a ledger (dploc.h has the public part): charge, then reserve.
 *
 * A release is a handful of charges ("size", "plan"), each an (epsilon, delta) that covers the
 * mechanisms reserved under it. All calls take a NULL ledger (--ledger none) and then do nothing.
 */
#ifndef DPL_LEDGER_LEDGER_H
#define DPL_LEDGER_LEDGER_H

#include "base/base.h"

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
