/* Certificates, read back: what one claims, and its summary. Nothing of it is believed: presence,
 * type and range of every member are checked, and what does not belong is an error. Whether the
 * claims agree with each other is verify.c's to say. */
#include "ledger/certificate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account/event.h"
#include "base/json.h"
#include "base/public_options.h"
#include "ledger/certificate_form.h"

enum { MAX_TEXT = 1 << 20, MAX_MECHANISMS = 256 };

static const char WHERE[] = "certificate";

/* Numbers that the release contains anyway. */
static const char *const PUBLIC_NUMBERS[] = {"length_max", "cells", "trips_estimated", "trips_max"};

static bool listed(const char *const *list, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], name)) return true;
    return false;
}

bool dpl_number_public(const char *name) {
    return listed(PUBLIC_NUMBERS, sizeof PUBLIC_NUMBERS / sizeof *PUBLIC_NUMBERS, name);
}

/* ---- members ---- */

static enum dpl_status bad(struct dpl_run *run, const char *what) {
    return dpl_fail(run, DPL_BAD_DATA, "certificate: %s", what);
}

/* Members that are not known would be promises that nobody checks. */
static enum dpl_status only_members(struct dpl_run *run, json_t *object, const char *const *names,
                                    size_t n) {
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        if (!listed(names, n, name))
            return dpl_fail(run, DPL_BAD_DATA, "certificate: \"%.60s\" does not belong there",
                            name);
    }
    return DPL_OK;
}
#define ONLY_MEMBERS(run, object, ...)                                                             \
    only_members(run, object, (const char *const[]){__VA_ARGS__},                                  \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static enum dpl_status get_object(struct dpl_run *run, json_t *object, const char *name,
                                  json_t **value) {
    *value = json_object_get(object, name);
    if (!*value) return dpl_fail(run, DPL_BAD_DATA, "certificate: \"%s\" is missing", name);
    if (!json_is_object(*value))
        return dpl_fail(run, DPL_BAD_DATA, "certificate: \"%s\" is not an object", name);
    return DPL_OK;
}

static enum dpl_status get_flag(struct dpl_run *run, json_t *object, const char *name, bool *flag) {
    json_t *value = json_object_get(object, name);
    if (!value) return dpl_fail(run, DPL_BAD_DATA, "certificate: \"%s\" is missing", name);
    if (!json_is_boolean(value))
        return dpl_fail(run, DPL_BAD_DATA, "certificate: \"%s\" is not true or false", name);
    *flag = json_is_true(value);
    return DPL_OK;
}

static enum dpl_status get_fixed(struct dpl_run *run, json_t *object, const char *name,
                                 const char *expected, const char *or_else, bool *second) {
    const char *text = "";
    DPL_TRY(dpl_text_from_json(run, WHERE, object, name, &text));
    bool other = or_else && !strcmp(text, or_else);
    if (!other && strcmp(text, expected))
        return dpl_fail(run, DPL_BAD_DATA,
                        "certificate: \"%s\" is '%.60s', which means nothing here", name, text);
    if (second) *second = other;
    return DPL_OK;
}

static enum dpl_status parse_clip(struct dpl_run *run, json_t *object,
                                  struct dpl_mechanism *request) {
    json_t *clip = json_object_get(object, "clip");
    if (!json_is_string(clip))
        return dpl_number_from_json(run, WHERE, object, "clip", &request->clip);
    if (!dpl_number_public(json_string_value(clip)))
        return bad(run, "\"clip\" names a number that no release contains");
    snprintf(request->clip_from, sizeof request->clip_from, "%s", json_string_value(clip));
    return DPL_OK;
}

static bool finite_amount(double number) { return isfinite(number) && number >= 0; }

static enum dpl_status parse_request(struct dpl_run *run, json_t *object,
                                     struct dpl_claim_mechanism *mechanism) {
    struct dpl_mechanism *request = &mechanism->request;
    const char *growth = "";
    json_t *asked;
    DPL_TRY(get_object(run, object, "request", &asked));
    DPL_TRY(
        ONLY_MEMBERS(run, asked, "share", "clip", "growth", "batch", "epochs", "steps", "chance"));
    memcpy(request->name, mechanism->event.name, sizeof request->name);
    request->kind = mechanism->event.kind;
    DPL_TRY(dpl_number_from_json(run, WHERE, asked, "share", &request->share));
    DPL_TRY(parse_clip(run, asked, request));
    DPL_TRY(dpl_text_from_json(run, WHERE, asked, "growth", &growth));
    if (!dpl_growth_parse(growth, &request->growth))
        return bad(run, "\"growth\" is none, root or linear");
    DPL_TRY(dpl_number_from_json(run, WHERE, asked, "batch", &request->batch));
    DPL_TRY(dpl_number_from_json(run, WHERE, asked, "epochs", &request->epochs));
    DPL_TRY(dpl_whole_from_json(run, WHERE, asked, "steps", &request->steps));
    if (request->kind == DPL_EVENT_THRESHOLD)
        DPL_TRY(dpl_number_from_json(run, WHERE, asked, "chance", &request->chance));
    else if (json_object_get(asked, "chance"))
        return bad(run, "a \"chance\" of a mechanism without a threshold");
    if (!finite_amount(request->share) || !finite_amount(request->clip) ||
        !finite_amount(request->batch) || !finite_amount(request->epochs) || request->steps < 0)
        return bad(run, "a negative or infinite number in a \"request\"");
    bool sampled = request->batch > 0 || request->epochs > 0 || request->steps > 0;
    if (sampled && request->kind != DPL_EVENT_POISSON)
        return bad(run, "batch, epochs or steps of a mechanism that takes no samples");
    return DPL_OK;
}

static enum dpl_status parse_mechanism(struct dpl_run *run, json_t *object,
                                       struct dpl_claim *claim) {
    struct dpl_claim_mechanism *mechanism = &claim->mechanisms[claim->n];
    unsigned leave = isinf(claim->epsilon) ? DPL_EVENT_NOISELESS : DPL_EVENT_STRICT;
    DPL_TRY(dpl_event_from_json(run, WHERE, object, leave, &mechanism->event));
    DPL_TRY(ONLY_MEMBERS(run, object, "name", "kind", "sensitivity", "sigma", "rate", "steps",
                         "epsilon_alone", "request"));
    DPL_TRY(dpl_number_from_json(run, WHERE, object, "epsilon_alone", &mechanism->epsilon_alone));
    if (!(mechanism->epsilon_alone >= 0)) return bad(run, "\"epsilon_alone\" is negative");
    if (!strcmp(mechanism->event.name, "size")) {
        if (claim->size_event.name[0] || mechanism->event.kind != DPL_EVENT_LAPLACE)
            return bad(run, "the size is measured once, by Laplace noise");
        claim->size_event = mechanism->event;
        *mechanism = (struct dpl_claim_mechanism){0};
        return DPL_OK;
    }
    for (size_t i = 0; i < claim->n; i++)
        if (!strcmp(claim->mechanisms[i].event.name, mechanism->event.name))
            return bad(run, "two mechanisms have the same name");
    claim->n++;
    return parse_request(run, object, mechanism);
}

static enum dpl_status parse_mechanisms(struct dpl_run *run, struct dpl_claim *claim) {
    json_t *array = json_object_get(claim->root, "mechanisms"), *item;
    size_t i;
    if (!array) return bad(run, "\"mechanisms\" is missing");
    if (!json_is_array(array) || json_array_size(array) < 1 ||
        json_array_size(array) > MAX_MECHANISMS)
        return bad(run, "\"mechanisms\" is not a list of 1 to 256");
    claim->mechanisms = dpl_alloc(run, json_array_size(array) + 1, sizeof *claim->mechanisms);
    if (!claim->mechanisms) return DPL_SYSTEM;
    json_array_foreach(array, i, item) DPL_TRY(parse_mechanism(run, item, claim));
    return DPL_OK;
}

static enum dpl_status parse_promise(struct dpl_run *run, struct dpl_claim *claim) {
    json_t *root = claim->root;
    const char *meaning = "";
    bool user = false;
    DPL_TRY(dpl_number_from_json(run, WHERE, root, "epsilon", &claim->epsilon));
    DPL_TRY(dpl_number_from_json(run, WHERE, root, "delta", &claim->delta));
    DPL_TRY(dpl_number_from_json(run, WHERE, root, "epsilon_size", &claim->epsilon_size));
    if (!(claim->epsilon > 0) || !(claim->epsilon_size >= 0) ||
        !(claim->delta > 0 && claim->delta < 1))
        return bad(run, "epsilon must be above 0 and delta between 0 and 1");
    DPL_TRY(get_fixed(run, root, "unit", "trip", "user", &user));
    claim->unit = user ? DPL_UNIT_USER : DPL_UNIT_TRIP;
    DPL_TRY(dpl_text_from_json(run, WHERE, root, "unit_meaning", &meaning));
    if (strcmp(meaning, PERSON) && strcmp(meaning, TRIP) && strcmp(meaning, TRIP_AS_CUT))
        return bad(run, "\"unit_meaning\" is none of the sentences that say what a unit is");
    claim->meaning_fits = user == !strcmp(meaning, PERSON);
    DPL_TRY(dpl_whole_from_json(run, WHERE, root, "trips_max", &claim->trips_max));
    if (claim->trips_max < 1) return bad(run, "\"trips_max\" must be at least 1");
    DPL_TRY(get_fixed(run, root, "adjacency", ADJACENCY, LOCAL_ADJACENCY, &claim->local));
    DPL_TRY(get_fixed(run, root, "sampler", SAMPLER, NULL, NULL));
    DPL_TRY(get_flag(run, root, "sigma_given", &claim->given));
    if (json_object_get(root, "accept_weak"))
        DPL_TRY(get_flag(run, root, "accept_weak", &claim->accept_weak));
    claim->selected = json_object_get(root, "rows") != NULL;
    if (claim->selected) DPL_TRY(get_fixed(run, root, "rows", SELECTED, NULL, NULL));
    bool results;
    DPL_TRY(get_fixed(run, root, "epsilon_from", CHOSEN, RESULTS, &results));
    return results == claim->given
               ? DPL_OK
               : bad(run, "\"epsilon_from\" and \"sigma_given\" contradict each other");
}

static enum dpl_status parse_size(struct dpl_run *run, struct dpl_claim *claim) {
    json_t *size;
    DPL_TRY(get_object(run, claim->root, "size", &size));
    DPL_TRY(ONLY_MEMBERS(run, size, "source", "units"));
    DPL_TRY(get_fixed(run, size, "source", "measured", "declared", &claim->declared));
    DPL_TRY(dpl_whole_from_json(run, WHERE, size, "units", &claim->units));
    return claim->units < 1 ? bad(run, "\"units\" must be at least 1") : DPL_OK;
}

static enum dpl_status parse_accountant(struct dpl_run *run, struct dpl_claim *claim) {
    json_t *accountant;
    double pld, rdp;
    const char *bound = "";
    DPL_TRY(get_object(run, claim->root, "accountant", &accountant));
    DPL_TRY(ONLY_MEMBERS(run, accountant, "bound", "epsilon", "epsilon_pld", "epsilon_rdp"));
    DPL_TRY(dpl_text_from_json(run, WHERE, accountant, "bound", &bound));
    bool known = false;
    for (int kind = DPL_BOUND_NONE; kind <= DPL_BOUND_RDP; kind++)
        known |= !strcmp(bound, dpl_bound_name((enum dpl_bound_kind)kind));
    if (!known) return bad(run, "\"bound\" names no bound");
    DPL_TRY(dpl_number_from_json(run, WHERE, accountant, "epsilon_pld", &pld));
    DPL_TRY(dpl_number_from_json(run, WHERE, accountant, "epsilon_rdp", &rdp));
    DPL_TRY(dpl_number_from_json(run, WHERE, accountant, "epsilon", &claim->bound_epsilon));
    return pld >= 0 && rdp >= 0 && claim->bound_epsilon >= 0 ? DPL_OK
                                                             : bad(run, "a negative epsilon");
}

static enum dpl_status parse_ledger(struct dpl_run *run, struct dpl_claim *claim) {
    json_t *ledger;
    int64_t releases;
    DPL_TRY(get_object(run, claim->root, "ledger", &ledger));
    DPL_TRY(get_flag(run, ledger, "composed", &claim->composed));
    if (!claim->composed) {
        DPL_TRY(ONLY_MEMBERS(run, ledger, "composed", "statement"));
        return get_fixed(run, ledger, "statement", ALONE, NULL, NULL);
    }
    DPL_TRY(ONLY_MEMBERS(run, ledger, "composed", "statement", "epsilon", "delta", "releases",
                         "new_data"));
    DPL_TRY(get_fixed(run, ledger, "statement", BY_ROWS, BY_NAME, NULL));
    if (json_object_get(ledger, "new_data")) {
        DPL_TRY(get_fixed(run, ledger, "new_data", DECLARED_NEW, NULL, NULL));
        claim->new_data = true;
    }
    DPL_TRY(dpl_number_from_json(run, WHERE, ledger, "epsilon", &claim->ledger_epsilon));
    DPL_TRY(dpl_number_from_json(run, WHERE, ledger, "delta", &claim->ledger_delta));
    DPL_TRY(dpl_whole_from_json(run, WHERE, ledger, "releases", &releases));
    return releases < 1 ? bad(run, "a ledger that composes has at least one release") : DPL_OK;
}

static enum dpl_status parse_values(struct dpl_run *run, struct dpl_claim *claim, const char *name,
                                    bool (*allowed)(const char *), json_t **values) {
    const char *key;
    json_t *value;
    DPL_TRY(get_object(run, claim->root, name, values));
    json_object_foreach(*values, key, value) {
        if (!allowed(key))
            return dpl_fail(run, DPL_BAD_DATA, "certificate: \"%.60s\" is not among the public %s",
                            key, name);
        if (!json_is_number(value) && !json_is_string(value))
            return dpl_fail(run, DPL_BAD_DATA,
                            "certificate: \"%.60s\" is neither a text nor a number", key);
    }
    return DPL_OK;
}

static enum dpl_status parse_words(struct dpl_run *run, struct dpl_claim *claim) {
    const char *text;
    bool is_private = false;
    DPL_TRY(dpl_text_from_json(run, WHERE, claim->root, "version", &text));
    DPL_TRY(dpl_text_from_json(run, WHERE, claim->root, "method", &text));
    DPL_TRY(get_fixed(run, claim->root, "time", "none", "local", NULL));
    DPL_TRY(get_fixed(run, claim->root, "random_source", SECURE, INSECURE, &claim->insecure_seed));
    DPL_TRY(get_flag(run, claim->root, "private", &is_private));
    if (!is_private) DPL_TRY(dpl_text_from_json(run, WHERE, claim->root, "warning", &text));
    if (is_private && json_object_get(claim->root, "warning"))
        return bad(run, "a warning, but \"private\" is true");
    claim->deniable = json_object_get(claim->root, "guarantee") != NULL;
    if (claim->deniable) DPL_TRY(get_fixed(run, claim->root, "guarantee", DENIABLE, NULL, NULL));
    if (claim->deniable && is_private) return bad(run, "a \"guarantee\" that is not privacy");
    if (is_private == (claim->insecure_seed || isinf(claim->epsilon)))
        return bad(run, "\"private\" contradicts epsilon or the random source");
    return DPL_OK;
}

/* A map of roads, where there is one. */
static enum dpl_status parse_roads(struct dpl_run *run, struct dpl_claim *claim, const char *name) {
    const char *digest = "", *travel = "";
    json_t *roads;
    int way = 0;
    if (!json_object_get(claim->root, name)) return DPL_OK;
    DPL_TRY(get_object(run, claim->root, name, &roads));
    DPL_TRY(ONLY_MEMBERS(run, roads, "sha256", "travel", "license"));
    DPL_TRY(get_fixed(run, roads, "license", DPL_ROADS_LICENSE, NULL, NULL));
    DPL_TRY(dpl_text_from_json(run, WHERE, roads, "sha256", &digest));
    DPL_TRY(dpl_text_from_json(run, WHERE, roads, "travel", &travel));
    if (strlen(digest) != 64 || strspn(digest, "0123456789abcdef") != 64)
        return bad(run, "\"sha256\" of the roads is no digest");
    while (dpl_choice_name("travel", way) && strcmp(dpl_choice_name("travel", way), travel)) way++;
    return dpl_choice_name("travel", way)
               ? DPL_OK
               : bad(run, "\"travel\" of the roads is none of drive, bike, walk");
}

enum dpl_status dpl_claim_parse(struct dpl_run *run, const char *text, size_t length,
                                struct dpl_claim *claim) {
    json_error_t error;
    int64_t format = 0;
    *claim = (struct dpl_claim){0};
    if (length > MAX_TEXT) return bad(run, "larger than any certificate (1 MB)");
    DPL_TRY(dpl_json_parse(run, text, length, JSON_REJECT_DUPLICATES, &error, &claim->root));
    if (!claim->root)
        return dpl_fail(run, DPL_BAD_DATA, "certificate: not JSON: line %d: %.100s", error.line,
                        error.text);
    if (!json_is_object(claim->root)) return bad(run, "not a JSON object");
    DPL_TRY(dpl_whole_from_json(run, WHERE, claim->root, "dploc_certificate", &format));
    if (format != DPL_CERTIFICATE_FORMAT)
        return bad(run, "written in a format that this version does not know");
    DPL_TRY(ONLY_MEMBERS(run, claim->root, "dploc_certificate", "version", "private", "warning",
                         "guarantee", "accept_weak", "rows", "epsilon", "epsilon_from", "delta",
                         "epsilon_size", "unit", "unit_meaning", "trips_max", "adjacency", "size",
                         "sigma_given", "mechanisms", "sampler", "accountant", "random_source",
                         "method", "time", "options", "numbers", "ledger", "roads", "fit_roads"));
    DPL_TRY(parse_promise(run, claim));
    DPL_TRY(parse_words(run, claim));
    DPL_TRY(parse_size(run, claim));
    DPL_TRY(parse_mechanisms(run, claim));
    DPL_TRY(parse_accountant(run, claim));
    DPL_TRY(parse_values(run, claim, "options", dpl_option_public, &claim->options));
    DPL_TRY(parse_values(run, claim, "numbers", dpl_number_public, &claim->numbers));
    DPL_TRY(parse_roads(run, claim, "roads"));
    DPL_TRY(parse_roads(run, claim, "fit_roads"));
    return parse_ledger(run, claim);
}

void dpl_claim_free(struct dpl_claim *claim) {
    json_decref(claim->root);
    dpl_free(claim->mechanisms);
    *claim = (struct dpl_claim){0};
}

/* ---- summary ---- */

bool dpl_certificate_recognise(const char *bytes, size_t length) {
    return length && memmem(bytes, length < 64 ? length : 64, "\"dploc_certificate\"", 19);
}

static json_t *summary_json(const struct dpl_claim *claim) {
    static const char *const SHOWN[] = {"method",       "unit",   "unit_meaning", "epsilon",
                                        "epsilon_from", "delta",  "epsilon_size", "private",
                                        "mechanisms",   "ledger", "options",      "numbers"};
    json_t *object = json_pack("{s:s}", "format", "certificate");
    for (size_t i = 0; object && i < sizeof SHOWN / sizeof *SHOWN; i++)
        dpl_json_share(&object, SHOWN[i], json_object_get(claim->root, SHOWN[i]));
    return object;
}

static void summary_words(const struct dpl_claim *claim, FILE *out) {
    const char *warning = json_string_value(json_object_get(claim->root, "warning"));
    fprintf(out, "A certificate (what it claims; 'dploc verify' checks it).\n");
    if (warning) fprintf(out, "%s\n", warning);
    fprintf(out,
            "%sepsilon %.6g, delta %.3g, for one %s %s; of it %.6g for the number of "
            "units (%lld).\n",
            claim->local ? "Local " : "", claim->epsilon, claim->delta, dpl_unit_name(claim->unit),
            claim->local ? "replaced by another" : "added or removed", claim->epsilon_size,
            (long long)claim->units);
    fprintf(out, "The unit is %s.\n",
            json_string_value(json_object_get(claim->root, "unit_meaning")));
    if (claim->selected) fprintf(out, "The rows are %s.\n", SELECTED);
    if (claim->accept_weak) fprintf(out, "The holder accepted that this promise is weak.\n");
    if (claim->given) fprintf(out, "This epsilon is %s.\n", RESULTS);
    if (claim->composed)
        fprintf(out, "All releases in its ledger: epsilon %.6g, delta %.3g.\n",
                claim->ledger_epsilon, claim->ledger_delta);
    else
        fprintf(out, "It is %s.\n", ALONE);
    if (claim->new_data) fprintf(out, "Note: %s.\n", DECLARED_NEW);
    json_t *roads = json_object_get(claim->root, "roads");
    if (roads)
        fprintf(out, "Trips follow %s; the map's SHA-256 is %s.\n", DPL_ROADS_LICENSE,
                json_string_value(json_object_get(roads, "sha256")));
    json_t *fit_roads = json_object_get(claim->root, "fit_roads");
    if (fit_roads)
        fprintf(out, "The model had a prior: %s; the map's SHA-256 is %s.\n", DPL_ROADS_LICENSE,
                json_string_value(json_object_get(fit_roads, "sha256")));
    for (size_t i = 0; i < claim->n; i++) {
        const struct dpl_event *event = &claim->mechanisms[i].event;
        fprintf(out, "  %-17s %-8s sigma %.6g, sensitivity %.6g, alone epsilon %.4g", event->name,
                dpl_event_kind_name(event->kind), event->sigma, event->sensitivity,
                claim->mechanisms[i].epsilon_alone);
        if (event->kind == DPL_EVENT_POISSON)
            fprintf(out, ", rate %.6g, %lld steps", event->rate, (long long)event->steps);
        fputc('\n', out);
    }
}

enum dpl_status dpl_certificate_summary(struct dpl_run *run, const char *text, size_t length,
                                        bool json, char **summary) {
    struct dpl_claim claim;
    char *words = NULL;
    size_t size = 0;
    dpl_run_begin(run);
    enum dpl_status status = dpl_claim_parse(run, text, length, &claim);
    if (status != DPL_OK) goto done;
    if (json) {
        status = dpl_certificate_dump(run, summary_json(&claim), summary);
        goto done;
    }
    FILE *out = open_memstream(&words, &size);
    if (out) summary_words(&claim, out);
    char *copy = out && fclose(out) == 0 ? dpl_alloc(run, size + 1, 1) : NULL;
    status = copy ? DPL_OK : dpl_fail(run, DPL_SYSTEM, "out of memory");
    if (copy) *summary = memcpy(copy, words, size);
done:
    free(words);
    dpl_claim_free(&claim);
    return status;
}
