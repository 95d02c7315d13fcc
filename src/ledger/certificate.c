/* Certificates, written. The format is docs/certificate.schema.json; what reads them back is
 * claim.c, the verifier verify.c.
 *
 * What may appear is closed: members are listed here, options and numbers by name. A certificate is
 * published, so a name that is not on the list is refused rather than passed on. */
#include "ledger/certificate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account/event.h"
#include "base/json.h"
#include "base/public_options.h"
#include "ledger/certificate_form.h"

static const char *unit_meaning(enum dpl_unit unit, bool trips_as_cut) {
    return unit == DPL_UNIT_USER ? PERSON : trips_as_cut ? TRIP_AS_CUT : TRIP;
}

static enum dpl_status values_to_json(struct dpl_run *run, const struct dpl_public_value *values,
                                      size_t n, bool (*allowed)(const char *), json_t **made) {
    json_t *object = json_object();
    for (size_t i = 0; object && i < n; i++) {
        const struct dpl_public_value *value = &values[i];
        if (!allowed(value->name)) {
            json_decref(object);
            return dpl_fail(run, DPL_REFUSED,
                            "'%s' is not on the list of what a certificate may say in public",
                            value->name);
        }
        bool whole = !value->text && fabs(value->number) < 0x1p53 &&
                     !(value->number < trunc(value->number)) &&
                     !(value->number > trunc(value->number));
        json_t *item = value->text ? json_string(value->text)
                       : whole     ? json_integer((json_int_t)value->number)
                                   : dpl_number_to_json(value->number);
        if (!item || json_object_set_new(object, value->name, item) != 0) {
            json_decref(object);
            return dpl_fail(run, DPL_USAGE, "the option '%s' is not a UTF-8 text or a number",
                            value->name);
        }
    }
    *made = object;
    return object ? DPL_OK : dpl_fail(run, DPL_SYSTEM, "out of memory");
}

static double number_called(const struct dpl_certificate *certificate, const char *name) {
    for (size_t i = 0; i < certificate->n_numbers; i++)
        if (!certificate->numbers[i].text && !strcmp(certificate->numbers[i].name, name))
            return certificate->numbers[i].number;
    return 0;
}

/* How many trips a unit counts as: by the budget, or as it was chosen from a noised table. */
static int64_t trips_max_of(const struct dpl_certificate *certificate) {
    int64_t fixed = dpl_plan_budget(certificate->plan)->trips_max;
    return fixed > 0 ? fixed : (int64_t)number_called(certificate, "trips_max");
}

static enum dpl_status alone(struct dpl_run *run, const struct dpl_event *event, double delta,
                             double *epsilon) {
    struct dpl_bound bound = {.epsilon = INFINITY};
    if (dpl_event_pure(event) && event->sigma > 0)
        bound.epsilon = 1 / event->sigma; // pure
    else if (event->sigma > 0)
        DPL_TRY(dpl_account(run, event, 1, delta, &bound));
    *epsilon = bound.epsilon;
    return DPL_OK;
}

/* One mechanism: the event, what it costs alone, and the request it follows from. */
static enum dpl_status mechanism_to_json(struct dpl_run *run, const struct dpl_event *event,
                                         const struct dpl_mechanism *request, double delta,
                                         json_t **made) {
    double epsilon;
    DPL_TRY(alone(run, event, delta, &epsilon));
    json_t *object = dpl_event_to_json(event);
    bool ok =
        object && json_object_set_new(object, "epsilon_alone", dpl_number_to_json(epsilon)) == 0;
    if (ok && request) {
        json_t *asked = json_pack(
            "{s:f, s:o, s:s, s:f, s:f, s:I}", "share", request->share, "clip",
            request->clip_from[0] ? json_string(request->clip_from) : json_real(request->clip),
            "growth", dpl_growth_name(request->growth), "batch", request->batch, "epochs",
            request->epochs, "steps", (json_int_t)request->steps);
        if (asked && request->kind == DPL_EVENT_THRESHOLD)
            dpl_json_set(&asked, "chance", json_real(request->chance));
        ok = json_object_set_new(object, "request", asked) == 0;
    }
    if (!ok) {
        json_decref(object);
        return dpl_fail(run, DPL_SYSTEM, "out of memory");
    }
    *made = object;
    return DPL_OK;
}

static enum dpl_status
mechanisms_to_json(struct dpl_run *run, const struct dpl_certificate *certificate, json_t **made) {
    const struct dpl_plan *plan = certificate->plan;
    const struct dpl_event *size = dpl_plan_size_event(plan);
    enum dpl_status status = DPL_OK;
    json_t *array = json_array(), *item;
    if (!array) return dpl_fail(run, DPL_SYSTEM, "out of memory");
    if (size) {
        DPL_GO(mechanism_to_json(run, size, NULL, dpl_plan_delta(plan), &item));
        dpl_json_append(&array, item);
    }
    for (size_t i = 0; i < dpl_plan_events(plan); i++) {
        const struct dpl_mechanism *request = dpl_plan_mechanism(plan, i);
        struct dpl_event event = *dpl_plan_event(plan, i), implied;
        double number = request->clip_from[0] ? number_called(certificate, request->clip_from) : 0;
        DPL_GO(dpl_mechanism_imply(run, request, dpl_plan_units(plan), trips_max_of(certificate),
                                   number, &implied));
        event.sensitivity = implied.sensitivity;
        DPL_GO(dpl_event_check(run, "certificate", &event,
                               isinf(dpl_plan_epsilon(plan)) ? DPL_EVENT_NOISELESS
                                                             : DPL_EVENT_STRICT));
        DPL_GO(mechanism_to_json(run, &event, request, dpl_plan_delta(plan), &item));
        dpl_json_append(&array, item);
    }
    *made = array;
    array = NULL;
done:
    json_decref(array);
    return status;
}

static json_t *ledger_to_json(const struct dpl_ledger *ledger) {
    if (!ledger) return json_pack("{s:b, s:s}", "composed", 0, "statement", ALONE);
    struct dpl_ledger_totals totals = dpl_ledger_totals(ledger);
    return json_pack("{s:b, s:s, s:o, s:o, s:I, s:s*}", "composed", 1, "statement",
                     totals.named ? BY_NAME : BY_ROWS, "epsilon",
                     dpl_number_to_json(totals.epsilon), "delta", dpl_number_to_json(totals.delta),
                     "releases", (json_int_t)totals.releases, "new_data",
                     totals.new_data ? DECLARED_NEW : NULL);
}

static json_t *accountant_to_json(const struct dpl_bound *bound) {
    return json_pack("{s:s, s:o, s:o, s:o}", "bound", dpl_bound_name(bound->kind), "epsilon",
                     dpl_number_to_json(bound->epsilon), "epsilon_pld",
                     dpl_number_to_json(bound->epsilon_pld), "epsilon_rdp",
                     dpl_number_to_json(bound->epsilon_rdp));
}

/* PRIVACY: either word is enough. */
static bool insecure(const struct dpl_certificate *certificate) {
    return certificate->insecure || dpl_plan_budget(certificate->plan)->insecure_seed;
}

/* The watermark; NULL when the release is private. */
static const char *watermark(const struct dpl_certificate *certificate) {
    if (certificate->deniable)
        return "NOT PRIVATE: every trip is made from one real trip; what it has is plausible "
               "deniability, NOT differential privacy";
    if (!isinf(dpl_plan_budget(certificate->plan)->epsilon) &&
        isinf(dpl_plan_epsilon(certificate->plan)))
        return "NOT PRIVATE: as the published program does it, tables were taken without noise";
    if (isinf(dpl_plan_epsilon(certificate->plan)))
        return "NOT PRIVATE: epsilon is infinite, nothing was noised";
    if (insecure(certificate)) return "NOT PRIVATE: the noise follows from a given seed";
    return NULL;
}

static bool plan_is_local(const struct dpl_plan *plan) {
    return dpl_plan_event(plan, 0)->kind == DPL_EVENT_LOCAL;
}

static json_t *certificate_to_json(const struct dpl_certificate *certificate, json_t *mechanisms,
                                   json_t *options, json_t *numbers) {
    const struct dpl_plan *plan = certificate->plan;
    const struct dpl_budget *budget = dpl_plan_budget(plan);
    const char *mark = watermark(certificate);
    json_t *root = json_pack("{s:i, s:s, s:b}", "dploc_certificate", DPL_CERTIFICATE_FORMAT,
                             "version", dpl_version(), "private", mark == NULL);
    if (root && mark) dpl_json_set(&root, "warning", json_string(mark));
    if (root && certificate->deniable) dpl_json_set(&root, "guarantee", json_string(DENIABLE));
    if (root && certificate->accept_weak) dpl_json_set(&root, "accept_weak", json_true());
    if (root && certificate->selected) dpl_json_set(&root, "rows", json_string(SELECTED));
    json_t *rest = json_pack(
        "{s:o, s:s, s:f, s:o, s:s, s:s, s:I, s:s, s:o, s:b, s:o, s:s, s:o, s:s, s:s, s:s, s:o, "
        "s:o, "
        "s:o}",
        "epsilon", dpl_number_to_json(dpl_plan_epsilon(plan)), "epsilon_from",
        dpl_plan_given(plan) ? RESULTS : CHOSEN, "delta", budget->delta, "epsilon_size",
        dpl_number_to_json(dpl_plan_epsilon_size(plan)), "unit", dpl_unit_name(budget->unit),
        "unit_meaning", unit_meaning(budget->unit, certificate->trips_as_cut), "trips_max",
        (json_int_t)trips_max_of(certificate), "adjacency",
        plan_is_local(plan) ? LOCAL_ADJACENCY : ADJACENCY, "size",
        json_pack("{s:s, s:I}", "source", dpl_plan_size_event(plan) ? "measured" : "declared",
                  "units", (json_int_t)dpl_plan_units(plan)),
        "sigma_given", dpl_plan_given(plan), "mechanisms", mechanisms, "sampler", SAMPLER,
        "accountant", accountant_to_json(dpl_plan_bound(plan)), "random_source",
        insecure(certificate) ? INSECURE : SECURE, "method", certificate->method, "time",
        certificate->no_time ? "none" : "local", "options", options, "numbers", numbers, "ledger",
        ledger_to_json(certificate->ledger));
    if (!root || !rest || json_object_update(root, rest) != 0) {
        json_decref(root);
        root = NULL;
    }
    json_decref(rest);
    if (root && certificate->roads) dpl_json_set(&root, "roads", json_incref(certificate->roads));
    if (root && certificate->fit_roads)
        dpl_json_set(&root, "fit_roads", json_incref(certificate->fit_roads));
    return root;
}

enum dpl_status dpl_certificate_dump(struct dpl_run *run, json_t *root, char **text) {
    char *made = root ? dpl_json_dump(root, JSON_INDENT(2) | JSON_ENSURE_ASCII) : NULL;
    size_t length = made ? strlen(made) : 0;
    char *copy = made ? dpl_alloc(run, length + 2, 1) : NULL;
    if (copy) {
        memcpy(copy, made, length);
        copy[length] = '\n';
        *text = copy;
    }
    free(made);
    json_decref(root);
    return copy ? DPL_OK : dpl_fail(run, DPL_SYSTEM, "out of memory");
}

enum dpl_status dpl_certificate_text(struct dpl_run *run, const struct dpl_certificate *certificate,
                                     char **text) {
    enum dpl_status status;
    json_t *mechanisms = NULL, *options = NULL, *numbers = NULL;
    dpl_run_begin(run);
    DPL_GO(values_to_json(run, certificate->options, certificate->n_options, dpl_option_public,
                          &options));
    DPL_GO(values_to_json(run, certificate->numbers, certificate->n_numbers, dpl_number_public,
                          &numbers));
    DPL_GO(mechanisms_to_json(run, certificate, &mechanisms));
    json_t *root = certificate_to_json(certificate, json_incref(mechanisms), json_incref(options),
                                       json_incref(numbers));
    status = dpl_certificate_dump(run, root, text);
done:
    json_decref(mechanisms);
    json_decref(options);
    json_decref(numbers);
    return status;
}
