/* The plan: how one (epsilon, delta) is spent. First the number of units becomes known, by noise or
 * because the holder declares it public; then, from that and public numbers alone, all mechanisms
 * with their noise are fixed at once. A plan cannot be changed: there are only calls to read it.
 *
 *     dpl_size_declare(run, 450000, &size);
 *     struct dpl_mechanism ask[] = {
 *         {.name = "topk", .kind = DPL_EVENT_GAUSSIAN, .share = 0.1, .clip = 4}, ...};
 *     dpl_plan_make(run, &budget, size, ask, 2, &plan);
 *     dpl_plan_event(plan, 0)->sigma;
 */
#ifndef DPL_LEDGER_PLAN_H
#define DPL_LEDGER_PLAN_H

#include <jansson.h>

#include "base/random.h"
#include "ledger/ledger.h"

/* How a sensitivity grows with the m trips of a unit: clip, clip*sqrt(m) or clip*m. */
enum dpl_growth { DPL_GROWTH_NONE, DPL_GROWTH_ROOT, DPL_GROWTH_LINEAR };

/* What a method asks for, in public numbers. Sensitivity, rate, steps and sigma follow from it. */
struct dpl_mechanism {
    char name[DPL_EVENT_NAME];
    enum dpl_event_kind kind;
    double share; /* of the squared budget, relative to the other shares (dpl_account_solve) */
    double
        sigma;   /* given instead of solved for: then of all mechanisms, and shares do not matter */
    double clip; /* norm that a trip's contribution is clipped to; 0: the released number
                    `clip_from` */
    char clip_from[DPL_EVENT_NAME];
    enum dpl_growth growth;
    double batch;  /* POISSON: expected units in a step; rate = min(1, batch / units) */
    double epochs; /* POISSON: steps = ceil(epochs * units / batch), at least ceil(epochs) ... */
    int64_t steps; /* ... or this number */
    double chance; /* THRESHOLD: its part of delta */
    bool bare;     /* taken without noise, as a published program does: epsilon is infinite */
};

/* Where a noised table is to say how many trips a user counts as (budget.trips_max 0): 1, 2, 4 ...
 */
enum { DPL_TRIPS_CHOSEN_MOST = 64 };
static inline bool dpl_trips_possible(int64_t m) {
    return m >= 1 && m <= DPL_TRIPS_CHOSEN_MOST && (m & (m - 1)) == 0;
}

struct dpl_size;
struct dpl_plan;

/* epsilon 1, delta 1e-8, 2 % for the size, unit trip. */
struct dpl_budget dpl_budget_defaults(void);
/* Reads "train=0.6,topk=0.05" into the shares of the mechanisms so named; the others stay. */
enum dpl_status dpl_budget_shares(struct dpl_run *run, const char *text,
                                  struct dpl_mechanism *mechanisms, size_t n);
/* The holder declares the number of units public (`fit.size`): it costs nothing. */
enum dpl_status dpl_size_declare(struct dpl_run *run, int64_t units, struct dpl_size **size);
int64_t dpl_size_units(const struct dpl_size *size);
void dpl_size_free(struct dpl_size *size);
/* Whether any of them is taken without noise. */
bool dpl_mechanisms_bare(const struct dpl_mechanism *mechanisms, size_t n);
/* Fixes all n mechanisms: sigmas solved for (epsilon - cost of the size, delta) in one composition;
 * or as given, and epsilon is then what they cost. With bare ones among them the others are noised
 * as if they were all, and epsilon is infinite. Caller frees with dpl_plan_free; `size` is
 * copied. */
enum dpl_status dpl_plan_make(struct dpl_run *run, const struct dpl_budget *budget,
                              const struct dpl_size *size, const struct dpl_mechanism *mechanisms,
                              size_t n, struct dpl_plan **plan);
void dpl_plan_free(struct dpl_plan *plan);
size_t dpl_plan_events(const struct dpl_plan *plan);
/* Event i < dpl_plan_events, in the order asked for; what sampler, noise and accountant all use. */
const struct dpl_event *dpl_plan_event(const struct dpl_plan *plan, size_t i);
const struct dpl_mechanism *dpl_plan_mechanism(const struct dpl_plan *plan, size_t i);
/* Of all of the release, the size included. */
double dpl_plan_epsilon(const struct dpl_plan *plan);
double dpl_plan_delta(const struct dpl_plan *plan);
/* The cost of the size, and the number of units it gave. */
double dpl_plan_epsilon_size(const struct dpl_plan *plan);
int64_t dpl_plan_units(const struct dpl_plan *plan);
/* What the accountant says of the events without the size. */
const struct dpl_bound *dpl_plan_bound(const struct dpl_plan *plan);
const struct dpl_budget *dpl_plan_budget(const struct dpl_plan *plan);

/* ---- measure the size, charge, reserve ---- */

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
 * value of the released number `clip_from`; while that or trips_max is not known, it is 0, and so
 * is the sensitivity that follows from it. */
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
/* All numbers of a plan that do not follow from the budget and what was asked for. */
json_t *dpl_plan_to_json(const struct dpl_plan *plan);
/* The plan again, from these numbers, the budget and what was asked for (n): for workers, and for
 * rounds that come after the one that made it. DPL_BAD_DATA with `where` in front when they are not
 * a plan's. Caller frees with dpl_plan_free. */
enum dpl_status dpl_plan_from_json(struct dpl_run *run, const char *where, json_t *object,
                                   const struct dpl_budget *budget,
                                   const struct dpl_mechanism *mechanisms, size_t n,
                                   struct dpl_plan **plan);
/* Charges the whole plan to the ledger (NULL: none). Once, before the first dpl_plan_reserve. */
enum dpl_status dpl_plan_charge(struct dpl_run *run, const struct dpl_plan *plan,
                                struct dpl_ledger *ledger);
/* Reserves event i; its noise may be drawn when this has returned DPL_OK, and not before. *event is
 * the event to use, its sensitivity settled where the plan left it open: by the released number
 * `number`, and by `trips_max`, the bound that was chosen from a noised table (0: not yet) where
 * the budget has none. */
enum dpl_status dpl_plan_reserve(struct dpl_run *run, const struct dpl_plan *plan, size_t i,
                                 double number, int64_t trips_max, struct dpl_ledger *ledger,
                                 struct dpl_event *event);

#endif
