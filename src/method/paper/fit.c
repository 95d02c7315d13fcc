/* The published DP-Loc (profile `paper` of docs/METHOD.md): sizes, TOP-K, a VAE for starts and
 * ends, a net for transitions.
 *
 *     lengths -> L_max       Gaussian, sensitivity sqrt(m)         1 % of the squared budget
 *     topk    -> K cells     Gaussian, sensitivity m * L_max       5 %
 *     ti      -> VAE         DP-SGD, C = 1, |B| = 200, 15 epochs  34 %
 *     tpg     -> transitions DP-SGD, C = 3, |B| = 200, 15 epochs  60 %
 *     trips   -> T           Gaussian, sensitivity m; with --unit user only, 0.5 %
 *
 * PAPER: sections 4 and 5. L_max and K come from noised counts where the paper reads them off the
 * data; noise is solved for one epsilon over all parts, with |D|/|B| steps an epoch; batches are
 * Poisson samples. */
#include <math.h>
#include <string.h>

#include "fit/choose.h"
#include "method/method.h"
#include "method/paper/fit_nexthop.h"
#include "method/paper/fit_vae.h"

static const double BATCH = 200, EPOCHS = 15;

/* ---- the plan ---- */

static enum dpl_status plan(struct dpl_run *run, const struct dpl_fit_options *options,
                            struct dpl_mechanism *ask, size_t *n) {
    static const struct dpl_mechanism ALWAYS[] = {
        {.name = "lengths",
         .kind = DPL_EVENT_GAUSSIAN,
         .share = 0.01,
         .clip = 1,
         .growth = DPL_GROWTH_ROOT},
        {.name = "topk",
         .kind = DPL_EVENT_GAUSSIAN,
         .share = 0.05,
         .clip_from = "length_max",
         .growth = DPL_GROWTH_LINEAR},
        {.name = "ti",
         .kind = DPL_EVENT_POISSON,
         .share = 0.34,
         .clip = 1,
         .batch = BATCH,
         .epochs = EPOCHS},
        {.name = "tpg",
         .kind = DPL_EVENT_POISSON,
         .share = 0.60,
         .clip = 3,
         .batch = BATCH,
         .epochs = EPOCHS},
    };
    (void)run;
    memcpy(ask, ALWAYS, sizeof ALWAYS);
    *n = sizeof ALWAYS / sizeof *ALWAYS;
    if (options->budget.unit == DPL_UNIT_USER) ask[(*n)++] = dpl_choose_trips_mechanism;
    return DPL_OK;
}

/* Guesses for previews: trips of ten visits, all of a unit's trips made. */
static double expect(const char *name, const struct dpl_grid *grid,
                     const struct dpl_fit_options *options, double units) {
    static const double VISITS = 10;
    double trips = units * (double)options->budget.trips_max;
    if (!strcmp(name, "lengths")) return trips / DPL_LENGTH_BINS;
    if (!strcmp(name, "topk")) return trips * VISITS / dpl_grid_cells(grid);
    if (!strcmp(name, "trips")) return trips;
    if (!strcmp(name, "ti")) return fmin(BATCH, units); // clipped gradients that all point one way
    return 3 * fmin(BATCH, units);
}

/* ---- learning rates ---- */

/* The paper's rates at epsilon 1, 2 and 5, between them straight in log epsilon, beyond them as at
 * the ends. */
static double learning_rate(double epsilon, const double at[3]) {
    static const double EPSILON[3] = {1, 2, 5};
    if (!(epsilon > EPSILON[0])) return at[0];
    for (int i = 1; i < 3; i++)
        if (epsilon < EPSILON[i])
            return at[i - 1] + (at[i] - at[i - 1]) * log(epsilon / EPSILON[i - 1]) /
                                   log(EPSILON[i] / EPSILON[i - 1]);
    return at[2];
}

/* ---- nets ---- */

static enum dpl_status store(struct dpl_run *run, struct dpl_model *model, const char *name,
                             const float *parameters, size_t n) {
    float *into;
    DPL_TRY(dpl_model_add(run, model, name, DPL_TENSOR_F32, 1, &n, &into));
    memcpy(into, parameters, n * sizeof *into);
    return DPL_OK;
}

static enum dpl_status set_option(struct dpl_run *run, struct dpl_model *model, const char *name,
                                  size_t value) {
    if (json_object_set_new(model->options, name, json_integer((json_int_t)value)) != 0)
        return dpl_fail(run, DPL_SYSTEM, "out of memory");
    return DPL_OK;
}

static enum dpl_status train_vae(struct dpl_run *run, struct dpl_release *release,
                                 const struct dpl_units *units, size_t rows,
                                 struct dpl_model *model) {
    static const double RATES[3] = {0.2, 0.5, 0.5};
    struct dpl_vae_shape shape =
        dpl_vae_paper((size_t)model->n_cells, (size_t)model->grid.area.periods);
    struct dpl_sgd_options training = dpl_vae_training((double)dpl_plan_units(release->plan));
    struct dpl_net *net = NULL;
    const float *parameters;
    enum dpl_status status;
    shape.kl_weight = (float)release->options->kl_weight;
    training.learning_rate = learning_rate(dpl_plan_epsilon(release->plan), RATES);
    DPL_TRY(dpl_vae_new(run, &shape, units, rows, BATCH, &net));
    DPL_GO(dpl_release_train(run, release, "ti", net, training, &parameters));
    DPL_GO(store(run, model, "vae", parameters, net->n_parameters));
    DPL_GO(set_option(run, model, "vae_hidden", shape.hidden));
    DPL_GO(set_option(run, model, "vae_latent", shape.latent));
done:
    dpl_net_free(net);
    return status;
}

static enum dpl_status train_nexthop(struct dpl_run *run, struct dpl_release *release,
                                     const struct dpl_units *units, size_t rows,
                                     struct dpl_model *model) {
    static const double RATES[3] = {0.1, 0.15, 0.15};
    struct dpl_nexthop_shape shape =
        dpl_nexthop_paper((size_t)model->n_cells, (size_t)model->grid.area.periods);
    struct dpl_sgd_options training = dpl_nexthop_training((double)dpl_plan_units(release->plan));
    struct dpl_net *net = NULL;
    const float *parameters;
    enum dpl_status status;
    shape.no_destination = release->options->no_destination;
    training.learning_rate = learning_rate(dpl_plan_epsilon(release->plan), RATES);
    DPL_TRY(dpl_nexthop_new(run, &shape, units, rows, BATCH, &net));
    DPL_GO(dpl_release_train(run, release, "tpg", net, training, &parameters));
    DPL_GO(store(run, model, "nexthop", parameters, net->n_parameters));
    DPL_GO(set_option(run, model, "nexthop_embedding", shape.embedding));
    DPL_GO(set_option(run, model, "nexthop_hidden", shape.hidden));
done:
    dpl_net_free(net);
    return status;
}

static enum dpl_status fit(struct dpl_run *run, struct dpl_parts *parts,
                           struct dpl_release *release, struct dpl_model *model) {
    // A person shows as many trips, and as many 2-grams, as are kept of one: the mean costs no more
    // than one does.
    const size_t rows = (size_t)release->options->budget.trips_max;
    if (parts->n != 1)
        return dpl_fail(run, DPL_USAGE,
                        "the method paper trains its nets on one machine: its steps draw from all "
                        "units, which cannot be in %zu parts",
                        parts->n);
    DPL_TRY(dpl_choose_length(run, release, parts, model));
    DPL_TRY(dpl_choose_trips(run, release, parts, model));
    DPL_TRY(dpl_choose_cells(run, release, parts, model->length_max, model));
    dpl_choose_note(run, model, model->length_max);
    const struct dpl_units *units = &parts->part[0].reduced.units;
    DPL_TRY(train_vae(run, release, units, rows, model));
    return train_nexthop(run, release, units, rows, model);
}

const struct dpl_method dpl_method_paper = {.name = "paper",
                                            .has_time = true,
                                            .frequent_cells = true, // as the paper has it
                                            .one_machine = true,
                                            .has_ablations = true,
                                            .coverage = 0.95,
                                            .plan = plan,
                                            .expect = expect,
                                            .fit = fit};
