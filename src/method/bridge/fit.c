/* The method `bridge`: tables, estimates, calibration, model. No net: see docs/METHOD.md for what
 * was measured with one.
 *
 * A fit is a few seconds of measuring and up to a minute of post-processing. It needs no checkpoint
 * of its own: a stopped fit draws the same noise from the same key again, which costs nothing, and
 * all that follows is a function of the noised tables. */
#include <math.h>
#include <string.h>

#include "base/date.h"
#include "fit/choose.h"
#include "fit/people.h"
#include "method/bridge/constants.h"
#include "method/bridge/dwell.h"
#include "method/bridge/measure.h"
#include "method/bridge/walk.h"

static enum dpl_status plan(struct dpl_run *run, const struct dpl_fit_options *options,
                            struct dpl_mechanism *ask, size_t *n) {
    (void)run;
    for (*n = 0; *n < DPL_BRIDGE_TABLES; ++*n) {
        const struct dpl_bridge_spec *spec = &dpl_bridge_specs[*n];
        ask[*n] = (struct dpl_mechanism){.kind = DPL_EVENT_GAUSSIAN,
                                         .share = spec->share,
                                         .clip = spec->clip,
                                         .growth = DPL_GROWTH_ROOT};
        strcpy(ask[*n].name, spec->name);
    }
    if (options->budget.unit != DPL_UNIT_USER) return DPL_OK;
    ask[(*n)++] = dpl_choose_trips_mechanism;
    dpl_people_plan(ask, n);
    return DPL_OK;
}

/* Guesses for previews: trips over a quarter of the grid's cells, all of a unit's trips made. */
static double expect(const char *name, const struct dpl_grid *grid,
                     const struct dpl_fit_options *options, double units) {
    double trips = units * (double)options->budget.trips_max,
           cells = fmax(dpl_grid_cells(grid) / 4.0, 2);
    if (!strcmp(name, "trips")) return trips;
    for (int i = 0; i < DPL_BRIDGE_TABLES; i++)
        if (!strcmp(name, dpl_bridge_specs[i].name))
            return dpl_bridge_expect((enum dpl_bridge_table)i, grid, trips, cells,
                                     options->budget.epsilon);
    return NAN;
}

/* The largest at once: pairs and steps as counted, noised, kept, estimated and stored; what sweeps
 * tally of the steps that are worth keeping, and of places; trips by source and target; and the
 * sweeps of all threads. */
static double table_mb(const struct dpl_grid *grid, int threads) {
    enum { BYTES_PAIR = 56, BYTES_STEP = 50, BYTES_EDGE = 220, BYTES_PLACE = 60000 };
    double K = fmin(dpl_grid_cells(grid), PLACES_MOST),
           reach = grid->area.speed_limit_kmh / 3.6 * grid->area.slot_s / grid->area.cell_m,
           steps = fmin(K, 4 * fmax(reach * reach, 1)), edges = fmin(steps, 1 / STEP_SHARE_LEAST),
           lanes = DPL_LANES * (double)sizeof(float),
           sweep = lanes * (DPL_BRIDGE_LENGTH_MOST * DPL_HEADINGS + DPL_DISTANCE_BINS + edges);
    return K *
           (BYTES_PAIR * K + BYTES_STEP * steps + BYTES_EDGE * edges + BYTES_PLACE +
            sweep * threads) /
           1e6;
}

/* ---- the model ---- */

static enum dpl_status store(struct dpl_run *run, struct dpl_model *model, const char *name,
                             enum dpl_tensor_type type, int rank, const size_t *shape,
                             const void *values) {
    void *into;
    size_t bytes = 4; // of either type
    DPL_TRY(dpl_model_add(run, model, name, type, rank, shape, &into));
    for (int i = 0; i < rank; i++) bytes *= shape[i];
    memcpy(into, values, bytes);
    return DPL_OK;
}

static enum dpl_status store_flows(struct dpl_run *run, struct dpl_model *model,
                                   const struct dpl_flows *flows) {
    size_t K = flows->K, Z = flows->Z, H = flows->H, P = flows->P;
    DPL_TRY(store(run, model, "bridge.pairs", DPL_TENSOR_F32, 2, (size_t[]){K, K}, flows->pooled));
    DPL_TRY(store(run, model, "bridge.zones", DPL_TENSOR_F32, 3, (size_t[]){P, Z, Z},
                  flows->zone_factor));
    DPL_TRY(store(run, model, "bridge.sources", DPL_TENSOR_F32, 2, (size_t[]){H, K},
                  flows->source_factor));
    return store(run, model, "bridge.destinations", DPL_TENSOR_F32, 2, (size_t[]){H, K},
                 flows->destination_factor);
}

static enum dpl_status store_walk(struct dpl_run *run, struct dpl_model *model, size_t P,
                                  const struct dpl_edges *edges,
                                  const struct dpl_calibrated *walk) {
    size_t K = (size_t)model->n_cells;
    if (json_object_set_new(model->options, "bridge_edges", json_integer((json_int_t)edges->n)) !=
        0)
        return dpl_fail(run, DPL_SYSTEM, "out of memory");
    DPL_TRY(store(run, model, "bridge.edge_start", DPL_TENSOR_I32, 1, (size_t[]){K * DPL_MOVES + 1},
                  edges->start));
    DPL_TRY(store(run, model, "bridge.edge_to", DPL_TENSOR_I32, 1, &edges->n, edges->to));
    DPL_TRY(store(run, model, "bridge.edge_weight", DPL_TENSOR_F32, 1, &edges->n, walk->weight));
    DPL_TRY(store(run, model, "bridge.stay", DPL_TENSOR_F32, 1, &K, walk->stay));
    DPL_TRY(store(run, model, "bridge.turn", DPL_TENSOR_F32, 2, (size_t[]){DPL_HEADINGS, DPL_NEXT},
                  walk->turn));
    DPL_TRY(store(run, model, "bridge.speed", DPL_TENSOR_F32, 2, (size_t[]){P, DPL_MOTION_SPEEDS},
                  walk->speed));
    DPL_TRY(store(run, model, "bridge.potential", DPL_TENSOR_F32, 2, (size_t[]){P, K},
                  walk->potential));
    DPL_TRY(store(run, model, "bridge.target", DPL_TENSOR_I32, 1, &K, walk->targets.of));
    return store(run, model, "bridge.terminal", DPL_TENSOR_F32, 2, (size_t[]){P, K},
                 walk->terminal);
}

/* Where src/sample/calendar.c looks for them. */
static enum dpl_status store_weekdays(struct dpl_run *run, const struct dpl_places *places,
                                      const struct dpl_bridge_tables *tables,
                                      struct dpl_model *model) {
    float *weekdays;
    DPL_TRY(dpl_model_add(run, model, DPL_MODEL_WEEKDAYS, DPL_TENSOR_F32, 2,
                          (size_t[]){DPL_WEEKDAYS, places->H}, &weekdays));
    return dpl_weekdays_estimate(run, places, &tables->weekdays, weekdays);
}

/* Where src/sample/tables.c looks for it. */
static enum dpl_status store_zones(struct dpl_run *run, const struct dpl_places *places,
                                   struct dpl_model *model) {
    return store(run, model, DPL_MODEL_ZONES, DPL_TENSOR_I32, 1, &places->K, places->zone);
}

/* ---- the fit ---- */

/* PRIVACY: tables and public numbers alone; no data is in reach. */
static enum dpl_status estimate(struct dpl_run *run, const struct dpl_places *places,
                                const struct dpl_bridge_tables *tables, struct dpl_model *model) {
    struct dpl_edges edges = {0};
    struct dpl_flows_made made = {0};
    struct dpl_calibrated walk = {0};
    enum dpl_status status = DPL_SYSTEM;
    float *lengths;
    double *visits = dpl_alloc(run, places->K, sizeof *visits),
           *hour_visits = dpl_alloc(run, places->H * places->K, sizeof *hour_visits);
    if (!visits || !hour_visits) goto done;
    DPL_GO(dpl_visits_estimate(run, places, tables, visits, hour_visits));
    DPL_GO(dpl_model_add(run, model, "bridge.lengths", DPL_TENSOR_F32, 3,
                         (size_t[]){places->P, DPL_DISTANCE_BINS, tables->length_max + 1},
                         &lengths));
    DPL_GO(dpl_lengths_estimate(run, places, tables, lengths));
    DPL_GO(dpl_edges_estimate(run, places, tables, visits, &edges));
    DPL_GO(dpl_flows_estimate(run, places, tables, hour_visits, &edges, &made));
    DPL_GO(dpl_calibrate(run, places, tables, hour_visits, visits, &edges, &made, TARGETS_MOST,
                         DRAWN_TARGETS_MOST, lengths, &walk));
    DPL_GO(store_flows(run, model, &made.flows));
    DPL_GO(store_walk(run, model, places->P, &edges, &walk));
    DPL_GO(dpl_motion_fit(run, places, tables, dpl_dwell_is_slow(places, visits, &edges), model));
    DPL_GO(store_weekdays(run, places, tables, model));
    DPL_GO(store_zones(run, places, model));
done:
    dpl_calibrated_free(&walk);
    dpl_flows_free(&made);
    dpl_edges_free(&edges);
    dpl_free(hour_visits);
    dpl_free(visits);
    return status;
}

static enum dpl_status fit(struct dpl_run *run, struct dpl_parts *parts,
                           struct dpl_release *release, struct dpl_model *model) {
    struct dpl_places *places = NULL;
    struct dpl_bridge_tables tables = {0};
    enum dpl_status status;
    DPL_GO(dpl_bridge_measure(run, parts, release, model, &places, &tables));
    dpl_note(run, "%d places for the %d cells of the box; trips have at most %zu visits",
             model->n_cells, dpl_grid_cells(&model->grid), tables.length_max);
    if (release->trips_max > 0)
        dpl_note(run, "a user counts as at most %lld trips, by the noised numbers of their trips",
                 (long long)release->trips_max);
    DPL_GO(estimate(run, places, &tables, model));
done:
    dpl_bridge_tables_free(&tables);
    dpl_places_free(places);
    return status;
}

const struct dpl_method dpl_method_bridge = {.name = "bridge",
                                             .has_time = true,
                                             .positions = true,
                                             .has_roads = true,
                                             .bounds_users = true,
                                             .seconds_per_cell = 0.025,
                                             .coverage = 1,
                                             .plan = plan,
                                             .expect = expect,
                                             .table_mb = table_mb,
                                             .fit = fit};
