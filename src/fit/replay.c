/* A release once more. See replay.h. */
#include "fit/replay.h"

#include <math.h>
#include <string.h>

#include "method/method.h"

struct dpl_replay {
    const struct dpl_model *model;
    const struct dpl_replay_watch *watch; /* NULL: nothing is counted */
    struct dpl_fit_options options;
    struct dpl_replay_table table; /* the one that is being counted */
    size_t seen, all;              /* tables */
    bool ended;                    /* as it should */
};

/* ---- one table ---- */

static void see(void *context, uint64_t unit, const size_t *index, const int64_t *steps, size_t n) {
    struct dpl_replay *replay = context;
    replay->watch->unit(replay->watch->context, &replay->table, (size_t)unit, index, steps, n);
}

static enum dpl_status find_table(struct dpl_run *run, struct dpl_replay *replay, const char *name,
                                  struct dpl_shape shape) {
    char full[DPL_MODEL_NAME];
    json_t *about = json_object_get(replay->model->noised, name);
    const char *kind = json_string_value(json_object_get(about, "kind"));
    snprintf(full, sizeof full, "noised.%s", name);
    DPL_TRY(dpl_model_get(run, replay->model, full, DPL_TENSOR_F64, shape.rank, shape.size,
                          &replay->table.noised));
    replay->table.name = name;
    replay->table.n = dpl_shape_size(shape);
    replay->table.deviation = json_number_value(json_object_get(about, "deviation"));
    replay->table.gaussian = kind && !strcmp(kind, "gaussian");
    return DPL_OK;
}

static double sensitivity_of(const struct dpl_replay *replay) {
    json_t *about = json_object_get(replay->model->noised, replay->table.name);
    return json_number_value(json_object_get(about, "sensitivity"));
}

enum dpl_status dpl_replay_end(struct dpl_replay *replay) {
    replay->ended = true;
    return DPL_INTERRUPTED; // as if the user had stopped the fit: it frees what it holds
}

/* Counts the table once more, for the watcher. */
static enum dpl_status show_units(struct dpl_run *run, struct dpl_replay *replay,
                                  const struct dpl_question *question, struct dpl_parts *parts) {
    struct dpl_exact *exact = NULL;
    const struct dpl_exact_options vector = {.n = replay->table.n,
                                             .norm =
                                                 replay->table.gaussian ? DPL_NORM_L2 : DPL_NORM_L1,
                                             .sensitivity = sensitivity_of(replay),
                                             .places = DPL_COUNT_PLACES};
    DPL_TRY(dpl_exact_new(run, &vector, &exact));
    dpl_exact_watch(exact, (struct dpl_exact_watch){see, replay});
    enum dpl_status status = question->count(run, question->about, &parts->part[0], exact);
    if (status == DPL_OK) status = replay->watch->done(replay->watch->context, &replay->table);
    dpl_exact_free(exact);
    return status;
}

enum dpl_status dpl_replay_measure(struct dpl_run *run, struct dpl_replay *replay,
                                   const struct dpl_question *question, struct dpl_parts *parts,
                                   struct dpl_noised **noised) {
    DPL_TRY(find_table(run, replay, question->name, question->shape));
    if (replay->watch) DPL_TRY(show_units(run, replay, question, parts));
    // Estimates after the last table, which may take long, have nothing to show.
    if (replay->watch && ++replay->seen == replay->all) return dpl_replay_end(replay);
    return dpl_noised_again(run, replay->table.noised, replay->table.n, DPL_COUNT_PLACES,
                            replay->table.deviation, !replay->table.gaussian, noised);
}

/* ---- the release that was ---- */

static double number_of(const json_t *object, const char *name, double otherwise) {
    const json_t *value = json_object_get(object, name);
    if (json_is_string(value) && !strcmp(json_string_value(value), "inf")) return INFINITY;
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static struct dpl_fit_options options_of(const struct dpl_model *model) {
    struct dpl_fit_options options = dpl_fit_defaults();
    options.method = model->method;
    options.coverage = number_of(model->options, "coverage", 1);
    // What was asked for shaped the release; a model without noise, or with seeded noise, claims
    // none.
    options.budget.epsilon = number_of(model->options, "epsilon", NAN);
    options.budget.delta = number_of(model->certificate, "delta", options.budget.delta);
    options.budget.unit = model->per_user ? DPL_UNIT_USER : DPL_UNIT_TRIP;
    // 0: it was chosen from a noised table, and is so again.
    options.budget.trips_max =
        (int64_t)number_of(model->options, "trips-max", model->per_user ? 0 : 1);
    return options;
}

enum dpl_status dpl_replay_open(struct dpl_run *run, const struct dpl_model *model,
                                struct dpl_release *release) {
    const json_t *size = json_object_get(model->certificate, "size");
    double units = number_of(size, "units", 0),
           epsilon_size = number_of(model->certificate, "epsilon_size", 0);
    struct dpl_replay *replay = release->replay = dpl_alloc(run, 1, sizeof *replay);
    if (!replay) return DPL_SYSTEM;
    *replay = (struct dpl_replay){.model = model, .all = json_object_size(model->noised)};
    replay->options = options_of(model);
    release->options = &replay->options;
    return dpl_plan_again(run, &replay->options.budget, (int64_t)units,
                          isinf(epsilon_size) ? 0 : epsilon_size, &release->plan);
}

void dpl_replay_close(struct dpl_release *release) {
    dpl_plan_free(release->plan);
    dpl_free(release->replay);
    *release = (struct dpl_release){0};
}

static bool same_area(const struct dpl_grid *a, const struct dpl_grid *b) {
    return a->columns == b->columns && a->rows == b->rows && a->area.periods == b->area.periods &&
           a->area.slot_s == b->area.slot_s;
}

static enum dpl_status check(struct dpl_run *run, const struct dpl_model *model,
                             const struct dpl_method *method, const struct dpl_cleaned *trips) {
    if (!same_area(&model->grid, &trips->grid))
        return dpl_fail(run, DPL_USAGE,
                        "the model's grid is not that of the trips: read them with its box, cell, "
                        "slot and periods");
    if (method->positions && !trips->position)
        return dpl_fail(run, DPL_USAGE, "the method %s looks at positions: read trips with them",
                        method->name);
    if (json_object_size(model->noised) == 0)
        return dpl_fail(run, DPL_BAD_DATA,
                        "the model keeps no noised tables: it was made by an older version; fit "
                        "it anew");
    return DPL_OK;
}

enum dpl_status dpl_replay_parts(struct dpl_run *run, const struct dpl_model *model,
                                 const struct dpl_cleaned *trips, struct dpl_parts *parts) {
    struct dpl_fit_options options = options_of(model);
    return dpl_parts_make(run, trips, options.budget.unit, options.budget.trips_max, 1, parts);
}

enum dpl_status dpl_replay(struct dpl_run *run, const struct dpl_model *model,
                           struct dpl_parts *parts, const struct dpl_replay_watch *watch) {
    struct dpl_release release = {0};
    const struct dpl_method *method;
    struct dpl_model *scratch = NULL;
    enum dpl_status status;
    DPL_TRY(dpl_method_find(run, model->method, &method));
    DPL_TRY(check(run, model, method, parts->part[0].trips));
    DPL_GO(dpl_replay_open(run, model, &release));
    release.replay->watch = watch;
    DPL_GO(dpl_model_new(run, model->method, &model->grid, &scratch));
    scratch->per_user = model->per_user;
    status = method->fit(run, parts, &release, scratch);
    if (status == DPL_INTERRUPTED && release.replay->ended) status = DPL_OK;
done:
    dpl_replay_close(&release);
    dpl_model_free(scratch);
    return status;
}
