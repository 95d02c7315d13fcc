/* A fit around its method: the options that are public, the certificate, the files. See fit.h.
 *
 * PRIVACY: what leaves is the model, the certificate and the manifest. Their members are options,
 * which were fixed before the data was read, and numbers that came through a release. Names of
 * inputs, digests, counts and losses go into PATH.PRIVATE.json alone. */
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bundle.h"
#include "base/digest.h"
#include "base/public_options.h"
#include "base/options.h"
#include "base/pattern.h"
#include "base/trips.h"
#include "base/json.h"
#include "fit/binding.h"
#include "fit/weak.h"
#include "ledger/certificate.h"
#include "roads/roads.h"

struct dpl_fit_options dpl_fit_defaults(void) {
    struct dpl_fit_options options = {.struct_size = sizeof options,
                                      .method = dpl_method_name(0),
                                      .mechanism = "gaussian",
                                      .budget = dpl_budget_defaults(),
                                      .kl_weight = 1,
                                      .checkpoint_s = 5,
                                      .memory_mb = 8000,
                                      .sglt_form = "private",
                                      .keep = "ends"};
    options.budget.trips_max = 0; // by the unit
    return options;
}

enum dpl_status dpl_fit_settle(struct dpl_run *run, const struct dpl_fit_options *given,
                               struct dpl_fit_options *options) {
    enum { USER_TRIPS_MAX = 20 };
    *options = dpl_fit_defaults();
    DPL_TRY(dpl_options_take(run, "fit", given, options));
    if (options->budget.trips_max != 0) return DPL_OK;
    const bool user = options->budget.unit == DPL_UNIT_USER;
    const struct dpl_method *method;
    DPL_TRY(dpl_method_find(run, options->method, &method));
    if (user && method->bounds_users) return DPL_OK; // it is chosen from a noised table
    options->budget.trips_max = user ? USER_TRIPS_MAX : 1;
    return DPL_OK;
}

bool dpl_fit_not_private(const struct dpl_fit_options *options) {
    return isinf(options->budget.epsilon) || options->budget.insecure_seed ||
           options->as_published || dpl_method_deniable(options);
}

/* ---- public options ---- */

static json_t *real_or_text(double number) {
    return isinf(number) ? json_string("inf") : json_real(number);
}

/* Named as on the command line, so that a manifest works as a config file. */
static json_t *public_options(const struct dpl_fit *fit, const struct dpl_area *area) {
    const struct dpl_fit_options *options = &fit->options;
    const struct dpl_budget *budget = &options->budget;
    json_t *object =
        json_pack("{s:s, s:o, s:f, s:s, s:o, s:f, s:s, s:i, s:i, s:f, s:f, s:f}", "method",
                  fit->method->name, "epsilon", real_or_text(budget->epsilon), "delta",
                  budget->delta, "unit", dpl_unit_name(budget->unit), "bbox",
                  json_sprintf("%.15g,%.15g,%.15g,%.15g", area->south_deg, area->west_deg,
                               area->north_deg, area->east_deg),
                  "cell", area->cell_m, "tz", area->zone, "slot", area->slot_s, "periods",
                  area->periods, "coverage", options->coverage, "kl-weight", options->kl_weight,
                  "max-speed", area->speed_limit_kmh);
    if (object && budget->trips_max > 0) // else it is no option, but a released number
        dpl_json_set(&object, "trips-max", json_integer((json_int_t)budget->trips_max));
    if (object && options->size > 0) dpl_json_set(&object, "size", json_integer(options->size));
    if (object && options->trips_as_cut) dpl_json_set(&object, "trips-as-cut", json_true());
    if (object && options->accept_weak) dpl_json_set(&object, "accept-weak", json_true());
    if (object && options->no_destination) dpl_json_set(&object, "no-destination", json_true());
    if (object && fit->method->has_laplace)
        dpl_json_set(&object, "mechanism",
                     json_string(dpl_mechanism_laplace(options) ? "laplace" : "gaussian"));
    if (object && options->as_published) dpl_json_set(&object, "as-published", json_true());
    if (object && fit->method->has_forms) {
        dpl_json_set(&object, "sglt-form", json_string(options->sglt_form));
        dpl_json_set(&object, "keep", json_string(options->keep));
    }
    if (object && options->shares) dpl_json_set_text(&object, "shares", options->shares);
    for (size_t i = 0; object && options->sigmas && i < fit->n_ask; i++) {
        char name[DPL_EVENT_NAME + 8], given[DPL_EVENT_NAME + 2];
        snprintf(given, sizeof given, "%.*s=", DPL_EVENT_NAME - 1, fit->ask[i].name);
        snprintf(name, sizeof name, "sigma-%.*s", DPL_EVENT_NAME - 1, fit->ask[i].name);
        if (strstr(options->sigmas, given))
            dpl_json_set(&object, name, json_real(fit->ask[i].sigma)); // the others follow
    }
    return object;
}

struct dpl_read_options dpl_fit_reading(const struct dpl_read_options *read,
                                        const struct dpl_fit_options *options) {
    struct dpl_read_options settled = *read;
    settled.own_phase = dpl_method_own_phase(options->method);
    settled.need_users = options->budget.unit == DPL_UNIT_USER;
    settled.need_trips = !settled.need_users && !options->trips_as_cut;
    return settled;
}

/* Everything about the options that can be wrong before data is read. */
static enum dpl_status check_unit(struct dpl_run *run, const struct dpl_fit_options *options) {
    DPL_TRY(dpl_budget_check(run, &options->budget));
    // With sigmas given, epsilon follows from the noised size; delta is known now.
    const double epsilon = options->budget.epsilon;
    const bool given = options->sigmas && !isinf(epsilon);
    DPL_TRY(dpl_weak_check(run, options, given ? 0 : epsilon));
    if (options->trips_as_cut && options->budget.unit != DPL_UNIT_TRIP)
        return dpl_fail(run, DPL_USAGE, "`fit.trips_as_cut` belongs to `budget.unit` trip");
    return DPL_OK;
}

/* PRIVACY: how the input was read, as far as that is public: options, and of one table what its
 * name and header line settled. For the manifest of the model alone: the same trips in a file of
 * another kind, or in memory, are the same model and the same certificate. */
static json_t *reading_options(const struct dpl_read_options *read,
                               const struct dpl_reading *reading) {
    static const char *const COLUMN[] = {"trip-column", "user-column", "time-column",
                                         "lat-column",  "lon-column",  "date-column"};
    const char *const given[] = {read->trip_column, read->user_column, read->time_column,
                                 read->lat_column,  read->lon_column,  read->date_column};
    const char *separator =
        reading->settled && reading->separator[0] ? reading->separator : read->separator;
    json_t *object =
        json_pack("{s:s, s:s, s:s}", "format",
                  reading->settled && reading->format[0] ? reading->format : read->format,
                  "time-unit", read->time_unit, "coordinates", read->coordinates);
    if (separator) dpl_json_set_text(&object, "separator", separator);
    if (read->columns) dpl_json_set_text(&object, "columns", read->columns);
    if (read->time_format) dpl_json_set_text(&object, "time-format", read->time_format);
    for (size_t i = 0; object && i < sizeof given / sizeof *given; i++) {
        const char *name = reading->column[i][0] ? reading->column[i] : given[i];
        if (name) dpl_json_set_text(&object, COLUMN[i], name);
    }
    return object;
}

static enum dpl_status dump(struct dpl_run *run, json_t *object, size_t flags, char **text) {
    char *made = object ? dpl_json_dump(object, flags | JSON_ENSURE_ASCII) : NULL;
    enum dpl_status status =
        made ? dpl_text_copy(run, made, text) : dpl_fail(run, DPL_SYSTEM, "out of memory");
    free(made);
    return status;
}

static enum dpl_status copy_inputs(struct dpl_run *run, struct dpl_fit *fit,
                                   const struct dpl_trips *trips) {
    size_t n = trips ? trips->n_inputs : 0;
    fit->selected = n && dpl_inputs_select(trips->inputs, n);
    fit->input = dpl_alloc(run, n, sizeof *fit->input);
    if (!fit->input) return DPL_SYSTEM;
    for (; fit->n_inputs < n; fit->n_inputs++)
        DPL_TRY(dpl_text_copy(run, trips->inputs[fit->n_inputs], &fit->input[fit->n_inputs]));
    return DPL_OK;
}

/* PRIVACY: by public numbers alone, so that a refusal says nothing about the data. */
static enum dpl_status check_memory(struct dpl_run *run, const struct dpl_method *method,
                                    const struct dpl_grid *grid, double limit_mb) {
    double need_mb = method->table_mb ? method->table_mb(grid, dpl_run_threads(run)) : 0;
    if (!(limit_mb > 0)) return dpl_fail(run, DPL_USAGE, "`fit.memory_mb` takes a number above 0");
    if (need_mb <= limit_mb) return DPL_OK;
    return dpl_fail(run, DPL_USAGE,
                    "the tables of %d cells of %g m may take up to %.0f MB, and `fit.memory_mb` "
                    "is %.0f: allow more, or ask for a smaller box or larger cells (`area.cell_m`)",
                    dpl_grid_cells(grid), grid->area.cell_m, ceil(need_mb), limit_mb);
}

/* Counting has two copies of some columns. */
static const double COPIES = 3;

size_t dpl_machine_room_bytes(void) {
    static const double MACHINE_SHARE = 0.25;
    const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return (size_t)(machine * MACHINE_SHARE / COPIES);
}

struct dpl_room dpl_fit_room(struct dpl_run *run, const struct dpl_fit *fit) {
    static const double LEAST_MB = 1;
    const struct dpl_method *method = fit->method;
    const double tables_mb =
        method->table_mb ? method->table_mb(&fit->model->grid, dpl_run_threads(run)) : 0;
    const double left_mb = fmax(fit->options.memory_mb - tables_mb, LEAST_MB);
    struct dpl_room room = {.by_user = fit->options.budget.unit == DPL_UNIT_USER};
    // Nets are trained on all trips at once, which are then in memory.
    if (!method->one_machine)
        room.memory_bytes = (size_t)fmin(left_mb * 1e6 / COPIES, (double)dpl_machine_room_bytes());
    return room;
}

/* The map's digest, beside the options that shape the result. */
static enum dpl_status bind_roads(struct dpl_run *run, const char *digest, struct dpl_fit *fit) {
    static const char NAME[] = "roads.sha256=";
    char *longer = dpl_alloc(run, strlen(fit->binding) + strlen(digest) + sizeof NAME + 1, 1);
    if (!longer) return DPL_SYSTEM;
    sprintf(longer, "%s%s%s\n", fit->binding, NAME, digest);
    dpl_free(fit->binding);
    fit->binding = longer;
    return DPL_OK;
}

/* Metres of road in every cell, for the method and for estimates made later.
 *
 * PRIVACY: public, and read before any trip is. */
static enum dpl_status take_roads(struct dpl_run *run, struct dpl_fit *fit) {
    const struct dpl_grid *grid = &fit->model->grid;
    const size_t shape[] = {(size_t)grid->rows, (size_t)grid->columns};
    float *metres;
    if (!fit->options.roads) return DPL_OK;
    DPL_TRY(dpl_roads_read(run, fit->options.roads, grid, fit->options.travel, &fit->map));
    const struct dpl_roads *roads = fit->map;
    DPL_TRY(bind_roads(run, dpl_roads_facts(roads)->digest, fit));
    DPL_TRY(dpl_model_add(run, fit->model, DPL_MODEL_ROADS, DPL_TENSOR_F32, 2, shape, &metres));
    memcpy(metres, roads->cell_weight, shape[0] * shape[1] * sizeof *metres);
    fit->roads = dpl_roads_json(roads);
    return fit->roads ? DPL_OK : dpl_fail(run, DPL_SYSTEM, "out of memory");
}

enum dpl_status dpl_fit_begin(struct dpl_run *run, const struct dpl_trips *trips,
                              const struct dpl_area *area, const struct dpl_fit_options *options,
                              struct dpl_fit **made) {
    const struct dpl_read_options read = trips ? trips->read : dpl_read_defaults();
    enum dpl_status status;
    struct dpl_grid grid;
    struct dpl_fit *fit = dpl_secret_alloc(run, sizeof *fit);
    if (!fit) return DPL_SYSTEM;
    fit->options = *options;
    DPL_GO(dpl_grid_make(run, area, &grid));
    DPL_GO(check_unit(run, options));
    if (!options->resume) DPL_GO(dpl_checkpoint_check(run, options->checkpoint));
    DPL_GO(dpl_method_find(run, options->method, &fit->method));
    DPL_GO(dpl_method_requests(run, fit->method, options, fit->ask, &fit->n_ask));
    DPL_GO(check_memory(run, fit->method, &grid, options->memory_mb));
    if (!(fit->options.coverage > 0)) fit->options.coverage = fit->method->coverage;
    DPL_GO(dpl_text_copy(run, options->checkpoint, &fit->checkpoint));
    DPL_GO(copy_inputs(run, fit, trips));
    fit->options.checkpoint = fit->checkpoint;
    fit->public = public_options(fit, &grid.area);
    DPL_GO(dpl_option_binding(run, &read, &grid.area, options, &fit->binding));
    DPL_GO(dpl_model_new(run, fit->method->name, &grid, &fit->model));
    fit->model->per_user = options->budget.unit == DPL_UNIT_USER;
    fit->model->has_time = fit->method->has_time;
    DPL_GO(take_roads(run, fit));
    if (!fit->public || json_object_update(fit->model->options, fit->public) != 0) {
        status = dpl_fail(run, DPL_SYSTEM, "out of memory");
        goto done;
    }
    *made = fit;
    fit = NULL;
done:
    dpl_fit_free(fit);
    return status;
}

enum dpl_status dpl_fit_note_reading(struct dpl_run *run, const struct dpl_read_options *read,
                                     const struct dpl_reading *reading, struct dpl_fit *fit) {
    json_t *cleaning = json_pack("{s:f, s:s}", "max-gap", read->gap_limit_s / 60.0, "drop",
                                 read->drop_points ? "points" : "trips");
    if (read->dates) dpl_json_set_text(&cleaning, "dates", read->dates);
    int failed = !cleaning || json_object_update(fit->public, cleaning) != 0 ||
                 json_object_update(fit->model->options, cleaning) != 0;
    json_decref(cleaning);
    fit->reading = reading_options(read, reading);
    return failed || !fit->reading ? dpl_fail(run, DPL_SYSTEM, "out of memory") : DPL_OK;
}

void dpl_fit_free(struct dpl_fit *fit) {
    if (!fit) return;
    dpl_release_close(&fit->release);
    dpl_model_free(fit->model);
    for (size_t i = 0; i < fit->n_inputs; i++) dpl_free(fit->input[i]);
    dpl_free(fit->input);
    dpl_read_facts_free(fit->facts);
    dpl_free(fit->binding);
    dpl_free(fit->certificate);
    dpl_free(fit->checkpoint);
    json_decref(fit->public);
    json_decref(fit->reading);
    json_decref(fit->roads);
    dpl_roads_free(fit->map);
    dpl_secret_free(fit, sizeof *fit);
}

const struct dpl_model *dpl_fit_model(const struct dpl_fit *fit) { return fit->model; }

const struct dpl_read_facts *dpl_fit_facts(const struct dpl_fit *fit) { return fit->facts; }

const char *dpl_fit_certificate(const struct dpl_fit *fit) { return fit->certificate; }

/* ---- certificate ---- */

enum { OPTIONS_MAX = 64 };

/* Of the public options, those that a certificate knows. */
static size_t certificate_options(json_t *public, struct dpl_public_value *values) {
    size_t n = 0;
    const char *name;
    json_t *value;
    json_object_foreach(public, name, value) {
        if (n == OPTIONS_MAX || !dpl_option_public(name)) continue;
        values[n++] = (struct dpl_public_value){
            .name = name, .text = json_string_value(value), .number = json_number_value(value)};
    }
    return n;
}

/* PRIVACY: the watermark follows from the key that the noise was drawn with, never from options:
 * a resumed run has the key of the one that was stopped. */
enum dpl_status dpl_fit_certify(struct dpl_run *run, struct dpl_fit *fit) {
    struct dpl_public_value options[OPTIONS_MAX];
    const struct dpl_model *model = fit->model;
    const struct dpl_public_value numbers[] = {
        {.name = "cells", .number = model->n_cells},
        {.name = "length_max", .number = model->length_max},
        {.name = "trips_estimated", .number = (double)model->trips_estimated},
        {.name = "trips_max", .number = (double)fit->release.trips_max},
    };
    const size_t n_numbers = sizeof numbers / sizeof *numbers - (fit->release.trips_max == 0);
    const struct dpl_certificate certificate = {.plan = fit->release.plan,
                                                .insecure = fit->release.secret.insecure,
                                                .ledger = fit->release.ledger,
                                                .method = fit->method->name,
                                                .no_time = !fit->method->has_time,
                                                .trips_as_cut = fit->options.trips_as_cut,
                                                .accept_weak = fit->options.accept_weak,
                                                .selected = fit->selected,
                                                .fit_roads = fit->roads,
                                                .deniable = dpl_method_deniable(&fit->options),
                                                .options = options,
                                                .n_options =
                                                    certificate_options(fit->public, options),
                                                .numbers = numbers,
                                                .n_numbers = n_numbers};
    fit->model->not_private =
        isinf(dpl_plan_epsilon(fit->release.plan)) || fit->release.secret.insecure;
    DPL_TRY(dpl_certificate_text(run, &certificate, &fit->certificate));
    json_t *object = json_loads(fit->certificate, 0, NULL);
    if (!object) return dpl_fail(run, DPL_SYSTEM, "out of memory");
    json_decref(fit->model->certificate);
    fit->model->certificate = object;
    return DPL_OK;
}

/* ---- files ---- */

enum { FILES_MAX = 2 * (DPL_SIDES + 1) + 4 };

struct files {
    char *name[FILES_MAX];
    size_t n;
};

static enum dpl_status add_file(struct dpl_run *run, struct files *files, const char *path,
                                const char *ending) {
    if (!path) return DPL_OK;
    char *name = dpl_alloc(run, strlen(path) + strlen(ending) + 1, 1);
    if (!name) return DPL_SYSTEM;
    strcat(strcpy(name, path), ending);
    files->name[files->n++] = name;
    return DPL_OK;
}

static enum dpl_status add_file_set(struct dpl_run *run, struct files *files, const char *path) {
    if (!path) return DPL_OK;
    DPL_TRY(add_file(run, files, path, ""));
    for (int side = 0; side < DPL_SIDES; side++) {
        files->name[files->n] = dpl_side_path(run, path, (enum dpl_side)side);
        if (!files->name[files->n++]) return DPL_SYSTEM;
    }
    return DPL_OK;
}

enum dpl_status dpl_fit_check_files(struct dpl_run *run, const struct dpl_trips *trips,
                                    const struct dpl_fit_options *options, const char *model,
                                    const char *path, const char *release) {
    struct files files = {.n = 0};
    enum dpl_status status;
    const char *ledger =
        options->ledger && strcmp(options->ledger, "none") ? options->ledger : NULL;
    DPL_GO(add_file_set(run, &files, path));
    DPL_GO(add_file_set(run, &files, model));
    DPL_GO(add_file(run, &files, options->checkpoint, ""));
    DPL_GO(add_file(run, &files, ledger, ""));
    DPL_GO(add_file(run, &files, ledger, ".tip"));
    status = dpl_paths_check(run, &(struct dpl_paths){.inputs = trips->inputs,
                                                      .n_inputs = trips->n_inputs,
                                                      .outputs = (const char *const *)files.name,
                                                      .n_outputs = files.n,
                                                      .directory = release});
done:
    for (size_t i = 0; i < files.n; i++) dpl_free(files.name[i]);
    return status;
}

enum dpl_status dpl_fit_check_path(struct dpl_run *run, const char *path, bool overwrite) {
    static const enum dpl_side BESIDE[] = {DPL_SIDE_PRIVATE, DPL_SIDE_MANIFEST,
                                           DPL_SIDE_CERTIFICATE};
    dpl_run_begin(run);
    if (!strcmp(path, "-"))
        return dpl_fail(run, DPL_USAGE,
                        "a model is a file with others beside it; it cannot go to standard output");
    return dpl_bundle_check(run, path, overwrite, DPL_MODEL_MARK, BESIDE,
                            sizeof BESIDE / sizeof *BESIDE);
}

static json_t *manifest_json(const struct dpl_fit *fit) {
    json_t *options = json_copy(fit->public);
    if (options && fit->reading && json_object_update(options, fit->reading) != 0) {
        json_decref(options);
        return NULL;
    }
    json_t *object = json_pack("{s:i, s:s, s:s, s:b, s:o}", "dploc_manifest", 1, "version",
                               dpl_version(), "method", fit->method->name, "private",
                               !fit->model->not_private, "options", options);
    if (object && fit->roads) dpl_json_set(&object, "fit_roads", json_incref(fit->roads));
    if (object && fit->model->not_private)
        dpl_json_set(&object, "warning", json_string("NOT PRIVATE"));
    return object;
}

static json_t *count_object(const int64_t *count, int n, bool rejects) {
    json_t *object = json_object();
    for (int i = 0; object && i < n; i++)
        if (count[i])
            dpl_json_set(&object,
                         rejects ? dpl_reject_name((enum dpl_reject)i)
                                 : dpl_drop_name((enum dpl_drop)i),
                         json_integer(count[i]));
    return object;
}

static json_t *input_names(const struct dpl_fit *fit) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < fit->n_inputs; i++) {
        json_t *name = json_string(fit->input[i]);
        dpl_json_append(&list, name ? name : json_string("(a name that is not UTF-8)"));
    }
    return list;
}

/* PRIVACY: a fresh secret each time; it is written to PATH.PRIVATE.json and nowhere else. No
 * amplification by sampling is claimed for what was left out. */
enum dpl_status dpl_fit_hold_out(struct dpl_run *run, struct dpl_fit *fit,
                                 struct dpl_read_options *read) {
    double share = fit->options.hold_out;
    if (share == 0) return DPL_OK;
    if (!(share > 0 && share < 1))
        return dpl_fail(run, DPL_USAGE, "a hold-out of %g is not between 0 and 1", share);
    if (fit->options.resume)
        return dpl_fail(run, DPL_USAGE,
                        "a fit with a hold-out cannot be resumed, since its secret split is drawn "
                        "afresh: start anew (`fit.restart`)");
    fit->hold_out =
        (struct dpl_hold_out){.share = share, .by_user = fit->options.budget.unit == DPL_UNIT_USER};
    DPL_TRY(dpl_secret_bytes(run, fit->hold_out.key, sizeof fit->hold_out.key));
    read->hold_out = fit->hold_out;
    return DPL_OK;
}

static json_t *hold_out_json(const struct dpl_fit *fit) {
    char key[DPL_DIGEST_HEX];
    if (fit->hold_out.share == 0) return json_null();
    dpl_hex(fit->hold_out.key, sizeof fit->hold_out.key, key);
    return json_pack("{s:f, s:b, s:I, s:s}", "share", fit->hold_out.share, "by_user",
                     fit->hold_out.by_user, "recordings", (json_int_t)fit->facts->held_out, "key",
                     key);
}

/* What the data holder may know: names, counts, losses. NOT PRIVATE. */
static enum dpl_status private_text(struct dpl_run *run, const struct dpl_fit *fit, char **text) {
    const struct dpl_read_facts *facts = fit->facts;
    json_t *object = json_pack(
        "{s:b, s:s, s:o, s:o, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:O}",
        "not_private", 1, "note", "for the data holder alone; nothing of this may be published",
        "inputs", input_names(fit), "hold_out", hold_out_json(fit), "fingerprint", fit->fingerprint,
        "release",
        fit->release.ledger ? dpl_ledger_release(fit->release.ledger) : fit->ledger_release,
        "files", (json_int_t)facts->files, "files_skipped", (json_int_t)facts->files_skipped,
        "rows", (json_int_t)facts->rows, "points_dropped", (json_int_t)facts->points_dropped,
        "trips_read", (json_int_t)facts->trips_read, "units", (json_int_t)fit->n_units,
        "rows_rejected", count_object(facts->rows_rejected, DPL_REJECTS, true), "dropped",
        count_object(facts->trips_dropped, DPL_DROPS, false), "losses", fit->release.losses);
    enum dpl_status status = dump(run, object, JSON_INDENT(2) | JSON_REAL_PRECISION(15), text);
    json_decref(object);
    return status;
}

enum dpl_status dpl_fit_check_private(struct dpl_run *run, const char *path, bool overwrite) {
    dpl_run_begin(run);
    return dpl_side_check(run, path, DPL_SIDE_PRIVATE, overwrite);
}

enum dpl_status dpl_fit_write_private(struct dpl_run *run, const struct dpl_fit *fit,
                                      const char *path, bool overwrite) {
    char *text = NULL;
    dpl_run_begin(run);
    DPL_TRY(private_text(run, fit, &text));
    enum dpl_status status = dpl_side_write(run, path, DPL_SIDE_PRIVATE, overwrite, text);
    dpl_text_free(text);
    return status;
}

enum dpl_status dpl_fit_forget(struct dpl_run *run, struct dpl_fit *fit) {
    if (!fit->checkpoint) return DPL_OK;
    return dpl_checkpoint_remove(run, fit->checkpoint);
}

enum dpl_status dpl_fit_finish(struct dpl_run *run, struct dpl_fit *fit) {
    if (fit->release.ledger)
        snprintf(fit->ledger_release, sizeof fit->ledger_release, "%s",
                 dpl_ledger_release(fit->release.ledger));
    dpl_ledger_close(fit->release.ledger);
    fit->release.ledger = NULL;
    return dpl_fit_forget(run, fit);
}

/* The model and its companions, complete and aside. */
static enum dpl_status put_together(struct dpl_run *run, const struct dpl_fit *fit,
                                    struct dpl_bundle *bundle) {
    enum dpl_status status;
    char *notes = NULL;
    json_t *manifest = manifest_json(fit);
    DPL_GO(private_text(run, fit, &notes));
    DPL_GO(dpl_model_put(run, fit->model, dpl_bundle_file(bundle)));
    DPL_GO(dpl_bundle_add(bundle, DPL_SIDE_PRIVATE, notes));
    DPL_GO(dpl_bundle_add(bundle, DPL_SIDE_CERTIFICATE, fit->certificate));
    DPL_GO(dpl_bundle_add_manifest(bundle, manifest));
done:
    json_decref(manifest);
    dpl_text_free(notes);
    return status;
}

enum dpl_status dpl_fit_write(struct dpl_run *run, struct dpl_fit *fit, const char *path,
                              bool overwrite) {
    struct dpl_bundle *bundle = NULL;
    DPL_TRY(dpl_fit_check_path(run, path, overwrite));
    DPL_TRY(dpl_bundle_open(run, path, overwrite, DPL_MODEL_MARK, &bundle));
    enum dpl_status status = put_together(run, fit, bundle);
    if (status != DPL_OK) {
        dpl_bundle_abort(bundle);
        return status;
    }
    DPL_TRY(dpl_bundle_commit(bundle));
    return dpl_fit_finish(run, fit);
}
