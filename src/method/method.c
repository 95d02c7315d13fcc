/* The table of methods, and what they have in common before data is read. */
#include "method/method.h"

#include <math.h>
#include <string.h>

static const struct dpl_method *const METHODS[] = {&dpl_method_bridge, &dpl_method_paper,
                                                   &dpl_method_ngram, &dpl_method_adatrace};
enum { N_METHODS = sizeof METHODS / sizeof *METHODS };

const char *dpl_method_name(size_t i) { return i < N_METHODS ? METHODS[i]->name : NULL; }

enum dpl_status dpl_method_find(struct dpl_run *run, const char *name,
                                const struct dpl_method **method) {
    char names[128] = "";
    for (size_t i = 0; i < N_METHODS; i++) {
        if (!strcmp(METHODS[i]->name, name)) {
            *method = METHODS[i];
            return DPL_OK;
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", METHODS[i]->name);
    }
    return dpl_fail(run, DPL_USAGE, "there is no method '%.40s' (`fit.method` takes %s)", name,
                    names);
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
    return DPL_OK;
}

bool dpl_mechanism_laplace(const struct dpl_fit_options *options) {
    return options->mechanism && !strcmp(options->mechanism, "laplace");
}

static enum dpl_status check_mechanism(struct dpl_run *run, const struct dpl_method *method,
                                       const struct dpl_fit_options *options) {
    bool laplace = dpl_mechanism_laplace(options);
    if (!laplace && options->mechanism && strcmp(options->mechanism, "gaussian"))
        return dpl_fail(run, DPL_USAGE, "`fit.mechanism` takes gaussian or laplace, not '%.40s'",
                        options->mechanism);
    if (laplace && !method->has_laplace)
        return dpl_fail(run, DPL_USAGE,
                        "the method %s has Gaussian noise only (`fit.mechanism` laplace belongs to "
                        "ngram and adatrace)",
                        method->name);
    return DPL_OK;
}

enum dpl_status dpl_method_requests(struct dpl_run *run, const struct dpl_method *method,
                                    const struct dpl_fit_options *options,
                                    struct dpl_mechanism *ask, size_t *n) {
    if (!(options->coverage >= 0 && options->coverage <= 1))
        return dpl_fail(run, DPL_USAGE, "`fit.coverage` takes a number above 0 and up to 1");
    if (!(options->kl_weight >= 0 && options->kl_weight <= 1000))
        return dpl_fail(run, DPL_USAGE, "`fit.kl_weight` takes a number from 0 to 1000");
    if (options->no_destination && strcmp(method->name, "paper"))
        return dpl_fail(
            run, DPL_USAGE,
            "`fit.no_destination` belongs to `fit.method` paper: '%s' has no transition net to "
            "leave it out of",
            method->name);
    DPL_TRY(check_mechanism(run, method, options));
    DPL_TRY(method->plan(run, options, ask, n));
    if (options->shares) DPL_TRY(dpl_budget_shares(run, options->shares, ask, *n));
    if (options->sigmas && isfinite(options->budget.epsilon))
        DPL_TRY(put_sigmas(run, options->sigmas, ask, *n));
    return DPL_OK;
}
