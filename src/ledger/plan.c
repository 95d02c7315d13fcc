/* The plan: from public numbers and the noised number of units to all mechanisms and their noise.
 *
 * Order of knowledge. The size is measured first and alone, by pure differential privacy
 * (epsilon_N), or declared. Everything below is a function of it and of the options: this file
 * includes nothing that could read a trip, and takes the size as a type that only noise or a
 * declaration can make. Parameters fixed in this way may be composed by privacy loss distributions;
 * epsilon_N is added on top (basic composition).
 *
 * Invariants
 *  - A plan has no setter: struct dpl_plan is known to this file alone and handed out as const.
 *  - In a solved plan the accountant's epsilon for its events is at most epsilon - epsilon_N:
 * checked, not assumed. Cost: one search of the accountant, some seconds at worst. */
#include "ledger/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account/event.h"
#include "ledger/ledger.h"
#include "noise/lattice.h"
#include "base/json.h"

static const int64_t UNITS_MAX = (int64_t)1 << 40;
static const double STEPS_MAX = 0x1p53;
static const double SIZE_EPSILON_MAX = 100; // beyond it the noise is zero anyway

struct dpl_size {
    int64_t units;
    bool declared;
    double epsilon;         // 0 when declared
    struct dpl_event event; // when measured
};

struct dpl_plan {
    struct dpl_budget budget;
    struct dpl_size size;
    struct dpl_bound bound;
    double epsilon;
    bool given;
    size_t n;
    struct dpl_mechanism *mechanisms; // (n)
    struct dpl_event *events;         // (n)
};

/* ---- the budget ---- */

struct dpl_budget dpl_budget_defaults(void) {
    return (struct dpl_budget){
        .epsilon = 1, .delta = 1e-8, .size_share = 0.02, .unit = DPL_UNIT_TRIP, .trips_max = 1};
}

enum dpl_status dpl_budget_check(struct dpl_run *run, const struct dpl_budget *budget) {
    if (!(budget->epsilon > 0))
        return dpl_fail(run, DPL_USAGE,
                        "`budget.epsilon` takes a number above 0 (or 'inf', for a release that is "
                        "NOT PRIVATE)");
    if (!(budget->delta > 0 && budget->delta < 1))
        return dpl_fail(run, DPL_USAGE,
                        "`budget.delta` takes a number between 0 and 1, both excluded");
    if (!(budget->size_share > 0 && budget->size_share < 1))
        return dpl_fail(run, DPL_USAGE, "the share of the size must lie between 0 and 1");
    const bool open =
        budget->trips_max == 0 && budget->unit == DPL_UNIT_USER; // a release settles it
    if ((budget->trips_max < 1 && !open) || budget->trips_max > 1000000)
        return dpl_fail(run, DPL_USAGE, "the trips kept of a unit must be from 1 to 1000000");
    if (budget->unit == DPL_UNIT_TRIP && budget->trips_max != 1)
        return dpl_fail(run, DPL_USAGE, "a trip is one trip: more belong to `budget.unit` user");
    return DPL_OK;
}

static struct dpl_mechanism *find_mechanism(struct dpl_mechanism *mechanisms, size_t n,
                                            const char *name, size_t length) {
    for (size_t i = 0; i < n; i++)
        if (strlen(mechanisms[i].name) == length && !strncmp(mechanisms[i].name, name, length))
            return &mechanisms[i];
    return NULL;
}

enum dpl_status dpl_budget_shares(struct dpl_run *run, const char *text,
                                  struct dpl_mechanism *mechanisms, size_t n) {
    dpl_run_begin(run);
    for (const char *next = text; *next;) {
        size_t length = strcspn(next, "=,");
        struct dpl_mechanism *mechanism = find_mechanism(mechanisms, n, next, length);
        if (next[length] != '=')
            return dpl_fail(run, DPL_USAGE,
                            "shares are written name=number,name=number, not '%.60s'", next);
        if (!mechanism)
            return dpl_fail(run, DPL_USAGE, "there is no mechanism '%.*s' to give a share to",
                            (int)(length < 60 ? length : 60), next);
        char *end;
        double share = strtod(next + length + 1, &end);
        if (end == next + length + 1 || (*end && *end != ',') || !(share > 0) || !isfinite(share))
            return dpl_fail(run, DPL_USAGE, "the share of '%s' must be a number above 0",
                            mechanism->name);
        mechanism->share = share;
        next = *end ? end + 1 : end;
    }
    return DPL_OK;
}

/* ---- the size ---- */

enum dpl_status dpl_size_declare(struct dpl_run *run, int64_t units, struct dpl_size **made) {
    dpl_run_begin(run);
    if (units < 1 || units > UNITS_MAX)
        return dpl_fail(run, DPL_USAGE, "`fit.size` takes a number of units from 1 to 2^40");
    struct dpl_size *size = dpl_alloc(run, 1, sizeof *size);
    if (!size) return DPL_SYSTEM;
    size->units = units;
    size->declared = true;
    *made = size;
    return DPL_OK;
}

static struct dpl_event size_event(double sigma) {
    return (struct dpl_event){.name = "size",
                              .kind = DPL_EVENT_LAPLACE,
                              .sensitivity = 1,
                              .sigma = sigma,
                              .rate = 1,
                              .steps = 1};
}

/* PRIVACY: one unit more or less changes the count by 1: L1 sensitivity 1, Laplace scale
 * 1/epsilon_N. */
static enum dpl_status measure(struct dpl_run *run, size_t units, struct dpl_secret *secret,
                               struct dpl_size *size) {
    struct dpl_exact *exact = NULL;
    struct dpl_noised *noised = NULL;
    const struct dpl_exact_options shape = {
        .n = 1, .norm = DPL_NORM_L1, .sensitivity = 1, .places = 0};
    const int64_t sum = (int64_t)units; // of units that add 1 each
    enum dpl_status status = dpl_exact_new(run, &shape, &exact);
    if (status == DPL_OK) status = dpl_exact_merge_bytes(run, exact, units, &sum);
    if (status == DPL_OK)
        status =
            dpl_laplace_release(run, secret, &size->event,
                                (struct dpl_stream_id){DPL_PURPOSE_SIZE, 0, 0}, &exact, &noised);
    if (status == DPL_OK)
        size->units = (int64_t)fmin(fmax(dpl_noised_value(noised, 0), 1), (double)UNITS_MAX);
    dpl_noised_free(noised);
    dpl_exact_free(exact);
    return status;
}

enum dpl_status dpl_size_measure(struct dpl_run *run, const struct dpl_budget *budget, size_t units,
                                 struct dpl_secret *secret, struct dpl_ledger *ledger,
                                 struct dpl_size **made) {
    DPL_TRY(dpl_budget_check(run, budget));
    if (secret->insecure != budget->insecure_seed)
        return dpl_fail(run, DPL_REFUSED,
                        "the budget and the random source disagree on `budget.insecure_seed`");
    bool noiseless = isinf(budget->epsilon), worthless = noiseless || budget->insecure_seed;
    double epsilon = fmin(budget->epsilon * budget->size_share, SIZE_EPSILON_MAX);
    struct dpl_size size = {.units = (int64_t)units, .epsilon = noiseless ? INFINITY : epsilon};
    size.event = size_event(
        noiseless ? 0 : nextafter(1 / epsilon, INFINITY)); // rounded up: costs at most epsilon
    // The whole release is weighed before its first noise, not the size alone.
    DPL_TRY(dpl_ledger_afford(ledger, worthless ? INFINITY : budget->epsilon, budget->delta));
    DPL_TRY(dpl_ledger_charge(ledger, "size", worthless ? INFINITY : epsilon, 0, &size.event, 1));
    DPL_TRY(dpl_ledger_reserve(ledger, "size", &size.event));
    if (!noiseless) DPL_TRY(measure(run, units, secret, &size));
    if (size.units < 1) size.units = 1;
    *made = dpl_alloc(run, 1, sizeof size);
    if (!*made) return DPL_SYSTEM;
    **made = size;
    return DPL_OK;
}

int64_t dpl_size_units(const struct dpl_size *size) { return size->units; }

void dpl_size_free(struct dpl_size *size) { dpl_free(size); }

/* ---- from requests to events ---- */

static const char *const GROWTHS[] = {
    [DPL_GROWTH_NONE] = "none", [DPL_GROWTH_ROOT] = "root", [DPL_GROWTH_LINEAR] = "linear"};
enum { N_GROWTHS = sizeof GROWTHS / sizeof *GROWTHS };

const char *dpl_growth_name(enum dpl_growth growth) { return GROWTHS[growth]; }

bool dpl_growth_parse(const char *name, enum dpl_growth *growth) {
    for (size_t i = 0; i < N_GROWTHS; i++) {
        if (strcmp(name, GROWTHS[i])) continue;
        *growth = (enum dpl_growth)i;
        return true;
    }
    return false;
}

/* PRIVACY: METHOD.md "Units": a unit's summed vector has norm at most clip*sqrt(m), or clip*m
 * unclipped. 0 where m is not known yet. */
static double grow(enum dpl_growth growth, double clip, double trips_max) {
    if (growth == DPL_GROWTH_ROOT) return clip * sqrt(trips_max);
    return growth == DPL_GROWTH_LINEAR ? clip * trips_max : clip;
}

static enum dpl_status imply_steps(struct dpl_run *run, const struct dpl_mechanism *mechanism,
                                   double units, struct dpl_event *event) {
    if (!(mechanism->batch > 0) || !isfinite(mechanism->batch))
        return dpl_fail(run, DPL_USAGE, "%s: the batch must be a number above 0", mechanism->name);
    bool by_epochs = mechanism->epochs > 0;
    if (by_epochs == (mechanism->steps > 0) || mechanism->steps < 0 || !(mechanism->epochs >= 0))
        return dpl_fail(run, DPL_USAGE, "%s: either steps or epochs, above 0", mechanism->name);
    event->rate = fmin(1, mechanism->batch / units);
    // Multiplied first: 15 * 450000 / 200 is 33750, whereas 15 / (200 / 450000) may be a little
    // more.
    double steps = by_epochs ? ceil(event->rate < 1 ? mechanism->epochs * units / mechanism->batch
                                                    : mechanism->epochs)
                             : (double)mechanism->steps;
    if (!(steps <= STEPS_MAX))
        return dpl_fail(run, DPL_USAGE, "%s: more than 2^53 steps", mechanism->name);
    event->steps = by_epochs ? (int64_t)steps : mechanism->steps;
    return DPL_OK;
}

enum dpl_status dpl_mechanism_imply(struct dpl_run *run, const struct dpl_mechanism *mechanism,
                                    int64_t units, int64_t trips_max, double number,
                                    struct dpl_event *event) {
    struct dpl_event implied = {.kind = mechanism->kind, .rate = 1, .steps = 1};
    memcpy(implied.name, mechanism->name, sizeof implied.name);
    implied.name[sizeof implied.name - 1] = '\0';
    bool from_number = mechanism->clip_from[0] != '\0';
    if (from_number == (mechanism->clip > 0) || !(mechanism->clip >= 0) ||
        !isfinite(mechanism->clip) || !(number >= 0) || !isfinite(number))
        return dpl_fail(run, DPL_USAGE,
                        "%s: the norm that contributions are clipped to must be a number above 0",
                        implied.name);
    implied.sensitivity =
        grow(mechanism->growth, from_number ? number : mechanism->clip, (double)trips_max);
    if (mechanism->kind == DPL_EVENT_THRESHOLD) implied.rate = mechanism->chance;
    if (mechanism->kind == DPL_EVENT_POISSON)
        DPL_TRY(imply_steps(run, mechanism, (double)units, &implied));
    *event = implied;
    return DPL_OK;
}

double dpl_event_weight(const struct dpl_event *event) {
    double inverse = 1 / (event->sigma * event->sigma);
    if (event->kind == DPL_EVENT_POISSON)
        return event->rate * event->rate * (double)event->steps * expm1(inverse);
    return inverse;
}

/* ---- making a plan ---- */

static enum dpl_status check_names(struct dpl_run *run, const struct dpl_mechanism *mechanisms,
                                   size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(mechanisms[i].name, "size"))
            return dpl_fail(run, DPL_USAGE, "the name 'size' belongs to the number of units");
        for (size_t j = 0; j < i; j++)
            if (!strcmp(mechanisms[i].name, mechanisms[j].name))
                return dpl_fail(run, DPL_USAGE, "two mechanisms are named '%s'",
                                mechanisms[i].name);
    }
    return DPL_OK;
}

static enum dpl_status imply_events(struct dpl_run *run, struct dpl_plan *plan) {
    for (size_t i = 0; i < plan->n; i++) {
        struct dpl_event *event = &plan->events[i];
        DPL_TRY(dpl_mechanism_imply(run, &plan->mechanisms[i], plan->size.units,
                                    plan->budget.trips_max, 0, event));
        DPL_TRY(dpl_event_check(run, "plan", event, DPL_EVENT_OPEN | DPL_EVENT_NOISELESS));
        if (isinf(plan->budget.epsilon) || plan->mechanisms[i].bare) continue; // sigma stays 0
        if (plan->given != (plan->mechanisms[i].sigma > 0))
            return dpl_fail(run, DPL_USAGE, "sigma must be given for all mechanisms or for none");
        if (plan->given) event->sigma = plan->mechanisms[i].sigma;
    }
    return DPL_OK;
}

bool dpl_mechanisms_bare(const struct dpl_mechanism *mechanisms, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (mechanisms[i].bare) return true;
    return false;
}

static bool has_bare(const struct dpl_plan *plan) {
    return dpl_mechanisms_bare(plan->mechanisms, plan->n);
}

/* The events that are noised, and their shares: noised, share (plan->n). Returns how many. */
static size_t gather_noised(const struct dpl_plan *plan, struct dpl_event *noised, double *share) {
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++) {
        if (plan->mechanisms[i].bare) continue;
        share[n] = plan->mechanisms[i].share;
        noised[n++] = plan->events[i];
    }
    return n;
}

static enum dpl_status solve_noised(struct dpl_run *run, struct dpl_plan *plan, double target,
                                    struct dpl_event *noised, double *share) {
    size_t n = gather_noised(plan, noised, share), at = 0;
    for (size_t i = 0; i < n; i++)
        if (!(share[i] > 0) || !isfinite(share[i]))
            return dpl_fail(run, DPL_USAGE, "%s: its share must be a number above 0",
                            noised[i].name);
    if (n == 0) return DPL_OK;
    DPL_TRY(dpl_account_solve(run, noised, share, n, target, plan->budget.delta));
    for (size_t i = 0; i < plan->n; i++)
        if (!plan->mechanisms[i].bare) plan->events[i].sigma = noised[at++].sigma;
    return dpl_account(run, noised, n, plan->budget.delta, &plan->bound);
}

static enum dpl_status solve(struct dpl_run *run, struct dpl_plan *plan) {
    double size = isinf(plan->size.epsilon) ? plan->budget.epsilon * plan->budget.size_share
                                            : plan->size.epsilon,
           target = plan->budget.epsilon - size;
    double *share = dpl_alloc(run, plan->n, sizeof *share);
    struct dpl_event *noised = dpl_alloc(run, plan->n, sizeof *noised);
    enum dpl_status status =
        share && noised ? solve_noised(run, plan, target, noised, share) : DPL_SYSTEM;
    dpl_free(share), dpl_free(noised);
    if (status != DPL_OK) return status;
    // PRIVACY: the claim is what was asked for, so what was found must not exceed it.
    if (!(plan->bound.epsilon <= target))
        return dpl_fail(
            run, DPL_SYSTEM,
            "the noise found gives epsilon %.17g where %.17g was asked for (please report this)",
            plan->bound.epsilon, target);
    plan->epsilon = plan->budget.epsilon;
    return DPL_OK;
}

static void promise_nothing(struct dpl_plan *plan) {
    plan->bound = (struct dpl_bound){.epsilon = INFINITY,
                                     .delta = plan->budget.delta,
                                     .epsilon_pld = INFINITY,
                                     .epsilon_rdp = INFINITY};
    plan->epsilon = INFINITY;
}

static enum dpl_status settle_noise(struct dpl_run *run, struct dpl_plan *plan) {
    if (!isinf(plan->budget.epsilon) && !plan->given) DPL_TRY(solve(run, plan));
    // PRIVACY: one table without noise gives its units away, whatever the others cost.
    if (isinf(plan->budget.epsilon) || has_bare(plan)) promise_nothing(plan);
    if (isinf(plan->budget.epsilon) || has_bare(plan) || !plan->given) return DPL_OK;
    DPL_TRY(dpl_account(run, plan->events, plan->n, plan->budget.delta, &plan->bound));
    plan->epsilon = nextafter(plan->bound.epsilon + plan->size.epsilon, INFINITY);
    return DPL_OK;
}

static const double ADVISED_EPSILON = 10; // odds of e^10 to 1

static void warn(struct dpl_run *run, const struct dpl_plan *plan) {
    double limit = 1 / (100 * (double)plan->size.units);
    if (plan->budget.delta > limit)
        dpl_note(run,
                 "warning: delta %.3g is large for about %lld %ss: with that chance one may be "
                 "published as it is. At most %.2g (one in a hundred times their number) is "
                 "advised: `budget.delta`",
                 plan->budget.delta, (long long)plan->size.units, dpl_unit_name(plan->budget.unit),
                 limit);
    if (plan->epsilon > ADVISED_EPSILON && isfinite(plan->epsilon))
        dpl_note(run,
                 "warning: epsilon %.6g is weak: whoever takes it for 50:50 that someone is in the "
                 "data may be all but certain afterwards. At most %g is advised: `budget.epsilon`",
                 plan->epsilon, ADVISED_EPSILON);
    if (isinf(plan->budget.epsilon))
        dpl_note(run, "NOT PRIVATE: epsilon is infinite, nothing is noised");
    else if (has_bare(plan))
        dpl_note(run, "NOT PRIVATE: tables are taken without noise, as published");
    if (plan->budget.insecure_seed)
        dpl_note(run, "NOT PRIVATE: the noise follows from `budget.insecure_seed`");
}

/* A plan of which nothing is settled yet. */
static enum dpl_status new_plan(struct dpl_run *run, const struct dpl_budget *budget,
                                const struct dpl_size *size, const struct dpl_mechanism *mechanisms,
                                size_t n, struct dpl_plan **made) {
    struct dpl_plan *plan = dpl_alloc(run, 1, sizeof *plan);
    if (!plan) return DPL_SYSTEM;
    plan->budget = *budget;
    plan->size = *size;
    plan->n = n;
    plan->given = !isinf(budget->epsilon) && mechanisms[0].sigma > 0;
    plan->mechanisms = dpl_alloc(run, n, sizeof *plan->mechanisms);
    plan->events = dpl_alloc(run, n, sizeof *plan->events);
    if (!plan->mechanisms || !plan->events) {
        dpl_plan_free(plan);
        return DPL_SYSTEM;
    }
    memcpy(plan->mechanisms, mechanisms, n * sizeof *mechanisms);
    *made = plan;
    return DPL_OK;
}

enum dpl_status dpl_plan_make(struct dpl_run *run, const struct dpl_budget *budget,
                              const struct dpl_size *size, const struct dpl_mechanism *mechanisms,
                              size_t n, struct dpl_plan **made) {
    enum dpl_status status;
    struct dpl_plan *plan = NULL;
    dpl_run_begin(run);
    DPL_TRY(dpl_budget_check(run, budget));
    if (n == 0) return dpl_fail(run, DPL_USAGE, "a plan without mechanisms");
    bool worthless = isinf(budget->epsilon) || dpl_mechanisms_bare(mechanisms, n);
    if (isinf(size->epsilon) != (worthless && !size->declared) ||
        (!worthless && !(size->epsilon < budget->epsilon)))
        return dpl_fail(run, DPL_USAGE, "the number of units was measured for another budget");
    DPL_TRY(check_names(run, mechanisms, n));
    DPL_TRY(new_plan(run, budget, size, mechanisms, n, &plan));
    DPL_GO(imply_events(run, plan));
    DPL_GO(settle_noise(run, plan));
    warn(run, plan);
    *made = plan;
    plan = NULL;
done:
    dpl_plan_free(plan);
    return status;
}

enum dpl_status dpl_plan_again(struct dpl_run *run, const struct dpl_budget *budget, int64_t units,
                               double epsilon_size, struct dpl_plan **made) {
    DPL_TRY(dpl_budget_check(run, budget));
    struct dpl_plan *plan = dpl_alloc(run, 1, sizeof *plan);
    if (!plan) return DPL_SYSTEM;
    plan->budget = *budget;
    plan->size = (struct dpl_size){.units = units, .epsilon = epsilon_size};
    plan->epsilon = budget->epsilon;
    plan->bound.epsilon = isinf(budget->epsilon) ? INFINITY : budget->epsilon - epsilon_size;
    *made = plan;
    return DPL_OK;
}

/* ---- as text ---- */

json_t *dpl_plan_to_json(const struct dpl_plan *plan) {
    json_t *sigmas = json_array();
    for (size_t i = 0; sigmas && i < plan->n; i++)
        dpl_json_append(&sigmas, json_real(plan->events[i].sigma));
    const struct dpl_bound *bound = &plan->bound;
    return json_pack("{s:I, s:b, s:o, s:f, s:o, s:o, s:i, s:o, s:o, s:o}", "units",
                     (json_int_t)plan->size.units, "declared", plan->size.declared, "size_epsilon",
                     dpl_number_to_json(plan->size.epsilon), "size_sigma", plan->size.event.sigma,
                     "epsilon", dpl_number_to_json(plan->epsilon), "bound",
                     dpl_number_to_json(bound->epsilon), "bound_kind", (int)bound->kind, "pld",
                     dpl_number_to_json(bound->epsilon_pld), "rdp",
                     dpl_number_to_json(bound->epsilon_rdp), "sigmas", sigmas);
}

static enum dpl_status read_numbers(struct dpl_run *run, const char *where, json_t *object,
                                    struct dpl_size *size, double *epsilon,
                                    struct dpl_bound *bound) {
    double sigma;
    DPL_TRY(dpl_whole_from_json(run, where, object, "units", &size->units));
    DPL_TRY(dpl_number_from_json(run, where, object, "size_epsilon", &size->epsilon));
    DPL_TRY(dpl_number_from_json(run, where, object, "size_sigma", &sigma));
    DPL_TRY(dpl_number_from_json(run, where, object, "epsilon", epsilon));
    DPL_TRY(dpl_number_from_json(run, where, object, "bound", &bound->epsilon));
    DPL_TRY(dpl_number_from_json(run, where, object, "pld", &bound->epsilon_pld));
    DPL_TRY(dpl_number_from_json(run, where, object, "rdp", &bound->epsilon_rdp));
    bound->kind = (enum dpl_bound_kind)json_integer_value(json_object_get(object, "bound_kind"));
    size->declared = json_is_true(json_object_get(object, "declared"));
    if (!size->declared) size->event = size_event(sigma);
    if (size->units < 1 || size->units > UNITS_MAX || bound->kind < DPL_BOUND_NONE ||
        bound->kind > DPL_BOUND_RDP)
        return dpl_fail(run, DPL_BAD_DATA, "%s: the numbers of its budget are damaged", where);
    return DPL_OK;
}

enum dpl_status dpl_plan_from_json(struct dpl_run *run, const char *where, json_t *object,
                                   const struct dpl_budget *budget,
                                   const struct dpl_mechanism *mechanisms, size_t n,
                                   struct dpl_plan **made) {
    struct dpl_size size = {.units = 0};
    struct dpl_bound bound = {.delta = budget->delta};
    struct dpl_plan *plan = NULL;
    double epsilon;
    enum dpl_status status;
    json_t *sigmas = json_object_get(object, "sigmas");
    DPL_TRY(dpl_budget_check(run, budget));
    DPL_TRY(read_numbers(run, where, object, &size, &epsilon, &bound));
    DPL_TRY(new_plan(run, budget, &size, mechanisms, n, &plan));
    plan->epsilon = epsilon, plan->bound = bound;
    DPL_GO(imply_events(run, plan));
    if (json_array_size(sigmas) != n) {
        status = dpl_fail(run, DPL_BAD_DATA, "%s: the numbers of its budget are damaged", where);
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        plan->events[i].sigma = json_number_value(json_array_get(sigmas, i));
    *made = plan;
    plan = NULL;
done:
    dpl_plan_free(plan);
    return status;
}

void dpl_plan_free(struct dpl_plan *plan) {
    if (!plan) return;
    dpl_free(plan->mechanisms);
    dpl_free(plan->events);
    dpl_free(plan);
}

/* ---- reading it ---- */

size_t dpl_plan_events(const struct dpl_plan *plan) { return plan->n; }
const struct dpl_event *dpl_plan_event(const struct dpl_plan *plan, size_t i) {
    return &plan->events[i];
}
const struct dpl_mechanism *dpl_plan_mechanism(const struct dpl_plan *plan, size_t i) {
    return &plan->mechanisms[i];
}
double dpl_plan_epsilon(const struct dpl_plan *plan) { return plan->epsilon; }
double dpl_plan_delta(const struct dpl_plan *plan) { return plan->budget.delta; }
double dpl_plan_epsilon_size(const struct dpl_plan *plan) { return plan->size.epsilon; }
int64_t dpl_plan_units(const struct dpl_plan *plan) { return plan->size.units; }
const struct dpl_bound *dpl_plan_bound(const struct dpl_plan *plan) { return &plan->bound; }
const struct dpl_budget *dpl_plan_budget(const struct dpl_plan *plan) { return &plan->budget; }
const struct dpl_event *dpl_plan_size_event(const struct dpl_plan *plan) {
    return plan->size.declared ? NULL : &plan->size.event;
}
bool dpl_plan_given(const struct dpl_plan *plan) { return plan->given; }

/* ---- spending it ---- */

enum dpl_status dpl_plan_charge(struct dpl_run *run, const struct dpl_plan *plan,
                                struct dpl_ledger *ledger) {
    // Noise that a seed gives away protects nothing: such a run costs as much as one without noise.
    double epsilon = plan->budget.insecure_seed ? INFINITY : plan->epsilon - plan->size.epsilon;
    (void)run;
    return dpl_ledger_charge(ledger, "plan", isinf(plan->epsilon) ? INFINITY : epsilon,
                             plan->budget.delta, plan->events, plan->n);
}

enum dpl_status dpl_plan_reserve(struct dpl_run *run, const struct dpl_plan *plan, size_t i,
                                 double number, int64_t trips_max, struct dpl_ledger *ledger,
                                 struct dpl_event *event) {
    struct dpl_event settled = plan->events[i];
    // PRIVACY: what the budget fixes no release can change.
    if (plan->budget.trips_max > 0) trips_max = plan->budget.trips_max;
    if (!(settled.sensitivity > 0)) {
        struct dpl_event implied;
        DPL_TRY(dpl_mechanism_imply(run, &plan->mechanisms[i], plan->size.units, trips_max, number,
                                    &implied));
        settled.sensitivity = implied.sensitivity;
    }
    DPL_TRY(dpl_event_check(run, "plan", &settled,
                            isinf(plan->epsilon) ? DPL_EVENT_NOISELESS : DPL_EVENT_STRICT));
    DPL_TRY(dpl_ledger_reserve(ledger, "plan", &settled));
    *event = settled;
    return DPL_OK;
}
