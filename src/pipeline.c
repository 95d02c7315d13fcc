/* The program on one screen: the stages, called in order. Data moves one way.
 *
 *     ingest -> clean -> grid        dpl_cleaned_read: from files to cleaned trips
 *     ... -> plan -> method          dpl_fit: from cleaned trips to a model that may be published
 *
 * What follows needs no driver: dpl_sample draws from the model (sample/sample.c), dpl_evaluate
 * compares real and synthetic trips (evaluate/evaluate.c), dpl_report shows both in one page
 * (report/report.c).
 */
#include <string.h>

#include "base/base.h"
#include "clean/clean.h"
#include "fit/fit.h"
#include "fit/weak.h"
#include "ingest/hint.h"
#include "ingest/ingest.h"
#include "ledger/datasets.h"

struct dpl_read_options dpl_read_defaults(void) {
    return (struct dpl_read_options){.format = "auto",
                                     .time_unit = "auto",
                                     .coordinates = "auto",
                                     .gap_limit_s = 300,
                                     .memory_bytes = (size_t)32 << 20};
}

void dpl_read_facts_free(struct dpl_read_facts *facts) { dpl_free(facts); }

/* Data that yields nothing is an error with the likeliest reason, not an empty success.
 * PRIVACY: an exact predicate of the data, so that no fit asks it: dpl_fit runs on an empty set. */
static enum dpl_status check_yield(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                                   const struct dpl_read_facts *facts,
                                   const struct dpl_cleaned *trips) {
    if (facts->points == 0) {
        for (int reason = 0; reason < DPL_REJECTS; reason++)
            if (facts->rows_rejected[reason])
                return dpl_fail(run, DPL_BAD_DATA,
                                "none of the %lld rows can be used; the first: %s%s%s",
                                (long long)facts->rows, facts->example[reason],
                                facts->n_hints ? "; hint: " : "", facts->hint[0]);
        return dpl_fail(run, DPL_BAD_DATA, "%s%s: no rows, only a header or nothing at all",
                        strcmp(inputs[0], "-") ? inputs[0] : "standard input",
                        n_inputs > 1 ? " and the others" : "");
    }
    if (!trips || trips->n_trips) return DPL_OK;
    const int64_t *dropped = facts->trips_dropped;
    return dpl_fail(run, DPL_BAD_DATA,
                    "none of the %lld trips is left after cleaning: %lld leave the box, %lld are "
                    "too fast, %lld have a gap of %g minutes, %lld have fewer than 2 visits "
                    "(is the region right? `area`)%s%s",
                    (long long)facts->trips_read, (long long)dropped[DPL_DROP_OUTSIDE_BOX],
                    (long long)dropped[DPL_DROP_TOO_FAST], (long long)dropped[DPL_DROP_GAP],
                    facts->gap_limit_s / 60.0, (long long)dropped[DPL_DROP_TOO_SHORT],
                    facts->n_hints ? "; hint: " : "", facts->hint[0]);
}

static enum dpl_status read_and_clean(struct dpl_run *run, const char *const *inputs,
                                      size_t n_inputs, const struct dpl_read_options *options,
                                      const struct dpl_area *area, struct ingest_identity *identity,
                                      struct dpl_cleaned **trips, struct dpl_read_facts *facts) {
    enum dpl_status status;
    struct cleaner *cleaner = NULL;
    struct dpl_grid grid;
    DPL_GO(dpl_grid_make(run, area, &grid));
    DPL_GO(dpl_cleaner_new(run, &grid, options, facts, &cleaner));
    DPL_GO(dpl_ingest_read(run, inputs, n_inputs, options, &DPL_INGEST_LIMITS, area->zone,
                           dpl_cleaner_sink(cleaner), identity, facts));
    *trips = dpl_cleaner_take_trips(cleaner);
    facts->cleaned = true;
    facts->trips_read = facts->trips_cut_into;
done:
    dpl_cleaner_free(cleaner);
    return status;
}

/* Facts are given on failure, too. */
static enum dpl_status read_trips(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                                  const struct dpl_read_options *options,
                                  const struct dpl_area *area, struct ingest_identity *identity,
                                  struct dpl_cleaned **trips, struct dpl_read_facts **facts) {
    struct dpl_read_facts *found = *facts = dpl_alloc(run, 1, sizeof *found);
    if (!found) return DPL_SYSTEM;
    enum dpl_status status =
        area ? read_and_clean(run, inputs, n_inputs, options, area, identity, trips, found)
             : dpl_ingest_read(run, inputs, n_inputs, options, &DPL_INGEST_LIMITS, options->zone,
                               &DPL_SINK_NOTHING, identity, found);
    if (status != DPL_OK) return status;
    dpl_hints_find(options, area, found);
    // Who guesses shows the facts, and the hints among them.
    for (size_t i = 0; i < found->n_hints && !options->guess; i++)
        dpl_note(run, "hint: %s", found->hint[i]);
    return DPL_OK;
}

enum dpl_status dpl_cleaned_read(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                                 const struct dpl_read_options *options,
                                 const struct dpl_area *area, struct dpl_cleaned **trips,
                                 struct dpl_read_facts **facts) {
    struct dpl_cleaned *cleaned = NULL;
    struct dpl_read_facts *found = NULL;
    dpl_run_begin(run);
    enum dpl_status status =
        read_trips(run, inputs, n_inputs, options, area, NULL, &cleaned, &found);
    if (status == DPL_OK) status = check_yield(run, inputs, n_inputs, found, cleaned);
    if (status == DPL_OK && trips && area) {
        *trips = cleaned;
        cleaned = NULL;
    }
    dpl_cleaned_free(cleaned);
    if (facts)
        *facts = found;
    else
        dpl_free(found);
    return status;
}

/* The trips, and which data set they are, from one and the same pass over the rows: what the ledger
 * counts is what was read. With --ledger none there is nothing to know. */
static enum dpl_status read_for_fit(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                                    const struct dpl_read_options *read,
                                    const struct dpl_area *area, struct dpl_fit *fit,
                                    struct dpl_cleaned **trips, struct dpl_identity *identity) {
    const char *ledger = fit->options.ledger;
    struct ingest_identity wanted = {.found = {.rows = 0}};
    if (ledger && !strcmp(ledger, "none"))
        return read_trips(run, inputs, n_inputs, read, area, NULL, trips, &fit->facts);
    DPL_TRY(dpl_ledger_key(run, ledger, wanted.key));
    enum dpl_status status =
        read_trips(run, inputs, n_inputs, read, area, &wanted, trips, &fit->facts);
    dpl_wipe(wanted.key, sizeof wanted.key);
    if (status != DPL_OK) return status;
    *identity = wanted.found;
    return dpl_identity_hex(run, identity, fit->fingerprint);
}

/* PRIVACY: the order of knowledge. What is asked for is settled before data is read; the number of
 * units is measured first and alone; from it the plan, charged as a whole; then the method, which
 * gets at numbers through the release. */
static enum dpl_status fit_trips(struct dpl_run *run, const struct dpl_cleaned *trips,
                                 const struct dpl_identity *identity, struct dpl_fit *fit) {
    const struct dpl_fit_options *options = &fit->options;
    struct dpl_parts parts = {0};
    enum dpl_status status;
    DPL_TRY(dpl_parts_make(run, trips, options->budget.unit, options->budget.trips_max, 1, &parts));
    fit->n_units = parts.n_units;
    fit->facts->trips_dropped[DPL_DROP_NO_USER] = (int64_t)parts.n_no_user;
    DPL_GO(dpl_weak_tell_users(run, trips, &options->budget));
    DPL_GO(dpl_release_open(run, options, fit->binding, identity, trips, &fit->release));
    fit->release.model = fit->model;
    status = dpl_release_plan(run, &fit->release, fit->ask, fit->n_ask, parts.n_units);
    if (status == DPL_OK) status = fit->method->fit(run, &parts, &fit->release, fit->model);
    // What yields no model yields none on replay: nothing to resume. PRIVACY: it follows from
    // noised numbers alone, and its noise is spent.
    if (status == DPL_BAD_DATA || status == DPL_USAGE) {
        (void)dpl_fit_finish(run, fit);
        status = dpl_release_spent(run, &fit->release, status);
    }
    if (status == DPL_OK) status = dpl_fit_certify(run, fit);
    if (status == DPL_INTERRUPTED) status = dpl_release_stop(run, &fit->release);
done:
    dpl_parts_free(&parts);
    return status;
}

enum dpl_status dpl_fit(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                        const struct dpl_read_options *read, const struct dpl_area *area,
                        const struct dpl_fit_options *options, struct dpl_fit **made) {
    struct dpl_read_options reading = dpl_fit_reading(read, options);
    struct dpl_cleaned *trips = NULL;
    struct dpl_fit *fit = NULL;
    struct dpl_identity identity = {0};
    enum dpl_status status;
    dpl_run_begin(run);
    // PRIVACY: with guesses the first rows would decide how all others are read.
    if (read->guess)
        return dpl_fail(run, DPL_USAGE, "guessing from rows is not for what is to be published");
    DPL_GO(dpl_fit_begin(run, inputs, n_inputs, read, area, options, &fit));
    reading.positions = fit->method->positions;
    DPL_GO(dpl_fit_hold_out(run, fit, &reading));
    DPL_GO(read_for_fit(run, inputs, n_inputs, &reading, area, fit, &trips, &identity));
    DPL_GO(dpl_fit_note_reading(run, read, &fit->facts->reading, fit));
    dpl_weak_tell_dropped(run, fit->facts);
    DPL_GO(fit_trips(run, trips, &identity, fit));
    *made = fit;
    fit = NULL;
done:
    dpl_fit_free(fit);
    dpl_cleaned_free(trips);
    return status;
}
