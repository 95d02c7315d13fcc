/* See event.h. Nothing read here is believed: each member is checked for presence, type and range.
 */
#include "account/event.h"

#include <math.h>
#include <string.h>

static const char *const KINDS[] = {[DPL_EVENT_GAUSSIAN] = "gaussian",
                                    [DPL_EVENT_POISSON] = "poisson",
                                    [DPL_EVENT_LAPLACE] = "laplace",
                                    [DPL_EVENT_LOCAL] = "local",
                                    [DPL_EVENT_THRESHOLD] = "threshold"};
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

static const int64_t STEPS_MAX = (int64_t)1 << 53;

bool dpl_event_pure(const struct dpl_event *event) {
    return event->kind == DPL_EVENT_LAPLACE || event->kind == DPL_EVENT_LOCAL;
}

const char *dpl_event_kind_name(enum dpl_event_kind kind) { return KINDS[kind]; }

bool dpl_event_kind_parse(const char *name, enum dpl_event_kind *kind) {
    for (size_t i = 0; i < N_KINDS; i++) {
        if (strcmp(name, KINDS[i])) continue;
        *kind = (enum dpl_event_kind)i;
        return true;
    }
    return false;
}

/* Names appear in file names, options and JSON: plain words only. */
static bool good_name(const char *name) {
    size_t length = strnlen(name, DPL_EVENT_NAME);
    if (length == 0 || length == DPL_EVENT_NAME) return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

static const double LEAST_RATE = 0x1p-40; // the sampler's

static bool in_range(double number, bool or_zero) {
    bool zero = !(number > 0) && !(number < 0) && !isnan(number);
    return zero ? or_zero : number >= DPL_SIGMA_LEAST && number <= DPL_SIGMA_MOST;
}

enum dpl_status dpl_event_check(struct dpl_run *run, const char *where,
                                const struct dpl_event *event, unsigned leave) {
    if ((unsigned)event->kind >= N_KINDS)
        return dpl_fail(run, DPL_BAD_DATA, "%s: unknown kind of mechanism", where);
    if (!good_name(event->name))
        return dpl_fail(run, DPL_BAD_DATA,
                        "%s: a mechanism's name is 1 to %d lower-case letters, digits and '_'",
                        where, DPL_EVENT_NAME - 1);
    if (!in_range(event->sigma, leave & DPL_EVENT_NOISELESS))
        return dpl_fail(run, DPL_BAD_DATA, "%s: %s: sigma must be a number from %g to %g", where,
                        event->name, DPL_SIGMA_LEAST, DPL_SIGMA_MOST);
    if (!in_range(event->sensitivity, leave & DPL_EVENT_OPEN))
        return dpl_fail(run, DPL_BAD_DATA, "%s: %s: sensitivity must be a number from %g to %g",
                        where, event->name, DPL_SIGMA_LEAST, DPL_SIGMA_MOST);
    if (!(event->rate >= LEAST_RATE && event->rate <= 1))
        return dpl_fail(run, DPL_BAD_DATA, "%s: %s: rate must be from 2^-40 to 1", where,
                        event->name);
    if (event->steps < 1 || event->steps > STEPS_MAX)
        return dpl_fail(run, DPL_BAD_DATA, "%s: %s: steps must be from 1 to 2^53", where,
                        event->name);
    bool poisson = event->kind == DPL_EVENT_POISSON, keys = event->kind == DPL_EVENT_THRESHOLD;
    if (!poisson && ((event->rate < 1) != keys || event->steps > 1))
        return dpl_fail(run, DPL_BAD_DATA, "%s: %s: a %s mechanism has a rate %s 1 and one step",
                        where, event->name, KINDS[event->kind], keys ? "below" : "of");
    return DPL_OK;
}

bool dpl_event_same(const struct dpl_event *a, const struct dpl_event *b) {
    return !strcmp(a->name, b->name) && a->kind == b->kind && a->steps == b->steps &&
           !(a->sigma < b->sigma || a->sigma > b->sigma) &&
           !(a->sensitivity < b->sensitivity || a->sensitivity > b->sensitivity) &&
           !(a->rate < b->rate || a->rate > b->rate);
}

json_t *dpl_event_to_json(const struct dpl_event *event) {
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:I}", "name", event->name, "kind",
                     KINDS[event->kind], "sensitivity", event->sensitivity, "sigma", event->sigma,
                     "rate", event->rate, "steps", (json_int_t)event->steps);
}

enum dpl_status dpl_event_from_json(struct dpl_run *run, const char *where, json_t *object,
                                    unsigned leave, struct dpl_event *event) {
    const char *name = "", *kind = "";
    struct dpl_event read = {0};
    if (!json_is_object(object))
        return dpl_fail(run, DPL_BAD_DATA, "%s: a mechanism is not a JSON object", where);
    DPL_TRY(dpl_text_from_json(run, where, object, "name", &name));
    DPL_TRY(dpl_text_from_json(run, where, object, "kind", &kind));
    if (!dpl_event_kind_parse(kind, &read.kind))
        return dpl_fail(run, DPL_BAD_DATA, "%s: unknown kind of mechanism '%.40s'", where, kind);
    if (!good_name(name))
        return dpl_fail(run, DPL_BAD_DATA,
                        "%s: a mechanism's name is 1 to %d lower-case letters, digits and '_'",
                        where, DPL_EVENT_NAME - 1);
    strcpy(read.name, name);
    DPL_TRY(dpl_number_from_json(run, where, object, "sensitivity", &read.sensitivity));
    DPL_TRY(dpl_number_from_json(run, where, object, "sigma", &read.sigma));
    DPL_TRY(dpl_number_from_json(run, where, object, "rate", &read.rate));
    DPL_TRY(dpl_whole_from_json(run, where, object, "steps", &read.steps));
    DPL_TRY(dpl_event_check(run, where, &read, leave));
    *event = read;
    return DPL_OK;
}

/* ---- members ---- */

bool dpl_near(double a, double b, double relative) {
    if (isinf(a) || isinf(b)) return isinf(a) && isinf(b) && (a > 0) == (b > 0);
    return fabs(a - b) <= relative * fabs(b);
}

json_t *dpl_number_to_json(double number) {
    return isinf(number) ? json_string("infinity") : json_real(number);
}

static enum dpl_status member(struct dpl_run *run, const char *where, json_t *object,
                              const char *name, json_t **value) {
    *value = json_object_get(object, name);
    if (!*value) return dpl_fail(run, DPL_BAD_DATA, "%s: \"%s\" is missing", where, name);
    return DPL_OK;
}

enum dpl_status dpl_number_from_json(struct dpl_run *run, const char *where, json_t *object,
                                     const char *name, double *number) {
    json_t *value;
    DPL_TRY(member(run, where, object, name, &value));
    if (json_is_string(value) && !strcmp(json_string_value(value), "infinity")) {
        *number = INFINITY;
        return DPL_OK;
    }
    if (!json_is_number(value) || !isfinite(json_number_value(value)))
        return dpl_fail(run, DPL_BAD_DATA, "%s: \"%s\" is not a number", where, name);
    *number = json_number_value(value);
    return DPL_OK;
}

enum dpl_status dpl_whole_from_json(struct dpl_run *run, const char *where, json_t *object,
                                    const char *name, int64_t *number) {
    json_t *value;
    DPL_TRY(member(run, where, object, name, &value));
    if (!json_is_integer(value))
        return dpl_fail(run, DPL_BAD_DATA, "%s: \"%s\" is not a whole number", where, name);
    *number = json_integer_value(value);
    return DPL_OK;
}

enum dpl_status dpl_text_from_json(struct dpl_run *run, const char *where, json_t *object,
                                   const char *name, const char **text) {
    json_t *value;
    DPL_TRY(member(run, where, object, name, &value));
    if (!json_is_string(value))
        return dpl_fail(run, DPL_BAD_DATA, "%s: \"%s\" is not a text", where, name);
    *text = json_string_value(value);
    return DPL_OK;
}
