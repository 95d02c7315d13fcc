/* The program on one screen: private trips in, a model and synthetic trips out. Data moves one way.
 *
 *     read      rows to trips, cleaned, on the grid; which data set they are     clean/, ingest/
 *     fit       units, plan, ledger, noise, estimates: the model                 fit/, method/
 *     write     the model and what belongs beside it
 *     sample    trips from the model alone                                       sample/
 *     finish    what the holder alone may know; the checkpoint goes
 *
 * Beside it: dpl_compare and dpl_report look at real and synthetic trips (evaluate/, report/).
 */
#include <string.h>

#include "base/options.h"
#include "base/trips.h"
#include "clean/read.h"
#include "fit/fit.h"
#include "fit/weak.h"
#include "ledger/datasets.h"
#include "method/method.h"
#include "sample/publish.h"
#include "sample/sample.h"

/* ---- read and fit ---- */

/* The trips, and which data set they are, from one and the same pass over the rows: what the ledger
 * counts is what was read. With the ledger "none" there is nothing to know. */
static enum dpl_status read_for_fit(struct dpl_run *run, struct dpl_trips *trips,
                                    const struct dpl_read_options *read,
                                    const struct dpl_area *area, struct dpl_fit *fit,
                                    struct dpl_cleaned **cleaned, struct dpl_identity *identity) {
    const char *ledger = fit->options.ledger;
    struct ingest_identity wanted = {.found = {.rows = 0}};
    const struct dpl_room room = dpl_fit_room(run, fit);
    if (ledger && !strcmp(ledger, "none"))
        return dpl_clean_rows(run, trips, read, area, room, NULL, cleaned, &fit->facts);
    DPL_TRY(dpl_ledger_key(run, ledger, wanted.key));
    enum dpl_status status =
        dpl_clean_rows(run, trips, read, area, room, &wanted, cleaned, &fit->facts);
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
    fit->release.model = fit->model, fit->release.map = fit->map;
    status = dpl_release_plan(run, &fit->release, fit->ask, fit->n_ask, parts.n_units);
    if (status == DPL_OK) status = fit->method->fit(run, &parts, &fit->release, fit->model);
    // What yields no model yields none on replay: nothing to resume. PRIVACY: it follows from
    // noised numbers alone, and its noise is spent.
    if (status == DPL_BAD_DATA || status == DPL_USAGE) {
        (void)dpl_fit_forget(run, fit);
        status = dpl_release_spent(run, &fit->release, status);
    }
    if (status == DPL_OK) status = dpl_fit_certify(run, fit);
    if (status == DPL_INTERRUPTED) status = dpl_release_stop(run, &fit->release);
done:
    dpl_roads_free(fit->map); // who draws on roads reads it again
    fit->map = NULL, fit->release.map = NULL;
    dpl_parts_free(&parts);
    return status;
}

enum dpl_status dpl_fit(struct dpl_run *run, struct dpl_trips *trips, const struct dpl_area *area,
                        const struct dpl_fit_options *given, struct dpl_fit **made) {
    struct dpl_fit_options options;
    struct dpl_cleaned *cleaned = NULL;
    struct dpl_fit *fit = NULL;
    struct dpl_identity identity = {0};
    enum dpl_status status;
    dpl_run_begin(run);
    DPL_TRY(dpl_fit_settle(run, given, &options));
    // PRIVACY: with guesses the first rows would decide how all others are read.
    if (trips->read.guess)
        return dpl_fail(run, DPL_USAGE, "guessing from rows is not for what is to be published");
    // PRIVACY: one trip without times would change how all others are counted.
    if (trips->read.time_optional)
        return dpl_fail(run, DPL_USAGE, "`read.time_optional` is not for what is to be published");
    struct dpl_read_options reading = dpl_fit_reading(&trips->read, &options);
    DPL_GO(dpl_fit_begin(run, trips, area, &options, &fit));
    reading.positions = fit->method->positions;
    DPL_GO(dpl_fit_hold_out(run, fit, &reading));
    DPL_GO(read_for_fit(run, trips, &reading, area, fit, &cleaned, &identity));
    DPL_GO(dpl_fit_note_reading(run, &trips->read, &fit->facts->reading, fit));
    dpl_weak_tell_dropped(run, fit->facts);
    DPL_GO(fit_trips(run, cleaned, &identity, fit));
    *made = fit;
    fit = NULL;
done:
    dpl_fit_free(fit);
    dpl_cleaned_free(cleaned);
    return status;
}

/* ---- the whole job ---- */

struct dpl_synth_options dpl_synth_defaults(void) {
    return (struct dpl_synth_options){.struct_size = sizeof(struct dpl_synth_options)};
}

/* The options of all stages, complete. What is there when a fit is resumed is of its own making. */
struct job {
    struct dpl_synth_options synth;
    struct dpl_fit_options fit;
    struct dpl_sample_options sample;
};

/* The map that trips follow is the fit's prior, too, where the method knows what to do with it. */
static enum dpl_status settle_roads(struct dpl_run *run, struct job *job) {
    const struct dpl_method *method;
    DPL_TRY(dpl_method_find(run, job->fit.method, &method));
    if (job->fit.roads || !method->has_roads) return DPL_OK;
    job->fit.roads = job->sample.roads, job->fit.travel = job->sample.travel;
    return DPL_OK;
}

static enum dpl_status settle(struct dpl_run *run, const struct dpl_synth_options *given,
                              struct job *job) {
    *job = (struct job){.synth = dpl_synth_defaults(), .sample = dpl_sample_defaults()};
    DPL_TRY(dpl_options_take(run, "synth", given, &job->synth));
    DPL_TRY(dpl_fit_settle(run, job->synth.fit, &job->fit));
    DPL_TRY(dpl_options_take(run, "sample", job->synth.sample, &job->sample));
    job->sample.overwrite = job->synth.overwrite || job->fit.resume;
    job->sample.release_model = job->synth.model;
    return settle_roads(run, job);
}

/* What the model will be goes with where its trips are to go. */
static enum dpl_status check_fits(struct dpl_run *run, const struct job *job, const char *path) {
    const struct dpl_method *method;
    DPL_TRY(dpl_method_find(run, job->fit.method, &method));
    DPL_TRY(dpl_sample_check_times(run, &job->sample, path, method->name, method->has_time));
    if (!job->sample.release) return DPL_OK;
    return dpl_publish_check(run, dpl_fit_not_private(&job->fit));
}

/* Whether the map can be read and has roads in the area. */
static enum dpl_status check_roads(struct dpl_run *run, const struct dpl_area *area,
                                   const struct dpl_sample_options *sample) {
    struct dpl_grid grid;
    struct dpl_roads *roads = NULL;
    if (!sample->roads) return DPL_OK;
    DPL_TRY(dpl_grid_make(run, area, &grid));
    DPL_TRY(dpl_roads_read(run, sample->roads, &grid, sample->travel, &roads));
    dpl_roads_free(roads);
    return DPL_OK;
}

/* Everything that can be found wrong before any privacy is spent. */
static enum dpl_status check(struct dpl_run *run, const struct dpl_trips *trips,
                             const struct dpl_area *area, const struct job *job, const char *path) {
    if (!strcmp(path, "-"))
        return dpl_fail(run, DPL_USAGE,
                        "synthetic trips come with a certificate beside them: name a file");
    DPL_TRY(
        dpl_fit_check_files(run, trips, &job->fit, job->synth.model, path, job->sample.release));
    DPL_TRY(check_fits(run, job, path));
    DPL_TRY(dpl_sample_check(run, &job->sample, path));
    DPL_TRY(dpl_fit_check_private(run, path, job->sample.overwrite));
    DPL_TRY(check_roads(run, area, &job->sample));
    return job->synth.model ? dpl_fit_check_path(run, job->synth.model, job->sample.overwrite)
                            : DPL_OK;
}

/* The checkpoint goes last: until there is a model or trips on the disk, a resumed fit makes the
 * same model again for nothing. */
enum dpl_status dpl_synth(struct dpl_run *run, struct dpl_trips *trips, const struct dpl_area *area,
                          const struct dpl_synth_options *options, const char *path,
                          struct dpl_fit **made) {
    struct job job;
    struct dpl_fit *fit = NULL;
    enum dpl_status status;
    dpl_run_begin(run);
    DPL_TRY(settle(run, options, &job));
    DPL_TRY(check(run, trips, area, &job, path));
    const bool overwrite = job.sample.overwrite;
    DPL_GO(dpl_fit(run, trips, area, &job.fit, &fit));
    if (job.synth.model) DPL_GO(dpl_fit_write(run, fit, job.synth.model, overwrite));
    DPL_GO(dpl_sample_write(run, dpl_fit_model(fit), &job.sample, path));
    DPL_GO(dpl_fit_write_private(run, fit, path, overwrite));
    DPL_GO(dpl_fit_finish(run, fit));
    if (made) {
        *made = fit;
        fit = NULL;
    }
done:
    dpl_fit_free(fit);
    return status;
}
