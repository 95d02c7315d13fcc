/* A release once more. See replay.h. */
#include "fit/replay.h"

#include <math.h>
#include <string.h>

#include "method/method.h"

struct dpl_replay {
    const struct dpl_model *model;
    const struct dpl_replay_watch *watch;
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

enum dpl_status dpl_replay_measure(struct dpl_run *run, struct dpl_replay *replay,
                                   const struct dpl_question *question,
                                   const struct dpl_parts *parts, struct dpl_noised **noised) {
    struct dpl_exact *exact = NULL;
    enum dpl_status status;
    DPL_GO(find_table(run, replay, question->name, question->shape));
    const struct dpl_exact_options vector = {.n = replay->table.n,
                                             .norm =
                                                 replay->table.gaussian ? DPL_NORM_L2 : DPL_NORM_L1,
                                             .sensitivity = sensitivity_of(replay),
                                             .places = DPL_COUNT_PLACES};
    DPL_GO(dpl_exact_new(run, &vector, &exact));
    dpl_exact_watch(exact, (struct dpl_exact_watch){see, replay});
    DPL_GO(question->count(run, question->about, &parts->part[0], exact));
    DPL_GO(replay->watch->done(replay->watch->context, &replay->table));
    // Estimates after the last table, which may take long, have nothing to show.
    if (++replay->seen == replay->all)
        status = dpl_replay_end(replay);
    else
        status = dpl_noised_again(run, replay->table.noised, replay->table.n, DPL_COUNT_PLACES,
                                  replay->table.deviation, !replay->table.gaussian, noised);
done:
    dpl_exact_free(exact);
    return status;
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
    options.budget.trips_max = (int64_t)number_of(model->options, "trips-max", 1);
    return options;
}

static enum dpl_status open_release(struct dpl_run *run, const struct dpl_model *model,
                                    const struct dpl_fit_options *options,
                                    struct dpl_release *release) {
    const json_t *size = json_object_get(model->certificate, "size");
    double units = number_of(size, "units", 0),
           epsilon_size = number_of(model->certificate, "epsilon_size", 0);
    release->options = options;
    return dpl_plan_again(run, &options->budget, (int64_t)units,
                          isinf(epsilon_size) ? 0 : epsilon_size, &release->plan);
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
    struct dpl_fit_options options = options_of(model);
    struct dpl_replay replay = {
        .model = model, .watch = watch, .all = json_object_size(model->noised)};
    struct dpl_release release = {.replay = &replay};
    const struct dpl_method *method;
    struct dpl_model *scratch = NULL;
    enum dpl_status status;
    DPL_TRY(dpl_method_find(run, model->method, &method));
    DPL_TRY(check(run, model, method, parts->part[0].trips));
    DPL_GO(dpl_model_new(run, model->method, &model->grid, &scratch));
    scratch->per_user = model->per_user;
    DPL_GO(open_release(run, model, &options, &release));
    status = method->fit(run, parts, &release, scratch);
    if (status == DPL_INTERRUPTED && replay.ended) status = DPL_OK;
done:
    dpl_plan_free(release.plan);
    dpl_model_free(scratch);
    return status;
}
