/* See release.h. The order in dpl_release_open is what makes a kill at any moment resumable:
 *
 *     key -> ledger opened (nothing charged) -> checkpoint on the disk -> charge -> reserve ->
 * noise
 *
 * So whenever noise may have been drawn, its key is on the disk, and the same noise can be drawn
 * again. */
#include "fit/release.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "account/event.h"
#include "base/json.h"
#include "fit/weak.h"
#include "fit/replay.h"
#include "fit/rounds.h"
#include "ledger/ledger.h"
#include "method/method.h"

enum { REPORTS = 50 };

static double now_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- open ---- */

/* PRIVACY: a fit that was stopped has spent already; starting anew beside it would spend twice
 * unseen. */
static enum dpl_status check_leftover(struct dpl_run *run, const struct dpl_fit_options *options) {
    if (!dpl_checkpoint_exists(options->checkpoint)) return DPL_OK;
    if (options->restart) return dpl_checkpoint_remove(run, options->checkpoint);
    return dpl_fail(
        run, DPL_REFUSED,
        "%s: a fit that was stopped left this checkpoint; go on with `fit.resume` (nothing "
        "is spent twice), or throw it away with `fit.restart` "
        "(everything is charged anew)",
        options->checkpoint);
}

/* PRIVACY: what is charged follows from the budget, what may be claimed from the key: they agree.
 */
static enum dpl_status check_source(struct dpl_run *run, const struct dpl_fit_options *options,
                                    const struct dpl_secret *secret) {
    if (secret->insecure == options->budget.insecure_seed) return DPL_OK;
    return dpl_fail(
        run, DPL_REFUSED,
        "the key of the noise %s from `budget.insecure_seed`, and the options say otherwise; "
        "start over with `fit.restart`",
        secret->insecure ? "follows" : "does not follow");
}

static enum dpl_status open_checkpoint(struct dpl_run *run, const struct dpl_fit_options *options,
                                       const char *binding, const struct dpl_cleaned *trips,
                                       struct dpl_release *release) {
    const struct dpl_method *method;
    DPL_TRY(dpl_method_find(run, options->method, &method));
    // PRIVACY: batches are drawn by the numbers of units; sums know no order.
    const bool ordered = method->one_machine;
    if (options->resume && !options->checkpoint)
        return dpl_fail(run, DPL_USAGE,
                        "nothing to resume without a checkpoint (`fit.checkpoint` FILE)");
    if (options->resume && options->restart)
        return dpl_fail(run, DPL_USAGE, "`fit.resume` and `fit.restart` exclude each other");
    if (options->resume) {
        DPL_TRY(dpl_checkpoint_resume(run, options->checkpoint, binding, trips, ordered,
                                      &release->secret, &release->checkpoint));
        return check_source(run, options, &release->secret);
    }
    DPL_TRY(check_leftover(run, options));
    if (options->budget.insecure_seed)
        DPL_TRY(dpl_secret_from_seed(run, options->insecure_seed, &release->secret));
    else
        DPL_TRY(dpl_secret_new(run, &release->secret));
    DPL_TRY(check_source(run, options, &release->secret));
    return dpl_checkpoint_new(run, options->checkpoint, binding, &release->secret, trips, ordered,
                              &release->checkpoint);
}

/* From the second release on, what this one brings the data set to is said before it starts. */
static void tell_total(struct dpl_run *run, const struct dpl_fit_options *options,
                       const struct dpl_ledger *ledger) {
    const struct dpl_ledger_totals spent = dpl_ledger_totals(ledger);
    const char *plural = spent.releases == 1 ? "" : "s";
    if (spent.releases == 0) return;
    if (options->sigmas)
        dpl_note(run,
                 "%zu earlier release%s of this data set: epsilon %.6g, delta %.3g; this one adds "
                 "what its sigmas cost",
                 spent.releases, plural, spent.epsilon, spent.delta);
    else
        dpl_note(run,
                 "%zu earlier release%s of this data set: with this one the total is epsilon %.6g, "
                 "delta %.3g",
                 spent.releases, plural, spent.epsilon + options->budget.epsilon,
                 spent.delta + options->budget.delta);
}

static enum dpl_status open_ledger(struct dpl_run *run, const struct dpl_fit_options *options,
                                   const struct dpl_identity *identity,
                                   struct dpl_release *release) {
    const char *resume = dpl_checkpoint_release(release->checkpoint);
    if (options->ledger && !strcmp(options->ledger, "none")) return DPL_OK;
    const struct dpl_method *method;
    DPL_TRY(dpl_method_find(run, options->method, &method));
    struct dpl_ledger_options how = dpl_ledger_defaults();
    how.unit = options->budget.unit;
    how.local = method->local;
    how.total_epsilon = options->total_epsilon;
    how.total_delta = options->total_delta;
    how.dataset = options->dataset;
    how.new_data = options->new_data;
    DPL_TRY(dpl_ledger_open(run, options->ledger, identity, &how, &release->ledger));
    // Stopped before its first charge, or resumed with another ledger: the release is new to this
    // ledger, and pays.
    if (!resume[0] || !dpl_ledger_knows(release->ledger, resume)) {
        tell_total(run, options, release->ledger);
        return DPL_OK;
    }
    how.resume = resume;
    dpl_ledger_close(release->ledger);
    release->ledger = NULL;
    return dpl_ledger_open(run, options->ledger, identity, &how, &release->ledger);
}

enum dpl_status dpl_release_open(struct dpl_run *run, const struct dpl_fit_options *options,
                                 const char *binding, const struct dpl_identity *identity,
                                 const struct dpl_cleaned *trips, struct dpl_release *release) {
    release->options = options;
    if (!(release->losses = json_object())) return dpl_fail(run, DPL_SYSTEM, "out of memory");
    DPL_TRY(open_checkpoint(run, options, binding, trips, release));
    if (identity) DPL_TRY(open_ledger(run, options, identity, release));
    if (release->ledger)
        dpl_checkpoint_set_release(release->checkpoint, dpl_ledger_release(release->ledger));
    return DPL_OK;
}

void dpl_release_close(struct dpl_release *release) {
    dpl_plan_free(release->plan);
    dpl_checkpoint_free(release->checkpoint);
    dpl_ledger_close(release->ledger);
    dpl_secret_wipe(&release->secret);
    json_decref(release->losses);
    *release = (struct dpl_release){0};
}

enum dpl_status dpl_release_stop(struct dpl_run *run, struct dpl_release *release) {
    const char *path = release->options->checkpoint;
    if (!path) return DPL_INTERRUPTED;
    dpl_run_begin(run);
    DPL_TRY(dpl_checkpoint_save(run, release->checkpoint));
    return dpl_fail(run, DPL_INTERRUPTED,
                    "interrupted; the same command with `fit.resume` goes on from %s, and nothing "
                    "is spent twice",
                    path);
}

enum dpl_status dpl_release_spent(struct dpl_run *run, const struct dpl_release *release,
                                  enum dpl_status status) {
    char problem[1024];
    if (!release->plan || isinf(dpl_plan_epsilon(release->plan))) return status;
    snprintf(problem, sizeof problem, "%s", dpl_run_message(run));
    dpl_run_begin(run);
    return dpl_fail(run, status,
                    "%s. The noise was drawn, and what was asked for is charged%s: epsilon %.6g, "
                    "delta %.3g",
                    problem, release->ledger ? " in the ledger" : " (no ledger keeps it)",
                    release->secret.insecure ? INFINITY : dpl_plan_epsilon(release->plan),
                    dpl_plan_delta(release->plan));
}

/* ---- plan ---- */

/* Of given sigmas, what they cost is known only now. What is refused is not to be resumed. */
static enum dpl_status check_cost(struct dpl_run *run, const struct dpl_fit_options *options,
                                  const struct dpl_plan *plan) {
    enum dpl_status status = dpl_weak_check(run, options, dpl_plan_epsilon(plan));
    if (status != DPL_OK && dpl_checkpoint_exists(options->checkpoint))
        (void)dpl_checkpoint_remove(run, options->checkpoint);
    return status;
}

/* PRIVACY: after the size, everything follows from public numbers and the noised one. */
enum dpl_status dpl_release_plan(struct dpl_run *run, struct dpl_release *release,
                                 const struct dpl_mechanism *ask, size_t n, size_t units) {
    const struct dpl_fit_options *options = release->options;
    struct dpl_size *size = NULL;
    enum dpl_status status;
    struct dpl_budget budget = options->budget; // of the size
    if (dpl_mechanisms_bare(ask, n)) budget.epsilon = INFINITY;
    bool worthless = isinf(budget.epsilon) || release->secret.insecure;
    if (release->ledger)
        DPL_TRY(dpl_ledger_afford(release->ledger, worthless ? INFINITY : budget.epsilon,
                                  budget.delta));
    DPL_TRY(
        dpl_checkpoint_save(run, release->checkpoint)); // the key is on the disk before any noise,
                                                        // and before a line in the ledger
    if (options->size > 0)
        DPL_GO(dpl_size_declare(run, options->size, &size));
    else
        DPL_GO(dpl_size_measure(run, &budget, units, &release->secret, release->ledger, &size));
    DPL_GO(dpl_plan_make(run, &options->budget, size, ask, n, &release->plan));
    DPL_GO(check_cost(run, options, release->plan));
    DPL_GO(dpl_plan_charge(run, release->plan, release->ledger));
done:
    dpl_size_free(size);
    return status;
}

static enum dpl_status find_event(struct dpl_run *run, const struct dpl_plan *plan,
                                  const char *name, size_t *i) {
    for (*i = 0; *i < dpl_plan_events(plan); ++*i)
        if (!strcmp(dpl_plan_event(plan, *i)->name, name)) return DPL_OK;
    return dpl_fail(run, DPL_REFUSED, "the plan has no mechanism '%s'", name);
}

/* ---- measure ---- */

/* What a reader of the noised numbers must know: beside them in the model. */
static json_t *describe_noise(const struct dpl_event *event, double deviation) {
    return json_pack("{s:s, s:f, s:f, s:f}", "kind", dpl_event_kind_name(event->kind),
                     "sensitivity", event->sensitivity, "sigma", event->sigma, "deviation",
                     deviation);
}

/* PRIVACY: the numbers that were paid for, with the noise on them. Nothing else of the data. */
static enum dpl_status keep_noised(struct dpl_run *run, struct dpl_release *release,
                                   const struct dpl_question *question,
                                   const struct dpl_noised *noised) {
    const struct dpl_event *event = &question->event;
    double *values;
    if (!release->model) return DPL_OK;
    json_t *about = describe_noise(event, dpl_noised_deviation(noised));
    dpl_json_share(&about, "axes", question->axes);
    DPL_TRY(dpl_model_add_noised(run, release->model, event->name, question->shape.rank,
                                 question->shape.size, about, &values));
    for (size_t i = 0; i < dpl_noised_count(noised); i++) values[i] = dpl_noised_value(noised, i);
    return DPL_OK;
}

enum dpl_status dpl_release_ask(struct dpl_run *run, struct dpl_release *release,
                                struct dpl_question *question) {
    DPL_TRY(find_event(run, release->plan, question->name, &question->place));
    return dpl_plan_reserve(run, release->plan, question->place, question->number,
                            release->trips_max, release->ledger, &question->event);
}

enum dpl_status dpl_release_noise(struct dpl_run *run, struct dpl_release *release,
                                  const struct dpl_question *question, struct dpl_exact **sum,
                                  struct dpl_noised **noised) {
    const struct dpl_event *event = &question->event;
    const struct dpl_stream_id id = {DPL_PURPOSE_COUNTS, question->place, 0};
    if (!(event->sigma > 0) && isinf(dpl_plan_epsilon(release->plan)))
        DPL_TRY(dpl_bare_release(run, event, sum, noised));
    else if (event->kind == DPL_EVENT_LOCAL)
        DPL_TRY(dpl_local_release(run, &release->secret, event, id, question->local,
                                  question->n_local, sum, noised));
    else if (event->kind == DPL_EVENT_LAPLACE)
        DPL_TRY(dpl_laplace_release(run, &release->secret, event, id, sum, noised));
    else
        DPL_TRY(dpl_gaussian_release(run, &release->secret, event, id, sum, noised));
    enum dpl_status status = keep_noised(run, release, question, *noised);
    if (status == DPL_OK) return DPL_OK;
    dpl_noised_free(*noised);
    *noised = NULL;
    return status;
}

/* The noised table of a question that was asked. *sum: what was counted already, or NULL; it is
 * taken over. *noised stays NULL when the question belongs to a round, and it is not the driver's
 * turn. */
static enum dpl_status measure_one(struct dpl_run *run, struct dpl_release *release,
                                   const struct dpl_question *question, struct dpl_parts *parts,
                                   struct dpl_exact **sum, struct dpl_noised **noised) {
    struct dpl_rounds *rounds = release->rounds;
    enum dpl_status status = DPL_OK;
    if (rounds)
        status = dpl_rounds_answer(run, rounds, question, parts, sum, noised);
    else if (!*sum)
        status = dpl_count_all(run, question, 1, parts, sum);
    if (status == DPL_OK && *sum)
        status = dpl_release_noise(run, release, question, sum, noised);
    else if (status == DPL_OK && *noised)
        status = keep_noised(run, release, question, *noised);
    if (status == DPL_OK && rounds && *noised)
        status = dpl_rounds_keep(run, rounds, question,
                                 describe_noise(&question->event, dpl_noised_deviation(*noised)),
                                 *noised);
    if (status == DPL_OK) return DPL_OK;
    dpl_noised_free(*noised);
    *noised = NULL;
    return status;
}

static enum dpl_status take_one(struct dpl_run *run, struct dpl_release *release,
                                const struct dpl_question *question, struct dpl_parts *parts,
                                struct dpl_exact **sum, struct dpl_noised **noised) {
    DPL_TRY(dpl_check_interrupt(run));
    // PRIVACY: a replay draws no noise and reserves none: the caller gets the old table.
    if (release->replay) return dpl_replay_measure(run, release->replay, question, parts, noised);
    return measure_one(run, release, question, parts, sum, noised);
}

/* Trips in a file are counted for all questions in one pass. */
static enum dpl_status count_spilled(struct dpl_run *run, const struct dpl_release *release,
                                     const struct dpl_question *questions, size_t n,
                                     struct dpl_parts *parts, struct dpl_exact **sums) {
    for (size_t i = 0; i < n; i++) sums[i] = NULL;
    bool known = release->replay ||
                 (release->rounds && !dpl_rounds_counts(release->rounds, questions[0].name));
    if (!parts->spilled || known) return DPL_OK;
    return dpl_count_all(run, questions, n, parts, sums);
}

enum dpl_status dpl_release_measure_all(struct dpl_run *run, struct dpl_release *release,
                                        struct dpl_question *questions, size_t n,
                                        struct dpl_parts *parts, dpl_noised_taker *take,
                                        void *context) {
    struct dpl_exact **sums = dpl_alloc(run, n, sizeof *sums);
    enum dpl_status status = sums ? DPL_OK : DPL_SYSTEM;
    bool open = false;
    for (size_t i = 0; status == DPL_OK && !release->replay && i < n; i++)
        status = dpl_release_ask(run, release, &questions[i]);
    if (status == DPL_OK) status = count_spilled(run, release, questions, n, parts, sums);
    for (size_t i = 0; status == DPL_OK && i < n; i++) {
        struct dpl_noised *noised = NULL;
        status = take_one(run, release, &questions[i], parts, &sums[i], &noised);
        open |= status == DPL_OK && !noised;
        if (noised) status = take(run, context, i, noised);
        dpl_noised_free(noised);
    }
    for (size_t i = 0; sums && i < n; i++) dpl_exact_free(sums[i]);
    dpl_free(sums);
    if (status != DPL_OK) return status;
    return open ? dpl_rounds_end(release->rounds) : DPL_OK;
}

enum dpl_status dpl_release_measure(struct dpl_run *run, struct dpl_release *release,
                                    struct dpl_question question, struct dpl_parts *parts,
                                    struct dpl_noised **noised) {
    struct dpl_exact *sum = NULL;
    *noised = NULL;
    if (!release->replay) DPL_TRY(dpl_release_ask(run, release, &question));
    enum dpl_status status = take_one(run, release, &question, parts, &sum, noised);
    dpl_exact_free(sum);
    if (status != DPL_OK) return status;
    return *noised ? DPL_OK : dpl_rounds_end(release->rounds);
}

static enum dpl_status add_unlisted(struct dpl_run *run, void *tally,
                                    const struct dpl_entry *entries, size_t n) {
    return dpl_unlisted_add(run, tally, entries, n);
}

enum dpl_status dpl_release_keys(struct dpl_run *run, struct dpl_release *release, const char *name,
                                 dpl_put_trip *put, const void *about, struct dpl_parts *parts,
                                 struct dpl_keys *keys) {
    if (release->replay) return dpl_replay_end(release->replay);
    struct dpl_question question = {.name = name};
    struct dpl_unlisted *tally = NULL;
    enum dpl_status status;
    DPL_TRY(dpl_release_ask(run, release, &question));
    DPL_TRY(dpl_unlisted_new(run, question.event.sensitivity, &tally));
    for (size_t i = 0; i < parts->n; i++) {
        DPL_GO(dpl_part_open(run, parts, i));
        status = dpl_units_each(run, about, &parts->part[i], put, add_unlisted, tally);
        dpl_part_close(parts, i);
        if (status != DPL_OK) goto done;
    }
    status = dpl_threshold_release(run, &release->secret, &question.event,
                                   (struct dpl_stream_id){DPL_PURPOSE_COUNTS, question.place, 0},
                                   &tally, keys);
done:
    dpl_unlisted_free(tally);
    return status;
}

enum dpl_status dpl_release_filter(struct dpl_run *run, struct dpl_release *release,
                                   const char *name, double number, size_t n_bins,
                                   struct dpl_filter **filter) {
    if (release->replay) return dpl_replay_end(release->replay);
    struct dpl_event event;
    size_t i;
    DPL_TRY(find_event(run, release->plan, name, &i));
    DPL_TRY(dpl_plan_reserve(run, release->plan, i, number, release->trips_max, release->ledger,
                             &event));
    return dpl_filter_open(
        run, &release->secret, &event, (struct dpl_stream_id){DPL_PURPOSE_COUNTS, i, 0},
        !(event.sigma > 0) && isinf(dpl_plan_epsilon(release->plan)), n_bins, filter);
}

/* ---- train ---- */

struct training {
    struct dpl_run *run;
    struct dpl_release *release;
    struct dpl_event event;
    size_t i; /* of the event in the plan */
    const char *name;
    double saved_s;
};

/* What the plan has cost when event i stands at `step` and those before it are done. */
static enum dpl_status tell_epsilon(const struct training *training, int64_t step) {
    const struct dpl_plan *plan = training->release->plan;
    struct dpl_event *events = dpl_alloc(training->run, training->i + 1, sizeof *events);
    struct dpl_bound bound;
    if (!events) return DPL_SYSTEM;
    for (size_t i = 0; i <= training->i; i++) events[i] = *dpl_plan_event(plan, i);
    events[training->i].steps = step;
    enum dpl_status status =
        dpl_account(training->run, events, training->i + 1, dpl_plan_delta(plan), &bound);
    if (status == DPL_OK)
        dpl_progress_epsilon(training->run, fmin(dpl_plan_epsilon_size(plan) + bound.epsilon,
                                                 dpl_plan_epsilon(plan)));
    dpl_free(events);
    return status;
}

static void tell_loss(const struct training *training, const struct dpl_sgd_report *report) {
    if (!training->release->options->show_private_loss || isnan(report->loss)) return;
    dpl_note(training->run, "NOT PRIVATE: %s, step %lld of %lld: loss %.4f", training->name,
             (long long)report->step, (long long)report->steps, report->loss);
    json_object_set_new(training->release->losses, training->name, json_real(report->loss));
}

static enum dpl_status on_steps(void *user, const struct dpl_sgd_state *state,
                                const struct dpl_sgd_report *report) {
    struct training *training = user;
    (void)state; // it is the checkpoint's own
    if (now_s() - training->saved_s < training->release->options->checkpoint_s &&
        report->step < report->steps)
        return DPL_OK;
    tell_loss(training, report);
    bool private =
        isfinite(dpl_plan_epsilon(training->release->plan)) && !training->release->secret.insecure;
    if (private && report->step < report->steps) DPL_TRY(tell_epsilon(training, report->step));
    DPL_TRY(dpl_checkpoint_save(training->run, training->release->checkpoint));
    training->saved_s = now_s();
    return DPL_OK;
}

/* PRIVACY: initial weights come from a secret stream; they need not be secret, but nothing else is
 * as simple to say. */
static enum dpl_status initialise(struct dpl_run *run, const struct dpl_secret *secret,
                                  uint64_t network, const struct dpl_net *net, float *parameters) {
    struct dpl_random *random = NULL;
    struct dpl_stream stream;
    DPL_TRY(dpl_random_new(run, secret, &random));
    dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_WEIGHTS, network, 0});
    net->initialise(net, dpl_stream_u64(&stream), parameters);
    enum dpl_status status = dpl_stream_close(run, &stream);
    dpl_random_free(random);
    return status;
}

static enum dpl_status check_finite(struct dpl_run *run, const char *name, const float *values,
                                    size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return dpl_fail(run, DPL_BAD_DATA,
                            "training '%s' ran away to infinity: there is more noise than the net "
                            "can stand (a larger `budget.epsilon` or `fit.size`)",
                            name);
    return DPL_OK;
}

enum dpl_status dpl_release_train(struct dpl_run *run, struct dpl_release *release,
                                  const char *name, struct dpl_net *net,
                                  struct dpl_sgd_options options, const float **parameters) {
    if (release->replay) return dpl_replay_end(release->replay);
    struct training training = {.run = run, .release = release, .name = name, .saved_s = now_s()};
    struct dpl_sgd_state *state;
    bool fresh;
    DPL_TRY(find_event(run, release->plan, name, &training.i));
    DPL_TRY(dpl_plan_reserve(run, release->plan, training.i, 0, release->trips_max, release->ledger,
                             &training.event));
    options.event = training.event;
    options.not_private = isinf(dpl_plan_epsilon(release->plan));
    options.batch = fmin(dpl_plan_mechanism(release->plan, training.i)->batch,
                         (double)dpl_plan_units(release->plan));
    options.want_loss = release->options->show_private_loss;
    // A short training is reported on, and may be stopped, as often as a long one.
    options.report_every = options.event.steps / REPORTS < 1 ? 1
                           : options.event.steps / REPORTS < options.report_every
                               ? options.event.steps / REPORTS
                               : options.report_every;
    DPL_TRY(dpl_checkpoint_state(run, release->checkpoint, options.network, net->n_parameters,
                                 &state, &fresh));
    if (fresh) DPL_TRY(initialise(run, &release->secret, options.network, net, state->parameters));
    if (state->step > options.event.steps)
        return dpl_fail(run, DPL_REFUSED,
                        "the checkpoint is beyond the end of '%s'; start over with `fit.restart`",
                        name);
    DPL_TRY(dpl_sgd_train(run, net, &options, &release->secret, state, on_steps, &training));
    *parameters = state->parameters;
    return check_finite(run, name, *parameters, net->n_parameters);
}
