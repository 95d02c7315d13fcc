/* What methods do with a plan (dploc.h has the public part): measure the size, charge, reserve. */
#ifndef DPL_LEDGER_PLAN_H
#define DPL_LEDGER_PLAN_H

#include "base/random.h"

/* DPL_USAGE when a number of the budget makes no sense. The calls below check it too. */
enum dpl_status dpl_budget_check(struct dpl_run *run, const struct dpl_budget *budget);
/* Measures the number of units by pure differential privacy: charged, reserved, then noised.
 * Refuses when the ledger (NULL: none) cannot afford the whole budget. Caller frees *size with
 * dpl_size_free. */
enum dpl_status dpl_size_measure(struct dpl_run *run, const struct dpl_budget *budget, size_t units,
                                 struct dpl_secret *secret, struct dpl_ledger *ledger,
                                 struct dpl_size **size);

/* The event that a mechanism's request implies for that many units and m trips each, but for sigma.
 * The plan and the verifier share it, so that a certificate says what the plan did. `number` is the
 * value of the released number `clip_from` (0 while it is not known: the sensitivity is then 0). */
enum dpl_status dpl_mechanism_imply(struct dpl_run *run, const struct dpl_mechanism *mechanism,
                                    int64_t units, int64_t trips_max, double number,
                                    struct dpl_event *event);
/* How much of the squared budget an event takes, as dpl_account_solve counts it; shares are in
 * proportion to it. */
double dpl_event_weight(const struct dpl_event *event);

const char *dpl_growth_name(enum dpl_growth growth);
bool dpl_growth_parse(const char *name, enum dpl_growth *growth);

/* The event that measured the size; NULL when it was declared. */
const struct dpl_event *dpl_plan_size_event(const struct dpl_plan *plan);
/* Whether the sigmas were given rather than solved for. */
bool dpl_plan_given(const struct dpl_plan *plan);

/* The numbers of a release that was made before, for a replay of it. It has no mechanisms: nothing
 * can be reserved from it. Caller frees with dpl_plan_free. */
enum dpl_status dpl_plan_again(struct dpl_run *run, const struct dpl_budget *budget, int64_t units,
                               double epsilon_size, struct dpl_plan **plan);
/* Charges the whole plan to the ledger (NULL: none). Once, before the first dpl_plan_reserve. */
enum dpl_status dpl_plan_charge(struct dpl_run *run, const struct dpl_plan *plan,
                                struct dpl_ledger *ledger);
/* Reserves event i; its noise may be drawn when this has returned DPL_OK, and not before. *event is
 * the event to use, its sensitivity settled by the released number `number` where the plan left it
 * open. */
enum dpl_status dpl_plan_reserve(struct dpl_run *run, const struct dpl_plan *plan, size_t i,
                                 double number, struct dpl_ledger *ledger, struct dpl_event *event);

#endif
