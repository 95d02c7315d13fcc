/* The program on one screen: the stages, called in order. Data moves one way.
 *
 *     ingest -> clean -> grid        dpl_trips_read: from files to cleaned trips
 *     ... -> plan -> method          dpl_fit: from cleaned trips to a model that may be published
 *
 * What follows needs no driver: dpl_sample draws from the model (sample/sample.c), dpl_evaluate
 * compares real and synthetic trips (evaluate/evaluate.c), dpl_report shows both in one page
 * (report/report.c).
 */
#include <string.h>

#include "base/base.h"
#include "clean/clean.h"
#include "ingest/fingerprint.h"
#include "ingest/ingest.h"
#include "fit/fit.h"
#include "base/digest.h" // defines: dpl_hex

struct dpl_read_options dpl_read_defaults(void) {
    return (struct dpl_read_options){
        .format = "auto", .time_unit = "auto", .memory_bytes = (size_t)32 << 20};
}

void dpl_read_facts_free(struct dpl_read_facts *facts) { dpl_free(facts); }

/* Data that yields nothing is an error with the likeliest reason, not an empty success. */
static enum dpl_status check_yield(struct dpl_run *run, const struct dpl_read_facts *facts,
                                   const struct dpl_trips *trips) {
    if (facts->points == 0) {
        for (int reason = 0; reason < DPL_REJECTS; reason++)
            if (facts->rows_rejected[reason])
                return dpl_fail(run, DPL_BAD_DATA,
                                "none of the %lld rows can be used; the first: %s",
                                (long long)facts->rows, facts->example[reason]);
        return dpl_fail(run, DPL_BAD_DATA, "there are no rows, only a header or nothing at all");
    }
    if (!trips || trips->n_trips) return DPL_OK;
    const int64_t *dropped = facts->trips_dropped;
    return dpl_fail(run, DPL_BAD_DATA,
                    "none of the %lld trips is left after cleaning: %lld leave the box, %lld are "
                    "too fast, %lld have a gap of 5 minutes, %lld have fewer than 2 visits "
                    "(is the region right? --region or --bbox S,W,N,E)",
                    (long long)facts->trips_read, (long long)dropped[DPL_DROP_OUTSIDE_BOX],
                    (long long)dropped[DPL_DROP_TOO_FAST], (long long)dropped[DPL_DROP_GAP],
                    (long long)dropped[DPL_DROP_TOO_SHORT]);
}

static enum dpl_status read_and_clean(struct dpl_run *run, const char *const *inputs,
                                      size_t n_inputs, const struct dpl_read_options *options,
                                      const struct dpl_area *area, struct dpl_trips **trips,
                                      struct dpl_read_facts *facts) {
    enum dpl_status status;
    struct cleaner *cleaner = NULL;
    struct dpl_trips *cleaned = NULL;
    struct dpl_grid grid;
    DPL_GO(dpl_grid_make(run, area, &grid));
    DPL_GO(cleaner_new(run, &grid, options->positions, facts, &cleaner));
    DPL_GO(ingest_read(run, inputs, n_inputs, options, area->zone, cleaner_sink(cleaner), facts));
    cleaned = cleaner_take_trips(cleaner);
    facts->cleaned = true;
    facts->trips_read = facts->trips_cut_into;
    DPL_GO(check_yield(run, facts, cleaned));
    if (trips) {
        *trips = cleaned;
        cleaned = NULL;
    }
done:
    dpl_trips_free(cleaned);
    cleaner_free(cleaner);
    return status;
}

enum dpl_status dpl_trips_read(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                               const struct dpl_read_options *options, const struct dpl_area *area,
                               struct dpl_trips **trips, struct dpl_read_facts **facts) {
    dpl_run_begin(run);
    if (facts) *facts = NULL;
    struct dpl_read_facts *found = dpl_alloc(run, 1, sizeof *found);
    if (!found) return DPL_SYSTEM;
    enum dpl_status status;
    if (area) {
        status = read_and_clean(run, inputs, n_inputs, options, area, trips, found);
    } else {
        status = ingest_read(run, inputs, n_inputs, options, options->zone, &SINK_NOTHING, found);
        if (status == DPL_OK) status = check_yield(run, found, NULL);
    }
    if (facts)
        *facts = found;
    else
        dpl_free(found);
    return status;
}

/* The ledger knows a data set by a keyed fingerprint of its raw bytes; with --ledger none there is
 * nothing to know. */
static enum dpl_status recognise(struct dpl_run *run, const struct ingest_inputs *inputs,
                                 const struct dpl_fit_options *options,
                                 uint8_t fingerprint[DPL_DIGEST]) {
    uint8_t key[DPL_DIGEST];
    if (options->ledger && !strcmp(options->ledger, "none")) return DPL_OK;
    DPL_TRY(dpl_ledger_key(run, options->ledger, key));
    enum dpl_status status = ingest_fingerprint(run, inputs, key, fingerprint);
    dpl_wipe(key, sizeof key);
    return status;
}

/* PRIVACY: the order of knowledge. What is asked for is settled before data is read; the number of
 * units is measured first and alone; from it the plan, charged as a whole; then the method, which
 * gets at numbers through the release. */
static enum dpl_status fit_trips(struct dpl_run *run, const struct dpl_trips *trips,
                                 const uint8_t fingerprint[DPL_DIGEST], struct dpl_fit *fit) {
    const struct dpl_fit_options *options = &fit->options;
    struct dpl_kept kept = {0};
    enum dpl_status status;
    DPL_TRY(dpl_kept_make(run, trips, options->budget.unit, options->budget.trips_max, &kept));
    fit->n_units = kept.n_units;
    DPL_GO(dpl_release_open(run, options, fit->binding, fingerprint, trips, &fit->release));
    status = dpl_release_plan(run, &fit->release, fit->ask, fit->n_ask, kept.n_units);
    if (status == DPL_OK) status = fit->method->fit(run, trips, &kept, &fit->release, fit->model);
    // What yields no model yields none on replay: nothing to resume.
    if (status == DPL_BAD_DATA || status == DPL_USAGE) (void)dpl_fit_finish(run, fit);
    if (status == DPL_OK) status = dpl_fit_certify(run, fit);
    if (status == DPL_INTERRUPTED) status = dpl_release_stop(run, &fit->release);
done:
    dpl_kept_free(&kept);
    return status;
}

enum dpl_status dpl_fit(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                        const struct dpl_read_options *read, const struct dpl_area *area,
                        const struct dpl_fit_options *options, struct dpl_fit **made) {
    struct ingest_inputs settled = {.spool_fd = -1};
    struct dpl_trips *trips = NULL;
    struct dpl_fit *fit = NULL;
    uint8_t fingerprint[DPL_DIGEST] = {0};
    enum dpl_status status;
    dpl_run_begin(run);
    DPL_GO(dpl_fit_begin(run, inputs, n_inputs, area, options, &fit));
    DPL_GO(ingest_inputs_settle(run, inputs, n_inputs, &settled));
    DPL_GO(recognise(run, &settled, options, fingerprint));
    dpl_hex(fingerprint, sizeof fingerprint, fit->fingerprint);
    struct dpl_read_options how = *read;
    how.positions = fit->method->positions;
    DPL_GO(dpl_trips_read(run, settled.name, settled.n, &how, area, &trips, &fit->facts));
    DPL_GO(fit_trips(run, trips, fingerprint, fit));
    *made = fit;
    fit = NULL;
done:
    dpl_fit_free(fit);
    dpl_trips_free(trips);
    ingest_inputs_free(&settled);
    return status;
}
