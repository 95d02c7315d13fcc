/* dploc verify: does a certificate agree with itself?
 *
 *     options and requests, units  --imply-->  events (rate, steps, sensitivity)
 *     shares                       --agree-->  sigmas
 *     events, delta                --account-> epsilon, at most the one claimed
 *
 * It shows that the promise follows from the stated mechanisms. It cannot show that the program
 * that made the release ran those mechanisms: consistency, not proof. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "ledger/certificate.h"
#include "account/event.h"
#include "ledger/plan.h"

static const double ROUNDING = 1e-9; // relative: decimal writing and sums
static const double SAME_SHARE = 1e-6;
static const double SAME_EPSILON = 0.02; // between versions of the accountant

static void reason(struct dpl_verdict *verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void reason(struct dpl_verdict *verdict, const char *format, ...) {
    verdict->valid = false;
    if (verdict->n_reasons == DPL_REASONS) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(verdict->reasons[verdict->n_reasons++], DPL_REASON_SIZE, format, arguments);
    va_end(arguments);
}

/* ---- do the choices imply the events? ---- */

static void check_event(struct dpl_run *run, const struct dpl_claim *claim,
                        const struct dpl_claim_mechanism *mechanism, struct dpl_verdict *verdict) {
    const struct dpl_event *event = &mechanism->event;
    const struct dpl_mechanism *request = &mechanism->request;
    struct dpl_event implied;
    double number = request->clip_from[0]
                        ? json_number_value(json_object_get(claim->numbers, request->clip_from))
                        : 0;
    if (request->clip_from[0] && !(number > 0)) {
        reason(verdict,
               "%s: its sensitivity follows from '%s', which the certificate does not state",
               event->name, request->clip_from);
        return;
    }
    if (dpl_mechanism_imply(run, request, claim->units, claim->trips_max, number, &implied) !=
        DPL_OK) {
        reason(verdict, "%.200s", dpl_run_message(run));
        dpl_run_begin(run);
        return;
    }
    if (!dpl_near(event->sensitivity, implied.sensitivity, ROUNDING))
        reason(verdict, "%s: sensitivity is %.9g, but its options imply %.9g", event->name,
               event->sensitivity, implied.sensitivity);
    if (!dpl_near(event->rate, implied.rate, ROUNDING))
        reason(verdict, "%s: rate is %.9g, but a batch of %.9g out of %lld units implies %.9g",
               event->name, event->rate, request->batch, (long long)claim->units, implied.rate);
    if (event->steps != implied.steps)
        reason(verdict, "%s: %lld steps, but its options imply %lld", event->name,
               (long long)event->steps, (long long)implied.steps);
}

/* In a solved plan the squared budget is split as the shares say. */
static void check_shares(const struct dpl_claim *claim, struct dpl_verdict *verdict) {
    if (claim->given || isinf(claim->epsilon)) return;
    const struct dpl_claim_mechanism *first = &claim->mechanisms[0];
    double unit = dpl_event_weight(&first->event) / first->request.share;
    for (size_t i = 0; i < claim->n; i++) {
        const struct dpl_claim_mechanism *mechanism = &claim->mechanisms[i];
        if (!(mechanism->request.share > 0) || !isfinite(mechanism->request.share))
            reason(verdict, "%s: its share is not a number above 0", mechanism->event.name);
        else if (!dpl_near(dpl_event_weight(&mechanism->event), unit * mechanism->request.share,
                           SAME_SHARE))
            reason(verdict, "%s: sigma %.9g is not what its share of the budget implies",
                   mechanism->event.name, mechanism->event.sigma);
    }
}

/* Reports that units noise themselves protect by replacement; noised counts by add and remove. One
 * promise cannot be both. */
static void check_local(const struct dpl_claim *claim, struct dpl_verdict *verdict) {
    verdict->local = claim->local;
    for (size_t i = 0; i < claim->n; i++) {
        const struct dpl_event *event = &claim->mechanisms[i].event;
        if ((event->kind == DPL_EVENT_LOCAL) != claim->local)
            reason(verdict, "%s: a %s mechanism, but \"adjacency\" is that of the %s model",
                   event->name, dpl_event_kind_name(event->kind),
                   claim->local ? "local" : "central");
    }
}

static void check_size(const struct dpl_claim *claim, struct dpl_verdict *verdict) {
    bool measured = claim->size_event.name[0] != '\0';
    if (measured == claim->declared)
        reason(verdict, "the number of units is %s",
               measured ? "declared, yet a mechanism measures it"
                        : "measured, yet no mechanism does so");
    if (!measured && claim->epsilon_size > 0)
        reason(verdict, "a declared number of units costs no epsilon");
    if (!measured || isinf(claim->epsilon)) return;
    if (!dpl_near(claim->epsilon_size * claim->size_event.sigma, 1, ROUNDING))
        reason(verdict, "size: scale %.9g is an epsilon of %.9g, not %.9g", claim->size_event.sigma,
               1 / claim->size_event.sigma, claim->epsilon_size);
    if (!dpl_near(claim->size_event.sensitivity, 1, ROUNDING))
        reason(verdict, "size: one unit changes the number of units by 1, not by %.9g",
               claim->size_event.sensitivity);
}

/* ---- do the public options say the same? ---- */

static void check_option(const struct dpl_claim *claim, const char *name, double value,
                         struct dpl_verdict *verdict) {
    json_t *option = json_object_get(claim->options, name);
    if (!option) return;
    const char *text = json_string_value(option);
    double stated = json_number_value(option);
    if (text) stated = !strcmp(text, "inf") || !strcmp(text, "infinity") ? INFINITY : NAN;
    if (!dpl_near(stated, value, ROUNDING))
        reason(verdict, "the option %s is %.9g, but the certificate is for %.9g", name, stated,
               value);
}

static bool any_noised(const struct dpl_claim *claim) {
    for (size_t i = 0; i < claim->n; i++)
        if (claim->mechanisms[i].event.sigma > 0) return true;
    return false;
}

/* Keys above a threshold have Gaussian noise. */
static void check_kinds(const struct dpl_claim *claim, struct dpl_verdict *verdict) {
    const char *kind = json_string_value(json_object_get(claim->options, "mechanism"));
    for (size_t i = 0; kind && i < claim->n; i++) {
        const struct dpl_event *event = &claim->mechanisms[i].event;
        const char *name = dpl_event_kind_name(
            event->kind == DPL_EVENT_THRESHOLD ? DPL_EVENT_GAUSSIAN : event->kind);
        if (strcmp(kind, name))
            reason(verdict, "%s: a %s mechanism, but the option mechanism is %.40s", event->name,
                   name, kind);
    }
}

/* How many trips a user counts as is an option, or a released number: then every sensitivity that
 * grows with it (check_event) follows from a table that does not. */
static void check_trips_max(const struct dpl_claim *claim, struct dpl_verdict *verdict) {
    json_t *chosen = json_object_get(claim->numbers, "trips_max");
    bool table = false;
    if (!chosen && claim->unit == DPL_UNIT_USER && !json_object_get(claim->options, "trips-max"))
        reason(verdict, "nobody says where its \"trips_max\" comes from: it is neither an option "
                        "nor a released number");
    if (!chosen) return;
    for (size_t i = 0; i < claim->n; i++)
        table |= !strcmp(claim->mechanisms[i].event.name, "users") &&
                 claim->mechanisms[i].request.growth == DPL_GROWTH_NONE &&
                 dpl_near(claim->mechanisms[i].event.sensitivity, 1, ROUNDING);
    if (!dpl_near(json_number_value(chosen), (double)claim->trips_max, ROUNDING))
        reason(verdict, "a user was found to count as %.9g trips, but the certificate is for %lld",
               json_number_value(chosen), (long long)claim->trips_max);
    if (!dpl_trips_possible(claim->trips_max))
        reason(verdict, "\"trips_max\" of %lld is none of those that are chosen from",
               (long long)claim->trips_max);
    if (claim->unit != DPL_UNIT_USER || !table)
        reason(verdict, "\"trips_max\" is a number that no mechanism released");
    if (json_object_get(claim->options, "trips-max"))
        reason(verdict, "\"trips_max\" is an option and a released number at once");
}

static void check_options(const struct dpl_claim *claim, struct dpl_verdict *verdict) {
    const char *unit = json_string_value(json_object_get(claim->options, "unit"));
    const char *method = json_string_value(json_object_get(claim->options, "method"));
    // A published form is asked for with an epsilon that it does not keep.
    bool published = isinf(claim->epsilon) && (claim->deniable || any_noised(claim));
    if (!claim->given && !published) check_option(claim, "epsilon", claim->epsilon, verdict);
    check_option(claim, "delta", claim->delta, verdict);
    check_option(claim, "trips-max", (double)claim->trips_max, verdict);
    check_option(claim, "size", (double)claim->units, verdict);
    if (json_object_get(claim->options, "size") && !claim->declared)
        reason(verdict, "the option size declares the number of units, yet it was measured");
    if (unit && strcmp(unit, dpl_unit_name(claim->unit)))
        reason(verdict, "the option unit is %.40s, but the certificate is for one %s", unit,
               dpl_unit_name(claim->unit));
    if (method && strcmp(method, json_string_value(json_object_get(claim->root, "method"))))
        reason(verdict, "the option method is another than the certificate's");
    check_kinds(claim, verdict);
    if (!claim->accept_weak && !claim->insecure_seed && isfinite(claim->epsilon) &&
        (claim->epsilon > DPL_WEAK_EPSILON || claim->delta >= DPL_WEAK_DELTA))
        reason(verdict,
               "a promise of epsilon %.6g, delta %.3g is made only where \"accept_weak\" "
               "is true",
               claim->epsilon, claim->delta);
    if (!claim->meaning_fits)
        reason(verdict, "\"unit_meaning\" speaks of another unit than a %s",
               dpl_unit_name(claim->unit));
    if (claim->unit == DPL_UNIT_TRIP && claim->trips_max != 1)
        reason(verdict, "a unit of one trip has one trip, not %lld", (long long)claim->trips_max);
}

/* ---- is epsilon what the events cost? ---- */

static enum dpl_status check_alone(struct dpl_run *run, const struct dpl_claim *claim,
                                   struct dpl_verdict *verdict) {
    for (size_t i = 0; i < claim->n; i++) {
        const struct dpl_claim_mechanism *mechanism = &claim->mechanisms[i];
        struct dpl_bound bound;
        if (claim->n > 1 || dpl_event_pure(&mechanism->event))
            DPL_TRY(dpl_account(run, &mechanism->event, 1, claim->delta, &bound));
        else
            bound.epsilon = verdict->epsilon - claim->epsilon_size;
        if (dpl_event_pure(&mechanism->event)) bound.epsilon = 1 / mechanism->event.sigma;
        if (!dpl_near(mechanism->epsilon_alone, bound.epsilon, SAME_EPSILON))
            reason(verdict, "%s: alone it costs epsilon %.6g, not %.6g", mechanism->event.name,
                   bound.epsilon, mechanism->epsilon_alone);
    }
    return DPL_OK;
}

static enum dpl_status recompute(struct dpl_run *run, const struct dpl_claim *claim,
                                 struct dpl_verdict *verdict) {
    struct dpl_bound bound;
    struct dpl_event *events = dpl_alloc(run, claim->n, sizeof *events);
    if (!events) return DPL_SYSTEM;
    for (size_t i = 0; i < claim->n; i++) events[i] = claim->mechanisms[i].event;
    enum dpl_status status = dpl_account(run, events, claim->n, claim->delta, &bound);
    dpl_free(events);
    if (status == DPL_USAGE)
        return DPL_BAD_DATA; // the accountant's sentence says which number makes no sense
    if (status != DPL_OK) return status;
    double size = claim->size_event.name[0] ? 1 / claim->size_event.sigma : 0;
    verdict->epsilon = bound.epsilon + size;
    if (!(verdict->epsilon <= claim->epsilon * (1 + ROUNDING)))
        reason(verdict,
               "its mechanisms cost epsilon %.6g at delta %.3g, more than the %.6g it claims",
               verdict->epsilon, claim->delta, claim->epsilon);
    if (!dpl_near(claim->bound_epsilon, bound.epsilon, SAME_EPSILON))
        reason(verdict, "its accountant says %.6g without the size; recomputed it is %.6g",
               claim->bound_epsilon, bound.epsilon);
    return check_alone(run, claim, verdict);
}

static void check_ledger(const struct dpl_claim *claim, struct dpl_verdict *verdict) {
    if (!claim->composed) return;
    if (claim->ledger_epsilon < claim->epsilon * (1 - ROUNDING) ||
        claim->ledger_delta < claim->delta * (1 - ROUNDING))
        reason(verdict, "all releases together cannot cost less than this one");
}

static enum dpl_status verify(struct dpl_run *run, const struct dpl_claim *claim,
                              struct dpl_verdict *verdict) {
    *verdict = (struct dpl_verdict){.valid = true, .epsilon = INFINITY, .delta = claim->delta};
    if (claim->n == 0)
        return dpl_fail(run, DPL_BAD_DATA, "certificate: it names no mechanism but the size");
    verdict->not_private = claim->deniable || isinf(claim->epsilon) || claim->insecure_seed;
    if (claim->deniable)
        reason(verdict, "NOT PRIVATE: its guarantee is plausible deniability, NOT differential "
                        "privacy");
    else if (isinf(claim->epsilon))
        reason(verdict, "NOT PRIVATE: epsilon is infinite, %s was noised",
               any_noised(claim) ? "not everything" : "nothing");
    if (claim->insecure_seed)
        reason(verdict, "NOT PRIVATE: the noise follows from `budget.insecure_seed`");
    for (size_t i = 0; i < claim->n; i++) check_event(run, claim, &claim->mechanisms[i], verdict);
    check_shares(claim, verdict);
    check_local(claim, verdict);
    check_size(claim, verdict);
    check_options(claim, verdict);
    check_trips_max(claim, verdict);
    check_ledger(claim, verdict);
    return isinf(claim->epsilon) ? DPL_OK : recompute(run, claim, verdict);
}

enum dpl_status dpl_certificate_verify(struct dpl_run *run, const char *text, size_t length,
                                       struct dpl_verdict *verdict) {
    struct dpl_claim claim;
    struct dpl_verdict found;
    dpl_run_begin(run);
    enum dpl_status status = dpl_claim_parse(run, text, length, &claim);
    if (status == DPL_OK) status = verify(run, &claim, &found);
    if (status == DPL_OK) *verdict = found;
    dpl_claim_free(&claim);
    return status;
}
