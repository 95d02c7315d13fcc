/* The table of methods, and what they have in common before data is read. */
#include "method/method.h"

#include "fit/choose.h"

#include <math.h>
#include <string.h>

#define ROW(name) &dpl_method_##name,
static const struct dpl_method *const METHODS[] = {DPL_METHODS(ROW)};
#undef ROW
enum { N_METHODS = sizeof METHODS / sizeof *METHODS, NAMES = 128 };

const char *dpl_method_name(size_t i) { return i < N_METHODS ? METHODS[i]->name : NULL; }

/* The names of the methods for which `which` holds, or of all (NULL), with commas. */
static void list_names(bool (*which)(const struct dpl_method *method), size_t room, char *names) {
    size_t used = 0;
    names[0] = '\0';
    for (size_t i = 0; i < N_METHODS && used < room; i++)
        if (!which || which(METHODS[i]))
            used += (size_t)snprintf(names + used, room - used, "%s%s", used ? ", " : "",
                                     METHODS[i]->name);
}

enum dpl_status dpl_method_find(struct dpl_run *run, const char *name,
                                const struct dpl_method **method) {
    char names[NAMES];
    for (size_t i = 0; i < N_METHODS; i++)
        if (!strcmp(METHODS[i]->name, name)) {
            *method = METHODS[i];
            return DPL_OK;
        }
    list_names(NULL, sizeof names, names);
    return dpl_fail(run, DPL_USAGE, "there is no method '%.40s' (`fit.method` takes %s)", name,
                    names);
}

bool dpl_method_own_phase(const char *method) {
    for (size_t i = 0; i < N_METHODS; i++)
        if (!strcmp(METHODS[i]->name, method)) return !METHODS[i]->frequent_cells;
    return true;
}

/* Keys that nobody could list, and seeds, are not in the counts that workers send. */
bool dpl_method_one_machine(const struct dpl_method *method,
                            const struct dpl_fit_options *options) {
    return method->one_machine || strcmp(options->sglt_form, "private") ||
           strcmp(options->keep, "ends");
}

/* "topk=3.8,ti=1.5" is written as shares are: they are read into a copy, whose shares are then the
 * sigmas. */
static enum dpl_status put_sigmas(struct dpl_run *run, const char *text, struct dpl_mechanism *ask,
                                  size_t n) {
    struct dpl_mechanism given[DPL_METHOD_MECHANISMS];
    double anchor = 0; // sigma^2 * share is the same for all Gaussians, or Laplaces, of one split
    for (size_t i = 0; i < n; i++) given[i] = ask[i], given[i].share = 0;
    DPL_TRY(dpl_budget_shares(run, text, given, n));
    for (size_t i = 0; i < n; i++) {
        ask[i].sigma = given[i].share;
        if (ask[i].kind != DPL_EVENT_POISSON && ask[i].sigma > 0)
            anchor = ask[i].sigma * sqrt(ask[i].share);
        if (ask[i].kind == DPL_EVENT_POISSON && !(ask[i].sigma > 0))
            return dpl_fail(
                run, DPL_USAGE,
                "`fit.sigmas.%s` is missing: noise is given for all mechanisms or solved for all",
                ask[i].name);
    }
    // The paper has no noise on lengths and so no sigma for it: it gets its usual part relative to
    // the given ones.
    for (size_t i = 0; i < n; i++) {
        if (ask[i].sigma > 0) continue;
        if (!(anchor > 0))
            return dpl_fail(run, DPL_USAGE,
                            "`fit.sigmas.topk` is missing: noise is given for all mechanisms or "
                            "solved for all");
        ask[i].sigma = anchor / sqrt(ask[i].share);
    }
    for (size_t i = 0; i < n; i++)
        if (!(ask[i].sigma >= DPL_SIGMA_LEAST && ask[i].sigma <= DPL_SIGMA_MOST))
            return dpl_fail(run, DPL_USAGE, "the sigma of '%s' is %g; it must be from %g to %g",
                            ask[i].name, ask[i].sigma, DPL_SIGMA_LEAST, DPL_SIGMA_MOST);
    return DPL_OK;
}

bool dpl_method_deniable(const struct dpl_fit_options *options) {
    return !strcmp(options->sglt_form, "deniable");
}

bool dpl_mechanism_laplace(const struct dpl_fit_options *options) {
    return options->mechanism && !strcmp(options->mechanism, "laplace");
}

struct dpl_mechanism dpl_method_ask(const struct dpl_fit_options *options,
                                    const struct dpl_asked *asked) {
    bool laplace = dpl_mechanism_laplace(options), user = options->budget.unit == DPL_UNIT_USER;
    // Shares count for the squared budget: of epsilon itself with Laplace noise they are the roots.
    struct dpl_mechanism made = {.kind = laplace ? DPL_EVENT_LAPLACE : DPL_EVENT_GAUSSIAN,
                                 .share = laplace ? asked->of_epsilon * asked->of_epsilon
                                                  : asked->of_rho,
                                 .clip = laplace ? asked->clip_l1 : asked->clip_l2,
                                 .growth = !user     ? DPL_GROWTH_NONE
                                           : laplace ? DPL_GROWTH_LINEAR
                                                     : DPL_GROWTH_ROOT};
    strcpy(made.name, asked->name);
    if (!(made.clip > 0)) strcpy(made.clip_from, "length_max");
    return made;
}

static struct dpl_mechanism ask_trips(const struct dpl_fit_options *options) {
    struct dpl_mechanism made = dpl_choose_trips_mechanism;
    if (!dpl_mechanism_laplace(options)) return made;
    made.kind = DPL_EVENT_LAPLACE;
    made.share *= made.share;
    return made;
}

void dpl_method_ask_all(const struct dpl_fit_options *options, const struct dpl_asked *asked,
                        size_t n_asked, struct dpl_mechanism *ask, size_t *n) {
    for (*n = 0; *n < n_asked; ++*n) ask[*n] = dpl_method_ask(options, &asked[*n]);
    if (options->budget.unit == DPL_UNIT_USER) ask[(*n)++] = ask_trips(options);
}

static bool has_laplace(const struct dpl_method *method) { return method->has_laplace; }

static bool has_ablations(const struct dpl_method *method) { return method->has_ablations; }

static bool has_forms(const struct dpl_method *method) { return method->has_forms; }

static bool has_raw(const struct dpl_method *method) { return method->raw != NULL; }

static enum dpl_status check_mechanism(struct dpl_run *run, const struct dpl_method *method,
                                       const struct dpl_fit_options *options) {
    char names[NAMES];
    bool laplace = dpl_mechanism_laplace(options);
    if (!laplace && options->mechanism && strcmp(options->mechanism, "gaussian"))
        return dpl_fail(run, DPL_USAGE, "`fit.mechanism` takes gaussian or laplace, not '%.40s'",
                        options->mechanism);
    if (!laplace || method->has_laplace) return DPL_OK;
    list_names(has_laplace, sizeof names, names);
    return dpl_fail(run, DPL_USAGE,
                    "the method %s has one kind of noise (`fit.mechanism` laplace belongs to %s)",
                    method->name, names);
}

static enum dpl_status check_forms(struct dpl_run *run, const struct dpl_method *method,
                                   const struct dpl_fit_options *options) {
    char names[NAMES];
    bool asked = strcmp(options->sglt_form, "private") || strcmp(options->keep, "ends");
    if (options->as_published && !method->raw) {
        list_names(has_raw, sizeof names, names);
        return dpl_fail(run, DPL_USAGE,
                        "`fit.as_published` belongs to `fit.method` %s: the model of '%s' has "
                        "nothing that its program would take without noise%s",
                        names, method->name,
                        method->has_forms ? " in this form (`fit.sglt_form` deniable has)" : "");
    }
    if (!asked || method->has_forms) return DPL_OK;
    list_names(has_forms, sizeof names, names);
    return dpl_fail(run, DPL_USAGE, "`fit.sglt_form` and `fit.keep` belong to `fit.method` %s",
                    names);
}

static bool has_roads(const struct dpl_method *method) { return method->has_roads; }

static enum dpl_status check_roads(struct dpl_run *run, const struct dpl_method *method,
                                   const struct dpl_fit_options *options) {
    char names[NAMES];
    if (!options->roads || method->has_roads) return DPL_OK;
    list_names(has_roads, sizeof names, names);
    return dpl_fail(run, DPL_USAGE, "`fit.roads` belongs to `fit.method` %s", names);
}

/* PRIVACY: NOT PRIVATE, which the plan, the model and the certificate then say. */
static void put_bare(const struct dpl_method *method, struct dpl_mechanism *ask, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (const char *const *raw = method->raw; *raw; raw++)
            ask[i].bare |= !strcmp(ask[i].name, *raw);
}

enum dpl_status dpl_method_requests(struct dpl_run *run, const struct dpl_method *method,
                                    const struct dpl_fit_options *options,
                                    struct dpl_mechanism *ask, size_t *n) {
    char names[NAMES];
    if (!(options->coverage >= 0 && options->coverage <= 1))
        return dpl_fail(run, DPL_USAGE, "`fit.coverage` takes a number above 0 and up to 1");
    if (!(options->kl_weight >= 0 && options->kl_weight <= 1000))
        return dpl_fail(run, DPL_USAGE, "`fit.kl_weight` takes a number from 0 to 1000");
    if (options->no_destination && !method->has_ablations) {
        list_names(has_ablations, sizeof names, names);
        return dpl_fail(
            run, DPL_USAGE,
            "`fit.no_destination` belongs to `fit.method` %s: '%s' has no transition net to "
            "leave it out of",
            names, method->name);
    }
    DPL_TRY(check_mechanism(run, method, options));
    DPL_TRY(check_forms(run, method, options));
    DPL_TRY(check_roads(run, method, options));
    DPL_TRY(method->plan(run, options, ask, n));
    if (options->as_published) put_bare(method, ask, *n);
    if (options->shares) DPL_TRY(dpl_budget_shares(run, options->shares, ask, *n));
    if (options->sigmas && isfinite(options->budget.epsilon))
        DPL_TRY(put_sigmas(run, options->sigmas, ask, *n));
    return DPL_OK;
}
