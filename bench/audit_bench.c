/* A privacy audit in one training run (Steinke, Nasr, Jagielski 2023): a thousand canary trips,
 * each in the data by the toss of a coin; an adversary who sees every step guesses which were in.
 * From the number of right guesses follows a lower bound on epsilon, which must not exceed what the
 * accountant claims, and should not be far below it.
 *
 * Canary i is the trip "i, then i": its gradient is nearly orthogonal to all others, because only
 * it raises cell i. Its score is what all noisy steps hold of it; the highest scores are guessed to
 * be in, the lowest to be out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "method/paper/fit_nexthop.h"

enum { CANARIES = 1000, STEPS = 2, GUESSES = 300 };
static const double SIGMA = 1.5, DELTA = 1e-8, CONFIDENCE = 0.05;

struct audit {
    struct dpl_run *run;
    struct dpl_sgd *all;     /* knows every canary, to ask for its gradient */
    float *before;           /* parameters before the step */
    int64_t *gradient, *sum; /* (n_parameters) of one canary, of all */
    double score[CANARIES];
};

/* Adds to each canary's score what the step that was just made holds of its gradient. */
static enum dpl_status see_step(void *user, const struct dpl_sgd_state *state,
                                const struct dpl_sgd_report *report) {
    struct audit *audit = user;
    uint32_t everyone[CANARIES];
    for (uint32_t i = 0; i < CANARIES; i++) everyone[i] = i;
    enum dpl_status status =
        dpl_sgd_sum(audit->all, audit->before, report->step - 1, everyone, CANARIES, audit->sum);
    if (status != DPL_OK) return status;
    for (uint32_t i = 0; i < CANARIES; i++) {
        status = dpl_sgd_sum(audit->all, audit->before, report->step - 1, &i, 1, audit->gradient);
        if (status != DPL_OK) return status;
        for (size_t p = 0; p < state->n_parameters; p++) { // what all have in common tells nothing
            double own = (double)audit->gradient[p] - (double)audit->sum[p] / CANARIES;
            audit->score[i] += ((double)audit->before[p] - (double)state->parameters[p]) * own;
        }
    }
    for (size_t p = 0; p < state->n_parameters; p++) audit->before[p] = state->parameters[p];
    return DPL_OK;
}

/* P(at least `right` of n coins of chance p). */
static double binomial_tail(int n, int right, double p) {
    double sum = 0;
    for (int k = right; k <= n; k++)
        sum += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
                   (n - k) * log1p(-p));
    return sum;
}

/* The largest epsilon that so many right guesses rule out. The term of delta, 2 * canaries * delta,
 * is left on top. */
static double lower_bound(int n, int right) {
    double low = 0, high = 30;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2, p = 1 / (1 + exp(-middle));
        if (binomial_tail(n, right, p) + 2 * CANARIES * DELTA < CONFIDENCE)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static const struct audit *ranked;
static int by_score(const void *a, const void *b) {
    double left = ranked->score[*(const int *)a], right = ranked->score[*(const int *)b];
    return (left > right) - (left < right);
}

static void check(struct dpl_run *run, enum dpl_status status) {
    if (status == DPL_OK) return;
    fprintf(stderr, "audit_bench: %s\n", dpl_run_message(run));
    exit(1);
}

/* Trips "i, i" of the canaries that are in (all of them when `in` is NULL). */
static struct dpl_units canaries(const bool *in, size_t *trip_start, int32_t *cell,
                                 uint8_t *period) {
    size_t n = 0;
    trip_start[0] = 0;
    for (int32_t i = 0; i < CANARIES; i++) {
        if (in && !in[i]) continue;
        cell[2 * n] = cell[2 * n + 1] = i;
        period[n] = 0;
        n++;
        trip_start[n] = 2 * n;
    }
    return (struct dpl_units){
        .n_units = n, .trip_start = trip_start, .cell = cell, .period = period};
}

int main(void) {
    static size_t start_all[CANARIES + 1], start_in[CANARIES + 1];
    static int32_t cell_all[2 * CANARIES], cell_in[2 * CANARIES];
    static uint8_t period_all[CANARIES], period_in[CANARIES];
    static bool in[CANARIES];
    static struct audit audit;
    struct dpl_run *run = dpl_run_new(NULL);
    struct dpl_secret secret;
    check(run, dpl_secret_from_seed(run, 7, &secret)); // the same figure every time
    for (uint64_t i = 0; i < CANARIES; i++) in[i] = dpl_mix64(i * 2654435761u + 99) >> 63;

    struct dpl_nexthop_shape shape = {
        .n_cells = CANARIES,
        .n_periods = 24,
        .embedding = 10,
        .hidden = 40}; // small: each canary's gradient is asked for at every step
    struct dpl_sgd_options options = dpl_nexthop_training(CANARIES);
    options.event.rate = 1, options.event.steps = STEPS, options.event.sigma = SIGMA;
    options.event.sensitivity = 0.5; // below every canary's norm: each counts in full
    options.batch = CANARIES / 2, options.report_every = 1, options.learning_rate = 0.1;
    struct dpl_units all = canaries(NULL, start_all, cell_all, period_all),
                     kept = canaries(in, start_in, cell_in, period_in);
    struct dpl_net *net_all, *net;
    struct dpl_sgd_state *state;
    check(run, dpl_nexthop_new(run, &shape, &all, 1, CANARIES, &net_all));
    check(run, dpl_nexthop_new(run, &shape, &kept, 1, CANARIES, &net));
    check(run, dpl_sgd_state_new(run, net->n_parameters, &state));
    net->initialise(net, 1, state->parameters);
    audit = (struct audit){.run = run};
    check(run, dpl_sgd_new(run, net_all, &options, &secret, &audit.all));
    audit.before = dpl_alloc(run, net->n_parameters, sizeof *audit.before);
    audit.gradient = dpl_alloc(run, net->n_parameters, sizeof *audit.gradient);
    audit.sum = dpl_alloc(run, net->n_parameters, sizeof *audit.sum);
    if (!audit.before || !audit.gradient || !audit.sum) check(run, DPL_SYSTEM);
    for (size_t p = 0; p < net->n_parameters; p++) audit.before[p] = state->parameters[p];
    check(run, dpl_sgd_train(run, net, &options, &secret, state, see_step, &audit));

    int order[CANARIES], right = 0;
    for (int i = 0; i < CANARIES; i++) order[i] = i;
    ranked = &audit;
    qsort(order, CANARIES, sizeof *order, by_score);
    for (int g = 0; g < GUESSES / 2; g++) right += !in[order[g]] + in[order[CANARIES - 1 - g]];
    struct dpl_bound claim;
    check(run, dpl_account(run, &options.event, 1, DELTA, &claim));
    double found = lower_bound(GUESSES, right);
    printf("%-32s %8d of %d\n", "audit_right_guesses", right, GUESSES);
    printf("%-32s %8.3f epsilon %8.3f %s\n", "audit_lower_bound_below_claim", found, claim.epsilon,
           found <= claim.epsilon ? "ok" : "MISSED");
    printf("%-32s %8.3f part   %8.2f %s\n", "audit_lower_bound_over_claim", found / claim.epsilon,
           0.2, found >= 0.2 * claim.epsilon ? "ok" : "MISSED");
    dpl_sgd_free(audit.all);
    dpl_sgd_state_free(state);
    dpl_net_free(net), dpl_net_free(net_all);
    dpl_free(audit.before), dpl_free(audit.gradient), dpl_free(audit.sum);
    dpl_secret_wipe(&secret);
    dpl_run_free(run);
    return 0;
}
