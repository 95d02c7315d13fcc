/* Models and plans in words and JSON: inspect, verify, --dry-run. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"
#include "account/event.h"
#include "base/json.h"
#include "base/trips.h"
#include "clean/read.h"
#include "fit/trips_max.h"
#include "model/people.h"

/* ---- text ---- */

static enum dpl_status take_text(struct dpl_run *run, char *made, char **text) {
    size_t length = made ? strlen(made) : 0;
    char *copy = made ? dpl_alloc(run, length + 1, 1) : NULL;
    if (copy) memcpy(copy, made, length);
    free(made);
    if (!copy) return dpl_fail(run, DPL_SYSTEM, "out of memory");
    *text = copy;
    return DPL_OK;
}

static enum dpl_status json_text(struct dpl_run *run, json_t *object, char **text) {
    char *made =
        object ? dpl_json_dump(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15) | JSON_ENSURE_ASCII)
               : NULL;
    json_decref(object);
    return take_text(run, made, text);
}

typedef void print_words(FILE *out, const void *what);

static enum dpl_status words_text(struct dpl_run *run, print_words *print, const void *what,
                                  char **text) {
    char *made = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&made, &length);
    if (out) print(out, what);
    if (out && fclose(out) != 0) {
        free(made);
        made = NULL;
    }
    return take_text(run, made, text);
}

static double number_in(json_t *object, const char *name) {
    json_t *value = json_object_get(object, name);
    return json_is_string(value) ? INFINITY : json_number_value(value);
}

static const char *text_in(json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "?";
}

/* ---- a model ---- */

bool dpl_model_recognise(const char *bytes, size_t length) {
    static const char START[] = "{\"__metadata__\":";
    uint64_t header = 0;
    if (length < 8 + sizeof START) return false;
    for (int i = 0; i < 8; i++) header |= (uint64_t)(uint8_t)bytes[i] << (8 * i);
    return header < ((uint64_t)1 << 32) && !memcmp(bytes + 8, START, sizeof START - 1);
}

static json_t *summary_json(const struct dpl_model *model) {
    json_t *certificate = model->certificate;
    json_t *object = json_pack(
        "{s:s, s:s, s:i, s:i, s:I, s:s, s:b, s:b, s:O}", "format", "model", "method", model->method,
        "cells", model->n_cells, "length_max", model->length_max, "trips_estimated",
        (json_int_t)model->trips_estimated, "unit", model->per_user ? "user" : "trip", "private",
        !model->not_private, "time", model->has_time, "options", model->options);
    json_t *tensors = json_object();
    for (size_t i = 0; tensors && i < model->n_tensors; i++) {
        json_t *shape = json_array();
        for (int d = 0; shape && d < model->tensor[i].rank; d++)
            dpl_json_append(&shape, json_integer((json_int_t)model->tensor[i].shape[d]));
        dpl_json_set(&tensors, model->tensor[i].name, shape);
    }
    dpl_json_set(&object, "tensors", tensors);
    static const char *const SHOWN[] = {"epsilon", "delta", "epsilon_size", "mechanisms", "ledger"};
    for (size_t i = 0; i < sizeof SHOWN / sizeof *SHOWN; i++)
        dpl_json_share(&object, SHOWN[i], json_object_get(certificate, SHOWN[i]));
    return object;
}

static void print_mechanism(FILE *out, json_t *mechanism) {
    bool trains = !strcmp(text_in(mechanism, "kind"), "poisson");
    fprintf(out, "  %-17s %-9s %10.4g %12.4g", text_in(mechanism, "name"),
            text_in(mechanism, "kind"), number_in(mechanism, "sigma"),
            number_in(mechanism, "sensitivity"));
    if (trains)
        fprintf(out, " %10.3g %8" JSON_INTEGER_FORMAT, number_in(mechanism, "rate"),
                json_integer_value(json_object_get(mechanism, "steps")));
    else
        fprintf(out, " %10s %8s", "-", "-");
    fprintf(out, " %14.4g\n", number_in(mechanism, "epsilon_alone"));
}

static void summary_words(FILE *out, const void *what) {
    const struct dpl_model *model = what;
    json_t *mechanisms = json_object_get(model->certificate, "mechanisms"), *mechanism,
           *ledger = json_object_get(model->certificate, "ledger");
    const struct dpl_area *area = &model->grid.area;
    size_t i;
    if (model->not_private)
        fprintf(out, "NOT PRIVATE: made without noise, or with noise that a seed gives away\n");
    fprintf(out, "A model of method %s.\n", model->method);
    fprintf(out, "cells     K = %d of %d (%d x %d of %g m)\n", model->n_cells,
            dpl_grid_cells(&model->grid), model->grid.columns, model->grid.rows, area->cell_m);
    fprintf(out, "box       %.15g,%.15g,%.15g,%.15g, zone %s, slots of %d s, %d periods a day\n",
            area->south_deg, area->west_deg, area->north_deg, area->east_deg, area->zone,
            area->slot_s, area->periods);
    fprintf(out, "trips     about %" PRId64 ", of at most %d visits\n", model->trips_estimated,
            model->length_max);
    json_t *trips_max = json_object_get(model->options, DPL_MODEL_TRIPS_MAX);
    if (trips_max)
        fprintf(out, "users     each counts as at most %" JSON_INTEGER_FORMAT " trips, as chosen\n",
                json_integer_value(trips_max));
    bool local = strncmp(text_in(model->certificate, "adjacency"), "replace", 7) == 0;
    fprintf(out, "epsilon   %.6g at delta %.3g, for one %s %s\n",
            number_in(model->certificate, "epsilon"), number_in(model->certificate, "delta"),
            model->per_user ? "user" : "trip",
            local ? "replaced by another (local: every trip noised its own reports)"
                  : "added or removed");
    if (json_is_true(json_object_get(ledger, "composed")))
        fprintf(out, "          %.6g over all releases in its ledger so far\n",
                number_in(ledger, "epsilon"));
    else
        fprintf(out, "          not composed with other runs\n");
    fprintf(out, "\n  %-17s %-9s %10s %12s %10s %8s %14s\n", "mechanism", "kind", "sigma",
            "sensitivity", "rate", "steps", "epsilon alone");
    json_array_foreach(mechanisms, i, mechanism) print_mechanism(out, mechanism);
}

enum dpl_status dpl_model_summary(struct dpl_run *run, const char *path, bool json, char **text) {
    struct dpl_model *model = NULL;
    dpl_run_begin(run);
    DPL_TRY(dpl_model_read(run, path, &model));
    enum dpl_status status = json ? json_text(run, summary_json(model), text)
                                  : words_text(run, summary_words, model, text);
    dpl_model_free(model);
    return status;
}

static void add_reason(struct dpl_verdict *verdict, const char *sentence) {
    verdict->valid = false;
    if (verdict->n_reasons < DPL_REASONS)
        snprintf(verdict->reasons[verdict->n_reasons++], DPL_REASON_SIZE, "%s", sentence);
}

/* The certificate speaks of this very model: its method, unit and numbers. */
static void check_agreement(const struct dpl_model *model, struct dpl_verdict *verdict) {
    json_t *numbers = json_object_get(model->certificate, "numbers");
    if (strcmp(text_in(model->certificate, "method"), model->method))
        add_reason(verdict, "the certificate is for another method than the model");
    if (strcmp(text_in(model->certificate, "unit"), model->per_user ? "user" : "trip"))
        add_reason(verdict, "the certificate is for another unit than the model");
    if (json_integer_value(json_object_get(numbers, "cells")) != model->n_cells)
        add_reason(verdict, "the certificate is for another number of cells than the model has");
    if (json_integer_value(json_object_get(numbers, "length_max")) != model->length_max)
        add_reason(verdict, "the certificate is for another longest trip than the model's");
    if (json_integer_value(json_object_get(numbers, "trips_estimated")) != model->trips_estimated)
        add_reason(verdict, "the certificate is for another number of trips than the model's");
    if (json_integer_value(json_object_get(numbers, "trips_max")) !=
        json_integer_value(json_object_get(model->options, DPL_MODEL_TRIPS_MAX)))
        add_reason(verdict,
                   "the certificate is for another bound on a user's trips than the model");
    if (json_is_true(json_object_get(model->certificate, "private")) == model->not_private)
        add_reason(verdict, "the certificate and the model disagree on whether it is private");
}

enum dpl_status dpl_model_verify(struct dpl_run *run, const char *path,
                                 struct dpl_verdict *verdict) {
    struct dpl_model *model = NULL;
    enum dpl_status status;
    dpl_run_begin(run);
    DPL_TRY(dpl_model_read(run, path, &model));
    char *text = dpl_json_dump(model->certificate, JSON_COMPACT);
    struct dpl_verdict found;
    status = text ? dpl_certificate_verify(run, text, strlen(text), &found)
                  : dpl_fail(run, DPL_SYSTEM, "out of memory");
    if (status == DPL_OK) {
        check_agreement(model, &found);
        *verdict = found;
    }
    free(text);
    dpl_model_free(model);
    return status;
}

/* ---- a plan before it is spent ---- */

/* What a length is assumed to be in a preview, where a sensitivity follows from one that is not yet
 * released. */
static const double ASSUMED_LENGTH_MAX = 30;

/* Likewise how many trips a user counts as, where a noised table is to say so. */
static const int64_t ASSUMED_TRIPS_MAX = 8;

struct preview {
    const struct dpl_fit *fit;
    const struct dpl_plan *plan;
    bool declared;
    double size_epsilon; /* what the number of units costs on top of the plan */
    int threads;
    double table_mb; /* the most that tables take; NAN: the method does not say */
};

struct preview_row {
    struct dpl_event event;
    double share, noise, expected;
    bool assumed; /* the sensitivity rests on ASSUMED_LENGTH_MAX */
    bool chosen;  /* or on ASSUMED_TRIPS_MAX */
};

static struct preview_row row_of(const struct preview *preview, size_t i) {
    const struct dpl_plan *plan = preview->plan;
    const struct dpl_mechanism *asked = dpl_plan_mechanism(plan, i);
    struct preview_row row = {.event = *dpl_plan_event(plan, i),
                              .assumed = asked->clip_from[0] != '\0'};
    double total = 0;
    for (size_t j = 0; j < dpl_plan_events(plan); j++) total += dpl_plan_mechanism(plan, j)->share;
    const int64_t trips_max = preview->fit->options.budget.trips_max;
    row.chosen = asked->growth != DPL_GROWTH_NONE && dpl_plan_budget(plan)->trips_max == 0;
    if (row.assumed) row.event.sensitivity = ASSUMED_LENGTH_MAX * (double)trips_max;
    if (row.chosen && !row.assumed)
        row.event.sensitivity =
            asked->clip *
            (asked->growth == DPL_GROWTH_ROOT ? sqrt((double)trips_max) : (double)trips_max);
    row.share = asked->share / total;
    row.noise = row.event.sigma * row.event.sensitivity *
                (row.event.kind == DPL_EVENT_LAPLACE ? sqrt(2) : 1);
    if (row.event.kind == DPL_EVENT_LOCAL && row.event.sigma > 0)
        row.noise = dpl_local_deviation((double)dpl_plan_units(plan) * row.event.sensitivity,
                                        1 / row.event.sigma / row.event.sensitivity);
    row.expected =
        preview->fit->method->expect(row.event.name, &preview->fit->model->grid,
                                     &preview->fit->options, (double)dpl_plan_units(plan));
    return row;
}

/* ---- a forecast: from public numbers and what cities are like ---- */

/* How visits spread, fitted to the simulated city alone: over a third of the cells, log-normally
 * with this deviation. */
static const double OCCUPIED_SHARE = 1.0 / 3, LOG_DEVIATION = 2;
/* A cell stands out when its count is so many deviations of the noise. */
static const double STANDS_OUT = 2.5;

/* Where nothing stands out, a place of a method whose places tile the box is of so many cells. */
static const double CELLS_OF_PLACE = 6;

struct forecast {
    double trips, cells, seconds, megabytes; /* cells: NAN where the method chooses none */
};

/* How many of n cells of `mean` visits each exceed a threshold. */
static double cells_above(double n, double mean, double threshold) {
    const double occupied = n * OCCUPIED_SHARE, x = threshold / (mean / OCCUPIED_SHARE);
    const double z = (log(x) + LOG_DEVIATION * LOG_DEVIATION / 2) / LOG_DEVIATION;
    return occupied * erfc(z / sqrt(2)) / 2;
}

/* Fitted to bridge on the simulated city, on two busy cores (5,000 to 1,000,000 trips, 38 to 944
 * cells), and for the time of paper to one figure of docs/PERFORMANCE.md. */
static void forecast_cost(struct forecast *forecast, double steps, double seconds_per_cell) {
    const double cells = forecast->cells;
    forecast->seconds = forecast->megabytes = NAN; // of the other methods nothing was measured
    if (steps > 0)
        forecast->seconds = 2 + 1e-5 * forecast->trips + 4e-6 * steps * cells;
    else if (seconds_per_cell > 0)
        forecast->seconds = 2 + 1e-5 * forecast->trips + seconds_per_cell * cells;
    if (!isnan(forecast->seconds))
        forecast->megabytes = 16 + 2.5e-4 * forecast->trips + 0.06 * cells;
}

static struct forecast forecast_for(const struct preview *preview, double units) {
    const struct dpl_plan *plan = preview->plan;
    const struct dpl_grid *grid = &preview->fit->model->grid;
    struct forecast forecast = {.trips = units * (double)preview->fit->options.budget.trips_max,
                                .cells = NAN};
    double steps = 0;
    for (size_t i = 0; i < dpl_plan_events(plan); i++) {
        struct preview_row row = row_of(preview, i);
        if (row.event.kind == DPL_EVENT_POISSON) steps += (double)row.event.steps;
        double mean = row.expected * units / (double)dpl_plan_units(plan);
        bool tiles = !strcmp(row.event.name, "squares");
        if ((strcmp(row.event.name, "topk") && !tiles) || !(mean > 0)) continue;
        const double cells = dpl_grid_cells(grid);
        forecast.cells = isfinite(row.noise) && row.noise > 0
                             ? cells_above(cells, mean, STANDS_OUT * row.noise)
                             : cells * OCCUPIED_SHARE;
        if (tiles) forecast.cells += (cells - forecast.cells) / CELLS_OF_PLACE;
    }
    forecast_cost(&forecast, steps, preview->fit->method->seconds_per_cell);
    return forecast;
}

/* A number with its unit, or a dash where nothing is known. */
static void print_figure(FILE *out, double value, const char *unit) {
    if (isnan(value))
        fprintf(out, " %10s", "-");
    else
        fprintf(out, " %*.0f%s%s", unit[0] ? 9 - (int)strlen(unit) : 10, value, unit[0] ? " " : "",
                unit);
}

static void forecast_words(FILE *out, const struct preview *preview) {
    const double size[] = {(double)dpl_plan_units(preview->plan), 1e4, 1e5, 1e6};
    const char *unit = dpl_unit_name(dpl_plan_budget(preview->plan)->unit);
    fprintf(out,
            "\nforecast, rough: other cities may differ from the simulated one\n  %9ss %10s %10s "
            "%10s\n",
            unit, "places", "time", "memory");
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        struct forecast one = forecast_for(preview, size[i]);
        bool long_run = one.seconds >= 120;
        fprintf(out, "  %10.0f", size[i]);
        print_figure(out, one.cells, "");
        print_figure(out, long_run ? one.seconds / 60 : one.seconds, long_run ? "min" : "s");
        print_figure(out, one.megabytes, "MB");
        fprintf(out, "%s\n", i ? "" : "   this run");
    }
    fprintf(out,
            "places: what trips are counted by, of %d cells. A larger epsilon and larger cells "
            "make more\nof the city stand out of the noise\n",
            dpl_grid_cells(&preview->fit->model->grid));
}

static void preview_words(FILE *out, const void *what) {
    const struct preview *preview = what;
    const struct dpl_plan *plan = preview->plan;
    fprintf(out, "%s%" PRId64 " %ss%s; nothing was spent\n",
            preview->declared ? "" : "NOT PRIVATE: ", dpl_plan_units(plan),
            dpl_unit_name(dpl_plan_budget(plan)->unit),
            preview->declared ? ", as declared" : " (counted without noise, for this preview)");
    fprintf(out, "epsilon %.6g at delta %.3g, of it %.3g for the number of units\n\n",
            dpl_plan_epsilon(plan) + preview->size_epsilon, dpl_plan_delta(plan),
            preview->size_epsilon);
    fprintf(out, "  %-17s %-9s %6s %9s %12s %9s %8s %12s %12s\n", "mechanism", "kind", "share",
            "sigma", "sensitivity", "rate", "steps", "noise", "expected");
    bool assumed = false, chosen = false;
    for (size_t i = 0; i < dpl_plan_events(plan); i++) {
        struct preview_row row = row_of(preview, i);
        assumed = assumed || row.assumed, chosen = chosen || row.chosen;
        fprintf(out, "  %-17s %-9s %5.1f%% %9.4g %11.4g%s %9.3g %8" PRId64 " %12.4g",
                row.event.name, dpl_event_kind_name(row.event.kind), 100 * row.share,
                row.event.sigma, row.event.sensitivity, row.assumed || row.chosen ? "*" : " ",
                row.event.rate, row.event.steps, row.noise);
        if (isfinite(row.expected))
            fprintf(out, " %12.4g\n", row.expected);
        else
            fprintf(out, " %12s\n", "-"); // its size follows from a noised table
    }
    fprintf(out, "\nnoise: standard deviation on one coordinate; expected: what one holds on "
                 "average (of a sum of\n"
                 "gradients, at most), guessed from public numbers alone; -: follows from a noised "
                 "table\n");
    if (assumed)
        fprintf(out, "* if the longest trip is of %g visits; the true number is measured first\n",
                ASSUMED_LENGTH_MAX);
    if (chosen)
        fprintf(
            out,
            "* if a user counts as %" PRId64 " trips: that is chosen first, of 1, 2, 4 ... %d, by "
            "the noised table\nof users by number of trips; the noise over the sensitivity stays\n",
            ASSUMED_TRIPS_MAX, DPL_TRIPS_CHOSEN_MOST);
    if (preview->table_mb > 0)
        fprintf(out, "\ntables take at most %.0f MB with %d threads; the limit is %.0f MB\n",
                ceil(preview->table_mb), preview->threads, preview->fit->options.memory_mb);
    if (!isnan(forecast_for(preview, 1e5).seconds)) forecast_words(out, preview);
}

static json_t *known_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *preview_json(const struct preview *preview) {
    const struct dpl_plan *plan = preview->plan;
    json_t *list = json_array();
    for (size_t i = 0; list && i < dpl_plan_events(plan); i++) {
        struct preview_row row = row_of(preview, i);
        json_t *item = dpl_event_to_json(&row.event);
        dpl_json_set(&item, "share", json_real(row.share));
        dpl_json_set(&item, "noise", json_real(row.noise));
        dpl_json_set(&item, "expected", known_or_null(row.expected));
        dpl_json_set(&item, "sensitivity_assumed", json_boolean(row.assumed || row.chosen));
        dpl_json_append(&list, item);
    }
    const struct forecast forecast = forecast_for(preview, (double)dpl_plan_units(plan));
    return json_pack("{s:b, s:b, s:s, s:s, s:I, s:o, s:f, s:o, s:{s:o, s:o, s:o, s:o}}", "dry_run",
                     1, "not_private", !preview->declared, "method", preview->fit->method->name,
                     "unit", dpl_unit_name(dpl_plan_budget(plan)->unit), "units",
                     (json_int_t)dpl_plan_units(plan), "epsilon",
                     dpl_number_to_json(dpl_plan_epsilon(plan) + preview->size_epsilon), "delta",
                     dpl_plan_delta(plan), "mechanisms", list, "forecast", "cells",
                     known_or_null(forecast.cells), "seconds", known_or_null(forecast.seconds),
                     "megabytes", known_or_null(forecast.megabytes), "tables_most_mb",
                     known_or_null(ceil(preview->table_mb)));
}

/* How many units there are; NOT PRIVATE unless declared. */
static enum dpl_status count_units(struct dpl_run *run, struct dpl_trips *trips,
                                   const struct dpl_area *area,
                                   const struct dpl_fit_options *options, int64_t *units) {
    struct dpl_cleaned *cleaned = NULL;
    struct dpl_kept kept = {0};
    *units = options->size;
    if (options->size > 0) return DPL_OK;
    if (!trips)
        return dpl_fail(run, DPL_USAGE,
                        "without trips the plan needs the number of units: `fit.size`");
    const struct dpl_read_options reading = dpl_fit_reading(&trips->read, options);
    DPL_TRY(dpl_clean_with(run, trips, &reading, area, &cleaned, NULL));
    enum dpl_status status =
        dpl_kept_make(run, cleaned, options->budget.unit, options->budget.trips_max, &kept);
    *units = (int64_t)kept.n_units;
    dpl_kept_free(&kept);
    dpl_cleaned_free(cleaned);
    return status;
}

enum dpl_status dpl_fit_preview(struct dpl_run *run, struct dpl_trips *trips,
                                const struct dpl_area *area, const struct dpl_fit_options *given,
                                bool json, char **text) {
    struct dpl_fit *fit = NULL;
    struct dpl_size *size = NULL;
    struct dpl_plan *plan = NULL;
    struct dpl_fit_options options;
    int64_t units;
    enum dpl_status status;
    dpl_run_begin(run);
    DPL_TRY(dpl_fit_settle(run, given, &options));
    struct dpl_budget budget = options.budget;
    DPL_GO(dpl_fit_begin(run, trips, area, &options, &fit));
    DPL_GO(count_units(run, trips, area, &options, &units));
    DPL_GO(dpl_size_declare(run, units > 0 ? units : 1, &size));
    // The true run pays for the number of units first: what is left is what the preview may split.
    const double size_epsilon = options.size > 0 ? 0 : budget.epsilon * budget.size_share;
    if (isfinite(size_epsilon)) budget.epsilon -= size_epsilon;
    DPL_GO(dpl_plan_make(run, &budget, size, fit->ask, fit->n_ask, &plan));
    if (fit->options.budget.trips_max == 0) fit->options.budget.trips_max = ASSUMED_TRIPS_MAX;
    const struct preview preview = {
        .fit = fit,
        .plan = plan,
        .declared = options.size > 0,
        .size_epsilon = size_epsilon,
        .threads = dpl_run_threads(run),
        .table_mb = fit->method->table_mb
                        ? fit->method->table_mb(&fit->model->grid, dpl_run_threads(run))
                        : NAN};
    status = json ? json_text(run, preview_json(&preview), text)
                  : words_text(run, preview_words, &preview, text);
done:
    dpl_plan_free(plan);
    dpl_size_free(size);
    dpl_fit_free(fit);
    return status;
}
