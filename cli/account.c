/* dploc account: epsilon from noise, noise from epsilon, the curve over delta, and the paper's
 * settings. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "manual.h"

enum { MAX_MECHANISMS = 64, CURVE_POINTS = 12 };

static const double DEFAULT_DELTA = 1e-8, MAX_STEPS = 9007199254740992.0; // 2^53

struct request {
    struct dpl_event events[MAX_MECHANISMS];
    double share[MAX_MECHANISMS]; /* of the budget; 0: the noise is given, NAN: to be found, share
                                     not given */
    size_t n_events;
    double delta, target_epsilon;
    int64_t n, batch;
    double epochs;
    const char *sigma, *shares, *paper;
    bool curve;
};

static const char *kind_name(enum dpl_event_kind kind) {
    static const char *const NAMES[] = {"gaussian", "poisson", "laplace"};
    return NAMES[kind];
}

/* ---- reading ---- */

/* A whole text as a finite number. */
static bool read_number(const char *text, double *number) {
    char *end;
    *number = strtod(text, &end);
    return end != text && !*end && isfinite(*number);
}

/* Noise: a number, '?' (to be found), or share=S (to be found, with that share). */
static enum dpl_status read_noise(struct cli *cli, const char *option, const char *text,
                                  double *sigma, double *share) {
    *sigma = 1;
    *share = NAN;
    if (!strcmp(text, "?")) return DPL_OK;
    if (!strncmp(text, "share=", 6)) {
        if (read_number(text + 6, share) && *share > 0) return DPL_OK;
        return cli_usage(cli, "--%s: a share is a number above 0, not '%s'", option, text + 6);
    }
    *share = 0;
    if (!read_number(text, sigma))
        return cli_usage(
            cli, "--%s: '%s' is not a finite number (nor '?' or share=S with --target-epsilon)",
            option, text);
    if (*sigma > 0) return DPL_OK;
    return cli_usage(cli,
                     "--%s: the noise is %g, but must be above 0: without noise there is no "
                     "privacy to account for",
                     option, *sigma);
}

static enum dpl_status add_event(struct cli *cli, struct request *request, struct dpl_event event,
                                 double share) {
    if (request->n_events == MAX_MECHANISMS)
        return cli_usage(cli,
                         "more than %d mechanisms; equal ones can be one --poisson with more steps",
                         MAX_MECHANISMS);
    event.sensitivity = 1;
    snprintf(event.name, sizeof event.name, "%s %zu", kind_name(event.kind), request->n_events + 1);
    request->events[request->n_events] = event;
    request->share[request->n_events++] = share;
    return DPL_OK;
}

static enum dpl_status add_gaussian(struct cli *cli, void *into, const char *value) {
    struct dpl_event event = {.kind = DPL_EVENT_GAUSSIAN};
    double share;
    enum dpl_status status = read_noise(cli, "gaussian", value, &event.sigma, &share);
    return status == DPL_OK ? add_event(cli, into, event, share) : status;
}

static enum dpl_status add_laplace(struct cli *cli, void *into, const char *value) {
    struct dpl_event event = {.kind = DPL_EVENT_LAPLACE};
    double share;
    enum dpl_status status = read_noise(cli, "laplace", value, &event.sigma, &share);
    return status == DPL_OK ? add_event(cli, into, event, share) : status;
}

static enum dpl_status check_poisson(struct cli *cli, double rate, double steps) {
    if (!(rate > 0 && rate <= 1))
        return cli_usage(
            cli, "--poisson: the sampling rate is %g, but must be above 0 and at most 1", rate);
    if (!(steps >= 0 && steps <= MAX_STEPS) || steps > floor(steps))
        return cli_usage(cli, "--poisson: steps are a whole number from 0 to 2^53, not %.17g",
                         steps);
    return DPL_OK;
}

static enum dpl_status add_poisson(struct cli *cli, void *into, const char *value) {
    char rate_text[64], sigma_text[64], steps_text[64], rest;
    double rate, steps, share;
    struct dpl_event event = {.kind = DPL_EVENT_POISSON};
    if (sscanf(value, "%63[^,],%63[^,],%63[^,]%c", rate_text, sigma_text, steps_text, &rest) != 3 ||
        !read_number(rate_text, &rate) || !read_number(steps_text, &steps))
        return cli_usage(cli, "--poisson takes RATE,SIGMA,STEPS, such as 0.001,1.1,10000, not '%s'",
                         value);
    enum dpl_status status = read_noise(cli, "poisson", sigma_text, &event.sigma, &share);
    if (status == DPL_OK) status = check_poisson(cli, rate, steps);
    event.rate = rate;
    event.steps = (int64_t)steps;
    return status == DPL_OK ? add_event(cli, into, event, share) : status;
}

/* --n, --batch, --epochs and --sigma describe one more Poisson mechanism. */
static enum dpl_status add_training(struct cli *cli, struct request *request) {
    if (request->batch < 0 && isnan(request->epochs) && !request->sigma)
        return DPL_OK; // --n alone: to judge delta by
    if (request->n < 0 || request->batch < 0 || isnan(request->epochs))
        return cli_usage(cli,
                         "a training is described by all of --n, --batch, --epochs and --sigma");
    if (!request->sigma && isnan(request->target_epsilon))
        return cli_usage(cli, "--sigma is missing (or --target-epsilon, to have it found)");
    if (request->n == 0 || request->batch == 0 || request->batch > request->n)
        return cli_usage(cli, "--batch is the expected number of trips in a step: from 1 to --n, "
                              "and --n is at least 1");
    if (!(request->epochs >= 0 && request->epochs < INFINITY))
        return cli_usage(cli, "--epochs is a number from 0 up");
    const double rate = (double)request->batch / (double)request->n,
                 steps = ceil(request->epochs * (double)request->n / (double)request->batch);
    struct dpl_event event = {.kind = DPL_EVENT_POISSON, .rate = rate};
    double share;
    enum dpl_status status =
        read_noise(cli, "sigma", request->sigma ? request->sigma : "?", &event.sigma, &share);
    if (status == DPL_OK) status = check_poisson(cli, rate, steps);
    event.steps = (int64_t)steps;
    return status == DPL_OK ? add_event(cli, request, event, share) : status;
}

/* --shares S1,S2,...: one for each mechanism, in order. */
static enum dpl_status read_shares(struct cli *cli, struct request *request) {
    const char *at = request->shares;
    for (size_t i = 0; i < request->n_events; i++) {
        char *end;
        request->share[i] = strtod(at, &end);
        if (end == at || !(request->share[i] >= 0) || !isfinite(request->share[i]) ||
            (*end != ',' && *end))
            return cli_usage(cli,
                             "--shares takes a number from 0 up for each of the %zu mechanisms, in "
                             "their order, with commas between",
                             request->n_events);
        if ((*end == ',') != (i + 1 < request->n_events))
            return cli_usage(cli, "--shares has not as many numbers as there are mechanisms (%zu)",
                             request->n_events);
        at = end + 1;
    }
    return DPL_OK;
}

static enum dpl_status settle_shares(struct cli *cli, struct request *request) {
    const bool solving = !isnan(request->target_epsilon);
    if (request->shares && !solving)
        return cli_usage(cli, "--shares splits the budget of --target-epsilon, which is not given");
    if (request->shares) return read_shares(cli, request);
    size_t open = 0, given = 0;
    for (size_t i = 0; i < request->n_events; i++) {
        open += isnan(request->share[i]) ? 1 : 0;
        given += request->share[i] > 0 ? 1 : 0;
    }
    if (!solving && open + given)
        return cli_usage(cli, "noise to be found ('?' or share=S) needs --target-epsilon");
    if (open && given)
        return cli_usage(cli, "some mechanisms have a share of the budget and some only '?': give "
                              "each a share, or none");
    for (size_t i = 0; open && i < request->n_events; i++)
        if (isnan(request->share[i])) request->share[i] = 1; // equal shares
    if (solving && open + given == 0)
        return cli_usage(cli, "--target-epsilon: there is no noise to find; write '?' or share=S "
                              "in place of a sigma, or give --shares");
    return DPL_OK;
}

static enum dpl_status check_request(struct cli *cli, struct request *request) {
    if (cli->n_inputs)
        return cli_usage(cli, "there is no input to give ('%s'); mechanisms are options",
                         cli->inputs[0]);
    if (!(request->delta > 0 && request->delta < 1))
        return cli_usage(cli, "--delta is %g, but must lie between 0 and 1", request->delta);
    if (!isnan(request->target_epsilon) &&
        !(request->target_epsilon > 0 && isfinite(request->target_epsilon)))
        return cli_usage(cli, "--target-epsilon is %g, but must be a number above 0",
                         request->target_epsilon);
    if (request->paper && request->n_events)
        return cli_usage(cli, "--paper has its own mechanisms; leave the others out");
    enum dpl_status status = add_training(cli, request);
    if (status != DPL_OK || request->paper) return status;
    if (!request->n_events)
        return cli_usage(cli, "no mechanism given: use --gaussian, --poisson, --laplace, or --n "
                              "with --batch, --epochs and --sigma");
    return settle_shares(cli, request);
}

/* ---- words ---- */

/* Rounded up to so many significant digits: an epsilon (or a sigma) may be told as larger, never as
 * smaller. */
static double round_up(double value, int digits) {
    if (!(value > 0) || !isfinite(value)) return value;
    const double scale = pow(10, digits - 1 - floor(log10(value)));
    return ceil(value * scale * (1 - 1e-12)) / scale;
}

/* epsilon as a change of odds: 50:50 becomes at most e^epsilon : 1. */
static void print_meaning(double epsilon, double delta, int64_t n) {
    const double sure = 100 / (1 + exp(-epsilon));
    printf("\nWhat it means: someone who takes it for 50:50 that a certain trip is in the data is "
           "at most\n");
    if (sure < 99)
        printf("%.0f:%.0f sure after seeing all that was released, whatever else they know", sure,
               100 - sure);
    else
        printf("%.4g:%.2g sure after seeing all that was released: that is hardly any protection",
               sure, 100 - sure);
    printf(".\ndelta is the chance, at most, that this promise does not hold: 1 in %.*g",
           delta > 1e-12 ? 12 : 3, floor(1 / delta * (1 + 1e-12)));
    if (n > 0) printf(", for %lld trips", (long long)n);
    printf(".\n");
}

static void warn_delta(const struct request *request) {
    if (request->n > 0 && request->delta * (double)request->n >= 1)
        fprintf(stderr,
                "warning: delta %g is not below 1/n = %.3g; a mechanism may then publish a trip "
                "outright and still keep this promise\n",
                request->delta, 1 / (double)request->n);
}

static void print_table(const struct request *request, const struct dpl_bound *bound,
                        const double *alone) {
    const bool solving = !isnan(request->target_epsilon);
    printf("%-12s %12s %12s %12s %14s%s\n", "mechanism", "rate", "sigma", "steps", "epsilon alone",
           solving ? "   share" : "");
    for (size_t i = 0; i < request->n_events; i++) {
        const struct dpl_event *event = &request->events[i];
        const bool poisson = event->kind == DPL_EVENT_POISSON;
        char rate[32] = "-";
        if (poisson) snprintf(rate, sizeof rate, "%.6g", event->rate);
        printf("%-12s %12s %12.5g %12lld %14.5g", kind_name(event->kind), rate,
               round_up(event->sigma, 5), poisson ? (long long)event->steps : 1LL,
               round_up(alone[i], 5));
        if (solving && request->share[i] > 0) printf(" %7.4g", request->share[i]);
        printf("%s\n", solving && !(request->share[i] > 0) ? "   fixed" : "");
    }
    printf("\ntogether: epsilon %.5g at delta %g", round_up(bound->epsilon, 5), bound->delta);
    if (bound->kind == DPL_BOUND_GAUSSIAN) printf(" (exact, by the Gaussian formula)");
    if (bound->kind == DPL_BOUND_PURE) printf(" (exact, by the formula of a pure mechanism)");
    if (bound->kind == DPL_BOUND_PLD)
        printf(" (by privacy loss distributions; Renyi moments would say %.5g)",
               round_up(bound->epsilon_rdp, 5));
    if (bound->kind == DPL_BOUND_RDP) printf(" (by Renyi moments)");
    printf(", rounded up\n");
}

/* ---- JSON ---- */

static json_t *number_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *events_json(const struct request *request, const double *alone) {
    json_t *list = json_array();
    for (size_t i = 0; i < request->n_events; i++) {
        const struct dpl_event *event = &request->events[i];
        json_t *one =
            json_pack("{s:s, s:s, s:f, s:o}", "name", event->name, "kind", kind_name(event->kind),
                      "sigma", event->sigma, "epsilon_alone", number_or_null(alone[i]));
        if (event->kind == DPL_EVENT_POISSON) {
            json_object_set_new(one, "rate", json_real(event->rate));
            json_object_set_new(one, "steps", json_integer(event->steps));
        }
        if (!isnan(request->target_epsilon))
            json_object_set_new(one, "share", json_real(request->share[i]));
        json_array_append_new(list, one);
    }
    return list;
}

static void print_json(json_t *object) {
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    putchar('\n');
    json_decref(object);
}

static json_t *bound_json(const struct dpl_bound *bound) {
    return json_pack("{s:o, s:f, s:s, s:o, s:o, s:f}", "epsilon", number_or_null(bound->epsilon),
                     "delta", bound->delta, "bound", dpl_bound_name(bound->kind), "epsilon_rdp",
                     number_or_null(bound->epsilon_rdp), "epsilon_pld",
                     number_or_null(bound->epsilon_pld), "sure_percent",
                     100 / (1 + exp(-bound->epsilon)));
}

/* ---- doing ---- */

struct curve {
    double delta[CURVE_POINTS], epsilon[CURVE_POINTS];
};

static enum dpl_status compute_curve(struct cli *cli, const struct request *request,
                                     struct curve *curve) {
    for (int i = 0; i < CURVE_POINTS; i++) curve->delta[i] = pow(10, -3 - i);
    return dpl_account_profile(cli->run, request->events, request->n_events, curve->delta,
                               CURVE_POINTS, curve->epsilon);
}

static void print_curve(const struct curve *curve) {
    printf("\n%12s %12s\n", "delta", "epsilon");
    for (int i = 0; i < CURVE_POINTS; i++)
        printf("%12.0e %12.5g\n", curve->delta[i], round_up(curve->epsilon[i], 5));
}

static json_t *curve_json(const struct curve *curve) {
    json_t *list = json_array();
    for (int i = 0; i < CURVE_POINTS; i++)
        json_array_append_new(list, json_pack("{s:f, s:o}", "delta", curve->delta[i], "epsilon",
                                              number_or_null(curve->epsilon[i])));
    return list;
}

static enum dpl_status account_mechanisms(struct cli *cli, struct request *request) {
    const bool solving = !isnan(request->target_epsilon);
    struct dpl_bound bound, one;
    struct curve curve;
    double alone[MAX_MECHANISMS];
    enum dpl_status status = DPL_OK;
    if (solving)
        status = dpl_account_solve(cli->run, request->events, request->share, request->n_events,
                                   request->target_epsilon, request->delta);
    if (status == DPL_OK)
        status = dpl_account(cli->run, request->events, request->n_events, request->delta, &bound);
    for (size_t i = 0; status == DPL_OK && i < request->n_events; i++) {
        status = dpl_account(cli->run, &request->events[i], 1, request->delta, &one);
        alone[i] = one.epsilon;
    }
    if (status == DPL_OK && request->curve) status = compute_curve(cli, request, &curve);
    if (status != DPL_OK) return status;
    if (!cli->quiet) warn_delta(request);
    if (cli->json) {
        json_t *object = bound_json(&bound);
        if (solving)
            json_object_set_new(object, "target_epsilon", json_real(request->target_epsilon));
        if (request->n > 0)
            json_object_set_new(object, "delta_below_1_over_n",
                                json_boolean(request->delta * (double)request->n < 1));
        json_object_set_new(object, "mechanisms", events_json(request, alone));
        if (request->curve) json_object_set_new(object, "curve", curve_json(&curve));
        print_json(object);
        return DPL_OK;
    }
    print_table(request, &bound, alone);
    if (request->curve) print_curve(&curve);
    print_meaning(bound.epsilon, bound.delta, request->n);
    return DPL_OK;
}

static json_t *paper_json(const char *data, int64_t trips, const struct dpl_paper_row *rows) {
    json_t *list = json_array();
    for (int i = 0; i < DPL_PAPER_ROWS; i++) {
        const struct dpl_paper_row *row = &rows[i];
        json_t *one = bound_json(&row->bound);
        json_object_set_new(one, "claimed", json_real(row->claimed));
        json_object_set_new(one, "formula_printed", json_real(row->printed));
        json_object_set_new(one, "formula_corrected", json_real(row->corrected));
        json_object_set_new(one, "sigma",
                            json_pack("{s:f, s:f, s:f}", "topk", row->events[0].sigma, "ti",
                                      row->events[1].sigma, "tpg", row->events[2].sigma));
        json_array_append_new(list, one);
    }
    return json_pack("{s:s, s:I, s:f, s:f, s:I, s:o}", "paper", data, "trips", (json_int_t)trips,
                     "delta", rows[0].delta, "rate", rows[0].events[1].rate, "steps",
                     (json_int_t)rows[0].events[1].steps, "settings", list);
}

static enum dpl_status account_paper(struct cli *cli, const struct request *request) {
    struct dpl_paper_row rows[DPL_PAPER_ROWS];
    int64_t trips;
    enum dpl_status status = dpl_account_paper(cli->run, request->paper, &trips, rows);
    if (status != DPL_OK) return status;
    if (cli->json) {
        print_json(paper_json(request->paper, trips, rows));
        return DPL_OK;
    }
    printf("The DP-Loc paper on %s: %lld trips, delta = 1/trips = %.4g, batches of 200, %lld steps "
           "for TI and for TPG\n\n",
           request->paper, (long long)trips, rows[0].delta, (long long)rows[0].events[1].steps);
    printf("%6s %6s %6s | %8s %12s | %12s %10s %10s\n", "s_K", "s_TI", "s_TPG", "claimed",
           "as printed", "corrected", "Renyi", "PLD");
    for (int i = 0; i < DPL_PAPER_ROWS; i++) {
        const struct dpl_paper_row *row = &rows[i];
        printf("%6g %6g %6g | %8g %12.3f | %12.3f %10.3f %10.3f\n", row->events[0].sigma,
               row->events[1].sigma, row->events[2].sigma, row->claimed, row->printed,
               row->corrected, row->bound.epsilon_rdp, row->bound.epsilon_pld);
    }
    printf("\nEpsilon, add/remove of one trip, all three parts together. Claimed: in the paper. As "
           "printed: its formula, which\n"
           "counts |B|/|D| steps an epoch (there are |D|/|B|) and half of the Gaussian's log "
           "moment; not a valid bound.\n"
           "Corrected: the same formula without these two slips. Renyi and PLD: valid; the least "
           "one holds.\n");
    return DPL_OK;
}

static int account_main(struct cli *cli, int argc, char **argv) {
    static struct request request;
    request = (struct request){
        .delta = DEFAULT_DELTA, .target_epsilon = NAN, .n = -1, .batch = -1, .epochs = NAN};
    const struct option options[] = {
        {"gaussian", 0, OPTION_CALL, &request, add_gaussian},
        {"poisson", 0, OPTION_CALL, &request, add_poisson},
        {"laplace", 0, OPTION_CALL, &request, add_laplace},
        {"delta", 0, OPTION_REAL, &request.delta, NULL},
        {"n", 0, OPTION_WHOLE, &request.n, NULL},
        {"batch", 0, OPTION_WHOLE, &request.batch, NULL},
        {"epochs", 0, OPTION_REAL, &request.epochs, NULL},
        {"sigma", 0, OPTION_TEXT, &request.sigma, NULL},
        {"target-epsilon", 0, OPTION_REAL, &request.target_epsilon, NULL},
        {"shares", 0, OPTION_TEXT, &request.shares, NULL},
        {"curve", 0, OPTION_FLAG, &request.curve, NULL},
        {"paper", 0, OPTION_TEXT, &request.paper, NULL},
        {0},
    };
    int ended = cli_start(cli, argc, argv, (const struct option *const[]){options}, 1);
    if (ended >= 0) return ended;
    enum dpl_status status = check_request(cli, &request);
    if (status == DPL_OK)
        status = request.paper ? account_paper(cli, &request) : account_mechanisms(cli, &request);
    return cli_finish(cli, status);
}

const struct command command_account = {
    .bit = IN_ACCOUNT,
    .name = "account",
    .summary = "epsilon from noise, noise from epsilon",
    .usage = "MECHANISM... [--delta D] [--target-epsilon E] [--curve]",
    .arguments = NULL,
    .about = "What releases cost together: epsilon from noise, or the noise for an epsilon. "
             "Noise is given over the sensitivity.",
    .notes = "The answer is the least of the valid bounds (exact Gaussian formula, privacy "
             "loss distributions, Renyi moments), rounded up, for adding or removing one trip.",
    .examples = "dploc account --gaussian 3.8 --n 450000 --batch 200 --epochs 15 --sigma 1.5\n"
                "dploc account --target-epsilon 1 --gaussian '?' --poisson '0.001,?,15000'\n",
    .main = account_main,
};
